// SPDX-License-Identifier: Apache-2.0
//
// The JSON of the tune cache. A cache does without a damaged file and says so in a warning, which counts as a refusal.

#include "fuzz/fuzz.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/tuning.hpp"
#include "tddft/pseudopotential/scratch_file.hpp"

namespace halocline::fuzz {

namespace {

/// What the cache writes of these entries.
std::string text_of(const gpu::TuneCache::Entries& entries) {
  const tddft::test::ScratchFile file("");
  gpu::TuneCache cache("", gpu::TuneCache::Mode::read_write);
  for (const auto& [key, entry] : entries) cache.keep(key, entry);
  cache.export_to(file.path());
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

Family make_family() {
  gpu::TuneCache::Entries table;
  for (int i = 0; i < 3; ++i) {
    gpu::TuneEntry entry;
    entry.parameters = {.block_x = 32 << i, .sites_per_thread = 1 + i, .carveout = 25 * i, .prefetch = i, .policy = ""};
    entry.seconds = 1.5e-5 * (i + 1);
    entry.first_seconds = 2e-5;
    entry.bytes = 1e6;
    entry.flops = 3e6;
    entry.candidates = 12;
    entry.failed = i;
    entry.failure = i == 0 ? "" : "too many registers";
    entry.when = "2026-01-01T00:00:00Z";
    table.push_back(
        {{"NVIDIA H200, 9.0", "13.0, toolkit 13.0", "wilson_hop", "8x8x8x1" + std::to_string(i), "0123456789abcdef"},
         entry});
  }
  Family family;
  family.name = "tune";
  family.samples = {{"json", text_of(table), 0}};
  family.words = {"{",
                  "}",
                  "[",
                  "]",
                  ",",
                  ":",
                  "\"",
                  "\\",
                  "\\u0000",
                  "\\ud800",
                  "null",
                  "true",
                  "\"block\": [1, 2, 3]",
                  "\"version\": 1",
                  "\"entries\": []",
                  "\"policy\": \"\"",
                  "1e400",
                  "-1",
                  "1.5",
                  "18446744073709551616",
                  "[[[[[[[[[[[[[[[[",
                  "{\"a\":{\"a\":{\"a\":",
                  "\xff",
                  "\xc3\x28",
                  std::string(1, '\0'),
                  "/*",
                  "NaN"};
  family.read = [table](const std::string& path, const std::string&) {
    gpu::TuneCache cache(path, gpu::TuneCache::Mode::read_only);
    const auto entries = cache.entries();
    const auto warnings = cache.take_warnings();
    if (!warnings.empty()) throw core::FileError(path, "", warnings[0]);
    return entries == table ? Verdict::unchanged : Verdict::unprotected;
  };
  return family;
}

}  // namespace halocline::fuzz
