// SPDX-License-Identifier: Apache-2.0
//
// One input: into a file in memory, which the disk never sees, through the reader, and what it threw is looked at.

#include "fuzz/fuzz.hpp"

#include <stdexcept>

#include <sys/mman.h>
#include <unistd.h>

#include "halocline/core/error.hpp"

namespace halocline::fuzz {

namespace {

/// A file in memory that has a path.
class MemoryFile {
public:
  explicit MemoryFile(const std::string& bytes) : number_(::memfd_create("fuzzed", MFD_CLOEXEC)) {
    if (number_ < 0) throw std::runtime_error("the fuzzer has no file in memory");
    if (::write(number_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("the fuzzer cannot write its file in memory");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(number_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

private:
  int number_;
};

}  // namespace

Judgement judged(const Family& family, const std::string& bytes) {
  const MemoryFile file(bytes);
  try {
    const Verdict verdict = family.read(file.path(), bytes);
    if (verdict == Verdict::silent) return {verdict, "damage is taken in without a word"};
    return {verdict, ""};
  } catch (const core::FileError& error) {
    const std::string_view sentence = error.what();
    if (sentence.find('\n') != std::string_view::npos)
      return {Verdict::refused, "the error has more than one line: " + std::string(sentence)};
    return {Verdict::refused, ""};
  } catch (const std::exception& error) {
    return {Verdict::refused, std::string("something else than a FileError is thrown: ") + error.what()};
  }
}

}  // namespace halocline::fuzz
