// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/exchange/solver_exchange.hpp"

#include "halocline/comm/exchange/transport_choice.hpp"
#include "halocline/comm/group/solver_communication.hpp"
#include "halocline/comm/group/time_limit.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace halocline::comm {
namespace {

HaloOptions options_of(const ProcessGrid& grid) {
  const Communicator& group = grid.communicator();
  const SolverCommunication& settings = solver_communication(group);
  HaloOptions options;
  options.buffering = settings.buffers == 1 ? Buffering::one : Buffering::two;
  options.time_limit = solve_time_limit(group);
  options.threads_where_concurrent = settings.posting_by_all;
  options.transport.cache_injection = settings.cache_injection;
  if (std::ranges::equal(grid.dims(), settings.interface_grid)) options.transport.interfaces = settings.interfaces;
  return options;
}

std::string_view wanted(const ProcessGrid& grid, std::string_view transport) {
  const std::string& set = solver_communication(grid.communicator()).transport;
  return set.empty() ? transport : std::string_view(set);
}

}  // namespace

std::string solver_transport(const ProcessGrid& grid, std::span<const std::size_t> face_bytes,
                             std::string_view transport) {
  const std::string_view name = wanted(grid, transport);
  return name == "auto" ? choose_transport(grid, face_bytes, options_of(grid)).name : std::string(name);
}

HaloExchange solver_exchange(const ProcessGrid& grid, std::span<const std::size_t> face_bytes,
                             std::string_view transport) {
  const HaloOptions options = options_of(grid);
  const std::string name = solver_transport(grid, face_bytes, transport);
  std::unique_ptr<Transport> made = make_transport(name, grid, options.transport);
  if (!options.transport.interfaces.empty() && made->name().find("utofu") == std::string_view::npos &&
      made->name() != "self")
    throw core::InvalidArgument("network interfaces were given, but transport " + std::string(made->name()) +
                                " does not choose among interfaces; take transport utofu or hybrid:utofu, or leave "
                                "the interfaces out");
  return HaloExchange(grid, face_bytes, std::move(made), options);
}

}  // namespace halocline::comm
