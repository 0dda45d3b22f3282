// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How a source changes with time. Frequencies are angular, in inverse units of length (c = 1).

#include <complex>
#include <vector>

namespace halocline::maxwell {

class Waveform {
public:
  /// A pulse exp(-(t - centre)^2 / (2 width^2)) cos(frequency (t - centre) + phase), zero at times further than 6
  /// widths from the centre. It has the full width at half maximum of the intensity 1.665 width.
  static Waveform gaussian(double frequency, double width, double centre, double phase = 0, double amplitude = 1);
  /// A pulse cos^2(pi (t - centre) / duration) cos(frequency (t - centre) + phase), zero outside of its duration.
  static Waveform cosine_squared(double frequency, double duration, double centre, double phase = 0,
                                 double amplitude = 1);
  /// cos(frequency t + phase), turned on over `rise` by sin^2.
  static Waveform continuous(double frequency, double rise, double phase = 0, double amplitude = 1);
  /// Values at times 0, step, 2 step, ..., joined by straight lines; zero outside.
  static Waveform sampled(std::vector<double> values, double step);
  /// All throw InvalidArgument for times that are not positive and numbers that are not finite.

  double operator()(double time) const noexcept;
  /// After this time it is zero; infinite for a continuous wave.
  double end() const noexcept;

private:
  enum class Kind { gaussian, cosine_squared, continuous, sampled };
  Waveform(Kind kind, double frequency, double width, double centre, double phase, double amplitude);

  Kind kind_;
  double frequency_, width_, centre_, phase_, amplitude_;
  std::vector<double> values_;
};

}  // namespace halocline::maxwell
