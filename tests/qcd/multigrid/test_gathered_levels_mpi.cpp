// SPDX-License-Identifier: Apache-2.0
//
// Coarse levels on fewer processes: the solutions and iterations of levels that stay where they are, and errors that
// reach the processes that wait.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/multigrid/detail/coarse_solver.hpp"
#include "halocline/qcd/multigrid/detail/hierarchy.hpp"
#include "halocline/qcd/multigrid/setup.hpp"
#include "qcd/multigrid/coarse_sample.hpp"

namespace halocline::qcd::multigrid {
namespace {

constexpr lattice::Coordinates<4> extents{4, 8, 12, 8};
constexpr int columns = 2;

struct Kind {
  lattice::Coordinates<4> aggregate, coarse_aggregate;
  int levels;
};
/// A dense inverse on one parity; deflation without parities; cycles with a dense inverse below.
constexpr std::array<Kind, 3> kinds{
    {{{2, 4, 2, 4}, {1, 1, 1, 1}, 2}, {{4, 2, 4, 1}, {1, 1, 1, 1}, 2}, {{2, 2, 2, 2}, {2, 2, 1, 2}, 3}}};

std::shared_ptr<const lattice::Geometry4> spread_over(const comm::Communicator& group, const Kind& kind) {
  lattice::Coordinates<4> size{};
  for (int axis = 0; axis < 4; ++axis) size[axis] = kind.aggregate[axis] * kind.coarse_aggregate[axis];
  const auto grids = comm::possible_grids(extents, group.size(), size);
  REQUIRE(!grids.empty());
  return std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(group, grids.front()));
}

/// Everything down to the coarse solver, over rough links and rough test vectors.
struct Sample {
  Sample(const comm::Communicator& group, const Kind& kind, int gather_below)
      : rough(extents),
        coarse(rough, spread_over(group, kind), test::every_term(), kind.aggregate, kind.aggregate, 8, columns) {
    p.vectors = 8;
    p.aggregate = kind.aggregate;
    p.coarse_aggregate = kind.coarse_aggregate;
    p.levels = kind.levels;
    p.storage = "float";
    p.gather_below = gather_below;
    plan = level_plan(coarse.aggregates->fine(), p);
    levels = made(coarse.blocks);
    iterations.resize(plan.shapes.size());
  }

  std::vector<CoarseLevel<float>> made(std::shared_ptr<const CoarseBlocks<float>> blocks) const {
    CoarseField vectors(coarse.aggregates->count(), 16, 8);
    for (int first = 0; first < 8; first += columns) {
      const CoarseField some = coarse.random(40 + static_cast<unsigned>(first));
      for (std::int64_t site = 0; site < some.sites(); ++site)
        std::copy_n(some.at(site, 0), columns * 2 * 16, vectors.at(site, first));
    }
    return coarse_levels<float>(std::move(blocks), std::move(vectors), plan, p, "");
  }
  std::unique_ptr<CoarseSolver> solver(double tolerance) {
    return coarse_solver<float>(levels, columns, "", p, tolerance, iterations);
  }

  test::RoughLattice rough;
  test::CoarseSample<float> coarse;
  Parameters p;
  LevelPlan plan;
  std::vector<CoarseLevel<float>> levels;
  std::vector<std::int64_t> iterations;
};

/// |a - b| / |b| over all processes.
double difference(const CoarseField& a, const CoarseField& b, const comm::Communicator& group) {
  std::array<double, 2> sums{};
  for (std::int64_t i = 0; i < a.size(); ++i) {
    sums[0] += std::pow(a.data()[i] - b.data()[i], 2);
    sums[1] += std::pow(b.data()[i], 2);
  }
  group.sum(sums);
  return std::sqrt(sums[0] / sums[1]);
}

/// The sentence of the core::Error that `action` throws; "nothing" when it throws none.
template <class Action>
std::string sentence_of(const Action& action) {
  try {
    action();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("gathered levels: the solution, and the iterations on every rank, of levels that are not gathered") {
  const auto world = comm::world();
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    CAPTURE(kind);
    Sample spread(world, kinds[kind], 1);
    const auto b = spread.coarse.random(3);
    auto expected = spread.coarse.create(), x = expected;
    (*spread.solver(1e-4))(expected, b);
    // The tolerance is that of the system of one parity, where there is one.
    auto image = spread.coarse.create();
    spread.coarse.d->apply(image, expected);
    CHECK(difference(image, b, world) < 1e-3);
    for (const int sites : {16, 1000}) {
      CAPTURE(sites);
      Sample sample(world, kinds[kind], sites);
      const auto& last = sample.plan.shapes.back();
      CHECK((world.size() == 1 || sites == 16 || last.processes == std::array{1, 1, 1, 1}));
      const auto solver = sample.solver(1e-4);
      for (int again = 0; again < 2; ++again) (*solver)(x, b);
      // Each is solved to a residual of 1e-4, in the same iterations but for rounding.
      CHECK(difference(x, expected, world) < 1e-3);
      for (std::size_t level = 0; level < sample.iterations.size(); ++level) {
        std::array<double, 1> least{static_cast<double>(sample.iterations[level])}, most = least;
        world.min(least);
        world.max(most);
        CHECK(least[0] == most[0]);
        const auto once = static_cast<double>(spread.iterations[level]);
        CHECK(std::abs(most[0] / 2 - once) <= std::max(1.0, 0.05 * once));
      }
    }
  }
}

TEST_CASE("gathered levels: what fails on the processes that hold a level is thrown on all, with its cause") {
  const auto world = comm::world();
  // Without parities the solver itself looks at the length of its vectors.
  Sample sample(world, kinds[1], 1000);
  const auto solver = sample.solver(0.1);
  CoarseField x(sample.coarse.aggregates->count(), 16, columns + 1), b = x;
  const std::string sentence = sentence_of([&] { (*solver)(x, b); });
  CAPTURE(sentence);
  CHECK(sentence.find("numbers was given to a vector space") != std::string::npos);
  // The solver goes on with what fits.
  const auto good = sample.coarse.random(3);
  auto y = sample.coarse.create();
  (*solver)(y, good);
  CHECK(test::distance(y, good) > 0.1);

  Sample other(world, kinds[0], 1000);
  const auto zero = std::make_shared<const CoarseBlocks<float>>(other.coarse.aggregates->coarse(), 16);
  CHECK(sentence_of([&] { other.made(zero); }).find("singular") != std::string::npos);
}

TEST_CASE("gathered levels: processes that keep nothing hold less, and none more than was predicted") {
  const auto world = comm::world();
  Sample sample(world, kinds[0], 1000);
  std::int64_t bytes = sample.plan.shapes.front().gathers() ? sample.coarse.blocks->bytes() : 0;
  for (const auto& level : sample.levels) bytes += level.bytes();
  CHECK(bytes <= predicted_coarse_bytes(sample.plan.shapes, sample.p));
  if (world.rank() > 0) CHECK(bytes == sample.coarse.blocks->bytes());
}

}  // namespace halocline::qcd::multigrid
