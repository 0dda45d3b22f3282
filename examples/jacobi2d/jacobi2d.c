// SPDX-License-Identifier: Apache-2.0
//
// The 2-d Jacobi iteration over halocline's halo exchange, in C99. Run: mpiexec -n 4 ./jacobi2d_c
//
//   (4 + m^2) x(i,j) - x(i-1,j) - x(i+1,j) - x(i,j-1) - x(i,j+1) = b(i,j)   on a periodic grid of points,
//
// the test problem of I. Kanamori, "Communication with Double Buffering" (2019). b is made from the solution
// x = 1 + cos(k.r), of which the operator is known: m^2 + (4 + m^2 - 2 cos k_0 - 2 cos k_1) cos(k.r).
//
// One iteration: pack four sides, post them all, compute the interior while they travel, and then each side as soon as
// its own halo is there. Every point adds in the same order wherever it is, and the residual is summed exactly, so
// every number is the same for any number of processes, to the last bit.

#include <halocline/comm/bindings/c.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t points[2] = {48, 40};  // along each axis
static const double mass_squared = 0.5, tolerance = 1e-10;

/// Every call of halocline returns a status; this program gives up at the first failure, on all processes.
static void must(int status) {
  if (status == HALOCLINE_OK) return;
  fprintf(stderr, "jacobi2d: %s\n", halocline_last_error());
  halocline_abort_all(1);
}

/// The points of this process with a halo of one: (i, j) for -1 <= i <= n[0], i fastest.
typedef struct field {
  int n[2];
  double* values;
} field;

static field new_field(int n0, int n1) {
  const field made = {{n0, n1}, calloc((size_t)(n0 + 2) * (size_t)(n1 + 2), sizeof(double))};
  if (made.values == NULL) {
    fprintf(stderr, "jacobi2d: out of memory\n");
    halocline_abort_all(1);
  }
  return made;
}

static double* at(const field* f, int i, int j) { return f->values + (j + 1) * (f->n[0] + 2) + (i + 1); }

/// Point p of a side, `depth` 0: the outermost points of this process, 1: the halo beyond them.
static double* on_side(const field* f, int face, int p, int depth) {
  const int axis = face / 2;
  const int where = face % 2 == 0 ? -depth : f->n[axis] - 1 + depth;
  return axis == 0 ? at(f, where, p) : at(f, p, where);
}

/// One point of the next iterate; adds the squared change to the sum.
static void relax(const field* next, const field* x, const field* b, int i, int j, halocline_exact_sum* change) {
  const double neighbours = (*at(x, i - 1, j) + *at(x, i + 1, j)) + (*at(x, i, j - 1) + *at(x, i, j + 1));
  const double value = (*at(b, i, j) + neighbours) / (4 + mass_squared);
  const double difference = value - *at(x, i, j);
  *at(next, i, j) = value;
  must(halocline_exact_sum_add_products(change, 1, &difference, &difference));
}

int main(void) {
  halocline_communicator* world;
  halocline_grid* grid;
  halocline_exchange* exchange;
  halocline_exact_sum* change;
  int size, rank, dims[2], coords[2];

  // The processes as a grid, the one that moves the least.
  must(halocline_world(&world));
  must(halocline_communicator_size(world, &size));
  must(halocline_communicator_rank(world, &rank));
  must(halocline_least_surface_grid(2, points, size, NULL, dims));
  must(halocline_grid_create(world, 2, dims, NULL, &grid));
  must(halocline_grid_coords(grid, coords));
  const int n0 = (int)points[0] / dims[0], n1 = (int)points[1] / dims[1];

  // A face of axis 0 has n1 points, one of axis 1 has n0.
  const size_t face_bytes[2] = {(size_t)n1 * sizeof(double), (size_t)n0 * sizeof(double)};
  must(halocline_exchange_create(grid, face_bytes, NULL, NULL, &exchange));
  must(halocline_exact_sum_create(&change));

  field x = new_field(n0, n1), next = new_field(n0, n1), b = new_field(n0, n1), solution = new_field(n0, n1);
  const double k0 = 2 * acos(-1.0) * 1 / (double)points[0], k1 = 2 * acos(-1.0) * 2 / (double)points[1];
  for (int j = 0; j < n1; ++j) {
    for (int i = 0; i < n0; ++i) {
      const double wave = cos(k0 * (coords[0] * n0 + i) + k1 * (coords[1] * n1 + j));
      *at(&solution, i, j) = 1 + wave;
      *at(&b, i, j) = mass_squared + (4 + mass_squared - 2 * cos(k0) - 2 * cos(k1)) * wave;
    }
  }

  int iterations = 0;
  double residual;
  do {
    for (int face = 0; face < 4; ++face) {
      void* buffer;
      must(halocline_exchange_send_buffer(exchange, face, &buffer, NULL));
      double* out = buffer;
      for (int p = 0; p < x.n[1 - face / 2]; ++p) out[p] = *on_side(&x, face, p, 0);
    }
    must(halocline_exchange_post(exchange, HALOCLINE_ALL_FACES));

    must(halocline_exact_sum_clear(change));
    for (int j = 1; j < n1 - 1; ++j) {
      for (int i = 1; i < n0 - 1; ++i) relax(&next, &x, &b, i, j, change);
    }
    // The sides without their ends; the corners need two halos, and come last.
    for (int arrived = 0; arrived < 4; ++arrived) {
      int face;
      const void* buffer;
      must(halocline_exchange_wait_any(exchange, HALOCLINE_ALL_FACES, &face));
      must(halocline_exchange_recv_buffer(exchange, face, &buffer, NULL));
      const double* in = buffer;
      const int axis = face / 2, across = face % 2 == 0 ? 0 : x.n[axis] - 1;
      for (int p = 0; p < x.n[1 - axis]; ++p) *on_side(&x, face, p, 1) = in[p];
      for (int p = 1; p < x.n[1 - axis] - 1; ++p) {
        relax(&next, &x, &b, axis == 0 ? across : p, axis == 0 ? p : across, change);
      }
    }
    for (int corner = 0; corner < 4; ++corner) {
      relax(&next, &x, &b, corner % 2 == 0 ? 0 : n0 - 1, corner / 2 == 0 ? 0 : n1 - 1, change);
    }

    // b - A x is (4 + m^2) times the change.
    must(halocline_exact_sum_over(world, change));
    must(halocline_exact_sum_value(change, &residual));
    residual = (4 + mass_squared) * sqrt(residual);
    const field old = x;
    x = next;
    next = old;
    ++iterations;
  } while (residual > tolerance && iterations < 10000);

  // |error| <= |residual| / m^2, m^2 being the lowest eigenvalue of A.
  double error = 0;
  halocline_reduction* reduction;
  for (int j = 0; j < n1; ++j) {
    for (int i = 0; i < n0; ++i) error += pow(*at(&x, i, j) - *at(&solution, i, j), 2);
  }
  must(halocline_reduction_create(world, &reduction));
  must(halocline_reduction_sum(reduction, 1, &error));
  error = sqrt(error);
  const int right = residual <= tolerance && error <= tolerance / mass_squared;
  if (rank == 0) {
    const char* transport;
    must(halocline_exchange_transport(exchange, &transport));
    printf("grid %d x %d, transport %s\n", dims[0], dims[1], transport);
    printf("iterations %d, residual %.15e, error %.1e: %s\n", iterations, residual, error, right ? "right" : "WRONG");
  }

  free(x.values);
  free(next.values);
  free(b.values);
  free(solution.values);
  must(halocline_reduction_destroy(reduction));
  must(halocline_exact_sum_destroy(change));
  must(halocline_exchange_destroy(exchange));
  must(halocline_grid_destroy(grid));
  must(halocline_communicator_destroy(world));
  return right ? 0 : 1;
}
