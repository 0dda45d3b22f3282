// SPDX-License-Identifier: Apache-2.0
//
// Measurements on 1, 2, 3 and 8 ranks equal those of one process. Each rank also holds the whole lattice by itself, and
// compares its part with the whole.

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/measure/meson.hpp"
#include "halocline/qcd/measure/noise.hpp"
#include "halocline/qcd/measure/nucleon.hpp"
#include "halocline/qcd/measure/smear.hpp"
#include "halocline/qcd/measure/staggered.hpp"
#include "qcd/measure/measure_test.hpp"
#include "qcd/random_fields.hpp"

namespace {

using namespace halocline;
using namespace halocline::test;
using qcd::GaugeField;
using qcd::measure::Momentum;

const Site extents{2, 6, 4, 12};

GeometryPointer distributed() {
  const comm::Communicator world = comm::world();
  return std::make_shared<lattice::Geometry4>(
      extents, comm::ProcessGrid(world, comm::least_surface_grid(extents, world.size())));
}

// The part of a whole-lattice spinor that this process holds.
Spinor part_of(const lattice::Geometry4& geometry, std::span<const Complex> whole) {
  Spinor part;
  for (std::int64_t i = 0; i < geometry.local_volume(); ++i) {
    const std::int64_t site = geometry.global_index(lattice::coordinates_of<4>(i, geometry.local()));
    const auto first = whole.begin() + 12 * site;
    part.insert(part.end(), first, first + 12);
  }
  return part;
}

}  // namespace

TEST_CASE("measure: correlators are the same for any number of ranks") {
  const GeometryPointer ours = distributed(), whole = alone(extents);
  const Site source{1, 2, 3, 7};
  const Propagator u = random_propagator(ours, source, 71), d = random_propagator(ours, source, 72);
  const Propagator u1 = random_propagator(whole, source, 71), d1 = random_propagator(whole, source, 72);
  const std::vector<Momentum> momenta{{0, 0, 0}, {1, -2, 3}};
  auto channels = qcd::measure::named_channels();
  for (auto& channel : qcd::measure::sixteen_channels()) channels.push_back(std::move(channel));
  const auto many = qcd::measure::mesons(u, d, channels, momenta),
             one = qcd::measure::mesons(u1, d1, channels, momenta);
  REQUIRE(many.size() == one.size());
  for (std::size_t i = 0; i < many.size(); ++i) CHECK(distance(many[i].values, one[i].values) < 1e-12);

  const auto nucleons = qcd::measure::nucleon(u, d, -1, momenta),
             alone_nucleons = qcd::measure::nucleon(u1, d1, -1, momenta);
  for (std::size_t p = 0; p < momenta.size(); ++p)
    for (const int parity : {1, -1})
      CHECK(distance(nucleons[p].project(parity), alone_nucleons[p].project(parity)) < 1e-12);

  // every rank has the same bits
  std::vector<double> first = many[0].real(), largest = first;
  ours->communicator().max(largest);
  CHECK(first == largest);
}

TEST_CASE("measure: staggered correlators are the same for any number of ranks") {
  const GeometryPointer ours = distributed(), whole = alone(extents);
  const Site source{1, 2, 3, 7};
  std::vector<qcd::measure::StaggeredPropagator> some, all;
  for (const unsigned seed : {81u, 82u}) {
    qcd::measure::StaggeredPropagator one(whole, source), mine(ours, source);
    for (int colour = 0; colour < 3; ++colour) {
      const auto numbers = random_numbers(3 * whole->local_volume(), seed + 10 * static_cast<unsigned>(colour));
      const auto part = local_part(*ours, numbers, 3);
      std::ranges::copy(numbers, one.column(colour).begin());
      std::ranges::copy(part, mine.column(colour).begin());
    }
    all.push_back(std::move(one));
    some.push_back(std::move(mine));
  }
  const std::vector<Momentum> momenta{{0, 0, 0}, {1, -2, 3}};
  const auto names = qcd::measure::staggered_channels();
  const std::vector<std::string> channels(names.begin(), names.end());
  const auto many = qcd::measure::staggered_mesons(some[0], some[1], channels, momenta),
             one = qcd::measure::staggered_mesons(all[0], all[1], channels, momenta);
  REQUIRE(many.size() == one.size());
  for (std::size_t i = 0; i < many.size(); ++i) CHECK(distance(many[i].values, one[i].values) < 1e-12);
  CHECK(distance(one[0].values, one[2].values) > 0.1);  // the channels differ
  CHECK_THROWS_WITH_AS(qcd::measure::staggered_mesons(some[0], some[1], std::vector<std::string>{"a0"}, momenta),
                       doctest::Contains("no meson channel \"a0\""), core::InvalidArgument);

  // The source is at one site of one process.
  const auto point = qcd::measure::staggered_point_source(*ours, source, 2);
  Spinor expected(static_cast<std::size_t>(3 * whole->local_volume()));
  expected[static_cast<std::size_t>(3 * lattice::linear_index<4>(source, extents) + 2)] = 1;
  CHECK(point == local_part(*ours, expected, 3));
}

TEST_CASE("measure: smearing is the same for any number of ranks") {
  const GeometryPointer ours = distributed(), whole = alone(extents);
  const GaugeField links = GaugeField::from_canonical(ours, random_links(*ours, 73));
  const GaugeField links1 = GaugeField::from_canonical(whole, random_links(*whole, 73));
  for (const Complex& boundary : {Complex(1), Complex(-1)}) {
    auto parameters = qcd::measure::GaussianSmearing::of_weight(0.6, 4);
    parameters.boundary = {boundary, boundary, boundary};
    for (const bool everywhere : {false, true}) {  // a point leaves most time slices empty, on most ranks all
      const Site at{1, 0, 2, 11};
      Spinor psi = qcd::measure::point_source(*ours, at, 1, 2), expected = qcd::measure::point_source(*whole, at, 1, 2);
      if (everywhere) {
        fill_random(*ours, psi, 74);
        fill_random(*whole, expected, 74);
      }
      qcd::measure::GaussianSmearer(links, parameters).apply(psi);
      qcd::measure::GaussianSmearer(links1, parameters).apply(expected);
      const Spinor mine = part_of(*ours, expected);
      double largest = 0;
      for (std::size_t i = 0; i < mine.size(); ++i) largest = std::max(largest, std::abs(psi[i] - mine[i]));
      CHECK(largest < 1e-12);
    }
  }
}

TEST_CASE("measure: sources are the same for any number of ranks") {
  using namespace qcd::measure;
  const GeometryPointer ours = distributed(), whole = alone(extents);
  const auto same = [&](const std::vector<Spinor>& mine, const std::vector<Spinor>& all) {
    REQUIRE(mine.size() == all.size());
    for (std::size_t k = 0; k < mine.size(); ++k) CHECK(mine[k] == part_of(*ours, all[k]));
  };
  same({point_source(*ours, {1, 5, 2, 3}, 3, 1)}, {point_source(*whole, {1, 5, 2, 3}, 3, 1)});
  same({wall_source(*ours, 8, 0, 2, {1, 2, -1})}, {wall_source(*whole, 8, 0, 2, {1, 2, -1})});
  for (const Dilution dilution : {Dilution::none, Dilution::spin, Dilution::spin_colour})
    for (const std::optional<std::int64_t> time : {std::optional<std::int64_t>{}, std::optional<std::int64_t>{9}}) {
      const NoiseOptions options{.noise = Noise::z4, .dilution = dilution, .time = time, .seed = 5, .sample = 2};
      same(noise_source(*ours, options), noise_source(*whole, options));
    }
  const Site x0{0, 1, 2, 10};
  same(sequential_source(random_propagator(ours, x0, 75), 1, qcd::gamma5, {0, 1, 1}),
       sequential_source(random_propagator(whole, x0, 75), 1, qcd::gamma5, {0, 1, 1}));
}
