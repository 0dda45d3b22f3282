// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/io/detail/verify.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/observables.hpp"

namespace halocline::qcd::io {

double unitarity_tolerance(int bits) { return bits == 64 ? 1e-10 : 1e-5; }

namespace detail {

namespace {

using core::FileError;

/// Two rows farther from orthonormal than this do not determine the third.
constexpr double largest_rebuildable_violation = 1e-4;

double real_swapped(double value, int bits) {
  if (bits == 64) return std::bit_cast<double>(swapped(std::bit_cast<std::uint64_t>(value)));
  return std::bit_cast<float>(swapped(std::bit_cast<std::uint32_t>(static_cast<float>(value))));
}

bool has_length_one(double length) { return std::abs(length - 1.0) < 1e-3; }

/// The claim and the measured value, both as the file writes them; equal strings mean agreement.
struct Comparison {
  std::string record;
  std::string claimed;
  std::string measured;
};

std::optional<Comparison> checksum_of(const Header& header, const Sums& sums) {
  if (header.nersc) {
    return Comparison{"CHECKSUM", fmt::format("{:08x}", *header.nersc),
                      sums.nersc.text(header.byte_order == ByteOrder::big)};
  }
  if (header.scidac) return Comparison{"scidac-checksum", header.scidac->text(), sums.scidac.text()};
  if (header.milc) return Comparison{"sum29 sum31", header.milc->text(), sums.milc.text()};
  return std::nullopt;
}

/// Compares a claim of limited printed precision with the measured value. Refuses a difference that sums in single
/// precision cannot explain, and notes one in the last digits that exceeds rounding.
void compare(Header& header, const std::string& record, const char* what, std::optional<double> claimed, double digits,
             double measured) {
  if (!claimed) return;
  const bool is_double = header.info.bits == 64;
  const bool is_exact = header.info.format == "openqcd";  // the only check of that format, and written in binary
  const double refused = is_exact ? 1e-12 : (is_double ? 1e-6 : 1e-5) + digits;
  const double noted = (is_double ? 1e-12 : 1e-7) + 2 * digits;
  const double difference = std::abs(*claimed - measured);
  if (!(difference <= refused))
    throw FileError(header.info.path, record,
                    fmt::format("the file claims a {} of {:.15g}, its links give {:.15g}: the links are damaged or in "
                                "another order than this format has; fetch the file again",
                                what, *claimed, measured));
  if (difference > noted)
    header.info.warnings.push_back(
        fmt::format("the {} of the header, {:.15g}, differs from that of the links, {:.15g}, "
                    "in its last digits",
                    what, *claimed, measured));
}

}  // namespace

bool looks_byte_swapped(std::span<const std::complex<double>> links, int bits) {
  const std::size_t count = std::min<std::size_t>(links.size() / 9, 16);
  for (std::size_t link = 0; link < count; ++link) {
    double as_it_is = 0;
    double reversed = 0;
    for (std::size_t k = 0; k < 3; ++k)
      for (const double part : {links[9 * link + k].real(), links[9 * link + k].imag()}) {
        as_it_is += part * part;
        const double other = real_swapped(part, bits);
        reversed += other * other;
      }
    if (has_length_one(as_it_is) || !has_length_one(reversed)) return false;
  }
  return count > 0;
}

void verify_data(const Header& header, const Sums& sums, std::span<const std::complex<double>> links,
                 const comm::Communicator& group) {
  const GaugeFileInfo& info = header.info;
  const auto checksum = checksum_of(header, sums);
  const bool is_swapped = looks_byte_swapped(links, info.bits);
  const bool is_finite = std::all_of(links.begin(), links.end(), [](const std::complex<double>& number) {
    return std::isfinite(number.real()) && std::isfinite(number.imag());
  });
  if (group.all(is_swapped))
    throw FileError(info.path, info.format == "nersc" ? "FLOATING_POINT" : "links",
                    fmt::format("the header says {}-endian, but the numbers are unitary links only when read as "
                                "{}-endian{}: the file was converted wrongly; correct its header or fetch the original",
                                info.endian, name_of(opposite(header.byte_order)),
                                checksum ? fmt::format(" ({}: {} claimed, {} found)", checksum->record,
                                                       checksum->claimed, checksum->measured)
                                         : ""));
  if (checksum && checksum->claimed != checksum->measured)
    throw FileError(info.path, checksum->record,
                    fmt::format("the file claims {}, its links give {}: the file is damaged; "
                                "fetch it again",
                                checksum->claimed, checksum->measured));
  if (!group.all(is_finite))
    throw FileError(info.path, "links",
                    "hold NaN or infinite numbers, expected SU(3) matrices; make or fetch the file "
                    "again");
}

void verify_field(Header& header, const GaugeField& u, bool strict) {
  GaugeFileInfo& info = header.info;
  const std::size_t warnings = info.warnings.size();
  info.unitarity_violation = u.unitarity_violation();
  const double tolerance = unitarity_tolerance(info.bits);
  if (!(info.unitarity_violation < largest_violation))
    throw FileError(
        info.path, "links",
        fmt::format("hold huge numbers (|U U^dagger - 1| reaches {:.3g}), whose products are not finite; make "
                    "or fetch the file again",
                    info.unitarity_violation));
  if (!(info.unitarity_violation <= tolerance)) {
    const std::string found = fmt::format(
        "the links are not unitary: |U U^dagger - 1| or |det U - 1| reaches {:.3g}, expected at most {:.0e} "
        "at {} bits",
        info.unitarity_violation, tolerance, info.bits);
    if (info.rows == 2 && !(info.unitarity_violation <= largest_rebuildable_violation))
      throw FileError(info.path, "links", found + "; the missing third rows cannot be rebuilt from such rows");
    if (strict) throw FileError(info.path, "links", found + "; project them to SU(3), or read without strict");
    info.warnings.push_back(found);
  }
  info.plaquette = gauge::plaquette(u);
  info.link_trace = gauge::link_trace(u);
  compare(header, header.plaquette_record, "plaquette", info.header_plaquette, header.plaquette_digits, info.plaquette);
  compare(header, header.link_trace_record, "link trace", info.header_link_trace, header.link_trace_digits,
          info.link_trace);
  if (header.nersc && info.warnings.size() > warnings)
    info.warnings.emplace_back(
        "NERSC's checksum agrees, but it is a plain sum, which misses words that have changed places and changes that "
        "cancel; fetch the file again, and keep gauge fields as ILDG, whose SciDAC checksum finds both");
}

}  // namespace detail
}  // namespace halocline::qcd::io
