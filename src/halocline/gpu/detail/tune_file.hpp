// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The file of the tune cache: its text, and how many processes change it without losing a line.
///
/// The text is JSON with one entry a line, sorted by key, so that people, `grep` and `diff` can read it:
///
///     {"format": "halocline tune cache", "version": 1, "entries": [
///      {"device": "NVIDIA H200, 9.0", "driver": ..., "kernel": ..., "problem": ..., "kernel_hash": ..., "block":
///      [...],
///       ...},
///     ]}
///
/// A change is read, merge, write, under an exclusive lock (flock) on the file `<path>.lock` beside it, which the
/// kernel releases when a process dies. What is written goes to a new file beside it (core/new_file.hpp), to the disk,
/// and takes its name by rename(): a reader, who needs no lock, sees the old file or the new one.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "halocline/gpu/tuning.hpp"

namespace halocline::gpu::detail {

using TuneTable = std::map<TuneKey, TuneEntry>;

std::string tune_text(const TuneTable& table);

/// @param path  for sentences
/// @throws FileError  with the position, where this is not such a text
TuneTable parse_tune_text(const std::string& text, const std::string& path);

/// Tells whether a file is still the one that was read.
struct FileStamp {
  bool there = false;
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = 0, seconds = 0, nanoseconds = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp stamp_of(const std::string& path) noexcept;

/// @returns an empty table where there is no file
/// @throws FileError  it cannot be read, or is damaged
TuneTable read_tune_file(const std::string& path);

/// Writes the file whole or not at all, without a lock. @throws FileError
void write_tune_file(const std::string& path, const TuneTable& table);

/// Under the lock: reads the file, lets `change` work on its table, and writes it where that gives true.
/// @param patience  how long to wait for the lock: a process that was stopped may hold it for ever
/// @throws FileError  the folder or the lock cannot be had, the file is damaged (it is left alone) or cannot be written
void change_tune_file(const std::string& path, std::chrono::milliseconds patience,
                      const std::function<bool(TuneTable&)>& change);

/// Under the lock: removes the file, whatever it holds, and returns how many entries that were, 0 for a damaged file.
/// @throws FileError
int remove_tune_file(const std::string& path, std::chrono::milliseconds patience);

}  // namespace halocline::gpu::detail
