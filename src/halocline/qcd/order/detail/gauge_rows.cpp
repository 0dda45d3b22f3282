// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/order/detail/gauge_rows.hpp"

#include <algorithm>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/qcd/order/detail/link_numbers.hpp"
#include "halocline/qcd/order/detail/odd_site_links.hpp"
#include "halocline/qcd/order/detail/site_index.hpp"
#include "halocline/qcd/order/detail/thread_scratch.hpp"
#include "halocline/qcd/order/detail/transpose.hpp"

namespace halocline::qcd::order::detail {
namespace {

using lattice::Coordinates;
using lattice::Geometry4;

/// What a thread needs for a row.
struct Scratch {
  std::vector<std::int64_t> index;    ///< of each x
  std::vector<std::int64_t> place;    ///< [mu][x]
  std::vector<double> factor;         ///< [mu][x]
  core::AlignedArray<double> buffer;  ///< 72 numbers of each site, of Real
};

/// The row that is at work, and how its sites lie in the array.
template <class Real>
class Rows {
public:
  Rows(const GaugeOrder& order, const Geometry4& geometry)
      : order_(order),
        geometry_(geometry),
        sites_(order.sites, geometry),
        lanes_(lanes(order.sites, sizeof(Real))),
        trivial_(has_no_factors(order)),
        component_(link_components(order.transposed)) {}

  /// Calls work(local coordinates of x = 0, scratch) for every row, and lets threads share the rows.
  template <class Work>
  void for_each_row(const Work& work) const {
    const auto& local = geometry_.local();
    const std::int64_t rows = local[1] * local[2] * local[3];
    const auto length = static_cast<std::size_t>(local[0]);
    ThreadScratch<Scratch> threads([&] {
      return Scratch{std::vector<std::int64_t>(length), std::vector<std::int64_t>(4 * length),
                     std::vector<double>(4 * length, 1.0), core::AlignedArray<double>(local[0] * gauge_reals)};
    });
    threads.for_each(rows, [&](std::int64_t row, Scratch& scratch) {
      const Coordinates<4> x = coordinates(row);
      sites_.fill_row(scratch.index.data(), x[1], x[2], x[3]);
      work(x, scratch);
    });
  }

  std::int64_t length() const noexcept { return geometry_.local()[0]; }
  int lanes_of() const noexcept { return lanes_; }
  bool trivial() const noexcept { return trivial_; }
  int component(int number) const noexcept { return component_[static_cast<std::size_t>(number)]; }

  /// Where the links of a row begin, from the origins of their directions.
  void fill_places(Scratch& scratch) const {
    const std::int64_t half = sites_.half();
    for (int mu = 0; mu < 4; ++mu)
      for (std::int64_t x = 0; x < length(); ++x) {
        const std::int64_t site = scratch.index[static_cast<std::size_t>(x)];
        std::int64_t& place = scratch.place[static_cast<std::size_t>(mu * length() + x)];
        switch (order_.directions) {
        case Directions::inside:
          place = place_of(site, gauge_reals, lanes_) + link_reals * mu * lanes_;
          break;
        case Directions::outside:  // the array of the direction has its own origin
          place = place_of(site, link_reals, lanes_);
          break;
        case Directions::in_each_half:
          place = place_of(site + (site < half ? mu : 3 + mu) * half, link_reals, lanes_);
          break;
        case Directions::around_odd_sites:
          break;  // odd_site_links.hpp
        }
      }
  }

  /// The factors of the links of a row. @param divide  their inverses
  void fill_factors(Scratch& scratch, const Coordinates<4>& row, bool divide) const {
    if (trivial_) return;
    for (int mu = 0; mu < 4; ++mu)
      fill_link_factors(scratch.factor.data() + mu * length(), order_, geometry_, row, mu, divide);
  }

private:
  Coordinates<4> coordinates(std::int64_t row) const noexcept {
    const auto& local = geometry_.local();
    return {0, row % local[1], row / local[1] % local[2], row / (local[1] * local[2])};
  }

  const GaugeOrder& order_;
  const Geometry4& geometry_;
  SiteIndex sites_;
  int lanes_;
  bool trivial_;
  LinkComponents component_;
};

/// Eight consecutive x of a row, the last eight where fewer are left.
std::int64_t begin_of(std::int64_t octet, std::int64_t length) { return std::min(octet * side, length - side); }

/// `count` numbers of every site of a row, which lie side by side in the array. @param ahead  distance to the
/// next row, which is asked for
template <int count, class Real>
void load_sites(double* row, std::int64_t stride, const Real* links, const Rows<Real>& rows, const Scratch& scratch,
                int first, std::int64_t ahead) {
  const std::int64_t* places = scratch.place.data() + first / link_reals * rows.length();
  for (std::int64_t octet = 0; octet * side < rows.length(); ++octet) {
    const std::int64_t x = begin_of(octet, rows.length());
    const std::int64_t* place = places + x;
    const double* factors = scratch.factor.data() + x;
    double* to = row + x;
    const bool whole_lines = begins_line(to);
    for (const int begin : block_begins<count>) {
      Block<Moved<Real>> block;
      for (std::size_t j = 0; j < side; ++j) {
        prefetch(links + place[j] + ahead + begin);
        block[j] = load_row<Moved<Real>>(links + place[j] + begin);
      }
      transpose(block);
      for (int k = 0; k < side; ++k) {
        const int number = first + begin + k;
        auto values = converted<double>(block[static_cast<std::size_t>(k)]);
        if (!rows.trivial()) values *= Row<double>::load(factors + number / link_reals * rows.length());
        double* numbers = to + rows.component(number) * stride;
        put_row(numbers, values, whole_lines);
      }
    }
  }
}

/// One direction of a row of an order that keeps sites side by side.
template <class Real>
void load_lanes(double* row, std::int64_t stride, const Real* links, const Rows<Real>& rows, const Scratch& scratch,
                int mu, bool zipped, std::int64_t ahead) {
  for (std::int64_t x = 0; x < rows.length(); x += zipped ? 2 * side : side) {
    const std::int64_t* place = scratch.place.data() + mu * rows.length() + x;
    const double* factors = scratch.factor.data() + mu * rows.length() + x;
    for (int number = 0; number < link_reals; ++number) {
      double* to = row + rows.component(link_reals * mu + number) * stride + x;
      prefetch(links + place[0] + number * rows.lanes_of() + ahead);
      auto values = load_row<double>(links + place[0] + number * rows.lanes_of());
      if (zipped) {
        prefetch(links + place[1] + number * rows.lanes_of() + ahead);
        auto [low, high] = zip(values, load_row<double>(links + place[1] + number * rows.lanes_of()));
        if (!rows.trivial()) high *= Row<double>::load(factors + side);
        put_row(to + side, high, begins_line(to));
        values = low;
      }
      if (!rows.trivial()) values *= Row<double>::load(factors);
      put_row(to, values, begins_line(to));
    }
  }
}

/// Lines of the next row of the field, one after another, to be asked for while this one is written.
template <class Real>
class NextRow {
public:
  /// @param numbers  of each site, from the first one on
  NextRow(const double* row, std::int64_t stride, const Rows<Real>& rows, int first, int numbers)
      : next_(row + (gauge_reals + first) * stride),
        end_(next_ + numbers * stride),
        length_(rows.length()),
        stride_(stride) {}

  /// As many lines as belong to a line of the array.
  void ask() {
    for (std::size_t i = 0; i < sizeof(double) / sizeof(Real) && next_ < end_; ++i) {
      prefetch(next_ + x_);
      x_ += side;
      if (x_ < length_) continue;
      x_ = 0;
      next_ += stride_;
    }
  }

private:
  const double *next_, *end_;
  std::int64_t length_, stride_, x_ = 0;
};

/// The way back, through a buffer of whole vectors: two of them where both parities are unzipped.
template <class Real>
void store_lanes(Real* links, const double* row, std::int64_t stride, const Rows<Real>& rows, Scratch& scratch, int mu,
                 bool zipped) {
  const std::int64_t lanes = rows.lanes_of(), sites = zipped ? 2 * lanes : lanes;
  auto* buffer = reinterpret_cast<Real*>(scratch.buffer.data());
  NextRow<Real> next(row, stride, rows, link_reals * mu, link_reals);
  const auto ask = [&next] { next.ask(); };
  for (std::int64_t x = 0; x < rows.length(); x += sites) {
    const double* factors = scratch.factor.data() + mu * rows.length() + x;
    for (int number = 0; number < link_reals; ++number) {
      const double* from = row + rows.component(link_reals * mu + number) * stride + x;
      Real* to = buffer + number * lanes;
      for (std::int64_t i = 0; i < sites; i += zipped ? 2 * side : side) {
        prefetch(from + i + gauge_reals * stride);  // the next row, here and again while this one is written
        auto values = Row<double>::load(from + i);
        if (!rows.trivial()) values *= Row<double>::load(factors + i);
        if (!zipped) {
          store_row<Real>(to + i, values);
          continue;
        }
        prefetch(from + i + side + gauge_reals * stride);
        auto others = Row<double>::load(from + i + side);
        if (!rows.trivial()) others *= Row<double>::load(factors + i + side);
        const auto parts = unzip(values, others);
        store_row<Real>(to + i / 2, parts[0]);
        store_row<Real>(to + link_reals * lanes + i / 2, parts[1]);
      }
    }
    const std::int64_t* place = scratch.place.data() + mu * rows.length() + x;
    copy_streaming(links + place[0], buffer, link_reals * lanes, ask);
    if (zipped) copy_streaming(links + place[1], buffer + link_reals * lanes, link_reals * lanes, ask);
  }
}

/// When the next row of the field is asked for: while this one is read, while it is written, or both. Measured: 72
/// numbers of a site gain from both, a fifth for doubles and a third for floats; 18 lose by it.
template <int count, class Real>
constexpr bool asks_while_read = count == gauge_reals || sizeof(Real) == sizeof(float);
template <int count, class Real>
constexpr bool asks_while_written = count == gauge_reals || sizeof(Real) == sizeof(double);

/// `count` numbers of every site of a row into the buffer [x][count]; `step` 2: even x first, then odd x.
template <int count, class Real>
void gather_sites(Real* buffer, const double* row, std::int64_t stride, const Rows<Real>& rows, const Scratch& scratch,
                  int first, int step) {
  const std::int64_t length = rows.length();
  for (const int begin : block_begins<count>)
    for (std::int64_t octet = 0; octet * side < length; ++octet) {
      const std::int64_t x = begin_of(octet, length);
      Block<Moved<Real>> block;
      for (int k = 0; k < side; ++k) {
        const int number = first + begin + k;
        const double* numbers = row + x + rows.component(number) * stride;
        if constexpr (asks_while_read<count, Real>) prefetch(numbers + gauge_reals * stride);
        auto values = Row<double>::load(numbers);
        if (!rows.trivial()) values *= Row<double>::load(scratch.factor.data() + number / link_reals * length + x);
        block[static_cast<std::size_t>(k)] = converted<Moved<Real>>(values);
      }
      transpose(block);
      for (std::int64_t j = 0; j < side; ++j) {
        const std::int64_t at = step == 1 ? x + j : ((x + j) & 1) * (length / 2) + (x + j) / 2;
        store_row<Real>(buffer + at * count + begin, block[static_cast<std::size_t>(j)]);
      }
    }
}

/// A row of sites through the buffer to its places: one piece of the whole row, or its two halves.
template <int count, class Real>
void store_sites(Real* links, const double* row, std::int64_t stride, const Rows<Real>& rows, Scratch& scratch,
                 int first, const SiteOrder& order) {
  auto* buffer = reinterpret_cast<Real*>(scratch.buffer.data());
  const std::int64_t length = rows.length();
  gather_sites<count>(buffer, row, stride, rows, scratch, first, order.sites == Sites::even_odd ? 2 : 1);
  const std::int64_t* place = scratch.place.data() + first / link_reals * length;
  [[maybe_unused]] NextRow<Real> next(row, stride, rows, first, count);
  const auto ask = [&] {
    if constexpr (asks_while_written<count, Real>) next.ask();
  };
  if (order.sites == Sites::lexicographic) return copy_streaming(links + place[0], buffer, length * count, ask);
  const std::int64_t half = length / 2;
  copy_streaming(links + place[0], buffer, half * count, ask);
  copy_streaming(links + place[order.sites == Sites::even_odd ? 1 : half], buffer + half * count, half * count, ask);
}

}  // namespace

bool suits_packs(const SiteOrder& order, const Geometry4& geometry, std::size_t number_bytes) {
  return geometry.local()[0] >= side && (lanes(order, number_bytes) == 1 || lanes(order, number_bytes) % side == 0);
}

template <class Real>
void load_rows(GaugeField& u, const std::array<const Real*, 4>& links, const GaugeOrder& order) {
  if (order.directions == Directions::around_odd_sites) return load_odd_sites(u, links[0], order);
  const Rows<Real> rows(order, u.geometry());
  const std::int64_t stride = u.field().component_stride();
  // Sites of a row that follow each other in the array.
  const std::int64_t run = order.sites.sites == Sites::lexicographic ? rows.length() : rows.length() / 2;
  rows.for_each_row([&](const Coordinates<4>& x, Scratch& scratch) {
    double* row = u.field().data() + u.link_offset(x, 0);
    rows.fill_factors(scratch, x, true);
    rows.fill_places(scratch);
    if (order.directions == Directions::inside && rows.lanes_of() == 1)
      return load_sites<gauge_reals>(row, stride, links[0], rows, scratch, 0, run * gauge_reals);
    for (int mu = 0; mu < 4; ++mu) {
      const Real* of_direction = links[static_cast<std::size_t>(mu)];
      if (rows.lanes_of() == 1)
        load_sites<link_reals>(row, stride, of_direction, rows, scratch, link_reals * mu, run * link_reals);
      else
        load_lanes(row, stride, of_direction, rows, scratch, mu, order.sites.sites == Sites::even_odd,
                   run * link_reals);
    }
  });
}

template <class Real>
void store_rows(const std::array<Real*, 4>& links, const GaugeField& u, const GaugeOrder& order) {
  if (order.directions == Directions::around_odd_sites) return store_odd_sites(links[0], u, order);
  const Rows<Real> rows(order, u.geometry());
  const std::int64_t stride = u.field().component_stride();
  rows.for_each_row([&](const Coordinates<4>& x, Scratch& scratch) {
    const double* row = u.field().data() + u.link_offset(x, 0);
    rows.fill_factors(scratch, x, false);
    rows.fill_places(scratch);
    if (order.directions == Directions::inside && rows.lanes_of() == 1)
      return store_sites<gauge_reals>(links[0], row, stride, rows, scratch, 0, order.sites);
    for (int mu = 0; mu < 4; ++mu) {
      Real* of_direction = links[static_cast<std::size_t>(mu)];
      if (rows.lanes_of() == 1)
        store_sites<link_reals>(of_direction, row, stride, rows, scratch, link_reals * mu, order.sites);
      else
        store_lanes(of_direction, row, stride, rows, scratch, mu, order.sites.sites == Sites::even_odd);
    }
  });
}

template void load_rows(GaugeField&, const std::array<const float*, 4>&, const GaugeOrder&);
template void load_rows(GaugeField&, const std::array<const double*, 4>&, const GaugeOrder&);
template void store_rows(const std::array<float*, 4>&, const GaugeField&, const GaugeOrder&);
template void store_rows(const std::array<double*, 4>&, const GaugeField&, const GaugeOrder&);

}  // namespace halocline::qcd::order::detail
