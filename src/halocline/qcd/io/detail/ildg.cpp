// SPDX-License-Identifier: Apache-2.0
//
// ILDG: a LIME file with the links in one record (ildg-binary-data), x fastest, four 3x3 links a site, big-endian,
// 32 or 64 bits as ildg-format says, usually wrapped in the SciDAC records that carry a checksum and the plaquette.
// SciDAC gauge files without ILDG records (scidac-binary-data of four ColorMatrix a site) hold the same bytes.

#include <cmath>

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/io/detail/header.hpp"
#include "halocline/qcd/io/detail/scidac.hpp"
#include "halocline/qcd/io/detail/xml.hpp"

namespace halocline::qcd::io::detail {

namespace {

using core::FileError;

void parse_ildg_format(const InputFile& file, const LimeRecord& record, GaugeFileInfo& info) {
  const std::string xml = lime_text(file, record);
  const std::string field = element_text(xml, "field").value_or("");
  if (field != "su3gauge")
    throw FileError(file.path(), record.type,
                    fmt::format("<field> is \"{}\", expected su3gauge: only SU(3) gauge fields "
                                "can be read",
                                shown(field)));
  const std::int64_t precision = need_integer(file, record, xml, "precision");
  if (precision != 32 && precision != 64)
    throw FileError(file.path(), record.type, fmt::format("<precision> is {}, expected 32 or 64", precision));
  info.bits = static_cast<int>(precision);
  info.extents = {need_integer(file, record, xml, "lx"), need_integer(file, record, xml, "ly"),
                  need_integer(file, record, xml, "lz"), need_integer(file, record, xml, "lt")};
}

/// A SciDAC file without ILDG records: the types are in the private XML.
void parse_scidac_format(const InputFile& file, const std::vector<LimeRecord>& records, GaugeFileInfo& info) {
  const LimeRecord* lattice = find_record(records, "scidac-private-file-xml");
  const LimeRecord* description = find_record(records, "scidac-private-record-xml");
  if (lattice == nullptr || description == nullptr)
    throw FileError(file.path(), lattice == nullptr ? "scidac-private-file-xml" : "scidac-private-record-xml",
                    "is missing, so the lattice or the type of the data is unknown; fetch the file again");
  const ScidacType type = scidac_type(file, *description);
  if (type.datatype.find("ColorMatrix") == std::string::npos || type.datacount != 4 ||
      (type.typesize != 72 && type.typesize != 144))
    throw FileError(
        file.path(), description->type,
        fmt::format("describes {} x \"{}\" of {} bytes a site, expected 4 x ColorMatrix of 72 or 144 bytes: "
                    "this is not a gauge field",
                    type.datacount, shown(type.datatype), type.typesize));
  info.bits = type.typesize == 144 ? 64 : 32;
  info.extents = scidac_extents(file, *lattice);
}

/// Plaquette and link trace of a usqcdInfo record, where it has them.
void parse_claims(const InputFile& file, const LimeRecord& record, Header& header) {
  const std::string xml = lime_text(file, record);
  const auto number = [&](const char* element, double& digits) -> std::optional<double> {
    const auto text = element_text(xml, element);
    if (!text) return std::nullopt;
    const auto value = real_of(*text);
    if (!value)
      throw FileError(file.path(), record.type,
                      fmt::format("<{}> is \"{}\", expected a number; fetch the file again", element, shown(*text)));
    digits = last_digit_of(*text);
    return value;
  };
  header.info.header_plaquette = number("plaq", header.plaquette_digits);
  header.info.header_link_trace = number("linktr", header.link_trace_digits);
}

/// The records a user may want to see or to pass on.
void keep_texts(const InputFile& file, const std::vector<LimeRecord>& records, GaugeFileInfo& info) {
  for (const LimeRecord& record : records) {
    if (record.type != "scidac-file-xml" && record.type != "scidac-record-xml" && record.type != "ildg-format" &&
        record.type != "ildg-data-lfn" && record.type != "scidac-private-record-xml")
      continue;
    const std::string text = valid_utf8(lime_text(file, record));
    info.header.emplace_back(record.type, text);
    if (record.type == "scidac-private-record-xml")
      info.header.emplace_back("date", element_text(text, "date").value_or(""));
    if (record.type == "scidac-record-xml")
      if (const auto words = element_text(text, "info")) info.header.emplace_back("info", *words);
  }
}

}  // namespace

Header parse_lime_gauge(const InputFile& file) {
  const std::vector<LimeRecord> records = lime_records(file);
  Header header;
  GaugeFileInfo& info = header.info;
  info.path = file.path();
  info.endian = "big";

  const LimeRecord* format = find_record(records, "ildg-format");
  const LimeRecord* data = find_record(records, format != nullptr ? "ildg-binary-data" : "scidac-binary-data");
  if (data == nullptr)
    throw FileError(file.path(), format != nullptr ? "ildg-binary-data" : "ildg-format",
                    fmt::format("is missing among the {} LIME records: the file is truncated or holds no gauge field; "
                                "fetch it again",
                                records.size()));
  if (format != nullptr) {
    info.format = "ildg";
    parse_ildg_format(file, *format, info);
  } else {
    info.format = "scidac";
    parse_scidac_format(file, records, info);
  }
  header.data_offset = data->offset;
  check_data_size(header, data->type, data->length);

  if (const LimeRecord* lattice = find_record(records, "scidac-private-file-xml")) {
    const auto extents = scidac_extents(file, *lattice);
    if (extents != info.extents)
      throw FileError(file.path(), lattice->type,
                      fmt::format("claims a {} lattice, but {} claims {}; fetch the file again", text_of(extents),
                                  "ildg-format", text_of(info.extents)));
  }
  const auto after = static_cast<std::size_t>(data - records.data()) + 1;
  if (find_record(records, data->type, after) != nullptr)
    info.warnings.emplace_back("the file holds several configurations; only the first is read");
  header.checksum_kind = ChecksumKind::scidac;
  if (const LimeRecord* sums = find_record(records, "scidac-checksum", after)) {
    header.scidac = scidac_checksum(file, *sums);
    info.checksum = header.scidac->text();
  } else {
    info.warnings.emplace_back("the file has no scidac-checksum record: damage to the links may go unnoticed");
  }
  header.plaquette_record = header.link_trace_record = "scidac-record-xml";
  if (const LimeRecord* claims = find_record(records, "scidac-record-xml")) parse_claims(file, *claims, header);
  keep_texts(file, records, info);
  return header;
}

Envelope make_ildg(const Request& request) {
  const bool is_double = request.bits == 64;
  const ScidacType type{is_double ? "QDP_D3_ColorMatrix" : "QDP_F3_ColorMatrix", is_double ? "D" : "F",
                        is_double ? 144 : 72, 4, request.text("date", "")};
  const std::string claims =
      fmt::format("{}<usqcdInfo><version>1.0</version><plaq>{:.15g}</plaq><linktr>{:.15g}</linktr><info>{}</info>"
                  "</usqcdInfo>",
                  xml_declaration, request.plaquette, request.link_trace, escaped(request.text("info", "")));
  const std::string format = fmt::format(
      "{}<ildgFormat xmlns=\"http://www.lqcd.org/ildg\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xsi:schemaLocation=\"http://www.lqcd.org/ildg/filefmt.xsd\"><version>1.0</version>"
      "<field>su3gauge</field><precision>{}</precision><lx>{}</lx><ly>{}</ly><lz>{}</lz><lt>{}</lt>"
      "</ildgFormat>",
      xml_declaration, request.bits, request.extents[0], request.extents[1], request.extents[2], request.extents[3]);
  const std::string words =
      request.text("scidac-file-xml", fmt::format("{}<title>gauge field</title>", xml_declaration));

  Envelope out;
  append(out.front, lime_text_record("scidac-private-file-xml", scidac_file_xml(request.extents), true, false));
  append(out.front, lime_text_record("scidac-file-xml", words, false, true));
  append(out.front, lime_text_record("scidac-private-record-xml", scidac_type_xml(type, 1), true, false));
  append(out.front, lime_text_record("scidac-record-xml", claims, false, false));
  append(out.front, lime_text_record("ildg-format", format, false, false));
  append(out.front, lime_header("ildg-binary-data", request.data_bytes(), false, false));
  out.back.resize(static_cast<std::size_t>(lime_padding(request.data_bytes())));
  append(out.back,
         lime_text_record("ildg-data-lfn", request.text("ildg-data-lfn", "lfn://local/gauge-field"), false, false));
  append(out.back, lime_text_record("scidac-checksum", scidac_checksum_xml(request.sums.scidac), false, true));
  return out;
}

}  // namespace halocline::qcd::io::detail
