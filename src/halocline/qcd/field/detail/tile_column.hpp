// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The arithmetic of linear_algebra.hpp on one column of one tile, and the constants that fix the order of its sums.

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <algorithm>
#include <complex>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "halocline/core/device.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/qcd/field/detail/linear_algebra.hpp"

namespace halocline::qcd::detail {

using solve::Scalar;

/// Number of sites in a chunk, for one column. It fixes the order of all sums.
constexpr std::int64_t chunk_sites = 64;
/// Most chunks of a Gram matrix, which has a sum for each pair of columns. Enough for the threads of a node.
constexpr std::int64_t gram_chunks = 256;
/// Partial sums of one dot product and column: four chains, so that no multiply-add waits for the one before it. A norm
/// uses two for the real and two for the imaginary parts.
constexpr int chains = 4;

inline int most_threads() {
#if defined(_OPENMP)
  return omp_get_max_threads();
#else
  return 1;
#endif
}
inline int this_thread() {
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
    const std::int64_t paired = numbers / step * step;
    for (std::int64_t block = 0; block < paired; block += step)
      for (int lane = 0; lane < std::max(V, 2 * sum_width); lane += 2 * sum_width) {
        const T* a = x + block + lane;
        const T* b = V / sum_width >= 2 ? a + sum_width : a + 2 * V;
        const Sum ar = wide(a), ai = wide(a + V), br = wide(b), bi = wide(b + V);
        even_re += ar * ar;
        even_im += ai * ai;
        odd_re += br * br;
        odd_im += bi * bi;
      }
    if (paired < numbers) {  // an odd number of blocks, as in a field of three colours
      const Sum ar = wide(x + paired), ai = wide(x + paired + V);
      even_re += ar * ar;
      even_im += ai * ai;
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

  /// <x0, y> and <x1, y>; y is loaded and widened once.
  static void two_dots(double* sums0, double* sums1, const T* x0, const T* x1, const T* y, std::int64_t numbers) {
    Sum rr0 = S::load(sums0), ii0 = S::load(sums0 + sum_width);
    Sum ri0 = S::load(sums0 + 2 * sum_width), ir0 = S::load(sums0 + 3 * sum_width);
    Sum rr1 = S::load(sums1), ii1 = S::load(sums1 + sum_width);
    Sum ri1 = S::load(sums1 + 2 * sum_width), ir1 = S::load(sums1 + 3 * sum_width);
    for (std::int64_t block = 0; block < numbers; block += 2 * V)
      for (int lane = 0; lane < V; lane += sum_width) {
        const std::int64_t at = block + lane;
        const Sum yr = wide(y + at), yi = wide(y + at + V);
        const Sum ar = wide(x0 + at), ai = wide(x0 + at + V), br = wide(x1 + at), bi = wide(x1 + at + V);
        rr0 += ar * yr;
        ii0 += ai * yi;
        ri0 += ar * yi;
        ir0 += ai * yr;
        rr1 += br * yr;
        ii1 += bi * yi;
        ri1 += br * yi;
        ir1 += bi * yr;
      }
    S::store(sums0, rr0);
    S::store(sums0 + sum_width, ii0);
    S::store(sums0 + 2 * sum_width, ri0);
    S::store(sums0 + 3 * sum_width, ir0);
    S::store(sums1, rr1);
    S::store(sums1 + sum_width, ii1);
    S::store(sums1 + 2 * sum_width, ri1);
    S::store(sums1 + 3 * sum_width, ir1);
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

}  // namespace halocline::qcd::detail
