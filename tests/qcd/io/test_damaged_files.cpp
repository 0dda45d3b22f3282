// SPDX-License-Identifier: Apache-2.0
//
// Bad files: each kind of damage gives a FileError whose sentence names the record and both values. The files are made
// here, then truncated, flipped, swapped or patched.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/io/gauge_file.hpp"
#include "qcd/io/io_helpers.hpp"

namespace {

using namespace halocline;
using qcd::io::WriteOptions;
using test::contains;
using test::replaced;

const lattice::Coordinates<4> extents{4, 6, 2, 8};

/// A sound file of each format as bytes, and what reading damaged copies of it says.
class Bench {
public:
  std::string made(const WriteOptions& options) const {
    qcd::io::write_gauge(folder_.file("sound"), u_, options);
    return test::bytes_of_file(folder_.file("sound"));
  }
  std::string made_from(const test::Links& links, const WriteOptions& options) const {
    qcd::io::write_gauge(folder_.file("sound"), qcd::GaugeField::from_canonical(geometry_, links), options);
    return test::bytes_of_file(folder_.file("sound"));
  }
  qcd::io::GaugeFileInfo info(const std::string& bytes, bool strict = false) const {
    test::write_bytes(folder_.file("damaged"), bytes);
    return qcd::io::read_gauge(folder_.file("damaged"), geometry_, {.strict = strict}).second;
  }
  /// The sentence of the FileError; empty when the file was read.
  std::string error(const std::string& bytes, bool strict = false) const {
    return test::sentence_of<core::FileError>([&] { static_cast<void>(info(bytes, strict)); });
  }
  const qcd::GaugeField& field() const { return u_; }

private:
  test::TemporaryFolder folder_;
  std::shared_ptr<const lattice::Geometry4> geometry_ = test::single_geometry(extents);
  qcd::GaugeField u_ = test::scrambled_field(geometry_);
};

std::string flipped(std::string bytes, std::size_t at, int bit = 3) {
  bytes.at(at) = static_cast<char>(bytes.at(at) ^ (1 << bit));
  return bytes;
}

/// Reverses every word of the data of a file.
std::string word_swapped(std::string bytes, std::size_t from, std::size_t count, std::size_t word) {
  for (std::size_t at = from; at < from + count; at += word)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + word));
  return bytes;
}

std::size_t data_of_nersc(const std::string& bytes) { return bytes.find("END_HEADER\n") + 11; }
std::size_t data_of_ildg(const std::string& bytes) { return bytes.find("ildg-binary-data") + 128; }

const std::vector<WriteOptions> every_format{
    {.format = "nersc"}, {.format = "ildg"}, {.format = "openqcd"}, {.format = "milc"}, {.format = "npy"}};

}  // namespace

TEST_CASE("damaged gauge files: cut anywhere, they are refused") {
  const Bench bench;
  for (const WriteOptions& options : every_format) {
    CAPTURE(options.format);
    const std::string whole = bench.made(options);
    CHECK(bench.error(whole).empty());
    for (const std::size_t keep : {std::size_t{1}, std::size_t{3}, std::size_t{10}, std::size_t{23}, std::size_t{90},
                                   std::size_t{150}, std::size_t{700}, whole.size() / 2, whole.size() - 1}) {
      CAPTURE(keep);
      const std::string sentence = bench.error(whole.substr(0, keep));
      CHECK(contains(sentence, "/damaged"));  // refused, and the path is named
      CHECK(!contains(sentence, "\n"));
    }
  }
}

TEST_CASE("damaged gauge files: empty, missing, a folder, a pipe, or something else altogether") {
  const Bench bench;
  CHECK(contains(bench.error(""), "is empty (0 bytes)"));
  CHECK(contains(bench.error("These are the lecture notes, not a gauge field at all."), "found 54 68 65 73 65"));
  CHECK(contains(bench.error(std::string(1000, '\0')), "expected the beginning of"));
  CHECK(contains(bench.error("\x89HDF\r\n\x1a\n and so on and so forth"), "HDF5"));
  const test::TemporaryFolder folder;
  const auto inspected = [](const std::string& path) {
    return test::sentence_of<core::FileError>([&] { static_cast<void>(qcd::io::inspect_gauge(path)); });
  };
  CHECK(contains(inspected(folder.file("absent")), "No such file"));
  CHECK(contains(inspected(folder.file("")), "not a regular file"));
  CHECK(contains(inspected("/dev/zero"), "not a regular file"));
}

TEST_CASE("damaged gauge files: one flipped bit in the links contradicts the checksum, both values named") {
  const Bench bench;
  for (const WriteOptions& options : every_format) {
    if (options.format == "npy" || options.format == "openqcd") continue;
    CAPTURE(options.format);
    const std::string whole = bench.made(options);
    const std::size_t middle = whole.size() / 2;
    for (int bit = 0; bit < 8; ++bit) {
      const std::string sentence = bench.error(flipped(whole, middle, bit));
      CHECK(contains(sentence, options.format == "nersc"  ? "CHECKSUM"
                               : options.format == "ildg" ? "scidac-checksum"
                                                          : "sum29 sum31"));
      CHECK(contains(sentence, "the file claims "));
      CHECK(contains(sentence, "its links give "));
    }
  }
}

TEST_CASE("damaged gauge files: without a checksum the plaquette gives a flipped bit away") {
  const Bench bench;
  const std::string openqcd = bench.made({.format = "openqcd"});
  const std::string sentence = bench.error(flipped(openqcd, 24 + 144 * 77 + 6, 3));
  CHECK(contains(sentence, "average plaquette"));
  CHECK(contains(sentence, "its links give"));

  const std::string nersc = bench.made({.format = "nersc"});
  const auto line = nersc.find("CHECKSUM");
  std::string unsummed = nersc;
  unsummed.erase(line, nersc.find('\n', line) + 1 - line);
  const auto info = bench.info(unsummed);
  REQUIRE(info.warnings.size() == 1);
  CHECK(contains(info.warnings[0], "no CHECKSUM"));
  CHECK(contains(bench.error(flipped(unsummed, data_of_nersc(unsummed) + 144 * 77 + 1)), "PLAQUETTE"));
}

TEST_CASE("damaged gauge files: a wrong plaquette or link trace in the header is named with both values") {
  const Bench bench;
  const std::string nersc = bench.made({.format = "nersc"});
  const auto with_value = [&](const std::string& key, const std::string& value) {
    const auto at = nersc.find(key + " = ");
    std::string changed = nersc;
    return changed.replace(at, nersc.find('\n', at) - at, key + " = " + value);
  };
  const std::string plaquette = bench.error(with_value("PLAQUETTE", "0.25"));
  CHECK(contains(plaquette, "(PLAQUETTE)"));
  CHECK(contains(plaquette, "claims a plaquette of 0.25, its links give "));
  CHECK(contains(bench.error(with_value("LINK_TRACE", "0.25")), "claims a link trace of 0.25, its links give "));
  CHECK(contains(bench.error(with_value("LINK_TRACE", "many")), "is \"many\", expected a number"));
  CHECK(contains(bench.error(with_value("CHECKSUM", "123")), "the file claims 00000123, its links give "));
  CHECK(contains(bench.error(with_value("CHECKSUM", "xyz")), "hexadecimal"));
  // Four digits of a plaquette cannot contradict the fifteen measured.
  const double measured = bench.info(nersc).plaquette;
  char four[32];
  std::snprintf(four, sizeof four, "%.4f", measured);
  CHECK(bench.info(with_value("PLAQUETTE", four)).warnings.empty());

  const std::string ildg = bench.made({.format = "ildg"});
  const auto at = ildg.find("<plaq>") + 6;
  std::string changed = ildg;
  changed.replace(at, ildg.find("</plaq>") - at, std::string(ildg.find("</plaq>") - at, '1'));
  CHECK(contains(bench.error(changed), "(scidac-record-xml): the file claims a plaquette of 1"));
}

TEST_CASE("damaged gauge files: the wrong byte order is recognised as such") {
  const Bench bench;
  for (const int bits : {32, 64}) {
    CAPTURE(bits);
    const std::string says_big = "IEEE" + std::to_string(bits) + "BIG";
    const std::string says_little = "IEEE" + std::to_string(bits) + "LITTLE";
    for (const int rows : {2, 3}) {
      const std::string big = bench.made({.format = "nersc", .bits = bits, .rows = rows, .endian = "big"});
      const std::string sentence = bench.error(replaced(big, says_big, says_little));
      CHECK(contains(sentence, "FLOATING_POINT"));
      CHECK(contains(sentence, "header says little-endian"));
      CHECK(contains(sentence, "only when read as big-endian"));
      CHECK(contains(sentence, "CHECKSUM: "));
    }
    const auto word = static_cast<std::size_t>(bits / 8);
    const std::string ildg = bench.made({.format = "ildg", .bits = bits});
    const std::size_t bytes = 4 * 6 * 2 * 8 * 72 * word;
    CHECK(
        contains(bench.error(word_swapped(ildg, data_of_ildg(ildg), bytes, word)), "only when read as little-endian"));
  }
  const std::string milc = bench.made({.format = "milc", .endian = "little"});
  CHECK(contains(bench.error(word_swapped(milc, 0, 4, 4)), "MILC"));  // magic swapped alone: sizes make no sense
  std::string ildg = bench.made({.format = "ildg"});
  std::reverse(ildg.begin(), ildg.begin() + 4);
  CHECK(contains(bench.error(ildg), "byte-swapped"));
  std::string openqcd = word_swapped(bench.made({.format = "openqcd"}), 0, 16, 4);
  CHECK(contains(bench.error(word_swapped(openqcd, 16, 8, 8)), "big-endian"));
}

TEST_CASE("nersc: IEEE32 and IEEE64 without an order are read in the one that the checksum confirms") {
  const Bench bench;
  for (const char* endian : {"big", "little"}) {
    const std::string suffix = endian == std::string("big") ? "BIG" : "LITTLE";
    const std::string bytes = bench.made({.format = "nersc", .endian = endian});
    CHECK(bench.info(replaced(bytes, "IEEE64" + suffix, "IEEE64")).endian == endian);
  }
}

TEST_CASE("nersc: what a header may not say") {
  const Bench bench;
  const std::string bytes = bench.made({.format = "nersc"});
  const auto error = [&](const std::string& from, const std::string& to) {
    return bench.error(replaced(bytes, from, to));
  };
  CHECK(contains(error("4D_SU3_GAUGE_3x3", "4D_SU4_GAUGE_4x4"), "(DATATYPE): is \"4D_SU4_GAUGE_4x4\""));
  CHECK(contains(error("4D_SU3_GAUGE_3x3", "4D_SU3_GAUGE"), "2 rows a link) take"));
  CHECK(contains(error("DIMENSION_2 = 6", "DIMENSION_2 = 8"), "4x8x2x8 lattice"));
  CHECK(contains(error("DIMENSION_2 = 6", "DIMENSION_2 = -6"), "every extent is at least 1"));
  CHECK(contains(error("DIMENSION_2 = 6", "DIMENSION_2 = six"), "expected a whole number"));
  CHECK(contains(error("DIMENSION_2 = 6", "DIMENSION_2 = 99999999999999999999"), "expected a whole number"));
  CHECK(contains(error("DIMENSION_2 = 6", "DIMENSION_2 = 4611686018427387904"), "no file can hold"));
  CHECK(contains(error("DIMENSION_2 = 6\n", ""), "(DIMENSION_2): is missing"));
  CHECK(contains(error("IEEE64BIG", "IEEE64MID"), "expected IEEE32 or IEEE64"));
  CHECK(contains(error("IEEE64BIG", "VAX"), "expected IEEE32 or IEEE64"));
  CHECK(contains(error("STORAGE_FORMAT = 1.0", "STORAGE FORMAT"), "not of the form KEY = value"));
  CHECK(contains(error("END_HEADER", "END_HEADEL"), "not of the form KEY = value"));
  CHECK(contains(bench.error(bytes + "more"), "something was appended"));
  CHECK(bench.info(replaced(bytes, "BOUNDARY_4 = PERIODIC", "BOUNDARY_4 = ANTIPERIODIC")).warnings.size() == 1);
}

TEST_CASE("ildg: what its records may not say") {
  const Bench bench;
  const std::string bytes = bench.made({.format = "ildg"});
  const auto error = [&](const std::string& from, const std::string& to) {
    return bench.error(replaced(bytes, from, to));
  };
  CHECK(contains(error("<lx>4</lx>", "<lx>8</lx>"), "8x6x2x8 lattice"));
  CHECK(contains(error("<lx>4</lx>", "<lx>z</lx>"), "<lx> is \"z\", expected a whole number"));
  CHECK(contains(error("<precision>64", "<precision>80"), "expected 32 or 64"));
  CHECK(contains(error("su3gauge", "su2gauge"), "expected su3gauge"));
  CHECK(contains(error("<dims>4 6 2 8 ", "<dims>6 4 2 8 "), "ildg-format claims 4x6x2x8"));
  CHECK(contains(error("<volfmt>0", "<volfmt>1"), "several files"));
  CHECK(contains(error("<suma>", "<sumx>"), "<suma> is missing"));
  CHECK(contains(error("ildg-binary-data", "ildg-binary-dato"), "(ildg-binary-data): is missing"));
  CHECK(contains(error("ildg-format", "ildg-formar"), "ildg-format"));

  // A length beyond the end, and one that would overflow.
  std::string longer = bytes;
  const std::size_t length_at = bytes.find("ildg-binary-data") - 8;
  longer[length_at + 4] = 1;
  CHECK(contains(bench.error(longer), "(ildg-binary-data): record 5 claims "));
  CHECK(contains(bench.error(longer), "follow in the file"));
  longer[length_at] = '\xff';
  CHECK(contains(bench.error(longer), "(ildg-binary-data): record 5 claims "));
  CHECK(contains(bench.error(flipped(bytes, bytes.find("scidac-file-xml") - 16)), "magic number is 4d6789ab"));
  CHECK(contains(bench.error(flipped(bytes, 5, 1)), "version is 3"));

  const auto info = bench.info(replaced(bytes, "scidac-checksum", "scidac-checksun"));
  REQUIRE(info.warnings.size() == 1);
  CHECK(contains(info.warnings[0], "no scidac-checksum record"));
}

TEST_CASE("scidac: a gauge file without ILDG records is read from the SciDAC ones") {
  const Bench bench;
  std::string bytes = replaced(bench.made({.format = "ildg"}), "ildg-format", "some-others");
  const auto info = bench.info(replaced(bytes, std::string("ildg-binary-data\0\0", 18), "scidac-binary-data"));
  CHECK(info.format == "scidac");
  CHECK(info.bits == 64);
  CHECK(info.checksum.has_value());
  CHECK(contains(bench.error(replaced(replaced(bytes, std::string("ildg-binary-data\0\0", 18), "scidac-binary-data"),
                                      "ColorMatrix", "ColorVector")),
                 "not a gauge field"));
}

TEST_CASE("npy, milc, openqcd: what their headers may not say") {
  const Bench bench;
  const std::string npy = bench.made({.format = "npy"});
  const auto error = [&](const std::string& from, const std::string& to) {
    return bench.error(replaced(npy, from, to));
  };
  CHECK(contains(error("<c16", "<f16"), "(descr): is '<f16'"));
  CHECK(contains(error("False", "True "), "fortran_order"));
  CHECK(contains(error("4, 3, 3)", "4, 3, 2)"), "(shape): is (8, 2, 6, 4, 4, 3, 2), expected"));
  CHECK(contains(error("(8, 2, 6", "(8, 2, 7"), "4x7x2x8"));
  CHECK(contains(error("shape", "shade"), "lacks descr"));
  CHECK(contains(bench.error(replaced(npy, std::string("NUMPY\x01", 6), std::string("NUMPY\x09", 6))), "NPY version"));
  CHECK(bench.info(npy).warnings.size() == 1);

  std::string milc = bench.made({.format = "milc"});
  milc[84] = 1;
  CHECK(contains(bench.error(milc), "(order): is 1, expected 0"));
  milc[84] = 0;
  milc[7] = 127;
  CHECK(contains(bench.error(milc), "lattice"));

  std::string openqcd = bench.made({.format = "openqcd"});
  CHECK(contains(bench.error(openqcd + "x"), "read as openQCD"));
}

TEST_CASE("gauge files: links that are not unitary are measured and warned about, refused when strict") {
  const Bench bench;
  test::Links links = bench.field().to_canonical();
  for (std::size_t k = 0; k < 9; ++k) links[9 * 5 + k] *= 1.01;
  for (const WriteOptions& options : every_format) {
    CAPTURE(options.format);
    const std::string bytes = bench.made_from(links, options);
    const auto info = bench.info(bytes);
    CHECK(info.unitarity_violation == doctest::Approx(1.01 * 1.01 * 1.01 - 1).epsilon(1e-3));
    CHECK(std::ranges::any_of(info.warnings, [](const std::string& warning) {
      return contains(warning, "not unitary") && contains(warning, "reaches 0.03");
    }));
    CHECK(contains(bench.error(bytes, true), "not unitary"));
    CHECK(bench.error(bench.made(options), true).empty());  // sound links pass
  }
}

TEST_CASE("nersc: two rows too far from unitary are refused, for their third row would be invented") {
  const Bench bench;
  std::string bytes = bench.made({.format = "nersc", .rows = 2, .endian = "little"});
  const auto line = bytes.find("CHECKSUM");
  bytes.erase(line, bytes.find('\n', line) + 1 - line);
  bytes = flipped(bytes, data_of_nersc(bytes) + 96 * 9 + 6, 3);
  const std::string sentence = bench.error(bytes);
  CHECK(contains(sentence, "third rows cannot be rebuilt"));
}

TEST_CASE("gauge files: NaN links are refused") {
  const Bench bench;
  std::string bytes = bench.made({.format = "npy", .bits = 64, .endian = "little"});
  for (std::size_t i = 0; i < 8; ++i) bytes[bytes.size() / 2 / 64 * 64 + i] = '\xff';
  CHECK(contains(bench.error(bytes), "NaN or infinite"));
}

TEST_CASE("gauge files: links whose products are not finite are refused") {
  const Bench bench;
  std::string bytes = bench.made({.format = "npy", .bits = 64, .endian = "little"});
  const double huge = 1e160;
  std::memcpy(bytes.data() + bytes.size() - 9 * 16, &huge, sizeof huge);
  CHECK(contains(bench.error(bytes), "hold huge numbers"));
}

TEST_CASE("nersc: damage that its sum does not see is warned about, with the format that has a better one") {
  const Bench bench;
  std::string bytes = bench.made({.format = "nersc", .endian = "little"});
  const std::size_t data = data_of_nersc(bytes);
  // Low words of two numbers change places: the sum stays, and links and plaquette change by some 1e-7.
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(data),
                   bytes.begin() + static_cast<std::ptrdiff_t>(data) + 4,
                   bytes.begin() + static_cast<std::ptrdiff_t>(data) + 8);
  const auto info = bench.info(bytes);
  CHECK(std::ranges::any_of(info.warnings, [](const std::string& said) { return contains(said, "SciDAC checksum"); }));
  CHECK(bench.info(bench.made({.format = "nersc"})).warnings.empty());
}

TEST_CASE("gauge files: a lattice of other extents than asked for is the caller's mistake") {
  const test::TemporaryFolder folder;
  const auto u = test::scrambled_field(test::single_geometry({4, 4, 4, 4}));
  qcd::io::write_gauge(folder.file("file"), u, {.format = "nersc"});
  const std::string sentence = test::sentence_of<core::InvalidArgument>(
      [&] { static_cast<void>(qcd::io::read_gauge(folder.file("file"), test::single_geometry({4, 4, 4, 8}))); });
  CHECK(contains(sentence, "holds a 4x4x4x4 lattice, but a 4x4x4x8 lattice was asked for"));
}
