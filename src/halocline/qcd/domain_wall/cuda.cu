// SPDX-License-Identifier: Apache-2.0
//
// Host code only. For the GPU architectures nvcc compiles an empty file, which costs no time.
#if !defined(__CUDA_ARCH__)
#include "halocline/qcd/domain_wall/cuda.cuh"

#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/qcd/device/field_checks.hpp"
#include "halocline/qcd/domain_wall/wall_matrices.hpp"

namespace halocline::qcd::device {

template <class S>
DeviceWallMatrices<S>::DeviceWallMatrices(Context& context, const DomainWallAction& action) : points(action.ls) {
  const WallMatrices<double> of(action);
  trivial = of.trivial;
  source_on_walls = of.source_on_walls;
  bool complex = of.inverse_b.complex() || of.c.complex() || of.one_minus_cd.complex();
  for (const auto* pair : {&of.a, &of.inverse_a, &of.b})
    for (const auto& term : *pair) complex = complex || term.complex();
  const auto copy = [&](const FifthTerm<double>& term) { return DeviceFifth<S>(context, term, complex); };
  a = {copy(of.a[0]), copy(of.a[1])};
  inverse_a = {copy(of.inverse_a[0]), copy(of.inverse_a[1])};
  b = {copy(of.b[0]), copy(of.b[1])};
  inverse_b = copy(of.inverse_b);
  c = copy(of.c);
  one_minus_cd = copy(of.one_minus_cd);
}

template <class S>
DeviceDomainWall<S>::DeviceDomainWall(const WilsonData<S>& data, std::shared_ptr<const DeviceWallMatrices<S>> matrices,
                                      int columns)
    : DeviceDirac<S>(data.links->context(), lattice::Subset::full, columns),
      data_(data),
      matrices_(std::move(matrices)),
      hopping_(data.links, columns) {
  if (columns % points() != 0)
    throw core::InvalidArgument("a domain-wall operator with Ls = " + std::to_string(points()) + " was asked for " +
                                std::to_string(columns) + " columns on a device; give a multiple of Ls");
  for (std::size_t dagger = 0; dagger < 2; ++dagger) {
    site_[dagger].fifth = &matrices_->a[dagger];
    inverse_site_[dagger].fifth = &matrices_->inverse_a[dagger];
  }
}

template <class S>
auto DeviceDomainWall<S>::between(int parity) -> Field& {
  auto& field = between_[static_cast<std::size_t>(parity)];
  if (!field) field.emplace(this->context(), static_cast<lattice::Subset>(parity), this->columns());
  return *field;
}

template <class S>
void DeviceDomainWall<S>::hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) {
  const auto matrix = [](const Term* term) { return term != nullptr ? term->fifth : nullptr; };
  const DeviceFifth<S>* f = matrix(terms.hop_term);
  const DeviceFifth<S>* g = matrix(terms.add_term);
  if (f == nullptr && g == nullptr) return hopping_.apply(out, in, target_parity, dagger, hop_terms(terms));
  const auto fits = [&](const DeviceFifth<S>* fifth) { return fifth == nullptr || hopping_.fuses(*fifth); };
  if (fused_ && fits(f) && fits(g) && (g == nullptr || terms.add != &out)) {
    HopTerms<S> fused;
    fused.hop_scale = terms.hop_scale;
    fused.hop_fifth = f;
    fused.add = terms.add;
    fused.add_scale = terms.add_scale;
    fused.add_fifth = g;
    return hopping_.apply(out, in, target_parity, dagger, fused);
  }
  if (f == nullptr) {
    hopping_.apply(out, in, target_parity, dagger);
    return multiply_fifth<S>(out, out, nullptr, terms.hop_scale, terms.add, g, terms.add_scale, target_parity);
  }
  Field& sums = between(target_parity);
  hopping_.apply(sums, in, target_parity, dagger);
  multiply_fifth<S>(out, sums, f, terms.hop_scale, terms.add, g, terms.add_scale, target_parity);
}

template <class S>
void DeviceDomainWall<S>::multiply_inverse_diagonal(Field& out, const Field& in, int parity, bool dagger) {
  const DeviceFifth<S>* f = &matrices_->inverse_a[dagger ? 1 : 0];
  if (&out != &in) return multiply_fifth<S>(out, in, f, 1.0, nullptr, nullptr, 0.0, parity);
  Field& copy = between(parity);
  assign_parity(copy, 1.0, in, parity);
  multiply_fifth<S>(out, copy, f, 1.0, nullptr, nullptr, 0.0, parity);
}

template <class S>
void DeviceDomainWall<S>::load_sources(Field& b, std::span<const std::span<const std::complex<double>>> sources) {
  this->context()->stream.set_zero(b.memory().data(), b.memory().bytes());
  const int ls = points();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::vector<std::complex<double>> half(sources[i].begin(), sources[i].end());
    const auto keep = [&](bool upper) {
      for (std::size_t k = 0; k < half.size(); ++k) half[k] = (k % 12 < 6) == upper ? sources[i][k] : 0.0;
      return std::span<const std::complex<double>>(half);
    };
    from_canonical(b, static_cast<int>(i) * ls, keep(true));
    from_canonical(b, static_cast<int>(i) * ls + ls - 1, keep(false));
  }
  if (matrices_->source_on_walls) return;
  // (1 - c d) b + 1/2 c hop b
  Field surface(this->context(), lattice::Subset::full, this->columns());
  this->context()->stream.copy_on_device(surface.memory().data(), b.memory().data(), b.memory().bytes());
  for (int parity = 0; parity < 2; ++parity) {
    Field& sums = between(parity);
    hopping_.apply(sums, surface, parity, false);
    multiply_fifth<S>(b, sums, &matrices_->c, 0.5, &surface, &matrices_->one_minus_cd, 1.0, parity);
  }
}

template <class S>
void DeviceDomainWall<S>::from_solution(Field& y, const Field& x, bool dagger) {
  for (int parity = 0; parity < 2; ++parity) {
    if (y.subset() != lattice::Subset::full && static_cast<int>(y.subset()) != parity) continue;
    if (matrices_->trivial)
      assign_parity(y, 1.0, x, parity);
    else
      multiply_fifth<S>(y, x, &matrices_->b[dagger ? 1 : 0], 1.0, nullptr, nullptr, 0.0, parity);
  }
}

template <class S>
auto DeviceDomainWall<S>::solution(const Field& y, int number) -> Field {
  const ContextPtr& context = this->context();
  const int ls = points();
  Field one(context, lattice::Subset::full, ls);
  for (int parity = 0; parity < 2; ++parity) copy_columns(one, 0, y, number * ls, ls, parity);
  if (matrices_->trivial) return one;
  Field x(context, lattice::Subset::full, ls);
  for (int parity = 0; parity < 2; ++parity)
    multiply_fifth<S>(x, one, &matrices_->inverse_b, 1.0, nullptr, nullptr, 0.0, parity);
  return x;
}

template <class S>
void DeviceDomainWall<S>::unload(std::span<std::complex<double>> quark, const Field& y, int number, int minus,
                                 int plus) {
  const Field x = solution(y, number);
  to_canonical(quark, x, plus);
  std::vector<std::complex<double>> lower(quark.size());
  to_canonical(std::span<std::complex<double>>(lower), x, minus);
  for (std::size_t k = 0; k < quark.size(); ++k)
    if (k % 12 >= 6) quark[k] = lower[k];
}

template <class S>
void DeviceDomainWall<S>::unload_quark(std::span<std::complex<double>> quark, const Field& y, int number) {
  unload(quark, y, number, 0, points() - 1);
}
template <class S>
void DeviceDomainWall<S>::unload_midpoint(std::span<std::complex<double>> quark, const Field& y, int number) {
  unload(quark, y, number, points() / 2, points() / 2 - 1);
}

template <class S>
void DeviceDomainWall<S>::write_quark(std::complex<double>* out, const Field& y, int number, int exponent) {
  if constexpr (std::is_same_v<S, double>) {
    const Field x = solution(y, number);
    write_canonical(out, x, points() - 1, exponent, Spins::upper);
    write_canonical(out, x, 0, exponent, Spins::lower);
  } else {
    DeviceDirac<S>::write_quark(out, y, number, exponent);
  }
}

template <class S>
DeviceWholeWalls<S>::DeviceWholeWalls(DeviceOperator<S>& divided, DeviceDomainWall<S>& walls)
    : DeviceOperator<S>(divided.context(), divided.subset(), divided.columns()),
      divided_(&divided),
      walls_(&walls),
      work_(divided.context(), divided.subset(), divided.columns()) {}

template <class S>
void DeviceWholeWalls<S>::enqueue(Field& out, const Field& in, bool dagger, const ResultSums<S>&) {
  if (dagger) {
    divided_->apply_dagger(work_, in);
    return walls_->from_solution(out, work_, true);
  }
  walls_->from_solution(work_, in);
  divided_->apply(out, work_);
}

#define HALOCLINE_INSTANTIATE(S)                                                                                       \
  template struct DeviceWallMatrices<S>;                                                                               \
  template class DeviceDomainWall<S>;                                                                                  \
  template class DeviceWholeWalls<S>;
HALOCLINE_INSTANTIATE(double)
HALOCLINE_INSTANTIATE(float)
HALOCLINE_INSTANTIATE(Fixed16)
HALOCLINE_INSTANTIATE(Fixed8)
#undef HALOCLINE_INSTANTIATE

}  // namespace halocline::qcd::device

#endif
