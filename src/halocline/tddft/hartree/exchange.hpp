// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// All-to-all exchange of blocks, and the exchange back.
///
/// To transpose a distributed array, each process cuts its part into one block for each process ("near") and receives
/// one block from each process ("far"). The way back has the same shapes in reverse, so both directions use the same
/// two buffers. All blocks have the size of the largest one; the unused end of a shorter block is sent but never read.
/// A group of one process has one buffer and sends nothing.

#include "halocline/comm/group/communicator.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/region.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

namespace halocline::tddft {

class Exchange {
public:
  /// @param room  size of the largest block between any two processes [doubles], the same on all processes
  Exchange(comm::Communicator group, std::int64_t room)
      : group_(std::move(group)),
        room_(std::max<std::int64_t>(room, 1)),
        near_(room_ * group_.size()),
        far_(group_.size() == 1 ? 0 : room_ * group_.size()) {}

  int size() const noexcept { return group_.size(); }
  int rank() const noexcept { return group_.rank(); }
  double* near(int to) noexcept { return near_.data() + room_ * to; }
  double* far(int from) noexcept { return (group_.size() == 1 ? near_ : far_).data() + room_ * from; }

  /// Sends every near block to its destination's far buffer. Collective over the group.
  void forth() { move(near_, far_); }
  /// Sends the far blocks back to the near buffers. Collective over the group.
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
