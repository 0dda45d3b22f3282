// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The parts of hop launches that do not depend on the storage: the variants of the kernel, their descriptions for the
/// tuner, and the candidate launches.

#include <compare>
#include <string>
#include <vector>

#include "halocline/gpu/tuning.hpp"
#include "halocline/qcd/device/box.hpp"

namespace halocline::qcd::device {

/// `before` and `after` are the two parts of hop_split.cuh.
enum class HopPart { all, interior, exterior, before, after };

/// The properties of a launch that the tuner treats as separate problems.
struct HopVariant {
  HopPart part = HopPart::all;
  int hop_blocks = 0, add_blocks = 0;  ///< reals of a clover block; 0: none
  bool adds = false;
  bool sums = false;      ///< with the sums of HopTerms
  bool products = false;  ///< of them also those with another field
  int points = 0;         ///< of matrices of the fifth dimension; 0: none
  bool hop_fifth = false, add_fifth = false;

  friend auto operator<=>(const HopVariant&, const HopVariant&) = default;
};

/// "16x16x16x32, fixed16, 12 reals, 4 columns, sum, interior of z t"
std::string describe_hop(const Box& box, const char* storage, int reals, int columns, const HopVariant& variant);

/// Bytes read and written for a site with all columns, if caches hold no neighbour.
double hop_bytes(const char* storage, int reals, int columns, const HopVariant& variant);

/// What a launch may do beside the shape of its block.
struct HopChoices {
  bool loops;       ///< a thread may take several sites, and prefetch
  bool past_cache;  ///< links may pass by the first-level cache
};

/// The candidate launches of a hop, at most 30, the likeliest first.
/// @param most_a_thread  largest number of columns a thread: 1 or 2;  @param most_threads  of a block
std::vector<gpu::TuneParameters> hop_candidates(int columns, int most_a_thread, int most_threads,
                                                const HopChoices& choices);

/// The same for a hop with sums, whose blocks are 32, 64, 128 or 256 sites long.
std::vector<gpu::TuneParameters> hop_sum_candidates(int columns, int most_a_thread, int most_threads, bool past_cache);

/// The same for a hop and matrices of so many points, whose blocks hold all points of their sites.
std::vector<gpu::TuneParameters> hop_fifth_candidates(int points, int most_a_thread, int most_threads);

/// @throws InvalidArgument  always
[[noreturn]] void throw_hop_fields(const std::string& given);
[[noreturn]] void throw_hop_columns(int columns);

}  // namespace halocline::qcd::device
