// SPDX-License-Identifier: Apache-2.0
//
// Propagators in SciDAC files. Any number that differs from what was written must be refused while the file has its
// checksum.

#include "fuzz/fuzz.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/io/propagator_file.hpp"
#include "qcd/io/propagator_helpers.hpp"

namespace halocline::fuzz {

namespace {

const lattice::Coordinates<4> extents{2, 2, 2, 2};

/// All numbers in the order of the file's sites, whatever the extents are.
std::vector<std::complex<double>> flat(const qcd::io::PropagatorColumns& columns) {
  std::vector<std::complex<double>> all;
  for (std::size_t site = 0; site < columns[0].size(); site += 12)
    for (const auto& column : columns)
      all.insert(all.end(), column.begin() + static_cast<std::ptrdiff_t>(site),
                 column.begin() + static_cast<std::ptrdiff_t>(site + 12));
  return all;
}

}  // namespace

Family make_family() {
  const auto geometry = test::single_geometry(extents);
  const auto columns = test::scrambled_columns(*geometry);
  const auto sound = flat(columns);
  const auto rounded = test::rounded_to_float(sound);
  Family family;
  family.name = "propagator";
  const test::TemporaryFolder folder;
  for (const int bits : {64, 32}) {
    qcd::io::write_propagator(folder.file("sound"), *geometry, test::spans_of(columns), {.bits = bits});
    family.samples.push_back({"scidac", test::bytes_of_file(folder.file("sound")), bits == 64 ? std::size_t{1400} : 0});
  }
  family.words = {"<spacetime>",
                  "<dims>",
                  "<volfmt>0</volfmt>",
                  "<typesize>1152</typesize>",
                  "<datacount>1</datacount>",
                  "<datatype>Lattice</datatype>",
                  "<suma>",
                  "<sumb>",
                  "</",
                  ">",
                  "<",
                  "<!--",
                  "-->",
                  "&amp;",
                  "/>",
                  "scidac-binary-data",
                  "scidac-checksum",
                  "scidac-private-record-xml",
                  std::string(1, '\0'),
                  std::string("\x45\x67\x89\xab\0\1\0\0", 8),
                  "\xff\xfe",
                  "\xc3\x28",
                  " 2",
                  "1 1 1 16"};
  family.read = [sound, rounded](const std::string& path, const std::string&) {
    const auto found = qcd::io::inspect_propagator(path);
    std::shared_ptr<const lattice::Geometry4> here;
    try {
      here = test::single_geometry(found.extents);
    } catch (const core::InvalidArgument&) {
      return Verdict::refused;
    }
    const auto [read, info] = qcd::io::read_propagator(path, *here);
    if (flat(read) == (info.bits == 64 ? sound : rounded)) return Verdict::unchanged;
    return !info.checksum && !info.warnings.empty() ? Verdict::unprotected : Verdict::silent;
  };
  return family;
}

}  // namespace halocline::fuzz
