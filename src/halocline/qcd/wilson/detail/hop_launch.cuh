// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the launches of hops share whatever the storage: which variant of the kernel one is, how the tuner knows it,
/// and the ways to launch it that are tried.

#include <compare>
#include <string>
#include <vector>

#include "halocline/gpu/tuning.hpp"
#include "halocline/qcd/device/box.hpp"

namespace halocline::qcd::device {

enum class HopPart { all, interior, exterior };

/// What makes a launch another problem for the tuner.
struct HopVariant {
  HopPart part = HopPart::all;
  int hop_blocks = 0, add_blocks = 0;  ///< reals of a clover block; 0: none
  bool adds = false;

  friend auto operator<=>(const HopVariant&, const HopVariant&) = default;
};

/// "16x16x16x32, fixed16, 12 reals, 4 columns, sum, interior of zt"
std::string describe_hop(const Box& box, const char* storage, int reals, int columns, const HopVariant& variant);

/// Bytes of a site of all columns as if no neighbour were found in a cache.
double hop_bytes(const char* storage, int reals, int columns, const HopVariant& variant);

/// Ways to launch a hop, the likeliest first, 25 at the most. @param most_a_thread  columns: 1 or 2
/// @param most_threads  of a block  @param loops  a thread may take several sites, and prefetch
std::vector<gpu::TuneParameters> hop_candidates(int columns, int most_a_thread, int most_threads, bool loops);

/// @throws InvalidArgument  always
[[noreturn]] void throw_hop_fields(const std::string& given);
[[noreturn]] void throw_hop_columns(int columns);

}  // namespace halocline::qcd::device
