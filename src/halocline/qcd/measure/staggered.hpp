// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Propagators of staggered quarks, and the mesons whose quark and antiquark sit on one site.
///
/// A site of staggered quarks has one spin. Spin and taste are in the signs with which sites of a cube are summed. The
/// antiquark propagator follows from D^dagger = epsilon D epsilon, epsilon = (-1)^(x+y+z+t), so all correlators are
///   C(p, t) = sum_x exp(-i p (x - x0)) sign(x - x0) tr[S_q(x; x0) S_qbar(x; x0)^dagger],
/// with the trace over colour and these signs (spin x taste of the state without the alternating factor (-1)^t):
///
/// | channel     | sign                                                  | spin x taste                      |
/// |-------------|-------------------------------------------------------|-----------------------------------|
/// | `pion`      | 1                                                     | gamma5 x gamma5, the Goldstone    |
/// | `pion_sc`   | (-1)^(x+y+z)                                          | gamma4 gamma5 x gamma4 gamma5     |
/// | `rho`       | [(-1)^x + (-1)^y + (-1)^z] / 3                        | gamma_k x gamma_k (VT)            |
/// | `rho_pv`    | [(-1)^(x+y) + (-1)^(y+z) + (-1)^(z+x)] / 3            | gamma_k gamma4 x gamma_k gamma4   |
///
/// These are the channels PS, SC, VT and PV of the literature (M. F. L. Golterman, Nucl. Phys. B 273 (1986) 663). But
/// for the pion, they hold an oscillating state of opposite parity too.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "halocline/qcd/measure/momentum.hpp"
#include "halocline/qcd/measure/propagator.hpp"

namespace halocline::qcd::measure {

/// Three solutions, one for each colour of one source.
class StaggeredPropagator {
public:
  /// Zeros.
  /// @param source  global coordinates x y z t of the source; its time is index 0 of every correlator
  /// @throws InvalidArgument  for a source outside the lattice
  /// Collective: no.  Cost: 144 bytes a local site.
  explicit StaggeredPropagator(GeometryPointer geometry, const Coordinates4& source = {0, 0, 0, 0});

  const lattice::Geometry4& geometry() const noexcept { return *geometry_; }
  const GeometryPointer& geometry_ptr() const noexcept { return geometry_; }
  const Coordinates4& source() const noexcept { return source_; }

  /// The solution [t][z][y][x][colour] of this process's box for the source of this colour (0..2).
  std::span<std::complex<double>> column(int colour) noexcept {
    return columns_[static_cast<std::size_t>(colour)].span();
  }
  std::span<const std::complex<double>> column(int colour) const noexcept {
    return columns_[static_cast<std::size_t>(colour)].span();
  }

private:
  GeometryPointer geometry_;
  Coordinates4 source_;
  std::array<core::AlignedArray<std::complex<double>>, colours> columns_;
};

/// One at a global site and colour; zero elsewhere: [t][z][y][x][colour].
/// @throws InvalidArgument  for a position or colour that does not exist. Collective: no.
std::vector<std::complex<double>> staggered_point_source(const lattice::Geometry4& geometry,
                                                         const Coordinates4& position, int colour);

/// A corner wall: one at every site of the time slice whose x, y and z differ from those of a position by even numbers.
/// The signs above are the same for all of them, so staggered_mesons() takes propagators from such a source too, and
/// sums over pairs of corners. Between different corners only links in a fixed gauge give a signal.
/// @throws InvalidArgument  for a position or colour that does not exist, or an odd extent in space, on which the signs
///                          do not fit. Collective: no.
std::vector<std::complex<double>> staggered_wall_source(const lattice::Geometry4& geometry,
                                                        const Coordinates4& position, int colour);

/// The names of the channels above.
std::span<const char* const> staggered_channels() noexcept;

/// @return  one correlator a channel and momentum, channel-major; shape (T,) each, the same on every rank
/// @throws InvalidArgument  on every rank, when the propagators differ in lattice, process grid or source, for an
///                          unknown channel, or when no momentum is given
/// Collective: yes.  Cost: reads both propagators once.
std::vector<Correlator> staggered_mesons(const StaggeredPropagator& quark, const StaggeredPropagator& antiquark,
                                         std::span<const std::string> channels, std::span<const Momentum> momenta);

}  // namespace halocline::qcd::measure
