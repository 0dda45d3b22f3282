! SPDX-License-Identifier: Apache-2.0
!> @file
!> Lattices and gauge fields for Fortran 2018. Programs use halocline_qcd, which makes these types public again. Its head
!> explains handles, arrays and errors.
module halocline_qcd_lattice
  use halocline_comm
  use halocline_comm_c, only: finish, text_of
  use halocline_comm_sums, only: handle_of
  use halocline_qcd_c
  use halocline_qcd_parameters
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  implicit none
  private

  public :: handle_of_lattice, handle_of_gauge  !< for halocline_qcd.f90 alone
  public :: halocline_gauge_file_extents

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
    procedure :: set_communication => lattice_set_communication
    procedure :: failure => lattice_failure
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
    procedure, private :: gauge_set_directions_32, gauge_set_directions_64
    generic :: set => gauge_set_32, gauge_set_64
    generic :: set_directions => gauge_set_directions_32, gauge_set_directions_64
    generic :: get => gauge_get_32, gauge_get_64
    procedure :: plaquette => gauge_plaquette
    procedure :: destroy => gauge_destroy
  end type

contains

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

  type(c_ptr) function handle_of_lattice(lattice) result(handle)
    type(halocline_lattice), intent(in) :: lattice
    handle = lattice%handle
  end function

  type(c_ptr) function handle_of_gauge(gauge) result(handle)
    type(halocline_gauge), intent(in) :: gauge
    handle = gauge%handle
  end function

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
      ! A wrong number of ranks is a mistake on every process: the library refuses the rank -1.
      allocate (order(group%size()), source=-1_c_int)
      if (size(ranks) == size(order)) order = int(ranks, c_int)
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

  !> How solvers that are made from now on exchange halos and add. What is absent has the usual choice.
  subroutine lattice_set_communication(self, transport, buffers, all_threads_post, sums, interfaces, ierr, errmsg)
    class(halocline_lattice), intent(in) :: self
    character(len=*), intent(in), optional :: transport, sums
    integer, intent(in), optional :: buffers              !< of each direction of a link, 2 or 1; absent: 2
    logical, intent(in), optional :: all_threads_post     !< absent: false
    integer, intent(in), optional :: interfaces(8)        !< of each face, for transport utofu
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    character(len=:), allocatable :: way, adding
    integer(c_int), target :: cards(8)
    integer(c_int) :: number, threads
    type(c_ptr) :: place
    way = ''
    if (present(transport)) way = transport
    adding = ''
    if (present(sums)) adding = sums
    number = 2
    if (present(buffers)) number = int(buffers, c_int)
    threads = 0
    if (present(all_threads_post)) threads = merge(1, 0, all_threads_post)
    place = c_null_ptr
    if (present(interfaces)) then
      cards = int(interfaces, c_int)
      place = c_loc(cards)
    end if
    call finish(c_lattice_set_communication(self%handle, c_string(way), number, threads, c_string(adding), place), ierr, &
                errmsg)
  end subroutine

  !> Why the lattice cannot be used any more; '' as long as it can. Not collective.
  function lattice_failure(self) result(reason)
    class(halocline_lattice), intent(in) :: self
    character(len=:), allocatable :: reason
    type(c_ptr) :: sentence
    call finish(c_lattice_failure(self%handle, sentence))
    reason = text_of(sentence)
  end function

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

  !> The links from four arrays, one for each direction.
  subroutine gauge_set_directions_32(self, x, y, z, t, format, ierr, errmsg)
    class(halocline_gauge), intent(inout) :: self
    complex(real32), intent(in), contiguous, target :: x(..), y(..), z(..), t(..)  !< 9 numbers a site of this process
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    call fill_format(arranged, format, 32, letters)
    call set_four(self, arranged, [c_loc(x), c_loc(y), c_loc(z), c_loc(t)], [size(x, kind=c_size_t), &
                  size(y, kind=c_size_t), size(z, kind=c_size_t), size(t, kind=c_size_t)], ierr, errmsg)
  end subroutine

  !> The links from four arrays, one for each direction.
  subroutine gauge_set_directions_64(self, x, y, z, t, format, ierr, errmsg)
    class(halocline_gauge), intent(inout) :: self
    complex(real64), intent(in), contiguous, target :: x(..), y(..), z(..), t(..)  !< 9 numbers a site of this process
    type(halocline_format), intent(in), optional :: format
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    type(c_format) :: arranged
    character(kind=c_char), target :: letters(name_length + 1, 3)
    call fill_format(arranged, format, 64, letters)
    call set_four(self, arranged, [c_loc(x), c_loc(y), c_loc(z), c_loc(t)], [size(x, kind=c_size_t), &
                  size(y, kind=c_size_t), size(z, kind=c_size_t), size(t, kind=c_size_t)], ierr, errmsg)
  end subroutine

  subroutine set_four(self, arranged, places, sizes, ierr, errmsg)
    class(halocline_gauge), intent(inout) :: self
    type(c_format), intent(in) :: arranged
    type(c_ptr), intent(in) :: places(4)
    integer(c_size_t), intent(in) :: sizes(4)   !< complex numbers of each array
    integer, intent(out), optional :: ierr; character(len=*), intent(inout), optional :: errmsg
    integer(c_size_t) :: count
    count = 2 * sizes(1)
    if (any(sizes /= sizes(1))) count = 2 * minval(sizes) + 1  ! refused on every rank, as no array has an odd count
    call finish(c_gauge_set_directions(self%handle, arranged, places, count), ierr, errmsg)
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

end module halocline_qcd_lattice
