// SPDX-License-Identifier: Apache-2.0
// Laws that every linear solver obeys, over precisions, widths and the two kinds of space.

#include <doctest/doctest.h>

#include "dense_space.hpp"
#include "halocline/core/error.hpp"
#include "halocline/solve/bicgstab.hpp"
#include "halocline/solve/block_bicgstab.hpp"
#include "halocline/solve/block_cg.hpp"
#include "halocline/solve/block_cg_normal.hpp"
#include "halocline/solve/cg.hpp"
#include "halocline/solve/cg_normal.hpp"
#include "halocline/solve/deflation.hpp"
#include "halocline/solve/fgmres.hpp"
#include "halocline/solve/gcr.hpp"
#include "halocline/solve/gmres_dr.hpp"
#include "halocline/solve/preconditioned_cg.hpp"
#include "halocline/solve/s_step_cg.hpp"
#include "halocline/solve/s_step_gcr.hpp"

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {
struct UseCg {
  static constexpr bool hermitian = true;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return cg(a...);
  }
};
struct UseCgNormal {
  static constexpr bool hermitian = false;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return cg_normal(a...);
  }
};
struct UseBicgstab {
  static constexpr bool hermitian = false;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return bicgstab(a...);
  }
};
struct UseGcr {
  static constexpr bool hermitian = false;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return gcr(a...);
  }
};
struct UseFgmres {
  static constexpr bool hermitian = false;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return fgmres(a...);
  }
};
struct UseBlockCg {
  static constexpr bool hermitian = true;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return block_cg(a...);
  }
};
struct UseBlockCgNormal {
  static constexpr bool hermitian = false;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return block_cg_normal(a...);
  }
};
struct UseBlockBicgstab {
  static constexpr bool hermitian = false;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return block_bicgstab(a...);
  }
};

constexpr int n = 40;
/// Deflation by three random vectors.
template <template <class> class Space, class T>
Deflation<Space<T>> deflation(const Space<T>&, DenseOperator<T>& op, Projection kind) {
  std::vector<DenseVector<T>> vectors;
  for (unsigned i = 0; i < 3; ++i) vectors.push_back(from_eigen<T>(random_matrix(n, 1, 100 + i)));
  Space<T> single(n);
  return Deflation<Space<T>>(single, op, std::move(vectors), kind);
}
struct UseDeflatedCg {
  static constexpr bool hermitian = true;
  template <class Space, class Op, class... A>
  SolveResult operator()(Space& space, Op& op, A&... a) const {
    return deflated_cg(space, op, deflation(space, op, Projection::galerkin), a...);
  }
};
struct UseDeflatedCgNormal {
  static constexpr bool hermitian = false;
  template <class Space, class Op, class... A>
  SolveResult operator()(Space& space, Op& op, A&... a) const {
    return deflated_cg_normal(space, op, deflation(space, op, Projection::minimal_residual), a...);
  }
};
struct UseDeflatedBicgstab {
  static constexpr bool hermitian = false;
  template <class Space, class Op, class... A>
  SolveResult operator()(Space& space, Op& op, A&... a) const {
    return deflated_bicgstab(space, op, deflation(space, op, Projection::galerkin), a...);
  }
};
/// A constant preconditioner: 1 / (2 + the number of the row modulo 3).
struct Weights {
  template <class T>
  void apply(DenseVector<T>& out, const DenseVector<T>& in) const {
    for (std::size_t i = 0; i < in.data.size(); ++i) out.data[i] = in.data[i] / static_cast<T>(2 + i % n % 3);
  }
};
struct UsePreconditionedCg {
  static constexpr bool hermitian = true;
  template <class... A>
  SolveResult operator()(A&... a) const {
    const Weights weights;
    if constexpr (sizeof...(A) == 4) {
      const SolveOptions options;
      return preconditioned_cg(a..., options, weights);
    } else {
      return preconditioned_cg(a..., weights);
    }
  }
};
struct UseSStepCg {
  static constexpr bool hermitian = true;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return s_step_cg(a...);
  }
};
struct UseSStepGcr {
  static constexpr bool hermitian = false;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return s_step_gcr(a...);
  }
};
struct UseGmresDr {
  static constexpr bool hermitian = false;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return gmres_dr(a...);
  }
};
#define COLUMN_SOLVERS                                                                                                 \
  UseCg, UseCgNormal, UseBicgstab, UseGcr, UseFgmres, UseDeflatedCg, UseDeflatedCgNormal, UseDeflatedBicgstab,         \
      UsePreconditionedCg, UseSStepCg, UseSStepGcr, UseGmresDr
#define ALL_SOLVERS COLUMN_SOLVERS, UseBlockCg, UseBlockCgNormal, UseBlockBicgstab

template <class Solver>
Matrix well_conditioned(unsigned seed = 7) {
  return Solver::hermitian ? positive_matrix(n, 20.0, seed) : disc_matrix(n, 0.6, seed);
}
}  // namespace

TEST_CASE_TEMPLATE("solvers: the solution is that of a direct method", Solver, ALL_SOLVERS) {
  const Matrix a = well_conditioned<Solver>(), b = random_matrix(n, 3, 3);
  const Matrix exact = solution(a, b);
  SolveOptions options;
  options.tolerance = 1e-12;
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto check = [&](auto space) {
    auto x = space.create();
    const SolveResult result = Solver()(space, op, x, source, options);
    CHECK(result.converged());
    CHECK(result.worst_residual() <= 1e-12);
    CHECK(result.worst_residual() == doctest::Approx(true_residual(a, x, b)).epsilon(0.05));
    // |error| <= condition * residual
    const double condition = a.jacobiSvd().singularValues()(0) / a.jacobiSvd().singularValues()(n - 1);
    CHECK((to_eigen(x, n) - exact).norm() <= 2.0 * condition * 1e-12 * exact.norm());
    CHECK(result.history[0].front() == 1.0);
    CHECK(result.history[0].size() >= static_cast<std::size_t>(result.column_iterations[0]));
    CHECK(result.timings.total >= result.timings.apply);
    CHECK(result.timings.apply > 0.0);
  };
  check(DenseSpace<double>(n, 3));
  check(FusedSpace<double>(n, 3));
}

TEST_CASE_TEMPLATE("solvers: single precision reaches its own tolerance", Solver, ALL_SOLVERS) {
  const Matrix a = well_conditioned<Solver>(), b = random_matrix(n, 1, 3);
  DenseSpace<float> space(n);
  DenseOperator<float> op(a);
  const auto source = from_eigen<float>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 3e-6;
  const SolveResult result = Solver()(space, op, x, source, options);
  CHECK(result.converged());
  CHECK(true_residual(a, x, b) < 6e-6);  // the matrix itself is rounded to 6e-8 of its norm, condition 20
}

TEST_CASE_TEMPLATE("solvers: a column of a batch has the bits of the column alone", Solver, COLUMN_SOLVERS) {
  const Matrix a = well_conditioned<Solver>();
  Matrix b = random_matrix(n, 4, 5);
  b.col(1) *= 1e-3;                   // converges alike, from another size
  b.col(2) = a * Column::Unit(n, 3);  // another number of iterations
  b.col(3).setZero();                 // none
  SolveOptions options;
  options.tolerance = 1e-10;
  options.restart_length = 6;
  DenseOperator<double> op(a);
  auto check = [&](auto batch_space, auto single_space) {
    auto x = batch_space.create();
    const auto source = from_eigen<double>(b);
    const SolveResult batch = Solver()(batch_space, op, x, source, options);
    CHECK(batch.converged());
    for (int c = 0; c < 4; ++c) {
      auto y = single_space.create();
      const auto column = from_eigen<double>(b.col(c));
      const SolveResult single = Solver()(single_space, op, y, column, options);
      CHECK(batch.column_iterations[static_cast<std::size_t>(c)] == single.iterations);
      CHECK(batch.residual[static_cast<std::size_t>(c)] == single.residual[0]);
      CHECK(batch.history[static_cast<std::size_t>(c)] == single.history[0]);
      CHECK(to_eigen(x, n).col(c) == to_eigen(y, n));
    }
  };
  check(DenseSpace<double>(n, 4), DenseSpace<double>(n));
  check(FusedSpace<double>(n, 4), FusedSpace<double>(n));
}

TEST_CASE_TEMPLATE("solvers: a zero right-hand side has the solution zero", Solver, ALL_SOLVERS) {
  DenseSpace<double> space(n);
  DenseOperator<double> op(well_conditioned<Solver>());
  const auto b = from_eigen<double>(Matrix::Zero(n, 1));
  for (const bool guess : {false, true}) {
    auto x = from_eigen<double>(random_matrix(n, 1, 9));
    SolveOptions options;
    options.use_initial_guess = guess;
    const SolveResult result = Solver()(space, op, x, b, options);
    CHECK(result.converged());
    CHECK(result.iterations == 0);
    CHECK(result.worst_residual() == 0.0);
    CHECK(to_eigen(x, n).norm() == 0.0);
  }
}

TEST_CASE_TEMPLATE("solvers: the solution as a guess needs no iteration, a near one fewer", Solver, ALL_SOLVERS) {
  const Matrix a = well_conditioned<Solver>(), b = random_matrix(n, 1, 4);
  const Matrix exact = solution(a, b);
  DenseSpace<double> space(n);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  SolveOptions options;
  auto cold = space.create();
  const int cold_iterations = Solver()(space, op, cold, source, options).iterations;
  options.use_initial_guess = true;
  auto x = from_eigen<double>(exact);
  CHECK(Solver()(space, op, x, source, options).iterations == 0);
  x = from_eigen<double>(exact + 1e-6 * random_matrix(n, 1, 8));
  const SolveResult near = Solver()(space, op, x, source, options);
  CHECK(near.converged());
  CHECK(near.iterations > 0);
  CHECK(near.iterations < cold_iterations);
}

TEST_CASE_TEMPLATE("solvers: NaN and infinity are named, wherever they enter", Solver, ALL_SOLVERS) {
  const Matrix a = well_conditioned<Solver>();
  DenseSpace<double> space(n);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Matrix b = random_matrix(n, 1, 4), broken = a;
    SolveOptions options;
    auto x = space.create();
    {
      Matrix poisoned = b;
      poisoned(5, 0) = bad;
      DenseOperator<double> op(a);
      const auto source = from_eigen<double>(poisoned);
      CHECK(Solver()(space, op, x, source, options).reason == Reason::not_finite);
    }
    broken(3, 3) = bad;
    DenseOperator<double> op(broken);
    const auto source = from_eigen<double>(b);
    const SolveResult result = Solver()(space, op, x, source, options);
    CHECK(result.reason == Reason::not_finite);
    CHECK(result.describe().find("not finite") != std::string::npos);
    DenseOperator<double> good(a);
    options.use_initial_guess = true;
    x = from_eigen<double>(b);
    x.data[2] = bad;
    CHECK(Solver()(space, good, x, source, options).reason == Reason::not_finite);
  }
}

TEST_CASE_TEMPLATE("solvers: a NaN column leaves its neighbours alone", Solver, ALL_SOLVERS) {
  const Matrix a = well_conditioned<Solver>();
  Matrix b = random_matrix(n, 3, 4);
  b(7, 1) = std::nan("");
  DenseSpace<double> space(n, 3);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  const SolveOptions options;
  const SolveResult result = Solver()(space, op, x, source, options);
  CHECK(result.reason == Reason::not_finite);
  CHECK(result.reasons == std::vector<Reason>{Reason::converged, Reason::not_finite, Reason::converged});
  CHECK((a * to_eigen(x, n).col(2) - b.col(2)).norm() <= 1e-10 * b.col(2).norm() * 1.01);
}

TEST_CASE_TEMPLATE("solvers: an impossible tolerance is called stagnation, with the true residual", Solver,
                   ALL_SOLVERS) {
  const Matrix a = well_conditioned<Solver>(), b = random_matrix(n, 1, 4);
  DenseSpace<float> space(n);
  DenseOperator<float> op(a);
  const auto source = from_eigen<float>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-13;
  options.max_iterations = 100000;
  const SolveResult result = Solver()(space, op, x, source, options);
  CHECK(result.reason == Reason::stagnation);
  CHECK(result.worst_residual() > 1e-9);
  CHECK(result.worst_residual() < 1e-5);
  CHECK(result.describe().find("stagnated") != std::string::npos);
}

TEST_CASE_TEMPLATE("solvers: the iteration limit holds and is named", Solver, ALL_SOLVERS) {
  const Matrix a = Solver::hermitian ? positive_matrix(n, 1e4, 2) : disc_matrix(n, 0.95, 2);
  const Matrix b = random_matrix(n, 1, 4);
  DenseSpace<double> space(n);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  for (const int limit : {0, 1, 5}) {
    SolveOptions options;
    options.max_iterations = limit;
    const SolveResult result = Solver()(space, op, x, source, options);
    CHECK(result.reason == Reason::iteration_limit);
    CHECK(result.iterations == limit);
    CHECK(result.worst_residual() == doctest::Approx(true_residual(a, x, b)));
  }
}

TEST_CASE_TEMPLATE("solvers: progress is told every iteration and can cancel", Solver, ALL_SOLVERS) {
  const Matrix a = well_conditioned<Solver>(), b = random_matrix(n, 1, 4);
  DenseSpace<double> space(n);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  std::vector<int> told;
  options.progress = [&](int iteration, double residual) {
    told.push_back(iteration);
    CHECK(residual > 0.0);
    return iteration < 4;
  };
  const SolveResult result = Solver()(space, op, x, source, options);
  CHECK(result.reason == Reason::cancelled);
  CHECK(told == std::vector<int>{1, 2, 3, 4});
  CHECK(result.iterations == 4);
  CHECK(result.worst_residual() == doctest::Approx(true_residual(a, x, b)));
  CHECK(result.worst_residual() < 1.0);
}

TEST_CASE_TEMPLATE("solvers: each column may have a tolerance of its own", Solver, ALL_SOLVERS) {
  const Matrix a = well_conditioned<Solver>(), b = random_matrix(n, 2, 4);
  DenseSpace<double> space(n, 2);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.column_tolerance = {1e-4, 1e-11};
  const SolveResult result = Solver()(space, op, x, source, options);
  CHECK(result.converged());
  CHECK(result.residual[0] <= 1e-4);
  CHECK(result.residual[1] <= 1e-11);
  CHECK(result.column_iterations[0] < result.column_iterations[1]);
  options.column_tolerance = {1e-4};
  CHECK_THROWS_AS(Solver()(space, op, x, source, options), halocline::core::InvalidArgument);
}

TEST_CASE("solvers: impossible options are refused") {
  DenseSpace<double> space(n);
  DenseOperator<double> op(well_conditioned<UseCg>());
  const auto b = from_eigen<double>(random_matrix(n, 1, 4));
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 0.0;
  CHECK_THROWS_AS(cg(space, op, x, b, options), halocline::core::InvalidArgument);
  options = {};
  options.restart_length = 0;
  CHECK_THROWS_AS(gcr(space, op, x, b, options), halocline::core::InvalidArgument);
  options = {};
  options.max_iterations = -1;
  CHECK_THROWS_AS(bicgstab(space, op, x, b, options), halocline::core::InvalidArgument);
}

TEST_CASE_TEMPLATE("solvers: a right-hand side whose square underflows or overflows is never called solved", Solver,
                   ALL_SOLVERS) {
  const Matrix a = well_conditioned<Solver>();
  DenseOperator<double> op(a);
  for (const double size : {1e-170, 1e-310, 1e-140, 1e170}) {
    Matrix b = random_matrix(n, 3, 3);
    b.col(1) *= size;
    b.col(2) *= 0.0;
    const auto source = from_eigen<double>(b);
    DenseSpace<double> space(n, 3);
    auto x = space.create();
    const SolveOptions options;
    const SolveResult result = Solver()(space, op, x, source, options);
    CHECK(result.reasons[0] == Reason::converged);
    CHECK(result.reasons[1] == Reason::not_finite);
    CHECK(result.reasons[2] == Reason::converged);
  }
}
