// SPDX-License-Identifier: Apache-2.0
//
// A gathered lattice on MPI: every site travels to its place and back, for all grids that the processes fill.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "lattice/gathering_laws.hpp"

using namespace gathering_laws;

TEST_CASE("gathering: every site reaches its place and comes back, for every grid and box") {
  const comm::Communicator world = comm::world();
  constexpr std::array<std::int64_t, 4> any{1, 1, 1, 1};
  const std::array<std::int64_t, 4> many{24, 24, 24, 24};
  for (const auto& dims : comm::possible_grids(many, world.size(), any))
    for (const Coordinates<4>& local :
         {Coordinates<4>{1, 1, 1, 1}, Coordinates<4>{3, 1, 2, 1}, Coordinates<4>{1, 3, 1, 2}})
      for (const std::int64_t sites : {1, 5, 16}) {
        CAPTURE(sites);
        CHECK(broken_law(spread_over(world, dims, local), sites, 2) == "");
      }
}

TEST_CASE("gathering: exchanges and sums work on the processes that keep sites while the others wait") {
  const comm::Communicator world = comm::world();
  const auto spread = spread_over(world, {1, 1, 1, world.size()}, {2, 2, 1, 2});
  Gathering gathering(spread, 9);
  CHECK(gathering.keepers() == (world.size() == 8 ? 4 : 1));  // 8 sites a process: pairs, or all three
  std::vector<double> here(static_cast<std::size_t>(spread->local_volume()), world.rank()), there;
  if (gathering.keeps()) there.resize(static_cast<std::size_t>(gathering.gathered()->local_volume()));
  gathering.gather(std::as_writable_bytes(std::span(there)), std::as_bytes(std::span(here)), sizeof(double));
  if (gathering.keeps()) {
    const auto& grid = gathering.gathered()->grid();
    double sum = 0;
    for (const double number : there) sum += number;
    grid.communicator().sum(std::span(&sum, 1));
    CHECK(sum == 8.0 * world.size() * (world.size() - 1) / 2.0);
    const std::array<std::size_t, 4> faces{0, 0, 0, sizeof(int)};
    comm::HaloExchange halo(grid, faces, std::string_view(""));
    const int mine = grid.coords()[3];
    if (halo.active({3, 1}))
      for (const int step : {1, -1}) std::memcpy(halo.send_buffer({3, step}).data(), &mine, sizeof(int));
    halo.post();
    halo.wait_all();
    int below = -1;
    if (halo.active({3, -1})) std::memcpy(&below, halo.recv_buffer({3, -1}).data(), sizeof(int));
    CHECK(below == (mine + grid.dims()[3] - 1) % grid.dims()[3]);
    std::ranges::fill(there, sum);
  }
  gathering.scatter(std::as_writable_bytes(std::span(here)), std::as_bytes(std::span(there)), sizeof(double));
  const double expected = 8.0 * world.size() * (world.size() - 1) / 2.0;
  CHECK(std::ranges::all_of(here, [&](double number) { return number == expected; }));
}

TEST_CASE("gathering: numbers of sites that differ between ranks are refused on every rank") {
  const comm::Communicator world = comm::world();
  const auto spread = spread_over(world, {world.size(), 1, 1, 1}, {1, 1, 1, 1});
  if (world.size() > 1) CHECK_THROWS_AS(Gathering(spread, 16 + (world.rank() == 0)), core::InvalidArgument);
  CHECK_THROWS_AS(Gathering(spread, 0), core::InvalidArgument);
}
