// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/twist.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/core/region.hpp"
#include "halocline/lattice/dispatch.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::multigrid {
namespace {

using Field = lattice::DomainField<float>;

/// @param half_inverse  A^-1 / 2, `[tile][72][lane]`; null without a clover term
/// @param factor        2 mu, or mu / A without a clover term
template <int V>
void add_lanes(Field& out, const Field& in, const float* half_inverse, float factor) {
  using Real = core::Number<float, V>;
  using L = core::Lanes<Real>;
  const std::int64_t tiles = std::int64_t{in.layout().domains()} * in.layout().tiles();
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < tiles; ++tile)
    for (int column = 0; column < in.columns(); ++column) {
      const std::int64_t place = tile * in.tile_stride() + column * in.column_stride();
      wilson::Spinor<Real> r;
      for (int colour = 0; colour < 3; ++colour)
        for (int spin = 0; spin < 4; ++spin) {
          const float* at = in.data() + place + 2 * (4 * colour + spin) * V;
          r.at[colour][spin] = {L::load(at), L::load(at + V)};
        }
      if (half_inverse != nullptr) {
        const float* a = half_inverse + tile * clover::block_reals * V;
        r = clover::multiply_block<Real>([&](int n) { return L::load(a + n * V); }, r);
      }
      for (int colour = 0; colour < 3; ++colour)
        for (int spin = 0; spin < 4; ++spin) {
          float* to = out.data() + place + 2 * (4 * colour + spin) * V;
          const Real by(spin < 2 ? factor : -factor);  // gamma5 = diag(1, 1, -1, -1)
          L::store(to, L::load(to) - by * r.at[colour][spin].im);
          L::store(to + V, L::load(to + V) + by * r.at[colour][spin].re);
        }
    }
}

}  // namespace

void Twist::add(Field& out, const Field& in) const {
  if (mu_ == 0) return;
  if (in.layout_ptr() != matrix_->layout() || out.layout_ptr() != in.layout_ptr() || out.columns() != in.columns())
    throw core::InvalidArgument("a twisted mass was given fields of other layouts or numbers of columns");
  const core::Region region("twisted mass");
  const auto blocks = matrix_->half_inverse_clover();
  const double factor = blocks.empty() ? mu_ / matrix_->action().diagonal() : 2 * mu_;
  lattice::with_lanes(in.layout().lanes(), [&]<int V>() {
    add_lanes<V>(out, in, blocks.empty() ? nullptr : blocks.data(), static_cast<float>(factor));
  });
}

}  // namespace halocline::qcd::multigrid
