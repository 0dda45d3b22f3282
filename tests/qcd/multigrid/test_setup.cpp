// SPDX-License-Identifier: Apache-2.0
//
// The set-up of multigrid: its rounds follow the number of right-hand sides, its vectors make it again, and it follows
// links that move.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/multigrid/multigrid.hpp"
#include "qcd/multigrid/thermal_links.hpp"

namespace halocline::qcd::multigrid {
namespace {

constexpr WilsonCloverAction action{.mass = -0.05, .csw = 1.0};

Parameters small() {
  Parameters p;
  p.vectors = 8;
  return p;
}

/// The cycle on a fixed field of one column.
std::vector<float> image(const Setup& setup) {
  Multigrid cycle(setup, 1);
  auto in = cycle.smoother().create(), out = cycle.smoother().create();
  for (std::int64_t i = 0; i < in.size(); ++i) in.data()[i] = static_cast<float>((i * 7919) % 1009) / 1009.f - 0.5f;
  cycle.precondition(out, in);
  return {out.span().begin(), out.span().end()};
}

}  // namespace

TEST_CASE("multigrid set-up: more rounds for more right-hand sides") {
  const GaugeField u = test::thermal_links();
  Parameters p = small();
  p.right_hand_sides = 1;
  const Setup few(u, action, p);
  CHECK(few.rounds() == 2);
  p.right_hand_sides = 1000000;
  const Setup many(u, action, p);
  CHECK(many.rounds() > 2);
  CHECK(many.contraction() < 1.1 * few.contraction());
  CHECK(few.contraction() > 0);
  CHECK(few.contraction() < 0.6);
  CHECK(few.foretold_cycles() > 5);
  CHECK(few.foretold_cycles() < 40);
  CHECK(few.bytes() <= Setup::predicted_bytes(u.geometry(), p, 1));
  p.setup_iterations = 1;
  CHECK(Setup(u, action, p).rounds() == 1);
  // Many rounds turn all vectors towards the lowest modes. They must not become one. Measured: 1.1 of two rounds.
  p.setup_iterations = 10;
  CHECK(Setup(u, action, p).contraction() < 1.2 * few.contraction());
}

TEST_CASE("multigrid set-up: more vectors are made than P has columns") {
  const GaugeField u = test::thermal_links();
  Parameters p = small();
  p.setup_iterations = 1;
  const Setup plain(u, action, p);
  p.setup_vectors = 8;  // the same vectors, so the same P
  CHECK(image(Setup(u, action, p)) == image(plain));
  p.setup_vectors = 24;
  const Setup reduced(u, action, p);
  CHECK(reduced.contraction() < 0.6);
  CHECK(reduced.bytes() <= Setup::predicted_bytes(u.geometry(), p, 1));
  const StoredVectors stored = reduced.stored();
  CHECK(stored.vectors == 24);
  const Setup again(u, action, p, stored);
  CHECK(again.parameters().vectors == 8);
  CHECK(image(again) == image(reduced));
  CHECK(!plain.serves(u, action, p));
  p.setup_vectors = 4;
  CHECK_THROWS_AS(p.validate(), core::InvalidArgument);
  p.setup_vectors = 12;
  CHECK_THROWS_AS(p.validate(), core::InvalidArgument);
}

TEST_CASE("multigrid set-up: stored vectors give the same cycle, to the bit") {
  const GaugeField u = test::thermal_links();
  for (const char* storage : {"half", "float"}) {
    CAPTURE(storage);
    Parameters p = small();
    p.storage = storage;
    const Setup made(u, action, p);
    const StoredVectors stored = made.stored();
    CHECK(stored.vectors == 8);
    CHECK(stored.aggregate == made.aggregate());
    // Mean square one in each vector, so none is lost in fp16.
    for (int vector = 0; vector < 8; ++vector) {
      double sum = 0;
      for (std::int64_t site = 0; site < u.geometry().local_volume(); ++site)
        for (int n = 0; n < 24; ++n) {
          const double number = core::widen(stored.numbers[static_cast<std::size_t>((site * 8 + vector) * 24 + n)]);
          sum += number * number;
        }
      CHECK(sum / static_cast<double>(24 * u.geometry().local_volume()) == doctest::Approx(1).epsilon(1e-2));
    }
    p.vectors = 16;  // the vectors have the last word
    p.aggregate = {2, 2, 2, 2};
    const Setup again(u, action, p, stored);
    CHECK(again.rounds() == 0);
    CHECK(again.parameters().vectors == 8);
    CHECK(again.aggregate() == made.aggregate());
    CHECK(image(again) == image(made));
    CHECK(again.contraction() == made.contraction());
    StoredVectors cut = stored;
    cut.numbers.pop_back();
    CHECK_THROWS_AS(Setup(u, action, p, cut), core::InvalidArgument);
  }
}

TEST_CASE("multigrid set-up: it follows links and masses that move") {
  GaugeField u = test::thermal_links();
  const Setup made(u, action, small());
  // The same links: nothing to do, and the same cycle.
  const Setup same = made.refreshed(u, action);
  CHECK(same.rounds() == 0);
  CHECK(image(same) == image(made));
  // Another mass, and links after a sweep: vectors of the old ones still serve.
  const WilsonCloverAction lighter{.mass = -0.07, .csw = 1.0};
  const Setup there = made.refreshed(u, lighter);
  CHECK(there.contraction() < 0.6);
  CHECK(image(there) != image(made));
  const Setup fresh(u, lighter, small());
  CHECK(there.foretold_cycles() < 1.5 * fresh.foretold_cycles());
  // Links that have nothing to do with the vectors: a round of inverse iteration follows.
  const GaugeField other = test::thermal_links(11);
  const Setup moved = made.refreshed(other, action);
  CHECK(moved.rounds() == 1);
  CHECK(moved.contraction() < 0.8);
  const GaugeField larger = gauge::unit_links(test::one_process({8, 8, 8, 16}));
  CHECK_THROWS_AS(made.refreshed(larger, action), core::InvalidArgument);
}

TEST_CASE("multigrid set-up: one more round makes the set-up of as many rounds, to the bit") {
  const GaugeField u = test::thermal_links();
  Parameters p = small();
  p.setup_iterations = 1;
  const Setup one(u, action, p);
  p.setup_iterations = 2;
  const Setup two(u, action, p), more = one.another_round(u, action);
  CHECK(more.rounds() == 2);
  CHECK(image(more) == image(two));
  CHECK_THROWS_AS(one.another_round(gauge::unit_links(test::one_process({8, 8, 8, 16})), action),
                  core::InvalidArgument);
}

TEST_CASE("multigrid set-up: it serves the links, action and parameters that it was made for") {
  GaugeField u = test::thermal_links();
  const Setup made(u, action, small());
  Parameters p = small();
  CHECK(made.serves(u, action, p));
  CHECK(made.serves(u, TwistedCloverAction{action, 0}, p));
  p.right_hand_sides = 1000;   // a set-up that is there costs nothing
  p.aggregate = {5, 4, 4, 4};  // the nearest is the one that was taken
  CHECK(made.serves(u, action, p));
  p.seed = 2;
  CHECK_FALSE(made.serves(u, action, p));
  CHECK_FALSE(made.serves(u, TwistedCloverAction{action, 1e-3}, small()));
  CHECK_FALSE(made.serves(u, WilsonCloverAction{.mass = -0.06, .csw = 1.0}, small()));
  CHECK_FALSE(made.serves(gauge::unit_links(test::one_process({8, 8, 8, 16})), action, small()));
  // One bit of one link.
  auto link = u.link({1, 2, 3, 4}, 2);
  link.e[0][1].im = std::nextafter(link.e[0][1].im, 2);
  u.set_link({1, 2, 3, 4}, 2, link);
  CHECK_FALSE(made.serves(u, action, small()));
  CHECK(made.refreshed(u, action).serves(u, action, small()));
}

TEST_CASE("multigrid set-up: progress foretells the time and can end it") {
  const GaugeField u = test::thermal_links();
  std::vector<double> parts;
  const auto whole = Setup::attempt(u, action, small(), "", [&](const Setup::Foretold& foretold) {
    parts.push_back(foretold.part);
    CHECK(foretold.seconds > 0);
    CHECK(foretold.cycle_seconds > 0);
    return true;
  });
  REQUIRE(whole);
  CHECK(std::ranges::is_sorted(parts));
  CHECK(parts.front() > 0);
  CHECK(parts.back() == 1);
  int calls = 0;
  CHECK(!Setup::attempt(u, action, small(), "", [&](const Setup::Foretold&) { return ++calls < 2; }));
  CHECK(calls == 2);
}

}  // namespace halocline::qcd::multigrid
