// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/io/detail/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include "halocline/core/error.hpp"
#include "halocline/core/new_file.hpp"

namespace halocline::qcd::io::detail {

namespace {

using core::FileError;

std::string reason(int code) { return std::generic_category().message(code); }

// Linux moves at most 2^31 - 4096 bytes a call.
constexpr std::size_t largest_transfer = std::size_t{1} << 30;

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

Descriptor::~Descriptor() { close(); }

int Descriptor::close() noexcept {
  if (number_ < 0) return 0;
  return ::close(std::exchange(number_, -1)) == 0 ? 0 : errno;
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  // O_NONBLOCK: opening a pipe without a writer must not hang. The flag does not affect regular files.
  file_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file_.number() < 0)
    throw FileError(path_, "", fmt::format("cannot be opened for reading ({}); check the path", reason(errno)));
  struct stat status{};
  if (::fstat(file_.number(), &status) != 0)
    throw FileError(path_, "", fmt::format("cannot be examined ({})", reason(errno)));
  if (!S_ISREG(status.st_mode)) throw FileError(path_, "", "is not a regular file; give the path of the file itself");
  size_ = static_cast<std::int64_t>(status.st_size);
  if (size_ == 0) throw FileError(path_, "", "is empty (0 bytes); fetch or write it again");
}

void InputFile::read(std::int64_t offset, std::span<std::byte> out, const std::string& record) const {
  const auto wanted = static_cast<std::int64_t>(out.size());
  if (offset < 0 || offset > size_ || wanted > size_ - offset)
    throw FileError(path_, record,
                    fmt::format("needs {} bytes from byte {} on, but the file has {} bytes: it is truncated; fetch it "
                                "again",
                                wanted, offset, size_));
  while (!out.empty()) {
    const ssize_t got = ::pread(file_.number(), out.data(), std::min(out.size(), largest_transfer), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError(path_, record, fmt::format("cannot be read at byte {} ({})", offset, reason(errno)));
    if (got == 0)
      throw FileError(path_, record,
                      fmt::format("ends at byte {} although it had {} when it was opened: somebody is "
                                  "writing it; try again when they are done",
                                  offset, size_));
    out = out.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

std::string InputFile::text(std::int64_t offset, std::int64_t limit, const std::string& record) const {
  std::string out(static_cast<std::size_t>(std::clamp<std::int64_t>(size_ - offset, 0, limit)), '\0');
  read(offset, std::as_writable_bytes(std::span<char>(out.data(), out.size())), record);
  return out;
}

PartialFile::PartialFile(const comm::Communicator& group, std::string path, std::int64_t size)
    : group_(group), path_(std::move(path)) {
  core::PartialDigits digits{};
  const auto hold = [&](int number) {
    file_ = Descriptor(number);
    if (number < 0)
      throw FileError(
          path_, "",
          fmt::format(
              "cannot be written: a new file in its folder does not open ({}); check the folder and its permissions",
              reason(errno)));
    partial_ = core::partial_name(path_, digits);
  };
  try {
    comm::on_every_rank(group_, [&] {
      if (group_.rank() != 0) return;
      struct stat status{};
      if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        throw FileError(path_, "", "exists and is not a regular file; choose another name");
      const core::NewPartial made = core::create_partial(path_);
      digits = made.digits;
      hold(made.number);
      remove_ = true;
      if (::ftruncate(file_.number(), static_cast<off_t>(size)) != 0)
        throw FileError(path_, "", fmt::format("cannot be written: no room for {} bytes ({})", size, reason(errno)));
    });
    group_.broadcast(std::as_writable_bytes(std::span(digits)), 0);
    comm::on_every_rank(group_, [&] {
      if (group_.rank() != 0) hold(core::open_partial(path_, digits));
    });
  } catch (...) {
    if (remove_) ::unlink(partial_.c_str());
    throw;
  }
}

PartialFile::~PartialFile() {
  if (remove_) ::unlink(partial_.c_str());
}

void PartialFile::write(std::int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(file_.number(), bytes.data(), std::min(bytes.size(), largest_transfer), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0)
      throw FileError(path_, "",
                      fmt::format("cannot be written at byte {} ({}); nothing was kept, make room and write "
                                  "it again",
                                  offset, put < 0 ? reason(errno) : "nothing was taken"));
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += put;
  }
}

void PartialFile::sync() {
  int code = ::fsync(file_.number()) == 0 ? 0 : errno;
  if (code == EINVAL || code == EROFS) code = 0;  // a file system that has nothing to sync
  const int late = file_.close();
  if (code == 0) code = late;
  if (code != 0)
    throw FileError(
        path_, "",
        fmt::format("did not reach the disk ({}); nothing was kept, make room and write it again", reason(code)));
}

void PartialFile::publish() {
  comm::on_every_rank(group_, [&] {
    if (group_.rank() != 0) return;
    if (::rename(partial_.c_str(), path_.c_str()) != 0)
      throw FileError(path_, "", fmt::format("cannot take its name from {} ({})", partial_, reason(errno)));
    remove_ = false;
    // Sync the folder too, so that the name survives a power cut. Some file systems cannot sync folders; that is no
    // error.
    const Descriptor folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.number() >= 0) static_cast<void>(::fsync(folder.number()));
  });
}

}  // namespace halocline::qcd::io::detail
