// SPDX-License-Identifier: Apache-2.0
// Operators on fields of several columns, and with links of two rows.

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/detail/host_krylov.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/qcd/wilson/wilson_clover.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

using test::random_links;
using test::random_numbers;
using test::relative_distance;

constexpr lattice::Coordinates<4> extents{4, 6, 8, 4};
constexpr std::int64_t volume = 4 * 6 * 8 * 4;

WilsonCloverAction twisted() {
  WilsonCloverAction action{.mass = 0.1, .csw = 1.3};
  action.boundary = {std::polar(1.0, 0.3), std::polar(1.0, -0.7), -1.0, std::polar(1.0, 2.0)};
  return action;
}

WilsonCloverAction anisotropic() {
  WilsonCloverAction action = twisted();
  action.xi0 = 2.5;
  action.nu = 0.9;
  return action;
}

/// Columns filled from the seeds first, first + 1, ...
template <class T>
SpinorField<T> random_field(std::shared_ptr<const lattice::TileLayout> layout, lattice::Subset subset, int columns,
                            unsigned first) {
  auto field = spinor_field<T>(std::move(layout), subset, columns);
  for (int c = 0; c < columns; ++c) from_canonical<T>(field, c, random_numbers(volume * 12, first + c));
  return field;
}

/// Numbers of column c of `batch` that differ from the one column of `alone`.
template <class T>
std::int64_t different(const SpinorField<T>& batch, int c, const SpinorField<T>& alone) {
  std::int64_t count = 0;
  const std::int64_t length = alone.column_stride();
  for (std::int64_t i = 0; i < alone.size(); ++i)
    count += batch.data()[i / length * batch.tile_stride() + c * length + i % length] != alone.data()[i];
  return count;
}

}  // namespace

TEST_CASE_TEMPLATE("batch: a column of D and of S has the bits that it has alone", T, float, double) {
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), random_links(volume, 1));
  for (int reals : {18, 12})
    for (int lanes : {1, 4, 16}) {
      CAPTURE(reals);
      CAPTURE(lanes);
      const WilsonSetup setup(gauge, twisted(), lanes);
      const WilsonClover<T> one(setup, 1, reals);
      const WilsonClover<T> three(one, 3);
      REQUIRE(three.columns() == 3);
      const auto full = lattice::Subset::full;
      const auto in = random_field<T>(one.layout(), full, 3, 10);
      auto out = spinor_field<T>(one.layout(), full, 3), out_dagger = out;
      three.apply(out, in);
      three.apply_dagger(out_dagger, in);
      Schur<T> s_one(one), s_three(three);
      const auto half = random_field<T>(one.layout(), s_one.subset(), 3, 20);
      auto s_out = spinor_field<T>(one.layout(), s_one.subset(), 3), s_dagger = s_out, rhs = s_out;
      s_three.apply(s_out, half);
      s_three.apply_dagger(s_dagger, half);
      s_three.prepare(rhs, in);
      auto whole = spinor_field<T>(one.layout(), full, 3);
      s_three.reconstruct(whole, half, in);
      for (int c = 0; c < 3; ++c) {
        const auto in_alone = random_field<T>(one.layout(), full, 1, 10 + c);
        auto alone = spinor_field<T>(one.layout(), full);
        REQUIRE(different(in, c, in_alone) == 0);
        one.apply(alone, in_alone);
        CHECK(different(out, c, alone) == 0);
        one.apply_dagger(alone, in_alone);
        CHECK(different(out_dagger, c, alone) == 0);
        const auto half_alone = random_field<T>(one.layout(), s_one.subset(), 1, 20 + c);
        auto s_alone = spinor_field<T>(one.layout(), s_one.subset());
        s_one.apply(s_alone, half_alone);
        CHECK(different(s_out, c, s_alone) == 0);
        s_one.apply_dagger(s_alone, half_alone);
        CHECK(different(s_dagger, c, s_alone) == 0);
        s_one.prepare(s_alone, in_alone);
        CHECK(different(rhs, c, s_alone) == 0);
        s_one.reconstruct(alone, half_alone, in_alone);
        CHECK(different(whole, c, alone) == 0);
      }
    }
}

TEST_CASE_TEMPLATE("links of 12 reals: D is that of 18, for every phase, anisotropy and lane count", T, float, double) {
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), random_links(volume, 2));
  const auto psi = random_numbers(volume * 12, 3);
  // The third row has the roundings of four products, and a site sums about 200 of them.
  const double tolerance = 20 * std::numeric_limits<T>::epsilon();
  for (const auto& action : {WilsonCloverAction{.mass = 0.1}, twisted(), anisotropic()})
    for (int lanes : {1, 2, 4, 8, 16}) {
      CAPTURE(lanes);
      const WilsonSetup setup(gauge, action, lanes);
      const WilsonClover<T> whole(setup), rows(setup, 1, 12);
      CHECK(rows.hopping().link_reals() == 12);
      auto in = spinor_field<T>(whole.layout(), lattice::Subset::full);
      from_canonical<T>(in, psi);
      auto out = in;
      std::vector<std::complex<double>> expected(psi.size()), result(psi.size());
      for (bool dagger : {false, true}) {
        const auto apply = [&](const WilsonClover<T>& d, std::vector<std::complex<double>>& canonical) {
          if (dagger)
            d.apply_dagger(out, in);
          else
            d.apply(out, in);
          to_canonical<T>(canonical, out);
        };
        apply(whole, expected);
        apply(rows, result);
        CHECK(relative_distance(result, expected) < tolerance);
      }
    }
}

TEST_CASE("links of 12 reals: links outside SU(3) are refused") {
  auto links = random_links(volume, 4);
  for (auto& z : links) z *= 1.001;
  const auto geometry = test::one_process(extents);
  const GaugeField longer = GaugeField::from_canonical(geometry, links);
  const WilsonSetup setup(longer, {});
  CHECK_NOTHROW(WilsonClover<float>(setup, 1, 18));
  CHECK_THROWS_WITH_AS(WilsonClover<float>(setup, 1, 12), doctest::Contains("store 18 reals"), core::InvalidArgument);
  // Links of single precision are good enough in float and not in double.
  links = random_links(volume, 5);
  for (auto& z : links) z = {static_cast<float>(z.real()), static_cast<float>(z.imag())};
  const GaugeField rounded = GaugeField::from_canonical(geometry, links);
  const WilsonSetup of_rounded(rounded, {});
  CHECK_NOTHROW(WilsonClover<float>(of_rounded, 1, 12));
  CHECK_THROWS_WITH_AS(WilsonClover<double>(of_rounded, 1, 12), doctest::Contains("project the links"),
                       core::InvalidArgument);
}

TEST_CASE("batch: impossible options and fields of other columns are refused") {
  const GaugeField gauge(test::one_process(extents));
  const WilsonSetup setup(gauge, {});
  CHECK_THROWS_WITH_AS(WilsonClover<float>(setup, 1, 8), doctest::Contains("links of 8 reals"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(WilsonClover<float>(setup, 0), doctest::Contains("0 columns"), core::InvalidArgument);
  const WilsonClover<float> d(setup, 2);
  auto two = spinor_field<float>(d.layout(), lattice::Subset::full, 2);
  auto one = spinor_field<float>(d.layout(), lattice::Subset::full);
  CHECK_THROWS_WITH_AS(d.apply(two, one), doctest::Contains("made for 2 columns was given fields of 1 and 2"),
                       core::InvalidArgument);
  Schur<float> s(d);
  auto half = spinor_field<float>(d.layout(), s.subset(), 2);
  auto narrow = spinor_field<float>(d.layout(), s.subset());
  CHECK_THROWS_WITH_AS(s.apply(half, narrow), doctest::Contains("for 2 columns has 1"), core::InvalidArgument);
}

TEST_CASE("batch: every column of a solve has the solution, the iterations and the bits that it has alone") {
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), random_links(volume, 6));
  const WilsonSetup setup(gauge, {.mass = 0.3, .csw = 1.0});
  const WilsonClover<double> one(setup), three(one, 3);
  const WilsonClover<float> one_inner(setup), three_inner(one_inner, 3);
  Schur<double> s_one(one), s_three(three);
  Schur<float> inner_one(one_inner), inner_three(three_inner);
  solve::SolveOptions options;
  options.tolerance = 1e-10;
  // Columns of different difficulty: one is zero, and one is what S makes of a constant on one tile.
  const auto fill = [&](SpinorField<double>& b, int at, int which) {
    auto numbers = random_numbers(volume * 12, 30 + which);
    if (which == 1) std::ranges::fill(numbers, 0.0);
    if (which == 2) std::fill(numbers.begin() + 12, numbers.end(), 0.0);
    from_canonical<double>(b, at, numbers);
  };
  {
    SpinorSpace<double> space(s_one.layout(), s_one.subset(), 1);
    const SpinorOperator<double>& a = s_one;
    auto b = spinor_field<double>(one.layout(), s_one.subset()), x = b;
    CHECK_THROWS_AS(solve_by("minres", space, a, x, b, options), core::InvalidArgument);
  }
  const std::vector<std::string> kinds{"bicgstab", "cg", "gcr", "fgmres"};
  for (const std::string& kind : test::sampled(kinds, {"bicgstab"}))
    for (bool mixed : {false, true}) {
      CAPTURE(kind);
      CAPTURE(mixed);
      const auto solve = [&](Schur<double>& s, Schur<float>& inner, SpinorField<double>& x,
                             const SpinorField<double>& b) {
        SpinorSpace<double> space(s.layout(), s.subset(), s.columns());
        SpinorSpace<float> inner_space(inner.layout(), inner.subset(), s.columns());
        const SpinorOperator<double>& a = s;
        const SpinorOperator<float>& inner_a = inner;
        return mixed ? solve_mixed(kind, space, a, x, b, inner_space, inner_a, options)
                     : solve_by(kind, space, a, x, b, options);
      };
      auto b = spinor_field<double>(one.layout(), s_one.subset(), 3), x = b;
      for (int c = 0; c < 3; ++c) fill(b, c, c);
      const auto report = solve(s_three, inner_three, x, b);
      CHECK(report.converged());
      REQUIRE(report.residual.size() == 3);
      for (int c = 0; c < 3; ++c) {
        CAPTURE(c);
        auto b_alone = spinor_field<double>(one.layout(), s_one.subset()), x_alone = b_alone;
        fill(b_alone, 0, c);
        const auto alone = solve(s_one, inner_one, x_alone, b_alone);
        CHECK(report.residual[c] <= options.tolerance);
        CHECK(alone.residual[0] <= options.tolerance);
        CHECK(report.residual[c] == alone.residual[0]);
        CHECK(report.column_iterations[c] == alone.column_iterations[0]);
        CHECK(different(x, c, x_alone) == 0);
      }
      CHECK(report.column_iterations[1] == 0);
    }
}

}  // namespace halocline::qcd
