// SPDX-License-Identifier: Apache-2.0
//
// A host program that was written for QUDA, on Halocline. Run: mpiexec -n 2 ./quda_host_c
//
// Such a program fills structs of parameters, loads its links from four arrays, one for each direction, and calls an
// invert function with a source and room for a solution. host_load_gauge and host_invert below have the place of
// loadGaugeQuda and invertQuda. The structs are the host's own, with the few members that it sets.
//
// The conventions of QUDA's interface that matter here: sites even first, then odd; DeGrand-Rossi spins, spin before
// colour; links that carry the antiperiodic boundary of the quarks; and solutions in mass or kappa normalisation.
// On one process the host judges the solution with an operator of its own.

#include <halocline/qcd/bindings/c.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain_wilson.h"

typedef struct gauge_parameters {
  int local[4];  ///< sites of this process
  double anisotropy;
  int antiperiodic_t;  ///< the links of the last time slice carry -1
} gauge_parameters;

typedef struct invert_parameters {
  double kappa;
  const char* inverter;  ///< "cg", "bicgstab", ...
  double tol;
  int maxiter;
  int kappa_normalization;  ///< solve 2 kappa D x = b in the place of D x = b
  int iter;                 ///< result: iterations
  double true_res;          ///< result
  double secs;              ///< result
} invert_parameters;

typedef struct library {
  halocline_communicator* world;
  halocline_lattice* lattice;
  halocline_gauge* gauge;
  gauge_parameters links;
} library;

static void must(int status) {
  if (status == HALOCLINE_OK) return;
  fprintf(stderr, "quda_host: %s\n", halocline_last_error());
  halocline_abort_all(1);
}

static size_t volume(const int* local) {
  return (size_t)local[0] * (size_t)local[1] * (size_t)local[2] * (size_t)local[3];
}

static halocline_format quda_order(void) {
  halocline_format format;
  must(halocline_format_init(&format, sizeof format));
  format.order = "quda";
  format.basis = "DeGrand-Rossi";
  return format;
}

/// @param grid  processes along x y z t
static void host_init(library* l, const int* local, const int* grid) {
  int64_t extents[4];
  for (int axis = 0; axis < 4; ++axis) extents[axis] = (int64_t)local[axis] * grid[axis];
  must(halocline_world(&l->world));
  must(halocline_lattice_create(l->world, extents, grid, NULL, &l->lattice));
  must(halocline_gauge_create(l->lattice, &l->gauge));
}

static halocline_format link_format(const gauge_parameters* parameters) {
  halocline_format format = quda_order();
  if (parameters->antiperiodic_t) format.link_boundary[3] = -1;
  return format;
}

/// @param links  one array for each direction
static void host_load_gauge(library* l, const void* const* links, const gauge_parameters* parameters) {
  const halocline_format format = link_format(parameters);
  must(halocline_gauge_set_directions(l->gauge, &format, links, 18 * volume(parameters->local)));
  l->links = *parameters;
}

static void host_invert(library* l, double* x, const double* b, invert_parameters* p) {
  halocline_action action;
  halocline_solver_parameters how;
  halocline_solver* solver;
  must(halocline_action_init(&action, sizeof action));
  must(halocline_solver_parameters_init(&how, sizeof how));
  action.kind = "wilson";
  must(halocline_mass_from_kappa(p->kappa, &action.mass));
  action.boundary[3][0] = l->links.antiperiodic_t ? -1 : 1;
  how.kind = p->inverter;
  how.tolerance = p->tol;
  how.max_iterations = p->maxiter;
  must(halocline_solver_create(l->gauge, &action, &how, &solver));

  const halocline_format format = quda_order();
  const size_t count = 24 * volume(l->links.local);
  void* solution = x;
  const void* source = b;
  must(halocline_solver_solve(solver, &format, 1, &solution, &source, count, NULL, NULL));
  halocline_report report;
  must(halocline_report_init(&report, sizeof report));
  must(halocline_solver_report(solver, 0, &report));
  p->iter = report.iterations;
  p->true_res = report.residual;
  p->secs = report.seconds;
  if (p->kappa_normalization)
    for (size_t i = 0; i < count; ++i) x[i] /= 2 * p->kappa;
  halocline_solver_destroy(solver);
}

static void host_end(library* l) {
  halocline_gauge_destroy(l->gauge);
  halocline_lattice_destroy(l->lattice);
  halocline_communicator_destroy(l->world);
}

// ---------------------------------------------------------------------------------------------------------------------
// The host's own view of its arrays

/// Even sites first, then odd ones, each with half of x.
static size_t site_of(const host_fields* host, const int* x) {
  const int* n = host->extents;
  const int parity = (x[0] + x[1] + x[2] + x[3]) % 2;
  const int half = n[0] * n[1] * n[2] * n[3] / 2;
  return (size_t)(parity * half + ((x[3] * n[2] + x[2]) * n[1] + x[1]) * (n[0] / 2) + x[0] / 2);
}

static const double* link_in_arrays(const host_fields* host, const int* x, int mu, int row, int column) {
  const double* const* arrays = host->data;
  return arrays[mu] + 18 * site_of(host, x) + (size_t)(2 * (3 * row + column));
}

static size_t spinor_in_arrays(const host_fields* host, const int* x, int spin, int colour) {
  return 24 * site_of(host, x) + (size_t)(2 * (3 * spin + colour));
}

int main(void) {
  library l;
  halocline_communicator* all;
  int size, rank;
  must(halocline_world(&all));
  must(halocline_communicator_size(all, &size));
  must(halocline_communicator_rank(all, &rank));
  const int grid[4] = {1, 1, 1, size};
  const gauge_parameters links_of = {{4, 6, 4, 8 / size}, 1, 1};
  host_init(&l, links_of.local, grid);

  const size_t sites = volume(links_of.local);
  double* links = malloc(72 * sites * sizeof(double));
  double* b = malloc(24 * sites * sizeof(double));
  double* x = malloc(24 * sites * sizeof(double));
  if (links == NULL || b == NULL || x == NULL) halocline_abort_all(1);
  // A real host brings its links; these are a weak field in QUDA's order.
  const halocline_format format = link_format(&links_of);
  must(halocline_gauge_start(l.gauge, "weak", 0.2, 3));
  must(halocline_gauge_get(l.gauge, &format, links, 72 * sites));
  const double* directions[4];
  for (size_t mu = 0; mu < 4; ++mu) directions[mu] = links + 18 * sites * mu;
  for (size_t i = 0; i < 24 * sites; ++i) b[i] = cos(0.2 + 2.3 * (double)i + 0.4 * rank);

  const void* arrays[4] = {directions[0], directions[1], directions[2], directions[3]};
  invert_parameters p = {0.12, "bicgstab", 1e-10, 1000, 1, 0, 0, 0};
  host_load_gauge(&l, arrays, &links_of);
  host_invert(&l, x, b, &p);

  double residual = p.true_res;
  if (size == 1) {
    const host_fields host = {{4, 6, 4, 8},
                              {{{3, 2, 1, 0}, {1, 1, 3, 3}},
                               {{3, 2, 1, 0}, {2, 0, 0, 2}},
                               {{2, 3, 0, 1}, {1, 3, 3, 1}},
                               {{2, 3, 0, 1}, {0, 0, 0, 0}}},
                              link_in_arrays,
                              1,
                              spinor_in_arrays,
                              1,
                              {1, 1, 1, 1},  // the links have the boundary
                              (void*)directions};
    for (size_t i = 0; i < 24 * sites; ++i) x[i] *= 2 * p.kappa;
    residual = plain_residual(&host, 1 / (2 * p.kappa) - 4, x, b);
  }
  if (rank == 0)
    printf("iterations %d, residual by the %s %.1e: %s\n", p.iter, size == 1 ? "host's operator" : "report", residual,
           residual < 1e-9 ? "right" : "wrong");

  free(x);
  free(b);
  free(links);
  host_end(&l);
  halocline_communicator_destroy(all);
  return residual < 1e-9 ? 0 : 1;
}
