// SPDX-License-Identifier: Apache-2.0
//
// Fails to compile without the generated header, to link without the library, to run without the instruction set.
#include "halocline/core/config.hpp"
#include "halocline/core/cpu.hpp"

#include <iostream>

int main() {
  halocline::core::check_cpu();
  std::cout << halocline::core::version << ' ' << halocline::core::compiled_isa() << '\n';
}
