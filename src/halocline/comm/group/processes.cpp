// SPDX-License-Identifier: Apache-2.0
/// @file
/// Linux answers by system calls and /proc.

#include "halocline/comm/group/processes.hpp"

#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace halocline::comm::detail {

ProcessRecord this_process() noexcept {
  ProcessRecord record;
  record.number = getpid();
#if defined(__linux__)
  struct stat space = {};
  if (stat("/proc/self/ns/pid", &space) == 0) record.space = space.st_ino;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    for (std::size_t cpu = 0; cpu < 64 * record.cpus.size(); ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) record.cpus[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
    }
  }
#endif
  return record;
}

std::int64_t number_of(const ProcessRecord& other, const ProcessRecord& mine) noexcept {
  return other.space != 0 && other.space == mine.space ? other.number : 0;
}

bool has_ended(std::int64_t number) noexcept {
  if (number <= 0) return false;
  if (kill(static_cast<pid_t>(number), 0) != 0) return errno == ESRCH;
  // "NUMBER (name) STATE ...", where the name may hold anything, brackets included.
  char path[64], text[512];
  std::snprintf(path, sizeof(path), "/proc/%lld/stat", static_cast<long long>(number));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t length = read(file, text, sizeof(text) - 1);
  close(file);
  if (length <= 0) return false;
  text[length] = '\0';
  const char* const name_end = std::strrchr(text, ')');
  return name_end != nullptr && name_end[1] == ' ' && (name_end[2] == 'Z' || name_end[2] == 'X');
}

int cpus_of(std::span<const ProcessRecord> processes) noexcept {
  std::array<std::uint64_t, 16> all{};
  int count = 0;
  for (std::size_t word = 0; word < all.size(); ++word) {
    for (const ProcessRecord& process : processes) all[word] |= process.cpus[word];
    count += std::popcount(all[word]);
  }
  return count;
}

}  // namespace halocline::comm::detail
