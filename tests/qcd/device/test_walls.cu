// SPDX-License-Identifier: Apache-2.0
//
// Domain walls on a device, against the processor: matrices of the fifth dimension, the operator, and solutions.

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/domain_wall/cuda.cuh"
#include "halocline/qcd/domain_wall/domain_wall.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/schur/cuda.cuh"
#include "halocline/qcd/schur/schur.hpp"
#include "qcd/device/hop_reference.hpp"

namespace halocline::qcd::device {
namespace {

using test::Numbers;

constexpr lattice::Coordinates<4> extents{4, 2, 6, 4};
constexpr std::int64_t volume = 4 * 2 * 6 * 4;
constexpr int vectors = 2;

std::vector<DomainWallAction> actions() {
  const std::array<std::complex<double>, 4> boundary{1.0, std::polar(1.0, 0.4), 1.0, -1.0};
  return {{.mass = 0.1, .m5 = 1.4, .ls = 6, .boundary = boundary},
          {.mass = 0.2, .m5 = 1.8, .ls = 4, .b = {1.5}, .c = {0.5}, .boundary = boundary},
          {.mass = 0.1,
           .m5 = 1.2,
           .ls = 4,
           .b = {{1.2, 0.3}, {1.4, -0.2}, 1.3, {1.1, 0.1}},
           .c = {{0.2, 0.1}, {0.4, -0.1}, 0.3, 0.1},
           .boundary = boundary}};
}

/// An action on one process: the operator on the processor, and its data on a device.
template <class S>
struct Walls {
  GaugeField gauge;
  DomainWallSetup setup;
  DomainWall<double> here;
  ContextPtr context;
  std::shared_ptr<const DeviceWallMatrices<S>> matrices;
  DeviceDomainWall<S> there;

  Walls(const gpu::Device& device, const DomainWallAction& action, unsigned emulated = 0)
      : gauge(links()),
        setup(gauge, action),
        here(setup, vectors * action.ls),
        context(std::make_shared<Context>(device, gauge.geometry_ptr(), emulated, HaloChoice{},
                                          std::make_shared<gpu::TuneCache>("", gpu::TuneCache::Mode::off))),
        matrices(std::make_shared<const DeviceWallMatrices<S>>(*context, action)),
        there(wilson_data<S>(context, host_links(context->box, gauge, action.wilson()), {}, action, 18), matrices,
              vectors * action.ls) {}

  static GaugeField links() {
    auto gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 3));
    gauge.exchange_ghosts();
    return gauge;
  }
  /// The same random numbers on both sides, and zero on the sites that `subset` leaves out.
  std::pair<SpinorField<double>, DeviceSpinor<S>> fields(lattice::Subset subset, unsigned seed) const {
    std::pair<SpinorField<double>, DeviceSpinor<S>> pair{here.field(subset),
                                                         DeviceSpinor<S>(context, subset, here.columns())};
    for (int c = 0; c < here.columns(); ++c) {
      const Numbers numbers = test::random_numbers(12 * volume, seed + static_cast<unsigned>(c));
      qcd::from_canonical<double>(pair.first, c, numbers);
      from_canonical<S>(pair.second, c, numbers);
    }
    return pair;
  }
  double apart(const SpinorField<double>& expected, const DeviceSpinor<S>& given) const {
    double most = 0;
    for (int c = 0; c < expected.columns(); ++c) {
      Numbers a(12 * volume), b(12 * volume);
      to_canonical<S>(a, given, c);
      qcd::to_canonical<double>(b, expected, c);
      most = std::max(most, test::difference(a, b));
    }
    return most;
  }
};

template <class S>
double tolerance() {
  return 4 * test::hop_tolerance<S>();
}

}  // namespace

TEST_CASE_TEMPLATE("device walls: D, its Schur complements and their adjoints are those of the processor", S, double,
                   float, Fixed16) {
  for (const auto& device : testing::test_devices())
    for (const auto& action : actions())
      for (const unsigned emulated : {0u, 8u}) {
        CAPTURE(action.ls);
        CAPTURE(emulated);
        Walls<S> walls(device, action, emulated);
        auto [in, in_there] = walls.fields(lattice::Subset::full, 10);
        auto [out, out_there] = walls.fields(lattice::Subset::full, 50);
        for (const bool dagger : {false, true}) {
          CAPTURE(dagger);
          if (dagger) {
            walls.here.apply_dagger(out, in);
            walls.there.apply_dagger(out_there, in_there);
          } else {
            walls.here.apply(out, in);
            walls.there.apply(out_there, in_there);
          }
          CHECK(walls.apart(out, out_there) < tolerance<S>());
        }
        for (const SchurForm form : {SchurForm::symmetric, SchurForm::asymmetric})
          for (const int parity : {0, 1}) {
            const auto subset = static_cast<lattice::Subset>(parity);
            Schur<double> s(walls.here, form, parity);
            DeviceSchur<S> s_there(walls.there, form, parity);
            auto [half, half_there] = walls.fields(subset, 80);
            auto [result, result_there] = walls.fields(subset, 90);
            // Twice: the second application is recorded, the third comes from the record.
            for (const bool dagger : {false, true})
              for (int again = 0; again < 3; ++again) {
                if (dagger) {
                  s.apply_dagger(result, half);
                  s_there.apply_dagger(result_there, half_there);
                } else {
                  s.apply(result, half);
                  s_there.apply(result_there, half_there);
                }
                CHECK(walls.apart(result, result_there) < tolerance<S>());
              }
            s.prepare(result, in);
            s_there.prepare(result_there, in_there);
            CHECK(walls.apart(result, result_there) < tolerance<S>());
            s.reconstruct(out, half, in);
            s_there.reconstruct(out_there, half_there, in_there);
            CHECK(walls.apart(out, out_there) < tolerance<S>());
          }
      }
}

TEST_CASE("device walls: sources and quarks are those of the processor") {
  for (const auto& device : testing::test_devices())
    for (const auto& action : actions()) {
      Walls<double> walls(device, action);
      const Numbers eta = test::random_numbers(12 * volume, 4);
      const std::array<std::span<const std::complex<double>>, 1> one{eta};
      auto [b, b_there] = walls.fields(lattice::Subset::full, 10);
      walls.here.load_sources(b, one);
      walls.there.load_sources(b_there, one);
      CHECK(walls.apart(b, b_there) < 1e-14);
      auto [y, y_there] = walls.fields(lattice::Subset::full, 20);
      Numbers q(12 * volume), q_there(12 * volume);
      for (int number = 0; number < vectors; ++number) {
        walls.here.unload_quark(q, y, number);
        walls.there.unload_quark(q_there, y_there, number);
        CHECK(test::difference(q_there, q) < 1e-13);
        gpu::DeviceArray<std::complex<double>> stored(device, 12 * volume);
        walls.there.write_quark(stored.data(), y_there, number, 3);
        Numbers written(12 * volume);
        stored.download(walls.context->stream, std::span(written));
        walls.context->stream.synchronize();
        for (auto& z : written) z /= 8;
        CHECK(test::difference(written, q) < 1e-13);
        walls.here.unload_midpoint(q, y, number);
        walls.there.unload_midpoint(q_there, y_there, number);
        CHECK(test::difference(q_there, q) < 1e-13);
      }
    }
}

TEST_CASE_TEMPLATE("device walls: dot products are over the points of a right-hand side", S, double, float, Fixed16) {
  for (const auto& device : testing::test_devices()) {
    const DomainWallAction action = actions()[0];
    Walls<S> walls(device, action);
    for (const auto subset : {lattice::Subset::even, lattice::Subset::full}) {
      const SpinorSpace<S> space(walls.context, subset, vectors * action.ls, action.ls);
      const halocline::qcd::SpinorSpace<double> space_here(walls.here.layout(), subset, vectors * action.ls, action.ls);
      auto [x, x_there] = walls.fields(subset, 10);
      auto [y, y_there] = walls.fields(subset, 50);
      const solve::Scalars a{{0.5, 0.25}, {-1.5, 2.0}};
      space_here.axpy(a, x, y);
      space.axpy(a, x_there, y_there);
      CHECK(walls.apart(y, y_there) < tolerance<S>());
      solve::Scalars expected(vectors), given(vectors);
      space_here.dot(expected, x, y);
      space.dot(given, x_there, y_there);
      for (int v = 0; v < vectors; ++v)
        CHECK(std::abs(given[v] - expected[v]) < tolerance<S>() * std::abs(expected[v]));
      const auto lengths = norms(space, y_there), lengths_here = norms(space_here, y);
      for (int v = 0; v < vectors; ++v) CHECK(lengths[v] == doctest::Approx(lengths_here[v]).epsilon(tolerance<S>()));
      const SpinorSpace<S> narrow(walls.context, subset, vectors);
      CHECK_THROWS_AS(narrow.set_zero(x_there); narrow.axpy(a, x_there, y_there), core::InvalidArgument);
    }
  }
}

TEST_CASE("device walls: fields that do not fit are refused") {
  for (const auto& device : testing::test_devices()) {
    Walls<double> walls(device, actions()[0]);
    auto field = [&](int columns) { return DeviceSpinor<double>(walls.context, lattice::Subset::even, columns); };
    auto out = field(12), in = field(12), odd_number = field(9), other = field(9);
    const DeviceFifth<double>* f = &walls.matrices->a[0];
    CHECK_THROWS_WITH_AS(multiply_fifth<double>(out, out, f, 1, nullptr, nullptr, 0, 0),
                         doctest::Contains("two fields"), core::InvalidArgument);
    CHECK_THROWS_WITH_AS(multiply_fifth<double>(out, in, f, 1, &out, f, 1, 0), doctest::Contains("two fields"),
                         core::InvalidArgument);
    CHECK_THROWS_WITH_AS(multiply_fifth<double>(odd_number, other, f, 1, nullptr, nullptr, 0, 0),
                         doctest::Contains("multiple"), core::InvalidArgument);
    CHECK_THROWS_WITH_AS(
        DeviceDomainWall<double>(wilson_data<double>(walls.context,
                                                     host_links(walls.context->box, walls.gauge, actions()[0].wilson()),
                                                     {}, actions()[0], 18),
                                 walls.matrices, 7),
        doctest::Contains("multiple of Ls"), core::InvalidArgument);
    const DeviceFifth<double> complex(*walls.context, WallMatrices<double>(actions()[0]).a[0], true);
    CHECK_THROWS_WITH_AS(multiply_fifth<double>(out, in, f, 1, &in, &complex, 1, 0), doctest::Contains("complex"),
                         core::InvalidArgument);
  }
}

}  // namespace halocline::qcd::device
