// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/field/detail/linear_algebra.hpp"

#include <fmt/format.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <algorithm>

#include "halocline/comm/group/communicator.hpp"
#include "halocline/comm/group/time_limit.hpp"
#include "halocline/comm/sums/reduction.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/device.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/core/region.hpp"
#include "halocline/lattice/dispatch.hpp"

namespace halocline::qcd::detail {
namespace {

using solve::Scalar;

/// Number of sites in a chunk, for one column. It fixes the order of all sums.
constexpr std::int64_t chunk_sites = 64;
/// Most chunks of a Gram matrix, which has a sum for each pair of columns. Enough for the threads of a node.
constexpr std::int64_t gram_chunks = 256;
/// Partial sums of one dot product and column: four chains, so that no multiply-add waits for the one before it. A norm
/// uses two for the real and two for the imaginary parts.
constexpr int chains = 4;

int most_threads() {
#if defined(_OPENMP)
  return omp_get_max_threads();
#else
  return 1;
#endif
}
int this_thread() {
#if defined(_OPENMP)
  return omp_get_thread_num();
#else
  return 0;
#endif
}

template <class T>
struct Coefficient {
  T re, im;
};
template <class T>
Coefficient<T> coefficient_of(std::span<const Scalar> a, int column) {
  if (a.empty()) return {T(1), T(0)};
  const Scalar& value = a[static_cast<std::size_t>(column)];
  return {static_cast<T>(value.real()), static_cast<T>(value.imag())};
}

/// How a dot product of the list is computed, and where its sums go.
struct DotPlan {
  enum class Kind { norm, dot, dot_and_norm_of_left, dot_and_norm_of_right };
  Kind kind;
  int dot;   ///< its number in the list
  int norm;  ///< number of the norm computed with it; the same as `dot` if there is none
};

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

/// The arithmetic on one column of one tile: `numbers` reals, V real parts, then V imaginary parts, and so on.
template <class T, int V>
struct TileColumn {
  static constexpr int width = core::pack_lanes<T, V>;
  using Real = core::Number<T, width>;
  using L = core::Lanes<Real>;
  static constexpr int sum_width = std::min(V, core::native_lanes<double>);
  using Sum = core::Number<double, sum_width>;
  using S = core::Lanes<Sum>;
  static constexpr int sum_reals = chains * sum_width;  ///< doubles that hold the chains of one sum

  /// y = s y + a x + b z, or y = a x + b z; absent terms are left out.
  static void update(const FlatUpdate<T>& update, int column, std::int64_t begin, std::int64_t numbers) {
    if (update.overwrite) return with_count<false, false>(update, column, begin, numbers);
    if (update.scale.empty()) return with_count<true, false>(update, column, begin, numbers);
    return with_count<true, true>(update, column, begin, numbers);
  }

  static void norm(double* sums, const T* x, std::int64_t numbers) {
    Sum even_re = S::load(sums), even_im = S::load(sums + sum_width);
    Sum odd_re = S::load(sums + 2 * sum_width), odd_im = S::load(sums + 3 * sum_width);
    // The chains alternate between the sub-packs of a block if it has several, else between blocks.
    constexpr std::int64_t step = V / sum_width >= 2 ? 2 * V : 4 * V;
    static_assert(V / sum_width <= 2 || V / sum_width % 2 == 0);
    for (std::int64_t block = 0; block < numbers; block += step)
      for (int lane = 0; lane < std::max(V, 2 * sum_width); lane += 2 * sum_width) {
        const T* a = x + block + lane;
        const T* b = V / sum_width >= 2 ? a + sum_width : a + 2 * V;
        const Sum ar = wide(a), ai = wide(a + V), br = wide(b), bi = wide(b + V);
        even_re += ar * ar;
        even_im += ai * ai;
        odd_re += br * br;
        odd_im += bi * bi;
      }
    S::store(sums, even_re);
    S::store(sums + sum_width, even_im);
    S::store(sums + 2 * sum_width, odd_re);
    S::store(sums + 3 * sum_width, odd_im);
  }

  /// <x, y>, and <x, x> or <y, y> with it.
  template <DotPlan::Kind kind>
  static void dot(double* dot_sums, double* norm_sums, const T* x, const T* y, std::int64_t numbers) {
    constexpr bool with_norm = kind != DotPlan::Kind::dot;
    Sum rr = S::load(dot_sums), ii = S::load(dot_sums + sum_width);
    Sum ri = S::load(dot_sums + 2 * sum_width), ir = S::load(dot_sums + 3 * sum_width);
    Sum norm_re(0.0), norm_im(0.0);
    if constexpr (with_norm) {
      norm_re = S::load(norm_sums);
      norm_im = S::load(norm_sums + sum_width);
    }
    for (std::int64_t block = 0; block < numbers; block += 2 * V)
      for (int lane = 0; lane < V; lane += sum_width) {
        const std::int64_t at = block + lane;
        const Sum xr = wide(x + at), xi = wide(x + at + V), yr = wide(y + at), yi = wide(y + at + V);
        rr += xr * yr;
        ii += xi * yi;
        ri += xr * yi;
        ir += xi * yr;
        if constexpr (with_norm) {
          const Sum nr = kind == DotPlan::Kind::dot_and_norm_of_left ? xr : yr;
          const Sum ni = kind == DotPlan::Kind::dot_and_norm_of_left ? xi : yi;
          norm_re += nr * nr;
          norm_im += ni * ni;
        }
      }
    S::store(dot_sums, rr);
    S::store(dot_sums + sum_width, ii);
    S::store(dot_sums + 2 * sum_width, ri);
    S::store(dot_sums + 3 * sum_width, ir);
    if constexpr (with_norm) {
      S::store(norm_sums, norm_re);
      S::store(norm_sums + sum_width, norm_im);
    }
  }

  /// One column of y = y + x m or, if `overwrite`, of y = x m, for columns of x with a non-zero coefficient: their
  /// begin in memory, and the coefficient.
  template <bool overwrite>
  static void multiply(T* y, std::span<const std::pair<const T*, Coefficient<T>>> terms, std::int64_t offset,
                       std::int64_t numbers) {
    for (std::int64_t block = 0; block < numbers; block += 2 * V)
      for (int lane = 0; lane < V; lane += width) {
        const std::int64_t at = offset + block + lane;
        Real re(T(0)), im(T(0));
        if constexpr (!overwrite) {
          re = L::load(y + at);
          im = L::load(y + at + V);
        }
        for (const auto& [x, a] : terms) {
          const Real xr = L::load(x + at), xi = L::load(x + at + V);
          re += Real(a.re) * xr - Real(a.im) * xi;
          im += Real(a.re) * xi + Real(a.im) * xr;
        }
        L::store(y + at, re);
        L::store(y + at + V, im);
      }
  }

  static Scalar finish_norm(const double* sums) {
    const Sum even = S::load(sums) + S::load(sums + sum_width);
    const Sum odd = S::load(sums + 2 * sum_width) + S::load(sums + 3 * sum_width);
    return {total(even + odd), 0.0};
  }
  static Scalar finish_dot(const double* sums) {
    const Sum re = S::load(sums) + S::load(sums + sum_width);
    const Sum im = S::load(sums + 2 * sum_width) - S::load(sums + 3 * sum_width);
    return {total(re), total(im)};
  }

private:
  /// Loads and widens.
  static HALOCLINE_INLINE Sum wide(const T* from) {
    if constexpr (sum_width == 1)
      return static_cast<double>(*from);
    else if constexpr (std::is_same_v<T, double>)
      return Sum::load(from);
    else
      return core::convert<double>(core::Pack<T, sum_width>::load(from));
  }
  static double total(const Sum& sum) {
    if constexpr (sum_width == 1)
      return sum;
    else
      return core::horizontal_sum(sum);
  }

  template <bool keep, bool scaled>
  static void with_count(const FlatUpdate<T>& u, int column, std::int64_t begin, std::int64_t numbers) {
    switch (u.count) {
    case 0:
      return carry_out<keep, scaled, 0>(u, column, begin, numbers);
    case 1:
      return carry_out<keep, scaled, 1>(u, column, begin, numbers);
    default:
      return carry_out<keep, scaled, 2>(u, column, begin, numbers);
    }
  }

  template <bool keep, bool scaled, int count>
  static void carry_out(const FlatUpdate<T>& u, int column, std::int64_t begin, std::int64_t numbers) {
    T* y = u.target + begin;
    const auto s = coefficient_of<T>(u.scale, column);
    const T* x[2] = {nullptr, nullptr};
    Coefficient<T> a[2] = {};
    bool frozen = keep && s.re == T(1) && s.im == T(0);
    for (int i = 0; i < count; ++i) {
      x[i] = u.summands[i] + begin;
      a[i] = coefficient_of<T>(u.coefficients[i], column);
      frozen = frozen && a[i].re == T(0) && a[i].im == T(0);
    }
    if (frozen) return;
    for (std::int64_t block = 0; block < numbers; block += 2 * V)
      for (int lane = 0; lane < V; lane += width) {
        const std::int64_t at = block + lane;
        Real re(T(0)), im(T(0));
        if constexpr (keep) {
          re = L::load(y + at);
          im = L::load(y + at + V);
        }
        if constexpr (scaled) {
          const Real old = re;
          re = Real(s.re) * old - Real(s.im) * im;
          im = Real(s.re) * im + Real(s.im) * old;
        }
#pragma GCC unroll 2
        for (int i = 0; i < count; ++i) {
          const Real xr = L::load(x[i] + at), xi = L::load(x[i] + at + V);
          re += Real(a[i].re) * xr - Real(a[i].im) * xi;
          im += Real(a[i].re) * xi + Real(a[i].im) * xr;
        }
        L::store(y + at, re);
        L::store(y + at + V, im);
      }
  }
};

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

/// The local sums of a Gram matrix, one chunk at a time: `partial` is [chunk][i][j]. If x is y, only j >= i.
template <class T, int V>
void gram_walk(const FlatShape& shape, const T* x, const T* y, std::int64_t chunk_tiles, std::span<Scalar> partial,
               double* under_way, std::int64_t stride) {
  using Kernel = TileColumn<T, V>;
  const std::int64_t numbers = std::int64_t{shape.components} * V;
  const std::int64_t chunks = (shape.tiles + chunk_tiles - 1) / chunk_tiles;
  const int columns = shape.columns;
#pragma omp parallel
  {
    double* const sums = under_way + this_thread() * stride;
#pragma omp for schedule(static)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      std::fill_n(sums, std::int64_t{columns} * columns * Kernel::sum_reals, 0.0);
      const std::int64_t end = std::min(shape.tiles, (chunk + 1) * chunk_tiles);
      for (std::int64_t tile = chunk * chunk_tiles; tile < end; ++tile)
        for (int i = 0; i < columns; ++i) {
          const T* left = x + (tile * columns + i) * numbers;
          for (int j = x == y ? i : 0; j < columns; ++j) {
            double* to = sums + (i * columns + j) * Kernel::sum_reals;
            const T* right = y + (tile * columns + j) * numbers;
            if (left == right)
              Kernel::norm(to, left, numbers);
            else
              Kernel::template dot<DotPlan::Kind::dot>(to, to, left, right, numbers);
          }
        }
      for (int i = 0; i < columns; ++i)
        for (int j = x == y ? i : 0; j < columns; ++j) {
          const double* from = sums + (i * columns + j) * Kernel::sum_reals;
          partial[static_cast<std::size_t>((chunk * columns + i) * columns + j)] =
              x == y && i == j ? Kernel::finish_norm(from) : Kernel::finish_dot(from);
        }
    }
  }
}

/// y = x m or y += x m, tile by tile: all columns of a tile of x stay in cache while the columns of y are made.
template <class T, int V>
void multiply_walk(const FlatShape& shape, T* y, const T* x, std::span<const Scalar> m, bool overwrite) {
  using Kernel = TileColumn<T, V>;
  using Term = std::pair<const T*, Coefficient<T>>;
  const std::int64_t numbers = std::int64_t{shape.components} * V;
  const int columns = shape.columns;
  std::vector<std::vector<Term>> terms(static_cast<std::size_t>(columns));  // of each column of y
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j < columns; ++j) {
      const auto a = coefficient_of<T>(m, i * columns + j);
      if (a.re != T(0) || a.im != T(0)) terms[static_cast<std::size_t>(j)].emplace_back(x + i * numbers, a);
    }
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < shape.tiles; ++tile)
    for (int j = 0; j < columns; ++j) {
      const std::span<const Term> list = terms[static_cast<std::size_t>(j)];
      const std::int64_t offset = tile * columns * numbers;
      if (overwrite)
        Kernel::template multiply<true>(y + j * numbers, list, offset, numbers);
      else if (!list.empty())
        Kernel::template multiply<false>(y + j * numbers, list, offset, numbers);
    }
}

/// Replaces the local sums by sums over all processes. Norms send their real part only.
template <class T>
void sum_over_processes(comm::Reduction& reduction, std::span<Scalar> sums, std::span<const FlatDot<T>> dots,
                        std::size_t columns) {
  std::vector<double> values;
  values.reserve(2 * sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    values.push_back(sums[i].real());
    if (dots[i / columns].left != dots[i / columns].right) values.push_back(sums[i].imag());
  }
  // The region's name counts the reals of a column, for the report of the Schwarz solver (docs/benchmarks/schwarz.md).
  constexpr std::array<const char*, 4> names{"sum of 1", "sum of 2", "sum of 3", "sum of more"};
  const core::Region region(names[std::min(names.size(), values.size() / columns) - 1]);
  for (std::size_t begin = 0; begin < values.size(); begin += comm::Reduction::most)
    reduction.sum(std::span(values).subspan(begin, std::min(comm::Reduction::most, values.size() - begin)));
  auto next = values.begin();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double re = *next++;
    sums[i] = {re, dots[i / columns].left != dots[i / columns].right ? *next++ : 0.0};
  }
}

}  // namespace

template <class T>
LinearAlgebra<T>::LinearAlgebra(const FlatShape& shape, const comm::Communicator& group)
    : shape_(shape), group_(std::make_shared<const comm::Communicator>(group)) {
  if (shape.columns < 1 || shape.components < 2 || shape.components % 4 != 0)
    throw core::InvalidArgument(
        fmt::format("vectors of {} columns and {} reals a site were asked for; give at least one column, and reals in "
                    "pairs of complex numbers",
                    shape.columns, shape.components));
  reduction_ =
      std::make_shared<comm::Reduction>(group, comm::ReductionOptions{.time_limit = comm::solve_time_limit(group)});
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
  // Both ways add in rank order. Many values are one message instead of many small reductions.
  if (values.size() <= comm::Reduction::most)
    reduction_->sum(values);
  else
    group_->sum(std::span(values));
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
solve::Scalars LinearAlgebra<T>::run(std::span<const FlatUpdate<T>> updates, std::span<const FlatDot<T>> dots) const {
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
  if (!dots.empty()) sum_over_processes(*reduction_, std::span<Scalar>(sums), dots, columns);
  return sums;
}

template class LinearAlgebra<float>;
template class LinearAlgebra<double>;

}  // namespace halocline::qcd::detail
