# SPDX-License-Identifier: Apache-2.0
#
# The benchmarks as a library (bench/**/*.cpp and *.cu, the latter as Cuda.cmake says), called from the Python extension
# and from nowhere else.
#
# bench/c_interface is a project of its own, against an installed copy. bench/simulated is not in the library either: its
# programs run on SimGrid's simulated MPI, which has headers of its own.
# `halocline bench weak --simulate` and `simulate-multigrid` compile them, with the sources of core and comm and the gathering
# of lattice, when they are first asked for; for that they go into the package.
file(GLOB_RECURSE halocline_bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
list(FILTER halocline_bench_sources EXCLUDE REGEX "/bench/(simulated|c_interface)/")
file(GLOB halocline_bench_device_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cu)
# By nvcc even where the library does without it: part of the target `cuda` (Tests.cmake).
if(HALOCLINE_NVCC AND HALOCLINE_HOST_EXECUTOR AND NOT halocline_have_cuda AND NOT CMAKE_CROSSCOMPILING)
  set(halocline_bench_cuda_objects "")
  set(halocline_code ONE)
  if(HALOCLINE_CUDA_ALL)
    set(halocline_code "")
  endif()
  foreach(source ${halocline_bench_device_sources})
    halocline_nvcc_object(${source} object ${halocline_code})
    list(APPEND halocline_bench_cuda_objects ${object})
  endforeach()
  add_custom_target(halocline_bench_cuda DEPENDS ${halocline_bench_cuda_objects})
endif()
if(halocline_have_kernels)
  halocline_device_sources("${halocline_bench_device_sources}" halocline_bench_device_sources)
  list(APPEND halocline_bench_sources ${halocline_bench_device_sources})
  list(FILTER halocline_bench_sources EXCLUDE REGEX "without_kernels\\.cpp$")
endif()
if(halocline_bench_sources)
  add_library(halocline_bench STATIC ${halocline_bench_sources})
  target_include_directories(halocline_bench PUBLIC ${PROJECT_SOURCE_DIR})
  list(TRANSFORM halocline_rooms PREPEND halocline:: OUTPUT_VARIABLE halocline_room_targets)
  target_link_libraries(halocline_bench PUBLIC ${halocline_room_targets}
                        PRIVATE halocline_warnings halocline_dep_fmt halocline_dep_eigen halocline_dep_json)
  halocline_precompile(halocline_bench)
  halocline_unite(halocline_bench)
endif()

install(DIRECTORY ${halocline_source_root}/halocline/core ${halocline_source_root}/halocline/comm
        DESTINATION halocline/sources/src/halocline COMPONENT python FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cpp" PATTERN "*.in")
install(FILES ${halocline_source_root}/halocline/lattice/geometry.hpp ${halocline_source_root}/halocline/lattice/gathering.hpp
              ${halocline_source_root}/halocline/lattice/gathering.cpp ${halocline_source_root}/halocline/lattice/coarsening.hpp
              ${halocline_source_root}/halocline/lattice/coarsening.cpp
        DESTINATION halocline/sources/src/halocline/lattice COMPONENT python)
foreach(source base/decomposition.hpp base/decomposition.cpp base/grid.hpp base/index.hpp base/orbitals.hpp base/system.hpp
               hartree/pencils.hpp hartree/pencils.cpp)
  cmake_path(GET source PARENT_PATH folder)
  install(FILES ${halocline_source_root}/halocline/tddft/${source}
          DESTINATION halocline/sources/src/halocline/tddft/${folder} COMPONENT python)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/simulated DESTINATION halocline/sources/bench COMPONENT python)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/Transports.cmake DESTINATION halocline/sources/cmake COMPONENT python)
