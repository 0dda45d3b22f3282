// SPDX-License-Identifier: Apache-2.0
//
// What a call through the C interface costs beside the C++ one. Run: ./c_interface X Y Z T [pairs]
//
// Both solve the same system with the same method, in turns: C++ with canonical arrays, C with these and with arrays in
// QUDA's order, which the library converts. A pair gives a ratio, and the median of the ratios is printed, with the
// quartiles. The C functions are those of libhalocline.so where it is installed, as a host program has them. The
// solutions must have equal bits.

#include <halocline/comm/group/world.hpp>
#include <halocline/core/error.hpp>
#include <halocline/lattice/geometry.hpp>
#include <halocline/qcd/bindings/c.h>
#include <halocline/qcd/gauge/start.hpp>
#include <halocline/qcd/quark/quark_solver.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <vector>

using namespace halocline;

namespace {

void must(int status) {
  if (status == HALOCLINE_OK) return;
  std::fprintf(stderr, "c_interface: %s\n", halocline_last_error());
  std::exit(1);
}

/// Of the clock on the wall, and of this process's CPU time, which other work on the machine disturbs less.
struct Seconds {
  double wall, cpu;
};

Seconds seconds_of(const std::function<void()>& action) {
  const std::clock_t cpu = std::clock();
  const auto start = std::chrono::steady_clock::now();
  action();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC};
}

/// The system, through C++ and through C.
struct Both {
  explicit Both(const std::array<std::int64_t, 4>& extents) {
    const auto geometry = std::make_shared<const lattice::Geometry4>(
        extents, comm::ProcessGrid(comm::Communicator::self(), {1, 1, 1, 1}));
    links = std::make_unique<qcd::GaugeField>(qcd::gauge::weak_links(geometry, 0.25, 1));
    qcd::SolverParameters parameters;
    parameters.kind = "bicgstab";
    solver = std::make_unique<qcd::QuarkSolver>(*links, qcd::WilsonCloverAction{.mass = 0.1, .csw = 1}, parameters);
    b.resize(static_cast<std::size_t>(12 * geometry->local_volume()));
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = {std::sin(1.3 * static_cast<double>(i)), std::cos(0.7 * static_cast<double>(i))};
    x = y = b;

    halocline_communicator* self = nullptr;
    halocline_action action;
    halocline_solver_parameters how;
    must(halocline_self(&self));
    must(halocline_lattice_create(self, extents.data(), nullptr, nullptr, &lattice));
    must(halocline_gauge_create(lattice, &gauge));
    const auto canonical = links->to_canonical();
    must(halocline_gauge_set(gauge, nullptr, canonical.data(), 2 * canonical.size()));
    must(halocline_action_init(&action, sizeof action));
    must(halocline_solver_parameters_init(&how, sizeof how));
    action.mass = 0.1;
    action.csw = 1;
    how.kind = "bicgstab";
    must(halocline_solver_create(gauge, &action, &how, &of_c));
    must(halocline_format_init(&quda, sizeof quda));
    quda.order = "quda";
    must(halocline_communicator_destroy(self));
  }

  void cpp() { static_cast<void>(solver->solve(x, b)); }
  void c(const halocline_format* format, std::vector<std::complex<double>>& to) {
    void* solution = to.data();
    const void* source = b.data();
    must(halocline_solver_solve(of_c, format, 1, &solution, &source, 2 * b.size(), nullptr, nullptr));
  }
  void apply_cpp() { solver->apply(x, b); }
  void apply_c() { must(halocline_solver_apply(of_c, "D", nullptr, y.data(), b.data(), 2 * b.size())); }

  std::unique_ptr<qcd::QuarkSolver> solver;
  std::unique_ptr<qcd::GaugeField> links;
  std::vector<std::complex<double>> b, x, y;
  halocline_lattice* lattice = nullptr;
  halocline_gauge* gauge = nullptr;
  halocline_solver* of_c = nullptr;
  halocline_format quda;
};

/// Prints the middle of the ratios of `other` over `first`, called in turns, and their quartiles.
void report(const char* what, int pairs, const std::function<void()>& first, const std::function<void()>& other) {
  std::vector<double> wall, cpu, times;
  first();
  other();
  for (int pair = 0; pair < pairs; ++pair) {
    Seconds a{}, b{};
    if (pair % 2 == 0) a = seconds_of(first);
    b = seconds_of(other);
    if (pair % 2 == 1) a = seconds_of(first);
    wall.push_back(b.wall / a.wall);
    cpu.push_back(b.cpu / a.cpu);
    times.push_back(a.wall);
  }
  for (auto* list : {&wall, &cpu, &times}) std::ranges::sort(*list);
  const auto part = [&](const std::vector<double>& list, double p) {
    return list[static_cast<std::size_t>(p * static_cast<double>(pairs - 1))];
  };
  std::printf("%-20s %.3g s in C++; C / C++ %.3f (%.3f to %.3f), by CPU time %.3f (%.3f to %.3f)\n", what,
              part(times, 0.5), part(wall, 0.5), part(wall, 0.25), part(wall, 0.75), part(cpu, 0.5), part(cpu, 0.25),
              part(cpu, 0.75));
}

}  // namespace

int main(int argc, char** argv) {
  std::array<std::int64_t, 4> extents{8, 8, 8, 8};
  for (int axis = 0; axis < 4 && axis + 1 < argc; ++axis)
    extents[static_cast<std::size_t>(axis)] = std::atoll(argv[axis + 1]);
  const int pairs = argc > 5 ? std::atoi(argv[5]) : 31;
  if (pairs < 1) return 2;
  try {
    Both both(extents);
    const auto cpp = [&] { both.cpp(); };
    report("solve", pairs, cpp, [&] { both.c(nullptr, both.y); });
    const bool same = both.x == both.y;
    report("solve, QUDA's order", pairs, cpp, [&] { both.c(&both.quda, both.y); });
    report("D psi", 20 * pairs, [&] { both.apply_cpp(); }, [&] { both.apply_c(); });
    std::printf("solutions %s\n", same ? "equal" : "differ");
    return same ? 0 : 1;
  } catch (const core::Error& error) {
    std::fprintf(stderr, "c_interface: %s\n", error.what());
    return 1;
  }
}
