// SPDX-License-Identifier: Apache-2.0
#include "tools/gpu_acceptance/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "halocline/core/error.hpp"

namespace halocline::acceptance {
namespace {

constexpr std::size_t most_last_words = 2000;
/// How long the output of a command is awaited that has ended while a process of its own holds the pipe.
constexpr double after_the_end = 0.5;

using Clock = std::chrono::steady_clock;
double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

class Pipe {
public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw core::Error(fmt::format("a pipe for a step cannot be made ({})", std::strerror(errno)));
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int read_end() const noexcept { return ends_[0]; }
  int write_end() const noexcept { return ends_[1]; }
  void close(std::size_t end) noexcept {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

private:
  std::array<int, 2> ends_{-1, -1};
};

/// Cuts what arrives into lines.
class Lines {
public:
  explicit Lines(const std::function<void(std::string_view)>& line) : line_(&line) {}
  void take(std::string_view some) {
    begun_ += some;
    std::size_t from = 0;
    for (std::size_t end = begun_.find('\n'); end != std::string::npos; end = begun_.find('\n', from)) {
      (*line_)(std::string_view(begun_).substr(from, end - from));
      from = end + 1;
    }
    begun_.erase(0, from);
  }
  void finish() {
    if (!begun_.empty()) (*line_)(begun_);
    begun_.clear();
  }

private:
  const std::function<void(std::string_view)>* line_;
  std::string begun_;
};

[[noreturn]] void become(const std::vector<std::string>& command, const Environment& environment, const Pipe& out,
                         const Pipe& err, const Pipe& failure) {
  ::setpgid(0, 0);
  ::dup2(out.write_end(), STDOUT_FILENO);
  ::dup2(err.write_end(), STDERR_FILENO);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const int reason = errno;
  [[maybe_unused]] const auto written = ::write(failure.write_end(), &reason, sizeof reason);
  ::_exit(127);
}

/// Reads what is there. Returns false at the end of the stream.
template <class Take>
bool drain(int from, const Take& take) {
  std::array<char, 4096> some{};
  const auto count = ::read(from, some.data(), some.size());
  if (count > 0) take(std::string_view(some.data(), static_cast<std::size_t>(count)));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

}  // namespace

std::string ChildEnd::describe() const {
  switch (how) {
  case How::exited:
    return fmt::format("exit status {}", code);
  case How::signalled:
    return fmt::format("signal {} ({})", code, ::strsignal(code));
  case How::out_of_time:
    return fmt::format("ran out of its {:.3g} s", seconds);
  case How::not_started:
    return fmt::format("could not be started ({})", std::strerror(code));
  }
  return "";
}

ChildEnd run_child(const std::vector<std::string>& command, const Environment& environment, double limit,
                   const std::function<void(std::string_view)>& line) {
  Pipe out, err, failure;
  const auto begin = Clock::now();
  const pid_t child = ::fork();
  if (child < 0) throw core::Error(fmt::format("{}: no process can be made ({})", command[0], std::strerror(errno)));
  if (child == 0) become(command, environment, out, err, failure);
  ::setpgid(child, child);  // here too, so that the group exists whoever is first
  out.close(1);
  err.close(1);
  failure.close(1);

  ChildEnd end;
  Lines lines(line);
  const auto keep = [&](std::string_view some) {
    end.last_words += some;
    if (end.last_words.size() > most_last_words) end.last_words.erase(0, end.last_words.size() - most_last_words);
  };
  bool out_open = true, err_open = true, ended = false;
  int status = 0;
  double stop = limit;
  while (out_open || err_open || !ended) {
    if (!ended && ::waitpid(child, &status, WNOHANG) == child) {
      ended = true;
      end.seconds = since(begin);
      stop = std::min(stop, end.seconds + after_the_end);
    }
    const double left = stop - since(begin);
    if (left <= 0) break;
    std::array<pollfd, 2> wanted{pollfd{out_open ? out.read_end() : -1, POLLIN, 0},
                                 pollfd{err_open ? err.read_end() : -1, POLLIN, 0}};
    ::poll(wanted.data(), wanted.size(), static_cast<int>(std::clamp(1000 * left, 1.0, 20.0)));
    if (wanted[0].revents != 0) out_open = drain(out.read_end(), [&](std::string_view some) { lines.take(some); });
    if (wanted[1].revents != 0) err_open = drain(err.read_end(), keep);
  }
  // What the command has started goes with it.
  ::kill(-child, SIGKILL);
  if (!ended) {
    ::waitpid(child, &status, 0);
    end.seconds = since(begin);
  }
  lines.finish();
  int reason = 0;
  if (::read(failure.read_end(), &reason, sizeof reason) == static_cast<ssize_t>(sizeof reason)) {
    end.how = ChildEnd::How::not_started;
    end.code = reason;
  } else if (!ended) {
    end.how = ChildEnd::How::out_of_time;
  } else if (WIFSIGNALED(status)) {
    end.how = ChildEnd::How::signalled;
    end.code = WTERMSIG(status);
  } else {
    end.how = ChildEnd::How::exited;
    end.code = WEXITSTATUS(status);
  }
  return end;
}

std::string find_program(const std::string& name, const std::string& here) {
  const char* const path = std::getenv("PATH");
  std::vector<std::string> folders{here};
  std::istringstream all(path == nullptr ? "" : path);
  for (std::string folder; std::getline(all, folder, ':');) folders.push_back(folder);
  for (const char* folder : {"/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer", "/opt/nvidia/nsight-compute"})
    folders.emplace_back(folder);
  for (const std::string& folder : folders) {
    const std::string found = folder + "/" + name;
    if (::access(found.c_str(), X_OK) == 0) return found;
  }
  return {};
}

}  // namespace halocline::acceptance
