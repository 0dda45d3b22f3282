# SPDX-License-Identifier: Apache-2.0
#
# libFuzzer targets from tests/fuzz/fuzz_*.cpp, on request: -DHALOCLINE_FUZZ=ON with CMAKE_CXX_COMPILER=clang++ and its
# OpenMP (Debian: libomp-dev).
#
# Sources are instrumented too, so a build folder of its own is meant:
#   cmake -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DHALOCLINE_FUZZ=ON -DHALOCLINE_PYTHON=OFF
#   ninja -C build/fuzz fuzz_gauge_file && build/fuzz/fuzz_gauge_file -max_len=8192 FOLDER_OF_SOUND_FILES
option(HALOCLINE_FUZZ "Build the libFuzzer targets of tests/fuzz (Clang only)" OFF)
if(NOT HALOCLINE_FUZZ)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "HALOCLINE_FUZZ needs Clang, the compiler is ${CMAKE_CXX_COMPILER_ID}; configure with "
                      "-DCMAKE_CXX_COMPILER=clang++.")
endif()
foreach(room ${halocline_rooms})
  get_target_property(kind halocline_${room} TYPE)
  if(NOT kind STREQUAL INTERFACE_LIBRARY)
    target_compile_options(halocline_${room} PRIVATE -fsanitize=fuzzer-no-link,address,undefined)
  endif()
endforeach()
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.cpp)
foreach(source ${fuzz_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  foreach(room ${halocline_rooms})
    target_link_libraries(${name} PRIVATE halocline::${room})
  endforeach()
  target_link_libraries(${name} PRIVATE halocline_warnings)
endforeach()
