// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes the JSON of the tune cache. Reading checks every member of every entry. An error gives line and
// column if the text is not JSON; otherwise it names the number of the entry and the member.

#include "halocline/gpu/detail/tune_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "halocline/core/error.hpp"

namespace halocline::gpu::detail {

namespace {

using Json = nlohmann::ordered_json;
using core::FileError;

constexpr std::string_view format_name = "halocline tune cache";
constexpr int format_version = 1;
constexpr const char* remedy =
    "it is left as it is and nothing is written to it; mend it, or remove it with `halocline tune clear --all --yes`";

/// The value if it is finite, else 0: JSON has only finite numbers.
double plain(double value) { return std::isfinite(value) ? value : 0.0; }

std::string line_of(const TuneKey& key, const TuneEntry& entry) {
  const TuneParameters& p = entry.parameters;
  Json line = {{"device", key.device},
               {"driver", key.driver},
               {"kernel", key.kernel},
               {"problem", key.problem},
               {"kernel_hash", key.kernel_hash},
               {"block", {p.block_x, p.block_y, p.block_z}},
               {"sites_per_thread", p.sites_per_thread},
               {"columns_per_thread", p.columns_per_thread},
               {"carveout", p.carveout},
               {"prefetch", p.prefetch},
               {"evict_first", p.evict_first},
               {"no_allocate", p.no_allocate},
               {"streaming_stores", p.streaming_stores},
               {"policy", p.policy},
               {"seconds", plain(entry.seconds)},
               {"first_seconds", plain(entry.first_seconds)},
               {"bytes", plain(entry.bytes)},
               {"flops", plain(entry.flops)},
               {"candidates", entry.candidates},
               {"failed", entry.failed},
               {"failure", entry.failure},
               {"when", entry.when}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Reads the members of one entry, and names a faulty member.
class Members {
public:
  Members(const Json& object, const std::string& path, std::size_t number)
      : object_(object), path_(path), number_(number) {
    if (!object.is_object()) fail("", "is no object in braces");
  }

  std::string text(const char* name) const {
    const Json& value = member(name);
    if (!value.is_string()) fail(name, "is no text in quotes");
    return value.get<std::string>();
  }
  double amount(const char* name) const {
    const Json& value = member(name);
    if (!value.is_number()) fail(name, "is no number");
    const double number = value.get<double>();
    if (!(number >= 0) || !std::isfinite(number)) fail(name, "is negative or not finite");
    return number;
  }
  int integer(const char* name, int least) const { return integer(member(name), name, least); }
  std::array<int, 3> block() const {
    const Json& value = member("block");
    if (!value.is_array() || value.size() != 3) fail("block", "is no list of three numbers");
    return {integer(value[0], "block", 1), integer(value[1], "block", 1), integer(value[2], "block", 1)};
  }

private:
  int integer(const Json& value, const char* name, int least) const {
    if (!value.is_number_integer()) fail(name, "is no integer");
    // An unsigned number above the largest signed number would wrap.
    const bool large = value.is_number_unsigned() &&
                       value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<int>::max());
    const auto number = large ? std::int64_t{-1} : value.get<std::int64_t>();
    if (large || number < least || number > std::numeric_limits<int>::max()) fail(name, "is out of range");
    return static_cast<int>(number);
  }
  const Json& member(const char* name) const {
    const auto at = object_.find(name);
    if (at == object_.end()) fail(name, "is missing");
    return *at;
  }
  [[noreturn]] void fail(const char* name, const char* what) const {
    throw FileError(path_, fmt::format("entry {}{}{}", number_, *name == '\0' ? "" : ", ", name),
                    fmt::format("{}, so this is no tune cache of this Halocline: {}", what, remedy));
  }

  const Json& object_;
  const std::string& path_;
  std::size_t number_;
};

/// Line and column of a byte, both counted from 1.
std::string position_of(const std::string& text, std::size_t byte) {
  const std::string_view before = std::string_view(text).substr(0, std::min(byte, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto start = before.rfind('\n');
  return fmt::format("line {}, column {}", line, before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1);
}

Json parse(const std::string& text, const std::string& path) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw FileError(path, position_of(text, error.byte > 0 ? error.byte - 1 : 0),
                    fmt::format("this is no JSON, as if it were cut short or changed by hand: {}", remedy));
  } catch (const Json::exception&) {  // a number too large for double
    throw FileError(path, "", fmt::format("this is no JSON that can be read: {}", remedy));
  }
}

}  // namespace

std::string tune_text(const TuneTable& table) {
  std::string text = fmt::format("{{\"format\": \"{}\", \"version\": {}, \"entries\": [", format_name, format_version);
  const char* separator = "\n ";
  for (const auto& [key, entry] : table) {
    text += separator + line_of(key, entry);
    separator = ",\n ";
  }
  return text + "\n]}\n";
}

TuneTable parse_tune_text(const std::string& text, const std::string& path) {
  const Json file = parse(text, path);
  const auto is = [&file](const char* name, const Json& value) {
    return file.is_object() && file.contains(name) && file[name] == value;
  };
  if (!is("format", format_name))
    throw FileError(path, "",
                    fmt::format("this is JSON but no tune cache (\"format\" is not \"{}\"): {}", format_name, remedy));
  if (!is("version", format_version))
    throw FileError(path, "version",
                    fmt::format("this Halocline reads version {} of the format; the file is left as it is: set "
                                "HALOCLINE_TUNE_CACHE to another file for this version",
                                format_version));
  if (!file.contains("entries") || !file["entries"].is_array())
    throw FileError(path, "entries", fmt::format("is no list: {}", remedy));
  TuneTable table;
  std::size_t number = 0;
  for (const Json& line : file["entries"]) {
    const Members of(line, path, ++number);
    const TuneKey key{.device = of.text("device"),
                      .driver = of.text("driver"),
                      .kernel = of.text("kernel"),
                      .problem = of.text("problem"),
                      .kernel_hash = of.text("kernel_hash")};
    const auto block = of.block();
    TuneEntry entry;
    entry.parameters = {.block_x = block[0],
                        .block_y = block[1],
                        .block_z = block[2],
                        .sites_per_thread = of.integer("sites_per_thread", 1),
                        .columns_per_thread = of.integer("columns_per_thread", 1),
                        .carveout = of.integer("carveout", -1),
                        .prefetch = of.integer("prefetch", 0),
                        .evict_first = of.integer("evict_first", 0),
                        .no_allocate = of.integer("no_allocate", 0),
                        .streaming_stores = of.integer("streaming_stores", 0),
                        .policy = of.text("policy")};
    entry.seconds = of.amount("seconds");
    entry.first_seconds = of.amount("first_seconds");
    entry.bytes = of.amount("bytes");
    entry.flops = of.amount("flops");
    entry.candidates = of.integer("candidates", 0);
    entry.failed = of.integer("failed", 0);
    entry.failure = of.text("failure");
    entry.when = of.text("when");
    table.insert_or_assign(key, entry);
  }
  return table;
}

}  // namespace halocline::gpu::detail
