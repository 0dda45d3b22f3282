// SPDX-License-Identifier: Apache-2.0
/// @file
/// Fujitsu's persistent requests and topology calls over a shim: the transport keeps the laws of transports, and a
/// process learns its coordinates.

#include "comm/halo_laws.hpp"
#include "halocline/comm/group/job_coordinates.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/comm/mpi/fjmpi_coordinates.hpp"
#include "halocline/comm/transports/fjmpi_persistent/fjmpi_persistent.hpp"

using namespace halo_laws;

TEST_CASE("fjmpi: its persistent requests keep the laws of transports, with one buffer and with two") {
  const comm::Communicator world = comm::world();
  const comm::TransportKind kind = comm::fjmpi_persistent_transport();
  for (const Buffering buffering : {Buffering::two, Buffering::one}) {
    Way way{"fjmpi_persistent", [&](const ProcessGrid&) { return kind.make({}); }};
    way.options.buffering = buffering;
    way.options.time_limit = 60.0;
    const ProcessGrid grid(world, {world.size()});
    const std::vector<std::size_t> bytes(1, 64);
    CHECK(HaloExchange(grid, bytes, kind.make({}), way.options).transport().name() == "fjmpi_persistent");
    all_laws(world, way);
  }
}

TEST_CASE("fjmpi: coordinates of a process, and a sentence where the build has none") {
  const comm::Communicator world = comm::world();
  const auto place = comm::detail::fjmpi_coordinates(comm::mpi_comm(world), world.rank());
  CHECK(place[3] + 2 * (place[4] + 3 * (place[5] + 2 * place[0])) == world.rank());
  CHECK_THROWS_AS(comm::detail::fjmpi_coordinates(comm::mpi_comm(world), world.size()), core::Error);
  CHECK_THROWS_WITH_AS(comm::tofu_coordinates(world), doctest::Contains("built without Fujitsu's MPI"),
                       core::InvalidArgument);
}
