// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The parts that the simulated programs share: arguments, a common start, messages with marks, and main.
///
/// A simulated program is compiled by SimGrid's smpicxx with the sources of core and comm, and started by its smpirun
/// (python/halocline/bench/simulate does both). All ranks are fibers of one process, so there must be no mutable
/// globals, and from_mpi replaces comm::world(), which exists once for each process.

#include <simgrid/actor.h>

#include <array>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/comm/exchange/transport.hpp"
#include "halocline/comm/mpi/mpi.hpp"
#include "halocline/core/error.hpp"

namespace halocline::bench::simulated {

/// Wall-clock limits are meaningless for a simulated rank that waits.
inline constexpr double no_limit = 1e9;

/// Arguments of the form name=value; a list is joined by commas.
class Arguments {
public:
  Arguments(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
      const std::string text = arguments[i];
      const std::size_t sign = text.find('=');
      if (sign == std::string::npos) throw core::InvalidArgument("argument " + text + " has no =; give name=value");
      given_[text.substr(0, sign)] = text.substr(sign + 1);
    }
  }

  const std::string& text(const std::string& name) const {
    const auto found = given_.find(name);
    if (found == given_.end()) throw core::InvalidArgument("argument " + name + " is missing; give " + name + "=value");
    return found->second;
  }
  double number(const std::string& name) const { return std::stod(text(name)); }
  int count(const std::string& name) const { return std::stoi(text(name)); }
  template <class T>
  std::vector<T> list(const std::string& name) const {
    std::vector<T> found;
    std::istringstream items(text(name));
    for (std::string item; std::getline(items, item, ',');) found.push_back(static_cast<T>(std::stold(item)));
    return found;
  }

private:
  std::map<std::string, std::string> given_;
};

/// Makes all ranks return at the same simulated time, which a barrier of messages cannot do. @return that time [s]
inline double common_start(const comm::Communicator& group) {
  constexpr double notice = 1.0;  // [s] simulated; longer than the ranks need to receive it
  std::array<double, 1> latest{MPI_Wtime()};
  group.max(latest);
  sg_actor_sleep_until(latest[0] + notice);
  return MPI_Wtime();
}

/// An exchange that is never destroyed: the destructor of mpi_persistent cancels receives, and SimGrid 3.32 mishandles
/// the count of a cancelled persistent request. The program ends anyway. Collective.
inline comm::HaloExchange& make_exchange(const comm::ProcessGrid& grid, std::span<const std::size_t> bytes,
                                         const std::string& transport) {
  comm::HaloOptions options;
  options.time_limit = no_limit;
  return *std::make_unique<comm::HaloExchange>(grid, bytes, comm::make_transport(transport, grid), options).release();
}

/// Fills the outgoing messages with numbers that differ from those of the previous exchange.
inline void fill(comm::HaloExchange& halo, comm::FaceMask faces, int exchange) {
  for (int index = 0; index < 2 * halo.grid().ndim(); ++index) {
    const comm::Face face = comm::Face::from_index(index);
    if ((faces & comm::mask_of(face)) == 0 || !halo.active(face)) continue;
    const std::span<std::byte> out = halo.send_buffer(face);
    out.front() = out.back() = static_cast<std::byte>((exchange * 16 + index) % 251);
  }
}

/// Checks the arrived messages. A message sent through a face arrives at the opposite one.
inline void verify(const comm::HaloExchange& halo, comm::FaceMask faces, int exchange) {
  for (int index = 0; index < 2 * halo.grid().ndim(); ++index) {
    const comm::Face face = comm::Face::from_index(index);
    if ((faces & comm::mask_of(face)) == 0 || !halo.active(face)) continue;
    const std::span<const std::byte> in = halo.recv_buffer(face.opposite());
    const auto expected = static_cast<std::byte>((exchange * 16 + index) % 251);
    if (in.empty() || in.front() != expected || in.back() != expected)
      throw core::Error("a message of exchange " + std::to_string(exchange) + " is not what was sent");
  }
}

/// main: runs body(arguments, group) on every simulated rank, and aborts all of them at an error.
template <class Body>
int run_program(int count, char** arguments, Body body) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_SERIALIZED, &level);
  int status = 0;
  try {
    body(Arguments(count, arguments), comm::from_mpi(MPI_COMM_WORLD));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 1;
  }
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Finalize();
  return status;
}

}  // namespace halocline::bench::simulated
