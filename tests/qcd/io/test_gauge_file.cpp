// SPDX-License-Identifier: Apache-2.0
//
// Round trips through every format we write, and what we refuse to write. The lattice has four different extents, so
// that exchanged axes show.

#include <csignal>
#include <cstring>
#include <limits>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/observables.hpp"
#include "halocline/qcd/io/gauge_file.hpp"
#include "qcd/io/io_helpers.hpp"

namespace {

using namespace halocline;
using qcd::io::WriteOptions;

const lattice::Coordinates<4> extents{4, 6, 8, 10};

std::vector<WriteOptions> every_encoding() {
  std::vector<WriteOptions> all;
  for (const int bits : {32, 64})
    for (const int rows : {2, 3})
      for (const char* endian : {"big", "little"})
        all.push_back({.format = "nersc", .bits = bits, .rows = rows, .endian = endian});
  for (const int bits : {32, 64}) all.push_back({.format = "ildg", .bits = bits});
  all.push_back({.format = "openqcd"});
  for (const char* endian : {"big", "little"}) all.push_back({.format = "milc", .endian = endian});
  for (const int bits : {32, 64})
    for (const char* endian : {"big", "little"}) all.push_back({.format = "npy", .bits = bits, .endian = endian});
  return all;
}

std::string name_of(const WriteOptions& o) {
  return o.format + " " + std::to_string(o.bits) + " bits, " + std::to_string(o.rows) + " rows, " + o.endian;
}

/// Little-endian number at a byte of a file.
template <class Number>
Number number_at(const std::string& bytes, std::size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

std::complex<double> link_of(const qcd::GaugeField& u, const lattice::Coordinates<4>& x, int mu, int i, int j) {
  const auto element = u.link(x, mu).e[i][j];
  return {element.re, element.im};
}

}  // namespace

TEST_CASE("gauge files: what is written is read back bit for bit, in every format, precision, order and row count") {
  const test::TemporaryFolder folder;
  const auto geometry = test::single_geometry(extents);
  const auto u = test::scrambled_field(geometry);
  const test::Links links = u.to_canonical();
  for (const WriteOptions& options : every_encoding()) {
    CAPTURE(name_of(options));
    const std::string path = folder.file("file");
    qcd::io::write_gauge(path, u, options);
    const auto [v, info] = qcd::io::read_gauge(path, geometry);
    CHECK(info.format == options.format);
    CHECK(info.extents == extents);
    CHECK(info.rows == options.rows);
    if (options.bits != 0) CHECK(info.bits == options.bits);
    if (!options.endian.empty()) CHECK(info.endian == options.endian);
    test::Links expected = info.bits == 32 ? test::rounded_to_float(links) : links;
    test::Links found = v.to_canonical();
    if (options.rows == 2) {
      // The third row is rebuilt: equal to rounding, and compared apart from the two that are exact.
      CHECK(test::largest_difference(found, expected) < (info.bits == 32 ? 2e-7 : 1e-15));
      for (std::size_t link = 0; link < found.size(); link += 9)
        for (std::size_t k = 6; k < 9; ++k) found[link + k] = expected[link + k] = 0;
    }
    CHECK(found == expected);
    const double tolerance = info.bits == 32 ? 1e-7 : 1e-14;
    CHECK(std::abs(info.plaquette - qcd::gauge::plaquette(u)) < tolerance);
    CHECK(std::abs(info.link_trace - qcd::gauge::link_trace(u)) < tolerance);

    // Writing what was read gives the file again: nothing is lost but by the first rounding.
    WriteOptions again = options;
    again.metadata = info.header;
    qcd::io::write_gauge(folder.file("again"), v, again);
    const auto w = qcd::io::read_gauge(folder.file("again"), geometry).first;
    CHECK(w.to_canonical() == v.to_canonical());
    CHECK(folder.names().size() == 2);  // and no partial file
    std::filesystem::remove(folder.file("again"));
  }
}

TEST_CASE("gauge files: the name says nothing about the format") {
  const test::TemporaryFolder folder;
  const auto geometry = test::single_geometry({4, 4, 4, 4});
  const auto u = test::scrambled_field(geometry);
  qcd::io::write_gauge(folder.file("configuration.nersc"), u, {.format = "ildg"});
  CHECK(qcd::io::inspect_gauge(folder.file("configuration.nersc")).format == "ildg");
}

TEST_CASE("openqcd: the eight links around the first odd site lie where the format says") {
  const test::TemporaryFolder folder;
  const auto u = test::scrambled_field(test::single_geometry(extents));
  qcd::io::write_gauge(folder.file("file"), u, {.format = "openqcd"});
  const std::string bytes = test::bytes_of_file(folder.file("file"));
  CHECK(bytes.size() == 24 + 4 * 6 * 8 * 10 * 4 * 144);
  CHECK(number_at<std::int32_t>(bytes, 0) == 10);  // t x y z
  CHECK(number_at<std::int32_t>(bytes, 4) == 4);
  CHECK(number_at<std::int32_t>(bytes, 8) == 6);
  CHECK(number_at<std::int32_t>(bytes, 12) == 8);
  CHECK(number_at<double>(bytes, 16) == doctest::Approx(3 * qcd::gauge::plaquette(u)).epsilon(1e-14));
  // The first odd site is z = 1; directions +t -t +x -x +y -y +z -z; lower neighbours wrap.
  const lattice::Coordinates<4> x{0, 0, 1, 0};
  const auto check = [&](int slot, const lattice::Coordinates<4>& site, int mu) {
    CAPTURE(slot);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const std::size_t at = 24 + static_cast<std::size_t>(slot * 144 + (3 * i + j) * 16);
        CHECK(link_of(u, site, mu, i, j) ==
              std::complex<double>(number_at<double>(bytes, at), number_at<double>(bytes, at + 8)));
      }
  };
  check(0, x, 3);
  check(1, {0, 0, 1, 9}, 3);
  check(2, x, 0);
  check(3, {3, 0, 1, 0}, 0);
  check(4, x, 1);
  check(5, {0, 5, 1, 0}, 1);
  check(6, x, 2);
  check(7, {0, 0, 0, 0}, 2);
}

TEST_CASE("milc: header words lie where the format says") {
  const test::TemporaryFolder folder;
  const auto u = test::scrambled_field(test::single_geometry(extents));
  qcd::io::write_gauge(
      folder.file("file"), u,
      {.format = "milc", .endian = "little", .metadata = {{"time_stamp", "Fri Nov 20 00:00:00 2026"}}});
  const std::string bytes = test::bytes_of_file(folder.file("file"));
  CHECK(bytes.size() == 96 + 4 * 6 * 8 * 10 * 4 * 72);
  CHECK(number_at<std::int32_t>(bytes, 0) == 20103);
  CHECK(number_at<std::int32_t>(bytes, 4) == 4);
  CHECK(number_at<std::int32_t>(bytes, 16) == 10);
  CHECK(bytes.substr(20, 24) == "Fri Nov 20 00:00:00 2026");
  CHECK(number_at<std::int32_t>(bytes, 84) == 0);
  // sum29 and sum31 by their definition, word by word.
  std::uint32_t sum29 = 0, sum31 = 0;
  for (std::size_t word = 0; word < (bytes.size() - 96) / 4; ++word) {
    const auto value = number_at<std::uint32_t>(bytes, 96 + 4 * word);
    sum29 ^= std::rotl(value, static_cast<int>(word % 29));
    sum31 ^= std::rotl(value, static_cast<int>(word % 31));
  }
  CHECK(number_at<std::uint32_t>(bytes, 88) == sum29);
  CHECK(number_at<std::uint32_t>(bytes, 92) == sum31);
}

TEST_CASE("gauge files: header texts travel, and cannot forge what describes the data") {
  const test::TemporaryFolder folder;
  const auto geometry = test::single_geometry({4, 4, 4, 4});
  const auto u = test::scrambled_field(geometry);
  qcd::io::write_gauge(
      folder.file("file"), u,
      {.format = "nersc",
       .metadata = {{"ENSEMBLE_ID", "two\nlines"}, {"CHECKSUM", "0"}, {"not a key", "x"}, {"END_HEADER", "x"}}});
  const auto info = qcd::io::read_gauge(folder.file("file"), geometry).second;
  const auto value = [&](const std::string& key) {
    for (const auto& [name, text] : info.header)
      if (name == key) return text;
    return std::string("absent");
  };
  CHECK(value("ENSEMBLE_ID") == "two lines");
  CHECK(value("not a key") == "absent");
  CHECK(value("CHECKSUM") == info.checksum);

  qcd::io::write_gauge(folder.file("lime"), u, {.format = "ildg", .metadata = {{"info", "a < b & c"}}});
  bool found = false;
  for (const auto& [name, text] : qcd::io::inspect_gauge(folder.file("lime")).header)
    found = found || (name == "info" && text == "a < b & c");
  CHECK(found);
}

TEST_CASE("gauge files: what a format cannot hold is refused before anything is written") {
  const test::TemporaryFolder folder;
  const auto geometry = test::single_geometry({4, 4, 4, 4});
  const auto u = test::scrambled_field(geometry);
  const auto refused = [&](const qcd::GaugeField& field, const WriteOptions& options) {
    return test::sentence_of<core::InvalidArgument>([&] { qcd::io::write_gauge(folder.file("file"), field, options); });
  };
  CHECK(test::contains(refused(u, {.format = "hdf5"}), "nersc, ildg, openqcd, milc or npy"));
  CHECK(test::contains(refused(u, {.format = "milc", .bits = 64}), "give 32"));
  CHECK(test::contains(refused(u, {.format = "openqcd", .bits = 32}), "give 64"));
  CHECK(test::contains(refused(u, {.format = "ildg", .rows = 2}), "give 3"));
  CHECK(test::contains(refused(u, {.format = "nersc", .rows = 1}), "give 2 or 3"));
  CHECK(test::contains(refused(u, {.format = "ildg", .endian = "little"}), "give big"));
  CHECK(test::contains(refused(u, {.format = "nersc", .endian = "middle"}), "give big or little"));
  CHECK(test::contains(refused(test::scrambled_field(test::single_geometry({4, 3, 4, 4})), {.format = "openqcd"}),
                       "even"));

  test::Links links = u.to_canonical();
  links[40] *= 1.001;
  const auto bent = qcd::GaugeField::from_canonical(geometry, links);
  CHECK(test::contains(refused(bent, {.format = "nersc", .rows = 2}), "not unitary"));
  CHECK(refused(bent, {.format = "nersc", .rows = 3}).empty());  // allowed: the reader warns
  std::filesystem::remove(folder.file("file"));

  links[40] = std::numeric_limits<double>::quiet_NaN();
  CHECK(test::contains(refused(qcd::GaugeField::from_canonical(geometry, links), {.format = "ildg"}), "NaN"));
  CHECK(folder.names().empty());
}

TEST_CASE("gauge files: a failing write leaves the old file and no rest") {
  const test::TemporaryFolder folder;
  const auto u = test::scrambled_field(test::single_geometry({4, 4, 4, 4}));
  const std::string path = test::write_bytes(folder.file("file"), "precious");
  const auto written = [&](const std::string& where) {
    return test::sentence_of<core::FileError>([&] { qcd::io::write_gauge(where, u, {.format = "nersc"}); });
  };

  // A limit on file sizes stands for a full disk: the system refuses the bytes in the same way.
  struct rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 50000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string sentence = written(path);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  CHECK(test::contains(sentence, "cannot be written"));
  CHECK(test::bytes_of_file(path) == "precious");
  CHECK(folder.names().size() == 1);

  CHECK(test::contains(written(folder.file("no/such/folder/file")), "does not open"));
  CHECK(test::contains(written(folder.file("")), "regular file"));
  CHECK(written(path).empty());
  CHECK(test::bytes_of_file(path).starts_with("BEGIN_HEADER"));
}
