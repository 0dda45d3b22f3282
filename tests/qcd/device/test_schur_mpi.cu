// SPDX-License-Identifier: Apache-2.0
//
// The Schur complement on a device, from the laws that tie it to D, on every number of ranks and with emulated splits.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "gpu/devices.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/quark/detail/device_solver_batch.cuh"
#include "halocline/qcd/schur/cuda.cuh"
#include "qcd/device/halo_links.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::device {
namespace {

using solve::Scalar;

constexpr lattice::Coordinates<4> extents{4, 2, 6, 8};

std::shared_ptr<const lattice::Geometry4> split_lattice() {
  const auto world = comm::world();
  // 1, 2, 3 and 8 ranks: z takes the threes, t the rest.
  const int z = world.size() % 3 == 0 ? 3 : 1;
  const int t = world.size() / z > 4 ? 4 : world.size() / z;
  const int x = world.size() / (z * t);
  return std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, {x, 1, z, t}));
}

template <class S>
void fill(DeviceSpinor<S>& v, const lattice::Geometry4& geometry, unsigned seed) {
  for (int c = 0; c < v.columns(); ++c)
    from_canonical(v, c,
                   std::span<const std::complex<double>>(
                       test::local_part(geometry, test::random_numbers(geometry.global_volume() * 12, seed + c), 12)));
}

/// |a - b| / |b| of all columns.
template <class S>
double distance(const SpinorSpace<S>& space, const DeviceSpinor<S>& a, const DeviceSpinor<S>& b) {
  auto d = space.create();
  const solve::Scalars minus(static_cast<std::size_t>(space.columns()), Scalar(-1.0));
  const std::array updates{solve::assign(d, {}, a, minus, b)};
  space.update_and_reduce(updates, {});
  const auto of_d = norms(space, d), of_b = norms(space, b);
  double most = 0;
  for (std::size_t c = 0; c < of_d.size(); ++c) most = std::max(most, of_d[c] / of_b[c]);
  return most;
}

template <class S>
void check_laws(const gpu::Device& device, unsigned emulated, double csw, double mu, double small) {
  const auto geometry = split_lattice();
  for (int axis = 0; axis < 4; ++axis)
    if (geometry->is_split(axis)) emulated &= ~(1u << axis);
  WilsonCloverAction wilson;
  wilson.mass = 0.4;
  wilson.csw = csw;
  wilson.boundary = {std::polar(1.0, 0.3), -1.0, 1.0, -1.0};
  const Action action = TwistedCloverAction{wilson, mu};
  const auto host = test::random_host_data(geometry, emulated, action);
  const auto context = std::make_shared<Context>(device, geometry, emulated, HaloChoice{},
                                                 std::make_shared<gpu::TuneCache>("", gpu::TuneCache::Mode::off));
  constexpr int columns = 2;
  const auto made = detail::device_dirac<S>({wilson_data<S>(context, host.links, host.clover, action, 12)}, columns);
  DeviceDirac<S>& d = *made;
  CHECK(d.sums_in_hop() == (mu == 0));
  const SpinorSpace<S> full(context, lattice::Subset::full, columns);
  auto x = full.create(), b = full.create(), y = full.create(), dy = full.create();
  fill(x, *geometry, 3);
  fill(y, *geometry, 7);
  d.apply(b, x);
  d.apply_dagger(dy, y);
  // <y, D x> = <D^dagger y, x>, the left from the pass that makes D x.
  auto again = full.create();
  const std::array dots{solve::Dot<DeviceSpinor<S>>{&y, &again}, solve::Dot<DeviceSpinor<S>>{&again, &again},
                        solve::Dot<DeviceSpinor<S>>{&again, &y}};
  const auto fused = d.apply_and_reduce(full, again, x, dots);
  const std::array plain{solve::Dot<DeviceSpinor<S>>{&dy, &x}, solve::Dot<DeviceSpinor<S>>{&b, &b}};
  const auto expected = full.update_and_reduce({}, plain);
  for (std::size_t c = 0; c < columns; ++c) {
    const double unit = std::abs(expected.wait()[columns + c]);
    CHECK(std::abs(fused.wait()[c] - expected.wait()[c]) < small * unit);
    CHECK(std::abs(fused.wait()[columns + c] - expected.wait()[columns + c]) < small * unit);
    CHECK(std::abs(fused.wait()[2 * columns + c] - std::conj(expected.wait()[c])) < small * unit);
  }
  for (const int parity : {0, 1})
    for (const SchurForm form : {SchurForm::symmetric, SchurForm::asymmetric}) {
      CAPTURE(parity);
      CAPTURE(static_cast<int>(form));
      DeviceSchur<S> s(d, form, parity);
      const SpinorSpace<S> half(context, s.subset(), columns);
      auto rhs = half.create(), xs = half.create(), sx = half.create(), u = half.create(), su = half.create();
      assign_parity(xs, 1.0, x, parity);
      // b = D x, so S x_e is the right-hand side made of b, and x_e completes to x.
      s.prepare(rhs, b);
      s.apply(sx, xs);
      CHECK(distance(half, sx, rhs) < small);
      auto whole = full.create();
      s.reconstruct(whole, xs, b);
      CHECK(distance(full, whole, x) < small);
      // The adjoint, and dot products from the pass of the second hop, again and again: the third is a replay.
      assign_parity(u, 1.0, y, parity);
      s.apply_dagger(su, u);
      const std::array adjoint{solve::Dot<DeviceSpinor<S>>{&su, &xs}, solve::Dot<DeviceSpinor<S>>{&sx, &sx}};
      const auto law = half.update_and_reduce({}, adjoint);
      for (int round = 0; round < 4; ++round) {
        auto& target = su;
        const std::array with{solve::Dot<DeviceSpinor<S>>{&u, &target}, solve::Dot<DeviceSpinor<S>>{&target, &target}};
        const auto sums = s.apply_and_reduce(half, target, xs, with);
        for (std::size_t c = 0; c < columns; ++c) {
          const double unit = std::abs(law.wait()[columns + c]);
          CHECK(std::abs(sums.wait()[c] - law.wait()[c]) < small * unit);
          CHECK(std::abs(sums.wait()[columns + c] - law.wait()[columns + c]) < small * unit);
        }
      }
      CHECK(s.graphs() == 1);
      CHECK_THROWS_AS(s.apply(su, x), core::InvalidArgument);
      CHECK_THROWS_AS(s.prepare(rhs, xs), core::InvalidArgument);
    }
}

}  // namespace

TEST_CASE("device schur: what D says of it, in both forms and parities") {
  const int node_rank = comm::world().split_by_node().rank();
  for (const auto& device : testing::test_devices(node_rank)) {
    CAPTURE(device.describe());
    check_laws<double>(device, 0, 1.1, 0.0, 1e-13);
    check_laws<double>(device, 0, 0.0, 0.0, 1e-13);
    check_laws<float>(device, 0, 1.1, 0.0, 1e-5);
  }
}

TEST_CASE("device schur: with a twisted mass, with and without a clover term") {
  const int node_rank = comm::world().split_by_node().rank();
  for (const auto& device : testing::test_devices(node_rank)) {
    CAPTURE(device.describe());
    check_laws<double>(device, 0, 1.1, 0.7, 1e-13);
    check_laws<double>(device, 0b0010, 0.0, -0.4, 1e-13);
    check_laws<float>(device, 0, 1.1, -0.3, 1e-5);
    check_laws<Fixed16>(device, 0, 1.1, 0.5, 3e-3);
  }
}

TEST_CASE("device schur: in fixed point to its rounding, and on emulated splits") {
  const int node_rank = comm::world().split_by_node().rank();
  for (const auto& device : testing::test_devices(node_rank)) {
    CAPTURE(device.describe());
    check_laws<double>(device, 0b0110, 1.1, 0.0, 1e-13);
    check_laws<Fixed16>(device, 0b1000, 1.1, 0.0, 2e-3);
    check_laws<Fixed8>(device, 0, 0.0, 0.0, 0.3);
  }
}

}  // namespace halocline::qcd::device
