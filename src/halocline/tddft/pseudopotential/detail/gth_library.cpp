// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/gth_library.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/pseudopotential/detail/functional_name.hpp"
#include "halocline/tddft/pseudopotential/detail/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace halocline::tddft::detail {

namespace {

// One line an entry: symbol, valence, width of the start density, and then as in a library file from r_loc on.
constexpr std::string_view pade_entries =
#include "halocline/tddft/pseudopotential/detail/gth_pade.inc"
    ;
constexpr std::string_view pbe_entries =
#include "halocline/tddft/pseudopotential/detail/gth_pbe.inc"
    ;

constexpr int most_c = 4, most_l = 3, most_functions = 3;

/// Reads the numbers of an entry from r_loc on. @return a fault, or an empty text
std::string read_numbers(Words& words, GaussianParameters& entry) {
  const auto number = [&](double& to) {
    const auto value = words.number();
    if (value) to = *value;
    return value.has_value();
  };
  const auto whole = [&](int& to, int most) {
    double value = 0;
    if (!number(value) || !(value >= 0 && value <= most) || value != std::floor(value)) return false;
    to = static_cast<int>(value);
    return true;
  };
  const auto fault = [&](const char* expected) {
    return fmt::format("{} where {} was expected", shown(words.word()), expected);
  };
  int count = 0, largest = 0;
  if (!number(entry.local_radius)) return fault("r_loc");
  if (!whole(count, most_c)) return fault("the number of coefficients, 0 to 4,");
  for (int i = 0; i < count; ++i)
    if (!number(entry.c[at(i)])) return fault("a coefficient");
  if (!whole(largest, most_l + 1)) return fault("the number of angular momenta, 0 to 4,");
  for (int l = 0; l < largest; ++l) {
    auto& channel = entry.channels[at(l)];
    if (!number(channel.radius)) return fault("the radius of a projector");
    if (!whole(channel.count, most_functions)) return fault("the number of projectors, 0 to 3,");
    for (int i = 0; i < channel.count; ++i)
      for (int j = i; j < channel.count; ++j) {
        if (!number(channel.h[at(i)][at(j)])) return fault("a coupling");
        channel.h[at(j)][at(i)] = channel.h[at(i)][at(j)];
      }
  }
  return gaussian_fault(entry);
}

std::vector<GaussianParameters> built_in(std::string_view text, const char* functional, const char* source) {
  std::vector<GaussianParameters> entries;
  Words words(text);
  for (std::string_view symbol = words.next(); !symbol.empty(); symbol = words.next()) {
    GaussianParameters entry;
    entry.symbol = symbol;
    entry.functional = functional;
    entry.valence = words.number().value_or(0);
    entry.width = words.number().value_or(0);
    entry.origin = fmt::format("GTH ({}) with {:g} electrons, {}",
                               functional == std::string_view("pade") ? "Pade" : "PBE", entry.valence, source);
    if (const std::string fault = read_numbers(words, entry); !fault.empty())
      throw core::Error(fmt::format("the built-in parameters of {} are damaged: {}", entry.symbol, fault));
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// The lines of a text without comments, which begin with #, and without empty lines.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    line = line.substr(0, line.find_first_of("#!"));
    if (Words(line).next().empty()) continue;
    lines.push_back(line);
  }
  return lines;
}

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> all;
  Words words(line);
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) all.push_back(word);
  return all;
}

/// Whether a line begins an entry: a symbol and a name, where others begin with a number or one keyword.
bool begins_entry(std::string_view line) {
  const auto words = words_of(line);
  return words.size() > 1 && is_letter(words[0][0]) && is_letter(words[1][0]);
}

struct Entry {
  std::string_view symbol;
  std::vector<std::string_view> names;
  std::vector<std::string_view> numbers;  ///< lines from r_loc on
  int valence = 0;
};

std::vector<Entry> entries_of(std::string_view text) {
  std::vector<Entry> entries;
  bool electrons = false;  // the next line has those of an entry
  for (const std::string_view line : lines_of(text)) {
    if (begins_entry(line)) {
      const auto words = words_of(line);
      entries.push_back({words[0], {words.begin() + 1, words.end()}, {}, 0});
      electrons = true;
    } else if (electrons) {
      Words counts(line);
      for (auto n = counts.number(); n; n = counts.number())
        entries.back().valence += static_cast<int>(std::clamp(*n, 0.0, 200.0));
      electrons = false;
    } else if (!entries.empty()) {
      entries.back().numbers.push_back(line);
    }
  }
  return entries;
}

/// "pbe" of "GTH-PBE-q4".
std::string functional_of_entry(std::string_view name) {
  std::string plain(name);
  std::ranges::replace(plain, '-', ' ');
  const auto parts = words_of(plain);
  if (parts.size() < 2) return {};
  const std::string found = functional_of_words(parts[1]);
  return found == "pz" ? "pade" : found;  // GTH-LDA is another name of GTH-PADE
}

}  // namespace

std::span<const GaussianParameters> gth_library(std::string_view functional) {
  if (functional == "pade") {
    static const auto entries = built_in(pade_entries, "pade", "Phys. Rev. B 58, 3641");
    return entries;
  }
  if (functional == "pbe") {
    static const auto entries = built_in(pbe_entries, "pbe", "Theor. Chem. Acc. 114, 145");
    return entries;
  }
  throw core::InvalidArgument(fmt::format("there are built-in pseudopotentials for the functionals pade and pbe, and "
                                          "\"{}\" was asked for",
                                          functional));
}

std::vector<GthEntry> gth_entries(std::string_view text) {
  std::vector<GthEntry> list;
  for (const Entry& entry : entries_of(text))
    list.push_back({std::string(entry.symbol), std::string(entry.names.front()), entry.valence});
  return list;
}

GaussianParameters read_gth(std::string_view text, const GthChoice& choice, const std::string& path) {
  const auto entries = entries_of(text);
  std::vector<Entry> fitting;
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    if (lower(entry.symbol) != lower(choice.symbol)) continue;
    names.emplace_back(entry.names.front());
    if (choice.valence != 0 && entry.valence != choice.valence) continue;
    if (!choice.name.empty() && std::ranges::find(entry.names, choice.name) == entry.names.end()) continue;
    fitting.push_back(entry);
  }
  if (names.empty())
    throw core::FileError(path, "", fmt::format("the library has no entry for {}; take another file", choice.symbol));
  if (fitting.size() != 1)
    throw core::FileError(
        path, "",
        fmt::format("{} entries for {} fit where one should: the library has {}; give one of these as \"name\"",
                    fitting.size(), choice.symbol, fmt::join(names, ", ")));
  const Entry& entry = fitting.front();
  GaussianParameters made;
  made.symbol = choice.symbol;
  const std::string name(entry.names.front());
  made.functional = functional_of_entry(name);
  made.origin = fmt::format("{} of {}", name, path);
  made.valence = entry.valence;
  std::string numbers;
  for (const std::string_view line : entry.numbers) {
    if (const auto words = words_of(line); is_letter(words[0][0]))
      throw core::FileError(
          path, name, fmt::format("the entry has {} terms, which are not read; take one without", shown(words[0])));
    (numbers += line) += '\n';
  }
  Words words(numbers);
  if (const std::string fault = read_numbers(words, made); !fault.empty())
    throw core::FileError(path, name, fault + "; the file is damaged");
  return made;
}

}  // namespace halocline::tddft::detail
