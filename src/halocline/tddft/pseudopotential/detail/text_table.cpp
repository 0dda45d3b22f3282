// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/text_table.hpp"

#include "halocline/core/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace halocline::tddft::detail {

namespace {
bool separates(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ','; }
}  // namespace

std::string_view Words::next() noexcept {
  while (at_ < text_.size() && separates(text_[at_])) line_ += text_[at_++] == '\n';
  const std::size_t begin = at_;
  while (at_ < text_.size() && !separates(text_[at_])) ++at_;
  return word_ = text_.substr(begin, at_ - begin);
}

std::optional<double> Words::number() {
  std::string word(next());
  std::replace_if(word.begin(), word.end(), [](char c) { return c == 'D' || c == 'd'; }, 'e');
  const char* begin = word.data();
  const char* const end = begin + word.size();
  if (begin != end && *begin == '+') ++begin;
  double value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range && stop == end)
    return word.find("e-") != std::string::npos ? std::optional(0.0) : std::nullopt;  // too small: 0; too large: none
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool Words::at_end() const noexcept {
  return std::all_of(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.end(), separates);
}

std::string_view Words::rest_of_line() noexcept {
  const std::size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  const auto rest = text_.substr(begin, at_ - begin);
  if (at_ < text_.size()) {
    ++at_;
    ++line_;
  }
  return rest;
}

std::string read_text(const std::string& path, std::size_t limit) {
  std::error_code failure;
  const auto kind = std::filesystem::status(path, failure);
  if (failure || !std::filesystem::exists(kind)) throw core::FileError(path, "", "no such file; check the path");
  if (std::filesystem::is_directory(kind)) throw core::FileError(path, "", "this is a directory; a file was expected");
  // Opening a pipe without a writer would wait for ever.
  if (!std::filesystem::is_regular_file(kind))
    throw core::FileError(path, "", "this is no regular file; name the file itself");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw core::FileError(path, "", "the file cannot be opened; check its permissions");
  std::string text;
  char buffer[1 << 16];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(file.gcount()));
    if (text.size() > limit)
      throw core::FileError(path, "",
                            "the file is larger than " + std::to_string(limit >> 20) +
                                " MiB; no pseudopotential is, so this is another kind of file");
  }
  if (file.bad()) throw core::FileError(path, "", "reading stopped with an error of the file system");
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string shown(std::string_view word) {
  std::string text = "'";
  for (const char c : word.substr(0, 24)) text += c >= ' ' && c <= '~' ? c : '?';
  return text + (word.size() > 24 ? "...'" : "'");
}

}  // namespace halocline::tddft::detail
