// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of solvers on the host executor.

#include <string>

#include "halocline/qcd/quark/quark_solver.hpp"

namespace halocline::test {

/// @param inner  storage of the iterations; "double" for no mixed precision
inline qcd::SolverParameters on_host_executor(const std::string& kind, const std::string& inner) {
  qcd::SolverParameters p;
  p.kind = kind;
  p.device = "host-executor";
  if (inner == "double")
    p.precision = "double";
  else
    p.inner_precision = inner;
  return p;
}

}  // namespace halocline::test
