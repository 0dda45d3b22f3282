# SPDX-License-Identifier: Apache-2.0
#
# cmake -DBUILD=dir -DSOURCE=dir -DGENERATOR=Ninja -DCXX=compiler -P run.cmake: installs BUILD into an empty folder,
# then builds and runs the program of this folder against it.
set(work ${BUILD}/package_test)
file(REMOVE_RECURSE ${work})
function(must)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}")
  endif()
endfunction()
must(${CMAKE_COMMAND} --install ${BUILD} --component cpp --prefix ${work}/prefix)
must(${CMAKE_COMMAND} -S ${SOURCE} -B ${work}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
     -DCMAKE_PREFIX_PATH=${work}/prefix)
must(${CMAKE_COMMAND} --build ${work}/build)
must(${work}/build/uses_halocline)
