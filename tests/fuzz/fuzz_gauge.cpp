// SPDX-License-Identifier: Apache-2.0
//
// Gauge files of the five formats. Links that differ from those written must be refused where the file has a checksum;
// NERSC's sum of words and MILC's two exclusive-ors let some changes through, which is counted apart after the checksum
// has been computed here once more.

#include <cstdlib>

#include <fmt/core.h>

#include "fuzz/fuzz.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/io/gauge_file.hpp"
#include "qcd/io/io_helpers.hpp"

namespace halocline::fuzz {

namespace {

const lattice::Coordinates<4> extents{2, 2, 2, 2};

struct Sound {
  test::Links links, rounded;
};

/// The 32-bit word at `at`, in the order of the file.
std::uint32_t word_at(const std::string& bytes, std::size_t at, bool big) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i)
    word |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << 8 * (big ? 3 - i : i);
  return word;
}

std::uint32_t rotated(std::uint32_t word, std::size_t by) { return by == 0 ? word : word << by | word >> (32 - by); }

/// Whether the checksum that the file claims is that of its data, by plain loops over the words.
bool checksum_agrees(const qcd::io::GaugeFileInfo& info, const std::string& bytes, std::size_t numbers) {
  const std::size_t data =
      numbers * 2 * static_cast<std::size_t>(info.bits / 8) / 3 * static_cast<std::size_t>(info.rows);
  const std::size_t begin = bytes.size() - data;
  const bool big = info.endian == "big";
  std::uint32_t sum = 0, sum29 = 0, sum31 = 0;
  for (std::size_t i = 0; i < data / 4; ++i) {
    const std::uint32_t word = word_at(bytes, begin + 4 * i, big);
    sum += word;
    sum29 ^= rotated(word, i % 29);
    sum31 ^= rotated(word, i % 31);
  }
  if (info.format == "milc") return *info.checksum == fmt::format("{:08x} {:08x}", sum29, sum31);
  return std::strtoul(info.checksum->c_str(), nullptr, 16) == sum;
}

Verdict verdict_on(const qcd::io::GaugeFileInfo& info, const test::Links& links, const Sound& sound,
                   const std::string& bytes) {
  const test::Links& expected = info.bits == 64 ? sound.links : sound.rounded;
  bool same = links.size() == expected.size();
  const std::size_t kept = info.rows == 2 ? 6 : 9;  // a third row is computed from the others
  for (std::size_t i = 0; same && i < links.size(); ++i) same = i % 9 >= kept || links[i] == expected[i];
  if (same) return Verdict::unchanged;
  if (!info.checksum)
    return info.format == "openqcd" || !info.warnings.empty() ? Verdict::unprotected : Verdict::silent;
  if (info.format == "nersc" || info.format == "milc")
    return checksum_agrees(info, bytes, links.size()) ? Verdict::let_through : Verdict::silent;
  return Verdict::silent;
}

Verdict read_any(const std::string& path, const std::string& bytes, const Sound& sound) {
  const auto found = qcd::io::inspect_gauge(path);
  std::shared_ptr<const lattice::Geometry4> geometry;
  try {
    geometry = test::single_geometry(found.extents);
  } catch (const core::InvalidArgument&) {
    return Verdict::refused;  // extents that no lattice of ours has are no matter of the file
  }
  const auto [u, info] = qcd::io::read_gauge(path, geometry);
  return verdict_on(info, u.to_canonical(), sound, bytes);
}

}  // namespace

Family make_family() {
  const auto geometry = test::single_geometry(extents);
  const auto u = test::scrambled_field(geometry);
  auto sound = std::make_shared<Sound>();
  sound->links = u.to_canonical();
  sound->rounded = test::rounded_to_float(sound->links);
  Family family;
  family.name = "gauge";
  const test::TemporaryFolder folder;
  struct Kind {
    qcd::io::WriteOptions options;
    std::size_t head;
  };
  const std::vector<Kind> kinds{{{.format = "nersc"}, 460},
                                {{.format = "ildg"}, 1900},
                                {{.format = "openqcd"}, 24},
                                {{.format = "milc"}, 96},
                                {{.format = "npy"}, 128},
                                {{.format = "nersc", .bits = 32, .rows = 2, .endian = "little"}, 460},
                                {{.format = "ildg", .bits = 32}, 1900},
                                {{.format = "openqcd"}, 0},
                                {{.format = "milc", .endian = "big"}, 0},
                                {{.format = "npy", .bits = 32, .endian = "big"}, 0}};
  for (const Kind& kind : kinds) {
    qcd::io::write_gauge(folder.file("sound"), u, kind.options);
    family.samples.push_back({kind.options.format, test::bytes_of_file(folder.file("sound")), kind.head});
  }
  family.words = {"BEGIN_HEADER\n",
                  "END_HEADER\n",
                  "DATATYPE = 4D_SU3_GAUGE\n",
                  "DIMENSION_1 = ",
                  "IEEE64",
                  "IEEE32BIG",
                  "LITTLE",
                  "CHECKSUM = ",
                  "PLAQUETTE = ",
                  " = ",
                  "\n",
                  "=",
                  "<",
                  ">",
                  "</",
                  "<!--",
                  "-->",
                  "&amp;",
                  "<lx>",
                  "<precision>32</precision>",
                  "<plaq>",
                  "<suma>",
                  "scidac-binary-data",
                  "ildg-binary-data",
                  "ildg-format",
                  "scidac-checksum",
                  "usqcdInfo",
                  "'descr': '<c8'",
                  "'fortran_order': True",
                  "'shape': (",
                  "(",
                  ")",
                  ",",
                  "'",
                  "{",
                  "}",
                  std::string(1, '\0'),
                  std::string(8, '\0'),
                  std::string("\x45\x67\x89\xab\0\1\0\0", 8),
                  std::string("\x87\x4e\0\0", 4),
                  "\x93NUMPY",
                  "\xff\xfe",
                  "\xc3\x28"};
  family.read = [sound](const std::string& path, const std::string& bytes) { return read_any(path, bytes, *sound); };
  return family;
}

}  // namespace halocline::fuzz
