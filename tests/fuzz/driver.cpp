// SPDX-License-Identifier: Apache-2.0
//
// The program of a family of readers, with any compiler:
//
//   fuzz_gauge [--inputs N | --seconds S] [--seed K] [--first I] [--label WORD] [--save FOLDER] [--time-limit S]
//   fuzz_gauge FILE...              reads these files, such as saved inputs, and says what became of them
//   fuzz_gauge --corpus FOLDER      writes the sound files, for libFuzzer
//
// Input I of seed K is the same wherever it is made, so `--seed K --first I --inputs 1` makes it again. The last line
// is a JSON object of counts for each label. Exit status 0: no failure; 1: failures, each named on stderr with its
// input saved; 77: an input ended the program (crash, sanitizer, time or memory), saved as well.

#include "fuzz/fuzz.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/core.h>

#if defined(__SANITIZE_ADDRESS__)
#define HALOCLINE_FUZZ_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HALOCLINE_FUZZ_SANITIZED 1
#endif
#endif

#ifdef HALOCLINE_FUZZ_SANITIZED
extern "C" void __sanitizer_set_death_callback(void (*callback)());
/// A reader of a small file that asks for 256 MiB at once believes a length of the file.
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=256:hard_rss_limit_mb=1536:detect_leaks=0:handle_abort=1:exitcode=77:"
         "allocator_may_return_null=0";
}
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1:exitcode=77"; }
#endif

namespace {

using namespace halocline::fuzz;

constexpr std::array<const char*, verdicts> verdict_names{"refused", "unchanged", "unprotected", "let_through",
                                                          "silent"};
constexpr int died = 77;
constexpr rlim_t memory_limit = rlim_t{1536} << 20;
constexpr std::uint64_t most_saved = 20;

/// What a handler must know of the input that is being read.
struct Present {
  const std::string* bytes = nullptr;
  std::array<char, 512> path{};      // where it is saved
  std::array<char, 512> sentence{};  // which one it is
};
Present present;  // NOLINT: signal handlers see globals alone
volatile std::sig_atomic_t is_asked_to_stop = 0;

void write_all(int file, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t put = ::write(file, bytes, count);
    if (put <= 0) return;
    bytes += put;
    count -= static_cast<std::size_t>(put);
  }
}

/// Saves the present input with nothing but system calls.
void save_present() {
  if (present.bytes == nullptr) return;
  const int file = ::open(present.path.data(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file >= 0) {
    write_all(file, present.bytes->data(), present.bytes->size());
    ::close(file);
  }
  write_all(STDERR_FILENO, present.sentence.data(), std::strlen(present.sentence.data()));
  present.bytes = nullptr;
}

void on_signal(int number) {
  const char* const said = number == SIGALRM ? "\nfuzz: the input takes longer than its time limit\n"
                                             : "\nfuzz: the input ends the program by a signal\n";
  write_all(STDERR_FILENO, said, std::strlen(said));
  save_present();
  ::_exit(died);
}

void prepare_for_the_worst() {
  std::signal(SIGALRM, on_signal);
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, [](int) { is_asked_to_stop = 1; });
#ifdef HALOCLINE_FUZZ_SANITIZED
  __sanitizer_set_death_callback(save_present);
#else
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(number, on_signal);
  const rlimit limit{memory_limit, memory_limit};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
}

struct Options {
  std::uint64_t inputs = 10000, first = 0, seed = 1;
  double seconds = 0;        ///< 0: as many as `inputs` says
  unsigned time_limit = 30;  ///< [s] of one input; generous, for machines that do other things too
  std::string label, save = ".", corpus;
  std::vector<std::string> files;
};

Options parsed(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&] {
      if (++i == count) {
        fmt::print(stderr, "{} needs a value\n", word);
        std::exit(2);
      }
      return std::string(words[i]);
    };
    if (word == "--inputs")
      options.inputs = std::strtoull(value().c_str(), nullptr, 10);
    else if (word == "--seconds")
      options.seconds = std::strtod(value().c_str(), nullptr);
    else if (word == "--seed")
      options.seed = std::strtoull(value().c_str(), nullptr, 10);
    else if (word == "--first")
      options.first = std::strtoull(value().c_str(), nullptr, 10);
    else if (word == "--time-limit")
      options.time_limit = static_cast<unsigned>(std::strtoul(value().c_str(), nullptr, 10));
    else if (word == "--label")
      options.label = value();
    else if (word == "--save")
      options.save = value();
    else if (word == "--corpus")
      options.corpus = value();
    else if (word.starts_with("--")) {
      fmt::print(stderr, "unknown option {}; the top of tests/fuzz/driver.cpp lists them\n", word);
      std::exit(2);
    } else
      options.files.push_back(word);
  }
  return options;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

int read_files(const Family& family, const std::vector<std::string>& files) {
  int status = 0;
  for (const std::string& path : files) {
    const Judgement judgement = judged(family, bytes_of(path));
    fmt::print("{}: {}{}\n", path, verdict_names[static_cast<std::size_t>(judgement.verdict)],
               judgement.failure.empty() ? "" : ", FAILURE: " + judgement.failure);
    if (!judgement.failure.empty()) status = 1;
  }
  return status;
}

struct Counts {
  std::uint64_t inputs = 0, failures = 0;
  std::array<std::uint64_t, verdicts> of{};
};

std::string as_json(const std::string& family, const std::map<std::string, Counts>& all, double seconds,
                    std::uint64_t next) {
  std::string text =
      fmt::format("{{\"family\": \"{}\", \"seconds\": {:.3f}, \"next\": {}, \"labels\": {{", family, seconds, next);
  const char* separator = "";
  for (const auto& [label, counts] : all) {
    text +=
        fmt::format("{}\"{}\": {{\"inputs\": {}, \"failures\": {}", separator, label, counts.inputs, counts.failures);
    for (std::size_t v = 0; v < verdicts; ++v) text += fmt::format(", \"{}\": {}", verdict_names[v], counts.of[v]);
    text += "}";
    separator = ", ";
  }
  return text + "}}";
}

int fuzz(const Family& family, const std::vector<const Sample*>& samples, const Options& options) {
  std::map<std::string, Counts> counts;
  std::uint64_t failures = 0;
  const auto begun = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); };
  std::uint64_t input = options.first;
  const auto goes_on = [&] {
    if (is_asked_to_stop != 0) return false;
    return options.seconds > 0 ? seconds() < options.seconds : input - options.first < options.inputs;
  };
  for (; goes_on(); ++input) {
    const std::string bytes = mutated(family, samples, options.seed, input);
    const std::string which =
        fmt::format("{}{}{}-{}-{}", family.name, options.label.empty() ? "" : "-", options.label, options.seed, input);
    const std::string path = (std::filesystem::path(options.save) / which).string();
    fmt::format_to_n(present.path.data(), present.path.size() - 1, "{}", path);
    const std::string sentence =
        fmt::format("\nfuzz: {}, seed {}, input {}: saved as {}\n", family.name, options.seed, input, path);
    std::strncpy(present.sentence.data(), sentence.c_str(), present.sentence.size() - 1);
    present.bytes = &bytes;
    ::alarm(options.time_limit);
    const Judgement judgement = judged(family, bytes);
    ::alarm(0);
    Counts& here = counts[samples[static_cast<std::size_t>(input % samples.size())]->label];
    ++here.inputs;
    ++here.of[static_cast<std::size_t>(judgement.verdict)];
    if (!judgement.failure.empty()) {
      ++here.failures;
      if (++failures <= most_saved) {
        fmt::print(stderr, "{}", judgement.failure);
        save_present();
      }
    }
    present.bytes = nullptr;
  }
  fmt::print("{}\n", as_json(family.name, counts, seconds(), input));
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  const Options options = parsed(count, words);
  const Family family = make_family();
  if (!options.corpus.empty()) {
    std::filesystem::create_directories(options.corpus);
    for (std::size_t i = 0; i < family.samples.size(); ++i)
      std::ofstream(fmt::format("{}/{}-{}", options.corpus, family.samples[i].label, i), std::ios::binary)
          << family.samples[i].bytes;
    return 0;
  }
  std::vector<const Sample*> samples;
  for (const Sample& sample : family.samples)
    if (options.label.empty() || sample.label == options.label) samples.push_back(&sample);
  if (samples.empty()) {
    fmt::print(stderr, "{} has no sound files called {}\n", family.name, options.label);
    return 2;
  }
  prepare_for_the_worst();
  // A fuzzer whose sound files are refused would find nothing.
  for (const Sample* sample : samples) {
    const Judgement judgement = judged(family, sample->bytes);
    if (judgement.verdict != Verdict::unchanged || !judgement.failure.empty()) {
      fmt::print(stderr, "{}: the sound file is not read: {} {}\n", sample->label,
                 verdict_names[static_cast<std::size_t>(judgement.verdict)], judgement.failure);
      return 1;
    }
  }
  return options.files.empty() ? fuzz(family, samples, options) : read_files(family, options.files);
}
