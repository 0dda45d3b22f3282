// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/potential_file.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/pseudopotential/abinit.hpp"
#include "halocline/tddft/pseudopotential/detail/gth_library.hpp"
#include "halocline/tddft/pseudopotential/detail/text_table.hpp"
#include "halocline/tddft/pseudopotential/ky.hpp"
#include "halocline/tddft/pseudopotential/upf.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace halocline::tddft {

namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The finite numbers at the beginning of the next line.
std::vector<double> numbers_of_line(detail::Words& words) {
  detail::Words line(words.rest_of_line());
  std::vector<double> numbers;
  for (auto value = line.number(); value; value = line.number()) numbers.push_back(*value);
  return numbers;
}

bool is_whole(double x, double least, double most) { return x == std::floor(x) && x >= least && x <= most; }

bool looks_like_abinit(std::string_view text) {
  detail::Words words(text);
  static_cast<void>(words.rest_of_line());
  const auto second = numbers_of_line(words), third = numbers_of_line(words);
  return second.size() >= 2 && third.size() >= 5 && second[0] >= 1 && second[0] < 120 && second[1] > 0 &&
         second[1] <= second[0] && is_whole(third[0], 1, 17) && is_whole(third[2], -1, 9) && is_whole(third[4], 1, 1e6);
}

bool looks_like_cpi(std::string_view text) {
  detail::Words words(text);
  const auto first = numbers_of_line(words), second = numbers_of_line(words);
  for (int line = 2; line < 11; ++line) static_cast<void>(words.rest_of_line());
  const auto mesh = numbers_of_line(words), row = numbers_of_line(words);
  return first.size() == 2 && is_whole(first[1], 1, 4) && second.size() >= 3 && mesh.size() == 2 &&
         is_whole(mesh[0], 1, 1e6) && mesh[1] > 1 && row.size() == 4 && row[0] == 1;
}

bool looks_like_ky(std::string_view text) {
  detail::Words words(text);
  const auto first = numbers_of_line(words);
  return first.size() >= 4 && is_whole(first[0], 4, 1e6) && first[1] > 0 && first[1] < 1 && is_whole(first[2], 0, 9);
}

bool looks_like_gth(std::string_view text) {
  detail::Words words(text);
  while (!words.at_end()) {
    const std::string_view line = words.rest_of_line();
    detail::Words names(line);
    const std::string_view symbol = names.next(), name = names.next();
    if (symbol.empty() || symbol[0] == '#' || symbol[0] == '!') continue;
    const bool capital = symbol[0] >= 'A' && symbol[0] <= 'Z' && symbol.size() <= 2;
    const auto electrons = numbers_of_line(words), local = numbers_of_line(words);
    return capital && !name.empty() && !electrons.empty() && is_whole(electrons[0], 0, 100) && local.size() >= 2 &&
           is_whole(local[1], 0, 4);
  }
  return false;
}

/// Refuses a choice that would be ignored.
void require_fitting(const std::string& path, const std::string& format, const FileChoice& choice) {
  const auto refuse = [&](const char* keys, const char* meaning) {
    throw core::InvalidArgument(
        fmt::format("{} given for {}, a file in {} format: {}; leave it away", keys, path, format, meaning));
  };
  if (format != "gth" && (choice.valence != 0 || !choice.name.empty()))
    refuse("valence or name", "they choose an entry of a library in GTH format, or a built-in one");
  if ((format == "upf" || format == "gth") && choice.local_l >= 0) refuse("local", "its local potential is fixed");
  if (format != "ky" && choice.largest_l >= 0) refuse("largest", "only KY files leave channels out");
}

}  // namespace

std::vector<std::string> potential_file_formats() { return {"upf", "abinit", "gth", "cpi", "ky"}; }

std::string recognised_format(const std::string& path) {
  const std::string text = detail::read_text(path);
  if (contains(text, "<UPF") || contains(text, "<PP_HEADER")) return "upf";
  if (contains(text, "<paw_setup") || contains(text, "<paw_dataset") || contains(text, "<pseudo_paw"))
    throw core::FileError(path, "", "this is a PAW data set; a norm-conserving pseudopotential is needed");
  if (contains(text, "<psml"))
    throw core::FileError(path, "",
                          "this is a PSML file, which is not read; take the UPF or psp8 file of the same "
                          "pseudopotential");
  if (looks_like_abinit(text)) return "abinit";
  if (looks_like_cpi(text)) return "cpi";
  if (looks_like_ky(text)) return "ky";
  if (looks_like_gth(text)) return "gth";
  return {};
}

std::vector<std::pair<std::string, std::string>> library_entries(const std::string& path) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& entry : detail::gth_entries(detail::read_text(path))) entries.emplace_back(entry.symbol, entry.name);
  return entries;
}

std::shared_ptr<const Pseudopotential> read_potential_file(const std::string& path, const FileChoice& choice) {
  const std::string format = choice.format.empty() ? recognised_format(path) : choice.format;
  require_fitting(path, format, choice);
  std::shared_ptr<const Pseudopotential> made;
  if (format == "upf") {
    made = read_upf(path);
  } else if (format == "abinit") {
    made = read_abinit(path, choice.local_l);
  } else if (format == "gth") {
    made = detail::make_gaussian(
        detail::read_gth(detail::read_text(path), {choice.symbol, choice.valence, choice.name}, path));
  } else if (format == "cpi") {
    made = read_cpi(path, choice.symbol, choice.local_l);
  } else if (format == "ky") {
    made = read_ky(path, choice.symbol, choice.local_l, choice.largest_l);
  } else if (format.empty()) {
    throw core::FileError(path, "",
                          fmt::format("the file is of no known format ({}); take another one, or name the format",
                                      fmt::join(potential_file_formats(), ", ")));
  } else {
    throw core::InvalidArgument(fmt::format("\"{}\" is no format of pseudopotentials; there are {}", format,
                                            fmt::join(potential_file_formats(), ", ")));
  }
  if (!choice.symbol.empty() && made->symbol() != choice.symbol)
    throw core::FileError(
        path, "", fmt::format("is a pseudopotential of {}, and was given for {}", made->symbol(), choice.symbol));
  return made;
}

}  // namespace halocline::tddft
