// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/field/spinor_space.hpp"

#include <doctest/doctest.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/qcd/schwarz/domain_space.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

using solve::Scalar;
using solve::Scalars;

// 96 tiles of 16 sites in the full field, 12 chunks of 64 sites in a parity: an odd tail where lanes are fewer.
constexpr lattice::Coordinates<4> extents{4, 6, 8, 8};
constexpr std::int64_t volume = 4 * 6 * 8 * 8;

template <class T>
struct Spinors {
  using Space = SpinorSpace<T>;
  using Number = T;
  static Space space(int lanes, int columns) {
    return Space(lattice::TileLayout::best(test::one_process(extents), lanes), lattice::Subset::full, columns);
  }
  static void fill(typename Space::Vector& v, int column, const std::vector<std::complex<double>>& numbers) {
    from_canonical<T>(v, column, numbers);
  }
};

struct Domains {
  using Space = schwarz::DomainSpace;
  using Number = float;
  static Space space(int lanes, int columns) {
    return Space(lattice::DomainLayout::best(test::one_process(extents), {2, 1, 1, 1}, lanes), columns);
  }
  /// Any order does: the same numbers in the order of memory.
  static void fill(Space::Vector& v, int column, const std::vector<std::complex<double>>& numbers) {
    const int lanes = v.layout().lanes();
    for (std::int64_t site = 0; site < volume; ++site)
      for (int k = 0; k < 12; ++k) {
        float* at =
            v.data() + site / lanes * v.tile_stride() + column * v.column_stride() + 2 * k * lanes + site % lanes;
        at[0] = static_cast<float>(numbers[12 * site + k].real());
        at[lanes] = static_cast<float>(numbers[12 * site + k].imag());
      }
  }
};

/// y, z, p and the sums of a call that uses every form of update and of dot product.
template <class Vector>
struct Outcome {
  Vector x, y, z, p;
  Scalars sums;
};

const std::array<Scalar, 3> a_of{{{0.5, -1.0}, {2.0, 0.25}, {-0.75, 0.5}}};
const std::array<Scalar, 3> b_of{{{1.5, 0.0}, {0.0, 3.0}, {0.25, 0.25}}};
const std::array<Scalar, 3> s_of{{{0.0, 1.0}, {-1.0, 0.5}, {1.0, 0.0}}};

/// On the columns first, first + 1, ... of three.
template <class Kind>
auto exercise(int lanes, int first, int columns) {
  auto space = Kind::space(lanes, columns);
  Outcome<typename Kind::Space::Vector> o{space.create(), space.create(), space.create(), space.create(), {}};
  for (int c = 0; c < columns; ++c) {
    Kind::fill(o.x, c, test::random_numbers(volume * 12, 10 + first + c));
    Kind::fill(o.y, c, test::random_numbers(volume * 12, 20 + first + c));
    Kind::fill(o.p, c, test::random_numbers(volume * 12, 30 + first + c));
  }
  std::ranges::fill(o.z.span(), std::numeric_limits<typename Kind::Number>::quiet_NaN());
  const auto part = [&](const auto& all) {
    return std::span<const Scalar>(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(columns));
  };
  const auto pending = solve::update_and_reduce(
      space,
      {solve::scale_add(o.y, part(s_of), part(a_of), o.x), solve::assign(o.z, {}, o.x, part(b_of), o.y),
       solve::add(o.x, part(a_of), o.y, part(b_of), o.z), solve::scale(o.z, part(s_of)), solve::add(o.p, {}, o.x)},
      {{&o.x, &o.y}, {&o.z, &o.z}, {&o.p, &o.p}, {&o.p, &o.x}, {&o.z, &o.p}, {&o.p, &o.p}});
  const auto sums = pending.wait();
  o.sums.assign(sums.begin(), sums.end());
  return o;
}

/// The same on plain vectors, in double, for one column.
struct Plain {
  std::vector<std::complex<double>> x, y, z, p;
  std::array<Scalar, 6> sums;

  explicit Plain(int column)
      : x(test::random_numbers(volume * 12, 10 + column)),
        y(test::random_numbers(volume * 12, 20 + column)),
        z(x.size()),
        p(test::random_numbers(volume * 12, 30 + column)) {
    const Scalar a = a_of[column], b = b_of[column], s = s_of[column];
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = s * y[i] + a * x[i];
      z[i] = x[i] + b * y[i];
      x[i] += a * y[i] + b * z[i];
      z[i] *= s;
      p[i] += x[i];
    }
    sums = {dot(x, y), dot(z, z), dot(p, p), dot(p, x), dot(z, p), dot(p, p)};
  }

  /// Summed in a longer number, as 18432 roundings of a running sum would show in double.
  static Scalar dot(const std::vector<std::complex<double>>& u, const std::vector<std::complex<double>>& v) {
    std::complex<long double> sum = 0;
    for (std::size_t i = 0; i < u.size(); ++i) sum += std::complex<long double>(std::conj(u[i]) * v[i]);
    return {static_cast<double>(sum.real()), static_cast<double>(sum.imag())};
  }
};

}  // namespace

TEST_CASE_TEMPLATE("linear algebra: updates and sums are those of plain vectors, for every lane count", Kind,
                   Spinors<float>, Spinors<double>, Domains) {
  // Each number of x has about ten roundings behind it, and a sum of random signs gains nothing on that.
  const double tolerance = 20 * std::numeric_limits<typename Kind::Number>::epsilon();
  std::vector<Plain> plain;
  for (int c = 0; c < 3; ++c) plain.emplace_back(c);
  for (int lanes : {1, 2, 4, 8, 16}) {
    CAPTURE(lanes);
    const auto o = exercise<Kind>(lanes, 0, 3);
    for (int c = 0; c < 3; ++c) {
      const auto& p = plain[c];
      const double xy = std::sqrt(Plain::dot(p.x, p.x).real() * Plain::dot(p.y, p.y).real());
      const double zp = std::sqrt(p.sums[1].real() * p.sums[2].real());
      const double px = std::sqrt(p.sums[2].real() * Plain::dot(p.x, p.x).real());
      const std::array<double, 6> size{xy, p.sums[1].real(), p.sums[2].real(), px, zp, p.sums[5].real()};
      for (int i = 0; i < 6; ++i) CHECK(std::abs(o.sums[3 * i + c] - p.sums[i]) < tolerance * size[i]);
      CHECK(o.sums[3 * 1 + c].imag() == 0.0);
    }
  }
}

TEST_CASE_TEMPLATE("linear algebra: a column alone has the bits that it has in a batch", Kind, Spinors<float>,
                   Spinors<double>, Domains) {
  for (int lanes : {1, 4, 16}) {
    CAPTURE(lanes);
    const auto batch = exercise<Kind>(lanes, 0, 3);
    for (int c = 0; c < 3; ++c) {
      const auto alone = exercise<Kind>(lanes, c, 1);
      for (int i = 0; i < 6; ++i) CHECK(batch.sums[3 * i + c] == alone.sums[i]);
      std::int64_t different = 0;
      const std::int64_t length = alone.x.column_stride();
      for (std::int64_t i = 0; i < alone.x.size(); ++i) {
        const std::int64_t in_batch = i / length * batch.x.tile_stride() + c * length + i % length;
        different += batch.x.data()[in_batch] != alone.x.data()[i] || batch.y.data()[in_batch] != alone.y.data()[i] ||
                     batch.z.data()[in_batch] != alone.z.data()[i] || batch.p.data()[in_batch] != alone.p.data()[i];
      }
      CHECK(different == 0);
    }
  }
}

#if defined(_OPENMP)
TEST_CASE_TEMPLATE("linear algebra: sums do not depend on the number of threads", Kind, Spinors<float>, Domains) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto one = exercise<Kind>(16, 0, 3);
  for (int threads : {2, 3}) {
    omp_set_num_threads(threads);
    CHECK(exercise<Kind>(16, 0, 3).sums == one.sums);
  }
  omp_set_num_threads(before);
}
#endif

TEST_CASE("linear algebra: a column with zero coefficients is left alone, whatever the others do") {
  auto space = Spinors<float>::space(16, 2);
  auto x = space.create(), y = space.create();
  for (int c : {0, 1}) from_canonical<float>(y, c, test::random_numbers(volume * 12, 1 + c));
  const auto before = y;
  // A vector that has overflowed must not reach a column that is done.
  std::ranges::fill(x.span(), std::numeric_limits<float>::infinity());
  const Scalars a{0.0, 0.0};
  solve::update(space, {solve::add(y, a, x)});
  CHECK(std::equal(y.span().begin(), y.span().end(), before.span().begin()));
}

TEST_CASE("linear algebra: vectors of another shape are refused with their sizes") {
  auto space = Spinors<double>::space(16, 2);
  auto x = space.create();
  auto narrow = Spinors<double>::space(16, 1).create();
  CHECK_THROWS_WITH_AS(solve::update(space, {solve::add(x, {}, narrow)}), doctest::Contains("36864 numbers"),
                       core::InvalidArgument);
  const Scalars one{1.0};
  CHECK_THROWS_WITH_AS(solve::update(space, {solve::scale(x, one)}), doctest::Contains("1 coefficients"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(Spinors<double>::space(16, 0), doctest::Contains("0 columns"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(convert(x, narrow), doctest::Contains("columns"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(from_canonical<double>(x, 2, test::random_numbers(volume * 12, 1)),
                       doctest::Contains("column 2"), core::InvalidArgument);
}

TEST_CASE("spinor space: precision changes between splits of one layout") {
  const auto whole = lattice::TileLayout::best(test::one_process(extents));
  const auto numbers = test::random_numbers(volume * 12, 3);
  for (const auto subset : {lattice::Subset::full, lattice::Subset::odd})
    for (int wide : {16, 8, 4})
      for (int narrow : {16, 8, 4, 2}) {
        auto x = spinor_field<double>(lattice::TileLayout::split(whole, narrow), subset, 2);
        auto y = spinor_field<float>(lattice::TileLayout::split(whole, wide), subset, 2);
        auto back = x;
        from_canonical<double>(x, 0, test::random_numbers(volume * 12, 7));
        from_canonical<double>(x, 1, numbers);
        convert(y, x);
        convert(back, y);
        std::vector<std::complex<double>> in_float(numbers.size()), in_double(numbers.size());
        to_canonical<float>(in_float, y, 1);
        to_canonical<double>(in_double, back, 1);
        CHECK(in_float == in_double);
        std::vector<std::complex<double>> expected(numbers.size());
        to_canonical<double>(expected, x, 1);
        CHECK(test::relative_distance(in_float, expected) < 1e-7);
        CHECK(test::relative_distance(in_float, expected) > 0);
      }
  auto x = spinor_field<double>(whole, lattice::Subset::full);
  auto other = spinor_field<float>(lattice::TileLayout::best(whole->geometry_ptr(), 8), lattice::Subset::full);
  CHECK_THROWS_WITH_AS(convert(other, x), doctest::Contains("different layouts"), core::InvalidArgument);
}

/// x m, y + x m and the Gram matrices x^dagger y and x^dagger x, for three columns.
template <class Kind>
struct BlockOutcome {
  typename Kind::Space::Vector product, sum;
  Scalars xy, xx;
};

const Scalars small_matrix{{0.5, -1.0}, 0.0,         {-0.75, 0.5},  //
                           {1.5, 0.0},  {0.0, 3.0},  {0.25, 0.25},  //
                           0.0,         {-1.0, 0.5}, {1.0, 0.0}};

template <class Kind>
BlockOutcome<Kind> exercise_block(int lanes) {
  auto space = Kind::space(lanes, 3);
  auto x = space.create(), y = space.create();
  for (int c = 0; c < 3; ++c) {
    Kind::fill(x, c, test::random_numbers(volume * 12, 10 + c));
    Kind::fill(y, c, test::random_numbers(volume * 12, 20 + c));
  }
  BlockOutcome<Kind> o{space.create(), y, Scalars(9), Scalars(9)};
  std::ranges::fill(o.product.span(), std::numeric_limits<typename Kind::Number>::quiet_NaN());
  space.multiply(o.product, x, small_matrix);
  space.multiply_add(o.sum, x, small_matrix);
  space.gram(o.xy, x, y);
  space.gram(o.xx, x, x);
  return o;
}

TEST_CASE_TEMPLATE("linear algebra: products with small matrices are those of plain vectors, for every lane count",
                   Kind, Spinors<float>, Spinors<double>, Domains) {
  static_assert(solve::BlockVectorSpace<typename Kind::Space> && solve::MultiplyingVectorSpace<typename Kind::Space>);
  const double tolerance = 20 * std::numeric_limits<typename Kind::Number>::epsilon();
  std::vector<std::vector<std::complex<double>>> x, y;
  for (int c = 0; c < 3; ++c) {
    x.push_back(test::random_numbers(volume * 12, 10 + c));
    y.push_back(test::random_numbers(volume * 12, 20 + c));
  }
  for (int lanes : {1, 2, 4, 8, 16}) {
    CAPTURE(lanes);
    const auto o = exercise_block<Kind>(lanes);
    auto space = Kind::space(lanes, 3);
    auto expected = space.create(), with_y = space.create();
    for (int j = 0; j < 3; ++j) {
      std::vector<std::complex<double>> column(x[0].size()), added = y[j];
      for (int i = 0; i < 3; ++i) {
        for (std::size_t k = 0; k < column.size(); ++k) column[k] += x[i][k] * small_matrix[3 * i + j];
        const double size = std::sqrt(Plain::dot(x[i], x[i]).real() * Plain::dot(y[j], y[j]).real());
        CHECK(std::abs(o.xy[3 * i + j] - Plain::dot(x[i], y[j])) < tolerance * size);
        CHECK(std::abs(o.xx[3 * i + j] - Plain::dot(x[i], x[j])) < tolerance * size);
        CHECK(o.xx[3 * i + j] == std::conj(o.xx[3 * j + i]));
      }
      for (std::size_t k = 0; k < column.size(); ++k) added[k] += column[k];
      Kind::fill(expected, j, column);
      Kind::fill(with_y, j, added);
    }
    const auto worst = [](const auto& a, const auto& b) {
      double most = 0.0;
      for (std::int64_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::abs(static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i])));
      return most;
    };
    // Sums of three or four products of numbers of a few units.
    CHECK(worst(o.product, expected) < 2 * tolerance);
    CHECK(worst(o.sum, with_y) < 2 * tolerance);
  }
}

TEST_CASE("linear algebra: a column whose coefficients are zero is not read by a product") {
  auto space = Spinors<float>::space(16, 2);
  auto x = space.create(), y = space.create();
  from_canonical<float>(x, 0, test::random_numbers(volume * 12, 1));
  const std::vector<std::complex<double>> bad(volume * 12, std::numeric_limits<double>::quiet_NaN());
  from_canonical<float>(x, 1, bad);
  const Scalars m{2.0, -1.0, 0.0, 0.0};
  space.multiply(y, x, m);
  for (int c : {0, 1}) {
    std::vector<std::complex<double>> in(volume * 12), out(volume * 12);
    to_canonical<float>(in, x, 0);
    to_canonical<float>(out, y, c);
    std::int64_t different = 0;
    for (std::size_t i = 0; i < in.size(); ++i) different += out[i] != m[c] * in[i];
    CHECK(different == 0);
  }
}

TEST_CASE("linear algebra: small matrices of another size, and products in place, are refused") {
  auto space = Spinors<double>::space(16, 2);
  auto x = space.create(), y = space.create();
  Scalars three(3), four(4);
  CHECK_THROWS_WITH_AS(space.multiply_add(y, x, three), doctest::Contains("3 entries"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(space.gram(three, x, y), doctest::Contains("3 entries"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(space.multiply(x, x, four), doctest::Contains("own factor"), core::InvalidArgument);
  auto narrow = Spinors<double>::space(16, 1).create();
  CHECK_THROWS_WITH_AS(space.gram(four, x, narrow), doctest::Contains("36864 numbers"), core::InvalidArgument);
}

#if defined(_OPENMP)
TEST_CASE_TEMPLATE("linear algebra: a Gram matrix does not depend on the number of threads", Kind, Spinors<float>,
                   Domains) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto one = exercise_block<Kind>(4);
  for (int threads : {2, 3}) {
    omp_set_num_threads(threads);
    const auto more = exercise_block<Kind>(4);
    CHECK(more.xy == one.xy);
    CHECK(more.xx == one.xx);
    CHECK(std::equal(more.sum.span().begin(), more.sum.span().end(), one.sum.span().begin()));
  }
  omp_set_num_threads(before);
}
#endif

TEST_CASE("spinor field: columns come back as they were put in") {
  const auto layout = lattice::TileLayout::best(test::one_process(extents));
  auto field = spinor_field<double>(layout, lattice::Subset::full, 3);
  std::vector<std::vector<std::complex<double>>> in;
  for (int c = 0; c < 3; ++c) {
    in.push_back(test::random_numbers(volume * 12, 40 + c));
    from_canonical<double>(field, c, in.back());
  }
  std::vector<std::complex<double>> out(volume * 12);
  for (int c = 0; c < 3; ++c) {
    to_canonical<double>(out, field, c);
    CHECK(out == in[c]);
  }
}

}  // namespace halocline::qcd
