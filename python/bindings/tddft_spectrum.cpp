// SPDX-License-Identifier: Apache-2.0
/// @file
/// tddft: spectra of time series.
#include "halocline/tddft/propagate/spectrum.hpp"
#include "tddft.hpp"

namespace halocline::bindings {
namespace {

using namespace tddft;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Complexes = nb::ndarray<const complex, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<const double> values(const Reals& array) { return {array.data(), array.size()}; }

template <class T>
ArrayOut<T> array(std::vector<T>&& made) {
  const std::size_t count = made.size();
  return to_numpy(std::move(made), {count});
}

SpectrumOptions options_from(const std::string& window, double width, bool subtract_drift = false) {
  return {window_from(window), width, subtract_drift};
}

}  // namespace

void bind_tddft_spectrum(nb::module_& m) {
  m.def("resolution", [](const Reals& times) { return resolution(values(times)); }, "times"_a);
  m.def(
      "polarisability",
      [](const Reals& times, const Reals& dipole, double kick, const Reals& energies, const std::string& window,
         double width) {
        return array(
            polarisability(values(times), values(dipole), kick, values(energies), options_from(window, width)));
      },
      "times"_a, "dipole"_a, "kick"_a, "energies"_a, "window"_a, "width"_a);
  m.def(
      "rotatory_strength",
      [](const Reals& times, const Reals& turning, double kick, const Reals& energies, const std::string& window,
         double width) {
        return array(
            rotatory_strength(values(times), values(turning), kick, values(energies), options_from(window, width)));
      },
      "times"_a, "turning"_a, "kick"_a, "energies"_a, "window"_a, "width"_a, "Of one kick; the sum is over three.");
  m.def(
      "window_values",
      [](const Reals& times, double length, const std::string& window, double width) {
        const SpectrumOptions options = options_from(window, width);
        std::vector<double> found;
        for (const double t : values(times)) found.push_back(window_value(options, t, length));
        return array(std::move(found));
      },
      "times"_a, "length"_a, "window"_a, "width"_a, "The window of a series of this length.");
  m.def(
      "dielectric",
      [](const Reals& times, const Reals& current, double kick, const Reals& energies, const std::string& window,
         double width, bool subtract_drift) {
        return array(dielectric(values(times), values(current), kick, values(energies),
                                options_from(window, width, subtract_drift)));
      },
      "times"_a, "current"_a, "kick"_a, "energies"_a, "window"_a, "width"_a, "subtract_drift"_a = false);
  m.def(
      "drift", [](const Reals& times, const Reals& current) { return drift(values(times), values(current)); },
      "times"_a, "current"_a, "The constant part of a current.");
  m.def(
      "static_dielectric",
      [](const Reals& times, const Reals& current, double kick) {
        return static_dielectric(values(times), values(current), kick);
      },
      "times"_a, "current"_a, "kick"_a, "epsilon(0) by Kramers-Kronig, without the drift.");
  m.def(
      "cross_section",
      [](const Reals& energies, const Complexes& alpha) {
        return array(cross_section(values(energies), {alpha.data(), alpha.size()}));
      },
      "energies"_a, "alpha"_a);
  m.def(
      "strength",
      [](const Reals& energies, const Complexes& alpha) {
        return array(strength(values(energies), {alpha.data(), alpha.size()}));
      },
      "energies"_a, "alpha"_a);
  m.def(
      "sum_rule",
      [](const Reals& energies, const Reals& strengths) { return sum_rule(values(energies), values(strengths)); },
      "energies"_a, "strengths"_a);
  m.def(
      "peaks",
      [](const Reals& energies, const Reals& heights, double fraction) {
        std::vector<std::pair<double, double>> found;
        for (const Peak& peak : peaks(values(energies), values(heights), fraction))
          found.emplace_back(peak.energy, peak.height);
        return found;
      },
      "energies"_a, "values"_a, "fraction"_a = 0.01);
}

}  // namespace halocline::bindings
