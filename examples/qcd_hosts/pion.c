// SPDX-License-Identifier: Apache-2.0
//
// A pion correlator through the C interface. Run: mpiexec -n 2 ./pion_c [gauge file]
//
// The links come from the file, in any format that Halocline reads, or are made here. Twelve solves for a point source
// make a quark propagator, which is contracted with itself. pion.cpp and pion.f90 do the same in C++ and Fortran and
// print the same lines.

#include <halocline/qcd/bindings/c.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/// Every call of halocline returns a status; this program gives up at the first failure, on all processes.
static void must(int status) {
  if (status == HALOCLINE_OK) return;
  fprintf(stderr, "pion: %s\n", halocline_last_error());
  halocline_abort_all(1);
}

int main(int argc, char** argv) {
  int64_t extents[4] = {4, 4, 4, 8};
  if (argc > 1) must(halocline_gauge_file_extents(argv[1], extents));

  halocline_communicator* world;
  halocline_lattice* lattice;
  halocline_gauge* gauge;
  must(halocline_world(&world));
  must(halocline_lattice_create(world, extents, NULL, NULL, &lattice));
  must(halocline_gauge_create(lattice, &gauge));
  must(argc > 1 ? halocline_gauge_load(gauge, argv[1]) : halocline_gauge_start(gauge, "weak", 0.3, 1));

  halocline_action action;
  must(halocline_action_init(&action, sizeof action));
  action.kind = "wilson-clover";
  action.mass = -0.5;
  action.csw = 1;

  halocline_solver* solver;
  halocline_propagator* quark;
  const int64_t source[4] = {0, 0, 0, 0};
  must(halocline_solver_create(gauge, &action, NULL, &solver));
  must(halocline_propagator_solve(solver, source, NULL, NULL, &quark));

  double worst = 0;
  for (int column = 0; column < 12; ++column) {
    halocline_report report;
    must(halocline_report_init(&report, sizeof report));
    must(halocline_solver_report(solver, column, &report));
    if (!report.converged) fprintf(stderr, "pion: column %d ended with %s\n", column, report.reason);
    if (report.residual > worst) worst = report.residual;
  }

  const size_t times = (size_t)extents[3];
  double* pion = malloc(2 * times * sizeof(double));
  double plaquette;
  int rank;
  if (pion == NULL) halocline_abort_all(1);
  must(halocline_meson(quark, quark, "pion", NULL, pion, 2 * times));
  must(halocline_gauge_plaquette(gauge, &plaquette));
  must(halocline_communicator_rank(world, &rank));
  if (rank == 0) {
    printf("plaquette %.10f\n", plaquette);
    for (size_t t = 0; t < times; ++t) printf("pion %d %.9e\n", (int)t, pion[2 * t]);
    printf("residual %s\n", worst < 1e-9 ? "small" : "large");
  }

  free(pion);
  halocline_propagator_destroy(quark);
  halocline_solver_destroy(solver);
  halocline_gauge_destroy(gauge);
  halocline_lattice_destroy(lattice);
  halocline_communicator_destroy(world);
  return worst < 1e-9 ? 0 : 1;
}
