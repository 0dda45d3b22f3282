// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A term of the fifth dimension on one site, or one pack of sites: the loops of FifthTerm.
///
/// The three colours of a spin are six independent chains of multiply-adds, which hide most of the latency of the
/// recursion along s; those of the next spin fill the rest. A coefficient is loaded once for them.

#include <span>

#include "halocline/core/hold.hpp"
#include "halocline/qcd/dirac/fifth_term.hpp"

/// After the template parameters of a lambda.
#define HALOCLINE_INLINE_LAMBDA __attribute__((always_inline))

namespace halocline::qcd {
namespace detail {

/// sum += coefficient x, for a complex number
template <bool complex, class Real, class T>
HALOCLINE_INLINE void add_multiple(Real (&sum)[2], const T (&coefficient)[2], const Real (&x)[2]) {
  const Real re(coefficient[0]);
  if constexpr (complex) {
    const Real im(coefficient[1]);
    sum[0] += re * x[0];
    sum[0] -= im * x[1];
    sum[1] += re * x[1];
    sum[1] += im * x[0];
  } else {
    sum[0] += re * x[0];
    sum[1] += re * x[1];
  }
}
template <bool complex, class Real, class T>
HALOCLINE_INLINE void set_multiple(Real (&sum)[2], const T (&coefficient)[2], const Real (&x)[2]) {
  const Real re(coefficient[0]);
  sum[0] = re * x[0];
  sum[1] = re * x[1];
  if constexpr (complex) {
    const Real im(coefficient[1]);
    sum[0] -= im * x[1];
    sum[1] += im * x[0];
  }
}

/// Calls work.operator()<0>(), <1>() and <2>(): arrays that it indexes so are in registers.
template <class Work>
HALOCLINE_INLINE void for_each_colour(const Work& work) {
  work.template operator()<0>();
  work.template operator()<1>();
  work.template operator()<2>();
}

template <FifthForm form, bool complex, class Real, class T, class Load, class Store>
__attribute__((noinline)) void apply_fifth_form(const FifthTerm<T>& term, const Load load, const Store store) {
  constexpr bool solves = form != FifthForm::product;
  constexpr bool product_first = form == FifthForm::product || form == FifthForm::product_solve;
  for (int spin = 0; spin < 4; ++spin) {
    const std::span<const typename FifthTerm<T>::Step> steps = term.steps(spin / 2);
    Real x_before[3][2], y[3][2];
    if constexpr (solves) {
      const Real zero(T(0));
      for_each_colour([&]<int colour>() HALOCLINE_INLINE_LAMBDA { y[colour][0] = y[colour][1] = zero; });
      for (const auto& step : steps)
        for_each_colour([&]<int colour>() HALOCLINE_INLINE_LAMBDA {
          Real x[2];
          load(x, step.s, 8 * colour + 2 * spin);
          add_multiple<complex>(y[colour], step.corner, x);
        });
    }
    if constexpr (product_first)
      for_each_colour([&]<int colour>()
                          HALOCLINE_INLINE_LAMBDA { load(x_before[colour], steps.back().s, 8 * colour + 2 * spin); });
    for (const auto& step : steps)
      for_each_colour([&]<int colour>() HALOCLINE_INLINE_LAMBDA {
        Real x[2], result[2];
        load(x, step.s, 8 * colour + 2 * spin);
        if constexpr (form == FifthForm::product) {
          set_multiple<complex>(result, step.near, x);
          add_multiple<complex>(result, step.far, x_before[colour]);
        } else {
          Real next[2];
          set_multiple<complex>(next, step.x, x);
          if constexpr (product_first) add_multiple<complex>(next, step.x_before, x_before[colour]);
          add_multiple<complex>(next, step.y_before, y[colour]);
          if constexpr (form == FifthForm::solve_product) {
            set_multiple<complex>(result, step.near, next);
            add_multiple<complex>(result, step.far, y[colour]);
          } else {
            result[0] = next[0];
            result[1] = next[1];
          }
          y[colour][0] = next[0];
          y[colour][1] = next[1];
        }
        if constexpr (product_first) {
          x_before[colour][0] = x[0];
          x_before[colour][1] = x[1];
        }
        store(step.s, 8 * colour + 2 * spin, result);
      });
  }
}

}  // namespace detail

/// Applies the term to all s of one site.
/// @param load   `load(pair, s, real)` reads the reals `real` and `real + 1` of psi(s)
/// @param store  `store(s, real, pair)` writes those of the result. It may overwrite what load() reads
/// Both should hold their pointers by value: what a store may overwrite, the compiler would load again.
template <class Real, class T, class Load, class Store>
HALOCLINE_INLINE void apply_fifth(const FifthTerm<T>& term, const Load& load, const Store& store) {
  const auto run = [&]<FifthForm form> {
    if (term.complex())
      detail::apply_fifth_form<form, true, Real>(term, load, store);
    else
      detail::apply_fifth_form<form, false, Real>(term, load, store);
  };
  switch (term.form()) {
  case FifthForm::product:
    return run.template operator()<FifthForm::product>();
  case FifthForm::solve:
    return run.template operator()<FifthForm::solve>();
  case FifthForm::solve_product:
    return run.template operator()<FifthForm::solve_product>();
  case FifthForm::product_solve:
    return run.template operator()<FifthForm::product_solve>();
  }
}

/// How apply_fifth() reads and writes packs that are `stride` numbers apart.
template <class T, class Real, int stride>
struct FifthLoad {
  const T* from;
  HALOCLINE_INLINE void operator()(Real (&x)[2], std::int64_t s, int real) const {
    const T* at = from + (s * 24 + real) * stride;
    x[0] = core::Lanes<Real>::load(at);
    x[1] = core::Lanes<Real>::load(at + stride);
  }
};
template <class T, class Real, int stride>
struct FifthStore {
  T* to;
  HALOCLINE_INLINE void operator()(std::int64_t s, int real, const Real (&x)[2]) const {
    T* at = to + (s * 24 + real) * stride;
    core::Lanes<Real>::store(at, x[0]);
    core::Lanes<Real>::store(at + stride, x[1]);
  }
};

}  // namespace halocline::qcd
