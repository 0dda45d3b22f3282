// SPDX-License-Identifier: Apache-2.0
//
// Files that another project's script wrote from the published definitions of the formats: what we read from the five
// encodings of one configuration is the same field, and what we write back are the same bytes.

#include <algorithm>
#include <array>

#include <doctest/doctest.h>

#include "halocline/qcd/gauge/observables.hpp"
#include "halocline/qcd/io/gauge_file.hpp"
#include "qcd/io/io_helpers.hpp"
#include "qcd/shared_data.hpp"

namespace {

using namespace halocline;
using qcd::io::GaugeFileInfo;
using qcd::io::WriteOptions;

const std::string nersc_64 = "4x4x4x4b6.0000id3n1.nersc";
const std::string nersc_32 = "4x4x4x4b6.0000id3n1.2row.f32.nersc";
const std::string nersc_64_little = "4x4x4x4b6.0000id3n1.2row.f64le.nersc";
const std::string ildg_64 = "4x4x4x4b6.0000id3n1.ildg.lime";
const std::string ildg_32 = "4x4x4x4b6.0000id3n1.f32.ildg.lime";
const std::array all_files{nersc_64, nersc_32, nersc_64_little, ildg_64, ildg_32};

std::string shared(const std::string& name) { return (test::shared_data_folder() / name).string(); }

auto read(const std::string& path) {
  return qcd::io::read_gauge(path, test::single_geometry(qcd::io::inspect_gauge(path).extents));
}

/// Everything behind the NERSC header.
std::string data_of_nersc(const std::string& bytes) { return bytes.substr(bytes.find("END_HEADER\n") + 11); }

}  // namespace

TEST_CASE("gauge files: five encodings of one configuration give the same links") {
  HALOCLINE_NEEDS_SHARED(ildg_32);
  const test::Links reference = test::sample_links();
  for (const std::string& name : all_files) {
    CAPTURE(name);
    const auto [u, info] = read(shared(name));
    // Rounding of 64-bit files happens once, in the rebuilt third row; of 32-bit files in every number below 1.
    const double tolerance = info.bits == 64 ? (info.rows == 3 ? 0.0 : 1e-15) : 1e-7;
    CHECK(test::largest_difference(u.to_canonical(), reference) <= tolerance);
    CHECK(info.unitarity_violation < (info.bits == 64 ? 1e-14 : 1e-6));
    CHECK(info.warnings.empty());
  }
}

TEST_CASE("gauge files: checksums, plaquettes and traces are those known for the shared files") {
  HALOCLINE_NEEDS_SHARED(ildg_32);
  const auto known = test::sample_values();
  for (const std::string& name : all_files) {
    CAPTURE(name);
    const GaugeFileInfo info = read(shared(name)).second;
    const auto& file = known.at("files").at(name);
    std::string checksum;
    if (file.contains("nersc_checksum"))
      checksum = file.at("nersc_checksum").get<std::string>();
    else
      checksum = file.at("scidac_checksum").at(0).get<std::string>() + " " +
                 file.at("scidac_checksum").at(1).get<std::string>();
    CHECK(info.checksum == checksum);
    CHECK(info.plaquette == doctest::Approx(file.at("plaquette_of_file").get<double>()).epsilon(1e-14));
    const double tolerance = info.bits == 64 ? 1e-14 : 1e-8;
    CHECK(std::abs(info.plaquette - known.at("plaquette").get<double>()) < tolerance);
    CHECK(std::abs(info.link_trace - known.at("link_trace").get<double>()) < tolerance);
    CHECK(std::abs(info.header_plaquette.value() - known.at("plaquette").get<double>()) < 1e-15);
    CHECK(info.extents == lattice::Coordinates<4>{4, 4, 4, 4});
  }
}

TEST_CASE("gauge files: inspecting tells format, precision and rows without reading links") {
  HALOCLINE_NEEDS_SHARED(ildg_32);
  const auto check = [](const std::string& name, const char* format, int bits, int rows, const char* endian) {
    CAPTURE(name);
    const GaugeFileInfo info = qcd::io::inspect_gauge(shared(name));
    CHECK(info.format == format);
    CHECK(info.bits == bits);
    CHECK(info.rows == rows);
    CHECK(info.endian == endian);
    CHECK(std::isnan(info.plaquette));
  };
  check(nersc_64, "nersc", 64, 3, "big");
  check(nersc_32, "nersc", 32, 2, "big");
  check(nersc_64_little, "nersc", 64, 2, "little");
  check(ildg_64, "ildg", 64, 3, "big");
  check(ildg_32, "ildg", 32, 3, "big");
}

TEST_CASE("gauge files: a 64-bit file read and written again is the same file, byte for byte") {
  HALOCLINE_NEEDS_SHARED(ildg_64);
  const test::TemporaryFolder folder;
  const auto rewrite = [&](const std::string& name, WriteOptions options) {
    const auto [u, info] = read(shared(name));
    options.metadata = info.header;
    const std::string copy = folder.file("copy");
    qcd::io::write_gauge(copy, u, options);
    return test::bytes_of_file(copy);
  };
  CHECK(rewrite(nersc_64, {.format = "nersc"}) == test::bytes_of_file(shared(nersc_64)));
  CHECK(rewrite(nersc_64_little, {.format = "nersc", .rows = 2, .endian = "little"}) ==
        test::bytes_of_file(shared(nersc_64_little)));
  CHECK(rewrite(ildg_64, {.format = "ildg"}) == test::bytes_of_file(shared(ildg_64)));
  // 32-bit files claim the plaquette of the 64-bit original; their links come back bit for bit.
  CHECK(data_of_nersc(rewrite(nersc_32, {.format = "nersc", .bits = 32, .rows = 2})) ==
        data_of_nersc(test::bytes_of_file(shared(nersc_32))));
}

TEST_CASE("gauge files: every encoding written from the original carries the known checksum") {
  HALOCLINE_NEEDS_SHARED(nersc_64);
  const test::TemporaryFolder folder;
  const auto u = read(shared(nersc_64)).first;
  const auto checksum = [&](const WriteOptions& options) {
    qcd::io::write_gauge(folder.file("file"), u, options);
    return qcd::io::inspect_gauge(folder.file("file")).checksum.value();
  };
  CHECK(checksum({.format = "nersc"}) == "8e3b6560");
  CHECK(checksum({.format = "nersc", .bits = 32, .rows = 2}) == "f0d9948e");
  CHECK(checksum({.format = "nersc", .rows = 2, .endian = "little"}) == "b078b894");
  CHECK(checksum({.format = "ildg", .bits = 64}) == "cae64ce2 4ea574ee");
  CHECK(checksum({.format = "ildg", .bits = 32}) == "88cee50e dafb1197");
}

TEST_CASE("gauge files: the 16^4 benchmark configuration verifies") {
  const std::string name = "b6.0_16x16x16x16.2row.f32.nersc";
  HALOCLINE_NEEDS_SHARED(name);
  const GaugeFileInfo info = read(shared(name)).second;
  CHECK(info.warnings.empty());
  CHECK(std::abs(info.plaquette - 0.588720606232744) < 1e-8);
}
