# SPDX-License-Identifier: Apache-2.0
#
# How *.cu files are compiled: by nvcc where GPUs are asked for, by the C++ compiler everywhere else.
#
# A *.cu file holds functors and the code that launches them. Compiled as plain C++ it runs them on the host executor
# (gpu/launch.cuh), so every machine builds and tests the same source. HALOCLINE_CUDA=auto takes nvcc where it is found
# and the machine has an NVIDIA device; on a login node without one say `on`. CMake's own CUDA language is not used: that
# of Debian 12 knows neither the current toolkit nor C++20 in it.
#
# Target `cuda` compiles every *.cu by nvcc even where the library does without, and links tests of the device code with it
# (test_<room>_cuda): that is what ./check does on a machine without a GPU. It takes a sample of generations and tests
# (Tests.cmake) unless HALOCLINE_CUDA_ALL is on. The compiler's report on registers,
# stack and spills lies beside each object as <name>.ptxas.
#
# Without nvcc these files are for tests, and they are compiled where HALOCLINE_HOST_EXECUTOR asks (./check does): without
# them ./quickstart took 3:54 instead of 4:26. Elsewhere without_kernels.cpp stands in for them and says so. Those of the
# room gpu are few and always compiled.

set(HALOCLINE_CUDA auto CACHE STRING "GPU back end by nvcc: auto, on or off")
set_property(CACHE HALOCLINE_CUDA PROPERTY STRINGS auto on off)
set(HALOCLINE_CUDA_ARCHITECTURES "80;90;100" CACHE STRING "Compute capabilities that the device code is compiled for")
option(HALOCLINE_HOST_EXECUTOR "Device code on the CPU where there is no nvcc: for tests" OFF)
option(HALOCLINE_CUDA_ALL "Target cuda compiles everything for every GPU generation, not a sample" OFF)

find_program(HALOCLINE_NVCC nvcc PATHS /usr/local/cuda/bin)
find_library(HALOCLINE_NVSHMEM_HOST NAMES nvshmem_host libnvshmem_host.so.3 PATH_SUFFIXES nvshmem/lib)
find_path(HALOCLINE_NVSHMEM_INCLUDE nvshmem_host.h PATH_SUFFIXES nvshmem/include nvshmem)
set(halocline_have_cuda OFF)
if(HALOCLINE_CUDA STREQUAL on)
  if(NOT HALOCLINE_NVCC)
    message(FATAL_ERROR "HALOCLINE_CUDA=on needs nvcc, and none was found; put it in PATH, give -DHALOCLINE_NVCC=FILE, or "
                        "configure with -DHALOCLINE_CUDA=off.")
  endif()
  set(halocline_have_cuda ON)
elseif(HALOCLINE_CUDA STREQUAL auto AND HALOCLINE_NVCC AND EXISTS /dev/nvidiactl AND NOT CMAKE_CROSSCOMPILING)
  set(halocline_have_cuda ON)
endif()

set(halocline_have_kernels OFF)
if(halocline_have_cuda OR HALOCLINE_HOST_EXECUTOR)
  set(halocline_have_kernels ON)
endif()

# The content of all device code, by which the tune cache knows whether its figures are of these kernels: a .cpp of its own,
# rewritten when one of the files has changed.
file(GLOB_RECURSE halocline_kernel_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/halocline/*.cu
     ${PROJECT_SOURCE_DIR}/src/halocline/*.cuh ${PROJECT_SOURCE_DIR}/src/halocline/qcd/site/*.hpp)
set(halocline_kernel_hash_cpp ${PROJECT_BINARY_DIR}/kernel_hash.cpp)
add_custom_command(OUTPUT ${halocline_kernel_hash_cpp}
                   COMMAND ${CMAKE_COMMAND} -DOUTPUT=${halocline_kernel_hash_cpp} -P
                           ${PROJECT_SOURCE_DIR}/cmake/write_kernel_hash.cmake -- ${halocline_kernel_sources}
                   DEPENDS ${halocline_kernel_sources} ${PROJECT_SOURCE_DIR}/cmake/write_kernel_hash.cmake
                   COMMENT "Hashing the device code" VERBATIM)

if(HALOCLINE_NVCC)
  get_filename_component(halocline_cuda_root ${HALOCLINE_NVCC} REALPATH)
  get_filename_component(halocline_cuda_root ${halocline_cuda_root} DIRECTORY)
  get_filename_component(halocline_cuda_root ${halocline_cuda_root} DIRECTORY)
  find_library(HALOCLINE_CUDART cudart_static PATHS ${halocline_cuda_root}/lib64 ${halocline_cuda_root}/lib
               ${halocline_cuda_root}/targets/x86_64-linux/lib)
  # -O1 is for host code, which holds nothing hot: device code is optimised as by default, wholly.
  # Line numbers are for profilers and compute-sanitizer, and change no instruction. They double the device code, which the
  # compression for size makes smaller than it was without both. It needs a driver for CUDA 12.4 or newer.
  set(halocline_nvcc_flags -std=c++20 -O1 -DNDEBUG --expt-relaxed-constexpr -diag-suppress=1675 -Xcompiler=-fPIC,-fopenmp
                           -lineinfo --compress-mode=size -ccbin ${CMAKE_CXX_COMPILER})
  # For every generation at once, and as virtual code, which the driver compiles at start: that of the newest for devices
  # to come, that of the oldest alone for what is run rather than measured.
  set(halocline_nvcc_code "")
  foreach(architecture ${HALOCLINE_CUDA_ARCHITECTURES})
    list(APPEND halocline_nvcc_code -gencode arch=compute_${architecture},code=sm_${architecture})
    set(halocline_newest ${architecture})
  endforeach()
  if(HALOCLINE_NVSHMEM_HOST AND HALOCLINE_NVSHMEM_INCLUDE)
    list(APPEND halocline_nvcc_flags -DHALOCLINE_NVSHMEM -isystem ${HALOCLINE_NVSHMEM_INCLUDE})
    list(APPEND HALOCLINE_CUDART ${HALOCLINE_NVSHMEM_HOST})  # whatever links the one links the other
  endif()
  list(APPEND halocline_nvcc_code -gencode arch=compute_${halocline_newest},code=compute_${halocline_newest})
  list(GET HALOCLINE_CUDA_ARCHITECTURES 0 halocline_oldest)
  list(LENGTH HALOCLINE_CUDA_ARCHITECTURES halocline_count)
  math(EXPR halocline_count "${halocline_count} / 2")
  list(GET HALOCLINE_CUDA_ARCHITECTURES ${halocline_count} halocline_middle)
  set(halocline_nvcc_one_code -gencode arch=compute_${halocline_middle},code=sm_${halocline_middle})
  set(halocline_nvcc_virtual_code -gencode arch=compute_${halocline_oldest},code=compute_${halocline_oldest})
endif()

# The object that nvcc makes of a source; its path goes to `result`. With VIRTUAL, virtual code alone, for tests; with ONE,
# the architecture in the middle alone.
function(halocline_nvcc_object source result)
  set(code ${halocline_nvcc_code})
  if(VIRTUAL IN_LIST ARGN)
    set(code ${halocline_nvcc_virtual_code})
  elseif(ONE IN_LIST ARGN)
    set(code ${halocline_nvcc_one_code})
  endif()
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
  set(object ${PROJECT_BINARY_DIR}/cuda/${name}.o)
  get_filename_component(folder ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  set(includes "")
  foreach(include ${halocline_source_root} ${halocline_generated} ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
    list(APPEND includes -I${include})
  endforeach()
  add_custom_command(OUTPUT ${object} BYPRODUCTS ${object}.ptxas
                     COMMAND ${CMAKE_COMMAND} -DREPORT=${object}.ptxas -P ${PROJECT_SOURCE_DIR}/cmake/run_nvcc.cmake -- ${HALOCLINE_NVCC}
                             ${halocline_nvcc_flags} ${code} ${includes} -Xptxas=-v -MD -MF ${object}.d -c ${source} -o ${object}
                     DEPENDS ${source} DEPFILE ${object}.d COMMENT "nvcc ${name}" VERBATIM)
  set(${result} ${object} PARENT_SCOPE)
endfunction()

# Sources for a target: objects of nvcc where the back end is built, else the *.cu files as C++. The host executor is for
# tests: it is compiled quickly rather than well. VIRTUAL as above.
function(halocline_device_sources sources result)
  set(out "")
  foreach(source ${sources})
    if(halocline_have_cuda)
      halocline_nvcc_object(${source} object ${ARGN})
      set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
      list(APPEND out ${object})
    else()
      set_source_files_properties(${source} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-O1;-x;c++")
      list(APPEND out ${source})
    endif()
  endforeach()
  set(${result} ${out} PARENT_SCOPE)
endfunction()
