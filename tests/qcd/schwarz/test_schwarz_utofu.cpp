// SPDX-License-Identifier: Apache-2.0
//
// The Schwarz preconditioner over transport utofu on simulated ranks, with the loopback shim of its interface: the
// configurations of Table 4 of the paper on uTofu give the bits of the simulated transport, and move what they say.

#include <doctest/doctest.h>
#include <omp.h>

#include <array>
#include <string>
#include <vector>

#include "comm/utofu_shim/shim_control.hpp"
#include "halocline/comm/exchange/transport.hpp"
#include "halocline/comm/group/solver_communication.hpp"
#include "halocline/comm/simulation/simulation.hpp"
#include "halocline/comm/transports/utofu/utofu.hpp"
#include "halocline/core/error.hpp"
#include "qcd/schwarz/sample.hpp"

namespace halocline::qcd::schwarz {
namespace {

using test::Operation;
using test::Vector;

constexpr lattice::Coordinates<4> extents{16, 4, 4, 8};
constexpr int ranks = 4;
const std::vector<int> dims{1, 1, 2, 2};

/// A name of its own, since a build without the interface has an entry "utofu" that says so.
std::string shim_name() {
  static const bool registered = [] {
    comm::TransportKind kind = comm::utofu_transport();
    kind.name = "utofu-shim";
    comm::register_transport(kind);
    return true;
  }();
  return registered ? "utofu-shim" : "";
}

/// D'K psi of every rank under these settings.
std::vector<Vector> applied(const test::RoughLattice& lattice, const comm::SolverCommunication& settings) {
  std::vector<Vector> found(ranks);
  comm::simulate(ranks, {}, [&](const comm::Communicator& group) {
    comm::set_solver_communication(group, settings);
    const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(group, dims));
    const GaugeField gauge = lattice.gauge(geometry);
    Schwarz fast(gauge, test::every_term(), test::schwarz_parameters({2, 1, 1, 1}));
    const Vector psi = test::local_part(*geometry, lattice.psi, 12);
    // Several times, so that both buffers of every face are used again.
    for (int i = 0; i < 3; ++i)
      found[static_cast<std::size_t>(group.rank())] = test::run(fast, Operation::preconditioned, psi);
  });
  return found;
}

}  // namespace

TEST_CASE("schwarz: four interfaces or six, one poster or all, one buffer or two, cache injection or none over utofu: "
          "the same bits") {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);  // simulated ranks take turns in one thread
  const test::RoughLattice lattice(extents, 13);
  utofu_shim::reset({.interfaces = 6});
  const std::vector<Vector> expected = applied(lattice, {.transport = "simulated"});
  for (const int interfaces : {4, 6})
    for (const int buffers : {1, 2})
      for (const bool all : {false, true})
        for (const bool injection : {false, true}) {
          CAPTURE(interfaces);
          CAPTURE(buffers);
          CAPTURE(all);
          CAPTURE(injection);
          utofu_shim::reset({.interfaces = 6});
          comm::SolverCommunication settings{.transport = shim_name(),
                                             .buffers = buffers,
                                             .posting_by_all = all,
                                             .interface_grid = dims,
                                             .cache_injection = injection};
          for (int face = 0; face < 8; ++face) settings.interfaces.push_back(face % interfaces);
          CHECK(applied(lattice, settings) == expected);
          const auto traffic = utofu_shim::traffic();
          CHECK(traffic.puts > 0);
          CHECK((traffic.injected > 0) == injection);
          // The faces of z and t, numbers 4 to 7, leave through as many interfaces as they are spread over.
          int used = 0;
          for (const std::uint64_t puts : traffic.by_interface) used += puts > 0;
          CHECK(used == 4);
          CHECK((traffic.by_interface[4] > 0) == (interfaces == 6));
        }
  utofu_shim::reset({.interfaces = 2});
  comm::SolverCommunication more{.transport = shim_name(), .interface_grid = dims};
  more.interfaces.assign(8, 3);
  CHECK_THROWS_WITH_AS(applied(lattice, more), doctest::Contains("interface 3 given for face"), core::InvalidArgument);
  omp_set_num_threads(threads);
}

}  // namespace halocline::qcd::schwarz
