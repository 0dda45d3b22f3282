// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing of whole gauge files, in phases. All ranks agree on each phase before the next begins.

#include "halocline/qcd/io/gauge_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/observables.hpp"
#include "halocline/qcd/io/detail/header.hpp"
#include "halocline/qcd/io/detail/transfer.hpp"
#include "halocline/qcd/io/detail/verify.hpp"

namespace halocline::qcd::io {

namespace {

using core::InvalidArgument;
using detail::ByteOrder;
using detail::ChecksumKind;
using detail::Envelope;
using detail::Header;
using detail::Request;
using detail::Sums;

/// A format to write, and what it can hold.
struct Format {
  const char* name;
  ChecksumKind checksum;
  bool has_64, has_32, has_two_rows, has_big, has_little;
  int usual_bits;
  ByteOrder usual_order;
  Envelope (*make)(const Request&);
};

constexpr std::array formats{
    Format{"nersc", ChecksumKind::nersc, true, true, true, true, true, 64, ByteOrder::big, detail::make_nersc},
    Format{"ildg", ChecksumKind::scidac, true, true, false, true, false, 64, ByteOrder::big, detail::make_ildg},
    Format{"openqcd", ChecksumKind::none, true, false, false, false, true, 64, ByteOrder::little, detail::make_openqcd},
    Format{"milc", ChecksumKind::milc, false, true, false, true, true, 32, ByteOrder::little, detail::make_milc},
    Format{"npy", ChecksumKind::none, true, true, false, true, true, 64, ByteOrder::little, detail::make_npy},
};

const Format& format_called(const std::string& name) {
  for (const Format& format : formats)
    if (name == format.name) return format;
  throw InvalidArgument(
      fmt::format("gauge file format \"{}\" is not known; give nersc, ildg, openqcd, milc or npy", name));
}

Request make_request(const std::string& path, const GaugeField& u, const Format& format, const WriteOptions& options) {
  Request request;
  request.path = path;
  request.extents = u.geometry().global();
  request.bits = options.bits == 0 ? format.usual_bits : options.bits;
  request.rows = options.rows;
  if (!((request.bits == 64 && format.has_64) || (request.bits == 32 && format.has_32)))
    throw InvalidArgument(fmt::format("a {} file cannot have {} bits a number; give {}", format.name, request.bits,
                                      format.has_64 && format.has_32 ? "32 or 64"
                                      : format.has_64                ? "64"
                                                                     : "32"));
  if (!(request.rows == 3 || (request.rows == 2 && format.has_two_rows)))
    throw InvalidArgument(fmt::format("a {} file cannot have {} rows a link; give {}", format.name, request.rows,
                                      format.has_two_rows ? "2 or 3" : "3"));
  request.order = format.usual_order;
  if (!options.endian.empty()) {
    const bool is_big = options.endian == "big";
    if (!((is_big && format.has_big) || (options.endian == "little" && format.has_little)))
      throw InvalidArgument(fmt::format("a {} file cannot have byte order \"{}\"; give {}", format.name, options.endian,
                                        format.has_big && format.has_little ? "big or little"
                                        : format.has_big                    ? "big"
                                                                            : "little"));
    request.order = is_big ? ByteOrder::big : ByteOrder::little;
  }
  request.metadata = options.metadata;
  return request;
}

/// Refuses links that a reader could not recover. The arguments are the same on all ranks, so all of them throw.
void check_links(const Request& request, double violation) {
  if (!(violation < detail::largest_violation))
    throw InvalidArgument(
        fmt::format("the links hold NaN, infinite or huge numbers and are not written to {}; find out "
                    "where they came from",
                    request.path));
  if (request.rows == 2 && violation > unitarity_tolerance(request.bits))
    throw InvalidArgument(
        fmt::format("the links are not unitary (violation {:.3g}, at most {:.0e} allowed), so their third "
                    "rows cannot be left out of {}; write 3 rows or project to SU(3)",
                    violation, unitarity_tolerance(request.bits), request.path));
}

/// Reads this rank's part. A file that does not state its byte order is read in the order that its checksum confirms.
void load(const detail::InputFile& file, Header& header, const lattice::Geometry4& geometry,
          std::vector<std::complex<double>>& links, Sums& sums) {
  const auto& group = geometry.communicator();
  const auto read_once = [&] {
    sums = Sums{};
    comm::on_every_rank(group, [&] {
      links.resize(static_cast<std::size_t>(geometry.local_volume()) * 36);
      detail::load_links(file, header, geometry, links, sums);
    });
    sums.combine(header.checksum_kind, group);
  };
  read_once();
  if (header.byte_order_known || !header.nersc) return;
  if (sums.nersc.big != *header.nersc && sums.nersc.little == *header.nersc) {
    header.byte_order = ByteOrder::little;
    header.info.endian = "little";
    read_once();
  }
}

}  // namespace

GaugeFileInfo inspect_gauge(const std::string& path) { return detail::parse_header(detail::InputFile(path)).info; }

std::pair<GaugeField, GaugeFileInfo>
read_gauge(const std::string& path, std::shared_ptr<const lattice::Geometry4> geometry, const ReadOptions& options) {
  const auto& group = geometry->communicator();
  std::optional<detail::InputFile> file;
  Header header;
  comm::on_every_rank(group, [&] {
    file.emplace(path);
    header = detail::parse_header(*file);
    if (header.info.extents != geometry->global())
      throw InvalidArgument(fmt::format("{} holds a {} lattice, but a {} lattice was asked for; make the geometry from "
                                        "the extents that inspect_gauge gives",
                                        path, detail::text_of(header.info.extents),
                                        detail::text_of(geometry->global())));
  });
  std::vector<std::complex<double>> links;
  Sums sums;
  load(*file, header, *geometry, links, sums);
  detail::verify_data(header, sums, links, group);
  if (header.info.format == "npy")
    comm::on_every_rank(group, [&] {
      if (group.rank() == 0) detail::check_npy_order(*file, header);
    });
  if (header.info.rows == 2) detail::rebuild_third_rows(links);
  GaugeField u = GaugeField::from_canonical(std::move(geometry), links);
  links = {};
  detail::verify_field(header, u, options.strict);
  return {std::move(u), std::move(header.info)};
}

void write_gauge(const std::string& path, const GaugeField& u, const WriteOptions& options) {
  const lattice::Geometry4& geometry = u.geometry();
  const auto& group = geometry.communicator();
  const Format& format = format_called(options.format);
  Request request = make_request(path, u, format, options);
  check_links(request, u.unitarity_violation());

  // A copy, because the caller's ghosts may be out of date.
  std::vector<std::complex<double>> links = u.to_canonical();
  const GaugeField fresh = GaugeField::from_canonical(u.geometry_ptr(), links);
  request.plaquette = gauge::plaquette(fresh);
  request.link_trace = gauge::link_trace(fresh);
  if (format.checksum != ChecksumKind::none) {
    detail::store_links(request, format.checksum, geometry, links, &request.sums, nullptr, 0);
    request.sums.combine(format.checksum, group);
  }
  const Envelope envelope = format.make(request);
  const auto front = static_cast<std::int64_t>(envelope.front.size());
  const std::int64_t behind = front + request.data_bytes();

  detail::PartialFile file(group, path, behind + static_cast<std::int64_t>(envelope.back.size()));
  comm::on_every_rank(group, [&] {
    if (group.rank() == 0) {
      file.write(0, envelope.front);
      file.write(behind, envelope.back);
    }
    if (options.format == "openqcd")
      detail::store_odd_sites(fresh, file, front);
    else
      detail::store_links(request, format.checksum, geometry, links, nullptr, &file, front);
    file.sync();
  });
  file.publish();
}

}  // namespace halocline::qcd::io
