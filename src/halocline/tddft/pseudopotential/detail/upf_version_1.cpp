// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/upf_version_1.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/pseudopotential/detail/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace halocline::tddft::detail {

namespace {

class Reader {
public:
  Reader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  UpfContent read() const {
    UpfContent content;
    const Counts counts = read_header(content);
    content.spin_orbit = section(text_, "PP_ADDINFO").has_value();
    require_norm_conserving(content, path_);
    const std::string_view mesh = needed(text_, "PP_MESH");
    content.r = column(needed(mesh, "PP_R"), "PP_R", counts.nodes);
    content.local = column(needed(text_, "PP_LOCAL"), "PP_LOCAL", counts.nodes);
    if (content.core_correction) content.core = column(needed(text_, "PP_NLCC"), "PP_NLCC", counts.nodes);
    if (counts.projectors > 0) read_nonlocal(content, counts);
    // The last section: without it the file is cut short.
    content.density = column(needed(text_, "PP_RHOATOM"), "PP_RHOATOM", counts.nodes);
    return content;
  }

private:
  struct Counts {
    int nodes = 0, projectors = 0;
  };

  [[noreturn]] void fail(const std::string& record, const std::string& sentence) const {
    throw core::FileError(path_, record, sentence);
  }

  /// The text between <name ...> and </name>, and of what follows.
  std::optional<std::string_view> section(std::string_view text, const std::string& name,
                                          std::string_view* after = nullptr) const {
    std::size_t begin = text.find("<" + name);
    while (begin != std::string_view::npos) {
      const std::size_t next = begin + name.size() + 1;
      if (next < text.size() && (text[next] == '>' || text[next] == ' ' || text[next] == '\n' || text[next] == '\r'))
        break;
      begin = text.find("<" + name, next);
    }
    if (begin == std::string_view::npos) return std::nullopt;
    const std::size_t inside = text.find('>', begin);
    const std::string closing = "</" + name + ">";
    const std::size_t end = inside == std::string_view::npos ? inside : text.find(closing, inside);
    if (end == std::string_view::npos) fail(name, "the record has no end; the file is damaged or truncated");
    if (after != nullptr) *after = text.substr(end + closing.size());
    return text.substr(inside + 1, end - inside - 1);
  }

  std::string_view needed(std::string_view text, const std::string& name) const {
    if (const auto found = section(text, name)) return *found;
    fail(name, "the record is missing; the file is damaged or truncated");
  }

  std::vector<double> column(std::string_view text, const std::string& record, int count) const {
    auto values = upf_numbers(text, record, path_);
    if (values.size() != static_cast<std::size_t>(count))
      fail(record,
           fmt::format("{} numbers where there should be {}; the file is damaged or truncated", values.size(), count));
    return values;
  }

  int whole(Words& words, const std::string& record, const char* name, int least, int most) const {
    const auto value = words.number();
    if (!value) fail(record, fmt::format("{} is {}; a number expected", name, shown(words.word())));
    if (!(*value >= least && *value <= most) || *value != std::floor(*value))
      fail(record, fmt::format("{} is {:g}; a whole number from {} to {} expected", name, *value, least, most));
    return static_cast<int>(*value);
  }

  Counts read_header(UpfContent& content) const {
    const std::string record = "PP_HEADER";
    Words words(needed(text_, record));
    static_cast<void>(words.rest_of_line());  // of the opening tag
    static_cast<void>(words.rest_of_line());  // version
    content.element = words.next();
    static_cast<void>(words.rest_of_line());
    content.type = words.next();
    static_cast<void>(words.rest_of_line());
    const std::string core = lower(words.next());
    content.core_correction = core.find('t') != std::string::npos;
    static_cast<void>(words.rest_of_line());
    // Four words; what follows is a comment, or the name of the whole.
    std::string functional;
    Words names(words.rest_of_line());
    for (int i = 0; i < 4; ++i) (functional += i == 0 ? "" : " ") += names.next();
    content.functional = functional;
    const auto valence = words.number();
    if (!valence) fail(record, fmt::format("z_valence is {}; a number expected", shown(words.word())));
    content.valence = *valence;
    for (int line = 0; line < 4; ++line) static_cast<void>(words.rest_of_line());  // energy, cutoffs, largest l
    Counts counts;
    counts.nodes = whole(words, record, "the number of points in the mesh", 1, 1 << 24);
    static_cast<void>(words.rest_of_line());
    static_cast<void>(whole(words, record, "the number of wave functions", 0, 1000));
    counts.projectors = whole(words, record, "the number of projectors", 0, most_upf_projectors);
    return counts;
  }

  void read_nonlocal(UpfContent& content, const Counts& counts) const {
    std::string_view rest = needed(text_, "PP_NONLOCAL");
    for (int n = 1; n <= counts.projectors; ++n) {
      const std::string record = fmt::format("PP_BETA.{}", n);
      const auto body = section(rest, "PP_BETA", &rest);
      if (!body) fail(record, "the record is missing; the file is damaged or truncated");
      Words words(*body);
      static_cast<void>(whole(words, record, "the number of the projector", 1, most_upf_projectors));
      const int l = whole(words, record, "angular momentum", 0, largest_tabulated_l);
      static_cast<void>(words.rest_of_line());
      const int size = whole(words, record, "the number of values", 1, counts.nodes);
      static_cast<void>(words.rest_of_line());
      UpfContent::Projector projector{l, {}};
      for (int i = 0; i < size; ++i) {
        const auto value = words.number();
        if (!value || std::abs(*value) > largest_upf_entry)
          fail(record, fmt::format("number {} is {}; the file is damaged", i + 1, shown(words.word())));
        projector.values.push_back(*value);
      }
      content.projectors.push_back(std::move(projector));
    }
    Words words(needed(rest, "PP_DIJ"));
    const std::size_t count = content.projectors.size();
    content.coupling.assign(count * count, 0.0);
    const int entries = whole(words, "PP_DIJ", "the number of entries", 0, counts.projectors * counts.projectors);
    static_cast<void>(words.rest_of_line());
    for (int entry = 0; entry < entries; ++entry) {
      const auto i = static_cast<std::size_t>(whole(words, "PP_DIJ", "a row", 1, counts.projectors)) - 1,
                 j = static_cast<std::size_t>(whole(words, "PP_DIJ", "a column", 1, counts.projectors)) - 1;
      const auto value = words.number();
      if (!value || std::abs(*value) > largest_upf_entry)
        fail("PP_DIJ", fmt::format("entry {} is {}; the file is damaged", entry + 1, shown(words.word())));
      content.coupling[i * count + j] = content.coupling[j * count + i] = *value;
    }
  }

  std::string_view text_;
  const std::string& path_;
};

}  // namespace

UpfContent read_upf_version_1(std::string_view text, const std::string& path) { return Reader(text, path).read(); }

}  // namespace halocline::tddft::detail
