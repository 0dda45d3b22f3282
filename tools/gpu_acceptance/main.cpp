// SPDX-License-Identifier: Apache-2.0
//
// The acceptance of the GPU back end: proves and measures it on a machine that has a driver and nothing else, within
// minutes. docs/gpu.md, section "Acceptance", says how to use it.
//
// The program starts itself, the test programs beside it and NVIDIA's tools as processes of their own, each under a
// time limit, and writes one JSON line a case as soon as the case has ended.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "halocline/core/cpu.hpp"
#include "halocline/core/error.hpp"
#include "tools/gpu_acceptance/child.hpp"
#include "tools/gpu_acceptance/steps.hpp"

namespace halocline::acceptance {
namespace {

constexpr std::string_view doctest_counts = "[doctest] test cases:";
constexpr const char* usage =
    "gpu_acceptance [--mode prove|profile|tuned] [--device NAME] [--output FILE] [--minutes M] [--only STEP,...] "
    "[--small]\n"
    "  --mode     prove (the default): tests, sanitizer, agreement with the CPU, and figures, with tuning off;\n"
    "             profile: Nsight Compute on the hops; tuned: the figures again with tuned launches, at more volumes\n"
    "  --device   cuda (the default), cuda:N, or host-executor\n"
    "  --output   JSON lines also go here; acceptance-MODE.jsonl is the default\n"
    "  --minutes  of the whole run, 9 by default; what does not fit is skipped and named\n"
    "  --only     these steps alone; --list names them\n"
    "  --small    lattices of 4^4 and the least effort, for the host executor\n"
    "Exit status: 0 if nothing failed, 1 if a step failed, 2 for a mistake in the call.\n";

struct Options {
  std::string mode = "prove", output, only, step;
  double minutes = 9;
  Request request;
  bool list = false, help = false;
};

Options parsed(int argc, char** argv) {
  Options o;
  const auto value = [&](int& i) -> std::string {
    if (i + 1 == argc) throw core::InvalidArgument(fmt::format("{} was given without a value", argv[i]));
    return argv[++i];
  };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--mode")
      o.mode = value(i);
    else if (word == "--device")
      o.request.device = value(i);
    else if (word == "--output")
      o.output = value(i);
    else if (word == "--only")
      o.only = value(i);
    else if (word == "--minutes")
      o.minutes = std::atof(value(i).c_str());
    else if (word == "--step")
      o.step = value(i);
    else if (word == "--small")
      o.request.small = true;
    else if (word == "--sweep")
      o.request.sweep = true;
    else if (word == "--list")
      o.list = true;
    else if (word == "--help" || word == "-h")
      o.help = true;
    else
      throw core::InvalidArgument(fmt::format("unknown option {}; --help lists them", word));
  }
  if (o.mode != "prove" && o.mode != "profile" && o.mode != "tuned")
    throw core::InvalidArgument(fmt::format("--mode {}: give prove, profile or tuned", o.mode));
  if (!(o.minutes > 0)) throw core::InvalidArgument("--minutes: give a number above 0");
  if (o.output.empty()) o.output = fmt::format("acceptance-{}.jsonl", o.mode);
  return o;
}

/// A step as the parent sees it: a command, or the reason why there is none.
struct Task {
  std::string name;
  double limit = 0;
  std::string text;
  std::vector<std::string> command;
  std::string missing{};
  bool speaks_json = true;  ///< its lines are cases
  bool runs_tests = false;  ///< of doctest, which counts them
};

std::string own_path() {
  std::array<char, PATH_MAX> path{};
  const auto size = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (size <= 0) throw core::Error("the path of this program cannot be read from /proc/self/exe");
  return {path.data(), static_cast<std::size_t>(size)};
}

class Tasks {
public:
  explicit Tasks(const Options& o) : options_(&o), self_(own_path()), here_(self_.substr(0, self_.rfind('/'))) {}

  std::vector<Task> all() const {
    std::vector<Task> out;
    const auto& steps = measuring_steps();
    if (options_->mode == "profile") {
      for (const auto& step : steps)
        if (step.name == "hop" || step.name == "graph") out.push_back(profiled(step));
      out.push_back(timed(profiled_solve()));
      return out;
    }
    const bool prove = options_->mode == "prove";
    for (const auto& step : steps) {
      if (!prove && (step.name == "agreement" || step.name == "actions")) continue;
      out.push_back({step.name, prove ? step.limit : 2 * step.limit, step.text, command(step)});
      if (prove && step.name == "copy") {
        out.push_back(test("tests-gpu", "test_gpu", "", 90, "tests of memory, streams, launches, sums and faces"));
        out.push_back(test("tests-qcd", "test_qcd", "--source-file=*/device/*", 120, "tests of fields, hops, solvers"));
      }
    }
    if (prove) {
      out.push_back(sanitized("memcheck", "test_gpu", "*test_sum*,*test_face_exchange*,*test_launch*"));
      out.push_back(sanitized("racecheck", "test_gpu", "*test_sum*,*test_face_exchange*,*test_launch*"));
      out.push_back(sanitized("memcheck", "test_qcd", "*/device/test_hopping*"));
    }
    return out;
  }

  /// Of all steps. Tuned launches are kept beside the program, so that a later run finds them.
  Environment environment() const {
    if (options_->mode == "tuned") return {{"HALOCLINE_TUNE_CACHE", here_ + "/tune.json"}, {"OMP_NUM_THREADS", "8"}};
    return {{"HALOCLINE_TUNE", "off"}, {"OMP_NUM_THREADS", "8"}};
  }

private:
  std::vector<std::string> command(const Step& step) const {
    std::vector<std::string> words{self_, "--step", step.name, "--device", options_->request.device};
    if (options_->request.small) words.emplace_back("--small");
    if (options_->mode == "tuned") words.emplace_back("--sweep");
    return words;
  }
  Task test(const std::string& name, const std::string& program, const std::string& filter, double limit,
            const std::string& text) const {
    Task task{name, limit, text, {here_ + "/" + program}};
    task.speaks_json = false;
    task.runs_tests = true;
    if (::access(task.command[0].c_str(), X_OK) != 0)
      task.missing = fmt::format("{} is not beside this program", program);
    if (!filter.empty()) task.command.push_back(filter);
    return task;
  }
  Task sanitized(const std::string& tool, const std::string& program, const std::string& sources) const {
    Task task = test(fmt::format("{}-{}", tool, program), program, "--source-file=" + sources, 60,
                     fmt::format("compute-sanitizer {} on a sample of {}", tool, program));
    const std::string sanitizer = find_program("compute-sanitizer", here_);
    if (sanitizer.empty()) task.missing = "compute-sanitizer is neither beside this program nor in PATH";
    task.command.insert(task.command.begin(), {sanitizer, "--tool", tool, "--error-exitcode", "86"});
    return task;
  }
  /// Nsight Compute on a step. The clocks stay as they are.
  Task under_ncu(const Step& step, const std::string& text, std::vector<std::string> words) const {
    Task task{step.name, 240, text + step.text, command(step)};
    task.speaks_json = false;
    const std::string ncu = find_program("ncu", here_);
    if (ncu.empty()) task.missing = "ncu is neither beside this program nor in PATH";
    words.insert(words.begin(), {ncu, "--clock-control", "none"});
    task.command.insert(task.command.begin(), words.begin(), words.end());
    return task;
  }
  Task profiled(const Step& step) const {
    return under_ncu(step, "Nsight Compute on: ",
                     {"--set", "full", "--kernel-name-base", "demangled", "-k", "regex:[Hh]op", "--launch-skip", "8",
                      "--launch-count", "24", "--force-overwrite", "--export",
                      fmt::format("{}/profile-{}", here_, step.name)});
  }
  Task timed(const Step& step) const {
    return under_ncu(step, "time of each kernel of: ",
                     {"--cache-control", "none", "--metrics", "gpu__time_duration.sum", "--csv", "--log-file",
                      fmt::format("{}/profile-{}.csv", here_, step.name)});
  }

  const Options* options_;
  std::string self_, here_;
};

/// Writes lines to stdout and to a file at once.
class Record {
public:
  explicit Record(const std::string& path) : file_(path), path_(path) {
    if (!file_) throw core::FileError(path, "", "cannot be written; give another --output");
  }
  void line(std::string_view text) {
    fmt::print("{}\n", text);
    std::fflush(stdout);
    file_ << text << '\n' << std::flush;
    if (!file_) throw core::FileError(path_, "", "cannot be written any more; is the disk full?");
  }

private:
  std::ofstream file_;
  std::string path_;
};

struct Outcome {
  std::string name, status, reason;
  double seconds = 0;
  int cases = 0, failed = 0, skipped = 0;
};

/// @param hindrance  the reason why nothing can run any more; empty if there is none
Outcome run(const Task& task, const Environment& environment, double left, const std::string& hindrance,
            Record& record) {
  Outcome out{task.name, "ok", {}};
  if (!task.missing.empty() || !hindrance.empty() || left <= 0) {
    out.status = "skipped";
    out.reason = !hindrance.empty()     ? hindrance
                 : task.missing.empty() ? "the time of the whole run was over"
                                        : task.missing;
    return out;
  }
  std::string first;    // reason of a failure
  std::string counted;  // the line in which doctest counts its cases
  const auto end = run_child(task.command, environment, std::min(task.limit, left), [&](std::string_view line) {
    if (line.starts_with(doctest_counts)) {
      counted = line.substr(doctest_counts.size());
      out.cases = std::atoi(counted.c_str());
    }
    const Json found = task.speaks_json ? Json::parse(line, nullptr, false) : Json();
    if (!found.is_object() || !found.contains("status")) return;
    record.line(line);
    ++out.cases;
    if (found["status"] == "failed" && ++out.failed == 1) first = found.value("reason", "");
    if (found["status"] == "skipped") ++out.skipped;
  });
  out.seconds = end.seconds;
  if (!end.good() || out.failed > 0) {
    out.status = end.how == ChildEnd::How::out_of_time ? "out of time" : "failed";
    out.reason =
        out.failed > 0 ? fmt::format("{} of {} cases failed; {}", out.failed, out.cases, first) : end.describe();
    if (!end.last_words.empty()) out.reason += ": " + end.last_words;
  }
  if (task.runs_tests && out.status == "ok" && out.cases == 0) {
    out.status = "failed";
    out.reason = "no test ran";  // doctest calls that a success
  }
  if (!counted.empty()) out.reason += (out.reason.empty() ? "test cases:" : "; test cases:") + counted;
  return out;
}

int parent(const Options& o) {
  const Tasks tasks(o);
  const auto all = tasks.all();
  const auto named = [&](const std::string& name) {
    return ("," + o.only + ",").find("," + name + ",") != std::string::npos;
  };
  if (!o.only.empty()) {
    std::string rest = o.only + ",";
    for (std::size_t end = rest.find(','); end != std::string::npos; rest.erase(0, end + 1), end = rest.find(',')) {
      const std::string wanted = rest.substr(0, end);
      if (std::ranges::find(all, wanted, &Task::name) == all.end())
        throw core::InvalidArgument(
            fmt::format("--only {}: mode {} has no such step; --list names them", wanted, o.mode));
    }
  }
  if (o.list) {
    for (const Task& task : all) fmt::print("{:<20} {:>4.0f} s  {}\n", task.name, task.limit, task.text);
    return 0;
  }
  Record record(o.output);
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  std::vector<Outcome> outcomes;
  std::string hindrance;
  Json summary{{"mode", o.mode}, {"device", o.request.device}};
  Json failed = Json::array(), skipped = Json::array();
  for (const Task& task : all) {
    if (!o.only.empty() && !named(task.name)) continue;
    const Outcome out = run(task, tasks.environment(), 60 * o.minutes - since(), hindrance, record);
    if (task.name == "device" && out.status != "ok") hindrance = "the device could not be opened";
    Json line{{"step_ended", out.name}, {"state", out.status}, {"seconds", out.seconds}, {"cases", out.cases}};
    if (!out.reason.empty()) line["reason"] = out.reason;
    record.line(line.dump(-1, ' ', false, Json::error_handler_t::replace));
    if (out.status == "skipped") skipped.push_back(out.name);
    if (out.status == "failed" || out.status == "out of time") failed.push_back(out.name);
    outcomes.push_back(out);
  }
  summary["seconds"] = since();
  summary["failed"] = failed;
  summary["skipped"] = skipped;
  record.line(Json{{"summary", summary}}.dump());
  fmt::print(stderr, "\n{:<20} {:<12} {:>8} {:>6}  reason\n", "step", "status", "seconds", "cases");
  for (const Outcome& out : outcomes)
    fmt::print(stderr, "{:<20} {:<12} {:>8.1f} {:>6}  {}\n", out.name, out.status, out.seconds, out.cases,
               out.reason.substr(0, out.reason.find('\n')));
  return failed.empty() ? 0 : 1;
}

/// One step, in a process of its own.
int child(const Options& o) {
  auto steps = measuring_steps();
  steps.push_back(profiled_solve());
  const auto step = std::ranges::find(steps, o.step, &Step::name);
  if (step == steps.end()) throw core::InvalidArgument(fmt::format("--step {}: there is no such step", o.step));
  bool good = true;
  step->run(o.request, [&](Json line) {
    good = good && line["status"] != "failed";
    fmt::print("{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
    std::fflush(stdout);
  });
  return good ? 0 : 1;
}

}  // namespace
}  // namespace halocline::acceptance

int main(int argc, char** argv) {
  using namespace halocline;
  try {
    core::check_cpu();
    const auto options = acceptance::parsed(argc, argv);
    if (options.help) {
      fmt::print("{}", acceptance::usage);
      return 0;
    }
    return options.step.empty() ? acceptance::parent(options) : acceptance::child(options);
  } catch (const core::InvalidArgument& error) {
    fmt::print(stderr, "gpu_acceptance: {}\n", error.what());
    return 2;
  } catch (const core::FileError& error) {
    fmt::print(stderr, "gpu_acceptance: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_acceptance: {}\n", error.what());
    return 1;
  }
}
