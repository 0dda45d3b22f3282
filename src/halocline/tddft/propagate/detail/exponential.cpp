// SPDX-License-Identifier: Apache-2.0

#include "halocline/tddft/propagate/detail/exponential.hpp"

#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <cassert>

namespace halocline::tddft::detail {
namespace {

/// Number of blocks that go through the series together if space is split: few enough that they and their scratch stay
/// in the core's cache between applications, or two if those stay in a cache that cores share; two are needed for the
/// pipeline of two halo exchanges in progress. Blocks that stay in neither are many: a pipeline begins and ends in
/// every run, where an exchange has nothing to hide behind.
std::int64_t blocks_at_once(std::int64_t block_doubles) {
  constexpr std::int64_t most = 8, of_a_core = 1 << 20, shared = 16 << 20, scratch = 256 << 20;  // [bytes]
  const std::int64_t bytes = std::max<std::int64_t>(block_doubles, 1) * static_cast<std::int64_t>(sizeof(double));
  if (6 * bytes <= of_a_core) return std::min(of_a_core / (3 * bytes), most);
  if (6 * bytes <= shared) return 2;
  return std::clamp<std::int64_t>(scratch / (2 * bytes), 2, most);
}

}  // namespace

Exponential::Exponential(Model& model, const State& state)
    : model_(&model), block_doubles_(state.orbitals.block_doubles()), points_(state.orbitals.points()) {
  const std::int64_t most = model.decomposition().space().size() > 1 ? blocks_at_once(block_doubles_) : 1;
  std::int64_t longest = 0;
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel) {
    weights_.push_back(model.weights(state, channel));
    const auto occupied = [&](std::int64_t block) {
      const auto first = weights_.back().begin() + block * orbital_lanes;
      return std::any_of(first, first + orbital_lanes, [](double w) { return w != 0; });
    };
    for (std::int64_t block = 0; block < state.orbitals.blocks();) {
      std::int64_t count = 0;
      while (count < most && block + count < state.orbitals.blocks() && occupied(block + count)) ++count;
      if (count > 0) runs_.push_back({channel, block, count});
      longest = std::max(longest, count);
      block += std::max<std::int64_t>(count, 1);
    }
  }
  scratch_ = core::AlignedArray<double>(2 * longest * block_doubles_);
}

void Exponential::step(std::int64_t channel, double* psi, std::int64_t blocks, double dt, int order) {
  assert(order >= 2);
  const double* in = psi;
  for (int n = order; n >= 1; --n) {
    double* out = n == 1 ? psi : scratch_.data() + (n % 2) * blocks * block_doubles_;
    model_->hamiltonian().apply(channel, out, in, blocks,
                                {.factor = {0, -dt / n}, .shift = 0, .base = psi, .base_factor = 1});
    in = out;
  }
}

void Exponential::walk(Orbitals& psi, const After& step,
                       const std::function<void(std::int64_t channel)>& after_channel) {
  auto run = runs_.begin();
  for (std::int64_t channel = 0; channel < psi.channels(); ++channel) {
    for (; run != runs_.end() && run->channel == channel; ++run)
      step(channel, psi.block(channel, run->first), run->blocks,
           std::span<const double>(weights_[size(channel)])
               .subspan(size(run->first * orbital_lanes), size(run->blocks * orbital_lanes)));
    if (after_channel) after_channel(channel);
  }
}

void Exponential::apply(Orbitals& psi, double dt, int order, const After& after,
                        const std::function<void(std::int64_t channel)>& after_channel) {
  walk(
      psi,
      [&](std::int64_t channel, double* blocks, std::int64_t count, std::span<const double> weights) {
        step(channel, blocks, count, dt, order);
        if (after) after(channel, blocks, count, weights);
      },
      after_channel);
}

void Exponential::visit(Orbitals& psi, const After& after,
                        const std::function<void(std::int64_t channel)>& after_channel) {
  walk(psi, after, after_channel);
}

}  // namespace halocline::tddft::detail
