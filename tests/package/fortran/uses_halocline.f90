! SPDX-License-Identifier: Apache-2.0
!
! This program tests the parts of the Fortran module that the Jacobi example does not use: buffers of every kind, posts
! of single faces, smaller messages through the same buffers, an order of the ranks, sums in steps, the list of
! transports, and errors. With the argument `fail` it makes a wrong call, which prints an error message and ends the
! run.
program uses_halocline
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64, error_unit
  use halocline_comm
  implicit none

  type(halocline_communicator) :: world
  type(halocline_grid) :: grid
  type(halocline_exchange) :: exchange, smaller, refused
  type(halocline_reduction) :: reduction
  type(halocline_exact_sum) :: exact, other
  type(halocline_transport_info), allocatable :: transports(:)
  real(real32), pointer :: singles(:)
  real(real64), pointer :: doubles(:)
  complex(real32), pointer :: complex_singles(:)
  complex(real64), pointer :: complex_doubles(:)
  integer(int8), pointer :: bytes(:)
  real(real64), target :: values(2)
  character(len=200) :: sentence
  character(len=8) :: argument
  type(halocline_grid) :: turned
  integer :: ierr, face, step, from, rank, count, i
  logical :: ready

  call world%world()
  rank = world%rank()
  count = world%size()
  call grid%init(world, [count, 1], periodic=[.true., .false.])
  call check(grid%ndim() == 2 .and. grid%rank() == rank .and. grid%size() == count, 'shape of the grid')
  call check(all(grid%dims() == [count, 1]) .and. all(grid%coords() == [rank, 0]), 'place in the grid')
  call check(halocline_face(2, -1) == 2 .and. halocline_opposite(2) == 3 .and. halocline_mask(3) == 8, 'faces')
  call check(grid%neighbour(halocline_face(2, +1)) == -1, 'open end')
  call turned%init(world, [count, 1], ranks=[(count - i, i=1, count)])
  call check(all(turned%coords() == [count - 1 - rank, 0]), 'place in an order of ranks')
  call turned%destroy()
  from = grid%neighbour(halocline_face(1, -1))
  call exchange%init(grid, [48_int64, 0_int64], transport='', buffering=2, checksum=.true., threads=.false., &
                     time_limit=60.0_real64)

  call get_command_argument(1, argument)
  if (argument == 'fail') call exchange%wait(17)

  ! Each step has another kind of element. Every process sends through the upper face of axis 1, then through the lower.
  do step = 1, 5
    do face = 1, 0, -1
      select case (step)
      case (1); call exchange%send_buffer(face, singles); singles = real(rank, real32)
      case (2); call exchange%send_buffer(face, doubles); doubles = rank
      case (3); call exchange%send_buffer(face, complex_singles); complex_singles = cmplx(rank, 1, real32)
      case (4); call exchange%send_buffer(face, complex_doubles); complex_doubles = cmplx(rank, 2, real64)
      case (5); call exchange%send_buffer(face, bytes); bytes = int(rank, int8)
      end select
      call exchange%post(halocline_mask(face))
      call exchange%wait(halocline_opposite(face))
      call exchange%arrived(halocline_opposite(face), ready)
      call check(ready, 'arrived')
    end do
    face = halocline_face(1, -1)
    select case (step)
    case (1); call exchange%recv_buffer(face, singles)
      call check(size(singles) == 12 .and. all(nint(singles) == from), 'single')
    case (2); call exchange%recv_buffer(face, doubles)
      call check(size(doubles) == 6 .and. all(nint(doubles) == from), 'double')
    case (3); call exchange%recv_buffer(face, complex_singles)
      call check(size(complex_singles) == 6 .and. all(nint(real(complex_singles)) == from), 'single complex')
    case (4); call exchange%recv_buffer(face, complex_doubles)
      call check(size(complex_doubles) == 3 .and. all(nint(real(complex_doubles)) == from), 'double complex')
    case (5); call exchange%recv_buffer(face, bytes)
      call check(size(bytes) == 48 .and. all(bytes == from), 'bytes')
    end select
  end do
  call exchange%send_buffer(halocline_face(2, +1), doubles)
  call check(.not. associated(doubles) .and. .not. exchange%active(2), 'a face that carries nothing')

  ! Twelve bytes do not hold a whole number of doubles.
  call smaller%sharing_buffers(exchange, [12, 0])
  call smaller%send_buffer(0, doubles, ierr, sentence)
  call check(ierr == halocline_invalid_argument .and. index(sentence, '12 bytes') > 0, 'no whole number')
  call check(.not. associated(doubles), 'no pointer after an error')
  call smaller%send_buffer(0, singles)
  call check(size(singles) == 3, 'smaller messages')

  sentence = 'untouched'
  call exchange%set_time_limit(30.0_real64, ierr, sentence)
  call check(ierr == halocline_ok .and. sentence == 'untouched', 'no sentence after success')
  call exchange%wait(0, ierr, sentence)
  call check(ierr == halocline_invalid_argument .and. sentence /= 'untouched', 'waiting twice')
  call refused%init(grid, [8, 8, 8], ierr=ierr, errmsg=sentence)
  call check(ierr == halocline_invalid_argument .and. index(sentence, '3 sizes, expected 2') > 0, 'number of sizes')
  call refused%init(grid, [8, 8], transport='pigeons', ierr=ierr, errmsg=sentence)
  call check(ierr == halocline_invalid_argument .and. index(sentence, 'pigeons') > 0, 'unknown transport')
  call refused%post(ierr=ierr)
  call check(ierr == halocline_invalid_argument, 'a handle of nothing')

  call halocline_list_transports(transports, grid)
  call check(any([(transports(i)%available .and. transports(i)%name == exchange%transport(), i=1, size(transports))]), &
             'the transport in use is available')
  call check(all([(transports(i)%available .eqv. len(transports(i)%reason) == 0, i=1, size(transports))]), &
             'a reason for what is not')

  call reduction%init(world)
  values = [1.0_real64, real(rank, real64)]
  call reduction%begin(values)
  ready = .false.
  do while (.not. ready)
    call reduction%test(ready)
  end do
  call reduction%wait()
  call check(nint(values(1)) == count .and. nint(values(2)) == count * (count - 1) / 2, 'sum in steps')
  call exact%init()
  call other%init()
  call exact%add([1e300_real64, 1.0_real64])
  call exact%add(-1e300_real64)
  call other%add_products([2.0_real64], [3.0_real64])
  call exact%merge(other)
  call exact%over(world)
  call check(exact%value() == 7.0_real64 * count, 'exact sum')
  call exact%add_products([1.0_real64, 2.0_real64], [3.0_real64], ierr)
  call check(ierr == halocline_invalid_argument, 'products of unequal vectors')

  call other%destroy()
  call exact%destroy()
  call reduction%destroy()
  call smaller%destroy()
  call exchange%destroy()
  call grid%destroy()
  call world%destroy()

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    write (error_unit, '(2a)') 'does not hold: ', what
    error stop 1
  end subroutine

end program uses_halocline
