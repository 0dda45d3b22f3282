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
#include <array>
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

/// Some blocks of a set as columns of a panel.
struct Subspace::Source {
  VectorSet set;
  Selection blocks;                 ///< of each process
  std::int64_t width;               ///< number of vectors
  std::int64_t widest;              ///< number of blocks of the process that has most
  std::vector<std::int64_t> first;  ///< of each process, the column of its first vector

  /// Column of block i of a process.
  std::int64_t column(int process, std::int64_t i) const { return first[size(process)] + i * orbital_lanes; }
  double* block(int process, std::int64_t i) const { return set.block(blocks[size(process)].begin + i); }
  bool operator==(const Source& other) const {
    const auto same = [](const Range& a, const Range& b) { return a.begin == b.begin && a.end == b.end; };
    return set == other.set && std::ranges::equal(blocks, other.blocks, same);
  }
};

/// A run of points: the values of all sources at this process's share of the points, and its message buffers.
struct Subspace::Panel {
  std::int64_t run = 0;                 ///< number of points of a run, all shares together
  std::int64_t share = 0;               ///< number of points of the longest share
  std::int64_t width = 0;               ///< number of vectors of all sources
  std::vector<std::int64_t> columns;    ///< of each source, its first column
  std::vector<std::int64_t> positions;  ///< of each source, its first number in a message
  std::int64_t message = 0;             ///< length of a message
  core::AlignedArray<double> values, sent, received;

  Complex* data() { return reinterpret_cast<Complex*>(values.data()); }
  double* place(std::int64_t point, std::int64_t column) { return values.data() + 2 * (point * width + column); }
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

int Subspace::parts() const noexcept {
  // Many parts take little memory, and the products of each with the others read these again, which many vectors hide.
  const std::int64_t wanted = std::clamp(vectors_ / 128, 4, 8);
  std::int64_t fewest = blocks_;
  for (const Range& of_process : parts_) fewest = std::min(fewest, of_process.size());
  return static_cast<int>(std::clamp<std::int64_t>(fewest, 1, wanted));
}

std::int64_t Subspace::largest_part() const noexcept {
  constexpr std::int64_t little = 8 << 20;  // [bytes]
  const std::int64_t bytes = points_ * static_cast<std::int64_t>(line_bytes);
  return std::min(blocks_, std::max((blocks_ + parts() - 1) / parts(), little / std::max<std::int64_t>(bytes, 1)));
}

Subspace::Selection Subspace::selected(int part, int parts, bool to_end) const {
  Selection blocks;
  for (const Range& of_process : parts_) {
    blocks.push_back(part_of(of_process.size(), parts, part));
    if (to_end) blocks.back().end = of_process.size();
  }
  return blocks;
}

std::vector<int> Subspace::numbers(const Selection& blocks) const {
  std::vector<int> found;
  for (std::size_t process = 0; process < blocks.size(); ++process)
    for (std::int64_t b = blocks[process].begin; b < blocks[process].end; ++b)
      for (int lane = 0; lane < orbital_lanes; ++lane)
        found.push_back(static_cast<int>((parts_[process].begin + b) * orbital_lanes) + lane);
  return found;
}

Subspace::Source Subspace::source(const VectorSet& set, Selection blocks) const {
  Source made{set, std::move(blocks), 0, 0, {}};
  for (const Range& of_process : made.blocks) {
    made.first.push_back(made.width);
    made.width += of_process.size() * orbital_lanes;
    made.widest = std::max(made.widest, of_process.size());
  }
  return made;
}

/// Whole sets. Those that are only read may be constant.
std::vector<Subspace::Source> Subspace::sources(std::span<const double* const> sets) const {
  std::vector<Source> all;
  for (const double* set : sets)
    all.push_back(source({const_cast<double*>(set), points_ * doubles_per_point}, selected(0, 1)));
  return all;
}

/// Buffers for panels of sources. The runs are short enough that these panels and panels of `other_width` more vectors
/// stay in the cache.
Subspace::Panel Subspace::panel(std::span<const Source> sources, std::int64_t other_width) const {
  constexpr std::int64_t cache = 512 * 1024, least = 64, most = 2048;  // bytes; points
  const auto processes = static_cast<std::int64_t>(parts_.size());
  Panel panel;
  std::int64_t blocks = 0;
  for (const Source& source : sources) {
    panel.columns.push_back(panel.width);
    panel.positions.push_back(blocks);
    panel.width += source.width;
    blocks += source.widest;
  }
  const std::int64_t point = (panel.width + other_width) * 16;
  panel.share = std::min((points_ + processes - 1) / processes, std::clamp(cache / point, least, most));
  panel.run = panel.share * processes;
  panel.values = core::AlignedArray<double>(panel.share * panel.width * 2);
  if (processes > 1) {
    const std::int64_t of_block = panel.share * doubles_per_point;
    for (std::int64_t& position : panel.positions) position *= of_block;
    panel.message = blocks * of_block;
    panel.sent = core::AlignedArray<double>(processes * panel.message);
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

void Subspace::gather(Panel& panel, std::span<const Source> sources, std::int64_t begin, std::int64_t count) const {
  const auto processes = static_cast<int>(parts_.size());
  const int own = decomposition_.orbitals().rank();
  const Range mine = share_of(own, begin, count);
  const std::int64_t of_block = panel.share * doubles_per_point;
  if (processes == 1) {
    for (std::size_t s = 0; s < sources.size(); ++s)
      for (std::int64_t block = 0; block < sources[s].blocks[0].size(); ++block) {
        const double* from = sources[s].block(0, block) + begin * doubles_per_point;
        const std::int64_t column = panel.columns[s] + sources[s].column(0, block);
        for (std::int64_t i = 0; i < count; ++i) copy_point(panel.place(i, column), from + i * doubles_per_point);
      }
    return;
  }
  for (int to = 0; to < processes; ++to) {
    const Range share = share_of(to, begin, count);
    for (std::size_t s = 0; s < sources.size(); ++s)
      for (std::int64_t block = 0; block < sources[s].blocks[size(own)].size(); ++block)
        std::memcpy(panel.sent.data() + to * panel.message + panel.positions[s] + block * of_block,
                    sources[s].block(own, block) + share.begin * doubles_per_point,
                    size(share.size()) * doubles_per_point * sizeof(double));
  }
  decomposition_.orbitals().all_to_all(std::as_bytes(panel.sent.span()), std::as_writable_bytes(panel.received.span()));
  for (int from = 0; from < processes; ++from)
    for (std::size_t s = 0; s < sources.size(); ++s)
      for (std::int64_t block = 0; block < sources[s].blocks[size(from)].size(); ++block) {
        const double* line = panel.received.data() + from * panel.message + panel.positions[s] + block * of_block;
        const std::int64_t column = panel.columns[s] + sources[s].column(from, block);
        for (std::int64_t i = 0; i < mine.size(); ++i) copy_point(panel.place(i, column), line + i * doubles_per_point);
      }
}

void Subspace::scatter(Panel& panel, std::span<const Source> sources, std::int64_t begin, std::int64_t count) const {
  const auto processes = static_cast<int>(parts_.size());
  const int own = decomposition_.orbitals().rank();
  const Range mine = share_of(own, begin, count);
  const std::int64_t of_block = panel.share * doubles_per_point;
  if (processes == 1) {
    for (std::size_t s = 0; s < sources.size(); ++s)
      for (std::int64_t block = 0; block < sources[s].blocks[0].size(); ++block) {
        double* to = sources[s].block(0, block) + begin * doubles_per_point;
        const std::int64_t column = panel.columns[s] + sources[s].column(0, block);
        for (std::int64_t i = 0; i < count; ++i) copy_point(to + i * doubles_per_point, panel.place(i, column));
      }
    return;
  }
  for (int to = 0; to < processes; ++to)
    for (std::size_t s = 0; s < sources.size(); ++s)
      for (std::int64_t block = 0; block < sources[s].blocks[size(to)].size(); ++block) {
        double* line = panel.sent.data() + to * panel.message + panel.positions[s] + block * of_block;
        const std::int64_t column = panel.columns[s] + sources[s].column(to, block);
        for (std::int64_t i = 0; i < mine.size(); ++i) copy_point(line + i * doubles_per_point, panel.place(i, column));
      }
  decomposition_.orbitals().all_to_all(std::as_bytes(panel.sent.span()), std::as_writable_bytes(panel.received.span()));
  for (int from = 0; from < processes; ++from) {
    const Range share = share_of(from, begin, count);
    for (std::size_t s = 0; s < sources.size(); ++s)
      for (std::int64_t block = 0; block < sources[s].blocks[size(own)].size(); ++block)
        std::memcpy(sources[s].block(own, block) + share.begin * doubles_per_point,
                    panel.received.data() + from * panel.message + panel.positions[s] + block * of_block,
                    size(share.size()) * doubles_per_point * sizeof(double));
  }
}

Matrix Subspace::products(std::span<const double* const> left, std::span<const double* const> right) const {
  return products(sources(left), sources(right));
}

Matrix Subspace::products(const VectorSet& left, const Selection& of_left, const VectorSet& right,
                          const Selection& of_right) const {
  return products(std::array{source(left, of_left)}, std::array{source(right, of_right)});
}

Matrix Subspace::products(std::span<const Source> left, std::span<const Source> right) const {
  core::Region region("tddft/inner products");
  // A set that occurs on both sides is packed once: the panel holds the right sets, and then the left sets that are not
  // among them.
  std::vector<Source> sources(right.begin(), right.end());
  std::vector<std::size_t> of_left;
  int rows = 0, columns = 0;
  for (const Source& each : right) columns += static_cast<int>(each.width);
  for (const Source& each : left) {
    rows += static_cast<int>(each.width);
    of_left.push_back(size(std::find(sources.begin(), sources.end(), each) - sources.begin()));
    if (of_left.back() == sources.size()) sources.push_back(each);
  }
  if (rows == 0 || columns == 0) return Matrix(rows, columns);  // on all processes
  // If no vectors come from other processes, threads take parts of the points. The number of parts does not depend on
  // the number of threads, and their sums are added in order, so the bits are the same for any number of threads.
  std::vector<Panel> panels(1);
  panels[0] = panel(sources, 0);
  const std::int64_t run = panels[0].run, runs = (points_ + run - 1) / run;
  const std::int64_t parts = parts_.size() > 1 ? 1 : parts_of_sum(runs, std::int64_t{rows} * columns);
  while (static_cast<int>(panels.size()) < blas::threads_for(parts)) panels.push_back(panel(sources, 0));
  std::vector<Matrix> partial(size(parts), Matrix(columns, rows));  // element (r, l) = <l|r>
  const auto add_runs = [&](std::int64_t part, int thread) {
    Panel& points = panels[size(thread)];
    const auto width = static_cast<int>(points.width);
    const auto multiply = parts > 1 ? &blas::product : &blas::product_in_parts;
    const Range mine = part_of(runs, static_cast<int>(parts), static_cast<int>(part));
    for (std::int64_t begin = mine.begin * run; begin < std::min(points_, mine.end * run); begin += run) {
      const std::int64_t count = std::min(run, points_ - begin);
      gather(points, sources, begin, count);
      const auto here = static_cast<int>(share_of(decomposition_.orbitals().rank(), begin, count).size());
      if (here == 0) continue;
      // In memory a panel is a column-major matrix of shape (width, points).
      std::ptrdiff_t row = 0;
      for (std::size_t l = 0; l < left.size(); ++l) {
        multiply(columns, static_cast<int>(left[l].width), here, {points.data(), width}, blas::Op::none,
                 {points.data() + points.columns[of_left[l]], width}, blas::Op::adjoint, 1,
                 partial[size(part)].data() + row * columns, columns);
        row += left[l].width;
      }
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
  const std::vector<const double*> read(out.begin(), out.end());
  combine(sources(read), sources(in), coefficients);
}

void Subspace::combine(const VectorSet& set, const Matrix& coefficients) const {
  const std::array<Source, 1> both{source(set, selected(0, 1))};
  combine(both, both, coefficients);
}

void Subspace::combine(std::span<const Source> out, std::span<const Source> in, const Matrix& coefficients) const {
  core::Region region("tddft/combinations");
  assert(coefficients.rows() == static_cast<int>(in.size()) * vectors_);
  assert(coefficients.columns() == static_cast<int>(out.size()) * vectors_);
  const bool alone = parts_.size() == 1;
  const std::int64_t width_of_out = coefficients.columns(), width_of_in = coefficients.rows();
  std::vector<Panel> from, to;
  from.push_back(panel(in, width_of_out));
  const std::int64_t run = from[0].run, runs = (points_ + run - 1) / run;
  to.push_back(panel(out, width_of_in));
  while (alone && static_cast<int>(from.size()) < blas::threads_for(runs)) {
    from.push_back(panel(in, width_of_out));
    to.push_back(panel(out, width_of_in));
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
