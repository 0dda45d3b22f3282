// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The limits of the machine, measured in the same run as the benchmark that is compared with them.
///
/// - FMA peak: independent chains of multiply-adds in registers, as many as the registers hold.
/// - Triad: a = b + s c, 24 bytes an element in double, as STREAM counts (without the write-allocate).
/// - Read: the sum of an array. A stencil reads much more than it writes, so this is the limit that applies to it.
/// - Cache line: half the round trip of a flag between two cores, the floor under any exchange inside a node.
///
/// Rates are totals over all processes of the group and all threads of each. Bandwidth depends on the location of the
/// data: `Bandwidth` measures arrays that exceed the last-level cache, and arrays as large as the case's working set.

#include <cstdint>
#include <limits>
#include <string>

#include "bench/timing.hpp"
#include "halocline/core/aligned_array.hpp"

namespace halocline::bench {

/// The multiply-adds whose rate is the peak: a piece of Work that can be measured together with a benchmark.
template <class T>
class FmaChains {
public:
  /// Takes about 20 microseconds on the threads that OpenMP has at the call.
  void operator()() const;
  /// Floating-point operations of one call on one process with this many threads.
  static double flops(int threads) noexcept;
};

/// An array of a given size, read or streamed through piece by piece.
class Bandwidth {
public:
  /// @param bytes  total of all arrays on this process; rounded to whole vectors for each thread
  explicit Bandwidth(std::int64_t bytes);

  /// Reads all of a small array, or the next 8 MiB of a large one, so that a block stays short.
  void read();
  void triad();
  double read_bytes() const noexcept { return static_cast<double>(piece_) * sizeof(double); }
  double triad_bytes() const noexcept;

private:
  core::AlignedArray<double> data_;
  std::int64_t piece_ = 0;  ///< numbers read by one call
  std::int64_t next_ = 0;
  double sink_ = 0;
};

/// Size of arrays of which no cache holds a useful part: four times the last-level cache, from 64 to 512 MiB.
std::int64_t dram_bytes();

struct Ceilings {
  double fma_gflops = 0;  ///< in the precision of the case
  double stream_gbytes_per_s = 0;
  double read_gbytes_per_s = 0;
  std::int64_t working_set_bytes = 0;  ///< of the case, for one process
  double working_set_stream_gbytes_per_s = 0;
  double working_set_read_gbytes_per_s = 0;
  double cache_line_seconds = 0;  ///< between two cores; NaN if there is only one
};

/// The ceilings of a benchmark that moves messages and measures no rates: NaN, except for a cache line that the caller
/// has measured.
Ceilings no_ceilings(double cache_line_seconds = std::numeric_limits<double>::quiet_NaN());

/// Fills in all members except fma_gflops. The first process measures the cache line while the others wait, and only
/// the first process gets the number. Collective: yes.  Cost: about 4 effort.seconds, and dram_bytes() of memory.
Ceilings bandwidth_ceilings(const comm::Communicator& group, std::int64_t working_set_bytes, const Effort& effort);

/// FMA peak of all processes with their present OpenMP threads [Gflop/s]. Collective: yes.
template <class T>
double fma_gflops(const comm::Communicator& group, const Effort& effort);

/// Median seconds for a cache line to move from one core to another; NaN if this process may use only one core.
/// Collective: no.
double cache_line_seconds(const Effort& effort);

}  // namespace halocline::bench
