// SPDX-License-Identifier: Apache-2.0

#include "halocline/tddft/ground_state/blas.hpp"
#include "halocline/tddft/ground_state/subspace.hpp"

#include "systems.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <omp.h>
#include <vector>

namespace halocline::tddft {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> some_numbers(std::size_t count, double seed) {
  std::vector<Complex> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = seed + static_cast<double>(i);
    values[i] = {std::sin(1.7 * x), std::cos(2.3 * x)};
  }
  return values;
}

/// Runs action() with each of these numbers of threads, and gives back the number that was set.
template <class Action>
void with_threads(Action&& action) {
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    action(threads);
  }
  omp_set_num_threads(before);
}

}  // namespace

TEST_CASE("blas: a large product in parts is the sum that defines it, with the same bits for any number of threads") {
  constexpr int m = 70, n = 90, k = 80;  // 4 Mflop, columns that 32 does not divide
  const std::vector<Complex> a = some_numbers(m * k, 0.1), b = some_numbers(n * k, 0.5);
  for (const blas::Op op_b : {blas::Op::none, blas::Op::adjoint}) {
    const int leading = op_b == blas::Op::none ? k : n;
    std::vector<std::vector<Complex>> found;
    with_threads([&](int) {
      found.emplace_back(some_numbers(m * n, 0.7));
      blas::product_in_parts(m, n, k, {a.data(), m}, blas::Op::none, {b.data(), leading}, op_b, 1, found.back().data(),
                             m);
    });
    const std::vector<Complex> before = some_numbers(m * n, 0.7);
    double worst = 0;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        Complex sum = before[static_cast<std::size_t>(i + m * j)];
        for (int l = 0; l < k; ++l)
          sum += a[static_cast<std::size_t>(i + m * l)] * (op_b == blas::Op::none
                                                               ? b[static_cast<std::size_t>(l + k * j)]
                                                               : std::conj(b[static_cast<std::size_t>(j + n * l)]));
        worst = std::max(worst, std::abs(sum - found[0][static_cast<std::size_t>(i + m * j)]));
      }
    CHECK(worst < 1e-12);  // k terms of order 1
    CHECK(found[1] == found[0]);
    CHECK(found[2] == found[0]);
  }
}

TEST_CASE("blas: while OneThread lives nobody is woken, and afterwards all is as it was") {
  const int before = omp_get_max_threads(), levels = omp_get_max_active_levels();
  omp_set_num_threads(3);
  {
    const blas::OneThread one;
    CHECK(omp_get_max_threads() == 1);
    int team = 0;
#pragma omp parallel num_threads(3)  // as a library does that has counted the cores itself
#pragma omp single
    team = omp_get_num_threads();
    CHECK(team == 1);
  }
  CHECK(omp_get_max_threads() == 3);
  CHECK(omp_get_max_active_levels() == levels);
  std::vector<int> inside(4, 0);
  blas::for_parts(4, [&](std::int64_t part, int thread) {
    CHECK(thread < 3);
    inside[static_cast<std::size_t>(part)] = omp_get_max_threads();
  });
  CHECK(inside == std::vector<int>(4, 1));
  CHECK(omp_get_max_threads() == 3);
  omp_set_num_threads(before);
}

TEST_CASE("blas: the library is known by its file, and a serial OpenBLAS is not shared by threads") {
  const blas::Library& library = blas::library();
  CHECK(!library.name.empty());
  CHECK(library.file.find('/') != std::string::npos);
  const bool serial = library.name.find("SINGLE_THREADED") != std::string::npos;
  CHECK(library.reentrant != serial);
  CHECK((library.reference ? library.threads == blas::ThreadModel::none : true));
}

TEST_CASE("subspace: inner products and combinations have the same bits for any number of threads") {
  // 24 vectors at 4096 points: several runs of points, so that threads have something to share.
  const System system = tests::silicon(16, 24);
  const Decomposition decomposition(comm::Communicator::self(), system, {});
  const Subspace subspace(decomposition, 0);
  const auto doubles = static_cast<std::size_t>(subspace.set_doubles());
  std::vector<double> x(doubles), y(doubles);
  for (std::size_t i = 0; i < doubles; ++i) {
    x[i] = std::sin(0.37 * static_cast<double>(i % 10007));
    y[i] = std::cos(0.53 * static_cast<double>(i % 9973));
  }
  std::vector<std::vector<Complex>> products;
  std::vector<std::vector<double>> combined;
  with_threads([&](int) {
    const std::array<const double*, 1> left{x.data()};
    const std::array<const double*, 2> right{x.data(), y.data()};
    const Matrix found = subspace.products(left, right);
    products.emplace_back(found.data(), found.data() + found.size());
    const int n = subspace.vectors();
    Matrix coefficients(2 * n, n);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < 2 * n; ++i) coefficients(i, j) = {std::sin(i + 3.0 * j), std::cos(2.0 * i - j)};
    std::vector<double> out(doubles);
    const std::array<double*, 1> to{out.data()};
    subspace.combine(to, right, coefficients);
    combined.push_back(std::move(out));
  });
  for (std::size_t i = 1; i < products.size(); ++i) {
    CHECK(products[i] == products[0]);
    CHECK(combined[i] == combined[0]);
  }
  // <x_0|x_0>: the sum that defines it.
  double norm = 0;
  for (std::size_t i = 0; i < doubles / 6; i += 8) norm += x[i] * x[i] + x[i + 1] * x[i + 1];
  CHECK(products[0][0].real() == doctest::Approx(norm * system.grid.point_volume()).epsilon(1e-12));
}

}  // namespace halocline::tddft
