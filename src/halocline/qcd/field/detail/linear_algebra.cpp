// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/field/detail/linear_algebra.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "halocline/comm/group/communicator.hpp"
#include "halocline/comm/group/solver_communication.hpp"
#include "halocline/comm/sums/solver_reduction.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/device.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/lattice/dispatch.hpp"
#include "halocline/qcd/field/detail/block_walks.hpp"
#include "halocline/qcd/field/detail/tile_column.hpp"

namespace halocline::qcd::detail {
namespace {

/// A norm next to a dot product that contains its vector is computed together with it.
template <class T>
std::vector<DotPlan> plan_of(std::span<const FlatDot<T>> dots) {
  const auto is_norm = [](const FlatDot<T>& d) { return d.left == d.right; };
  std::vector<DotPlan> plan;
  for (std::size_t i = 0; i < dots.size(); ++i) {
    const int here = static_cast<int>(i), next = here + 1;
    if (i + 1 < dots.size() && is_norm(dots[i]) != is_norm(dots[i + 1])) {
      const bool norm_first = is_norm(dots[i]);
      const FlatDot<T>& dot = norm_first ? dots[i + 1] : dots[i];
      const T* of = norm_first ? dots[i].left : dots[i + 1].left;
      if (of == dot.left || of == dot.right) {
        plan.push_back({of == dot.left ? DotPlan::Kind::dot_and_norm_of_left : DotPlan::Kind::dot_and_norm_of_right,
                        norm_first ? next : here, norm_first ? here : next});
        ++i;
        continue;
      }
    }
    plan.push_back({is_norm(dots[i]) ? DotPlan::Kind::norm : DotPlan::Kind::dot, here, here});
  }
  return plan;
}

/// One walk over the memory. `partial` is [chunk][dot][column]. `under_way` has `stride` doubles for every thread.
template <class T, int V>
void walk(const FlatShape& shape, std::span<const FlatUpdate<T>> updates, std::span<const FlatDot<T>> dots,
          std::span<const DotPlan> plan, std::span<Scalar> partial, double* under_way, std::int64_t stride) {
  using Kernel = TileColumn<T, V>;
  using Kind = DotPlan::Kind;
  constexpr std::int64_t chunk_tiles = chunk_sites / V;
  const std::int64_t numbers = std::int64_t{shape.components} * V;
  const std::int64_t chunks = (shape.tiles + chunk_tiles - 1) / chunk_tiles;
  const int columns = shape.columns;
  const auto count = static_cast<std::int64_t>(dots.size());
#pragma omp parallel
  {
    double* const sums = under_way + this_thread() * stride;
    const auto place = [&](int dot, int column) { return sums + (dot * columns + column) * Kernel::sum_reals; };
#pragma omp for schedule(static)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      std::fill_n(sums, count * columns * Kernel::sum_reals, 0.0);
      const std::int64_t end = std::min(shape.tiles, (chunk + 1) * chunk_tiles);
      for (std::int64_t tile = chunk * chunk_tiles; tile < end; ++tile)
        for (int column = 0; column < columns; ++column) {
          const std::int64_t begin = (tile * columns + column) * numbers;
          for (const auto& update : updates) Kernel::update(update, column, begin, numbers);
          for (const auto& step : plan) {
            double* to = place(step.dot, column);
            double* norm = place(step.norm, column);
            const T* x = dots[static_cast<std::size_t>(step.dot)].left + begin;
            const T* y = dots[static_cast<std::size_t>(step.dot)].right + begin;
            switch (step.kind) {
            case Kind::norm:
              Kernel::norm(to, x, numbers);
              break;
            case Kind::dot:
              Kernel::template dot<Kind::dot>(to, norm, x, y, numbers);
              break;
            case Kind::dot_and_norm_of_left:
              Kernel::template dot<Kind::dot_and_norm_of_left>(to, norm, x, y, numbers);
              break;
            case Kind::dot_and_norm_of_right:
              Kernel::template dot<Kind::dot_and_norm_of_right>(to, norm, x, y, numbers);
              break;
            }
          }
        }
      for (std::int64_t dot = 0; dot < count; ++dot) {
        const bool norm = dots[static_cast<std::size_t>(dot)].left == dots[static_cast<std::size_t>(dot)].right;
        for (int column = 0; column < columns; ++column) {
          const double* from = place(static_cast<int>(dot), column);
          partial[static_cast<std::size_t>((chunk * count + dot) * columns + column)] =
              norm ? Kernel::finish_norm(from) : Kernel::finish_dot(from);
        }
      }
    }
  }
}

/// Doubles that one message over processes takes: those of a step of GMRES with deflation for each column.
std::size_t longest_sum(int columns) {
  constexpr int a_column = 192, most = 2048;
  return static_cast<std::size_t>(std::min(most, a_column * columns));
}

void sum_in_pieces(comm::Reduction& reduction, std::span<double> values) {
  for (std::size_t begin = 0; begin < values.size(); begin += reduction.longest())
    reduction.sum(values.subspan(begin, std::min(reduction.longest(), values.size() - begin)));
}

/// Replaces the local sums by sums over all processes, and those of `more`. Norms send their real part only.
template <class T>
void sum_over_processes(comm::Reduction& reduction, bool barrier_before, std::span<Scalar> sums,
                        std::span<const FlatDot<T>> dots, std::size_t columns, std::span<Scalar> more) {
  std::vector<double> values;
  values.reserve(2 * (sums.size() + more.size()));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    values.push_back(sums[i].real());
    if (dots[i / columns].left != dots[i / columns].right) values.push_back(sums[i].imag());
  }
  if (barrier_before) {
    const core::Region waiting("barrier");
    reduction.communicator().barrier();
  }
  // The region's name counts the reals of a column, for the report of the Schwarz solver (docs/benchmarks/schwarz.md).
  constexpr std::array<const char*, 4> names{"sum of 1", "sum of 2", "sum of 3", "sum of more"};
  const core::Region region(names[std::min(names.size(), values.size() / columns) - 1]);
  for (const Scalar& z : more) values.insert(values.end(), {z.real(), z.imag()});
  sum_in_pieces(reduction, values);
  auto next = values.begin();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double re = *next++;
    sums[i] = {re, dots[i / columns].left != dots[i / columns].right ? *next++ : 0.0};
  }
  for (Scalar& z : more) {
    z = {next[0], next[1]};
    next += 2;
  }
}

}  // namespace

template <class T>
LinearAlgebra<T>::LinearAlgebra(const FlatShape& shape, const comm::Communicator& group)
    : shape_(shape), group_(std::make_shared<const comm::Communicator>(group)) {
  if (shape.columns < 1 || shape.components < 2 || shape.components % 2 != 0)
    throw core::InvalidArgument(
        fmt::format("vectors of {} columns and {} reals a site were asked for; give at least one column, and reals in "
                    "pairs",
                    shape.columns, shape.components));
  reduction_ = std::make_shared<comm::Reduction>(comm::solver_reduction(group, longest_sum(shape.columns)));
  barrier_before_sums_ = comm::solver_communication(group).barrier_before_sums;
}

template <class T>
void LinearAlgebra<T>::check_size(std::int64_t size) const {
  const std::int64_t expected = shape_.tiles * shape_.columns * shape_.components * shape_.lanes;
  if (size != expected)
    throw core::InvalidArgument(
        fmt::format("a vector of {} numbers was given to a vector space of {}; give vectors that its create() has made",
                    size, expected));
}

template <class T>
void LinearAlgebra<T>::check_matrix(std::size_t entries) const {
  const auto columns = static_cast<std::size_t>(shape_.columns);
  if (entries != columns * columns)
    throw core::InvalidArgument(
        fmt::format("a small matrix of {} entries was given for vectors of {} columns; give columns x columns entries",
                    entries, columns));
}

template <class T>
void LinearAlgebra<T>::sum_many(std::span<double> values) const {
  // Ordered sums add in rank order, as the group does. Very many values are one message instead of many reductions.
  if (values.size() <= reduction_->longest())
    reduction_->sum(values);
  else
    group_->sum(values);
}

template <class T>
void LinearAlgebra<T>::run_gram(std::span<Scalar> out, const T* x, const T* y) const {
  const core::Region region("Gram matrix");
  check_matrix(out.size());
  std::ranges::fill(out, Scalar(0.0));
  lattice::with_lanes(shape_.lanes, [&]<int V> {
    const std::int64_t chunk_tiles = std::max<std::int64_t>(1, (shape_.tiles + gram_chunks - 1) / gram_chunks);
    const auto chunks = static_cast<std::size_t>((shape_.tiles + chunk_tiles - 1) / chunk_tiles);
    std::vector<Scalar> partial(chunks * out.size());
    const std::int64_t stride = static_cast<std::int64_t>(out.size()) * TileColumn<T, V>::sum_reals / 8 * 8 + 16;
    core::AlignedArray<double> under_way(stride * most_threads());
    gram_walk<T, V>(shape_, x, y, chunk_tiles, partial, under_way.data(), stride);
    for (std::size_t i = 0; i < partial.size(); ++i) out[i % out.size()] += partial[i];
  });
  // Reals in the order of the matrix; of a hermitian one, the triangle that was computed.
  const auto columns = static_cast<std::size_t>(shape_.columns);
  std::vector<double> values;
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t j = x == y ? i : 0; j < columns; ++j)
      values.insert(values.end(), {out[i * columns + j].real(), out[i * columns + j].imag()});
  sum_many(values);
  auto next = values.begin();
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t j = x == y ? i : 0; j < columns; ++j, next += 2) {
      out[i * columns + j] = {next[0], next[1]};
      if (x == y) out[j * columns + i] = std::conj(out[i * columns + j]);
    }
}

template <class T>
void LinearAlgebra<T>::run_multiply(T* y, const T* x, std::span<const Scalar> m, bool overwrite) const {
  const core::Region region("small matrix product");
  check_matrix(m.size());
  if (x == y)
    throw core::InvalidArgument("a product with a small matrix was asked into its own factor; give two vectors");
  lattice::with_lanes(shape_.lanes, [&]<int V> { multiply_walk<T, V>(shape_, y, x, m, overwrite); });
}

template <class T>
solve::Scalars LinearAlgebra<T>::run_shared_dots(std::span<const T* const> shared, const T* y) const {
  const core::Region region("products with shared vectors");
  solve::Scalars sums(shared.size() * static_cast<std::size_t>(shape_.columns));
  lattice::with_lanes(shape_.lanes, [&]<int V> {
    constexpr std::int64_t chunk_tiles = chunk_sites / V;
    const std::int64_t chunks = (shape_.tiles + chunk_tiles - 1) / chunk_tiles;
    std::vector<Scalar> partial(static_cast<std::size_t>(chunks) * sums.size());
    const std::int64_t stride = static_cast<std::int64_t>(sums.size()) * TileColumn<T, V>::sum_reals / 8 * 8 + 16;
    core::AlignedArray<double> under_way(stride * most_threads());
    shared_dots_walk<T, V>(shape_, shared, y, partial, under_way.data(), stride);
    for (std::size_t i = 0; i < partial.size(); ++i) sums[i % sums.size()] += partial[i];
  });
  std::vector<double> values;
  values.reserve(2 * sums.size());
  for (const Scalar& sum : sums) values.insert(values.end(), {sum.real(), sum.imag()});
  if (!values.empty()) sum_many(values);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = {values[2 * i], values[2 * i + 1]};
  return sums;
}

template <class T>
void LinearAlgebra<T>::run_shared_add(T* y, std::span<const Scalar> a, std::span<const T* const> shared) const {
  const core::Region region("products with shared vectors");
  if (a.size() != shared.size() * static_cast<std::size_t>(shape_.columns))
    throw core::InvalidArgument(fmt::format("{} coefficients were given for {} shared vectors and {} columns; give one "
                                            "for each pair of them",
                                            a.size(), shared.size(), shape_.columns));
  lattice::with_lanes(shape_.lanes, [&]<int V> { shared_add_walk<T, V>(shape_, y, a, shared); });
}

template <class T>
solve::Scalars LinearAlgebra<T>::run(std::span<const FlatUpdate<T>> updates, std::span<const FlatDot<T>> dots,
                                     std::span<Scalar> more) const {
  const core::Region region("linear algebra");
  const auto columns = static_cast<std::size_t>(shape_.columns);
  const auto check = [&](std::span<const Scalar> a) {
    if (!a.empty() && a.size() < columns)
      throw core::InvalidArgument(
          fmt::format("{} coefficients were given for vectors of {} columns; give one a column", a.size(), columns));
  };
  for (const auto& update : updates) {
    check(update.scale);
    for (const auto& a : update.coefficients) check(a);
  }
  const std::vector<DotPlan> plan = plan_of(dots);
  solve::Scalars sums(dots.size() * columns);
  lattice::with_lanes(shape_.lanes, [&]<int V> {
    constexpr std::int64_t chunk_tiles = chunk_sites / V;
    const std::int64_t chunks = (shape_.tiles + chunk_tiles - 1) / chunk_tiles;
    std::vector<Scalar> partial(static_cast<std::size_t>(chunks) * sums.size());
    // Padded by a cache line between the threads.
    const std::int64_t stride = static_cast<std::int64_t>(sums.size()) * TileColumn<T, V>::sum_reals / 8 * 8 + 16;
    core::AlignedArray<double> under_way(stride * most_threads());
    walk<T, V>(shape_, updates, dots, plan, partial, under_way.data(), stride);
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] += partial[static_cast<std::size_t>(chunk) * sums.size() + i];
  });
  if (!dots.empty())
    sum_over_processes(*reduction_, barrier_before_sums_, std::span<Scalar>(sums), dots, columns, more);
  return sums;
}

template class LinearAlgebra<float>;
template class LinearAlgebra<double>;

}  // namespace halocline::qcd::detail
