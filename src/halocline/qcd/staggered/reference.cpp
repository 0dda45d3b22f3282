// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/staggered/reference.hpp"

#include <fmt/format.h>

#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/lattice/ghost_field.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/staggered/phases.hpp"

namespace halocline::qcd::staggered {
namespace {

/// sum += factor u psi(y)
void add(std::complex<double>* sum, std::complex<double> factor, const Su3<double>& u,
         const lattice::GhostField<double>& psi, const lattice::Coordinates<4>& y) {
  for (int i = 0; i < colours; ++i)
    for (int j = 0; j < colours; ++j)
      sum[i] += factor * std::complex<double>(u.e[i][j].re, u.e[i][j].im) *
                std::complex<double>(psi.at(y, 2 * j), psi.at(y, 2 * j + 1));
}

}  // namespace

void apply_reference(std::span<std::complex<double>> out, std::span<const std::complex<double>> in,
                     const gauge::StaggeredLinks& links, const StaggeredAction& action, bool dagger) {
  action.validate();
  const auto& geometry = links.fat.geometry();
  const auto expected = static_cast<std::size_t>(geometry.local_volume() * colours);
  if (out.size() != expected || in.size() != expected)
    throw core::InvalidArgument(
        fmt::format("staggered arrays of {} and {} complex numbers were given; give [t][z][y][x][colour] of the local "
                    "box, {}",
                    out.size(), in.size(), expected));
  lattice::GhostField<double> psi(links.fat.geometry_ptr(), staggered_reals, action.reach());
  for (std::int64_t site = 0; site < geometry.local_volume(); ++site)
    for (int c = 0; c < colours; ++c) {
      const auto x = lattice::coordinates_of<4>(site, geometry.local());
      psi.at(x, 2 * c) = in[static_cast<std::size_t>(colours * site + c)].real();
      psi.at(x, 2 * c + 1) = in[static_cast<std::size_t>(colours * site + c)].imag();
    }
  psi.exchange_ghosts();
  for (std::int64_t site = 0; site < geometry.local_volume(); ++site) {
    const auto x = lattice::coordinates_of<4>(site, geometry.local());
    std::complex<double> sum[colours] = {};
    for (const auto& [field, steps] : {std::pair{&links.fat, 1}, {links.naik ? &*links.naik : nullptr, 3}}) {
      if (field == nullptr) continue;
      for (int mu = 0; mu < 4; ++mu) {
        auto up = x, down = x;
        up[mu] += steps;
        down[mu] -= steps;
        const double phase = eta(geometry, x, mu);
        add(sum, phase * boundary_phase(geometry, action, x, mu, steps), link_from(*field, x, mu), psi, up);
        add(sum, -phase * std::conj(boundary_phase(geometry, action, down, mu, steps)),
            adjoint(link_from(*field, down, mu)), psi, down);
      }
    }
    for (int c = 0; c < colours; ++c) {
      const auto k = static_cast<std::size_t>(colours * site + c);
      out[k] = action.mass * in[k] + (dagger ? -0.5 : 0.5) * sum[c];
    }
  }
}

}  // namespace halocline::qcd::staggered
