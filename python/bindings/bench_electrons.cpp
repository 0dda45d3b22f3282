// SPDX-License-Identifier: Apache-2.0
/// @file
/// bench: the benchmarks of electrons and of light. Collective.
#include "bench/fdtd.hpp"
#include "bench/hartree.hpp"
#include "bench/rt_step.hpp"
#include "bench/stencil.hpp"
#include "bench_cases.hpp"
#include "bindings.hpp"
#include "halocline/comm/group/communicator.hpp"

namespace halocline::bindings {

void bind_bench_electrons(nb::module_& m) {
  using comm::Communicator;
  using Released = nb::call_guard<nb::gil_scoped_release>;
  m.def(
      "fdtd",
      [](const Communicator& group, const std::array<std::int64_t, 3>& cells, const std::string& ends,
         const std::string& matter, const std::string& precision, int depth, int threads, double seconds,
         double block_seconds) {
        const bench::FdtdCase c{cells, ends, matter, precision, depth, threads};
        return bench::to_json(bench::fdtd(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "cells"_a, "ends"_a, "matter"_a, "precision"_a, "depth"_a, "threads"_a, "seconds"_a,
      "block_seconds"_a, Released());
  m.def(
      "hartree",
      [](const Communicator& group, const std::array<std::int64_t, 3>& points, const std::string& boundary,
         const std::string& over, int threads, double seconds, double block_seconds) {
        const bench::HartreeCase c{points, boundary, over, threads};
        return to_json(bench::hartree(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "points"_a, "boundary"_a, "over"_a, "threads"_a, "seconds"_a, "block_seconds"_a, Released());
  m.def(
      "stencil",
      [](const Communicator& group, const std::array<std::int64_t, 3>& points, int orbitals, const std::string& form,
         const std::string& lattice, const std::string& precision, int threads, double memory_gib, double seconds,
         double block_seconds) {
        const bench::StencilCase c{points, orbitals, form, threads, memory_gib, lattice, precision};
        return bench::to_json(bench::stencil(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "points"_a, "orbitals"_a, "form"_a, "lattice"_a, "precision"_a, "threads"_a, "memory_gib"_a,
      "seconds"_a, "block_seconds"_a, Released());
  m.def(
      "rt_step",
      [](const Communicator& group, const std::string& system, const std::optional<tddft::System>& other,
         const std::string& xc, const std::string& over, const std::string& scheme, const std::string& precision,
         int energy_every, int ions_every, const std::string& light, int threads, double seconds,
         double block_seconds) {
        const bench::RtStepCase c{system, other, xc, over, scheme, energy_every, threads, precision, ions_every, light};
        return bench::to_json(bench::rt_step(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "system"_a, "other"_a.none(), "xc"_a, "over"_a, "scheme"_a, "precision"_a, "energy_every"_a,
      "ions_every"_a, "light"_a, "threads"_a, "seconds"_a, "block_seconds"_a, Released());
}

}  // namespace halocline::bindings
