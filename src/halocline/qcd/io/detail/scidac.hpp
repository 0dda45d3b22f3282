// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The SciDAC (QIO) records that ILDG gauge files and propagator files share.
///
/// A file is two messages: one about the file (scidac-private-file-xml with the lattice, scidac-file-xml with the
/// user's words) and one for each field (scidac-private-record-xml with the type, scidac-record-xml, the binary data,
/// scidac-checksum). ILDG puts its ildg-format before the data and ildg-data-lfn after it.

#include <optional>
#include <string>
#include <vector>

#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/io/checksum.hpp"
#include "halocline/qcd/io/detail/file.hpp"
#include "halocline/qcd/io/lime.hpp"

namespace halocline::qcd::io::detail {

inline constexpr const char* xml_declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// The type of a field, from scidac-private-record-xml.
struct ScidacType {
  std::string datatype;
  std::string precision;       ///< "F", "D" or "U"
  std::int64_t typesize = 0;   ///< bytes of one object at one site
  std::int64_t datacount = 0;  ///< objects a site
  std::string date;
};

/// First record of this type at or after `from`; nullptr when there is none.
const LimeRecord* find_record(const std::vector<LimeRecord>& records, std::string_view type, std::size_t from = 0);

/// An element that must be a whole number. @throws FileError  when it is missing or something else
std::int64_t need_integer(const InputFile& file, const LimeRecord& record, const std::string& xml,
                          const std::string& element);

/// Sizes x y z t of a scidac-private-file-xml. @throws FileError  unless it is one file of four dimensions
lattice::Coordinates<4> scidac_extents(const InputFile& file, const LimeRecord& record);

/// @throws FileError  when typesize or datacount are not numbers
ScidacType scidac_type(const InputFile& file, const LimeRecord& record);

/// suma and sumb. @throws FileError  when they are not hexadecimal numbers
ScidacChecksum scidac_checksum(const InputFile& file, const LimeRecord& record);

std::string scidac_file_xml(const lattice::Coordinates<4>& extents);
std::string scidac_type_xml(const ScidacType& type, int spins);
std::string scidac_checksum_xml(const ScidacChecksum& sums);

}  // namespace halocline::qcd::io::detail
