// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Runs a command under a time limit, and passes on what it prints, line by line, as it comes.
///
/// Each step of the acceptance is a process of its own: a kernel that hangs, or a driver that ends the process, costs
/// this step and nothing else.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halocline::acceptance {

/// How a command ended.
struct ChildEnd {
  enum class How { exited, signalled, out_of_time, not_started };
  How how = How::not_started;
  int code = 0;            ///< exit status, number of the signal, or errno
  double seconds = 0;      ///< that it ran
  std::string last_words;  ///< the end of what it wrote to stderr, 2000 characters at most

  bool good() const noexcept { return how == How::exited && code == 0; }
  /// "exit status 3", "signal 11 (Segmentation fault)", "ran out of its 20 s", "could not be started (...)"
  std::string describe() const;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

/// @param command      the program, by path or to be found in PATH, and its arguments
/// @param environment  variables that are set for it, beside those of this process
/// @param limit        seconds after which it is killed, with all processes that it started
/// @param line         called with each line that it writes to stdout, without the end of line
/// @throws core::Error  if no pipe or process can be made
/// Not for several threads at a time.
ChildEnd run_child(const std::vector<std::string>& command, const Environment& environment, double limit,
                   const std::function<void(std::string_view)>& line);

/// The path of a program: beside `here`, in PATH, or where CUDA's tools usually lie; empty if it is nowhere.
std::string find_program(const std::string& name, const std::string& here);

}  // namespace halocline::acceptance
