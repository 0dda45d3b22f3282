// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The file of the tune cache: its text, and how several processes change it without losing an entry.
///
/// The text is JSON with one entry on each line, sorted by key, so that people, `grep` and `diff` can read it:
///
///     {"format": "halocline tune cache", "version": 1, "entries": [
///      {"device": "NVIDIA H200, 9.0", "driver": ..., "kernel": ..., "problem": ..., "kernel_hash": ..., "block":
///      [...],
///       ...},
///     ]}
///
/// A change reads the file, merges, and writes, under an exclusive lock (flock) on the file `<path>.lock` beside it.
/// The kernel releases the lock when a process dies. The new text goes to a new file beside the old one
/// (core/new_file.hpp), is synced to disk, and takes its name by rename(). A reader needs no lock: it sees either the
/// old file or the new one.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "halocline/gpu/tuning.hpp"

namespace halocline::gpu::detail {

using TuneTable = std::map<TuneKey, TuneEntry>;

std::string tune_text(const TuneTable& table);

/// @param path  for error messages
/// @throws FileError  the text is not a tune cache; gives the position of the error
TuneTable parse_tune_text(const std::string& text, const std::string& path);

/// Identifies the state of a file, to detect that it has changed since it was read.
struct FileStamp {
  bool there = false;
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = 0, seconds = 0, nanoseconds = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp stamp_of(const std::string& path) noexcept;

/// @returns an empty table if there is no file
/// @throws FileError  the file cannot be read, or is damaged
TuneTable read_tune_file(const std::string& path);

/// Writes the file whole or not at all, without a lock. @throws FileError
void write_tune_file(const std::string& path, const TuneTable& table);

/// Under the lock: reads the file, calls `change` on its table, and writes the table if `change` returns true.
/// @param patience  how long to wait for the lock: a stopped process may hold it for ever
/// @throws FileError  the folder or the lock is unavailable, the file is damaged (it is left alone) or cannot be
///                    written
void change_tune_file(const std::string& path, std::chrono::milliseconds patience,
                      const std::function<bool(TuneTable&)>& change);

/// Under the lock: removes the file. Returns how many entries it held, 0 for a damaged file.
/// @throws FileError
int remove_tune_file(const std::string& path, std::chrono::milliseconds patience);

}  // namespace halocline::gpu::detail
