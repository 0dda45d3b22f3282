// SPDX-License-Identifier: Apache-2.0
/// @file
/// bench: the benchmarks of electrons. Collective.
#include "bench/hartree.hpp"
#include "bench_cases.hpp"
#include "bindings.hpp"
#include "halocline/comm/communicator.hpp"

namespace halocline::bindings {

void bind_bench_electrons(nb::module_& m) {
  using comm::Communicator;
  using Released = nb::call_guard<nb::gil_scoped_release>;
  m.def(
      "hartree",
      [](const Communicator& group, const std::array<std::int64_t, 3>& points, const std::string& boundary,
         const std::string& over, int threads, double seconds, double block_seconds) {
        const bench::HartreeCase c{points, boundary, over, threads};
        return to_json(bench::hartree(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "points"_a, "boundary"_a, "over"_a, "threads"_a, "seconds"_a, "block_seconds"_a, Released());
}

}  // namespace halocline::bindings
