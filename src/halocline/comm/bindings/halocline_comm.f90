! SPDX-License-Identifier: Apache-2.0
!> @file
!> Process grid, halo exchange and sums for Fortran 2008: types with procedures of their own, over comm/bindings/c.h.
!>
!> Another compiler, or another version of one, cannot read a compiler's module files. The installation therefore holds
!> this source, and every project compiles it (CMake target halocline::comm_fortran). c.h documents each procedure under
!> a similar name. The comments here state the differences:
!>
!> - A variable of one of these types is a handle. `init` makes the object (for groups: `world`, `self` or `from_mpi`),
!>   and `destroy` ends it. An assignment copies the handle, so both variables then name one object.
!>   halocline_transport_info is no handle. It holds values.
!> - Most subroutines have the optional arguments `ierr` and `errmsg`. `ierr` is a status of c.h; halocline_ok is 0. A
!>   success leaves `errmsg` unchanged, and a failure writes the error message there, cut to its length. If `ierr` is
!>   absent, a failure writes the message to the error unit and ends all processes of the run with status 1. A plain
!>   `error stop` could hang, because the end of MPI may wait for the other processes. Functions and `destroy` have no
!>   `ierr`, so their failures always end the run.
!> - Axes are counted from 1, like the indices of Fortran's arrays. Faces have the numbers of c.h, from 0;
!>   halocline_face returns them.
!> - A buffer is a pointer of the kind that the caller declares: real or complex of 32 or 64 bits, or bytes
!>   (integer(int8)). The pointer is disassociated after an error and for a face that is not active. A receive buffer is
!>   also disassociated before the first wait.
module halocline_comm
  use halocline_comm_c
  use halocline_comm_sums
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  implicit none
  private

  public :: halocline_ok, halocline_invalid_argument, halocline_failed, halocline_out_of_memory
  integer(int32), parameter, public :: halocline_all_faces = -1_int32  !< the set of all faces

  public :: halocline_communicator, halocline_reduction, halocline_exact_sum
  public :: halocline_face, halocline_opposite, halocline_mask
  public :: halocline_version, halocline_least_surface_grid, halocline_list_transports

  !> The processes of a group as points of a grid.
  type, public :: halocline_grid
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: init => grid_init
    procedure :: ndim => grid_ndim
    procedure :: rank => grid_rank
    procedure :: size => grid_size
    procedure :: dims => grid_dims
    procedure :: coords => grid_coords         !< of this rank, counted from 0
    procedure :: neighbour => grid_neighbour   !< the rank beyond a face; -1 at an open end
    procedure :: destroy => grid_destroy
  end type

  !> A halo exchange: one message per face and step.
  type, public :: halocline_exchange
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: exchange_init_int32, exchange_init_int64
    generic :: init => exchange_init_int32, exchange_init_int64
    procedure :: sharing_buffers => exchange_sharing_buffers
    procedure :: transport => exchange_transport
    procedure :: active => exchange_active
    procedure, private :: send_real32, send_real64, send_complex32, send_complex64, send_bytes
    generic :: send_buffer => send_real32, send_real64, send_complex32, send_complex64, send_bytes
    procedure, private :: recv_real32, recv_real64, recv_complex32, recv_complex64, recv_bytes
    generic :: recv_buffer => recv_real32, recv_real64, recv_complex32, recv_complex64, recv_bytes
    procedure :: post => exchange_post
    procedure :: wait => exchange_wait
    procedure :: wait_all => exchange_wait_all
    procedure :: wait_any => exchange_wait_any
    procedure :: arrived => exchange_arrived
    procedure :: wait_sent => exchange_wait_sent
    procedure :: release => exchange_release
    procedure :: set_time_limit => exchange_set_time_limit
    procedure :: destroy => exchange_destroy
  end type

  !> A transport, and whether it is available.
  type, public :: halocline_transport_info
    character(len=:), allocatable :: name
    logical :: available
    character(len=:), allocatable :: reason    !< why it is not available; empty if it is
  end type

contains

  !> The number of a face. `axis` counts from 1. `direction` is negative for the lower side, positive for the upper.
  pure integer function halocline_face(axis, direction) result(face)
    integer, intent(in) :: axis, direction
    face = 2 * (axis - 1) + merge(1, 0, direction > 0)
  end function

  !> The face on the other side of the same axis.
  pure integer function halocline_opposite(face) result(other)
    integer, intent(in) :: face
    other = ieor(face, 1)
  end function

  !> The set that holds one face. Join sets by ior.
  pure integer(int32) function halocline_mask(face) result(mask)
    integer, intent(in) :: face
    mask = ishft(1_int32, face)
  end function

  !> The version of the library, "major.minor.patch".
  function halocline_version() result(version)
    character(len=:), allocatable :: version
    version = text_of(c_version())
  end function

  !> The grid of `ranks` processes that moves the least halo.
  !> extents: number of points along each axis. Local extents are even on every axis if any grid allows it, else on
  !> axis 1.
  subroutine halocline_least_surface_grid(extents, ranks, dims, ierr, errmsg)
    integer, intent(in) :: extents(:), ranks
    integer, intent(out) :: dims(size(extents))
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: shape(size(extents)), status
    shape = 0
    status = c_least_surface(size(extents), int(extents, c_int64_t), ranks, c_null_ptr, shape)
    dims = shape
    call finish(status, ierr, errmsg)
  end subroutine

  !> Lists the transports and whether each is available. With `grid`: whether each can serve this grid. Collective with
  !> `grid`, else not.
  subroutine halocline_list_transports(list, grid, ierr, errmsg)
    type(halocline_transport_info), allocatable, intent(out) :: list(:)
    type(halocline_grid), intent(in), optional :: grid
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: handle, names, name, reason
    integer(c_int) :: status, count, index, available
    handle = c_null_ptr
    if (present(grid)) handle = grid%handle
    status = c_transports_create(handle, names)
    if (status == halocline_ok) then
      status = c_transports_count(names, count)
      allocate (list(count))
      do index = 0, count - 1
        status = c_transports_get(names, index, name, available, reason)
        list(index + 1)%name = text_of(name)
        list(index + 1)%available = available /= 0
        list(index + 1)%reason = text_of(reason)
      end do
      status = c_transports_destroy(names)
    end if
    call finish(status, ierr, errmsg)
  end subroutine

  ! Process grid -------------------------------------------------------------------------------------------------------

  subroutine grid_init(self, group, dims, periodic, ierr, errmsg, ranks)
    class(halocline_grid), intent(inout) :: self
    type(halocline_communicator), intent(in) :: group
    integer, intent(in) :: dims(:)
    logical, intent(in), optional :: periodic(size(dims))  !< absent: every axis is periodic
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    integer, intent(in), optional :: ranks(product(dims))  !< at each place, axis 1 fastest; absent: in order
    integer(c_int) :: wraps(size(dims))
    integer(c_int), allocatable, target :: order(:)
    type(c_ptr) :: places
    wraps = 1
    if (present(periodic)) wraps = merge(1, 0, periodic)
    places = c_null_ptr
    if (present(ranks)) then
      order = ranks
      places = c_loc(order)
    end if
    call finish(c_grid_create(handle_of(group), size(dims), dims, wraps, places, self%handle), ierr, errmsg)
  end subroutine

  integer function grid_ndim(self) result(ndim)
    class(halocline_grid), intent(in) :: self
    call finish(c_grid_ndim(self%handle, ndim))
  end function

  integer function grid_rank(self) result(rank)
    class(halocline_grid), intent(in) :: self
    call finish(c_grid_rank(self%handle, rank))
  end function

  integer function grid_size(self) result(count)
    class(halocline_grid), intent(in) :: self
    call finish(c_grid_size(self%handle, count))
  end function

  function grid_dims(self) result(dims)
    class(halocline_grid), intent(in) :: self
    integer, allocatable :: dims(:)
    allocate (dims(self%ndim()))
    call finish(c_grid_dims(self%handle, dims))
  end function

  function grid_coords(self) result(coords)
    class(halocline_grid), intent(in) :: self
    integer, allocatable :: coords(:)
    allocate (coords(self%ndim()))
    call finish(c_grid_coords(self%handle, coords))
  end function

  integer function grid_neighbour(self, face) result(rank)
    class(halocline_grid), intent(in) :: self
    integer, intent(in) :: face
    call finish(c_grid_neighbour(self%handle, face, rank))
  end function

  subroutine grid_destroy(self)
    class(halocline_grid), intent(inout) :: self
    call finish(c_grid_destroy(self%handle))
    self%handle = c_null_ptr
  end subroutine

  ! Halo exchange ------------------------------------------------------------------------------------------------------

  subroutine exchange_init_int64(self, grid, face_bytes, transport, buffering, checksum, threads, time_limit, ierr, &
      errmsg)
    class(halocline_exchange), intent(inout) :: self
    type(halocline_grid), intent(in) :: grid
    integer(int64), intent(in) :: face_bytes(:)               !< for each axis: message of a face, 0 for none
    character(len=*), intent(in), optional :: transport       !< a name or "auto"; absent or blank: the usual choice
    integer, intent(in), optional :: buffering                !< 1 or 2; default 2
    logical, intent(in), optional :: checksum, threads        !< default .false.
    real(real64), intent(in), optional :: time_limit          !< of a wait [s]; default 300
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_options) :: options
    character(len=:), allocatable :: name
    integer(c_int) :: ndim
    options = c_default_options()
    if (present(buffering)) options%buffering = buffering
    if (present(checksum)) options%checksum = merge(1, 0, checksum)
    if (present(threads)) options%threads = merge(1, 0, threads)
    if (present(time_limit)) options%time_limit = time_limit
    name = ''
    if (present(transport)) name = trim(transport)
    self%handle = c_null_ptr
    if (c_grid_ndim(grid%handle, ndim) == halocline_ok) then
      if (ndim /= size(face_bytes)) then
        call finish(halocline_invalid_argument, ierr, errmsg, wrong_sizes(size(face_bytes), ndim))
        return
      end if
    end if
    call finish(c_exchange_create(grid%handle, int(face_bytes, c_size_t), name // c_null_char, options, self%handle), &
                ierr, errmsg)
  end subroutine

  subroutine exchange_init_int32(self, grid, face_bytes, transport, buffering, checksum, threads, time_limit, ierr, &
      errmsg)
    class(halocline_exchange), intent(inout) :: self
    type(halocline_grid), intent(in) :: grid
    integer(int32), intent(in) :: face_bytes(:)
    character(len=*), intent(in), optional :: transport
    integer, intent(in), optional :: buffering
    logical, intent(in), optional :: checksum, threads
    real(real64), intent(in), optional :: time_limit
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call self%init(grid, int(face_bytes, int64), transport, buffering, checksum, threads, time_limit, ierr, errmsg)
  end subroutine

  !> Makes `self` an exchange of other sizes through the buffers of `first`.
  !> face_bytes: for each axis; not larger than those of `first`
  subroutine exchange_sharing_buffers(self, first, face_bytes, ierr, errmsg)
    class(halocline_exchange), intent(inout) :: self
    type(halocline_exchange), intent(in) :: first
    integer, intent(in) :: face_bytes(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_sharing_buffers(first%handle, int(face_bytes, c_size_t), self%handle), ierr, errmsg)
  end subroutine

  function exchange_transport(self) result(name)
    class(halocline_exchange), intent(in) :: self
    character(len=:), allocatable :: name
    type(c_ptr) :: text
    call finish(c_exchange_transport(self%handle, text))
    name = text_of(text)
  end function

  logical function exchange_active(self, face) result(active)
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face
    integer(c_int) :: answer
    call finish(c_exchange_active(self%handle, face, answer))
    active = answer /= 0
  end function

  subroutine send_real32(self, face, buffer, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face
    real(real32), pointer, intent(out) :: buffer(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: place
    integer(c_size_t) :: length
    nullify (buffer)
    call locate(c_send_buffer, self, face, 4, place, length, ierr, errmsg)
    if (c_associated(place)) call c_f_pointer(place, buffer, [length])
  end subroutine

  subroutine send_real64(self, face, buffer, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face
    real(real64), pointer, intent(out) :: buffer(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: place
    integer(c_size_t) :: length
    nullify (buffer)
    call locate(c_send_buffer, self, face, 8, place, length, ierr, errmsg)
    if (c_associated(place)) call c_f_pointer(place, buffer, [length])
  end subroutine

  subroutine send_complex32(self, face, buffer, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face
    complex(real32), pointer, intent(out) :: buffer(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: place
    integer(c_size_t) :: length
    nullify (buffer)
    call locate(c_send_buffer, self, face, 8, place, length, ierr, errmsg)
    if (c_associated(place)) call c_f_pointer(place, buffer, [length])
  end subroutine

  subroutine send_complex64(self, face, buffer, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face
    complex(real64), pointer, intent(out) :: buffer(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: place
    integer(c_size_t) :: length
    nullify (buffer)
    call locate(c_send_buffer, self, face, 16, place, length, ierr, errmsg)
    if (c_associated(place)) call c_f_pointer(place, buffer, [length])
  end subroutine

  subroutine send_bytes(self, face, buffer, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face
    integer(int8), pointer, intent(out) :: buffer(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: place
    integer(c_size_t) :: length
    nullify (buffer)
    call locate(c_send_buffer, self, face, 1, place, length, ierr, errmsg)
    if (c_associated(place)) call c_f_pointer(place, buffer, [length])
  end subroutine

  subroutine recv_real32(self, face, buffer, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face
    real(real32), pointer, intent(out) :: buffer(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: place
    integer(c_size_t) :: length
    nullify (buffer)
    call locate(c_recv_buffer, self, face, 4, place, length, ierr, errmsg)
    if (c_associated(place)) call c_f_pointer(place, buffer, [length])
  end subroutine

  subroutine recv_real64(self, face, buffer, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face
    real(real64), pointer, intent(out) :: buffer(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: place
    integer(c_size_t) :: length
    nullify (buffer)
    call locate(c_recv_buffer, self, face, 8, place, length, ierr, errmsg)
    if (c_associated(place)) call c_f_pointer(place, buffer, [length])
  end subroutine

  subroutine recv_complex32(self, face, buffer, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face
    complex(real32), pointer, intent(out) :: buffer(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: place
    integer(c_size_t) :: length
    nullify (buffer)
    call locate(c_recv_buffer, self, face, 8, place, length, ierr, errmsg)
    if (c_associated(place)) call c_f_pointer(place, buffer, [length])
  end subroutine

  subroutine recv_complex64(self, face, buffer, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face
    complex(real64), pointer, intent(out) :: buffer(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: place
    integer(c_size_t) :: length
    nullify (buffer)
    call locate(c_recv_buffer, self, face, 16, place, length, ierr, errmsg)
    if (c_associated(place)) call c_f_pointer(place, buffer, [length])
  end subroutine

  subroutine recv_bytes(self, face, buffer, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face
    integer(int8), pointer, intent(out) :: buffer(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: place
    integer(c_size_t) :: length
    nullify (buffer)
    call locate(c_recv_buffer, self, face, 1, place, length, ierr, errmsg)
    if (c_associated(place)) call c_f_pointer(place, buffer, [length])
  end subroutine

  subroutine exchange_post(self, faces, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer(int32), intent(in), optional :: faces  !< absent: all faces
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_post(self%handle, all_unless(faces)), ierr, errmsg)
  end subroutine

  subroutine exchange_wait(self, face, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_wait(self%handle, face), ierr, errmsg)
  end subroutine

  subroutine exchange_wait_all(self, faces, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer(int32), intent(in), optional :: faces  !< absent: all faces
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_wait_all(self%handle, all_unless(faces)), ierr, errmsg)
  end subroutine

  !> Waits until a message has arrived at one of `faces`. face: that face; -1 if none of them awaits a message.
  subroutine exchange_wait_any(self, face, faces, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer, intent(out) :: face
    integer(int32), intent(in), optional :: faces  !< absent: all faces
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_wait_any(self%handle, all_unless(faces), face), ierr, errmsg)
  end subroutine

  subroutine exchange_arrived(self, face, arrived, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face
    logical, intent(out) :: arrived
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: answer
    answer = 0
    call finish(c_arrived(self%handle, face, answer), ierr, errmsg)
    arrived = answer /= 0
  end subroutine

  subroutine exchange_wait_sent(self, faces, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer(int32), intent(in), optional :: faces  !< absent: all faces
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_wait_sent(self%handle, all_unless(faces)), ierr, errmsg)
  end subroutine

  subroutine exchange_release(self, faces, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    integer(int32), intent(in), optional :: faces  !< absent: all faces
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_release(self%handle, all_unless(faces)), ierr, errmsg)
  end subroutine

  subroutine exchange_set_time_limit(self, seconds, ierr, errmsg)
    class(halocline_exchange), intent(in) :: self
    real(real64), intent(in) :: seconds
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_set_time_limit(self%handle, seconds), ierr, errmsg)
  end subroutine

  subroutine exchange_destroy(self)
    class(halocline_exchange), intent(inout) :: self
    call finish(c_exchange_destroy(self%handle))
    self%handle = c_null_ptr
  end subroutine

  ! Private to this module ---------------------------------------------------------------------------------------------

  !> Finds a buffer. place: its address, null for none; length: its number of elements of `unit` bytes.
  subroutine locate(buffer_of, self, face, unit, place, length, ierr, errmsg)
    procedure(c_send_buffer) :: buffer_of
    class(halocline_exchange), intent(in) :: self
    integer, intent(in) :: face, unit
    type(c_ptr), intent(out) :: place
    integer(c_size_t), intent(out) :: length
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    character(len=160) :: sentence
    integer(c_int) :: status
    length = 0
    place = c_null_ptr
    status = buffer_of(self%handle, face, place, length)
    if (status == halocline_ok .and. modulo(length, int(unit, c_size_t)) /= 0) then
      write (sentence, '(a,i0,a,i0,a,i0,a)') 'face ', face, ' carries ', length, ' bytes, no multiple of the ', unit, &
        ' bytes of an element of this pointer; take bytes, integer(int8)'
      place = c_null_ptr
      call finish(halocline_invalid_argument, ierr, errmsg, trim(sentence))
      return
    end if
    length = length / unit
    call finish(status, ierr, errmsg)
  end subroutine

  pure integer(int32) function all_unless(faces) result(mask)
    integer(int32), intent(in), optional :: faces
    mask = halocline_all_faces
    if (present(faces)) mask = faces
  end function

  pure function wrong_sizes(sizes, axes) result(sentence)
    integer, intent(in) :: sizes, axes
    character(len=:), allocatable :: sentence
    character(len=120) :: text
    write (text, '(a,i0,a,i0,a)') 'face_bytes has ', sizes, ' sizes, expected ', axes, ', one for each axis of the grid'
    sentence = trim(text)
  end function

end module halocline_comm
