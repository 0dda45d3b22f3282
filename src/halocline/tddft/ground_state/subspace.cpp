// SPDX-License-Identifier: Apache-2.0
/// @file
/// Panels of points by vectors, their products, and their exchange between processes.
///
/// The points of a run are distributed to the P processes along the orbitals in shares of equal length (the last ones
/// may be shorter). In a message a share is [set][block][point][4 lanes], padded to the longest share and to the number
/// of blocks of the process that has most. So all messages of the all-to-all are equally long. With one process the
/// panel is filled directly.

#include "halocline/tddft/ground_state/subspace.hpp"

#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/base/orbitals.hpp"
#include "halocline/tddft/ground_state/blas.hpp"

#include <algorithm>
#include <cassert>
#include <complex>
#include <cstring>

namespace halocline::tddft {
namespace {

using Complex = std::complex<double>;

/// Number of parts into which the points of a sum are divided: as many as there are runs, but at most 16, and at most
/// as many as fit into 64 MiB. @param elements  of one partial sum
std::int64_t parts_of_sum(std::int64_t runs, std::int64_t elements) {
  constexpr std::int64_t most = 16, memory = 64 * 1024 * 1024;
  return std::clamp<std::int64_t>(memory / (elements * 16), 1, std::min(most, runs));
}

/// One block at one point: four complex numbers, a cache line.
void copy_point(double* to, const double* from) { std::memcpy(to, from, doubles_per_point * sizeof(double)); }

}  // namespace

/// A run of points: the values of all sets and vectors at this process's share of the points, and its message buffers.
struct Subspace::Panel {
  std::int64_t run = 0;          ///< number of points of a run, all shares together
  std::int64_t share = 0;        ///< number of points of the longest share
  std::int64_t width = 0;        ///< number of vectors of all sets
  std::int64_t set_doubles = 0;  ///< length of one set in a message: widest part x longest share x 8
  core::AlignedArray<double> values, sent, received;

  Complex* data() { return reinterpret_cast<Complex*>(values.data()); }
};

Subspace::Subspace(const Decomposition& decomposition, std::int64_t guard_blocks)
    : decomposition_(decomposition), points_(decomposition.box().points()) {
  const int processes = decomposition.counts().orbitals;
  for (int part = 0; part < processes; ++part) {
    Range blocks = part_of(decomposition.all_blocks(), processes, part);
    if (part == processes - 1) blocks.end += guard_blocks;
    parts_.push_back(blocks);
    widest_ = std::max(widest_, blocks.size());
  }
  const int own = decomposition.orbitals().rank();
  assert(parts_[size(own)].begin == decomposition.blocks().begin);
  blocks_ = parts_[size(own)].size();
  guards_ = own == processes - 1 ? guard_blocks : 0;
  first_vector_ = static_cast<int>(parts_[size(own)].begin * orbital_lanes);
  vectors_ = static_cast<int>((decomposition.all_blocks() + guard_blocks) * orbital_lanes);
}

/// Buffers for panels of `sets` sets. The runs are short enough that these panels and panels of `others` more sets stay
/// in the cache.
Subspace::Panel Subspace::panel(std::size_t sets, std::size_t others) const {
  constexpr std::int64_t cache = 512 * 1024, least = 64, most = 2048;  // bytes; points
  const auto processes = static_cast<std::int64_t>(parts_.size());
  const std::int64_t point = static_cast<std::int64_t>(sets + others) * vectors_ * 16;
  Panel panel;
  panel.share = std::min((points_ + processes - 1) / processes, std::clamp(cache / point, least, most));
  panel.run = panel.share * processes;
  panel.width = static_cast<std::int64_t>(sets) * vectors_;
  panel.values = core::AlignedArray<double>(panel.share * panel.width * 2);
  if (processes > 1) {
    panel.set_doubles = widest_ * panel.share * doubles_per_point;
    panel.sent = core::AlignedArray<double>(processes * static_cast<std::int64_t>(sets) * panel.set_doubles);
    panel.received = core::AlignedArray<double>(panel.sent.size());
  }
  return panel;
}

/// The points of the run [begin, begin + count) that belong to process `part` along the orbitals.
Range Subspace::share_of(int part, std::int64_t begin, std::int64_t count) const {
  const auto processes = static_cast<std::int64_t>(parts_.size());
  const std::int64_t share = (count + processes - 1) / processes;
  return {begin + std::min(count, part * share), begin + std::min(count, (part + 1) * share)};
}

void Subspace::gather(Panel& panel, std::span<const double* const> sets, std::int64_t begin, std::int64_t count) const {
  const auto processes = static_cast<int>(parts_.size());
  const Range mine = share_of(decomposition_.orbitals().rank(), begin, count);
  const auto place = [&](std::int64_t point, std::size_t set, std::int64_t block) {
    return panel.values.data() +
           2 * (point * panel.width + static_cast<std::int64_t>(set) * vectors_ + block * orbital_lanes);
  };
  if (processes == 1) {
    for (std::size_t set = 0; set < sets.size(); ++set)
      for (std::int64_t block = 0; block < blocks_; ++block) {
        const double* from = sets[set] + (block * points_ + begin) * doubles_per_point;
        for (std::int64_t i = 0; i < count; ++i) copy_point(place(i, set, block), from + i * doubles_per_point);
      }
    return;
  }
  const auto message = static_cast<std::int64_t>(sets.size()) * panel.set_doubles;
  for (int to = 0; to < processes; ++to) {
    const Range share = share_of(to, begin, count);
    for (std::size_t set = 0; set < sets.size(); ++set)
      for (std::int64_t block = 0; block < blocks_; ++block)
        std::memcpy(panel.sent.data() + to * message + static_cast<std::int64_t>(set) * panel.set_doubles +
                        block * panel.share * doubles_per_point,
                    sets[set] + (block * points_ + share.begin) * doubles_per_point,
                    size(share.size()) * doubles_per_point * sizeof(double));
  }
  decomposition_.orbitals().all_to_all(std::as_bytes(panel.sent.span()), std::as_writable_bytes(panel.received.span()));
  for (int from = 0; from < processes; ++from)
    for (std::size_t set = 0; set < sets.size(); ++set)
      for (std::int64_t block = 0; block < parts_[size(from)].size(); ++block) {
        const double* line = panel.received.data() + from * message +
                             static_cast<std::int64_t>(set) * panel.set_doubles +
                             block * panel.share * doubles_per_point;
        for (std::int64_t i = 0; i < mine.size(); ++i)
          copy_point(place(i, set, parts_[size(from)].begin + block), line + i * doubles_per_point);
      }
}

void Subspace::scatter(Panel& panel, std::span<double* const> sets, std::int64_t begin, std::int64_t count) const {
  const auto processes = static_cast<int>(parts_.size());
  const Range mine = share_of(decomposition_.orbitals().rank(), begin, count);
  const auto place = [&](std::int64_t point, std::size_t set, std::int64_t block) {
    return panel.values.data() +
           2 * (point * panel.width + static_cast<std::int64_t>(set) * vectors_ + block * orbital_lanes);
  };
  if (processes == 1) {
    for (std::size_t set = 0; set < sets.size(); ++set)
      for (std::int64_t block = 0; block < blocks_; ++block) {
        double* to = sets[set] + (block * points_ + begin) * doubles_per_point;
        for (std::int64_t i = 0; i < count; ++i) copy_point(to + i * doubles_per_point, place(i, set, block));
      }
    return;
  }
  const auto message = static_cast<std::int64_t>(sets.size()) * panel.set_doubles;
  for (int to = 0; to < processes; ++to)
    for (std::size_t set = 0; set < sets.size(); ++set)
      for (std::int64_t block = 0; block < parts_[size(to)].size(); ++block) {
        double* line = panel.sent.data() + to * message + static_cast<std::int64_t>(set) * panel.set_doubles +
                       block * panel.share * doubles_per_point;
        for (std::int64_t i = 0; i < mine.size(); ++i)
          copy_point(line + i * doubles_per_point, place(i, set, parts_[size(to)].begin + block));
      }
  decomposition_.orbitals().all_to_all(std::as_bytes(panel.sent.span()), std::as_writable_bytes(panel.received.span()));
  for (int from = 0; from < processes; ++from) {
    const Range share = share_of(from, begin, count);
    for (std::size_t set = 0; set < sets.size(); ++set)
      for (std::int64_t block = 0; block < blocks_; ++block)
        std::memcpy(sets[set] + (block * points_ + share.begin) * doubles_per_point,
                    panel.received.data() + from * message + static_cast<std::int64_t>(set) * panel.set_doubles +
                        block * panel.share * doubles_per_point,
                    size(share.size()) * doubles_per_point * sizeof(double));
  }
}

Matrix Subspace::products(std::span<const double* const> left, std::span<const double* const> right) const {
  core::Region region("tddft/inner products");
  // A set that occurs on both sides is packed once: the panel holds the right sets, and then the left sets that are not
  // among them.
  std::vector<const double*> sets(right.begin(), right.end());
  for (const double* set : left)
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
  const auto place = [&](const double* set) {
    return static_cast<std::int64_t>(std::find(sets.begin(), sets.end(), set) - sets.begin()) * vectors_;
  };
  const int rows = static_cast<int>(left.size()) * vectors_, columns = static_cast<int>(right.size()) * vectors_;
  // If no vectors come from other processes, threads take parts of the points. The number of parts does not depend on
  // the number of threads, and their sums are added in order, so the bits are the same for any number of threads.
  std::vector<Panel> panels(1);
  panels[0] = panel(sets.size(), 0);
  const std::int64_t run = panels[0].run, runs = (points_ + run - 1) / run;
  const std::int64_t parts = parts_.size() > 1 ? 1 : parts_of_sum(runs, std::int64_t{rows} * columns);
  while (static_cast<int>(panels.size()) < blas::threads_for(parts)) panels.push_back(panel(sets.size(), 0));
  std::vector<Matrix> partial(size(parts), Matrix(columns, rows));  // element (r, l) = <l|r>
  const auto add_runs = [&](std::int64_t part, int thread) {
    Panel& points = panels[size(thread)];
    const auto width = static_cast<int>(points.width);
    const auto multiply = parts > 1 ? &blas::product : &blas::product_in_parts;
    const Range mine = part_of(runs, static_cast<int>(parts), static_cast<int>(part));
    for (std::int64_t begin = mine.begin * run; begin < std::min(points_, mine.end * run); begin += run) {
      const std::int64_t count = std::min(run, points_ - begin);
      gather(points, sets, begin, count);
      const auto here = static_cast<int>(share_of(decomposition_.orbitals().rank(), begin, count).size());
      if (here == 0) continue;
      // In memory a panel is a column-major matrix of shape (width, points).
      for (std::size_t l = 0; l < left.size(); ++l)
        multiply(columns, vectors_, here, {points.data(), width}, blas::Op::none,
                 {points.data() + place(left[l]), width}, blas::Op::adjoint, 1,
                 partial[size(part)].data() + static_cast<std::ptrdiff_t>(l) * vectors_ * columns, columns);
    }
  };
  if (parts > 1)
    blas::for_parts(parts, add_runs);
  else
    add_runs(0, 0);
  Matrix& transposed = partial[0];
  for (std::size_t part = 1; part < partial.size(); ++part)
    for (std::size_t i = 0; i < transposed.size(); ++i) transposed.data()[i] += partial[part].data()[i];
  const std::span sums(reinterpret_cast<double*>(transposed.data()), 2 * transposed.size());
  const double volume = decomposition_.grid().point_volume();
  for (double& sum : sums) sum *= volume;
  decomposition_.orbitals().sum(sums);
  decomposition_.space().sum(sums);
  Matrix out(rows, columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) out(i, j) = transposed(j, i);
  return out;
}

void Subspace::combine(std::span<double* const> out, std::span<const double* const> in,
                       const Matrix& coefficients) const {
  core::Region region("tddft/combinations");
  assert(coefficients.rows() == static_cast<int>(in.size()) * vectors_);
  assert(coefficients.columns() == static_cast<int>(out.size()) * vectors_);
  const bool alone = parts_.size() == 1;
  std::vector<Panel> from, to;
  from.push_back(panel(in.size(), out.size()));
  const std::int64_t run = from[0].run, runs = (points_ + run - 1) / run;
  to.push_back(panel(out.size(), in.size()));
  while (alone && static_cast<int>(from.size()) < blas::threads_for(runs)) {
    from.push_back(panel(in.size(), out.size()));
    to.push_back(panel(out.size(), in.size()));
  }
  const auto combine_run = [&](std::int64_t number, int thread) {
    Panel& there = from[size(thread)];
    Panel& here = to[size(thread)];
    const std::int64_t begin = number * run, count = std::min(run, points_ - begin);
    gather(there, in, begin, count);
    const auto mine = static_cast<int>(share_of(decomposition_.orbitals().rank(), begin, count).size());
    // Panels are column-major matrices of shape (width, points): here = coefficients^T there.
    const auto multiply = alone ? &blas::product : &blas::product_in_parts;
    if (mine > 0)
      multiply(static_cast<int>(here.width), mine, static_cast<int>(there.width),
               {coefficients.data(), coefficients.rows()}, blas::Op::transposed,
               {there.data(), static_cast<int>(there.width)}, blas::Op::none, 0, here.data(),
               static_cast<int>(here.width));
    scatter(here, out, begin, count);
  };
  if (alone)
    blas::for_parts(runs, combine_run);
  else
    for (std::int64_t number = 0; number < runs; ++number) combine_run(number, 0);
}

}  // namespace halocline::tddft
