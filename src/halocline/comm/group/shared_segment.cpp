// SPDX-License-Identifier: Apache-2.0
/// @file
/// shm_open, posix_fallocate and mmap. An error of one rank is raised on all ranks.

#include "halocline/comm/group/shared_segment.hpp"

#include "halocline/core/error.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace halocline::comm::detail {
namespace {

constexpr std::size_t page = 4096;
using Name = std::array<char, 64>;

/// An open file descriptor, closed at the end.
class File {
public:
  File() = default;
  explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int descriptor() const noexcept { return descriptor_; }

private:
  int descriptor_ = -1;
};

/// A name in the file system of shared memory, removed at the end.
struct TemporaryName {
  Name name{};
  bool made = false;
  TemporaryName() = default;
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  ~TemporaryName() {
    if (made) shm_unlink(name.data());
  }
};

class Mapping final : public SharedSegment {
public:
  Mapping(std::byte* begin, std::vector<std::size_t> bounds) : begin_(begin), bounds_(std::move(bounds)) {}
  ~Mapping() override { munmap(begin_, bounds_.back()); }
  std::byte* part(int rank) const noexcept override { return begin_ + bounds_[static_cast<std::size_t>(rank)]; }

private:
  std::byte* begin_;
  std::vector<std::size_t> bounds_;  // shape (ranks + 1,): where the parts begin, and the end of the last
};

[[noreturn]] void refuse(const char* call, int error, std::size_t bytes) {
  std::string hint;
  if (error == ENOSPC) hint = "; enlarge /dev/shm (in a container: --shm-size), or choose another transport";
  if (error == ENOENT)
    hint = "; the ranks do not see the same /dev/shm: let them share it, or choose another transport";
  throw core::Error("shared memory of " + std::to_string(bytes) + " bytes cannot be allocated: " + call + ": " +
                    std::generic_category().message(error) + hint);
}

/// Makes an empty segment under an unused name.
File make_segment(TemporaryName& name, std::size_t bytes) {
  auto draw = static_cast<unsigned long long>(std::chrono::steady_clock::now().time_since_epoch().count());
  for (int attempt = 0; attempt < 100; ++attempt, ++draw) {
    std::snprintf(name.name.data(), name.name.size(), "/halocline-%lld-%llx", static_cast<long long>(getpid()), draw);
    File file(shm_open(name.name.data(), O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR));
    if (file.descriptor() < 0 && errno == EEXIST) continue;
    if (file.descriptor() < 0) refuse("shm_open", errno, bytes);
    name.made = true;
    if (ftruncate(file.descriptor(), static_cast<off_t>(bytes)) != 0) refuse("ftruncate", errno, bytes);
    return file;
  }
  refuse("shm_open", EEXIST, bytes);
}

File open_segment(const Name& name, std::size_t bytes) {
  File file(shm_open(name.data(), O_RDWR, 0));
  if (file.descriptor() < 0) refuse("shm_open", errno, bytes);
  struct stat status = {};
  if (fstat(file.descriptor(), &status) != 0) refuse("fstat", errno, bytes);
  if (static_cast<std::size_t>(status.st_size) != bytes) refuse("shm_open", ENOENT, bytes);
  return file;
}

void reserve(const File& file, std::size_t begin, std::size_t end, std::size_t bytes) {
  if (begin == end) return;
  int error = 0;
  do {
    error = posix_fallocate(file.descriptor(), static_cast<off_t>(begin), static_cast<off_t>(end - begin));
  } while (error == EINTR);
  if (error != 0) refuse("posix_fallocate", error, bytes);
}

/// Where the parts begin, and the end, from the sizes that the ranks ask for.
std::vector<std::size_t> bounds_of(std::span<const std::uint64_t> sizes) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<off_t>::max()) - page;
  std::vector<std::size_t> bounds{0};
  for (const std::uint64_t size : sizes) {
    if (size > most - bounds.back()) refuse("mmap", ENOMEM, size);  // all ranks alike: they know the same sizes
    bounds.push_back((bounds.back() + size + page - 1) / page * page);
  }
  if (bounds.back() == 0) bounds.back() = page;  // mmap refuses an empty mapping
  return bounds;
}

}  // namespace

std::unique_ptr<SharedSegment> map_shared_memory(const Communicator& group, std::size_t bytes) {
  const auto me = static_cast<std::size_t>(group.rank());
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(group.size()));
  const std::uint64_t mine = bytes;
  group.backend().all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(sizes)));
  std::vector<std::size_t> bounds = bounds_of(sizes);
  const std::size_t all = bounds.back();

  TemporaryName name;  // removed when this function ends, whichever way
  File file;
  on_every_rank(group, [&] {
    if (me == 0) file = make_segment(name, all);
  });
  Name shared_name = name.name;
  group.broadcast(std::as_writable_bytes(std::span(shared_name)), 0);
  std::unique_ptr<Mapping> mapping;
  on_every_rank(group, [&] {
    if (me != 0) file = open_segment(shared_name, all);
    reserve(file, bounds[me], bounds[me + 1], all);
    void* const begin = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
    if (begin == MAP_FAILED) refuse("mmap", errno, all);
    mapping = std::make_unique<Mapping>(static_cast<std::byte*>(begin), std::move(bounds));
  });
  return mapping;
}

}  // namespace halocline::comm::detail
