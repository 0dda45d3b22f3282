// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// The Wilson operator in plain loops, as a host program may have its own, to judge the solutions that the library gave:
//
//   D psi(x) = (4 + m) psi(x) - 1/2 sum_mu [(1 - g_mu) U_mu(x) psi(x+mu) + (1 + g_mu) U_mu(x-mu)^dagger psi(x-mu)]
//
// on one process, for any order and basis: the host gives the place of each number, and the gamma matrices.

#include <complex.h>
#include <math.h>
#include <stddef.h>

/// Row r of a gamma matrix has the one entry i^power[r], in column column[r].
typedef struct gamma_matrix {
  int column[4], power[4];
} gamma_matrix;

/// How the host keeps its fields.
typedef struct host_fields {
  int extents[4];
  gamma_matrix gamma[4];
  const double* (*link)(const struct host_fields* host, const int* x, int mu, int row, int column);  ///< its real part
  ptrdiff_t link_imaginary;  ///< from the real to the imaginary part
  size_t (*spinor)(const struct host_fields* host, const int* x, int spin, int colour);  ///< place of the real part
  ptrdiff_t spinor_imaginary;
  double boundary[4];  ///< of quarks, where the links do not have it
  void* data;
} host_fields;

static double complex host_link(const host_fields* host, const int* x, int mu, int row, int column) {
  const double* at = host->link(host, x, mu, row, column);
  return at[0] + I * at[host->link_imaginary];
}

static double complex host_spinor(const host_fields* host, const double* psi, const int* x, int spin, int colour) {
  const size_t at = host->spinor(host, x, spin, colour);
  return psi[at] + I * psi[(ptrdiff_t)at + host->spinor_imaginary];
}

/// i^power
static double complex power_of_i(int power) {
  const double complex powers[4] = {1, I, -1, -I};
  return powers[power % 4];
}

/// One number of D psi.
static double complex plain_wilson(const host_fields* host, double mass, const double* psi, const int* x, int spin,
                                   int colour) {
  double complex sum = (4 + mass) * host_spinor(host, psi, x, spin, colour);
  for (int mu = 0; mu < 4; ++mu)
    for (int sign = -1; sign <= 1; sign += 2) {
      int y[4] = {x[0], x[1], x[2], x[3]};
      const int extent = host->extents[mu];
      y[mu] = (x[mu] + sign + extent) % extent;
      const int crosses = sign > 0 ? x[mu] == extent - 1 : x[mu] == 0;
      const gamma_matrix* g = &host->gamma[mu];
      for (int c = 0; c < 3; ++c) {
        const double complex u = sign > 0 ? host_link(host, x, mu, colour, c) : conj(host_link(host, y, mu, c, colour));
        const double complex projected =
            host_spinor(host, psi, y, spin, c) -
            sign * power_of_i(g->power[spin]) * host_spinor(host, psi, y, g->column[spin], c);
        sum -= 0.5 * (crosses ? host->boundary[mu] : 1) * u * projected;
      }
    }
  return sum;
}

/// |b - D x| / |b|
static double plain_residual(const host_fields* host, double mass, const double* x, const double* b) {
  double difference = 0, norm = 0;
  int at[4];
  for (at[3] = 0; at[3] < host->extents[3]; ++at[3])
    for (at[2] = 0; at[2] < host->extents[2]; ++at[2])
      for (at[1] = 0; at[1] < host->extents[1]; ++at[1])
        for (at[0] = 0; at[0] < host->extents[0]; ++at[0])
          for (int spin = 0; spin < 4; ++spin)
            for (int colour = 0; colour < 3; ++colour) {
              const double complex wanted = host_spinor(host, b, at, spin, colour);
              const double complex r = wanted - plain_wilson(host, mass, x, at, spin, colour);
              difference += creal(r) * creal(r) + cimag(r) * cimag(r);
              norm += creal(wanted) * creal(wanted) + cimag(wanted) * cimag(wanted);
            }
  return sqrt(difference / norm);
}
