// SPDX-License-Identifier: Apache-2.0
/// @file
/// core: what this build is made of.
#include <omp.h>

#include "bindings.hpp"
#include "halocline/core/config.hpp"
#include "halocline/core/cpu.hpp"

namespace halocline::bindings {

void bind_core(nb::module_& m) {
  m.attr("version") = core::version;
  m.attr("revision") = core::git_revision();
  m.attr("have_mpi") = core::have_mpi;
  m.attr("isa") = core::compiled_isa();
  m.attr("compiler") = core::compiler;
  m.attr("build_type") = core::build_type;
  m.def("missing_cpu_feature", &core::missing_cpu_feature,
        "First CPU feature that the build needs and this machine lacks; empty when it has them all.");
  m.def("check_cpu", &core::check_cpu, "Raises InvalidArgument where this machine lacks the compiled instruction set.");
  m.def("check_instructions", &core::check_instructions,
        "As check_cpu(), without the length of SVE registers, which the processes of a group compare together.");
  m.def("narrower_than_cpu", &core::narrower_than_cpu,
        "A sentence where this machine has wider registers than the build uses; empty elsewhere.");
  m.def("threads", &omp_get_max_threads, "OpenMP threads of a parallel region.");
}

}  // namespace halocline::bindings
