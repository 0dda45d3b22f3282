// SPDX-License-Identifier: Apache-2.0
//
// The hop on a device against plain loops, in every storage and size of links; with all that is added to it in the same
// kernel; of any number of columns; on split boxes; launched in all ways that the tuner may choose.

#include <doctest/doctest.h>

#include <string>

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/wilson/detail/hop_lattice.cuh"
#include "halocline/qcd/wilson/detail/hop_launch.cuh"
#include "halocline/qcd/wilson/detail/hop_several.cuh"
#include "qcd/device/hop_reference.hpp"

namespace halocline::qcd::device {
namespace {

using test::HopProblem;
using test::HopSetup;
using test::Numbers;

/// All numbers of one parity of `from`, the rest of `to`.
void take_parity(const HopProblem& problem, Numbers& to, const Numbers& from, int parity) {
  for (std::int64_t site = 0; site < problem.volume(); ++site)
    if (problem.parity(site) == parity)
      for (int k = 0; k < 12; ++k)
        to[static_cast<std::size_t>(12 * site + k)] = from[static_cast<std::size_t>(12 * site + k)];
}

template <class S>
void check_plain(const gpu::Device& device, const HopProblem& problem, int reals) {
  const HopSetup<S> on(device, problem, reals);
  Hopping<S> hopping(on.links, 1);
  const auto in = on.field(problem, 1, 11);
  const Numbers psi = on.read(in);  // what the storage kept
  auto out = on.field(problem, 1, 30);
  for (const bool dagger : {false, true}) {
    for (int parity = 0; parity < 2; ++parity) hopping.apply(out, in, parity, dagger);
    CAPTURE(Storage<S>::name);
    CAPTURE(reals);
    CAPTURE(dagger);
    CHECK(test::difference(on.read(out), problem.hop(psi, dagger)) <= test::hop_tolerance<S>());
  }
}

}  // namespace

TEST_CASE("device hop: every storage and size of links agrees with plain loops") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const test::ReferenceParameters antiperiodic;
    for (const auto& [extents, parameters] :
         {std::pair{lattice::Coordinates<4>{4, 4, 4, 4}, antiperiodic},
          std::pair{lattice::Coordinates<4>{8, 2, 6, 4}, test::rough_parameters()}}) {
      const HopProblem problem(extents, parameters);
      for (const int reals : {18, 12, 8}) {
        check_plain<double>(device, problem, reals);
        check_plain<float>(device, problem, reals);
        check_plain<Fixed16>(device, problem, reals);
        check_plain<Fixed8>(device, problem, reals);
      }
    }
  }
}

TEST_CASE("device hop: on a GPU too") {
  if (const std::string why = testing::why_no_gpu(); !why.empty()) {
    MESSAGE("skipped on this machine: " << why);
    return;
  }
  CHECK(testing::test_devices().size() == 2);  // then all tests here ran on both
}

TEST_CASE("device hop: the hermitian conjugate is the adjoint") {
  const HopProblem problem({2, 4, 6, 4}, test::rough_parameters());
  for (const gpu::Device& device : testing::test_devices()) {
    const HopSetup<double> on(device, problem, 12);
    Hopping<double> hopping(on.links, 1);
    const auto a = on.field(problem, 1, 1), b = on.field(problem, 1, 2);
    auto hop_b = on.field(problem, 1, 3), hop_a = on.field(problem, 1, 3);
    for (int parity = 0; parity < 2; ++parity) {
      hopping.apply(hop_b, b, parity, false);
      hopping.apply(hop_a, a, parity, true);
    }
    const auto left = test::inner_product(on.read(a), on.read(hop_b));
    const auto right = test::inner_product(on.read(hop_a), on.read(b));
    CHECK(std::abs(left - right) <= 1e-13 * std::abs(left));
  }
}

namespace {

/// out = hop_scale [B] hop(in) + add_scale [A] add, in all combinations, on one parity; and the sums.
template <class S>
void check_terms(const gpu::Device& device, int reals, int columns, unsigned emulated, int parity, int step = 1) {
  const HopProblem problem({2, 4, 2, 4}, test::rough_parameters());
  const HopSetup<S> on(device, problem, reals, emulated);
  const Box& box = on.context->box;
  Hopping<S> hopping(on.links, columns);
  const auto in = on.field(problem, columns, 100), with = on.field(problem, columns, 200);
  const std::vector<double> b = problem.blocks(5), a = problem.blocks(6);
  const DeviceClover<S> b72(on.context, b, 72), b56(on.context, b, 56), a72(on.context, a, 72), a56(on.context, a, 56);
  gpu::SumBuffer sums(device, 4, box.sites, columns);
  for (int combination = 0; combination < 36; combination += step) {
    const int hop_blocks = combination % 3, add_blocks = combination / 3 % 3, adding = combination / 9 % 2;
    const bool summing = combination / 18 != 0, dagger = (combination + combination / 3) % 2 != 0;
    if (add_blocks != 0 && adding == 0) continue;
    auto out = on.field(problem, columns, 300);
    HopTerms<S> terms;
    terms.hop_scale = -0.5;
    terms.add_scale = 1.75;
    if (hop_blocks != 0) terms.hop_blocks = hop_blocks == 1 ? &b72 : &b56;
    if (add_blocks != 0) terms.add_blocks = add_blocks == 1 ? &a72 : &a56;
    if (adding != 0) terms.add = &out;  // its own output
    if (summing) {
      terms.sums = &sums;
      terms.first_sum = 1;
      if (hop_blocks != 1) terms.with = &with;
    }
    std::vector<Numbers> before;
    for (int column = 0; column < columns; ++column) before.push_back(on.read(out, column));
    hopping.apply(out, in, parity, dagger, terms);
    if (summing) sums.fetch(on.context->stream, 4);
    const auto arrived = summing ? sums.wait() : std::span<const double>{};
    for (int column = 0; column < columns; ++column) {
      Numbers whole = problem.hop(on.read(in, column), dagger);
      if (hop_blocks != 0) whole = problem.multiply(box, b, whole);
      const Numbers added = add_blocks != 0 ? problem.multiply(box, a, before[static_cast<std::size_t>(column)])
                                            : before[static_cast<std::size_t>(column)];
      for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = -0.5 * whole[i] + (adding ? 1.75 : 0.0) * added[i];
      Numbers expected = before[static_cast<std::size_t>(column)];
      take_parity(problem, expected, whole, parity);
      const Numbers result = on.read(out, column);
      CAPTURE(Storage<S>::name);
      CAPTURE(combination);
      CAPTURE(column);
      CHECK(test::difference(result, expected) <= 2 * test::hop_tolerance<S>());
      if (!summing) continue;
      Numbers w(result.size()), r(result.size());
      take_parity(problem, w, on.read(with, column), parity);
      take_parity(problem, r, result, parity);
      const auto product = test::inner_product(w, r);
      const double norm = test::norm(r), size = test::norm(w) * norm;
      const auto sum = [&](int s) { return arrived[static_cast<std::size_t>(s * columns + column)]; };
      const double allowed = Storage<S>::scaled ? test::hop_tolerance<S>() : 10 * test::hop_tolerance<S>();
      CHECK(std::abs(sum(1) - (terms.with ? product.real() : 0.0)) <= allowed * size);
      CHECK(std::abs(sum(2) - (terms.with ? product.imag() : 0.0)) <= allowed * size);
      CHECK(std::abs(sum(3) - norm * norm) <= allowed * norm * norm);
    }
  }
}

}  // namespace

TEST_CASE("device hop: what is added, multiplied and summed in the same kernel") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    check_terms<double>(device, 18, 1, 0, 0);
    check_terms<float>(device, 12, 2, 0, 1);
    check_terms<Fixed16>(device, 8, 1, 0, 0);
    check_terms<double>(device, 12, 1, 10, 1, 5);
    check_terms<Fixed16>(device, 12, 1, 4, 1, 7);
  }
}

TEST_CASE("device hop: a column does not depend on how many there are") {
  const HopProblem problem({4, 2, 2, 2}, test::rough_parameters());
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const auto check = [&]<class S>(S, int reals) {
      const HopSetup<S> on(device, problem, reals);
      Hopping<S> one(on.links, 1);
      std::vector<Numbers> expected;
      for (int column = 0; column < 32; ++column) {
        const auto in = on.field(problem, 1, 40 + static_cast<unsigned>(column));
        auto out = on.field(problem, 1, 30);
        one.apply(out, in, 1, true);
        expected.push_back(on.read(out));
      }
      for (const int columns : {2, 3, 5, 12, 32}) {
        Hopping<S> hopping(one, columns);
        const auto in = on.field(problem, columns, 40);
        auto out = on.field(problem, columns, 30);
        for (int column = 0; column < columns; ++column) from_canonical(out, column, problem.spinor(30));
        hopping.apply(out, in, 1, true);
        for (int column = 0; column < columns; ++column) {
          CAPTURE(columns);
          CAPTURE(column);
          CHECK(on.read(out, column) == expected[static_cast<std::size_t>(column)]);
        }
      }
    };
    check(double{}, 18);
    check(float{}, 12);
    check(Fixed16{}, 18);
    check(Fixed8{}, 8);
  }
}

TEST_CASE("device hop: splitting any axes changes no bit") {
  const HopProblem problem({4, 2, 4, 6}, test::rough_parameters());
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    Numbers whole;
    for (unsigned emulated = 0; emulated < 16; ++emulated) {
      const HopSetup<float> on(device, problem, 12, emulated);
      Hopping<float> hopping(on.links, 2);
      const auto in = on.field(problem, 2, 8);
      auto out = on.field(problem, 2, 9);
      for (int parity = 0; parity < 2; ++parity) hopping.apply(out, in, parity, parity == 1);
      Numbers result = on.read(out, 0);
      const Numbers second = on.read(out, 1);
      result.insert(result.end(), second.begin(), second.end());
      if (emulated == 0) whole = result;
      CAPTURE(emulated);
      CHECK(result == whole);
    }
  }
}

TEST_CASE("device hop: no way of launching changes a bit, nor does its measurement") {
  const HopProblem problem({4, 2, 2, 2}, test::rough_parameters());
  constexpr int columns = 4;
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const HopSetup<float> first(device, problem, 18);
    Hopping<float> plain(first.links, columns);
    const auto in = first.field(problem, columns, 8);
    HopTerms<float> terms;
    auto expected = first.field(problem, columns, 9);
    terms.add = &expected;  // a run that is measured must leave it alone
    plain.apply(expected, in, 0, false, terms);
    for (const int quickest : {0, 11, 29, 43}) {
      const HopSetup<float> on(device, problem, 18);
      int measured = 0;
      on.context->tuner = gpu::Tuner(device, std::make_shared<gpu::TuneCache>("", gpu::TuneCache::Mode::read_only),
                                     [&](gpu::Stream&, const std::function<void()>& run) {
                                       run();
                                       return measured++ == quickest ? 1.0 : 2.0;
                                     });
      Hopping<float> hopping(on.links, columns);
      const auto same = on.field(problem, columns, 8);
      auto out = on.field(problem, columns, 9);
      terms.add = &out;
      hopping.apply(out, same, 0, false, terms);
      CAPTURE(quickest);
      CHECK(measured > quickest);
      for (int column = 0; column < columns; ++column) CHECK(on.read(out, column) == first.read(expected, column));
    }
  }
}

namespace {

/// Counts what SiteLoop calls it with.
struct Met {
  int* met;
  HALOCLINE_INLINE void operator()(int number) const { ++met[number]; }
};
/// Asks that come too late, when the site has been met, count a hundred.
struct Asked {
  const int* met;
  int* asked;
  HALOCLINE_INLINE void operator()(int number) const { asked[number] += met[number] == 0 ? 1 : 100; }
};
/// The same of so many numbers that they cannot be listed.
struct Tally {
  int* sum;
  int each;
  HALOCLINE_INLINE void operator()(int number) const { *sum += number >= 0 ? each : 1000; }
};

}  // namespace

TEST_CASE("device hop: several sites a thread are all sites once, and the next of each is asked for") {
  for (const int count : {1, 2, 3, 4, 5, 7, 8, 13, 64, 65, 66, 67})
    for (const int each : {1, 2, 4})
      for (const bool prefetch : {false, true}) {
        const SiteLoop loop = SiteLoop::of(count, each, prefetch);
        CAPTURE(count);
        CAPTURE(each);
        CHECK(loop.threads == (count + each - 1) / each);
        std::vector<int> met(static_cast<std::size_t>(count)), asked(static_cast<std::size_t>(count)), ahead;
        for (int thread = 0; thread < loop.threads; ++thread)
          loop.run(thread, Met{met.data()}, Asked{met.data(), asked.data()});
        for (int number = 0; number < count; ++number) ahead.push_back(prefetch && number >= loop.threads ? 1 : 0);
        CHECK(met == std::vector<int>(static_cast<std::size_t>(count), 1));
        CHECK(asked == ahead);
      }
  const SiteLoop largest = SiteLoop::of(2147483647, 4, true);  // no number beyond the last site is formed
  int sum = 0;
  largest.run(largest.threads - 1, Tally{&sum, 1}, Tally{&sum, 10});
  CHECK(sum == 3 + 20);  // 2147483647 = 4 536870912 - 1: the last thread has three sites
}

namespace {

/// Every way of launching, found in the tuner's cache, gives the bits of the first.
template <class S>
void check_candidates(const gpu::Device& device, int reals, int columns, unsigned emulated, int most_a_thread) {
  const HopProblem problem({4, 2, 6, 4}, test::rough_parameters());
  const HopSetup<S> on(device, problem, reals, emulated);
  const auto in = on.field(problem, columns, 8);
  auto expected = on.field(problem, columns, 9);
  Hopping<S>(on.links, columns).apply(expected, in, 0, true);
  const auto candidates = hop_candidates(columns, most_a_thread, 256, {.loops = true, .past_cache = true});
  CHECK(candidates.size() <= 30);
  CHECK(candidates[0].sites_per_thread == 1);
  int loops = 0, evicting = 0, past_cache = 0, streaming = 0;
  for (const gpu::TuneParameters& p : candidates) {
    evicting += p.evict_first;
    past_cache += p.no_allocate;
    streaming += p.streaming_stores;
    if (p.sites_per_thread == 1 && p.carveout < 0 && p.evict_first + p.no_allocate + p.streaming_stores == 0)
      continue;  // blocks are another test's
    if (p.sites_per_thread > 1) ++loops;
    HopVariant variant;
    variant.part = on.context->box.split != 0 ? HopPart::interior : HopPart::all;
    int measured = 0;
    const auto cache = std::make_shared<gpu::TuneCache>("", gpu::TuneCache::Mode::read_only);
    on.context->tuner = gpu::Tuner(device, cache, [&](gpu::Stream&, const std::function<void()>& run) {
      run();
      ++measured;
      return 1.0;
    });
    for (const HopPart part : {variant.part, HopPart::exterior}) {
      const HopVariant each{part, 0, 0, false};
      gpu::TuneEntry entry;
      entry.parameters = part == variant.part ? p : hop_candidates(columns, 1, 256, {})[0];
      cache->keep(on.context->tuner.key(
                      {"wilson_hop", describe_hop(on.context->box, Storage<S>::name, reals, columns, each), 0, 0}),
                  entry);
    }
    Hopping<S> hopping(on.links, columns);
    auto out = on.field(problem, columns, 9);
    measured = 0;
    hopping.apply(out, in, 0, true);
    CAPTURE(Storage<S>::name);
    CAPTURE(p.block_x);
    CAPTURE(p.sites_per_thread);
    CAPTURE(p.prefetch);
    CHECK(measured == 0);  // it was found
    for (int column = 0; column < columns; ++column) CHECK(on.read(out, column) == on.read(expected, column));
  }
  CHECK(loops >= 4);
  CHECK(evicting >= 1);
  CHECK(streaming >= 1);
  CHECK((past_cache >= 2) == (columns == 1));
}

/// Every way of launching a hop with sums gives the field and the sums of the first.
template <class S>
void check_sum_candidates(const gpu::Device& device, int reals, int columns, int most_a_thread) {
  CAPTURE(Storage<S>::name);
  CAPTURE(reals);
  CAPTURE(columns);
  const HopProblem problem({4, 2, 6, 10}, test::rough_parameters());
  const HopSetup<S> on(device, problem, reals, 0);
  const auto in = on.field(problem, columns, 8), with = on.field(problem, columns, 9);
  gpu::SumBuffer sums(device, 3, on.context->box.sites, columns);
  HopTerms<S> terms;
  terms.sums = &sums;
  terms.with = &with;
  HopVariant variant;
  variant.sums = variant.products = true;
  std::vector<double> expected;
  auto out = on.field(problem, columns, 7), first = on.field(problem, columns, 7);
  int two_columns = 0;
  for (const gpu::TuneParameters& p : hop_sum_candidates(columns, most_a_thread, 128, true)) {
    CAPTURE(p.block_x);
    CAPTURE(p.block_y);
    CAPTURE(p.columns_per_thread);
    two_columns += p.columns_per_thread == 2 ? 1 : 0;
    const auto cache = std::make_shared<gpu::TuneCache>("", gpu::TuneCache::Mode::read_only);
    int measured = 0;
    on.context->tuner = gpu::Tuner(device, cache, [&](gpu::Stream&, const std::function<void()>& run) {
      run();
      ++measured;
      return 1.0;
    });
    gpu::TuneEntry entry;
    entry.parameters = p;
    cache->keep(on.context->tuner.key(
                    {"wilson_hop", describe_hop(on.context->box, Storage<S>::name, reals, columns, variant), 0, 0}),
                entry);
    Hopping<S> hopping(on.links, columns);
    hopping.apply(expected.empty() ? first : out, in, 0, true, terms);
    sums.fetch(on.context->stream, 3);
    const auto got = sums.wait();
    CHECK(measured == 0);  // it was found
    if (expected.empty()) {
      expected.assign(got.begin(), got.end());
      continue;
    }
    CHECK(std::vector<double>(got.begin(), got.end()) == expected);
    for (int column = 0; column < columns; ++column) CHECK(on.read(out, column) == on.read(first, column));
  }
  CHECK((two_columns > 0) == (most_a_thread > 1 && columns > 1));
}

}  // namespace

TEST_CASE("device hop: sums have the same bits for every block and number of columns a thread") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    check_sum_candidates<double>(device, 18, 2, 1);
    check_sum_candidates<float>(device, 12, 4, 2);
    check_sum_candidates<float>(device, 18, 3, 2);
    check_sum_candidates<Fixed16>(device, 12, 12, 2);
    check_sum_candidates<Fixed16>(device, 8, 1, 1);
    check_sum_candidates<Fixed8>(device, 12, 3, 1);
  }
}

TEST_CASE("device hop: a measurement spares a field that is also multiplied") {
  const HopProblem problem({4, 4, 4, 4}, test::rough_parameters());
  const gpu::Device device = gpu::Device::host_executor();
  const HopSetup<float> on(device, problem, 12, 0);
  const auto in = on.field(problem, 2, 8);
  gpu::SumBuffer sums(device, 3, on.context->box.sites, 2);
  std::vector<std::vector<double>> seen;
  for (const bool measuring : {false, true}) {
    const auto cache =
        std::make_shared<gpu::TuneCache>("", measuring ? gpu::TuneCache::Mode::read_write : gpu::TuneCache::Mode::off);
    on.context->tuner = gpu::Tuner(device, cache, [](gpu::Stream&, const std::function<void()>& run) {
      run();
      run();
      return 1.0;
    });
    auto out = on.field(problem, 2, 9);
    HopTerms<float> terms;
    terms.sums = &sums;
    terms.with = &out;
    Hopping<float>(on.links, 2).apply(out, in, 0, false, terms);
    sums.fetch(on.context->stream, 3);
    const auto got = sums.wait();
    seen.emplace_back(got.begin(), got.end());
  }
  CHECK(seen[0] == seen[1]);
}

TEST_CASE("device hop: sites a thread, prefetching and the share of the cache change no bit") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    check_candidates<double>(device, 18, 1, 0, 1);
    check_candidates<float>(device, 12, 4, 0, 2);
    check_candidates<float>(device, 12, 3, 12, 2);  // axes z and t split: a list of interior sites
    check_candidates<Fixed16>(device, 12, 1, 0, 2);
    check_candidates<Fixed16>(device, 8, 1, 8, 1);
  }
}

TEST_CASE("device hop: wrong fields are refused") {
  const HopProblem problem({4, 4, 4, 4}, {});
  const HopSetup<float> on(gpu::Device::host_executor(), problem, 18);
  CHECK_THROWS_AS(Hopping<float>(on.links, 0), core::InvalidArgument);
  CHECK_THROWS_AS(Hopping<float>(on.links, 2049), core::InvalidArgument);
  Hopping<float> hopping(on.links, 2);
  DeviceSpinor<float> even(on.context, lattice::Subset::even, 2), odd(on.context, lattice::Subset::odd, 2),
      thin(on.context, lattice::Subset::odd, 1), full(on.context, lattice::Subset::full, 2);
  CHECK_THROWS_AS(hopping.apply(even, odd, 1, false), core::InvalidArgument);
  CHECK_THROWS_AS(hopping.apply(even, thin, 0, false), core::InvalidArgument);
  CHECK_THROWS_AS(hopping.apply(full, full, 0, false), core::InvalidArgument);
  HopTerms<float> terms;
  terms.add = &odd;
  CHECK_THROWS_AS(hopping.apply(even, full, 0, false, terms), core::InvalidArgument);
}

TEST_CASE("device hop: places of sites and neighbours are those of the box") {
  for (const lattice::Coordinates<4>& extents :
       {lattice::Coordinates<4>{2, 1, 3, 2}, lattice::Coordinates<4>{6, 5, 1, 4},
        lattice::Coordinates<4>{4, 3, 7, 5}}) {
    Box box{};
    box.sites = 1;
    for (int axis = 0; axis < 4; ++axis) {
      box.extent[axis] = static_cast<int>(extents[axis]);
      box.sites *= box.extent[axis];
    }
    box.sites /= 2;
    for (box.origin_parity = 0; box.origin_parity < 2; ++box.origin_parity) {
      const HopLattice lattice = HopLattice::of(box);
      for (int parity = 0; parity < 2; ++parity)
        for (int site = 0; site < box.sites; ++site) {
          const HopPlace place = lattice.place(parity, site);
          const Coordinates c = box.coordinates(parity, site);
          for (int axis = 0; axis < 4; ++axis) REQUIRE(place.c.x[axis] == c.x[axis]);
          const auto same = [&]<int d>() {
            REQUIRE(lattice.at_edge<d>(place) == box.at_edge(c, d));
            REQUIRE(lattice.neighbour<d>(place, box.at_edge(c, d)) == box.neighbour(c, d));
          };
          same.operator()<0>(), same.operator()<1>(), same.operator()<2>(), same.operator()<3>();
          same.operator()<4>(), same.operator()<5>(), same.operator()<6>(), same.operator()<7>();
        }
    }
  }
  for (const int divisor : {1, 2, 3, 7, 16, 641, 65535, 65537, 1 << 30, 2147483647}) {
    const Divisor by = Divisor::of(divisor);
    for (const std::int64_t around : {std::int64_t{0}, std::int64_t{divisor}, std::int64_t{2} * divisor,
                                      std::int64_t{2147483647} / divisor * divisor, std::int64_t{2147483647}})
      for (std::int64_t n = around - 1; n <= around + 1; ++n)
        if (n >= 0 && n <= 2147483647) CHECK(by.quotient(static_cast<int>(n)) == static_cast<int>(n) / divisor);
  }
}

}  // namespace halocline::qcd::device
