// SPDX-License-Identifier: Apache-2.0
//
// The preconditioner computed in 16 bits: against the written-out formula within what its roundings add up to, over the
// whole range of float, and inside a solver. Where the instruction set has no such numbers they are emulated.

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/core/half_pack.hpp"
#include "halocline/qcd/schwarz/schwarz_solver.hpp"
#include "halocline/qcd/wilson/wilson_clover.hpp"
#include "qcd/schwarz/sample.hpp"

namespace halocline::qcd::schwarz {
namespace {

using test::Box;
using test::every_term;
using test::one_process;
using test::Operation;
using test::random_numbers;
using test::relative_distance;
using test::RoughLattice;
using test::sampled;
using test::schwarz_parameters;
using test::Vector;

/// A rounding to 11 bits is evenly spread over at most 2^-11 on either side: this is its root mean square.
const double rounding = std::ldexp(1.0, -11) / std::sqrt(3.0);

Parameters in_half(const lattice::Coordinates<4>& blocks, int nsap, int steps = 2, const std::string& inner = "jacobi",
                   int link_reals = 18) {
  Parameters parameters = schwarz_parameters(blocks, nsap, steps, inner);
  parameters.storage = "half";
  parameters.arithmetic = "half";
  parameters.link_reals = link_reals;
  return parameters;
}

double norm2(const Vector& v) {
  double sum = 0;
  for (const auto& z : v) sum += std::norm(z);
  return sum;
}
double distance2(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::norm(a[i] - b[i]);
  return sum;
}

/// At most the root mean square distance between K in half and K, relative to K b, from the number of its roundings.
///
/// Each is of a number whose variance is known as a part of the whole; roundings are independent, so squares add up.
/// In units of (rounding x result)^2, a row of U h of three complex products takes 1 (the six products, a sixth of the
/// variance each) + 20/6 (the partial sums of 2 to 6) + 1 (the links as stored) + 1 (h); with two rows stored the third
/// is itself a sum of four products of two rounded factors with a factor, 6 instead of 1. The sum over directions takes
/// 36/8, and B times it, with the same account for 11 products, 1 + 65/11 + 1. All this is smaller than the field by
/// what B hop shrinks it. A Jacobi step adds one rounding of the field, a residual two, the sweeps add up z in nsap + 1
/// sums. What a half-step makes is relative to its z. Where products are fused with sums, or the mantissas of the
/// results are not all near 1, it is less: measured are 0.30 to 0.56 of this.
double expected_distance(const GaugeField& gauge, const WilsonCloverAction& action, Parameters parameters,
                         const Vector& b) {
  const double links = parameters.link_reals == 12 ? 6.0 : 1.0;
  const double row = 1.0 + 20.0 / 6 + links + 1.0;
  const double b_hop = row + 36.0 / 8 + 1.0 + 65.0 / 11 + 1.0;
  const int updates = parameters.inner == "minres" ? 3 : 1;  // of a step: two vectors, one of them read again
  Vector x(b.size()), before;
  double corrections = 0;
  const int sweeps = parameters.nsap + 1;
  for (parameters.nsap = 0; parameters.nsap < sweeps; ++parameters.nsap) {
    before = std::exchange(x, Reference(gauge, action, parameters).precondition(b));
    corrections += distance2(x, before);
  }
  const double all = norm2(x);
  // What B hop makes of a vector like K b.
  const double shrink = distance2(x, Reference(gauge, action, parameters).apply(x)) / all;
  const double half_step = shrink * b_hop + 2.0 + parameters.steps * (shrink * b_hop + updates);
  return rounding * std::sqrt(half_step * corrections / all + sweeps);
}

void compare(const RoughLattice& lattice, const WilsonCloverAction& action, const Parameters& parameters) {
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  Schwarz fast(gauge, action, parameters);
  CHECK(fast.arithmetic() == "half");
  CHECK(!fast.linear());
  const Reference reference(gauge, action, parameters);
  const Vector k = test::run(fast, Operation::precondition, lattice.psi);
  const double distance = relative_distance(k, reference.precondition(lattice.psi));
  const double expected = expected_distance(gauge, action, parameters, lattice.psi);
  CAPTURE(lattice.extents[0]);
  CAPTURE(parameters.blocks[0]);
  CAPTURE(parameters.blocks[1]);
  CAPTURE(parameters.link_reals);
  CAPTURE(parameters.inner);
  CAPTURE(parameters.nsap);
  CHECK(distance < expected);
  CHECK(distance > expected / 4);  // or it was not computed in 16 bits
}

}  // namespace

TEST_CASE("schwarz in half: K is its written-out formula to the roundings of 16 bits, for any domains that fit") {
  struct Case {
    Box extents, blocks;
  };
  const std::vector<Case> cases{
      {{32, 6, 4, 3}, {2, 1, 1, 1}}, {{16, 4, 4, 6}, {1, 1, 1, 1}}, {{16, 4, 4, 6}, {2, 2, 1, 1}},
      {{8, 4, 4, 8}, {1, 2, 2, 2}},  {{4, 4, 4, 4}, {2, 1, 1, 1}},  {{24, 4, 4, 4}, {3, 1, 1, 1}},
      {{32, 3, 1, 3}, {1, 3, 1, 1}}, {{16, 3, 3, 4}, {1, 1, 1, 2}}, {{4, 2, 2, 4}, {1, 1, 1, 1}},
      {{16, 3, 1, 2}, {1, 3, 1, 1}}, {{2, 4, 12, 4}, {1, 1, 3, 1}},
  };
  int fitting = 0;
  for (int i : sampled<std::vector<int>>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {4, 8, 9})) {
    const Case& c = cases[static_cast<std::size_t>(i)];
    const auto layout = lattice::DomainLayout::best(one_process(c.extents), c.blocks, core::native_lanes<float>);
    if (layout->lanes() < core::native_lanes<float> || !layout->doubled()) continue;
    ++fitting;
    const RoughLattice lattice(c.extents);
    compare(lattice, every_term(), in_half(c.blocks, 1));
    if (i % 3 == 1) compare(lattice, every_term(), in_half(c.blocks, 2, 1, "jacobi", 12));
  }
  CHECK(fitting > 2);
}

TEST_CASE("schwarz in half: sweeps, steps, kinds of inverse and actions are those of the formula") {
  const RoughLattice lattice(sampled<Box>({16, 6, 4, 4}, {4, 4, 4, 4}), 3);
  const Box blocks{2, 1, 1, 1};
  compare(lattice, every_term(), in_half(blocks, 0, 1));
  compare(lattice, every_term(), in_half(blocks, 1, 3, "minres"));
  // An even-odd inverse needs tiles of one parity, so two sites along each axis with lanes.
  compare(RoughLattice({8, 4, 4, 4}, 4), every_term(), in_half({1, 1, 1, 1}, 1, 2, "even-odd"));
  compare(lattice, {.mass = 0.3}, in_half(blocks, 1));
  compare(lattice, {.mass = 0.5, .csw = 1.0, .boundary = {1., 1., 1., 1.}}, in_half(blocks, 1, 1, "jacobi", 12));
  if (!test::takes_samples) {
    compare(lattice, every_term(), in_half(blocks, 4, 2));
    // A mass whose blocks would be subnormal numbers as they are.
    compare(lattice, {.mass = 1e5, .csw = 1.0}, in_half(blocks, 1));
  }
}

TEST_CASE("schwarz in half: a power of two goes through K unchanged, and any number to the roundings") {
  const RoughLattice lattice(sampled<Box>({16, 4, 4, 4}, {4, 4, 4, 4}), 13);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  const Parameters parameters = in_half({2, 1, 1, 1}, 1);
  Schwarz fast(gauge, every_term(), parameters);
  const Vector expected = test::run(fast, Operation::precondition, lattice.psi);
  const auto scaled = [&](double factor) {
    Vector in = lattice.psi;
    for (auto& z : in) z *= factor;
    Vector out = test::run(fast, Operation::precondition, in);
    for (auto& z : out) z /= factor;
    return out;
  };
  for (int exponent : {-100, -30, 1, 60, 110}) CHECK(scaled(std::ldexp(1.0, exponent)) == expected);
  const double bound = expected_distance(gauge, every_term(), parameters, lattice.psi);
  for (double factor : {1e-30, 1e30}) CHECK(relative_distance(scaled(factor), expected) < 2 * bound);
}

TEST_CASE("schwarz in half: one site alone, far above all others, does not leave the range") {
  const RoughLattice lattice(sampled<Box>({16, 4, 4, 4}, {4, 4, 4, 4}), 17);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  const Parameters parameters = in_half({2, 1, 1, 1}, 2);
  Schwarz fast(gauge, every_term(), parameters);
  const Reference reference(gauge, every_term(), parameters);
  Vector point(lattice.psi.size());
  point[5] = {1e20, -2e20};
  const double bound = expected_distance(gauge, every_term(), parameters, point);
  CHECK(relative_distance(test::run(fast, Operation::precondition, point), reference.precondition(point)) < bound);
  // The rest lies at the lower end of the range then, and is still there, to the units of the largest number.
  for (std::size_t i = 12; i < point.size(); ++i) point[i] = 1e16 * lattice.psi[i];
  CHECK(relative_distance(test::run(fast, Operation::precondition, point), reference.precondition(point)) < bound);
}

TEST_CASE("schwarz in half: columns, threads and nothing at all") {
  const RoughLattice lattice(sampled<Box>({16, 4, 4, 4}, {4, 4, 4, 4}), 19);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  const Vector nothing(lattice.psi.size());
  for (const char* inner : {"jacobi", "minres"}) {
    const Parameters parameters = in_half({2, 1, 1, 1}, 1, 2, inner);
    Schwarz three(gauge, every_term(), parameters, 3), alone(gauge, every_term(), parameters);
    std::vector<Vector> in{lattice.psi, nothing, random_numbers(std::ssize(nothing), 20)};
    for (auto& z : in[2]) z *= 1e-12;
    const auto out = test::run(three, Operation::precondition, in);
    for (std::size_t c = 0; c < in.size(); ++c) CHECK(out[c] == test::run(alone, Operation::precondition, in[c]));
    CHECK(out[1] == nothing);
    // D' stays in float: D' K b is D' of the K b above.
    const auto composed = test::run(three, Operation::preconditioned, in);
    CHECK(composed == test::run(three, Operation::apply, out));
  }
}

TEST_CASE("schwarz in half: a solver around it reaches 1e-10") {
  const Box extents = sampled<Box>({8, 4, 4, 4}, {4, 4, 4, 2});
  const RoughLattice lattice(extents, 1);
  const auto geometry = one_process(extents);
  const GaugeField gauge = lattice.gauge(geometry);
  const WilsonCloverAction action{.mass = 0.3, .csw = 1.1};
  const WilsonClover<double> d(WilsonSetup(gauge, action));
  auto b = spinor_field<double>(d.layout(), lattice::Subset::full, 1), x = b;
  qcd::from_canonical<double>(b, 0, lattice.psi);
  solve::SolveOptions options;
  options.tolerance = 1e-10;
  for (const char* inner : sampled<std::vector<const char*>>({"jacobi", "minres"}, {"jacobi"})) {
    int iterations[2];
    for (int half : {0, 1}) {
      Parameters parameters = in_half({2, 1, 1, 1}, 0, 1, inner);
      parameters.arithmetic = half == 1 ? "half" : "float";
      SchwarzSolver solver(d, gauge, action, parameters);
      const auto result = solver.solve(x, b, options);
      CHECK(result.converged());
      CHECK(result.residual[0] <= 1e-10);
      iterations[half] = result.iterations;
    }
    // Half as many again would say that K is not what it should be.
    CHECK(2 * iterations[1] <= 3 * iterations[0]);
    MESSAGE(inner << ": " << iterations[0] << " iterations computed in float, " << iterations[1] << " in half");
  }
}

TEST_CASE("schwarz in half: arithmetic is chosen where it can be, and refused with what can") {
  const RoughLattice lattice({8, 4, 4, 4}, 29);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  auto parameters = in_half({2, 1, 1, 1}, 1);
  parameters.arithmetic = "auto";
  CHECK(Schwarz(gauge, {.mass = 0.3}, parameters).arithmetic() == (core::native_half ? "half" : "float"));
  parameters.arithmetic = "float";
  CHECK(Schwarz(gauge, {.mass = 0.3}, parameters).arithmetic() == "float");
  parameters.storage = "float";
  CHECK(Schwarz(gauge, {.mass = 0.3}, parameters).arithmetic() == "float");
  const auto refused = [&](const Parameters& p, const char* sentence) {
    CHECK_THROWS_WITH_AS(Schwarz(gauge, {.mass = 0.3}, p), doctest::Contains(sentence), core::InvalidArgument);
  };
  parameters.arithmetic = "half";
  refused(parameters, "store them in half, or compute in float");
  parameters.arithmetic = "double";
  refused(parameters, "auto, float, half");
  // Domains as large as a register of floats: 16 bits are stored there, and computed with in float.
  Box blocks{1, 1, 1, 1};
  for (int axis = 0; lattice::product<4>(lattice.extents) / lattice::product<4>(blocks) > core::native_lanes<float>;
       axis = (axis + 1) % 4)
    if (lattice.extents[axis] / blocks[axis] > 1) blocks[axis] *= 2;
  auto smallest = in_half(blocks, 1);
  refused(smallest, "compute in float, or choose domains whose extents have more factors of 2");
  smallest.arithmetic = "auto";
  CHECK(Schwarz(gauge, {.mass = 0.3}, smallest).arithmetic() == "float");
}

}  // namespace halocline::qcd::schwarz
