// SPDX-License-Identifier: Apache-2.0
//
// Fields of several columns and links of two rows on every process grid of the ranks, against one process.

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/qcd/schwarz/domain_space.hpp"
#include "halocline/qcd/wilson/wilson_clover.hpp"
#include "qcd/first_rank.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

constexpr lattice::Coordinates<4> extents{4, 6, 8, 4};
constexpr std::int64_t volume = 4 * 6 * 8 * 4;
constexpr int columns = 3;

/// Every grid of this many ranks that leaves x even and divides the lattice.
std::vector<std::shared_ptr<const lattice::Geometry4>> geometries() {
  const auto world = comm::world();
  std::vector<std::shared_ptr<const lattice::Geometry4>> all;
  for (int x = 1; x <= 2; ++x)
    for (int y = 1; y <= 6; ++y)
      for (int z = 1; z <= 8; ++z)
        for (int t = 1; t <= 4; ++t)
          if (x * y * z * t == world.size() && 6 % y == 0 && 8 % z == 0 && 4 % t == 0)
            all.push_back(std::make_shared<const lattice::Geometry4>(
                extents, comm::ProcessGrid(world, std::vector<int>{x, y, z, t})));
  return all;
}

std::vector<std::complex<double>> source(int column) { return test::random_numbers(volume * 12, 10 + column); }

/// D and S^dagger S of the columns one after the other, for three applications.
template <class T>
std::vector<std::complex<double>> run(const std::shared_ptr<const lattice::Geometry4>& geometry,
                                      const std::vector<std::complex<double>>& links, int first, int count, int reals,
                                      int lanes) {
  WilsonCloverAction action{.mass = 0.1, .csw = 1.2};
  action.boundary = {std::polar(1.0, 0.3), -1.0, 1.0, -1.0};
  const GaugeField gauge = GaugeField::from_canonical(geometry, test::local_part(*geometry, links, 36));
  const WilsonSetup setup(gauge, action, lanes);
  const WilsonClover<T> d(setup, count, reals);
  Schur<T> s(d);
  auto in = spinor_field<T>(d.layout(), lattice::Subset::full, count), out = in;
  auto half = spinor_field<T>(d.layout(), s.subset(), count), product = half, square = half;
  for (int c = 0; c < count; ++c) {
    const auto mine = test::local_part(*geometry, source(first + c), 12);
    from_canonical<T>(in, c, mine);
    from_canonical<T>(half, c, mine);
  }
  for (int i = 0; i < 3; ++i) {
    d.apply(out, in);
    s.apply(product, half);
    s.apply_dagger(square, product);
  }
  std::vector<std::complex<double>> all;
  std::vector<std::complex<double>> one(geometry->local_volume() * 12);
  for (int c = 0; c < count; ++c) {
    to_canonical<T>(one, out, c);
    all.insert(all.end(), one.begin(), one.end());
    to_canonical<T>(one, square, c);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

/// The same of one process, in the parts that this rank holds.
std::vector<std::complex<double>> part_of(const lattice::Geometry4& geometry,
                                          const std::vector<std::complex<double>>& whole) {
  std::vector<std::complex<double>> all;
  for (std::size_t begin = 0; begin < whole.size(); begin += volume * 12) {
    const auto part = test::local_part(geometry, std::span(whole).subspan(begin, volume * 12), 12);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("batch: D and S do not depend on the process grid, nor a column on its neighbours", T, float,
                   double) {
  const auto links = test::random_links(volume, 1);
  const auto all = geometries();
  std::size_t turn = 0;
  for (int reals : {18, 12}) {
    const auto whole = test::of_first_rank(
        comm::world(), [&] { return run<T>(test::one_process(extents), links, 0, columns, reals, 16); });
    for (const auto& geometry : all)
      for (int lanes : {1, 16}) {
        if (all.size() > 4 && turn++ % 3 != 0) continue;  // of many grids each takes some of the four cases
        CAPTURE(reals);
        CAPTURE(lanes);
        const auto batch = run<T>(geometry, links, 0, columns, reals, lanes);
        // Where a pack is narrower the compiler may round another product of a complex one; S^dagger S are four hops.
        CHECK(test::relative_distance(batch, part_of(*geometry, whole)) < 16 * std::numeric_limits<T>::epsilon());
        for (int c = 0; c < columns; ++c) {
          const auto alone = run<T>(geometry, links, c, 1, reals, lanes);
          CHECK(std::equal(alone.begin(), alone.end(), batch.begin() + static_cast<std::ptrdiff_t>(c * alone.size())));
        }
      }
  }
}

TEST_CASE("linear algebra: sums over processes are those of the whole lattice, the same bits on every rank") {
  const auto world = comm::world();
  for (const auto& geometry : geometries()) {
    SpinorSpace<double> space(lattice::TileLayout::best(geometry), lattice::Subset::full, columns);
    auto x = space.create(), y = space.create();
    for (int c = 0; c < columns; ++c) {
      from_canonical<double>(x, c, test::local_part(*geometry, source(c), 12));
      from_canonical<double>(y, c, test::local_part(*geometry, source(c + columns), 12));
    }
    // Three dots of three columns: more than one sum over processes carries.
    const auto pending = solve::reduce(space, {{&x, &y}, {&x, &x}, {&y, &x}});
    const auto sums = pending.wait();
    for (int c = 0; c < columns; ++c) {
      const auto u = source(c), v = source(c + columns);
      solve::Scalar xy = 0;
      double xx = 0, yy = 0;
      for (std::size_t i = 0; i < u.size(); ++i) {
        xy += std::conj(u[i]) * v[i];
        xx += std::norm(u[i]);
        yy += std::norm(v[i]);
      }
      // 27648 roundings of a running sum, in any order.
      const double tolerance = 200 * std::numeric_limits<double>::epsilon();
      CHECK(std::abs(sums[c] - xy) < tolerance * std::sqrt(xx * yy));
      CHECK(std::abs(sums[columns + c] - xx) < tolerance * xx);
      CHECK(std::abs(sums[2 * columns + c] - std::conj(xy)) < tolerance * std::sqrt(xx * yy));
    }
    std::vector<double> low, high;
    for (const auto& sum : sums) low.insert(low.end(), {sum.real(), sum.imag()});
    high = low;
    world.min(low);
    world.max(high);
    CHECK(low == high);
  }
}

TEST_CASE("linear algebra: a Gram matrix over processes is that of the whole lattice, the same bits on every rank") {
  const auto world = comm::world();
  for (const auto& geometry : geometries()) {
    for (const int width : {1, columns}) {  // one reduction, and one message for many values
      SpinorSpace<double> space(lattice::TileLayout::best(geometry), lattice::Subset::full, width);
      auto x = space.create(), y = space.create();
      for (int c = 0; c < width; ++c) {
        from_canonical<double>(x, c, test::local_part(*geometry, source(c), 12));
        from_canonical<double>(y, c, test::local_part(*geometry, source(c + columns), 12));
      }
      solve::Scalars xy(static_cast<std::size_t>(width * width)), xx(xy.size());
      space.gram(xy, x, y);
      space.gram(xx, x, x);
      for (int i = 0; i < width; ++i)
        for (int j = 0; j < width; ++j) {
          const auto u = source(i), v = source(j + columns), w = source(j);
          solve::Scalar uv = 0, uw = 0;
          double norm2 = 0;
          for (std::size_t k = 0; k < u.size(); ++k) {
            uv += std::conj(u[k]) * v[k];
            uw += std::conj(u[k]) * w[k];
            norm2 += std::norm(u[k]);
          }
          // Random numbers of equal variance; 27648 roundings of a running sum, in any order.
          const double tolerance = 400 * std::numeric_limits<double>::epsilon() * norm2;
          CHECK(std::abs(xy[i * width + j] - uv) < tolerance);
          CHECK(std::abs(xx[i * width + j] - uw) < tolerance);
        }
      std::vector<double> low;
      for (const auto& sum : xy) low.insert(low.end(), {sum.real(), sum.imag()});
      auto high = low;
      world.min(low);
      world.max(high);
      CHECK(low == high);
    }
  }
}

TEST_CASE("domain space: a norm over processes is that of the whole lattice") {
  for (const auto& geometry : geometries()) {
    if (geometry->local()[0] % 4 != 0) continue;  // two halves of an even extent
    schwarz::DomainSpace space(lattice::DomainLayout::best(geometry, {2, 1, 1, 1}), columns);
    auto x = space.create();
    const float rank = static_cast<float>(comm::world().rank() + 1);
    std::ranges::fill(x.span(), rank);
    std::array<solve::Scalar, columns> sums;
    space.dot(sums, x, x);
    double expected = 0;
    for (int r = 1; r <= comm::world().size(); ++r) expected += r * r;
    for (const auto& sum : sums)
      CHECK(sum == solve::Scalar(expected * 24 * static_cast<double>(geometry->local_volume())));
  }
}

}  // namespace halocline::qcd
