// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers from ../shared/data/electrons/reference.json, looked up without a JSON library: a section, then a key.

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace reference_values {

inline const std::string folder = "../shared/data/electrons/";

/// The file; nothing where this machine does not have it.
inline std::optional<std::string> text() {
  std::ifstream file(folder + "reference.json");
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// All numbers behind "key" in "section", to the next letter or closing brace.
inline std::vector<double> numbers(const std::string& text, const std::string& section, const std::string& key) {
  const auto start = text.find('"' + section + '"');
  const auto at = start == std::string::npos ? start : text.find('"' + key + '"', start);
  if (at == std::string::npos) throw std::runtime_error("reference.json has no " + section + ": " + key);
  std::vector<double> found;
  const char* p = text.c_str() + at + key.size() + 2;
  while (*p != '\0' && *p != '"' && *p != '}') {
    char* end = nullptr;
    const double value = std::strtod(p, &end);
    if (end == p) {
      ++p;
    } else {
      found.push_back(value);
      p = end;
    }
  }
  return found;
}

inline double number(const std::string& text, const std::string& section, const std::string& key) {
  return numbers(text, section, key).at(0);
}

}  // namespace reference_values
