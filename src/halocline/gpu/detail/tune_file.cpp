// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/detail/tune_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/core/new_file.hpp"

namespace halocline::gpu::detail {

namespace {

using core::FileError;

constexpr std::int64_t largest_file = std::int64_t{256} << 20;  // an entry of the cache has some hundred bytes

std::string reason(int code) { return std::generic_category().message(code); }

class Descriptor {
public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { static_cast<void>(close()); }

  int number() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }
  /// @returns 0, or the error number
  int close() noexcept {
    const int number = release();
    return number < 0 || ::close(number) == 0 ? 0 : errno;
  }

private:
  int number_;
};

/// The file that the path links to, or the path itself. So a link stays a link.
std::string target_of(const std::string& path) {
  std::error_code failed;
  const auto target = std::filesystem::canonical(path, failed);
  return failed ? path : target.string();
}

void make_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw FileError(path, "",
                    fmt::format("the folder cannot be made ({}); set HALOCLINE_TUNE_CACHE to a file in one that "
                                "can be written",
                                failed.message()));
}

/// An exclusive lock on `<path>.lock`, held for the lifetime of the object.
class Lock {
public:
  Lock(const std::string& path, std::chrono::milliseconds patience) : name_(target_of(path) + ".lock"), file_(-1) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    std::chrono::microseconds pause{200};
    for (;;) {
      const int number = ::open(name_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
      if (number < 0)
        throw FileError(path, "",
                        fmt::format("cannot be written: {} does not open ({}); set HALOCLINE_TUNE_CACHE to a "
                                    "file in a folder that can be written, or HALOCLINE_TUNE=read-only",
                                    name_, reason(errno)));
      Descriptor opened(number);
      if (::flock(number, LOCK_EX | LOCK_NB) == 0) {
        if (is_still_there(number)) {
          file_ = opened.release();
          return;
        }
        continue;
      }
      if (errno != EWOULDBLOCK && errno != EINTR)
        throw FileError(path, "",
                        fmt::format("cannot be locked ({}); set HALOCLINE_TUNE_CACHE to a file on a file system "
                                    "with locks",
                                    reason(errno)));
      if (std::chrono::steady_clock::now() > deadline)
        throw FileError(path, "",
                        fmt::format("another process holds {}; find it with `fuser {}`, or set "
                                    "HALOCLINE_TUNE_CACHE to another file",
                                    name_, name_));
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::microseconds{4000});
    }
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (file_ >= 0) ::close(file_);
  }

private:
  /// Between open() and flock() another process may have removed the lock file, and a third may have made a new one.
  bool is_still_there(int number) const noexcept {
    struct stat mine{}, there{};
    return ::fstat(number, &mine) == 0 && ::stat(name_.c_str(), &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
  }

  std::string name_;
  int file_;
};

}  // namespace

FileStamp stamp_of(const std::string& path) noexcept {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {.there = true,
          .device = static_cast<std::uint64_t>(status.st_dev),
          .inode = static_cast<std::uint64_t>(status.st_ino),
          .size = static_cast<std::int64_t>(status.st_size),
          .seconds = static_cast<std::int64_t>(status.st_mtim.tv_sec),
          .nanoseconds = static_cast<std::int64_t>(status.st_mtim.tv_nsec)};
}

TuneTable read_tune_file(const std::string& path) {
  // O_NONBLOCK: opening a pipe without a writer must not hang; a regular file is not affected.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    throw FileError(path, "",
                    fmt::format("cannot be read ({}); set HALOCLINE_TUNE_CACHE to a file that can be", reason(errno)));
  }
  struct stat status{};
  if (::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode))
    throw FileError(path, "", "is not a regular file; set HALOCLINE_TUNE_CACHE to the path of a file");
  if (status.st_size > largest_file)
    throw FileError(path, "",
                    fmt::format("has {} bytes, more than any tune cache; set HALOCLINE_TUNE_CACHE to another file",
                                status.st_size));
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file.number(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError(path, "", fmt::format("cannot be read ({})", reason(errno)));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return parse_tune_text(text, path);
}

void write_tune_file(const std::string& path, const TuneTable& table) {
  const std::string text = tune_text(table);
  const std::string target = target_of(path);
  const core::NewPartial made = core::create_partial(target);
  const int failed = errno;
  Descriptor file(made.number);
  const std::string partial = core::partial_name(target, made.digits);
  const auto fail = [&](const char* what, int code) {
    if (made.number >= 0) ::unlink(partial.c_str());
    throw FileError(path, "",
                    fmt::format("cannot be written: the new file beside it {} ({}); what was there is unchanged", what,
                                reason(code)));
  };
  if (file.number() < 0) fail("does not open", failed);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t put = ::write(file.number(), text.data() + written, text.size() - written);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail("takes no more", put < 0 ? errno : ENOSPC);
    written += static_cast<std::size_t>(put);
  }
  int code = ::fsync(file.number()) == 0 ? 0 : errno;
  if (code == EINVAL || code == EROFS) code = 0;  // the file system cannot sync
  if (const int late = file.close(); code == 0) code = late;
  if (code != 0) fail("did not reach the disk", code);
  if (::rename(partial.c_str(), target.c_str()) != 0) fail("cannot take its name", errno);
  // Sync the folder, so that the new name survives a power cut. Some file systems cannot sync folders.
  const std::string folder = std::filesystem::path(target).parent_path().string();
  const Descriptor above(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (above.number() >= 0) static_cast<void>(::fsync(above.number()));
}

void change_tune_file(const std::string& path, std::chrono::milliseconds patience,
                      const std::function<bool(TuneTable&)>& change) {
  make_folder_of(path);
  const Lock lock(path, patience);
  TuneTable table = read_tune_file(path);
  if (change(table)) write_tune_file(path, table);
}

int remove_tune_file(const std::string& path, std::chrono::milliseconds patience) {
  if (!stamp_of(path).there) return 0;
  const Lock lock(path, patience);
  int held = 0;
  try {
    held = static_cast<int>(read_tune_file(path).size());
  } catch (const FileError&) {
    // Damaged files may be removed too.
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    throw FileError(path, "",
                    fmt::format("cannot be removed ({}); check the permissions of its folder", reason(errno)));
  return held;
}

}  // namespace halocline::gpu::detail
