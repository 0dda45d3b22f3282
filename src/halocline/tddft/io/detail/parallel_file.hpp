// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// One file for many processes: each process reads or writes its own bytes at their offsets.
///
/// A new file is written beside PATH (core/new_file.hpp). It takes the name PATH only after every process has written
/// and synced its part without error, so that a crash or a full disk leaves the previous content of PATH.

#include "halocline/comm/group/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace halocline::tddft::detail {

/// An open file of the operating system, closed in the destructor. Movable.
class FileHandle {
public:
  FileHandle() = default;
  /// @param flags  as of open(2). @throws FileError
  FileHandle(const std::string& path, int flags);
  /// Takes over a descriptor; -1: none.
  explicit FileHandle(int number) noexcept : number_(number) {}
  FileHandle(FileHandle&& other) noexcept;
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();

  int number() const noexcept { return number_; }
  bool is_open() const noexcept { return number_ >= 0; }

private:
  int number_ = -1;
};

/// A file that one process reads on its own.
class ReadFile {
public:
  /// @throws FileError  missing, not readable, no regular file
  explicit ReadFile(std::string path);
  const std::string& path() const noexcept { return path_; }
  std::int64_t size() const noexcept { return size_; }
  /// @param what  name of the record, for the error. @throws FileError  the file is too short; gives both lengths
  void read(std::int64_t offset, std::span<std::byte> bytes, const std::string& what) const;

private:
  std::string path_;
  FileHandle handle_;
  std::int64_t size_ = 0;
};

/// A file that a group of processes writes.
class WriteFile {
public:
  /// Creates the new file with its final size. @throws FileError  on every rank. Collective: yes.
  WriteFile(const comm::Communicator& group, std::string path, std::int64_t size);
  WriteFile(const WriteFile&) = delete;
  WriteFile& operator=(const WriteFile&) = delete;
  /// Removes the new file unless it has been finished.
  ~WriteFile();

  /// Collective: no. @throws FileError  on this rank only
  void write(std::int64_t offset, std::span<const std::byte> bytes);
  /// Syncs on every rank, then renames. Call it when every rank has written without error.
  /// @throws FileError  on every rank. Collective: yes.
  void finish();

private:
  comm::Communicator group_;
  std::string path_, temporary_;
  FileHandle handle_;
  bool made_ = false;  ///< created by this rank, and not yet renamed
};

}  // namespace halocline::tddft::detail
