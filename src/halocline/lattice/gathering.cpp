// SPDX-License-Identifier: Apache-2.0
#include "halocline/lattice/gathering.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "halocline/comm/group/time_limit.hpp"
#include "halocline/core/error.hpp"

namespace halocline::lattice {
namespace {

int smallest_factor(int n) {
  for (int p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

Coordinates<4> coordinates(std::span<const int> numbers) {
  Coordinates<4> out{};
  for (std::size_t axis = 0; axis < 4; ++axis) out[axis] = numbers[axis];
  return out;
}

}  // namespace

std::array<int, 4> Gathering::merged_processes(std::span<const int> dims, const Coordinates<4>& local,
                                               std::int64_t sites) {
  std::array<int, 4> left{dims[0], dims[1], dims[2], dims[3]}, merged{1, 1, 1, 1};
  Coordinates<4> box = local;
  while (product<4>(box) < sites) {
    int best = -1;
    for (int axis = 3; axis >= 0; --axis) {  // of equals the slowest axis: its copies have the longest runs
      if (left[axis] == 1) continue;
      const auto rank = [&](int a) { return std::pair(std::int64_t{smallest_factor(left[a])}, box[a]); };
      if (best < 0 || rank(axis) < rank(best)) best = axis;
    }
    if (best < 0) break;
    const int factor = smallest_factor(left[best]);
    left[best] /= factor;
    merged[best] *= factor;
    box[best] *= factor;
  }
  return merged;
}

Gathering::Gathering(std::shared_ptr<const Geometry4> spread, std::int64_t sites, std::optional<double> time_limit)
    : spread_(std::move(spread)), gathered_(spread_), keepers_(spread_->grid().size()) {
  const auto& group = spread_->communicator();
  std::array<double, 1> least{static_cast<double>(sites)}, most = least;
  group.min(least);
  group.max(most);
  if (least[0] < 1 || least[0] != most[0])
    throw core::InvalidArgument(fmt::format(
        "a lattice was to be gathered until a process has {}{} sites; give one positive number on all ranks", least[0],
        least[0] == most[0] ? std::string() : fmt::format(" to {}", most[0])));
  const auto& grid = spread_->grid();
  merged_ = merged_processes(grid.dims(), spread_->local(), sites);
  if (merged_ == std::array{1, 1, 1, 1}) return;

  std::vector<int> dims(4);
  std::vector<bool> periodic(4);
  Coordinates<4> cell{}, within{};
  for (int axis = 0; axis < 4; ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    dims[at] = grid.dims()[at] / merged_[at];
    periodic[at] = grid.periodic(axis);
    cell[at] = grid.coords()[at] / merged_[at];
    within[at] = grid.coords()[at] % merged_[at];
  }
  const auto place = static_cast<int>(linear_index<4>(cell, coordinates(dims)));
  const auto member = static_cast<int>(linear_index<4>(within, coordinates(merged_)));
  cell_.emplace(group.split(place, member), time_limit.value_or(comm::solve_time_limit(group)));
  const bool keeper = member == 0;
  const comm::Communicator keepers = group.split(keeper ? 0 : 1, place);
  keepers_ = dims[0] * dims[1] * dims[2] * dims[3];
  gathered_ = nullptr;
  if (!keeper) return;
  constexpr Coordinates<4> any{1, 1, 1, 1};
  gathered_ = std::make_shared<const Geometry4>(spread_->global(), comm::ProcessGrid(keepers, dims, periodic), any);
}

void Gathering::require(std::size_t spread, std::size_t gathered, std::size_t bytes_a_site) const {
  const std::size_t here = static_cast<std::size_t>(spread_->local_volume()) * bytes_a_site;
  const std::size_t there = keeps() ? static_cast<std::size_t>(gathered_->local_volume()) * bytes_a_site : 0;
  if (bytes_a_site > 0 && spread == here && gathered == there) return;
  throw core::InvalidArgument(
      fmt::format("fields of {} bytes a site were to be moved between {} bytes on this process and {} bytes on the "
                  "gathered lattice; give {} and {} bytes",
                  bytes_a_site, spread, gathered, here, there));
}

/// Calls copy(place in the gathered box, place in the member's box, bytes) for each row along x of a member of the
/// cell.
template <class Copy>
void Gathering::for_each_row(int member, std::size_t bytes_a_site, Copy&& copy) const {
  const auto& local = spread_->local();
  const auto& box = gathered_->local();
  auto corner = coordinates_of<4>(member, coordinates(merged_));
  for (std::size_t axis = 0; axis < 4; ++axis) corner[axis] *= local[axis];
  const std::size_t bytes = static_cast<std::size_t>(local[0]) * bytes_a_site;
  for (std::int64_t site = 0; site < spread_->local_volume(); site += local[0]) {
    auto x = coordinates_of<4>(site, local);
    for (std::size_t axis = 0; axis < 4; ++axis) x[axis] += corner[axis];
    copy(static_cast<std::size_t>(linear_index<4>(x, box)) * bytes_a_site,
         static_cast<std::size_t>(site) * bytes_a_site, bytes);
  }
}

void Gathering::gather(std::span<std::byte> out, std::span<const std::byte> in, std::size_t bytes_a_site) {
  require(in.size(), out.size(), bytes_a_site);
  if (!gathers()) {
    std::memcpy(out.data(), in.data(), in.size());
    return;
  }
  comm::Star& cell = *cell_;
  cell.resize(in.size());
  const int me = cell.communicator().rank();
  if (!keeps()) {
    std::memcpy(cell.buffer(me).data(), in.data(), in.size());
    cell.send(me);
    while (cell.next() >= 0) {
    }
    return;
  }
  for (int member = 1; member < cell.communicator().size(); ++member) cell.receive(member);
  const auto place = [&](int member, const std::byte* from) {
    for_each_row(member, bytes_a_site, [&](std::size_t there, std::size_t here, std::size_t bytes) {
      std::memcpy(out.data() + there, from + here, bytes);
    });
  };
  place(0, in.data());
  for (int member; (member = cell.next()) >= 0;) place(member, cell.buffer(member).data());
}

void Gathering::scatter(std::span<std::byte> out, std::span<const std::byte> in, std::size_t bytes_a_site,
                        std::span<std::byte> note) {
  require(out.size(), in.size(), bytes_a_site);
  if (!gathers()) {
    std::memcpy(out.data(), in.data(), in.size());
    return;
  }
  comm::Star& cell = *cell_;
  cell.resize(out.size() + note.size());
  const int me = cell.communicator().rank();
  if (!keeps()) {
    cell.receive(me);
    while (cell.next() >= 0) {
    }
    std::memcpy(out.data(), cell.buffer(me).data(), out.size());
    if (!note.empty()) std::memcpy(note.data(), cell.buffer(me).data() + out.size(), note.size());
    return;
  }
  const auto take = [&](int member, std::byte* to) {
    for_each_row(member, bytes_a_site, [&](std::size_t there, std::size_t here, std::size_t bytes) {
      std::memcpy(to + here, in.data() + there, bytes);
    });
  };
  for (int member = 1; member < cell.communicator().size(); ++member) {
    take(member, cell.buffer(member).data());
    if (!note.empty()) std::memcpy(cell.buffer(member).data() + out.size(), note.data(), note.size());
    cell.send(member);
  }
  take(0, out.data());
  while (cell.next() >= 0) {
  }
}

void Gathering::broadcast(std::span<std::byte> bytes) {
  if (!gathers()) return;
  comm::Star& cell = *cell_;
  cell.resize(bytes.size());
  const int me = cell.communicator().rank();
  for (int member = 1; keeps() && member < cell.communicator().size(); ++member) {
    std::memcpy(cell.buffer(member).data(), bytes.data(), bytes.size());
    cell.send(member);
  }
  if (!keeps()) cell.receive(me);
  while (cell.next() >= 0) {
  }
  if (!keeps()) std::memcpy(bytes.data(), cell.buffer(me).data(), bytes.size());
}

}  // namespace halocline::lattice
