// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/field/spinor_space.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "halocline/core/error.hpp"

namespace halocline::qcd {

template <class T>
SpinorSpace<T>::SpinorSpace(std::shared_ptr<const lattice::TileLayout> layout, lattice::Subset subset, int columns,
                            int points, int components)
    : detail::TiledSpace<T, SpinorField<T>>({layout->tiles() * (subset == lattice::Subset::full ? 2 : 1),
                                             columns / points, points * 2 * components, layout->lanes()},
                                            layout->geometry().communicator()),
      layout_(std::move(layout)),
      subset_(subset),
      points_(points),
      components_(components) {}

template <class T>
std::vector<double> norms(const SpinorSpace<T>& space, const SpinorField<T>& v) {
  const std::array<solve::Dot<SpinorField<T>>, 1> dots{{{&v, &v}}};
  const auto pending = space.update_and_reduce({}, dots);
  std::vector<double> out;
  for (const solve::Scalar& sum : pending.wait()) out.push_back(std::sqrt(sum.real()));
  return out;
}

template <class To, class From>
void convert(SpinorField<To>& out, const SpinorField<From>& in) {
  if (!lattice::TileLayout::same_order(out.layout(), in.layout()) || out.subset() != in.subset() ||
      out.columns() != in.columns() || out.reals_per_site() != in.reals_per_site())
    throw core::InvalidArgument(
        "a change of precision was asked between fields of different layouts, subsets or columns; create both alike");
  lattice::copy_tiles(out.data(), out.layout().lanes(), in.data(), in.layout().lanes(),
                      std::int64_t{in.columns()} * in.reals_per_site(), in.size());
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
template std::vector<double> norms(const SpinorSpace<float>&, const SpinorField<float>&);
template std::vector<double> norms(const SpinorSpace<double>&, const SpinorField<double>&);
template void convert(SpinorField<float>&, const SpinorField<double>&);
template void convert(SpinorField<double>&, const SpinorField<float>&);
template void convert(SpinorField<float>&, const SpinorField<float>&);
template void convert(SpinorField<double>&, const SpinorField<double>&);
template void apply_gamma5(SpinorField<float>&, const SpinorField<float>&);
template void apply_gamma5(SpinorField<double>&, const SpinorField<double>&);

}  // namespace halocline::qcd
