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

template <class T>
void LayoutChange::require(const lattice::DomainField<float>& domains, const SpinorField<T>& tiles,
                           std::span<const double> factor) const {
  if (domains.layout_ptr() != domains_ || tiles.layout_ptr() != tiles_)
    throw core::InvalidArgument(
        "a change of layout was given a field of another layout; make the fields in its two layouts");
  if (domains.columns() != tiles.columns() || factor.size() != static_cast<std::size_t>(tiles.columns()) ||
      domains.components() != spinor_reals || tiles.reals_per_site() != spinor_reals)
    throw core::InvalidArgument(
        "a change of layout was given fields, or factors, of different numbers of columns; give the same");
}

template <class Number, class Tiles>
void LayoutChange::find_lanes(std::span<Number*> lanes, std::int64_t domain_tile, Tiles& tiles, Number* absent) const {
  // Tiles are counted over both parities; those of an odd field begin behind the even ones.
  const std::int64_t begin = tiles.subset() == lattice::Subset::odd ? tiles_->tiles() : 0;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const Place place = places_[static_cast<std::size_t>(domain_tile) * lanes.size() + lane];
    const std::int64_t tile = place.tile - begin;
    lanes[lane] = tile >= 0 && tile < tiles.tiles() ? tiles.data() + tile * tiles.tile_stride() + place.lane : absent;
  }
}

template <class T>
void LayoutChange::to_domains(lattice::DomainField<float>& to, const SpinorField<T>& from,
                              std::span<const double> factor) const {
  require(to, from, factor);
  const std::int64_t all = std::int64_t{domains_->domains()} * domains_->tiles();
  const int lanes = domains_->lanes();
  const int from_lanes = tiles_->lanes();
  const std::vector<T> zeros(static_cast<std::size_t>(from.tile_stride()));
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < all; ++tile) {
    std::array<const T*, lattice::DomainLayout::max_lanes> source{};
    find_lanes(std::span(source).first(static_cast<std::size_t>(lanes)), tile, from, zeros.data());
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

template <class T>
void LayoutChange::to_tiles(SpinorField<T>& to, const lattice::DomainField<float>& from,
                            std::span<const double> factor) const {
  require(from, to, factor);
  const std::int64_t all = std::int64_t{domains_->domains()} * domains_->tiles();
  const int lanes = domains_->lanes();
  const int to_lanes = tiles_->lanes();
#pragma omp parallel
  {
    std::vector<T> dropped(static_cast<std::size_t>(to.tile_stride()));
#pragma omp for schedule(static)
    for (std::int64_t tile = 0; tile < all; ++tile) {
      std::array<T*, lattice::DomainLayout::max_lanes> target{};
      find_lanes(std::span(target).first(static_cast<std::size_t>(lanes)), tile, to, dropped.data());
      for (int c = 0; c < to.columns(); ++c) {
        const float* in = from.data() + tile * from.tile_stride() + c * from.column_stride();
        const std::int64_t column = c * to.column_stride();
        const double by = factor[static_cast<std::size_t>(c)];
        for (int i = 0; i < spinor_reals; ++i)
          for (int lane = 0; lane < lanes; ++lane)
            target[static_cast<std::size_t>(lane)][column + i * to_lanes] =
                static_cast<T>(by * double{in[i * lanes + lane]});
      }
    }
  }
}

template void LayoutChange::to_domains(lattice::DomainField<float>&, const SpinorField<double>&,
                                       std::span<const double>) const;
template void LayoutChange::to_domains(lattice::DomainField<float>&, const SpinorField<float>&,
                                       std::span<const double>) const;
template void LayoutChange::to_tiles(SpinorField<double>&, const lattice::DomainField<float>&,
                                     std::span<const double>) const;
template void LayoutChange::to_tiles(SpinorField<float>&, const lattice::DomainField<float>&,
                                     std::span<const double>) const;

}  // namespace halocline::qcd::schwarz
