// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/io/lime.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/io/detail/bytes.hpp"
#include "halocline/qcd/io/detail/file.hpp"

namespace halocline::qcd::io {

namespace {

using core::FileError;
using detail::ByteOrder;
using detail::load_word;

constexpr std::uint32_t magic = 0x456789ab;
constexpr std::size_t type_bytes = 128;
constexpr std::size_t most_records = 100000;
constexpr std::int64_t longest_text = std::int64_t{1} << 20;

/// Writers may leave a newline or zeros behind the last record.
bool is_blank(std::string_view rest) {
  return std::all_of(rest.begin(), rest.end(), [](char c) { return c == '\0' || c == '\n'; });
}

LimeRecord parse_header(const std::array<std::byte, lime_header_bytes>& header, const std::string& path,
                        std::size_t index, std::int64_t at, std::int64_t file_size) {
  const std::string where = fmt::format("LIME record {} at byte {}", index, at);
  const auto found = load_word<std::uint32_t>(header.data(), ByteOrder::big);
  if (found == detail::swapped(magic))
    throw FileError(path, where,
                    fmt::format("magic number {:08x} is byte-swapped, expected {:08x}: LIME is big-endian, "
                                "so the file was converted wrongly; fetch the original",
                                found, magic));
  if (found != magic)
    throw FileError(path, where,
                    fmt::format("magic number is {:08x}, expected {:08x}: the file is damaged or the "
                                "record before has a wrong length; fetch it again",
                                found, magic));
  const std::uint32_t version_flags = load_word<std::uint32_t>(header.data() + 4, ByteOrder::big);
  const std::uint32_t version = version_flags >> 16;
  if (version != 1)
    throw FileError(path, where, fmt::format("LIME version is {}, expected 1; fetch the file again", version));

  LimeRecord record;
  record.message_begin = (version_flags & 0x8000U) != 0U;
  record.message_end = (version_flags & 0x4000U) != 0U;
  record.offset = at + lime_header_bytes;
  const auto* name = reinterpret_cast<const char*>(header.data() + 16);
  const auto* end = static_cast<const char*>(std::memchr(name, 0, type_bytes));
  if (end == nullptr)
    throw FileError(path, where, "the type name does not end within its 128 bytes; fetch the file again");
  record.type.assign(name, end);
  for (char& c : record.type)
    if (c < ' ' || c > '~') c = '?';

  const auto length = load_word<std::uint64_t>(header.data() + 8, ByteOrder::big);
  const std::int64_t left = file_size - record.offset;
  if (length > static_cast<std::uint64_t>(left))
    throw FileError(path, record.type,
                    fmt::format("record {} claims {} bytes, but only {} follow in the file: it is "
                                "truncated or the length is damaged; fetch it again",
                                index, length, left));
  record.length = static_cast<std::int64_t>(length);
  return record;
}

}  // namespace

std::vector<LimeRecord> lime_records(const detail::InputFile& file) {
  std::vector<LimeRecord> records;
  std::int64_t at = 0;
  while (at < file.size()) {
    const std::int64_t left = file.size() - at;
    const std::string where = fmt::format("LIME record {} at byte {}", records.size(), at);
    if (left < lime_header_bytes) {
      if (!records.empty() && is_blank(file.text(at, left, where))) break;
      throw FileError(file.path(), where,
                      fmt::format("its header needs {} bytes, but only {} follow: the file is "
                                  "truncated; fetch it again",
                                  lime_header_bytes, left));
    }
    if (records.size() == most_records)
      throw FileError(file.path(), where,
                      fmt::format("the file has more than {} records, which no lattice file has; "
                                  "fetch it again",
                                  most_records));
    std::array<std::byte, lime_header_bytes> header{};
    file.read(at, header, where);
    records.push_back(parse_header(header, file.path(), records.size(), at, file.size()));
    at = records.back().offset + records.back().length;
    at += std::min(lime_padding(records.back().length), file.size() - at);
  }
  return records;
}

std::string lime_text(const detail::InputFile& file, const LimeRecord& record) {
  if (record.length > longest_text)
    throw FileError(file.path(), record.type,
                    fmt::format("the record has {} bytes, but such a description has at most "
                                "{}; fetch the file again",
                                record.length, longest_text));
  std::string text = file.text(record.offset, record.length, record.type);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::vector<std::byte> lime_header(std::string_view type, std::int64_t length, bool message_begin, bool message_end) {
  std::vector<std::byte> header(lime_header_bytes);
  const std::uint32_t flags = (message_begin ? 0x8000U : 0U) | (message_end ? 0x4000U : 0U);
  detail::store_word(header.data(), magic, ByteOrder::big);
  detail::store_word(header.data() + 4, (std::uint32_t{1} << 16) | flags, ByteOrder::big);
  detail::store_word(header.data() + 8, static_cast<std::uint64_t>(length), ByteOrder::big);
  std::memcpy(header.data() + 16, type.data(), std::min(type.size(), type_bytes - 1));
  return header;
}

std::vector<std::byte> lime_text_record(std::string_view type, std::string_view text, bool message_begin,
                                        bool message_end) {
  const auto length = static_cast<std::int64_t>(text.size()) + 1;
  std::vector<std::byte> record = lime_header(type, length, message_begin, message_end);
  record.resize(static_cast<std::size_t>(lime_header_bytes + length + lime_padding(length)));
  if (!text.empty()) std::memcpy(record.data() + lime_header_bytes, text.data(), text.size());
  return record;
}

}  // namespace halocline::qcd::io
