! SPDX-License-Identifier: Apache-2.0
!> @file
!> Fortran interfaces of those functions of comm/bindings/c.h that the two modules beside this one call, with the
!> treatment of C strings and of failures.
!>
!> Programs use halocline_comm. It makes the status values public again, and nothing else of this module.
!>
!> C writes a handle, a string or the address of a buffer to each `intent(out)` argument of type(c_ptr). A set of faces
!> is unsigned in C and signed here, with the same bits.
module halocline_comm_c
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  public

  integer, parameter :: halocline_ok = 0, halocline_invalid_argument = 1
  integer, parameter :: halocline_failed = 2, halocline_out_of_memory = 3, halocline_bad_file = 4

  type, bind(c) :: c_options
    integer(c_int) :: buffering, checksum, threads
    real(c_double) :: time_limit
  end type

  interface
    integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
      import; type(c_ptr), value :: text
    end function
    type(c_ptr) function c_last_error() bind(c, name='halocline_last_error')
      import
    end function
    type(c_ptr) function c_version() bind(c, name='halocline_version')
      import
    end function
    subroutine c_abort_all(status) bind(c, name='halocline_abort_all')
      import; integer(c_int), value :: status
    end subroutine

    integer(c_int) function c_world(group) bind(c, name='halocline_world')
      import; type(c_ptr), intent(out) :: group
    end function
    integer(c_int) function c_self(group) bind(c, name='halocline_self')
      import; type(c_ptr), intent(out) :: group
    end function
    integer(c_int) function c_from_fortran_handle(comm, group) bind(c, name='halocline_from_fortran_handle')
      import; integer(c_int), value :: comm; type(c_ptr), intent(out) :: group
    end function
    integer(c_int) function c_group_rank(group, rank) bind(c, name='halocline_communicator_rank')
      import; type(c_ptr), value :: group; integer(c_int), intent(out) :: rank
    end function
    integer(c_int) function c_group_size(group, size) bind(c, name='halocline_communicator_size')
      import; type(c_ptr), value :: group; integer(c_int), intent(out) :: size
    end function
    integer(c_int) function c_group_barrier(group) bind(c, name='halocline_communicator_barrier')
      import; type(c_ptr), value :: group
    end function
    integer(c_int) function c_group_set_time_limit(group, seconds) &
        bind(c, name='halocline_communicator_set_time_limit')
      import; type(c_ptr), value :: group; real(c_double), value :: seconds
    end function
    integer(c_int) function c_group_destroy(group) bind(c, name='halocline_communicator_destroy')
      import; type(c_ptr), value :: group
    end function

    integer(c_int) function c_grid_create(group, ndim, dims, periodic, ranks, grid) &
        bind(c, name='halocline_grid_create_ordered')
      import; type(c_ptr), value :: group, ranks; integer(c_int), value :: ndim
      integer(c_int), intent(in) :: dims(*), periodic(*)
      type(c_ptr), intent(out) :: grid
    end function
    integer(c_int) function c_grid_ndim(grid, ndim) bind(c, name='halocline_grid_ndim')
      import; type(c_ptr), value :: grid; integer(c_int), intent(out) :: ndim
    end function
    integer(c_int) function c_grid_rank(grid, rank) bind(c, name='halocline_grid_rank')
      import; type(c_ptr), value :: grid; integer(c_int), intent(out) :: rank
    end function
    integer(c_int) function c_grid_size(grid, size) bind(c, name='halocline_grid_size')
      import; type(c_ptr), value :: grid; integer(c_int), intent(out) :: size
    end function
    integer(c_int) function c_grid_dims(grid, dims) bind(c, name='halocline_grid_dims')
      import; type(c_ptr), value :: grid; integer(c_int), intent(out) :: dims(*)
    end function
    integer(c_int) function c_grid_coords(grid, coords) bind(c, name='halocline_grid_coords')
      import; type(c_ptr), value :: grid; integer(c_int), intent(out) :: coords(*)
    end function
    integer(c_int) function c_grid_neighbour(grid, face, rank) bind(c, name='halocline_grid_neighbour')
      import; type(c_ptr), value :: grid; integer(c_int), value :: face; integer(c_int), intent(out) :: rank
    end function
    integer(c_int) function c_grid_destroy(grid) bind(c, name='halocline_grid_destroy')
      import; type(c_ptr), value :: grid
    end function
    integer(c_int) function c_least_surface(ndim, extents, ranks, multiple, dims) &
        bind(c, name='halocline_least_surface_grid')
      import; integer(c_int), value :: ndim, ranks; integer(c_int64_t), intent(in) :: extents(*)
      type(c_ptr), value :: multiple; integer(c_int), intent(out) :: dims(*)
    end function

    integer(c_int) function c_transports_create(grid, list) bind(c, name='halocline_transports_create')
      import; type(c_ptr), value :: grid; type(c_ptr), intent(out) :: list
    end function
    integer(c_int) function c_transports_count(list, count) bind(c, name='halocline_transports_count')
      import; type(c_ptr), value :: list; integer(c_int), intent(out) :: count
    end function
    integer(c_int) function c_transports_get(list, index, name, available, reason) &
        bind(c, name='halocline_transports_get')
      import; type(c_ptr), value :: list; integer(c_int), value :: index; type(c_ptr), intent(out) :: name, reason
      integer(c_int), intent(out) :: available
    end function
    integer(c_int) function c_transports_destroy(list) bind(c, name='halocline_transports_destroy')
      import; type(c_ptr), value :: list
    end function

    type(c_options) function c_default_options() bind(c, name='halocline_default_options')
      import
    end function
    integer(c_int) function c_exchange_create(grid, face_bytes, transport, options, exchange) &
        bind(c, name='halocline_exchange_create')
      import; type(c_ptr), value :: grid; integer(c_size_t), intent(in) :: face_bytes(*)
      character(kind=c_char), intent(in) :: transport(*); type(c_options), intent(in) :: options
      type(c_ptr), intent(out) :: exchange
    end function
    integer(c_int) function c_sharing_buffers(exchange, face_bytes, other) &
        bind(c, name='halocline_exchange_sharing_buffers')
      import; type(c_ptr), value :: exchange; integer(c_size_t), intent(in) :: face_bytes(*)
      type(c_ptr), intent(out) :: other
    end function
    integer(c_int) function c_exchange_transport(exchange, name) bind(c, name='halocline_exchange_transport')
      import; type(c_ptr), value :: exchange; type(c_ptr), intent(out) :: name
    end function
    integer(c_int) function c_exchange_active(exchange, face, active) bind(c, name='halocline_exchange_active')
      import; type(c_ptr), value :: exchange; integer(c_int), value :: face; integer(c_int), intent(out) :: active
    end function
    integer(c_int) function c_send_buffer(exchange, face, buffer, bytes) bind(c, name='halocline_exchange_send_buffer')
      import; type(c_ptr), value :: exchange; integer(c_int), value :: face
      type(c_ptr), intent(out) :: buffer; integer(c_size_t), intent(inout) :: bytes
    end function
    integer(c_int) function c_recv_buffer(exchange, face, buffer, bytes) bind(c, name='halocline_exchange_recv_buffer')
      import; type(c_ptr), value :: exchange; integer(c_int), value :: face
      type(c_ptr), intent(out) :: buffer; integer(c_size_t), intent(inout) :: bytes
    end function
    integer(c_int) function c_post(exchange, faces) bind(c, name='halocline_exchange_post')
      import; type(c_ptr), value :: exchange; integer(c_int32_t), value :: faces
    end function
    integer(c_int) function c_wait(exchange, face) bind(c, name='halocline_exchange_wait')
      import; type(c_ptr), value :: exchange; integer(c_int), value :: face
    end function
    integer(c_int) function c_wait_all(exchange, faces) bind(c, name='halocline_exchange_wait_all')
      import; type(c_ptr), value :: exchange; integer(c_int32_t), value :: faces
    end function
    integer(c_int) function c_wait_any(exchange, faces, face) bind(c, name='halocline_exchange_wait_any')
      import; type(c_ptr), value :: exchange; integer(c_int32_t), value :: faces; integer(c_int), intent(out) :: face
    end function
    integer(c_int) function c_arrived(exchange, face, arrived) bind(c, name='halocline_exchange_arrived')
      import; type(c_ptr), value :: exchange; integer(c_int), value :: face; integer(c_int), intent(out) :: arrived
    end function
    integer(c_int) function c_wait_sent(exchange, faces) bind(c, name='halocline_exchange_wait_sent')
      import; type(c_ptr), value :: exchange; integer(c_int32_t), value :: faces
    end function
    integer(c_int) function c_release(exchange, faces) bind(c, name='halocline_exchange_release')
      import; type(c_ptr), value :: exchange; integer(c_int32_t), value :: faces
    end function
    integer(c_int) function c_set_time_limit(exchange, seconds) bind(c, name='halocline_exchange_set_time_limit')
      import; type(c_ptr), value :: exchange; real(c_double), value :: seconds
    end function
    integer(c_int) function c_exchange_destroy(exchange) bind(c, name='halocline_exchange_destroy')
      import; type(c_ptr), value :: exchange
    end function

    integer(c_int) function c_reduction_create(group, reduction) bind(c, name='halocline_reduction_create')
      import; type(c_ptr), value :: group; type(c_ptr), intent(out) :: reduction
    end function
    integer(c_int) function c_sum(reduction, count, values) bind(c, name='halocline_reduction_sum')
      import; type(c_ptr), value :: reduction; integer(c_int), value :: count
      real(c_double), intent(inout) :: values(*)
    end function
    integer(c_int) function c_begin(reduction, count, values) bind(c, name='halocline_reduction_begin')
      import; type(c_ptr), value :: reduction, values; integer(c_int), value :: count
    end function
    integer(c_int) function c_reduction_wait(reduction) bind(c, name='halocline_reduction_wait')
      import; type(c_ptr), value :: reduction
    end function
    integer(c_int) function c_reduction_test(reduction, ready) bind(c, name='halocline_reduction_test')
      import; type(c_ptr), value :: reduction; integer(c_int), intent(inout) :: ready
    end function
    integer(c_int) function c_reduction_set_time_limit(reduction, seconds) &
        bind(c, name='halocline_reduction_set_time_limit')
      import; type(c_ptr), value :: reduction; real(c_double), value :: seconds
    end function
    integer(c_int) function c_reduction_destroy(reduction) bind(c, name='halocline_reduction_destroy')
      import; type(c_ptr), value :: reduction
    end function

    integer(c_int) function c_exact_create(sum) bind(c, name='halocline_exact_sum_create')
      import; type(c_ptr), intent(out) :: sum
    end function
    integer(c_int) function c_exact_clear(sum) bind(c, name='halocline_exact_sum_clear')
      import; type(c_ptr), value :: sum
    end function
    integer(c_int) function c_exact_add(sum, count, terms) bind(c, name='halocline_exact_sum_add')
      import; type(c_ptr), value :: sum; integer(c_size_t), value :: count; real(c_double), intent(in) :: terms(*)
    end function
    integer(c_int) function c_exact_products(sum, count, a, b) bind(c, name='halocline_exact_sum_add_products')
      import; type(c_ptr), value :: sum; integer(c_size_t), value :: count; real(c_double), intent(in) :: a(*), b(*)
    end function
    integer(c_int) function c_exact_merge(sum, other) bind(c, name='halocline_exact_sum_merge')
      import; type(c_ptr), value :: sum, other
    end function
    integer(c_int) function c_exact_over(group, sum) bind(c, name='halocline_exact_sum_over')
      import; type(c_ptr), value :: group, sum
    end function
    integer(c_int) function c_exact_value(sum, value) bind(c, name='halocline_exact_sum_value')
      import; type(c_ptr), value :: sum; real(c_double), intent(out) :: value
    end function
    integer(c_int) function c_exact_destroy(sum) bind(c, name='halocline_exact_sum_destroy')
      import; type(c_ptr), value :: sum
    end function
  end interface

contains

  !> The last call of every procedure that can fail. Passes the status to `ierr` and the error message of a failure to
  !> `errmsg`. If `ierr` is absent, a failure writes its message to the error unit and ends the run.
  subroutine finish(status, ierr, errmsg, sentence)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    character(len=*), intent(in), optional :: sentence  !< error message; absent: halocline_last_error()
    character(len=:), allocatable :: said
    if (present(ierr)) ierr = status
    if (status == halocline_ok) return
    if (present(sentence)) then
      said = sentence
    else
      said = text_of(c_last_error())
    end if
    if (present(errmsg)) errmsg = said
    if (present(ierr)) return
    write (error_unit, '(a)') said
    flush (error_unit)
    call c_abort_all(1_c_int)
  end subroutine

  !> A copy of a C string.
  function text_of(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(len=:), allocatable :: copy
    character(kind=c_char), pointer :: letters(:)
    integer(c_size_t) :: i, length
    length = c_strlen(text)
    call c_f_pointer(text, letters, [length])
    allocate (character(len=length) :: copy)
    do i = 1, length
      copy(i:i) = letters(i)
    end do
  end function

end module halocline_comm_c
