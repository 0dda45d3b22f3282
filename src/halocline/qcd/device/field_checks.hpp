// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Checks of the arguments of device fields. Not collective: the values checked are the same on every rank.

#include <cstddef>
#include <cstdint>
#include <span>

#include "halocline/lattice/field.hpp"
#include "halocline/qcd/device/box.hpp"

namespace halocline::qcd::device::detail {

/// Of a device field: 32 right-hand sides of 64 points of a fifth dimension.
inline constexpr int most_columns = 32 * 64;

/// @throws InvalidArgument  unless 1 <= columns <= most_columns
void require_columns(int columns);
/// @throws InvalidArgument  unless 12 components, or 3 on a box whose parities hold a multiple of 4 sites
void require_components(int components, const Box& box);
/// @throws InvalidArgument  if they differ
void require_one_kind(int components, int others);
/// @throws InvalidArgument  unless 0 <= column < columns
void require_column(int column, int columns);
/// @throws InvalidArgument  unless given == expected; `what` and `shape` name the array
void require_length(std::size_t given, std::size_t expected, const char* what, const char* shape);
/// @throws InvalidArgument  if two fields differ in box or columns, or do not both hold `parity`. With parity = 2, if
///                          they hold different parities.
void require_alike(const Box& a, int columns_a, lattice::Subset subset_a, const Box& b, int columns_b,
                   lattice::Subset subset_b, int parity = 2);
/// @throws InvalidArgument  if the boxes differ
void require_box(const Box& given, const Box& expected, const char* what);
/// @throws InvalidArgument  unless `same`: work on fields of two contexts would be enqueued on two streams
void require_one_context(bool same);
/// @throws InvalidArgument  for a number other than 18, 12 or 8; for a violation (GaugeField::unitarity_violation)
///                          above the limit, if the links are compressed or in fixed point
void require_links(int reals, double violation, double limit, bool fixed_point);
/// @throws InvalidArgument  for a number other than 72 or 56. For 56, if the two diagonal colour blocks of a chirality
///                          do not add up to a multiple of the unit matrix, to 1e-12 of the largest entry of all.
/// @param blocks  [parity][site][72]
void require_clover(int reals, std::span<const double> blocks);
/// @throws InvalidArgument  while a stream records a graph
void require_not_recording(bool recording);

}  // namespace halocline::qcd::device::detail
