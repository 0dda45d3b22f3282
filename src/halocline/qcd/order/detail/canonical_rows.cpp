// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/order/detail/canonical_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "halocline/qcd/order/detail/rotation.hpp"
#include "halocline/qcd/order/detail/site_units.hpp"
#include "halocline/qcd/order/detail/transpose.hpp"

namespace halocline::qcd::order::detail {
namespace {

using lattice::Geometry4;

constexpr int columns = 12;  ///< of a propagator

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

constexpr int colour_reals = 2 * colours;
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
            prefetch(vector + (numbers + static_cast<std::int64_t>(number)) * lanes);  // numbers are read out of order
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
        // The sites of the next octet of this run, or of the row after this one.
        const std::int64_t ahead = side * (units.at_slot(begin + 1) - units.at_slot(begin)) * numbers;
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
  const SpinSums& sums_;
  Inside inside_;
  NumberSums by_number_;
};

/// Asks for a site that will be read in the next unit.
void ask_for(const double* site, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 8) prefetch(site + i);
}

template <int spins, class Real>
void load_spinors(double* canonical, const Real* spinor, const SpinorOrder& order, const Geometry4& geometry) {
  constexpr int numbers = colour_reals * spins;
  const SpinSums sums(*order.basis, true);
  const SpinorMover<spins, Real> mover(sums, order.inside, true);
  Units<Real> units(order.sites, geometry, numbers, 1);
  units.for_each([&](const Unit& unit, UnitScratch& scratch) {
    mover.load(scratch.ours.data(), spinor, units, unit, scratch);
    units.write_ours(canonical, unit, scratch.ours.data(), numbers);
  });
}

template <int spins, class Real>
void store_spinors(Real* spinor, const double* canonical, const SpinorOrder& order, const Geometry4& geometry) {
  constexpr int numbers = colour_reals * spins;
  const SpinSums sums(*order.basis, false);
  const SpinorMover<spins, Real> mover(sums, order.inside, false);
  Units<Real> units(order.sites, geometry, numbers, 1);
  units.for_each([&](const Unit& unit, UnitScratch& scratch) {
    const auto from = [&](std::int64_t u) {
      if (units.blocks()) ask_for(canonical + (unit.next + units.distance(u)) * numbers, numbers);
      return canonical + (unit.site + units.distance(u)) * numbers;
    };
    mover.store(spinor, from, units, unit, scratch);
  });
}

/// The twelve columns of a site, each [spin][colour].
template <class Number>
using SiteColumns = std::array<Number*, columns>;

/// Both spins of a site: sums of the source first, and then, column by column, of the sink.
void rotate_both(const SiteColumns<double>& to, const SiteColumns<const double>& from, const SpinSums& sums) {
  for (std::size_t source = 0; source < 4; ++source)
    for (std::size_t colour = 0; colour < colours; ++colour) {
      const SpinSum& sum = sums.spins[source];
      const double* one = from[static_cast<std::size_t>(colours * sum.of[0]) + colour];
      const double* other = from[static_cast<std::size_t>(colours * sum.of[1]) + colour];
      alignas(64) SpinorNumbers column;
      for (std::size_t begin = 0; begin < spinor_reals; begin += side) {
        auto values = Row<double>(sum.sign[0]) * Row<double>::load(one + begin);
        if (sum.count == 2) values += Row<double>(sum.sign[1]) * Row<double>::load(other + begin);
        values.store(column.data() + begin);
      }
      rotate_spins(to[colours * source + colour], column.data(), sums, sums.squared);
    }
}

/// Where the array has the element that we keep at [source spin][source colour][sink spin][sink colour].
std::array<std::int16_t, 144> element_places(PropagatorIndices indices) {
  std::array<std::int16_t, 144> places{};
  std::size_t ours = 0;
  for (int source = 0; source < 4; ++source)
    for (int source_colour = 0; source_colour < colours; ++source_colour)
      for (int sink = 0; sink < 4; ++sink)
        for (int colour = 0; colour < colours; ++colour)
          places[ours++] = static_cast<std::int16_t>(indices == PropagatorIndices::sink_source
                                                         ? ((colours * sink + colour) * 4 + source) * 3 + source_colour
                                                         : ((4 * sink + source) * 3 + colour) * 3 + source_colour);
  return places;
}

template <class Number>
SiteColumns<Number> columns_of(Number* first, std::int64_t stride) {
  SiteColumns<Number> all;
  for (std::size_t i = 0; i < columns; ++i) all[i] = first + static_cast<std::int64_t>(i) * stride;
  return all;
}

SiteColumns<const double> constant(const SiteColumns<double>& columns_of_site) {
  SiteColumns<const double> all;
  std::ranges::copy(columns_of_site, all.begin());
  return all;
}

/// Columns of a unit to those of the propagator.
template <class Real>
void write_columns(measure::Propagator& s, const Units<Real>& units, const Unit& unit, const double* ours) {
  for (int i = 0; i < columns; ++i)
    units.write_ours(reinterpret_cast<double*>(s.column(i / 3, i % 3).data()), unit,
                     ours + i * units.size() * spinor_reals, spinor_reals);
}

template <class Real>
void load_inside(measure::Propagator& s, const Real* propagator, const PropagatorOrder& order) {
  const SpinSums sums(*order.basis, true);
  const auto places = element_places(order.indices);
  Units<Real> units(order.sites, s.geometry(), propagator_reals, 1);
  const std::int64_t stride = units.size() * spinor_reals;
  units.for_each([&](const Unit& unit, UnitScratch& scratch) {
    const auto one = [&](std::int64_t u, const Real* from) {
      const auto to = columns_of(scratch.ours.data() + u * spinor_reals, stride);
      std::array<double, propagator_reals> numbers;
      const auto before = sums.plain ? to : columns_of(numbers.data(), spinor_reals);
      for (std::size_t column = 0, i = 0; column < columns; ++column)
        for (int element = 0; element < spinor_components; ++element, ++i)
          ColourRow::pair(from + 2 * places[i]).store(before[column] + 2 * element);
      if (!sums.plain) rotate_both(to, constant(before), sums);
    };
    if (units.lanes() == 1)
      units.read(propagator, unit, one);
    else
      units.read_vectors(propagator, unit, reinterpret_cast<Real*>(scratch.vector.data()), one);
    write_columns(s, units, unit, scratch.ours.data());
  });
}

SiteColumns<const double> columns_at(const measure::Propagator& s, std::int64_t site) {
  SiteColumns<const double> all;
  for (std::size_t i = 0; i < columns; ++i)
    all[i] = reinterpret_cast<const double*>(s.column(static_cast<int>(i) / 3, static_cast<int>(i) % 3).data()) +
             site * spinor_reals;
  return all;
}

template <class Real>
void store_inside(Real* propagator, const measure::Propagator& s, const PropagatorOrder& order) {
  const SpinSums sums(*order.basis, false);
  const auto places = element_places(order.indices);
  Units<Real> units(order.sites, s.geometry(), propagator_reals, 1);
  units.for_each([&](const Unit& unit, UnitScratch& scratch) {
    auto* buffer = reinterpret_cast<Real*>(scratch.array.data());
    for (std::int64_t u = 0; u < units.size(); ++u) {
      auto from = columns_at(s, unit.site + units.distance(u));
      if (units.blocks())
        for (const double* later : columns_at(s, unit.next + units.distance(u))) ask_for(later, spinor_reals);
      std::array<double, propagator_reals> numbers;
      if (!sums.plain) {
        const auto rotated = columns_of(numbers.data(), spinor_reals);
        rotate_both(rotated, from, sums);
        from = constant(rotated);
      }
      Real* to = buffer + units.slot(u) * propagator_reals;
      for (std::size_t column = 0, i = 0; column < columns; ++column)
        for (std::size_t element = 0; element < spinor_components; ++element, ++i)
          for (std::size_t part = 0; part < 2; ++part)
            to[2 * static_cast<std::size_t>(places[i]) + part] = static_cast<Real>(from[column][2 * element + part]);
    }
    units.write(propagator, unit, scratch, buffer);
  });
}

/// Twelve spinors, one after another. Column by column they are spinors; a rotation needs all of them.
template <class Real>
void load_outside(measure::Propagator& s, const Real* propagator, const PropagatorOrder& order) {
  const SpinSums sums(*order.basis, true), as_they_are(spin_bases::degrand_rossi, true);
  const SpinorMover<4, Real> mover(as_they_are, order.inside, true);
  Units<Real> units(order.sites, s.geometry(), spinor_reals, columns);
  const std::int64_t whole = spinor_reals * s.geometry().local_volume(), stride = units.size() * spinor_reals;
  units.for_each([&](const Unit& unit, UnitScratch& scratch) {
    for (int i = 0; i < columns; ++i)
      mover.load(scratch.ours.data() + i * stride, propagator + i * whole, units, unit, scratch);
    if (!sums.plain)
      for (std::int64_t u = 0; u < units.size(); ++u) {
        std::array<double, propagator_reals> numbers;
        const auto there = columns_of(scratch.ours.data() + u * spinor_reals, stride);
        for (std::size_t i = 0; i < columns; ++i)
          std::copy_n(there[i], spinor_reals, numbers.begin() + i * spinor_reals);
        rotate_both(there, columns_of(std::as_const(numbers).data(), spinor_reals), sums);
      }
    write_columns(s, units, unit, scratch.ours.data());
  });
}

template <class Real>
void store_outside(Real* propagator, const measure::Propagator& s, const PropagatorOrder& order) {
  const SpinSums sums(*order.basis, false), as_they_are(spin_bases::degrand_rossi, false);
  const SpinorMover<4, Real> mover(as_they_are, order.inside, false);
  Units<Real> units(order.sites, s.geometry(), spinor_reals, columns);
  const std::int64_t whole = spinor_reals * s.geometry().local_volume(), stride = units.size() * spinor_reals;
  units.for_each([&](const Unit& unit, UnitScratch& scratch) {
    double* ours = scratch.ours.data();
    if (!sums.plain)
      for (std::int64_t u = 0; u < units.size(); ++u) {
        if (units.blocks())
          for (const double* later : columns_at(s, unit.next + units.distance(u))) ask_for(later, spinor_reals);
        rotate_both(columns_of(ours + u * spinor_reals, stride), columns_at(s, unit.site + units.distance(u)), sums);
      }
    for (int i = 0; i < columns; ++i) {
      const auto* column = reinterpret_cast<const double*>(s.column(i / 3, i % 3).data());
      const auto from = [&](std::int64_t u) {
        if (units.blocks() && sums.plain)
          ask_for(column + (unit.next + units.distance(u)) * spinor_reals, spinor_reals);
        return sums.plain ? column + (unit.site + units.distance(u)) * spinor_reals
                          : ours + i * stride + u * spinor_reals;
      };
      mover.store(propagator + i * whole, from, units, unit, scratch);
    }
  });
}

}  // namespace

template <class Real>
void load_rows(std::complex<double>* canonical, const Real* spinor, const SpinorOrder& order, const Geometry4& geometry,
               int spins) {
  auto* numbers = reinterpret_cast<double*>(canonical);
  if (spins == 1)
    load_spinors<1>(numbers, spinor, order, geometry);
  else
    load_spinors<4>(numbers, spinor, order, geometry);
}

template <class Real>
void store_rows(Real* spinor, const std::complex<double>* canonical, const SpinorOrder& order,
                const Geometry4& geometry, int spins) {
  const auto* numbers = reinterpret_cast<const double*>(canonical);
  if (spins == 1)
    store_spinors<1>(spinor, numbers, order, geometry);
  else
    store_spinors<4>(spinor, numbers, order, geometry);
}

template <class Real>
void load_rows(measure::Propagator& s, const Real* propagator, const PropagatorOrder& order) {
  if (order.indices == PropagatorIndices::source_outside)
    load_outside(s, propagator, order);
  else
    load_inside(s, propagator, order);
}

template <class Real>
void store_rows(Real* propagator, const measure::Propagator& s, const PropagatorOrder& order) {
  if (order.indices == PropagatorIndices::source_outside)
    store_outside(propagator, s, order);
  else
    store_inside(propagator, s, order);
}

template void load_rows(std::complex<double>*, const float*, const SpinorOrder&, const Geometry4&, int);
template void load_rows(std::complex<double>*, const double*, const SpinorOrder&, const Geometry4&, int);
template void store_rows(float*, const std::complex<double>*, const SpinorOrder&, const Geometry4&, int);
template void store_rows(double*, const std::complex<double>*, const SpinorOrder&, const Geometry4&, int);
template void load_rows(measure::Propagator&, const float*, const PropagatorOrder&);
template void load_rows(measure::Propagator&, const double*, const PropagatorOrder&);
template void store_rows(float*, const measure::Propagator&, const PropagatorOrder&);
template void store_rows(double*, const measure::Propagator&, const PropagatorOrder&);

}  // namespace halocline::qcd::order::detail
