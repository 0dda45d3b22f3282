// SPDX-License-Identifier: Apache-2.0
//
// Orders of other codes: their formulas, the kernels against plain loops over the formulas, and laws of physics that do
// not depend on where a number lies.

#include <doctest/doctest.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/observables.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/order/convert.hpp"
#include "halocline/qcd/order/detail/site_index.hpp"
#include "halocline/qcd/order/offset.hpp"
#include "halocline/qcd/order/reference.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::order {
namespace {

using lattice::Coordinates;
using lattice::Geometry4;

/// A local box that every order has, with octets of x that overlap or not.
const std::vector<Coordinates<4>> boxes{{32, 2, 2, 2}, {48, 2, 2, 2}, {12, 2, 6, 2}};

/// Whole numbers: exact in float and double, all different from each other up to 2^24.
template <class Real>
std::vector<Real> counting(std::int64_t count) {
  std::vector<Real> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<Real>(i + 1);
  return numbers;
}

bool has(const SiteOrder& order, const Geometry4& geometry, std::size_t number_bytes) {
  try {
    check(order, geometry, number_bytes);
  } catch (const core::InvalidArgument&) {
    return false;
  }
  return true;
}

template <class Visit>
void for_each_case(const Visit& visit) {
  for (const auto& box : boxes)
    for (const std::string_view name : names()) {
      CAPTURE(name);
      CAPTURE(box[0]);
      visit(name, test::one_process(box));
    }
}

/// The links of an order, read by the reference and by the kernels, and written by both.
template <class Real>
void compare_links(const GaugeOrder& order, const std::shared_ptr<const Geometry4>& geometry, double tolerance) {
  if (!has(order.sites, *geometry, sizeof(Real))) return;
  const auto links = counting<Real>(72 * geometry->local_volume());
  GaugeField fast(geometry), plain(geometry);
  load<Real>(fast, std::span(links), order);
  reference::load<Real>(plain, direction_origins(links.data(), order, *geometry), order);
  CHECK(fast.to_canonical() == plain.to_canonical());
  std::vector<Real> by_kernel(links.size()), by_loop(links.size());
  store<Real>(std::span(by_kernel), fast, order);
  reference::store<Real>(direction_origins(by_loop.data(), order, *geometry), fast, order);
  CHECK(by_kernel == by_loop);
  double largest = 0;
  for (std::size_t i = 0; i < links.size(); ++i)
    largest = std::max(largest, std::abs(double{by_kernel[i]} - double{links[i]}) / double{links[i]});
  CHECK(largest <= tolerance);
}

}  // namespace

TEST_CASE("order: every site of a box has a place of its own, and the tables agree with the formulas") {
  for_each_case([](std::string_view name, const std::shared_ptr<const Geometry4>& geometry) {
    const SiteOrder order = spinor_order(name).sites;
    const detail::SiteIndex sites(order, *geometry);
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < geometry->local_volume(); ++i) {
      const auto x = lattice::coordinates_of<4>(i, geometry->local());
      const auto place = site_index(order, *geometry, x);
      CHECK(sites(x) == place);
      seen.insert(place);
    }
    CHECK(static_cast<std::int64_t>(seen.size()) == geometry->local_volume());
    CHECK(*seen.begin() == 0);
    CHECK(*seen.rbegin() == geometry->local_volume() - 1);
  });
}

namespace {

/// The place of a site of openQCD's order, by counting the sites of its parity that come earlier.
std::int64_t counted_place(const Coordinates<4>& box, const Coordinates<4>& x) {
  const auto extent_of = [](std::int64_t n) { return n % 4 == 0 ? 4 : n % 3 == 0 ? 3 : n % 2 == 0 ? 2 : 1; };
  const Coordinates<4> extent{extent_of(box[0]), extent_of(box[1]), extent_of(box[2]), box[3]};
  // Blocks: x slowest, z fastest. Inside: t slowest, then x, y, z.
  const auto key = [&](const Coordinates<4>& s) {
    return std::array<std::int64_t, 8>{(s[0] + s[1] + s[2] + s[3]) % 2,
                                       s[0] / extent[0],
                                       s[1] / extent[1],
                                       s[2] / extent[2],
                                       s[3],
                                       s[0] % extent[0],
                                       s[1] % extent[1],
                                       s[2] % extent[2]};
  };
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < lattice::product<4>(box); ++i)
    if (key(lattice::coordinates_of<4>(i, box)) < key(x)) ++before;
  return before;
}

}  // namespace

TEST_CASE("order: openQCD's blocks of three sites have places of their own too") {
  // The blocks of 6 sites have 3, and those of 10 have 2.
  for (const Coordinates<4>& box :
       {Coordinates<4>{6, 6, 6, 2}, Coordinates<4>{10, 6, 8, 4}, Coordinates<4>{2, 4, 6, 6}}) {
    const auto geometry = test::one_process(box);
    const SiteOrder order = spinor_order("openqcd").sites;
    const detail::SiteIndex sites(order, *geometry);
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < geometry->local_volume(); ++i) {
      const auto x = lattice::coordinates_of<4>(i, geometry->local());
      CHECK(sites(x) == site_index(order, *geometry, x));
      CHECK(sites(x) == counted_place(box, x));
      seen.insert(sites(x));
    }
    CHECK(static_cast<std::int64_t>(seen.size()) == geometry->local_volume());
  }
}

TEST_CASE("order: places written out by hand") {
  const auto g = test::one_process({32, 4, 4, 8});
  const Coordinates<4> x{17, 2, 3, 5};  // odd: 17 + 2 + 3 + 5 = 27
  const std::int64_t volume = 32 * 4 * 4 * 8, half = volume / 2, row = (5 * 4 + 3) * 4 + 2;
  CHECK(gauge_offset(gauge_order("lexicographic"), *g, x, 2, 1, 2, 1, 8) == ((row * 32 + 17) * 4 + 2) * 18 + 11);
  CHECK(gauge_offset(gauge_order("MILC"), *g, x, 2, 1, 2, 1, 8) == ((half + row * 16 + 8) * 4 + 2) * 18 + 11);
  CHECK(gauge_offset(gauge_order("quda"), *g, x, 2, 1, 2, 1, 8) == (2 * volume + half + row * 16 + 8) * 18 + 11);
  CHECK(gauge_offset(gauge_order("Chroma"), *g, x, 2, 1, 2, 1, 8) == (2 * volume + half + row * 16 + 8) * 18 + 11);
  // QWS: the upper half of x, at 1 in it; columns before rows; 8 doubles or 16 floats side by side.
  CHECK(gauge_offset(gauge_order("qws"), *g, x, 2, 1, 2, 1, 8) ==
        (((4 + 2) * (half / 8) + row * 2 + 0) * 18 + 2 * (3 * 2 + 1) + 1) * 8 + 1);
  CHECK(gauge_offset(gauge_order("qws-even-odd"), *g, x, 2, 1, 2, 1, 4) ==
        (((4 + 2) * (half / 16) + row) * 18 + 2 * (3 * 2 + 1) + 1) * 16 + 8);
  CHECK(spinor_offset(spinor_order("qws"), *g, x, 3, 2, 1, 4) ==
        ((half / 16 + row) * 24 + 2 * (4 * 2 + 3) + 1) * 16 + 1);
  CHECK(spinor_offset(spinor_order("quda"), *g, x, 3, 2, 1, 8) == (half + row * 16 + 8) * 24 + 2 * 11 + 1);
  // openQCD: time is slowest in a block of 4 x 4 x 4, then x, y, z; blocks of x follow each other.
  const std::int64_t odd = (((5 * 4 + 1) * 4 + 2) * 4 + 3) / 2 + 4 * (8 * 4 * 4 * 4 / 2);
  CHECK(spinor_offset(spinor_order("openqcd"), *g, x, 3, 2, 1, 8) == (half + odd) * 24 + 2 * 11 + 1);
  CHECK(gauge_offset(gauge_order("openqcd"), *g, x, 2, 1, 2, 1, 8) == (odd * 8 + 6) * 18 + 11);         // +z
  CHECK(gauge_offset(gauge_order("openqcd"), *g, {17, 2, 3, 4}, 3, 0, 0, 0, 8) == (odd * 8 + 1) * 18);  // -t
  CHECK(propagator_offset(propagator_order("pyquda"), *g, x, 3, 2, 1, 0, 1, 8) ==
        (half + row * 16 + 8) * 288 + 2 * (((3 * 4 + 1) * 3 + 2) * 3 + 0) + 1);
}

TEST_CASE("order: kernels read and write links as the plain loops do, and round trips keep every bit") {
  for_each_case([](std::string_view name, const std::shared_ptr<const Geometry4>& geometry) {
    compare_links<double>(gauge_order(name), geometry, 0);
    compare_links<float>(gauge_order(name), geometry, 0);
  });
}

TEST_CASE("order: openQCD's links in several bundles of rows, which threads divide anywhere") {
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    CAPTURE(threads);
    for (const Coordinates<4>& box : {Coordinates<4>{8, 8, 6, 4}, Coordinates<4>{14, 4, 8, 2},
                                      Coordinates<4>{16, 12, 2, 6}, Coordinates<4>{20, 6, 4, 4}}) {
      CAPTURE(box[0]);
      GaugeOrder order = gauge_order("openqcd");
      compare_links<double>(order, test::one_process(box), 0);
      order.boundary = {-1, 1, -1, -1};
      compare_links<float>(order, test::one_process(box), 0);
      order.scale = {0.5, 2, 4, -1};
      compare_links<double>(order, test::one_process(box), 0);
    }
  }
  omp_set_num_threads(before);
}

TEST_CASE("order: compositions that no code has, in small and odd boxes") {
  for (const Coordinates<4>& box :
       {Coordinates<4>{4, 3, 2, 5}, Coordinates<4>{12, 3, 2, 2}, Coordinates<4>{16, 1, 2, 3}})
    for (const Sites sites : {Sites::lexicographic, Sites::even_odd, Sites::halves_of_x})
      for (const int lanes : {1, 2, 8})
        for (const Directions directions : {Directions::inside, Directions::outside, Directions::in_each_half})
          for (const bool transposed : {false, true}) {
            if (directions == Directions::in_each_half && sites == Sites::lexicographic) continue;
            GaugeOrder order{.sites = {sites, lanes}, .directions = directions, .transposed = transposed};
            compare_links<double>(order, test::one_process(box), 0);
          }
}

TEST_CASE("order: scales, boundary factors and staggered phases go into links and come out again") {
  for (const std::string_view name : {"lexicographic", "quda", "milc", "qws", "qws-even-odd", "openqcd"}) {
    CAPTURE(name);
    GaugeOrder order = gauge_order(name);
    order.boundary = {1, 1, 1, -1};
    order.staggered_phases = true;
    compare_links<double>(order, test::one_process({32, 2, 2, 2}), 0);  // signs alone: exact
    order.scale = {0.3, 0.3, 0.3, 1.7};
    order.boundary = {1.1, -1, 1, -0.5};
    compare_links<double>(order, test::one_process({32, 2, 2, 2}), 4e-16);  // two products
  }
  // The link that leaves the last time slice, and one that does not.
  const auto g = test::one_process({4, 4, 4, 4});
  GaugeOrder order = gauge_order("quda");
  order.boundary[3] = -1;
  order.scale[0] = 0.5;
  CHECK(link_factor(order, *g, {0, 0, 0, 3}, 3) == -1);
  CHECK(link_factor(order, *g, {0, 0, 0, 2}, 3) == 1);
  CHECK(link_factor(order, *g, {0, 0, 0, -1}, 3) == -1);
  CHECK(link_factor(order, *g, {3, 0, 0, 3}, 0) == 0.5);
}

TEST_CASE("order: four arrays of links, one for each direction") {
  const auto geometry = test::one_process({16, 2, 2, 2});
  const auto links = counting<double>(72 * geometry->local_volume());
  const auto order = gauge_order("quda");
  const std::size_t one = links.size() / 4;
  GaugeField together(geometry), apart(geometry);
  load<double>(together, std::span(links), order);
  load<double>(apart, {links.data(), links.data() + one, links.data() + 2 * one, links.data() + 3 * one}, order);
  CHECK(apart.to_canonical() == together.to_canonical());
  std::vector<double> x(one), y(one), z(one), t(one);
  store<double>({x.data(), y.data(), z.data(), t.data()}, apart, order);
  CHECK(std::equal(t.begin(), t.end(), links.end() - static_cast<std::ptrdiff_t>(one)));
  CHECK_THROWS_WITH_AS(store<double>({x.data(), nullptr, z.data(), t.data()}, apart, order), doctest::Contains("null"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(load<double>(apart, {x.data(), y.data(), z.data(), t.data()}, gauge_order("milc")),
                       doctest::Contains("one array"), core::InvalidArgument);
}

namespace {

template <class T, class Real>
void compare_spinors(const SpinorOrder& order, const std::shared_ptr<const lattice::TileLayout>& layout,
                     lattice::Subset subset) {
  const Geometry4& geometry = layout->geometry();
  if (!has(order.sites, geometry, sizeof(Real))) return;
  std::vector<Real> numbers(static_cast<std::size_t>(24 * geometry.local_volume()));
  std::mt19937 engine(7);
  for (Real& number : numbers) number = static_cast<Real>(std::uniform_real_distribution<float>(-1, 1)(engine));
  auto fast = spinor_field<T>(layout, subset, 2), plain = spinor_field<T>(layout, subset, 2);
  load<T, Real>(fast, 1, std::span<const Real>(numbers), order);
  reference::load<T, Real>(plain, 1, numbers.data(), order);
  // A sum of two numbers, each with a factor: a unit in the last place each way.
  const double rounding =
      order.basis->norm == 1 ? 0 : 2 * std::numeric_limits<T>::epsilon() + 2 * std::numeric_limits<Real>::epsilon();
  const auto distance = [](const auto& a, const auto& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    return largest;
  };
  CHECK(distance(fast.span(), plain.span()) <= rounding);
  std::vector<Real> by_kernel(numbers.size(), Real(9)), by_loop(numbers.size(), Real(9));
  store<T, Real>(std::span(by_kernel), fast, 1, order);
  reference::store<T, Real>(by_loop.data(), fast, 1, order);
  CHECK(distance(by_kernel, by_loop) <= rounding);
  if (subset == lattice::Subset::full) CHECK(distance(by_kernel, numbers) <= 2 * rounding);
}

}  // namespace

TEST_CASE("order: kernels read and write spinors as the plain loops do, in every basis, precision and subset") {
  const auto whole = lattice::TileLayout::best(test::one_process({32, 2, 2, 4}));
  const auto split = lattice::TileLayout::split(whole, 8);
  REQUIRE(whole->lanes() == 16);
  for (const std::string_view name : names())
    for (const SpinBasis* rotated :
         {&spin_bases::degrand_rossi, &spin_bases::dirac_pauli, &spin_bases::ukqcd, &spin_bases::openqcd}) {
      CAPTURE(name);
      CAPTURE(rotated->name);
      const SiteOrder sites = spinor_order(name).sites;
      compare_spinors<float, float>({sites, Inside::spin_colour, rotated}, whole, lattice::Subset::full);
      compare_spinors<float, float>({sites, Inside::colour_spin, rotated}, whole, lattice::Subset::full);
      compare_spinors<double, double>({sites, Inside::spin_colour, rotated}, split, lattice::Subset::full);
      compare_spinors<float, double>({sites, Inside::spin_colour, rotated}, whole, lattice::Subset::even);
      compare_spinors<double, float>({sites, Inside::colour_spin, rotated}, split, lattice::Subset::odd);
    }
}

TEST_CASE("order: spinors of few lanes, other numbers of lanes, and vectors that no eight tiles share") {
  for (const int lanes : {1, 4, 16}) {
    const auto layout = lattice::TileLayout::best(test::one_process({16, 4, 2, 2}), lanes);
    for (const Sites sites : {Sites::lexicographic, Sites::even_odd, Sites::halves_of_x})
      for (const int side_by_side : {1, 2, 8})
        for (const auto subset : {lattice::Subset::full, lattice::Subset::even}) {
          CAPTURE(lanes);
          CAPTURE(side_by_side);
          compare_spinors<float, float>({{sites, side_by_side}, Inside::colour_spin, &spin_bases::openqcd}, layout,
                                        subset);
        }
  }
}

TEST_CASE("order: spinors of rows with 2 to 14 tiles, which are worked on in groups") {
  for (const std::int64_t tiles : {2, 4, 6, 8, 10, 12, 14}) {
    const auto geometry = test::one_process({4 * tiles, 4, 2, 8});
    const auto whole = std::make_shared<const lattice::TileLayout>(geometry, Coordinates<4>{4, 1, 1, 4});
    const auto split = lattice::TileLayout::split(whole, 8);
    CAPTURE(tiles);
    for (const std::string_view name : {"lexicographic", "quda", "openqcd"}) {
      CAPTURE(name);
      const SpinorOrder order = spinor_order(name);
      compare_spinors<float, float>(order, whole, lattice::Subset::full);
      compare_spinors<double, double>(order, split, lattice::Subset::full);
      compare_spinors<double, float>(order, split, lattice::Subset::even);
      compare_spinors<float, double>(order, whole, lattice::Subset::odd);
    }
  }
}

TEST_CASE("order: spinors whose lanes continue each other's runs in a line of the array, or do not") {
  // A lane has 2 to 128 sites along x; in the array 8 or 16 sites lie side by side, of one parity or of both.
  const auto compare = [](const std::shared_ptr<const lattice::TileLayout>& layout) {
    CAPTURE(layout->lanes());
    CAPTURE(layout->parts()[0]);
    for (const int side_by_side : {8, 16}) {
      CAPTURE(side_by_side);
      const SpinorOrder halves{{Sites::halves_of_x, side_by_side}, Inside::colour_spin, &spin_bases::ukqcd};
      compare_spinors<float, float>(halves, layout, lattice::Subset::full);
      compare_spinors<double, double>(halves, layout, lattice::Subset::full);
      const SpinorOrder parities{{Sites::even_odd, side_by_side}, Inside::spin_colour, &spin_bases::dirac_pauli};
      compare_spinors<float, float>(parities, layout, lattice::Subset::full);
      compare_spinors<double, double>(parities, layout, lattice::Subset::full);
      compare_spinors<double, float>(parities, layout, lattice::Subset::odd);
      compare_spinors<float, double>(parities, layout, lattice::Subset::even);
    }
  };
  for (const std::int64_t length : {16, 32, 48, 64, 96, 128})
    for (const std::int64_t lanes : {8, 16})
      for (std::int64_t along_x = 1; along_x <= lanes && length % (2 * along_x) == 0; along_x *= 2) {
        CAPTURE(length);
        CAPTURE(along_x);
        const std::int64_t others = lanes / along_x;
        const auto geometry = test::one_process({length, 2, 2, 2 * others});
        const auto layout =
            std::make_shared<const lattice::TileLayout>(geometry, Coordinates<4>{along_x, 1, 1, others});
        compare(layout);
        if (lanes == 16) compare(lattice::TileLayout::split(layout, 8));
      }
}

namespace {

const std::vector<Coordinates<4>> canonical_boxes{{32, 2, 4, 2}, {12, 2, 6, 2}, {2, 4, 2, 4}, {6, 3, 1, 5}};

/// Calls visit(order) for every code and for compositions that no code has, in every basis.
template <class Visit>
void for_each_spinor_order(const Visit& visit) {
  std::vector<std::pair<SiteOrder, Inside>> orders;
  for (const std::string_view name : names()) orders.emplace_back(spinor_order(name).sites, spinor_order(name).inside);
  for (const Sites sites : {Sites::lexicographic, Sites::even_odd, Sites::halves_of_x})
    for (const int lanes : {2, 3, 8}) orders.emplace_back(SiteOrder{sites, lanes}, Inside::spin_colour);
  for (const auto& [sites, inside] : orders)
    for (const SpinBasis* basis :
         {&spin_bases::degrand_rossi, &spin_bases::dirac_pauli, &spin_bases::ukqcd, &spin_bases::openqcd}) {
      CAPTURE(static_cast<int>(sites.sites));
      CAPTURE(sites.lanes);
      CAPTURE(basis->name);
      visit(SpinorOrder{sites, inside, basis});
    }
}

/// Canonical spinors by rows and by the reference: every bit.
template <class Real>
void compare_canonical(const SpinorOrder& order, const Geometry4& geometry, int spins) {
  if (!has(order.sites, geometry, sizeof(Real))) return;
  const auto psi = test::random_numbers(3 * spins * geometry.local_volume(), 3);
  std::vector<Real> array(2 * psi.size()), plain(2 * psi.size());
  store<Real>(std::span(array), psi, order, geometry, spins);
  reference::store<Real>(plain.data(), psi.data(), order, geometry, spins);
  CHECK(array == plain);
  std::vector<std::complex<double>> back(psi.size()), plain_back(psi.size());
  load<Real>(std::span(back), std::span<const Real>(array), order, geometry, spins);
  reference::load<Real>(plain_back.data(), array.data(), order, geometry, spins);
  CHECK(back == plain_back);
  CHECK(test::relative_distance(back, psi) < (sizeof(Real) == 4 ? 1e-7 : order.basis->norm == 1 ? 1e-300 : 1e-15));
}

template <class Real>
void compare_propagators(const PropagatorOrder& order, const measure::Propagator& s) {
  if (!has(order.sites, s.geometry(), sizeof(Real))) return;
  std::vector<Real> array(static_cast<std::size_t>(288 * s.geometry().local_volume())), plain(array.size());
  store<Real>(std::span(array), s, order);
  reference::store<Real>(plain.data(), s, order);
  CHECK(array == plain);
  measure::Propagator back(s.geometry_ptr()), plain_back(s.geometry_ptr());
  load<Real>(back, std::span<const Real>(array), order);
  reference::load<Real>(plain_back, array.data(), order);
  for (int column = 0; column < 12; ++column) {
    const auto a = back.column(column / 3, column % 3), b = plain_back.column(column / 3, column % 3);
    CHECK(std::equal(a.begin(), a.end(), b.begin()));
    CHECK(test::relative_distance(a, s.column(column / 3, column % 3)) < (sizeof(Real) == 4 ? 2e-7 : 1e-15));
  }
}

}  // namespace

TEST_CASE("order: canonical spinors, and those of staggered quarks, agree with the plain loops in every bit") {
  for (const Coordinates<4>& box : canonical_boxes) {
    CAPTURE(box[0]);
    const auto geometry = test::one_process(box);
    for_each_spinor_order([&](const SpinorOrder& order) {
      for (const int spins : {4, 1}) {
        CAPTURE(spins);
        compare_canonical<double>(order, *geometry, spins);
        compare_canonical<float>(order, *geometry, spins);
      }
    });
  }
}

TEST_CASE("order: propagators agree with the plain loops in every bit") {
  for (const Coordinates<4>& box : {Coordinates<4>{32, 2, 2, 2}, Coordinates<4>{6, 2, 2, 2}}) {
    measure::Propagator s(test::one_process(box));
    for (int column = 0; column < 12; ++column) {
      const auto numbers = test::random_numbers(12 * s.geometry().local_volume(), static_cast<unsigned>(column));
      std::copy(numbers.begin(), numbers.end(), s.column(column / 3, column % 3).begin());
    }
    for_each_spinor_order([&](const SpinorOrder& order) {
      for (const auto indices :
           {PropagatorIndices::sink_source, PropagatorIndices::spins_colours, PropagatorIndices::source_outside}) {
        CAPTURE(static_cast<int>(indices));
        compare_propagators<double>({order.sites, indices, order.inside, order.basis}, s);
        compare_propagators<float>({order.sites, indices, order.inside, order.basis}, s);
      }
    });
  }
  CHECK_THROWS_AS(propagator_order("milc"), core::InvalidArgument);
}

TEST_CASE("order: openQCD's sites of a large box take no time each") {
  // Whoever counts the earlier sites of a block for every number needs minutes for a box of this size.
  const auto geometry = test::one_process({16, 16, 16, 32});
  const auto order = spinor_order("openqcd");
  std::vector<std::complex<double>> psi(static_cast<std::size_t>(12 * geometry->local_volume()));
  for (std::size_t i = 0; i < psi.size(); ++i) psi[i] = {static_cast<double>(i), -static_cast<double>(i)};
  std::vector<double> array(2 * psi.size());
  store<double>(std::span(array), psi, order, *geometry);
  std::vector<std::complex<double>> back(psi.size());
  load<double>(std::span(back), std::span<const double>(array), order, *geometry);
  CHECK(back == psi);
  const Coordinates<4> x{15, 3, 8, 31};
  const auto site = static_cast<std::size_t>(lattice::linear_index<4>(x, geometry->local()));
  // Spin 1 of openQCD's basis is our spin 2.
  CHECK(array[static_cast<std::size_t>(spinor_offset(order, *geometry, x, 1, 2, 1, 8))] == psi[12 * site + 8].imag());
}

TEST_CASE("order: the plaquette is the same through every order") {
  const auto geometry = test::one_process({32, 2, 4, 2});
  const GaugeField u = gauge::random_links(geometry, 11);
  const double expected = gauge::plaquette(u);
  for (const std::string_view name : names()) {
    CAPTURE(name);
    std::vector<double> array(static_cast<std::size_t>(72 * geometry->local_volume()));
    store<double>(std::span(array), u, gauge_order(name));
    GaugeField back(geometry);
    load<double>(back, std::span<const double>(array), gauge_order(name));
    CHECK(gauge::plaquette(back) == expected);
  }
}

TEST_CASE("order: what cannot be meant is refused in one sentence") {
  const auto geometry = test::one_process({8, 4, 4, 4});
  GaugeField u(geometry);
  const std::vector<double> few(71);
  CHECK_THROWS_WITH_AS(load<double>(u, std::span(few), gauge_order("quda")), doctest::Contains("71 numbers"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(gauge_order("grid"), doctest::Contains("lexicographic, even-odd, qdp++"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(basis("Weyl"), doctest::Contains("DeGrand-Rossi, Dirac-Pauli"), core::InvalidArgument);
  CHECK(&basis("chiral") == &spin_bases::openqcd);
  CHECK(&basis("ukqcd") == &spin_bases::ukqcd);
  std::vector<double> links(static_cast<std::size_t>(72 * geometry->local_volume()));
  CHECK_THROWS_WITH_AS(store<double>(std::span(links), u, gauge_order("qws")), doctest::Contains("multiple of 16"),
                       core::InvalidArgument);
  auto zero = gauge_order("quda");
  zero.scale[1] = 0;
  CHECK_THROWS_WITH_AS(store<double>(std::span(links), u, zero), doctest::Contains("other than 0"),
                       core::InvalidArgument);
  CHECK_THROWS_AS(check(gauge_order("openqcd"), *test::one_process({4, 3, 4, 4}), 8), core::InvalidArgument);
  auto psi = spinor_field<double>(lattice::TileLayout::best(geometry), lattice::Subset::full);
  const std::vector<double> spinor(static_cast<std::size_t>(24 * geometry->local_volume()));
  CHECK_THROWS_WITH_AS((load<double, double>(psi, 1, std::span(spinor), spinor_order("quda"))),
                       doctest::Contains("column 1"), core::InvalidArgument);
}

}  // namespace halocline::qcd::order
