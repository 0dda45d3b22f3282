// SPDX-License-Identifier: Apache-2.0
//
// A process that leaves out the last hop before results are read: its neighbours' kernels give up after the time limit
// and nothing is enqueued after them, so nobody but a check stands between the NaNs and the user.
//
// Host code alone: what nvcc compiles for each architecture is empty, and costs no time.
#if !defined(__CUDA_ARCH__)

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/quark/detail/device_solver_batch.cuh"
#include "qcd/device/halo_links.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::device {
namespace {

constexpr lattice::Coordinates<4> extents{4, 2, 6, 8};
constexpr double time_limit = 0.8;

std::shared_ptr<const lattice::Geometry4> split_lattice() {
  const auto world = comm::world();
  const int z = world.size() % 3 == 0 ? 3 : 1;
  const int t = world.size() / z > 4 ? 4 : world.size() / z;
  const int x = world.size() / (z * t);
  return std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, {x, 1, z, t}));
}

bool next_to_zero(const comm::ProcessGrid& grid) {
  bool next = false;
  for (int face = 0; face < 8; ++face) next = next || grid.neighbour(comm::Face::from_index(face)) == 0;
  return next;
}

/// D in double, of one column. The kernel of a hop waits for messages itself, and runs when the host waits for results:
/// as on a GPU, the call that enqueues it knows of nothing.
struct Fixture {
  Fixture() : geometry(split_lattice()) {
    const gpu::Device device = gpu::Device::deferred_host_executor();
    const unsigned emulated = geometry->communicator().size() == 1 ? 8u : 0u;
    context = std::make_shared<Context>(device, geometry, emulated, HaloChoice{"one-kernel", time_limit},
                                        std::make_shared<gpu::TuneCache>("", gpu::TuneCache::Mode::off));
    WilsonCloverAction action;
    action.mass = 0.4;
    const auto host = test::random_host_data(geometry, emulated, action);
    data = wilson_data<double>(context, host.links, host.clover, action, 18);
    options.inner = "double";
    options.even_odd = false;
    numbers = test::local_part(*geometry, test::random_numbers(geometry->global_volume() * 12, 2), 12);
  }

  std::shared_ptr<const lattice::Geometry4> geometry;
  ContextPtr context;
  WilsonData<double> data;
  BackendOptions options;
  std::vector<std::complex<double>> numbers;
};

/// The second hop of D is step 2, and rank 0 was to take part in it.
void check_sentence(const std::string& said, const comm::ProcessGrid& grid) {
  CAPTURE(said);
  CHECK(said.find("rank " + std::to_string(grid.rank()) + ", halo policy one-kernel: face ") == 0);
  CHECK(said.find("(from rank 0), step 2: no message within 0.8 s") != std::string::npos);
}

}  // namespace

TEST_CASE("device halo: a message that did not come for the last hop is told, not its NaNs") {
  Fixture on;
  const auto& grid = on.geometry->grid();
  detail::DeviceLevel<double> level({on.data}, on.options, 1);
  DeviceSpinor<double> in(on.context, lattice::Subset::full), out(on.context, lattice::Subset::full);
  from_canonical(in, 0, on.numbers);
  grid.communicator().barrier();
  std::string said;
  bool enqueued = false;
  try {
    if (grid.size() > 1 && grid.rank() == 0)
      level.d().hop(out, in, 0, false, {});
    else
      level.a().apply(out, in);
    on.context->stream.synchronize();
    enqueued = true;
    level.d().check();
  } catch (const core::Error& error) {
    said = error.what();
  }
  CHECK(enqueued);
  if (grid.size() > 1 && grid.rank() != 0 && next_to_zero(grid))
    check_sentence(said, grid);
  else
    CHECK(said == "");
  grid.communicator().barrier();  // memory that neighbours map goes when all are through
}

TEST_CASE("device halo: a correction with a missing message is an error where it was missed") {
  Fixture on;
  const auto& grid = on.geometry->grid();
  if (grid.size() == 1) return;
  detail::SolverBatch<double> batch({on.data}, nullptr, on.options, 1);
  const std::vector<std::span<const std::complex<double>>> sources{on.numbers};
  const std::vector<solve::Scalar> one{1.0};
  CHECK(std::isfinite(batch.load(sources)[0]));
  batch.start(one);
  grid.communicator().barrier();
  std::string said;
  double length = 0;
  try {
    if (grid.rank() == 0) {
      DeviceSpinor<double> in(on.context, lattice::Subset::full), out(on.context, lattice::Subset::full);
      batch.precise().d().hop(out, in, 0, false, {});
      length = batch.load(sources)[0];  // the sum over all processes that the others wait for
    } else {
      length = batch.add_correction(one)[0];
    }
  } catch (const core::Error& error) {
    said = error.what();
  }
  if (grid.rank() != 0 && next_to_zero(grid)) {
    check_sentence(said, grid);
  } else {
    CHECK(said == "");
    CHECK(std::isnan(length));  // of all processes together: nobody takes it for a result
  }
  grid.communicator().barrier();
}

}  // namespace halocline::qcd::device

#endif
