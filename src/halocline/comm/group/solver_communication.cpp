// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/solver_communication.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace halocline::comm {

void set_solver_communication(const Communicator& group, const SolverCommunication& settings) {
  on_every_rank(group, [&] {
    if (settings.buffers != 1 && settings.buffers != 2)
      throw core::InvalidArgument(
          fmt::format("{} buffers were asked for the exchanges of solvers; give 1 or 2", settings.buffers));
    const auto& grid = settings.interface_grid;
    if (settings.interfaces.size() != 2 * grid.size())
      throw core::InvalidArgument(fmt::format("{} network interfaces were given for a process grid of {} axes; give "
                                              "one for each of its faces",
                                              settings.interfaces.size(), grid.size()));
    const int processes = std::accumulate(grid.begin(), grid.end(), 1, std::multiplies<>());
    if (!grid.empty() && processes != group.size())
      throw core::InvalidArgument(
          fmt::format("network interfaces were given for a process grid {} of {} processes, but the group has {}", grid,
                      processes, group.size()));
  });
  const std::string mine = fmt::format(
      "transport \"{}\", {} buffers, posting by {}, sums \"{}\", interfaces for grid {}{}{}", settings.transport,
      settings.buffers, settings.posting_by_all ? "all threads" : "one thread", settings.sums, settings.interface_grid,
      settings.cache_injection ? "" : ", no cache injection", settings.barrier_before_sums ? ", barriers" : "");
  const std::vector<std::byte> all = group.allgather(std::as_bytes(std::span(mine)));
  on_every_rank(group, [&] {
    const auto own = std::as_bytes(std::span(mine));
    if (all.size() != own.size() * static_cast<std::size_t>(group.size()) ||
        !std::equal(own.begin(), own.end(), all.begin()))
      throw core::InvalidArgument("the ranks chose different ways for solvers to communicate, here " + mine +
                                  "; give all the same");
  });
  *group.backend().solver_communication() = settings;
}

const SolverCommunication& solver_communication(const Communicator& group) noexcept {
  return *group.backend().solver_communication();
}

}  // namespace halocline::comm
