// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The local box in units of whole sites, of which an order keeps a few long runs: what canonical arrays are moved by.
///
/// A unit is a row of x, or one time slice of a block of openQCD. A run is in the array what a piece is on our side:
/// sites that follow each other. Only the place of the first site of a run is looked up.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/qcd/order/detail/site_index.hpp"
#include "halocline/qcd/order/detail/thread_scratch.hpp"
#include "halocline/qcd/order/detail/transpose.hpp"

namespace halocline::qcd::order::detail {

/// What a thread needs for a unit.
struct UnitScratch {
  core::AlignedArray<double> ours, array;  ///< numbers of a unit as we have them, and in the order of the array
  core::AlignedArray<double> vector;       ///< numbers of the sites that lie side by side

  UnitScratch(std::int64_t sites, std::int64_t numbers, int arrays, std::int64_t lanes)
      : ours(sites * numbers * arrays), array(sites * numbers * arrays), vector(lanes * numbers) {}
};

/// A part of the box that is worked on at once.
struct Unit {
  lattice::Coordinates<4> first, later;  ///< its first site, and that of the unit after it
  std::int64_t site, next;               ///< their canonical numbers
};

/// The units of a box beside an array whose sites have `numbers` numbers, of Real. The sites of a unit have two
/// numberings: canonical, and `slots` in the order of the array.
template <class Real>
class Units {
public:
  /// @param arrays  spinors or propagators whose units a thread has in its scratch at the same time
  Units(const SiteOrder& order, const lattice::Geometry4& geometry, std::int64_t numbers, int arrays)
      : local_(geometry.local()),
        sites_(order, geometry),
        numbers_(numbers),
        lanes_(order::lanes(order, sizeof(Real))),
        blocks_(order.sites == Sites::cache_blocks),
        extent_(extents()),
        scratch_([&] { return UnitScratch(size(), numbers, arrays, lanes_); }) {
    describe(order);
  }

  /// Calls work(unit, scratch) for every unit; threads share them.
  template <class Work>
  void for_each(const Work& work) {
    const std::int64_t units = lattice::product<4>(local_) / size();
    scratch_.for_each(units, [&](std::int64_t number, UnitScratch& scratch) {
      const auto first = first_of(number), next = first_of(number + 1 < units ? number + 1 : number);
      work(Unit{first, next, lattice::linear_index<4>(first, local_), lattice::linear_index<4>(next, local_)}, scratch);
    });
  }

  /// Sites of a unit.
  std::int64_t size() const noexcept { return lattice::product<4>(extent_); }
  std::int64_t lanes() const noexcept { return lanes_; }
  /// Neighbours along x are few: the hardware does not foresee the pieces on our side.
  bool blocks() const noexcept { return blocks_; }
  /// The canonical distance of site u from the first one, and its number in the order of the array; and the inverse.
  std::int64_t distance(std::int64_t u) const { return distance_[static_cast<std::size_t>(u)]; }
  std::int64_t slot(std::int64_t u) const { return slot_[static_cast<std::size_t>(u)]; }
  std::int64_t at_slot(std::int64_t slot) const { return at_slot_[static_cast<std::size_t>(slot)]; }

  /// Calls visit(first slot, end, first place in the array) for every run.
  template <class Visit>
  void for_each_run(const Unit& unit, const Visit& visit) const {
    for (const Run& run : runs_) {
      visit(run.begin, run.end, place_of_run(run, unit.first));
    }
  }

  /// Calls use(u, numbers of the site) for every site, where the numbers of a site lie side by side. Asks for later
  /// sites; in blocks, whose runs are short, for those of the next unit.
  template <class Use>
  void read(const Real* array, const Unit& unit, const Use& use) const {
    for (const Run& run : runs_) {
      const std::int64_t place = place_of_run(run, unit.first);
      const Real* site = array + place * numbers_;
      const std::int64_t ahead = blocks_         ? (place_of_run(run, unit.later) - place) * numbers_
                                 : numbers_ > 24 ? 2 * numbers_
                                                 : far_ahead<Real>;
      for (std::int64_t slot = run.begin; slot < run.end; ++slot, site += numbers_) {
        for (std::int64_t i = 0; i < numbers_; i += 64 / std::int64_t{sizeof(Real)}) prefetch(site + ahead + i);
        use(at_slot(slot), site);
      }
    }
  }

  /// The same for orders that keep sites side by side, number by number, through `buffer`.
  template <class Use>
  void read_vectors(const Real* array, const Unit& unit, Real* buffer, const Use& use) const {
    for_each_run(unit, [&](std::int64_t begin, std::int64_t end, std::int64_t place) {
      const Real* vector = array + place * numbers_;
      for (std::int64_t slot = begin; slot < end; slot += lanes_, vector += lanes_ * numbers_) {
        for (std::int64_t number = 0; number < numbers_; ++number)
          for (std::int64_t lane = 0; lane < lanes_; ++lane)
            buffer[lane * numbers_ + number] = vector[number * lanes_ + lane];
        for (std::int64_t lane = 0; lane < lanes_; ++lane) use(at_slot(slot + lane), buffer + lane * numbers_);
      }
    });
  }

  /// The buffer of a unit, [slot][number], to the array; vectors pass through the scratch.
  void write(Real* array, const Unit& unit, UnitScratch& scratch, const Real* buffer) const {
    for_each_run(unit, [&](std::int64_t begin, std::int64_t end, std::int64_t place) {
      if (lanes_ == 1)
        return copy_streaming(array + place * numbers_, buffer + begin * numbers_, (end - begin) * numbers_);
      auto* vector = reinterpret_cast<Real*>(scratch.vector.data());
      for (std::int64_t slot = begin; slot < end; slot += lanes_) {
        for (std::int64_t number = 0; number < numbers_; ++number)
          for (std::int64_t lane = 0; lane < lanes_; ++lane)
            vector[number * lanes_ + lane] = buffer[(slot + lane) * numbers_ + number];
        copy_streaming(array + (place + slot - begin) * numbers_, vector, lanes_ * numbers_);
      }
    });
  }

  /// Calls visit(u, canonical number of the site, sites) for the pieces of a unit on our side.
  template <class Visit>
  void for_each_piece(const Unit& unit, const Visit& visit) const {
    for (std::int64_t u = 0; u < size(); u += extent_[0]) visit(u, unit.site + distance(u), extent_[0]);
  }

  /// Canonical numbers of a unit, `numbers` of each site, to a canonical array.
  void write_ours(double* canonical, const Unit& unit, const double* ours, std::int64_t numbers) const {
    for_each_piece(unit, [&](std::int64_t u, std::int64_t site, std::int64_t count) {
      copy_streaming(canonical + site * numbers, ours + u * numbers, count * numbers);
    });
  }

private:
  struct Run {
    std::int64_t begin, end;        ///< slots
    lattice::Coordinates<4> first;  ///< of the site at `begin`, from the first one of the unit
  };

  std::int64_t place_of_run(const Run& run, lattice::Coordinates<4> x) const {
    for (std::size_t axis = 0; axis < 4; ++axis) x[axis] += run.first[axis];
    return sites_(x);
  }

  lattice::Coordinates<4> first_of(std::int64_t number) const {
    lattice::Coordinates<4> first{};
    for (std::size_t axis = 0; axis < 4; ++axis) {
      const std::int64_t units = local_[axis] / extent_[axis];
      first[axis] = number % units * extent_[axis];
      number /= units;
    }
    return first;
  }

  void describe(const SiteOrder& order) {
    const auto sites = static_cast<std::size_t>(size());
    distance_.resize(sites);
    slot_.resize(sites);
    at_slot_.resize(sites);
    std::iota(at_slot_.begin(), at_slot_.end(), 0);
    const auto at = [&](std::int64_t u) { return lattice::coordinates_of<4>(u, extent_); };
    for (std::int64_t u = 0; u < size(); ++u)
      distance_[static_cast<std::size_t>(u)] = lattice::linear_index<4>(at(u), local_);
    // z is the fastest axis of a block, then y.
    const auto in_block = [&](std::int64_t u) { return lattice::Coordinates<4>{at(u)[0], at(u)[1], at(u)[2], 0}; };
    if (blocks_) std::ranges::sort(at_slot_, {}, in_block);
    auto odd = at_slot_.end();
    if (blocks_ || order.sites == Sites::even_odd)
      odd = std::ranges::stable_partition(at_slot_, [&](std::int64_t u) {
              return (at(u)[0] + at(u)[1] + at(u)[2]) % 2 == 0;
            }).begin();
    if (order.sites == Sites::halves_of_x) odd = at_slot_.begin() + size() / 2;
    for (std::int64_t slot = 0; slot < size(); ++slot) slot_[static_cast<std::size_t>(at_slot(slot))] = slot;
    const std::int64_t middle = odd - at_slot_.begin();
    runs_.push_back({0, middle, at(at_slot(0))});
    if (middle < size()) runs_.push_back({middle, size(), at(at_slot(middle))});
  }

  lattice::Coordinates<4> extents() const {
    if (!blocks_) return {local_[0], 1, 1, 1};
    return {cache_block_extent(local_[0]), cache_block_extent(local_[1]), cache_block_extent(local_[2]), 1};
  }

  lattice::Coordinates<4> local_;
  SiteIndex sites_;
  std::int64_t numbers_, lanes_;
  bool blocks_;
  lattice::Coordinates<4> extent_;  ///< of a unit
  std::vector<std::int64_t> distance_, slot_, at_slot_;
  std::vector<Run> runs_;
  ThreadScratch<UnitScratch> scratch_;
};

}  // namespace halocline::qcd::order::detail
