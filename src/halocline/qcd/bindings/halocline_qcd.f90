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
  use halocline_comm_sums, only: handle_of
  use halocline_qcd_c
  use halocline_qcd_parameters
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  implicit none
  private

  public :: halocline_bad_file
  public :: halocline_format, halocline_action, halocline_solver_parameters
  public :: halocline_mass_from_kappa, halocline_gauge_file_extents

  type, public :: halocline_report
    logical :: converged
    integer :: iterations, columns
    real(real64) :: residual, seconds
    character(len=:), allocatable :: reason, method, device
    character(len=:), allocatable :: notes   !< sentences, one on each line
  end type

  type, public :: halocline_lattice
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: init => lattice_init
    procedure :: extents => lattice_extents
    procedure :: local => lattice_local
    procedure :: offset => lattice_offset
    procedure :: processes => lattice_processes
    procedure :: set_time_limit => lattice_set_time_limit
    procedure :: destroy => lattice_destroy
  end type

  type, public :: halocline_gauge
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: init => gauge_init
    procedure :: start => gauge_start
    procedure :: load => gauge_load
    procedure :: save => gauge_save
    procedure, private :: gauge_set_32, gauge_set_64, gauge_get_32, gauge_get_64
    generic :: set => gauge_set_32, gauge_set_64
    generic :: get => gauge_get_32, gauge_get_64
    procedure :: plaquette => gauge_plaquette
    procedure :: destroy => gauge_destroy
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
    integer :: columns = 12
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

  !> The extents in the header of a gauge file. Not collective.
  subroutine halocline_gauge_file_extents(path, extents, ierr, errmsg)
    character(len=*), intent(in) :: path
    integer, intent(out) :: extents(4)
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: found(4)
    integer(c_int) :: status
    found = 0
    status = c_gauge_file_extents(c_string(path), found)
    extents = int(found)
    call finish(status, ierr, errmsg)
  end subroutine

  !> The addresses of `columns` parts of an array.
  !> count: real numbers of a part; 0 where the array cannot be divided so, which the library refuses on every rank
  subroutine divide(base, numbers, bytes, columns, places, count)
    type(c_ptr), intent(in) :: base
    integer(c_size_t), intent(in) :: numbers  !< complex numbers of the array
    integer, intent(in) :: bytes, columns     !< of a complex number
    type(c_ptr), intent(out) :: places(:)
    integer(c_size_t), intent(out) :: count
    integer(c_intptr_t) :: first
    integer :: i
    count = 0
    places = base
    if (columns < 1) return
    if (mod(numbers, int(columns, c_size_t)) /= 0) return
    count = 2 * numbers / columns
    first = transfer(base, first)
    do i = 1, size(places)
      places(i) = transfer(first + (i - 1) * (count / 2) * bytes, base)
    end do
  end subroutine

  ! Lattice ------------------------------------------------------------------------------------------------------------

  subroutine lattice_init(self, group, extents, processes, ranks, ierr, errmsg)
    class(halocline_lattice), intent(inout) :: self
    type(halocline_communicator), intent(in) :: group
    integer, intent(in) :: extents(4)                          !< x y z t
    integer, intent(in), optional :: processes(4)              !< along each axis; absent: with the least surface
    integer, intent(in), optional :: ranks(:)                  !< at each place, x fastest; absent: in order
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    integer(c_int), target :: dims(4)
    integer(c_int), allocatable, target :: order(:)
    type(c_ptr) :: grid, places
    grid = c_null_ptr
    places = c_null_ptr
    if (present(processes)) then
      dims = processes
      grid = c_loc(dims)
    end if
    if (present(ranks)) then
      if (size(ranks) /= group%size()) then
        call finish(halocline_invalid_argument, ierr, errmsg, 'the ranks of a lattice have another number than its group')
        return
      end if
      allocate (order, source=int(ranks, c_int))
      places = c_loc(order)
    end if
    call finish(c_lattice_create(handle_of(group), int(extents, c_int64_t), grid, places, self%handle), ierr, errmsg)
  end subroutine

  subroutine geometry_of(self, extents, local, offset, processes)
    class(halocline_lattice), intent(in) :: self
    integer, intent(out) :: extents(4), local(4), offset(4), processes(4)
    integer(c_int64_t) :: numbers(4, 3)
    integer(c_int) :: dims(4)
    call finish(c_lattice_geometry(self%handle, numbers(:, 1), numbers(:, 2), numbers(:, 3), dims))
    extents = int(numbers(:, 1))
    local = int(numbers(:, 2))
    offset = int(numbers(:, 3))
    processes = dims
  end subroutine

  function lattice_extents(self) result(extents)
    class(halocline_lattice), intent(in) :: self
    integer :: extents(4), local(4), offset(4), processes(4)
    call geometry_of(self, extents, local, offset, processes)
  end function

  !> Sites of this process along x y z t.
  function lattice_local(self) result(local)
    class(halocline_lattice), intent(in) :: self
    integer :: extents(4), local(4), offset(4), processes(4)
    call geometry_of(self, extents, local, offset, processes)
  end function

  !> Coordinates of the first site of this process, counted from 0.
  function lattice_offset(self) result(offset)
    class(halocline_lattice), intent(in) :: self
    integer :: extents(4), local(4), offset(4), processes(4)
    call geometry_of(self, extents, local, offset, processes)
  end function

  function lattice_processes(self) result(processes)
    class(halocline_lattice), intent(in) :: self
    integer :: extents(4), local(4), offset(4), processes(4)
    call geometry_of(self, extents, local, offset, processes)
  end function

  subroutine lattice_set_time_limit(self, seconds, ierr, errmsg)
    class(halocline_lattice), intent(in) :: self
    real(real64), intent(in) :: seconds
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_lattice_set_time_limit(self%handle, seconds), ierr, errmsg)
  end subroutine

  subroutine lattice_destroy(self)
    class(halocline_lattice), intent(inout) :: self
    call finish(c_lattice_destroy(self%handle))
    self%handle = c_null_ptr
  end subroutine

  ! Gauge field --------------------------------------------------------------------------------------------------------

  subroutine gauge_init(self, lattice, ierr, errmsg)
    class(halocline_gauge), intent(inout) :: self
    type(halocline_lattice), intent(in) :: lattice
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_gauge_create(lattice%handle, self%handle), ierr, errmsg)
  end subroutine

  subroutine gauge_start(self, kind, epsilon, seed, ierr, errmsg)
    class(halocline_gauge), intent(inout) :: self
    character(len=*), intent(in) :: kind                 !< "unit", "random" or "weak"
    real(real64), intent(in), optional :: epsilon        !< of "weak"
    integer, intent(in), optional :: seed                !< absent: 1
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    real(c_double) :: size_of_change
    integer(c_int64_t) :: first
    size_of_change = 0
    if (present(epsilon)) size_of_change = epsilon
    first = 1
    if (present(seed)) first = seed
    call finish(c_gauge_start(self%handle, c_string(kind), size_of_change, first), ierr, errmsg)
  end subroutine

  subroutine gauge_load(self, path, ierr, errmsg)
    class(halocline_gauge), intent(inout) :: self
    character(len=*), intent(in) :: path
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    call finish(c_gauge_load(self%handle, c_string(path)), ierr, errmsg)
  end subroutine

  subroutine gauge_save(self, path, file_format, ierr, errmsg)
    class(halocline_gauge), intent(in) :: self
    character(len=*), intent(in) :: path
    character(len=*), intent(in), optional :: file_format  !< absent: "ildg"
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    character(len=:), allocatable :: wanted
    wanted = ''
    if (present(file_format)) wanted = file_format
    call finish(c_gauge_save(self%handle, c_string(path), c_string(wanted)), ierr, errmsg)
  end subroutine

  subroutine gauge_set_32(self, links, format, ierr, errmsg)
    class(halocline_gauge), intent(inout) :: self
    complex(real32), intent(in), contiguous, target :: links(..)  !< 36 numbers a site of this process
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    call fill_format(arranged, format, 32, letters)
    call finish(c_gauge_set(self%handle, arranged, c_loc(links), 2 * size(links, kind=c_size_t)), ierr, errmsg)
  end subroutine

  subroutine gauge_get_32(self, links, format, ierr, errmsg)
    class(halocline_gauge), intent(in) :: self
    complex(real32), intent(inout), contiguous, target :: links(..)  !< 36 numbers a site of this process
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    call fill_format(arranged, format, 32, letters)
    call finish(c_gauge_get(self%handle, arranged, c_loc(links), 2 * size(links, kind=c_size_t)), ierr, errmsg)
  end subroutine

  subroutine gauge_set_64(self, links, format, ierr, errmsg)
    class(halocline_gauge), intent(inout) :: self
    complex(real64), intent(in), contiguous, target :: links(..)  !< 36 numbers a site of this process
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    call fill_format(arranged, format, 64, letters)
    call finish(c_gauge_set(self%handle, arranged, c_loc(links), 2 * size(links, kind=c_size_t)), ierr, errmsg)
  end subroutine

  subroutine gauge_get_64(self, links, format, ierr, errmsg)
    class(halocline_gauge), intent(in) :: self
    complex(real64), intent(inout), contiguous, target :: links(..)  !< 36 numbers a site of this process
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    call fill_format(arranged, format, 64, letters)
    call finish(c_gauge_get(self%handle, arranged, c_loc(links), 2 * size(links, kind=c_size_t)), ierr, errmsg)
  end subroutine

  !> Mean of Re tr U_plaquette / 3. Collective.
  real(real64) function gauge_plaquette(self) result(plaquette)
    class(halocline_gauge), intent(in) :: self
    call finish(c_gauge_plaquette(self%handle, plaquette))
  end function

  subroutine gauge_destroy(self)
    class(halocline_gauge), intent(inout) :: self
    call finish(c_gauge_destroy(self%handle))
    self%handle = c_null_ptr
  end subroutine

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
    call finish(c_solver_create(gauge%handle, wanted, how, self%handle), ierr, errmsg)
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
    call finish(c_solver_refresh(self%handle, gauge%handle, place), ierr, errmsg)
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
    count = merge(2 * size(in, kind=c_size_t), 0_c_size_t, size(in) == size(out))
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
    if (count /= count_of_b) count = 0
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
    count = merge(2 * size(in, kind=c_size_t), 0_c_size_t, size(in) == size(out))
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
    if (count /= count_of_b) count = 0
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
    self%columns = merge(3, 12, few)
    call finish(c_propagator_create(lattice%handle, int(source, c_int64_t), merge(1, 0, few), self%handle), &
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
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    type(c_ptr) :: places(12)
    integer(c_size_t) :: count
    call fill_format(arranged, format, 32, letters)
    call divide(c_loc(columns), size(columns, kind=c_size_t), 8, self%columns, places(:self%columns), count)
    call finish(c_propagator_set(self%handle, arranged, places, count), ierr, errmsg)
  end subroutine

  subroutine propagator_get_32(self, columns, format, ierr, errmsg)
    class(halocline_propagator), intent(in) :: self
    complex(real32), intent(inout), contiguous, target :: columns(..)  !< one after another, 3 spin + colour
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    type(c_ptr) :: places(12)
    integer(c_size_t) :: count
    call fill_format(arranged, format, 32, letters)
    call divide(c_loc(columns), size(columns, kind=c_size_t), 8, self%columns, places(:self%columns), count)
    call finish(c_propagator_get(self%handle, arranged, places, count), ierr, errmsg)
  end subroutine

  subroutine propagator_set_64(self, columns, format, ierr, errmsg)
    class(halocline_propagator), intent(inout) :: self
    complex(real64), intent(in), contiguous, target :: columns(..)  !< one after another, 3 spin + colour
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    type(c_ptr) :: places(12)
    integer(c_size_t) :: count
    call fill_format(arranged, format, 64, letters)
    call divide(c_loc(columns), size(columns, kind=c_size_t), 16, self%columns, places(:self%columns), count)
    call finish(c_propagator_set(self%handle, arranged, places, count), ierr, errmsg)
  end subroutine

  subroutine propagator_get_64(self, columns, format, ierr, errmsg)
    class(halocline_propagator), intent(in) :: self
    complex(real64), intent(inout), contiguous, target :: columns(..)  !< one after another, 3 spin + colour
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    type(c_ptr) :: places(12)
    integer(c_size_t) :: count
    call fill_format(arranged, format, 64, letters)
    call divide(c_loc(columns), size(columns, kind=c_size_t), 16, self%columns, places(:self%columns), count)
    call finish(c_propagator_get(self%handle, arranged, places, count), ierr, errmsg)
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
    call finish(c_meson(self%handle, other, c_string(channel), n, values, 2_c_size_t * size(values)), ierr, errmsg)
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
