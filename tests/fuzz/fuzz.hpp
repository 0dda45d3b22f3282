// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a fuzzer of a reader is made of.
///
/// tests/fuzz/fuzz_<family>.cpp defines `make_family()`: small sound files, made by the project's own writers, and what
/// to do with the bytes of a damaged one. driver.cpp mutates the sound files and counts what the reader says; with
/// -DHALOCLINE_FUZZ=ON and Clang, libfuzzer.cpp hands the same family to libFuzzer. CONTRIBUTING.md tells how to run
/// them.
///
/// A reader may refuse a file with a core::FileError of one line. All else is a failure: another exception, a report of
/// a sanitizer, an input that takes seconds or hundreds of MiB, and damage that is taken in silently although the
/// format has a checksum.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace halocline::fuzz {

/// What became of an input.
enum class Verdict {
  refused,      ///< with a FileError
  unchanged,    ///< read, and the values are those of the sound file: the change hit nothing that carries them
  unprotected,  ///< read with other values, and nothing in the format or in this file can tell
  let_through,  ///< read with other values that the checksum of the format agrees with, computed here a second time
  silent,       ///< read with other values though the checksum of the file contradicts them: a failure
};
inline constexpr std::size_t verdicts = 5;

/// A sound file to begin from.
struct Sample {
  std::string label;     ///< what is counted together: "nersc"
  std::string bytes;     ///< of the whole file
  std::size_t head = 0;  ///< bytes of the description in front of the numbers, where nine in ten changes go; 0: all
};

struct Family {
  std::string name;
  std::vector<Sample> samples;
  std::vector<std::string> words;  ///< of the formats, which the mutator inserts
  /// Reads the file at `path`, which holds `bytes`. What it throws is judged by judged().
  std::function<Verdict(const std::string& path, const std::string& bytes)> read;
  /// Makes the checksum of a damaged description right again, so that what stands behind it is reached; may be empty.
  /// Every second input goes through it.
  std::function<void(std::string& bytes)> repair{};
};

/// The family of this program.
Family make_family();

/// The verdict on one input, or a sentence about what is wrong.
struct Judgement {
  Verdict verdict = Verdict::refused;
  std::string failure;  ///< empty: none
};

/// Puts the bytes into a file in memory and reads it.
Judgement judged(const Family& family, const std::string& bytes);

/// A sequence of numbers for one input: the same seed and number give the same input on every machine.
class Random {
public:
  Random(std::uint64_t seed, std::uint64_t input);
  std::uint64_t next();
  std::size_t below(std::size_t end);  ///< 0 where end is 0
  bool one_in(std::size_t n) { return below(n) == 0; }

private:
  std::uint64_t state_;
};

/// Number `input` of the inputs that come from `seed`: a sample with one to eight changes.
/// @param samples  those to choose from, in turn; not empty
std::string mutated(const Family& family, const std::vector<const Sample*>& samples, std::uint64_t seed,
                    std::uint64_t input);

}  // namespace halocline::fuzz
