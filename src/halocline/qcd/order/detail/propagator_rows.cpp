// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/order/detail/propagator_rows.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include "halocline/qcd/order/detail/spinor_mover.hpp"

namespace halocline::qcd::order::detail {
namespace {

using lattice::Geometry4;

constexpr int columns = 12;
constexpr int column_reals = spinor_reals;

double* column_of(measure::Propagator& s, int spin, int colour) {
  return reinterpret_cast<double*>(s.column(spin, colour).data());
}
const double* column_of(const measure::Propagator& s, int spin, int colour) {
  return reinterpret_cast<const double*>(s.column(spin, colour).data());
}

using SiteNumbers = std::array<double, propagator_reals>;

/// Calls visit(std::integral_constant) for 0 ... count - 1, unrolled.
template <int count, class Visit>
HALOCLINE_INLINE void unrolled(const Visit& visit) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (visit(std::integral_constant<int, i>{}), ...);
  }(std::make_integer_sequence<int, count>{});
}

/// Where the array has the element that we keep at [source spin][source colour][sink spin][sink colour].
template <PropagatorIndices indices>
constexpr auto element_places = [] {
  std::array<int, 144> places{};
  std::size_t ours = 0;
  for (int source = 0; source < 4; ++source)
    for (int source_colour = 0; source_colour < colours; ++source_colour)
      for (int sink = 0; sink < 4; ++sink)
        for (int colour = 0; colour < colours; ++colour)
          places[ours++] = indices == PropagatorIndices::sink_source
                               ? ((colours * sink + colour) * 4 + source) * 3 + source_colour
                               : ((4 * sink + source) * 3 + colour) * 3 + source_colour;
  return places;
}();

/// A site from the array's order of elements to ours, and back.
template <PropagatorIndices indices, class Real>
void to_ours(double* to, const Real* from) {
  unrolled<144>([&](auto i) __attribute__((always_inline)) {
    ColourRow::pair(from + 2 * element_places<indices>[i]).store(to + 2 * i);
  });
}
template <PropagatorIndices indices>
void to_array(double* to, const double* from) {
  unrolled<144>([&](auto i) __attribute__((always_inline)) {
    ColourRow::pair(from + 2 * i).store(to + 2 * element_places<indices>[i]);
  });
}

/// A site whose slowest index is a spin: every spin becomes a sum of `terms` others, with signs and a factor; without
/// terms it stays as it is. Calls put(number, eight numbers) row by row.
/// @param of  of(spin, within) points to the numbers of a spin before the sum, from number `within` on
template <int terms, class Of, class Put>
HALOCLINE_INLINE void sum_spins(const SpinSums& sums, double factor, const Of& of, const Put& put) {
  constexpr int spin_rows = propagator_reals / 4 / side;
  unrolled<propagator_reals / side>([&](auto row) __attribute__((always_inline)) {
    constexpr int spin = row / spin_rows, within = row % spin_rows * side;
    const SpinSum& sum = sums.spins[spin];
    if constexpr (terms == 0) {
      put(std::integral_constant<int, row * side>{}, load_row<double>(of(spin, within)));
    } else {
      auto values = Row<double>(factor * sum.sign[0]) * load_row<double>(of(sum.of[0], within));
      if constexpr (terms == 2) values += Row<double>(factor * sum.sign[1]) * load_row<double>(of(sum.of[1], within));
      put(std::integral_constant<int, row * side>{}, values);
    }
  });
}

/// The numbers of a spin of a site that lies in one piece.
template <class Real>
HALOCLINE_INLINE auto in_site(const Real* site) {
  return [site](int spin, int within) { return site + propagator_reals / 4 * spin + within; };
}

/// Two sites: one is finished while the next one is rearranged. A line that is loaded right after its pairs were stored
/// waits until the stores have reached the cache, as stores are forwarded to loads that they cover alone.
class Rearranging {
public:
  /// Calls fill(numbers of this site), and finish(place, numbers) for the site before.
  template <class Fill, class Finish>
  void next(std::int64_t place, const Fill& fill, const Finish& finish) {
    fill(numbers_[filled_].data());
    filled_ = 1 - filled_;
    if (waiting_ >= 0) finish(waiting_, numbers_[filled_].data());
    waiting_ = place;
  }
  template <class Finish>
  void last(const Finish& finish) {
    if (waiting_ >= 0) finish(waiting_, numbers_[1 - filled_].data());
    waiting_ = -1;
  }

private:
  alignas(64) std::array<SiteNumbers, 2> numbers_;
  std::int64_t waiting_ = -1;
  std::size_t filled_ = 0;
};

using Columns = std::array<double*, columns>;
using ConstantColumns = std::array<const double*, columns>;

/// A site of an array whose slowest index is the sink, summed over the sink, to our order.
template <int terms, PropagatorIndices indices, class Real>
void begin_load(double* numbers, const Real* from, const SpinSums& sums) {
  if constexpr (terms == 0) {
    to_ours<indices>(numbers, from);
  } else {
    alignas(64) SiteNumbers of_sink;
    sum_spins<terms>(sums, 1, in_site(from),
                     [&](auto number, const Row<double>& row) { row.store(of_sink.data() + number); });
    to_ours<indices>(numbers, of_sink.data());
  }
}

/// The same site, summed over the source, our slowest index, to our columns.
template <int terms>
void finish_load(const Columns& to, std::int64_t site, const double* numbers, const SpinSums& sums, bool whole_lines) {
  sum_spins<terms>(sums, sums.squared, in_site(numbers), [&](auto number, const Row<double>& row) {
    put_row(to[number / column_reals] + site * column_reals + number % column_reals, row, whole_lines);
  });
}

/// The other way: the source first. Asks for another site.
template <int terms, PropagatorIndices indices>
void begin_store(double* numbers, const ConstantColumns& from, std::int64_t site, std::int64_t later,
                 const SpinSums& sums) {
  alignas(64) SiteNumbers of_source;
  const auto of = [&](int spin, int within) {
    return from[static_cast<std::size_t>(colours * spin + within / column_reals)] + site * column_reals +
           within % column_reals;
  };
  sum_spins<terms>(sums, 1, of, [&](auto number, const Row<double>& row) {
    prefetch(from[number / column_reals] + later * column_reals + number % column_reals);
    row.store(of_source.data() + number);
  });
  to_array<indices>(numbers, of_source.data());
}

template <int terms, class Real>
void finish_store(Real* to, const double* numbers, const SpinSums& sums, bool whole_lines) {
  Row<Real> before;
  sum_spins<terms>(sums, sums.squared, in_site(numbers), [&](auto number, const Row<double>& row) {
    if constexpr (number / side % 2 == 0)
      before = converted<Real>(row);
    else
      put_rows(to + number - side, before, converted<Real>(row), whole_lines);
  });
}

template <int terms, PropagatorIndices indices, class Real>
void load_elements(measure::Propagator& s, const Real* propagator, const PropagatorOrder& order, const SpinSums& sums) {
  Units<Real> units(order.sites, s.geometry(), propagator_reals, 0);
  Columns to;
  for (int i = 0; i < columns; ++i) to[static_cast<std::size_t>(i)] = column_of(s, i / 3, i % 3);
  const bool whole_lines = std::ranges::all_of(to, [](const double* column) { return begins_line(column); });
  const auto finish = [&](std::int64_t site, const double* numbers) {
    finish_load<terms>(to, site, numbers, sums, whole_lines);
  };
  units.for_each([&](const Unit& unit, UnitScratch& scratch) {
    Rearranging sites;
    const auto one = [&](std::int64_t u, const Real* from) {
      sites.next(
          unit.site + units.distance(u), [&](double* numbers) { begin_load<terms, indices>(numbers, from, sums); },
          finish);
    };
    if (units.lanes() == 1)
      units.read(propagator, unit, one);
    else
      units.read_vectors(propagator, unit, reinterpret_cast<Real*>(scratch.vector.data()), one);
    sites.last(finish);
  });
}

template <int terms, PropagatorIndices indices, class Real>
void store_elements(Real* propagator, const measure::Propagator& s, const PropagatorOrder& order,
                    const SpinSums& sums) {
  const bool direct = lanes(order.sites, sizeof(Real)) == 1;
  Units<Real> units(order.sites, s.geometry(), propagator_reals, direct ? 0 : 1);
  ConstantColumns from;
  for (int i = 0; i < columns; ++i) from[static_cast<std::size_t>(i)] = column_of(s, i / 3, i % 3);
  units.for_each([&](const Unit& unit, UnitScratch& scratch) {
    auto* buffer = reinterpret_cast<Real*>(scratch.array.data());
    Real* to = direct ? propagator : buffer;
    const auto finish = [&, whole_lines = begins_line(to)](std::int64_t place, const double* numbers) {
      finish_store<terms>(to + place * propagator_reals, numbers, sums, whole_lines);
    };
    Rearranging sites;
    units.for_each_run(unit, [&](std::int64_t begin, std::int64_t end, std::int64_t place) {
      for (std::int64_t slot = begin; slot < end; ++slot) {
        const auto site = [&](std::int64_t of) { return units.distance(units.at_slot(of)); };
        const std::int64_t later =
            units.blocks() ? unit.next + site(slot) : unit.site + site(std::min(slot + 2, end - 1));
        sites.next(
            direct ? place + slot - begin : slot,
            [&](double* numbers) { begin_store<terms, indices>(numbers, from, unit.site + site(slot), later, sums); },
            finish);
      }
    });
    sites.last(finish);
    if (!direct) units.write(propagator, unit, scratch, buffer);
  });
}

/// Calls work(terms, indices) with the numbers that a sum over spins has, and the order of elements, as constants.
template <class Work>
void with_constants(const SpinSums& sums, PropagatorIndices indices, const Work& work) {
  const auto with_terms = [&]<PropagatorIndices chosen>(std::integral_constant<PropagatorIndices, chosen> of_array) {
    if (sums.plain) return work(std::integral_constant<int, 0>{}, of_array);
    if (std::ranges::all_of(sums.spins, [](const SpinSum& sum) { return sum.count == 1; }))
      return work(std::integral_constant<int, 1>{}, of_array);
    return work(std::integral_constant<int, 2>{}, of_array);
  };
  if (indices == PropagatorIndices::sink_source)
    with_terms(std::integral_constant<PropagatorIndices, PropagatorIndices::sink_source>{});
  else
    with_terms(std::integral_constant<PropagatorIndices, PropagatorIndices::spins_colours>{});
}

/// Source spins that are sums of the same ones: of one alone, or of two.
struct SourceGroup {
  std::array<int, 2> of{};
  int count = 0;
  std::vector<int> spins;
};

std::vector<SourceGroup> source_groups(const SpinSums& sums) {
  std::vector<SourceGroup> groups;
  for (int spin = 0; spin < 4; ++spin) {
    const SpinSum& sum = sums.spins[static_cast<std::size_t>(spin)];
    const auto same = std::ranges::find_if(
        groups, [&](const SourceGroup& group) { return group.count == sum.count && group.of == sum.of; });
    if (same != groups.end())
      same->spins.push_back(spin);
    else
      groups.push_back({sum.of, sum.count, {spin}});
  }
  return groups;
}

/// The sums of the sink, with another factor.
SpinSums of_sink(SpinSums sums, double factor) {
  sums.scale = factor;
  return sums;
}

/// `count` numbers: a sum of two, with signs and a factor. @param to_memory  from a buffer; or the other way
void add_up(double* to, const double* one, const double* other, const SpinSum& sum, double factor, std::int64_t count,
            bool to_memory) {
  const Row<double> first(factor * sum.sign[0]), second(factor * sum.sign[1]);
  const bool whole_lines = to_memory && begins_line(to);
  for (std::int64_t i = 0; i < count; i += side) {
    if (!to_memory) {
      prefetch(one + i + far_ahead<double>);
      prefetch(other + i + far_ahead<double>);
    }
    put_row(to + i, first * Row<double>::load(one + i) + second * Row<double>::load(other + i), whole_lines);
  }
}

/// Twelve spinors, one after another.
template <class Real>
void load_outside(measure::Propagator& s, const Real* propagator, const PropagatorOrder& order) {
  const SpinSums sums(*order.basis, true);
  Units<Real> units(order.sites, s.geometry(), column_reals, 2);
  const std::int64_t whole = column_reals * s.geometry().local_volume();
  for (const SourceGroup& group : source_groups(sums))
    for (int colour = 0; colour < colours; ++colour) {
      const auto column = [&](int i) {
        return propagator + (colours * group.of[static_cast<std::size_t>(i)] + colour) * whole;
      };
      const double sign = group.count == 1 ? sums.spins[static_cast<std::size_t>(group.spins[0])].sign[0] : 1;
      const SpinorMover<4, Real> mover(of_sink(sums, group.count == 1 ? sign * sums.squared : 1), order.inside, true);
      units.for_each([&](const Unit& unit, UnitScratch& scratch) {
        double* ours = scratch.ours.data();
        for (int i = 0; i < group.count; ++i)
          mover.load(ours + i * units.size() * column_reals, column(i), units, unit, scratch);
        for (const int spin : group.spins) {
          double* to = column_of(s, spin, colour);
          if (group.count == 1) {
            units.write_ours(to, unit, ours, column_reals);
            continue;
          }
          units.for_each_piece(unit, [&](std::int64_t u, std::int64_t site, std::int64_t count) {
            add_up(to + site * column_reals, ours + u * column_reals, ours + (units.size() + u) * column_reals,
                   sums.spins[static_cast<std::size_t>(spin)], sums.squared, count * column_reals, true);
          });
        }
      });
    }
}

template <class Real>
void store_outside(Real* propagator, const measure::Propagator& s, const PropagatorOrder& order) {
  const SpinSums sums(*order.basis, false);
  Units<Real> units(order.sites, s.geometry(), column_reals, 1);
  const std::int64_t whole = column_reals * s.geometry().local_volume();
  for (const SourceGroup& group : source_groups(sums))
    for (int colour = 0; colour < colours; ++colour) {
      const double *one = column_of(s, group.of[0], colour), *other = column_of(s, group.of[1], colour);
      const double sign = group.count == 1 ? sums.spins[static_cast<std::size_t>(group.spins[0])].sign[0] : 1;
      const SpinorMover<4, Real> mover(of_sink(sums, sign * sums.squared), order.inside, false);
      units.for_each([&](const Unit& unit, UnitScratch& scratch) {
        const auto site_of = [&](std::int64_t u) { return (unit.site + units.distance(u)) * column_reals; };
        for (const int spin : group.spins) {
          Real* to = propagator + (colours * spin + colour) * whole;
          if (group.count == 1) {
            const auto from = [&](std::int64_t u) {
              if (units.blocks()) ask_for(one + (unit.next + units.distance(u)) * column_reals, column_reals);
              return one + site_of(u);
            };
            mover.store(to, from, units, unit, scratch);
            continue;
          }
          units.for_each_piece(unit, [&](std::int64_t u, std::int64_t site, std::int64_t count) {
            add_up(scratch.ours.data() + u * column_reals, one + site * column_reals, other + site * column_reals,
                   sums.spins[static_cast<std::size_t>(spin)], 1, count * column_reals, false);
          });
          mover.store(to, [&](std::int64_t u) { return scratch.ours.data() + u * column_reals; }, units, unit, scratch);
        }
      });
    }
}

}  // namespace

template <class Real>
void load_rows(measure::Propagator& s, const Real* propagator, const PropagatorOrder& order) {
  if (order.indices == PropagatorIndices::source_outside) return load_outside(s, propagator, order);
  const SpinSums sums(*order.basis, true);
  with_constants(sums, order.indices,
                 [&]<int terms, PropagatorIndices indices>(std::integral_constant<int, terms>,
                                                           std::integral_constant<PropagatorIndices, indices>) {
                   load_elements<terms, indices>(s, propagator, order, sums);
                 });
}

template <class Real>
void store_rows(Real* propagator, const measure::Propagator& s, const PropagatorOrder& order) {
  if (order.indices == PropagatorIndices::source_outside) return store_outside(propagator, s, order);
  const SpinSums sums(*order.basis, false);
  with_constants(sums, order.indices,
                 [&]<int terms, PropagatorIndices indices>(std::integral_constant<int, terms>,
                                                           std::integral_constant<PropagatorIndices, indices>) {
                   store_elements<terms, indices>(propagator, s, order, sums);
                 });
}

template void load_rows(measure::Propagator&, const float*, const PropagatorOrder&);
template void load_rows(measure::Propagator&, const double*, const PropagatorOrder&);
template void store_rows(float*, const measure::Propagator&, const PropagatorOrder&);
template void store_rows(double*, const measure::Propagator&, const PropagatorOrder&);

}  // namespace halocline::qcd::order::detail
