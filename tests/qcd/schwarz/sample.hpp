// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// What the tests of the Schwarz preconditioner share: rough fields, an action that has every term, and the operations
// of the fast preconditioner and of its reference on canonical arrays, by one name.

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/schwarz/reference.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::test {

using Vector = std::vector<std::complex<double>>;

using Box = lattice::Coordinates<4>;

inline qcd::schwarz::Parameters schwarz_parameters(const lattice::Coordinates<4>& blocks, int nsap = 4, int steps = 2,
                                                   const std::string& inner = "jacobi") {
  qcd::schwarz::Parameters p;
  p.blocks = blocks;
  p.nsap = nsap;
  p.steps = steps;
  p.inner = inner;
  return p;
}

/// Twisted on three axes, anisotropic, with two clover coefficients.
inline qcd::WilsonCloverAction every_term() {
  qcd::WilsonCloverAction action{.mass = 0.4, .csw = 1.1};
  action.boundary = {std::polar(1.0, 0.3), std::polar(1.0, -0.7), 1.0, -1.0};
  action.xi0 = 1.5;
  action.nu = 0.9;
  action.csw_t = 0.8;
  return action;
}

/// Links of a whole lattice, and what a process holds of them.
struct RoughLattice {
  lattice::Coordinates<4> extents;
  Vector links, psi;

  explicit RoughLattice(const lattice::Coordinates<4>& box, unsigned seed = 1)
      : extents(box),
        links(random_links(lattice::product<4>(box), seed)),
        psi(random_numbers(12 * lattice::product<4>(box), seed + 1)) {}

  qcd::GaugeField gauge(const std::shared_ptr<const lattice::Geometry4>& geometry) const {
    return qcd::GaugeField::from_canonical(geometry, local_part(*geometry, links, 36));
  }
};

enum class Operation { apply, inside, invert, precondition, preconditioned };
inline constexpr std::array operations{Operation::apply, Operation::inside, Operation::invert, Operation::precondition,
                                       Operation::preconditioned};

inline Vector run(const qcd::schwarz::Reference& reference, Operation operation, const Vector& in) {
  switch (operation) {
  case Operation::apply:
    return reference.apply(in);
  case Operation::inside:
    return reference.apply_inside(in);
  case Operation::invert:
    return reference.invert_inside(in);
  case Operation::precondition:
    return reference.precondition(in);
  case Operation::preconditioned:
    break;
  }
  return reference.apply_preconditioned(in);
}

inline void run(qcd::schwarz::Schwarz& fast, Operation operation, qcd::schwarz::Schwarz::Field& out,
                const qcd::schwarz::Schwarz::Field& in) {
  switch (operation) {
  case Operation::apply:
    return fast.apply(out, in);
  case Operation::inside:
    for (int colour : {0, 1}) fast.apply_inside(out, in, colour);
    return;
  case Operation::invert:
    for (int colour : {0, 1}) fast.invert_inside(out, in, colour);
    return;
  case Operation::precondition:
    return fast.precondition(out, in);
  case Operation::preconditioned:
    return fast.apply_preconditioned(out, in);
  }
}

/// One vector a column, in and out.
inline std::vector<Vector> run(qcd::schwarz::Schwarz& fast, Operation operation, const std::vector<Vector>& in) {
  auto source = fast.create(), result = fast.create();
  for (int c = 0; c < fast.columns(); ++c) qcd::schwarz::from_canonical(source, c, in[static_cast<std::size_t>(c)]);
  run(fast, operation, result, source);
  std::vector<Vector> out;
  for (int c = 0; c < fast.columns(); ++c) {
    out.emplace_back(in.front().size());
    qcd::schwarz::to_canonical(out.back(), result, c);
  }
  return out;
}

inline Vector run(qcd::schwarz::Schwarz& fast, Operation operation, const Vector& in) {
  return run(fast, operation, std::vector<Vector>{in}).front();
}

}  // namespace halocline::test
