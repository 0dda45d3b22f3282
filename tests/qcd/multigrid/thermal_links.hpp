// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Smeared links of a small thermal lattice, on which quarks can be light.

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/gauge/heatbath.hpp"
#include "halocline/qcd/gauge/smear.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::test {

/// 8^4 sites on one process, beta = 6, after 20 sweeps and three stout steps.
inline qcd::GaugeField thermal_links(std::uint64_t seed = 3) {
  qcd::GaugeField u = qcd::gauge::random_links(one_process({8, 8, 8, 8}), seed);
  for (std::uint64_t sweep = 0; sweep < 20; ++sweep)
    qcd::gauge::heatbath_sweep(u, {.beta = 6.0, .overrelaxation_steps = 1, .seed = seed}, sweep);
  qcd::gauge::smear_stout(u, {.rho = 0.1, .steps = 3});
  return u;
}

}  // namespace halocline::test
