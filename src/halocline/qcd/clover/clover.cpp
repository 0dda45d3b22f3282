// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/clover/clover.hpp"

#include <fmt/format.h>

// Six rows are too few for Eigen's vector code, and g++ 12 warns of uninitialised numbers in its AVX-512 form.
#define EIGEN_DONT_VECTORIZE
#include <complex>
#include <Eigen/Dense>
#include <limits>
#include <span>
#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/lattice/field.hpp"
#include "halocline/qcd/clover/detail/block_inverse.hpp"
#include "halocline/qcd/field/gamma.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/gauge/field_strength.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::clover {
namespace {

using Block = Eigen::Matrix<std::complex<double>, 6, 6>;
constexpr std::array<std::complex<double>, 4> power_of_i{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};

void store_block(double* site, int chirality, int lanes, const Block& a) {
  double* reals = site + 36 * chirality * lanes;
  for (int row = 0; row < 6; ++row) {
    reals[row * lanes] = a(row, row).real();
    for (int column = 0; column < row; ++column) {
      const int place = below_diagonal(row, column);
      reals[place * lanes] = a(row, column).real();
      reals[(place + 1) * lanes] = a(row, column).imag();
    }
  }
}

/// A at one site for one chirality. `strength` is F_munu in the order of gauge::field_strength_plane.
Block site_block(std::span<const Su3<double>, 6> strength, int chirality, const WilsonCloverAction& action) {
  Block a = Block::Identity() * action.diagonal();
  for (int plane = 0; plane < 6; ++plane) {
    const int mu = gauge::field_strength_plane[plane][0];
    const int nu = gauge::field_strength_plane[plane][1];
    const SpinMatrix spin = gamma[mu] * gamma[nu];
    const double factor = -0.5 * action.clover(mu, nu);
    for (int s = 0; s < 2; ++s) {
      const int row_spin = 2 * chirality + s;
      const int column_spin = spin.column[row_spin] - 2 * chirality;  // gamma_mu gamma_nu keeps chirality
      const std::complex<double> entry = factor * power_of_i[spin.power[row_spin]];
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          const auto& f = strength[plane].e[i][j];
          a(3 * s + i, 3 * column_spin + j) += entry * std::complex<double>(f.re, f.im);
        }
    }
  }
  return a;
}

void require_invertible(double condition, const lattice::Geometry4& geometry) {
  std::array<double, 1> everywhere{condition};
  geometry.communicator().min(everywhere);
  if (!(everywhere[0] > 1e-14))
    throw core::Error(
        fmt::format("the clover term has a block with reciprocal condition number {:.2e}, singular in double "
                    "precision; use another mass or csw, or solve without even-odd preconditioning",
                    everywhere[0]));
}

}  // namespace

Blocks<double> clover_term(std::shared_ptr<const lattice::TileLayout> layout, const GaugeField& gauge,
                           const WilsonCloverAction& action) {
  const std::vector<Su3<double>> strength = gauge::field_strength(gauge);
  const auto& local = layout->geometry().local();
  const int lanes = layout->lanes();
  Blocks<double> blocks{layout, {}};
  for (int parity = 0; parity < 2; ++parity) {
    blocks.data[parity] = core::AlignedArray<double>(layout->tiles() * block_reals * lanes);
#pragma omp parallel for schedule(static)
    for (std::int64_t tile = 0; tile < layout->tiles(); ++tile)
      for (int lane = 0; lane < lanes; ++lane) {
        const auto x = layout->coordinates({parity, tile, lane});
        const std::span<const Su3<double>, 6> here(strength.data() + 6 * lattice::linear_index<4>(x, local), 6);
        double* site = blocks.data[parity].data() + tile * block_reals * lanes + lane;
        for (int chirality = 0; chirality < 2; ++chirality)
          store_block(site, chirality, lanes, site_block(here, chirality, action));
      }
  }
  return blocks;
}

Blocks<double> inverse(const Blocks<double>& blocks, std::optional<double> square) {
  const auto& layout = *blocks.layout;
  const int lanes = layout.lanes();
  Blocks<double> out = blocks;
  double worst = std::numeric_limits<double>::infinity();  // smallest reciprocal condition number
  for (int parity = 0; parity < 2; ++parity) {
    double* data = out.data[parity].data();
#pragma omp parallel for schedule(static) reduction(min : worst)
    for (std::int64_t tile = 0; tile < layout.tiles(); ++tile)
      worst = std::min(worst, invert_blocks({data + tile * block_reals * lanes, 1, lanes}, lanes, square));
  }
  require_invertible(worst, layout.geometry());
  return out;
}

std::vector<double> canonical_term(const GaugeField& gauge, const WilsonCloverAction& action) {
  const std::vector<Su3<double>> strength = gauge::field_strength(gauge);
  const auto sites = gauge.geometry().local_volume();
  std::vector<double> out(static_cast<std::size_t>(sites * block_reals));
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < sites; ++site) {
    const std::span<const Su3<double>, 6> here(strength.data() + 6 * site, 6);
    for (int chirality = 0; chirality < 2; ++chirality)
      store_block(out.data() + site * block_reals, chirality, 1, site_block(here, chirality, action));
  }
  return out;
}

std::vector<double> canonical_inverse(const GaugeField& gauge, const WilsonCloverAction& action) {
  return canonical_inverse(gauge.geometry(), canonical_term(gauge, action));
}

std::vector<double> canonical_inverse(const lattice::Geometry4& geometry, std::vector<double> term) {
  const auto sites = geometry.local_volume();
  double worst = std::numeric_limits<double>::infinity();
  constexpr std::int64_t some = 64;
#pragma omp parallel for schedule(static) reduction(min : worst)
  for (std::int64_t first = 0; first < sites; first += some)
    worst = std::min(worst, invert_blocks({term.data() + first * block_reals, block_reals, 1},
                                          static_cast<int>(std::min(some, sites - first))));
  require_invertible(worst, geometry);
  return term;
}

template <class T>
Blocks<T> convert(const Blocks<double>& blocks, const std::shared_ptr<const lattice::TileLayout>& layout) {
  Blocks<T> out{layout, {}};
  for (int parity = 0; parity < 2; ++parity) {
    const auto& from = blocks.data[parity];
    out.data[parity] = core::AlignedArray<T>(from.size());
    lattice::copy_tiles(out.data[parity].data(), layout->lanes(), from.data(), blocks.layout->lanes(), block_reals,
                        from.size());
  }
  return out;
}

template Blocks<float> convert(const Blocks<double>&, const std::shared_ptr<const lattice::TileLayout>&);
template Blocks<double> convert(const Blocks<double>&, const std::shared_ptr<const lattice::TileLayout>&);

}  // namespace halocline::qcd::clover
