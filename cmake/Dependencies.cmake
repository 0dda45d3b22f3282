# SPDX-License-Identifier: Apache-2.0
#
# Finds what the rooms stand on, and names the Debian package of whatever is missing.
#
# All misses are collected first and reported in one sentence, so that a reader installs once and not five times.
# fmt, Eigen, nlohmann-json and doctest are private to our .cpp files. In a cross build (the SVE preset) they are taken
# as headers of the build machine through a folder of links: /usr/include itself must not come before the headers of
# the target's C library.

set(halocline_missing_packages "")
set(halocline_missing_names "")

macro(halocline_note_missing name package)
  list(APPEND halocline_missing_names "${name}")
  list(APPEND halocline_missing_packages "${package}")
endmacro()

# An imported header-only target `name` that needs `header`, from `package`.
macro(halocline_find_headers name header package)
  find_path(halocline_${name}_include ${header} PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH)
  if(NOT halocline_${name}_include)
    halocline_note_missing(${name} ${package})
  else()
    add_library(halocline_dep_${name} INTERFACE)
    set(halocline_${name}_folder ${halocline_${name}_include})
    if(CMAKE_CROSSCOMPILING)
      string(REGEX REPLACE "/.*" "" halocline_top ${header})
      set(halocline_${name}_folder ${PROJECT_BINARY_DIR}/host_headers)
      file(MAKE_DIRECTORY ${halocline_${name}_folder})
      file(CREATE_LINK ${halocline_${name}_include}/${halocline_top} ${halocline_${name}_folder}/${halocline_top} SYMBOLIC)
    endif()
    target_include_directories(halocline_dep_${name} SYSTEM INTERFACE ${halocline_${name}_folder})
  endif()
endmacro()

find_package(OpenMP COMPONENTS CXX)
if(NOT OpenMP_CXX_FOUND)
  halocline_note_missing("OpenMP (compiler runtime)" g++)
endif()

if(HALOCLINE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI COMPONENTS CXX)
  if(NOT MPI_CXX_FOUND)
    halocline_note_missing("MPI (or configure with -DHALOCLINE_MPI=OFF)" "libopenmpi-dev openmpi-bin")
  endif()
endif()

# uTofu, the low-level interface of the Tofu-D interconnect, comes with the compilers of machines that have one; nobody
# misses it elsewhere.
find_path(HALOCLINE_UTOFU_INCLUDE utofu.h)
find_library(HALOCLINE_UTOFU_LIBRARY tofucom)
if(HALOCLINE_UTOFU_INCLUDE AND HALOCLINE_UTOFU_LIBRARY)
  set(HALOCLINE_UTOFU_FOUND ON)
else()
  set(HALOCLINE_UTOFU_FOUND OFF)
endif()

halocline_find_headers(fmt fmt/core.h libfmt-dev)
# What the rooms asked for do not use is not looked for.
if(HALOCLINE_ROOMS MATCHES "^all$|solve|qcd|tddft")
  halocline_find_headers(eigen eigen3/Eigen/Core libeigen3-dev)
else()
  add_library(halocline_dep_eigen INTERFACE)
endif()
if(HALOCLINE_ROOMS MATCHES "^all$|gpu|qcd")
  halocline_find_headers(json nlohmann/json.hpp nlohmann-json3-dev)
else()
  add_library(halocline_dep_json INTERFACE)
endif()
# Libraries that tddft alone stands on. A cross build finds none of them and goes without the room.
set(HALOCLINE_TDDFT OFF)
if(HALOCLINE_ROOMS MATCHES "^all$|tddft" AND NOT CMAKE_CROSSCOMPILING)
  set(HALOCLINE_TDDFT ON)
  add_library(halocline_dep_tddft INTERFACE)
  foreach(needed "FFTW fftw3 fftw3.h libfftw3-dev" "libxc xc xc.h libxc-dev" "pugixml pugixml pugixml.hpp libpugixml-dev")
    string(REPLACE " " ";" needed ${needed})
    list(POP_FRONT needed name library header package)
    find_library(HALOCLINE_${name}_LIBRARY ${library})
    find_path(HALOCLINE_${name}_INCLUDE ${header})
    if(NOT HALOCLINE_${name}_LIBRARY OR NOT HALOCLINE_${name}_INCLUDE)
      halocline_note_missing(${name} ${package})
      continue()
    endif()
    target_include_directories(halocline_dep_tddft SYSTEM INTERFACE ${HALOCLINE_${name}_INCLUDE})
    target_link_libraries(halocline_dep_tddft INTERFACE ${HALOCLINE_${name}_LIBRARY})
  endforeach()
  # Any BLAS and LAPACK that FindBLAS knows (BLA_VENDOR chooses among several), with 32-bit integers. Only their Fortran
  # symbols are called, which all of them have; how many threads they may use is settled at run time.
  set(BLA_SIZEOF_INTEGER 4)
  find_package(BLAS)
  find_package(LAPACK)
  if(BLAS_FOUND AND LAPACK_FOUND)
    target_link_libraries(halocline_dep_tddft INTERFACE LAPACK::LAPACK BLAS::BLAS)
  else()
    halocline_note_missing("BLAS and LAPACK" libopenblas-openmp-dev)
  endif()
endif()
if(halocline_eigen_folder)
  target_include_directories(halocline_dep_eigen SYSTEM INTERFACE ${halocline_eigen_folder}/eigen3)
endif()
if(TARGET halocline_dep_fmt)
  # Compiled once, in core/detail/formatting.cpp, under a name that no other copy in a program has.
  target_compile_definitions(halocline_dep_fmt INTERFACE "FMT_BEGIN_NAMESPACE=namespace fmt { inline namespace in_halocline {"
                                                         "FMT_END_NAMESPACE=} }")
endif()
if(HALOCLINE_TESTS)
  halocline_find_headers(doctest doctest/doctest.h doctest-dev)
endif()

if(HALOCLINE_PYTHON)
  find_package(Python 3.11 COMPONENTS Interpreter Development.Module)
  if(NOT Python_FOUND)
    halocline_note_missing("Python 3.11 with headers" python3-dev)
  endif()
endif()

if(halocline_missing_names)
  list(JOIN halocline_missing_names ", " halocline_names)
  list(JOIN halocline_missing_packages " " halocline_packages)
  message(FATAL_ERROR "Halocline needs what was not found here: ${halocline_names}. On Debian or Ubuntu install with:\n"
                      "  apt-get install --no-install-recommends ${halocline_packages}\n")
endif()
