# SPDX-License-Identifier: Apache-2.0
#
# What the scripts here share. They expect BUILD, SOURCE, GENERATOR and CXX, and set `work` before this file.
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})

function(must)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}\n${said}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

# The command must fail, and say `words` (line breaks aside).
function(must_fail words)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  string(FIND "${said}" "${words}" place)
  if(status EQUAL 0 OR place EQUAL -1)
    message(FATAL_ERROR "should have failed with `${words}`: ${ARGN}\n${said}")
  endif()
endfunction()

# Configures and builds `folder` as a project of its own in `name`.
function(build_project name folder)
  must(${CMAKE_COMMAND} -S ${folder} -B ${work}/${name} -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix} ${ARGN})
  must(${CMAKE_COMMAND} --build ${work}/${name})
endfunction()

must(${CMAKE_COMMAND} --install ${BUILD} --component cpp --prefix ${prefix})
set(cxx -DCMAKE_CXX_COMPILER=${CXX})
find_program(FORTRAN NAMES $ENV{FC} gfortran flang flang-new ifx)
