// SPDX-License-Identifier: Apache-2.0
/// Commands under a time limit: what they print, how they end, and that nothing of them stays.
#include "tools/gpu_acceptance/child.hpp"

#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>

using namespace halocline::acceptance;

namespace {

struct Ran {
  ChildEnd end;
  std::vector<std::string> lines;
};

Ran shell(const std::string& script, double limit = 20, const Environment& environment = {}) {
  Ran out;
  out.end =
      run_child({"sh", "-c", script}, environment, limit, [&](std::string_view line) { out.lines.emplace_back(line); });
  return out;
}

}  // namespace

TEST_CASE("acceptance: lines, exit status and last words of a command") {
  const auto ran = shell("echo one; echo; printf \"two $WORD\"; echo trouble >&2; exit 3", 20, {{"WORD", "words"}});
  CHECK(ran.lines == std::vector<std::string>{"one", "", "two words"});
  CHECK(ran.end.how == ChildEnd::How::exited);
  CHECK(ran.end.code == 3);
  CHECK(ran.end.last_words == "trouble\n");
  CHECK(ran.end.describe() == "exit status 3");
  CHECK(shell("exit 0").end.good());
}

TEST_CASE("acceptance: a line arrives before the command has ended") {
  const auto begin = std::chrono::steady_clock::now();
  double first = 1e9;
  const auto end = run_child({"sh", "-c", "echo first; sleep 1; echo last"}, {}, 20, [&](std::string_view) {
    first = std::min(first, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  });
  CHECK(end.good());
  CHECK(first < end.seconds - 0.5);
}

TEST_CASE("acceptance: a command that hangs is killed with what it started, and keeps the lines it wrote") {
  const auto ran = shell("sleep 600 & echo $!; trap '' TERM; while true; do sleep 1; done", 0.5);
  CHECK(ran.end.how == ChildEnd::How::out_of_time);
  CHECK(ran.end.seconds < 30);
  REQUIRE(ran.lines.size() == 1);
  // The system needs a moment to take it away, and where nobody reaps orphans a zombie stays.
  const std::string of_it = "/proc/" + ran.lines[0] + "/stat";
  bool runs = true;
  for (int i = 0; i < 500 && runs; ++i) {
    std::ifstream stat(of_it);
    std::string words;
    runs = std::getline(stat, words) && words.find(") Z ") == std::string::npos;
    if (runs) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK_FALSE(runs);
  CHECK_FALSE(ran.end.good());
}

TEST_CASE("acceptance: a crash is a signal by name") {
  const auto ran = shell("echo before; kill -SEGV $$");
  CHECK(ran.end.how == ChildEnd::How::signalled);
  CHECK(ran.end.code == SIGSEGV);
  CHECK(ran.end.describe().find("signal 11 (") == 0);
  CHECK(ran.lines == std::vector<std::string>{"before"});
}

TEST_CASE("acceptance: a program that is not there says so") {
  const auto end = run_child({"/nowhere/at/all"}, {}, 5, [](std::string_view) {});
  CHECK(end.how == ChildEnd::How::not_started);
  CHECK(end.code == ENOENT);
  CHECK(find_program("sh", "/nowhere").find("/sh") != std::string::npos);
  CHECK(find_program("no such program", "/nowhere").empty());
}

TEST_CASE("acceptance: much output is neither lost nor kept twice") {
  const auto ran = shell("i=0; while [ $i -lt 3000 ]; do echo line $i; echo word $i >&2; i=$((i+1)); done");
  CHECK(ran.end.good());
  REQUIRE(ran.lines.size() == 3000);
  CHECK(ran.lines[2999] == "line 2999");
  CHECK(ran.end.last_words.size() == 2000);
  CHECK(ran.end.last_words.find("word 2999\n") != std::string::npos);
}
