// SPDX-License-Identifier: Apache-2.0
/// @file
/// The list of transports, and choosing one by name.

#include "halocline/comm/transport.hpp"

#include "halocline/comm/hybrid.hpp"
#include "halocline/comm/mpi_persistent.hpp"
#include "halocline/comm/mpi_rma.hpp"
#include "halocline/comm/openshmem.hpp"
#include "halocline/comm/self.hpp"
#include "halocline/comm/shared_memory.hpp"
#include "halocline/comm/simulated.hpp"
#include "halocline/comm/utofu.hpp"
#include "halocline/core/config.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace halocline::comm {
namespace {

template <class T>
std::unique_ptr<Transport> make(const TransportOptions&) {
  return std::make_unique<T>();
}
std::unique_ptr<Transport> make_hybrid(const TransportOptions& options) {
  return std::make_unique<HybridTransport>(options.network, options);
}
std::string hybrid_problem(const ProcessGrid* grid) { return hybrid_unavailable_reason(grid); }

[[maybe_unused]] std::unique_ptr<Transport> make_nothing(const TransportOptions&) { return nullptr; }
[[maybe_unused]] std::string without_mpi(const ProcessGrid*) { return "is not in this build, which is without MPI"; }

#if HALOCLINE_HAVE_UTOFU
std::unique_ptr<Transport> make_utofu(const TransportOptions& options) {
  return std::make_unique<UtofuTransport>(options);
}
#else
std::string without_utofu(const ProcessGrid*) {
  return "is not in this build, which found no uTofu, the interface of the Tofu-D interconnect";
}
#endif

/// In alphabetical order.
std::vector<TransportKind>& table() {
  static std::vector<TransportKind> kinds{
      {"hybrid", hybrid_problem, make_hybrid},
#if HALOCLINE_HAVE_MPI
      {"mpi_persistent", mpi_persistent_unavailable_reason, make<MpiPersistentTransport>},
      {"mpi_rma", mpi_rma_unavailable_reason, make<MpiRmaTransport>},
#else
      {"mpi_persistent", without_mpi, make_nothing},
      {"mpi_rma", without_mpi, make_nothing},
#endif
      {"openshmem", openshmem_unavailable_reason, make<OpenShmemTransport>},
      {"self", self_unavailable_reason, make<SelfTransport>},
      {"shared_memory", shared_memory_unavailable_reason, make<SharedMemoryTransport>},
      {"simulated", simulated_unavailable_reason, make<SimulatedTransport>},
#if HALOCLINE_HAVE_UTOFU
      {"utofu", utofu_unavailable_reason, make_utofu},
#else
      {"utofu", without_utofu, make_nothing},
#endif
  };
  return kinds;
}

/// "hybrid:mpi_rma" is the kind "hybrid" with the network "mpi_rma".
std::string head(std::string_view name) { return std::string(name.substr(0, name.find(':'))); }
std::string tail(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? std::string() : std::string(name.substr(colon + 1));
}

const TransportKind* kind_of(std::string_view name) {
  const auto found = std::ranges::find_if(table(), [&](const TransportKind& kind) { return kind.name == head(name); });
  if (found == table().end()) return nullptr;
  return tail(name).empty() || found->name == "hybrid" ? &*found : nullptr;
}

}  // namespace

void register_transport(TransportKind kind) {
  if (kind.name.empty() || kind.name.find(':') != std::string::npos || !kind.unavailable_reason || !kind.make)
    throw core::InvalidArgument("a transport was registered as \"" + kind.name +
                                "\"; give a name without a colon, and two functions that are not empty");
  auto& kinds = table();
  const auto place = std::ranges::lower_bound(kinds, kind.name, {}, &TransportKind::name);
  if (place != kinds.end() && place->name == kind.name)
    throw core::InvalidArgument("there is a transport \"" + kind.name + "\" already; register another name");
  kinds.insert(place, std::move(kind));
}

std::vector<TransportInfo> available_transports() {
  std::vector<TransportInfo> all;
  for (const TransportKind& kind : table()) {
    std::string reason = kind.unavailable_reason(nullptr);
    const bool available = reason.empty();
    all.push_back({kind.name, available, std::move(reason)});
  }
  return all;
}

std::string transport_unavailable_reason(std::string_view name, const ProcessGrid& grid) {
  const TransportKind* const kind = kind_of(name);
  if (kind == nullptr) return "is not known";
  const std::string network = tail(name);
  std::string reason = kind->unavailable_reason(&grid);
  if (!reason.empty() || network.empty()) return reason;
  if (network == "hybrid") return "cannot have itself between the nodes";
  reason = transport_unavailable_reason(network, grid);
  return reason.empty() ? reason : "takes " + network + " between the nodes, which " + reason;
}

std::unique_ptr<Transport> make_transport(std::string_view name, const ProcessGrid& grid,
                                          const TransportOptions& options) {
  const std::string chosen = name.empty() ? default_transport(grid) : std::string(name);
  const std::string problem = transport_unavailable_reason(chosen, grid);
  if (!problem.empty()) {
    std::string usable;
    for (const TransportKind& kind : table()) {
      if (transport_unavailable_reason(kind.name, grid).empty()) usable += (usable.empty() ? "" : ", ") + kind.name;
    }
    throw core::InvalidArgument("transport " + chosen + " cannot be used here: it " + problem +
                                "; usable here: " + usable);
  }
  TransportOptions given = options;
  if (!tail(chosen).empty()) given.network = tail(chosen);
  return kind_of(chosen)->make(given);
}

std::string default_transport(const ProcessGrid& grid) {
  for (const char* name : {"self", "shared_memory", "hybrid", "simulated", "mpi_persistent"}) {
    if (transport_unavailable_reason(name, grid).empty()) return name;
  }
  return "self";  // refuses with its reason
}

}  // namespace halocline::comm
