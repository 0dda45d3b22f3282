// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/spinor_space.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/core/region.hpp"
#include "halocline/lattice/dispatch.hpp"

namespace halocline::qcd {
namespace {

using solve::Dot;
using solve::Scalar;
using solve::Update;

/// Numbers of a chunk: six vectors of it in float stay in a first-level cache of 32 KiB and more.
constexpr std::int64_t chunk_numbers = 1536;

template <class T>
struct Coefficient {
  T re, im;
};
template <class T>
Coefficient<T> coefficient_of(std::span<const Scalar> a) {
  if (a.empty()) return {T(1), T(0)};
  return {static_cast<T>(a[0].real()), static_cast<T>(a[0].imag())};
}

/// y = s y + a x + b z, or y = a x + b z; x and z may be absent. Numbers come as V reals, then V imaginary parts.
template <class T, int V>
void update_chunk(const Update<SpinorField<T>>& update, std::int64_t begin, std::int64_t end) {
  constexpr int width = std::min(V, core::native_lanes<T>);
  using Real = core::Number<T, width>;
  using L = core::Lanes<Real>;
  T* y = update.target->data();
  const auto s = coefficient_of<T>(update.scale);
  const bool keep = !update.overwrite;
  const bool scaled = keep && !update.scale.empty();
  std::array<const T*, 2> x{};
  std::array<Coefficient<T>, 2> a{};
  const int count = update.count;
  for (int i = 0; i < count; ++i) {
    x[i] = update.summands[i].vector->data();
    a[i] = coefficient_of<T>(update.summands[i].coefficient);
  }
  for (std::int64_t block = begin; block < end; block += 2 * V)
    for (int lane = 0; lane < V; lane += width) {
      const std::int64_t at = block + lane;
      Real re(T(0)), im(T(0));
      if (keep) {
        re = L::load(y + at);
        im = L::load(y + at + V);
      }
      if (scaled) {
        const Real old = re;
        re = Real(s.re) * old - Real(s.im) * im;
        im = Real(s.re) * im + Real(s.im) * old;
      }
      for (int i = 0; i < count; ++i) {
        const Real xr = L::load(x[i] + at), xi = L::load(x[i] + at + V);
        re += Real(a[i].re) * xr - Real(a[i].im) * xi;
        im += Real(a[i].re) * xi + Real(a[i].im) * xr;
      }
      L::store(y + at, re);
      L::store(y + at + V, im);
    }
}

/// Loads `width` numbers and widens them to double.
template <class T, int width>
core::Number<double, width> load_double(const T* from) {
  if constexpr (width == 1)
    return static_cast<double>(*from);
  else if constexpr (std::is_same_v<T, double>)
    return core::Pack<double, width>::load(from);
  else
    return core::convert<double>(core::Pack<T, width>::load(from));
}

template <class T, int V>
Scalar dot_chunk(const T* x, const T* y, std::int64_t begin, std::int64_t end) {
  constexpr int width = std::min(V, core::native_lanes<double>);
  using Real = core::Number<double, width>;
  // Four chains, so that no multiply-add waits for the one before it.
  Real rr(0.0), ii(0.0), ri(0.0), ir(0.0);
  for (std::int64_t block = begin; block < end; block += 2 * V)
    for (int lane = 0; lane < V; lane += width) {
      const std::int64_t at = block + lane;
      const Real xr = load_double<T, width>(x + at), xi = load_double<T, width>(x + at + V);
      const Real yr = load_double<T, width>(y + at), yi = load_double<T, width>(y + at + V);
      rr += xr * yr;
      ii += xi * yi;
      ri += xr * yi;
      ir += xi * yr;
    }
  if constexpr (width == 1)
    return {rr + ii, ri - ir};
  else
    return {core::horizontal_sum(rr + ii), core::horizontal_sum(ri - ir)};
}

}  // namespace

template <class T>
solve::FinishedSums SpinorSpace<T>::update_and_reduce(std::span<const Update<Vector>> updates,
                                                      std::span<const Dot<Vector>> dots) const {
  const core::Region region("linear algebra");
  const std::int64_t size =
      layout_->tiles() * (subset_ == lattice::Subset::full ? 2 : 1) * spinor_reals * layout_->lanes();
  const std::int64_t chunks = (size + chunk_numbers - 1) / chunk_numbers;
  const auto count = static_cast<std::int64_t>(dots.size());
  std::vector<Scalar> partial(static_cast<std::size_t>(chunks * count));
  lattice::with_lanes(layout_->lanes(), [&]<int V> {
    static_assert(chunk_numbers % (2 * V) == 0);
#pragma omp parallel for schedule(static)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      const std::int64_t begin = chunk * chunk_numbers;
      const std::int64_t end = std::min(size, begin + chunk_numbers);
      for (const auto& update : updates) update_chunk<T, V>(update, begin, end);
      for (std::int64_t i = 0; i < count; ++i)
        partial[chunk * count + i] = dot_chunk<T, V>(dots[i].left->data(), dots[i].right->data(), begin, end);
    }
  });
  solve::Scalars sums(dots.size());
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
    for (std::int64_t i = 0; i < count; ++i) sums[i] += partial[chunk * count + i];
  if (count > 0) {
    // A complex number is laid out as its two parts.
    auto* parts = reinterpret_cast<double*>(sums.data());
    layout_->geometry().communicator().sum(std::span<double>(parts, 2 * sums.size()));
  }
  return solve::FinishedSums(std::move(sums));
}

template <class T>
void SpinorSpace<T>::copy(Vector& out, const Vector& in) const {
  const std::array<Update<Vector>, 1> update{solve::assign(out, {}, in)};
  update_and_reduce(update, {});
}

template <class T>
void SpinorSpace<T>::set_zero(Vector& v) const {
  std::ranges::fill(v.span(), T(0));
}

template <class T>
void SpinorSpace<T>::axpy(std::span<const Scalar> a, const Vector& x, Vector& y) const {
  const std::array<Update<Vector>, 1> update{solve::add(y, a, x)};
  update_and_reduce(update, {});
}

template <class T>
void SpinorSpace<T>::scale(std::span<const Scalar> a, Vector& y) const {
  const std::array<Update<Vector>, 1> update{solve::scale(y, a)};
  update_and_reduce(update, {});
}

template <class T>
void SpinorSpace<T>::dot(std::span<Scalar> out, const Vector& x, const Vector& y) const {
  const std::array<Dot<Vector>, 1> dots{Dot<Vector>{&x, &y}};
  out[0] = update_and_reduce({}, dots).wait()[0];
}

template <class To, class From>
void convert(SpinorField<To>& out, const SpinorField<From>& in) {
  if (out.size() != in.size() || out.layout_ptr() != in.layout_ptr() || out.subset() != in.subset())
    throw core::InvalidArgument(
        "a change of precision was asked between fields of different layouts or subsets; create both on one");
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.size(); ++i) out.data()[i] = static_cast<To>(in.data()[i]);
}

template <class T>
void apply_gamma5(SpinorField<T>& out, const SpinorField<T>& in) {
  const int lanes = in.layout().lanes();
  const std::int64_t rows = in.size() / lanes;
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row) {
    const T sign = (row / 2) % 4 < 2 ? T(1) : T(-1);  // rows are [colour][spin][re, im]
    for (int lane = 0; lane < lanes; ++lane) out.data()[row * lanes + lane] = sign * in.data()[row * lanes + lane];
  }
}

template class SpinorSpace<float>;
template class SpinorSpace<double>;
template void convert(SpinorField<float>&, const SpinorField<double>&);
template void convert(SpinorField<double>&, const SpinorField<float>&);
template void convert(SpinorField<float>&, const SpinorField<float>&);
template void convert(SpinorField<double>&, const SpinorField<double>&);
template void apply_gamma5(SpinorField<float>&, const SpinorField<float>&);
template void apply_gamma5(SpinorField<double>&, const SpinorField<double>&);

}  // namespace halocline::qcd
