// SPDX-License-Identifier: Apache-2.0
#pragma once
// Laws of a gathered lattice on any group of processes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "halocline/lattice/gathering.hpp"

namespace gathering_laws {

using namespace halocline;
using lattice::Coordinates;
using lattice::Gathering;
using lattice::Geometry4;

inline std::shared_ptr<const Geometry4> spread_over(const comm::Communicator& group, const std::vector<int>& dims,
                                                    const Coordinates<4>& local,
                                                    const std::vector<int>& order_of_ranks = {}) {
  Coordinates<4> global{};
  for (std::size_t axis = 0; axis < 4; ++axis) global[axis] = local[axis] * dims[axis];
  return std::make_shared<const Geometry4>(global, comm::ProcessGrid(group, dims, {}, order_of_ranks),
                                           Coordinates<4>{1, 1, 1, 1});
}

/// Three numbers of a site: its global index, its parity and the round.
inline std::vector<std::int64_t> marks(const Geometry4& geometry, std::int64_t round) {
  std::vector<std::int64_t> out;
  for (std::int64_t site = 0; site < geometry.local_volume(); ++site) {
    const auto x = lattice::coordinates_of<4>(site, geometry.local());
    out.insert(out.end(), {geometry.global_index(x), geometry.parity(x), round});
  }
  return out;
}

/// The first law that is broken on this rank; empty when all hold. Collective.
inline std::string broken_law(const std::shared_ptr<const Geometry4>& spread, std::int64_t sites, int rounds = 3) {
  constexpr std::size_t bytes = 3 * sizeof(std::int64_t);
  Gathering gathering(spread, sites);
  const auto& group = spread->communicator();
  std::vector<std::uint64_t> counts{gathering.keeps() ? 1u : 0u,
                                    gathering.keeps() ? static_cast<std::uint64_t>(gathering.gathered()->local_volume())
                                                      : 0u};
  group.sum(std::span(counts));
  if (static_cast<int>(counts[0]) != gathering.keepers()) return "another number of keepers";
  if (static_cast<std::int64_t>(counts[1]) != spread->global_volume()) return "the boxes do not hold all sites";
  if (gathering.keeps()) {
    const auto& gathered = *gathering.gathered();
    if (gathered.global() != spread->global()) return "another global lattice";
    if (gathered.offset() != spread->offset()) return "a box that begins elsewhere";
    if (gathered.local_volume() < sites && gathered.communicator().size() > 1) return "too few sites in a box";
    if (gathered.communicator().size() != gathering.keepers()) return "another group";
  }
  for (int round = 0; round < rounds; ++round) {
    const auto here = marks(*spread, round);
    std::vector<std::int64_t> there, back(here.size(), -1);
    if (gathering.keeps()) there.assign(static_cast<std::size_t>(3 * gathering.gathered()->local_volume()), -1);
    gathering.gather(std::as_writable_bytes(std::span(there)), std::as_bytes(std::span(here)), bytes);
    // Each site once, at its place, with its parity: the gathered lattice alone would give these marks.
    if (gathering.keeps() && there != marks(*gathering.gathered(), round)) return "a site is not at its place";
    gathering.scatter(std::as_writable_bytes(std::span(back)), std::as_bytes(std::span(there)), bytes);
    if (back != here) return "gathering and scattering is not the identity";
  }
  return "";
}

}  // namespace gathering_laws
