// SPDX-License-Identifier: Apache-2.0
//
// main() of the serial test programs: doctest, after a check that this machine can run the compiled instruction set.

#include <doctest/doctest.h>

#include "halocline/core/cpu.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  try {
    halocline::core::check_cpu();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return doctest::Context(argc, argv).run();
}
