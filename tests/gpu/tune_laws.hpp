// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the tuner share: a folder of their own, keys and entries made of a number, and time as it is told.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "halocline/gpu/tuning.hpp"

namespace halocline::gpu::test {

/// A folder that is removed at the end; in memory where there is such a place, for tests that write hundreds of times.
class Folder {
public:
  explicit Folder(bool on_disk = false) {
    const std::filesystem::path memory = "/dev/shm";
    const bool use_memory = !on_disk && ::access(memory.c_str(), W_OK) == 0;
    std::string name =
        ((use_memory ? memory : std::filesystem::temp_directory_path()) / "halocline_tune_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

private:
  std::filesystem::path path_;
};

inline std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

inline TuneKey key_of(int number, const std::string& kernel = "hop") {
  return {.device = "GPU, 9.0",
          .driver = "13.0, toolkit 13.0",
          .kernel = kernel,
          .problem = "problem " + std::to_string(number),
          .kernel_hash = "0123456789abcdef"};
}

inline TuneEntry entry_of(int number) {
  TuneEntry entry;
  entry.parameters.block_x = 32 * (1 + number % 32);
  entry.parameters.sites_per_thread = 1 + number % 3;
  entry.parameters.policy = number % 2 == 0 ? "" : "staged";
  entry.seconds = 1e-6 * (1 + number);
  entry.first_seconds = 0.1 + number;
  entry.bytes = 3.0 * number;
  entry.flops = 1e15 + number;
  entry.candidates = 7;
  entry.failed = 1;
  entry.failure = "block \"too large\", \\ 1024 x 2";
  entry.when = "2026-01-02T03:04:05Z";
  return entry;
}

inline TuneParameters block(int x) {
  TuneParameters parameters;
  parameters.block_x = x;
  return parameters;
}

/// Candidates of these block lengths.
inline std::vector<TuneParameters> blocks(std::initializer_list<int> lengths) {
  std::vector<TuneParameters> out;
  for (const int x : lengths) out.push_back(block(x));
  return out;
}

/// Runs that take as long as they are said to, by their block length, and a clock that reads it.
struct ToldTime {
  std::map<int, double> seconds{};
  std::map<int, int> runs{};
  double now = 0;

  std::function<void(const TuneParameters&)> run() {
    return [this](const TuneParameters& p) {
      ++runs[p.block_x];
      now += seconds.at(p.block_x);
    };
  }
  Tuner::Clock clock() {
    return [this](Stream&, const std::function<void()>& once) {
      const double before = now;
      once();
      return now - before;
    };
  }
};

}  // namespace halocline::gpu::test
