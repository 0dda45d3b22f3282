! SPDX-License-Identifier: Apache-2.0
!> @file
!> Groups of processes, and sums over them, for Fortran 2008. Programs use halocline_comm, which makes these types
!> public again. Its head explains handles and errors.
module halocline_comm_sums
  use halocline_comm_c
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private

  public :: handle_of  !< for halocline_comm.f90 alone

  !> A group of processes.
  type, public :: halocline_communicator
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: world => group_world          !< all processes; starts MPI unless it runs
    procedure :: self => group_self            !< this process alone
    procedure :: from_mpi => group_from_mpi    !< on a duplicate of an MPI communicator; collective
    procedure :: rank => group_rank            !< counted from 0
    procedure :: size => group_size
    procedure :: barrier => group_barrier
    procedure :: set_time_limit => group_set_time_limit
    procedure :: destroy => group_destroy
  end type

  !> Sums of 1 to 8 numbers over the ranks of a group.
  type, public :: halocline_reduction
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: init => reduction_init
    procedure, private :: sum_array, sum_scalar
    generic :: sum => sum_array, sum_scalar
    procedure :: begin => reduction_begin
    procedure :: test => reduction_test
    procedure :: wait => reduction_wait
    procedure :: set_time_limit => reduction_set_time_limit
    procedure :: destroy => reduction_destroy
  end type

  !> A sum that is rounded once, at the end. Its value does not depend on the order of the terms, nor on the number of
  !> processes.
  type, public :: halocline_exact_sum
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: init => exact_init
    procedure :: clear => exact_clear
    procedure, private :: exact_add_array, exact_add_scalar
    generic :: add => exact_add_array, exact_add_scalar
    procedure :: add_products => exact_add_products
    procedure :: merge => exact_merge
    procedure :: over => exact_over            !< becomes the sum over all ranks; collective
    procedure :: value => exact_value
    procedure :: destroy => exact_destroy
  end type

contains

  pure type(c_ptr) function handle_of(group) result(handle)
    type(halocline_communicator), intent(in) :: group
    handle = group%handle
  end function

  ! Groups -------------------------------------------------------------------------------------------------------------

  subroutine group_world(self, ierr, errmsg)
    class(halocline_communicator), intent(inout) :: self
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_world(self%handle), ierr, errmsg)
  end subroutine

  subroutine group_self(self, ierr, errmsg)
    class(halocline_communicator), intent(inout) :: self
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_self(self%handle), ierr, errmsg)
  end subroutine

  subroutine group_from_mpi(self, comm, ierr, errmsg)
    class(halocline_communicator), intent(inout) :: self
    integer, intent(in) :: comm  !< handle of a communicator, such as MPI_COMM_WORLD; with mpi_f08 its %MPI_VAL
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_from_fortran_handle(comm, self%handle), ierr, errmsg)
  end subroutine

  integer function group_rank(self) result(rank)
    class(halocline_communicator), intent(in) :: self
    call finish(c_group_rank(self%handle, rank))
  end function

  integer function group_size(self) result(count)
    class(halocline_communicator), intent(in) :: self
    call finish(c_group_size(self%handle, count))
  end function

  subroutine group_barrier(self, ierr, errmsg)
    class(halocline_communicator), intent(in) :: self
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_group_barrier(self%handle), ierr, errmsg)
  end subroutine

  subroutine group_set_time_limit(self, seconds, ierr, errmsg)
    class(halocline_communicator), intent(in) :: self
    real(real64), intent(in) :: seconds  !< longest wait of a collective; infinity, the initial value, for no limit
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_group_set_time_limit(self%handle, seconds), ierr, errmsg)
  end subroutine

  subroutine group_destroy(self)
    class(halocline_communicator), intent(inout) :: self
    call finish(c_group_destroy(self%handle))
    self%handle = c_null_ptr
  end subroutine

  ! Sums ---------------------------------------------------------------------------------------------------------------

  subroutine reduction_init(self, group, ierr, errmsg)
    class(halocline_reduction), intent(inout) :: self
    type(halocline_communicator), intent(in) :: group
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_reduction_create(group%handle, self%handle), ierr, errmsg)
  end subroutine

  subroutine sum_array(self, values, ierr, errmsg)
    class(halocline_reduction), intent(in) :: self
    real(real64), intent(inout) :: values(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_sum(self%handle, size(values), values), ierr, errmsg)
  end subroutine

  subroutine sum_scalar(self, value, ierr, errmsg)
    class(halocline_reduction), intent(in) :: self
    real(real64), intent(inout) :: value
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    real(real64) :: values(1)
    integer(c_int) :: status
    values(1) = value
    status = c_sum(self%handle, 1, values)
    value = values(1)
    call finish(status, ierr, errmsg)
  end subroutine

  !> Begins a sum. `wait` writes the sums to `values`, which must stay valid until then.
  !> values: a pointer, or a contiguous variable with the target attribute
  subroutine reduction_begin(self, values, ierr, errmsg)
    class(halocline_reduction), intent(in) :: self
    real(real64), pointer, contiguous, intent(in) :: values(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_begin(self%handle, size(values), c_loc(values)), ierr, errmsg)
  end subroutine

  subroutine reduction_test(self, ready, ierr, errmsg)
    class(halocline_reduction), intent(in) :: self
    logical, intent(out) :: ready
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: answer
    answer = 0
    call finish(c_reduction_test(self%handle, answer), ierr, errmsg)
    ready = answer /= 0
  end subroutine

  subroutine reduction_wait(self, ierr, errmsg)
    class(halocline_reduction), intent(in) :: self
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_reduction_wait(self%handle), ierr, errmsg)
  end subroutine

  subroutine reduction_set_time_limit(self, seconds, ierr, errmsg)
    class(halocline_reduction), intent(in) :: self
    real(real64), intent(in) :: seconds
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_reduction_set_time_limit(self%handle, seconds), ierr, errmsg)
  end subroutine

  subroutine reduction_destroy(self)
    class(halocline_reduction), intent(inout) :: self
    call finish(c_reduction_destroy(self%handle))
    self%handle = c_null_ptr
  end subroutine

  subroutine exact_init(self, ierr, errmsg)
    class(halocline_exact_sum), intent(inout) :: self
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_exact_create(self%handle), ierr, errmsg)
  end subroutine

  subroutine exact_clear(self, ierr, errmsg)
    class(halocline_exact_sum), intent(inout) :: self
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_exact_clear(self%handle), ierr, errmsg)
  end subroutine

  subroutine exact_add_array(self, terms, ierr, errmsg)
    class(halocline_exact_sum), intent(inout) :: self
    real(real64), intent(in) :: terms(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_exact_add(self%handle, size(terms, kind=c_size_t), terms), ierr, errmsg)
  end subroutine

  subroutine exact_add_scalar(self, term, ierr, errmsg)
    class(halocline_exact_sum), intent(inout) :: self
    real(real64), intent(in) :: term
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_exact_add(self%handle, 1_c_size_t, [term]), ierr, errmsg)
  end subroutine

  !> Adds the products a(i) b(i) without rounding them. a and b have equal lengths.
  subroutine exact_add_products(self, a, b, ierr, errmsg)
    class(halocline_exact_sum), intent(inout) :: self
    real(real64), intent(in) :: a(:), b(:)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    if (size(a) /= size(b)) then
      call finish(halocline_invalid_argument, ierr, errmsg, 'a and b of different lengths given, expected equal ones')
      return
    end if
    call finish(c_exact_products(self%handle, size(a, kind=c_size_t), a, b), ierr, errmsg)
  end subroutine

  subroutine exact_merge(self, other, ierr, errmsg)
    class(halocline_exact_sum), intent(inout) :: self
    type(halocline_exact_sum), intent(in) :: other
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_exact_merge(self%handle, other%handle), ierr, errmsg)
  end subroutine

  subroutine exact_over(self, group, ierr, errmsg)
    class(halocline_exact_sum), intent(inout) :: self
    type(halocline_communicator), intent(in) :: group
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_exact_over(group%handle, self%handle), ierr, errmsg)
  end subroutine

  real(real64) function exact_value(self) result(value)
    class(halocline_exact_sum), intent(in) :: self
    value = 0
    call finish(c_exact_value(self%handle, value))
  end function

  subroutine exact_destroy(self)
    class(halocline_exact_sum), intent(inout) :: self
    call finish(c_exact_destroy(self%handle))
    self%handle = c_null_ptr
  end subroutine

end module halocline_comm_sums
