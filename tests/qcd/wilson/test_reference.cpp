// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/wilson/reference.hpp"

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "qcd/random_fields.hpp"
#include "qcd/reference_operator.hpp"

namespace halocline::qcd {

TEST_CASE("wilson: the reference equals the operator written with 4x4 gamma matrices") {
  const lattice::Coordinates<4> extents{2, 4, 3, 6};  // an odd extent is no matter here
  const std::int64_t volume = lattice::product<4>(extents);
  const auto links = test::random_links(volume, 1);
  const auto psi = test::random_numbers(volume * 12, 2);
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), links);
  WilsonCloverAction action{.mass = 0.1, .csw = 1.4};
  action.boundary = {std::polar(1.0, 0.3), std::polar(1.0, -0.7), 1.0, -1.0};
  action.xi0 = 2.0;
  action.csw_t = 0.6;
  test::ReferenceParameters plain;
  plain.mass = action.mass;
  plain.csw = action.csw;
  plain.csw_t = *action.csw_t;
  plain.boundary = action.boundary;
  for (int axis = 0; axis < 4; ++axis) plain.hopping[axis] = action.hopping(axis);
  const test::ReferenceOperator expected(extents, links, plain);
  std::vector<std::complex<double>> out(psi.size());
  wilson::apply_reference(out, psi, gauge, action);
  CHECK(test::relative_distance(out, expected.apply(psi)) < 1e-14);
  wilson::apply_reference(out, psi, gauge, action, true);
  CHECK(test::relative_distance(out, expected.apply_dagger(psi)) < 1e-14);
  out.pop_back();
  CHECK_THROWS_WITH_AS(wilson::apply_reference(out, psi, gauge, action), doctest::Contains("local box"),
                       core::InvalidArgument);
}

}  // namespace halocline::qcd
