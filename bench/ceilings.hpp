// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the machine could do at most, measured by the run that is compared with it.
///
/// - FMA peak: independent chains of multiply-adds that stay in registers, as many as the registers hold.
/// - Triad: a = b + s c, 24 bytes an element in double, as STREAM counts (the write-allocate is left out).
/// - Read: the sum of an array. A stencil reads far more than it writes, so this is the ceiling that binds it.
/// - Cache line: half the round trip of a flag between two cores, the floor under any exchange inside a node.
///
/// Rates are totals over all processes of the group and all threads of each. Bandwidth depends on where the data
/// lies: `Bandwidth` measures for arrays beyond the last cache and for arrays as large as the case's working set.

#include <cstdint>
#include <string>

#include "bench/timing.hpp"
#include "halocline/core/aligned_array.hpp"

namespace halocline::bench {

/// The multiply-adds whose rate is the peak: a piece of Work, to be measured together with what is compared.
template <class T>
class FmaChains {
public:
  /// About 20 microseconds on the threads that OpenMP has when it is called.
  void operator()() const;
  /// Floating-point operations of one call on one process with this many threads.
  static double flops(int threads) noexcept;
};

/// An array of a given size, read or streamed through piece by piece.
class Bandwidth {
public:
  /// @param bytes  all arrays together, on this process; rounded to whole vectors a thread
  explicit Bandwidth(std::int64_t bytes);

  /// The whole of it where it is small, the next 8 MiB where it is large, so that a block stays short.
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

/// Bytes beyond which nothing stays in a cache: four times the last-level cache, from 64 to 512 MiB.
std::int64_t dram_bytes();

struct Ceilings {
  double fma_gflops = 0;  ///< of the precision of the case
  double stream_gbytes_per_s = 0;
  double read_gbytes_per_s = 0;
  std::int64_t working_set_bytes = 0;  ///< of the case, a process
  double working_set_stream_gbytes_per_s = 0;
  double working_set_read_gbytes_per_s = 0;
  double cache_line_seconds = 0;  ///< between two cores; NaN where there is one only
};

/// Fills in all but fma_gflops. The cache line is measured by the first process while the others wait, and known to it
/// alone. Collective: yes.  Cost: about 4 effort.seconds, and dram_bytes() of memory.
Ceilings bandwidth_ceilings(const comm::Communicator& group, std::int64_t working_set_bytes, const Effort& effort);

/// FMA peak of all processes on the OpenMP threads each has now [Gflop/s]. Collective: yes.
template <class T>
double fma_gflops(const comm::Communicator& group, const Effort& effort);

/// Median seconds for a cache line to pass from one core to another; NaN where this process may use one core only.
/// Collective: no.
double cache_line_seconds(const Effort& effort);

}  // namespace halocline::bench
