// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/detail/coefficients.hpp"

#include <cmath>
#include <type_traits>

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/schwarz/detail/tile_passes.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::schwarz {
namespace {

template <class S>
S stored(double number) {
  if constexpr (std::is_same_v<S, core::Half>)
    return core::narrow(static_cast<float>(number));
  else
    return static_cast<S>(number);
}

}  // namespace

template <class S>
Coefficients<S>::Coefficients(const lattice::DomainLayout& layout, const GaugeField& gauge,
                              const WilsonCloverAction& action, const std::vector<double>* canonical_inverse,
                              int asked_link_reals, Arithmetic arithmetic)
    : link_reals(stored_link_reals(layout, asked_link_reals, arithmetic)) {
  int exponent = 0;
  if (arithmetic == Arithmetic::half) std::frexp(0.5 / action.diagonal(), &exponent);
  const double link_factor = std::ldexp(1.0, exponent), block_factor = std::ldexp(1.0, -exponent);
  const int lanes = layout.lanes();
  const std::int64_t all_tiles = std::int64_t{layout.domains()} * layout.tiles();
  links = core::AlignedArray<S>(all_tiles * 4 * link_reals * lanes);
  if (canonical_inverse != nullptr) blocks = core::AlignedArray<S>(all_tiles * clover::block_reals * lanes);
  number = static_cast<float>(block_factor * 0.5 / action.diagonal());
  for (int mu = 0; mu < 4; ++mu) row_factor[mu] = static_cast<float>(block_factor / action.hopping(mu));
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < all_tiles; ++i)
    for (int lane = 0; lane < lanes; ++lane) {
      const auto x = layout.coordinates(
          {static_cast<std::int32_t>(i / layout.tiles()), static_cast<std::int32_t>(i % layout.tiles()), lane});
      for (int mu = 0; mu < 4; ++mu) {
        const Su3<double> u = gauge.link(x, mu);
        S* to = links.data() + (i * 4 + mu) * link_reals * lanes + lane;
        for (int n = 0; n < link_reals; ++n) {
          const auto& e = u.e[n / 6][n / 2 % 3];
          to[n * lanes] = stored<S>(link_factor * action.hopping(mu) * (n % 2 == 0 ? e.re : e.im));
        }
      }
      if (canonical_inverse == nullptr) continue;
      const double* from =
          canonical_inverse->data() + lattice::linear_index<4>(x, layout.geometry().local()) * clover::block_reals;
      S* to = blocks.data() + i * clover::block_reals * lanes + lane;
      for (int n = 0; n < clover::block_reals; ++n) to[n * lanes] = stored<S>(block_factor * 0.5 * from[n]);
    }
}

template <class S>
Coefficients<S>::Coefficients(const lattice::DomainLayout& layout, const Coefficients& other,
                              const lattice::DomainLayout& other_layout)
    : link_reals(other.link_reals), number(other.number), row_factor(other.row_factor) {
  const int lanes = layout.lanes();
  links = core::AlignedArray<S>(other.links.size());
  blocks = core::AlignedArray<S>(other.blocks.size());
  const std::int64_t all_tiles = std::int64_t{layout.domains()} * layout.tiles();
  const int link_numbers = 4 * link_reals, block_numbers = blocks.size() > 0 ? clover::block_reals : 0;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < all_tiles; ++i)
    for (int lane = 0; lane < lanes; ++lane) {
      const auto from = other_layout.locate(layout.coordinates(
          {static_cast<std::int32_t>(i / layout.tiles()), static_cast<std::int32_t>(i % layout.tiles()), lane}));
      const std::int64_t j = std::int64_t{from.domain} * other_layout.tiles() + from.tile;
      const auto move = [&](core::AlignedArray<S>& to, const core::AlignedArray<S>& source, int numbers) {
        for (int n = 0; n < numbers; ++n)
          to.data()[(i * numbers + n) * lanes + lane] = source.data()[(j * numbers + n) * lanes + from.lane];
      };
      move(links, other.links, link_numbers);
      move(blocks, other.blocks, block_numbers);
    }
}

template struct Coefficients<float>;
template struct Coefficients<core::Half>;

}  // namespace halocline::qcd::schwarz
