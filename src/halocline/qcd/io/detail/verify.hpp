// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a file claims, held against the data that came out of it.
///
/// In the order in which a mistake would be most plainly named: byte order, checksum, numbers that are none, links that
/// are not unitary, plaquette and link trace. All of it is collective, and what it throws is thrown on every rank.

#include <complex>
#include <span>

#include "halocline/comm/communicator.hpp"
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

/// Whether numbers are sensible only with their bytes reversed: the first rows of the first links have length 1 then,
/// and not as they are. @param bits  of each real in the file
bool looks_byte_swapped(std::span<const std::complex<double>> links, int bits);

}  // namespace halocline::qcd::io::detail
