// SPDX-License-Identifier: Apache-2.0
//
// The list of symmetric pieces on simulated ranks, each with a list of its own. A counter takes the place of NVSHMEM's
// heap: its pieces have the same offsets on every rank, as symmetric memory has.
#include "halocline/gpu/detail/symmetric_pieces.hpp"

#include "halocline/comm/simulation/simulation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <vector>

using namespace halocline;
using gpu::detail::SymmetricPieces;

namespace {

/// A rank's list, and its heap.
class Rank {
public:
  explicit Rank(const comm::Communicator& group) : group_(group) {}

  SymmetricPieces::Taken take(std::size_t bytes) {
    const auto taken = pieces_.take(group_, bytes, [&](std::size_t n) {
      group_.barrier();  // allocation is collective
      ++allocations_;
      std::byte* const data = next_;
      next_ += n;
      return data;
    });
    CHECK(agree(taken.number));
    CHECK(agree(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(taken.data))));
    CHECK(agree(taken.reused ? 1 : 0));
    return taken;
  }
  void release(int number) { pieces_.release(number); }
  int allocations() const { return allocations_; }

private:
  bool agree(std::int64_t value) const {
    const std::vector<std::byte> all = group_.allgather(std::as_bytes(std::span(&value, 1)));
    std::vector<std::int64_t> values(static_cast<std::size_t>(group_.size()));
    std::ranges::copy(all, std::as_writable_bytes(std::span(values)).begin());
    return std::ranges::count(values, value) == group_.size();
  }

  comm::Communicator group_;
  SymmetricPieces pieces_;
  std::byte* next_ = reinterpret_cast<std::byte*>(std::uintptr_t{4096});
  int allocations_ = 0;
};

}  // namespace

TEST_CASE("symmetric pieces: a piece is reused when every rank has released it, and not before") {
  comm::simulate(3, {}, [](const comm::Communicator& group) {
    Rank rank(group);
    const auto a = rank.take(512);
    CHECK(a.number == 0);
    CHECK_FALSE(a.reused);
    if (group.rank() != 1) rank.release(a.number);
    const auto b = rank.take(512);  // rank 1 still uses a
    CHECK_FALSE(b.reused);
    CHECK(b.data != a.data);
    if (group.rank() == 1) rank.release(a.number);
    const auto c = rank.take(512);
    CHECK(c.reused);
    CHECK(c.number == a.number);
    CHECK(c.data == a.data);
    CHECK_FALSE(rank.take(512).reused);
    CHECK(rank.allocations() == 3);
  });
}

TEST_CASE("symmetric pieces: ranks that release in different orders take the same piece") {
  comm::simulate(4, {}, [](const comm::Communicator& group) {
    Rank rank(group);
    std::vector<int> held;
    for (int i = 0; i < 4; ++i) held.push_back(rank.take(256).number);
    // Every rank keeps another one of pieces 0 to 2, but for rank 3, which releases all.
    std::ranges::rotate(held, held.begin() + group.rank());
    for (const int number : held)
      if (number == 3 || number != group.rank()) rank.release(number);
    const auto taken = rank.take(256);
    CHECK(taken.reused);
    CHECK(taken.number == 3);
  });
}

TEST_CASE("symmetric pieces: only a piece of exactly this size is reused, the lowest number first") {
  comm::simulate(2, {}, [](const comm::Communicator& group) {
    Rank rank(group);
    const auto large = rank.take(1024), first = rank.take(512), second = rank.take(512);
    for (const auto& piece : {second, large, first}) rank.release(piece.number);
    CHECK(rank.take(512).number == first.number);
    CHECK(rank.take(512).number == second.number);
    CHECK_FALSE(rank.take(512).reused);
    CHECK_FALSE(rank.take(768).reused);
    CHECK(rank.take(1024).number == large.number);
  });
}

TEST_CASE("symmetric pieces: memory that one rank lacks is given to none, and later pieces agree") {
  comm::simulate(3, {}, [](const comm::Communicator& group) {
    SymmetricPieces pieces;
    std::byte memory[2];
    const auto failed = pieces.take(group, 512, [&](std::size_t) { return group.rank() == 2 ? nullptr : &memory[0]; });
    CHECK(failed.data == nullptr);
    CHECK(failed.number == -1);
    const auto taken = pieces.take(group, 512, [&](std::size_t) { return &memory[1]; });
    CHECK(taken.number == 0);
    CHECK(taken.data == &memory[1]);
    CHECK_FALSE(taken.reused);
  });
}

TEST_CASE("symmetric pieces: in random programs no rank gets a piece that a rank still uses") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::vector<std::set<int>> used(3);  // by rank
    comm::simulate(3, {.seed = seed}, [&](const comm::Communicator& group) {
      Rank rank(group);
      auto& mine = used[static_cast<std::size_t>(group.rank())];
      std::mt19937 common(seed), own(100 * seed + static_cast<unsigned>(group.rank()));
      int most = 0;
      for (int step = 0; step < 40; ++step) {
        for (auto next = mine.begin(); next != mine.end();) {
          if (own() % 3 != 0) {
            ++next;
            continue;
          }
          rank.release(*next);
          next = mine.erase(next);
        }
        group.barrier();
        const auto before = used;  // nobody takes or releases between the barriers
        group.barrier();
        const int number = rank.take(common() % 2 == 0 ? 256 : 512).number;
        for (const auto& theirs : before) CHECK_FALSE(theirs.contains(number));
        mine.insert(number);
        most = std::max(most, number);
      }
      CHECK(most + 1 == rank.allocations());
      CHECK(rank.allocations() < 40);
    });
  }
}
