// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/io/site_array.hpp"

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/io/detail/file.hpp"
#include "halocline/qcd/io/detail/transfer.hpp"

namespace halocline::qcd::io {
namespace {

void check_length(const lattice::Geometry4& geometry, std::int64_t site_bytes, std::size_t length) {
  const auto expected = static_cast<std::size_t>(site_bytes * geometry.local_volume());
  if (site_bytes < 1 || length != expected)
    throw core::InvalidArgument(fmt::format("a field of {} bytes was given; {} local sites of {} bytes have {}", length,
                                            geometry.local_volume(), site_bytes, expected));
}

}  // namespace

ScidacChecksum site_checksum(const lattice::Geometry4& geometry, std::span<const std::byte> field) {
  const std::size_t each = field.size() / static_cast<std::size_t>(geometry.local_volume());
  comm::on_every_rank(geometry.communicator(),
                      [&] { check_length(geometry, static_cast<std::int64_t>(each), field.size()); });
  ScidacChecksum sums;
  for (std::int64_t site = 0; site < geometry.local_volume(); ++site)
    sums.add(static_cast<std::uint64_t>(geometry.global_index(lattice::coordinates_of<4>(site, geometry.local()))),
             field.subspan(static_cast<std::size_t>(site) * each, each));
  sums.combine(geometry.communicator());
  return sums;
}

void write_site_array(const std::string& path, const lattice::Geometry4& geometry, std::int64_t size,
                      std::span<const Piece> around, const SiteArray& place, std::span<const std::byte> field) {
  const auto& group = geometry.communicator();
  comm::on_every_rank(group, [&] { check_length(geometry, place.site_bytes, field.size()); });
  detail::PartialFile file(group, path, size);
  comm::on_every_rank(group, [&] {
    if (group.rank() == 0)
      for (const Piece& piece : around) file.write(piece.offset, piece.bytes);
    detail::for_each_run(geometry, detail::sites_of_a_piece(place.site_bytes),
                         [&](std::int64_t local, std::int64_t global, std::int64_t count) {
                           file.write(place.offset + global * place.site_bytes,
                                      field.subspan(static_cast<std::size_t>(local * place.site_bytes),
                                                    static_cast<std::size_t>(count * place.site_bytes)));
                         });
    file.sync();
  });
  file.publish();
}

ScidacChecksum read_site_array(const std::string& path, const lattice::Geometry4& geometry, const SiteArray& place,
                               std::span<std::byte> field) {
  comm::on_every_rank(geometry.communicator(), [&] {
    check_length(geometry, place.site_bytes, field.size());
    const detail::InputFile file(path);
    detail::for_each_run(geometry, detail::sites_of_a_piece(place.site_bytes),
                         [&](std::int64_t local, std::int64_t global, std::int64_t count) {
                           file.read(place.offset + global * place.site_bytes,
                                     field.subspan(static_cast<std::size_t>(local * place.site_bytes),
                                                   static_cast<std::size_t>(count * place.site_bytes)),
                                     "data");
                         });
  });
  return site_checksum(geometry, field);
}

}  // namespace halocline::qcd::io
