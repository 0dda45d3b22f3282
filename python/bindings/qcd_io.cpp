// SPDX-License-Identifier: Apache-2.0
/// @file
/// qcd: gauge configurations in files.
#include <algorithm>

#include "bindings.hpp"
#include "halocline/qcd/io/gauge_file.hpp"
#include "halocline/qcd/io/propagator_file.hpp"
#include "halocline/qcd/io/site_array.hpp"
#include "halocline/qcd/measure/propagator.hpp"

namespace halocline::bindings {
namespace {

namespace io = qcd::io;
using BytesIn = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;
using BytesOut = nb::ndarray<std::uint8_t, nb::c_contig, nb::device::cpu>;

nb::dict to_dict(const io::GaugeFileInfo& info) {
  nb::dict header;
  for (const auto& [name, text] : info.header) header[name.c_str()] = text;
  nb::dict d;
  d["path"] = info.path;
  d["format"] = info.format;
  d["lattice"] = info.extents;
  d["bits"] = info.bits;
  d["rows"] = info.rows;
  d["endian"] = info.endian;
  d["header_plaquette"] = info.header_plaquette;
  d["header_link_trace"] = info.header_link_trace;
  d["checksum"] = info.checksum;
  d["header"] = header;
  d["warnings"] = info.warnings;
  d["plaquette"] = info.plaquette;
  d["link_trace"] = info.link_trace;
  d["unitarity_violation"] = info.unitarity_violation;
  return d;
}

void bind_site_arrays(nb::module_& m) {
  m.def(
      "site_checksum",
      [](const BytesIn& field, const lattice::Geometry4& geometry) {
        return io::site_checksum(geometry, std::as_bytes(std::span(field.data(), field.size()))).text();
      },
      "field"_a, "geometry"_a, "Two sums over the bytes of each site of a local array [t][z][y][x]... Collective.");
  m.def(
      "write_site_array",
      [](const std::string& path, const BytesIn& field, const lattice::Geometry4& geometry, std::int64_t site_bytes,
         std::int64_t offset, std::int64_t size, const std::vector<std::pair<std::int64_t, nb::bytes>>& around) {
        std::vector<io::Piece> pieces;
        for (const auto& [at, bytes] : around) {
          const auto* first = reinterpret_cast<const std::byte*>(bytes.c_str());
          pieces.push_back({at, {first, first + bytes.size()}});
        }
        nb::gil_scoped_release unlocked;
        io::write_site_array(path, geometry, size, pieces, {offset, site_bytes},
                             std::as_bytes(std::span(field.data(), field.size())));
      },
      "path"_a, "field"_a, "geometry"_a, "site_bytes"_a, "offset"_a, "size"_a, "around"_a,
      "around: (offset, bytes) that the first process writes. Collective.");
  m.def(
      "read_site_array",
      [](const std::string& path, const BytesOut& field, const lattice::Geometry4& geometry, std::int64_t site_bytes,
         std::int64_t offset) {
        nb::gil_scoped_release unlocked;
        return io::read_site_array(path, geometry, {offset, site_bytes},
                                   std::as_writable_bytes(std::span(field.data(), field.size())))
            .text();
      },
      "path"_a, "field"_a, "geometry"_a, "site_bytes"_a, "offset"_a,
      "Fills the local array; the sums of what was read. Collective.");
}

}  // namespace

void bind_qcd_io(nb::module_& m) {
  m.def(
      "inspect_gauge", [](const std::string& path) { return to_dict(io::inspect_gauge(path)); }, "path"_a,
      "What the header of a gauge file says, as a dictionary. Not collective.");
  m.def(
      "read_gauge",
      [](const std::string& path, GeometryPtr geometry, bool strict) {
        auto read = [&] {
          nb::gil_scoped_release unlocked;
          return io::read_gauge(path, std::move(geometry), {.strict = strict});
        }();
        return nb::make_tuple(nb::cast(std::move(read.first)), to_dict(read.second));
      },
      "path"_a, "geometry"_a, "strict"_a, "(GaugeField, dictionary). Collective.");
  m.def(
      "write_gauge",
      [](const std::string& path, const qcd::GaugeField& u, const std::string& format, int bits, int rows,
         const std::string& endian, const std::vector<std::pair<std::string, std::string>>& metadata) {
        nb::gil_scoped_release unlocked;
        io::write_gauge(path, u, {format, bits, rows, endian, metadata});
      },
      "path"_a, "u"_a, "format"_a, "bits"_a, "rows"_a, "endian"_a, "metadata"_a, "Collective.");
  m.def(
      "write_propagator",
      [](const std::string& path, const qcd::measure::Propagator& s, int bits, const std::string& record_xml) {
        nb::gil_scoped_release unlocked;
        std::vector<std::span<const complex>> columns;
        for (int spin = 0; spin < 4; ++spin)
          for (int colour = 0; colour < 3; ++colour) columns.push_back(s.column(spin, colour));
        io::write_propagator(path, s.geometry(), columns, {.bits = bits, .record_xml = record_xml});
      },
      "path"_a, "propagator"_a, "bits"_a, "record_xml"_a, "Collective.");
  m.def(
      "inspect_propagator",
      [](const std::string& path) {
        const auto info = io::inspect_propagator(path);
        nb::dict d;
        d["path"] = info.path;
        d["lattice"] = info.extents;
        d["bits"] = info.bits;
        d["checksum"] = info.checksum;
        d["file_xml"] = info.file_xml;
        d["record_xml"] = info.record_xml;
        d["warnings"] = info.warnings;
        return d;
      },
      "path"_a, "Not collective.");
  m.def(
      "read_propagator",
      [](const std::string& path, GeometryPtr geometry, const lattice::Coordinates<4>& source) {
        nb::gil_scoped_release unlocked;
        auto read = io::read_propagator(path, *geometry);
        qcd::measure::Propagator s(std::move(geometry), source);
        for (int i = 0; i < 12; ++i)
          std::ranges::copy(read.first[static_cast<std::size_t>(i)], s.column(i / 3, i % 3).begin());
        return s;
      },
      "path"_a, "geometry"_a, "source"_a, "Collective.");
  bind_site_arrays(m);
  m.def("unitarity_tolerance", &io::unitarity_tolerance, "bits"_a);
}

}  // namespace halocline::bindings
