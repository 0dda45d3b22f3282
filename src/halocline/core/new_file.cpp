// SPDX-License-Identifier: Apache-2.0

#include "halocline/core/new_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halocline::core {
namespace {

constexpr std::size_t most_of_a_name = 200;
constexpr std::int64_t seconds_until_abandoned = 600;
constexpr std::string_view ending = ".partial";
constexpr std::string_view hex_digits = "0123456789abcdef";

PartialDigits random_digits() {
  std::random_device device;
  PartialDigits digits{};
  for (char& digit : digits) digit = hex_digits[device() % hex_digits.size()];
  return digits;
}

/// False if another process holds the lock; true also if the file system does not support locks.
bool take(int number) noexcept { return ::flock(number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

void remove_if_abandoned(const std::string& partial) noexcept {
  const int number = ::open(partial.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (number < 0) return;
  struct stat status{};
  if (::fstat(number, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid()) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t age = std::chrono::duration_cast<std::chrono::seconds>(now).count() - status.st_mtim.tv_sec;
    if (age > seconds_until_abandoned && take(number)) ::unlink(partial.c_str());
  }
  ::close(number);
}

void remove_abandoned(const std::string& path) {
  // A partial file's name consists of the head, eight digits and the ending.
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string sample = std::filesystem::path(partial_name(path, {})).filename().string();
  const std::string_view head(sample.data(), sample.size() - PartialDigits{}.size() - ending.size());
  std::error_code failed;
  std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name.size() != sample.size() || !name.starts_with(head) || !name.ends_with(ending)) continue;
    const std::string_view digits(name.data() + head.size(), PartialDigits{}.size());
    if (digits.find_first_not_of(hex_digits) == std::string_view::npos) remove_if_abandoned(entry->path().string());
  }
}

}  // namespace

std::string partial_name(const std::string& path, const PartialDigits& digits) {
  const std::size_t slash = path.rfind('/');
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  std::string name = path.substr(0, begin) + path.substr(begin, most_of_a_name);
  name += '.';
  name.append(digits.data(), digits.size());
  return name.append(ending);
}

NewPartial create_partial(const std::string& path) noexcept {
  try {
    remove_abandoned(path);
    for (;;) {
      NewPartial made{.digits = random_digits()};
      const std::string name = partial_name(path, made.digits);
      made.number = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
      if (made.number < 0 && errno == EEXIST) continue;
      if (made.number >= 0) static_cast<void>(take(made.number));
      return made;
    }
  } catch (...) {  // no memory, or no random numbers
    errno = ENOMEM;
    return {};
  }
}

int open_partial(const std::string& path, const PartialDigits& digits) noexcept {
  try {
    return ::open(partial_name(path, digits).c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  } catch (...) {
    errno = ENOMEM;
    return -1;
  }
}

}  // namespace halocline::core
