// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/measure/spectrum.hpp"

#include "halocline/core/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace halocline::maxwell {

template <class T>
Spectrum<T>::Spectrum(const State<T>& state, const Box& box, std::vector<int> kept, std::vector<double> frequencies,
                      int every)
    : part_(state.part()), box_(box), kept_(std::move(kept)), frequencies_(std::move(frequencies)), every_(every) {
  if (every < 1) throw core::InvalidArgument(fmt::format("a sample every {} steps was asked for; at least 1", every));
  if (frequencies_.empty() || kept_.empty())
    throw core::InvalidArgument("a spectrum of no frequency or no component was asked for; name at least one of each");
  for (const double omega : frequencies_)
    if (!(omega > 0) || omega * every * part_.grid().time_step > std::numbers::pi)
      throw core::InvalidArgument(
          fmt::format("the frequency {:.6g} cannot be summed from samples every {} steps of {:.6g}; "
                      "it must be positive and below pi / (steps dt) = {:.6g}",
                      omega, every, part_.grid().time_step, std::numbers::pi / (every * part_.grid().time_step)));
  for (const int component : kept_) {
    Box global = part_.owned(component);
    const Index3& first = part_.first();
    mine_.push_back(intersection(global, moved(box_, {-first[0], -first[1], -first[2]})));
    sums_.emplace_back(static_cast<std::size_t>(mine_.back().points()) * frequencies_.size());
  }
}

template <class T>
Box Spectrum<T>::held(int component) const noexcept {
  for (std::size_t c = 0; c < kept_.size(); ++c)
    if (kept_[c] == component) return moved(mine_[c], part_.first());
  return {};
}

template <class T>
void Spectrum<T>::sample(const State<T>& state, std::int64_t step) {
  const double dt = part_.grid().time_step;
  for (std::size_t c = 0; c < kept_.size(); ++c) {
    const Box& box = mine_[c];
    if (box.empty()) continue;
    const double time = (static_cast<double>(step) - (electric(kept_[c]) ? 0.0 : 0.5)) * dt;
    const std::int64_t rows = box.extent(1) * box.extent(2), width = box.extent(0), points = box.points();
    const auto count = static_cast<std::int64_t>(frequencies_.size());
#pragma omp parallel for collapse(2) schedule(static) if (points * count > 4096)
    for (std::int64_t f = 0; f < count; ++f)
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::complex<double> turn = std::polar(dt * every_, frequencies_[static_cast<std::size_t>(f)] * time);
        const std::int64_t y = box.lower[1] + row % box.extent(1), z = box.lower[2] + row / box.extent(1);
        std::complex<double>* sums = sums_[c].data() + f * points + row * width;
        const T* re = state.field(kept_[c], 0).row(y, z) + box.lower[0];
        const T* im = state.copies() > 1 ? state.field(kept_[c], 1).row(y, z) + box.lower[0] : nullptr;
        for (std::int64_t x = 0; x < width; ++x) {
          const double a = re[x], b = im != nullptr ? im[x] : 0;
          sums[x] += std::complex<double>(turn.real() * a - turn.imag() * b, turn.imag() * a + turn.real() * b);
        }
      }
  }
}

template class Spectrum<float>;
template class Spectrum<double>;

}  // namespace halocline::maxwell
