// SPDX-License-Identifier: Apache-2.0
//
// The tune cache in memory: the entries of this process, the file as it was last read, and the defaults. The file is
// read again if an entry is not found and the file has changed since.

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/gpu/detail/tune_state.hpp"

namespace halocline::gpu {

namespace {

constexpr std::chrono::seconds patience{30};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string usual_path() {
  if (const std::string path = variable("HALOCLINE_TUNE_CACHE"); !path.empty()) return path;
  // The XDG base directory specification says to ignore a relative path.
  if (const std::string folder = variable("XDG_CACHE_HOME"); folder.starts_with('/'))
    return folder + "/halocline/tune.json";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/halocline/tune.json";
  return "";
}

TuneCache::Mode usual_mode() {
  const std::string word = variable("HALOCLINE_TUNE");
  if (word.empty() || word == "read-write") return TuneCache::Mode::read_write;
  if (word == "read-only") return TuneCache::Mode::read_only;
  if (word == "off") return TuneCache::Mode::off;
  throw core::InvalidArgument(
      fmt::format("HALOCLINE_TUNE is \"{}\"; set it to read-write, read-only or off, or leave it unset", word));
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

TuneKey for_any_driver(TuneKey key) {
  key.driver.clear();
  return key;
}

/// Adds the entries of `more` whose keys are not in `table`.
void add_missing(detail::TuneTable& table, const detail::TuneTable& more) { table.insert(more.begin(), more.end()); }

}  // namespace

void TuneCache::State::warn(const std::string& sentence) {
  if (said.insert(sentence).second) warnings.push_back(sentence);
}

void TuneCache::State::read(const std::string& path) {
  if (path.empty()) return;
  const detail::FileStamp now = detail::stamp_of(path);
  if (stamp == now) return;
  stamp = now;
  try {
    file = detail::read_tune_file(path);
  } catch (const core::FileError& error) {
    file.clear();
    warn(error.what());
  }
}

std::shared_ptr<TuneCache> TuneCache::open(const std::string& path) {
  return std::make_shared<TuneCache>(path.empty() ? usual_path() : path, usual_mode(),
                                     variable("HALOCLINE_TUNE_DEFAULTS"));
}

TuneCache::TuneCache(std::string path, Mode mode, std::string defaults)
    : path_(std::move(path)), defaults_(std::move(defaults)), mode_(mode), state_(std::make_unique<State>()) {
  if (path_.empty())
    state_->warn("no place for the tune cache: none of HALOCLINE_TUNE_CACHE, XDG_CACHE_HOME and HOME is set; what is "
                 "measured is remembered in this process only");
  if (defaults_.empty()) return;
  try {
    state_->defaults = detail::read_tune_file(defaults_);
  } catch (const core::FileError& error) {
    state_->warn(error.what());
  }
  for (const auto& [key, entry] : state_->defaults)
    state_->defaults_for_any_driver.insert_or_assign(for_any_driver(key), entry);
}

TuneCache::~TuneCache() = default;

std::optional<TuneEntry> TuneCache::find(const TuneKey& key) const {
  if (mode_ == Mode::off) return {};
  const std::scoped_lock lock(state_->mutex);
  const auto in = [](const detail::TuneTable& table, const TuneKey& wanted) -> std::optional<TuneEntry> {
    const auto at = table.find(wanted);
    return at == table.end() ? std::nullopt : std::optional(at->second);
  };
  if (auto entry = in(state_->mine, key)) return entry;
  if (auto entry = in(state_->file, key)) return entry;
  state_->read(path_);
  if (auto entry = in(state_->file, key)) return entry;
  return in(state_->defaults_for_any_driver, for_any_driver(key));
}

void TuneCache::keep(const TuneKey& key, const TuneEntry& entry) {
  if (mode_ == Mode::off) return;
  const std::scoped_lock lock(state_->mutex);
  TuneEntry dated = entry;
  if (dated.when.empty()) dated.when = now();
  state_->mine.insert_or_assign(key, dated);
  if (mode_ == Mode::read_only || path_.empty()) return;
  // The processes of a job tune the same problems and find the same parameters; the first one to write suffices.
  const auto held_by = [](const detail::TuneTable& table, const TuneKey& wanted, const TuneEntry& own) {
    const auto at = table.find(wanted);
    return at != table.end() && at->second.parameters == own.parameters;
  };
  state_->read(path_);
  if (held_by(state_->file, key, dated)) return;
  state_->unwritten.insert_or_assign(key, dated);
  try {
    // After one wait for the lock in vain, do not wait again.
    const std::chrono::seconds wait = state_->cannot_write ? std::chrono::seconds{0} : patience;
    detail::change_tune_file(path_, wait, [&](detail::TuneTable& table) {
      bool changed = false;
      for (const auto& [own_key, own] : state_->unwritten)
        if (!held_by(table, own_key, own)) {
          table.insert_or_assign(own_key, own);
          changed = true;
        }
      return changed;
    });
    state_->unwritten.clear();
    state_->cannot_write = false;
  } catch (const core::FileError& error) {
    state_->cannot_write = true;
    state_->warn(error.what());
  }
}

TuneCache::Entries TuneCache::entries() const {
  const std::scoped_lock lock(state_->mutex);
  state_->read(path_);
  detail::TuneTable all = state_->mine;
  add_missing(all, state_->file);
  add_missing(all, state_->defaults);
  return {all.begin(), all.end()};
}

int TuneCache::clear(const std::function<bool(const TuneKey&)>& matches) {
  const std::scoped_lock lock(state_->mutex);
  require_writable();
  const auto remove_from = [&](detail::TuneTable& table) {
    return static_cast<int>(std::erase_if(table, [&](const auto& line) { return matches(line.first); }));
  };
  const int here = remove_from(state_->mine);
  remove_from(state_->unwritten);
  remove_from(state_->file);
  if (path_.empty()) return here;
  int removed = 0;
  if (detail::stamp_of(path_).there)
    detail::change_tune_file(path_, patience, [&](detail::TuneTable& table) {
      removed = remove_from(table);
      return removed > 0;
    });
  return removed;
}

int TuneCache::reset() {
  const std::scoped_lock lock(state_->mutex);
  require_writable();
  const auto here = static_cast<int>(state_->mine.size());
  const int removed = path_.empty() ? here : detail::remove_tune_file(path_, patience);
  state_->mine.clear();
  state_->unwritten.clear();
  state_->file.clear();
  state_->stamp.reset();
  return removed;
}

void TuneCache::require_writable() const {
  if (mode_ == Mode::read_only)
    throw core::InvalidArgument(
        fmt::format("the tune cache {} is read-only (HALOCLINE_TUNE); unset HALOCLINE_TUNE to change it", path_));
}

int TuneCache::export_to(const std::string& path, const std::function<bool(const TuneKey&)>& matches) const {
  std::error_code failed;
  if (!path_.empty() && std::filesystem::equivalent(path, path_, failed))
    throw core::InvalidArgument(fmt::format("{} is the tune cache itself; export to another file", path));
  detail::TuneTable table;
  for (auto& [key, entry] : entries())
    if (!matches || matches(key)) table.emplace(key, entry);
  detail::write_tune_file(path, table);
  return static_cast<int>(table.size());
}

std::vector<std::string> TuneCache::take_warnings() {
  const std::scoped_lock lock(state_->mutex);
  return std::exchange(state_->warnings, {});
}

}  // namespace halocline::gpu
