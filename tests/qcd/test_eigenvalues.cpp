// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/eigenvalues.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/random_fields.hpp"
#include "qcd/shared_data.hpp"

namespace halocline::qcd {

TEST_CASE("eigenvalues: gamma5 D on the shared sample has those of dense algebra") {
  if (!test::has_shared("ref_4x4x4x4.json")) {
    MESSAGE("skipped: ../shared/data is not beside the checkout");
    return;
  }
  std::ifstream file(test::shared_data_folder() / "ref_4x4x4x4.json");
  const auto reference = nlohmann::json::parse(file);
  const GaugeField gauge = GaugeField::from_canonical(test::one_process({4, 4, 4, 4}), test::sample_links());
  for (const auto& expected : reference.at("cases")) {
    WilsonCloverAction action{.mass = expected.at("m0"), .csw = expected.at("csw")};
    action.boundary[3] = expected.at("bc_time") == "antiperiodic" ? -1.0 : 1.0;
    const auto report = low_eigenvalues(gauge, action, {.count = 12});
    REQUIRE(report.converged);
    const std::vector<double> values = expected.at("eigenvalues_gamma5D_smallest_12");
    REQUIRE(report.values.size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(report.values[i] == doctest::Approx(values[i]).epsilon(1e-8));
      CHECK(report.residuals[i] < 1e-8);
    }
  }
}

TEST_CASE("eigenvalues: a vector that is returned is one of gamma5 D") {
  const lattice::Coordinates<4> extents{4, 4, 4, 6};
  const std::int64_t volume = lattice::product<4>(extents);
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 1));
  const WilsonCloverAction action{.mass = 0.2, .csw = 1.0};
  const auto report = low_eigenvalues(gauge, action, {.count = 2, .vectors = true});
  REQUIRE(report.converged);
  QuarkSolver d(gauge, action);
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<std::complex<double>> image(static_cast<std::size_t>(volume) * 12);
    d.apply(image, report.vectors[i]);
    for (std::size_t k = 0; k < image.size(); ++k) {
      if (k % 12 >= 6) image[k] = -image[k];
      image[k] /= report.values[i];
    }
    CHECK(test::relative_distance(image, report.vectors[i]) < 1e-7);
  }
}

TEST_CASE("eigenvalues: impossible numbers are refused") {
  const GaugeField gauge(test::one_process({2, 2, 2, 2}));
  CHECK_THROWS_WITH_AS(low_eigenvalues(gauge, {}, {.count = 0}), doctest::Contains("at least 1"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(low_eigenvalues(gauge, {}, {.count = 500}), doctest::Contains("has 192"), core::InvalidArgument);
}

}  // namespace halocline::qcd
