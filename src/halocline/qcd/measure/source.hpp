// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Right-hand sides of D S = source: point, wall and sequential sources. Stochastic sources are in noise.hpp.
///
/// All are canonical local spinors and depend on global coordinates only, hence not on the process grid. Point and wall
/// sources are made column by column; `columns(...)` makes the twelve of a propagator, in the order 3 spin + colour.

#include <complex>
#include <cstdint>
#include <vector>

#include "halocline/qcd/field/gamma.hpp"
#include "halocline/qcd/measure/momentum.hpp"
#include "halocline/qcd/measure/propagator.hpp"

namespace halocline::qcd::measure {

/// One at a global site, spin and colour; zero elsewhere.
/// @throws InvalidArgument  for a position, spin or colour that does not exist. Collective: no.
Spinor point_source(const lattice::Geometry4& geometry, const Coordinates4& position, int spin, int colour);

/// exp(+i p x) at every site of a time slice, in one spin and colour, p_i = 2 pi n_i / L_i. Not gauge invariant: fix
/// the gauge to Coulomb first.
/// @throws InvalidArgument  for a time, spin or colour that does not exist. Collective: no.
Spinor wall_source(const lattice::Geometry4& geometry, std::int64_t time, int spin, int colour,
                   const Momentum& momentum = {0, 0, 0});

/// The twelve sources of a propagator:
///   columns([&](int spin, int colour) { return point_source(geometry, x, spin, colour); })
template <class Make>
std::vector<Spinor> columns(Make&& make) {
  std::vector<Spinor> made;
  made.reserve(spinor_components);
  for (int spin = 0; spin < 4; ++spin)
    for (int colour = 0; colour < 3; ++colour) made.push_back(make(spin, colour));
  return made;
}

/// The sequential source through the sink: exp(-i p (x - x0)) sink S(x; x0) on the time slice `time`, zero elsewhere,
/// all twelve columns. Let Sigma be its solutions, with the same source x0. Then tr[source Sigma(x0)] is the meson
/// correlator with this pair of gammas at that time, and with an operator J inserted at y, tr[source gamma5 S(y;
/// x0)^dagger gamma5 J Sigma(y; x0)] is the three-point function.
/// @param time  global time of the sink
/// @throws InvalidArgument  for a time outside the lattice. Collective: no.  Cost: one time slice.
std::vector<Spinor> sequential_source(const Propagator& propagator, std::int64_t time, const SpinMatrix& sink,
                                      const Momentum& momentum = {0, 0, 0});

/// The spinor on one global time slice, zero elsewhere. Collective: no.
/// @throws InvalidArgument  for a wrong length or a time outside the lattice
Spinor restrict_to_time(const lattice::Geometry4& geometry, const Spinor& spinor, std::int64_t time);

}  // namespace halocline::qcd::measure
