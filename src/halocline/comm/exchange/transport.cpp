// SPDX-License-Identifier: Apache-2.0
/// @file
/// The list of transports, and choosing one by name.

#include "halocline/comm/exchange/transport.hpp"

#include "halocline/core/error.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace halocline::comm {
namespace {

std::vector<TransportKind>& table() {
  static std::vector<TransportKind> kinds = built_in_transports();
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
  return tail(name).empty() || found->takes_network ? &*found : nullptr;
}

}  // namespace

void register_transport(TransportKind kind) {
  if (kind.name.empty() || kind.name.find(':') != std::string::npos || !kind.unavailable_reason || !kind.make)
    throw core::InvalidArgument("a transport was registered as \"" + kind.name +
                                "\"; give a name without a colon, and two functions that are not empty");
  if (kind_of(kind.name) != nullptr)
    throw core::InvalidArgument("there is a transport \"" + kind.name + "\" already; register another name");
  table().push_back(std::move(kind));
}

const std::vector<TransportKind>& transport_kinds() { return table(); }

std::vector<TransportInfo> available_transports() {
  std::vector<TransportInfo> all;
  for (const TransportKind& kind : table()) {
    std::string reason = kind.unavailable_reason(nullptr);
    const bool available = reason.empty();
    all.push_back({kind.name, available, std::move(reason)});
  }
  std::ranges::sort(all, {}, &TransportInfo::name);
  return all;
}

std::string transport_unavailable_reason(std::string_view name, const ProcessGrid& grid) {
  const TransportKind* const kind = kind_of(name);
  if (kind == nullptr) return "is not known";
  const std::string network = tail(name);
  std::string reason = kind->unavailable_reason(&grid);
  if (!reason.empty() || network.empty()) return reason;
  if (network == kind->name) return "cannot have itself between the nodes";
  reason = transport_unavailable_reason(network, grid);
  return reason.empty() ? reason : "takes " + network + " between the nodes, which " + reason;
}

std::unique_ptr<Transport> make_transport(std::string_view name, const ProcessGrid& grid,
                                          const TransportOptions& options) {
  const std::string chosen = name.empty() ? default_transport(grid) : std::string(name);
  const std::string problem = transport_unavailable_reason(chosen, grid);
  if (!problem.empty()) {
    std::string usable;
    for (const TransportInfo& one : available_transports())
      if (transport_unavailable_reason(one.name, grid).empty()) usable += (usable.empty() ? "" : ", ") + one.name;
    throw core::InvalidArgument("transport " + chosen + " cannot be used here: it " + problem +
                                "; usable here: " + usable);
  }
  TransportOptions given = options;
  if (!tail(chosen).empty()) given.network = tail(chosen);
  return kind_of(chosen)->make(given);
}

std::string default_transport(const ProcessGrid& grid) {
  for (const TransportKind& kind : table())
    if (kind.unavailable_reason(&grid).empty() &&
        (!kind.trial_unavailable_reason || kind.trial_unavailable_reason(grid).empty()))
      return kind.name;
  return table().front().name;  // make_transport() then refuses it with its reason
}

}  // namespace halocline::comm
