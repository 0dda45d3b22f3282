// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/base/orbitals.hpp"

namespace halocline::tddft {
namespace {

constexpr int half = numbers_per_point<double>;  ///< of the numbers of a line in float

}  // namespace

void to_floats(float* out, const double* first, const double* second, std::int64_t points) {
  for (std::int64_t p = 0; p < points; ++p, out += 2 * half)
    for (std::int64_t i = 0; i < half; ++i) {
      out[i] = static_cast<float>(first[p * half + i]);
      out[half + i] = second == nullptr ? 0.0F : static_cast<float>(second[p * half + i]);
    }
}

void to_doubles(double* first, double* second, const float* in, std::int64_t points) {
  for (std::int64_t p = 0; p < points; ++p, in += 2 * half)
    for (std::int64_t i = 0; i < half; ++i) {
      if (first != nullptr) first[p * half + i] = in[i];
      if (second != nullptr) second[p * half + i] = in[half + i];
    }
}

void Orbitals::convert(Precision to) {
  if (to == precision_) return;
  const std::int64_t pairs = blocks<float>(), in_double = block_numbers<double>(), in_float = block_numbers<float>();
  if (to == Precision::float32)
    floats_ = core::AlignedArray<float>(channels_ * pairs * in_float);
  else
    doubles_ = core::AlignedArray<double>(channels_ * blocks_ * in_double);
#pragma omp parallel for schedule(static)
  for (std::int64_t pair = 0; pair < channels_ * pairs; ++pair) {
    const std::int64_t channel = pair / pairs, block = 2 * (pair % pairs);
    double* first = doubles_.data() + (channel * blocks_ + block) * in_double;
    double* second = block + 1 < blocks_ ? first + in_double : nullptr;
    float* both = floats_.data() + pair * in_float;
    if (to == Precision::float32)
      to_floats(both, first, second, points_);
    else
      to_doubles(first, second, both, points_);
  }
  if (to == Precision::float32)
    doubles_ = core::AlignedArray<double>();
  else
    floats_ = core::AlignedArray<float>();
  precision_ = to;
}

const double* DoubleBlocks::read(std::int64_t channel, std::int64_t first, std::int64_t count) {
  if (orbitals_->precision() == Precision::float64) return orbitals_->block(channel, first);
  if (channel == channel_ && first == first_ && count == count_) return converted_.data();
  const std::int64_t doubles = orbitals_->block_doubles();
  if (converted_.size() < count * doubles) converted_ = core::AlignedArray<double>(count * doubles);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t block = first + i;
    double* to = converted_.data() + i * doubles;
    to_doubles(block % 2 == 0 ? to : nullptr, block % 2 == 0 ? nullptr : to,
               orbitals_->block<float>(channel, block / 2), orbitals_->points());
  }
  channel_ = channel;
  first_ = first;
  count_ = count;
  return converted_.data();
}

}  // namespace halocline::tddft
