// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/lattice/dispatch.hpp"
#include "halocline/lattice/tile_halo.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/wilson/detail/hop_tiles.hpp"
#include "halocline/qcd/wilson/hopping.hpp"

namespace halocline::qcd::wilson {
namespace {

using lattice::Neighbours;

/// Calls visit.template operator()<d>() for the eight directions.
template <class Visit>
void for_each_direction(Visit visit) {
  [&]<int... d>(std::integer_sequence<int, d...>) {
    (visit.template operator()<d>(), ...);
  }(std::make_integer_sequence<int, 8>{});
}

/// Projects the tiles that a neighbouring process reads in its direction d into the send buffer,
/// [slot][column][12][lanes sent]. Called by all threads of a team, which share the work and do not wait at its end.
template <class T, int V, int d, int sign>
void pack_face(T* buffer, const T* in, int columns, const Neighbours& neighbours, int source_parity) {
  using Real = typename HopView<T, V>::Real;
  constexpr int width = HopView<T, V>::width;
  const auto tiles = neighbours.sent(source_parity, d);
  const auto lanes = neighbours.sent_lanes(d);
  const auto count = static_cast<std::int64_t>(lanes.size());
#pragma omp for schedule(static) nowait
  for (std::int64_t item = 0; item < static_cast<std::int64_t>(tiles.size()) * columns; ++item) {
    const std::int64_t slot = item / columns, column = item % columns;
    alignas(64) T whole[half_spinor_reals * V];
    T* to = buffer + item * (half_spinor_reals * count);
    T* projected = count == V ? to : whole;
    for (int lane = 0; lane < V; lane += width) {
      const T* spinor = in + (std::int64_t(tiles[slot]) * columns + column) * (24 * V) + lane;
      const auto h = project<d % 4, sign, Real>(
          [&](int colour, int spin) { return TileAccessor<T, V>::load(spinor, colour, spin); });
      for (int colour = 0; colour < 3; ++colour)
        for (int spin = 0; spin < 2; ++spin) {
          T* at = projected + 2 * (2 * colour + spin) * V + lane;
          core::Lanes<Real>::store(at, h.at[colour][spin].re);
          core::Lanes<Real>::store(at + V, h.at[colour][spin].im);
        }
    }
    if (projected == to) continue;
    for (int r = 0; r < half_spinor_reals; ++r)
      for (std::int64_t i = 0; i < count; ++i) to[r * count + i] = whole[r * V + lanes[i]];
  }
}

/// The factor of the link that leaves `from` along mu: c_mu, times the boundary phase if the link crosses the edge of
/// the lattice.
std::complex<double> link_factor(const lattice::Geometry4& geometry, const WilsonCloverAction& action,
                                 const lattice::Coordinates<4>& from, int mu) {
  const auto extent = geometry.global()[mu];
  const bool leaves = (geometry.offset()[mu] + from[mu] + extent) % extent == extent - 1;
  return action.hopping(mu) * (leaves ? action.boundary[mu] : std::complex<double>(1.0));
}

/// Throws, on every rank, if the third row of some link is farther than `tolerance` from the conjugate cross product
/// of the other two.
void require_unitary(const GaugeField& gauge, double tolerance) {
  const auto& geometry = gauge.geometry();
  double worst = 0;
#pragma omp parallel for schedule(static) reduction(max : worst)
  for (std::int64_t site = 0; site < geometry.local_volume(); ++site)
    for (int mu = 0; mu < 4; ++mu) {
      const Su3<double> u = gauge.link(lattice::coordinates_of<4>(site, geometry.local()), mu);
      for (int k = 0; k < 3; ++k) {
        const int next = (k + 1) % 3, last = (k + 2) % 3;
        const auto third = third_row(u.e[0][next], u.e[1][last], u.e[0][last], u.e[1][next]);
        const double off = std::max(std::abs(third.re - u.e[2][k].re), std::abs(third.im - u.e[2][k].im));
        worst = off <= worst ? worst : std::isfinite(off) ? off : 1.0;  // a NaN counts as a deviation of 1
      }
    }
  std::array<double, 1> everywhere{worst};
  geometry.communicator().max(everywhere);
  if (everywhere[0] > tolerance)
    throw core::InvalidArgument(fmt::format(
        "links of 12 reals were asked for, but the third row of some link is {:.1e} away from what unitarity and "
        "determinant one make of the others (at most {:.0e} is allowed); project the links to SU(3), or store 18 reals",
        everywhere[0], tolerance));
}

}  // namespace

/// Links in the order of the kernel, by target parity.
template <class T>
struct Hopping<T>::Links {
  std::array<core::AlignedArray<T>, 2> links;           ///< [tile][8][column][row][re, im][lane]
  std::array<std::vector<std::uint8_t>, 2> factors_of;  ///< [tile][8], for 12 reals only; see HopView
  core::AlignedArray<T> factors;                        ///< [8][inside, edge][re, im][lane]

  Links(const lattice::TileLayout& layout, const GaugeField& gauge, const WilsonCloverAction& action, int link_reals)
      : factors(8 * 2 * 2 * layout.lanes()) {
    for (int parity = 0; parity < 2; ++parity) {
      links[parity] = core::AlignedArray<T>(layout.tiles() * 8 * link_reals * layout.lanes());
      if (link_reals == 12) factors_of[parity].resize(static_cast<std::size_t>(8 * layout.tiles()));
#pragma omp parallel for schedule(static)
      for (std::int64_t tile = 0; tile < layout.tiles(); ++tile)
        for (int d = 0; d < 8; ++d) fill(layout, gauge, action, link_reals, parity, tile, d);
    }
    if (link_reals == 12) collect_factors(layout, action);
  }

private:
  /// The site x' at which the link of direction d of one site x begins: x' = x, or x' = x - mu for the step -mu.
  static lattice::Coordinates<4> start_of(const lattice::TileLayout& layout, int parity, std::int64_t tile, int lane,
                                          int d) {
    auto from = layout.coordinates({parity, tile, lane});
    if (d >= 4) from[lattice::axis_of(d)] -= 1;
    return from;
  }

  void fill(const lattice::TileLayout& layout, const GaugeField& gauge, const WilsonCloverAction& action,
            int link_reals, int parity, std::int64_t tile, int d) {
    const int lanes = layout.lanes(), rows = link_reals / 6, mu = lattice::axis_of(d);
    for (int lane = 0; lane < lanes; ++lane) {
      const auto from = start_of(layout, parity, tile, lane, d);
      const std::complex<double> factor = link_factor(layout.geometry(), action, from, mu);
      Su3<double> u = Complex<double>{factor.real(), factor.imag()} * gauge.link(from, mu);
      if (d >= 4) u = adjoint(u);
      T* to = links[parity].data() + (tile * 8 + d) * link_reals * lanes + lane;
      for (int column = 0; column < 3; ++column)
        for (int row = 0; row < rows; ++row) {
          to[(2 * (rows * column + row) + 0) * lanes] = static_cast<T>(u.e[row][column].re);
          to[(2 * (rows * column + row) + 1) * lanes] = static_cast<T>(u.e[row][column].im);
        }
    }
  }

  /// Finds the factors of third rows. In one direction there are two kinds of tiles. In tiles at the edge of the box,
  /// the lanes that step over the edge of the lattice have the boundary phase; these are the same lanes in all such
  /// tiles. In tiles inside, no lane has it.
  void collect_factors(const lattice::TileLayout& layout, const WilsonCloverAction& action) {
    const int lanes = layout.lanes();
    for (int d = 0; d < 8; ++d) {
      const int mu = lattice::axis_of(d);
      for (int parity = 0; parity < 2; ++parity)
        for (std::int64_t tile = 0; tile < layout.tiles(); ++tile) {
          const std::int64_t outer = layout.outer_coordinates(parity, tile)[mu];
          const bool edge = outer == (d < 4 ? layout.outer()[mu] - 1 : 0);
          bool one = true;
          for (int lane = 0; lane < lanes; ++lane) {
            const auto from = start_of(layout, parity, tile, lane, d);
            std::complex<double> stored = link_factor(layout.geometry(), action, from, mu);
            if (d >= 4) stored = std::conj(stored);
            // The stored rows have the factor c e^(i theta), and so must the third row. The conjugate of their cross
            // product has c^2 e^(-2 i theta).
            const std::complex<double> f = stored / std::conj(stored * stored);
            one = one && f == std::complex<double>(1.0);
            T* to = factors.data() + (d * 2 + (edge ? 1 : 0)) * 2 * lanes + lane;
            to[0] = static_cast<T>(f.real());
            to[lanes] = static_cast<T>(f.imag());
          }
          factors_of[parity][static_cast<std::size_t>(8 * tile + d)] = static_cast<std::uint8_t>(one    ? 0
                                                                                                 : edge ? 2
                                                                                                        : 1);
        }
    }
  }
};

template <class T>
Hopping<T>::Hopping(std::shared_ptr<const lattice::Neighbours> neighbours, const GaugeField& gauge,
                    const WilsonCloverAction& action, const HoppingOptions& options)
    : neighbours_(std::move(neighbours)), layout_(neighbours_->layout_ptr()), options_(options) {
  action.validate();
  const auto& geometry = layout_->geometry();
  if (geometry.global() != gauge.geometry().global() || geometry.local() != gauge.geometry().local())
    throw core::InvalidArgument(
        "the gauge field and the layout of the operator have different lattices or process grids; build both from one "
        "geometry");
  if (options_.link_reals != 18 && options_.link_reals != 12)
    throw core::InvalidArgument(
        fmt::format("links of {} reals were asked for; give 18, or 12 for two rows", options_.link_reals));
  if (options_.link_reals == 12) require_unitary(gauge, sizeof(T) == 4 ? 1e-6 : 1e-12);
  open_halo();
  links_ = std::make_shared<const Links>(*layout_, gauge, action, options_.link_reals);
}

template <class T>
Hopping<T>::Hopping(const Hopping& other, int columns)
    : neighbours_(other.neighbours_), layout_(other.layout_), options_(other.options_), links_(other.links_) {
  options_.columns = columns;
  open_halo();
}

template <class T>
void Hopping<T>::open_halo() {
  if (options_.columns < 1)
    throw core::InvalidArgument(
        fmt::format("an operator for {} columns was asked for; give at least 1", options_.columns));
  halo_ = lattice::open_halo(*neighbours_, static_cast<std::size_t>(options_.columns) * half_spinor_reals * sizeof(T),
                             options_.transport);
}

template <class T>
Hopping<T>::~Hopping() = default;
template <class T>
Hopping<T>::Hopping(Hopping&&) noexcept = default;

template <class T>
template <int V>
void Hopping<T>::run(T* out, const T* in, int parity, bool dagger, const HopTerms<T>& terms) const {
  HopView<T, V> view;
  view.in = in;
  view.links = links_->links[parity].data();
  view.columns = options_.columns;
  view.link_reals = options_.link_reals;
  view.row_factors = options_.link_reals == 12 ? links_->factors_of[parity].data() : nullptr;
  view.factors = links_->factors.data();
  for (int d = 0; d < 8; ++d) {
    std::ranges::copy(neighbours_->rotation(d), view.rotation[d]);
    view.received_lanes[d] = neighbours_->received_lanes(d).data();
    view.received_count[d] = static_cast<int>(neighbours_->received_lanes(d).size());
    view.received[d] = nullptr;
  }
  const auto hop_on = [&](std::span<const std::int32_t> tiles) {
    hop_tiles(out, view, *neighbours_, parity, dagger, tiles, terms);
  };
  const core::Region hop_region("hop");
  if (halo_) {
    const core::Region pack_region("pack and post");
    lattice::pack_and_post(*halo_, [&](const lattice::SendBuffers& buffers) {
      for_each_direction([&]<int d> {
        if (!layout_->geometry().is_split(lattice::axis_of(d))) return;
        T* buffer = reinterpret_cast<T*>(buffers[static_cast<std::size_t>(lattice::leaving_face(d).index())]);
        if (dagger)
          pack_face<T, V, d, lattice::step_of(d)>(buffer, in, options_.columns, *neighbours_, 1 - parity);
        else
          pack_face<T, V, d, -lattice::step_of(d)>(buffer, in, options_.columns, *neighbours_, 1 - parity);
      });
    });
  }
  {
    const core::Region interior_region("interior");
    hop_on(neighbours_->interior(parity));
  }
  if (!halo_) return;
  {
    const core::Region wait_region("wait");
    for (int d = 0; d < 8; ++d) {
      if (!layout_->geometry().is_split(lattice::axis_of(d))) continue;
      halo_->wait(lattice::face_of(d));
      view.received[d] = reinterpret_cast<const T*>(halo_->recv_buffer(lattice::face_of(d)).data());
    }
  }
  const core::Region boundary_region("boundary");
  hop_on(neighbours_->boundary(parity));
}

namespace {

/// Refuses terms of which one connects the columns of a site and the other does not, or columns that are no multiple of
/// those that a term connects. The kernel would ignore them.
template <class T>
void check_terms(const HopTerms<T>& terms, int columns) {
  const auto fits = [&](const SiteTerm<T>* term) {
    return term == nullptr || (term->connects_columns() && columns % term->extent() == 0);
  };
  const bool alike =
      terms.hop_term == nullptr || terms.add_term == nullptr || terms.hop_term->doublet == terms.add_term->doublet;
  if (terms.mixes_columns() && !(alike && fits(terms.hop_term) && fits(terms.add_term)))
    throw core::InvalidArgument(fmt::format(
        "a hop of {} columns was given terms that connect columns, of a fifth dimension or of a doublet, and "
        "that do not fit it, or stand beside another term; give two of a kind whose points divide the columns",
        columns));
}

}  // namespace

template <class T>
void Hopping<T>::apply(T* out, const T* in, int target_parity, bool dagger, const HopTerms<T>& terms) const {
  check_terms(terms, options_.columns);
  lattice::with_lanes(layout_->lanes(), [&]<int lanes> { run<lanes>(out, in, target_parity, dagger, terms); });
}

template class Hopping<float>;
template class Hopping<double>;

}  // namespace halocline::qcd::wilson
