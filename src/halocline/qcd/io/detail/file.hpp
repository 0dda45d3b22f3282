// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A file that every rank reads at its own offsets, and a file that appears whole or not at all.
///
/// Reading uses pread, which has no shared position, so ranks and threads do not disturb each other. Writing goes to a
/// sibling of PATH (core/new_file.hpp) that rank 0 creates at its final size. All ranks write their parts into the
/// sibling and sync. Only when all of them have succeeded does rank 0 rename it over PATH. Any failure (a full disk
/// shows at write or sync) becomes an error on all ranks and the sibling is removed, so PATH holds either its previous
/// content or the new file.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "halocline/comm/group/communicator.hpp"

namespace halocline::qcd::io::detail {

/// Owns a POSIX file descriptor.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int number() const noexcept { return number_; }
  /// Closes now. @returns 0, or the errno of a write that failed late
  int close() noexcept;

private:
  int number_ = -1;
};

/// A regular file, open for reading. Not collective.
class InputFile {
public:
  /// @throws FileError  when it is missing, no regular file, unreadable or empty
  explicit InputFile(std::string path);

  const std::string& path() const noexcept { return path_; }
  std::int64_t size() const noexcept { return size_; }

  /// Fills `out` from `offset` on. @param record  the data's name, for the error
  /// @throws FileError  when the file is too short (the error names both sizes), or a system call fails
  void read(std::int64_t offset, std::span<std::byte> out, const std::string& record) const;

  /// At most `limit` bytes from `offset`, fewer at the end of the file, as text.
  std::string text(std::int64_t offset, std::int64_t limit, const std::string& record) const;

private:
  std::string path_;
  Descriptor file_;
  std::int64_t size_ = 0;
};

/// The sibling that becomes PATH.
class PartialFile {
public:
  /// Rank 0 creates the sibling with `size` bytes; the others open it.
  /// @throws FileError  on every rank.  Collective: yes.
  PartialFile(const comm::Communicator& group, std::string path, std::int64_t size);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  /// Removes the sibling unless it was published.
  ~PartialFile();

  /// @throws FileError  on this rank only; wrap in comm::on_every_rank.  Collective: no.
  void write(std::int64_t offset, std::span<const std::byte> bytes);

  /// Waits until the bytes are on the disk and closes. @throws FileError  on this rank only.  Collective: no.
  void sync();

  /// Gives the file its name. Every rank must have synced without error.
  /// @throws FileError  on every rank.  Collective: yes.
  void publish();

private:
  comm::Communicator group_;
  std::string path_;
  std::string partial_;
  bool remove_ = false;
  Descriptor file_;
};

}  // namespace halocline::qcd::io::detail
