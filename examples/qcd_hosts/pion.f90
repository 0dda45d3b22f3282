! SPDX-License-Identifier: Apache-2.0
!
! The pion correlator of pion.c in Fortran. Run: mpiexec -n 2 ./pion_fortran [gauge file]
program pion
  use, intrinsic :: iso_fortran_env, only: real64
  use halocline_comm
  use halocline_qcd
  implicit none

  type(halocline_communicator) :: world
  type(halocline_lattice) :: lattice
  type(halocline_gauge) :: gauge
  type(halocline_action) :: action
  type(halocline_solver) :: solver
  type(halocline_propagator) :: quark
  type(halocline_report) :: report
  complex(real64), allocatable :: correlator(:)
  character(len=4096) :: path
  real(real64) :: plaquette, worst
  integer :: extents(4), column, t

  call world%world()
  extents = [4, 4, 4, 8]
  if (command_argument_count() > 0) then
    call get_command_argument(1, path)
    call halocline_gauge_file_extents(path, extents)
  end if
  call lattice%init(world, extents)
  call gauge%init(lattice)
  if (command_argument_count() > 0) then
    call gauge%load(path)
  else
    call gauge%start('weak', epsilon=0.3_real64, seed=1)
  end if

  action%kind = 'wilson-clover'
  action%mass = -0.5_real64
  action%csw = 1
  call solver%init(gauge, action)
  call quark%solve(solver, source=[0, 0, 0, 0])
  worst = 0
  do column = 1, 12
    report = solver%report(column)
    worst = max(worst, report%residual)
  end do

  allocate (correlator(extents(4)))
  call quark%meson('pion', correlator)
  plaquette = gauge%plaquette()
  if (world%rank() == 0) then
    print '(a, f12.10)', 'plaquette ', plaquette
    do t = 0, extents(4) - 1
      print '(a, i0, 1x, es15.9e2)', 'pion ', t, real(correlator(t + 1))
    end do
    print '(2a)', 'residual ', merge('small', 'large', worst < 1e-9_real64)
  end if

  call quark%destroy()
  call solver%destroy()
  call gauge%destroy()
  call lattice%destroy()
  call world%destroy()
  if (worst >= 1e-9_real64) stop 1
end program pion
