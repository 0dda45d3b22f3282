! SPDX-License-Identifier: Apache-2.0
!> @file
!> Parameters of halocline_qcd as plain types, and the structs of C made of them. Programs use halocline_qcd, which makes
!> the types public again.
!>
!> The default values are those of the library: a member that was left alone has a value that no program gives, and is
!> not passed on.
module halocline_qcd_parameters
  use halocline_comm_c, only: finish
  use halocline_qcd_c
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private

  public :: c_string, fill_format, fill_action, fill_parameters

  integer, parameter :: unset_integer = -huge(1)
  real(real64), parameter :: unset = -huge(1.0_real64)
  integer, parameter, public :: name_length = 32, most_points = 64

  !> How an array is arranged.
  type, public :: halocline_format
    character(len=name_length) :: order = '', basis = '', indices = ''
    integer :: staggered_phases = -1
    real(real64) :: link_boundary(4) = 0, link_scale(4) = 0
  end type

  !> An action of quarks. `b` and `c` have one number, or one for each point of the fifth dimension.
  type, public :: halocline_action
    character(len=name_length) :: kind = ''
    real(real64) :: mass = 0
    complex(real64) :: boundary(4) = [(1, 0), (1, 0), (1, 0), (-1, 0)]
    real(real64) :: csw = unset, csw_t = unset, xi0 = unset, nu = unset, mu = unset, epsilon = unset
    real(real64) :: m5 = unset, u0 = unset, naik_epsilon = unset
    integer :: ls = unset_integer
    complex(real64), allocatable :: b(:), c(:)
  end type

  type, public :: halocline_solver_parameters
    character(len=name_length) :: kind = '', precision = '', transport = '', device = '', inner_precision = ''
    character(len=name_length) :: outer = '', domain_inverse = '', domain_storage = ''
    real(real64) :: tolerance = unset
    integer :: max_iterations = unset_integer, restart_length = unset_integer, rhs_batch = unset_integer
    integer :: right_hand_sides = unset_integer, nsap = unset_integer, domain_steps = unset_integer
    integer :: multigrid_levels = unset_integer, multigrid_vectors = unset_integer
    integer :: domains(4) = unset_integer
    logical :: even_odd = .true.
  end type

contains

  pure function c_string(text) result(terminated)
    character(len=*), intent(in) :: text
    character(kind=c_char, len=:), allocatable :: terminated
    terminated = trim(text) // c_null_char
  end function

  !> A name as C reads it.
  pure function letters_of(name) result(letters)
    character(len=name_length), intent(in) :: name
    character(kind=c_char) :: letters(name_length + 1)
    integer :: i
    letters = c_null_char
    do i = 1, len_trim(name)
      letters(i) = name(i:i)
    end do
  end function

  !> letters: the names, which `to` points at
  subroutine fill_format(to, from, bits, letters)
    type(c_format), intent(out) :: to
    type(halocline_format), intent(in), optional :: from
    integer, intent(in) :: bits
    character(kind=c_char), intent(inout), target :: letters(name_length + 1, 3)
    call finish(c_format_init(to, c_sizeof(to)))
    to%bits = bits
    if (.not. present(from)) return
    letters(:, 1) = letters_of(from%order)
    letters(:, 2) = letters_of(from%basis)
    letters(:, 3) = letters_of(from%indices)
    to%order = c_loc(letters(1, 1))
    to%basis = c_loc(letters(1, 2))
    to%indices = c_loc(letters(1, 3))
    to%staggered_phases = from%staggered_phases
    to%link_boundary = from%link_boundary
    to%link_scale = from%link_scale
  end subroutine

  subroutine fill_action(to, from, letters, b, c)
    type(c_action), intent(out) :: to
    type(halocline_action), intent(in) :: from
    character(kind=c_char), intent(inout), target :: letters(name_length + 1)
    complex(c_double_complex), intent(inout), target :: b(*), c(*)  !< the lists, which `to` points at
    integer :: axis
    call finish(c_action_init(to, c_sizeof(to)))
    letters = letters_of(from%kind)
    to%kind = c_loc(letters(1))
    to%mass = from%mass
    do axis = 1, 4
      to%boundary(:, axis) = [real(from%boundary(axis), c_double), aimag(from%boundary(axis))]
    end do
    call override(to%csw, from%csw)
    call override(to%csw_t, from%csw_t)
    call override(to%xi0, from%xi0)
    call override(to%nu, from%nu)
    call override(to%mu, from%mu)
    call override(to%epsilon, from%epsilon)
    call override(to%m5, from%m5)
    call override(to%u0, from%u0)
    call override(to%naik_epsilon, from%naik_epsilon)
    if (from%ls /= unset_integer) to%ls = from%ls
    if (allocated(from%b)) call list_or_number(from%b, to%ls, b, to%b, to%b_list)
    if (allocated(from%c)) call list_or_number(from%c, to%ls, c, to%c, to%c_list)
  end subroutine

  !> One real number stays a number. Others become a list of `ls`, filled up with NaN, which the library refuses.
  subroutine list_or_number(from, ls, list, number, place)
    complex(real64), intent(in) :: from(:)
    integer(c_int), intent(in) :: ls
    complex(c_double_complex), intent(inout), target :: list(*)
    real(c_double), intent(inout) :: number
    type(c_ptr), intent(inout) :: place
    integer :: s
    if (size(from) == 1) then
      if (aimag(from(1)) == 0) then
        number = real(from(1), c_double)
        return
      end if
    end if
    do s = 1, min(int(ls), most_points)
      if (size(from) == ls) then
        list(s) = from(s)
      else if (size(from) == 1) then
        list(s) = from(1)
      else
        list(s) = ieee_value(1.0_c_double, ieee_quiet_nan)
      end if
    end do
    place = c_loc(list)
  end subroutine

  subroutine fill_parameters(to, from, letters)
    type(c_parameters), intent(out) :: to
    type(halocline_solver_parameters), intent(in), optional :: from
    character(kind=c_char), intent(inout), target :: letters(name_length + 1, 8)
    call finish(c_parameters_init(to, c_sizeof(to)))
    if (.not. present(from)) return
    letters(:, 1) = letters_of(from%kind)
    letters(:, 2) = letters_of(from%precision)
    letters(:, 3) = letters_of(from%transport)
    letters(:, 4) = letters_of(from%device)
    letters(:, 5) = letters_of(from%inner_precision)
    letters(:, 6) = letters_of(from%outer)
    letters(:, 7) = letters_of(from%domain_inverse)
    letters(:, 8) = letters_of(from%domain_storage)
    to%kind = c_loc(letters(1, 1))
    to%precision = c_loc(letters(1, 2))
    to%transport = c_loc(letters(1, 3))
    to%device = c_loc(letters(1, 4))
    to%inner_precision = c_loc(letters(1, 5))
    to%outer = c_loc(letters(1, 6))
    to%domain_inverse = c_loc(letters(1, 7))
    to%domain_storage = c_loc(letters(1, 8))
    call override(to%tolerance, from%tolerance)
    call override_integer(to%max_iterations, from%max_iterations)
    call override_integer(to%restart_length, from%restart_length)
    call override_integer(to%rhs_batch, from%rhs_batch)
    call override_integer(to%right_hand_sides, from%right_hand_sides)
    call override_integer(to%nsap, from%nsap)
    call override_integer(to%domain_steps, from%domain_steps)
    call override_integer(to%multigrid_levels, from%multigrid_levels)
    call override_integer(to%multigrid_vectors, from%multigrid_vectors)
    where (from%domains /= unset_integer) to%domains = from%domains
    to%even_odd = merge(1, 0, from%even_odd)
  end subroutine

  subroutine override(value, given)
    real(c_double), intent(inout) :: value
    real(real64), intent(in) :: given
    if (given /= unset) value = given
  end subroutine

  subroutine override_integer(value, given)
    integer(c_int), intent(inout) :: value
    integer, intent(in) :: given
    if (given /= unset_integer) value = given
  end subroutine

end module halocline_qcd_parameters
