// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/order/detail/canonical_rows.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/qcd/order/detail/site_index.hpp"
#include "halocline/qcd/order/detail/transpose.hpp"

namespace halocline::qcd::order::detail {
namespace {

using lattice::Geometry4;

constexpr int columns = 12;  ///< of a propagator

/// What a thread needs for a row. All of it is there before the threads start: none of them can run out of memory.
struct RowScratch {
  std::vector<std::int64_t> index, next;   ///< places of the sites of this row, and of the one after it: [x]
  core::AlignedArray<double> ours, array;  ///< numbers of a row as we have them, and in the order of the array
  core::AlignedArray<double> vector;       ///< numbers of the sites that lie side by side

  RowScratch(std::int64_t length, std::int64_t numbers, std::int64_t lanes)
      : index(static_cast<std::size_t>(length)),
        next(static_cast<std::size_t>(length)),
        ours(length * numbers),
        array(length * numbers),
        vector(lanes * numbers) {}
};

/// Rows of a box beside an array whose sites have `numbers` numbers, of Real.
template <class Real>
class ArrayRows {
public:
  /// @param arrays  one after another, all of the same order
  ArrayRows(const SiteOrder& order, const Geometry4& geometry, std::int64_t numbers, int arrays)
      : geometry_(geometry),
        sites_(order, geometry),
        numbers_(numbers),
        length_(geometry.local()[0]),
        lanes_(lanes(order, sizeof(Real))),
        scattered_(order.sites == Sites::cache_blocks),
        x_of_(static_cast<std::size_t>(length_)),
        slot_(x_of_.size()) {
    std::iota(x_of_.begin(), x_of_.end(), 0);
    if (order.sites == Sites::even_odd) std::ranges::stable_partition(x_of_, [](auto x) { return x % 2 == 0; });
    for (std::size_t slot = 0; slot < x_of_.size(); ++slot)
      slot_[static_cast<std::size_t>(x_of_[slot])] = static_cast<std::int64_t>(slot);
    const auto threads = static_cast<std::size_t>(std::max(omp_get_max_threads(), 1));
    scratch_.reserve(threads);
    for (std::size_t thread = 0; thread < threads; ++thread) scratch_.emplace_back(length_, numbers * arrays, lanes_);
  }

  /// Calls work(number of the first site, scratch) for every row; threads share the rows.
  template <class Work>
  void for_each(const Work& work) {
    const auto& local = geometry_.local();
    const std::int64_t rows = local[1] * local[2] * local[3];
#pragma omp parallel num_threads(static_cast<int>(scratch_.size()))
    {
      RowScratch& scratch = scratch_[static_cast<std::size_t>(omp_get_thread_num())];
      std::int64_t ahead = -1;
#pragma omp for schedule(static)
      for (std::int64_t row = 0; row < rows; ++row) {
        if (ahead == row)
          std::swap(scratch.index, scratch.next);
        else
          fill(scratch.index, row);
        ahead = row + 1 < rows ? row + 1 : 0;
        if (scattered_) fill(scratch.next, ahead);
        if (!scattered_) ahead = -1;
        work(row * length_, scratch);
      }
      core::fence_streams();
    }
  }

  std::int64_t length() const noexcept { return length_; }

  /// The numbers of every site of a row: calls use(x, the numbers). Sites that lie side by side pass through `buffer`.
  template <class Use>
  void read(const Real* array, const RowScratch& scratch, Real* buffer, const Use& use) const {
    if (lanes_ > 1) {
      for (std::int64_t slot = 0; slot < length_; slot += lanes_)
        from_vector(buffer + slot * numbers_, array + scratch.index[at(slot)] * numbers_);
      for (std::int64_t x = 0; x < length_; ++x) use(x, buffer + slot_[static_cast<std::size_t>(x)] * numbers_);
      return;
    }
    for (std::int64_t x = 0; x < length_; ++x) {
      if (scattered_) ask(array + scratch.next[static_cast<std::size_t>(x)] * numbers_);
      use(x, array + scratch.index[static_cast<std::size_t>(x)] * numbers_);
    }
  }

  /// The place in `buffer` for the numbers of a site, until write().
  Real* place(Real* buffer, std::int64_t x) const { return buffer + slot_[static_cast<std::size_t>(x)] * numbers_; }

  /// A row of the buffer to the array.
  void write(Real* array, const RowScratch& scratch, const Real* buffer) const {
    if (lanes_ > 1) {
      auto* vector = reinterpret_cast<Real*>(const_cast<double*>(scratch.vector.data()));
      for (std::int64_t slot = 0; slot < length_; slot += lanes_) {
        to_vector(vector, buffer + slot * numbers_);
        copy_streaming(array + scratch.index[at(slot)] * numbers_, vector, lanes_ * numbers_);
      }
      return;
    }
    for (std::int64_t begin = 0, end = 0; begin < length_; begin = end) {
      const std::int64_t first = scratch.index[at(begin)];
      for (end = begin + 1; end < length_ && scratch.index[at(end)] == first + end - begin;) ++end;
      copy_streaming(array + first * numbers_, buffer + begin * numbers_, (end - begin) * numbers_);
    }
  }

private:
  std::size_t at(std::int64_t slot) const { return static_cast<std::size_t>(x_of_[static_cast<std::size_t>(slot)]); }

  void fill(std::vector<std::int64_t>& index, std::int64_t row) const {
    const auto& local = geometry_.local();
    sites_.fill_row(index.data(), row % local[1], row / local[1] % local[2], row / (local[1] * local[2]));
  }

  void ask(const Real* site) const {
    for (std::int64_t i = 0; i < numbers_; i += 64 / std::int64_t{sizeof(Real)}) prefetch(site + i);
  }

  /// [lane][number] from [number][lane].
  void from_vector(Real* to, const Real* from) const { transpose_into(to, from, numbers_, lanes_); }
  void to_vector(Real* to, const Real* from) const { transpose_into(to, from, lanes_, numbers_); }

  /// to[column][row] from from[row][column].
  static void transpose_into(Real* to, const Real* from, std::int64_t rows, std::int64_t row_length) {
    if (rows % side != 0 || row_length % side != 0) {
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < row_length; ++j) to[j * rows + i] = from[i * row_length + j];
      return;
    }
    for (std::int64_t i = 0; i < rows; i += side)
      for (std::int64_t j = 0; j < row_length; j += side) {
        Block<Real> block;
        for (int k = 0; k < side; ++k)
          block[static_cast<std::size_t>(k)] = Row<Real>::load(from + (i + k) * row_length + j);
        transpose(block);
        for (int k = 0; k < side; ++k) block[static_cast<std::size_t>(k)].store(to + (j + k) * rows + i);
      }
  }

  const Geometry4& geometry_;
  SiteIndex sites_;
  std::int64_t numbers_, length_, lanes_;
  bool scattered_;                         ///< neighbours along x are apart, which the hardware does not foresee
  std::vector<std::int64_t> x_of_, slot_;  ///< the row in the order of the array, and the inverse
  std::vector<RowScratch> scratch_;
};

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

HALOCLINE_INLINE void rotate_spins(double* to, const double* from, const SpinSums& sums) {
  for (const SpinSum& sum : sums.spins) {
    const double *a = from + colour_reals * sum.of[0], *b = from + colour_reals * sum.of[1];
    if (sum.count == 1)
      for (int i = 0; i < colour_reals; ++i) to[i] = sum.sign[0] * a[i] * sums.scale;
    else
      for (int i = 0; i < colour_reals; ++i) to[i] = (sum.sign[0] * a[i] + sum.sign[1] * b[i]) * sums.scale;
    to += colour_reals;
  }
}

/// One site of an array into ours.
template <int spins, class Real>
HALOCLINE_INLINE void load_site(double* ours, const Real* site, Inside inside, const SpinSums& sums) {
  if (spins == 1 || sums.plain) return spin_outside<spins>(ours, site, inside);
  SpinorNumbers numbers;
  spin_outside<spins>(numbers.data(), site, inside);
  rotate_spins(ours, numbers.data(), sums);
}
template <int spins, class Real>
HALOCLINE_INLINE void store_site(Real* site, const double* ours, Inside inside, const SpinSums& sums) {
  if (spins == 1 || sums.plain) return as_inside<spins>(site, ours, inside);
  SpinorNumbers numbers;
  rotate_spins(numbers.data(), ours, sums);
  as_inside<spins>(site, numbers.data(), inside);
}

template <int spins, class Real>
void load_spinors(double* canonical, const Real* spinor, const SpinorOrder& order, const Geometry4& geometry) {
  constexpr int numbers = colour_reals * spins;
  const SpinSums sums(*order.basis, true);
  ArrayRows<Real> rows(order.sites, geometry, numbers, 1);
  rows.for_each([&](std::int64_t site, RowScratch& scratch) {
    double* ours = scratch.ours.data();
    rows.read(spinor, scratch, reinterpret_cast<Real*>(scratch.array.data()), [&](std::int64_t x, const Real* from) {
      load_site<spins>(ours + x * numbers, from, order.inside, sums);
    });
    copy_streaming(canonical + site * numbers, ours, rows.length() * numbers);
  });
}

template <int spins, class Real>
void store_spinors(Real* spinor, const double* canonical, const SpinorOrder& order, const Geometry4& geometry) {
  constexpr int numbers = colour_reals * spins;
  const SpinSums sums(*order.basis, false);
  ArrayRows<Real> rows(order.sites, geometry, numbers, 1);
  rows.for_each([&](std::int64_t site, RowScratch& scratch) {
    auto* buffer = reinterpret_cast<Real*>(scratch.array.data());
    for (std::int64_t x = 0; x < rows.length(); ++x)
      store_site<spins>(rows.place(buffer, x), canonical + (site + x) * numbers, order.inside, sums);
    rows.write(spinor, scratch, buffer);
  });
}

/// The twelve columns of a site, each [spin][colour].
template <class Number>
using SiteColumns = std::array<Number*, columns>;

/// Both spins of a site: to(sink, source) is the sum of up to four of `from`.
void rotate_both(const SiteColumns<double>& to, const SiteColumns<const double>& from, const SpinSums& sums) {
  for (int source = 0; source < 4; ++source)
    for (int source_colour = 0; source_colour < colours; ++source_colour) {
      const SpinSum& outer = sums.spins[static_cast<std::size_t>(source)];
      double* out = to[static_cast<std::size_t>(colours * source + source_colour)];
      for (const SpinSum& inner : sums.spins) {
        std::array<double, colour_reals> total{};
        for (std::size_t i = 0; i < static_cast<std::size_t>(inner.count); ++i)
          for (std::size_t k = 0; k < static_cast<std::size_t>(outer.count); ++k) {
            const double sign = inner.sign[i] * outer.sign[k];
            const double* column = from[static_cast<std::size_t>(colours * outer.of[k] + source_colour)];
            for (std::size_t c = 0; c < colour_reals; ++c)
              total[c] += sign * column[static_cast<std::size_t>(colour_reals * inner.of[i]) + c];
          }
        for (std::size_t c = 0; c < colour_reals; ++c) out[c] = total[c] * sums.squared;
        out += colour_reals;
      }
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

/// Columns of one site of ours: rotated from those of the array, or as they are.
void settle(const SiteColumns<double>& to, const double* site, const SpinSums& sums) {
  if (!sums.plain) return rotate_both(to, columns_of(site, spinor_reals), sums);
  for (std::size_t i = 0; i < columns; ++i) std::copy_n(site + i * spinor_reals, spinor_reals, to[i]);
}

template <class Real>
void load_inside(measure::Propagator& s, const Real* propagator, const PropagatorOrder& order) {
  const SpinSums sums(*order.basis, true);
  const auto places = element_places(order.indices);
  ArrayRows<Real> rows(order.sites, s.geometry(), propagator_reals, 1);
  rows.for_each([&](std::int64_t site, RowScratch& scratch) {
    const std::int64_t stride = rows.length() * spinor_reals;
    rows.read(propagator, scratch, reinterpret_cast<Real*>(scratch.array.data()),
              [&](std::int64_t x, const Real* from) {
                std::array<double, propagator_reals> numbers;
                for (std::size_t i = 0; i < places.size(); ++i)
                  for (std::size_t part = 0; part < 2; ++part)
                    numbers[2 * i + part] = static_cast<double>(from[2 * static_cast<std::size_t>(places[i]) + part]);
                settle(columns_of(scratch.ours.data() + x * spinor_reals, stride), numbers.data(), sums);
              });
    for (int i = 0; i < columns; ++i)
      copy_streaming(reinterpret_cast<double*>(s.column(i / 3, i % 3).data()) + site * spinor_reals,
                     scratch.ours.data() + i * stride, stride);
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
  ArrayRows<Real> rows(order.sites, s.geometry(), propagator_reals, 1);
  rows.for_each([&](std::int64_t site, RowScratch& scratch) {
    auto* buffer = reinterpret_cast<Real*>(scratch.array.data());
    for (std::int64_t x = 0; x < rows.length(); ++x) {
      auto from = columns_at(s, site + x);
      std::array<double, propagator_reals> numbers;
      if (!sums.plain) {
        const auto rotated = columns_of(numbers.data(), spinor_reals);
        rotate_both(rotated, from, sums);
        from = constant(rotated);
      }
      Real* to = rows.place(buffer, x);
      for (std::size_t column = 0, i = 0; column < columns; ++column)
        for (std::size_t element = 0; element < spinor_components; ++element, ++i)
          for (std::size_t part = 0; part < 2; ++part)
            to[2 * static_cast<std::size_t>(places[i]) + part] = static_cast<Real>(from[column][2 * element + part]);
    }
    rows.write(propagator, scratch, buffer);
  });
}

/// Twelve spinors, one after another. Column by column they are spinors; a rotation needs all of them.
template <class Real>
void load_outside(measure::Propagator& s, const Real* propagator, const PropagatorOrder& order) {
  const SpinSums sums(*order.basis, true);
  ArrayRows<Real> rows(order.sites, s.geometry(), spinor_reals, columns);
  const std::int64_t whole = spinor_reals * s.geometry().local_volume();
  rows.for_each([&](std::int64_t site, RowScratch& scratch) {
    const std::int64_t stride = rows.length() * spinor_reals;
    for (int i = 0; i < columns; ++i)
      rows.read(propagator + i * whole, scratch, reinterpret_cast<Real*>(scratch.array.data()),
                [&](std::int64_t x, const Real* from) {
                  spin_outside<4>(scratch.ours.data() + i * stride + x * spinor_reals, from, order.inside);
                });
    if (!sums.plain)
      for (std::int64_t x = 0; x < rows.length(); ++x) {
        std::array<double, propagator_reals> numbers;
        const auto there = columns_of(scratch.ours.data() + x * spinor_reals, stride);
        for (std::size_t i = 0; i < columns; ++i)
          std::copy_n(there[i], spinor_reals, numbers.begin() + i * spinor_reals);
        settle(there, numbers.data(), sums);
      }
    for (int i = 0; i < columns; ++i)
      copy_streaming(reinterpret_cast<double*>(s.column(i / 3, i % 3).data()) + site * spinor_reals,
                     scratch.ours.data() + i * stride, stride);
  });
}

template <class Real>
void store_outside(Real* propagator, const measure::Propagator& s, const PropagatorOrder& order) {
  const SpinSums sums(*order.basis, false);
  ArrayRows<Real> rows(order.sites, s.geometry(), spinor_reals, columns);
  const std::int64_t whole = spinor_reals * s.geometry().local_volume();
  rows.for_each([&](std::int64_t site, RowScratch& scratch) {
    const std::int64_t stride = rows.length() * spinor_reals;
    auto* buffer = reinterpret_cast<Real*>(scratch.array.data());
    for (std::int64_t x = 0; x < rows.length(); ++x) {
      auto from = columns_at(s, site + x);
      std::array<double, propagator_reals> numbers;
      if (!sums.plain) {
        const auto rotated = columns_of(numbers.data(), spinor_reals);
        rotate_both(rotated, from, sums);
        from = constant(rotated);
      }
      for (std::size_t i = 0; i < columns; ++i)
        as_inside<4>(rows.place(buffer + static_cast<std::int64_t>(i) * stride, x), from[i], order.inside);
    }
    for (int i = 0; i < columns; ++i) rows.write(propagator + i * whole, scratch, buffer + i * stride);
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
