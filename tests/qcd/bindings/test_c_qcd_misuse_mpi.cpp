// SPDX-License-Identifier: Apache-2.0
//
// What the C interface of qcd says to calls that cannot work: a status and a sentence on every rank, and everything as
// it was before.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "halocline/comm/group/time_limit.hpp"
#include "qcd/bindings/c_lattice.hpp"

using namespace halocline;
using test::CLattice;
using test::CSolver;
using test::last_error_says;
using test::on_last_rank;
using test::refused;

namespace {

struct Arrays {
  explicit Arrays(const CLattice& on) : b(on.numbers(24, 1)), x(b.size()) {}
  int solve(halocline_solver* solver, std::size_t count, const halocline_format* format = nullptr,
            halocline_progress progress = nullptr, void* data = nullptr) {
    void* to = x.data();
    const void* from = b.data();
    return halocline_solver_solve(solver, format, 1, &to, &from, count, progress, data);
  }
  std::vector<double> b, x;
};

}  // namespace

TEST_CASE("c qcd: NULL in the first place is refused by every function, with its name") {
  halocline_lattice* lattice = nullptr;
  halocline_gauge* gauge = nullptr;
  halocline_solver* solver = nullptr;
  halocline_propagator* propagator = nullptr;
  const std::array<std::int64_t, 4> extents{4, 4, 4, 4};
  std::array<std::int64_t, 4> out{};
  std::array<double, 8> values{};
  std::size_t count = 0;
  const char* text = nullptr;
  const auto refused_null = [](int status, const std::string& function) {
    refused(status, "halocline_" + function + ": NULL given for");
  };
  refused_null(halocline_lattice_create(nullptr, extents.data(), nullptr, nullptr, &lattice), "lattice_create");
  refused_null(halocline_lattice_geometry(nullptr, out.data(), nullptr, nullptr, nullptr), "lattice_geometry");
  refused_null(halocline_lattice_set_time_limit(nullptr, 1), "lattice_set_time_limit");
  refused_null(halocline_lattice_set_communication(nullptr, "", 2, 0, "", nullptr), "lattice_set_communication");
  refused_null(halocline_lattice_failure(nullptr, &text), "lattice_failure");
  refused_null(halocline_format_init(nullptr, sizeof(halocline_format)), "format_init");
  refused_null(halocline_action_init(nullptr, sizeof(halocline_action)), "action_init");
  refused_null(halocline_solver_parameters_init(nullptr, sizeof(halocline_solver_parameters)),
               "solver_parameters_init");
  refused_null(halocline_report_init(nullptr, sizeof(halocline_report)), "report_init");
  refused_null(halocline_gauge_create(nullptr, &gauge), "gauge_create");
  refused_null(halocline_gauge_start(nullptr, "unit", 0, 0), "gauge_start");
  refused_null(halocline_gauge_load(nullptr, "file"), "gauge_load");
  refused_null(halocline_gauge_save(nullptr, "file", nullptr), "gauge_save");
  refused_null(halocline_gauge_file_extents(nullptr, out.data()), "gauge_file_extents");
  refused_null(halocline_gauge_set(nullptr, nullptr, values.data(), 1), "gauge_set");
  refused_null(halocline_gauge_set_directions(nullptr, nullptr, nullptr, 1), "gauge_set_directions");
  refused_null(halocline_gauge_get(nullptr, nullptr, values.data(), 1), "gauge_get");
  refused_null(halocline_gauge_plaquette(nullptr, values.data()), "gauge_plaquette");
  refused_null(halocline_mass_from_kappa(0.12, nullptr), "mass_from_kappa");
  refused_null(halocline_solver_create(nullptr, nullptr, nullptr, &solver), "solver_create");
  refused_null(halocline_solver_refresh(nullptr, nullptr, nullptr), "solver_refresh");
  refused_null(halocline_solver_count(nullptr, &count, nullptr), "solver_count");
  refused_null(halocline_solver_apply(nullptr, "D", nullptr, nullptr, nullptr, 0), "solver_apply");
  refused_null(halocline_solver_solve(nullptr, nullptr, 1, nullptr, nullptr, 0, nullptr, nullptr), "solver_solve");
  refused_null(halocline_solver_report(nullptr, 0, nullptr), "solver_report");
  refused_null(halocline_solver_note(nullptr, 0, 0, &text), "solver_note");
  refused_null(halocline_propagator_create(nullptr, extents.data(), 0, &propagator), "propagator_create");
  refused_null(halocline_propagator_solve(nullptr, extents.data(), nullptr, nullptr, &propagator), "propagator_solve");
  refused_null(halocline_propagator_count(nullptr, nullptr, &count), "propagator_count");
  refused_null(halocline_propagator_set(nullptr, nullptr, nullptr, 0), "propagator_set");
  refused_null(halocline_propagator_get(nullptr, nullptr, nullptr, 0), "propagator_get");
  refused_null(halocline_meson(nullptr, nullptr, "pion", nullptr, values.data(), 8), "meson");
  refused_null(halocline_nucleon(nullptr, nullptr, values.data(), 1, nullptr, values.data(), 8), "nucleon");
  CHECK(halocline_lattice_destroy(nullptr) == HALOCLINE_OK);
  CHECK(halocline_gauge_destroy(nullptr) == HALOCLINE_OK);
  CHECK(halocline_solver_destroy(nullptr) == HALOCLINE_OK);
  CHECK(halocline_propagator_destroy(nullptr) == HALOCLINE_OK);
}

TEST_CASE("c qcd: a mistake of the last rank alone is one sentence on every rank, and the next call works") {
  const CLattice on(comm::world());
  const CSolver solver(on, on.action());
  Arrays arrays(on);
  const bool mine = on_last_rank();
  const std::size_t count = arrays.b.size();
  refused(arrays.solve(solver, mine ? count - 1 : count), "halocline_solver_solve: arrays with ");
  refused(halocline_solver_solve(solver, nullptr, 1, nullptr, nullptr, count, nullptr, nullptr),
          "NULL given for `solutions`");
  {
    void* to = mine ? nullptr : arrays.x.data();
    const void* from = arrays.b.data();
    refused(halocline_solver_solve(solver, nullptr, 1, &to, &from, count, nullptr, nullptr),
            "NULL given for `solutions[0]`");
    to = mine ? arrays.b.data() : arrays.x.data();
    refused(halocline_solver_solve(solver, nullptr, 1, &to, &from, count, nullptr, nullptr),
            "solution 0 has the memory of source 0");
    refused(halocline_solver_solve(solver, nullptr, mine ? 0 : 1, &to, &from, count, nullptr, nullptr),
            "0 columns given");
  }
  auto format = CLattice::format(mine ? "qudda" : "quda");
  refused(arrays.solve(solver, count, &format), "qudda");
  format = CLattice::format("quda", mine ? 16 : 64);
  refused(arrays.solve(solver, count, &format), "a format of 16 bits given");
  format = CLattice::format("quda", 64, mine ? "Weyl" : "");
  refused(arrays.solve(solver, count, &format), "the spin basis \"Weyl\" is unknown");
  format = CLattice::format("quda");
  format.indices = mine ? "spin" : "";
  refused(arrays.solve(solver, count, &format), "the order of indices is \"spin\"");
  format = CLattice::format("quda");
  format.struct_size = mine ? 3 : sizeof format;
  refused(arrays.solve(solver, count, &format), "the struct_size of `format` is 3");
  refused(halocline_solver_apply(solver, mine ? "dslash" : "D", nullptr, arrays.x.data(), arrays.b.data(), count),
          "the operator is \"dslash\"");
  refused(halocline_gauge_set(on.gauge, nullptr, mine ? nullptr : arrays.b.data(), 72 * on.sites),
          "NULL given for `links`");
  refused(halocline_gauge_get(on.gauge, nullptr, arrays.x.data(), count), "an array of links with");
  refused(halocline_gauge_start(on.gauge, mine ? "hot" : "unit", 0, 0), "the kind of links is \"hot\"");
  refused(halocline_gauge_load(on.gauge, mine ? nullptr : "file"), "NULL given for `path`");
  CHECK(arrays.solve(solver, count) == HALOCLINE_OK);
}

TEST_CASE("c qcd: values that differ between ranks are refused on every rank") {
  if (comm::world().size() == 1) return;
  const CLattice on(comm::world());
  const bool mine = on_last_rank();
  const std::string words = "gave other values than rank 0";
  halocline_communicator group{comm::world()};
  halocline_lattice* lattice = nullptr;
  const std::array<std::int64_t, 4> extents{4, 4, 4, mine ? 24 : 12};
  refused(halocline_lattice_create(&group, extents.data(), nullptr, nullptr, &lattice), words);
  CHECK(lattice == nullptr);
  auto action = on.action();
  action.mass = mine ? 0.1 : 0.2;
  halocline_solver* solver = nullptr;
  refused(halocline_solver_create(on.gauge, &action, nullptr, &solver), words);
  auto parameters = CLattice::parameters(mine ? "cg" : "bicgstab");
  action = on.action();
  refused(halocline_solver_create(on.gauge, &action, &parameters, &solver), words);
  CHECK(solver == nullptr);
  refused(halocline_gauge_start(on.gauge, "weak", 0.1, mine ? 1 : 2), words);
  const CSolver good(on, on.action());
  Arrays arrays(on);
  const auto format = CLattice::format(mine ? "quda" : "even-odd");
  refused(arrays.solve(good, arrays.b.size(), &format), words);
  CHECK(arrays.solve(good, arrays.b.size()) == HALOCLINE_OK);
}

TEST_CASE("c qcd: impossible lattices, actions and solvers are refused with a sentence") {
  const CLattice on(comm::world());
  halocline_communicator group{comm::world()};
  halocline_lattice* lattice = nullptr;
  const std::array<std::int64_t, 4> odd{3, 4, 4, 12}, none{0, 4, 4, 12}, good{4, 4, 4, 12};
  CHECK(halocline_lattice_create(&group, odd.data(), nullptr, nullptr, &lattice) == HALOCLINE_INVALID_ARGUMENT);
  refused(halocline_lattice_create(&group, none.data(), nullptr, nullptr, &lattice), "extents 0 4 4 12 given");
  const std::array<int, 4> grid{1, 1, 1, comm::world().size() + 1};
  CHECK(halocline_lattice_create(&group, good.data(), grid.data(), nullptr, &lattice) == HALOCLINE_INVALID_ARGUMENT);
  refused(halocline_lattice_create(&group, nullptr, nullptr, nullptr, &lattice), "NULL given for `extents`");
  refused(halocline_lattice_create(&group, good.data(), nullptr, nullptr, nullptr), "NULL given for `lattice`");

  halocline_solver* solver = nullptr;
  const auto refuse_action = [&](const std::function<void(halocline_action&)>& change, const std::string& words) {
    auto action = on.action();
    change(action);
    refused(halocline_solver_create(on.gauge, &action, nullptr, &solver), words);
  };
  refuse_action([](auto& a) { a.kind = "clover"; }, "the kind of an action is \"clover\"");
  refuse_action([](auto& a) { a.kind = "wilson"; }, "csw = 1 given, but an action of the kind \"wilson\" has no csw");
  refuse_action([](auto& a) { a.mu = 0.1; }, "mu = 0.1 given");
  refuse_action([](auto& a) { a.ls = 12; }, "ls = 12 given");
  refuse_action([](auto& a) { a.struct_size = 0; }, "the struct_size of `action` is 0");
  refuse_action([](auto& a) { a.mass = std::nan(""); }, "mass");
  refuse_action([](auto& a) { a.boundary[3][0] = 2; }, "boundary");
  refuse_action([](auto& a) { a.xi0 = -1; }, "xi0");
  const auto action = on.action();
  const auto refuse_solver = [&](const std::function<void(halocline_solver_parameters&)>& change,
                                 const std::string& words) {
    auto parameters = CLattice::parameters();
    change(parameters);
    refused(halocline_solver_create(on.gauge, &action, &parameters, &solver), words);
  };
  refuse_solver([](auto& p) { p.kind = "minres"; }, "the solver is \"minres\"");
  refuse_solver([](auto& p) { p.tolerance = 0; }, "tolerance");
  refuse_solver([](auto& p) { p.max_iterations = -3; }, "max_iterations is -3");
  refuse_solver([](auto& p) { p.precision = "half"; }, "precision");
  refuse_solver([](auto& p) { p.struct_size = 8; }, "the struct_size of `parameters` is 8");
  refuse_solver([](auto& p) { p.transport = "pigeon"; }, "pigeon");
  refused(halocline_solver_create(on.gauge, nullptr, nullptr, &solver), "NULL given for `action`");
  refused(halocline_solver_create(on.gauge, &action, nullptr, nullptr), "NULL given for `solver`");
  CHECK(solver == nullptr);
}

TEST_CASE("c qcd: parameters of random numbers and names are a solver or a sentence, the same on every rank") {
  const CLattice on(comm::world());
  std::mt19937_64 engine(11);  // the same on every rank
  const auto any = [&](int below) { return static_cast<int>(engine() % static_cast<unsigned>(below)); };
  const std::array<double, 8> reals{
      0, -1, 1, 1e300, -1e-300, 0.3, std::nan(""), std::numeric_limits<double>::infinity()};
  const std::array<int, 8> integers{
      0, -1, 1, 3, 8, 100000, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
  const std::array<const char*, 14> names{"",     nullptr, "wilson", "domain-wall", "hisq",   "cg",       "schwarz",
                                          "half", "float", "quda",   "double",      "minres", "\xff\xfe", "auto"};
  const auto real = [&] { return reals[static_cast<std::size_t>(any(8))]; };
  const auto integer = [&] { return integers[static_cast<std::size_t>(any(8))]; };
  const auto name = [&] { return names[static_cast<std::size_t>(any(14))]; };
  int made = 0, not_made = 0;
  const int rounds = comm::world().size() > 3 ? 40 : 300;  // a solver of eight ranks on few cores takes its time
  for (int round = 0; round < rounds; ++round) {
    auto action = on.action();
    auto parameters = CLattice::parameters(round % 2 == 0 ? "bicgstab" : "auto");
    for (int changes = 1 + any(2); changes > 0; --changes) switch (any(18)) {
      case 0:
        action.kind = name();
        break;
      case 1:
        action.mass = real();
        break;
      case 2:
        action.csw = real();
        break;
      case 3:
        action.boundary[any(4)][any(2)] = real();
        break;
      case 4:
        action.xi0 = real();
        break;
      case 5:
        action.mu = real();
        break;
      case 6:
        action.ls = integer();
        break;
      case 7:
        action.struct_size = static_cast<std::size_t>(integer());
        break;
      case 8:
        action.u0 = real();
        break;
      case 9:
        parameters.kind = name();
        break;
      case 10:
        parameters.precision = name();
        break;
      case 11:
        parameters.tolerance = real();
        break;
      case 12:
        parameters.max_iterations = integer();
        break;
      case 13:
        parameters.restart_length = integer();
        break;
      case 14:
        parameters.nsap = integer();
        break;
      case 15:
        parameters.domain_storage = name();
        break;
      case 16:
        parameters.domains[any(4)] = integer();
        break;
      default:
        parameters.right_hand_sides = integer();
        break;
      }
    halocline_solver* solver = nullptr;
    const int status = halocline_solver_create(on.gauge, &action, &parameters, &solver);
    CAPTURE(round);
    if (status == HALOCLINE_OK) {
      ++made;
      CHECK(solver != nullptr);
    } else {
      ++not_made;
      CHECK_MESSAGE(status == HALOCLINE_INVALID_ARGUMENT, halocline_last_error());
      CHECK(solver == nullptr);
      CHECK(std::string(halocline_last_error()).size() > 20);
    }
    halocline_solver_destroy(solver);
  }
  CHECK(made > rounds / 15);
  CHECK(not_made > rounds / 3);
  double plaquette = 0;
  CHECK(halocline_gauge_plaquette(on.gauge, &plaquette) == HALOCLINE_OK);
}

TEST_CASE("c qcd: what is not there yet is refused") {
  const CLattice on(comm::world()), other(comm::world());
  halocline_gauge* empty = nullptr;
  REQUIRE(halocline_gauge_create(on.lattice, &empty) == HALOCLINE_OK);
  const auto action = on.action();
  halocline_solver* none = nullptr;
  double plaquette = 0;
  refused(halocline_solver_create(empty, &action, nullptr, &none), "the gauge field has no links yet");
  refused(halocline_gauge_plaquette(empty, &plaquette), "the gauge field has no links yet");
  refused(halocline_gauge_save(empty, "file", nullptr), "the gauge field has no links yet");
  const CSolver solver(on, action);
  halocline_report report;
  REQUIRE(halocline_report_init(&report, sizeof report) == HALOCLINE_OK);
  refused(halocline_solver_report(solver, 0, &report), "column 0 given, but the last solve had 0");
  refused(halocline_solver_refresh(solver, empty, nullptr), "the gauge field has no links yet");
  refused(halocline_solver_refresh(solver, other.gauge, nullptr), "objects of two different lattices");
  refused(halocline_solver_refresh(solver, nullptr, nullptr), "NULL given for `gauge`");
  Arrays arrays(on);
  REQUIRE(arrays.solve(solver, arrays.b.size()) == HALOCLINE_OK);
  refused(halocline_solver_report(solver, 1, &report), "column 1 given, but the last solve had 1");
  refused(halocline_solver_report(solver, -1, &report), "column -1 given");
  report.struct_size = 1;
  refused(halocline_solver_report(solver, 0, &report), "the struct_size of `report` is 1");
  const char* sentence = nullptr;
  refused(halocline_solver_note(solver, 0, 1000, &sentence), "note 1000 given");
  const std::array<std::int64_t, 4> outside{0, 0, 0, 12}, origin{0, 0, 0, 0};
  halocline_propagator* propagator = nullptr;
  CHECK(halocline_propagator_create(on.lattice, outside.data(), 0, &propagator) == HALOCLINE_INVALID_ARGUMENT);
  refused(halocline_propagator_solve(solver, nullptr, nullptr, nullptr, &propagator), "NULL given for `source`");
  REQUIRE(halocline_propagator_create(on.lattice, origin.data(), 0, &propagator) == HALOCLINE_OK);
  std::vector<double> values(24);
  refused(halocline_meson(propagator, nullptr, "pion", nullptr, values.data(), 24), "NULL given for `antiquark`");
  refused(halocline_meson(propagator, propagator, "pion", nullptr, values.data(), 12), "expected 24: re and im");
  CHECK(halocline_meson(propagator, propagator, "kaon", nullptr, values.data(), 24) == HALOCLINE_INVALID_ARGUMENT);
  const std::array<double, 2> boundary{-1, 0};
  refused(halocline_nucleon(propagator, propagator, boundary.data(), 2, nullptr, values.data(), 24), "parity 2 given");
  refused(halocline_propagator_set(propagator, nullptr, nullptr, 24 * on.sites), "NULL given for `columns`");
  halocline_propagator_destroy(propagator);
  halocline_gauge_destroy(empty);
}

TEST_CASE("c qcd: structs of newer and of older headers") {
  const CLattice on(comm::world());
  // A newer program: its struct is longer than ours.
  struct Longer {
    halocline_action action;
    double newer, another;
  } longer;
  REQUIRE(halocline_action_init(&longer.action, sizeof longer) == HALOCLINE_OK);
  CHECK(longer.action.struct_size == sizeof longer);
  CHECK(longer.newer == 0);
  longer.action.mass = 0.3;
  halocline_solver* solver = nullptr;
  CHECK_MESSAGE(halocline_solver_create(on.gauge, &longer.action, nullptr, &solver) == HALOCLINE_OK,
                halocline_last_error());
  halocline_solver_destroy(solver);
  longer.newer = 1;
  refused(halocline_solver_create(on.gauge, &longer.action, nullptr, &solver),
          "has members that this version of the library does not know");
  // An init that does not know its struct writes no byte beyond it.
  std::array<unsigned char, sizeof(halocline_format) + 8> bytes;
  bytes.fill(0xa5);
  alignas(halocline_format) unsigned char place[sizeof bytes];
  std::memcpy(place, bytes.data(), bytes.size());
  REQUIRE(halocline_format_init(reinterpret_cast<halocline_format*>(place), sizeof(halocline_format)) == HALOCLINE_OK);
  for (std::size_t i = sizeof(halocline_format); i < bytes.size(); ++i) CHECK(place[i] == 0xa5);
  refused(halocline_format_init(reinterpret_cast<halocline_format*>(place), 4), "the struct_size of `format` is 4");
}

TEST_CASE("c qcd: the first version of each struct keeps its size for ever") {
  // New members go to the end; programs that were compiled before have the first ones.
  CHECK(offsetof(halocline_format, link_scale) + sizeof(double[4]) == 104);
  CHECK(offsetof(halocline_action, naik_epsilon) + sizeof(double) == 200);
  CHECK(offsetof(halocline_solver_parameters, multigrid_vectors) + sizeof(int) == 152);
  CHECK(offsetof(halocline_report, device) + sizeof(char*) == 64);
}

TEST_CASE("c qcd: one rank that says stop ends the solve on all of them") {
  const CLattice on(comm::world());
  const CSolver solver(on, on.action());
  Arrays arrays(on);
  struct Calls {
    int seen = 0;
    bool stops = false;
  } calls{0, on_last_rank()};
  const auto progress = [](void* data, int iterations, double residual) {
    auto& mine = *static_cast<Calls*>(data);
    ++mine.seen;
    CHECK(residual >= 0);
    return static_cast<int>(mine.stops && iterations >= 3);
  };
  REQUIRE(arrays.solve(solver, arrays.b.size(), nullptr, progress, &calls) == HALOCLINE_OK);
  halocline_report report;
  REQUIRE(halocline_report_init(&report, sizeof report) == HALOCLINE_OK);
  REQUIRE(halocline_solver_report(solver, 0, &report) == HALOCLINE_OK);
  CHECK(std::string(report.reason) == "cancelled");
  CHECK(report.converged == 0);
  CHECK(calls.seen > 0);
  REQUIRE(arrays.solve(solver, arrays.b.size()) == HALOCLINE_OK);
}

TEST_CASE("c qcd: a progress function cannot call on the same lattice") {
  const CLattice on(comm::world());
  const CSolver solver(on, on.action());
  Arrays arrays(on);
  struct Inner {
    halocline_gauge* gauge;
    int status = HALOCLINE_OK;
    std::string sentence;
  } inner{on.gauge, HALOCLINE_OK, ""};
  const auto progress = [](void* data, int, double) {
    auto& mine = *static_cast<Inner*>(data);
    double plaquette = 0;
    mine.status = halocline_gauge_plaquette(mine.gauge, &plaquette);
    mine.sentence = halocline_last_error();
    return 0;
  };
  REQUIRE(arrays.solve(solver, arrays.b.size(), nullptr, progress, &inner) == HALOCLINE_OK);
  CHECK(inner.status == HALOCLINE_INVALID_ARGUMENT);
  CHECK(inner.sentence.find("another call on the same lattice has not returned yet") != std::string::npos);
}

TEST_CASE("c qcd: two lattices in two threads at once give what they give alone") {
  if (comm::world().size() > 1) return;  // MPI is started for one thread at a time
  const auto run = [](std::uint64_t seed, std::vector<double>& x) {
    const CLattice on(comm::Communicator::self(), seed);
    const CSolver solver(on, on.action());
    Arrays arrays(on);
    for (int repeat = 0; repeat < 3; ++repeat) REQUIRE(arrays.solve(solver, arrays.b.size()) == HALOCLINE_OK);
    x = arrays.x;
    // The sentence of a failure belongs to the thread.
    REQUIRE(halocline_gauge_start(on.gauge, seed == 1 ? "first" : "second", 0, 0) == HALOCLINE_INVALID_ARGUMENT);
    CHECK(last_error_says(seed == 1 ? "\"first\"" : "\"second\""));
  };
  std::array<std::vector<double>, 2> alone, together;
  run(1, alone[0]);
  run(2, alone[1]);
  std::thread first([&] { run(1, together[0]); });
  std::thread second([&] { run(2, together[1]); });
  first.join();
  second.join();
  CHECK(alone[0] == together[0]);
  CHECK(alone[1] == together[1]);
  CHECK(alone[0] != alone[1]);
}

TEST_CASE("c qcd: after a rank stayed away the lattice refuses further calls, and says why") {
  const comm::Communicator world = comm::world();
  if (world.size() == 1) return;                                 // nobody can stay away
  const comm::Communicator part = world.split(0, world.rank());  // what fails here fails nothing else
  const CLattice on(part);
  const char* reason = nullptr;
  REQUIRE(halocline_lattice_failure(on.lattice, &reason) == HALOCLINE_OK);
  CHECK(std::string(reason).empty());
  comm::set_time_limit(part, 0.3);
  if (!on_last_rank()) {
    double plaquette = 0;
    CHECK(halocline_gauge_plaquette(on.gauge, &plaquette) == HALOCLINE_FAILED);
    CHECK(last_error_says("have come within 0.3 s"));
    CHECK(halocline_gauge_plaquette(on.gauge, &plaquette) == HALOCLINE_FAILED);
    CHECK(last_error_says("halocline_gauge_plaquette: the lattice cannot be used any more, because an earlier call"));
    REQUIRE(halocline_lattice_failure(on.lattice, &reason) == HALOCLINE_OK);
    CHECK(std::string(reason).find("have come within 0.3 s") != std::string::npos);
  }
  world.barrier();
}
