// SPDX-License-Identifier: Apache-2.0
//
// A host program that was written for QWS, on Halocline. Run: mpiexec -n 2 ./qws_host_c
//
// QWS is called in this sequence: an init with the lattice, the process grid and the boundary phases; kappa; links in
// QWS's order, eight sites side by side; then bicgstab_dd_mix, mixed-precision BiCGStab with the multiplicative Schwarz
// preconditioner, whose nsap and nm are arguments of the call. The functions host_init, host_bicgstab_dd_mix and
// host_finalize below take the place of QWS's own, with the same arguments, and the rest of the host stays as it is.
//
// What differs: Halocline makes the clover term itself from csw, in the place of an array of the host. On one process
// the host judges the solution with an operator of its own, in QWS's order and gamma matrices.

#include <halocline/qcd/bindings/c.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain_wilson.h"

enum { lanes = 8 };  // doubles of a vector

/// What QWS keeps in global variables.
typedef struct solver_state {
  int local[4];
  double kappa;
  int boundary[4];
  halocline_communicator* world;
  halocline_lattice* lattice;
  halocline_gauge* gauge;
  halocline_solver* solver;
} solver_state;

static void must(int status) {
  if (status == HALOCLINE_OK) return;
  fprintf(stderr, "qws_host: %s\n", halocline_last_error());
  halocline_abort_all(1);
}

static size_t volume(const solver_state* s) {
  return (size_t)s->local[0] * (size_t)s->local[1] * (size_t)s->local[2] * (size_t)s->local[3];
}

static halocline_format qws_order(void) {
  halocline_format format;
  must(halocline_format_init(&format, sizeof format));
  format.order = "qws";
  return format;
}

/// @param extents  of the whole lattice;  @param processes  the process grid;  @param boundary  1 or -1 for each axis
static void host_init(solver_state* s, const int* extents, const int* processes, const int* boundary) {
  int64_t global[4];
  for (int axis = 0; axis < 4; ++axis) {
    global[axis] = extents[axis];
    s->local[axis] = extents[axis] / processes[axis];
    s->boundary[axis] = boundary[axis];
  }
  must(halocline_world(&s->world));
  must(halocline_lattice_create(s->world, global, processes, NULL, &s->lattice));
  must(halocline_gauge_create(s->lattice, &s->gauge));
  s->solver = NULL;
}

/// The links of QWS: [half of x][mu][t][z][y][vector of x][column][row][re, im][lane].
static void host_load_links(solver_state* s, const double* links) {
  const halocline_format format = qws_order();
  must(halocline_gauge_set(s->gauge, &format, links, 72 * volume(s)));
}

/// x = D^-1 b, both in QWS's order. @return  iterations
static int host_bicgstab_dd_mix(solver_state* s, double* x, const double* b, double tolerance, int max_iterations,
                                int nsap, int nm, double* residual) {
  if (s->solver == NULL) {
    halocline_action action;
    halocline_solver_parameters how;
    must(halocline_action_init(&action, sizeof action));
    must(halocline_solver_parameters_init(&how, sizeof how));
    action.kind = "wilson";
    must(halocline_mass_from_kappa(s->kappa, &action.mass));
    for (int axis = 0; axis < 4; ++axis) action.boundary[axis][0] = s->boundary[axis];
    how.kind = "schwarz";
    how.tolerance = tolerance;
    how.max_iterations = max_iterations;
    how.nsap = nsap;
    how.domain_steps = nm;
    must(halocline_solver_create(s->gauge, &action, &how, &s->solver));
  }
  const halocline_format format = qws_order();
  void* solution = x;
  const void* source = b;
  must(halocline_solver_solve(s->solver, &format, 1, &solution, &source, 24 * volume(s), NULL, NULL));
  halocline_report report;
  must(halocline_report_init(&report, sizeof report));
  must(halocline_solver_report(s->solver, 0, &report));
  if (strstr(report.method, "schwarz") == NULL && strstr(report.method, "Schwarz") == NULL)
    fprintf(stderr, "qws_host: the last method was %s\n", report.method);
  *residual = report.residual;
  return report.iterations;
}

static void host_finalize(solver_state* s) {
  halocline_solver_destroy(s->solver);
  halocline_gauge_destroy(s->gauge);
  halocline_lattice_destroy(s->lattice);
  halocline_communicator_destroy(s->world);
}

// ---------------------------------------------------------------------------------------------------------------------
// The host's own view of QWS's arrays

/// Vectors before that of a site, within its half of x.
static size_t vector_of(const host_fields* host, const int* x) {
  const int half = host->extents[0] / 2;
  const size_t row = (size_t)((x[3] * host->extents[2] + x[2]) * host->extents[1] + x[1]);
  return row * (size_t)(half / lanes) + (size_t)(x[0] % half / lanes);
}

static size_t vectors_of_half(const host_fields* host) {
  return (size_t)(host->extents[0] / 2 / lanes * host->extents[1] * host->extents[2] * host->extents[3]);
}

static const double* link_in_qws(const host_fields* host, const int* x, int mu, int row, int column) {
  const int half = x[0] / (host->extents[0] / 2);
  const size_t vector = ((size_t)(4 * half + mu)) * vectors_of_half(host) + vector_of(host, x);
  return (const double*)host->data + (vector * 18 + (size_t)(2 * (3 * column + row))) * lanes + (size_t)(x[0] % lanes);
}

static size_t spinor_in_qws(const host_fields* host, const int* x, int spin, int colour) {
  const int half = x[0] / (host->extents[0] / 2);
  const size_t vector = (size_t)half * vectors_of_half(host) + vector_of(host, x);
  return (vector * 24 + (size_t)(2 * (4 * colour + spin))) * lanes + (size_t)(x[0] % lanes);
}

int main(void) {
  solver_state s;
  halocline_communicator* all;
  int size, rank;
  must(halocline_world(&all));
  must(halocline_communicator_size(all, &size));
  must(halocline_communicator_rank(all, &rank));

  // QWS wants whole vectors in each half of x: 16 sites and more.
  const int extents[4] = {16, 4, 4, 8}, boundary[4] = {1, 1, 1, -1};
  const int processes[4] = {1, 1, 1, size};
  host_init(&s, extents, processes, boundary);
  s.kappa = 0.12;

  double* links = malloc(72 * volume(&s) * sizeof(double));
  double* b = malloc(24 * volume(&s) * sizeof(double));
  double* x = malloc(24 * volume(&s) * sizeof(double));
  if (links == NULL || b == NULL || x == NULL) halocline_abort_all(1);
  // A real host brings its links; these are a weak field in QWS's order.
  const halocline_format format = qws_order();
  must(halocline_gauge_start(s.gauge, "weak", 0.2, 7));
  must(halocline_gauge_get(s.gauge, &format, links, 72 * volume(&s)));
  for (size_t i = 0; i < 24 * volume(&s); ++i) b[i] = sin(0.1 + 1.7 * (double)i + 0.3 * rank);

  double residual;
  host_load_links(&s, links);
  const int iterations = host_bicgstab_dd_mix(&s, x, b, 1e-10, 200, 4, 2, &residual);
  if (size == 1) {
    const host_fields host = {{extents[0], extents[1], extents[2], extents[3]},
                              {{{3, 2, 1, 0}, {1, 1, 3, 3}},
                               {{3, 2, 1, 0}, {0, 2, 2, 0}},
                               {{2, 3, 0, 1}, {1, 3, 3, 1}},
                               {{0, 1, 2, 3}, {0, 0, 2, 2}}},
                              link_in_qws,
                              lanes,
                              spinor_in_qws,
                              lanes,
                              {1, 1, 1, -1},
                              links};
    residual = plain_residual(&host, 1 / (2 * s.kappa) - 4, x, b);
  }
  if (rank == 0)
    printf("iterations %d, residual by the %s %.1e: %s\n", iterations, size == 1 ? "host's operator" : "report",
           residual, residual < 1e-9 ? "right" : "wrong");

  free(x);
  free(b);
  free(links);
  host_finalize(&s);
  halocline_communicator_destroy(all);
  return residual < 1e-9 ? 0 : 1;
}
