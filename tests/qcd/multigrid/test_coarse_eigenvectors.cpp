// SPDX-License-Identifier: Apache-2.0
//
// Eigenvectors of Gamma5 D_c against the definition of D_c by plain loops, and the solves that they deflate.

#include <doctest/doctest.h>

#include <cmath>

#include "halocline/qcd/multigrid/coarse_eigenvectors.hpp"
#include "halocline/qcd/multigrid/multigrid.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/multigrid/coarse_sample.hpp"
#include "qcd/multigrid/thermal_links.hpp"

namespace halocline::qcd::multigrid {
namespace {

constexpr int wanted = 6;

/// |Gamma5 D_c v - lambda v| by plain loops, with D_c of the untwisted blocks.
template <class S>
double plain_residual(const CoarseBlocks<S>& blocks, const CoarseEigenvectors& found, int which) {
  const auto v = test::numbers(found.vectors, which);
  const auto image = test::plain_product(blocks, v);
  const auto rows = static_cast<std::size_t>(blocks.rows());
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i)
    sum +=
        std::norm((i % rows < rows / 2 ? 1.0 : -1.0) * image[i] - found.values[static_cast<std::size_t>(which)] * v[i]);
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE_TEMPLATE("coarse eigenvectors: they solve the eigenvalue equation, with or without a twisted mass", S, float,
                   core::Half) {
  const test::RoughLattice rough({4, 4, 4, 8});
  const test::CoarseSample<S> sample(rough, test::one_process(rough.extents), test::every_term(), {2, 2, 2, 2},
                                     {2, 2, 2, 2}, 8, 1);
  const auto found = coarse_eigenvectors(sample.blocks, wanted, 1e-3);
  REQUIRE(found.values.size() == wanted);
  CHECK(found.vectors.columns() == wanted);
  for (int i = 0; i < wanted; ++i) {
    CHECK(found.residuals[static_cast<std::size_t>(i)] < 2e-3 * found.norm);
    CHECK(plain_residual(*sample.blocks, found, i) ==
          doctest::Approx(found.residuals[static_cast<std::size_t>(i)]).epsilon(0.01).scale(1e-3 * found.norm));
    if (i > 0)
      CHECK(std::abs(found.values[static_cast<std::size_t>(i)]) >=
            std::abs(found.values[static_cast<std::size_t>(i) - 1]));
  }
  auto twisted = std::make_shared<CoarseBlocks<S>>(*sample.blocks);
  twisted->twist(0.3);
  const auto same = coarse_eigenvectors<S>(twisted, wanted, 1e-3);
  REQUIRE(same.values.size() == wanted);
  for (std::size_t i = 0; i < wanted; ++i)
    CHECK(same.values[i] == doctest::Approx(found.values[i]).epsilon(1e-3).scale(1e-3 * found.norm));
}

TEST_CASE("coarse eigenvectors: deflation by them solves the same system in fewer iterations than none") {
  const GaugeField u = test::thermal_links();
  SolverParameters parameters;
  parameters.kind = "multigrid";
  parameters.multigrid.vectors = 8;
  parameters.multigrid.aggregate = {2, 2, 2, 2};  // 4^4 coarse sites: 2048 rows of the even sites
  parameters.multigrid.levels = 2;
  parameters.multigrid.setup_iterations = 1;
  const WilsonCloverAction action{.mass = -0.12, .csw = 1.0};
  const Setup plain(u, action, parameters.multigrid);
  parameters.multigrid.coarse_eigenvectors = 16;
  const Setup deflated(u, action, parameters.multigrid);
  CHECK(deflated.bytes() <= Setup::predicted_bytes(u.geometry(), parameters.multigrid, 1));
  CHECK(!plain.serves(u, action, parameters.multigrid));
  const auto cycles = [&](const Setup& setup) {
    Multigrid cycle(setup, 1);
    auto in = cycle.smoother().create(), out = cycle.smoother().create();
    for (std::int64_t i = 0; i < in.size(); ++i) in.data()[i] = static_cast<float>((i * 7919) % 1009) / 1009.f - 0.5f;
    cycle.precondition(out, in);
    return cycle.coarse_iterations()[0];
  };
  // As many directions as the test vectors cut by chirality, and better ones.
  CHECK(cycles(deflated) <= cycles(plain));
  CHECK(cycles(deflated) > 0);
  CHECK(deflated.contraction() < 1.1 * plain.contraction());
  const auto solve = [&](int count) {
    parameters.multigrid.coarse_eigenvectors = count;
    QuarkSolver solver(u, action, parameters);
    std::vector<std::complex<double>> x(static_cast<std::size_t>(12 * u.geometry().local_volume()));
    const auto report = solver.solve(x, test::random_numbers(12 * u.geometry().local_volume(), 4));
    CHECK(report.residual <= 1e-10);
    CHECK(report.notes.empty());
    return x;
  };
  CHECK(test::relative_distance(solve(16), solve(0)) < 1e-7);
}

}  // namespace halocline::qcd::multigrid
