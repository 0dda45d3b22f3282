// SPDX-License-Identifier: Apache-2.0
//
// Two lattices over all processes in two threads at once, in a program that started MPI with MPI_THREAD_MULTIPLE: their
// solutions are those that they give one after the other, to the last bit.

#include <halocline/qcd/bindings/c.h>

#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct job {
  MPI_Comm comm;
  uint64_t seed;
  double sum;  ///< result: a number that depends on every bit of the solution
} job;

static void must(int status) {
  if (status == HALOCLINE_OK) return;
  fprintf(stderr, "threads_qcd: %s\n", halocline_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void* run(void* argument) {
  job* mine = argument;
  const int64_t extents[4] = {4, 4, 4, 8};
  halocline_communicator* group;
  halocline_lattice* lattice;
  halocline_gauge* gauge;
  halocline_solver* solver;
  halocline_action action;
  halocline_solver_parameters how;
  size_t count;
  must(halocline_from_fortran_handle((int)MPI_Comm_c2f(mine->comm), &group));
  must(halocline_lattice_create(group, extents, NULL, NULL, &lattice));
  must(halocline_gauge_create(lattice, &gauge));
  must(halocline_gauge_start(gauge, "weak", 0.2, mine->seed));
  must(halocline_action_init(&action, sizeof action));
  must(halocline_solver_parameters_init(&how, sizeof how));
  action.mass = 0.1;
  action.csw = 1;
  how.kind = "bicgstab";
  must(halocline_solver_create(gauge, &action, &how, &solver));
  must(halocline_solver_count(solver, &count, NULL));

  double* b = malloc(count * sizeof(double));
  double* x = malloc(count * sizeof(double));
  if (b == NULL || x == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (size_t i = 0; i < count; ++i) b[i] = sin(1.0 + (double)i + (double)mine->seed);
  void* solution = x;
  const void* source = b;
  for (int repeat = 0; repeat < 10; ++repeat)
    must(halocline_solver_solve(solver, NULL, 1, &solution, &source, count, NULL, NULL));
  mine->sum = 0;
  for (size_t i = 0; i < count; ++i) mine->sum += x[i] * (double)(1 + i % 7);

  free(b);
  free(x);
  must(halocline_solver_destroy(solver));
  must(halocline_gauge_destroy(gauge));
  must(halocline_lattice_destroy(lattice));
  must(halocline_communicator_destroy(group));
  return NULL;
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE) {
    printf("left out: this MPI has no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 0;
  }
  job alone[2], together[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &together[i].comm);
    together[i].seed = (uint64_t)i + 1;
    alone[i] = together[i];
    run(&alone[i]);
  }
  for (int i = 0; i < 2; ++i)
    if (pthread_create(&threads[i], NULL, run, &together[i]) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  const int right = alone[0].sum == together[0].sum && alone[1].sum == together[1].sum && alone[0].sum != alone[1].sum;
  printf("%s\n", right ? "right" : "wrong");
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&together[i].comm);
  MPI_Finalize();
  return right ? 0 : 1;
}
