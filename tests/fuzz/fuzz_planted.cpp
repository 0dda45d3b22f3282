// SPDX-License-Identifier: Apache-2.0
//
// A reader with planted faults, one a label: tools/fuzz runs each first and fails where one of them is not found, since
// a fuzzer that finds nothing may be a broken one.

#include <cstdlib>
#include <stdexcept>

#include "fuzz/fuzz.hpp"
#include "halocline/core/error.hpp"

namespace halocline::fuzz {

namespace {

/// What the reader does with any number but the 8 of the sound file.
Verdict do_wrong(const std::string& fault, long number, const std::string& path) {
  if (fault == "overflow") {
    std::vector<int> table(8, 1);
    volatile int* const begin = table.data();
    return begin[8 + number % 2] == 1 ? Verdict::unchanged : Verdict::unprotected;
  }
  if (fault == "exception") throw std::out_of_range("planted");
  if (fault == "sentence") throw core::FileError(path, "", "two\nlines");
  if (fault == "memory") {
    const std::vector<char> much(std::size_t{2} << 30, 'x');
    return much[static_cast<std::size_t>(number) & 0xff] == 'x' ? Verdict::unprotected : Verdict::unchanged;
  }
  if (fault == "hang")
    for (volatile bool go = true; go;) {
    }
  return Verdict::silent;
}

}  // namespace

Family make_family() {
  Family family;
  family.name = "planted";
  for (const char* fault : {"overflow", "exception", "sentence", "memory", "hang", "silent"})
    family.samples.push_back({fault, std::string(fault) + " 8\n", 0});
  family.read = [](const std::string& path, const std::string& bytes) {
    const auto space = bytes.find(' ');
    const std::string fault = bytes.substr(0, space);
    const std::string known = "overflow exception sentence memory hang silent";
    if (space == std::string::npos || fault.size() < 4 || known.find(fault) == std::string::npos)
      throw core::FileError(path, "", "is no planted file");
    const long number = std::strtol(bytes.c_str() + space, nullptr, 10);
    return number == 8 ? Verdict::unchanged : do_wrong(fault, number, path);
  };
  return family;
}

}  // namespace halocline::fuzz
