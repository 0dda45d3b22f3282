// SPDX-License-Identifier: Apache-2.0
//
// The fast preconditioner against its reference, and the laws that hold to the last bit: columns, threads, repetition,
// powers of two.

#include "halocline/qcd/schwarz/schwarz.hpp"

#include <doctest/doctest.h>
#include <omp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "halocline/core/cpu.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/pack.hpp"
#include "qcd/schwarz/sample.hpp"

namespace halocline::qcd::schwarz {
namespace {

using test::Box;
using test::every_term;
using test::one_process;
using test::Operation;
using test::operations;
using test::random_numbers;
using test::relative_distance;
using test::RoughLattice;
using test::sampled;
using test::schwarz_parameters;
using test::Vector;

/// A number is a sum of some 200 products, of random signs: their roundings add up to about one unit, and K, whose
/// half-steps shrink what came before, gathers no more. Measured: 0.9 units at most.
constexpr double single = 4 * std::numeric_limits<float>::epsilon();
/// Links, blocks and fields have eleven bits: a unit of rounding is 1/2048. Measured: 1.3 of them.
constexpr double half_precision = 2.5 / 2048;

struct Case {
  lattice::Coordinates<4> extents, blocks;
};
const std::vector<Case> cases{
    {{32, 6, 4, 3}, {2, 1, 1, 1}}, {{16, 4, 4, 6}, {1, 1, 1, 1}}, {{16, 4, 4, 6}, {2, 2, 1, 1}},
    {{8, 8, 8, 8}, {1, 2, 2, 2}},  {{4, 4, 4, 4}, {2, 1, 1, 1}},  {{24, 4, 4, 4}, {3, 1, 1, 1}},
    {{4, 4, 4, 4}, {2, 2, 2, 2}},  {{6, 3, 1, 5}, {2, 1, 1, 1}},  {{2, 3, 2, 2}, {2, 3, 1, 2}},
};

void compare(const RoughLattice& lattice, const WilsonCloverAction& action, const Parameters& parameters,
             const std::vector<Parameters>& variants, double tolerance) {
  const auto geometry = one_process(lattice.extents);
  const GaugeField gauge = lattice.gauge(geometry);
  const Reference reference(gauge, action, parameters);
  std::vector<Vector> expected;
  for (const auto operation : operations) expected.push_back(test::run(reference, operation, lattice.psi));
  for (const auto& variant : variants) {
    Schwarz fast(gauge, action, variant);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      CAPTURE(lattice.extents[0]);
      CAPTURE(parameters.blocks[0]);
      CAPTURE(parameters.blocks[1]);
      CAPTURE(variant.lanes);
      CAPTURE(variant.link_reals);
      CAPTURE(i);
      CHECK(relative_distance(test::run(fast, operations[i], lattice.psi), expected[i]) < tolerance);
    }
  }
}

/// Whether a small box leaves an even-odd inverse in 16 bits without a register of tiles of one parity.
bool too_few_lanes(const std::string& storage, const std::string& inner) {
  return storage == "half" && inner == "even-odd";
}

/// The same bits in all numbers.
bool identical(const Schwarz::Field& a, const Schwarz::Field& b) {
  return std::equal(a.span().begin(), a.span().end(), b.span().begin(), b.span().end(), [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

}  // namespace

TEST_CASE("schwarz: every operation equals its written-out formula, for any domains and lanes") {
  for (int i : sampled<std::vector<int>>({0, 1, 2, 3, 4, 5, 6, 7, 8}, {4, 7, 8})) {
    const Case& c = cases[static_cast<std::size_t>(i)];
    const RoughLattice lattice(c.extents);
    const Parameters parameters = schwarz_parameters(c.blocks, 2);
    std::vector<Parameters> variants;
    for (int lanes : {0, 1, 2, 4, 8, 16}) {
      variants.push_back(parameters);
      variants.back().lanes = lanes;
    }
    variants.push_back(parameters);
    variants.back().link_reals = 12;
    compare(lattice, every_term(), parameters, variants, single);
  }
}

TEST_CASE("schwarz: number of sweeps, number of steps and kind of inverse are those of the formula") {
  const RoughLattice lattice(sampled<Box>({16, 6, 4, 4}, {16, 2, 2, 2}), 3);
  for (const auto& [nsap, steps] : {std::pair{4, 2}, {0, 2}, {1, 1}, {2, 3}, {0, 4}})
    for (const char* inner : {"jacobi", "even-odd", "minres"}) {
      const auto parameters = schwarz_parameters({2, 1, 1, 2}, nsap, steps, inner);
      compare(lattice, every_term(), parameters, {parameters}, single);
    }
}

TEST_CASE("schwarz: even-odd steps are those of the formula for any domains and lanes") {
  for (int i : sampled<std::vector<int>>({0, 1, 2, 3, 4, 5, 6, 7, 8}, {4, 7, 8})) {
    const Case& c = cases[static_cast<std::size_t>(i)];
    const RoughLattice lattice(c.extents, 4);
    const Parameters parameters = schwarz_parameters(c.blocks, 2, 2, "even-odd");
    std::vector<Parameters> variants;
    for (int lanes : {0, 1, 4}) {
      variants.push_back(parameters);
      variants.back().lanes = lanes;
    }
    variants.push_back(parameters);
    variants.back().link_reals = 12;
    compare(lattice, every_term(), parameters, variants, single);
  }
}

TEST_CASE("schwarz: minimal residual sums over each domain for any layout") {
  for (int i : sampled<std::vector<int>>({0, 2, 5, 7}, {4})) {
    const Case& c = cases[static_cast<std::size_t>(i)];
    const RoughLattice lattice(c.extents, 5);
    const auto parameters = schwarz_parameters(c.blocks, 1, 3, "minres");
    std::vector<Parameters> variants(3, parameters);
    variants[1].lanes = 4;
    variants[2].link_reals = 12;
    compare(lattice, every_term(), parameters, variants, single);
  }
}

TEST_CASE("schwarz: without a clover term, and with periodic edges, the formula holds as well") {
  const RoughLattice lattice(sampled<Box>({16, 4, 6, 4}, {8, 4, 2, 2}), 7);
  const auto parameters = schwarz_parameters({2, 2, 1, 1});
  auto twelve = parameters;
  twelve.link_reals = 12;
  compare(lattice, {.mass = 0.3}, parameters, {parameters, twelve}, single);
  compare(lattice, {.mass = 0.5, .csw = 1.0, .boundary = {1., 1., 1., 1.}}, parameters, {parameters, twelve}, single);
}

TEST_CASE("schwarz: a domain that outgrows the second-level cache follows the same formula" *
          doctest::skip(test::takes_samples)) {
  const RoughLattice lattice({32, 6, 8, 6}, 9);
  const auto parameters = Parameters::fugaku();
  compare(lattice, every_term(), parameters, {parameters}, single);
}

TEST_CASE("schwarz: a wavefront through a domain gives the bits of pass after pass, for any steps and threads" *
          doctest::skip(test::takes_samples)) {
  const RoughLattice lattice({16, 4, 4, 6}, 10);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  // So many columns that a domain does not fit the second-level cache: 24 floats of four fields for each site.
  const auto domain_bytes =
      4 * 24 * static_cast<std::int64_t>(sizeof(float)) * lattice::product<4>(lattice.extents) / 4;
  const int columns = 1 + static_cast<int>(core::second_level_cache_bytes() / domain_bytes);
  std::vector<Vector> in(static_cast<std::size_t>(columns), lattice.psi);
  in.back() = random_numbers(std::ssize(lattice.psi), 12);
  const int usual = omp_get_max_threads();
  for (const auto& [steps, inner] :
       {std::pair{1, "jacobi"}, {2, "jacobi"}, {3, "jacobi"}, {4, "jacobi"}, {1, "even-odd"}, {2, "even-odd"}}) {
    const auto parameters = schwarz_parameters({2, 2, 1, 1}, 1, steps, inner);
    Schwarz alone(gauge, every_term(), parameters), together(gauge, every_term(), parameters, columns);
    for (const auto operation : {Operation::precondition, Operation::preconditioned}) {
      const Vector first = test::run(alone, operation, in.front()), last = test::run(alone, operation, in.back());
      for (int threads : {1, 3}) {
        omp_set_num_threads(threads);
        const auto out = test::run(together, operation, in);
        omp_set_num_threads(usual);
        CHECK(out.front() == first);
        CHECK(out.back() == last);
      }
    }
  }
}

TEST_CASE("schwarz: how far ahead links are requested, asked for or tried out, changes no bit" *
          doctest::skip(test::takes_samples)) {
  // More than 2 MiB of links and blocks, so that there is something to try.
  const RoughLattice lattice({16, 8, 8, 4}, 21);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  for (const char* inner : {"jacobi", "even-odd"}) {
    auto parameters = schwarz_parameters({2, 1, 1, 1}, 1, 2, inner);
    parameters.prefetch = 0;
    Schwarz plain(gauge, every_term(), parameters);
    CHECK(plain.prefetch() == 0);
    const Vector expected = test::run(plain, Operation::preconditioned, lattice.psi);
    for (int prefetch : {1, 3, 64, -1}) {
      parameters.prefetch = prefetch;
      Schwarz ahead(gauge, every_term(), parameters);
      CHECK((prefetch < 0 ? ahead.prefetch() >= 0 && ahead.prefetch() <= 4 : ahead.prefetch() == prefetch));
      CHECK(test::run(ahead, Operation::preconditioned, lattice.psi) == expected);
    }
  }
  auto wrong = schwarz_parameters({2, 1, 1, 1});
  wrong.prefetch = 65;
  CHECK_THROWS_WITH_AS(wrong.validate(),
                       "a prefetch of 65 tiles was asked for; give 0 to 64, or -1 to have it tried out",
                       core::InvalidArgument);
}

TEST_CASE("schwarz: the pieces in which the passes go through a large domain change no bit" *
          doctest::skip(test::takes_samples)) {
  // Larger than a second-level cache of 2 MiB, and with single lanes along y, z and t: 16 lanes along x, and 8 where
  // tiles have one parity.
  const RoughLattice lattice({32, 6, 6, 8}, 22);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  const int usual = omp_get_max_threads();
  for (const char* inner : {"jacobi", "even-odd"})
    for (int steps : {1, 2, 3}) {
      auto parameters = schwarz_parameters({2, 1, 1, 1}, 1, steps, inner);
      if (parameters.inner == "even-odd") parameters.lanes = 8;
      parameters.pieces = {1, 1};
      Schwarz plain(gauge, every_term(), parameters);
      CHECK(plain.pieces() == std::array{1, 1});
      const Vector expected = test::run(plain, Operation::preconditioned, lattice.psi);
      for (const std::array<int, 2> pieces : {std::array{1, 2}, {3, 1}, {2, 3}, {6, 6}, {0, 0}}) {
        parameters.pieces = pieces;
        for (int threads : {1, 2}) {
          CAPTURE(steps);
          CAPTURE(threads);
          omp_set_num_threads(threads);
          Schwarz cut(gauge, every_term(), parameters);
          if (pieces[0] > 0) CHECK(cut.pieces() == pieces);
          CHECK(test::run(cut, Operation::preconditioned, lattice.psi) == expected);
          omp_set_num_threads(usual);
        }
      }
    }
  auto wrong = schwarz_parameters({2, 1, 1, 1});
  wrong.pieces = {2, 0};
  CHECK_THROWS_WITH_AS(wrong.validate(),
                       "domains in 2 x 0 pieces were asked for; give two numbers from 1, or 0 0 to have them tried out",
                       core::InvalidArgument);
  wrong.pieces = {1, 7};
  CHECK_THROWS_WITH_AS(
      Schwarz(gauge, every_term(), wrong),
      "domains in 7 pieces along z were asked for, but a domain has 6 tiles there; give 1 to 6, or 0 0 to have them "
      "tried out",
      core::InvalidArgument);
}

TEST_CASE("schwarz: numbers of 16 bits give the formula to 16 bits") {
  const RoughLattice lattice(sampled<Box>({32, 6, 4, 3}, {16, 4, 2, 1}), 11);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  for (const char* inner : {"jacobi", "even-odd", "minres"})
    for (int link_reals : {18, 12}) {
      if (test::takes_samples && too_few_lanes("half", inner)) continue;
      auto parameters = schwarz_parameters({2, 1, 1, 1}, 4, 2, inner);
      parameters.storage = "half";
      parameters.arithmetic = "float";
      parameters.link_reals = link_reals;
      const Reference reference(gauge, every_term(), parameters);
      Schwarz fast(gauge, every_term(), parameters);
      CHECK(!fast.linear());
      const Vector k = test::run(fast, Operation::precondition, lattice.psi);
      const double distance = relative_distance(k, reference.precondition(lattice.psi));
      CHECK(distance < half_precision);
      CHECK(distance > single);  // or it was not 16 bits
      // The operator itself stays in single precision: D' K b is D' of the K b above.
      CHECK(relative_distance(test::run(fast, Operation::preconditioned, lattice.psi), reference.apply(k)) < single);
      CHECK(relative_distance(test::run(fast, Operation::apply, lattice.psi), reference.apply(lattice.psi)) < single);
    }
}

TEST_CASE("schwarz: in 16 bits a power of two goes through K unchanged, however large or small") {
  const RoughLattice lattice(sampled<Box>({16, 4, 4, 4}, {8, 4, 2, 2}), 13);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  auto parameters = schwarz_parameters({2, 1, 1, 1});
  parameters.storage = "half";
  Schwarz fast(gauge, every_term(), parameters);
  const Vector expected = test::run(fast, Operation::precondition, lattice.psi);
  for (int exponent : {-90, -30, -1, 10, 60, 100}) {
    Vector scaled = lattice.psi;
    for (auto& z : scaled) z = {std::ldexp(z.real(), exponent), std::ldexp(z.imag(), exponent)};
    Vector out = test::run(fast, Operation::precondition, scaled);
    for (auto& z : out) z = {std::ldexp(z.real(), -exponent), std::ldexp(z.imag(), -exponent)};
    CHECK(out == expected);
  }
}

TEST_CASE("schwarz: K of nothing is nothing") {
  const RoughLattice lattice(sampled<Box>({16, 4, 4, 4}, {8, 4, 2, 2}), 13);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  for (const char* storage : {"float", "half"})
    for (const char* inner : {"jacobi", "even-odd", "minres"}) {
      if (test::takes_samples && too_few_lanes(storage, inner)) continue;
      auto parameters = schwarz_parameters({2, 1, 1, 1}, 1, 2, inner);
      parameters.storage = storage;
      Schwarz fast(gauge, every_term(), parameters);
      const Vector nothing(lattice.psi.size());
      CHECK(test::run(fast, Operation::precondition, nothing) == nothing);
      CHECK(test::run(fast, Operation::preconditioned, nothing) == nothing);
    }
}

TEST_CASE("schwarz: a column has the same bits alone and among others") {
  const RoughLattice lattice(sampled<Box>({16, 6, 4, 3}, {16, 4, 2, 1}), 15);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  for (int columns : sampled<std::vector<int>>({3, 12}, {3})) {
    std::vector<Vector> in;
    for (int c = 0; c < columns; ++c) {
      in.push_back(random_numbers(std::ssize(lattice.psi), static_cast<unsigned>(20 + c)));
      for (auto& z : in.back()) z *= c + 1;
    }
    for (const char* storage : {"float", "half"})
      for (const char* inner : {"jacobi", "even-odd", "minres"}) {
        if (storage == std::string("half") && inner == std::string("even-odd"))
          continue;  // too few lanes of one parity
        auto parameters = schwarz_parameters({2, 2, 1, 1}, 1, 2, inner);
        parameters.storage = storage;
        parameters.link_reals = columns == 3 ? 18 : 12;
        Schwarz alone(gauge, every_term(), parameters), together(gauge, every_term(), parameters, columns);
        for (const auto operation : operations) {
          const auto all = test::run(together, operation, in);
          for (int c : {0, 1, columns - 1}) CHECK(test::run(alone, operation, in[c]) == all[c]);
        }
      }
  }
}

TEST_CASE("schwarz: a column of zeros stays zero and disturbs no other") {
  const RoughLattice lattice(sampled<Box>({16, 4, 4, 4}, {8, 4, 2, 2}), 17);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  for (const char* storage : {"float", "half"}) {
    auto parameters = schwarz_parameters({2, 1, 1, 1}, 1, 2, "minres");
    parameters.storage = storage;
    Schwarz two(gauge, every_term(), parameters, 2), one(gauge, every_term(), parameters);
    const Vector nothing(lattice.psi.size());
    const auto out = test::run(two, Operation::precondition, std::vector<Vector>{nothing, lattice.psi});
    CHECK(out[0] == nothing);
    CHECK(out[1] == test::run(one, Operation::precondition, lattice.psi));
  }
}

TEST_CASE("schwarz: the number of threads changes no bit, and neither does another time") {
  const RoughLattice lattice(sampled<Box>({16, 4, 6, 4}, {8, 4, 2, 4}), 19);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  const int usual = omp_get_max_threads();
  for (const char* storage : {"float", "half"})
    for (const char* inner : {"jacobi", "even-odd", "minres"}) {
      if (too_few_lanes(storage, inner)) continue;
      auto parameters = schwarz_parameters({2, 1, 1, 2}, 2, 2, inner);
      parameters.storage = storage;
      Schwarz fast(gauge, every_term(), parameters, 2);
      auto in = fast.create();
      from_canonical(in, 0, lattice.psi);
      from_canonical(in, 1, random_numbers(std::ssize(lattice.psi), 20));
      for (const auto operation : operations) {
        auto first = fast.create(), again = fast.create();
        omp_set_num_threads(1);
        test::run(fast, operation, first, in);
        for (int threads : sampled<std::vector<int>>({1, 2, 3, 5}, {3})) {
          omp_set_num_threads(threads);
          test::run(fast, operation, again, in);
          CHECK(identical(first, again));
        }
      }
    }
  omp_set_num_threads(usual);
}

TEST_CASE("schwarz: inside a domain nothing outside it is read or written") {
  const RoughLattice lattice(sampled<Box>({16, 4, 4, 4}, {8, 4, 2, 2}), 21);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  const auto parameters = schwarz_parameters({2, 2, 1, 1}, 1, 2, "minres");
  Schwarz fast(gauge, every_term(), parameters);
  const Reference reference(gauge, every_term(), parameters);
  auto in = fast.create(), masked = fast.create();
  from_canonical(in, 0, lattice.psi);
  for (int colour : {0, 1}) {
    from_canonical(masked, 0, reference.on_colour(lattice.psi, colour));
    auto out = fast.create(), from_masked = fast.create();
    Vector result(lattice.psi.size());
    for (auto operation : {&Schwarz::apply_inside, &Schwarz::invert_inside}) {
      (fast.*operation)(out, in, colour);
      (fast.*operation)(from_masked, masked, colour);
      CHECK(identical(out, from_masked));
      to_canonical(result, out, 0);
      CHECK(result == reference.on_colour(result, colour));
      CHECK(relative_distance(reference.on_colour(lattice.psi, colour), result) > 0.01);
    }
  }
}

TEST_CASE("schwarz: A^-1 is that of the reference") {
  const RoughLattice lattice({16, 6, 4, 3}, 23);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  for (const auto& action : {every_term(), WilsonCloverAction{.mass = 0.3}}) {
    const auto parameters = schwarz_parameters({2, 1, 1, 1});
    Schwarz fast(gauge, action, parameters, 2);
    auto v = fast.create();
    from_canonical(v, 1, lattice.psi);
    fast.multiply_inverse_clover(v);
    Vector out(lattice.psi.size());
    to_canonical(out, v, 1);
    CHECK(relative_distance(out, Reference(gauge, action, parameters).multiply_inverse_clover(lattice.psi)) < single);
    to_canonical(out, v, 0);
    CHECK(out == Vector(out.size()));
  }
}

TEST_CASE("schwarz: canonical order and back is the identity, for every column") {
  const RoughLattice lattice({16, 6, 4, 3}, 25);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  Schwarz fast(gauge, {.mass = 0.3}, schwarz_parameters({2, 1, 1, 1}), 2);
  auto field = fast.create();
  Vector exact = lattice.psi;  // what a float holds
  for (auto& z : exact) z = {std::round(1024 * z.real()) / 1024, std::round(1024 * z.imag()) / 1024};
  from_canonical(field, 1, exact);
  Vector out(exact.size());
  to_canonical(out, field, 1);
  CHECK(out == exact);
  to_canonical(out, field, 0);
  CHECK(out == Vector(out.size()));
  CHECK_THROWS_AS(from_canonical(field, 2, lattice.psi), core::InvalidArgument);
  CHECK_THROWS_AS(to_canonical(std::span(out).first(12), field, 0), core::InvalidArgument);
}

TEST_CASE("schwarz: domains are chosen where none are given") {
  const RoughLattice lattice({8, 4, 4, 4}, 27);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  const Schwarz fast(gauge, {.mass = 0.3}, schwarz_parameters({0, 0, 0, 0}));
  const auto& blocks = fast.layout()->blocks();
  CHECK(lattice::product<4>(blocks) > 1);
  const Reference reference(gauge, {.mass = 0.3}, schwarz_parameters(blocks));
  Schwarz again(gauge, {.mass = 0.3}, schwarz_parameters({0, 0, 0, 0}));
  CHECK(relative_distance(test::run(again, Operation::precondition, lattice.psi), reference.precondition(lattice.psi)) <
        single);
}

TEST_CASE("schwarz: what cannot be done is refused with what can") {
  const RoughLattice lattice({8, 4, 4, 6}, 29);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  const auto refused = [&](auto change, const char* sentence) {
    auto parameters = schwarz_parameters({2, 1, 1, 1});
    change(parameters);
    CHECK_THROWS_WITH_AS(Schwarz(gauge, {.mass = 0.3}, parameters), doctest::Contains(sentence), core::InvalidArgument);
  };
  refused([](Parameters& p) { p.inner = "ilu"; }, "jacobi, even-odd, minres");
  refused([](Parameters& p) { p.storage = "double"; }, "float, half");
  refused([](Parameters& p) { p.nsap = -1; }, "nsap is -1");
  refused([](Parameters& p) { p.steps = 0; }, "0 steps");
  refused([](Parameters& p) { p.link_reals = 8; }, "18 or 12");
  refused([](Parameters& p) { p.lanes = 3; }, "3 lanes");
  refused([](Parameters& p) { p.blocks = {3, 1, 1, 1}; }, "a number that divides 8");
  if (core::native_lanes<float> == 16)
    refused(
        [](Parameters& p) {
          p.blocks = {4, 2, 2, 2};
          p.storage = "half";
        },
        "store the preconditioner in float");
  CHECK_THROWS_WITH_AS(Schwarz(gauge, {.mass = 0.3}, Parameters{}, 0), doctest::Contains("0 columns"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(Schwarz(gauge, {.mass = -4.5}, Parameters{}), doctest::Contains("must be positive"),
                       core::InvalidArgument);
  GaugeField crooked = gauge;
  auto u = crooked.link({0, 0, 0, 0}, 1);
  u.e[0][0].re += 0.01;
  crooked.set_link({0, 0, 0, 0}, 1, u);
  auto twelve = schwarz_parameters({2, 1, 1, 1});
  twelve.link_reals = 12;
  CHECK_THROWS_WITH_AS(Schwarz(crooked, {.mass = 0.3}, twelve), doctest::Contains("take 18 reals a link"),
                       core::InvalidArgument);

  Schwarz fast(gauge, {.mass = 0.3}, schwarz_parameters({2, 1, 1, 1}));
  Schwarz other(gauge, {.mass = 0.3}, schwarz_parameters({2, 1, 1, 1}), 2);
  auto in = fast.create(), out = fast.create(), two = other.create();
  CHECK_THROWS_WITH_AS(fast.apply(in, in), doctest::Contains("two different fields"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(fast.precondition(two, in), doctest::Contains("make them by its create()"),
                       core::InvalidArgument);
}

}  // namespace halocline::qcd::schwarz
