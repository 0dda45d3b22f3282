// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/io/propagator_file.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/io/detail/header.hpp"
#include "halocline/qcd/io/detail/scidac.hpp"
#include "halocline/qcd/io/detail/transfer.hpp"
#include "halocline/qcd/io/detail/xml.hpp"

namespace halocline::qcd::io {

namespace {

using core::FileError;
using core::InvalidArgument;
using detail::ByteOrder;

constexpr std::size_t numbers = 144;  // complex, a site
constexpr std::int64_t reals = 2 * numbers;

struct Description {
  PropagatorFileInfo info;
  std::int64_t data_offset = 0;
  std::optional<ScidacChecksum> checksum;
  std::int64_t site_bytes() const { return reals * (info.bits / 8); }
};

Description describe(const detail::InputFile& file) {
  const auto records = lime_records(file);
  const auto need = [&](const char* type) -> const LimeRecord& {
    if (const LimeRecord* record = detail::find_record(records, type)) return *record;
    throw FileError(file.path(), type,
                    fmt::format("is missing among the {} LIME records: this is no SciDAC propagator, or "
                                "it is truncated; fetch it again",
                                records.size()));
  };
  Description out;
  out.info.path = file.path();
  out.info.extents = detail::scidac_extents(file, need("scidac-private-file-xml"));
  const LimeRecord& description = need("scidac-private-record-xml");
  const detail::ScidacType type = detail::scidac_type(file, description);
  // QDP++ calls every lattice type without a name of its own "Lattice".
  const bool is_named = type.datatype.find("DiracPropagator") != std::string::npos || type.datatype == "Lattice";
  if (!is_named || type.datacount != 1 || (type.typesize != reals * 4 && type.typesize != reals * 8))
    throw FileError(
        file.path(), description.type,
        fmt::format("describes {} x \"{}\" of {} bytes a site, expected one DiracPropagator of {} or {} bytes",
                    type.datacount, detail::shown(type.datatype), type.typesize, reals * 4, reals * 8));
  out.info.bits = type.typesize == reals * 8 ? 64 : 32;

  const LimeRecord& data = need("scidac-binary-data");
  out.data_offset = data.offset;
  std::int64_t bytes = out.site_bytes();
  for (const std::int64_t extent : out.info.extents)
    if (extent < 1 || __builtin_mul_overflow(bytes, extent, &bytes))
      throw FileError(file.path(), "scidac-private-file-xml",
                      fmt::format("claims a {} lattice, which no file can hold; fetch the file again",
                                  detail::text_of(out.info.extents)));
  if (bytes != data.length)
    throw FileError(file.path(), data.type,
                    fmt::format("a propagator on a {} lattice at {} bits takes {} bytes, but the "
                                "record has {}; fetch the file again",
                                detail::text_of(out.info.extents), out.info.bits, bytes, data.length));
  const auto after = static_cast<std::size_t>(&data - records.data()) + 1;
  if (detail::find_record(records, data.type, after) != nullptr)
    out.info.warnings.emplace_back("the file holds several fields; only the first is read");
  if (const LimeRecord* sums = detail::find_record(records, "scidac-checksum", after)) {
    out.checksum = detail::scidac_checksum(file, *sums);
    out.info.checksum = out.checksum->text();
  } else {
    out.info.warnings.emplace_back("the file has no scidac-checksum record: damage to the propagator may go unnoticed");
  }
  if (const LimeRecord* words = detail::find_record(records, "scidac-file-xml"))
    out.info.file_xml = detail::valid_utf8(lime_text(file, *words));
  if (const LimeRecord* words = detail::find_record(records, "scidac-record-xml"))
    out.info.record_xml = detail::valid_utf8(lime_text(file, *words));
  return out;
}

/// Place of an element in the file's site: [sink spin][source spin][sink colour][source colour].
constexpr std::size_t place(std::size_t sink_spin, std::size_t source_spin, std::size_t sink_colour,
                            std::size_t source_colour) {
  return ((sink_spin * 4 + source_spin) * 3 + sink_colour) * 3 + source_colour;
}

/// Calls action(column, element of the spinor, place in the file's site) for the 144 numbers of a site.
template <class Action>
void for_each_number(Action&& action) {
  for (std::size_t s = 0; s < 4; ++s)
    for (std::size_t s0 = 0; s0 < 4; ++s0)
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t c0 = 0; c0 < 3; ++c0) action(3 * s0 + c0, 3 * s + c, place(s, s0, c, c0));
}

std::string titled(const std::string& given, const char* title) {
  return given.empty() ? fmt::format("{}<title>{}</title>", detail::xml_declaration, title) : given;
}

}  // namespace

PropagatorFileInfo inspect_propagator(const std::string& path) { return describe(detail::InputFile(path)).info; }

std::pair<PropagatorColumns, PropagatorFileInfo> read_propagator(const std::string& path,
                                                                 const lattice::Geometry4& geometry) {
  const auto& group = geometry.communicator();
  Description from;
  PropagatorColumns columns;
  ScidacChecksum sums;
  bool is_finite = true;
  comm::on_every_rank(group, [&] {
    const detail::InputFile file(path);
    from = describe(file);
    if (from.info.extents != geometry.global())
      throw InvalidArgument(
          fmt::format("{} holds a propagator on a {} lattice, but a {} lattice was asked for; make the "
                      "geometry from the extents that inspect_propagator gives",
                      path, detail::text_of(from.info.extents), detail::text_of(geometry.global())));
    for (auto& column : columns) column.resize(static_cast<std::size_t>(geometry.local_volume()) * 12);
    const std::int64_t site_bytes = from.site_bytes();
    std::vector<std::byte> buffer;
    std::array<std::complex<double>, numbers> site;
    detail::for_each_run(geometry, detail::sites_of_a_piece(site_bytes),
                         [&](std::int64_t local, std::int64_t global, std::int64_t count) {
                           buffer.resize(static_cast<std::size_t>(count * site_bytes));
                           file.read(from.data_offset + global * site_bytes, buffer, "scidac-binary-data");
                           for (std::int64_t i = 0; i < count; ++i) {
                             const std::span<const std::byte> bytes(buffer.data() + i * site_bytes,
                                                                    static_cast<std::size_t>(site_bytes));
                             sums.add(static_cast<std::uint64_t>(global + i), bytes);
                             detail::decode(site, bytes.data(), from.info.bits, ByteOrder::big);
                             for (const auto& number : site)
                               is_finite = is_finite && std::isfinite(number.real()) && std::isfinite(number.imag());
                             for_each_number([&](std::size_t column, std::size_t element, std::size_t at) {
                               columns[column][static_cast<std::size_t>(local + i) * 12 + element] = site[at];
                             });
                           }
                         });
  });
  sums.combine(group);
  if (from.checksum && !(*from.checksum == sums))
    throw FileError(path, "scidac-checksum",
                    fmt::format("the file claims {}, its data give {}: the file is damaged; fetch "
                                "it again",
                                from.checksum->text(), sums.text()));
  if (!group.all(is_finite))
    throw FileError(path, "scidac-binary-data", "holds NaN or infinite numbers; compute or fetch the propagator again");
  return {std::move(columns), std::move(from.info)};
}

void write_propagator(const std::string& path, const lattice::Geometry4& geometry,
                      std::span<const std::span<const std::complex<double>>> columns,
                      const PropagatorWriteOptions& options) {
  const auto& group = geometry.communicator();
  if (options.bits != 32 && options.bits != 64)
    throw InvalidArgument(fmt::format("a propagator file cannot have {} bits a number; give 32 or 64", options.bits));
  const auto local_volume = static_cast<std::size_t>(geometry.local_volume());
  comm::on_every_rank(group, [&] {
    if (columns.size() != 12)
      throw InvalidArgument(
          fmt::format("a propagator has 12 columns (source spin, source colour), {} were given", columns.size()));
    for (const auto& column : columns)
      if (column.size() != local_volume * 12)
        throw InvalidArgument(
            fmt::format("a column holds {} numbers, expected 12 x {} local sites", column.size(), local_volume));
  });
  const std::int64_t site_bytes = reals * (options.bits / 8);
  const std::int64_t data_bytes = site_bytes * geometry.global_volume();

  const detail::ScidacType type{options.bits == 64 ? "QDP_D3_DiracPropagator" : "QDP_F3_DiracPropagator",
                                options.bits == 64 ? "D" : "F", site_bytes, 1, options.date};
  std::vector<std::byte> front;
  detail::append(front,
                 lime_text_record("scidac-private-file-xml", detail::scidac_file_xml(geometry.global()), true, false));
  detail::append(front, lime_text_record("scidac-file-xml", titled(options.file_xml, "propagator"), false, true));
  detail::append(front, lime_text_record("scidac-private-record-xml", detail::scidac_type_xml(type, 4), true, false));
  detail::append(front, lime_text_record("scidac-record-xml", titled(options.record_xml, "propagator"), false, false));
  detail::append(front, lime_header("scidac-binary-data", data_bytes, false, false));
  const auto data_offset = static_cast<std::int64_t>(front.size());
  ScidacChecksum sums;
  const auto encode_all = [&](detail::PartialFile* file) {
    std::vector<std::byte> buffer;
    std::array<std::complex<double>, numbers> site;
    detail::for_each_run(geometry, detail::sites_of_a_piece(site_bytes),
                         [&](std::int64_t local, std::int64_t global, std::int64_t count) {
                           buffer.resize(static_cast<std::size_t>(count * site_bytes));
                           for (std::int64_t i = 0; i < count; ++i) {
                             for_each_number([&](std::size_t column, std::size_t element, std::size_t at) {
                               site[at] = columns[column][static_cast<std::size_t>(local + i) * 12 + element];
                             });
                             std::byte* out = buffer.data() + i * site_bytes;
                             detail::encode(out, site, options.bits, ByteOrder::big);
                             if (file == nullptr)
                               sums.add(static_cast<std::uint64_t>(global + i),
                                        {out, static_cast<std::size_t>(site_bytes)});
                           }
                           if (file != nullptr) file->write(data_offset + global * site_bytes, buffer);
                         });
  };
  encode_all(nullptr);
  sums.combine(group);
  std::vector<std::byte> back(static_cast<std::size_t>(lime_padding(data_bytes)));
  detail::append(back, lime_text_record("scidac-checksum", detail::scidac_checksum_xml(sums), false, true));

  const std::int64_t behind = data_offset + data_bytes;
  detail::PartialFile file(group, path, behind + static_cast<std::int64_t>(back.size()));
  comm::on_every_rank(group, [&] {
    if (group.rank() == 0) {
      file.write(0, front);
      file.write(behind, back);
    }
    encode_all(&file);
    file.sync();
  });
  file.publish();
}

}  // namespace halocline::qcd::io
