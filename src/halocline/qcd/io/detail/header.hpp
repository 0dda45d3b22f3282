// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Common parts of the formats: the description of a file that was parsed, and of one to be written.
///
/// A format is two functions. `parse_<format>` turns the head of a file into a `Header`; `make_<format>` turns a
/// `Request` into the bytes before and after the data. Everything between (which rank reads what, decoding, sums,
/// verification) is the same for all and lives in transfer.hpp and verify.cpp.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halocline/qcd/io/checksum.hpp"
#include "halocline/qcd/io/detail/bytes.hpp"
#include "halocline/qcd/io/detail/file.hpp"
#include "halocline/qcd/io/gauge_file.hpp"

namespace halocline::qcd::io::detail {

/// The order of sites: x fastest with four links a site, or odd sites with the eight links around each (openQCD).
enum class SiteOrder { lexicographic, odd_sites };

enum class ChecksumKind { none, nersc, scidac, milc };

/// Sums over the data, of which a format uses one.
struct Sums {
  NerscChecksum nersc;
  ScidacChecksum scidac;
  MilcChecksum milc;
  void combine(ChecksumKind kind, const comm::Communicator& group);
};

/// The parsed head of a file.
struct Header {
  GaugeFileInfo info;
  SiteOrder site_order = SiteOrder::lexicographic;
  ByteOrder byte_order = ByteOrder::big;
  bool byte_order_known = true;  ///< false for NERSC files that say IEEE32 or IEEE64 only
  std::int64_t data_offset = 0;  ///< [bytes]
  ChecksumKind checksum_kind = ChecksumKind::none;
  std::optional<std::uint32_t> nersc;  ///< the checksum claimed, if any; of the kind above
  std::optional<ScidacChecksum> scidac;
  std::optional<MilcChecksum> milc;
  std::string plaquette_record = "PLAQUETTE";  ///< the file's name for it, for errors
  std::string link_trace_record = "LINK_TRACE";
  double plaquette_digits = 1e-15;  ///< half a unit of the last digit printed
  double link_trace_digits = 1e-15;

  std::int64_t site_bytes() const { return std::int64_t{4} * info.rows * 3 * 2 * (info.bits / 8); }
};

/// Description of a file to be written.
struct Request {
  std::string path;
  lattice::Coordinates<4> extents{};
  int bits = 64;
  int rows = 3;
  ByteOrder order = ByteOrder::big;
  double plaquette = 0;
  double link_trace = 0;
  Sums sums;
  Metadata metadata;

  std::int64_t volume() const { return lattice::product<4>(extents); }
  std::int64_t data_bytes() const { return volume() * 4 * rows * 3 * 2 * (bits / 8); }
  /// The text of a metadata key, or the fallback.
  std::string text(std::string_view key, std::string_view fallback) const;
};

/// The bytes around the data.
struct Envelope {
  std::vector<std::byte> front;
  std::vector<std::byte> back;
};

/// Finds the format by content and parses it. @throws FileError
Header parse_header(const InputFile& file);

Header parse_nersc(const InputFile& file);
Header parse_lime_gauge(const InputFile& file);
Header parse_openqcd(const InputFile& file);
Header parse_milc(const InputFile& file);
Header parse_npy(const InputFile& file);

/// An array of shape [4][T][Z][Y][4][3][3] may be in either of two orders: ours, with mu behind the sites, or PyQUDA's
/// [mu][t][z][y][x]. Sampled plaquettes tell them apart: in the wrong order the four matrices do not form a closed
/// path.
/// @throws FileError  where the other order has the larger mean plaquette by more than five standard errors
/// Collective: no.  Cost: some hundred small reads, for files of such a shape only.
void check_npy_order(const InputFile& file, const Header& header);

Envelope make_nersc(const Request& request);
Envelope make_ildg(const Request& request);
Envelope make_openqcd(const Request& request);
Envelope make_milc(const Request& request);
Envelope make_npy(const Request& request);

/// True when 24 bytes can be the head of an openQCD file (four positive even sizes, a plaquette between -3 and 3).
bool looks_like_openqcd(std::span<const std::byte> head, ByteOrder order);

/// "4x4x4x8"
std::string text_of(const lattice::Coordinates<4>& extents);

/// Compares the header's extents with the bytes in the file, without overflow.
/// @param record     of the data, for the error
/// @param available  bytes of data in the file
/// @throws FileError  for extents below 1, a product beyond any file, or a size that is not `available`
void check_data_size(const Header& header, const std::string& record, std::int64_t available);

/// The number, or nothing unless the whole text is one number.
std::optional<std::int64_t> integer_of(std::string_view text);
std::optional<double> real_of(std::string_view text);
std::optional<std::uint32_t> hexadecimal_of(std::string_view text);
/// Half a unit of the last printed digit, e.g. 5e-4 for "0.588", 5e-7 for "0.588e-3".
double last_digit_of(std::string_view text);

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes);

}  // namespace halocline::qcd::io::detail
