// SPDX-License-Identifier: Apache-2.0
//
// The order of work for CPUs with long latencies (staged_hop.hpp, staged_block.hpp) against the other order and against
// the block of one site. Both orders are compiled everywhere; only builds for SVE use the first one.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/lattice/domain_layout.hpp"
#include "halocline/qcd/schwarz/detail/staged_block.hpp"
#include "halocline/qcd/schwarz/detail/staged_hop.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::schwarz {
namespace {

constexpr int V = core::native_lanes<float>;
using Real = core::Number<float, V>;

core::AlignedArray<float> random_numbers(std::int64_t count, unsigned seed) {
  core::AlignedArray<float> numbers(count);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (std::int64_t i = 0; i < count; ++i) numbers.data()[i] = uniform(random);
  return numbers;
}

/// Random fields on one domain of a layout.
struct Domain {
  std::shared_ptr<const lattice::DomainLayout> layout;
  LaneTables<Real> lanes;
  core::AlignedArray<float> spinor, links, edges;
  DomainView<float> view;

  explicit Domain(std::shared_ptr<const lattice::DomainLayout> given)
      : layout(std::move(given)),
        lanes(*layout),
        spinor(random_numbers(std::int64_t{layout->tiles()} * spinor_numbers * V, 1)),
        links(random_numbers(std::int64_t{layout->tiles()} * 72 * V, 2)),
        edges(random_numbers(std::int64_t{8} * layout->tiles() * half_numbers * V + V, 3)) {
    view.spinor = spinor.data();
    view.spinor_tile = spinor_numbers * V;
    view.links = links.data();
    view.table = layout->of(0);
    view.faces = 0xff;
    for (int d = 0; d < 8; ++d) {
      view.face[d] = edges.data() + std::int64_t{d} * layout->tiles() * half_numbers * V;
      view.face_slot[d] = half_numbers * lanes.face_lanes[d % 4];
    }
  }

  /// Compares the sums of both orders: spins 0, 1 and 3 bit by bit, spin 2, whose sum over directions begins elsewhere,
  /// to rounding. Zeros of either sign are equal.
  template <bool own, bool through_faces>
  std::int64_t tiles_that_differ() const {
    alignas(64) float plain[spinor_numbers * V], staged[spinor_numbers * V];
    std::int64_t different = 0;
    for (std::int32_t tile = 0; tile < layout->tiles(); ++tile) {
      const TileHop<float, Real, 3> hop{view, lanes, layout->of(tile), tile};
      hop.template run<own, through_faces>(plain);
      StagedHop<float, Real>{hop}.template run<own, through_faces>(staged);
      bool same = true;
      for (int n = 0; n < spinor_numbers * V; ++n) {
        const int spin = n / (2 * V) % 4;
        // Eight summands of at most 12 each, which add up to at most 96: seven roundings of half an epsilon.
        const float tolerance = spin == 2 ? 7 * 96 * 6e-8f : 0.0f;
        same = same && std::abs(plain[n] - staged[n]) <= tolerance;
      }
      different += same ? 0 : 1;
    }
    return different;
  }
};

}  // namespace

TEST_CASE("schwarz: the staged hop is the plain one, and has its bits but for the order of one spin's sum") {
  struct Case {
    lattice::Coordinates<4> extents, blocks;
  };
  // Lanes along x alone, and over several axes; tiles with and without neighbours on each side.
  const std::vector<Case> cases{
      {{2 * V, 3, 2, 3}, {2, 1, 1, 1}}, {{8, 8, 8, 8}, {2, 2, 2, 2}}, {{8, 6, 4, 4}, {1, 1, 1, 2}}};
  int checked = 0;
  for (const Case& c : cases) {
    const auto layout = lattice::DomainLayout::best(test::one_process(c.extents), c.blocks, V);
    if (layout->lanes() != V) continue;
    ++checked;
    const Domain domain(layout);
    CAPTURE(c.extents[0]);
    CHECK(domain.tiles_that_differ<true, false>() == 0);
    CHECK(domain.tiles_that_differ<true, true>() == 0);
    CHECK(domain.tiles_that_differ<false, true>() == 0);
  }
  CHECK(checked >= 2);
}

TEST_CASE("schwarz: the staged block is the clover block of each site") {
  const auto block = random_numbers(block_numbers * V, 4);
  const auto vector = random_numbers(spinor_numbers * V, 5);
  alignas(64) float product[spinor_numbers * V];
  StagedBlock<float, Real>::multiply(
      block.data(), vector.data(), [&](int n, const Real& value) { core::Lanes<Real>::store(product + n * V, value); });
  double worst = 0;
  for (int lane = 0; lane < V; ++lane) {
    wilson::Spinor<double> in;
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 4; ++spin) {
        const float* at = vector.data() + 2 * (4 * colour + spin) * V + lane;
        in.at[colour][spin] = {at[0], at[V]};
      }
    const auto out = clover::multiply_block<double>([&](int i) { return double{block.data()[i * V + lane]}; }, in);
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 4; ++spin) {
        const float* at = product + 2 * (4 * colour + spin) * V + lane;
        worst = std::max({worst, std::abs(at[0] - out.at[colour][spin].re), std::abs(at[V] - out.at[colour][spin].im)});
      }
  }
  // Eleven roundings of sums that are at most 11.
  CHECK(worst < 11 * 11 * 6e-8);
  CHECK(worst > 0);
}

}  // namespace halocline::qcd::schwarz
