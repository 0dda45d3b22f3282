// SPDX-License-Identifier: Apache-2.0
//
// Staggered quarks on a device, against the processor: fields, the operator and its Schur complement.

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/schur/cuda.cuh"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/qcd/staggered/cuda.cuh"
#include "halocline/qcd/staggered/staggered.hpp"
#include "qcd/device/hop_reference.hpp"

namespace halocline::qcd::device {
namespace {

using test::Numbers;

constexpr lattice::Coordinates<4> extents{4, 6, 4, 8};
constexpr std::int64_t volume = 4 * 6 * 4 * 8;

StaggeredAction action_of(StaggeredKind kind) {
  return {.mass = 0.3, .kind = kind, .boundary = {1.0, std::polar(1.0, 0.4), 1.0, -1.0}};
}

ContextPtr context_on(const gpu::Device& device, const std::shared_ptr<const lattice::Geometry4>& geometry,
                      unsigned emulated = 0) {
  return std::make_shared<Context>(device, geometry, emulated, HaloChoice{},
                                   std::make_shared<gpu::TuneCache>("", gpu::TuneCache::Mode::off));
}

/// An action on one process: the operator on the processor and on a device.
template <class S>
struct Quarks {
  GaugeField gauge;
  StaggeredSetup setup;
  Staggered<double> here;
  ContextPtr context;
  DeviceStaggered<S> there;

  Quarks(const gpu::Device& device, StaggeredKind kind, int columns)
      : gauge(links()),
        setup(gauge, action_of(kind)),
        here(setup, columns),
        context(context_on(device, gauge.geometry_ptr())),
        there(std::make_shared<const DeviceStaggeredLinks<S>>(
                  context, host_links(context->box, setup.links(), setup.action()), setup.action().mass),
              columns) {}

  static GaugeField links() {
    auto gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 3));
    gauge.exchange_ghosts();
    return gauge;
  }
  DeviceSpinor<S> field(lattice::Subset subset) const { return {context, subset, there.columns(), 3}; }
  /// The same random numbers on both sides.
  std::pair<SpinorField<double>, DeviceSpinor<S>> fields(lattice::Subset subset, unsigned seed) const {
    std::pair<SpinorField<double>, DeviceSpinor<S>> pair{here.field(subset), field(subset)};
    for (int c = 0; c < here.columns(); ++c) {
      const Numbers numbers = test::random_numbers(3 * volume, seed + static_cast<unsigned>(c));
      qcd::from_canonical<double>(pair.first, c, numbers);
      from_canonical<S>(pair.second, c, numbers);
    }
    return pair;
  }
  double apart(const SpinorField<double>& expected, const DeviceSpinor<S>& given) const {
    double most = 0;
    for (int c = 0; c < expected.columns(); ++c) {
      Numbers a(3 * volume), b(3 * volume);
      to_canonical<S>(a, given, c);
      qcd::to_canonical<double>(b, expected, c);
      most = std::max(most, test::difference(a, b));
    }
    return most;
  }
};

template <class S>
constexpr double tolerance = std::is_same_v<S, double> ? 1e-14 : 2e-6;

}  // namespace

TEST_CASE_TEMPLATE("device staggered: fields keep their numbers, in every storage and subset", S, double, float,
                   Fixed16) {
  for (const auto& device : testing::test_devices()) {
    const auto context = context_on(device, test::one_process(extents));
    for (const auto subset : {lattice::Subset::even, lattice::Subset::odd, lattice::Subset::full}) {
      DeviceSpinor<S> f(context, subset, 2, 3);
      for (int c = 0; c < 2; ++c) {
        const Numbers given = test::random_numbers(3 * volume, 5 + static_cast<unsigned>(c));
        from_canonical<S>(f, c, given);
        Numbers back(3 * volume), expected = given;
        to_canonical<S>(back, f, c);
        if (subset != lattice::Subset::full)
          for (std::int64_t site = 0; site < volume; ++site) {
            const auto x = lattice::coordinates_of<4>(site, extents);
            if ((x[0] + x[1] + x[2] + x[3]) % 2 != static_cast<int>(subset))
              for (int k = 0; k < 3; ++k) expected[static_cast<std::size_t>(3 * site + k)] = 0;
          }
        CHECK(test::difference(back, expected) <= (std::is_same_v<S, double>  ? 0.0
                                                   : std::is_same_v<S, float> ? 6e-8
                                                                              : 2e-5));
      }
    }
  }
}

TEST_CASE_TEMPLATE("device staggered: D, its Schur complement and their adjoints are those of the processor", S, double,
                   float) {
  for (const auto& device : testing::test_devices())
    for (const auto kind : {StaggeredKind::one_link, StaggeredKind::asqtad, StaggeredKind::hisq})
      for (const int columns : {1, 3, 5}) {
        CAPTURE(name(kind));
        CAPTURE(columns);
        Quarks<S> quarks(device, kind, columns);
        auto [in, in_there] = quarks.fields(lattice::Subset::full, 10);
        auto [out, out_there] = quarks.fields(lattice::Subset::full, 50);
        quarks.here.apply(out, in);
        quarks.there.apply(out_there, in_there);
        CHECK(quarks.apart(out, out_there) < tolerance<S>);
        quarks.here.apply_dagger(out, in);
        quarks.there.apply_dagger(out_there, in_there);
        CHECK(quarks.apart(out, out_there) < tolerance<S>);
        for (const SchurForm form : {SchurForm::symmetric, SchurForm::asymmetric})
          for (const int parity : {0, 1}) {
            const auto subset = static_cast<lattice::Subset>(parity);
            Schur<double> s(quarks.here, form, parity);
            DeviceSchur<S> s_there(quarks.there, form, parity);
            CHECK(s_there.hermitian_positive());
            auto [half, half_there] = quarks.fields(subset, 80);
            auto [result, result_there] = quarks.fields(subset, 90);
            // The second application is recorded, the third comes from the record.
            for (int again = 0; again < 3; ++again) {
              s.apply(result, half);
              s_there.apply(result_there, half_there);
              CHECK(quarks.apart(result, result_there) < 2 * tolerance<S>);
            }
            s.prepare(result, in);
            s_there.prepare(result_there, in_there);
            CHECK(quarks.apart(result, result_there) < 2 * tolerance<S>);
            s.reconstruct(out, half, in);
            s_there.reconstruct(out_there, half_there, in_there);
            CHECK(quarks.apart(out, out_there) < 2 * tolerance<S>);
          }
      }
}

TEST_CASE_TEMPLATE("device staggered: the vector space is that of the processor", S, double, float) {
  for (const auto& device : testing::test_devices()) {
    const int columns = 3;
    const Quarks<S> quarks(device, StaggeredKind::one_link, columns);
    for (const auto subset : {lattice::Subset::even, lattice::Subset::full}) {
      const SpinorSpace<S> space(quarks.context, subset, columns, 1, 3);
      const halocline::qcd::SpinorSpace<double> space_here(quarks.here.layout(), subset, columns, 1, 3);
      auto [x, x_there] = quarks.fields(subset, 10);
      auto [y, y_there] = quarks.fields(subset, 50);
      const solve::Scalars a{{0.5, 0.25}, {-1.5, 2.0}, 0.0};
      space_here.axpy(a, x, y);
      space.axpy(a, x_there, y_there);
      CHECK(quarks.apart(y, y_there) < tolerance<S>);
      solve::Scalars expected(columns), given(columns);
      space_here.dot(expected, x, y);
      space.dot(given, x_there, y_there);
      for (int v = 0; v < columns; ++v) CHECK(std::abs(given[v] - expected[v]) < tolerance<S> * std::abs(expected[v]));
      DeviceSpinor<S> wilson(quarks.context, subset, columns);
      CHECK_THROWS_AS(space.axpy(a, x_there, wilson), core::InvalidArgument);
      CHECK_THROWS_AS(space.copy(wilson, x_there), core::InvalidArgument);
      CHECK_THROWS_AS(convert(wilson, x_there), core::InvalidArgument);
    }
  }
}

TEST_CASE("device staggered: fields and boxes that do not fit are refused") {
  for (const auto& device : testing::test_devices()) {
    Quarks<double> quarks(device, StaggeredKind::hisq, 2);
    auto out = quarks.field(lattice::Subset::full), in = quarks.field(lattice::Subset::full);
    DeviceSpinor<double> wilson(quarks.context, lattice::Subset::full, 2),
        one(quarks.context, lattice::Subset::full, 1, 3);
    CHECK_THROWS_AS(quarks.there.apply(out, wilson), core::InvalidArgument);
    CHECK_THROWS_AS(quarks.there.apply(one, in), core::InvalidArgument);
    CHECK_THROWS_AS(quarks.there.hop(out, out, 0, false, {}), core::InvalidArgument);
    CHECK_THROWS_WITH_AS(DeviceSpinor<double>(quarks.context, lattice::Subset::full, 1, 4),
                         doctest::Contains("12, or 3"), core::InvalidArgument);
    const auto split = context_on(device, quarks.gauge.geometry_ptr(), 8);
    CHECK_THROWS_WITH_AS(
        DeviceStaggeredLinks<double>(split, host_links(split->box, quarks.setup.links(), quarks.setup.action()), 0.1),
        doctest::Contains("split between processes"), core::InvalidArgument);
  }
}

}  // namespace halocline::qcd::device
