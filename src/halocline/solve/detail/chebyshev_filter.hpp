// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A polynomial of H^2 that enhances the low end of its spectrum over the rest.
///
/// F = T_n((a + b - 2 H^2) / (b - a)) maps H^2 in [a, b] into [-1, 1]. Below a it grows monotonically: the smaller
/// |lambda|, the larger F (Saad, Math. Comput. 42 (1984) 567; Neff et al., hep-lat/0106016). Degree 1 is monotone on
/// the whole axis, so it works with any a < b.

#include <cmath>

#include "halocline/solve/vector_space.hpp"

namespace halocline::solve::detail {

template <VectorSpace Space, class H>
class ChebyshevFilter {
public:
  using Vector = typename Space::Vector;

  /// @param low, high  a < b, in units of H^2
  ChebyshevFilter(Space& space, H& h, int degree, double low, double high, int& applications)
      : space_(&space),
        h_(&h),
        degree_(degree),
        low_(low),
        high_(high),
        applications_(&applications),
        half_(space.create()),
        current_(space.create()),
        next_(space.create()) {}

  /// out = F in, by the recursion T_{i+1} = 2 t T_i - T_{i-1} with three vectors. Cost: 2 degree applications of H.
  void apply(Vector& out, const Vector& in) {
    const Scalars shift{(high_ + low_) / (high_ - low_)}, slope{-2.0 / (high_ - low_)};
    square(out, in);
    update(*space_, {scale_add(out, slope, shift, in)});  // T_1
    if (degree_ == 1) return;
    const Scalars twice_shift{2.0 * shift[0]}, twice_slope{2.0 * slope[0]}, minus{Scalar(-1.0)};
    space_->copy(current_, in);  // T_0
    for (int i = 1; i < degree_; ++i) {
      square(next_, out);
      update(*space_, {scale_add(next_, twice_slope, twice_shift, out, minus, current_)});
      space_->copy(current_, out);
      space_->copy(out, next_);
    }
  }

  /// A lower bound on every H^2 for which F is at most `value`. For degree 1 this is the H^2 with F = value. For a
  /// higher degree it is the H^2 below a with F = value, or a itself if value <= 1.
  double inverse(double value) const {
    double t = value;
    if (degree_ > 1) t = value > 1.0 ? std::cosh(std::acosh(value) / degree_) : 1.0;
    return 0.5 * (high_ + low_ - t * (high_ - low_));
  }

private:
  void square(Vector& out, const Vector& in) {
    h_->apply(half_, in);
    h_->apply(out, half_);
    *applications_ += 2;
  }

  Space* space_;
  H* h_;
  int degree_;
  double low_, high_;
  int* applications_;
  Vector half_, current_, next_;
};

}  // namespace halocline::solve::detail
