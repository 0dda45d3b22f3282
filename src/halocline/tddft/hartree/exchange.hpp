// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Blocks from everyone to everyone, and back again.
///
/// A transposition of a distributed array cuts the array of each process into as many blocks as there are processes,
/// one for each of them ("near"), and gives it one block of each of them ("far"). What returns has the same shapes the
/// other way round, so both directions use the same two buffers. All blocks have the room of the largest; what is
/// beyond a shorter one's end travels along unread. A group of one has one buffer, and nothing travels.

#include "halocline/comm/communicator.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/region.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

namespace halocline::tddft {

class Exchange {
public:
  /// @param room  doubles of the largest block between any two processes, the same on all of them
  Exchange(comm::Communicator group, std::int64_t room)
      : group_(std::move(group)),
        room_(std::max<std::int64_t>(room, 1)),
        near_(room_ * group_.size()),
        far_(group_.size() == 1 ? 0 : room_ * group_.size()) {}

  int size() const noexcept { return group_.size(); }
  int rank() const noexcept { return group_.rank(); }
  double* near(int to) noexcept { return near_.data() + room_ * to; }
  double* far(int from) noexcept { return (group_.size() == 1 ? near_ : far_).data() + room_ * from; }

  /// Everyone's near blocks to where they are far ones. Collective over the group.
  void forth() { move(near_, far_); }
  /// And back. Collective over the group.
  void back() { move(far_, near_); }

private:
  void move(const core::AlignedArray<double>& from, core::AlignedArray<double>& to) const {
    if (group_.size() == 1) return;
    const core::Region region("all to all");
    group_.all_to_all(std::as_bytes(from.span()), std::as_writable_bytes(to.span()));
  }

  comm::Communicator group_;
  std::int64_t room_;
  core::AlignedArray<double> near_, far_;
};

}  // namespace halocline::tddft
