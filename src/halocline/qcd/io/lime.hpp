// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// LIME, the container of ILDG and SciDAC files: typed records one after another.
///
/// A record is a header of 144 bytes (magic 456789ab, version, two flags that mark the first and last record of a
/// message, the length of the data, a type name of up to 127 letters), then its data, then zeros to a multiple of
/// eight. Numbers are big-endian. There is no table of contents: a reader steps from header to header, and must check
/// each length against the end of the file.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halocline::qcd::io {

namespace detail {
class InputFile;
}

inline constexpr std::int64_t lime_header_bytes = 144;

/// Where one record lies.
struct LimeRecord {
  std::string type;
  std::int64_t offset = 0;  ///< of its data [bytes]
  std::int64_t length = 0;  ///< of its data, without padding [bytes]
  bool message_begin = false;
  bool message_end = false;
};

/// All records, in order.
/// @throws FileError  for a wrong magic number or version, a byte-swapped file, a header cut short, a length past the
///                    end (with the length and what is left), a type that does not end, more than 100000 records
/// Collective: no.  Cost: one read of 144 bytes a record.
std::vector<LimeRecord> lime_records(const detail::InputFile& file);

/// The data of a short record as text, without the trailing NUL that writers add.
/// @throws FileError  when it is longer than 1 MiB, more than any text record needs
std::string lime_text(const detail::InputFile& file, const LimeRecord& record);

/// The 144 bytes before the data. @param type  up to 127 characters
std::vector<std::byte> lime_header(std::string_view type, std::int64_t length, bool message_begin, bool message_end);

/// Header, data with a trailing NUL, and padding of a text record.
std::vector<std::byte> lime_text_record(std::string_view type, std::string_view text, bool message_begin,
                                        bool message_end);

/// Zeros that follow the data of a record.
constexpr std::int64_t lime_padding(std::int64_t length) { return (8 - length % 8) % 8; }

}  // namespace halocline::qcd::io
