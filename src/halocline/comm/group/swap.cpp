// SPDX-License-Identifier: Apache-2.0
/// @file
/// Backend::begin_swap as a value.

#include "halocline/comm/group/swap.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/core/error.hpp"

#include <utility>

namespace halocline::comm {

Swap::Swap() noexcept = default;
Swap::Swap(Swap&&) noexcept = default;
Swap& Swap::operator=(Swap&&) noexcept = default;
Swap::~Swap() = default;

Swap::Swap(const Communicator& group, std::span<const std::byte> mine, std::span<std::byte> theirs, int partner,
           int tag) {
  if (partner < 0 || partner >= group.size() || partner == group.rank()) {
    throw core::InvalidArgument("rank " + std::to_string(partner) + " was given as a partner to rank " +
                                std::to_string(group.rank()) + " of " + std::to_string(group.size()) +
                                "; give another rank of the group");
  }
  pending_ = group.backend().begin_swap(mine, theirs, partner, tag);
}

bool Swap::done() {
  if (pending_ == nullptr) return true;
  if (!pending_->test()) return false;
  pending_.reset();
  return true;
}

void Swap::abandon() noexcept {
  if (pending_ == nullptr) return;
  pending_->abandon();
  pending_.reset();
}

}  // namespace halocline::comm
