// SPDX-License-Identifier: Apache-2.0
//
// main() of the test programs that run under MPI: every rank runs every test, rank 0 alone prints the summary, and the
// program fails on all ranks when a test failed on any. A rank's failures carry its number.

#include <doctest/doctest.h>

#include "halocline/comm/group/communicator.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/cpu.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  try {
    halocline::core::check_cpu();
    const halocline::comm::Communicator world = halocline::comm::world();
    doctest::Context context(argc, argv);
    context.setOption("no-colors", true);  // mpiexec gives ranks a terminal even into a log
    if (world.rank() != 0) context.setOption("minimal", true);
    const bool failed = context.run() != 0;
    if (failed && !context.shouldExit()) std::fprintf(stderr, "tests failed on rank %d\n", world.rank());
    return world.any(failed) ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
