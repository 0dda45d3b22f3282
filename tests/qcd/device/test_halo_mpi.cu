// SPDX-License-Identifier: Apache-2.0
//
// The hop on split lattices, split between processes, emulated, or both: the same bits as on the whole lattice in
// floating point under every policy, and to the rounding of the half spinors in fixed point.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu/devices.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/wilson/cuda.cuh"
#include "qcd/device/halo_links.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::device {
namespace {

using Numbers = std::vector<std::complex<double>>;
using Geometry = std::shared_ptr<const lattice::Geometry4>;

/// A lattice that the processes of the run can share, with odd local extents where there are enough of them.
struct Layout {
  lattice::Coordinates<4> extents;
  std::vector<int> dims;
  std::vector<unsigned> emulated;
};
Layout layout(int ranks) {
  if (ranks == 1) return {{4, 2, 6, 4}, {1, 1, 1, 1}, {1u, 2u, 4u, 8u, 14u, 15u}};
  if (ranks == 2) return {{4, 4, 2, 6}, {1, 1, 1, 2}, {0u, 1u, 6u}};
  if (ranks == 3) return {{4, 4, 6, 4}, {1, 1, 3, 1}, {0u, 8u}};
  return {{8, 6, 6, 2}, {2, 2, 2, 1}, {0u, 8u}};
}

WilsonCloverAction twisted() {
  WilsonCloverAction action;
  action.csw = 1.2;
  action.boundary[2] = std::polar(1.0, 0.7);
  action.xi0 = 1.5;
  return action;
}

/// What a hop is made of on one lattice.
template <class S>
struct Fixture {
  Fixture(const gpu::Device& device, const Geometry& geometry, unsigned emulated, const test::HostData& data, int reals,
          const std::string& policy, bool split_sites = false)
      : context(std::make_shared<Context>(device, geometry, emulated,
                                          HaloChoice{policy, 60.0, policy == "mixed" ? 2 : 0, split_sites})),
        links(std::make_shared<const DeviceLinks<S>>(context, data.links, reals)),
        blocks(context, data.clover.blocks, 72) {}

  ContextPtr context;
  std::shared_ptr<const DeviceLinks<S>> links;
  DeviceClover<S> blocks;

  DeviceSpinor<S> field(int columns, unsigned seed) const {
    DeviceSpinor<S> f(context, lattice::Subset::full, columns);
    for (int column = 0; column < columns; ++column) {
      const auto whole = test::random_numbers(context->geometry->global_volume() * 12, seed + unsigned(column));
      from_canonical(f, column, test::local_part(*context->geometry, whole, 12));
    }
    return f;
  }
};

/// Two hops onto each parity, plain and with all that can be added to one; column after column.
template <class S>
Numbers hops(const Fixture<S>& on, int columns) {
  Hopping<S> hopping(on.links, columns);
  const auto in = on.field(columns, 100);
  auto out = on.field(columns, 500);
  Numbers all;
  for (const bool dagger : {false, true}) {
    for (int parity = 0; parity < 2; ++parity) {
      HopTerms<S> terms;
      if (dagger) {
        terms.hop_scale = -0.5;
        terms.hop_blocks = &on.blocks;
        terms.add = &in;
        terms.add_scale = 3.5;
        terms.add_blocks = &on.blocks;
      }
      hopping.apply(out, in, parity, dagger, terms);
    }
    on.context->stream.synchronize();
    for (int column = 0; column < columns; ++column) {
      Numbers numbers(static_cast<std::size_t>(12 * on.context->geometry->local_volume()));
      to_canonical<S>(numbers, out, column);
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
  }
  return all;
}

/// The largest difference over the largest number; infinite where something is not finite.
double difference(const Numbers& a, const Numbers& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(std::abs(a[i])) || !std::isfinite(std::abs(b[i]))) return INFINITY;
    largest = std::max(largest, std::abs(b[i]));
    apart = std::max(apart, std::abs(a[i] - b[i]));
  }
  return apart / largest;
}

/// A half spinor is rounded to half a unit of its largest real; eight neighbours, of which some come so.
template <class S>
constexpr double rounding = 0;
template <>
constexpr double rounding<Fixed16> = 4.0 / 32767;
template <>
constexpr double rounding<Fixed8> = 4.0 / 127;

template <class S>
void check_hops(const gpu::Device& device, int reals, const std::vector<int>& columns, bool few_policies,
                bool split_sites = false) {
  const comm::Communicator world = comm::world();
  const Layout shape = layout(world.size());
  const comm::ProcessGrid grid(world, shape.dims);
  const auto split = std::make_shared<const lattice::Geometry4>(shape.extents, grid);
  const auto alone = test::one_process(shape.extents);
  const Fixture<S> whole(device, alone, 0, test::random_host_data(alone, 0, twisted()), reals, "");
  std::map<unsigned, test::HostData> data;
  for (const unsigned emulated : shape.emulated)
    data.emplace(emulated, test::random_host_data(split, emulated, twisted()));
  const auto policies = gpu::halo_policies(device, grid, 2);
  for (const int n : columns) {
    const Numbers expected = [&] {
      const Numbers all = hops(whole, n);
      Numbers part;
      const auto each = static_cast<std::size_t>(12 * split->global_volume());
      for (std::size_t begin = 0; begin < all.size(); begin += each) {
        const auto local = test::local_part(*split, std::span(all).subspan(begin, each), 12);
        part.insert(part.end(), local.begin(), local.end());
      }
      return part;
    }();
    for (const unsigned emulated : shape.emulated) {
      for (const gpu::PolicyInfo& policy : policies) {
        if (!policy.available) continue;
        if (few_policies && policy.name != "staged" && policy.name != "one-kernel") continue;
        CAPTURE(n);
        CAPTURE(emulated);
        CAPTURE(policy.name);
        const Fixture<S> here(device, split, emulated, data.at(emulated), reals, policy.name, split_sites);
        const double apart = difference(hops(here, n), expected);
        CHECK(apart <=
              rounding<S> + (device.on_gpu() || split_sites ? 4 * std::numeric_limits<RealOf<S>>::epsilon() : 0));
        if (!split_sites && (few_policies || !Storage<S>::scaled)) continue;
        CHECK(apart > 0);  // the halo is of this storage, or the order of sums another
      }
      if (few_policies) break;
    }
  }
}

}  // namespace

// nvcc may fuse other multiply-adds in the kernel of the exterior than in that of the interior: there "to the bit" is
// "to the last bits".
TEST_CASE("device halo: the hop in double is the same to the bit under every policy") {
  check_hops<double>(gpu::Device::host_executor(), 18, {1, 3}, false);
}
TEST_CASE("device halo: the hop in float is the same to the bit under every policy") {
  check_hops<float>(gpu::Device::host_executor(), 12, {1, 12}, false);
}
TEST_CASE("device halo: the hop in fixed16 is the same to its rounding under every policy") {
  for (const gpu::Device& device : testing::test_devices(comm::world().rank())) {
    CAPTURE(device.describe());
    check_hops<Fixed16>(device, 8, {3}, false);
    if (device.on_gpu()) check_hops<double>(device, 18, {1}, false);
    if (device.on_gpu()) check_hops<float>(device, 12, {12}, false);
  }
}
TEST_CASE("device halo: storages and links without a fused launch take separate ones") {
  const gpu::Device device = gpu::Device::host_executor();
  check_hops<Fixed8>(device, 18, {1}, true);
  check_hops<Fixed16>(device, 12, {1}, true);
  check_hops<double>(device, 12, {1}, true);
  check_hops<float>(device, 8, {3}, true);
}

TEST_CASE("device halo: sites computed in two parts agree to rounding under every policy") {
  for (const gpu::Device& device : testing::test_devices(comm::world().rank())) {
    CAPTURE(device.describe());
    check_hops<double>(device, 18, {1}, false, true);
    check_hops<float>(device, 12, {3}, false, true);
    check_hops<Fixed16>(device, 12, {2}, true, true);
  }
  const auto split = std::make_shared<const lattice::Geometry4>(
      layout(comm::world().size()).extents, comm::ProcessGrid(comm::world(), layout(comm::world().size()).dims));
  const gpu::Device device = gpu::Device::host_executor();
  const unsigned emulated = layout(comm::world().size()).emulated.back();
  const auto data = test::random_host_data(split, emulated, twisted());
  for (const int reals : {12, 8}) {  // float: common with 12
    const Fixture<float> here(device, split, emulated, data, reals, "", true);
    CHECK(Hopping<float>(here.links, 1).splits_sites() == (reals == 12));
  }
}

TEST_CASE("device halo: a hop takes the launches of its policy") {
  const Layout shape = layout(comm::world().size());
  const comm::ProcessGrid grid(comm::world(), shape.dims);
  const auto split = std::make_shared<const lattice::Geometry4>(shape.extents, grid);
  const unsigned emulated = shape.emulated.front();
  const bool interior = comm::world().size() != 3;  // three processes have two planes each, all at an edge
  const gpu::Device device = gpu::Device::host_executor();
  const auto data = test::random_host_data(split, emulated, twisted());
  const std::map<std::string, int> kernels{{"staged", 3}, {"zero-copy", 3},    {"gpu-aware-mpi", 3}, {"copy-engine", 4},
                                           {"mixed", 4},  {"remote-write", 3}, {"merged-pack", 2},   {"one-kernel", 1}};
  const auto launches_of = [&](const std::string& policy, bool split_sites) {
    const Fixture<float> here(device, split, emulated, data, 12, policy, split_sites);
    Hopping<float> hopping(here.links, 2);
    const auto in = here.field(2, 100);
    auto out = here.field(2, 500);
    hopping.apply(out, in, 0, false);  // tunes
    const std::int64_t before = here.context->stream.kernels();
    hopping.apply(out, in, 0, false);
    const std::int64_t launches = here.context->stream.kernels() - before;
    here.context->stream.synchronize();
    return launches;
  };
  for (const gpu::PolicyInfo& policy : gpu::halo_policies(device, grid, 2)) {
    if (!policy.available) continue;
    CAPTURE(policy.name);
    const bool fused = policy.name == "merged-pack" || policy.name == "one-kernel";
    CHECK(launches_of(policy.name, false) == kernels.at(policy.name) - (!interior && !fused ? 1 : 0));
    CHECK(launches_of(policy.name, true) == (fused ? 3 : kernels.at(policy.name)));
  }
}

TEST_CASE("device halo: the policy asked for is the one in use, and an unknown one is refused") {
  const Layout shape = layout(comm::world().size());
  const auto split =
      std::make_shared<const lattice::Geometry4>(shape.extents, comm::ProcessGrid(comm::world(), shape.dims));
  const unsigned emulated = shape.emulated.back();
  const gpu::Device device = gpu::Device::host_executor();
  const auto data = test::random_host_data(split, emulated, twisted());
  const Fixture<float> on(device, split, emulated, data, 12, "merged-pack");
  CHECK(Hopping<float>(on.links, 1).halo_policy() == "merged-pack");
  const Fixture<float> wrong(device, split, emulated, data, 12, "pigeons");
  CHECK_THROWS_AS(Hopping<float>(wrong.links, 1), core::InvalidArgument);
  const Fixture<float> automatic(device, split, emulated, data, 12, "auto");
  Hopping<float> tuned(automatic.links, 2);
  tuned.tune_halo();
  CHECK(tuned.halo_policy() == "remote-write");  // the host executor measures nothing: the default
}

}  // namespace halocline::qcd::device
