// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/star.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/patience.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace halocline::comm {
namespace {
constexpr int tag = 1;
}

struct Star::State {
  struct Spoke {
    core::AlignedArray<std::byte> buffer;
    std::unique_ptr<detail::Pending> message;
    bool sends = false;
  };

  State(Communicator given, double limit) : group(std::move(given)), time_limit(limit) {
    const auto ranks = static_cast<std::size_t>(group.size());
    spokes.resize(group.rank() == 0 ? ranks - 1 : 1);
  }

  int rank_of(std::size_t spoke) const { return group.rank() == 0 ? static_cast<int>(spoke) + 1 : group.rank(); }
  int partner_of(std::size_t spoke) const { return group.rank() == 0 ? static_cast<int>(spoke) + 1 : 0; }

  Spoke& spoke(int rank) {
    const int first = group.rank() == 0 ? 1 : group.rank(), last = group.rank() == 0 ? group.size() - 1 : first;
    if (rank < first || rank > last)
      throw core::InvalidArgument(fmt::format("rank {} of {} was asked for the buffer of rank {}; rank 0 has those of "
                                              "all other ranks, the others their own",
                                              group.rank(), group.size(), rank));
    return spokes[static_cast<std::size_t>(rank - first)];
  }

  /// The spoke that may start a message.
  Spoke& idle_spoke(int rank) {
    if (failed)
      throw core::Error(
          fmt::format("rank {}: an earlier message of this group failed, and it cannot be used further; end the run",
                      group.rank()),
          group.rank());
    Spoke& found = spoke(rank);
    if (found.message)
      throw core::InvalidArgument(
          fmt::format("a message of rank {} was started while one is under way; wait for it by next()", rank));
    return found;
  }

  /// Waits for the complete message of a spoke; `spokes.size()` when none is under way.
  std::size_t await() {
    const auto under_way = [](const Spoke& s) { return s.message != nullptr; };
    const auto first = std::ranges::find_if(spokes, under_way);
    if (first == spokes.end()) return spokes.size();
    auto found = static_cast<std::size_t>(first - spokes.begin());
    if (std::isinf(time_limit)) {
      spokes[found].message->wait();
      return found;
    }
    auto& backend = group.backend();
    const auto complete = [&] {
      for (std::size_t i = 0; i < spokes.size(); ++i)
        if (spokes[i].message && spokes[i].message->test()) {
          found = i;
          return true;
        }
      return false;
    };
    std::vector<int> ended;
    const auto hopeless = [&] {
      for (std::size_t i = 0; i < spokes.size(); ++i)
        if (spokes[i].message && !backend.alive(partner_of(i))) ended.push_back(partner_of(i));
      return !ended.empty();
    };
    const auto waited = detail::wait_until(backend, time_limit, complete, hopeless, false);
    if (waited == detail::Waited::ready) return found;
    backend.give_up();
    const Spoke& missing = spokes[found];
    const int partner = partner_of(found);
    const std::string deed = missing.sends ? "taken its message" : "sent its message";
    if (waited == detail::Waited::hopeless)
      throw core::Error(fmt::format("rank {}: rank {} has ended and has not {}", group.rank(), ended.front(), deed),
                        group.rank());
    throw core::Error(fmt::format("rank {}: rank {} has not {} within {:g} s; it is stalled or does something else",
                                  group.rank(), partner, deed, time_limit),
                      group.rank());
  }

  /// Messages may still arrive at any time, so the buffers and the group are never freed.
  void fail() noexcept {
    failed = true;
    for (Spoke& s : spokes)
      if (s.message) s.message->abandon();
    for (Spoke& s : spokes) s.message.reset();
    static_cast<void>(new std::vector<Spoke>(std::move(spokes)));
    static_cast<void>(new Communicator(group));
    spokes.clear();
    spokes.resize(group.rank() == 0 ? static_cast<std::size_t>(group.size()) - 1 : 1);
  }

  Communicator group;
  double time_limit;
  std::size_t bytes = 0;
  bool failed = false;
  std::vector<Spoke> spokes;  ///< a message is destroyed, and so completed, before its buffer
};

Star::Star(Communicator group, double time_limit) {
  if (!(time_limit > 0))
    throw core::InvalidArgument(
        fmt::format("a time limit of {:g} s was given; give a positive number of seconds", time_limit));
  state_ = std::make_unique<State>(std::move(group), time_limit);
}
Star::Star(Star&&) noexcept = default;
Star& Star::operator=(Star&&) noexcept = default;
Star::~Star() = default;

const Communicator& Star::communicator() const noexcept { return state_->group; }

void Star::resize(std::size_t bytes) {
  for (const auto& s : state_->spokes)
    if (s.message)
      throw core::InvalidArgument("the length of messages was changed while some are under way; wait by next()");
  state_->bytes = bytes;
  for (auto& s : state_->spokes)
    if (s.buffer.size() < static_cast<std::int64_t>(bytes))
      s.buffer = core::AlignedArray<std::byte>(static_cast<std::int64_t>(bytes));
}

std::span<std::byte> Star::buffer(int rank) { return state_->spoke(rank).buffer.span().first(state_->bytes); }

void Star::send(int rank) {
  auto& spoke = state_->idle_spoke(rank);
  const int to = state_->group.rank() == 0 ? rank : 0;
  spoke.sends = true;
  spoke.message = state_->group.backend().begin_send(spoke.buffer.span().first(state_->bytes), to, tag);
}

void Star::receive(int rank) {
  auto& spoke = state_->idle_spoke(rank);
  const int from = state_->group.rank() == 0 ? rank : 0;
  spoke.sends = false;
  spoke.message = state_->group.backend().begin_receive(spoke.buffer.span().first(state_->bytes), from, tag);
}

int Star::next() {
  std::size_t found = 0;
  try {
    found = state_->await();
  } catch (const core::Error&) {
    state_->fail();
    throw;
  }
  if (found == state_->spokes.size()) return -1;
  state_->spokes[found].message.reset();
  return state_->rank_of(found);
}

}  // namespace halocline::comm
