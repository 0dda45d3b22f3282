// SPDX-License-Identifier: Apache-2.0
/// @file
/// Matrices of a fifth dimension times spinors.

#include "halocline/qcd/dirac/cuda_fifth.cuh"

#include <string>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/field_checks.hpp"

namespace halocline::qcd::device {
namespace {

/// A matrix for kernels; without data it is one.
template <class S>
struct FifthReader {
  using Real = RealOf<S>;
  const Real* data = nullptr;
  int extent = 1;

  static FifthReader of(const DeviceFifth<S>* term) {
    return term != nullptr ? FifthReader{term->data(), term->extent()} : FifthReader{};
  }

  /// sum += factor (the matrix times the field), at one site and column
  template <bool complex>
  HALOCLINE_KERNEL_PART void add_to(Spinor<Real>& sum, Real factor, const SpinorReader<S>& field, int site,
                                    int column) const {
    if (data == nullptr) {
      const Spinor<Real> psi = detail::load_spinor<S, false>(field.data, field.scale, field.stride, site, column);
      return add<false>(sum, psi, {factor, Real(0)}, {factor, Real(0)});
    }
    constexpr int reals = complex ? 4 : 2;
    const int s = column % extent;
    const Real* row = data + s * extent * reals;
    HALOCLINE_UNROLLED(1)
    for (int from = 0; from < extent; ++from) {
      const Real* element = row + from * reals;
      core::Complex<Real> upper{element[0], Real(0)}, lower{element[complex ? 2 : 1], Real(0)};
      if constexpr (complex) {
        upper.im = element[1];
        lower.im = element[3];
      }
      if (upper.re == 0 && upper.im == 0 && lower.re == 0 && lower.im == 0) continue;
      const Spinor<Real> psi =
          detail::load_spinor<S, false>(field.data, field.scale, field.stride, site, column - s + from);
      add<complex>(sum, psi, factor * upper, factor * lower);
    }
  }

private:
  template <bool complex>
  static HALOCLINE_INLINE void add(Spinor<Real>& sum, const Spinor<Real>& psi, const core::Complex<Real>& upper,
                                   const core::Complex<Real>& lower) {
    HALOCLINE_UNROLLED(3)
    for (int colour = 0; colour < 3; ++colour) {
      HALOCLINE_UNROLLED(4)
      for (int spin = 0; spin < 4; ++spin) {
        const core::Complex<Real>& w = spin < 2 ? upper : lower;
        const auto& z = psi.at[colour][spin];
        auto& y = sum.at[colour][spin];
        y.re += w.re * z.re;
        y.im += w.re * z.im;
        if constexpr (complex) {
          y.re -= w.im * z.im;
          y.im += w.im * z.re;
        }
      }
    }
  }
};

/// Point x is the site, y the column.
template <class S, bool complex>
struct MultiplyFifth {
  using Real = RealOf<S>;
  SpinorWriter<S> out;
  SpinorReader<S> in, add;  ///< add without data: nothing is added
  FifthReader<S> f, g;
  Real scale, add_scale;

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const int site = static_cast<int>(p.x);
    Spinor<Real> sum;
    HALOCLINE_UNROLLED(3)
    for (int colour = 0; colour < 3; ++colour) {
      HALOCLINE_UNROLLED(4)
      for (int spin = 0; spin < 4; ++spin) sum.at[colour][spin] = {Real(0), Real(0)};
    }
    f.template add_to<complex>(sum, scale, in, site, p.y);
    if (add.data != nullptr) g.template add_to<complex>(sum, add_scale, add, site, p.y);
    out.store(site, p.y, sum);
  }
};

template <class S>
void require(const DeviceSpinor<S>& out, const DeviceSpinor<S>& other, const DeviceFifth<S>* term, int parity) {
  detail::require_alike(out.context()->box, out.columns(), out.subset(), other.context()->box, other.columns(),
                        other.subset(), parity);
  detail::require_one_context(out.context() == other.context());
  if (term == nullptr) return;
  if (&out == &other)
    throw core::InvalidArgument(
        "a matrix of the fifth dimension was to write the field that it reads on a device; give two fields");
  if (out.columns() % term->extent() != 0)
    throw core::InvalidArgument("a matrix of " + std::to_string(term->extent()) +
                                " points of the fifth dimension was to multiply a field of " +
                                std::to_string(out.columns()) + " columns; give a multiple");
}

}  // namespace

template <class S>
DeviceFifth<S>::DeviceFifth(Context& context, const FifthTerm<double>& term, bool complex)
    : extent_(term.extent()), complex_(complex || term.complex()) {
  const auto dense = term.dense();
  std::vector<Real> elements;
  for (std::size_t i = 0; i < dense[0].size(); ++i)
    for (const auto& of_chirality : dense) {
      elements.push_back(static_cast<Real>(of_chirality[i].real()));
      if (complex_) elements.push_back(static_cast<Real>(of_chirality[i].imag()));
    }
  elements_ = gpu::DeviceArray<Real>(context.device, static_cast<std::int64_t>(elements.size()));
  elements_.upload(context.stream, std::span<const Real>(elements));
  std::vector<FifthStep<Real>> steps;
  if (!complex_ && term.form() != FifthForm::product && extent_ >= least_chain_points)
    for (const int chirality : {0, 1})
      for (const auto& step : term.steps(chirality))
        steps.push_back({step.s, static_cast<Real>(step.x[0]), static_cast<Real>(step.x_before[0]),
                         static_cast<Real>(step.y_before[0]), static_cast<Real>(step.near[0]),
                         static_cast<Real>(step.far[0]), static_cast<Real>(step.corner[0])});
  if (!steps.empty()) {
    only_solves_ = term.form() == FifthForm::solve;
    steps_ = gpu::DeviceArray<FifthStep<Real>>(context.device, static_cast<std::int64_t>(steps.size()));
    steps_.upload(context.stream, std::span<const FifthStep<Real>>(steps));
  }
  context.stream.synchronize();
}

template <class S>
void multiply_fifth(DeviceSpinor<S>& out, const DeviceSpinor<S>& in, const DeviceFifth<S>* f, double scale,
                    const DeviceSpinor<S>* add, const DeviceFifth<S>* g, double add_scale, int parity) {
  using Real = RealOf<S>;
  require(out, in, f, parity);
  if (add != nullptr) require(out, *add, g, parity);
  const auto launch = [&]<bool complex> {
    // A block of threads holds several points of its sites, which read the same spinors.
    const int columns = out.columns();
    const gpu::Block block{32, columns < 8 ? columns : 8, 1};
    gpu::launch(out.context()->stream, "multiply_fifth", {out.sites(), columns, 1}, block,
                MultiplyFifth<S, complex>{out.writer(parity), in.reader(parity),
                                          add != nullptr ? add->reader(parity) : SpinorReader<S>{},
                                          FifthReader<S>::of(f), FifthReader<S>::of(g), static_cast<Real>(scale),
                                          static_cast<Real>(add_scale)});
  };
  if ((f != nullptr && f->complex()) || (g != nullptr && g->complex())) {
    if ((f != nullptr && !f->complex()) || (g != nullptr && !g->complex()))
      throw core::InvalidArgument(
          "a real and a complex matrix of the fifth dimension were given to one pass on a device; make both complex");
    return launch.template operator()<true>();
  }
  launch.template operator()<false>();
}

#define HALOCLINE_INSTANTIATE(S)                                                                                       \
  template class DeviceFifth<S>;                                                                                       \
  template void multiply_fifth(DeviceSpinor<S>&, const DeviceSpinor<S>&, const DeviceFifth<S>*, double,                \
                               const DeviceSpinor<S>*, const DeviceFifth<S>*, double, int);
HALOCLINE_INSTANTIATE(double)
HALOCLINE_INSTANTIATE(float)
HALOCLINE_INSTANTIATE(Fixed16)
HALOCLINE_INSTANTIATE(Fixed8)
#undef HALOCLINE_INSTANTIATE

}  // namespace halocline::qcd::device
