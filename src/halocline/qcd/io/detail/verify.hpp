// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Comparison of a file's claims with its data.
///
/// The checks run in the order that names a mistake most plainly: byte order, checksum, NaN or infinite numbers,
/// unitarity, plaquette and link trace. All checks are collective, and their errors are thrown on every rank.

#include <complex>
#include <span>

#include "halocline/comm/group/communicator.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/io/detail/header.hpp"

namespace halocline::qcd::io::detail {

/// Links farther than this from unitary ones are refused: their products and determinants may not be finite.
inline constexpr double largest_violation = 1e30;

/// Byte order, checksum and finiteness of the raw links.
/// @param links  local, as decoded (two-row links without their third row)
/// @param sums   combined over the ranks
/// @throws FileError  Collective: yes.
void verify_data(const Header& header, const Sums& sums, std::span<const std::complex<double>> links,
                 const comm::Communicator& group);

/// Measures unitarity, plaquette and link trace into header.info, and compares.
/// @throws FileError  Collective: yes.
void verify_field(Header& header, const GaugeField& u, bool strict);

/// True when the numbers make sense only with their bytes reversed: the first rows of the first links have length 1
/// when reversed, and not as they are. @param bits  of each real in the file
bool looks_byte_swapped(std::span<const std::complex<double>> links, int bits);

}  // namespace halocline::qcd::io::detail
