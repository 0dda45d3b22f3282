// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Reads numbers from untrusted text files.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace halocline::tddft::detail {

inline constexpr int largest_tabulated_l = 3;  ///< of the projectors in a file

/// Iterates over the words of a text and counts lines.
class Words {
public:
  explicit Words(std::string_view text) noexcept : text_(text) {}

  /// The next word, or an empty view at the end. Words end at white space and at commas.
  std::string_view next() noexcept;
  /// The next word as a finite number; accepts Fortran's exponent letters D and d. Empty if it is not a number.
  std::optional<double> number();
  /// Line of the last word, counted from 1.
  int line() const noexcept { return line_; }
  /// The last word.
  std::string_view word() const noexcept { return word_; }
  /// Whether only white space is left.
  bool at_end() const noexcept;
  /// Returns the rest of the present line and skips to its end.
  std::string_view rest_of_line() noexcept;

private:
  std::string_view text_, word_;
  std::size_t at_ = 0;
  int line_ = 1;
};

/// Reads a whole file. @throws core::FileError  it cannot be read or holds more than `limit` bytes
std::string read_text(const std::string& path, std::size_t limit = std::size_t{64} << 20);

/// ASCII letters in lower case.
std::string lower(std::string_view text);

/// A word as shown in an error message: in quotes, without unprintable bytes, at most 24 characters long.
std::string shown(std::string_view word);

}  // namespace halocline::tddft::detail
