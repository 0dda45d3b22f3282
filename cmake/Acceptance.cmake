# SPDX-License-Identifier: Apache-2.0
#
# The acceptance of the GPU back end (tools/gpu_acceptance): a program over the rooms up to qcd and the benchmarks of devices.
#
# With HALOCLINE_ACCEPTANCE it is compiled wherever the device's kernels are, also without the other rooms and MPI
# (tools/gpu_acceptance/build). In a build with all rooms and the host executor, as that of ./check, it is a test.
option(HALOCLINE_ACCEPTANCE "Build the acceptance of the GPU back end where the device's kernels are built" OFF)
if(NOT halocline_have_kernels OR NOT TARGET halocline_qcd OR NOT (HALOCLINE_ACCEPTANCE OR (TARGET halocline_bench AND HALOCLINE_TESTS)))
  return()
endif()
set(halocline_acceptance ${PROJECT_SOURCE_DIR}/tools/gpu_acceptance)
set(halocline_acceptance_bench "")
if(NOT TARGET halocline_bench)
  foreach(name actions ceilings device_dslash device_links device_operator device_result device_solver device_timing fields geometry result solver timing)
    list(APPEND halocline_acceptance_bench ${PROJECT_SOURCE_DIR}/bench/${name}.cpp)
  endforeach()
  halocline_device_sources("${PROJECT_SOURCE_DIR}/bench/device_copy.cu;${PROJECT_SOURCE_DIR}/bench/device_dslash.cu;${PROJECT_SOURCE_DIR}/bench/device_operator.cu"
                           halocline_objects)
  list(APPEND halocline_acceptance_bench ${halocline_objects})
endif()
add_executable(gpu_acceptance ${halocline_acceptance}/main.cpp ${halocline_acceptance}/steps.cpp ${halocline_acceptance}/child.cpp
                              ${halocline_acceptance_bench})
target_include_directories(gpu_acceptance PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(gpu_acceptance PRIVATE halocline::qcd halocline_warnings halocline_dep_fmt halocline_dep_json halocline_dep_eigen)
if(TARGET halocline_bench)
  target_link_libraries(gpu_acceptance PRIVATE halocline_bench)
endif()

if(HALOCLINE_TESTS AND TARGET halocline_bench)
  halocline_test_program(test_gpu_acceptance qcd halocline_test_main ${PROJECT_SOURCE_DIR}/tests/tools/gpu_acceptance/test_child.cpp
                         ${halocline_acceptance}/child.cpp)
  add_test(NAME gpu_acceptance_child COMMAND test_gpu_acceptance WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  # On the host executor, which the GPU's tests have anyway: every step that is not a program of its own.
  add_test(NAME gpu_acceptance
           COMMAND gpu_acceptance --device host-executor --small --output ${PROJECT_BINARY_DIR}/acceptance.jsonl
                   --only device,copy,agreement,actions,hop,operators,graph,solver,policies)
  add_test(NAME gpu_acceptance_refuses COMMAND gpu_acceptance --only device,nothing WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(gpu_acceptance_child gpu_acceptance gpu_acceptance_refuses PROPERTIES LABELS "serial;qcd" TIMEOUT 300)
  set_tests_properties(gpu_acceptance_refuses PROPERTIES PASS_REGULAR_EXPRESSION "--only nothing: mode prove has no such step")
endif()
