# SPDX-License-Identifier: Apache-2.0
#
# One test program a room, and a second one of the tests that run under MPI.
#
# tests/<room>/**/test_*.{cpp,cu} gives `test_<room>` (ctest name <room>), tests/<room>/**/test_*_mpi.{cpp,cu} gives
# `test_<room>_mpi` (ctest names <room>_mpi_n1, _n2, _n3, _n8). With HALOCLINE_SPLIT_TESTS a folder inside a room's tests
# has programs of its own (test_qcd_wilson), so that slow builds can run a part. Tests in *.cu launch functors: here on the
# host executor, and compiled by nvcc in test_<room>_cuda (target `cuda`, ctest label cuda).
# Tests run in the top folder, so that ../shared/data and examples/ are where they expect them.

# doctest itself, once for all programs, and not watched by sanitizers: it is not what they test.
add_library(halocline_doctest OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/doctest.cpp)
target_link_libraries(halocline_doctest PRIVATE halocline_dep_doctest)
target_compile_features(halocline_doctest PRIVATE cxx_std_20)
target_compile_options(halocline_doctest PRIVATE -O1 $<$<CXX_COMPILER_ID:GNU,Clang>:-fno-sanitize=all>)
add_library(halocline_test_main OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/main.cpp)
target_link_libraries(halocline_test_main PRIVATE halocline::core halocline_warnings halocline_dep_doctest)
if(HALOCLINE_MPI AND TARGET halocline::comm)
  add_library(halocline_test_main_mpi OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/main_mpi.cpp)
  target_link_libraries(halocline_test_main_mpi PRIVATE halocline::comm halocline_warnings halocline_dep_doctest)
endif()

set(halocline_openmpi_environment
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    OMPI_MCA_btl_vader_single_copy_mechanism=none OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive)

# The sources of a room that the split tests of some of its folders need, where they are a small part of it: a build that
# runs only these tests (asan, sve) compiles no more. What is missing here is an undefined symbol there.
set(halocline_part_of_qcd_io files)
foreach(folder clover schur schwarz wilson)
  set(halocline_part_of_qcd_${folder} operators)
endforeach()
set(halocline_files_below core comm lattice)
set(halocline_files_part "/qcd/(io/.*|gauge/observables|field/gauge_field)\\.cpp$")
set(halocline_operators_below core comm lattice solve)
set(halocline_operators_part
    "/qcd/((clover|dirac|domain_wall|field|schur|schwarz|twisted|wilson)/.*|quark/detail/host_krylov|gauge/(field_strength|start|transform))\\.cpp$")

# What a test program links: the room, or its part.
function(halocline_library_for name room result)
  set(${result} halocline::${room} PARENT_SCOPE)
  if(HALOCLINE_SPLIT_TESTS AND halocline_part_of_${name})
    set(part ${halocline_part_of_${name}})
    set(library halocline_${room}_${part})
    if(NOT TARGET ${library})
      set(sources ${halocline_sources_of_${room}})
      list(FILTER sources INCLUDE REGEX "${halocline_${part}_part}")
      halocline_add_library(${library} "${sources}" "" ${halocline_${part}_below})
      set_target_properties(${library} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    set(${result} ${library} PARENT_SCOPE)
  endif()
endfunction()

# What most tests include of doctest and of the language, parsed once for all of them where HALOCLINE_PRECOMPILED asks: a
# third of the time that a test takes to compile. Programs share what one compiles only if their flags agree.
if(HALOCLINE_PRECOMPILED)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "// for what it includes first\n")
  add_executable(halocline_precompiled EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled.cpp $<TARGET_OBJECTS:halocline_test_main>
                                       $<TARGET_OBJECTS:halocline_doctest>)
  target_link_libraries(halocline_precompiled PRIVATE halocline::core halocline_warnings halocline_dep_doctest halocline_dep_fmt)
  target_compile_options(halocline_precompiled PRIVATE -O1)
  target_precompile_headers(
    halocline_precompiled PRIVATE <doctest/doctest.h> <algorithm> <array> <cmath> <complex> <cstdint> <cstring> <functional>
    <limits> <map> <memory> <numeric> <random> <span> <stdexcept> <string> <vector>)
endif()

# Tests of a room see it and the rooms below it, no others.
function(halocline_test_program name room main)
  add_executable(${name} ${ARGN} $<TARGET_OBJECTS:${main}> $<TARGET_OBJECTS:halocline_doctest>)
  string(REGEX REPLACE "^test_(.*)$" "\\1" tested ${name})
  string(REGEX REPLACE "_mpi$" "" tested ${tested})
  halocline_library_for(${tested} ${room} library)
  target_link_libraries(${name} PRIVATE ${library} halocline_warnings halocline_dep_doctest halocline_dep_fmt halocline_dep_eigen
                                        halocline_dep_json)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  if(room MATCHES "comm|gpu|mapping|qcd|solve|tddft")
    # Compiled as often as run, and the libraries that they test are compiled as users get them. core and lattice are
    # headers for the most part: their tests are optimised like the code of a user.
    target_compile_options(${name} PRIVATE -O1)
    if(HALOCLINE_PRECOMPILED)
      target_precompile_headers(${name} REUSE_FROM halocline_precompiled)
    endif()
  endif()
  if(HALOCLINE_TEST_SAMPLES)
    target_compile_definitions(${name} PRIVATE HALOCLINE_TEST_SAMPLES)
  endif()
endfunction()

# Where the tests of registers and instructions find what nvcc made.
set(halocline_device_code "")
if(HALOCLINE_NVCC)
  # That of the toolkit, or the wheel of tools/requirements-check.txt. It looks for nvdisasm beside itself.
  file(GLOB halocline_cuda_wheels ${PROJECT_SOURCE_DIR}/.venv/lib/python*/site-packages/nvidia/cu*/bin)
  find_program(HALOCLINE_CUOBJDUMP cuobjdump PATHS ${halocline_cuda_root}/bin ${halocline_cuda_wheels})
  set(halocline_disassembler "HALOCLINE_CUOBJDUMP=")
  if(HALOCLINE_CUOBJDUMP)
    set(halocline_disassembler "HALOCLINE_CUOBJDUMP=${HALOCLINE_CUOBJDUMP}")
  endif()
  set(halocline_device_code "HALOCLINE_PTXAS_REPORTS=${PROJECT_BINARY_DIR}/cuda;${halocline_disassembler}")
endif()

# Files of test_qcd for a single thread.
set(halocline_one_thread_qcd
    "*/io/test_*,*/measure/test_meson.cpp,*/gauge/test_topological_charge.cpp,*/test_eigenvalues.cpp,*/test_quark_solver.cpp")

# One run of a serial test program; filter is an option of doctest or empty.
function(halocline_add_serial_test test name label threads filter)
  add_test(NAME ${test} COMMAND test_${name} ${filter} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  # Threads that wait sleep, as the Python package lets them where cores are shared.
  set_tests_properties(${test} PROPERTIES LABELS "serial;${label}" PROCESSORS ${threads} TIMEOUT 900 ENVIRONMENT
                                          "OMP_NUM_THREADS=${threads};OMP_WAIT_POLICY=passive")
  if(halocline_have_cuda)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT ${halocline_device_code})
  endif()
endfunction()

# The serial and the MPI test program of one name, from these sources; the label is the room.
function(halocline_add_tests name label)
  set(serial ${ARGN})
  set(parallel ${ARGN})
  list(FILTER serial EXCLUDE REGEX "_mpi\\.(cpp|cu)(\\.o)?$")
  list(FILTER parallel INCLUDE REGEX "_mpi\\.(cpp|cu)(\\.o)?$")
  if(serial)
    halocline_test_program(test_${name} ${label} halocline_test_main ${serial})
    # One thread for electrons: OpenBLAS wakes the others for every small matrix, and passive ones are slow to wake (57 s
    # instead of 9). comm, mapping and solve have no threads of their own, and two programs keep an emulator busier than two
    # threads of one. Tests of threads ask for theirs.
    set(threads 2)
    if(label MATCHES "^(comm|mapping|solve|tddft)$" OR CMAKE_CROSSCOMPILING)
      set(threads 1)
    endif()
    # Where two threads are slower than one: small lattices, many short loops.
    set(slower "${halocline_one_thread_${name}}")
    if(slower)
      halocline_add_serial_test(${name}_one_thread ${name} ${label} 1 "--source-file=${slower}")
      set(slower "--source-file-exclude=${slower}")
    endif()
    halocline_add_serial_test(${name} ${name} ${label} ${threads} "${slower}")
  endif()
  if(parallel AND TARGET halocline_test_main_mpi)
    halocline_test_program(test_${name}_mpi ${label} halocline_test_main_mpi ${parallel})
    foreach(ranks 1 2 3 8)
      set(test ${name}_mpi_n${ranks})
      add_test(NAME ${test}
               COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS} $<TARGET_FILE:test_${name}_mpi>
               WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      set_tests_properties(${test} PROPERTIES LABELS "mpi;${label}" PROCESSORS ${ranks} TIMEOUT 900 ENVIRONMENT
                                              "${halocline_openmpi_environment}")
    endforeach()
  endif()
endfunction()

foreach(room ${halocline_rooms})
  set(folder ${PROJECT_SOURCE_DIR}/tests/${room})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/test_*.cpp)
  if(TARGET halocline_gpu AND NOT halocline_have_kernels)
    list(FILTER sources EXCLUDE REGEX "/tests/qcd/device/")
  endif()
  if(TARGET halocline_gpu AND (halocline_have_kernels OR room STREQUAL gpu))
    file(GLOB_RECURSE device CONFIGURE_DEPENDS ${folder}/test_*.cu)
    halocline_device_sources("${device}" device VIRTUAL)
    list(APPEND sources ${device})
  endif()
  if(HALOCLINE_SPLIT_TESTS)
    file(GLOB inner LIST_DIRECTORIES true RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*)
    foreach(name ${inner})
      set(part ${sources})
      list(FILTER part INCLUDE REGEX "/tests/${room}/${name}/")
      list(FILTER sources EXCLUDE REGEX "/tests/${room}/${name}/")
      halocline_add_tests(${room}_${name} ${room} ${part})
    endforeach()
  endif()
  halocline_add_tests(${room} ${room} ${sources})
endforeach()

# What a build without the device's kernels says: its stand-in in front of the library, whose engine is then not taken. A
# library without kernels has the stand-in already.
if(TARGET test_qcd AND NOT HALOCLINE_SPLIT_TESTS)
  set(halocline_stand_in "")
  if(halocline_have_kernels)
    set(halocline_stand_in ${halocline_source_root}/halocline/qcd/quark/detail/without_kernels.cpp)
  endif()
  halocline_test_program(test_qcd_without_kernels qcd halocline_test_main ${PROJECT_SOURCE_DIR}/tests/qcd/device/without_kernels.cpp
                         ${halocline_stand_in})
  add_test(NAME qcd_without_kernels COMMAND test_qcd_without_kernels WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(qcd_without_kernels PROPERTIES LABELS "serial;qcd" TIMEOUT 60)
endif()

# Transport utofu and its tests, against a loopback shim of the interface where the machine has none of its own.
if(TARGET test_comm)
  set(halocline_shim ${PROJECT_SOURCE_DIR}/tests/comm/utofu_shim)
  set(halocline_shim_tests ${PROJECT_SOURCE_DIR}/tests/comm/test_utofu.cpp
                           ${PROJECT_SOURCE_DIR}/tests/qcd/schwarz/test_schwarz_utofu.cpp)
  if(halocline_have_utofu)
    set_source_files_properties(${halocline_shim_tests} PROPERTIES HEADER_FILE_ONLY ON)
  else()
    foreach(program test_comm test_qcd test_qcd_schwarz)
      if(TARGET ${program})
        target_sources(${program} PRIVATE ${halocline_shim}/utofu_shim.cpp
                                          ${halocline_source_root}/halocline/comm/transports/utofu/utofu.cpp)
        target_include_directories(${program} PRIVATE ${halocline_shim})
      endif()
    endforeach()
    if(CMAKE_CROSSCOMPILING)  # the emulator is for kernels
      set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/qcd/schwarz/test_schwarz_utofu.cpp PROPERTIES HEADER_FILE_ONLY ON)
    endif()
  endif()
endif()

# Fujitsu's MPI, against a shim over the standard calls where the machine has another MPI.
if(TARGET test_comm_mpi)
  set(halocline_shim_test ${PROJECT_SOURCE_DIR}/tests/comm/test_fjmpi_mpi.cpp)
  if(halocline_have_fjmpi)
    set_source_files_properties(${halocline_shim_test} PROPERTIES HEADER_FILE_ONLY ON)
  else()
    set(halocline_shimmed ${halocline_source_root}/halocline/comm/transports/fjmpi_persistent/fjmpi_persistent.cpp
                          ${halocline_source_root}/halocline/comm/mpi/fjmpi_coordinates.cpp)
    target_sources(test_comm_mpi PRIVATE ${halocline_shimmed})
    set_source_files_properties(${halocline_shimmed} PROPERTIES COMPILE_OPTIONS
                                "-include;${PROJECT_SOURCE_DIR}/tests/comm/fjmpi_shim/fjmpi_shim.h")
  endif()
endif()

if(CMAKE_CROSSCOMPILING)
  if(HALOCLINE_SVE_BITS AND TARGET test_core)
    add_test(NAME core_refuses_other_vectors COMMAND qemu-aarch64 -cpu max,sve256=on $<TARGET_FILE:test_core>)
    set_tests_properties(core_refuses_other_vectors PROPERTIES PASS_REGULAR_EXPRESSION "this machine lacks SVE" TIMEOUT 60)
  endif()
else()
  add_test(NAME package
           COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR} -DGENERATOR=${CMAKE_GENERATOR}
                   -DCXX=${CMAKE_CXX_COMPILER} -DMPIEXEC=${MPIEXEC_EXECUTABLE} -P ${PROJECT_SOURCE_DIR}/tests/package/run.cmake)
  set_tests_properties(package PROPERTIES LABELS package PROCESSORS 2 TIMEOUT 600 ENVIRONMENT "${halocline_openmpi_environment}")
  if(TARGET halocline_qcd)
    add_test(NAME package_qcd
             COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR} -DGENERATOR=${CMAKE_GENERATOR}
                     -DCXX=${CMAKE_CXX_COMPILER} -DMPIEXEC=${MPIEXEC_EXECUTABLE} -DSHARED=${HALOCLINE_SHARED}
                     "-DROOMS=${halocline_c_rooms}" -DLIBDIR=${CMAKE_INSTALL_LIBDIR} -P ${PROJECT_SOURCE_DIR}/tests/package/qcd.cmake)
    set_tests_properties(package_qcd PROPERTIES LABELS package PROCESSORS 2 TIMEOUT 600
                                                ENVIRONMENT "${halocline_openmpi_environment}")
  endif()
endif()

# Device code by nvcc, whether or not the library has it: all *.cu of the rooms and of their tests, linked into a test
# program a room in front of the libraries, whose own copies of the same files are then not taken.
# Where the library has it, the tests above have it too. Here it is a sample, as all of it keeps two cores busy for
# minutes: every file for one GPU generation, the halo for all of them, and the tests that show that what nvcc makes of the
# host executor computes the same. HALOCLINE_CUDA_ALL takes all.
# Sources with few kernels are compiled five at a time, as most of their time goes into the headers that they share. Those
# whose reports test_resources reads stay alone. The C++ compiler takes each alone, for the host executor.
set(halocline_cuda_alone "/(spinor_space|cuda_(double|float|fixed16|fixed8|fused|halo|sites))\\.cu$|/gpu/")
function(halocline_unite_for_nvcc list room)
  set(sources ${${list}})
  set(alone ${sources})
  list(FILTER alone INCLUDE REGEX "${halocline_cuda_alone}")
  list(FILTER sources EXCLUDE REGEX "${halocline_cuda_alone}")
  list(LENGTH sources count)
  set(content "")
  set(number 0)
  foreach(source ${sources})
    string(APPEND content "#include \"${source}\"\n")
    math(EXPR number "${number} + 1")
    math(EXPR place "${number} % 5")
    if(place EQUAL 0 OR number EQUAL count)
      set(united ${PROJECT_BINARY_DIR}/cuda/${room}_${number}.cu)
      file(CONFIGURE OUTPUT ${united} CONTENT "${content}")
      list(APPEND alone ${united})
      set(content "")
    endif()
  endforeach()
  set(${list} ${alone} PARENT_SCOPE)
endfunction()
set(halocline_cuda_sampled_sources "/cuda_halo\\.cu$|/gpu/detail/await_faces\\.cu$")
set(halocline_cuda_sampled_tests "/test_(sum|hopping|resources|instructions)\\.cu$")
add_custom_target(cuda)
if(TARGET halocline_bench_cuda)
  add_dependencies(cuda halocline_bench_cuda)
endif()
if(HALOCLINE_NVCC AND HALOCLINE_CUDART AND HALOCLINE_HOST_EXECUTOR AND TARGET halocline_gpu AND NOT halocline_have_cuda
   AND NOT CMAKE_CROSSCOMPILING)
  set(cuda_objects "")
  foreach(room ${halocline_rooms})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${halocline_source_root}/halocline/${room}/*.cu)
    file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${room}/test_*.cu)
    list(FILTER tests EXCLUDE REGEX "_mpi\\.cu$")
    if(NOT HALOCLINE_CUDA_ALL)
      list(FILTER tests INCLUDE REGEX "${halocline_cuda_sampled_tests}")
      halocline_unite_for_nvcc(sources ${room})
    endif()
    foreach(source ${sources})
      set(code "")
      if(NOT HALOCLINE_CUDA_ALL AND NOT source MATCHES "${halocline_cuda_sampled_sources}")
        set(code ONE)
      endif()
      halocline_nvcc_object(${source} object ${code})
      list(APPEND cuda_objects ${object})
    endforeach()
    if(tests)
      set(test_objects "")
      foreach(source ${tests})
        halocline_nvcc_object(${source} object VIRTUAL)
        list(APPEND test_objects ${object})
      endforeach()
      add_executable(test_${room}_cuda EXCLUDE_FROM_ALL ${test_objects} ${cuda_objects} $<TARGET_OBJECTS:halocline_test_main>
                     $<TARGET_OBJECTS:halocline_doctest>)
      set_target_properties(test_${room}_cuda PROPERTIES LINKER_LANGUAGE CXX)
      target_link_libraries(test_${room}_cuda PRIVATE halocline::${room} halocline_dep_fmt halocline_dep_doctest ${HALOCLINE_CUDART}
                                                      ${CMAKE_DL_LIBS} rt)
      add_dependencies(cuda test_${room}_cuda)
      add_test(NAME ${room}_cuda COMMAND test_${room}_cuda WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      set_tests_properties(${room}_cuda PROPERTIES LABELS "cuda;${room}" PROCESSORS 2 TIMEOUT 900 ENVIRONMENT
                           "${halocline_device_code};OMP_NUM_THREADS=2;OMP_WAIT_POLICY=passive")
    endif()
  endforeach()
endif()
