// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/source/waveform.hpp"

#include "halocline/core/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace halocline::maxwell {

Waveform::Waveform(Kind kind, double frequency, double width, double centre, double phase, double amplitude)
    : kind_(kind), frequency_(frequency), width_(width), centre_(centre), phase_(phase), amplitude_(amplitude) {
  if (!(width > 0) || !(frequency >= 0) || !std::isfinite(frequency + width + centre + phase + amplitude))
    throw core::InvalidArgument(fmt::format(
        "a pulse of frequency {}, duration {}, centre {}, phase {} and amplitude {} was given; durations are positive, "
        "frequencies at least 0, and all numbers finite",
        frequency, width, centre, phase, amplitude));
}

Waveform Waveform::gaussian(double frequency, double width, double centre, double phase, double amplitude) {
  return {Kind::gaussian, frequency, width, centre, phase, amplitude};
}
Waveform Waveform::cosine_squared(double frequency, double duration, double centre, double phase, double amplitude) {
  return {Kind::cosine_squared, frequency, duration, centre, phase, amplitude};
}
Waveform Waveform::continuous(double frequency, double rise, double phase, double amplitude) {
  return {Kind::continuous, frequency, rise, 0, phase, amplitude};
}
Waveform Waveform::sampled(std::vector<double> values, double step) {
  Waveform wave(Kind::sampled, 0, step, 0, 0, 1);
  for (const double value : values)
    if (!std::isfinite(value)) throw core::InvalidArgument("a source has a value that is not finite");
  wave.values_ = std::move(values);
  return wave;
}

double Waveform::operator()(double time) const noexcept {
  const double away = time - centre_;
  switch (kind_) {
  case Kind::gaussian:
    if (std::abs(away) > 6 * width_) return 0;
    return amplitude_ * std::exp(-away * away / (2 * width_ * width_)) * std::cos(frequency_ * away + phase_);
  case Kind::cosine_squared: {
    if (std::abs(away) >= width_ / 2) return 0;
    const double envelope = std::cos(std::numbers::pi * away / width_);
    return amplitude_ * envelope * envelope * std::cos(frequency_ * away + phase_);
  }
  case Kind::continuous: {
    if (time <= 0) return 0;
    const double rise = time < width_ ? std::sin(std::numbers::pi / 2 * time / width_) : 1;
    return amplitude_ * rise * rise * std::cos(frequency_ * time + phase_);
  }
  case Kind::sampled:
    break;
  }
  const double place = time / width_;
  if (place < 0 || values_.empty() || place > static_cast<double>(values_.size() - 1)) return 0;
  const auto before = static_cast<std::size_t>(place);
  if (before + 1 >= values_.size()) return values_.back();
  const double share = place - static_cast<double>(before);
  return values_[before] + share * (values_[before + 1] - values_[before]);
}

double Waveform::end() const noexcept {
  switch (kind_) {
  case Kind::gaussian:
    return centre_ + 6 * width_;
  case Kind::cosine_squared:
    return centre_ + width_ / 2;
  case Kind::continuous:
    return std::numeric_limits<double>::infinity();
  case Kind::sampled:
    break;
  }
  return values_.empty() ? 0 : width_ * static_cast<double>(values_.size() - 1);
}

}  // namespace halocline::maxwell
