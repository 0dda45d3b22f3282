// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A lattice with few sites a process, gathered on fewer processes.
///
/// On a coarse lattice of multigrid a process may hold a handful of sites, or one. Its exchanges and sums then cost
/// their latency on all processes, and next to nothing is computed between them. So neighbouring processes merge into
/// cells, boxes of the process grid. The lowest process of a cell keeps the sites of the whole cell, and the others
/// wait until the work on that lattice is done. Processes merge along an axis by the smallest prime factor of the
/// grid's extent there, the smallest factor of all axes first, and along the axis where the box of sites is shortest.
/// This goes on until a process holds enough sites or one process holds all.
///
/// The gathered lattice is an ordinary Geometry4 over a group of the processes that keep boxes. It has the same global
/// sites, so a site keeps its global coordinates and its parity. Fields travel by one message each way for every
/// process that keeps nothing (comm/group/star.hpp).
///
///   const Gathering gathering(coarse);
///   gathering.gather(b_there, b_here, bytes_a_site);
///   if (gathering.keeps()) ...                          the work, on gathering.gathered()
///   gathering.scatter(x_here, x_there, bytes_a_site);

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "halocline/comm/group/star.hpp"
#include "halocline/lattice/geometry.hpp"

namespace halocline::lattice {

class Gathering {
public:
  /// Below so many sites a process, gathering pays.
  static constexpr std::int64_t enough_sites = 16;

  /// @param spread      the lattice as all processes hold it
  /// @param sites       of a process, at least, once gathered. 1 gathers nothing; the same on every rank
  /// @param time_limit  of a wait for another process [s]; absent: that of solves (comm/group/time_limit.hpp)
  /// @throws InvalidArgument  on every rank, for sites below 1 or different numbers on different ranks
  /// Collective: yes.  Cost: two splits of the group.
  explicit Gathering(std::shared_ptr<const Geometry4> spread, std::int64_t sites = enough_sites,
                     std::optional<double> time_limit = {});

  /// Processes that merge into one along each axis; all one where `local` has enough sites.
  /// @param dims   the process grid
  /// @param local  extents of the box of a process
  /// A pure function.
  static std::array<int, 4> merged_processes(std::span<const int> dims, const Coordinates<4>& local,
                                             std::int64_t sites = enough_sites);

  /// False where the spread lattice is the gathered one, so that every process keeps its box.
  bool gathers() const noexcept { return cell_.has_value(); }
  /// Whether this process holds a box of the gathered lattice.
  bool keeps() const noexcept { return gathered_ != nullptr; }

  const std::shared_ptr<const Geometry4>& spread() const noexcept { return spread_; }
  /// Null on a process that keeps nothing; the spread lattice where nothing is gathered.
  const std::shared_ptr<const Geometry4>& gathered() const noexcept { return gathered_; }
  /// Processes of a cell along each axis.
  const std::array<int, 4>& merged() const noexcept { return merged_; }
  /// Number of processes that keep boxes.
  int keepers() const noexcept { return keepers_; }

  /// Site data to the processes that keep them; sites in canonical order on both sides.
  /// @param out  of the gathered box, or empty on a process that keeps nothing
  /// @param in   of the box of the spread lattice; not the same memory
  /// @param bytes_a_site  the same on every rank
  /// @throws InvalidArgument  for another length, on the ranks where it is so
  /// @throws core::Error      when a process of the cell is lost or does not come within the time limit
  /// Collective: yes, over the processes of a cell.  Cost: one message from each process that keeps nothing, and a copy
  /// on both sides.
  void gather(std::span<std::byte> out, std::span<const std::byte> in, std::size_t bytes_a_site);
  /// The way back. @param out  of the box of the spread lattice; @param in  of the gathered box, or empty
  /// @param note  travels with the field, from the process that keeps the box to the others of its cell; of the same
  ///              length on every rank
  void scatter(std::span<std::byte> out, std::span<const std::byte> in, std::size_t bytes_a_site,
               std::span<std::byte> note = {});
  /// Copies bytes of the process that keeps the box to the others of its cell. @param bytes  of the same length on
  /// every rank of a cell. Collective: yes, over the processes of a cell.
  void broadcast(std::span<std::byte> bytes);

private:
  void require(std::size_t spread, std::size_t gathered, std::size_t bytes_a_site) const;
  template <class Copy>
  void for_each_row(int member, std::size_t bytes_a_site, Copy&& copy) const;

  std::shared_ptr<const Geometry4> spread_, gathered_;
  std::array<int, 4> merged_{1, 1, 1, 1};
  int keepers_;
  std::optional<comm::Star> cell_;  ///< its rank 0 keeps the box; the ranks have the order of their places in the cell
};

}  // namespace halocline::lattice
