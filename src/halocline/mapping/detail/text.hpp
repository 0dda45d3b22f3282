// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// For error messages: formats lists, and finds the known name nearest to an unknown one.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace halocline::mapping::detail {

/// "6x12x6x4"
template <typename Numbers>
std::string joined(const Numbers& numbers, const char* separator) {
  std::string text;
  for (const auto number : numbers) text += (text.empty() ? "" : separator) + std::to_string(number);
  return text;
}

/// The least number of letters to insert, delete or replace that turns one word into the other (Levenshtein).
inline std::size_t letters_apart(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// The name nearest to `name`; the first among equally near ones. @param names  at least one
inline const std::string& nearest(std::string_view name, const std::vector<std::string>& names) {
  return *std::min_element(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return letters_apart(name, a) < letters_apart(name, b);
  });
}

}  // namespace halocline::mapping::detail
