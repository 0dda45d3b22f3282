// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/staggered/hopping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/lattice/dispatch.hpp"
#include "halocline/lattice/tile_halo.hpp"
#include "halocline/qcd/staggered/detail/hop_tiles.hpp"
#include "halocline/qcd/staggered/phases.hpp"

namespace halocline::qcd::staggered {
namespace {

using lattice::Neighbours;

/// Copies the sites that a neighbouring process reads in its direction d into the send buffer,
/// [slot][column][6][lanes sent]. Called by all threads of a team, which share the work and do not wait at its end.
template <class T>
void pack_face(T* buffer, const T* in, int columns, const Neighbours& neighbours, int source_parity, int d) {
  const auto tiles = neighbours.sent(source_parity, d);
  const auto lanes = neighbours.sent_lanes(d);
  const auto count = static_cast<std::int64_t>(lanes.size());
  const int all = neighbours.layout().lanes();
#pragma omp for schedule(static) nowait
  for (std::int64_t item = 0; item < static_cast<std::int64_t>(tiles.size()) * columns; ++item) {
    const T* from = in + (std::int64_t{tiles[item / columns]} * columns + item % columns) * (staggered_reals * all);
    T* to = buffer + item * (staggered_reals * count);
    if (count == all) {
      std::copy_n(from, staggered_reals * count, to);
      continue;
    }
    for (int r = 0; r < staggered_reals; ++r)
      for (std::int64_t i = 0; i < count; ++i) to[r * count + i] = from[r * all + lanes[i]];
  }
}

}  // namespace

/// Links in the order of the kernel, by target parity.
template <class T>
struct Hopping<T>::Links {
  std::array<core::AlignedArray<T>, 2> links;  ///< [tile][step][column][row][re, im][lane]

  Links(const lattice::TileLayout& layout, const gauge::StaggeredLinks& from, const StaggeredAction& action) {
    const int steps = from.naik ? 16 : 8;
    for (int parity = 0; parity < 2; ++parity) {
      links[parity] = core::AlignedArray<T>(layout.tiles() * steps * link_reals * layout.lanes());
#pragma omp parallel for schedule(static)
      for (std::int64_t tile = 0; tile < layout.tiles(); ++tile)
        for (int step = 0; step < steps; ++step)
          fill(layout, step < 8 ? from.fat : *from.naik, action, parity, tile, step % 8, step < 8 ? 1 : 3,
               links[parity].data() + (tile * steps + step) * link_reals * layout.lanes());
    }
  }

private:
  static void fill(const lattice::TileLayout& layout, const GaugeField& field, const StaggeredAction& action,
                   int parity, std::int64_t tile, int d, int length, T* to) {
    const int lanes = layout.lanes();
    for (int lane = 0; lane < lanes; ++lane) {
      const Su3<double> u = step_matrix(field, action, layout.coordinates({parity, tile, lane}), d, length);
      for (int column = 0; column < 3; ++column)
        for (int row = 0; row < 3; ++row) {
          to[(2 * (3 * column + row) + 0) * lanes + lane] = static_cast<T>(u.e[row][column].re);
          to[(2 * (3 * column + row) + 1) * lanes + lane] = static_cast<T>(u.e[row][column].im);
        }
    }
  }
};

template <class T>
Hopping<T>::Hopping(std::shared_ptr<const Neighbours> neighbours, const gauge::StaggeredLinks& links,
                    const StaggeredAction& action, int columns, std::string transport)
    : neighbours_(std::move(neighbours)), columns_(columns), transport_(std::move(transport)) {
  action.validate();
  const auto& geometry = neighbours_->layout().geometry();
  if (geometry.global() != links.fat.geometry().global() || geometry.local() != links.fat.geometry().local())
    throw core::InvalidArgument(
        "the links and the layout of the operator have different lattices or process grids; build both from one "
        "geometry");
  if (neighbours_->reach() != action.reach() || links.naik.has_value() != action.has_long_links())
    throw core::InvalidArgument(
        fmt::format("the action \"{}\" has steps of {} sites, and other links or neighbours were given; make them by "
                    "staggered_links() and with its reach",
                    name(action.kind), action.reach()));
  open_halo();
  links_ = std::make_shared<const Links>(neighbours_->layout(), links, action);
}

template <class T>
Hopping<T>::Hopping(const Hopping& other, int columns)
    : neighbours_(other.neighbours_), columns_(columns), transport_(other.transport_), links_(other.links_) {
  open_halo();
}

template <class T>
void Hopping<T>::open_halo() {
  if (columns_ < 1)
    throw core::InvalidArgument(fmt::format("an operator for {} columns was asked for; give at least 1", columns_));
  halo_ =
      lattice::open_halo(*neighbours_, static_cast<std::size_t>(columns_) * staggered_reals * sizeof(T), transport_);
}

template <class T>
Hopping<T>::~Hopping() = default;
template <class T>
Hopping<T>::Hopping(Hopping&&) noexcept = default;

template <class T>
template <int V>
void Hopping<T>::run(T* out, const T* in, int parity, const HopTerms<T>& terms) const {
  const auto& geometry = neighbours_->layout().geometry();
  HopView<T, V> view;
  view.in = in;
  view.links = links_->links[parity].data();
  view.columns = columns_;
  for (int d = 0; d < 8; ++d) {
    std::ranges::copy(neighbours_->rotation(d), view.rotation[d]);
    view.received_lanes[d] = neighbours_->received_lanes(d).data();
    view.received_count[d] = static_cast<int>(neighbours_->received_lanes(d).size());
    view.received[d] = nullptr;
  }
  const core::Region hop_region("hop");
  if (halo_) {
    const core::Region pack_region("pack and post");
    lattice::pack_and_post(*halo_, [&](const lattice::SendBuffers& buffers) {
      for (int d = 0; d < 8; ++d)
        if (geometry.is_split(lattice::axis_of(d)))
          pack_face(reinterpret_cast<T*>(buffers[static_cast<std::size_t>(lattice::leaving_face(d).index())]), in,
                    columns_, *neighbours_, 1 - parity, d);
    });
  }
  {
    const core::Region interior_region("interior");
    hop_tiles(out, view, *neighbours_, parity, neighbours_->interior(parity), terms);
  }
  if (!halo_) return;
  {
    const core::Region wait_region("wait");
    for (int d = 0; d < 8; ++d) {
      if (!geometry.is_split(lattice::axis_of(d))) continue;
      halo_->wait(lattice::face_of(d));
      view.received[d] = reinterpret_cast<const T*>(halo_->recv_buffer(lattice::face_of(d)).data());
    }
  }
  const core::Region boundary_region("boundary");
  hop_tiles(out, view, *neighbours_, parity, neighbours_->boundary(parity), terms);
}

template <class T>
void Hopping<T>::apply(T* out, const T* in, int target_parity, bool dagger, HopTerms<T> terms) const {
  if (dagger) terms.hop_scale = -terms.hop_scale;
  lattice::with_lanes(neighbours_->layout().lanes(), [&]<int lanes> { run<lanes>(out, in, target_parity, terms); });
}

template class Hopping<float>;
template class Hopping<double>;

}  // namespace halocline::qcd::staggered
