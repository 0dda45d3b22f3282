// SPDX-License-Identifier: Apache-2.0
//
// The 2-d Jacobi iteration over halocline's halo exchange, in C++. Run: mpiexec -n 4 ./jacobi2d_cpp
//
// The same problem and the same steps as jacobi2d.c, which tells what is solved.

#include <halocline/comm/exchange/halo_exchange.hpp>
#include <halocline/comm/group/process_grid.hpp>
#include <halocline/comm/group/world.hpp>
#include <halocline/comm/sums/exact_sum.hpp>
#include <halocline/comm/sums/reduction.hpp>
#include <halocline/core/cpu.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace comm = halocline::comm;

namespace {

constexpr std::array<std::int64_t, 2> points{48, 40};  // along each axis
constexpr double mass_squared = 0.5, tolerance = 1e-10;

/// The points of this process with a halo of one: (i, j) for -1 <= i <= n[0], i fastest.
struct Field {
  std::array<int, 2> n;
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(n[0] + 2) * (n[1] + 2));

  double& operator()(int i, int j) { return values[static_cast<std::size_t>((j + 1) * (n[0] + 2) + (i + 1))]; }
  /// Point p of a side, `depth` 0: the outermost points of this process, 1: the halo beyond them.
  double& on_side(comm::Face face, int p, int depth) {
    const int where = face.direction < 0 ? -depth : n[face.axis] - 1 + depth;
    return face.axis == 0 ? (*this)(where, p) : (*this)(p, where);
  }
  int side_points(comm::Face face) const { return n[1 - face.axis]; }
};

/// The buffers are bytes; these are the doubles in them.
std::span<double> doubles(std::span<std::byte> bytes) {
  return {reinterpret_cast<double*>(bytes.data()), bytes.size() / sizeof(double)};
}
std::span<const double> doubles(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const double*>(bytes.data()), bytes.size() / sizeof(double)};
}

/// One point of the next iterate; adds the squared change to the sum.
void relax(Field& next, Field& x, Field& b, int i, int j, comm::ExactSum& change) {
  const double neighbours = (x(i - 1, j) + x(i + 1, j)) + (x(i, j - 1) + x(i, j + 1));
  next(i, j) = (b(i, j) + neighbours) / (4 + mass_squared);
  change.add_product(next(i, j) - x(i, j), next(i, j) - x(i, j));
}

/// One Jacobi step. @return |b - A x|
double step(comm::HaloExchange& exchange, Field& next, Field& x, Field& b) {
  const auto [n0, n1] = x.n;
  for (int index = 0; index < 4; ++index) {
    const auto face = comm::Face::from_index(index);
    const std::span<double> out = doubles(exchange.send_buffer(face));
    for (int p = 0; p < x.side_points(face); ++p) out[static_cast<std::size_t>(p)] = x.on_side(face, p, 0);
  }
  exchange.post();

  comm::ExactSum change;
  for (int j = 1; j < n1 - 1; ++j) {
    for (int i = 1; i < n0 - 1; ++i) relax(next, x, b, i, j, change);
  }
  // The sides without their ends; the corners need two halos, and come last.
  while (const auto face = exchange.wait_any()) {
    const std::span<const double> in = doubles(exchange.recv_buffer(*face));
    for (int p = 0; p < x.side_points(*face); ++p) x.on_side(*face, p, 1) = in[static_cast<std::size_t>(p)];
    const int across = face->direction < 0 ? 0 : x.n[face->axis] - 1;
    for (int p = 1; p < x.side_points(*face) - 1; ++p) {
      relax(next, x, b, face->axis == 0 ? across : p, face->axis == 0 ? p : across, change);
    }
  }
  for (const int i : {0, n0 - 1}) {
    for (const int j : {0, n1 - 1}) relax(next, x, b, i, j, change);
  }
  sum_over(exchange.grid().communicator(), {&change, 1});
  return (4 + mass_squared) * std::sqrt(change.value());
}

int run() {
  halocline::core::check_cpu();
  const comm::Communicator world = comm::world();
  const comm::ProcessGrid grid(world, comm::least_surface_grid(points, world.size()));
  const std::array n{static_cast<int>(points[0]) / grid.dims()[0], static_cast<int>(points[1]) / grid.dims()[1]};
  const std::array face_bytes{n[1] * sizeof(double), n[0] * sizeof(double)};
  comm::HaloExchange exchange(grid, face_bytes, "");

  Field x{n}, next{n}, b{n}, solution{n};
  const double k0 = 2 * std::numbers::pi * 1 / points[0], k1 = 2 * std::numbers::pi * 2 / points[1];
  for (int j = 0; j < n[1]; ++j) {
    for (int i = 0; i < n[0]; ++i) {
      const double wave = std::cos(k0 * (grid.coords()[0] * n[0] + i) + k1 * (grid.coords()[1] * n[1] + j));
      solution(i, j) = 1 + wave;
      b(i, j) = mass_squared + (4 + mass_squared - 2 * std::cos(k0) - 2 * std::cos(k1)) * wave;
    }
  }

  int iterations = 0;
  double residual = 0;
  do {
    residual = step(exchange, next, x, b);
    std::swap(x, next);
    ++iterations;
  } while (residual > tolerance && iterations < 10000);

  // |error| <= |residual| / m^2, m^2 being the lowest eigenvalue of A.
  double error = 0;
  for (int j = 0; j < n[1]; ++j) {
    for (int i = 0; i < n[0]; ++i) error += std::pow(x(i, j) - solution(i, j), 2);
  }
  error = std::sqrt(comm::Reduction(world).sum(error));
  const bool right = residual <= tolerance && error <= tolerance / mass_squared;
  if (world.rank() == 0) {
    const std::string transport(exchange.transport().name());
    std::printf("grid %d x %d, transport %s\n", grid.dims()[0], grid.dims()[1], transport.c_str());
    std::printf("iterations %d, residual %.15e, error %.1e: %s\n", iterations, residual, error,
                right ? "right" : "WRONG");
  }
  return right ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "jacobi2d: %s\n", error.what());
    comm::abort_all(1);
  }
}
