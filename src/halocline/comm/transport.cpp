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

/// A TransportKind; "hybrid" alone is given the name of a network too.
struct Entry {
  std::string name;
  std::function<std::string(const ProcessGrid*)> unavailable_reason;
  std::function<std::unique_ptr<Transport>(const TransportOptions&, const std::string& network)> make;
};

template <class T>
std::unique_ptr<Transport> make(const TransportOptions&, const std::string&) {
  return std::make_unique<T>();
}

[[maybe_unused]] std::string without_mpi(const ProcessGrid*) { return "is not in this build, which is without MPI"; }
[[maybe_unused]] std::unique_ptr<Transport> make_nothing(const TransportOptions&, const std::string&) {
  return nullptr;
}

#if HALOCLINE_HAVE_UTOFU
std::unique_ptr<Transport> make_utofu(const TransportOptions& options, const std::string&) {
  return std::make_unique<UtofuTransport>(options);
}
#else
std::string without_utofu(const ProcessGrid*) {
  return "is not in this build, which found no uTofu, the interface of the Tofu-D interconnect";
}
#endif

std::string hybrid_problem(const ProcessGrid* grid) { return hybrid_unavailable_reason(grid); }
std::unique_ptr<Transport> make_hybrid(const TransportOptions& options, const std::string& network) {
  return std::make_unique<HybridTransport>(network, options);
}

/// In alphabetical order.
std::vector<Entry>& table() {
  static std::vector<Entry> entries{
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
  return entries;
}

/// "hybrid:mpi_rma" is the entry "hybrid" with the network "mpi_rma".
std::string head(std::string_view name) { return std::string(name.substr(0, name.find(':'))); }
std::string tail(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? std::string() : std::string(name.substr(colon + 1));
}

const Entry* entry_of(std::string_view name) {
  const auto found = std::ranges::find_if(table(), [&](const Entry& entry) { return entry.name == head(name); });
  if (found == table().end()) return nullptr;
  return tail(name).empty() || found->name == "hybrid" ? &*found : nullptr;
}

}  // namespace

void register_transport(TransportKind kind) {
  if (kind.name.empty() || kind.name.find(':') != std::string::npos || !kind.unavailable_reason || !kind.make)
    throw core::InvalidArgument("a transport was registered as \"" + kind.name +
                                "\"; give a name without a colon, and two functions that are not empty");
  auto& entries = table();
  const auto place = std::ranges::lower_bound(entries, kind.name, {}, &Entry::name);
  if (place != entries.end() && place->name == kind.name)
    throw core::InvalidArgument("there is a transport \"" + kind.name + "\" already; register another name");
  entries.insert(place, {kind.name, std::move(kind.unavailable_reason),
                         [make = std::move(kind.make)](const TransportOptions& options, const std::string&) {
                           return make(options);
                         }});
}

std::vector<TransportInfo> available_transports() {
  std::vector<TransportInfo> all;
  for (const Entry& entry : table()) {
    std::string reason = entry.unavailable_reason(nullptr);
    const bool available = reason.empty();
    all.push_back({entry.name, available, std::move(reason)});
  }
  return all;
}

std::string transport_unavailable_reason(std::string_view name, const ProcessGrid& grid) {
  const Entry* const entry = entry_of(name);
  if (entry == nullptr) return "is not known";
  const std::string network = tail(name);
  std::string reason = entry->unavailable_reason(&grid);
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
    for (const Entry& entry : table()) {
      if (transport_unavailable_reason(entry.name, grid).empty()) usable += (usable.empty() ? "" : ", ") + entry.name;
    }
    throw core::InvalidArgument("transport " + chosen + " cannot be used here: it " + problem +
                                "; usable here: " + usable);
  }
  return entry_of(chosen)->make(options, tail(chosen));
}

std::string default_transport(const ProcessGrid& grid) {
  for (const char* name : {"self", "shared_memory", "hybrid", "simulated", "mpi_persistent"}) {
    if (transport_unavailable_reason(name, grid).empty()) return name;
  }
  return "self";  // refuses with its reason
}

}  // namespace halocline::comm
