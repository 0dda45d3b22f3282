// SPDX-License-Identifier: Apache-2.0
//
// NERSC archive format: lines "KEY = value" between BEGIN_HEADER and END_HEADER, then the links, x fastest, four a
// site (x y z t), three rows or the first two, 32 or 64 bits, either byte order. CHECKSUM is the 32-bit sum of the
// data's words, PLAQUETTE and LINK_TRACE are means of Re tr / 3. Two-row files leave the third row to the reader.

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/io/detail/header.hpp"
#include "halocline/qcd/io/detail/xml.hpp"

namespace halocline::qcd::io::detail {

namespace {

using core::FileError;

constexpr std::int64_t longest_header = 1 << 16;

/// Keys that describe the data. They are always written from the data, never copied from metadata.
constexpr std::array own_keys{"HDR_VERSION", "DATATYPE",    "STORAGE_FORMAT", "DIMENSION_1", "DIMENSION_2",
                              "DIMENSION_3", "DIMENSION_4", "LINK_TRACE",     "PLAQUETTE",   "BOUNDARY_1",
                              "BOUNDARY_2",  "BOUNDARY_3",  "BOUNDARY_4",     "CHECKSUM",    "FLOATING_POINT"};

bool is_own(std::string_view key) { return std::find(own_keys.begin(), own_keys.end(), key) != own_keys.end(); }

struct Lines {
  Metadata pairs;
  std::int64_t bytes = 0;  ///< of the header with its last line
};

Lines read_lines(const InputFile& file) {
  const std::string text = file.text(0, longest_header, "header");
  Lines lines;
  std::size_t at = 0;
  for (int number = 1;; ++number) {
    const auto end = text.find('\n', at);
    if (end == std::string::npos)
      throw FileError(
          file.path(), "header",
          fmt::format("no END_HEADER within the first {} bytes: the file is truncated or its header damaged; "
                      "fetch it again",
                      text.size()));
    const std::string_view line = trimmed(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (line == "END_HEADER") break;
    if (number == 1 || line.empty()) continue;
    const auto equals = line.find('=');
    if (equals == std::string_view::npos)
      throw FileError(file.path(), "header",
                      fmt::format("line {} is not of the form KEY = value; fetch the file again", number));
    lines.pairs.emplace_back(valid_utf8(std::string(trimmed(line.substr(0, equals)))),
                             valid_utf8(std::string(trimmed(line.substr(equals + 1)))));
  }
  lines.bytes = static_cast<std::int64_t>(at);
  return lines;
}

const std::string* find(const Metadata& pairs, std::string_view key) {
  for (const auto& [name, value] : pairs)
    if (name == key) return &value;
  return nullptr;
}

const std::string& need(const InputFile& file, const Metadata& pairs, const std::string& key) {
  if (const std::string* value = find(pairs, key)) return *value;
  throw FileError(file.path(), key, "is missing from the NERSC header; fetch the file again or add it");
}

template <class Number>
Number need_number(const InputFile& file, const std::string& key, const std::string& text,
                   const std::optional<Number>& number, const char* kind) {
  if (number) return *number;
  throw FileError(file.path(), key,
                  fmt::format("is \"{}\", expected {}; fetch the file again or correct its header", shown(text), kind));
}

void parse_floating_point(const InputFile& file, const std::string& text, Header& header) {
  std::string_view rest(text);
  header.info.bits = rest.starts_with("IEEE64") ? 64 : 32;
  if (!rest.starts_with("IEEE32") && !rest.starts_with("IEEE64"))
    throw FileError(file.path(), "FLOATING_POINT",
                    fmt::format("is \"{}\", expected IEEE32 or IEEE64 followed by BIG or "
                                "LITTLE; correct the header",
                                shown(text)));
  rest.remove_prefix(6);
  if (rest == "BIG" || rest.empty())
    header.byte_order = ByteOrder::big;
  else if (rest == "LITTLE")
    header.byte_order = ByteOrder::little;
  else
    throw FileError(file.path(), "FLOATING_POINT",
                    fmt::format("is \"{}\", expected IEEE32 or IEEE64 followed by BIG or "
                                "LITTLE; correct the header",
                                shown(text)));
  header.byte_order_known = !rest.empty();
}

}  // namespace

Header parse_nersc(const InputFile& file) {
  const Lines lines = read_lines(file);
  const Metadata& pairs = lines.pairs;
  Header header;
  GaugeFileInfo& info = header.info;
  info.path = file.path();
  info.format = "nersc";
  info.header = pairs;
  header.data_offset = lines.bytes;
  header.checksum_kind = ChecksumKind::nersc;

  const std::string& type = need(file, pairs, "DATATYPE");
  if (type != "4D_SU3_GAUGE" && type != "4D_SU3_GAUGE_3x3")
    throw FileError(file.path(), "DATATYPE",
                    fmt::format("is \"{}\", expected 4D_SU3_GAUGE or 4D_SU3_GAUGE_3x3: only SU(3) "
                                "gauge fields in four dimensions can be read",
                                shown(type)));
  info.rows = type == "4D_SU3_GAUGE" ? 2 : 3;
  for (int axis = 0; axis < 4; ++axis) {
    const std::string key = fmt::format("DIMENSION_{}", axis + 1);
    const std::string& text = need(file, pairs, key);
    info.extents[static_cast<std::size_t>(axis)] = need_number(file, key, text, integer_of(text), "a whole number");
    const std::string* boundary = find(pairs, fmt::format("BOUNDARY_{}", axis + 1));
    if (boundary != nullptr && *boundary != "PERIODIC")
      info.warnings.push_back(fmt::format("BOUNDARY_{} is {}: the links are taken as they are, without a phase",
                                          axis + 1, shown(*boundary)));
  }
  parse_floating_point(file, need(file, pairs, "FLOATING_POINT"), header);
  info.endian = name_of(header.byte_order);

  if (const std::string* text = find(pairs, "CHECKSUM")) {
    header.nersc = need_number(file, "CHECKSUM", *text, hexadecimal_of(*text), "up to eight hexadecimal digits");
    info.checksum = *text;
  } else {
    info.warnings.emplace_back(
        "the NERSC header has no CHECKSUM: damage to the links may go unnoticed; an ILDG file has a SciDAC checksum, "
        "which finds it");
  }
  if (const std::string* text = find(pairs, "PLAQUETTE")) {
    info.header_plaquette = need_number(file, "PLAQUETTE", *text, real_of(*text), "a number");
    header.plaquette_digits = last_digit_of(*text);
  } else {
    info.warnings.emplace_back("the NERSC header has no PLAQUETTE to compare with the links");
  }
  if (const std::string* text = find(pairs, "LINK_TRACE")) {
    info.header_link_trace = need_number(file, "LINK_TRACE", *text, real_of(*text), "a number");
    header.link_trace_digits = last_digit_of(*text);
  } else {
    info.warnings.emplace_back("the NERSC header has no LINK_TRACE to compare with the links");
  }
  check_data_size(header, "links", file.size() - header.data_offset);
  return header;
}

Envelope make_nersc(const Request& request) {
  std::string text = "BEGIN_HEADER\nHDR_VERSION = 1.0\n";
  text += fmt::format("DATATYPE = 4D_SU3_GAUGE{}\nSTORAGE_FORMAT = 1.0\n", request.rows == 3 ? "_3x3" : "");
  for (int axis = 0; axis < 4; ++axis)
    text += fmt::format("DIMENSION_{} = {}\n", axis + 1, request.extents[static_cast<std::size_t>(axis)]);
  text += fmt::format("LINK_TRACE = {:.15g}\nPLAQUETTE = {:.15g}\n", request.link_trace, request.plaquette);
  for (int axis = 0; axis < 4; ++axis) text += fmt::format("BOUNDARY_{} = PERIODIC\n", axis + 1);
  text += fmt::format("CHECKSUM = {}\n", request.sums.nersc.text(request.order == ByteOrder::big));
  for (const auto& [key, value] : request.metadata) {
    const bool proper = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
      return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
    });
    if (!proper || is_own(key) || key == "BEGIN_HEADER" || key == "END_HEADER") continue;
    std::string line = value;
    std::replace_if(line.begin(), line.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
    text += fmt::format("{} = {}\n", key, trimmed(line));
  }
  text += fmt::format("FLOATING_POINT = IEEE{}{}\nEND_HEADER\n", request.bits,
                      request.order == ByteOrder::big ? "BIG" : "LITTLE");
  Envelope envelope;
  append(envelope.front, bytes_of(text));
  return envelope;
}

}  // namespace halocline::qcd::io::detail
