// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/host_batch.hpp"

#include <array>

namespace halocline::qcd {
namespace {

using solve::Scalar;

void update(const SpinorSpace<double>& space, const solve::Update<SpinorField<double>>& one) {
  const std::array<solve::Update<SpinorField<double>>, 1> list{one};
  space.update_and_reduce(list, {});
}

}  // namespace

HostBatch::HostBatch(QuarkEngine& engine)
    : engine_(&engine),
      b_(engine.space().create()),
      x_(engine.space().create()),
      r_(engine.space().create()),
      e_(engine.space().create()) {}

std::vector<double> HostBatch::load(std::span<const std::span<const std::complex<double>>> sources) {
  engine_->space().set_zero(b_);
  for (std::size_t c = 0; c < sources.size(); ++c) from_canonical<double>(b_, static_cast<int>(c), sources[c]);
  return norms(engine_->space(), b_);
}

void HostBatch::clear(int column) {
  const std::vector<std::complex<double>> zero(
      static_cast<std::size_t>(engine_->space().layout()->geometry().local_volume() * spinor_reals / 2));
  from_canonical<double>(b_, column, zero);
}

void HostBatch::start(std::span<const Scalar> factor) {
  update(engine_->space(), solve::scale(b_, factor));
  engine_->space().set_zero(x_);
  engine_->space().copy(r_, b_);
}

void HostBatch::scale_residual(std::span<const Scalar> factor) { update(engine_->space(), solve::scale(r_, factor)); }

std::vector<double> HostBatch::add_correction(std::span<const Scalar> weight) {
  update(engine_->space(), solve::add(x_, weight, e_));
  engine_->d().apply(r_, x_);
  const std::vector<Scalar> minus(static_cast<std::size_t>(columns()), Scalar(-1.0));
  update(engine_->space(), solve::scale_add(r_, minus, {}, b_));
  return norms(engine_->space(), r_);
}

void HostBatch::unload(std::span<std::complex<double>> solution, int column) {
  to_canonical<double>(solution, x_, column);
}

}  // namespace halocline::qcd
