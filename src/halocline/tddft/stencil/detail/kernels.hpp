// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The physics of one grid point, over a number type and an accessor, and the loop over a row of points.
///
/// A number P is a register of orbitals' (re, im) pairs; the accessor gives the neighbour at a distance along an axis.
/// The kernel forms two sums with real weights,
///   K = (v + c) psi - sum_a sum_j l_aj / 2 (psi+ + psi-),      G = sum_a q_a sum_j n_aj (psi+ - psi-),
/// so that H psi = K - i G. The product with i swaps the pairs inside the register, once for each point. With a real
/// factor f the result is f K + swap(f G) (+ on re, - on im), with an imaginary factor i f it is f G + swap(f K) (- on
/// re, + on im). The weights include the factor f, so that a step of a Taylor or Chebyshev recursion costs no more than
/// H.
///
/// Counts for each register and point, with the gradient along all axes: 24 loads of neighbours, 1 of the point itself,
/// 1 of the potential, 1 of the base; 24 sums and differences of pairs; 12 multiply-adds for the curvature, 12 for the
/// slopes, 3 for q, 2 for the diagonal, 1 for the swap, 1 for the base. The nominal count is 158 flops for each orbital
/// (as in the report on the optimisation of SALMON for Fugaku), or 632 for the four orbitals of a 512-bit register.
/// That is the work of 39.5 multiply-adds, done in 31 multiply-adds and 24 additions. The row pointers (16) stay on the
/// stack: their loads use slots that the vector loads leave free.
///
/// Axes that are not orthogonal: skew_kernels.hpp.

#include "halocline/core/pack.hpp"
#include "halocline/tddft/base/lines.hpp"
#include "halocline/tddft/base/orbitals.hpp"
#include "halocline/tddft/stencil/coefficients.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace halocline::tddft::detail {

/// The register type for a point of a block: one register of 512 bits, or several smaller ones.
template <class T>
using RegisterOf = core::Pack < T,
      core::native_lanes<T><numbers_per_point<T> ? core::native_lanes<T> : numbers_per_point<T>>;
using Register = RegisterOf<double>;

/// Selects what a kernel computes; chosen outside the loops.
struct Form {
  int slopes = 7;          ///< bit a: include the gradient along axis a
  bool imaginary = false;  ///< the factor is imaginary
  bool base = false;       ///< add the base
  bool current = false;    ///< sum psi* grad psi
  bool skew = false;       ///< axes that are not orthogonal: slopes along all directions or none
  bool single = false;     ///< lines of float
};
template <Form form>
using NumberOf = std::conditional_t<form.single, float, double>;

/// Three axes, and diagonals where they are not orthogonal. Kernels form that many sums of psi times its slope.
inline constexpr int most_directions = 6;
/// Numbers of such a sum, in double also for lines of float.
inline constexpr int most_products = numbers_per_point<float>;

/// Weights, including the factor.
struct Weights {
  double potential = 1;  ///< of v
  double centre = 0;     ///< of psi
  /// Of psi+ + psi-, for each axis, and for each diagonal where axes are not orthogonal.
  std::array<std::array<double, stencil_reach>, most_directions> curvature{};
  std::array<double, stencil_reach> slope{};  ///< of psi+ - psi-
  std::array<double, most_directions> q{};    ///< of the slope along each axis and diagonal
  /// For the kernels of slopes: the gradient is the sum over axes and diagonals of these vectors times the slope.
  std::array<Vec3, most_directions> gradient{};
  int directions = 3;  ///< number of axes and diagonals
  double base = 0;
  Vec3 momentum{};  ///< for the kernels of kinetic energy densities [1/bohr]
};

/// One row of consecutive points. Points are lines of 8 doubles, or of 16 floats that kernels read as such.
struct Row {
  double* out = nullptr;
  const double* base = nullptr;
  const double* v = nullptr;      ///< one double for each point
  const double* along = nullptr;  ///< `in`, with its neighbours in x on both sides
  /// `in` at distances -4 -3 -2 -1 1 2 3 4.
  std::array<const double*, 8> y{}, z{};
  /// Where axes are not orthogonal: the same along each axis and diagonal, instead of y and z.
  std::array<std::array<const double*, 8>, most_directions> neighbours{};
  std::int64_t points = 0;
  /// Distance from this row to the row that is written next [doubles], for prefetching the lines of `out` and `base`:
  /// the hardware prefetcher follows too many other streams here to detect them. 0: they are in the cache already.
  std::int64_t ahead = 0;
  std::int64_t component =
      0;  ///< distance from one slope of a point to the next, for the kernels of slopes and fields [doubles]
  double* field = nullptr;          ///< scalar fields of the box at the first point, for the kernels of fields
  const double* factors = nullptr;  ///< of each number of a point, for the gradient of the density
  std::int64_t kept_begin = 0, kept_end = 0;  ///< the points of the row whose slopes are stored
  /// Of a momentum that depends on the place (local_kernels.hpp): links along x of the first point, the distances to
  /// those of the next row along y and z and to those along the next axis [doubles], and q^2/2 at each point.
  const double* links = nullptr;
  std::int64_t links_y = 0, links_z = 0, links_axis = 0;
  const double* energies = nullptr;
};

/// A number in every lane.
template <class P>
__attribute__((always_inline)) inline P everywhere(double number) {
  return P(static_cast<typename P::Scalar>(number));
}

/// even, odd, even, odd, ...
template <class P>
inline P alternating(double even, double odd) {
  P p = everywhere<P>(even);
  for (int i = 1; i < P::lanes; i += 2) p.set(i, static_cast<typename P::Scalar>(odd));
  return p;
}

/// A sum that a kernel goes on with from one row to the next: kept as it is in double, and in float begun anew for each
/// row and added in double, so that its rounding does not grow with the number of points.
template <class P>
__attribute__((always_inline)) inline P begun_sum(const double* sums) {
  if constexpr (std::is_same_v<typename P::Scalar, double>)
    return P::load(sums);
  else
    return P(typename P::Scalar(0));
}
template <class P>
__attribute__((always_inline)) inline void finish_sum(double* sums, const P& p) {
  if constexpr (std::is_same_v<typename P::Scalar, double>)
    p.store(sums);
  else
    add_to(sums, p);
}

/// Keeps a number that is used twice in its register. The compiler would rather load it twice, and loads limit the
/// speed here.
template <class P>
__attribute__((always_inline)) inline void hold([[maybe_unused]] P& p) {
#if defined(__AVX512F__)
  if constexpr (sizeof(P) == 64) __asm__("" : "+v"(p.v));
#endif
}

/// Adds the sums over the neighbours along one axis.
/// @param at  at(j) is the neighbour at the distance j, -4 to 4
template <bool with_slope, class P, class At>
__attribute__((always_inline)) inline void add_axis(P& curvature, P& slope, const std::array<P, stencil_reach>& l,
                                                    const std::array<P, stencil_reach>& n, At&& at) {
#pragma GCC unroll 4
  for (int j = 1; j <= stencil_reach; ++j) {
    P up = at(j), down = at(-j);
    hold(up);
    hold(down);
    const auto weight = static_cast<std::size_t>(j - 1);
    curvature += l[weight] * (up + down);
    if constexpr (with_slope) {
      if (j == 1)
        slope = n[weight] * (up - down);
      else
        slope += n[weight] * (up - down);
    }
  }
}

/// Weights in registers.
template <class P>
struct Constants {
  explicit Constants(const Weights& w, const Form& form)
      : potential(everywhere<P>(w.potential)),
        centre(everywhere<P>(w.centre)),
        base(everywhere<P>(w.base)),
        swapped(form.imaginary ? alternating<P>(-1.0, 1.0) : alternating<P>(1.0, -1.0)) {
    for (std::size_t a = 0; a < 3; ++a) {
      q[a] = everywhere<P>(w.q[a]);
      for (std::size_t j = 0; j < stencil_reach; ++j) curvature[a][j] = everywhere<P>(w.curvature[a][j]);
    }
    for (std::size_t j = 0; j < stencil_reach; ++j) slope[j] = everywhere<P>(w.slope[j]);
  }
  P potential, centre, base, swapped;
  std::array<std::array<P, stencil_reach>, 3> curvature;
  std::array<P, stencil_reach> slope;
  std::array<P, 3> q;
};

/// One point: factor (H - shift) psi, without the base.
/// @param at        at(axis, j): the neighbour at the distance j
/// @param v         the potential in every lane
/// @param products  with form.current, adds psi times the swapped slope along each axis: +Im(psi* slope) is the even
///                  lane minus the odd one
template <Form form, class P, class At>
__attribute__((always_inline)) inline P point(const Constants<P>& w, const P& psi, const P& v, At&& at,
                                              std::array<P, 3>& products) {
  P kinetic = (w.potential * v + w.centre) * psi, gradient;
  bool first = true;
  const auto axis = [&]<int a>(std::integral_constant<int, a>) __attribute__((always_inline)) {
    constexpr bool with_slope = ((form.slopes >> a) & 1) != 0;
    constexpr auto place = static_cast<std::size_t>(a);
    P slope;
    add_axis<with_slope>(kinetic, slope, w.curvature[place], w.slope, [&](int j) { return at(a, j); });
    if constexpr (with_slope) {
      gradient = first ? w.q[place] * slope : gradient + w.q[place] * slope;
      first = false;
      if constexpr (form.current) products[place] += psi * swap_pairs(slope);
    }
  };
  axis(std::integral_constant<int, 0>{});
  axis(std::integral_constant<int, 1>{});
  axis(std::integral_constant<int, 2>{});
  if constexpr (form.imaginary) {
    const P swapped = w.swapped * swap_pairs(kinetic);
    if constexpr (form.slopes != 0)
      return swapped + gradient;
    else
      return swapped;
  } else {
    if constexpr (form.slopes != 0)
      return kinetic + w.swapped * swap_pairs(gradient);
    else
      return kinetic;
  }
}

/// A row of points. @param products  shape (6, most_products), see point(); read and written with form.current only
template <Form form>
__attribute__((noinline)) void apply_row(const Row& row, const Weights& weights, double* products) {
  using T = NumberOf<form>;
  using P = RegisterOf<T>;
  constexpr int line = numbers_per_point<T>;
  const Constants<P> w(weights, form);
  std::array<const T*, 8> y, z;
  for (std::size_t j = 0; j < 8; ++j) {
    y[j] = reinterpret_cast<const T*>(row.y[j]);
    z[j] = reinterpret_cast<const T*>(row.z[j]);
  }
  const T *along = reinterpret_cast<const T*>(row.along), *base = reinterpret_cast<const T*>(row.base);
  const double* v = row.v;
  T* out = reinterpret_cast<T*>(row.out);
  const std::int64_t ahead = row.ahead * (line / doubles_per_point);
  const std::int64_t end = row.points * line;
  for (int lane = 0; lane < line; lane += P::lanes) {
    std::array<P, 3> sums;
    if constexpr (form.current)
      for (int a = 0; a < 3; ++a) sums[static_cast<std::size_t>(a)] = begun_sum<P>(products + most_products * a + lane);
    for (std::int64_t i = lane; i < end; i += line) {
      const auto at = [&](int axis, int j) __attribute__((always_inline)) {
        const auto place = static_cast<std::size_t>(j < 0 ? j + 4 : j + 3);
        if (axis == 0) return P::load(along + i + j * line);
        return P::load((axis == 1 ? y[place] : z[place]) + i);
      };
      P result = point<form>(w, P::load(along + i), everywhere<P>(v[i / line]), at, sums);
      if (ahead != 0) {
        __builtin_prefetch(out + i + ahead, 1, 3);
        if constexpr (form.base) __builtin_prefetch(base + i + ahead, 0, 3);
      }
      if constexpr (form.base) result += w.base * P::load(base + i);
      result.store(out + i);
    }
    if constexpr (form.current)
      for (int a = 0; a < 3; ++a) finish_sum(products + most_products * a + lane, sums[static_cast<std::size_t>(a)]);
  }
}

/// The slopes along x, y and z of the numbers of a point in one register, not yet divided by the spacing.
/// @param i  of the first number in the row
template <class T>
__attribute__((always_inline)) inline std::array<RegisterOf<T>, 3>
slopes_at(const Row& row, const Constants<RegisterOf<T>>& w, std::int64_t i) {
  using P = RegisterOf<T>;
  constexpr int line = numbers_per_point<T>;
  const auto at = [i](const double* lines, std::int64_t shift)
                      __attribute__((always_inline)) { return P::load(reinterpret_cast<const T*>(lines) + i + shift); };
  std::array<P, 3> slopes{P(T(0)), P(T(0)), P(T(0))};
#pragma GCC unroll 4
  for (int j = 1; j <= stencil_reach; ++j) {
    const auto up = static_cast<std::size_t>(j + 3), down = static_cast<std::size_t>(4 - j);
    const P& n = w.slope[static_cast<std::size_t>(j - 1)];
    slopes[0] += n * (at(row.along, j * line) - at(row.along, -j * line));
    slopes[1] += n * (at(row.y[up], 0) - at(row.y[down], 0));
    slopes[2] += n * (at(row.z[up], 0) - at(row.z[down], 0));
  }
  return slopes;
}

/// Computes the slopes only: adds psi times its swapped slopes to `products`, shape (6, most_products).
template <class T>
inline void current_row(const Row& row, const Weights& weights, double* products) {
  using P = RegisterOf<T>;
  constexpr int line = numbers_per_point<T>;
  const Constants<P> w(weights, Form{});
  const Row here = row;
  const std::int64_t end = row.points * line;
  for (int lane = 0; lane < line; lane += P::lanes) {
    std::array<P, 3> sums;
    for (int a = 0; a < 3; ++a) sums[static_cast<std::size_t>(a)] = begun_sum<P>(products + most_products * a + lane);
    for (std::int64_t i = lane; i < end; i += line) {
      const P psi = P::load(reinterpret_cast<const T*>(here.along) + i);
      const std::array<P, 3> slopes = slopes_at<T>(here, w, i);
      for (std::size_t a = 0; a < 3; ++a) sums[a] += psi * swap_pairs(slopes[a]);
    }
    for (int a = 0; a < 3; ++a) finish_sum(products + most_products * a + lane, sums[static_cast<std::size_t>(a)]);
  }
}

inline constexpr int registers_per_point = doubles_per_point / Register::lanes;

/// The sums over the numbers of some points next to each other in a row, as many as a register has lanes, so that the
/// lanes of all of them are added together.
class PointSums {
public:
  static constexpr int points = Register::lanes;

  void set(int point, const std::array<Register, 3>& sums) {
    for (std::size_t a = 0; a < 3; ++a) sums_[a][static_cast<std::size_t>(point)] = sums[a];
  }

  /// field[axis component + point] += weights[axis] times the sum of the first `count` points.
  void add_to(double* field, std::int64_t component, const std::array<double, 3>& weights, std::int64_t count) const {
    for (std::size_t a = 0; a < 3; ++a) {
      const Register sum = Register(weights[a]) * core::horizontal_sums(sums_[a]);
      double* to = field + static_cast<std::int64_t>(a) * component;
      if (count == points) {
        (Register::load(to) + sum).store(to);
      } else {
        std::array<double, points> numbers;
        sum.store(numbers.data());
        for (std::int64_t p = 0; p < count; ++p) to[p] += numbers[static_cast<std::size_t>(p)];
      }
    }
  }

private:
  std::array<std::array<Register, points>, 3> sums_{};
};

/// Adds the sum over the numbers of a point of factors times psi times slope to the gradient, shape (3, points) of
/// row.field, and stores the slopes along x, y and z of some points of the row. Adds psi times its swapped slopes to
/// `products` as current_row() does.
inline void density_gradient_row(const Row& given, const Weights& weights, double* products) {
  using P = Register;
  const Row row = given;  // a copy that no store can change
  const Constants<P> w(weights, Form{});
  const std::int64_t kept_begin = row.kept_begin * doubles_per_point, kept_end = row.kept_end * doubles_per_point;
  const std::array<double, 3> per_step{weights.gradient[0][0], weights.gradient[1][1], weights.gradient[2][2]};
  std::array<std::array<P, 3>, registers_per_point> current;
  for (std::size_t r = 0; r < registers_per_point; ++r)
    for (std::size_t a = 0; a < 3; ++a) current[r][a] = P::load(products + most_products * a + r * P::lanes);
  PointSums sums;
  for (std::int64_t first = 0; first < row.points; first += PointSums::points) {
    const std::int64_t count = std::min<std::int64_t>(PointSums::points, row.points - first);
    for (std::int64_t p = 0; p < count; ++p) {
      std::array<P, 3> sum{P(0.0), P(0.0), P(0.0)};
      for (std::size_t r = 0; r < registers_per_point; ++r) {
        const int lane = static_cast<int>(r) * P::lanes;
        const std::int64_t i = (first + p) * doubles_per_point + lane;
        const std::array<P, 3> slopes = slopes_at<double>(row, w, i);
        const P psi = P::load(row.along + i), weighted = P::load(row.factors + lane) * psi;
        for (std::size_t a = 0; a < 3; ++a) {
          sum[a] += weighted * slopes[a];
          current[r][a] += psi * swap_pairs(slopes[a]);
        }
        if (i < kept_begin || i >= kept_end) continue;
        for (std::size_t a = 0; a < 3; ++a)
          (P(per_step[a]) * slopes[a]).store(row.out + static_cast<std::int64_t>(a) * row.component + i);
      }
      sums.set(static_cast<int>(p), sum);
    }
    sums.add_to(row.field + first, row.component / doubles_per_point, per_step, count);
  }
  for (std::size_t r = 0; r < registers_per_point; ++r)
    for (std::size_t a = 0; a < 3; ++a) current[r][a].store(products + most_products * a + r * P::lanes);
}

/// The slopes along x, y and z of the first `numbers` numbers of point `i`, which come to out[axis].
template <int numbers>
__attribute__((always_inline)) inline void
slopes_of_numbers(const Row& row, const Weights& weights, const Constants<Register>& w, std::int64_t i,
                  std::array<std::array<double, doubles_per_point>, 3>& out) {
  for (int lane = 0; lane < numbers; lane += Register::lanes) {
    const std::array<Register, 3> slopes = slopes_at<double>(row, w, i * doubles_per_point + lane);
    for (std::size_t a = 0; a < 3; ++a) (Register(weights.gradient[a][a]) * slopes[a]).store(out[a].data() + lane);
  }
}

/// Stores the slopes of the first `fields` numbers of each point: shape (fields, 3, points) of row.field.
template <int fields>
inline void gradient_row(const Row& row, const Weights& weights, double* /*products*/) {
  const Constants<Register> w(weights, Form{});
  std::array<std::array<double, doubles_per_point>, 3> slopes;
  for (std::int64_t i = 0; i < row.points; ++i) {
    slopes_of_numbers<fields>(row, weights, w, i, slopes);
    for (std::int64_t f = 0; f < fields; ++f)
      for (std::int64_t axis = 0; axis < 3; ++axis)
        row.field[(3 * f + axis) * row.component + i] =
            slopes[static_cast<std::size_t>(axis)][static_cast<std::size_t>(f)];
  }
}

/// Stores the divergences of `fields` vectors, whose components are the numbers 3 f, 3 f + 1 and 3 f + 2 of each point:
/// shape (fields, points) of row.field.
template <int fields>
inline void divergence_row(const Row& row, const Weights& weights, double* /*products*/) {
  const Constants<Register> w(weights, Form{});
  std::array<std::array<double, doubles_per_point>, 3> slopes;
  for (std::int64_t i = 0; i < row.points; ++i) {
    slopes_of_numbers<3 * fields>(row, weights, w, i, slopes);
    for (std::size_t f = 0; f < fields; ++f)
      row.field[static_cast<std::int64_t>(f) * row.component + i] =
          slopes[0][3 * f] + slopes[1][3 * f + 1] + slopes[2][3 * f + 2];
  }
}

using RowKernel = void (*)(const Row&, const Weights&, double*);

/// The instantiation for this form; `current` requires slopes along all axes. Defined in kernels.cpp.
RowKernel kernel_for(const Form& form);

/// The kernels of slopes; those of fields for one and for two fields.
struct SlopeKernels {
  std::array<RowKernel, 2> current;  ///< of double and of float
  RowKernel density_gradient;
  std::array<RowKernel, 2> gradient, divergence;
  RowKernel kinetic, kinetic_inner;                       ///< kinetic_kernels.hpp
  std::array<std::array<RowKernel, 3>, 2> kinetic_outer;  ///< for a real and an imaginary factor, for each axis
};
/// Those of local_kernels.hpp, for orthogonal axes.
RowKernel local_kernel(bool imaginary, bool base);
RowKernel current_density_kernel();
SlopeKernels slope_kernels(bool skew);

}  // namespace halocline::tddft::detail
