// SPDX-License-Identifier: Apache-2.0
//
// Domain walls on a device, against the processor: matrices of the fifth dimension, the operator, and solutions.

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/domain_wall/cuda.cuh"
#include "halocline/qcd/domain_wall/wall_matrices.hpp"
#include "halocline/qcd/schur/cuda.cuh"
#include "halocline/qcd/wilson/detail/hop_launch.cuh"
#include "qcd/device/hop_reference.hpp"
#include "qcd/device/quark_oracle.hpp"

namespace halocline::qcd::device {
namespace {

using test::Numbers;
using Columns = test::QuarkOracle::Columns;

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
  std::unique_ptr<test::QuarkOracle> here;
  ContextPtr context;
  std::shared_ptr<const DeviceWallMatrices<S>> matrices;
  WilsonData<S> data;
  DeviceDomainWall<S> there;

  Walls(const gpu::Device& device, const DomainWallAction& action, unsigned emulated = 0, int link_reals = 18)
      : here(test::QuarkOracle::of(extents, action, vectors * action.ls)),
        context(std::make_shared<Context>(device, here->geometry(), emulated, HaloChoice{},
                                          std::make_shared<gpu::TuneCache>("", gpu::TuneCache::Mode::off))),
        matrices(std::make_shared<const DeviceWallMatrices<S>>(*context, action)),
        data(wilson_data<S>(context, here->links(context->box), {}, action, link_reals)),
        there(data, matrices, vectors * action.ls) {}

  /// Random numbers on the sites of a subset.
  Columns random(lattice::Subset subset, unsigned seed) const {
    Columns columns;
    for (int c = 0; c < there.columns(); ++c)
      columns.push_back(test::random_numbers(12 * volume, seed + static_cast<unsigned>(c)));
    return test::QuarkOracle::on(std::move(columns), subset, extents);
  }
  DeviceSpinor<S> field(lattice::Subset subset) const { return {context, subset, there.columns()}; }
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

/// Reals of a link with which hop and matrix are one kernel. With others they are two.
template <class S>
constexpr int fused_reals() {
  return std::is_same_v<S, double> ? 18 : 12;
}

/// D sums a hop and a matrix of the fifth dimension, its Schur complement two of each: four roundings of a hop.
template <class S>
double tolerance() {
  return 4 * test::hop_tolerance<S>();
}

}  // namespace

TEST_CASE_TEMPLATE("device walls: D, its Schur complements and their adjoints are those of the processor", S, double,
                   float, Fixed16) {
  for (const auto& device : testing::test_devices())
    for (const auto& action : actions())
      for (const auto& [emulated, reals] : {std::pair{0u, fused_reals<S>()}, {0u, 30 - fused_reals<S>()}, {8u, 18}}) {
        CAPTURE(action.ls);
        CAPTURE(emulated);
        CAPTURE(reals);
        Walls<S> walls(device, action, emulated, reals);
        const Columns in = walls.random(lattice::Subset::full, 10);
        const auto in_there = walls.field(lattice::Subset::full, in);
        auto out = walls.field(lattice::Subset::full);
        walls.there.apply(out, in_there);
        CHECK(walls.apart(out, walls.here->apply(in, false)) < tolerance<S>());
        walls.there.apply_dagger(out, in_there);
        CHECK(walls.apart(out, walls.here->apply(in, true)) < tolerance<S>());
        for (const SchurForm form : {SchurForm::symmetric, SchurForm::asymmetric})
          for (const int parity : {0, 1}) {
            DeviceSchur<S> s(walls.there, form, parity);
            CHECK(!s.hermitian_positive());
            const Columns half = walls.random(s.subset(), 80);
            const auto half_there = walls.field(s.subset(), half);
            auto result = walls.field(s.subset());
            for (const bool dagger : {false, true}) {
              const Columns expected = walls.here->schur(half, form, parity, dagger);
              // The second application is recorded, the third comes from the record.
              for (int again = 0; again < 3; ++again) {
                if (dagger)
                  s.apply_dagger(result, half_there);
                else
                  s.apply(result, half_there);
                CHECK(walls.apart(result, expected) < tolerance<S>());
              }
            }
            s.prepare(result, in_there);
            CHECK(walls.apart(result, walls.here->prepare(in, form, parity)) < tolerance<S>());
            s.reconstruct(out, half_there, in_there);
            CHECK(walls.apart(out, walls.here->reconstruct(half, in, form, parity)) < tolerance<S>());
          }
      }
}

TEST_CASE_TEMPLATE("device walls: hop and matrix are the same in one kernel, however launched, and in two", S, double,
                   float, Fixed16) {
  constexpr int reals = fused_reals<S>();
  for (const auto& device : testing::test_devices())
    // With many points the kernel follows recursions: Q^-1 of Shamir's walls, P Q^-1 and Q^-1 P of Moebius'.
    for (const auto& [ls, moebius, dagger, on_hop, on_add] : {std::tuple{4, false, true, true, false},
                                                              {6, false, true, true, false},
                                                              {6, false, true, false, true},
                                                              {6, false, true, true, true},
                                                              {16, false, true, true, false},
                                                              {12, true, false, true, true},
                                                              {14, true, true, true, true},
                                                              {12, true, true, false, true}}) {
      CAPTURE(ls);
      CAPTURE(moebius);
      CAPTURE(dagger);
      CAPTURE(on_hop);
      CAPTURE(on_add);
      DomainWallAction action{.mass = 0.1, .m5 = 1.4, .ls = ls};
      if (moebius) action.b = {1.5}, action.c = {0.5};
      Walls<S> walls(device, action, 0, reals);
      const auto in = walls.field(lattice::Subset::odd, walls.random(lattice::Subset::odd, 10));
      const auto add = walls.field(lattice::Subset::even, walls.random(lattice::Subset::even, 70));
      DeviceTerms<S> terms;
      if (on_hop) terms.hop_term = walls.there.inverse_site(0, dagger);
      if (on_add) terms.add_term = walls.there.site(0, dagger);
      terms.hop_scale = -0.25;
      terms.add = &add;
      auto out = walls.field(lattice::Subset::even), first = walls.field(lattice::Subset::even);
      walls.there.fuse(false);
      walls.there.hop(out, in, 0, dagger, terms);
      Columns expected(static_cast<std::size_t>(out.columns()), Numbers(12 * volume));
      for (int c = 0; c < out.columns(); ++c) to_canonical<S>(expected[static_cast<std::size_t>(c)], out, c);

      HopVariant variant;
      variant.adds = true;
      variant.points = ls;
      variant.hop_fifth = on_hop;
      variant.add_fifth = on_add;
      const auto candidates = hop_fifth_candidates(ls, std::is_same_v<S, double> ? 1 : 2, 128);
      CHECK(candidates.size() >= 4);
      for (const gpu::TuneParameters& p : candidates) {
        CAPTURE(p.block_x);
        CAPTURE(p.columns_per_thread);
        const auto cache = std::make_shared<gpu::TuneCache>("", gpu::TuneCache::Mode::read_only);
        int measured = 0;
        walls.context->tuner = gpu::Tuner(device, cache, [&](gpu::Stream&, const std::function<void()>& run) {
          run();
          ++measured;
          return 1.0;
        });
        gpu::TuneEntry entry;
        entry.parameters = p;
        cache->keep(
            walls.context->tuner.key(
                {"wilson_hop",
                 describe_hop(walls.context->box, Storage<S>::name, reals, walls.there.columns(), variant), 0, 0}),
            entry);
        DeviceDomainWall<S> there(walls.data, walls.matrices, walls.there.columns());
        const bool is_first = p == candidates[0];
        auto& result = is_first ? first : out;
        there.hop(result, in, 0, dagger, terms);
        CHECK(measured == 0);  // it was found
        CHECK(walls.apart(result, expected) < tolerance<S>());
        for (int c = 0; c < out.columns(); ++c) {
          Numbers one(12 * volume), other(12 * volume);
          to_canonical<S>(one, first, c);
          to_canonical<S>(other, result, c);
          CHECK(one == other);
        }
      }
    }
}

TEST_CASE("device walls: sources and quarks are those of the processor") {
  for (const auto& device : testing::test_devices())
    for (const auto& action : actions()) {
      Walls<double> walls(device, action);
      const Numbers eta = test::random_numbers(12 * volume, 4);
      auto b = walls.field(lattice::Subset::full);
      walls.there.load_sources(b, std::array{std::span<const std::complex<double>>(eta)});
      // Columns without a source are zero on both sides.
      const Columns expected = walls.here->source_field(eta);
      for (int c = 0; c < b.columns(); ++c) {
        Numbers column(12 * volume);
        to_canonical<double>(column, b, c);
        const auto& wanted = expected[static_cast<std::size_t>(c)];
        double most = 0;
        for (std::size_t k = 0; k < column.size(); ++k) most = std::max(most, std::abs(column[k] - wanted[k]));
        CHECK(most < 1e-13);
      }
      const Columns y = walls.random(lattice::Subset::full, 20);
      const auto y_there = walls.field(lattice::Subset::full, y);
      Numbers q(12 * volume);
      for (int number = 0; number < vectors; ++number) {
        const Numbers quark = walls.here->quark(y, number);
        walls.there.unload_quark(q, y_there, number);
        CHECK(test::difference(q, quark) < 1e-13);
        gpu::DeviceArray<std::complex<double>> stored(device, 12 * volume);
        walls.there.write_quark(stored.data(), y_there, number, 3);
        stored.download(walls.context->stream, std::span(q));
        walls.context->stream.synchronize();
        for (auto& z : q) z /= 8;
        CHECK(test::difference(q, quark) < 1e-13);
        walls.there.unload_midpoint(q, y_there, number);
        CHECK(test::difference(q, walls.here->midpoint(y, number)) < 1e-13);
      }
    }
}

TEST_CASE_TEMPLATE("device walls: dot products are over the points of a right-hand side", S, double, float, Fixed16) {
  for (const auto& device : testing::test_devices()) {
    const DomainWallAction action = actions()[0];
    Walls<S> walls(device, action);
    for (const auto subset : {lattice::Subset::even, lattice::Subset::full}) {
      const SpinorSpace<S> space(walls.context, subset, vectors * action.ls, action.ls);
      const Columns x = walls.random(subset, 10);
      Columns y = walls.random(subset, 50);
      const auto x_there = walls.field(subset, x);
      auto y_there = walls.field(subset, y);
      const solve::Scalars a{{0.5, 0.25}, {-1.5, 2.0}};
      solve::Scalars expected(vectors), given(vectors), squares(vectors);
      for (std::size_t c = 0; c < y.size(); ++c) {
        const std::size_t vector = c / static_cast<std::size_t>(action.ls);
        for (std::size_t k = 0; k < y[c].size(); ++k) {
          y[c][k] += a[vector] * x[c][k];
          expected[vector] += std::conj(x[c][k]) * y[c][k];
          squares[vector] += std::norm(y[c][k]);
        }
      }
      space.axpy(a, x_there, y_there);
      CHECK(walls.apart(y_there, y) < tolerance<S>());
      space.dot(given, x_there, y_there);
      const auto lengths = norms(space, y_there);
      for (std::size_t v = 0; v < vectors; ++v) {
        CHECK(std::abs(given[v] - expected[v]) < tolerance<S>() * std::abs(expected[v]));
        CHECK(lengths[v] == doctest::Approx(std::sqrt(squares[v].real())).epsilon(tolerance<S>()));
      }
      const SpinorSpace<S> narrow(walls.context, subset, vectors);
      CHECK_THROWS_AS(narrow.axpy(a, x_there, y_there), core::InvalidArgument);
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
    CHECK_THROWS_WITH_AS(DeviceDomainWall<double>(walls.data, walls.matrices, 7), doctest::Contains("multiple of Ls"),
                         core::InvalidArgument);
    const DeviceFifth<double> complex(*walls.context, WallMatrices<double>(actions()[0]).a[0], true);
    CHECK_THROWS_WITH_AS(multiply_fifth<double>(out, in, f, 1, &in, &complex, 1, 0), doctest::Contains("complex"),
                         core::InvalidArgument);
  }
}

}  // namespace halocline::qcd::device
