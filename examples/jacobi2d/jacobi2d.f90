! SPDX-License-Identifier: Apache-2.0
!
! The 2-d Jacobi iteration over halocline's halo exchange, in Fortran 2008. Run: mpiexec -n 4 ./jacobi2d_fortran
!
! This program solves the problem of jacobi2d.c in the same steps. The head of jacobi2d.c states the equation. No call
! here passes `ierr`, so any failure prints its error message and ends the run.
program jacobi2d
  use, intrinsic :: iso_fortran_env, only: real64
  use halocline_comm
  implicit none

  integer, parameter :: points(2) = [48, 40]  ! along each axis
  real(real64), parameter :: mass_squared = 0.5_real64, tolerance = 1e-10_real64
  real(real64), parameter :: pi = acos(-1.0_real64), k(2) = 2 * pi * [1, 2] / points

  type(halocline_communicator) :: world
  type(halocline_grid) :: grid
  type(halocline_exchange) :: exchange
  type(halocline_exact_sum) :: change
  type(halocline_reduction) :: reduction
  ! This process has the points 1 to n(1) and 1 to n(2). The iterates x and next also have a halo of one point.
  real(real64), allocatable :: x(:, :), next(:, :), b(:, :), solution(:, :), wave(:, :)
  real(real64), pointer :: buffer(:)
  real(real64) :: residual, error
  integer :: dims(2), coords(2), n(2), iterations, face, arrived, i, j
  logical :: right

  ! Of all grids of these processes, take the one that moves the least halo.
  call world%world()
  call halocline_least_surface_grid(points, world%size(), dims)
  call grid%init(world, dims)
  coords = grid%coords()
  n = points / dims

  ! A face of axis 1 has n(2) points, one of axis 2 has n(1).
  call exchange%init(grid, face_bytes=8 * [n(2), n(1)])
  call change%init()

  allocate (x(0:n(1) + 1, 0:n(2) + 1), source=0.0_real64)
  allocate (next, mold=x)
  allocate (b(n(1), n(2)), solution(n(1), n(2)), wave(n(1), n(2)))
  do j = 1, n(2)
    do i = 1, n(1)
      wave(i, j) = cos(k(1) * (coords(1) * n(1) + i - 1) + k(2) * (coords(2) * n(2) + j - 1))
    end do
  end do
  solution = 1 + wave
  b = mass_squared + (4 + mass_squared - 2 * cos(k(1)) - 2 * cos(k(2))) * wave

  iterations = 0
  do
    do face = 0, 3
      call exchange%send_buffer(face, buffer)
      select case (face)
      case (0); buffer = x(1, 1:n(2))
      case (1); buffer = x(n(1), 1:n(2))
      case (2); buffer = x(1:n(1), 1)
      case (3); buffer = x(1:n(1), n(2))
      end select
    end do
    call exchange%post()

    call change%clear()
    call relax(2, n(1) - 1, 2, n(2) - 1)
    ! When the halo of a side arrives, compute the side without its ends. The corners need two halos and come last.
    do arrived = 1, 4
      call exchange%wait_any(face)
      call exchange%recv_buffer(face, buffer)
      select case (face)
      case (0); x(0, 1:n(2)) = buffer; call relax(1, 1, 2, n(2) - 1)
      case (1); x(n(1) + 1, 1:n(2)) = buffer; call relax(n(1), n(1), 2, n(2) - 1)
      case (2); x(1:n(1), 0) = buffer; call relax(2, n(1) - 1, 1, 1)
      case (3); x(1:n(1), n(2) + 1) = buffer; call relax(2, n(1) - 1, n(2), n(2))
      end select
    end do
    do j = 1, n(2), n(2) - 1
      do i = 1, n(1), n(1) - 1
        call relax(i, i, j, j)
      end do
    end do

    ! The residual b - A x is (4 + m^2) times the change of x.
    call change%over(world)
    residual = (4 + mass_squared) * sqrt(change%value())
    x = next
    iterations = iterations + 1
    if (residual <= tolerance .or. iterations == 10000) exit
  end do

  ! The lowest eigenvalue of A is m^2, so |error| <= |residual| / m^2.
  error = sum((x(1:n(1), 1:n(2)) - solution)**2)
  call reduction%init(world)
  call reduction%sum(error)
  error = sqrt(error)
  right = residual <= tolerance .and. error <= tolerance / mass_squared
  if (world%rank() == 0) then
    print '(a,i0,a,i0,2a)', 'grid ', dims(1), ' x ', dims(2), ', transport ', exchange%transport()
    print '(a,i0,a,es21.15,a,es7.1,2a)', 'iterations ', iterations, ', residual ', residual, ', error ', error, ': ', &
      merge('right', 'WRONG', right)
  end if

  call reduction%destroy()
  call change%destroy()
  call exchange%destroy()
  call grid%destroy()
  call world%destroy()
  if (.not. right) error stop 1

contains

  !> Computes the next iterate at these points and adds the squared changes to `change`.
  subroutine relax(first_i, last_i, first_j, last_j)
    integer, intent(in) :: first_i, last_i, first_j, last_j
    real(real64) :: neighbours, difference(first_i:last_i)
    integer :: i, j
    do j = first_j, last_j
      do i = first_i, last_i
        neighbours = (x(i - 1, j) + x(i + 1, j)) + (x(i, j - 1) + x(i, j + 1))
        next(i, j) = (b(i, j) + neighbours) / (4 + mass_squared)
        difference(i) = next(i, j) - x(i, j)
      end do
      call change%add_products(difference, difference)
    end do
  end subroutine

end program jacobi2d
