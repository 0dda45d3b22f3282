// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Spinors of a unit of sites from an array to canonical numbers in double, and back: renumbered and rotated.
///
/// Sites whose numbers lie side by side are moved one by one; where numbers of eight sites do, eight sites are rotated
/// and transposed at once (transpose.hpp). Both sides of a rotation are sums of numbers with their signs, times one
/// factor at the end, exactly as in reference.hpp, so that both agree in every bit.

#include <array>
#include <cmath>
#include <type_traits>

#include "halocline/qcd/order/detail/rotation.hpp"
#include "halocline/qcd/order/detail/site_units.hpp"
#include "halocline/qcd/order/detail/transpose.hpp"

namespace halocline::qcd::order::detail {

/// A spin of one basis from those of another: the sum of one or two, with signs, before the factor.
struct SpinSum {
  std::array<int, 2> of{};
  std::array<double, 2> sign{};
  int count = 0;
};

struct SpinSums {
  std::array<SpinSum, 4> spins{};
  double scale = 1;    ///< 1 / sqrt(norm)
  double squared = 1;  ///< 1 / norm
  bool plain = true;   ///< every spin is itself

  /// V, or with `inverse` V^dagger.
  SpinSums(const SpinBasis& basis, bool inverse)
      : scale(1 / std::sqrt(static_cast<double>(basis.norm))), squared(1 / static_cast<double>(basis.norm)) {
    for (std::size_t to = 0; to < 4; ++to)
      for (std::size_t from = 0; from < 4; ++from) {
        const int number = inverse ? basis.numerators[from][to] : basis.numerators[to][from];
        if (number == 0) continue;
        SpinSum& sum = spins[to];
        sum.of[static_cast<std::size_t>(sum.count)] = static_cast<int>(from);
        sum.sign[static_cast<std::size_t>(sum.count++)] = number;
        if (from != to || number != 1) plain = false;
      }
  }
};

inline constexpr int colour_reals = 2 * colours;
using SpinorNumbers = std::array<double, spinor_reals>;

/// The numbers of a site, [spin][colour] or [colour][spin] on the side of the array, [spin][colour] on ours.
template <int spins, class Real>
HALOCLINE_INLINE void spin_outside(double* to, const Real* from, Inside inside) {
  if (spins == 1 || inside == Inside::spin_colour) {
    for (int i = 0; i < colour_reals * spins; ++i) to[i] = static_cast<double>(from[i]);
    return;
  }
  for (int spin = 0; spin < spins; ++spin)
    for (int colour = 0; colour < colours; ++colour)
      for (int part = 0; part < 2; ++part)
        to[2 * (colours * spin + colour) + part] = static_cast<double>(from[2 * (spins * colour + spin) + part]);
}
template <int spins, class Real>
HALOCLINE_INLINE void as_inside(Real* to, const double* from, Inside inside) {
  if (spins == 1 || inside == Inside::spin_colour) {
    for (int i = 0; i < colour_reals * spins; ++i) to[i] = static_cast<Real>(from[i]);
    return;
  }
  for (int spin = 0; spin < spins; ++spin)
    for (int colour = 0; colour < colours; ++colour)
      for (int part = 0; part < 2; ++part)
        to[2 * (spins * colour + spin) + part] = static_cast<Real>(from[2 * (colours * spin + colour) + part]);
}

/// The three colours of a spin, as pairs (re, im).
struct ColourRow {
  std::array<core::Pack<double, 2>, colours> pairs{};

  template <class Real>
  static HALOCLINE_INLINE core::Pack<double, 2> pair(const Real* from) {
    if constexpr (std::is_same_v<Real, double>)
      return core::Pack<double, 2>::load(from);
    else
      return core::convert<double>(core::Pack<Real, 2>::load(from));
  }
  template <class Real>
  HALOCLINE_INLINE void add(double sign, const Real* from) {
    for (std::size_t c = 0; c < colours; ++c) pairs[c] += core::Pack<double, 2>(sign) * pair(from + 2 * c);
  }
  /// Times the scale.
  template <class Real>
  HALOCLINE_INLINE void put(Real* to, double scale) const {
    for (std::size_t c = 0; c < colours; ++c) {
      const auto value = pairs[c] * core::Pack<double, 2>(scale);
      if constexpr (std::is_same_v<Real, double>)
        value.store(to + 2 * c);
      else
        core::convert<Real>(value).store(to + 2 * c);
    }
  }
};

/// Both sides [spin][colour].
template <class To, class From>
HALOCLINE_INLINE void rotate_spins(To* to, const From* from, const SpinSums& sums, double scale) {
  for (const SpinSum& sum : sums.spins) {
    ColourRow row;
    row.add(sum.sign[0], from + colour_reals * sum.of[0]);
    if (sum.count == 2) row.add(sum.sign[1], from + colour_reals * sum.of[1]);
    row.put(to, scale);
    to += colour_reals;
  }
}

/// One site of an array into ours.
template <int spins, class Real>
HALOCLINE_INLINE void load_site(double* ours, const Real* site, Inside inside, const SpinSums& sums) {
  if (spins == 1 || sums.plain) return spin_outside<spins>(ours, site, inside);
  if (inside == Inside::spin_colour) return rotate_spins(ours, site, sums, sums.scale);
  SpinorNumbers numbers;
  spin_outside<spins>(numbers.data(), site, inside);
  rotate_spins(ours, numbers.data(), sums, sums.scale);
}
template <int spins, class Real>
HALOCLINE_INLINE void store_site(Real* site, const double* ours, Inside inside, const SpinSums& sums) {
  if (spins == 1 || sums.plain) return as_inside<spins>(site, ours, inside);
  if (inside == Inside::spin_colour) return rotate_spins(site, ours, sums, sums.scale);
  SpinorNumbers numbers;
  rotate_spins(numbers.data(), ours, sums, sums.scale);
  as_inside<spins>(site, numbers.data(), inside);
}

/// Numbers of one side from those of the other, for whole vectors of sites.
struct NumberSums {
  std::array<std::array<int, 2>, spinor_reals> of{};
  std::array<std::array<double, 2>, spinor_reals> sign{};
  double scale = 1;
  bool plain = true, two = false;

  /// @param to_ours  else to the array
  NumberSums(const SpinSums& sums, Inside inside, bool to_ours) : scale(sums.scale), plain(sums.plain) {
    for (int spin = 0; spin < 4; ++spin)
      for (int colour = 0; colour < colours; ++colour)
        for (int part = 0; part < 2; ++part) {
          const SpinSum& sum = sums.spins[static_cast<std::size_t>(spin)];
          const auto to =
              static_cast<std::size_t>(number_of(to_ours ? Inside::spin_colour : inside, spin, colour, part));
          for (std::size_t i = 0; i < static_cast<std::size_t>(sum.count); ++i) {
            of[to][i] = number_of(to_ours ? inside : Inside::spin_colour, sum.of[i], colour, part);
            sign[to][i] = sum.sign[i];
          }
          two = two || sum.count == 2;
        }
  }

  /// @param row  gives the eight lanes of a number
  template <class RowOf>
  HALOCLINE_INLINE Row<double> operator()(std::size_t number, const RowOf& row) const {
    Row<double> value = row(of[number][0]);
    if (plain) return value;
    value *= Row<double>(sign[number][0]);
    if (two) value += Row<double>(sign[number][1]) * row(of[number][1]);
    value *= Row<double>(scale);
    return value;
  }
};

/// What moves the spinors of a unit.
template <int spins, class Real>
class SpinorMover {
public:
  static constexpr int numbers = colour_reals * spins;

  SpinorMover(const SpinSums& sums, Inside inside, bool to_ours)
      : sums_(sums), inside_(inside), by_number_(sums, inside, to_ours) {}

  /// From the array into [site of the unit][number].
  void load(double* ours, const Real* array, const Units<Real>& units, const Unit& unit, UnitScratch& scratch) const {
    const auto one = [&](std::int64_t u, const Real* site) {
      load_site<spins>(ours + u * numbers, site, inside_, sums_);
    };
    if (units.lanes() == 1) return units.read(array, unit, one);
    if (spins == 1 || units.lanes() % side != 0)
      return units.read_vectors(array, unit, reinterpret_cast<Real*>(scratch.vector.data()), one);
    const std::int64_t lanes = units.lanes();
    units.for_each_run(unit, [&](std::int64_t begin, std::int64_t end, std::int64_t place) {
      for (std::int64_t slot = begin; slot < end; slot += side) {
        const std::int64_t lane = (slot - begin) % lanes;
        const Real* vector = array + (place + slot - begin - lane) * numbers + lane;
        for (int first = 0; first < numbers; first += side) {
          Block<double> block;
          for (std::size_t k = 0; k < side; ++k) {
            const std::size_t number = static_cast<std::size_t>(first) + k;
            // Numbers are read out of order.
            prefetch(vector + far_ahead<Real> + static_cast<std::int64_t>(number) * lanes);
            block[k] = by_number_(number, [&](int of) { return load_row<double>(vector + of * lanes); });
          }
          transpose(block);
          for (int j = 0; j < side; ++j)
            block[static_cast<std::size_t>(j)].store(ours + units.at_slot(slot + j) * numbers + first);
        }
      }
    });
  }

  /// To the array, from from(site of the unit).
  template <class From>
  void store(Real* array, const From& from, const Units<Real>& units, const Unit& unit, UnitScratch& scratch) const {
    const std::int64_t lanes = units.lanes();
    auto* buffer = reinterpret_cast<Real*>(scratch.array.data());
    if (spins == 1 || lanes == 1 || lanes % side != 0) {
      for (std::int64_t u = 0; u < units.size(); ++u)
        store_site<spins>(buffer + units.slot(u) * numbers, from(u), inside_, sums_);
      return units.write(array, unit, scratch, buffer);
    }
    auto* vector = reinterpret_cast<Real*>(scratch.vector.data());
    units.for_each_run(unit, [&](std::int64_t begin, std::int64_t end, std::int64_t place) {
      for (std::int64_t slot = begin; slot < end; slot += side) {
        alignas(64) std::array<double, spinor_reals * side> octet;
        // The sites of a later octet of this run, or of a row after this one.
        const std::int64_t ahead = far_ahead<double> * (units.at_slot(begin + 1) - units.at_slot(begin));
        std::array<const double*, side> site, later;
        for (int j = 0; j < side; ++j) {
          site[static_cast<std::size_t>(j)] = from(units.at_slot(slot + j));
          later[static_cast<std::size_t>(j)] = site[static_cast<std::size_t>(j)] + ahead;
        }
        for (int first = 0; first < numbers; first += side) {
          Block<double> block;
          for (std::size_t j = 0; j < side; ++j) {
            prefetch(later[j] + first);
            block[j] = Row<double>::load(site[j] + first);
          }
          transpose(block);
          for (int k = 0; k < side; ++k) block[static_cast<std::size_t>(k)].store(octet.data() + (first + k) * side);
        }
        const std::int64_t lane = (slot - begin) % lanes;
        for (int number = 0; number < numbers; ++number)
          store_row<Real>(vector + number * lanes + lane, by_number_(static_cast<std::size_t>(number), [&](int of) {
                            return Row<double>::load(octet.data() + of * side);
                          }));
        if (lane + side == lanes)
          copy_streaming(array + (place + slot + side - begin - lanes) * numbers, vector, lanes * numbers);
      }
    });
  }

private:
  SpinSums sums_;
  Inside inside_;
  NumberSums by_number_;
};

/// Asks for a site that will be read in the next unit.
inline void ask_for(const double* site, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += side) prefetch(site + i);
}

}  // namespace halocline::qcd::order::detail
