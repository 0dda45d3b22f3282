// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/detail/symmetric_pieces.hpp"

#include <algorithm>

namespace halocline::gpu::detail {

SymmetricPieces::Taken SymmetricPieces::take(const comm::Communicator& group, std::size_t bytes,
                                             const std::function<std::byte*(std::size_t)>& allocate) {
  // The lock is not held during collective calls, so that a destructor on another thread need not wait for other ranks.
  std::vector<int> numbers;
  std::vector<double> released;
  {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].bytes != bytes) continue;
      numbers.push_back(static_cast<int>(i));
      released.push_back(pieces_[i].released ? 1.0 : 0.0);
    }
  }
  if (!released.empty()) group.min(released);
  const auto found = std::ranges::find(released, 1.0);
  if (found != released.end()) {
    const int number = numbers[static_cast<std::size_t>(found - released.begin())];
    const std::scoped_lock lock(mutex_);
    Piece& piece = pieces_[static_cast<std::size_t>(number)];
    piece.released = false;
    return {number, piece.data, true};
  }
  std::byte* const data = allocate(bytes);
  if (!group.all(data != nullptr)) return {};
  const std::scoped_lock lock(mutex_);
  pieces_.push_back({data, bytes, false});
  return {static_cast<int>(pieces_.size()) - 1, data, false};
}

void SymmetricPieces::release(int number) noexcept {
  const std::scoped_lock lock(mutex_);
  pieces_[static_cast<std::size_t>(number)].released = true;
}

}  // namespace halocline::gpu::detail
