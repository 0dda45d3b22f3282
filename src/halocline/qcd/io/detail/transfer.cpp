// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/io/detail/transfer.hpp"

#include <array>

#include "halocline/qcd/field/su3.hpp"

namespace halocline::qcd::io::detail {

namespace {

using Complex = std::complex<double>;
using lattice::Coordinates;

constexpr std::int64_t link_bytes = 144;  // openQCD: 3 x 3 complex doubles
constexpr std::int64_t odd_site_bytes = 8 * link_bytes;

void add_sums(Sums& sums, ChecksumKind kind, ByteOrder order, std::int64_t first_site, std::int64_t site_bytes,
              std::span<const std::byte> bytes) {
  switch (kind) {
  case ChecksumKind::nersc:
    sums.nersc.add(bytes);
    break;
  case ChecksumKind::milc:
    sums.milc.add(static_cast<std::uint64_t>(first_site) * static_cast<std::uint64_t>(site_bytes / 4), bytes,
                  order == ByteOrder::big);
    break;
  case ChecksumKind::scidac:
    for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(site_bytes))
      sums.scidac.add(static_cast<std::uint64_t>(first_site++),
                      bytes.subspan(at, static_cast<std::size_t>(site_bytes)));
    break;
  case ChecksumKind::none:
    break;
  }
}

void load_lexicographic(const InputFile& file, const Header& header, const lattice::Geometry4& geometry,
                        std::span<Complex> links, Sums& sums) {
  const std::int64_t site_bytes = header.site_bytes();
  const std::size_t row_numbers = static_cast<std::size_t>(header.info.rows) * 3;
  std::vector<std::byte> buffer;
  for_each_run(
      geometry, sites_of_a_piece(site_bytes), [&](std::int64_t local, std::int64_t global, std::int64_t count) {
        buffer.resize(static_cast<std::size_t>(count * site_bytes));
        file.read(header.data_offset + global * site_bytes, buffer, "links");
        add_sums(sums, header.checksum_kind, header.byte_order, global, site_bytes, buffer);
        Complex* out = links.data() + local * 36;
        if (header.info.rows == 3) {
          decode({out, static_cast<std::size_t>(count) * 36}, buffer.data(), header.info.bits, header.byte_order);
          return;
        }
        const std::byte* in = buffer.data();
        for (std::int64_t link = 0; link < 4 * count; ++link, out += 9, in += site_bytes / 4) {
          decode({out, row_numbers}, in, header.info.bits, header.byte_order);
          std::fill(out + row_numbers, out + 9, Complex(0));
        }
      });
}

/// Index of site (x, y, z, t) among the odd sites of an openQCD file. With even extents, half the sites of a row are
/// odd.
std::int64_t odd_index(const Coordinates<4>& x, const Coordinates<4>& extents) {
  return (((x[3] * extents[0] + x[0]) * extents[1] + x[1]) * extents[2] + x[2]) / 2;
}

/// openQCD direction k (t x y z) as our axis.
constexpr std::size_t axis_of(std::size_t direction) { return (direction + 3) % 4; }

/// Calls action(first odd site of a row along z, number of odd sites in it) for the rows of a box.
/// @param origin  global coordinates of the box, which lies in the lattice and does not wrap around an edge
template <class Action>
void for_each_odd_row(const Coordinates<4>& origin, const Coordinates<4>& size, Action&& action) {
  for (std::int64_t t = 0; t < size[3]; ++t)
    for (std::int64_t x = 0; x < size[0]; ++x)
      for (std::int64_t y = 0; y < size[1]; ++y) {
        Coordinates<4> first{origin[0] + x, origin[1] + y, origin[2], origin[3] + t};
        const bool starts_even = (first[0] + first[1] + first[2] + first[3]) % 2 == 0;
        if (starts_even) ++first[2];
        const std::int64_t count = (size[2] + (starts_even ? 0 : 1)) / 2;
        if (count > 0) action(first, count);
      }
}

/// Reads the odd sites of a box and keeps every link whose own site is in this rank's part.
void load_odd_box(const InputFile& file, const Header& header, const lattice::Geometry4& geometry,
                  const Coordinates<4>& origin, const Coordinates<4>& size, std::span<Complex> links) {
  const Coordinates<4>& extents = geometry.global();
  std::vector<std::byte> buffer;
  for_each_odd_row(origin, size, [&](Coordinates<4> x, std::int64_t count) {
    buffer.resize(static_cast<std::size_t>(count * odd_site_bytes));
    file.read(header.data_offset + odd_index(x, extents) * odd_site_bytes, buffer, "links");
    const std::byte* in = buffer.data();
    for (std::int64_t i = 0; i < count; ++i, x[2] += 2)
      for (std::size_t slot = 0; slot < 8; ++slot, in += link_bytes) {
        const std::size_t axis = axis_of(slot / 2);
        Coordinates<4> site = x;
        if (slot % 2 == 1) site[axis] = (site[axis] + extents[axis] - 1) % extents[axis];
        bool is_mine = true;
        for (std::size_t k = 0; k < 4; ++k) {
          site[k] -= geometry.offset()[k];
          is_mine = is_mine && site[k] >= 0 && site[k] < geometry.local()[k];
        }
        if (!is_mine) continue;
        Complex* out = links.data() + lattice::linear_index<4>(site, geometry.local()) * 36 + axis * 9;
        decode({out, 9}, in, 64, ByteOrder::little);
      }
  });
}

/// The odd sites of this rank's box hold all their own links and most links of its even sites. The remaining links
/// belong to the odd sites one step above the box along each split axis.
void load_odd_sites(const InputFile& file, const Header& header, const lattice::Geometry4& geometry,
                    std::span<Complex> links) {
  load_odd_box(file, header, geometry, geometry.offset(), geometry.local(), links);
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (!geometry.is_split(static_cast<int>(axis))) continue;
    Coordinates<4> origin = geometry.offset();
    Coordinates<4> size = geometry.local();
    origin[axis] = (origin[axis] + size[axis]) % geometry.global()[axis];
    size[axis] = 1;
    load_odd_box(file, header, geometry, origin, size, links);
  }
}

}  // namespace

void load_links(const InputFile& file, const Header& header, const lattice::Geometry4& geometry,
                std::span<Complex> links, Sums& sums) {
  if (header.site_order == SiteOrder::odd_sites)
    load_odd_sites(file, header, geometry, links);
  else
    load_lexicographic(file, header, geometry, links, sums);
}

void rebuild_third_rows(std::span<Complex> links) {
  for (std::size_t link = 0; link < links.size(); link += 9) {
    Complex* u = links.data() + link;
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t k = (j + 1) % 3;
      const std::size_t l = (j + 2) % 3;
      u[6 + j] = std::conj(u[k] * u[3 + l] - u[l] * u[3 + k]);
    }
  }
}

void store_links(const Request& request, ChecksumKind kind, const lattice::Geometry4& geometry,
                 std::span<const Complex> links, Sums* sums, PartialFile* file, std::int64_t data_offset) {
  const std::int64_t site_bytes = request.data_bytes() / request.volume();
  const std::size_t row_numbers = static_cast<std::size_t>(request.rows) * 3;
  std::vector<std::byte> buffer;
  for_each_run(geometry, sites_of_a_piece(site_bytes),
               [&](std::int64_t local, std::int64_t global, std::int64_t count) {
                 buffer.resize(static_cast<std::size_t>(count * site_bytes));
                 const Complex* in = links.data() + local * 36;
                 std::byte* out = buffer.data();
                 for (std::int64_t link = 0; link < 4 * count; ++link, in += 9, out += site_bytes / 4)
                   encode(out, {in, row_numbers}, request.bits, request.order);
                 if (sums != nullptr) add_sums(*sums, kind, request.order, global, site_bytes, buffer);
                 if (file != nullptr) file->write(data_offset + global * site_bytes, buffer);
               });
}

void store_odd_sites(const GaugeField& u, PartialFile& file, std::int64_t data_offset) {
  const lattice::Geometry4& geometry = u.geometry();
  std::vector<std::byte> buffer;
  for_each_odd_row(geometry.offset(), geometry.local(), [&](Coordinates<4> x, std::int64_t count) {
    buffer.resize(static_cast<std::size_t>(count * odd_site_bytes));
    const std::int64_t first = odd_index(x, geometry.global());
    std::byte* out = buffer.data();
    for (std::int64_t i = 0; i < count; ++i, x[2] += 2)
      for (std::size_t slot = 0; slot < 8; ++slot, out += link_bytes) {
        Coordinates<4> site = x;
        for (std::size_t k = 0; k < 4; ++k) site[k] -= geometry.offset()[k];
        const std::size_t axis = axis_of(slot / 2);
        if (slot % 2 == 1) --site[axis];
        const Su3<double> link = u.link(site, static_cast<int>(axis));
        std::array<Complex, 9> numbers;
        for (std::size_t k = 0; k < 9; ++k) numbers[k] = {link.e[k / 3][k % 3].re, link.e[k / 3][k % 3].im};
        encode(out, numbers, 64, ByteOrder::little);
      }
    file.write(data_offset + first * odd_site_bytes, buffer);
  });
}

}  // namespace halocline::qcd::io::detail
