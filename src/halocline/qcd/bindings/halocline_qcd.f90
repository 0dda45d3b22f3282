! SPDX-License-Identifier: Apache-2.0
!> @file
!> Lattice QCD for Fortran 2018: types with procedures of their own, over qcd/bindings/c.h.
!>
!> As in halocline_comm, which has the groups of processes, a variable of one of these types is a handle, `init` makes
!> the object, and `destroy` ends it. Without `ierr` a failure prints its sentence and ends the run. c.h documents each
!> procedure under a similar name. The comments here state the differences:
!>
!> - Parameters are plain types. A member that is left alone has the default of the library.
!> - Arrays are complex numbers of 32 or 64 bits and of any shape, contiguous in memory. Their kind is the precision,
!>   and their size is checked. `links(3, 3, 4, x, y, z, t)` and `psi(3, 4, x, y, z, t)` are the canonical order; the
!>   first index of a link is its column.
!> - Columns, like all indices of Fortran, count from 1. Coordinates of sites and momenta are those of c.h; the first
!>   site is (0, 0, 0, 0).
!> - A progress function is an `integer(c_int) function f(data, iterations, residual) bind(c)` with the arguments
!>   `type(c_ptr), value`, `integer(c_int), value` and `real(c_double), value`. Pass `c_funloc(f)`.
module halocline_qcd
  use halocline_comm
  use halocline_comm_c, only: finish, halocline_bad_file, text_of
  use halocline_qcd_c
  use halocline_qcd_lattice
  use halocline_qcd_parameters
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  implicit none
  private

  public :: halocline_bad_file, halocline_lattice, halocline_gauge
  public :: halocline_format, halocline_action, halocline_solver_parameters
  public :: halocline_mass_from_kappa, halocline_gauge_file_extents

  type, public :: halocline_report
    logical :: converged
    integer :: iterations, columns
    real(real64) :: residual, seconds
    character(len=:), allocatable :: reason, method, device
    character(len=:), allocatable :: notes   !< sentences, one on each line
  end type

  type, public :: halocline_solver
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: init => solver_init
    procedure :: refresh => solver_refresh
    procedure, private :: solver_apply_32, solver_apply_64, solver_solve_32, solver_solve_64
    generic :: apply => solver_apply_32, solver_apply_64
    generic :: solve => solver_solve_32, solver_solve_64
    procedure :: report => solver_report
    procedure :: destroy => solver_destroy
  end type

  type, public :: halocline_propagator
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: init => propagator_init
    procedure :: solve => propagator_solve
    procedure, private :: propagator_set_32, propagator_set_64, propagator_get_32, propagator_get_64
    generic :: set => propagator_set_32, propagator_set_64
    generic :: get => propagator_get_32, propagator_get_64
    procedure :: meson => propagator_meson
    procedure :: nucleon => propagator_nucleon
    procedure :: destroy => propagator_destroy
  end type

contains

  !> m0 = 1 / (2 kappa) - 4
  real(real64) function halocline_mass_from_kappa(kappa) result(mass)
    real(real64), intent(in) :: kappa
    call finish(c_mass_from_kappa(kappa, mass))
  end function

  !> The addresses of `columns` parts of an array.
  !> count: real numbers of a part. Where the array cannot be divided so, an odd number, which the library refuses
  subroutine divide(base, numbers, bytes, columns, places, count)
    type(c_ptr), intent(in) :: base
    integer(c_size_t), intent(in) :: numbers  !< complex numbers of the array
    integer, intent(in) :: bytes, columns     !< of a complex number
    type(c_ptr), intent(out) :: places(:)     !< at least `columns`
    integer(c_size_t), intent(out) :: count
    integer(c_intptr_t) :: first
    integer :: i
    count = 0
    places = base
    if (columns < 1) return
    count = 2 * (numbers / columns)
    if (mod(numbers, int(columns, c_size_t)) /= 0) count = count + 1
    first = transfer(base, first)
    do i = 1, columns
      places(i) = transfer(first + (i - 1) * (count / 2) * bytes, base)
    end do
  end subroutine

  !> The real numbers of two arrays as the library shall see them: where they differ, those of the wrong one.
  integer(c_size_t) function common_count(solver, one, other, whole) result(count)
    type(c_ptr), intent(in) :: solver
    integer(c_size_t), intent(in) :: one, other
    logical, intent(in) :: whole              !< arrays on which D acts, and not sources
    integer(c_size_t) :: expected(2)
    integer(c_int) :: status
    count = one
    if (one == other) return
    status = c_solver_count(solver, expected(1), expected(2))
    if (status == halocline_ok .and. one == expected(merge(2, 1, whole))) count = other
    if (status /= halocline_ok) count = ior(one, 1_c_size_t)
  end function

  ! Solver -------------------------------------------------------------------------------------------------------------

  subroutine solver_init(self, gauge, action, parameters, ierr, errmsg)
    class(halocline_solver), intent(inout) :: self
    type(halocline_gauge), intent(in) :: gauge
    type(halocline_action), intent(in) :: action
    type(halocline_solver_parameters), intent(in), optional :: parameters
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_action) :: wanted
    type(c_parameters) :: how
    character(kind=c_char), target :: letters(name_length + 1), names(name_length + 1, 8)
    complex(c_double_complex), target :: b(most_points), c(most_points)
    call fill_action(wanted, action, letters, b, c)
    call fill_parameters(how, parameters, names)
    call finish(c_solver_create(handle_of_gauge(gauge), wanted, how, self%handle), ierr, errmsg)
  end subroutine

  !> Takes other links or another action.
  subroutine solver_refresh(self, gauge, action, ierr, errmsg)
    class(halocline_solver), intent(inout) :: self
    type(halocline_gauge), intent(in) :: gauge
    type(halocline_action), intent(in), optional :: action  !< absent: the present one
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_action), target :: wanted
    type(c_ptr) :: place
    character(kind=c_char), target :: letters(name_length + 1)
    complex(c_double_complex), target :: b(most_points), c(most_points)
    place = c_null_ptr
    if (present(action)) then
      call fill_action(wanted, action, letters, b, c)
      place = c_loc(wanted)
    end if
    call finish(c_solver_refresh(self%handle, handle_of_gauge(gauge), place), ierr, errmsg)
  end subroutine

  subroutine solver_apply_32(self, name, out, in, format, ierr, errmsg)
    class(halocline_solver), intent(inout) :: self
    character(len=*), intent(in) :: name                             !< "D", "D-dagger", "schur" or "schur-dagger"
    complex(real32), intent(inout), contiguous, target :: out(..)
    complex(real32), intent(in), contiguous, target :: in(..)
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    integer(c_size_t) :: count
    call fill_format(arranged, format, 32, letters)
    count = common_count(self%handle, 2 * size(in, kind=c_size_t), 2 * size(out, kind=c_size_t), .true.)
    call finish(c_solver_apply(self%handle, c_string(name), arranged, c_loc(out), c_loc(in), count), ierr, errmsg)
  end subroutine

  !> Solves D x = b for `columns` right-hand sides, which stand one after another in the arrays.
  subroutine solver_solve_32(self, x, b, columns, format, progress, ierr, errmsg)
    class(halocline_solver), intent(inout) :: self
    complex(real32), intent(inout), contiguous, target :: x(..)
    complex(real32), intent(in), contiguous, target :: b(..)
    integer, intent(in), optional :: columns                         !< absent: 1
    type(halocline_format), intent(in), optional :: format
    type(c_funptr), intent(in), optional :: progress                 !< c_funloc of a function
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    type(c_ptr), allocatable :: solutions(:), sources(:)
    type(c_funptr) :: callback
    integer(c_size_t) :: count, count_of_b
    integer :: number
    number = 1
    if (present(columns)) number = columns
    callback = c_null_funptr
    if (present(progress)) callback = progress
    call fill_format(arranged, format, 32, letters)
    allocate (solutions(max(1, number)), sources(max(1, number)))
    call divide(c_loc(x), size(x, kind=c_size_t), 8, number, solutions, count)
    call divide(c_loc(b), size(b, kind=c_size_t), 8, number, sources, count_of_b)
    count = common_count(self%handle, count, count_of_b, .false.)
    call finish(c_solver_solve(self%handle, arranged, number, solutions, sources, count, callback, c_null_ptr), &
                ierr, errmsg)
  end subroutine

  subroutine solver_apply_64(self, name, out, in, format, ierr, errmsg)
    class(halocline_solver), intent(inout) :: self
    character(len=*), intent(in) :: name                             !< "D", "D-dagger", "schur" or "schur-dagger"
    complex(real64), intent(inout), contiguous, target :: out(..)
    complex(real64), intent(in), contiguous, target :: in(..)
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    integer(c_size_t) :: count
    call fill_format(arranged, format, 64, letters)
    count = common_count(self%handle, 2 * size(in, kind=c_size_t), 2 * size(out, kind=c_size_t), .true.)
    call finish(c_solver_apply(self%handle, c_string(name), arranged, c_loc(out), c_loc(in), count), ierr, errmsg)
  end subroutine

  !> Solves D x = b for `columns` right-hand sides, which stand one after another in the arrays.
  subroutine solver_solve_64(self, x, b, columns, format, progress, ierr, errmsg)
    class(halocline_solver), intent(inout) :: self
    complex(real64), intent(inout), contiguous, target :: x(..)
    complex(real64), intent(in), contiguous, target :: b(..)
    integer, intent(in), optional :: columns                         !< absent: 1
    type(halocline_format), intent(in), optional :: format
    type(c_funptr), intent(in), optional :: progress                 !< c_funloc of a function
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    type(c_ptr), allocatable :: solutions(:), sources(:)
    type(c_funptr) :: callback
    integer(c_size_t) :: count, count_of_b
    integer :: number
    number = 1
    if (present(columns)) number = columns
    callback = c_null_funptr
    if (present(progress)) callback = progress
    call fill_format(arranged, format, 64, letters)
    allocate (solutions(max(1, number)), sources(max(1, number)))
    call divide(c_loc(x), size(x, kind=c_size_t), 16, number, solutions, count)
    call divide(c_loc(b), size(b, kind=c_size_t), 16, number, sources, count_of_b)
    count = common_count(self%handle, count, count_of_b, .false.)
    call finish(c_solver_solve(self%handle, arranged, number, solutions, sources, count, callback, c_null_ptr), &
                ierr, errmsg)
  end subroutine

  !> The result for a column of the last solve, counted from 1.
  function solver_report(self, column) result(report)
    class(halocline_solver), intent(in) :: self
    integer, intent(in) :: column
    type(halocline_report) :: report
    type(c_report) :: made
    type(c_ptr) :: sentence
    integer :: i
    call finish(c_report_init(made, c_sizeof(made)))
    call finish(c_solver_report(self%handle, column - 1, made))
    report%converged = made%converged /= 0
    report%iterations = made%iterations
    report%columns = made%columns
    report%residual = made%residual
    report%seconds = made%seconds
    report%reason = text_of(made%reason)
    report%method = text_of(made%method)
    report%device = text_of(made%device)
    report%notes = ''
    do i = 0, made%notes - 1
      call finish(c_solver_note(self%handle, column - 1, i, sentence))
      if (i > 0) report%notes = report%notes // new_line('a')
      report%notes = report%notes // text_of(sentence)
    end do
  end function

  subroutine solver_destroy(self)
    class(halocline_solver), intent(inout) :: self
    call finish(c_solver_destroy(self%handle))
    self%handle = c_null_ptr
  end subroutine

  ! Propagators and correlators ----------------------------------------------------------------------------------------

  !> Zeros, for solutions of the program.
  subroutine propagator_init(self, lattice, source, staggered, ierr, errmsg)
    class(halocline_propagator), intent(inout) :: self
    type(halocline_lattice), intent(in) :: lattice
    integer, intent(in) :: source(4)                 !< position x y z t, counted from 0
    logical, intent(in), optional :: staggered       !< three columns, the colours, and not twelve
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    logical :: few
    few = .false.
    if (present(staggered)) few = staggered
    call finish(c_propagator_create(handle_of_lattice(lattice), int(source, c_int64_t), merge(1, 0, few), self%handle), &
                ierr, errmsg)
  end subroutine

  !> Solves for all columns from a point source. The reports are those of the solver.
  subroutine propagator_solve(self, solver, source, progress, ierr, errmsg)
    class(halocline_propagator), intent(inout) :: self
    type(halocline_solver), intent(in) :: solver
    integer, intent(in) :: source(4)
    type(c_funptr), intent(in), optional :: progress
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_funptr) :: callback
    callback = c_null_funptr
    if (present(progress)) callback = progress
    call finish(c_propagator_solve(solver%handle, int(source, c_int64_t), callback, c_null_ptr, self%handle), &
                ierr, errmsg)
  end subroutine

  subroutine propagator_set_32(self, columns, format, ierr, errmsg)
    class(halocline_propagator), intent(inout) :: self
    complex(real32), intent(in), contiguous, target :: columns(..)  !< one after another, 3 spin + colour
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call move_columns(self%handle, c_loc(columns), size(columns, kind=c_size_t), 32, .true., format, ierr, errmsg)
  end subroutine

  subroutine propagator_get_32(self, columns, format, ierr, errmsg)
    class(halocline_propagator), intent(in) :: self
    complex(real32), intent(inout), contiguous, target :: columns(..)  !< one after another, 3 spin + colour
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call move_columns(self%handle, c_loc(columns), size(columns, kind=c_size_t), 32, .false., format, ierr, errmsg)
  end subroutine

  subroutine propagator_set_64(self, columns, format, ierr, errmsg)
    class(halocline_propagator), intent(inout) :: self
    complex(real64), intent(in), contiguous, target :: columns(..)  !< one after another, 3 spin + colour
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call move_columns(self%handle, c_loc(columns), size(columns, kind=c_size_t), 64, .true., format, ierr, errmsg)
  end subroutine

  subroutine propagator_get_64(self, columns, format, ierr, errmsg)
    class(halocline_propagator), intent(in) :: self
    complex(real64), intent(inout), contiguous, target :: columns(..)  !< one after another, 3 spin + colour
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call move_columns(self%handle, c_loc(columns), size(columns, kind=c_size_t), 64, .false., format, ierr, errmsg)
  end subroutine

  !> The columns of a propagator from an array of the program, or into it.
  subroutine move_columns(propagator, columns, numbers, bits, from_array, format, ierr, errmsg)
    type(c_ptr), intent(in) :: propagator
    type(c_ptr), intent(in) :: columns               !< one after another, 3 spin + colour
    integer(c_size_t), intent(in) :: numbers         !< complex ones in the array
    integer, intent(in) :: bits                      !< of a part of a number
    logical, intent(in) :: from_array
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    type(c_ptr) :: places(12)
    integer(c_size_t) :: count, expected
    integer(c_int) :: number
    call fill_format(arranged, format, bits, letters)
    call finish(c_propagator_count(propagator, number, expected), ierr, errmsg)
    if (.not. c_associated(propagator)) return
    call divide(columns, numbers, bits / 4, int(number), places, count)
    if (from_array) then
      call finish(c_propagator_set(propagator, arranged, places, count), ierr, errmsg)
    else
      call finish(c_propagator_get(propagator, arranged, places, count), ierr, errmsg)
    end if
  end subroutine

  !> C(t), `values(1)` at the time of the source.
  subroutine propagator_meson(self, channel, values, antiquark, momentum, ierr, errmsg)
    class(halocline_propagator), intent(in) :: self
    character(len=*), intent(in) :: channel                       !< "pion", "rho", ...
    complex(real64), intent(out), contiguous :: values(:)
    type(halocline_propagator), intent(in), optional :: antiquark !< absent: the quark's
    integer, intent(in), optional :: momentum(3)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: n(3)
    type(c_ptr) :: other
    n = 0
    if (present(momentum)) n = momentum
    other = self%handle
    if (present(antiquark)) other = antiquark%handle
    call finish(c_meson(self%handle, other, c_string(channel), n, values, 2 * size(values, kind=c_size_t)), ierr, &
                errmsg)
  end subroutine

  !> The proton, with `self` the up quark.
  subroutine propagator_nucleon(self, values, boundary_t, down, parity, momentum, ierr, errmsg)
    class(halocline_propagator), intent(in) :: self
    complex(real64), intent(out), contiguous :: values(:)
    complex(real64), intent(in) :: boundary_t                     !< phase of the quarks in time, such as (-1, 0)
    type(halocline_propagator), intent(in), optional :: down      !< absent: the same
    integer, intent(in), optional :: parity                       !< absent: 1
    integer, intent(in), optional :: momentum(3)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: n(3), sign
    type(c_ptr) :: other
    n = 0
    if (present(momentum)) n = momentum
    sign = 1
    if (present(parity)) sign = parity
    other = self%handle
    if (present(down)) other = down%handle
    call finish(c_nucleon(self%handle, other, boundary_t, sign, n, values, 2 * size(values, kind=c_size_t)), ierr, &
                errmsg)
  end subroutine

  subroutine propagator_destroy(self)
    class(halocline_propagator), intent(inout) :: self
    call finish(c_propagator_destroy(self%handle))
    self%handle = c_null_ptr
  end subroutine

end module halocline_qcd
