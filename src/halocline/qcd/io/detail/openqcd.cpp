// SPDX-License-Identifier: Apache-2.0
//
// openQCD version 1 (export_cnfg): four 32-bit sizes N0 N1 N2 N3 = t x y z, the mean of Re tr over the plaquettes (3
// for unit links) as a double, then for every odd site, z fastest and t slowest, the eight links around it in the
// directions +0 -0 +1 -1 +2 -2 +3 -3 (0 = t): 144 bytes each. All little-endian. The link in direction -mu at x is
// U(x - mu, mu), so the odd sites carry every link of the lattice once.

#include <cmath>

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/io/detail/header.hpp"

namespace halocline::qcd::io::detail {

namespace {
constexpr std::int64_t size_and_plaquette_bytes = 24;
constexpr std::int64_t largest_extent = 1 << 16;
}  // namespace

bool looks_like_openqcd(std::span<const std::byte> head, ByteOrder order) {
  if (head.size() < static_cast<std::size_t>(size_and_plaquette_bytes)) return false;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto extent = static_cast<std::int32_t>(load_word<std::uint32_t>(head.data() + 4 * i, order));
    if (extent < 1 || extent > largest_extent) return false;
  }
  const double plaquette = load_double(head.data() + 16, order);
  // Denormal numbers are refused too: most doubles read in the wrong byte order are denormal.
  return std::abs(plaquette) <= 3.0 + 1e-9 && (plaquette == 0.0 || std::abs(plaquette) > 1e-30);
}

Header parse_openqcd(const InputFile& file) {
  std::vector<std::byte> head(static_cast<std::size_t>(size_and_plaquette_bytes));
  file.read(0, head, "lattice sizes");
  const auto extent = [&](std::size_t i) {
    return static_cast<std::int64_t>(load_word<std::uint32_t>(head.data() + 4 * i, ByteOrder::little));
  };
  Header header;
  GaugeFileInfo& info = header.info;
  info.path = file.path();
  info.format = "openqcd";
  info.extents = {extent(1), extent(2), extent(3), extent(0)};
  info.bits = 64;
  info.endian = "little";
  info.header_plaquette = load_double(head.data() + 16, ByteOrder::little) / 3.0;
  header.site_order = SiteOrder::odd_sites;
  header.byte_order = ByteOrder::little;
  header.data_offset = size_and_plaquette_bytes;
  header.plaquette_record = "average plaquette";
  header.plaquette_digits = 1e-15;
  check_data_size(header, "links (read as openQCD)", file.size() - size_and_plaquette_bytes);
  for (const std::int64_t sites : info.extents)
    if (sites % 2 != 0)
      throw core::FileError(file.path(), "lattice sizes",
                            fmt::format("claim a {} lattice, but the openQCD format exists for even sizes only; fetch "
                                        "the file again",
                                        text_of(info.extents)));
  return header;
}

Envelope make_openqcd(const Request& request) {
  Envelope envelope;
  envelope.front.resize(static_cast<std::size_t>(size_and_plaquette_bytes));
  const std::array<std::int64_t, 4> sizes{request.extents[3], request.extents[0], request.extents[1],
                                          request.extents[2]};
  for (std::size_t i = 0; i < 4; ++i) {
    if (sizes[i] % 2 != 0 || sizes[i] > largest_extent)
      throw core::InvalidArgument(fmt::format("a {} lattice cannot be written in the openQCD format, which takes even "
                                              "extents up to {}; choose another format",
                                              text_of(request.extents), largest_extent));
    store_word(envelope.front.data() + 4 * i, static_cast<std::uint32_t>(sizes[i]), ByteOrder::little);
  }
  store_double(envelope.front.data() + 16, 3.0 * request.plaquette, ByteOrder::little);
  return envelope;
}

}  // namespace halocline::qcd::io::detail
