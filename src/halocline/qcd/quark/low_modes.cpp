// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/low_modes.hpp"

#include <fmt/format.h>

#include <cmath>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/eigenvalues.hpp"

namespace halocline::qcd {
namespace {

EigenvalueParameters eigenvalue_parameters(const DeflationParameters& p) {
  EigenvalueParameters out;
  out.count = p.vectors;
  out.tolerance = p.tolerance;
  out.method = p.method;
  out.vectors = true;
  return out;
}

}  // namespace

void DeflationParameters::validate() const {
  if (vectors < 1 || vectors > 1024)
    throw core::InvalidArgument(fmt::format("deflation with {} vectors was asked for; give 1 to 1024", vectors));
  eigenvalue_parameters(*this).validate();
}

void LowModes::unpack(std::span<std::complex<double>> box, int vector) const {
  const auto sites = static_cast<std::int64_t>(box.size()) / spinor_components;
  const int count = vectors();
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < sites; ++site) {
    const core::Half* from = numbers.data() + (site * count + vector) * spinor_reals;
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 4; ++spin, from += 2)
        box[static_cast<std::size_t>(site * spinor_components + 3 * spin + colour)] = {core::widen(from[0]),
                                                                                       core::widen(from[1])};
  }
}

LowModes low_modes(const GaugeField& gauge, const Action& action, const DeflationParameters& parameters,
                   const multigrid::Parameters& multigrid) {
  parameters.validate();
  EigenvalueParameters eigen = eigenvalue_parameters(parameters);
  eigen.multigrid = multigrid;
  const auto found = low_eigenvalues(gauge, wilson_part(action), eigen);
  if (!found.converged)
    throw core::Error(fmt::format("the {} low modes for deflation were not found: {} after {} applications of D; ask "
                                  "for fewer vectors or a larger tolerance",
                                  parameters.vectors, found.reason, found.applications));
  const auto& geometry = gauge.geometry();
  const std::int64_t sites = geometry.local_volume();
  // Of length one before, and with a mean square of one for each real number afterwards.
  const double scale = std::sqrt(static_cast<double>(geometry.global_volume()) * spinor_reals);
  LowModes out{found.values, {}};
  const int count = out.vectors();
  out.numbers.resize(static_cast<std::size_t>(sites * count * spinor_reals));
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < sites; ++site) {
    core::Half* to = out.numbers.data() + site * count * spinor_reals;
    for (int vector = 0; vector < count; ++vector)
      for (int colour = 0; colour < 3; ++colour)
        for (int spin = 0; spin < 4; ++spin, to += 2) {
          const auto number =
              scale * found.vectors[static_cast<std::size_t>(vector)]
                                   [static_cast<std::size_t>(site * spinor_components + 3 * spin + colour)];
          to[0] = core::narrow(static_cast<float>(number.real()));
          to[1] = core::narrow(static_cast<float>(number.imag()));
        }
  }
  return out;
}

}  // namespace halocline::qcd
