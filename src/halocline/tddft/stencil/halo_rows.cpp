// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/stencil/halo_rows.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "halocline/comm/exchange/solver_exchange.hpp"
#include "halocline/tddft/stencil/coefficients.hpp"

namespace halocline::tddft {
namespace {

/// Copies a box of points to contiguous memory, in the longest possible runs. A long copy writes whole lines without
/// reading them first; here that read would come from the cache of the neighbour that read them last.
void pack(std::byte* to, const double* in, const Box& whole, const Box& part) {
  const bool whole_rows = part.extent[0] == whole.extent[0];
  const bool whole_planes = whole_rows && part.extent[1] == whole.extent[1];
  const std::int64_t rows = whole_rows ? part.extent[1] : 1, planes = whole_planes ? part.extent[2] : 1;
  const std::size_t run = static_cast<std::size_t>(part.extent[0] * rows * planes) * line_bytes;
  for (std::int64_t z = 0; z < part.extent[2]; z += planes)
    for (std::int64_t y = 0; y < part.extent[1]; y += rows) {
      const std::int64_t first = whole.index(part.offset[0], part.offset[1] + y, part.offset[2] + z);
      std::memcpy(to, in + first * doubles_per_point, run);
      to += run;
    }
}

/// The four planes next to a face.
Box face_planes(const Box& box, comm::Face face) {
  Box planes{{}, box.extent};
  const auto axis = static_cast<std::size_t>(face.axis);
  planes.extent[axis] = stencil_reach;
  if (face.direction > 0) planes.offset[axis] = box.extent[axis] - stencil_reach;
  return planes;
}

}  // namespace

HaloRows::HaloRows(const Decomposition& decomposition, const std::string& transport)
    : box_(decomposition.box()),
      periodic_(decomposition.grid().boundary == Boundary::periodic),
      zeros_(decomposition.box().extent[0] * doubles_per_point) {
  std::ptrdiff_t stride = doubles_per_point;
  std::vector<std::size_t> bytes(3, 0);
  bool any = false;
  for (std::size_t a = 0; a < 3; ++a) {
    stride_[a] = stride;
    stride *= box_.extent[a];
    divided_[a] = decomposition.counts().space[a] > 1;
    any = any || divided_[a];
    if (divided_[a]) bytes[a] = static_cast<std::size_t>(stencil_reach * box_.points() / box_.extent[a]) * line_bytes;
  }
  if (any) {
    const comm::ProcessGrid& grid = decomposition.space_grid();
    const std::string name = comm::solver_transport(grid, bytes, transport);
    for (int i = 0; i < 2; ++i) exchanges_.push_back(comm::solver_exchange(grid, bytes, name));
  }

  interior_ = Box{{}, box_.extent};
  for (std::size_t a = 3; a-- > 0;)
    for (const int direction : {-1, 1}) {
      if (!message_at(static_cast<int>(a), direction)) continue;
      const std::int64_t thickness = std::min<std::int64_t>(stencil_reach, interior_.extent[a]);
      Box face = interior_;
      face.extent[a] = thickness;
      if (direction > 0) face.offset[a] += interior_.extent[a] - thickness;
      interior_.extent[a] -= thickness;
      if (direction < 0) interior_.offset[a] += thickness;
      if (face.points() > 0) faces_.push_back(face);
    }
}

bool HaloRows::message_at(int axis, int direction) const {
  return divided_[static_cast<std::size_t>(axis)] && exchanges_.front().active({axis, direction});
}

void HaloRows::begin(const double* in) {
  if (!split()) return;
  comm::HaloExchange& exchange = exchanges_[static_cast<std::size_t>(begun_ & 1)];
  const Box whole{{}, box_.extent};
  std::array<std::byte*, 6> buffers{};
  for (int i = 0; i < 6; ++i) {
    const auto face = comm::Face::from_index(i);
    if (exchange.active(face)) buffers[static_cast<std::size_t>(i)] = exchange.send_buffer(face).data();
  }
  // Where several threads may post, each packs and posts faces of its own.
  const bool all_post = exchange.concurrent();
  std::exception_ptr failure;
#pragma omp parallel for schedule(static, 1) if (all_post)
  for (int i = 0; i < 6; ++i) {
    std::byte* const buffer = buffers[static_cast<std::size_t>(i)];
    const auto face = comm::Face::from_index(i);
    if (buffer != nullptr) pack(buffer, in, whole, face_planes(whole, face));
    if (!all_post) continue;  // else a face without a neighbour is posted too, because the exchange counts it
    try {
      exchange.post(face);
    } catch (...) {
#pragma omp critical(halocline_tddft_halo_rows)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  if (!all_post) exchange.post();
  ++begun_;
}

void HaloRows::finish() {
  if (!split()) return;
  exchanges_[static_cast<std::size_t>(finished_ & 1)].wait_all();
  ++finished_;
}

/// The table entry for an `index` outside the box.
Line HaloRows::line_beyond(const double* in, std::size_t axis, std::int64_t index) const {
  const std::int64_t n = box_.extent[axis];
  // Rows along y are numbered by z, planes along z by y, points beyond the ends in x by y + extent_y z.
  const std::ptrdiff_t step = axis == 1 ? stride_[2] : stride_[1];
  const int direction = index < 0 ? -1 : 1;
  if (message_at(static_cast<int>(axis), direction)) {
    const std::int64_t plane = index < 0 ? index + stencil_reach : index - n;
    const auto last = static_cast<std::size_t>((finished_ + 1) & 1);
    const auto message = exchanges_[last].recv_buffer({static_cast<int>(axis), direction});
    const std::ptrdiff_t message_step = axis == 0   ? stencil_reach * doubles_per_point
                                        : axis == 1 ? stencil_reach * stride_[1]
                                                    : stride_[1];
    if (message.empty()) return {zeros_.data(), 0};  // before the first finish()
    return {reinterpret_cast<const double*>(message.data()) + plane * stride_[axis], message_step};
  }
  if (divided_[axis] || !periodic_) return {zeros_.data(), 0};
  const std::int64_t wrapped = ((index % n) + n) % n;
  return {in + wrapped * stride_[axis], step};
}

void HaloRows::fill(Neighbourhood& near, const double* in) const {
  const std::int64_t nx = box_.extent[0];
  for (std::int64_t j = 0; j < stencil_reach; ++j) {
    near.beyond[static_cast<std::size_t>(j)] = line_beyond(in, 0, j - stencil_reach);
    near.beyond[static_cast<std::size_t>(j + stencil_reach)] = line_beyond(in, 0, nx + j);
  }
  for (const std::size_t axis : {1, 2}) {
    const std::int64_t n = box_.extent[axis];
    std::vector<Line>& lines = axis == 1 ? near.y : near.z;
    lines.resize(static_cast<std::size_t>(n + 2 * stencil_reach));
    const std::ptrdiff_t step = axis == 1 ? stride_[2] : stride_[1];
    for (std::int64_t i = -stencil_reach; i < n + stencil_reach; ++i)
      lines[static_cast<std::size_t>(i + stencil_reach)] =
          i >= 0 && i < n ? Line{in + i * stride_[axis], step} : line_beyond(in, axis, i);
  }
}

}  // namespace halocline::tddft
