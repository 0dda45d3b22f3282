// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/io/detail/header.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "halocline/core/error.hpp"

namespace halocline::qcd::io::detail {

namespace {

using core::FileError;

template <class Number, class... Base>
std::optional<Number> number_of(std::string_view text, Base... base) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, base...);
  if (text.empty() || error != std::errc() || at != end) return std::nullopt;
  return value;
}

std::string first_bytes(std::string_view head) {
  std::string out;
  for (std::size_t i = 0; i < head.size() && i < 8; ++i)
    out += fmt::format("{}{:02x}", i == 0 ? "" : " ", static_cast<unsigned char>(head[i]));
  return out;
}

}  // namespace

void Sums::combine(ChecksumKind kind, const comm::Communicator& group) {
  switch (kind) {
  case ChecksumKind::nersc:
    nersc.combine(group);
    break;
  case ChecksumKind::scidac:
    scidac.combine(group);
    break;
  case ChecksumKind::milc:
    milc.combine(group);
    break;
  case ChecksumKind::none:
    break;
  }
}

std::string Request::text(std::string_view key, std::string_view fallback) const {
  for (const auto& [name, value] : metadata)
    if (name == key) return value;
  return std::string(fallback);
}

std::optional<std::int64_t> integer_of(std::string_view text) { return number_of<std::int64_t>(text); }

std::optional<double> real_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto value = number_of<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::uint32_t> hexadecimal_of(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return number_of<std::uint32_t>(text, 16);
}

double last_digit_of(std::string_view text) {
  double digit = 0.5;
  const auto exponent_at = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, exponent_at);
  const auto point = mantissa.find('.');
  if (point != std::string_view::npos) digit *= std::pow(10.0, -static_cast<double>(mantissa.size() - point - 1));
  if (exponent_at != std::string_view::npos)
    digit *= std::pow(10.0, static_cast<double>(integer_of(text.substr(exponent_at + 1)).value_or(0)));
  return digit;
}

std::string text_of(const lattice::Coordinates<4>& extents) {
  return fmt::format("{}x{}x{}x{}", extents[0], extents[1], extents[2], extents[3]);
}

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void check_data_size(const Header& header, const std::string& record, std::int64_t available) {
  const GaugeFileInfo& info = header.info;
  std::int64_t bytes = header.site_bytes();
  for (const std::int64_t extent : info.extents) {
    if (extent < 1)
      throw FileError(info.path, record,
                      fmt::format("the header claims a lattice of {} sites, but every extent is at "
                                  "least 1; fetch the file again",
                                  text_of(info.extents)));
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      throw FileError(info.path, record,
                      fmt::format("the header claims a lattice of {} sites, whose links no file can hold ({} bytes are "
                                  "there): the header is damaged; fetch the file again",
                                  text_of(info.extents), available));
  }
  if (bytes != available)
    throw FileError(info.path, record,
                    fmt::format("the links of a {} lattice ({} bits, {} rows a link) take {} bytes, but the file has "
                                "{}: {}; fetch it again",
                                text_of(info.extents), info.bits, info.rows, bytes, available,
                                available < bytes ? "it is truncated, or its header is damaged"
                                                  : "its header is damaged, or something was appended"));
}

Header parse_header(const InputFile& file) {
  const std::string head = file.text(0, 24, "first bytes");
  const std::string_view view(head);
  const auto starts_with = [&](std::string_view magic) { return view.starts_with(magic); };
  if (starts_with("BEGIN_HEADER")) return parse_nersc(file);
  if (starts_with("\x45\x67\x89\xab") || starts_with("\xab\x89\x67\x45")) return parse_lime_gauge(file);
  if (starts_with("\x93NUMPY")) return parse_npy(file);
  // 20103 = 0x4e87
  if (starts_with(std::string_view("\x87\x4e\0\0", 4)) || starts_with(std::string_view("\0\0\x4e\x87", 4)))
    return parse_milc(file);
  if (starts_with("\x89HDF\r\n\x1a\n"))
    throw FileError(file.path(), "",
                    "is an HDF5 file, which this reader does not take; read it with Python "
                    "(halocline.qcd.read_gauge) or the command line");
  const auto bytes = bytes_of(head);
  if (looks_like_openqcd(bytes, ByteOrder::little)) return parse_openqcd(file);
  if (looks_like_openqcd(bytes, ByteOrder::big))
    throw FileError(file.path(), "lattice sizes",
                    "look like an openQCD file in big-endian order, but openQCD writes "
                    "little-endian; convert it back or fetch the original");
  throw FileError(
      file.path(), "first bytes",
      fmt::format("found {}, expected the beginning of a NERSC (BEGIN_HEADER), LIME (45 67 89 ab), openQCD, "
                  "MILC v5 (20103) or NPY (93 NUMPY) file; give a gauge file in one of these formats",
                  first_bytes(view)));
}

}  // namespace halocline::qcd::io::detail
