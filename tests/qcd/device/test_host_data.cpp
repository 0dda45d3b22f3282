// SPDX-License-Identifier: Apache-2.0
//
// Links and clover blocks as a device takes them: against the gauge field, the boundary phases of the action, and the
// clover term of the CPU; and which of them 56 reals can hold.

#include <doctest/doctest.h>

#include <complex>
#include <memory>

#include "halocline/core/error.hpp"
#include "halocline/qcd/clover/clover.hpp"
#include "halocline/qcd/clover/host_clover.hpp"
#include "halocline/qcd/device/field_checks.hpp"
#include "halocline/qcd/device/host_data.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/site/clover_block.hpp"
#include "qcd/device/halo_links_definition.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::device {
namespace {

struct Setup {
  explicit Setup(const lattice::Coordinates<4>& extents)
      : geometry(test::one_process(extents)),
        gauge(GaugeField::from_canonical(geometry, test::random_links(geometry->local_volume(), 3))),
        box(Box::of(*geometry)) {
    action.boundary = {std::polar(1.0, 0.5), 1.0, std::polar(1.0, -2.0), -1.0};
  }
  std::shared_ptr<const lattice::Geometry4> geometry;
  GaugeField gauge;
  Box box;
  WilsonCloverAction action{.mass = 0.2, .csw = 1.3, .xi0 = 2.5, .nu = 1.2, .csw_t = 0.7};
};

}  // namespace

TEST_CASE("device host data: eight links a site, without phases, those backward turned round") {
  for (const lattice::Coordinates<4>& extents : {lattice::Coordinates<4>{4, 4, 4, 4}, {8, 4, 6, 2}}) {
    const Setup setup(extents);
    const HostLinks links = host_links(setup.box, setup.gauge, setup.action);
    const int sites = setup.box.sites;
    REQUIRE(links.matrices.size() == std::size_t{16} * 18 * sites);
    int wrong = 0;
    for (int parity = 0; parity < 2; ++parity)
      for (int d = 0; d < 8; ++d)
        for (int site = 0; site < sites; ++site) {
          const Coordinates c = setup.box.coordinates(parity, site);
          lattice::Coordinates<4> x{c.x[0], c.x[1], c.x[2], c.x[3]};
          const int mu = d % 4;
          if (d >= 4) x[mu] = (x[mu] + extents[mu] - 1) % extents[mu];  // inside the box, not its ghost
          const Su3<double> u = setup.gauge.link(x, mu);
          const double* found = links.matrices.data() + (std::int64_t{8 * parity + d} * sites + site) * 18;
          for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
              const auto expected = d < 4 ? u.e[i][j] : core::conj(u.e[j][i]);
              if (found[6 * i + 2 * j] != expected.re || found[6 * i + 2 * j + 1] != expected.im) ++wrong;
            }
        }
    CHECK(wrong == 0);
    for (int d = 0; d < 8; ++d) {
      const auto phase = setup.action.boundary[d % 4];
      CHECK(links.edge[d] == (d < 4 ? phase : std::conj(phase)));
      CHECK(links.coefficient[d % 4] == setup.action.hopping(d % 4));
    }
    CHECK(links.unitarity_violation == setup.gauge.unitarity_violation());
    CHECK(links.unitarity_violation < 1e-14);
  }
}

TEST_CASE("device host data: clover blocks and inverses are those of the CPU") {
  const Setup setup({8, 4, 6, 2});
  const HostClover clover = host_clover(setup.box, setup.gauge, setup.action);
  const std::int64_t sites = setup.box.sites;
  REQUIRE(clover.blocks.size() == static_cast<std::size_t>(144 * sites));
  const auto layout = lattice::TileLayout::best(setup.geometry, 2);
  const auto term = clover::clover_term(layout, setup.gauge, setup.action);
  const auto inverse = clover::canonical_inverse(setup.gauge, setup.action);
  int wrong = 0;
  for (int parity = 0; parity < 2; ++parity)
    for (int site = 0; site < sites; ++site) {
      const Coordinates c = setup.box.coordinates(parity, site);
      const lattice::Coordinates<4> x{c.x[0], c.x[1], c.x[2], c.x[3]};
      const auto place = layout->locate(x);
      for (int i = 0; i < 72; ++i) {
        const auto at = 72 * (parity * sites + site) + i;
        if (clover.blocks[at] != term.parity(parity)[(place.tile * 72 + i) * layout->lanes() + place.lane]) ++wrong;
        if (clover.inverse[at] != inverse[72 * lattice::linear_index<4>(x, setup.geometry->local()) + i]) ++wrong;
      }
    }
  CHECK(wrong == 0);
  WilsonCloverAction plain = setup.action;
  plain.csw = 0;
  plain.csw_t = 0;
  CHECK(host_clover(setup.box, setup.gauge, plain).blocks.empty());
}

TEST_CASE("device host data: the clover term fits into 56 reals, its inverse does not") {
  const Setup setup({4, 4, 4, 4});
  const HostClover clover = host_clover(setup.box, setup.gauge, setup.action);
  CHECK_NOTHROW(detail::require_clover(56, clover.blocks));
  CHECK_NOTHROW(detail::require_clover(72, clover.inverse));
  CHECK_THROWS_WITH_AS(detail::require_clover(56, clover.inverse), doctest::Contains("an inverse needs 72"),
                       core::InvalidArgument);
}

}  // namespace halocline::qcd::device
