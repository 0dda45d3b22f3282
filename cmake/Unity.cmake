# SPDX-License-Identifier: Apache-2.0
#
# Several sources of a library compiled as one: where HALOCLINE_UNITY asks, two thirds of the time that the libraries took.
#
# halocline_unite(target) lets CMake include the target's sources in each other's company, some ten at a time. What this asks
# of the code is that no two sources of a room give one name two meanings: what two of them need is in a header.
# Kernels stay alone. What the compiler inlines into them must not depend on the files that happen to stand beside them, and
# their time goes into code, not into headers. A source with flags of its own stays alone by CMake's rule.
# The C interface of qcd stays alone too: each of its sources begins with a header that most others do not need.
# The builds without this option (dev, no-mpi, sve) see to it that each source includes all that it uses.
set(halocline_compiled_alone
    "/qcd/(wilson|schwarz|clover|dirac|multigrid|bindings)/|/qcd/field/detail/linear_algebra|/tddft/stencil/|/maxwell/update/|\\.cu$")

function(halocline_unite target)
  if(NOT HALOCLINE_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "${halocline_compiled_alone}")
  if(sources)
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
endfunction()
