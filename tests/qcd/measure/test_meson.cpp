// SPDX-License-Identifier: Apache-2.0
//
// Meson correlators: other code's numbers, index-by-index evaluation, and the laws of the Dirac operator.

#include <doctest/doctest.h>

#include <numbers>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/measure/meson.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/measure/measure_test.hpp"
#include "qcd/shared_data.hpp"

namespace {

using namespace halocline;
using namespace halocline::test;
using qcd::SpinMatrix;
using qcd::measure::Correlator;
using qcd::measure::GammaPair;
using qcd::measure::MesonChannel;
using qcd::measure::Momentum;

Matrix4 dense(const SpinMatrix& m) {
  static constexpr std::array<Complex, 4> i_to{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  Matrix4 d{};
  for (std::size_t row = 0; row < 4; ++row)
    d[row][static_cast<std::size_t>(m.column[row])] = i_to[static_cast<std::size_t>(m.power[row])];
  return d;
}

// tr[gamma5 Gsnk S_q Gsrc gamma5 S_qbar^dagger] at one site, every index in a loop of its own.
Complex site_trace(const Propagator& q, const Propagator& qbar, std::int64_t site, const GammaPair& pair) {
  const Matrix4 left = times(reference_gamma5(), dense(pair.sink)),
                right = times(dense(pair.source), reference_gamma5());
  Complex sum = 0;
  for (int a = 0; a < 4; ++a)
    for (int a2 = 0; a2 < 4; ++a2)
      for (int b2 = 0; b2 < 4; ++b2)
        for (int b = 0; b < 4; ++b)
          for (int c = 0; c < 3; ++c)
            for (int c2 = 0; c2 < 3; ++c2)
              sum += left[static_cast<std::size_t>(a)][static_cast<std::size_t>(a2)] * q(site, a2, c, b2, c2) *
                     right[static_cast<std::size_t>(b2)][static_cast<std::size_t>(b)] *
                     std::conj(qbar(site, a, c, b, c2));
  return sum;
}

std::vector<Complex> plain_correlator(const Propagator& q, const Propagator& qbar, const MesonChannel& channel,
                                      const Momentum& n) {
  const auto& extents = q.geometry().global();
  std::vector<Complex> sum(static_cast<std::size_t>(extents[3]));
  for (std::int64_t site = 0; site < q.geometry().global_volume(); ++site) {
    const Site x = lattice::coordinates_of<4>(site, extents);
    double angle = 0;
    for (std::size_t i = 0; i < 3; ++i)
      angle -=
          2 * std::numbers::pi * n[i] * static_cast<double>(x[i] - q.source()[i]) / static_cast<double>(extents[i]);
    Complex value = 0;
    for (const GammaPair& pair : channel.pairs) value += site_trace(q, qbar, site, pair);
    const std::int64_t t = (x[3] - q.source()[3] + extents[3]) % extents[3];
    sum[static_cast<std::size_t>(t)] += std::polar(1.0, angle) * value / static_cast<double>(channel.pairs.size());
  }
  return sum;
}

std::vector<MesonChannel> all_channels() {
  auto channels = qcd::measure::named_channels();
  for (auto& channel : qcd::measure::sixteen_channels()) channels.push_back(std::move(channel));
  return channels;
}

const Site small{2, 4, 2, 6};

ReferenceOperator small_operator(const std::vector<Complex>& links) {
  return {small, links, {.mass = 0.4, .csw = 0.8, .boundary = {1, 1, 1, -1}}};
}

/// The point propagator from the origin by the library's own solver, in double.
Propagator solved_propagator(const GeometryPointer& geometry, std::span<const Complex> links,
                             const qcd::WilsonCloverAction& action) {
  qcd::QuarkSolver solver(qcd::GaugeField::from_canonical(geometry, links), action,
                          {.kind = "bicgstab", .tolerance = 1e-13, .precision = "double"});
  Propagator s(geometry, {0, 0, 0, 0});
  for (int k = 0; k < 12; ++k) {
    const Spinor source = qcd::measure::point_source(*geometry, {0, 0, 0, 0}, k / 3, k % 3);
    CHECK(solver.solve(s.column(k / 3, k % 3), source).converged);
  }
  return s;
}
}  // namespace

TEST_CASE("mesons: the six cases of the shared reference are reproduced") {
  HALOCLINE_NEEDS_SHARED("ref_4x4x4x4.json");
  HALOCLINE_NEEDS_SHARED("4x4x4x4b6.0000id3n1.nersc");
  const GeometryPointer geometry = alone({4, 4, 4, 4});
  const auto links = sample_links();
  std::ifstream file(shared_data_folder() / "ref_4x4x4x4.json");
  const auto reference = nlohmann::json::parse(file);
  REQUIRE(reference.at("cases").size() == 6);
  for (const auto& expected : reference.at("cases")) {
    const double sign = expected.at("bc_time") == "antiperiodic" ? -1 : 1;
    const double mass = expected.at("m0"), csw = expected.at("csw");
    // The reference operator takes ten times as long as the solver: it has the first case, the solver all others.
    const bool first = &expected == &reference.at("cases").front();
    const Propagator s =
        first ? point_propagator(
                    geometry,
                    ReferenceOperator({4, 4, 4, 4}, links, {.mass = mass, .csw = csw, .boundary = {1, 1, 1, sign}}),
                    {0, 0, 0, 0})
              : solved_propagator(geometry, links, {.mass = mass, .csw = csw, .boundary = {1, 1, 1, sign}});
    const auto correlators = qcd::measure::mesons(s, s, qcd::measure::named_channels());
    REQUIRE(correlators.size() == 7);
    for (const Correlator& c : correlators) {
      CAPTURE(c.name);
      const std::vector<double> values = expected.at("correlators").at(c.name);
      const double largest = std::abs(*std::max_element(values.begin(), values.end(),
                                                        [](double a, double b) { return std::abs(a) < std::abs(b); }));
      REQUIRE(c.values.size() == values.size());
      // solver tolerance 1e-12 times the condition of at most 20; relative to the value itself, not to the largest
      for (std::size_t t = 0; t < values.size(); ++t)
        CHECK(std::abs(c.values[t].real() - values[t]) <= 1e-9 * std::max(std::abs(values[t]), 1e-3 * largest));
    }
  }
}

TEST_CASE("mesons: every channel and momentum equals the trace written index by index") {
  // 2 x 6 x 4 sites a slice leave a partly filled last block for any register width
  const GeometryPointer geometry = alone({2, 6, 5, 4});
  const Propagator q = random_propagator(geometry, {1, 4, 3, 2}, 1),
                   qbar = random_propagator(geometry, {1, 4, 3, 2}, 2);
  const auto channels = all_channels();
  const std::vector<Momentum> momenta{{0, 0, 0}, {1, 0, 0}, {0, -2, 1}, {2, 6, -5}};
  for (const auto* second : {&qbar, &q}) {
    const auto correlators = qcd::measure::mesons(q, *second, channels, momenta);
    REQUIRE(correlators.size() == channels.size() * momenta.size());
    for (std::size_t c = 0; c < channels.size(); ++c)
      for (std::size_t p = 0; p < momenta.size(); ++p) {
        const Correlator& result = correlators[c * momenta.size() + p];
        CHECK(result.name == channels[c].name);
        CHECK(result.momentum == momenta[p]);
        // 60 sites x 144 products, each rounded at 1e-16 of order one
        CHECK(distance(result.values, plain_correlator(q, *second, channels[c], momenta[p])) < 1e-13);
      }
  }
}

TEST_CASE("mesons: pion at rest is the plain sum of |S|^2, and a whole turn of momentum is rest") {
  const GeometryPointer geometry = alone({4, 2, 2, 3});
  const Propagator s = random_propagator(geometry, {0, 0, 0, 0}, 3);
  const std::vector<MesonChannel> pion{qcd::measure::meson_channel("pion")};
  const std::vector<Momentum> momenta{{0, 0, 0}, {4, -2, 2}};
  const auto correlators = qcd::measure::mesons(s, s, pion, momenta);
  for (std::size_t t = 0; t < 3; ++t) {
    double sum = 0;
    for (int k = 0; k < 12; ++k)
      for (const Complex& z : s.column(k / 3, k % 3).subspan(t * 16 * 12, 16 * 12)) sum += std::norm(z);
    CHECK(correlators[0].values[t].real() == doctest::Approx(sum).epsilon(1e-14));
    CHECK(std::abs(correlators[0].values[t].imag()) < 1e-12);
    CHECK(correlators[1].values[t] == correlators[0].values[t]);
  }
}

TEST_CASE("mesons: the propagator is gamma5-hermitian") {
  const GeometryPointer geometry = alone(small);
  const ReferenceOperator d = small_operator(random_links(*geometry, 5));
  const Site x{1, 2, 0, 4}, y{0, 3, 1, 1};
  const Propagator from_x = point_propagator(geometry, d, x), from_y = point_propagator(geometry, d, y);
  const std::int64_t at_x = lattice::linear_index<4>(x, small), at_y = lattice::linear_index<4>(y, small);
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) {
      const double sign = (i < 6) == (j < 6) ? 1 : -1;
      const Complex forth = from_x(at_y, i / 3, i % 3, j / 3, j % 3), back = from_y(at_x, j / 3, j % 3, i / 3, i % 3);
      CHECK(std::abs(forth - sign * std::conj(back)) < 1e-11);
    }
}

TEST_CASE("mesons: correlators are gauge invariant") {
  const GeometryPointer geometry = alone(small);
  const auto links = random_links(*geometry, 6);
  const Site source{0, 1, 1, 3};
  const auto before = point_propagator(geometry, small_operator(links), source);
  const auto after = point_propagator(geometry, small_operator(transformed_links(small, links, 7)), source);
  CHECK(distance(after.column(0, 0), before.column(0, 0)) > 0.1);  // the propagator itself is not
  const std::vector<Momentum> momenta{{0, 0, 0}, {1, 1, 0}};
  const auto a = qcd::measure::mesons(before, before, all_channels(), momenta);
  const auto b = qcd::measure::mesons(after, after, all_channels(), momenta);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(distance(b[i].values, a[i].values) < 1e-10);
}

TEST_CASE("mesons: moving source and gauge field together changes nothing") {
  const GeometryPointer geometry = alone(small);
  const auto links = random_links(*geometry, 8);
  const Site shift{1, 3, 1, 4};
  std::vector<Complex> moved(links.size());
  for (std::int64_t i = 0; i < geometry->local_volume(); ++i) {
    Site x = lattice::coordinates_of<4>(i, small);
    for (std::size_t axis = 0; axis < 4; ++axis) x[axis] = (x[axis] + shift[axis]) % small[axis];
    for (int mu = 0; mu < 4; ++mu) set_link(moved, lattice::linear_index<4>(x, small), mu, link_of(links, i, mu));
  }
  const auto here = point_propagator(geometry, small_operator(links), {0, 0, 0, 0});
  const auto there = point_propagator(geometry, small_operator(moved), shift);
  const std::vector<Momentum> momenta{{0, 0, 0}, {1, -1, 0}};
  const auto a = qcd::measure::mesons(here, here, all_channels(), momenta);
  const auto b = qcd::measure::mesons(there, there, all_channels(), momenta);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(distance(b[i].values, a[i].values) < 1e-10);
}

TEST_CASE("mesons: on unit links the correlators are those of the momentum-space propagator") {
  const Site extents{4, 2, 4, 8};
  const GeometryPointer geometry = alone(extents);
  std::vector<Complex> unit(static_cast<std::size_t>(36 * geometry->local_volume()));
  for (std::size_t i = 0; i < unit.size(); ++i) unit[i] = i % 9 % 4 == 0 ? 1 : 0;
  const double mass = 0.3;
  const ReferenceOperator d(extents, unit, {.mass = mass, .csw = 1, .boundary = {1, 1, 1, -1}});
  const Propagator s = point_propagator(geometry, d, {0, 0, 0, 0});

  // S(x) = 1/V sum_p exp(i p x) [M - i sum gamma_mu sin p_mu] / [M^2 + sum sin^2 p_mu], M = m0 + sum (1 - cos p_mu)
  Propagator free(geometry, {0, 0, 0, 0});
  const std::int64_t volume = geometry->global_volume();
  for (std::int64_t k = 0; k < volume; ++k) {
    const Site n = lattice::coordinates_of<4>(k, extents);
    std::array<double, 4> p{};
    double m = mass, norm = 0;
    for (std::size_t mu = 0; mu < 4; ++mu) {
      const double turns = static_cast<double>(n[mu]) + (mu == 3 ? 0.5 : 0.0);
      p[mu] = 2 * std::numbers::pi * turns / static_cast<double>(extents[mu]);
      m += 1 - std::cos(p[mu]);
      norm += std::sin(p[mu]) * std::sin(p[mu]);
    }
    norm += m * m;
    for (std::int64_t i = 0; i < volume; ++i) {
      const Site x = lattice::coordinates_of<4>(i, extents);
      double angle = 0;
      for (std::size_t mu = 0; mu < 4; ++mu) angle += p[mu] * static_cast<double>(x[mu]);
      const Complex wave = std::polar(1.0 / (static_cast<double>(volume) * norm), angle);
      for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t column = 0; column < 4; ++column) {
          Complex element = row == column ? m : 0;
          for (std::size_t mu = 0; mu < 4; ++mu)
            element -= Complex(0, std::sin(p[mu])) * reference_gamma()[mu][row][column];
          for (std::size_t c = 0; c < 3; ++c)
            free.column(static_cast<int>(column),
                        static_cast<int>(c))[static_cast<std::size_t>(12 * i) + 3 * row + c] += wave * element;
        }
    }
  }
  for (int k = 0; k < 12; ++k) CHECK(distance(s.column(k / 3, k % 3), free.column(k / 3, k % 3)) < 1e-11);
  const std::vector<Momentum> momenta{{0, 0, 0}, {1, 0, 1}};
  const auto solved = qcd::measure::mesons(s, s, all_channels(), momenta);
  const auto analytic = qcd::measure::mesons(free, free, all_channels(), momenta);
  for (std::size_t i = 0; i < solved.size(); ++i) {
    CHECK(distance(solved[i].values, analytic[i].values) < 1e-10);
    // time reflection of the free field: C(T - t) = C(t), as every operator here appears twice
    for (std::size_t t = 1; t < 8 && solved[i].name != "pionA4_sinkA4_srcP"; ++t)
      CHECK(std::abs(analytic[i].values[t] - analytic[i].values[8 - t]) < 1e-14);
  }
  // the axial current at the sink is odd in time
  const auto& a4 = analytic[2 * 6].values;
  CHECK(qcd::measure::meson_channel("pionA4").name == analytic[2 * 6].name);
  for (std::size_t t = 1; t < 8; ++t) CHECK(std::abs(a4[t] + a4[8 - t]) < 1e-14);
  CHECK(std::abs(a4[1]) > 1e-3);
}

TEST_CASE("mesons: a source through the sink closes to the correlator") {
  const GeometryPointer geometry = alone(small);
  const ReferenceOperator d = small_operator(random_links(*geometry, 9));
  const Site x0{1, 0, 1, 4};
  const Propagator s = point_propagator(geometry, d, x0);
  const std::int64_t at = lattice::linear_index<4>(x0, small);
  const Momentum momentum{0, 1, 1};
  for (const char* name : {"pion", "gxgt"}) {
    const MesonChannel channel = qcd::measure::meson_channel(name);
    const std::vector<MesonChannel> channels{channel};
    const std::vector<Momentum> momenta{momentum};
    const auto expected = qcd::measure::mesons(s, s, channels, momenta).front().values;
    for (const std::int64_t sink_time : {5, 1}) {
      const auto sources = qcd::measure::sequential_source(s, sink_time, channel.pairs[0].sink, momentum);
      const Propagator sigma = solve_columns(geometry, d, x0, sources);
      const Matrix4 source = dense(channel.pairs[0].source);
      Complex trace = 0;
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          for (int c = 0; c < 3; ++c)
            trace += source[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] * sigma(at, j, c, i, c);
      const Complex value = expected[static_cast<std::size_t>((sink_time - x0[3] + small[3]) % small[3])];
      CHECK(std::abs(trace - value) < 1e-10 * std::abs(expected[0]));
    }
  }
}

TEST_CASE("mesons: the caller's mistakes are named") {
  const GeometryPointer geometry = alone({2, 2, 2, 2});
  const Propagator s(geometry, {0, 0, 0, 0}), elsewhere(geometry, {1, 0, 0, 0}), other(alone({2, 2, 2, 4}));
  const auto channels = qcd::measure::named_channels();
  CHECK_THROWS_WITH_AS(qcd::measure::mesons(s, elsewhere, channels), doctest::Contains("(1, 0, 0, 0)"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(qcd::measure::mesons(s, other, channels), doctest::Contains("different lattices"),
                       core::InvalidArgument);
  CHECK_THROWS_AS(qcd::measure::mesons(s, s, channels, {}), core::InvalidArgument);
  CHECK_THROWS_AS(qcd::measure::mesons(s, s, std::vector<MesonChannel>{{"empty", {}}}), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(qcd::measure::meson_channel("poin"), doctest::Contains("pion"), core::InvalidArgument);
  CHECK_THROWS_AS(Propagator(geometry, {0, 0, 0, 2}), core::InvalidArgument);
}
