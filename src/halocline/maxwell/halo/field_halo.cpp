// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/halo/field_halo.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace halocline::maxwell {

namespace {

template <class T, class Slab, class Action>
void for_each_point(const Slab& slab, Action&& action) {
  if (slab.listed) {
    for (const Index3& p : slab.points) action(slab.array->at(p[0], p[1], p[2]));
    return;
  }
  for (std::int64_t z = slab.box.lower[2]; z < slab.box.upper[2]; ++z)
    for (std::int64_t y = slab.box.lower[1]; y < slab.box.upper[1]; ++y) {
      T* row = slab.array->row(y, z);
      for (std::int64_t x = slab.box.lower[0]; x < slab.box.upper[0]; ++x) action(row[x]);
    }
}

}  // namespace

template <class T>
std::vector<typename FieldHalo<T>::Slab> FieldHalo<T>::slabs(int copy, int axis, std::int64_t lower,
                                                             std::int64_t upper) {
  const Part& part = state_.part();
  Box region = part.memory();
  region.lower[at(axis)] = lower;
  region.upper[at(axis)] = upper;
  for (int later = axis + 1; later < 3; ++later)
    if (part.exchanged(later)) {
      const bool wall = !part.grid().periodic(later) &&
                        part.first()[at(later)] + part.cells()[at(later)] == part.grid().cells[at(later)];
      region.lower[at(later)] = 0;
      region.upper[at(later)] = part.cells()[at(later)] + (wall ? 1 : 0);  // with the node of the wall
    }
  std::vector<Slab> found;
  for (int c = 0; c < components; ++c) found.push_back({&state_.field(c, copy), region, {}, false});
  for (int c = 0; c < components; ++c)
    for (LayerMemory<T>& layer : state_.layers(c)) {
      const Box box = intersection(layer.box, region);
      if (!box.empty()) found.push_back({&layer.psi[at(copy)], box, {}, false});
    }
  // What polarises is the same set of points on both sides, though the boxes around it may differ.
  for (int c = 0; c < 3; ++c)
    for (Polarisation<T>& pole : state_.polarisations(c)) {
      const Box box = intersection(pole.strength.box(), region);
      std::vector<Index3> points;
      for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z)
        for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y)
          for (std::int64_t x = box.lower[0]; x < box.upper[0]; ++x)
            if (pole.strength.at(x, y, z) != 0) points.push_back({x, y, z});
      if (points.empty()) continue;
      found.push_back({&pole.p[at(copy)], box, points, true});
      found.push_back({&pole.j[at(copy)], box, std::move(points), true});
    }
  return found;
}

template <class T>
FieldHalo<T>::FieldHalo(State<T>& state, const comm::ProcessGrid& processes, std::string_view transport)
    : state_(state) {
  const Part& part = state.part();
  if (!part.any_exchanged()) return;
  const std::int64_t depth = part.depth();
  std::array<double, 3> longest{};
  for (int a = 0; a < 3; ++a) {
    if (!part.exchanged(a)) continue;
    const std::int64_t cells = part.cells()[at(a)];
    for (int side = 0; side < 2; ++side) {
      Side& mine = sides_[at(a)][at(side)];
      std::int64_t sent = 0;
      for (int copy = 0; copy < state.copies(); ++copy) {
        mine.send.push_back(side == 0 ? slabs(copy, a, 0, depth) : slabs(copy, a, cells - depth, cells));
        mine.receive.push_back(side == 0 ? slabs(copy, a, -depth, 0) : slabs(copy, a, cells, cells + depth));
        for (const Slab& slab : mine.send.back()) sent += slab.count();
      }
      const bool end = side == 0 ? part.first()[at(a)] == 0 : part.first()[at(a)] + cells == part.grid().cells[at(a)];
      if (end) mine.phase = (side == 0 ? -1 : 1) * part.grid().bloch[at(a)];
      longest[at(a)] = std::max(longest[at(a)], static_cast<double>(sent * static_cast<std::int64_t>(sizeof(T))));
    }
  }
  processes.communicator().max(longest);
  std::array<std::size_t, 3> face_bytes{};
  for (std::size_t a = 0; a < 3; ++a) face_bytes[a] = static_cast<std::size_t>(longest[a]);
  exchange_ = std::make_unique<comm::HaloExchange>(processes, face_bytes, transport);
}

template <class T>
void FieldHalo<T>::unpack(const Side& side, const T* from) {
  for (const auto& copy : side.receive)
    for (const Slab& slab : copy) for_each_point<T>(slab, [&from](T& number) { number = *from++; });
  if (side.phase == 0 || side.receive.size() < 2) return;
  const T c = static_cast<T>(std::cos(side.phase)), s = static_cast<T>(std::sin(side.phase));
  for (std::size_t i = 0; i < side.receive[0].size(); ++i) {
    std::vector<T*> imaginary;
    for_each_point<T>(side.receive[1][i], [&](T& number) { imaginary.push_back(&number); });
    std::size_t next = 0;
    for_each_point<T>(side.receive[0][i], [&](T& re) {
      T& im = *imaginary[next++];
      const T old = re;
      re = c * old - s * im;
      im = s * old + c * im;
    });
  }
}

template <class T>
void FieldHalo<T>::exchange() {
  if (exchange_ == nullptr) return;
  for (int a = 0; a < 3; ++a) {
    if (!state_.part().exchanged(a)) continue;
    const comm::FaceMask faces = comm::mask_of({a, -1}) | comm::mask_of({a, 1});
    for (int side = 0; side < 2; ++side) {
      const comm::Face face{a, side == 0 ? -1 : 1};
      if (!exchange_->active(face)) continue;
      T* to = reinterpret_cast<T*>(exchange_->send_buffer(face).data());
      for (const auto& copy : sides_[at(a)][at(side)].send)
        for (const Slab& slab : copy) for_each_point<T>(slab, [&to](const T& number) { *to++ = number; });
    }
    exchange_->post(faces);
    for (int side = 0; side < 2; ++side) {
      const comm::Face face{a, side == 0 ? -1 : 1};
      if (!exchange_->active(face)) continue;
      exchange_->wait(face);
      unpack(sides_[at(a)][at(side)], reinterpret_cast<const T*>(exchange_->recv_buffer(face).data()));
    }
  }
}

template class FieldHalo<float>;
template class FieldHalo<double>;

}  // namespace halocline::maxwell
