! SPDX-License-Identifier: Apache-2.0
!
! Laws of the Fortran interface of qcd: arrays of every kind and shape, columns, formats, actions, progress, correlators
! and errors.
module stops
  use, intrinsic :: iso_c_binding
  implicit none
contains
  !> Ends a solve after three iterations.
  integer(c_int) function stop_soon(data, iterations, residual) bind(c)
    type(c_ptr), value :: data
    integer(c_int), value :: iterations
    real(c_double), value :: residual
    stop_soon = 0
    if (iterations >= 3 .and. residual >= 0 .and. .not. c_associated(data)) stop_soon = 1
  end function
end module stops

program uses_qcd
  use, intrinsic :: iso_c_binding, only: c_funloc
  use, intrinsic :: iso_fortran_env, only: error_unit, real32, real64
  use halocline_comm
  use halocline_qcd
  use stops
  implicit none

  type(halocline_communicator) :: world
  type(halocline_lattice) :: lattice, refused
  type(halocline_gauge) :: gauge
  type(halocline_action) :: action
  type(halocline_solver_parameters) :: how
  type(halocline_solver) :: solver, walls
  type(halocline_propagator) :: quark, copy
  type(halocline_report) :: report
  type(halocline_format) :: quda
  complex(real64), allocatable :: links(:, :, :, :, :, :, :), psi(:, :, :, :, :, :), many(:, :), back(:, :)
  complex(real32), allocatable :: narrow(:, :), narrow_back(:, :), narrow_links(:)
  complex(real64), allocatable :: columns(:, :), pion(:), other(:), nucleon(:)
  real(real64) :: plaquette
  character(len=300) :: sentence
  integer :: n(4), rank, ierr, i, sites

  call world%world()
  rank = world%rank()
  call lattice%init(world, [4, 4, 4, 8], processes=[1, 1, 1, world%size()])
  n = lattice%local()
  sites = product(n)
  call check(all(n == [4, 4, 4, 8 / world%size()]), 'local extents')
  call check(all(lattice%offset() == [0, 0, 0, rank * n(4)]) .and. all(lattice%extents() == [4, 4, 4, 8]), 'offset')
  call check(all(lattice%processes() == [1, 1, 1, world%size()]), 'processes')
  call lattice%set_time_limit(100.0_real64)
  call lattice%set_communication(buffers=1, sums='ordered')
  call lattice%set_communication()
  call lattice%set_communication(sums='sometimes', ierr=ierr, errmsg=sentence)
  call check(ierr == halocline_invalid_argument .and. index(sentence, 'sometimes') > 0, 'unknown sums')
  call check(lattice%failure() == '', 'a lattice that is usable')

  ! Links in the canonical order: column, row, direction, x, y, z, t.
  call gauge%init(lattice)
  call gauge%start('weak', epsilon=0.2_real64, seed=4)
  plaquette = gauge%plaquette()
  allocate (links(3, 3, 4, n(1), n(2), n(3), n(4)), narrow_links(36 * sites))
  call gauge%get(links)
  call check(maxval(abs(matmul(links(:, :, 2, 1, 2, 3, 1), conjg(transpose(links(:, :, 2, 1, 2, 3, 1)))) - unit())) &
             < 1e-14_real64, 'unitary links')
  quda%order = 'quda'
  quda%link_boundary(4) = -1
  call gauge%get(narrow_links, quda)
  call gauge%start('unit')
  call check(abs(gauge%plaquette() - 1) < 1e-15_real64, 'unit links')
  call gauge%set(narrow_links, quda)
  call check(abs(gauge%plaquette() - plaquette) < 1e-6_real64, 'links through float')
  call gauge%set(links)
  call check(abs(gauge%plaquette() - plaquette) < 1e-15_real64, 'links set again')
  call gauge%start('unit')
  call gauge%set_directions(links(:, :, 1, :, :, :, :), links(:, :, 2, :, :, :, :), links(:, :, 3, :, :, :, :), &
                            links(:, :, 4, :, :, :, :))
  call check(abs(gauge%plaquette() - plaquette) < 1e-15_real64, 'links of four arrays')
  call gauge%set_directions(links(:, :, 1, :, :, :, :), links(:, :, 2, :, :, :, :), links(:, :, 3, :, :, :, :), &
                            links(:, :, 4, :, :, :, 2:), ierr=ierr, errmsg=sentence)
  call check(ierr == halocline_invalid_argument .and. index(sentence, 'real numbers given') > 0, 'a short array of links')

  ! Two columns, D x = b, with the default format and that of QUDA in both precisions.
  action%kind = 'twisted-clover'
  action%mass = halocline_mass_from_kappa(0.12_real64)
  action%csw = 1
  action%mu = 0.1_real64
  how%kind = 'bicgstab'
  how%tolerance = 1e-9_real64
  call solver%init(gauge, action, how)
  allocate (many(12 * sites, 2), back(12 * sites, 2), narrow(12 * sites, 2), narrow_back(12 * sites, 2))
  many = reshape([(cmplx(sin(1.3 * i + rank), cos(0.7 * i), real64), i=1, 24 * sites)], shape(many))
  allocate (columns(12 * sites, 2))
  call solver%solve(columns, many, columns=2)
  do i = 1, 2
    report = solver%report(i)
    call check(report%converged .and. report%residual < 1e-9_real64 .and. report%columns == 2, 'report')
    call check(report%reason == 'converged' .and. index(report%method, 'bicgstab') > 0, 'words of the report')
    call solver%apply('D', back(:, i), columns(:, i))
  end do
  call check(maxval(abs(back - many)) < 1e-6_real64, 'D x = b')
  narrow = cmplx(many, kind=real32)
  quda%basis = 'Dirac-Pauli'
  call solver%solve(narrow_back, narrow, columns=2, format=quda)
  call solver%apply('D', narrow(:, 1), narrow_back(:, 1), quda)
  call check(maxval(abs(narrow(:, 1) - many(:, 1))) < 1e-4_real32, 'D x = b in float and another order')

  ! An array of six dimensions; a solve that is stopped; arrays of wrong sizes.
  allocate (psi(3, 4, n(1), n(2), n(3), n(4)))
  call solver%solve(psi, many(:, 1), progress=c_funloc(stop_soon))
  report = solver%report(1)
  call check(report%reason == 'cancelled' .and. .not. report%converged, 'progress')
  call solver%solve(psi, many(:, 1))
  call check(abs(psi(2, 1, 1, 1, 1, 1) - columns(2, 1)) < 1e-7_real64, 'spin and colour')
  call solver%solve(psi, many, ierr=ierr, errmsg=sentence)
  call check(ierr == halocline_invalid_argument .and. index(sentence, 'real numbers given') > 0, 'other sizes')
  call solver%solve(many(2:, 1), back(2:, 1), ierr=ierr, errmsg=sentence)
  call check(ierr == halocline_invalid_argument, 'short arrays')
  call gauge%load('no such file', ierr, sentence)
  call check(ierr == halocline_bad_file .and. index(sentence, 'no such file') > 0, 'missing file')
  call refused%init(world, [4, 4, 4, 7], lattice%processes(), ierr=ierr, errmsg=sentence)
  call check((ierr == halocline_ok) .eqv. (world%size() == 1), 'extents that cannot be divided')
  if (ierr == halocline_ok) call refused%destroy()
  if (rank == 0) then  ! a mistake of one process
    call refused%init(world, [4, 4, 4, 8], lattice%processes(), ranks=[(i, i=0, world%size())], ierr=ierr, errmsg=sentence)
  else
    call refused%init(world, [4, 4, 4, 8], lattice%processes(), ranks=[(i, i=0, world%size() - 1)], ierr=ierr, &
                      errmsg=sentence)
  end if
  call check(ierr == halocline_invalid_argument, 'ranks of another number')
  action%csw = 1
  action%kind = 'wilson'
  call solver%refresh(gauge, action, ierr, sentence)
  call check(ierr == halocline_invalid_argument .and. index(sentence, 'has no csw') > 0, 'csw of wilson')

  ! Domain walls with lists of coefficients.
  action = halocline_action(kind='mobius', mass=0.1_real64, ls=8, b=[(cmplx(1.5, 0, real64), i=1, 8)], &
                            c=[(0.5_real64, 0.0_real64)])
  call walls%init(gauge, action)
  call walls%solve(psi, many(:, 1))
  report = walls%report(1)
  call check(report%converged, 'domain walls')
  action%b = action%b(1:3)
  call walls%refresh(gauge, action, ierr, sentence)
  call check(ierr == halocline_invalid_argument, 'a list of another length')

  ! Correlators; columns in another basis and back.
  action = halocline_action(kind='wilson', mass=0.2_real64)
  call solver%refresh(gauge, action, ierr, sentence)
  call check(ierr == halocline_invalid_argument .and. index(sentence, 'of another kind') > 0, 'another kind')
  call solver%destroy()
  call solver%init(gauge, action)
  call quark%solve(solver, source=[1, 2, 3, 1])
  allocate (pion(8), other(8), nucleon(8))
  call quark%meson('pion', pion)
  call check(all(real(pion) > 0) .and. maxval(abs(aimag(pion))) < 1e-12_real64, 'pion')
  deallocate (columns)
  allocate (columns(12 * sites, 12))
  quda%indices = 'colour-spin'
  call quark%get(columns, quda)
  call copy%init(lattice, [1, 2, 3, 1])
  call copy%set(columns, quda)
  call copy%meson('rho', other, antiquark=quark, momentum=[1, 0, 0])
  call quark%meson('rho', pion, momentum=[1, 0, 0])
  call check(maxval(abs(pion - other)) < 1e-12_real64, 'columns in another basis')
  call quark%nucleon(nucleon, boundary_t=(-1.0_real64, 0.0_real64))
  call check(real(nucleon(2)) > 0, 'nucleon')
  call quark%meson('kaon', pion, ierr=ierr, errmsg=sentence)
  call check(ierr == halocline_invalid_argument .and. index(sentence, 'kaon') > 0, 'unknown channel')

  ! Staggered quarks have three columns: those of a solve can be read and set, and an array of twelve is refused.
  call copy%destroy()
  call quark%destroy()
  call walls%destroy()
  call walls%init(gauge, halocline_action(kind='one-link', mass=0.5_real64))
  call quark%solve(walls, source=[0, 0, 0, 0])
  call quark%get(columns, ierr=ierr, errmsg=sentence)
  call check(ierr == halocline_invalid_argument .and. index(sentence, 'real numbers given') > 0, 'twelve columns')
  deallocate (columns)
  allocate (columns(3 * sites, 3))
  call quark%get(columns)
  call check(maxval(abs(columns)) > 0, 'staggered columns')
  call quark%meson('pion', pion)
  call check(all(real(pion) > 0), 'staggered pion')
  call copy%init(lattice, [0, 0, 0, 0], staggered=.true.)
  call copy%set(columns)
  call copy%meson('pion', other)
  call check(maxval(abs(pion - other)) < 1e-14_real64, 'staggered columns set again')

  call copy%destroy()
  call quark%destroy()
  call walls%destroy()
  call solver%destroy()
  call gauge%destroy()
  call lattice%destroy()
  call world%destroy()
  if (rank == 0) print '(a)', 'right'

contains

  function unit()
    complex(real64) :: unit(3, 3)
    unit = 0
    unit(1, 1) = 1
    unit(2, 2) = 1
    unit(3, 3) = 1
  end function

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    write (error_unit, '(3a, i0, 3a)') 'uses_qcd: wrong: ', what, ' on rank ', world%rank(), ' (', trim(sentence), ')'
    flush (error_unit)
    error stop 1
  end subroutine
end program uses_qcd
