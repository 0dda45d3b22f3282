// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Fills the ghosts of everything that changes with time: fields, polarisations, memories of layers.
///
/// Axes are exchanged one after the other, and each slab includes the ghosts of the axes before it. Where the grid
/// closes upon itself with a Bloch phase, what arrives is turned by it.

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/maxwell/update/state.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace halocline::maxwell {

template <class T>
class FieldHalo {
public:
  /// @param transport  a name as for comm::HaloExchange
  /// Collective: yes.
  FieldHalo(State<T>& state, const comm::ProcessGrid& processes, std::string_view transport);

  /// Collective: yes. Does nothing on a grid without exchanged axes.
  void exchange();

private:
  /// A part of one array: rows of a box, or single points of a polarisation.
  struct Slab {
    BoxArray<T>* array;
    Box box;
    std::vector<Index3> points;
    bool listed;
    std::int64_t count() const noexcept { return listed ? static_cast<std::int64_t>(points.size()) : box.points(); }
  };
  struct Side {
    std::vector<std::vector<Slab>> send, receive;  ///< of each copy
    double phase = 0;                              ///< of what arrives
  };

  std::vector<Slab> slabs(int copy, int axis, std::int64_t lower, std::int64_t upper);
  void unpack(const Side& side, const T* from);

  State<T>& state_;
  std::array<std::array<Side, 2>, 3> sides_;
  std::unique_ptr<comm::HaloExchange> exchange_;
};

}  // namespace halocline::maxwell
