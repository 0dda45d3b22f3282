// SPDX-License-Identifier: Apache-2.0
//
// The stencil over many processes: every division of space gives what one process gives.

#include "halocline/comm/group/solver_communication.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "tddft/base/skew_grids.hpp"
#include "tddft/stencil/cases.hpp"

#include <doctest/doctest.h>
#include <omp.h>
#include <string>

namespace halocline::tddft {
namespace {

using namespace stencil_tests;

constexpr std::int64_t blocks = 3;

/// The points of a box out of whole blocks.
Values part_of_blocks(const Values& whole, const Grid& grid, const Box& box, std::int64_t width) {
  const Box all{{}, grid.extent};
  const std::int64_t count = whole.size() / (grid.points() * width);
  Values part(count * box.points() * width);
  for (std::int64_t b = 0; b < count; ++b)
    for (std::int64_t z = 0; z < box.extent[2]; ++z)
      for (std::int64_t y = 0; y < box.extent[1]; ++y)
        std::copy_n(whole.data() +
                        (b * all.points() + all.index(box.offset[0], box.offset[1] + y, box.offset[2] + z)) * width,
                    box.extent[0] * width, part.data() + (b * box.points() + box.index(0, y, z)) * width);
  return part;
}

std::vector<std::array<int, 3>> divisions(int ranks, const Grid& grid) {
  std::vector<std::array<int, 3>> all;
  for (int x = 1; x <= grid.extent[0] / 4; ++x)
    for (int y = 1; y <= grid.extent[1] / 4; ++y)
      for (int z = 1; z <= grid.extent[2] / 4; ++z)
        if (x * y * z == ranks) all.push_back({x, y, z});
  return all;
}

/// Whole blocks, and what one process makes of them.
struct Whole {
  explicit Whole(const Grid& g)
      : grid(g),
        in(random_values(blocks * g.points() * doubles_per_point, 1)),
        base(random_values(in.size(), 2)),
        potential(random_values(g.points(), 3)),
        out(in.size()),
        slopes(blocks * 12),
        gradient(3 * g.points() * doubles_per_point) {
    what.factor = {0, -0.3};
    what.shift = 0.5;
    what.base = base.data();
    what.base_factor = 2;
    Stencil alone(Decomposition(comm::Communicator::self(), system_of(grid), ProcessCounts{}));
    alone.apply_with_current(out.data(), in.data(), blocks, potential.span(), q, what, slopes);
    slopes_of(alone, grid.extent, gradient.data(), in.data());
  }
  Grid grid;
  Vec3 q{0.2, -0.3, 0.4};
  Values in, base, potential, out;
  std::vector<double> slopes;
  Values gradient;  ///< of the first block
  Combination what;
};

void check_division(const Whole& whole, const std::array<int, 3>& space, const std::string& transport) {
  const comm::Communicator world = comm::world();
  const Decomposition division(world, system_of(whole.grid), ProcessCounts{1, 1, space});
  CAPTURE(division.counts().text());
  CAPTURE(transport);
  const Box& box = division.box();
  const Values in = part_of_blocks(whole.in, whole.grid, box, doubles_per_point);
  const Values expected = part_of_blocks(whole.out, whole.grid, box, doubles_per_point);
  const Values potential = part_of_blocks(whole.potential, whole.grid, box, 1);
  Values out = part_of_blocks(whole.base, whole.grid, box, doubles_per_point);
  Stencil stencil(division, transport);
  Combination what = whole.what;
  what.base = out.data();
  std::vector<double> slopes(blocks * 12, -7.0);
  stencil.apply_with_current(out.data(), in.data(), blocks, potential.span(), whole.q, what, slopes);
  world.sum(std::span(slopes));
  CHECK(difference(out.span(), expected.span()) < 1e-13);
  CHECK(difference(slopes, whole.slopes) < 1e-11);

  // The same from blocks begun beforehand, two at a time, and from a sweep for the current alone.
  out = part_of_blocks(whole.base, whole.grid, box, doubles_per_point);
  const std::int64_t block_doubles = box.points() * doubles_per_point;
  stencil.begin(in.data());
  for (std::int64_t b = 0; b < blocks; ++b) {
    if (b + 1 < blocks) stencil.begin(in.data() + (b + 1) * block_doubles);
    what.base = out.data() + b * block_doubles;
    stencil.apply(out.data() + b * block_doubles, in.data() + b * block_doubles, 1, potential.span(), whole.q, what);
  }
  CHECK(difference(out.span(), expected.span()) < 1e-13);
  std::ranges::fill(slopes, -7.0);
  stencil.current(in.data(), blocks, slopes);
  world.sum(std::span(slopes));
  CHECK(difference(slopes, whole.slopes) < 1e-11);
  Values gradient(3 * block_doubles);
  slopes_of(stencil, box.extent, gradient.data(), in.data());
  CHECK(difference(gradient.span(), part_of_blocks(whole.gradient, whole.grid, box, doubles_per_point).span()) < 1e-13);
}

TEST_CASE("stencil: one buffer or two, one poster or all give what one process gives, by periodic and open ends") {
  const comm::Communicator world = comm::world();
  const int threads = omp_get_max_threads();
  omp_set_num_threads(3);
  for (const Boundary boundary : {Boundary::periodic, Boundary::isolated}) {
    const Whole whole({{17, 9, 34}, {0.5, 0.6, 0.4}, boundary});
    const auto all = divisions(world.size(), whole.grid);
    for (const int buffers : {1, 2})
      for (const bool posting : {false, true}) {
        CAPTURE(buffers);
        CAPTURE(posting);
        comm::set_solver_communication(world, {.buffers = buffers, .posting_by_all = posting});
        check_division(whole, all.front(), "");
      }
  }
  comm::set_solver_communication(world, {});
  omp_set_num_threads(threads);
}

TEST_CASE("stencil: every division of space gives what one process gives") {
  for (const Boundary boundary : {Boundary::periodic, Boundary::isolated})
    for (const std::array<std::int64_t, 3>& extent :
         {std::array<std::int64_t, 3>{9, 8, 13}, {17, 6, 10}, {5, 9, 34}, {40, 32, 11}}) {
      const Whole whole({extent, {0.5, 0.6, 0.4}, boundary});
      for (const auto& space : divisions(comm::world().size(), whole.grid))
        check_division(whole, space, "mpi_persistent");
    }
}

TEST_CASE("stencil: every division of space gives what one process gives, on axes that are not orthogonal") {
  for (const std::array<std::int64_t, 3>& extent : {std::array<std::int64_t, 3>{9, 8, 13}, {17, 6, 10}, {5, 9, 34}})
    for (const Grid& grid : test::skew_grids(extent, {0.5, 0.55, 0.45})) {
      const Whole whole(grid);
      for (const auto& space : divisions(comm::world().size(), whole.grid))
        check_division(whole, space, "mpi_persistent");
    }
  const Whole whole(test::skew_grid(test::Lattice::face_centred, {8, 8, 32}, {0.5, 0.5, 0.5}));
  check_division(whole, {1, 1, comm::world().size()}, "auto");
}

TEST_CASE("stencil: the transport of a trial delivers the same") {
  const Whole whole({{8, 8, 32}, {0.5, 0.6, 0.4}, Boundary::periodic});
  check_division(whole, {1, 1, comm::world().size()}, "auto");
}

TEST_CASE("stencil: halos are taken up in the order in which they were begun") {
  const comm::Communicator world = comm::world();
  const Grid grid{{8, 8, 32}, {0.5, 0.6, 0.4}, Boundary::periodic};
  const Decomposition division(world, system_of(grid), ProcessCounts{1, 1, {1, 1, world.size()}});
  Stencil stencil(division, world.size() == 1 ? "self" : "mpi_persistent");
  const std::int64_t block_doubles = division.box().points() * doubles_per_point;
  Values in(3 * block_doubles), out(3 * block_doubles);
  const std::vector<double> v(static_cast<std::size_t>(division.box().points()));
  stencil.begin(in.data());
  stencil.begin(in.data() + block_doubles);
  if (world.size() > 1) {
    CHECK_THROWS_AS(stencil.begin(in.data() + 2 * block_doubles), core::InvalidArgument);
    CHECK_THROWS_AS(stencil.apply(out.data(), in.data() + block_doubles, 1, v, {}), core::InvalidArgument);
  }
  stencil.apply(out.data(), in.data(), 2, v, {});
  stencil.apply(out.data(), in.data(), 3, v, {});
  CHECK(largest(out.span()) == 0);
}

}  // namespace
}  // namespace halocline::tddft
