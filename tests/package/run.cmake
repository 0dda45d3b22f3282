# SPDX-License-Identifier: Apache-2.0
#
# Installs a build into an empty folder and uses it from outside the tree, as a stranger would.
#
#   cmake -DBUILD=dir -DSOURCE=top -DGENERATOR=Ninja -DCXX=compiler [-DMPIEXEC=program] -P run.cmake
#
# One project a language, so that each is shown to do alone: a C project never names C++. The Jacobi examples must print
# the same numbers on 1, 2, 4 and 8 processes. Without MPIEXEC everything runs on one. Fortran is left out where no
# compiler for it is found.
set(work ${BUILD}/package_test)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

# Runs a Jacobi example; its iteration count must be that of the other languages, its residual that of every other
# number of processes to the last digit.
function(run_jacobi program)
  set(counts 1)
  if(MPIEXEC)
    set(counts 1 2 4 8)
  endif()
  set(before "")
  foreach(count ${counts})
    set(launcher "")
    if(MPIEXEC)
      set(launcher ${MPIEXEC} -n ${count})
    endif()
    must(${launcher} ${program})
    if(NOT said MATCHES "iterations ([0-9]+), residual ([0-9.eE+-]+), error [0-9.eE+-]+: right")
      message(FATAL_ERROR "${program} on ${count} processes printed no result:\n${said}")
    endif()
    set(numbers "${CMAKE_MATCH_1}, ${CMAKE_MATCH_2}")
    set(iterations ${CMAKE_MATCH_1})
    if(before AND NOT before STREQUAL numbers)
      message(FATAL_ERROR "${program}: ${numbers} on ${count} processes, ${before} on fewer")
    endif()
    set(before "${numbers}")
    get_property(others GLOBAL PROPERTY jacobi_iterations)
    if(others AND NOT others EQUAL iterations)
      message(FATAL_ERROR "${program} took ${iterations} iterations, another language took ${others}")
    endif()
    set_property(GLOBAL PROPERTY jacobi_iterations ${iterations})
  endforeach()
  message(STATUS "${program}: ${before} on ${counts} processes")
endfunction()

build_project(core ${SOURCE}/tests/package ${cxx})
must(${work}/core/uses_halocline)

set(launcher "")
if(MPIEXEC)
  set(launcher ${MPIEXEC} -n 2)
endif()
build_project(page ${SOURCE}/tests/package/page ${cxx} "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
must(${launcher} ${work}/page/page)

set(jacobi ${work}/jacobi2d)
file(COPY ${SOURCE}/examples/jacobi2d DESTINATION ${work})
build_project(jacobi_c ${jacobi} ${cxx} -DLANGUAGES=C "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Wconversion -Werror")
run_jacobi(${work}/jacobi_c/jacobi2d_c)
build_project(jacobi_cpp ${jacobi} ${cxx} -DLANGUAGES=CXX)
run_jacobi(${work}/jacobi_cpp/jacobi2d_cpp)

if(FORTRAN)
  build_project(jacobi_fortran ${jacobi} ${cxx} -DLANGUAGES=Fortran -DCMAKE_Fortran_COMPILER=${FORTRAN})
  run_jacobi(${work}/jacobi_fortran/jacobi2d_fortran)
  build_project(fortran ${SOURCE}/tests/package/fortran ${cxx} -DCMAKE_Fortran_COMPILER=${FORTRAN})
  must(${launcher} ${work}/fortran/uses_halocline)
  must_fail("halocline_exchange_wait: face 17 given" ${launcher} ${work}/fortran/uses_halocline fail)
else()
  message(STATUS "Fortran left out: no compiler found")
endif()

# What find_package says to components that are not there. A configured tree of comm alone is all that takes.
set(ask ${CMAKE_COMMAND} -S ${SOURCE}/tests/package/components -G ${GENERATOR} ${cxx})
must_fail("halocline has no component ocean; it has core, comm," ${ask} -B ${work}/ocean -DCMAKE_PREFIX_PATH=${prefix}
          -DCOMPONENTS=ocean)
must(${CMAKE_COMMAND} -S ${SOURCE} -B ${work}/comm_alone -G ${GENERATOR} ${cxx} -DHALOCLINE_ROOMS=comm
     -DHALOCLINE_MPI=OFF)
must_fail("The component qcd of halocline is not installed here, only core, comm are" ${ask} -B ${work}/qcd
          -Dhalocline_DIR=${work}/comm_alone -DCOMPONENTS=qcd)
