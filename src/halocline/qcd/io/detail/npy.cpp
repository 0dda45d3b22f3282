// SPDX-License-Identifier: Apache-2.0
//
// NPY: the file format of one NumPy array. Magic "\x93NUMPY", version, the length of a Python dictionary with descr,
// fortran_order and shape, then the array. We take the canonical gauge array [t][z][y][x][mu][3][3] of complex64 or
// complex128, in C order, either byte order.

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/field/su3.hpp"
#include "halocline/qcd/io/detail/bytes.hpp"
#include "halocline/qcd/io/detail/header.hpp"
#include "halocline/qcd/io/detail/xml.hpp"

namespace halocline::qcd::io::detail {

namespace {

using core::FileError;

constexpr std::int64_t prefix_bytes = 8;  // magic and version
constexpr std::int64_t longest_dictionary = 1 << 16;

/// The text that follows "'key':" in the dictionary, or nothing.
std::optional<std::string_view> value_of(std::string_view dictionary, const std::string& key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = quote + key + quote;
    const auto at = dictionary.find(quoted);
    if (at == std::string_view::npos) continue;
    const auto colon = dictionary.find_first_not_of(" \t", at + quoted.size());
    if (colon == std::string_view::npos || dictionary[colon] != ':') return std::nullopt;
    return trimmed(dictionary.substr(colon + 1));
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const InputFile& file, const std::string& record, const std::string& found,
                         const std::string& expected) {
  throw FileError(file.path(), record,
                  fmt::format("is {}, expected {}; save the array as [t][z][y][x][mu][3][3] of complex numbers",
                              shown(found), expected));
}

constexpr const char* how_to_reorder =
    "which is PyQUDA's order [mu][t][z][y][x][3][3], expected [t][z][y][x][mu][3][3]; "
    "numpy.save(new, numpy.moveaxis(numpy.load(old), 0, 4)) reorders it";

void parse_type(const InputFile& file, std::string_view value, Header& header) {
  const std::string_view type = value.substr(0, value.find_first_of(",}"));
  for (const char quote : {'\'', '"'})
    for (const char order : {'<', '>'})
      for (const int bits : {32, 64})
        if (trimmed(type) == fmt::format("{}{}c{}{}", quote, order, bits / 4, quote)) {
          header.byte_order = order == '<' ? ByteOrder::little : ByteOrder::big;
          header.info.bits = bits;
          return;
        }
  refuse(file, "descr", std::string(trimmed(type)), "'<c8', '<c16', '>c8' or '>c16'");
}

void parse_shape(const InputFile& file, std::string_view value, Header& header) {
  const auto close = value.find(')');
  const std::string found(value.substr(0, close == std::string_view::npos ? 40 : close + 1));
  const std::string expected = "(T, Z, Y, X, 4, 3, 3)";
  if (!value.starts_with('(') || close == std::string_view::npos) refuse(file, "shape", found, expected);
  std::string_view rest = value.substr(1, close - 1);
  std::vector<std::int64_t> shape;
  while (!trimmed(rest).empty() && shape.size() < 8) {
    const auto comma = rest.find(',');
    const auto extent = integer_of(trimmed(rest.substr(0, comma)));
    if (!extent) refuse(file, "shape", found, expected);
    shape.push_back(*extent);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  if (shape.size() == 7 && shape[0] == 4 && shape[4] != 4 && shape[5] == 3 && shape[6] == 3)
    throw FileError(file.path(), "shape", fmt::format("is {}, {}", shown(found), how_to_reorder));
  if (shape.size() != 7 || shape[4] != 4 || shape[5] != 3 || shape[6] != 3) refuse(file, "shape", found, expected);
  header.info.extents = {shape[3], shape[2], shape[1], shape[0]};
}

/// Mean and standard error of Re tr / 3 of the plaquettes at some sites, in one of the two orders of the same bytes.
struct Sample {
  double mean = 0;
  double error = 0;
};

Sample sample_plaquettes(const InputFile& file, const Header& header, bool mu_first) {
  constexpr std::int64_t most_sites = 64;
  const lattice::Coordinates<4>& n = header.info.extents;
  const lattice::Coordinates<4> extents = mu_first ? lattice::Coordinates<4>{4, n[0], n[1], n[2]} : n;
  const std::int64_t volume = lattice::product<4>(extents);
  const std::int64_t link_bytes = 9 * 2 * (header.info.bits / 8);
  std::vector<std::byte> bytes(static_cast<std::size_t>(link_bytes));
  const auto link = [&](const lattice::Coordinates<4>& x, int mu) {
    const std::int64_t site = lattice::linear_index<4>(x, extents);
    const std::int64_t index = mu_first ? mu * volume + site : 4 * site + mu;
    file.read(header.data_offset + index * link_bytes, bytes, "links");
    std::array<std::complex<double>, 9> numbers;
    decode(numbers, bytes.data(), header.info.bits, header.byte_order);
    Su3<double> u;
    for (int k = 0; k < 9; ++k)
      u.e[k / 3][k % 3] = {numbers[static_cast<std::size_t>(k)].real(), numbers[static_cast<std::size_t>(k)].imag()};
    return u;
  };
  double sum = 0, squares = 0;
  int count = 0;
  for (std::int64_t i = 0; i < std::min(volume, most_sites); ++i) {
    // Multiples of the golden section are spread evenly and follow no axis.
    const double place = std::fmod(0.6180339887498949 * static_cast<double>(i), 1.0);
    const auto x = lattice::coordinates_of<4>(static_cast<std::int64_t>(place * static_cast<double>(volume)), extents);
    for (int mu = 0; mu < 4; ++mu)
      for (int nu = mu + 1; nu < 4; ++nu) {
        auto ahead = x, aside = x;
        ahead[mu] = (x[mu] + 1) % extents[mu];
        aside[nu] = (x[nu] + 1) % extents[nu];
        const auto loop = link(x, mu) * link(ahead, nu) * adjoint(link(x, nu) * link(aside, mu));
        const double value = (loop.e[0][0].re + loop.e[1][1].re + loop.e[2][2].re) / 3;
        sum += value;
        squares += value * value;
        ++count;
      }
  }
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean) / count)};
}

}  // namespace

void check_npy_order(const InputFile& file, const Header& header) {
  if (header.info.extents[3] != 4) return;
  const Sample ours = sample_plaquettes(file, header, false), other = sample_plaquettes(file, header, true);
  if (!(other.mean - ours.mean > 5 * std::hypot(ours.error, other.error))) return;
  throw FileError(
      file.path(), "links",
      fmt::format("have a mean plaquette of {:.3g} at some sites when read as [t][z][y][x][mu][3][3], and of "
                  "{:.3g} when read with mu first, {}",
                  ours.mean, other.mean, how_to_reorder));
}

Header parse_npy(const InputFile& file) {
  std::array<std::byte, 12> head{};
  file.read(0, head, "NPY header");
  const auto version = std::to_integer<int>(head[6]);
  if (version < 1 || version > 3) refuse(file, "NPY version", std::to_string(version), "1, 2 or 3");
  const bool is_short = version == 1;
  const std::int64_t begin = prefix_bytes + (is_short ? 2 : 4);
  std::int64_t length = load_word<std::uint32_t>(head.data() + prefix_bytes, ByteOrder::little);
  if (is_short) length &= 0xffff;
  if (length > longest_dictionary || length > file.size() - begin)
    throw FileError(
        file.path(), "NPY header",
        fmt::format("claims {} bytes of description, but {} bytes follow and at most {} make sense; fetch or "
                    "save the file again",
                    length, file.size() - begin, longest_dictionary));
  const std::string dictionary = file.text(begin, length, "NPY header");

  Header header;
  header.info.path = file.path();
  header.info.format = "npy";
  const auto type = value_of(dictionary, "descr");
  const auto fortran = value_of(dictionary, "fortran_order");
  const auto shape = value_of(dictionary, "shape");
  if (!type || !fortran || !shape)
    throw FileError(file.path(), "NPY header", "lacks descr, fortran_order or shape; fetch or save the file again");
  parse_type(file, *type, header);
  if (!fortran->starts_with("False")) refuse(file, "fortran_order", std::string(fortran->substr(0, 5)), "False");
  parse_shape(file, *shape, header);
  header.info.endian = name_of(header.byte_order);
  header.info.warnings.emplace_back(
      "NPY files carry no checksum and no plaquette: damage to the links may go unnoticed");
  header.data_offset = begin + length;
  check_data_size(header, "links", file.size() - header.data_offset);
  return header;
}

Envelope make_npy(const Request& request) {
  std::string dictionary =
      fmt::format("{{'descr': '{}c{}', 'fortran_order': False, 'shape': ({}, {}, {}, {}, 4, 3, 3), }}",
                  request.order == ByteOrder::little ? '<' : '>', request.bits / 4, request.extents[3],
                  request.extents[2], request.extents[1], request.extents[0]);
  // The data begin at a multiple of 64 bytes, so that the file can be mapped; the dictionary ends with a newline.
  const std::size_t before = static_cast<std::size_t>(prefix_bytes) + 2;
  dictionary.append(63 - (before + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  std::string text("\x93NUMPY\x01\0", 8);
  text += static_cast<char>(dictionary.size() & 0xffU);
  text += static_cast<char>(dictionary.size() >> 8);
  text += dictionary;
  Envelope envelope;
  append(envelope.front, bytes_of(text));
  return envelope;
}

}  // namespace halocline::qcd::io::detail
