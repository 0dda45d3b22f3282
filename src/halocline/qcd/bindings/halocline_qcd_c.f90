! SPDX-License-Identifier: Apache-2.0
!> @file
!> Fortran interfaces of those functions of qcd/bindings/c.h that halocline_qcd.f90 calls, with its structs.
!>
!> Programs use halocline_qcd. C writes a handle or the address of a string to each `intent(out)` argument of
!> type(c_ptr).
module halocline_qcd_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  type, bind(c) :: c_format
    integer(c_size_t) :: struct_size
    type(c_ptr) :: order, basis, indices
    integer(c_int) :: bits, staggered_phases
    real(c_double) :: link_boundary(4), link_scale(4)
  end type

  type, bind(c) :: c_action
    integer(c_size_t) :: struct_size
    type(c_ptr) :: kind
    real(c_double) :: mass, boundary(2, 4), csw, csw_t, xi0, nu, mu, epsilon, m5
    integer(c_int) :: ls
    real(c_double) :: b, c
    type(c_ptr) :: b_list, c_list
    real(c_double) :: u0, naik_epsilon
  end type

  type, bind(c) :: c_parameters
    integer(c_size_t) :: struct_size
    type(c_ptr) :: kind, precision
    real(c_double) :: tolerance
    integer(c_int) :: max_iterations, even_odd, restart_length, rhs_batch, right_hand_sides
    type(c_ptr) :: transport, device, inner_precision, outer
    integer(c_int) :: nsap, domain_steps
    type(c_ptr) :: domain_inverse
    integer(c_int64_t) :: domains(4)
    type(c_ptr) :: domain_storage
    integer(c_int) :: multigrid_levels, multigrid_vectors
  end type

  type, bind(c) :: c_report
    integer(c_size_t) :: struct_size
    integer(c_int) :: converged, iterations
    real(c_double) :: residual, seconds
    integer(c_int) :: columns, notes
    type(c_ptr) :: reason, method, device
  end type

  interface
    integer(c_int) function c_format_init(made, struct_size) bind(c, name='halocline_format_init')
      import; type(c_format), intent(out) :: made; integer(c_size_t), value :: struct_size
    end function
    integer(c_int) function c_action_init(made, struct_size) bind(c, name='halocline_action_init')
      import; type(c_action), intent(out) :: made; integer(c_size_t), value :: struct_size
    end function
    integer(c_int) function c_parameters_init(made, struct_size) bind(c, name='halocline_solver_parameters_init')
      import; type(c_parameters), intent(out) :: made; integer(c_size_t), value :: struct_size
    end function
    integer(c_int) function c_report_init(made, struct_size) bind(c, name='halocline_report_init')
      import; type(c_report), intent(out) :: made; integer(c_size_t), value :: struct_size
    end function
    integer(c_int) function c_mass_from_kappa(kappa, mass) bind(c, name='halocline_mass_from_kappa')
      import; real(c_double), value :: kappa; real(c_double), intent(out) :: mass
    end function

    integer(c_int) function c_lattice_create(group, extents, processes, ranks, lattice) &
        bind(c, name='halocline_lattice_create')
      import; type(c_ptr), value :: group, processes, ranks; integer(c_int64_t), intent(in) :: extents(4)
      type(c_ptr), intent(out) :: lattice
    end function
    integer(c_int) function c_lattice_geometry(lattice, extents, local, offset, processes) &
        bind(c, name='halocline_lattice_geometry')
      import; type(c_ptr), value :: lattice; integer(c_int64_t), intent(out) :: extents(4), local(4), offset(4)
      integer(c_int), intent(out) :: processes(4)
    end function
    integer(c_int) function c_lattice_set_time_limit(lattice, seconds) bind(c, name='halocline_lattice_set_time_limit')
      import; type(c_ptr), value :: lattice; real(c_double), value :: seconds
    end function
    integer(c_int) function c_lattice_set_communication(lattice, transport, buffers, all_threads_post, sums, &
        interfaces) bind(c, name='halocline_lattice_set_communication')
      import; type(c_ptr), value :: lattice, interfaces; character(kind=c_char), intent(in) :: transport(*), sums(*)
      integer(c_int), value :: buffers, all_threads_post
    end function
    integer(c_int) function c_lattice_failure(lattice, reason) bind(c, name='halocline_lattice_failure')
      import; type(c_ptr), value :: lattice; type(c_ptr), intent(out) :: reason
    end function
    integer(c_int) function c_lattice_destroy(lattice) bind(c, name='halocline_lattice_destroy')
      import; type(c_ptr), value :: lattice
    end function

    integer(c_int) function c_gauge_create(lattice, gauge) bind(c, name='halocline_gauge_create')
      import; type(c_ptr), value :: lattice; type(c_ptr), intent(out) :: gauge
    end function
    integer(c_int) function c_gauge_start(gauge, kind, epsilon, seed) bind(c, name='halocline_gauge_start')
      import; type(c_ptr), value :: gauge; character(kind=c_char), intent(in) :: kind(*)
      real(c_double), value :: epsilon; integer(c_int64_t), value :: seed
    end function
    integer(c_int) function c_gauge_load(gauge, path) bind(c, name='halocline_gauge_load')
      import; type(c_ptr), value :: gauge; character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function c_gauge_save(gauge, path, file_format) bind(c, name='halocline_gauge_save')
      import; type(c_ptr), value :: gauge; character(kind=c_char), intent(in) :: path(*), file_format(*)
    end function
    integer(c_int) function c_gauge_file_extents(path, extents) bind(c, name='halocline_gauge_file_extents')
      import; character(kind=c_char), intent(in) :: path(*); integer(c_int64_t), intent(out) :: extents(4)
    end function
    integer(c_int) function c_gauge_set(gauge, format, links, count) bind(c, name='halocline_gauge_set')
      import; type(c_ptr), value :: gauge, links; type(c_format), intent(in) :: format
      integer(c_size_t), value :: count
    end function
    integer(c_int) function c_gauge_set_directions(gauge, format, links, count) &
        bind(c, name='halocline_gauge_set_directions')
      import; type(c_ptr), value :: gauge; type(c_format), intent(in) :: format
      type(c_ptr), intent(in) :: links(4); integer(c_size_t), value :: count
    end function
    integer(c_int) function c_gauge_get(gauge, format, links, count) bind(c, name='halocline_gauge_get')
      import; type(c_ptr), value :: gauge, links; type(c_format), intent(in) :: format
      integer(c_size_t), value :: count
    end function
    integer(c_int) function c_gauge_plaquette(gauge, plaquette) bind(c, name='halocline_gauge_plaquette')
      import; type(c_ptr), value :: gauge; real(c_double), intent(out) :: plaquette
    end function
    integer(c_int) function c_gauge_destroy(gauge) bind(c, name='halocline_gauge_destroy')
      import; type(c_ptr), value :: gauge
    end function

    integer(c_int) function c_solver_create(gauge, action, parameters, solver) bind(c, name='halocline_solver_create')
      import; type(c_ptr), value :: gauge; type(c_action), intent(in) :: action
      type(c_parameters), intent(in) :: parameters; type(c_ptr), intent(out) :: solver
    end function
    integer(c_int) function c_solver_refresh(solver, gauge, action) bind(c, name='halocline_solver_refresh')
      import; type(c_ptr), value :: solver, gauge, action
    end function
    integer(c_int) function c_solver_count(solver, count, five) bind(c, name='halocline_solver_count')
      import; type(c_ptr), value :: solver; integer(c_size_t), intent(out) :: count, five
    end function
    integer(c_int) function c_solver_apply(solver, name, format, out, in, count) bind(c, name='halocline_solver_apply')
      import; type(c_ptr), value :: solver, out, in; character(kind=c_char), intent(in) :: name(*)
      type(c_format), intent(in) :: format; integer(c_size_t), value :: count
    end function
    integer(c_int) function c_solver_solve(solver, format, columns, solutions, sources, count, progress, data) &
        bind(c, name='halocline_solver_solve')
      import; type(c_ptr), value :: solver, data; type(c_format), intent(in) :: format
      integer(c_int), value :: columns; type(c_ptr), intent(in) :: solutions(*), sources(*)
      integer(c_size_t), value :: count; type(c_funptr), value :: progress
    end function
    integer(c_int) function c_solver_report(solver, column, report) bind(c, name='halocline_solver_report')
      import; type(c_ptr), value :: solver; integer(c_int), value :: column; type(c_report), intent(inout) :: report
    end function
    integer(c_int) function c_solver_note(solver, column, index, sentence) bind(c, name='halocline_solver_note')
      import; type(c_ptr), value :: solver; integer(c_int), value :: column, index
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_solver_destroy(solver) bind(c, name='halocline_solver_destroy')
      import; type(c_ptr), value :: solver
    end function

    integer(c_int) function c_propagator_create(lattice, source, staggered, propagator) &
        bind(c, name='halocline_propagator_create')
      import; type(c_ptr), value :: lattice; integer(c_int64_t), intent(in) :: source(4)
      integer(c_int), value :: staggered; type(c_ptr), intent(out) :: propagator
    end function
    integer(c_int) function c_propagator_solve(solver, source, progress, data, propagator) &
        bind(c, name='halocline_propagator_solve')
      import; type(c_ptr), value :: solver, data; integer(c_int64_t), intent(in) :: source(4)
      type(c_funptr), value :: progress; type(c_ptr), intent(out) :: propagator
    end function
    integer(c_int) function c_propagator_count(propagator, columns, count) &
        bind(c, name='halocline_propagator_count')
      import; type(c_ptr), value :: propagator; integer(c_int), intent(out) :: columns
      integer(c_size_t), intent(out) :: count
    end function
    integer(c_int) function c_propagator_set(propagator, format, columns, count) &
        bind(c, name='halocline_propagator_set')
      import; type(c_ptr), value :: propagator; type(c_format), intent(in) :: format
      type(c_ptr), intent(in) :: columns(*); integer(c_size_t), value :: count
    end function
    integer(c_int) function c_propagator_get(propagator, format, columns, count) &
        bind(c, name='halocline_propagator_get')
      import; type(c_ptr), value :: propagator; type(c_format), intent(in) :: format
      type(c_ptr), intent(in) :: columns(*); integer(c_size_t), value :: count
    end function
    integer(c_int) function c_meson(quark, antiquark, channel, momentum, values, count) bind(c, name='halocline_meson')
      import; type(c_ptr), value :: quark, antiquark; character(kind=c_char), intent(in) :: channel(*)
      integer(c_int), intent(in) :: momentum(3); complex(c_double_complex), intent(out) :: values(*)
      integer(c_size_t), value :: count
    end function
    integer(c_int) function c_nucleon(up, down, boundary_t, parity, momentum, values, count) &
        bind(c, name='halocline_nucleon')
      import; type(c_ptr), value :: up, down; complex(c_double_complex), intent(in) :: boundary_t
      integer(c_int), value :: parity; integer(c_int), intent(in) :: momentum(3)
      complex(c_double_complex), intent(out) :: values(*); integer(c_size_t), value :: count
    end function
    integer(c_int) function c_propagator_destroy(propagator) bind(c, name='halocline_propagator_destroy')
      import; type(c_ptr), value :: propagator
    end function
  end interface

end module halocline_qcd_c
