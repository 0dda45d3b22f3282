// SPDX-License-Identifier: Apache-2.0
//
// Solvers whose scalars stay on the device, against the same solvers whose host computes them: the same bits, the same
// reports, in one launch an iteration.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/quark/detail/device_solver_batch.cuh"
#include "qcd/device/halo_links.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::device {
namespace {

constexpr lattice::Coordinates<4> extents{4, 2, 6, 8};
constexpr std::int64_t volume = 4 * 2 * 6 * 8;
constexpr int columns = 3;
using Numbers = std::vector<std::complex<double>>;

struct Case {
  bool even_odd = true;
  unsigned emulated = 0;
  std::string halo{};
};

WilsonCloverAction action() { return {.mass = 0.3, .csw = 1.0}; }

/// The operator in double and in an inner storage.
template <class S>
struct Levels {
  Levels(const gpu::Device& device, const Case& c)
      : geometry(test::one_process(extents)),
        host(test::random_host_data(geometry, c.emulated, action())),
        context(std::make_shared<Context>(device, geometry, c.emulated, HaloChoice{.policy = c.halo},
                                          std::make_shared<gpu::TuneCache>("", gpu::TuneCache::Mode::off))),
        options{.even_odd = c.even_odd},
        outer({wilson_data<double>(context, host.links, host.clover, action(), 18)}, options, columns),
        inner({wilson_data<S>(context, host.links, host.clover, action(), 12)}, options, columns) {}

  struct Outcome {
    solve::SolveResult result;
    Numbers x;
  };
  /// Column 1 is easier than the others.
  Outcome solve(const std::string& kind, solve::SolveOptions limits, bool recursion) {
    inner.a().use_recursion(recursion);
    outer.a().use_recursion(recursion);
    limits.column_tolerance = {1e-9, 1e-5, 1e-8};
    DeviceSpinor<double> full(context, lattice::Subset::full, columns);
    for (int c = 0; c < columns; ++c) {
      Numbers numbers = test::random_numbers(volume * 12, 7 + static_cast<unsigned>(c));
      from_canonical(full, c, numbers);
    }
    auto b = outer.space().create(), x = outer.space().create();
    if (outer.schur() != nullptr)
      outer.schur()->prepare(b, full);
    else
      outer.space().copy(b, full);
    Outcome out;
    if constexpr (std::is_same_v<S, double>)
      out.result = solve_by(kind, outer.space(), outer.a(), x, b, limits);
    else
      out.result = solve_mixed(kind, outer.space(), outer.a(), x, b, inner.space(), inner.a(), limits);
    DeviceSpinor<double> whole(context, lattice::Subset::full, columns);
    for (int c = 0; c < columns; ++c) from_canonical(whole, c, Numbers(static_cast<std::size_t>(volume) * 12));
    if (outer.schur() != nullptr)
      assign_parity(whole, 1.0, x, 0);
    else
      outer.space().copy(whole, x);
    for (int c = 0; c < columns; ++c) {
      Numbers numbers(static_cast<std::size_t>(volume) * 12);
      to_canonical(numbers, whole, c);
      out.x.insert(out.x.end(), numbers.begin(), numbers.end());
    }
    return out;
  }

  std::shared_ptr<const lattice::Geometry4> geometry;
  test::HostData host;
  ContextPtr context;
  BackendOptions options;
  detail::DeviceLevel<double> outer;
  detail::DeviceLevel<S> inner;
};

template <class S>
auto& iterated(Levels<S>& levels) {
  if constexpr (std::is_same_v<S, double>)
    return levels.outer;
  else
    return levels.inner;
}

/// On the host executor host and kernels are compiled by one compiler, so every number is the same. A GPU rounds some
/// sums of products otherwise. On full fields a pass of its own makes the sums behind which a step follows: they differ
/// from those of the hop by their rounding.
template <class S>
void check_same(const gpu::Device& device, const Case& c, const std::string& kind,
                const solve::SolveOptions& limits = {}) {
  CAPTURE(device.describe());
  CAPTURE(kind);
  CAPTURE(c.even_odd);
  CAPTURE(c.emulated);
  CAPTURE(c.halo);
  CAPTURE(Storage<S>::name);
  Levels<S> levels(device, c);
  const auto expected = levels.solve(kind, limits, false);
  REQUIRE(expected.result.iterations > 0);
  Numbers first;
  for (int repeat = 0; repeat < 3; ++repeat) {
    CAPTURE(repeat);
    const auto got = levels.solve(kind, limits, true);
    if (device.on_gpu() || !c.even_odd) {
      CHECK(got.result.reason == expected.result.reason);
      CHECK(test::relative_distance(got.x, expected.x) < 1e-4);  // the tolerance of column 1 is 1e-5
      if (repeat == 0) first = got.x;
      CHECK(got.x == first);
      continue;
    }
    CHECK(got.x == expected.x);
    CHECK(got.result.reasons == expected.result.reasons);
    CHECK(got.result.column_iterations == expected.result.column_iterations);
    CHECK(got.result.replacements == expected.result.replacements);
    CHECK(got.result.history == expected.result.history);
  }
  CHECK(iterated(levels).a().recursion(iterated(levels).space()) != nullptr);
}

}  // namespace

TEST_CASE("device recursion: solvers have the same bits with their scalars on the device") {
  for (const gpu::Device& device : testing::all_devices())
    for (const char* kind : {"bicgstab", "cg"})
      for (const Case& c :
           {Case{}, Case{.even_odd = false}, Case{.emulated = 0b1010u, .halo = "remote-write"},
            Case{.emulated = 0b0101u, .halo = "one-kernel"}, Case{.emulated = 0b1000u, .halo = "merged-pack"},
            Case{.emulated = 0b1010u, .halo = "staged"}, Case{.emulated = 0b1010u, .halo = "copy-engine"}}) {
        const bool defers = device.describe().find("deferred") != std::string::npos;
        if (defers && !c.even_odd) continue;
        check_same<Fixed16>(device, c, kind);
        if (defers || c.emulated != 0) continue;
        check_same<float>(device, c, kind);
        check_same<double>(device, c, kind);
        check_same<Fixed8>(device, c, kind);
      }
}

TEST_CASE("device recursion: limits and stagnation end a column where the host would end it") {
  const gpu::Device device = gpu::Device::host_executor();
  for (const char* kind : {"bicgstab", "cg"}) {
    for (const int most : {1, 2, 5}) check_same<float>(device, {}, kind, {.max_iterations = most});
    check_same<Fixed16>(device, {}, kind, {.stagnation_window = 1});
    check_same<Fixed16>(device, {}, kind, {.stagnation_window = 2});
  }
}

TEST_CASE("device recursion: a solve that is cancelled reports what it was told, and the next one is as ever") {
  const gpu::Device device = gpu::Device::host_executor();
  Levels<Fixed16> levels(device, {});
  const auto expected = levels.solve("bicgstab", {}, false);
  solve::SolveOptions few;
  few.progress = [](int iteration, double) { return iteration < 3; };
  const auto cancelled = levels.solve("bicgstab", few, true);
  CHECK(cancelled.result.reason == solve::Reason::cancelled);
  CHECK(cancelled.result.iterations == 3);
  CHECK(levels.solve("bicgstab", {}, true).x == expected.x);
}

TEST_CASE("device recursion: an iteration that has been recorded is one launch") {
  const gpu::Device device = gpu::Device::host_executor();
  for (const Case& c : {Case{}, Case{.emulated = 0b1010u, .halo = "remote-write"}}) {
    CAPTURE(c.halo);
    Levels<double> levels(device, c);
    const auto& stream = levels.context->stream;
    levels.solve("cg", {}, true);
    levels.solve("cg", {}, true);  // an odd number of halo steps later, so with graphs of its own
    CHECK(levels.outer.a().graphs() > 0);
    const std::int64_t before = stream.kernels();
    const auto second = levels.solve("cg", {}, true);
    const std::int64_t launched = stream.kernels() - before;
    levels.solve("cg", {}, false);
    const std::int64_t one_by_one = stream.kernels() - before - launched;
    // Launches remain for what the host does at a stop, and are none for the iterations themselves. The applications of
    // the host's own way may be graphs, too, but its updates are launches: two an iteration.
    const int alone = second.result.iterations - 2 * columns;  // nothing is replaced in double
    REQUIRE(alone > 0);
    CHECK(one_by_one - launched >= 2 * alone);
    levels.outer.a().use_graphs(false);
    CHECK(levels.solve("cg", {}, true).x == second.x);
  }
}

}  // namespace halocline::qcd::device
