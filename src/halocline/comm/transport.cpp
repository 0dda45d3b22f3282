// SPDX-License-Identifier: Apache-2.0
/// @file
/// The list of transports, and choosing one by name.

#include "halocline/comm/transport.hpp"

#include "halocline/comm/mpi_persistent.hpp"
#include "halocline/comm/self.hpp"
#include "halocline/core/config.hpp"
#include "halocline/core/error.hpp"

#if HALOCLINE_HAVE_MPI
#include "halocline/comm/mpi.hpp"
#endif

namespace halocline::comm {
namespace {

std::unique_ptr<Transport> make_mpi_persistent() {
#if HALOCLINE_HAVE_MPI
  return std::make_unique<MpiPersistentTransport>();
#else
  return nullptr;
#endif
}

bool stands_on_mpi([[maybe_unused]] const ProcessGrid& grid) {
#if HALOCLINE_HAVE_MPI
  return mpi_comm(grid.communicator()) != MPI_COMM_NULL;
#else
  return false;
#endif
}

/// Why the transport cannot serve this grid; empty when it can.
std::string hindrance(const TransportInfo& transport, const ProcessGrid& grid) {
  if (!transport.available) return transport.reason;
  if (transport.name == "self" && grid.size() > 1) {
    return "serves one process, and the grid has " + std::to_string(grid.size());
  }
  if (transport.name == "mpi_persistent" && grid.size() > 1 && !stands_on_mpi(grid)) {
    return "needs a group that stands on MPI";
  }
  return {};
}

}  // namespace

std::vector<TransportInfo> available_transports() {
  const bool mpi = HALOCLINE_HAVE_MPI != 0;
  return {{"mpi_persistent", mpi, mpi ? "" : "is not in this build, which is without MPI"}, {"self", true, ""}};
}

std::unique_ptr<Transport> make_transport(std::string_view name, const ProcessGrid& grid) {
  std::string usable;
  std::string problem = "is not known";
  for (const TransportInfo& transport : available_transports()) {
    const std::string why_not = hindrance(transport, grid);
    if (transport.name == name) problem = why_not;
    if (why_not.empty()) usable += (usable.empty() ? "" : ", ") + transport.name;
  }
  if (!problem.empty()) {
    throw core::InvalidArgument("transport " + std::string(name) + " cannot be used here: it " + problem +
                                "; usable here: " + usable);
  }
  if (name == "self") return std::make_unique<SelfTransport>();
  return make_mpi_persistent();
}

std::string_view default_transport(const ProcessGrid& grid) noexcept {
  return grid.size() == 1 ? "self" : "mpi_persistent";
}

}  // namespace halocline::comm
