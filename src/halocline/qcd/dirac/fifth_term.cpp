// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/dirac/fifth_term.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "halocline/core/error.hpp"
#include "halocline/qcd/dirac/fifth_kernel.hpp"

namespace halocline::qcd {
namespace {

using Number = std::complex<double>;

/// The largest factor by which an error may grow along the recursion.
constexpr double most_growth = 1e3;

template <class T>
void put(T (&pair)[2], Number z) {
  pair[0] = static_cast<T>(z.real());
  pair[1] = static_cast<T>(z.imag());
}

/// The recursion y(s) = inverse(s) x(s) + ratio(s) y(s') of q y = x for one chirality, by steps, and the weights of
/// the x in the y before the first step.
struct Recursion {
  std::vector<Number> inverse, ratio, corner;

  Recursion(const FifthMatrix& q, int chirality, const std::vector<int>& order) {
    const auto c = static_cast<std::size_t>(chirality);
    double growth = 1, worst = 1;
    for (const int s : order) {
      const Number near = q.near[c][static_cast<std::size_t>(s)], far = q.far[c][static_cast<std::size_t>(s)];
      if (near == Number(0))
        throw core::InvalidArgument(fmt::format(
            "the matrix of the fifth dimension has a zero on its diagonal (s = {}) and cannot be inverted; change b, c "
            "or M5 so that b (4 - M5) + 1 and b are not zero",
            s));
      inverse.push_back(1.0 / near);
      ratio.push_back(-far / near);
      growth = std::max(1.0, growth * std::abs(ratio.back()));
      worst = std::max(worst, growth);
    }
    // With y = 0 before the first step, the last y is the sum of products(s) x(s). A nonzero y before adds round y.
    Number round = 1;
    corner.resize(order.size());
    for (std::size_t step = order.size(); step-- > 0;) {
      corner[step] = inverse[step] * round;
      round *= ratio[step];
    }
    if (!(worst <= most_growth) || std::abs(1.0 - round) < 1e-12)
      throw core::InvalidArgument(fmt::format(
          "the matrix of the fifth dimension cannot be inverted safely: rounding would grow by {:.1e} along s, "
          "and the determinant is {:.1e} of its largest term; give real b >= |c|, or another mass",
          worst, std::abs(1.0 - round)));
    for (Number& weight : corner) weight /= 1.0 - round;
  }
};

}  // namespace

FifthMatrix FifthMatrix::adjoint() const {
  FifthMatrix out = *this;
  out.reversed = !reversed;
  for (int chirality = 0; chirality < 2; ++chirality)
    for (int s = 0; s < extent(); ++s) {
      const auto c = static_cast<std::size_t>(chirality);
      out.near[c][static_cast<std::size_t>(s)] = std::conj(near[c][static_cast<std::size_t>(s)]);
      const int to = out.neighbour(chirality, s);  // the row that reads s here is the one that s reads there
      out.far[c][static_cast<std::size_t>(s)] = std::conj(far[c][static_cast<std::size_t>(to)]);
    }
  return out;
}

FifthMatrix FifthMatrix::shift(const std::vector<Number>& near, const std::vector<Number>& far, double mass) {
  FifthMatrix out;
  for (std::size_t c = 0; c < 2; ++c) {
    out.near[c] = near;
    out.far[c] = far;
  }
  out.far[0].front() *= -mass;
  out.far[1].back() *= -mass;
  return out;
}

template <class T>
FifthTerm<T>::FifthTerm(const FifthMatrix* p, const FifthMatrix* q, FifthForm form)
    : extent_((p != nullptr ? p : q)->extent()), form_(form) {
  const FifthMatrix& any = p != nullptr ? *p : *q;
  for (int chirality = 0; chirality < 2; ++chirality) {
    // Each step computes an s whose neighbour was computed before, except for the first.
    std::vector<int> order(static_cast<std::size_t>(extent_));
    for (int step = 0; step < extent_; ++step)
      order[static_cast<std::size_t>(step)] = (chirality == 0) != any.reversed ? step : extent_ - 1 - step;
    const auto c = static_cast<std::size_t>(chirality);
    const auto at = [&](const std::vector<Number>& list, int s) { return list[static_cast<std::size_t>(s)]; };
    auto& steps = steps_[c];
    steps.resize(order.size());
    std::vector<Number> inverse(order.size(), 1.0), ratio(order.size(), 0.0), corner(order.size(), 0.0);
    if (q != nullptr) {
      const Recursion recursion(*q, chirality, order);
      inverse = recursion.inverse;
      ratio = recursion.ratio;
      corner = recursion.corner;
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int s = order[i];
      Step& step = steps[i];
      step.s = s;
      put(step.y_before, ratio[i]);
      const Number near = p != nullptr ? at(p->near[c], s) : 1.0, far = p != nullptr ? at(p->far[c], s) : 0.0;
      const bool first = form == FifthForm::product_solve;  // the product is applied to psi
      put(step.x, first ? inverse[i] * near : inverse[i]);
      put(step.x_before, first ? inverse[i] * far : 0.0);
      put(step.near, first ? 1.0 : near);
      put(step.far, first ? 0.0 : far);
      Number weight = corner[i];
      if (first) {
        // psi(s) is in the product at s and at the s of the next step.
        const std::size_t next = (i + 1) % order.size();
        weight = corner[i] * near + corner[next] * at(p->far[c], order[next]);
      }
      put(step.corner, weight);
      for (const auto& pair : {step.x, step.x_before, step.y_before, step.near, step.far, step.corner})
        complex_ = complex_ || pair[1] != 0;
    }
  }
}

template <class T>
FifthTerm<T> FifthTerm<T>::product(const FifthMatrix& p) {
  return {&p, nullptr, FifthForm::product};
}
template <class T>
FifthTerm<T> FifthTerm<T>::solve(const FifthMatrix& q) {
  return {nullptr, &q, FifthForm::solve};
}
template <class T>
FifthTerm<T> FifthTerm<T>::solve_product(const FifthMatrix& q, const FifthMatrix& p) {
  return {&p, &q, FifthForm::solve_product};
}
template <class T>
FifthTerm<T> FifthTerm<T>::product_solve(const FifthMatrix& p, const FifthMatrix& q) {
  return {&p, &q, FifthForm::product_solve};
}

template <class T>
double FifthTerm<T>::flops() const noexcept {
  // A multiply-add of 24 reals a coefficient, four of 12 pairs if it is complex; the first product has no addition.
  const int coefficients = form_ == FifthForm::product         ? 2
                           : form_ == FifthForm::solve         ? 3
                           : form_ == FifthForm::solve_product ? 5
                                                               : 4;
  return coefficients * 24 * (complex_ ? 4.0 : 2.0);
}

template <class T>
std::array<std::vector<std::complex<double>>, 2> FifthTerm<T>::dense() const {
  const auto size = static_cast<std::size_t>(extent_);
  std::array<std::vector<std::complex<double>>, 2> out{std::vector<std::complex<double>>(size * size),
                                                       std::vector<std::complex<double>>(size * size)};
  for (std::size_t from = 0; from < size; ++from) {
    // Both chiralities at once: 1 in the first real of the upper and of the lower spins at s = from.
    std::vector<T> in(size * 24), result(size * 24);
    for (const std::size_t real : {0, 4}) in[from * 24 + real] = 1;
    apply_fifth<T>(*this, FifthLoad<T, T, 1>{in.data()}, FifthStore<T, T, 1>{result.data()});
    for (std::size_t to = 0; to < size; ++to)
      for (const std::size_t chirality : {0, 1})
        out[chirality][to * size + from] = {result[to * 24 + 4 * chirality], result[to * 24 + 4 * chirality + 1]};
  }
  return out;
}

template class FifthTerm<float>;
template class FifthTerm<double>;

}  // namespace halocline::qcd
