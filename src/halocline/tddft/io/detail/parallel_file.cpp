// SPDX-License-Identifier: Apache-2.0

#include "halocline/tddft/io/detail/parallel_file.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/new_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

namespace halocline::tddft::detail {
namespace {

using core::FileError;

std::string system_says() { return std::system_category().message(errno); }

/// One call of pread or pwrite transfers at most 2 GiB.
constexpr std::size_t most_at_once = std::size_t{1} << 30;

}  // namespace

FileHandle::FileHandle(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
  if (number_ < 0) throw FileError(path, "", fmt::format("cannot be opened ({})", system_says()));
}

FileHandle::FileHandle(FileHandle&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

FileHandle::~FileHandle() {
  if (number_ >= 0) ::close(number_);
}

ReadFile::ReadFile(std::string path) : path_(std::move(path)) {
  // Opening a pipe without a writer must not block; the flag does not affect regular files.
  handle_ = FileHandle(path_, O_RDONLY | O_NONBLOCK);
  struct stat status{};
  if (::fstat(handle_.number(), &status) != 0)
    throw FileError(path_, "", fmt::format("cannot be looked at ({})", system_says()));
  if (!S_ISREG(status.st_mode)) throw FileError(path_, "", "is no regular file; name the file itself");
  size_ = static_cast<std::int64_t>(status.st_size);
}

void ReadFile::read(std::int64_t offset, std::span<std::byte> bytes, const std::string& what) const {
  const auto wanted = static_cast<std::int64_t>(bytes.size());
  if (offset < 0 || offset > size_ || wanted > size_ - offset)
    throw FileError(path_, what,
                    fmt::format("{} bytes from byte {} on are expected, but the file ends at byte {}: it is truncated "
                                "or foreign; take another copy",
                                wanted, offset, size_));
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t most = std::min(bytes.size() - done, most_at_once);
    const ssize_t got =
        ::pread(handle_.number(), bytes.data() + done, most, static_cast<off_t>(offset) + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw FileError(path_, what,
                      fmt::format("cannot be read ({})", got < 0 ? system_says() : "it has become shorter"));
    done += static_cast<std::size_t>(got);
  }
}

WriteFile::WriteFile(const comm::Communicator& group, std::string path, std::int64_t size)
    : group_(group), path_(std::move(path)) {
  core::PartialDigits digits{};
  const auto hold = [&](int number) {
    if (number < 0)
      throw FileError(path_, "",
                      fmt::format("cannot be written: a new file in its folder does not open ({})", system_says()));
    handle_ = FileHandle(number);
    temporary_ = core::partial_name(path_, digits);
  };
  try {
    comm::on_every_rank(group_, [&] {
      if (group_.rank() != 0) return;
      std::error_code ignored;
      if (std::filesystem::is_directory(path_, ignored)) throw FileError(path_, "", "is a folder; name a file");
      if (std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored))
        throw FileError(path_, "", "exists and is not a regular file; choose another name");
      const core::NewPartial made = core::create_partial(path_);
      digits = made.digits;
      hold(made.number);
      made_ = true;
      if (::ftruncate(handle_.number(), static_cast<off_t>(size)) != 0)
        throw FileError(path_, "", fmt::format("{} bytes do not fit ({}); make room", size, system_says()));
    });
    group_.broadcast(std::as_writable_bytes(std::span(digits)), 0);
    comm::on_every_rank(group_, [&] {
      if (group_.rank() != 0) hold(core::open_partial(path_, digits));
    });
  } catch (...) {
    if (made_) ::unlink(temporary_.c_str());
    throw;
  }
}

WriteFile::~WriteFile() {
  if (made_) ::unlink(temporary_.c_str());
}

void WriteFile::write(std::int64_t offset, std::span<const std::byte> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t most = std::min(bytes.size() - done, most_at_once);
    const ssize_t put =
        ::pwrite(handle_.number(), bytes.data() + done, most, static_cast<off_t>(offset) + static_cast<off_t>(done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0)
      throw FileError(path_, "", fmt::format("cannot be written ({}); what it held before is kept", system_says()));
    done += static_cast<std::size_t>(put);
  }
}

void WriteFile::finish() {
  comm::on_every_rank(group_, [&] {
    // Some file systems cannot sync, and report EINVAL.
    if (::fsync(handle_.number()) != 0 && errno != EINVAL && errno != EROFS)
      throw FileError(path_, "",
                      fmt::format("did not reach the disk ({}); what it held before is kept", system_says()));
  });
  comm::on_every_rank(group_, [&] {
    if (group_.rank() != 0) return;
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
      throw FileError(path_, "", fmt::format("cannot be given its name ({})", system_says()));
    made_ = false;
    const std::string folder = std::filesystem::path(path_).parent_path().string();
    try {  // sync the folder, so that the name survives a power cut; a folder that cannot be opened is no error
      const FileHandle opened(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
      static_cast<void>(::fsync(opened.number()));
    } catch (const FileError&) {
      return;
    }
  });
}

}  // namespace halocline::tddft::detail
