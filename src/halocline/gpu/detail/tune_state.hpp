// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a TuneCache knows, behind its lock.

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "halocline/gpu/detail/tune_file.hpp"
#include "halocline/gpu/tuning.hpp"

namespace halocline::gpu {

struct TuneCache::State {
  /// Sentences that users should see, each once.
  void warn(const std::string& sentence);
  /// Reads the file where it is another than when it was last read.
  void read(const std::string& path);

  mutable std::mutex mutex;                ///< of all below but `measuring`
  detail::TuneTable mine;                  ///< kept by this process
  detail::TuneTable unwritten;             ///< of these, what is not in the file yet
  detail::TuneTable file;                  ///< as it was last read
  std::optional<detail::FileStamp> stamp;  ///< of that
  detail::TuneTable defaults;
  detail::TuneTable defaults_for_any_driver;  ///< the same without the driver
  bool cannot_write = false;                  ///< the last attempt failed
  std::vector<std::string> warnings;
  std::set<std::string> said;

  /// Held while a problem is measured, so that threads do not disturb each other. Recursive: what is measured may have
  /// problems of its own.
  std::recursive_mutex measuring;
};

}  // namespace halocline::gpu
