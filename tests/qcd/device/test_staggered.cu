// SPDX-License-Identifier: Apache-2.0
//
// Staggered quarks on a device, against the processor: fields, the operator and its Schur complement.

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/schur/cuda.cuh"
#include "halocline/qcd/staggered/cuda.cuh"
#include "qcd/device/hop_reference.hpp"
#include "qcd/device/quark_oracle.hpp"

namespace halocline::qcd::device {
namespace {

using test::Numbers;
using Columns = test::QuarkOracle::Columns;

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
  StaggeredAction action;
  std::unique_ptr<test::QuarkOracle> here;
  ContextPtr context;
  DeviceStaggered<S> there;

  Quarks(const gpu::Device& device, StaggeredKind kind, int columns)
      : action(action_of(kind)),
        here(test::QuarkOracle::of(extents, action, columns)),
        context(context_on(device, here->geometry())),
        there(
            std::make_shared<const DeviceStaggeredLinks<S>>(context, here->staggered_links(context->box), action.mass),
            columns) {}

  /// Random numbers on the sites of a subset.
  Columns random(lattice::Subset subset, unsigned seed) const {
    Columns columns;
    for (int c = 0; c < there.columns(); ++c)
      columns.push_back(test::random_numbers(3 * volume, seed + static_cast<unsigned>(c)));
    return test::QuarkOracle::on(std::move(columns), subset, extents);
  }
  DeviceSpinor<S> field(lattice::Subset subset) const { return {context, subset, there.columns(), 3}; }
  DeviceSpinor<S> field(lattice::Subset subset, const Columns& columns) const {
    auto out = field(subset);
    for (int c = 0; c < out.columns(); ++c) from_canonical<S>(out, c, columns[static_cast<std::size_t>(c)]);
    return out;
  }
  static double apart(const DeviceSpinor<S>& given, const Columns& expected) {
    double most = 0;
    for (std::size_t c = 0; c < expected.size(); ++c) {
      Numbers a(expected[c].size());
      to_canonical<S>(a, given, static_cast<int>(c));
      most = std::max(most, test::difference(a, expected[c]));
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
        Numbers back(3 * volume);
        to_canonical<S>(back, f, c);
        const Numbers expected = test::QuarkOracle::on({given}, subset, extents)[0];
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
        const Columns in = quarks.random(lattice::Subset::full, 10);
        const auto in_there = quarks.field(lattice::Subset::full, in);
        auto out = quarks.field(lattice::Subset::full);
        quarks.there.apply(out, in_there);
        CHECK(quarks.apart(out, quarks.here->apply(in, false)) < tolerance<S>);
        quarks.there.apply_dagger(out, in_there);
        CHECK(quarks.apart(out, quarks.here->apply(in, true)) < tolerance<S>);
        for (const SchurForm form : {SchurForm::symmetric, SchurForm::asymmetric})
          for (const int parity : {0, 1}) {
            DeviceSchur<S> s(quarks.there, form, parity);
            CHECK(s.hermitian_positive());
            const Columns half = quarks.random(s.subset(), 80),
                          expected = quarks.here->schur(half, form, parity, false);
            const auto half_there = quarks.field(s.subset(), half);
            auto result = quarks.field(s.subset());
            // The second application is recorded, the third comes from the record.
            for (int again = 0; again < 3; ++again) {
              s.apply(result, half_there);
              CHECK(quarks.apart(result, expected) < 2 * tolerance<S>);
            }
            s.prepare(result, in_there);
            CHECK(quarks.apart(result, quarks.here->prepare(in, form, parity)) < 2 * tolerance<S>);
            s.reconstruct(out, half_there, in_there);
            CHECK(quarks.apart(out, quarks.here->reconstruct(half, in, form, parity)) < 2 * tolerance<S>);
          }
      }
}

TEST_CASE_TEMPLATE("device staggered: the vector space is that of the processor", S, double, float) {
  for (const auto& device : testing::test_devices()) {
    const int columns = 3;
    const Quarks<S> quarks(device, StaggeredKind::one_link, columns);
    for (const auto subset : {lattice::Subset::even, lattice::Subset::full}) {
      const SpinorSpace<S> space(quarks.context, subset, columns, 1, 3);
      const Columns x = quarks.random(subset, 10);
      Columns y = quarks.random(subset, 50);
      const auto x_there = quarks.field(subset, x);
      auto y_there = quarks.field(subset, y);
      const solve::Scalars a{{0.5, 0.25}, {-1.5, 2.0}, 0.0};
      solve::Scalars expected(columns), given(columns);
      for (std::size_t c = 0; c < y.size(); ++c)
        for (std::size_t k = 0; k < y[c].size(); ++k) {
          y[c][k] += a[c] * x[c][k];
          expected[c] += std::conj(x[c][k]) * y[c][k];
        }
      space.axpy(a, x_there, y_there);
      CHECK(quarks.apart(y_there, y) < tolerance<S>);
      space.dot(given, x_there, y_there);
      for (std::size_t c = 0; c < columns; ++c)
        CHECK(std::abs(given[c] - expected[c]) < 10 * tolerance<S> * std::abs(expected[c]));
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
    const auto split = context_on(device, quarks.here->geometry(), 8);
    CHECK_THROWS_WITH_AS(DeviceStaggeredLinks<double>(split, quarks.here->staggered_links(split->box), 0.1),
                         doctest::Contains("split between processes"), core::InvalidArgument);
  }
}

}  // namespace halocline::qcd::device
