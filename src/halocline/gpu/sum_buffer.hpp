// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The memory that sums over sites are made in and arrive in (sum.cuh).

#include <cstdint>
#include <span>

#include "halocline/gpu/array.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::gpu {

/// Sites of a block.
inline constexpr int sum_block = 256;

/// Where sums arrive, and the scratch of their making. The kernel that makes a sum stores it into pinned memory itself,
/// so that no copy follows. Reused from call to call; one set of sums may be under way at a time, on one stream.
class SumBuffer {
public:
  /// @param sums  most sums at a time, 1 to 16; @param sites  most sites; @param columns  of the vectors, 1 to 32
  /// @throws InvalidArgument  numbers beyond these
  SumBuffer(const Device& device, int sums, std::int64_t sites, int columns);
  ~SumBuffer();
  SumBuffer(SumBuffer&& other) noexcept;
  SumBuffer& operator=(SumBuffer&& other) noexcept;

  int columns() const noexcept { return columns_; }
  /// Marks where in the stream the first `sums` sums are there. Called once after the launches that make them; recorded
  /// in a graph, it happens at each launch of the graph.
  void fetch(Stream& stream, int sums);
  /// Blocks until they are there: shape (sums, columns), alive until the next launch that makes sums.
  /// @throws core::Error  the failure of what was enqueued before; InvalidArgument  without a fetch()
  std::span<const double> wait();

  /// For launch_sum.
  double* partial(int sum) noexcept;  ///< [block][column] of one sum, in device memory
  double* total(int sum) noexcept;    ///< [column] of one sum, in pinned memory
  unsigned* finished() noexcept;      ///< [column], in device memory: blocks that are done, zero between launches
  int sums() const noexcept { return sums_; }
  std::int64_t most_blocks() const noexcept { return most_blocks_; }

private:
  int sums_, columns_;
  std::int64_t most_blocks_;
  DeviceArray<double> partial_;
  DeviceArray<unsigned> finished_;
  PinnedArray<double> total_;
  Event fetched_;
  int awaited_ = 0;
};

namespace detail {

/// Blocks a column. @throws InvalidArgument  as launch_sum
std::int64_t plan_sum(const Stream& stream, const char* name, std::int64_t sites, int columns, const SumBuffer& sums,
                      int first, int count);

}  // namespace detail
}  // namespace halocline::gpu
