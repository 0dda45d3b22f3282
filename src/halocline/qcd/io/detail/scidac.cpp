// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/io/detail/scidac.hpp"

#include <sstream>

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/io/detail/header.hpp"
#include "halocline/qcd/io/detail/xml.hpp"

namespace halocline::qcd::io::detail {

using core::FileError;

const LimeRecord* find_record(const std::vector<LimeRecord>& records, std::string_view type, std::size_t from) {
  for (std::size_t i = from; i < records.size(); ++i)
    if (records[i].type == type) return &records[i];
  return nullptr;
}

std::int64_t need_integer(const InputFile& file, const LimeRecord& record, const std::string& xml,
                          const std::string& element) {
  const auto text = element_text(xml, element);
  const auto number = text ? integer_of(*text) : std::nullopt;
  if (number) return *number;
  throw FileError(file.path(), record.type,
                  fmt::format("<{}> is {}, expected a whole number; fetch the file again", element,
                              text ? "\"" + shown(*text) + "\"" : "missing"));
}

lattice::Coordinates<4> scidac_extents(const InputFile& file, const LimeRecord& record) {
  const std::string xml = lime_text(file, record);
  const std::int64_t spacetime = need_integer(file, record, xml, "spacetime");
  if (spacetime != 4)
    throw FileError(file.path(), record.type, fmt::format("<spacetime> is {}, expected 4 dimensions", spacetime));
  if (const std::int64_t volfmt = need_integer(file, record, xml, "volfmt"); volfmt != 0)
    throw FileError(file.path(), record.type,
                    fmt::format("<volfmt> is {}, expected 0: the lattice is spread over several "
                                "files; join them into a single file first",
                                volfmt));
  const std::string dims = element_text(xml, "dims").value_or("");
  std::istringstream words(dims);
  lattice::Coordinates<4> extents{};
  std::string word;
  std::size_t count = 0;
  bool good = true;
  for (; words >> word; ++count) {
    const auto number = integer_of(word);
    good = good && number && count < 4;
    if (good) extents[count] = *number;
  }
  if (!good || count != 4)
    throw FileError(file.path(), record.type,
                    fmt::format("<dims> is \"{}\", expected four sizes; fetch the file again", shown(dims)));
  return extents;
}

ScidacType scidac_type(const InputFile& file, const LimeRecord& record) {
  const std::string xml = lime_text(file, record);
  ScidacType type;
  type.datatype = element_text(xml, "datatype").value_or("");
  type.precision = element_text(xml, "precision").value_or("");
  type.date = element_text(xml, "date").value_or("");
  type.typesize = need_integer(file, record, xml, "typesize");
  type.datacount = need_integer(file, record, xml, "datacount");
  return type;
}

ScidacChecksum scidac_checksum(const InputFile& file, const LimeRecord& record) {
  const std::string xml = lime_text(file, record);
  const auto word = [&](const char* element) {
    const auto text = element_text(xml, element);
    const auto number = text ? hexadecimal_of(*text) : std::nullopt;
    if (number) return *number;
    throw FileError(file.path(), record.type,
                    fmt::format("<{}> is {}, expected up to eight hexadecimal digits; fetch the file again", element,
                                text ? "\"" + shown(*text) + "\"" : "missing"));
  };
  return {word("suma"), word("sumb")};
}

std::string scidac_file_xml(const lattice::Coordinates<4>& extents) {
  return fmt::format("{}<scidacFile><version>1.1</version><spacetime>4</spacetime><dims>{} {} {} {} </dims>"
                     "<volfmt>0</volfmt></scidacFile>",
                     xml_declaration, extents[0], extents[1], extents[2], extents[3]);
}

std::string scidac_type_xml(const ScidacType& type, int spins) {
  return fmt::format("{}<scidacRecord><version>1.1</version><date>{}</date><recordtype>0</recordtype>"
                     "<datatype>{}</datatype><precision>{}</precision><colors>3</colors><spins>{}</spins>"
                     "<typesize>{}</typesize><datacount>{}</datacount></scidacRecord>",
                     xml_declaration, escaped(type.date), type.datatype, type.precision, spins, type.typesize,
                     type.datacount);
}

std::string scidac_checksum_xml(const ScidacChecksum& sums) {
  return fmt::format("{}<scidacChecksum><version>1.0</version><suma>{:x}</suma><sumb>{:x}</sumb></scidacChecksum>",
                     xml_declaration, sums.suma, sums.sumb);
}

}  // namespace halocline::qcd::io::detail
