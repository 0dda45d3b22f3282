# SPDX-License-Identifier: Apache-2.0
#
# The benchmarks as a library (bench/**/*.cpp), called from the Python extension and from nowhere else.
file(GLOB_RECURSE halocline_bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
if(halocline_bench_sources)
  add_library(halocline_bench STATIC ${halocline_bench_sources})
  target_include_directories(halocline_bench PUBLIC ${PROJECT_SOURCE_DIR})
  list(TRANSFORM halocline_rooms PREPEND halocline:: OUTPUT_VARIABLE halocline_room_targets)
  target_link_libraries(halocline_bench PUBLIC ${halocline_room_targets}
                        PRIVATE halocline_warnings halocline_dep_fmt halocline_dep_eigen halocline_dep_json)
endif()
