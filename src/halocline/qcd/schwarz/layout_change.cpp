// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/layout_change.hpp"

#include <array>
#include <utility>

#include "halocline/core/error.hpp"

namespace halocline::qcd::schwarz {

LayoutChange::LayoutChange(std::shared_ptr<const lattice::TileLayout> tiles,
                           std::shared_ptr<const lattice::DomainLayout> domains)
    : tiles_(std::move(tiles)), domains_(std::move(domains)) {
  if (tiles_->geometry().local() != domains_->geometry().local())
    throw core::InvalidArgument(
        "a change between two layouts of different local boxes was asked for; make both of one geometry");
  const std::int64_t all = std::int64_t{domains_->domains()} * domains_->tiles();
  const int lanes = domains_->lanes();
  places_.resize(static_cast<std::size_t>(all * lanes));
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < all; ++tile)
    for (int lane = 0; lane < lanes; ++lane) {
      const lattice::DomainSite site{static_cast<std::int32_t>(tile / domains_->tiles()),
                                     static_cast<std::int32_t>(tile % domains_->tiles()), lane};
      const auto place = tiles_->locate(domains_->coordinates(site));
      places_[static_cast<std::size_t>(tile * lanes + lane)] = {
          static_cast<std::int32_t>(place.parity * tiles_->tiles() + place.tile), place.lane};
    }
}

void LayoutChange::require(const lattice::DomainField<float>& domains, const SpinorField<double>& tiles,
                           std::span<const double> factor) const {
  if (domains.layout_ptr() != domains_ || tiles.layout_ptr() != tiles_ || tiles.subset() != lattice::Subset::full)
    throw core::InvalidArgument(
        "a change of layout was given a field of another layout, or of one parity; make full fields of its layouts");
  if (domains.columns() != tiles.columns() || factor.size() != static_cast<std::size_t>(tiles.columns()) ||
      domains.components() != spinor_reals || tiles.reals_per_site() != spinor_reals)
    throw core::InvalidArgument(
        "a change of layout was given fields, or factors, of different numbers of columns; give the same");
}

void LayoutChange::to_domains(lattice::DomainField<float>& to, const SpinorField<double>& from,
                              std::span<const double> factor) const {
  require(to, from, factor);
  const std::int64_t all = std::int64_t{domains_->domains()} * domains_->tiles();
  const int lanes = domains_->lanes();
  const int from_lanes = tiles_->lanes();
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < all; ++tile) {
    std::array<const double*, lattice::DomainLayout::max_lanes> source{};
    for (int lane = 0; lane < lanes; ++lane) {
      const Place place = places_[static_cast<std::size_t>(tile * lanes + lane)];
      source[static_cast<std::size_t>(lane)] = from.data() + place.tile * from.tile_stride() + place.lane;
    }
    for (int c = 0; c < to.columns(); ++c) {
      float* out = to.data() + tile * to.tile_stride() + c * to.column_stride();
      const std::int64_t column = c * from.column_stride();
      const double by = factor[static_cast<std::size_t>(c)];
      for (int i = 0; i < spinor_reals; ++i)
        for (int lane = 0; lane < lanes; ++lane)
          out[i * lanes + lane] =
              static_cast<float>(by * source[static_cast<std::size_t>(lane)][column + i * from_lanes]);
    }
  }
}

void LayoutChange::to_tiles(SpinorField<double>& to, const lattice::DomainField<float>& from,
                            std::span<const double> factor) const {
  require(from, to, factor);
  const std::int64_t all = std::int64_t{domains_->domains()} * domains_->tiles();
  const int lanes = domains_->lanes();
  const int to_lanes = tiles_->lanes();
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < all; ++tile) {
    std::array<double*, lattice::DomainLayout::max_lanes> target{};
    for (int lane = 0; lane < lanes; ++lane) {
      const Place place = places_[static_cast<std::size_t>(tile * lanes + lane)];
      target[static_cast<std::size_t>(lane)] = to.data() + place.tile * to.tile_stride() + place.lane;
    }
    for (int c = 0; c < to.columns(); ++c) {
      const float* in = from.data() + tile * from.tile_stride() + c * from.column_stride();
      const std::int64_t column = c * to.column_stride();
      const double by = factor[static_cast<std::size_t>(c)];
      for (int i = 0; i < spinor_reals; ++i)
        for (int lane = 0; lane < lanes; ++lane)
          target[static_cast<std::size_t>(lane)][column + i * to_lanes] = by * double{in[i * lanes + lane]};
    }
  }
}

}  // namespace halocline::qcd::schwarz
