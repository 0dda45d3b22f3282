// SPDX-License-Identifier: Apache-2.0
//
// The tune cache's file: what was kept is found by everybody, nobody's entries are lost, and a file that is not ours to
// understand stays as it is.

#include <doctest/doctest.h>

#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "gpu/tune_laws.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/detail/tune_file.hpp"

using namespace halocline;
using namespace halocline::gpu;
using namespace halocline::gpu::test;
using Mode = TuneCache::Mode;

namespace {

/// An environment variable for the length of a test; null removes it.
class Variable {
public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

private:
  const char* name_;
  std::optional<std::string> before_;
};

/// How many unfinished files lie in the folder of a path.
int partial_files_beside(const std::string& path) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
    if (entry.path().string().ends_with(".partial")) ++found;
  return found;
}

/// The file is refused with these words, by a reader and by a writer, and stays as it is; tuning goes on in memory.
void refused(const std::string& path, const std::vector<std::string>& words) {
  const std::string before = text_of(path);
  TuneCache cache(path, Mode::read_write);
  CHECK_FALSE(cache.find(key_of(1)));
  cache.keep(key_of(2), entry_of(2));
  cache.keep(key_of(3), entry_of(3));
  CHECK(cache.find(key_of(2)) == entry_of(2));
  CHECK(cache.entries().size() == 2);
  const auto warnings = cache.take_warnings();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].starts_with(path));
  for (const std::string& word : words) CHECK_MESSAGE(warnings[0].find(word) != std::string::npos, warnings[0]);
  CHECK(cache.take_warnings().empty());
  CHECK_THROWS_AS(cache.clear([](const TuneKey&) { return true; }), core::FileError);
  CHECK(text_of(path) == before);
  CHECK(partial_files_beside(path) == 0);
}

const std::string head = "{\"format\": \"halocline tune cache\", \"version\": 1, \"entries\": [";

}  // namespace

TEST_CASE("tune cache: what one keeps another finds, to the last bit") {
  const Folder folder;
  const std::string path = folder / "below/and/below/tune.json";
  TuneCache one(path, Mode::read_write), other(path, Mode::read_write);
  CHECK_FALSE(other.find(key_of(5)));
  one.keep(key_of(5), entry_of(5));
  CHECK(other.find(key_of(5)) == entry_of(5));  // the file has changed since it looked
  other.keep(key_of(4), entry_of(4));
  CHECK(one.find(key_of(4)) == entry_of(4));
  CHECK(TuneCache(path, Mode::read_only).entries() ==
        TuneCache::Entries{{key_of(4), entry_of(4)}, {key_of(5), entry_of(5)}});
  for (const TuneCache* cache : {&one, &other}) CHECK(const_cast<TuneCache*>(cache)->take_warnings().empty());
}

TEST_CASE("tune cache: numbers and words come back as they went") {
  detail::TuneTable table;
  for (int i = 0; i < 40; ++i) {
    TuneEntry entry = entry_of(i);
    entry.seconds = 1.0 / (3 + i) * 1e-5;
    entry.parameters.carveout = i % 2 == 0 ? -1 : 100;
    entry.parameters.prefetch = i;
    entry.parameters.evict_first = i % 3;
    entry.parameters.no_allocate = i % 5;
    entry.parameters.streaming_stores = i % 7;
    table.emplace(key_of(i), entry);
  }
  TuneKey strange = key_of(0, "a \"kernel\"\n\t\\");
  strange.device = "G\xc3\xa4rt, 9.0";
  table.emplace(strange, entry_of(1));
  CHECK(detail::parse_tune_text(detail::tune_text(table), "x") == table);
  CHECK(detail::parse_tune_text(detail::tune_text({}), "x").empty());
}

TEST_CASE("tune cache: what JSON cannot hold is written as something that it can") {
  TuneEntry entry = entry_of(1);
  entry.seconds = std::numeric_limits<double>::infinity();
  entry.bytes = std::numeric_limits<double>::quiet_NaN();
  entry.failure = "\xff\xfe";  // no UTF-8
  const auto table = detail::parse_tune_text(detail::tune_text({{key_of(1), entry}}), "x");
  CHECK(table.at(key_of(1)).seconds == 0);
  CHECK(table.at(key_of(1)).bytes == 0);
}

TEST_CASE("tune cache: the file is one entry a line, sorted, and the same whoever wrote it") {
  const Folder folder;
  TuneCache up(folder / "up", Mode::read_write), down(folder / "down", Mode::read_write);
  for (int i = 0; i < 9; ++i) up.keep(key_of(i), entry_of(i));
  for (int i = 8; i >= 0; --i) down.keep(key_of(i), entry_of(i));
  const std::string text = text_of(folder / "up");
  CHECK(text == text_of(folder / "down"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 9 + 2);
  for (int i = 0; i < 8; ++i)
    CHECK(text.find("\"problem " + std::to_string(i) + "\"") < text.find("\"problem " + std::to_string(i + 1) + "\""));
}

TEST_CASE("tune cache: what the file holds already is not written again, and other parameters are") {
  const Folder folder;
  const std::string path = folder / "tune.json";
  TuneCache one(path, Mode::read_write), other(path, Mode::read_write);
  one.keep(key_of(1), entry_of(1));
  const auto stamp = detail::stamp_of(path);
  TuneEntry again = entry_of(1);
  again.seconds *= 1.01;
  other.keep(key_of(1), again);
  CHECK(detail::stamp_of(path) == stamp);
  CHECK(other.find(key_of(1)) == again);
  other.keep(key_of(1), entry_of(2));
  CHECK_FALSE(detail::stamp_of(path) == stamp);
  CHECK(TuneCache(path, Mode::read_only).find(key_of(1)) == entry_of(2));
}

TEST_CASE("tune cache: eight processes at once lose no entry of any") {
  const Folder folder;
  const std::string path = folder / "tune.json";
  constexpr int processes = 8, each = 50;
  TuneCache(path, Mode::read_write).keep(key_of(-1), entry_of(0));  // somebody's from before
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      TuneCache cache(path, Mode::read_write);
      for (int i = 0; i < each; ++i) cache.keep(key_of(1000 * p + i), entry_of(i));
      ::_exit(cache.take_warnings().empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  TuneCache cache(path, Mode::read_only);
  CHECK(cache.entries().size() == processes * each + 1);
  for (int p = 0; p < processes; ++p)
    for (int i = 0; i < each; ++i) CHECK(cache.find(key_of(1000 * p + i)) == entry_of(i));
  CHECK(cache.take_warnings().empty());
}

TEST_CASE("tune cache: processes killed in the middle leave a whole file and no lock") {
  const Folder folder(true);
  const std::string path = folder / "tune.json";
  for (int round = 0; round < 12; ++round) {
    int report[2];
    REQUIRE(::pipe(report) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      TuneCache cache(path, Mode::read_write);
      for (int i = 0;; ++i) {
        cache.keep(key_of(10000 * round + i), entry_of(i));
        if (::write(report[1], "k", 1) != 1) ::_exit(1);  // one more was kept
      }
    }
    ::close(report[1]);
    char letter = 0;
    int kept = 0;
    while (kept < 1 + round && ::read(report[0], &letter, 1) == 1) ++kept;
    ::kill(child, SIGKILL);
    while (::read(report[0], &letter, 1) == 1) ++kept;
    ::close(report[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));

    TuneCache after(path, Mode::read_write);
    for (int i = 0; i < kept; ++i) CHECK(after.find(key_of(10000 * round + i)) == entry_of(i));
    after.keep(key_of(10000 * round + 9999), entry_of(1));  // a lock that stayed would cost half a minute and a warning
    CHECK(after.take_warnings().empty());
    CHECK(TuneCache(path, Mode::read_only).find(key_of(10000 * round + 9999)));
    CHECK(partial_files_beside(path) <= 1 + round);  // at most one of each that was killed
  }
}

TEST_CASE("tune cache: a disk that takes no more leaves the file as it was, and one warning") {
  const Folder folder;
  const std::string path = folder / "tune.json";
  TuneCache(path, Mode::read_write).keep(key_of(1), entry_of(1));
  const std::string before = text_of(path);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = before.size() + 10, .rlim_max = before.size() + 10};
    if (::setrlimit(RLIMIT_FSIZE, &small) != 0) ::_exit(2);
    TuneCache cache(path, Mode::read_write);
    cache.keep(key_of(2), entry_of(2));
    cache.keep(key_of(3), entry_of(3));
    const auto warnings = cache.take_warnings();
    const bool told = warnings.size() == 1 && warnings[0].find("unchanged") != std::string::npos;
    ::_exit(told && cache.find(key_of(2)) == entry_of(2) ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(text_of(path) == before);
  CHECK(partial_files_beside(path) == 0);
}

TEST_CASE("tune cache: a partial file that a dead writer left is removed by a later one") {
  const Folder folder;
  const std::string path = folder / "tune.json", left = path + ".0123abcd.partial";
  write_text(left, head + "\n {\"device\": \"x");
  std::filesystem::last_write_time(left, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  TuneCache cache(path, Mode::read_write);
  cache.keep(key_of(1), entry_of(1));
  CHECK(cache.take_warnings().empty());
  CHECK(TuneCache(path, Mode::read_only).entries().size() == 1);
  CHECK(partial_files_beside(path) == 0);
}

TEST_CASE("tune cache: entries of other devices, drivers and codes survive, and are not taken for ours") {
  const Folder folder;
  const std::string path = folder / "tune.json";
  std::vector<TuneKey> keys(5, key_of(1));
  keys[1].device = "GPU, 8.0";
  keys[2].driver = "12.9, toolkit 12.9";
  keys[3].kernel_hash = "fedcba9876543210";
  keys[4].kernel = "pack";
  for (int i = 0; i < 5; ++i) TuneCache(path, Mode::read_write).keep(keys[static_cast<std::size_t>(i)], entry_of(i));
  TuneCache cache(path, Mode::read_only);
  CHECK(cache.entries().size() == 5);
  for (int i = 0; i < 5; ++i) CHECK(cache.find(keys[static_cast<std::size_t>(i)]) == entry_of(i));
  CHECK_FALSE(cache.find(key_of(2)));
}

TEST_CASE("tune cache: read-only and off write no file") {
  const Folder folder;
  for (const Mode mode : {Mode::read_only, Mode::off}) {
    TuneCache cache(folder / "below/tune.json", mode);
    cache.keep(key_of(1), entry_of(1));
    CHECK(cache.find(key_of(1)).has_value() == (mode == Mode::read_only));  // remembered in this process
    CHECK_FALSE(std::filesystem::exists(folder / "below"));
    CHECK(cache.take_warnings().empty());
  }
  TuneCache writer(folder / "tune.json", Mode::read_write);
  writer.keep(key_of(1), entry_of(1));
  const std::string before = text_of(folder / "tune.json");
  TuneCache cache(folder / "tune.json", Mode::read_only);
  CHECK(cache.find(key_of(1)) == entry_of(1));
  cache.keep(key_of(1), entry_of(2));
  CHECK_THROWS_AS(cache.clear([](const TuneKey&) { return true; }), core::InvalidArgument);
  CHECK_THROWS_AS(cache.reset(), core::InvalidArgument);
  CHECK(text_of(folder / "tune.json") == before);
  CHECK_FALSE(TuneCache(folder / "tune.json", Mode::off).find(key_of(1)));
}

TEST_CASE("tune cache: clear removes what matches and no more, and it stays removed") {
  const Folder folder;
  const std::string path = folder / "tune.json";
  TuneCache cache(path, Mode::read_write), other(path, Mode::read_write);
  for (int i = 0; i < 6; ++i) cache.keep(key_of(i, i % 2 == 0 ? "hop" : "pack"), entry_of(i));
  CHECK(other.entries().size() == 6);
  CHECK(cache.clear([](const TuneKey& key) { return key.kernel == "pack"; }) == 3);
  CHECK(cache.entries().size() == 3);
  other.keep(key_of(9), entry_of(9));  // it had seen the removed ones, and does not bring them back
  CHECK(TuneCache(path, Mode::read_only).entries().size() == 4);
  CHECK(cache.clear([](const TuneKey&) { return false; }) == 0);
  CHECK(TuneCache(folder / "absent", Mode::read_write).clear([](const TuneKey&) { return true; }) == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "absent.lock"));
  CHECK(other.reset() == 4);
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(other.entries().empty());
  CHECK(other.reset() == 0);
  other.keep(key_of(7), entry_of(7));
  CHECK(TuneCache(path, Mode::read_only).entries().size() == 1);
}

TEST_CASE("tune cache: a damaged file is named with the place, left alone, and done without") {
  const Folder folder;
  const std::string path = folder / "tune.json";
  TuneCache(path, Mode::read_write).keep(key_of(1), entry_of(1));
  const std::string whole = text_of(path);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    REQUIRE(text.find(from) != std::string::npos);
    write_text(path, text.replace(text.find(from), from.size(), to));
  };
  write_text(path, whole.substr(0, whole.size() / 2));
  refused(path, {"line 2", "column", "no JSON", "halocline tune clear --all --yes"});
  write_text(path, "");
  refused(path, {"line 1, column 1"});
  write_text(path, "[1, 2]");
  refused(path, {"no tune cache"});
  with("\"version\": 1", "\"version\": 2");
  refused(path, {"version", "HALOCLINE_TUNE_CACHE"});
  with("\"kernel\":\"hop\"", "\"kernel\":3");
  refused(path, {"entry 1, kernel", "no text"});
  with("\"seconds\":", "\"second\":");
  refused(path, {"entry 1, seconds", "missing"});
  with("\"carveout\":-1", "\"carveout\":-2");
  refused(path, {"entry 1, carveout", "out of range"});
  with("\"candidates\":7", "\"candidates\":18446744073709551615");
  refused(path, {"entry 1, candidates", "out of range"});
  with("\"candidates\":7", "\"candidates\":7.5");
  refused(path, {"entry 1, candidates", "no integer"});
  with("\"block\":[64,1,1]", "\"block\":[64,1]");
  refused(path, {"entry 1, block", "three"});
  with("\"block\":[64,1,1]", "\"block\":[64,1,0]");
  refused(path, {"entry 1, block", "out of range"});
  with("\"bytes\":3.0", "\"bytes\":-3.0");
  refused(path, {"entry 1, bytes", "negative"});
  with("\"bytes\":3.0", "\"bytes\":1e999");
  refused(path, {"no JSON that can be read"});
  write_text(path, std::string(100000, '['));  // nested as deep as nobody means it
  refused(path, {"no JSON"});

  TuneCache cache(path, Mode::read_write);
  CHECK(cache.reset() == 0);  // what `halocline tune clear --all` does
  cache.keep(key_of(1), entry_of(1));
  CHECK(text_of(path) == whole);
}

TEST_CASE("tune cache: no byte of a cut file makes it pass for a whole one") {
  const std::string whole = detail::tune_text({{key_of(1), entry_of(1)}, {key_of(2), entry_of(2)}});
  for (std::size_t length = 0; length + 1 < whole.size(); ++length)  // the last byte is the end of the line
    CHECK_THROWS_AS(detail::parse_tune_text(whole.substr(0, length), "x"), core::FileError);
  CHECK(detail::parse_tune_text(whole, "x").size() == 2);
}

TEST_CASE("tune cache: what is no regular file is refused at once") {
  const Folder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::filesystem::create_directory(folder / "folder");
  for (const std::string name : {"pipe", "folder"}) {
    TuneCache cache(folder / name, Mode::read_write);
    CHECK_FALSE(cache.find(key_of(1)));
    cache.keep(key_of(1), entry_of(1));
    CHECK(cache.find(key_of(1)));
    const auto warnings = cache.take_warnings();
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("HALOCLINE_TUNE_CACHE") != std::string::npos);
  }
}

TEST_CASE("tune cache: a place that cannot be written costs one warning; later entries bring the earlier ones along") {
  const Folder folder;
  write_text(folder / "blocked", "a file where a folder should be");
  const std::string path = folder / "blocked/tune.json";
  TuneCache cache(path, Mode::read_write);
  cache.keep(key_of(1), entry_of(1));
  cache.keep(key_of(2), entry_of(2));
  const auto warnings = cache.take_warnings();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("folder") != std::string::npos);
  std::filesystem::remove(folder / "blocked");
  cache.keep(key_of(3), entry_of(3));
  CHECK(TuneCache(path, Mode::read_only).entries().size() == 3);
}

TEST_CASE("tune cache: a link to the file stays one") {
  const Folder folder;
  std::filesystem::create_directory(folder / "real");
  TuneCache(folder / "real/tune.json", Mode::read_write).keep(key_of(1), entry_of(1));
  std::filesystem::create_symlink(folder / "real/tune.json", folder / "link.json");
  TuneCache(folder / "link.json", Mode::read_write).keep(key_of(2), entry_of(2));
  CHECK(std::filesystem::is_symlink(folder / "link.json"));
  CHECK(TuneCache(folder / "real/tune.json", Mode::read_only).entries().size() == 2);
}

TEST_CASE("tune cache: a lock that somebody holds is waited for") {
  const Folder folder;
  const std::string path = folder / "tune.json";
  const int held = ::open((path + ".lock").c_str(), O_RDWR | O_CREAT, 0600);
  REQUIRE(::flock(held, LOCK_EX) == 0);
  CHECK_THROWS_WITH_AS(detail::change_tune_file(path, std::chrono::milliseconds(1), [](auto&) { return true; }),
                       doctest::Contains("fuser"), core::FileError);
  std::thread other([&] { TuneCache(path, Mode::read_write).keep(key_of(1), entry_of(1)); });
  CHECK_FALSE(std::filesystem::exists(path));
  ::close(held);
  other.join();
  CHECK(TuneCache(path, Mode::read_only).entries().size() == 1);
}

TEST_CASE("tune cache: threads of one process lose nothing either") {
  const Folder folder;
  TuneCache cache(folder / "tune.json", Mode::read_write);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&cache, t] {
      for (int i = 0; i < 10; ++i) cache.keep(key_of(100 * t + i), entry_of(i));
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(TuneCache(folder / "tune.json", Mode::read_only).entries().size() == 40);
  CHECK(cache.take_warnings().empty());
}

TEST_CASE("tune cache: defaults hold for every driver, for their code alone, and give way to the file") {
  const Folder folder;
  TuneCache source(folder / "source.json", Mode::read_write);
  for (int i = 0; i < 4; ++i) source.keep(key_of(i, i == 3 ? "pack" : "hop"), entry_of(i));
  CHECK(source.export_to(folder / "defaults.json", [](const TuneKey& key) { return key.kernel == "hop"; }) == 3);
  CHECK_THROWS_AS(source.export_to(folder / "source.json"), core::InvalidArgument);
  CHECK_THROWS_AS(source.export_to(folder / "absent/defaults.json"), core::FileError);

  const std::string defaults = text_of(folder / "defaults.json");
  TuneCache cache(folder / "tune.json", Mode::read_write, folder / "defaults.json");
  CHECK(cache.find(key_of(1)) == entry_of(1));
  CHECK_FALSE(std::filesystem::exists(folder / "tune.json"));
  TuneKey other = key_of(1);
  other.driver = "14.2, toolkit 13.0";
  CHECK(cache.find(other) == entry_of(1));
  other.kernel_hash = "another";
  CHECK_FALSE(cache.find(other));
  CHECK_FALSE(cache.find(key_of(3, "pack")));

  cache.keep(key_of(1), entry_of(7));
  CHECK(cache.find(key_of(1)) == entry_of(7));
  CHECK(cache.entries().size() == 3);
  CHECK(TuneCache(folder / "tune.json", Mode::read_only).entries().size() == 1);  // defaults are not copied into it
  cache.clear([](const TuneKey&) { return true; });
  CHECK(cache.find(key_of(1)) == entry_of(1));
  CHECK(text_of(folder / "defaults.json") == defaults);

  write_text(folder / "defaults.json", "{");
  TuneCache damaged(folder / "tune.json", Mode::read_write, folder / "defaults.json");
  CHECK(damaged.take_warnings().size() == 1);
}

TEST_CASE("tune cache: the environment says where and how") {
  const Folder folder;
  const Variable defaults("HALOCLINE_TUNE_DEFAULTS", nullptr);
  const Variable cache("HALOCLINE_TUNE_CACHE", nullptr);
  const Variable mode("HALOCLINE_TUNE", nullptr);
  const Variable xdg("XDG_CACHE_HOME", "relative/is/ignored");
  const Variable home("HOME", (folder / "home").c_str());
  CHECK(TuneCache::open()->path() == folder / "home/.cache/halocline/tune.json");
  CHECK(TuneCache::open()->mode() == Mode::read_write);
  CHECK(TuneCache::open("given")->path() == "given");
  {
    const Variable absolute("XDG_CACHE_HOME", (folder / "xdg").c_str());
    CHECK(TuneCache::open()->path() == folder / "xdg/halocline/tune.json");
    const Variable named("HALOCLINE_TUNE_CACHE", (folder / "named").c_str());
    CHECK(TuneCache::open()->path() == folder / "named");
  }
  for (const auto& [word, meant] : {std::pair{"read-only", Mode::read_only},
                                    {"off", Mode::off},
                                    {"", Mode::read_write},
                                    {"read-write", Mode::read_write}}) {
    const Variable said("HALOCLINE_TUNE", word);
    CHECK(TuneCache::open()->mode() == meant);
  }
  const Variable wrong("HALOCLINE_TUNE", "readonly");
  CHECK_THROWS_WITH_AS(TuneCache::open(), doctest::Contains("read-only"), core::InvalidArgument);
  const Variable nothing("HALOCLINE_TUNE", nullptr);
  const Variable homeless("HOME", nullptr);
  CHECK(TuneCache::open()->path().empty());
  CHECK(TuneCache::open()->take_warnings().size() == 1);
}
