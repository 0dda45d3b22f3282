// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The sample configuration that another project made, and the numbers known for it, where they are beside the
/// checkout (`../shared/data`, or the folder named by HALOCLINE_DATA).
///
/// The reader below is for tests that want links and not the file format: the one 64-bit three-row NERSC file, whose
/// order is already canonical, read by a single process in a few lines. It shares nothing with the reader under test.

#include <bit>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace halocline::test {

inline const std::string sample_name = "4x4x4x4b6.0000id3n1";

/// Folder of the shared data, whether it exists or not.
inline std::filesystem::path shared_data_folder() {
  const char* named = std::getenv("HALOCLINE_DATA");
  return named != nullptr ? std::filesystem::path(named) : std::filesystem::path("../shared/data");
}

/// True where the file is there; tests report a skip otherwise.
inline bool has_shared(const std::string& file) { return std::filesystem::exists(shared_data_folder() / file); }

/// Links of the 4x4x4x4 sample in canonical order `[t][z][y][x][mu][3][3]`.
inline std::vector<std::complex<double>> sample_links() {
  std::ifstream file(shared_data_folder() / (sample_name + ".nersc"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string end = "END_HEADER\n";
  std::size_t position = bytes.find(end) + end.size();
  auto number = [&] {
    std::uint64_t bits = 0;  // most significant byte first
    for (int i = 0; i < 8; ++i) bits = bits << 8 | static_cast<unsigned char>(bytes.at(position++));
    return std::bit_cast<double>(bits);
  };
  std::vector<std::complex<double>> links(4 * 4 * 4 * 4 * 36);
  for (auto& element : links) {
    const double re = number();
    element = {re, number()};
  }
  return links;
}

/// Entry of the sample in gauge.json.
inline nlohmann::json sample_values() {
  std::ifstream file(shared_data_folder() / "gauge.json");
  return nlohmann::json::parse(file).at(sample_name);
}

}  // namespace halocline::test

/// Leaves a test case, saying why, where a shared file is absent.
#define HALOCLINE_NEEDS_SHARED(file)                                                                                   \
  if (!halocline::test::has_shared(file)) {                                                                            \
    MESSAGE("skipped: ", halocline::test::shared_data_folder().string(), "/", file, " is not there");                  \
    return;                                                                                                            \
  }
