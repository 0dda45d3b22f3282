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
std::int64_t blocks_at_once(std::int64_t points) {
  constexpr std::int64_t most = 8, of_a_core = 1 << 20, shared = 16 << 20, scratch = 256 << 20;  // [bytes]
  const std::int64_t bytes = std::max<std::int64_t>(points, 1) * static_cast<std::int64_t>(line_bytes);
  if (6 * bytes <= of_a_core) return std::min(of_a_core / (3 * bytes), most);
  if (6 * bytes <= shared) return 2;
  return std::clamp<std::int64_t>(scratch / (2 * bytes), 2, most);
}

}  // namespace

template <class T>
Exponential<T>::Exponential(Model& model, const State& state)
    : model_(&model), block_numbers_(state.orbitals.block_numbers<T>()) {
  const std::int64_t most = model.decomposition().space().size() > 1 ? blocks_at_once(state.orbitals.points()) : 1;
  const std::int64_t blocks = state.orbitals.blocks<T>();
  std::int64_t longest = 0;
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel) {
    weights_.push_back(model.weights(state, channel));
    weights_.back().resize(size(blocks * lanes_of<T>), 0.0);
    const auto occupied = [&](std::int64_t block) {
      const auto first = weights_.back().begin() + block * lanes_of<T>;
      return std::any_of(first, first + lanes_of<T>, [](double w) { return w != 0; });
    };
    for (std::int64_t block = 0; block < blocks;) {
      std::int64_t count = 0;
      while (count < most && block + count < blocks && occupied(block + count)) ++count;
      if (count > 0) runs_.push_back({channel, block, count});
      longest = std::max(longest, count);
      block += std::max<std::int64_t>(count, 1);
    }
  }
  scratch_ = core::AlignedArray<T>(2 * longest * block_numbers_);
}

template <class T>
void Exponential<T>::step(std::int64_t channel, T* psi, std::int64_t blocks, double dt, int order) {
  assert(order >= 2);
  const T* in = psi;
  for (int n = order; n >= 1; --n) {
    T* out = n == 1 ? psi : scratch_.data() + (n % 2) * blocks * block_numbers_;
    model_->hamiltonian().apply(channel, out, in, blocks,
                                {.factor = {0, -dt / n}, .shift = 0, .base = psi, .base_factor = 1});
    in = out;
  }
}

template <class T>
void Exponential<T>::walk(Orbitals& psi, const After& step,
                          const std::function<void(std::int64_t channel)>& after_channel) {
  auto run = runs_.begin();
  for (std::int64_t channel = 0; channel < psi.channels(); ++channel) {
    for (; run != runs_.end() && run->channel == channel; ++run)
      step(channel, psi.block<T>(channel, run->first), run->blocks,
           std::span<const double>(weights_[size(channel)])
               .subspan(size(run->first * lanes_of<T>), size(run->blocks * lanes_of<T>)),
           run + 1 == runs_.end());
    if (after_channel) after_channel(channel);
  }
}

template <class T>
void Exponential<T>::apply(Orbitals& psi, double dt, int order, const After& after,
                           const std::function<void(std::int64_t channel)>& after_channel) {
  walk(
      psi,
      [&](std::int64_t channel, T* blocks, std::int64_t count, std::span<const double> weights, bool last) {
        step(channel, blocks, count, dt, order);
        if (after) after(channel, blocks, count, weights, last);
      },
      after_channel);
}

template <class T>
void Exponential<T>::visit(Orbitals& psi, const After& after,
                           const std::function<void(std::int64_t channel)>& after_channel) {
  walk(psi, after, after_channel);
}

template class Exponential<double>;
template class Exponential<float>;

}  // namespace halocline::tddft::detail
