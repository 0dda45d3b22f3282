// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/order/detail/odd_site_links.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/qcd/order/detail/link_numbers.hpp"
#include "halocline/qcd/order/detail/site_index.hpp"
#include "halocline/qcd/order/detail/thread_scratch.hpp"
#include "halocline/qcd/order/detail/transpose.hpp"

namespace halocline::qcd::order::detail {
namespace {

using lattice::Coordinates;
using lattice::Geometry4;

constexpr int slots = 8;  ///< links of an odd site: +t -t +x -x +y -y +z -z
constexpr int site_numbers = slots * link_reals;

/// The slot of the link in direction mu that begins at the odd site, or ends there.
constexpr int slot_of(int mu, bool begins) { return 2 * ((mu + 1) % 4) + (begins ? 0 : 1); }

/// One link of every second site of a row, [number][x / 2], which another row needs.
template <class Real>
struct Waiting {
  std::int64_t row = -1;  ///< the number of the row that has these links; -1: none
  core::AlignedArray<Moved<Real>> links;
};

/// What a thread needs.
template <class Real>
struct BundleScratch {
  std::vector<std::int64_t> place, later;                  ///< of odd sites, in this row; in the next one (loads)
  std::vector<double> factor;                              ///< of each x
  core::AlignedArray<Moved<Real>> around;                  ///< [slot][number][x / 2]
  std::array<std::vector<Waiting<Real>>, 4> waiting;       ///< in directions y z t, for the rows of a bundle
  std::array<core::AlignedArray<Moved<Real>>, 4> fresh;    ///< links that will wait, in directions y z t
  std::array<Moved<Real>*, site_numbers> number{};         ///< where the numbers of the odd sites are, [x / 2]
  std::array<Moved<Real>, link_reals> before{};            ///< the link at x = -1
  std::array<Real, std::size_t{side} * site_numbers> out;  ///< eight odd sites of the array
};

/// Rows of x, in bundles along y and z. In a bundle y is fastest, then z, then t.
template <class Real>
class Bundles {
public:
  Bundles(const GaugeOrder& order, const Geometry4& geometry)
      : order_(order),
        geometry_(geometry),
        sites_(order.sites, geometry),
        component_(link_components(order.transposed)),
        plain_(has_no_factors(order)),
        length_(geometry.local()[0]),
        width_{1, cache_block_extent(geometry.local()[1]), cache_block_extent(geometry.local()[2]),
               geometry.local()[3]} {}

  /// Calls work(row, row after it, scratch); threads share the rows. @param down  from the last row to the first
  template <class Work>
  void for_each_row(bool down, const Work& work) const {
    const auto& local = geometry_.local();
    const std::int64_t rows = local[1] * local[2] * local[3];
    ThreadScratch<BundleScratch<Real>> threads([&] { return made_scratch(); });
    threads.for_each(rows, [&](std::int64_t row, BundleScratch<Real>& scratch) {
      const std::int64_t next = std::min(row + 1, rows - 1);
      work(coordinates(down ? rows - 1 - row : row), coordinates(down ? rows - 1 - next : next), scratch);
    });
  }

  /// The row next to this one, one step along an axis; the row on the other side of the box where that is the end.
  Coordinates<4> neighbour(Coordinates<4> row, int axis, std::int64_t step) const noexcept {
    const auto a = static_cast<std::size_t>(axis);
    row[a] = (row[a] + step + geometry_.local()[a]) % geometry_.local()[a];
    return row;
  }
  std::int64_t number(const Coordinates<4>& row) const noexcept {
    return lattice::linear_index<4>({0, row[1], row[2], row[3]}, geometry_.local());
  }
  /// The links in direction mu that wait for this row.
  Waiting<Real>& waiting_for(BundleScratch<Real>& scratch, const Coordinates<4>& row, int mu) const {
    const std::int64_t y = row[1] % width_[1], z = row[2] % width_[2];
    const std::array<std::int64_t, 4> place{0, 0, y, y + width_[1] * z};
    const auto axis = static_cast<std::size_t>(mu);
    return scratch.waiting[axis][static_cast<std::size_t>(place[axis])];
  }
  /// Whether the neighbour on this side is not of the bundle.
  bool at_edge(const Coordinates<4>& row, int mu, std::int64_t step) const noexcept {
    const auto a = static_cast<std::size_t>(mu);
    return row[a] % width_[a] == (step > 0 ? width_[a] - 1 : 0);
  }

  /// Where the odd sites of a row are in the array. @return x of the first one, 0 or 1
  std::int64_t fill_places(std::vector<std::int64_t>& places, const Coordinates<4>& row) const {
    sites_.fill_row(places.data(), row[1], row[2], row[3]);
    const std::int64_t odd = places[0] >= sites_.half() ? 0 : 1;
    for (std::int64_t k = 0; k < half(); ++k)
      places[static_cast<std::size_t>(k)] =
          (places[static_cast<std::size_t>(2 * k + odd)] - sites_.half()) * site_numbers;
    // A row of fewer than eight has its last site again.
    for (std::int64_t k = half(); k < side; ++k)
      places[static_cast<std::size_t>(k)] = places[static_cast<std::size_t>(half() - 1)];
    return odd;
  }

  void fill_factors(BundleScratch<Real>& scratch, const Coordinates<4>& row, int mu, bool divide) const {
    if (!plain_) fill_link_factors(scratch.factor.data(), order_, geometry_, row, mu, divide);
  }

  double factor(const Coordinates<4>& x, int mu) const { return link_factor(order_, geometry_, x, mu); }

  /// Sites of a row, and of one parity.
  std::int64_t length() const noexcept { return length_; }
  std::int64_t half() const noexcept { return length_ / 2; }
  /// Distance of the numbers in buffers.
  std::int64_t stride() const noexcept { return (std::max<std::int64_t>(half(), side) + side - 1) / side * side; }
  /// Eight sites of a parity at a time. The last eight overlap others where needed.
  std::int64_t octets() const noexcept { return (half() + side - 1) / side; }
  std::int64_t begin_of(std::int64_t octet) const noexcept {
    return std::max<std::int64_t>(0, std::min(octet * side, half() - side));
  }

  const Geometry4& geometry() const noexcept { return geometry_; }
  bool plain() const noexcept { return plain_; }
  int component(int mu, int number) const { return component_[static_cast<std::size_t>(link_reals * mu + number)]; }

private:
  Coordinates<4> coordinates(std::int64_t row) const noexcept {
    const auto part = [&row](std::int64_t extent) {
      const std::int64_t x = row % extent;
      row /= extent;
      return x;
    };
    const std::int64_t y = part(width_[1]), z = part(width_[2]), t = part(width_[3]);
    const std::int64_t bundle_y = part(geometry_.local()[1] / width_[1]);
    return {0, bundle_y * width_[1] + y, row * width_[2] + z, t};
  }

  BundleScratch<Real> made_scratch() const {
    BundleScratch<Real> scratch;
    // Loads of eight numbers pass the end by one site at most.
    const core::AlignedArray<Moved<Real>> link(link_reals * stride() + side);
    scratch.place.resize(static_cast<std::size_t>(length()));
    scratch.later.resize(static_cast<std::size_t>(length()));
    scratch.factor.resize(static_cast<std::size_t>(length() + side), 1.0);
    scratch.around = core::AlignedArray<Moved<Real>>(site_numbers * stride() + side);
    const std::array<std::int64_t, 4> rows{0, 1, width_[1], width_[1] * width_[2]};
    for (std::size_t mu = 1; mu < 4; ++mu) {
      scratch.waiting[mu].assign(static_cast<std::size_t>(rows[mu]), Waiting<Real>{-1, link});
      scratch.fresh[mu] = link;
    }
    return scratch;
  }

  const GaugeOrder& order_;
  const Geometry4& geometry_;
  SiteIndex sites_;
  LinkComponents component_;
  bool plain_;
  std::int64_t length_;
  Coordinates<4> width_;  ///< of bundles
};

/// Where the 144 numbers of the odd sites are: in `around`, unless another buffer has them.
/// @param ends_in  buffers of the links in directions x y z t that end at the odd sites; null: they are in `around`
template <class Real>
void point_at_numbers(BundleScratch<Real>& scratch, std::int64_t stride, const std::array<Moved<Real>*, 4>& ends_in) {
  for (int mu = 0; mu < 4; ++mu)
    for (const bool begins : {true, false}) {
      const int slot = slot_of(mu, begins);
      auto* link = !begins && ends_in[static_cast<std::size_t>(mu)] != nullptr
                       ? ends_in[static_cast<std::size_t>(mu)]
                       : scratch.around.data() + slot * link_reals * stride;
      for (int number = 0; number < link_reals; ++number)
        scratch.number[static_cast<std::size_t>(slot * link_reals + number)] = link + number * stride;
    }
}

/// The first `count` of eight numbers of a row. `count` is even; what lies after the end of a row is ghosts and
/// padding.
void put_part(double* to, const Row<double>& row, std::int64_t count) {
  if (count >= side) return put_row(to, row, begins_line(to));
  const auto pair = [&row]<int lane>(std::integral_constant<int, lane>) {
    return core::Pack<double, 2>(__builtin_shufflevector(row.v, row.v, lane, lane + 1));
  };
  if (count > 0) pair(std::integral_constant<int, 0>{}).store(to);
  if (count > 2) pair(std::integral_constant<int, 2>{}).store(to + 2);
  if (count > 4) pair(std::integral_constant<int, 4>{}).store(to + 4);
}

template <class Real>
class Loader {
  using Number = Moved<Real>;

public:
  Loader(GaugeField& u, const Real* links, const GaugeOrder& order)
      : u_(u), links_(links), rows_(order, u.geometry()), stride_(rows_.stride()) {}

  void operator()() const {
    rows_.for_each_row(true, [&](const Coordinates<4>& row, const Coordinates<4>& next, BundleScratch<Real>& scratch) {
      const std::int64_t odd = rows_.fill_places(scratch.place, row);
      rows_.fill_places(scratch.later, next);
      point_at_numbers(scratch, stride_,
                       {nullptr, scratch.fresh[1].data(), scratch.fresh[2].data(), scratch.fresh[3].data()});
      for (std::int64_t octet = 0; octet < rows_.octets(); ++octet) read_sites(scratch, rows_.begin_of(octet));
      for (int mu = 0; mu < 4; ++mu) {
        const Number* own = scratch.number[static_cast<std::size_t>(slot_of(mu, true) * link_reals)];
        const Number* others =
            mu == 0 ? scratch.number[slot_of(0, false) * link_reals] : links_from_above(scratch, row, mu);
        rows_.fill_factors(scratch, row, mu, true);
        write_row(row, mu, own, others, odd, scratch);
        if (mu == 0) continue;
        Waiting<Real>& waiting = rows_.waiting_for(scratch, row, mu);
        std::swap(waiting.links, scratch.fresh[static_cast<std::size_t>(mu)]);
        waiting.row = rows_.number(row);
        if (rows_.at_edge(next, mu, 1)) ask_for_links_above(scratch, next, mu);
      }
    });
  }

private:
  /// All links of eight odd sites of a row. Asks for those of the next row.
  void read_sites(BundleScratch<Real>& scratch, std::int64_t k) const {
    const std::int64_t *place = scratch.place.data() + k, *later = scratch.later.data() + k;
    for (int begin = 0; begin < site_numbers; begin += side) {
      Block<Number> block;
      for (std::size_t j = 0; j < side; ++j) {
        prefetch(links_ + later[j] + begin);
        block[j] = load_row<Number>(links_ + place[j] + begin);
      }
      transpose(block);
      for (std::size_t i = 0; i < side; ++i) block[i].store(scratch.number[static_cast<std::size_t>(begin) + i] + k);
    }
  }

  /// The links of the even sites: those that end at the odd sites of the row above. Links that another
  /// process holds get other values here, and their own from return_links (face_links.hpp).
  const Number* links_from_above(BundleScratch<Real>& scratch, const Coordinates<4>& row, int mu) const {
    const Coordinates<4> above = rows_.neighbour(row, mu, 1);
    Waiting<Real>& waiting = rows_.waiting_for(scratch, row, mu);
    if (waiting.row == rows_.number(above)) return waiting.links.data();
    waiting.row = rows_.number(above);
    rows_.fill_places(scratch.place, above);
    for (std::int64_t octet = 0; octet < rows_.octets(); ++octet) {
      const std::int64_t k = rows_.begin_of(octet);
      for (const int begin : block_begins<link_reals>) {
        Block<Number> block;
        for (std::size_t j = 0; j < side; ++j)
          block[j] = load_row<Number>(links_ + scratch.place[static_cast<std::size_t>(k) + j] +
                                      slot_of(mu, false) * link_reals + begin);
        transpose(block);
        for (int i = 0; i < side; ++i)
          block[static_cast<std::size_t>(i)].store(waiting.links.data() + (begin + i) * stride_ + k);
      }
    }
    return waiting.links.data();
  }
  void ask_for_links_above(BundleScratch<Real>& scratch, const Coordinates<4>& row, int mu) const {
    rows_.fill_places(scratch.place, rows_.neighbour(row, mu, 1));
    for (std::int64_t k = 0; k < rows_.half(); ++k) {
      const Real* link = links_ + scratch.place[static_cast<std::size_t>(k)] + slot_of(mu, false) * link_reals;
      for (const int begin : block_begins<link_reals>) prefetch(link + begin);
      prefetch(link + link_reals - 1);
    }
  }

  /// @param own     links that begin at the odd sites of the row
  /// @param others  links that end at the odd sites above its even sites
  void write_row(const Coordinates<4>& row, int mu, const Number* own, const Number* others, std::int64_t odd,
                 const BundleScratch<Real>& scratch) const {
    if (odd == 1)
      write_pairs<false>(row, mu, others, own, scratch);
    else if (mu == 0)
      write_pairs<true>(row, mu, own, others, scratch);
    else
      write_pairs<false>(row, mu, own, others, scratch);
  }
  /// @tparam shifted  the odd x = 2 k + 1 has number k + 1: the even site 2 k + 1 has its link at the odd site 2 k + 2
  template <bool shifted>
  void write_pairs(const Coordinates<4>& row, int mu, const Number* at_even_x, const Number* at_odd_x,
                   const BundleScratch<Real>& scratch) const {
    const std::int64_t octets = rows_.octets(), half = rows_.half();
    const bool plain = rows_.plain();
    const double* factor = scratch.factor.data();
    double* first = u_.field().data() + u_.link_offset(row, 0);
    for (int number = 0; number < link_reals; ++number) {
      double* to = first + rows_.component(mu, number) * u_.field().component_stride();
      const Number *even = at_even_x + number * stride_, *odd = at_odd_x + number * stride_;
      for (std::int64_t octet = 0; octet < octets; ++octet) {
        const std::int64_t k = rows_.begin_of(octet);
        auto of_odd = Row<Number>::load(odd + k + (shifted ? 1 : 0));
        if (shifted && octet + 1 == octets) of_odd.set(static_cast<int>(half - k) - 1, odd[0]);
        const auto pairs = zip(Row<Number>::load(even + k), of_odd);
        auto low = converted<double>(pairs[0]), high = converted<double>(pairs[1]);
        if (!plain) {
          low *= Row<double>::load(factor + 2 * k);
          high *= Row<double>::load(factor + 2 * k + side);
        }
        const bool already_there = 2 * k + side <= 2 * side * octet;  // where the last octet overlaps
        if (!already_there) put_row(to + 2 * k, low, begins_line(to + 2 * k));
        put_part(to + 2 * k + side, high, 2 * (half - k) - side);
      }
    }
  }

  GaugeField& u_;
  const Real* links_;
  Bundles<Real> rows_;
  std::int64_t stride_;
};

template <class Real>
class Storer {
  using Number = Moved<Real>;

public:
  Storer(Real* links, const GaugeField& u, const GaugeOrder& order)
      : links_(links), u_(u), rows_(order, u.geometry()), stride_(rows_.stride()) {}

  void operator()() const {
    rows_.for_each_row(false, [&](const Coordinates<4>& row, const Coordinates<4>& next, BundleScratch<Real>& scratch) {
      const std::int64_t odd = rows_.fill_places(scratch.place, row);
      std::array<Number*, 4> below{};
      for (int mu = 1; mu < 4; ++mu) below[static_cast<std::size_t>(mu)] = links_from_below(scratch, row, mu, odd);
      point_at_numbers(scratch, stride_, below);
      for (int mu = 0; mu < 4; ++mu) {
        Number* own = scratch.number[static_cast<std::size_t>(slot_of(mu, true) * link_reals)];
        Number* others = mu == 0 ? scratch.number[slot_of(0, false) * link_reals]
                                 : scratch.fresh[static_cast<std::size_t>(mu)].data();
        rows_.fill_factors(scratch, row, mu, false);
        const std::int64_t ahead = rows_.at_edge(next, mu, -1) ? distance(row, rows_.neighbour(next, mu, -1)) : 0;
        read_row(row, mu, odd == 0 ? own : others, odd == 0 ? others : own, scratch, ahead);
      }
      if (odd == 0) read_link_before(scratch, row);
      for (std::int64_t octet = 0; octet < rows_.octets(); ++octet)
        write_sites(scratch, rows_.begin_of(octet), odd, numbers_of(next) + 2 * side * octet);
      for (int mu = 1; mu < 4; ++mu) {
        Waiting<Real>& waiting = rows_.waiting_for(scratch, row, mu);
        std::swap(waiting.links, scratch.fresh[static_cast<std::size_t>(mu)]);
        waiting.row = rows_.number(row);
      }
    });
  }

private:
  const double* numbers_of(const Coordinates<4>& row) const { return u_.field().data() + u_.link_offset(row, 0); }
  std::int64_t distance(const Coordinates<4>& row, const Coordinates<4>& other) const {
    return numbers_of(other) - numbers_of(row);
  }
  std::int64_t component(int mu, int number) const {
    return rows_.component(mu, number) * u_.field().component_stride();
  }

  /// The links in direction mu of a row, those at even and at odd x apart.
  /// @param ahead  distance to numbers that are asked for, or 0
  void read_row(const Coordinates<4>& row, int mu, Number* at_even_x, Number* at_odd_x,
                const BundleScratch<Real>& scratch, std::int64_t ahead) const {
    const std::int64_t octets = rows_.octets();
    const bool plain = rows_.plain();
    const double *factor = scratch.factor.data(), *first = numbers_of(row);
    for (int number = 0; number < link_reals; ++number) {
      const double* from = first + component(mu, number);
      Number *even = at_even_x + number * stride_, *odd = at_odd_x + number * stride_;
      for (std::int64_t octet = 0; octet < octets; ++octet) {
        const std::int64_t k = rows_.begin_of(octet);
        auto low = Row<double>::load(from + 2 * k);
        auto high = Row<double>::load(from + 2 * k + side);
        if (ahead != 0) {
          prefetch(from + 2 * k + ahead);
          prefetch(from + 2 * k + side + ahead);
        }
        if (!plain) {
          low *= Row<double>::load(factor + 2 * k);
          high *= Row<double>::load(factor + 2 * k + side);
        }
        const auto parts = unzip(converted<Number>(low), converted<Number>(high));
        parts[0].store(even + k);
        parts[1].store(odd + k);
      }
    }
  }

  /// The links in direction mu of the row below that end at the odd sites of this row. Those of another process are
  /// ghosts; other ghosts are not read.
  Number* links_from_below(BundleScratch<Real>& scratch, const Coordinates<4>& row, int mu, std::int64_t odd) const {
    const auto axis = static_cast<std::size_t>(mu);
    Waiting<Real>& waiting = rows_.waiting_for(scratch, row, mu);
    const bool ghosts = row[axis] == 0 && rows_.geometry().is_split(mu);
    Coordinates<4> below = rows_.neighbour(row, mu, -1);
    if (waiting.row == rows_.number(below) && !ghosts) return waiting.links.data();
    waiting.row = -1;
    if (ghosts) below[axis] = -1;
    rows_.fill_factors(scratch, below, mu, false);
    Number* needed = waiting.links.data();
    Number* rest = scratch.around.data();
    read_row(below, mu, odd == 0 ? needed : rest, odd == 0 ? rest : needed, scratch, 0);
    return needed;
  }

  /// The link along x that ends at the odd site x = 0.
  void read_link_before(BundleScratch<Real>& scratch, const Coordinates<4>& row) const {
    const bool ghost = rows_.geometry().is_split(0);
    const Number* others = scratch.number[slot_of(0, false) * link_reals];
    const double factor = rows_.factor({-1, row[1], row[2], row[3]}, 0);
    for (int number = 0; number < link_reals; ++number)
      scratch.before[static_cast<std::size_t>(number)] =
          ghost ? static_cast<Number>(factor * numbers_of(row)[component(0, number) - 1])
                : others[number * stride_ + rows_.half() - 1];
  }

  /// All links of eight odd sites of a row.
  void write_sites(BundleScratch<Real>& scratch, std::int64_t k, std::int64_t odd, const double* next) const {
    constexpr int first = slot_of(0, false) * link_reals, last = first + link_reals;
    for (int begin = 0; begin < site_numbers; begin += side) {
      Block<Number> block;
      for (int i = 0; i < side; ++i) {
        const int number = begin + i;
        // Along x the odd site 2 k has the link of the even site 2 k - 1.
        const bool shifted = number >= first && number < last && odd == 0;
        prefetch(next + number % gauge_reals * u_.field().component_stride() + number / gauge_reals * side);
        auto& values = block[static_cast<std::size_t>(i)];
        values = Row<Number>::load(scratch.number[static_cast<std::size_t>(number)] + k - (shifted ? 1 : 0));
        if (shifted && k == 0) values.set(0, scratch.before[static_cast<std::size_t>(number - first)]);
      }
      transpose(block);
      for (int j = 0; j < side; ++j)
        store_row<Real>(scratch.out.data() + j * site_numbers + begin, block[static_cast<std::size_t>(j)]);
    }
    for (std::int64_t j = 0; j < std::min<std::int64_t>(side, rows_.half() - k); ++j)
      copy_streaming(links_ + scratch.place[static_cast<std::size_t>(k + j)], scratch.out.data() + j * site_numbers,
                     site_numbers);
  }

  Real* links_;
  const GaugeField& u_;
  Bundles<Real> rows_;
  std::int64_t stride_;
};

}  // namespace

template <class Real>
void load_odd_sites(GaugeField& u, const Real* links, const GaugeOrder& order) {
  Loader<Real>(u, links, order)();
}

template <class Real>
void store_odd_sites(Real* links, const GaugeField& u, const GaugeOrder& order) {
  Storer<Real>(links, u, order)();
}

template void load_odd_sites(GaugeField&, const float*, const GaugeOrder&);
template void load_odd_sites(GaugeField&, const double*, const GaugeOrder&);
template void store_odd_sites(float*, const GaugeField&, const GaugeOrder&);
template void store_odd_sites(double*, const GaugeField&, const GaugeOrder&);

}  // namespace halocline::qcd::order::detail
