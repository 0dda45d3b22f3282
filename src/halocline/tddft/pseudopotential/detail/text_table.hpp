// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Numbers out of text files that nobody vouches for.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace halocline::tddft::detail {

inline constexpr int largest_tabulated_l = 3;  ///< of a file's projectors

/// A walk over the words of a text, which counts lines.
class Words {
public:
  explicit Words(std::string_view text) noexcept : text_(text) {}

  /// The next word, or an empty view at the end. Words end at white space and at commas.
  std::string_view next() noexcept;
  /// The next word as a finite number; Fortran's exponent letters D and d are understood. Nothing where it is none.
  std::optional<double> number();
  /// Line of the word that came last, from 1.
  int line() const noexcept { return line_; }
  /// The word that came last.
  std::string_view word() const noexcept { return word_; }
  /// The rest of the present line, up to its end, which is passed over.
  std::string_view rest_of_line() noexcept;

private:
  std::string_view text_, word_;
  std::size_t at_ = 0;
  int line_ = 1;
};

/// A whole file. @throws core::FileError  where it cannot be read or holds more than `limit` bytes
std::string read_text(const std::string& path, std::size_t limit = std::size_t{64} << 20);

/// A word as an error shows it: in quotes, without unprintable bytes, at most 24 characters long.
std::string shown(std::string_view word);

}  // namespace halocline::tddft::detail
