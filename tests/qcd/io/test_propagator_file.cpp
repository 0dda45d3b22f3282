// SPDX-License-Identifier: Apache-2.0

#include <limits>

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/io/propagator_file.hpp"
#include "qcd/io/io_helpers.hpp"
#include "qcd/io/propagator_helpers.hpp"

namespace {

using namespace halocline;
using test::contains;
using test::replaced;

const lattice::Coordinates<4> extents{4, 2, 6, 8};

}  // namespace

TEST_CASE("propagator files: what is written is read back bit for bit, at both precisions") {
  const test::TemporaryFolder folder;
  const auto geometry = test::single_geometry(extents);
  auto columns = test::scrambled_columns(*geometry);
  for (const int bits : {64, 32}) {
    CAPTURE(bits);
    qcd::io::write_propagator(folder.file("file"), *geometry, test::spans_of(columns),
                              {.bits = bits, .record_xml = "<source>0 0 0 0</source>"});
    const auto [found, info] = qcd::io::read_propagator(folder.file("file"), *geometry);
    CHECK(info.bits == bits);
    CHECK(info.extents == extents);
    CHECK(info.record_xml == "<source>0 0 0 0</source>");
    CHECK(info.warnings.empty());
    if (bits == 32)
      for (auto& column : columns) column = test::rounded_to_float(column);
    CHECK(found == columns);
    CHECK(folder.names().size() == 1);
  }
}

TEST_CASE("propagator files: at a site the order is sink spin, source spin, sink colour, source colour") {
  const test::TemporaryFolder folder;
  const auto geometry = test::single_geometry(extents);
  auto columns = test::scrambled_columns(*geometry);
  const int sink_spin = 1, sink_colour = 2, source_spin = 3, source_colour = 0;
  const std::int64_t site = lattice::linear_index<4>({1, 1, 2, 3}, extents);
  columns[3 * source_spin + source_colour][static_cast<std::size_t>(12 * site + 3 * sink_spin + sink_colour)] = {1234.5,
                                                                                                                 -7};
  qcd::io::write_propagator(folder.file("file"), *geometry, test::spans_of(columns));
  const std::string bytes = test::bytes_of_file(folder.file("file"));
  const std::size_t data = bytes.find("scidac-binary-data") + 128;
  const auto place = static_cast<std::size_t>(((sink_spin * 4 + source_spin) * 3 + sink_colour) * 3 + source_colour);
  // 1234.5 as a big-endian double is 40934a0000000000.
  CHECK(bytes.substr(data + (static_cast<std::size_t>(site) * 144 + place) * 16, 8) ==
        std::string("\x40\x93\x4a\0\0\0\0\0", 8));
}

TEST_CASE("propagator files: damage is named") {
  const test::TemporaryFolder folder;
  const auto geometry = test::single_geometry(extents);
  const auto columns = test::scrambled_columns(*geometry);
  qcd::io::write_propagator(folder.file("file"), *geometry, test::spans_of(columns));
  const std::string bytes = test::bytes_of_file(folder.file("file"));
  const auto error = [&](const std::string& damaged) {
    test::write_bytes(folder.file("damaged"), damaged);
    return test::sentence_of<core::FileError>(
        [&] { static_cast<void>(qcd::io::read_propagator(folder.file("damaged"), *geometry)); });
  };
  CHECK(error(bytes).empty());
  std::string flipped = bytes;
  flipped[bytes.size() / 2] = static_cast<char>(flipped[bytes.size() / 2] ^ 1);
  CHECK(contains(error(flipped), "(scidac-checksum): the file claims "));
  CHECK(contains(error(flipped), "its data give "));
  CHECK(contains(error(bytes.substr(0, bytes.size() / 2)), "(scidac-binary-data): record 4 claims "));
  CHECK(contains(error(bytes.substr(0, 300)), "only 4 follow"));
  CHECK(contains(error("nonsense"), "LIME record 0"));
  CHECK(contains(error(""), "is empty"));
  CHECK(contains(error(replaced(bytes, "DiracPropagator", "DiracFermionnnn")), "expected one DiracPropagator"));
  CHECK(contains(error(replaced(bytes, "<dims>4 2 6 8 ", "<dims>4 2 6 9 ")),
                 "takes 995328 bytes, but the record has 884736"));
  CHECK(contains(error(replaced(bytes, "<dims>4 2 6 8 ", "<dims>4 2 6   ")), "expected four sizes"));
  CHECK(error(replaced(bytes, "QDP_D3_DiracPropagator</datatype>", "Lattice</datatype>               ")).empty());
  test::write_bytes(folder.file("unsummed"), replaced(bytes, "scidac-checksum", "scidac-checksun"));
  CHECK(qcd::io::inspect_propagator(folder.file("unsummed")).warnings.size() == 1);

  auto broken = columns;
  broken[5][17] = std::numeric_limits<double>::quiet_NaN();
  qcd::io::write_propagator(folder.file("file"), *geometry, test::spans_of(broken));
  CHECK(contains(error(test::bytes_of_file(folder.file("file"))), "NaN or infinite"));
}

TEST_CASE("propagator files: wrong columns and lattices are the caller's mistake") {
  const test::TemporaryFolder folder;
  const auto geometry = test::single_geometry(extents);
  const auto columns = test::scrambled_columns(*geometry);
  const auto spans = test::spans_of(columns);
  const auto refused = [&](std::span<const std::span<const std::complex<double>>> given, int bits) {
    return test::sentence_of<core::InvalidArgument>(
        [&] { qcd::io::write_propagator(folder.file("file"), *geometry, given, {.bits = bits}); });
  };
  CHECK(contains(refused(spans, 16), "give 32 or 64"));
  CHECK(contains(refused(std::span(spans).first(11), 64), "12 columns"));
  auto shorter = spans;
  shorter[3] = shorter[3].first(12);
  CHECK(contains(refused(shorter, 64), "expected 12 x 384"));
  CHECK(folder.names().empty());
  qcd::io::write_propagator(folder.file("file"), *geometry, spans);
  CHECK(contains(test::sentence_of<core::InvalidArgument>([&] {
                   static_cast<void>(
                       qcd::io::read_propagator(folder.file("file"), *test::single_geometry({4, 2, 8, 6})));
                 }),
                 "holds a propagator on a 4x2x6x8 lattice"));
}
