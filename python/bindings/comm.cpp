// SPDX-License-Identifier: Apache-2.0
/// @file
/// comm: groups of processes and their grids.
#include "bindings.hpp"
#include "halocline/comm/exchange/transport.hpp"
#include "halocline/comm/group/communicator.hpp"
#include "halocline/comm/group/job_coordinates.hpp"
#include "halocline/comm/group/process_grid.hpp"
#include "halocline/comm/group/solver_communication.hpp"
#include "halocline/comm/group/time_limit.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/comm/sums/reduction.hpp"

namespace halocline::bindings {
namespace {

std::span<const std::byte> bytes_of(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}
nb::bytes to_bytes(std::span<const std::byte> bytes) { return nb::bytes(bytes.data(), bytes.size()); }

}  // namespace

void bind_comm(nb::module_& m) {
  using comm::Communicator;
  nb::class_<Communicator>(m, "Communicator", "A group of processes. Every method but rank and size is collective.")
      .def_static("self", &Communicator::self, "The group of this process alone.")
      .def_prop_ro("rank", &Communicator::rank)
      .def_prop_ro("size", &Communicator::size)
      .def("barrier", &Communicator::barrier, nb::call_guard<nb::gil_scoped_release>())
      .def("any", &Communicator::any, "mine"_a, "True when mine is true on some rank.")
      .def("all", &Communicator::all, "mine"_a, "True when mine is true on every rank.")
      .def("split", &Communicator::split, "colour"_a, "key"_a = 0,
           "The group of the ranks that give the same colour, ordered by key and then by rank.")
      .def("split_by_node", &Communicator::split_by_node,
           "The group of the ranks that can share memory with this one, in the order of this group.")
      .def(
          "sum",
          [](const Communicator& group, std::vector<double> values) {
            group.sum(std::span<double>(values));
            return values;
          },
          "values"_a, "Sums over the ranks, in rank order: the same bits on every rank.")
      .def(
          "max",
          [](const Communicator& group, std::vector<double> values) {
            group.max(values);
            return values;
          },
          "values"_a)
      .def(
          "broadcast",
          [](const Communicator& group, const nb::bytes& mine, int root) {
            std::array<double, 1> length{group.rank() == root ? static_cast<double>(mine.size()) : 0.0};
            group.sum(std::span<double>(length));
            std::vector<std::byte> buffer(bytes_of(mine).begin(), bytes_of(mine).end());
            buffer.resize(static_cast<std::size_t>(length[0]));
            group.broadcast(buffer, root);
            return to_bytes(buffer);
          },
          "bytes"_a, "root"_a = 0, "The root's bytes, on every rank.")
      .def(
          "gather",
          [](const Communicator& group, const nb::bytes& mine, int root) {
            return to_bytes(group.gather(bytes_of(mine), root));
          },
          "bytes"_a, "root"_a = 0, "The bytes of all ranks in rank order at the root, empty elsewhere.");
  m.def("world", &comm::world, nb::call_guard<nb::gil_scoped_release>(),
        "All processes of the run; the first call starts MPI when nobody has. Collective.");
  m.def("from_fortran_handle", &comm::from_fortran_handle, "handle"_a,
        "A group on a duplicate of an MPI communicator given as mpi4py's comm.py2f(). Collective.");
  m.def(
      "transports",
      [] {
        nb::dict reasons;
        for (const auto& transport : comm::available_transports())
          reasons[transport.name.c_str()] = transport.available ? std::string() : transport.reason;
        return reasons;
      },
      "Every known transport, with the reason why it is not available here; an empty text where it is.");
  m.def(
      "set_solver_communication",
      [](const Communicator& group, const std::string& transport, int buffers, bool posting_by_all,
         const std::string& sums, const std::vector<int>& interfaces, const std::vector<int>& interface_grid) {
        static_cast<void>(comm::sum_way_named(sums));  // refuses an unknown one here, and not in the first solve
        comm::set_solver_communication(group, {.transport = transport,
                                               .buffers = buffers,
                                               .posting_by_all = posting_by_all,
                                               .sums = sums,
                                               .interfaces = interfaces,
                                               .interface_grid = interface_grid});
      },
      "group"_a, "transport"_a = "", "buffers"_a = 2, "posting_by_all"_a = false, "sums"_a = "ordered",
      "interfaces"_a = std::vector<int>{}, "interface_grid"_a = std::vector<int>{},
      "How the exchanges and sums of solvers that are made from now on travel. Collective.");
  m.def(
      "solver_communication",
      [](const Communicator& group) {
        const auto& settings = comm::solver_communication(group);
        nb::dict said;
        said["transport"] = settings.transport;
        said["buffers"] = settings.buffers;
        said["posting"] = settings.posting_by_all ? "all" : "thread";
        said["sums"] = settings.sums;
        said["interfaces"] = settings.interfaces;
        said["interface_grid"] = settings.interface_grid;
        return said;
      },
      "group"_a, "The settings of set_solver_communication().");
  m.def(
      "transport_problem",
      [](const std::string& name, const Communicator& group) {
        return comm::transport_unavailable_reason(name, comm::ProcessGrid(group, {group.size()}));
      },
      "name"_a, "group"_a,
      "Why a transport cannot serve a group, as the end of a sentence that begins with 'it'; empty where it can. "
      "Collective.");
  m.def("tofu_coordinates", &comm::tofu_coordinates, "group"_a,
        "X, Y, Z, A, B, C of this process's node, from the origin of the job. Raises InvalidArgument without Fujitsu's "
        "MPI.");
  m.def(
      "set_solve_time_limit", &comm::set_solve_time_limit, "group"_a, "seconds"_a,
      "How long a process waits for others in the exchanges, sums and collectives of solves that are made from now on. "
      "Collective.");
  m.def("set_time_limit", &comm::set_time_limit, "group"_a, "seconds"_a,
        "How long the collectives of this group wait for other processes, during a solve or not. Collective.");
  m.def("solve_time_limit", &comm::solve_time_limit, "group"_a, "In seconds.");
  nb::class_<comm::SolveUnderWay>(
      m, "SolveUnderWay",
      "As long as this object lives, waiting for other processes has the limit of solves. Making it is collective.")
      .def(nb::init<const Communicator&>(), "group"_a);
  m.def("gave_up_waiting", &comm::gave_up_waiting,
        "Whether this process has stopped waiting for another one that stalled or ended.");
  m.def("abort_all", &comm::abort_all, "status"_a, "Ends every process of the run.");
  m.def(
      "least_surface_grid",
      [](const std::vector<std::int64_t>& extents, int ranks) { return comm::least_surface_grid(extents, ranks); },
      "extents"_a, "ranks"_a, "The process grid that moves the least halo. Raises InvalidArgument when none fits.");
}

}  // namespace halocline::bindings
