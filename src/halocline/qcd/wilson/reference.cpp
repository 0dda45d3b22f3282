// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/wilson/reference.hpp"

#include <fmt/format.h>

#include <array>

#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/field_strength.hpp"
#include "halocline/qcd/wilson/plain_accessor.hpp"

namespace halocline::qcd::wilson {
namespace {

constexpr std::array<std::complex<double>, 4> power_of_i{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};

/// out += -1/2 c_munu gamma_mu gamma_nu F_munu in, at one site.
void add_clover(std::complex<double>* out, const std::complex<double>* in, const GaugeField& gauge,
                const WilsonCloverAction& action, const lattice::Coordinates<4>& x) {
  for (const auto& [mu, nu] : gauge::field_strength_plane) {
    const SpinMatrix spin = gamma[mu] * gamma[nu];
    const Su3<double> f = gauge::field_strength(gauge, x, mu, nu);
    for (int s = 0; s < 4; ++s) {
      const std::complex<double> factor = -0.5 * action.clover(mu, nu) * power_of_i[spin.power[s]];
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          out[3 * s + i] += factor * std::complex<double>(f.e[i][j].re, f.e[i][j].im) * in[3 * spin.column[s] + j];
    }
  }
}

}  // namespace

void apply_reference(std::span<std::complex<double>> out, std::span<const std::complex<double>> in,
                     const GaugeField& gauge, const WilsonCloverAction& action, bool dagger) {
  action.validate();
  const auto& geometry = gauge.geometry();
  const auto& local = geometry.local();
  const auto expected = static_cast<std::size_t>(geometry.local_volume() * 12);
  if (out.size() != expected || in.size() != expected)
    throw core::InvalidArgument(fmt::format(
        "spinor arrays of {} and {} complex numbers were given; give [t][z][y][x][spin][colour] of the local box, {}",
        out.size(), in.size(), expected));
  const auto psi = with_ghosts(gauge.geometry_ptr(), in);
  for (std::int64_t site = 0; site < geometry.local_volume(); ++site) {
    const PlainAccessor accessor{psi, gauge, action, lattice::coordinates_of<4>(site, local)};
    Spinor<double> sum;
    if (dagger)
      hop<true>(sum, accessor);
    else
      hop<false>(sum, accessor);
    for (int spin = 0; spin < 4; ++spin)
      for (int colour = 0; colour < 3; ++colour) {
        const auto& s = sum.at[colour][spin];
        const auto k = 12 * site + 3 * spin + colour;
        out[k] = action.diagonal() * in[k] - 0.5 * std::complex<double>(s.re, s.im);
      }
    if (action.has_clover()) add_clover(&out[12 * site], &in[12 * site], gauge, action, accessor.x);
  }
}

}  // namespace halocline::qcd::wilson
