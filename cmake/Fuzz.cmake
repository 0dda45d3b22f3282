# SPDX-License-Identifier: Apache-2.0
#
# One program a family of readers: tests/fuzz/fuzz_<family>.cpp gives `fuzz_<family>`, and all of them the target `fuzz`.
#
# They belong into a tree with sanitizers, such as that of the preset asan, and are built on request only. With any
# compiler they are linked with the mutator of tests/fuzz; with -DHALOCLINE_FUZZ=ON and Clang they are libFuzzer targets
# instead, whose libraries are instrumented too, so that a build folder of its own is meant:
#   cmake -B build/libfuzzer -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DHALOCLINE_FUZZ=ON -DHALOCLINE_PYTHON=OFF
option(HALOCLINE_FUZZ "Build libFuzzer targets of tests/fuzz (Clang only)" OFF)
if(HALOCLINE_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "HALOCLINE_FUZZ needs Clang, the compiler is ${CMAKE_CXX_COMPILER_ID}; configure with "
                      "-DCMAKE_CXX_COMPILER=clang++.")
endif()
if(CMAKE_CROSSCOMPILING OR NOT TARGET halocline_qcd OR NOT TARGET halocline_gpu OR NOT HALOCLINE_TDDFT
   OR NOT (HALOCLINE_FUZZ OR HALOCLINE_TESTS))
  return()
endif()

set(fuzz_folder ${PROJECT_SOURCE_DIR}/tests/fuzz)
set(fuzz_common ${fuzz_folder}/judge.cpp ${fuzz_folder}/mutator.cpp ${fuzz_folder}/driver.cpp)
set(fuzz_options "")
if(HALOCLINE_FUZZ)
  set(fuzz_common ${fuzz_folder}/judge.cpp ${fuzz_folder}/libfuzzer.cpp)
  set(fuzz_options -fsanitize=fuzzer,address,undefined)
  foreach(room ${halocline_rooms})
    get_target_property(kind halocline_${room} TYPE)
    if(NOT kind STREQUAL INTERFACE_LIBRARY)
      target_compile_options(halocline_${room} PRIVATE -fsanitize=fuzzer-no-link,address,undefined)
    endif()
  endforeach()
endif()
add_library(halocline_fuzz_common OBJECT EXCLUDE_FROM_ALL ${fuzz_common})
target_link_libraries(halocline_fuzz_common PRIVATE halocline::core halocline_warnings halocline_dep_fmt)
target_include_directories(halocline_fuzz_common PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_compile_options(halocline_fuzz_common PRIVATE ${fuzz_options})

# The readers of a room and what they stand on; where tests are split (asan), no more than these are compiled.
set(halocline_part_of_fuzz_qcd files)
set(halocline_part_of_fuzz_gpu tuning)
set(halocline_tuning_below core comm)
set(halocline_tuning_part "/gpu/detail/tune_(cache|file|text)\\.cpp$")
set(halocline_part_of_fuzz_tddft electron_files)
set(halocline_electron_files_below core comm)
set(halocline_electron_files_part "/tddft/(base|hartree|io|ions|model|pseudopotential|stencil|xc)/.*\\.cpp$")
if(NOT COMMAND halocline_library_for)
  function(halocline_library_for name room result)
    set(${result} halocline::${room} PARENT_SCOPE)
  endfunction()
endif()

add_custom_target(fuzz)
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${fuzz_folder}/fuzz_*.cpp)
foreach(source ${fuzz_sources})
  get_filename_component(name ${source} NAME_WE)
  set(room tddft)
  if(name MATCHES "gauge|propagator")
    set(room qcd)
  elseif(name MATCHES "tune")
    set(room gpu)
  elseif(name MATCHES "planted")
    set(room core)
  endif()
  halocline_library_for(fuzz_${room} ${room} library)
  if(TARGET halocline_tddft_electron_files)
    target_link_libraries(halocline_tddft_electron_files PRIVATE halocline_dep_tddft)
  endif()
  add_executable(${name} EXCLUDE_FROM_ALL ${source} $<TARGET_OBJECTS:halocline_fuzz_common>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${library} halocline_warnings halocline_dep_fmt)
  target_compile_options(${name} PRIVATE ${fuzz_options})
  target_link_options(${name} PRIVATE ${fuzz_options})
  add_dependencies(fuzz ${name})
endforeach()
