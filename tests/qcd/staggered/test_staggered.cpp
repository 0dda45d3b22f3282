// SPDX-License-Identifier: Apache-2.0
//
// The staggered operator: the reference against its definition, the fast one against the reference, and the identities
// of the action.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <memory>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/qcd/staggered/reference.hpp"
#include "halocline/qcd/staggered/staggered.hpp"
#include "qcd/apply_operator.hpp"
#include "qcd/random_fields.hpp"
#include "qcd/reference_operator.hpp"
#include "sampled.hpp"

namespace halocline::qcd {
namespace {

using Numbers = std::vector<std::complex<double>>;
using Coordinates = lattice::Coordinates<4>;

StaggeredAction action_of(StaggeredKind kind) {
  StaggeredAction action{.mass = 0.13, .kind = kind};
  action.boundary = {std::polar(1.0, 0.4), 1., std::polar(1.0, -1.1), -1.};
  return action;
}

std::int64_t volume_of(const Coordinates& extents) { return lattice::product<4>(extents); }

/// D psi written out with the phases of field/action.hpp, from canonical links.
Numbers definition(const Coordinates& extents, const Numbers& fat, const Numbers& naik, const StaggeredAction& action,
                   const Numbers& psi) {
  Numbers out = psi;
  for (auto& z : out) z *= action.mass;
  for (std::int64_t site = 0; site < volume_of(extents); ++site) {
    const auto x = lattice::coordinates_of<4>(site, extents);
    const std::array<std::int64_t, 4> exponent{x[3], x[3] + x[0], x[3] + x[0] + x[1], 0};
    for (int mu = 0; mu < 4; ++mu)
      for (const int steps : {1, 3, -1, -3}) {
        const Numbers& links = std::abs(steps) == 1 ? fat : naik;
        if (links.empty()) continue;
        auto y = x;
        std::complex<double> phase = exponent[mu] % 2 == 0 ? 0.5 : -0.5;
        for (int i = 0; i < std::abs(steps); ++i) {
          y[mu] += steps > 0 ? 1 : -1;
          if (y[mu] == extents[mu]) phase *= action.boundary[mu];
          if (y[mu] == -1) phase *= std::conj(action.boundary[mu]);
          y[mu] = (y[mu] + extents[mu]) % extents[mu];
        }
        const auto to = lattice::linear_index<4>(y, extents);
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            out[3 * site + i] += steps > 0 ? phase * links[36 * site + 9 * mu + 3 * i + j] * psi[3 * to + j]
                                           : -phase * std::conj(links[36 * to + 9 * mu + 3 * j + i]) * psi[3 * to + j];
      }
  }
  return out;
}

GaugeField rough(const Coordinates& extents, unsigned seed) {
  return GaugeField::from_canonical(test::one_process(extents), test::random_links(volume_of(extents), seed));
}

template <class T>
Numbers apply(const DiracOperator<T>& d, const Numbers& psi, bool dagger = false) {
  auto in = d.field(lattice::Subset::full), out = d.field(lattice::Subset::full);
  from_canonical<T>(in, psi);
  if (dagger)
    d.apply_dagger(out, in);
  else
    d.apply(out, in);
  Numbers result(psi.size());
  to_canonical<T>(result, out);
  return result;
}

constexpr std::array kinds{StaggeredKind::one_link, StaggeredKind::asqtad, StaggeredKind::hisq};

}  // namespace

TEST_CASE("staggered: the reference is the definition") {
  constexpr Coordinates extents{4, 6, 4, 8};
  const GaugeField u = rough(extents, 3);
  const auto psi = test::random_numbers(3 * volume_of(extents), 4);
  for (const auto kind : kinds) {
    const auto action = action_of(kind);
    const auto links = gauge::staggered_links(u, action);
    Numbers out(psi.size()), adjoint(psi.size());
    staggered::apply_reference(out, psi, links, action);
    staggered::apply_reference(adjoint, psi, links, action, true);
    const auto expected =
        definition(extents, links.fat.to_canonical(), links.naik ? links.naik->to_canonical() : Numbers{}, action, psi);
    CHECK(test::relative_distance(out, expected) < 1e-14);
    // D + D^dagger = 2 m
    Numbers sum = out;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = (sum[i] + adjoint[i]) / (2 * action.mass);
    CHECK(test::relative_distance(sum, psi) < 1e-13);
    // <chi, D psi> = <D^dagger chi, psi>
    const auto chi = test::random_numbers(3 * volume_of(extents), 5);
    staggered::apply_reference(adjoint, chi, links, action, true);
    const auto left = test::inner_product(chi, out), right = test::inner_product(adjoint, psi);
    CHECK(std::abs(left - right) < 1e-12 * std::abs(left));
  }
}

TEST_CASE_TEMPLATE("staggered: the fast operator is the reference, whatever the lanes", T, float, double) {
  const double tolerance = sizeof(T) == 4 ? 5e-7 : 1e-14;
  std::vector<Coordinates> lattices{{4, 6, 4, 8}, {8, 8, 8, 8}};
  if (!test::takes_samples) lattices.insert(lattices.end(), {{16, 4, 8, 8}, {6, 4, 12, 4}, {12, 6, 6, 6}});
  for (const Coordinates& extents : lattices) {
    const GaugeField u = rough(extents, 5);
    const auto psi = test::random_numbers(3 * volume_of(extents), 6);
    for (const auto kind : kinds) {
      const auto action = action_of(kind);
      const auto links = gauge::staggered_links(u, action);
      for (const bool dagger : {false, true}) {
        Numbers expected(psi.size());
        staggered::apply_reference(expected, psi, links, action, dagger);
        for (const int lanes : {1, 2, 4, 8, 16}) {
          const StaggeredSetup setup(u, action, lanes);
          const Staggered<T> d(setup);
          INFO(name(kind), " ", lanes, " lanes, tile of ", d.layout()->lanes());
          CHECK(test::relative_distance(apply<T>(d, psi, dagger), expected) < tolerance);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("staggered: a column has the same bits alone and beside others", T, float, double) {
  constexpr Coordinates extents{8, 8, 8, 8};
  const GaugeField u = rough(extents, 8);
  for (const int lanes : {1, 16}) {
    const StaggeredSetup setup(u, action_of(StaggeredKind::hisq), lanes);
    const Staggered<T> one(setup);
    const auto five = one.with_columns(5);
    auto in = five->field(lattice::Subset::full), out = five->field(lattice::Subset::full);
    std::vector<Numbers> psi;
    for (int column = 0; column < 5; ++column) {
      psi.push_back(test::random_numbers(3 * volume_of(extents), 20 + static_cast<unsigned>(column)));
      from_canonical<T>(in, column, psi.back());
    }
    five->apply(out, in);
    for (int column = 0; column < 5; ++column) {
      Numbers together(psi[0].size());
      to_canonical<T>(together, out, column);
      CHECK(together == apply<T>(one, psi[static_cast<std::size_t>(column)]));
    }
  }
}

TEST_CASE("staggered: a shift of quarks and links by one site is a symmetry") {
  // D of links shifted by nu, on zeta_nu(x) psi(x + nu), is zeta_nu(x) (D psi)(x + nu). zeta_nu is the product of the
  // phases eta_mu(nu) to the power x_mu. Boundary phases break it, so there are none.
  constexpr Coordinates extents{4, 6, 4, 8};
  const auto links = test::random_links(volume_of(extents), 9);
  const auto psi = test::random_numbers(3 * volume_of(extents), 10);
  for (const auto kind : kinds) {
    StaggeredAction action{.mass = 0.2, .kind = kind};
    action.boundary = {1., 1., 1., 1.};
    for (int nu = 0; nu < 4; ++nu) {
      // eta of MILC: eta_x has t, eta_y has t and x, eta_z has t, x and y; so zeta_nu has the axes whose eta contains
      // nu.
      const auto zeta = [nu](const Coordinates& x) {
        const std::array<std::int64_t, 4> exponent{x[1] + x[2], x[2], 0, x[0] + x[1] + x[2]};
        return exponent[nu] % 2 == 0 ? 1.0 : -1.0;
      };
      const auto shifted = [&](const Numbers& from, int count, bool with_zeta) {
        Numbers to(from.size());
        for (std::int64_t site = 0; site < volume_of(extents); ++site) {
          const auto x = lattice::coordinates_of<4>(site, extents);
          auto y = x;
          y[nu] = (y[nu] + 1) % extents[nu];
          const auto source = lattice::linear_index<4>(y, extents) * count;
          for (int i = 0; i < count; ++i) to[site * count + i] = (with_zeta ? zeta(x) : 1.0) * from[source + i];
        }
        return to;
      };
      const auto on = [&](const Numbers& given, const Numbers& spinor) {
        const GaugeField u = GaugeField::from_canonical(test::one_process(extents), given);
        const StaggeredSetup setup(u, action);
        return apply<double>(Staggered<double>(setup), spinor);
      };
      INFO(name(kind), " along ", nu);
      CHECK(test::relative_distance(on(shifted(links, 36, false), shifted(psi, 3, true)),
                                    shifted(on(links, psi), 3, true)) < 1e-12);
    }
  }
}

TEST_CASE("staggered: refusals of the operator") {
  const GaugeField u = rough({4, 4, 4, 4}, 2);
  const StaggeredSetup setup(u, {.mass = 0.1});
  CHECK_THROWS_WITH_AS(setup.in_float(1, 12), doctest::Contains("not unitary"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(setup.in_double(0), doctest::Contains("at least 1"), core::InvalidArgument);
  const auto short_steps = std::make_shared<const lattice::Neighbours>(setup.neighbours().in<double>()->layout_ptr());
  CHECK_THROWS_WITH_AS(staggered::Hopping<double>(short_steps, setup.links(), setup.action()),
                       doctest::Contains("steps of 3 sites"), core::InvalidArgument);
  const auto narrow =
      std::make_shared<const lattice::TileLayout>(test::one_process({8, 4, 4, 4}), Coordinates{4, 1, 1, 1});
  CHECK_THROWS_WITH_AS(lattice::Neighbours(narrow, 3), doctest::Contains("holds 8 sites along x in 4 lanes"),
                       core::InvalidArgument);
}

}  // namespace halocline::qcd
