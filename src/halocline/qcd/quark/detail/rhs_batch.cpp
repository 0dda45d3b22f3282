// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/rhs_batch.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace halocline::qcd {

std::int64_t usable_memory(const comm::Communicator& group) {
  std::int64_t bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  // The limit of the control group, if there is one: a number, or the word "max".
  for (const char* limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::int64_t most = 0;
    if (std::ifstream(limit) >> most && most > 0) bytes = std::min(bytes, most);
  }
  return bytes / std::max(1, group.split_by_node().size());
}

int automatic_batch(const lattice::Geometry4& geometry, int points) {
  const auto& group = geometry.communicator();
  const std::int64_t room = usable_memory(group) * 2 / 5;
  int columns = 1;
  for (const int candidate : {2, 3, 4, 6, 12})
    if (candidate * points * solve_bytes * geometry.local_volume() <= room) columns = candidate;
  std::array<double, 1> least{static_cast<double>(columns)};
  group.min(least);
  return static_cast<int>(least[0]);
}

}  // namespace halocline::qcd
