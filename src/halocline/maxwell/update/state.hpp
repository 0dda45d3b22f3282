// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// All numbers of a process that a step reads and changes.
///
/// The coefficients of a component are one number in rows where matter is uniform, so that empty space and layers read
/// no coefficients from memory. Polarisations and the memories of absorbing layers exist only where there are any. With
/// a Bloch phase the field is complex: two copies of everything that changes, the real and the imaginary part, share
/// the coefficients and mix only where the grid closes upon itself.

#include "halocline/maxwell/grid/yee_grid.hpp"
#include "halocline/maxwell/matter/matter.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace halocline::maxwell {

/// Numbers along an axis in the coordinates of the process, from the first ghost to the last.
template <class T>
class Profile {
public:
  Profile() = default;
  Profile(std::int64_t lower, std::int64_t upper, T value)
      : lower_(lower), values_(static_cast<std::size_t>(upper - lower), value) {}
  T& operator[](std::int64_t i) noexcept { return values_[static_cast<std::size_t>(i - lower_)]; }
  const T& operator[](std::int64_t i) const noexcept { return values_[static_cast<std::size_t>(i - lower_)]; }
  /// Where number 0 is, or would be.
  const T* origin() const noexcept { return values_.data() - lower_; }
  const T* origin_or_null() const noexcept { return values_.empty() ? nullptr : origin(); }

private:
  std::int64_t lower_ = 0;
  std::vector<T> values_;
};

/// A derivative along an axis: r (g' - g), and in absorbing layers psi <- b psi + c (g' - g) on top of it. b = 0 and
/// c = 0 outside of layers.
template <class T>
struct AxisProfiles {
  Profile<T> r, b, c;
};

/// A factor at each point: one number a row where the row is uniform, and an array where some row is not.
template <class T>
struct Factor {
  std::vector<T> of_row;             ///< of rows of the memory, y fastest
  std::vector<std::uint8_t> varies;  ///< whether the array has to be read in this row
  BoxArray<T> array;                 ///< empty: no row varies
};

/// What E of a component becomes: decay E + gain (curl H - J).
template <class T>
struct Coefficients {
  Factor<T> gain, decay;
};

/// The memory of an absorbing layer for one derivative of one component. With axis 1 in a cylindrical grid it is that
/// of the rim: the integral over time of E_y or H_y, which are E and H about the axis.
template <class T>
struct LayerMemory {
  int component;
  int axis;                      ///< of the derivative, across the layer
  Box box;                       ///< of the process
  std::vector<BoxArray<T>> psi;  ///< of each copy of the field
};

/// A polarisation and its current: J <- keep J + push (strength E - spring P), then P <- P + dt J.
template <class T>
struct Polarisation {
  int component;
  T keep, push, spring;
  BoxArray<T> strength;
  std::vector<std::array<std::int32_t, 2>> span;  ///< of rows of the box, y fastest: where strength is not zero
  std::vector<BoxArray<T>> p, j;                  ///< of each copy of the field
};

template <class T>
class State {
public:
  /// Fields are zero. @throws InvalidArgument  for matter that Matter::check refuses
  /// Collective: no.  Cost: memory of 6 numbers a point, and of coefficients, polarisations and layers where they are.
  State(const Part& part, const Matter& matter, bool smooth = true);

  const Part& part() const noexcept { return part_; }
  int copies() const noexcept { return static_cast<int>(fields_.size()); }
  BoxArray<T>& field(int component, int copy = 0) noexcept { return fields_[at(copy)][at(component)]; }
  const BoxArray<T>& field(int component, int copy = 0) const noexcept { return fields_[at(copy)][at(component)]; }

  /// How a component of E or H is differentiated along an axis.
  const AxisProfiles<T>& derivative(int component, int axis) const noexcept {
    return profiles_[electric(component) ? 0 : 1][at(axis)];
  }
  /// What H of an axis gains by its curl over x, in a cylindrical grid; null: minus the time step everywhere.
  const T* magnetic_gain(int axis) const noexcept {
    return part_.grid().cylindrical ? magnetic_[at(axis)].origin() : nullptr;
  }
  /// The layer at the rim of a cylindrical grid stretches the distance from the axis, too: by the integral of its
  /// conductivity over i omega (Teixeira and Chew, IEEE Microw. Guided Wave Lett. 7, 371 (1997)). That integral and the
  /// distance, over x at the places of a component; null without such a layer.
  const T* rim(int component) const noexcept { return rim_[between(component, 0) ? 1 : 0].origin_or_null(); }
  const T* radius(int component) const noexcept { return radius_[between(component, 0) ? 1 : 0].origin(); }
  /// What is kept of H along or across the radius there, at each step; null without such a layer.
  const T* magnetic_decay(int axis) const noexcept { return magnetic_decay_[at(axis)].origin_or_null(); }
  const Coefficients<T>& coefficients(int component) const noexcept { return coefficients_[at(component)]; }
  std::vector<LayerMemory<T>>& layers(int component) noexcept { return layers_[at(component)]; }
  const std::vector<LayerMemory<T>>& layers(int component) const noexcept { return layers_[at(component)]; }
  std::vector<Polarisation<T>>& polarisations(int component) noexcept { return polarisations_[at(component)]; }
  const std::vector<Polarisation<T>>& polarisations(int component) const noexcept {
    return polarisations_[at(component)];
  }

  /// Row of memory() with these coordinates.
  std::size_t row_number(std::int64_t y, std::int64_t z) const noexcept {
    const Box box = memory_;
    return static_cast<std::size_t>((z - box.lower[2]) * box.extent(1) + y - box.lower[1]);
  }

  /// All arrays of a copy that change with time, in one order on every process: fields, polarisations, layers. Arrays
  /// that this process does not have are empty.
  std::vector<BoxArray<T>*> changing(int copy);

private:
  void set_profiles();
  void set_magnetic_gains();
  void set_coefficients(const Matter& matter, bool smooth);
  void set_layers();

  Part part_;
  Box memory_;
  std::vector<std::array<BoxArray<T>, components>> fields_;
  std::array<std::array<AxisProfiles<T>, 3>, 2> profiles_;  ///< of E (at nodes) and of H (between)
  std::array<Profile<T>, 3> magnetic_, magnetic_decay_;
  std::array<Profile<T>, 2> rim_, radius_;  ///< at nodes and between them
  std::array<Coefficients<T>, 3> coefficients_;
  std::array<std::vector<LayerMemory<T>>, components> layers_;
  std::array<std::vector<Polarisation<T>>, 3> polarisations_;
};

}  // namespace halocline::maxwell
