// SPDX-License-Identifier: Apache-2.0
#include "bench/carrier.hpp"

#include <fmt/format.h>

#include "halocline/core/error.hpp"

namespace halocline::bench {

std::string unavailable_reason(const Carrier& carrier, const comm::ProcessGrid& grid) {
  if (carrier.buffers != 1 && carrier.buffers != 2)
    throw core::InvalidArgument(fmt::format("{} buffers were asked for; give 1 or 2", carrier.buffers));
  if (carrier.transport != "mpi") {
    const std::string name = carrier.transport.substr(0, carrier.transport.find(':'));  // hybrid:NETWORK
    std::string known = "mpi";
    bool found = false;
    for (const auto& transport : comm::available_transports()) {
      known += ", " + transport.name;
      found = found || transport.name == name;
    }
    if (!found)
      throw core::InvalidArgument(
          fmt::format("there is no transport \"{}\"; give one of {}", carrier.transport, known));
    return comm::transport_unavailable_reason(carrier.transport, grid);
  }
  return carrier.buffers == 1 ? PlainMpi::unavailable_reason(grid) : "plain MPI has one buffer a face";
}

std::vector<Carrier> all_carriers() {
  std::vector<Carrier> all{{"mpi", 1}};
  for (const auto& transport : comm::available_transports())
    for (const int buffers : {1, 2}) all.push_back({transport.name, buffers});
  return all;
}

}  // namespace halocline::bench
