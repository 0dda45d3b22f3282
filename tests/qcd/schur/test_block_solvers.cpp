// SPDX-License-Identifier: Apache-2.0
// Block solvers on the lattice: tiled fields of several columns, and the Schur complement of the Wilson-clover
// operator.

#include <doctest/doctest.h>

#include <vector>

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/qcd/wilson/wilson_clover.hpp"
#include "halocline/solve/bicgstab.hpp"
#include "halocline/solve/block_bicgstab.hpp"
#include "halocline/solve/block_cg.hpp"
#include "halocline/solve/block_cg_normal.hpp"
#include "halocline/solve/cg.hpp"
#include "halocline/solve/cg_normal.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

constexpr lattice::Coordinates<4> extents{4, 4, 4, 8};
constexpr std::int64_t volume = 4 * 4 * 4 * 8;
constexpr int columns = 6;

/// S on links near the unit. The mass is close to the critical one, so S has a few small eigenvalues.
template <class T>
struct Lattice {
  GaugeField links;
  WilsonSetup setup;
  WilsonClover<T> d;
  Schur<T> s;
  SpinorSpace<T> space;
  SpinorField<T> source;

  Lattice()
      : links(gauge::weak_links(test::one_process(extents), 0.4, 1)),
        setup(links, WilsonCloverAction{.mass = -0.4, .csw = 1.0}),
        d(setup, columns),
        s(d),
        space(d.layout(), s.subset(), columns),
        source(space.create()) {
    for (int c = 0; c < columns; ++c) from_canonical<T>(source, c, test::random_numbers(volume * 12, 5 + c));
  }

  /// Largest |source - S x| / |source|.
  double residual(const SpinorField<T>& x) {
    auto r = space.create();
    s.apply(r, x);
    const solve::Scalars minus_one(columns, -1.0);
    solve::update(space, {solve::scale_add(r, minus_one, {}, source)});
    const auto rest = norms(space, r), whole = norms(space, source);
    double worst = 0.0;
    for (int c = 0; c < columns; ++c) worst = std::max(worst, rest[c] / whole[c]);
    return worst;
  }
};

}  // namespace

TEST_CASE_TEMPLATE("block solvers: the Schur complement is solved in fewer iterations than by columns alone", T, float,
                   double) {
  Lattice<T> l;
  solve::SolveOptions options;
  options.tolerance = std::is_same_v<T, float> ? 2e-6 : 1e-10;
  auto x = l.space.create();
  const auto check = [&](const solve::SolveResult& block, const solve::SolveResult& single) {
    CAPTURE(block.describe());
    CAPTURE(single.describe());
    CHECK(block.converged());
    CHECK(single.converged());
    CHECK(block.iterations < single.iterations);
  };
  {
    const auto single = solve::cg_normal(l.space, l.s, x, l.source, options);
    const auto block = solve::block_cg_normal(l.space, l.s, x, l.source, options);
    check(block, single);
    CHECK(l.residual(x) == doctest::Approx(block.worst_residual()).epsilon(0.05));
  }
  {
    const auto single = solve::bicgstab(l.space, l.s, x, l.source, options);
    const auto block = solve::block_bicgstab(l.space, l.s, x, l.source, options);
    check(block, single);
    CHECK(l.residual(x) == doctest::Approx(block.worst_residual()).epsilon(0.05));
  }
  {
    solve::NormalOperator<SpinorSpace<T>, Schur<T>> normal(l.space, l.s);
    const auto single = solve::cg(l.space, normal, x, l.source, options);
    const auto block = solve::block_cg(l.space, normal, x, l.source, options);
    check(block, single);
  }
}

TEST_CASE("block solvers: equal and zero columns of a lattice field are solved alike") {
  Lattice<double> l;
  solve::Scalars m(columns * columns);
  for (int c = 0; c < columns - 1; ++c) m[(c % 2) * columns + c] = 1.0 + c;  // two directions, and a column of zeros
  auto b = l.space.create(), x = l.space.create();
  l.space.multiply(b, l.source, m);
  const auto result = solve::block_cg_normal(l.space, l.s, x, b);
  CHECK(result.converged());
  CHECK(result.column_iterations.back() == 0);
  CHECK(norms(l.space, x).back() == 0.0);
  // Solutions are multiples of each other like their sources: column c is that of c % 2, times its factor.
  for (int c = 2; c < columns - 1; ++c) {
    solve::Scalars difference(columns * columns);
    difference[c * columns] = 1.0;
    difference[(c % 2) * columns] = -(1.0 + c) / (1.0 + c % 2);
    auto rest = l.space.create();
    l.space.multiply(rest, x, difference);
    CHECK(norms(l.space, rest)[0] < 1e-8 * norms(l.space, x)[c]);
  }
}

}  // namespace halocline::qcd
