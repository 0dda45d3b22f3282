// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "halocline/comm/halo_exchange.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/lattice/dispatch.hpp"
#include "halocline/qcd/clover/detail/kernels.hpp"
#include "halocline/qcd/gauge_field.hpp"
#include "halocline/qcd/wilson/detail/tile_accessor.hpp"
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

template <class T, int V>
HALOCLINE_INLINE auto load_spinor(const T* at) {
  using Real = typename HopView<T, V>::Real;
  Spinor<Real> psi;
#pragma GCC unroll 3
  for (int colour = 0; colour < 3; ++colour)
#pragma GCC unroll 4
    for (int spin = 0; spin < 4; ++spin) psi.at[colour][spin] = TileAccessor<T, V>::load(at, colour, spin);
  return psi;
}

template <class T, int V, class Real>
__attribute__((noinline)) void multiply_by_block(Spinor<Real>& psi, const T* block) {
  psi = clover::multiply_block<Real>([&](int i) { return core::Lanes<Real>::load(block + i * V); }, psi);
}

/// out = hop_scale [B] sum + add_scale [A] add, for one sub-pack; offsets are those of the tile and the lane.
template <class T, int V, class Real>
HALOCLINE_INLINE void finish(T* out, Spinor<Real>& sum, const HopTerms<T>& terms, std::int64_t tile, int lane,
                             bool past_caches) {
  if (terms.hop_blocks) multiply_by_block<T, V>(sum, terms.hop_blocks + tile * (clover::block_reals * V) + lane);
  const Real hop_scale(terms.hop_scale);
  T* to = out + tile * (24 * V) + lane;
  if (terms.add) {
    Spinor<Real> add = load_spinor<T, V>(terms.add + tile * (24 * V) + lane);
    if (terms.add_blocks) multiply_by_block<T, V>(add, terms.add_blocks + tile * (clover::block_reals * V) + lane);
    const Real add_scale(terms.add_scale);
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 4; ++spin) {
        T* at = to + 2 * (4 * colour + spin) * V;
        const auto& s = sum.at[colour][spin];
        const auto& a = add.at[colour][spin];
        core::Lanes<Real>::store(at, hop_scale * s.re + add_scale * a.re);
        core::Lanes<Real>::store(at + V, hop_scale * s.im + add_scale * a.im);
      }
  } else if (past_caches) {
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 4; ++spin) {
        T* at = to + 2 * (4 * colour + spin) * V;
        core::stream(at, hop_scale * sum.at[colour][spin].re);
        core::stream(at + V, hop_scale * sum.at[colour][spin].im);
      }
  } else {
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 4; ++spin) {
        T* at = to + 2 * (4 * colour + spin) * V;
        core::Lanes<Real>::store(at, hop_scale * sum.at[colour][spin].re);
        core::Lanes<Real>::store(at + V, hop_scale * sum.at[colour][spin].im);
      }
  }
}

/// The hot loop. Flops and bytes a site: hopping.hpp.
template <class T, int V, bool dagger>
void hop_tiles(T* out, const HopView<T, V>& view, const Neighbours& neighbours, int parity,
               std::span<const std::int32_t> tiles, const HopTerms<T>& terms) {
  using View = HopView<T, V>;
  const auto count = static_cast<std::int64_t>(tiles.size());
  // What outgrows the caches is not read into them only to be overwritten.
  const bool past_caches = count * (24 * V) * static_cast<std::int64_t>(sizeof(T)) > std::int64_t{8} << 20;
#pragma omp parallel
  {
    alignas(64) T far[24 * V] = {};
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t tile = tiles[i];
      const lattice::Neighbour* near = neighbours.of(parity, tile);
      const lattice::Neighbour* coming = neighbours.of(parity, tiles[std::min(i + 1, count - 1)]);
      for (int lane = 0; lane < V; lane += View::width) {
        const TileAccessor<T, V> accessor{view, near, coming, view.links + tile * (8 * link_reals * V) + lane,
                                          lane, far};
        Spinor<typename View::Real> sum;
        hop<dagger>(sum, accessor);
        finish<T, V>(out, sum, terms, tile, lane, past_caches);
      }
    }
    if (past_caches) core::fence_streams();
  }
}

/// Projects the tiles that direction d of another process looks at into its send buffer, [slot][12][lanes that go].
template <class T, int V, int d, int sign>
void pack_face(T* buffer, const T* in, const Neighbours& neighbours, int source_parity) {
  using Real = typename HopView<T, V>::Real;
  constexpr int width = HopView<T, V>::width;
  const auto tiles = neighbours.sent(source_parity, d);
  const auto lanes = neighbours.sent_lanes(d);
  const auto count = static_cast<std::int64_t>(lanes.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t slot = 0; slot < static_cast<std::int64_t>(tiles.size()); ++slot) {
    alignas(64) T whole[half_spinor_reals * V];
    T* to = buffer + slot * (half_spinor_reals * count);
    T* projected = count == V ? to : whole;
    for (int lane = 0; lane < V; lane += width) {
      const T* spinor = in + std::int64_t(tiles[slot]) * (24 * V) + lane;
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

constexpr comm::Face leaving_face(int d) { return {lattice::axis_of(d), -lattice::step_of(d)}; }

/// Links in the order of the kernel, for the tiles of one parity.
template <class T>
core::AlignedArray<T> ordered_links(const lattice::TileLayout& layout, int parity, const GaugeField& gauge,
                                    const ActionParameters& action) {
  const auto& geometry = layout.geometry();
  const int lanes = layout.lanes();
  core::AlignedArray<T> links(layout.tiles() * 8 * link_reals * lanes);
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < layout.tiles(); ++tile)
    for (int lane = 0; lane < lanes; ++lane) {
      const auto x = layout.coordinates({parity, tile, lane});
      for (int d = 0; d < 8; ++d) {
        const int mu = lattice::axis_of(d);
        auto from = x;
        if (d >= 4) from[mu] -= 1;
        Su3<double> u = gauge.link(from, mu);
        std::complex<double> factor = action.hopping(mu);
        const auto edge = geometry.global()[mu];
        if ((geometry.offset()[mu] + from[mu] + edge) % edge == edge - 1) factor *= action.boundary[mu];
        u = Complex<double>{factor.real(), factor.imag()} * u;
        if (d >= 4) u = adjoint(u);
        T* to = links.data() + (tile * 8 + d) * link_reals * lanes + lane;
        for (int row = 0; row < 3; ++row)
          for (int column = 0; column < 3; ++column) {
            to[(2 * (3 * column + row) + 0) * lanes] = static_cast<T>(u.e[row][column].re);
            to[(2 * (3 * column + row) + 1) * lanes] = static_cast<T>(u.e[row][column].im);
          }
      }
    }
  return links;
}

}  // namespace

template <class T>
Hopping<T>::Hopping(std::shared_ptr<const lattice::Neighbours> neighbours, const GaugeField& gauge,
                    const ActionParameters& action, const std::string& transport)
    : neighbours_(std::move(neighbours)), layout_(neighbours_->layout_ptr()) {
  action.validate();
  const auto& geometry = layout_->geometry();
  if (geometry.global() != gauge.geometry().global() || geometry.local() != gauge.geometry().local())
    throw core::InvalidArgument(
        "the gauge field and the layout of the operator have different lattices or process grids; build both from one "
        "geometry");
  for (int parity = 0; parity < 2; ++parity) links_[parity] = ordered_links<T>(*layout_, parity, gauge, action);
  std::array<std::size_t, 4> face_bytes{};
  for (int axis = 0; axis < 4; ++axis)
    face_bytes[axis] = static_cast<std::size_t>(neighbours_->face_sites(axis)) * half_spinor_reals * sizeof(T);
  if (std::ranges::any_of(face_bytes, [](std::size_t bytes) { return bytes > 0; })) {
    halo_ = std::make_unique<comm::HaloExchange>(geometry.grid(), face_bytes, std::string_view(transport));
  }
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
  view.links = links_[parity].data();
  for (int d = 0; d < 8; ++d) {
    std::ranges::copy(neighbours_->rotation(d), view.rotation[d]);
    view.received_lanes[d] = neighbours_->received_lanes(d).data();
    view.received_count[d] = static_cast<int>(neighbours_->received_lanes(d).size());
    view.received[d] = nullptr;
  }
  const auto hop_on = [&](std::span<const std::int32_t> tiles) {
    if (dagger)
      hop_tiles<T, V, true>(out, view, *neighbours_, parity, tiles, terms);
    else
      hop_tiles<T, V, false>(out, view, *neighbours_, parity, tiles, terms);
  };
  const core::Region hop_region("hop");
  if (halo_) {
    const core::Region pack_region("pack and post");
    for_each_direction([&]<int d> {
      if (!layout_->geometry().is_split(lattice::axis_of(d))) return;
      auto* buffer = reinterpret_cast<T*>(halo_->send_buffer(leaving_face(d)).data());
      if (dagger)
        pack_face<T, V, d, lattice::step_of(d)>(buffer, in, *neighbours_, 1 - parity);
      else
        pack_face<T, V, d, -lattice::step_of(d)>(buffer, in, *neighbours_, 1 - parity);
    });
    halo_->post();
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

template <class T>
void Hopping<T>::apply(T* out, const T* in, int target_parity, bool dagger, const HopTerms<T>& terms) const {
  lattice::with_lanes(layout_->lanes(), [&]<int lanes> { run<lanes>(out, in, target_parity, dagger, terms); });
}

template class Hopping<float>;
template class Hopping<double>;

}  // namespace halocline::qcd::wilson
