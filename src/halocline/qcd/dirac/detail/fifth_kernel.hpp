// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A term of the fifth dimension on one site, or one pack of sites: the loops of FifthTerm.
///
/// The twelve reals of a chirality are one after another in the inner loop, so twelve independent chains of
/// multiply-adds hide the latency of the recursion along s. A coefficient is loaded once a step.

#include "halocline/core/hold.hpp"
#include "halocline/qcd/dirac/fifth_term.hpp"

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

/// The number of the first real of complex number `i` of a chirality, in [colour][spin][re, im].
constexpr int fifth_real(int chirality, int i) { return 8 * (i / 2) + 4 * chirality + 2 * (i % 2); }

template <FifthForm form, bool complex, class Real, class T, class Load, class Store>
HALOCLINE_INLINE void apply_fifth_form(const FifthTerm<T>& term, const Load& load, const Store& store) {
  constexpr bool solves = form != FifthForm::product;
  constexpr bool product_first = form == FifthForm::product || form == FifthForm::product_solve;
  constexpr int numbers = 6;
  for (int chirality = 0; chirality < 2; ++chirality) {
    const auto& steps = term.steps(chirality);
    Real x_before[numbers][2], y[numbers][2];
    if constexpr (solves) {
      for (auto& number : y) number[0] = number[1] = Real(T(0));
      for (const auto& step : steps)
#pragma GCC unroll 6
        for (int i = 0; i < numbers; ++i) {
          Real x[2];
          load(x, step.s, fifth_real(chirality, i));
          add_multiple<complex>(y[i], step.corner, x);
        }
    }
    if constexpr (product_first)
      for (int i = 0; i < numbers; ++i) load(x_before[i], steps.back().s, fifth_real(chirality, i));
    for (const auto& step : steps)
#pragma GCC unroll 6
      for (int i = 0; i < numbers; ++i) {
        const int real = fifth_real(chirality, i);
        Real x[2], result[2];
        load(x, step.s, real);
        if constexpr (form == FifthForm::product) {
          set_multiple<complex>(result, step.near, x);
          add_multiple<complex>(result, step.far, x_before[i]);
        } else {
          Real next[2];
          set_multiple<complex>(next, step.x, x);
          if constexpr (product_first) add_multiple<complex>(next, step.x_before, x_before[i]);
          add_multiple<complex>(next, step.y_before, y[i]);
          if constexpr (form == FifthForm::solve_product) {
            set_multiple<complex>(result, step.near, next);
            add_multiple<complex>(result, step.far, y[i]);
          } else {
            result[0] = next[0];
            result[1] = next[1];
          }
          y[i][0] = next[0];
          y[i][1] = next[1];
        }
        if constexpr (product_first) {
          x_before[i][0] = x[0];
          x_before[i][1] = x[1];
        }
        store(step.s, real, result);
      }
  }
}

}  // namespace detail

/// Applies the term to all s of one site.
/// @param load   `load(pair, s, real)` reads the reals `real` and `real + 1` of psi(s)
/// @param store  `store(s, real, pair)` writes those of the result. It may overwrite what load() reads
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

}  // namespace halocline::qcd
