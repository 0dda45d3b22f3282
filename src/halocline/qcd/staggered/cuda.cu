// SPDX-License-Identifier: Apache-2.0
/// @file
/// The staggered hop on a device.

#include "halocline/qcd/staggered/cuda.cuh"

#include <string>

#include "halocline/core/error.hpp"
#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/field_checks.hpp"
#include "halocline/qcd/device/link_array.cuh"

namespace halocline::qcd::device {
namespace {

constexpr int link_reals = 18;

template <class Real>
using Colours = core::Complex<Real>[3];

/// The place of a site's colours in its record: three numbers, four complex numbers apart.
template <class S>
struct ColourAccess {
  static constexpr int in_chunk = 16 / static_cast<int>(sizeof(S)) / 2;  // complex numbers

  /// Number of S from the start of a column's rows to colour c of a site. `stride` is the length of a row in records.
  static HALOCLINE_INLINE std::int64_t place(int stride, int site, int c) {
    const int number = 4 * c + site % 4;
    return (std::int64_t{stride} * (number / in_chunk) + site / 4) * (2 * in_chunk) + 2 * (number % in_chunk);
  }
  static HALOCLINE_INLINE void load(Colours<S>& psi, const S* column, int stride, int site) {
    HALOCLINE_UNROLLED(3)
    for (int c = 0; c < 3; ++c) {
      detail::Record<S, 2> pair;
      detail::load_piece<detail::Read::written, 0, 2>(pair, column + place(stride, site, c));
      psi[c] = {pair.at[0], pair.at[1]};
    }
  }
  static HALOCLINE_INLINE void store(S* column, int stride, int site, const Colours<S>& psi) {
    HALOCLINE_UNROLLED(3)
    for (int c = 0; c < 3; ++c) {
      const detail::Record<S, 2> pair{{psi[c].re, psi[c].im}};
      detail::store_piece<false, 0, 2>(column + place(stride, site, c), pair);
    }
  }
};

/// out = scale hop(in) + add_scale add. Point x is the site, y the column.
template <class S>
struct StaggeredHop {
  Box box;
  int parity, steps;
  const S* links;
  int link_stride;
  SpinorWriter<S> out;
  SpinorReader<S> in, add;  ///< add without data: nothing is added; it may be the memory of out
  S scale, add_scale;

  /// Index of the site `length` steps away in direction d, across the edges of the box.
  HALOCLINE_INLINE int neighbour(Coordinates c, int d, int length) const {
    const int axis = d % 4, extent = box.extent[axis];
    const int to = d < 4 ? c.x[axis] + length : c.x[axis] - length;
    c.x[axis] = to >= extent ? to - extent : to < 0 ? to + extent : to;
    return box.index(c);
  }

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const int site = static_cast<int>(p.x);
    const std::int64_t column = std::int64_t{in.stride} * (spinor_reals * p.y);
    const Coordinates c = box.coordinates(parity, site);
    Colours<S> sum{};
    HALOCLINE_UNROLLED(2)
    for (int step = 0; step < steps; ++step) {
      detail::Record<S, link_reals> u;
      detail::load_record<detail::Read::constant>(u, links + std::int64_t{link_stride} * (link_reals * step),
                                                  link_stride, site);
      Colours<S> psi;
      ColourAccess<S>::load(psi, in.data + column, in.stride, neighbour(c, step % 8, step < 8 ? 1 : 3));
      HALOCLINE_UNROLLED(3)
      for (int row = 0; row < 3; ++row) {
        HALOCLINE_UNROLLED(3)
        for (int k = 0; k < 3; ++k) {
          const S re = u.at[6 * row + 2 * k], im = u.at[6 * row + 2 * k + 1];
          sum[row].re += re * psi[k].re;
          sum[row].re -= im * psi[k].im;
          sum[row].im += re * psi[k].im;
          sum[row].im += im * psi[k].re;
        }
      }
    }
    Colours<S> result, added{};
    if (add.data != nullptr) ColourAccess<S>::load(added, add.data + column, in.stride, site);
    HALOCLINE_UNROLLED(3)
    for (int k = 0; k < 3; ++k) result[k] = scale * sum[k] + add_scale * added[k];
    ColourAccess<S>::store(out.data + column, in.stride, site, result);
  }
};

}  // namespace

template <class S>
DeviceStaggeredLinks<S>::DeviceStaggeredLinks(ContextPtr context, const HostStaggeredLinks& links, double mass)
    : context_(std::move(context)), mass_(mass), steps_(links.steps) {
  const Box& box = context_->box;
  detail::require_box(links.box, box, "staggered links");
  detail::require_components(3, box);
  if (box.split != 0)
    throw core::InvalidArgument("staggered quarks on a device are not built for lattices that are split between "
                                "processes; give one process, or "
                                "solve them on the processor, which is device = \"cpu\"");
  for (const int extent : box.extent)
    if (steps_ == 16 && extent < 3)
      throw core::InvalidArgument("long links need three sites along each axis, and a box on a device has " +
                                  std::to_string(extent) + "; give a larger lattice");
  memory_ = gpu::DeviceArray<std::byte>(context_->device, bytes(box, steps_));
  upload_links<S>(*context_, memory_.data(), links.matrices, link_reals);
}

template <class S>
const S* DeviceStaggeredLinks<S>::data(int parity) const noexcept {
  return reinterpret_cast<const S*>(memory_.data()) +
         std::int64_t{padded(context_->box.sites)} * (link_reals * steps_ * parity);
}

template <class S>
std::int64_t DeviceStaggeredLinks<S>::bytes(const Box& box, int steps) {
  return std::int64_t{2} * steps * link_reals * static_cast<int>(sizeof(S)) * padded(box.sites);
}

template <class S>
DeviceStaggered<S>::DeviceStaggered(std::shared_ptr<const DeviceStaggeredLinks<S>> links, int columns)
    : DeviceDirac<S>(links->context(), lattice::Subset::full, columns, 3), links_(std::move(links)) {
  detail::require_columns(columns);
}

template <class S>
void DeviceStaggered<S>::hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) {
  if (terms.hop_term != nullptr || terms.add_term != nullptr)
    throw core::InvalidArgument(
        "a staggered hop on a device was given blocks of sites, which it does not have; give numbers");
  const auto holds = [](const Field& field, int parity) {
    return field.subset() == lattice::Subset::full || static_cast<int>(field.subset()) == parity;
  };
  const auto fits = [&](const Field& field, int parity) {
    return holds(field, parity) && field.columns() == this->columns() && field.components() == this->components() &&
           field.context() == this->context();
  };
  if (&out == &in || !fits(out, target_parity) || !fits(in, 1 - target_parity) ||
      (terms.add != nullptr && !fits(*terms.add, target_parity)))
    throw core::InvalidArgument(
        "a staggered hop on a device was given fields that do not fit; give fields of three components and of the "
        "operator's columns and context, an input that holds the other parity, and a different output that holds the "
        "target parity");
  const Box& box = this->context()->box;
  const StaggeredHop<S> hop{box,
                            target_parity,
                            links_->steps(),
                            links_->data(target_parity),
                            padded(box.sites),
                            out.writer(target_parity),
                            in.reader(1 - target_parity),
                            terms.add != nullptr ? terms.add->reader(target_parity) : SpinorReader<S>{},
                            static_cast<S>(dagger ? -terms.hop_scale : terms.hop_scale),
                            static_cast<S>(terms.add_scale)};
  // Columns of a block read the same links.
  const int high = this->columns() < 4 ? this->columns() : 4;
  gpu::launch(this->context()->stream, "staggered_hop", {box.sites, this->columns(), 1}, {64, high, 1}, hop);
}

template class DeviceStaggeredLinks<double>;
template class DeviceStaggeredLinks<float>;
template class DeviceStaggered<double>;
template class DeviceStaggered<float>;

}  // namespace halocline::qcd::device
