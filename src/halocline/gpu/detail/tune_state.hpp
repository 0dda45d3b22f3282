// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The contents of a TuneCache, behind a lock.

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "halocline/gpu/detail/tune_file.hpp"
#include "halocline/gpu/tuning.hpp"

namespace halocline::gpu {

struct TuneCache::State {
  /// Keeps a warning for the user, each once.
  void warn(const std::string& sentence);
  /// Reads the file if it has changed since it was last read.
  void read(const std::string& path);

  mutable std::mutex mutex;                ///< protects all members below except `measuring`
  detail::TuneTable mine;                  ///< kept by this process
  detail::TuneTable unwritten;             ///< the part of `mine` that is not in the file yet
  detail::TuneTable file;                  ///< the file as it was last read
  std::optional<detail::FileStamp> stamp;  ///< state of the file when it was last read
  detail::TuneTable defaults;
  detail::TuneTable defaults_for_any_driver;  ///< `defaults` with the driver removed from the keys
  bool cannot_write = false;                  ///< the last attempt failed
  std::vector<std::string> warnings;
  std::set<std::string> said;

  /// Held while a problem is measured, so that threads do not disturb each other. Recursive: measured code may tune
  /// problems of its own.
  std::recursive_mutex measuring;
};

}  // namespace halocline::gpu
