// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Fields at frequencies, summed while the simulation runs: F(omega) = sum over samples of F(t) exp(i omega t) dt.
///
/// E is sampled at n dt and H at (n - 1/2) dt, each with its own phase. A sample is taken every few steps: as rarely as
/// the highest frequency allows, since the fields hold nothing far above it.

#include "halocline/maxwell/update/state.hpp"

#include <complex>
#include <span>
#include <vector>

namespace halocline::maxwell {

template <class T>
class Spectrum {
public:
  /// @param box          of points of the grid; cut to what each process owns
  /// @param kept         components that are summed
  /// @param frequencies  angular
  /// @param every        steps from one sample to the next
  Spectrum(const State<T>& state, const Box& box, std::vector<int> kept, std::vector<double> frequencies, int every);

  int every() const noexcept { return every_; }
  const Box& box() const noexcept { return box_; }
  const std::vector<int>& kept() const noexcept { return kept_; }
  const std::vector<double>& frequencies() const noexcept { return frequencies_; }
  /// The points of a component that this process holds, in the coordinates of the grid.
  Box held(int component) const noexcept;

  /// Adds the fields after so many steps.
  void sample(const State<T>& state, std::int64_t step);

  /// Sums of a component at a frequency on the points held, x fastest.
  std::span<const std::complex<double>> sums(std::size_t kept, std::size_t frequency) const noexcept {
    const auto& of = sums_[kept];
    const std::size_t points = of.size() / frequencies_.size();
    return {of.data() + points * frequency, points};
  }
  /// The sums of all components, frequencies and points held, for a checkpoint.
  std::vector<std::vector<std::complex<double>>>& all() noexcept { return sums_; }

private:
  const Part part_;
  Box box_;
  std::vector<int> kept_;
  std::vector<double> frequencies_;
  int every_;
  std::vector<Box> mine_;  ///< of each component, in the coordinates of the process
  std::vector<std::vector<std::complex<double>>> sums_;
};

}  // namespace halocline::maxwell
