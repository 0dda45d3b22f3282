// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a group gives to polling: its node, swaps, who is alive; and the transports that stand on shared memory.

#include "comm/halo_laws.hpp"
#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/patience.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/comm/transports/hybrid/hybrid.hpp"
#include "halocline/comm/transports/shared_memory/shared_memory.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

using namespace halo_laws;

namespace {

Way hybrid_way(int ranks_per_node, Buffering buffering, const std::string& network = {}) {
  Way way = named_way("hybrid", buffering);
  way.name = "hybrid, " + std::to_string(ranks_per_node) + " ranks per node";
  way.make = [=](const ProcessGrid& grid) {
    comm::TransportOptions options;
    options.ranks_per_node = ranks_per_node;
    return std::make_unique<comm::HybridTransport>(network.empty() ? comm::default_network(grid) : network, options);
  };
  return way;
}

}  // namespace

TEST_CASE("communicator: the ranks of a node keep their order and know each other as alive") {
  const comm::Communicator world = comm::world();
  const comm::Communicator node = world.split_by_node();
  CHECK(node.size() >= 1);
  CHECK(node.size() <= world.size());
  const std::uint64_t mine = static_cast<std::uint64_t>(world.rank());
  const auto gathered = node.allgather(std::as_bytes(std::span(&mine, 1)));
  std::vector<std::uint64_t> ranks(static_cast<std::size_t>(node.size()));
  std::memcpy(ranks.data(), gathered.data(), gathered.size());
  CHECK(std::is_sorted(ranks.begin(), ranks.end()));
  CHECK(ranks[static_cast<std::size_t>(node.rank())] == mine);
  for (int rank = 0; rank < node.size(); ++rank) CHECK(node.backend().alive(rank));
  for (int rank = 0; rank < world.size(); ++rank) CHECK(world.backend().alive(rank));
  CHECK(node.split_by_node().size() == node.size());
  CHECK(node.backend().spins() > 0);
  CHECK(node.backend().spins() == world.backend().spins());
  const comm::Communicator part = world.split(world.rank() % 2, 0);
  CHECK(part.split_by_node().size() <= part.size());
  CHECK(comm::Communicator::self().split_by_node().size() == 1);
}

TEST_CASE("communicator: swaps between two ranks cross, many at once, and completing is seen by testing") {
  const comm::Communicator world = comm::world();
  const int partner = world.rank() ^ 1;
  if (partner < world.size()) {
    std::array<std::array<int, 2>, 5> mine{}, theirs{};
    std::vector<std::unique_ptr<comm::detail::Pending>> pending;
    for (int k = 0; k < 5; ++k) {
      const auto at = static_cast<std::size_t>(k);
      mine[at] = {world.rank(), k};
      pending.push_back(world.backend().begin_swap(std::as_bytes(std::span(mine[at])),
                                                   std::as_writable_bytes(std::span(theirs[at])), partner, 10 + k));
    }
    for (std::size_t k = 5; k-- > 0;) {
      while (!pending[k]->test()) world.backend().idle();
      CHECK(pending[k]->test());
      pending[k]->wait();
      CHECK(theirs[k] == std::array{partner, static_cast<int>(k)});
    }
  }
  std::array<int, 1> one{1};
  std::vector<int> all(static_cast<std::size_t>(world.size()), 0);
  auto gather = world.backend().begin_all_gather(std::as_bytes(std::span(one)), std::as_writable_bytes(std::span(all)));
  while (!gather->test()) world.backend().idle();
  CHECK(all == std::vector<int>(all.size(), 1));
}

/// A long MPI message needs calls of its sender after it was posted. Rank 1 waits for rank 0's in its exchange, and
/// rank 0 waits meanwhile for a word of rank 1 in memory alone.
TEST_CASE("patience: a wait that looks at memory alone keeps no message of the network") {
  const comm::Communicator world = comm::world();
  if (world.size() == 1) return;  // there is no network
  const ProcessGrid grid(world, {world.size()});
  Driver driver(grid, {200000}, hybrid_way(1, Buffering::two));
  const auto segment = world.backend().share(8);
  const auto said = [&](int rank) {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(segment->part(rank)));
  };
  driver.pack_and_post(comm::all_faces);
  bool heard = true;
  if (world.rank() == 0) {
    for (int rank = 1; rank < world.size(); ++rank) {
      heard = heard && comm::detail::wait_until(
                           world.backend(), 60.0, [&] { return said(rank).load(std::memory_order_acquire) == 1; },
                           [] { return false; }) == comm::detail::Waited::ready;
    }
  }
  driver.wait_and_verify({0, +1});
  driver.wait_and_verify({0, -1});
  said(world.rank()).store(1, std::memory_order_release);
  CHECK(heard);
  CHECK(driver.wrong == 0);
}

TEST_CASE("shared_memory: short faces are packed in place, and whoever abandons is seen by its neighbours alone") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size(), 1});
  comm::SharedMemoryTransport transport;
  const std::vector<std::size_t> capacity{64, 64, 100000, 100000};
  transport.open(grid, capacity, 2);
  CHECK(transport.direct(0));
  CHECK(transport.direct(2));  // to ourselves: packing is the exchange
  CHECK(transport.outbox(2, 1, 8) == transport.inbox(3, 1, 8));
  CHECK(transport.arrived_flag(0, 0, 64) == 0);
  CHECK(transport.acknowledgements()->acknowledged(1) == 0);
  world.barrier();
  transport.acknowledgements()->acknowledge(1, 7);
  world.barrier();
  CHECK(transport.acknowledgements()->acknowledged(0) == 7);
  CHECK(transport.acknowledgements()->acknowledged(1) == 0);
  for (int face = 0; face < 4; ++face) CHECK_FALSE(transport.neighbour_gone(face));
  world.barrier();
  if (world.rank() == 0) {
    transport.abandon();
    transport.abandon();
  }
  world.barrier();
  for (int face = 0; face < 2; ++face) {
    const int neighbour = grid.neighbour(Face::from_index(face));
    CHECK(transport.neighbour_gone(face) == (neighbour == 0 && world.rank() != 0));
  }
  CHECK_FALSE(transport.neighbour_gone(2));
  std::vector<std::size_t> differing = capacity;
  if (world.rank() == world.size() - 1) differing = {128, 128, 100000, 100000};
  comm::SharedMemoryTransport other;
  if (world.size() > 1) CHECK_THROWS_AS(other.open(grid, differing, 1), core::InvalidArgument);
}

TEST_CASE("hybrid: near faces go by shared memory, far ones by the network, whatever counts as a node") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size(), 1});
  for (const int ranks_per_node : {1, 2, 3}) {
    CAPTURE(ranks_per_node);
    comm::TransportOptions options;
    options.ranks_per_node = ranks_per_node;
    comm::HybridTransport transport(comm::default_network(grid), options);
    CHECK(transport.name() == "hybrid:" + comm::default_network(grid));
    transport.open(grid, std::vector<std::size_t>{64, 64, 0, 0}, 2);
    for (int face = 0; face < 2; ++face) {
      const int neighbour = grid.neighbour(Face::from_index(face));
      const bool near = neighbour / ranks_per_node == world.rank() / ranks_per_node;
      CHECK(transport.direct(face) == near);
      CHECK(transport.outbox(face, 0, 64) != nullptr);
    }
    CHECK(transport.outbox(2, 0, 0) == nullptr);
    CHECK(transport.concurrent() == (world.size() <= ranks_per_node));
  }
}

TEST_CASE("hybrid: keeps all laws of the exchange with nodes of one, two and three ranks") {
  const comm::Communicator world = comm::world();
  for (const int ranks_per_node : {1, 2, 3}) {
    all_laws(world, hybrid_way(ranks_per_node, Buffering::two));
    all_laws(world, hybrid_way(ranks_per_node, Buffering::one));
  }
}

TEST_CASE("hybrid: refuses itself as the network, unknown networks and impossible nodes") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size()});
  const std::vector<std::size_t> bytes{16};
  const auto open = [&](const std::string& network, int ranks_per_node) {
    return HaloExchange(grid, bytes, hybrid_way(ranks_per_node, Buffering::two, network).make(grid));
  };
  CHECK_THROWS_AS(open("hybrid", 0), core::InvalidArgument);
  CHECK_THROWS_AS(open("hybrid:mpi_persistent", 0), core::InvalidArgument);
  CHECK_THROWS_AS(open(comm::default_network(grid), -1), core::InvalidArgument);
  if (world.size() > 1) CHECK_THROWS_AS(open("pigeon", 1), core::InvalidArgument);
  CHECK(comm::hybrid_unavailable_reason(nullptr).empty());
  CHECK(comm::hybrid_unavailable_reason(&grid).empty());
  CHECK_FALSE(comm::hybrid_unavailable_reason(&grid, "pigeon").empty());
  CHECK(comm::shared_memory_unavailable_reason(&grid).empty());
}
