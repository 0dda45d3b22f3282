// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/twisted/twisted_doublet.hpp"

#include <doctest/doctest.h>

#include <numbers>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/qcd/twisted/twisted_clover.hpp"
#include "halocline/qcd/wilson/wilson_clover.hpp"
#include "qcd/apply_operator.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

using Complexes = std::vector<std::complex<double>>;
using test::random_numbers;
using test::relative_distance;
using Flavours = std::array<Complexes, 2>;

constexpr lattice::Coordinates<4> extents{4, 6, 8, 4};
constexpr std::int64_t volume = 4 * 6 * 8 * 4;

GaugeField random_gauge(int seed) {
  return GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, seed));
}

Flavours split(const Complexes& both) {
  Flavours out;
  for (std::size_t i = 0; i < both.size(); ++i) out[i / 12 % 2].push_back(both[i]);
  return out;
}
Complexes join(const Flavours& flavours) {
  Complexes out;
  for (std::size_t site = 0; site < flavours[0].size() / 12; ++site)
    for (const auto& flavour : flavours)
      out.insert(out.end(), flavour.begin() + static_cast<std::ptrdiff_t>(12 * site),
                 flavour.begin() + static_cast<std::ptrdiff_t>(12 * site + 12));
  return out;
}

/// Adds factor gamma5 b, or with `one` factor b.
void add(Complexes& a, const Complexes& b, std::complex<double> factor, bool one) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += (one || (i / 3) % 4 < 2 ? factor : -factor) * b[i];
}

/// D psi, or D^dagger psi, by the definition, flavour by flavour.
Complexes definition(const GaugeField& gauge, const TwistedDoubletAction& action, const Complexes& psi, bool dagger) {
  const WilsonClover<double> wilson(WilsonSetup(gauge, action.wilson));
  const Flavours in = split(psi);
  Flavours out{test::apply<double>(wilson, in[0], dagger), test::apply<double>(wilson, in[1], dagger)};
  const std::complex<double> twist(0, dagger ? -action.mu : action.mu);
  for (int flavour = 0; flavour < 2; ++flavour) {
    add(out[flavour], in[1 - flavour], twist, false);
    add(out[flavour], in[flavour], flavour == 0 ? action.epsilon : -action.epsilon, true);
  }
  return join(out);
}

template <class T>
Complexes applied(const DiracOperator<T>& d, const Complexes& psi, bool dagger = false) {
  auto in = d.field(lattice::Subset::full), out = in;
  d.load_sources(in, std::array{std::span<const std::complex<double>>(psi)});
  if (dagger)
    d.apply_dagger(out, in);
  else
    d.apply(out, in);
  Complexes result(psi.size());
  d.unload_quark(result, out, 0);
  return result;
}

std::vector<TwistedDoubletAction> actions() {
  WilsonCloverAction phases{.mass = -0.1, .csw = 1.3};
  phases.boundary = {std::polar(1.0, 0.3), std::polar(1.0, -0.7), -1.0, std::polar(1.0, 2.0)};
  return {{{.mass = -0.3}, 0.4, 0.3}, {{.mass = 0.1, .csw = 1.2}, 0.15, -0.19}, {phases, 0.2, 0.2}, {phases, 0.5, 0.0}};
}

}  // namespace

TEST_CASE_TEMPLATE("doublet: D and D^dagger are those of the definition, on any number of lanes", T, float, double) {
  const GaugeField gauge = random_gauge(1);
  const Complexes psi = random_numbers(volume * 24, 2);
  const double tolerance = 20 * std::numeric_limits<T>::epsilon();
  for (const auto& action : actions())
    for (int lanes : {1, 4, 16})
      for (int reals : {18, 12})
        for (const bool dagger : {false, true}) {
          const TwistedDoublet<T> d(TwistedDoubletSetup(gauge, action, lanes), 2, reals);
          CHECK(relative_distance(applied<T>(d, psi, dagger), definition(gauge, action, psi, dagger)) < tolerance);
        }
}

TEST_CASE("doublet: without a splitting its symmetric and antisymmetric fields are flavours of masses mu and -mu") {
  const GaugeField gauge = random_gauge(3);
  const WilsonCloverAction wilson{.mass = 0.2, .csw = 1.1};
  const TwistedDoublet<double> d(TwistedDoubletSetup(gauge, {wilson, 0.4, 0.0}));
  const Complexes psi = random_numbers(volume * 12, 4);
  for (const double sign : {1.0, -1.0}) {
    Flavours in{psi, psi};
    for (auto& z : in[1]) z *= sign;
    const TwistedClover<double> one(TwistedSetup(gauge, {wilson, sign * 0.4}));
    Flavours expected{test::apply<double>(one, psi), {}};
    expected[1] = expected[0];
    for (auto& z : expected[1]) z *= sign;
    CHECK(relative_distance(applied<double>(d, join(in)), join(expected)) < 1e-14);
  }
}

TEST_CASE("doublet: an exchange of the flavours changes the sign of the splitting") {
  const GaugeField gauge = random_gauge(5);
  const WilsonCloverAction wilson{.mass = 0.2, .csw = 1.1};
  const TwistedDoublet<double> d(TwistedDoubletSetup(gauge, {wilson, 0.4, 0.25}));
  const TwistedDoublet<double> other(TwistedDoubletSetup(gauge, {wilson, 0.4, -0.25}));
  const Complexes psi = random_numbers(volume * 24, 6);
  const auto exchanged = [](const Complexes& both) {
    Flavours flavours = split(both);
    std::swap(flavours[0], flavours[1]);
    return join(flavours);
  };
  CHECK(relative_distance(exchanged(applied<double>(d, exchanged(psi))), applied<double>(other, psi)) < 1e-15);
}

TEST_CASE("doublet: on free links D^dagger D is diagonal in the basis of flavours that the masses select") {
  // With W = m + 4 - sum cos p and s = sin p, D = W + i gamma s + i mu gamma5 tau_1 + epsilon tau_3, so that
  // D^dagger D = W^2 + s^2 + mu^2 + epsilon^2 + 2 epsilon (W tau_3 + i mu gamma5 tau_3 tau_1).
  // Its square after the first three terms are removed is 4 epsilon^2 (W^2 + mu^2).
  const GaugeField gauge(test::one_process(extents));
  const double mass = 0.3, mu = 0.4, epsilon = 0.35;
  const TwistedDoublet<double> d(TwistedDoubletSetup(gauge, {{.mass = mass, .csw = 1.0}, mu, epsilon}));
  const std::array<double, 4> n{1, 2, 3, 0.5};
  double w = mass + 4, square = mu * mu + epsilon * epsilon;
  std::array<double, 4> p{};
  for (int axis = 0; axis < 4; ++axis) {
    p[axis] = 2 * std::numbers::pi * n[axis] / static_cast<double>(extents[axis]);
    w -= std::cos(p[axis]);
    square += std::sin(p[axis]) * std::sin(p[axis]);
  }
  square += w * w;
  Complexes wave(volume * 24);
  for (std::int64_t site = 0; site < volume; ++site) {
    const auto x = lattice::coordinates_of<4>(site, extents);
    double phase = 0;
    for (int axis = 0; axis < 4; ++axis) phase += p[axis] * static_cast<double>(x[axis]);
    for (int i = 0; i < 24; ++i) wave[24 * site + i] = std::polar(1.0 + 0.1 * i, phase + 0.3 * i);
  }
  const auto rest = [&](const Complexes& psi) {
    Complexes out = applied<double>(d, applied<double>(d, psi), true);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] -= square * psi[i];
    return out;
  };
  const Complexes found = rest(rest(wave));
  for (auto& z : wave) z *= 4 * epsilon * epsilon * (w * w + mu * mu);
  CHECK(relative_distance(found, wave) < 1e-13);
}

TEST_CASE_TEMPLATE("doublet: the Schur complement gives the half of x back, and its adjoint is its apply_dagger", T,
                   float, double) {
  const GaugeField gauge = random_gauge(7);
  const double tolerance = 50 * std::numeric_limits<T>::epsilon();
  const auto psi = random_numbers(volume * 24, 8), phi = random_numbers(volume * 24, 9);
  for (const auto& action : actions())
    for (const auto form : {SchurForm::symmetric, SchurForm::asymmetric})
      for (const int parity : {0, 1}) {
        const TwistedDoublet<T> d(TwistedDoubletSetup(gauge, action));
        Schur<T> s(d, form, parity);
        const SpinorSpace<T> space(d.layout(), s.subset(), 2, 2);
        auto x = d.field(lattice::Subset::full), b = x, whole = x, other = x;
        d.load_sources(x, std::array{std::span<const std::complex<double>>(psi)});
        d.load_sources(other, std::array{std::span<const std::complex<double>>(phi)});
        d.apply(b, x);
        auto half = space.create(), rhs = half, product = half, y = half, sy = half;
        std::copy_n(x.parity(parity), half.size(), half.data());
        std::copy_n(other.parity(parity), y.size(), y.data());
        s.prepare(rhs, b);
        s.apply(product, half);
        s.apply_dagger(sy, y);
        solve::Scalar left, right, difference, size;
        space.dot({&left, 1}, y, product);
        space.dot({&right, 1}, sy, half);
        space.dot({&size, 1}, rhs, rhs);
        CHECK(std::abs(left - right) < tolerance * size.real());
        const solve::Scalar minus = -1.0;
        space.axpy({&minus, 1}, rhs, product);
        space.dot({&difference, 1}, product, product);
        CHECK(std::sqrt(difference.real() / size.real()) < tolerance);
        s.reconstruct(whole, half, b);
        Complexes result(psi.size());
        d.unload_quark(result, whole, 0);
        CHECK(relative_distance(result, psi) < tolerance);
      }
}

TEST_CASE("doublet: QuarkSolver solves it by conjugate gradients, mixed and in double, for several right-hand sides") {
  const GaugeField gauge = random_gauge(10);
  const TwistedDoubletAction action{{.mass = 0.3, .csw = 1.0}, 0.3, 0.2};
  const Complexes b = random_numbers(volume * 24, 11), c = random_numbers(volume * 24, 12);
  for (const char* precision : {"mixed", "double"})
    for (const char* kind : {"auto", "block-cg"}) {
      SolverParameters parameters;
      parameters.kind = kind;
      parameters.precision = precision;
      parameters.tolerance = 1e-10;
      QuarkSolver solver(gauge, action, parameters);
      Complexes x(b.size()), y(c.size());
      const std::array<std::span<std::complex<double>>, 2> solutions{x, y};
      const std::array<std::span<const std::complex<double>>, 2> sources{b, c};
      const auto reports = solver.solve(solutions, sources);
      for (const auto& report : reports) CHECK(report.converged);
      CHECK(relative_distance(definition(gauge, action, x, false), b) < 2e-10);
      CHECK(relative_distance(definition(gauge, action, y, false), c) < 2e-10);
      Complexes again(b.size());
      solver.apply(again, x);
      CHECK(relative_distance(again, b) < 2e-10);
    }
}

TEST_CASE("doublet: shifted systems") {
  const GaugeField gauge = random_gauge(14);
  const TwistedDoubletAction action{{.mass = 0.3, .csw = 1.0}, 0.3, 0.2};
  const Complexes b = random_numbers(volume * 24, 15);
  SolverParameters parameters;
  parameters.tolerance = 1e-11;
  QuarkSolver solver(gauge, action, parameters);
  Complexes near(b.size()), far(b.size());
  const std::array<std::span<std::complex<double>>, 2> solutions{near, far};
  const std::array shifts{0.1, 2.0};
  for (const auto& report : solver.solve_shifted(solutions, shifts, b)) CHECK(report.converged);
  for (const std::size_t i : {0, 1}) {
    const Complexes x(solutions[i].begin(), solutions[i].end());
    Complexes again = definition(gauge, action, definition(gauge, action, x, false), true);
    for (std::size_t k = 0; k < x.size(); ++k) again[k] += shifts[i] * x[k];
    CHECK(relative_distance(again, b) < 1e-10);
  }
}

TEST_CASE("doublet: refusals") {
  const GaugeField gauge = random_gauge(13);
  const TwistedDoubletAction action{{.mass = 0.3}, 0.3, 0.2};
  const TwistedDoubletSetup setup(gauge, action);
  CHECK_THROWS_WITH_AS(TwistedDoublet<double>(setup, 3), doctest::Contains("two for each"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(TwistedDoubletSetup(gauge, {{.mass = 0.3}, std::nan(""), 0.2}), doctest::Contains("finite"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(TwistedDoubletSetup(gauge, {{.mass = -1}, 4.0, 5.0}), doctest::Contains("singular"),
                       core::InvalidArgument);
  const TwistedDoublet<double> d(setup);
  auto b = d.field(lattice::Subset::full);
  const Complexes one(volume * 12);
  CHECK_THROWS_WITH_AS(d.load_sources(b, std::array{std::span<const std::complex<double>>(one)}),
                       doctest::Contains("[flavour][spin][colour]"), core::InvalidArgument);
  SolverParameters parameters;
  parameters.kind = "bicgstab";
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, action, parameters), doctest::Contains("doublets of twisted quarks"),
                       core::InvalidArgument);
  parameters.kind = "auto";
  QuarkSolver solver(gauge, action, parameters);
  Complexes x(volume * 24);
  const std::array<std::span<std::complex<double>>, 1> solutions{x};
  CHECK_THROWS_WITH_AS(solver.solve_shifted(solutions, std::array{0.1}, one), doctest::Contains("the local box"),
                       core::InvalidArgument);
  const std::array<std::span<const std::complex<double>>, 1> sources{x};
  CHECK_THROWS_WITH_AS(solver.solve(solutions, sources, {}, solutions), doctest::Contains("midpoints"),
                       core::InvalidArgument);
}

}  // namespace halocline::qcd
