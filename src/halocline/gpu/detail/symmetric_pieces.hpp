// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Pieces of symmetric memory that all processes allocate together and give back one by one.
///
/// Allocating and freeing symmetric memory (NVSHMEM) are collective, and a destructor must not wait for ranks that may
/// never come. So a destructor only notes that its rank has done with a piece. The next collective constructor of this
/// size reuses the piece, if every rank has done with it.
///
/// Every rank holds the same list, because pieces are appended by collective calls alone: a piece has the same number
/// and size everywhere. Only the notes differ between ranks, as destructors run in any order. The ranks compare their
/// notes and take the piece with the lowest number that all of them have released.

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "halocline/comm/group/communicator.hpp"

namespace halocline::gpu::detail {

class SymmetricPieces {
public:
  struct Taken {
    int number = -1;            ///< for release()
    std::byte* data = nullptr;  ///< null on every rank if allocate() gave null on any
    bool reused = false;        ///< former users may still have stores under way: the caller waits for them
  };

  /// A released piece of exactly this size, or a new one.
  /// @param group     the ranks among which memory is symmetric, the same in every call
  /// @param bytes     the same on every rank
  /// @param allocate  collective; null if memory is exhausted
  /// Collective: yes, in the same order on every rank.
  Taken take(const comm::Communicator& group, std::size_t bytes,
             const std::function<std::byte*(std::size_t)>& allocate);

  /// This rank has done with the piece. Other ranks may use it further. Collective: no.
  void release(int number) noexcept;

private:
  struct Piece {
    std::byte* data;
    std::size_t bytes;
    bool released;
  };

  std::mutex mutex_;
  std::vector<Piece> pieces_;  // by number
};

}  // namespace halocline::gpu::detail
