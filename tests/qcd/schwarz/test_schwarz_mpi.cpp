// SPDX-License-Identifier: Apache-2.0
//
// The preconditioner on every process grid of the ranks: against its reference on the same grid, which in turn does not
// depend on the grid. Each operation runs three times, so that both buffer pairs of the exchange are used again.

#include <doctest/doctest.h>
#include <omp.h>

#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halocline/comm/exchange/transport.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/pack.hpp"
#include "qcd/schwarz/sample.hpp"

namespace halocline::qcd::schwarz {
namespace {

using lattice::Coordinates;
using test::Operation;
using test::Vector;

constexpr Coordinates<4> extents{24, 4, 6, 4};
constexpr double single = 4 * std::numeric_limits<float>::epsilon();  // as in test_schwarz.cpp
constexpr double half_precision = 2.5 / 2048;
/// Computed in half, with nsap = 1: that of test_half_arithmetic.cpp with corrections that are at most twice K b.
constexpr double in_half_precision = 10.0 / 2048;

/// Few ranks, and few grids of them.
bool few() { return comm::world().size() <= 3; }

bool divides(const lattice::Geometry4& geometry, const Coordinates<4>& blocks) {
  for (int axis = 0; axis < 4; ++axis)
    if (geometry.local()[axis] % blocks[axis] != 0) return false;
  return true;
}

/// Calls action(geometry, blocks) for every grid with some of the ways to cut its boxes: rings of domains of even and
/// odd length, within a process and across several.
/// @param every  of the grids only each so-manieth
template <class Action>
void for_each_cut(const Coordinates<4>& global, std::size_t ways_a_grid, std::size_t every, Action&& action) {
  const std::vector<Coordinates<4>> ways{{2, 1, 1, 1}, {1, 1, 1, 1}, {3, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 3, 2}};
  const Coordinates<4> multiple{2, 1, 1, 1};
  const auto world = comm::world();
  std::size_t next = 0;
  const auto grids = comm::possible_grids(global, world.size(), multiple);
  for (std::size_t i = 0; i < grids.size(); i += every) {
    const auto& dims = grids[i];
    const auto geometry = std::make_shared<const lattice::Geometry4>(global, comm::ProcessGrid(world, dims));
    std::size_t taken = 0;
    for (std::size_t tried = 0; tried < ways.size() && taken < ways_a_grid; ++tried) {
      const auto& blocks = ways[next++ % ways.size()];
      if (!divides(*geometry, blocks)) continue;
      ++taken;
      CAPTURE(dims[0]);
      CAPTURE(dims[1]);
      CAPTURE(dims[2]);
      CAPTURE(dims[3]);
      CAPTURE(blocks[0]);
      CAPTURE(blocks[1]);
      action(geometry, blocks);
    }
  }
}

double distance(const lattice::Geometry4& geometry, const Vector& a, const Vector& b) {
  double sums[2] = {0, 0};
  for (std::size_t i = 0; i < b.size(); ++i) {
    sums[0] += std::norm(a[i] - b[i]);
    sums[1] += std::norm(b[i]);
  }
  geometry.communicator().sum(std::span<double>(sums));
  return std::sqrt(sums[0] / sums[1]);
}

/// Three times; all have the same bits.
std::vector<Vector> run_thrice(Schwarz& fast, Operation operation, const std::vector<Vector>& in) {
  const auto first = test::run(fast, operation, in);
  for (int i = 0; i < 2; ++i) CHECK(test::run(fast, operation, in) == first);
  return first;
}

}  // namespace

TEST_CASE("schwarz: the reference knows domains, not processes") {
  const Coordinates<4> small{12, 4, 3, 4};
  const test::RoughLattice lattice(small);
  for_each_cut(small, 1, few() ? 1 : 2, [&](const auto& geometry, const Coordinates<4>& blocks) {
    Coordinates<4> all = blocks;
    for (int axis = 0; axis < 4; ++axis) all[axis] *= geometry->grid().dims()[axis];
    const auto alone = test::one_process(small);
    const auto psi = test::local_part(*geometry, lattice.psi, 12);
    for (const std::string inner : {"jacobi", "even-odd", "minres"}) {
      const GaugeField here = lattice.gauge(geometry), whole = lattice.gauge(alone);
      const Reference split(here, test::every_term(), test::schwarz_parameters(blocks, 1, 2, inner));
      const Reference one(whole, test::every_term(), test::schwarz_parameters(all, 1, 2, inner));
      for (const auto operation : {Operation::inside, Operation::preconditioned})
        CHECK(distance(*geometry, test::run(split, operation, psi),
                       test::local_part(*geometry, test::run(one, operation, lattice.psi), 12)) <
              10 * std::numeric_limits<double>::epsilon());
    }
  });
}

TEST_CASE("schwarz: every operation equals its written-out formula on every process grid") {
  const test::RoughLattice lattice(extents, 3);
  const Vector other(lattice.psi.size(), {1.0, -2.0});
  for_each_cut(extents, few() ? 3 : 1, 1, [&](const auto& geometry, const Coordinates<4>& blocks) {
    const GaugeField gauge = lattice.gauge(geometry);
    const auto parameters = test::schwarz_parameters(blocks, 1);
    const Reference reference(gauge, test::every_term(), parameters);
    Schwarz fast(gauge, test::every_term(), parameters, 2);
    const std::vector<Vector> in{test::local_part(*geometry, other, 12), test::local_part(*geometry, lattice.psi, 12)};
    for (const auto operation :
         {Operation::apply, Operation::inside, Operation::precondition, Operation::preconditioned}) {
      const auto out = run_thrice(fast, operation, in);
      CHECK(distance(*geometry, out[1], test::run(reference, operation, in[1])) < single);
    }
  });
}

TEST_CASE("schwarz: other inverses, 12 reals a link and fewer lanes go over faces alike") {
  const test::RoughLattice lattice(extents, 7);
  for_each_cut(extents, 1, few() ? 1 : 3, [&](const auto& geometry, const Coordinates<4>& blocks) {
    const GaugeField gauge = lattice.gauge(geometry);
    const auto psi = test::local_part(*geometry, lattice.psi, 12);
    for (const auto& [lanes, inner] : {std::pair{0, "minres"}, {4, "minres"}, {0, "even-odd"}}) {
      auto parameters = test::schwarz_parameters(blocks, 1, 2, inner);
      parameters.link_reals = lanes == 0 ? 12 : 18;
      parameters.lanes = lanes;
      Schwarz fast(gauge, test::every_term(), parameters);
      const Reference reference(gauge, test::every_term(), parameters);
      CHECK(distance(*geometry, run_thrice(fast, Operation::preconditioned, {psi})[0],
                     reference.apply_preconditioned(psi)) < single);
    }
  });
}

TEST_CASE("schwarz: sixteen bits, operations in turns on one object, and threads") {
  const Coordinates<4> global{32, 4, 6, 4};
  const test::RoughLattice lattice(global, 9);
  for_each_cut(global, 1, few() ? 1 : 4, [&](const auto& geometry, const Coordinates<4>& blocks) {
    auto parameters = test::schwarz_parameters(blocks, 1);
    parameters.storage = "half";
    const auto layout = lattice::DomainLayout::best(geometry, blocks, core::native_lanes<float>);
    if (layout->lanes() != core::native_lanes<float>) return;
    const GaugeField gauge = lattice.gauge(geometry);
    const auto psi = test::local_part(*geometry, lattice.psi, 12);
    const Reference reference(gauge, test::every_term(), parameters);
    if (layout->doubled()) {
      parameters.arithmetic = "half";
      Schwarz computing(gauge, test::every_term(), parameters);
      CHECK(distance(*geometry, run_thrice(computing, Operation::precondition, {psi})[0], reference.precondition(psi)) <
            in_half_precision);
    }
    parameters.arithmetic = "float";
    Schwarz fast(gauge, test::every_term(), parameters);
    // Each leaves both exchanges, float's and half's, in a state that the next must find right.
    const Vector d = test::run(fast, Operation::apply, psi);
    const Vector k = test::run(fast, Operation::precondition, psi);
    const Vector dk = test::run(fast, Operation::preconditioned, psi);
    CHECK(test::run(fast, Operation::apply, k) == dk);
    CHECK(test::run(fast, Operation::precondition, psi) == k);
    CHECK(test::run(fast, Operation::apply, psi) == d);
    // Threads share interior and boundary; the first alone waits for messages. Two dozen would take long here.
    if (few()) {
      const int usual = omp_get_max_threads();
      omp_set_num_threads(3);
      CHECK(test::run(fast, Operation::apply, psi) == d);
      CHECK(test::run(fast, Operation::preconditioned, psi) == dk);
      omp_set_num_threads(usual);
    }
    CHECK(distance(*geometry, d, reference.apply(psi)) < single);
    CHECK(distance(*geometry, k, reference.precondition(psi)) < half_precision);
  });
}

TEST_CASE("schwarz: every transport carries the faces") {
  const Coordinates<4> global{16, 4, 6, 8};
  const test::RoughLattice lattice(global, 11);
  const auto world = comm::world();
  const Coordinates<4> multiple{2, 1, 1, 1};
  const auto dims = comm::least_surface_grid(global, world.size(), multiple);
  const auto geometry = std::make_shared<const lattice::Geometry4>(global, comm::ProcessGrid(world, dims));
  const GaugeField gauge = lattice.gauge(geometry);
  const auto psi = test::local_part(*geometry, lattice.psi, 12);
  const auto parameters = test::schwarz_parameters({2, 1, 1, 1});
  Schwarz usual(gauge, test::every_term(), parameters);
  const Vector expected = test::run(usual, Operation::precondition, psi);
  int carried = 0;
  for (const auto& transport : comm::available_transports()) {
    if (!transport.available || !comm::transport_unavailable_reason(transport.name, geometry->grid()).empty()) continue;
    CAPTURE(transport.name);
    Schwarz fast(gauge, test::every_term(), parameters, 1, transport.name);
    CHECK(run_thrice(fast, Operation::precondition, {psi})[0] == expected);
    ++carried;
  }
  CHECK(carried > 0);
}

}  // namespace halocline::qcd::schwarz
