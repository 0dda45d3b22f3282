// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The memory for sums over sites: scratch space and results (sum.cuh).

#include <cstdint>
#include <span>
#include <vector>

#include "halocline/gpu/array.hpp"
#include "halocline/gpu/launch_shape.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::gpu {

/// The sites that are added first, by a block or by several (sum.cuh), and the fewest sites of a block.
inline constexpr int sum_group = 256, least_sum_block = 32;

/// Results of sums, and scratch space. The kernel that makes a sum stores it into pinned memory itself, so that no copy
/// follows, and the host sees it there before the kernel has ended. Each place of that memory holds a signalling NaN
/// until the sum arrives; no addition gives one. Reused from call to call; one set of sums may be in progress at a
/// time, on one stream.
class SumBuffer {
public:
  /// @param sums  most sums at a time, 1 to 16; @param sites  most sites; @param columns  of the vectors, 1 to 32
  /// @throws InvalidArgument  numbers outside these ranges
  SumBuffer(const Device& device, int sums, std::int64_t sites, int columns);
  ~SumBuffer();
  SumBuffer(SumBuffer&& other) noexcept;
  SumBuffer& operator=(SumBuffer&& other) noexcept;

  int columns() const noexcept { return columns_; }
  /// Marks the point in the stream where the first `sums` sums are complete. Call once after the launches that make
  /// them. Recorded in a graph, the mark is set at each launch of the graph.
  void fetch(Stream& stream, int sums);
  /// Blocks until the sums are complete. What the stream did before their kernels is then visible to the host; the work
  /// between these kernels and fetch() may still run. Returns shape (sums, columns), valid until the next call. Places
  /// that no launch has filled since the last call keep their values.
  /// @throws core::Error  earlier work on the stream failed; InvalidArgument  called without a fetch()
  std::span<const double> wait();

  /// Bytes in device memory of such a buffer.
  static std::int64_t bytes(int sums, std::int64_t sites, int columns);

  /// For launch_sum.
  /// [block][column] of one sum, in device memory. On a GPU no_number (host_place.hpp) between launches.
  double* partial(int sum) noexcept;
  double* total(int sum) noexcept;  ///< [column] of one sum, in pinned memory
  /// A launch fills these sums. @param recorded  into a graph
  void note_launch(int first, int count, bool recorded) noexcept;
  int sums() const noexcept { return sums_; }
  std::int64_t most_blocks() const noexcept { return most_blocks_; }

private:
  void await_places();
  void collect();

  int sums_, columns_;
  std::int64_t most_blocks_;
  DeviceArray<double> partial_;
  PinnedArray<double> total_;
  std::vector<double> arrived_;  // [sum][column]
  Event fetched_;
  int awaited_ = 0;
  std::uint32_t launched_ = 0;  // bit n: sum n has been launched since the last wait
  bool stale_ = false;          // a place may hold the sum of an earlier launch
};

namespace detail {

/// The blocks of a sum: `along` the sites, and `across` the columns.
struct SumBlocks {
  std::int64_t along;
  int across;
};
/// @param count        of sums
/// @param each         columns a thread
/// @param max_threads  of the functor
/// @throws InvalidArgument  as launch_sum
SumBlocks plan_sum(const Stream& stream, const char* name, std::int64_t sites, int columns, const SumBuffer& sums,
                   int first, int count, const Block& block, int each, int max_threads);

}  // namespace detail
}  // namespace halocline::gpu
