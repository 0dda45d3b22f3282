# SPDX-License-Identifier: Apache-2.0
#
# Finds what the rooms stand on, and names the Debian packages of whatever is missing.
#
# All misses are collected first and reported in one sentence, so that a reader installs once and not five times. They
# also go into <build>/missing_packages.txt, one package a line, from which ./quickstart and ./check install; the file is
# empty where nothing is missing. Needs of some tests alone go into <build>/optional_packages.txt in the same way, as
# lines "need packages...". The packages themselves are listed in packages.txt.
# fmt, Eigen, nlohmann-json and doctest are private to our .cpp files. In a cross build (the SVE preset) they are taken
# as headers of the build machine through a folder of links: /usr/include itself must not come before the headers of
# the target's C library.

set(halocline_missing_packages "")
set(halocline_missing_names "")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/packages.txt)

# The packages of a need, as a list.
function(halocline_packages_of need result)
  file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/packages.txt line REGEX "^[?]?${need} ")
  if(NOT line)
    message(FATAL_ERROR "cmake/packages.txt has no line for the need `${need}`")
  endif()
  string(REGEX REPLACE " +" ";" packages "${line}")
  list(POP_FRONT packages)
  set(${result} ${packages} PARENT_SCOPE)
endfunction()

# `name` is what a reader is told, `need` the key of packages.txt.
macro(halocline_note_missing name need)
  halocline_packages_of(${need} halocline_found_packages)
  list(APPEND halocline_missing_names "${name}")
  list(APPEND halocline_missing_packages ${halocline_found_packages})
endmacro()

# An imported header-only target `name` that needs `header`; `name` is also the need of packages.txt.
macro(halocline_find_headers name header)
  find_path(halocline_${name}_include ${header} PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH)
  if(NOT halocline_${name}_include)
    halocline_note_missing(${name} ${name})
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
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Clang's OpenMP runtime is a package of its own, one for each version of the compiler.
    string(REGEX MATCH "^[0-9]+" halocline_clang ${CMAKE_CXX_COMPILER_VERSION})
    list(APPEND halocline_missing_names "OpenMP (runtime of clang ${halocline_clang})")
    list(APPEND halocline_missing_packages libomp-${halocline_clang}-dev)
  else()
    halocline_note_missing("OpenMP (compiler runtime)" compiler)
  endif()
endif()

if(HALOCLINE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI COMPONENTS CXX)
  if(NOT MPI_CXX_FOUND)
    halocline_note_missing("MPI (or configure with -DHALOCLINE_MPI=OFF)" mpi)
  elseif(NOT MPIEXEC_EXECUTABLE)
    if("${MPI_CXX_INCLUDE_DIRS}" MATCHES "mpich")
      list(APPEND halocline_missing_names "mpiexec")
      list(APPEND halocline_missing_packages mpich)
    else()
      halocline_note_missing("mpiexec" mpi-launcher)
    endif()
  endif()
endif()

# Libraries that nobody misses where they are not. halocline_have_<name> says whether `name` is there; if so the target
# halocline_dep_<name> has it, and else halocline_without_<name> is the end of a sentence that begins with "this build".
set(halocline_optional_libraries "")
function(halocline_optional name header library without)
  string(TOUPPER ${name} key)
  find_path(HALOCLINE_${key}_INCLUDE ${header})
  find_library(HALOCLINE_${key}_LIBRARY ${library})
  set(halocline_have_${name} OFF PARENT_SCOPE)
  set(halocline_without_${name} ${without} PARENT_SCOPE)
  if(HALOCLINE_${key}_INCLUDE AND HALOCLINE_${key}_LIBRARY)
    set(halocline_have_${name} ON PARENT_SCOPE)
    add_library(halocline_dep_${name} INTERFACE)
    target_include_directories(halocline_dep_${name} SYSTEM INTERFACE ${HALOCLINE_${key}_INCLUDE})
    target_link_libraries(halocline_dep_${name} INTERFACE ${HALOCLINE_${key}_LIBRARY})
    set(halocline_optional_libraries ${halocline_optional_libraries} ${name} PARENT_SCOPE)
  endif()
endfunction()
set(halocline_have_mpi ${HALOCLINE_MPI})
set(halocline_without_mpi "is without MPI")
# Fujitsu's extensions of MPI: persistent requests, and where a process stands on the Tofu interconnect.
set(halocline_have_fjmpi OFF)
set(halocline_without_fjmpi "is without Fujitsu's MPI")
if(HALOCLINE_MPI AND MPI_CXX_FOUND)
  find_path(HALOCLINE_MPI_EXT_INCLUDE mpi-ext.h PATHS ${MPI_CXX_INCLUDE_DIRS} NO_DEFAULT_PATH)
  if(HALOCLINE_MPI_EXT_INCLUDE)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX)
    set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX)
    check_cxx_source_compiles("
#include <mpi.h>
#include <mpi-ext.h>
int main() {
  MPI_Request request;
  int place[6];
  FJMPI_Prequest_send_init(place, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  FJMPI_Prequest_recv_init(place, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  FJMPI_Prequest_start(&request);
  return FJMPI_Topology_get_coords(MPI_COMM_WORLD, 0, FJMPI_TOFU_REL, 6, place);
}
" HALOCLINE_FJMPI)
    unset(CMAKE_REQUIRED_LIBRARIES)
    unset(CMAKE_REQUIRED_DEFINITIONS)
    if(HALOCLINE_FJMPI)
      set(halocline_have_fjmpi ON)
    endif()
  endif()
endif()
# Comes with the compilers of machines that have this interconnect.
halocline_optional(utofu utofu.h tofucom "found no uTofu, the interface of the Tofu-D interconnect")

halocline_find_headers(fmt fmt/core.h)
# What the rooms asked for do not use is not looked for.
if(HALOCLINE_ROOMS MATCHES "^all$|solve|qcd|tddft")
  halocline_find_headers(eigen eigen3/Eigen/Core)
else()
  add_library(halocline_dep_eigen INTERFACE)
endif()
if(HALOCLINE_ROOMS MATCHES "^all$|gpu|qcd")
  halocline_find_headers(json nlohmann/json.hpp)
else()
  add_library(halocline_dep_json INTERFACE)
endif()
# Libraries that tddft alone stands on. A cross build finds none of them and goes without the room.
set(HALOCLINE_TDDFT OFF)
if(HALOCLINE_ROOMS MATCHES "^all$|tddft" AND NOT CMAKE_CROSSCOMPILING)
  set(HALOCLINE_TDDFT ON)
  add_library(halocline_dep_tddft INTERFACE)
  foreach(needed "FFTW fftw fftw3 fftw3.h" "libxc libxc xc xc.h" "pugixml pugixml pugixml pugixml.hpp")
    string(REPLACE " " ";" needed ${needed})
    list(POP_FRONT needed name need library header)
    find_library(HALOCLINE_${name}_LIBRARY ${library})
    find_path(HALOCLINE_${name}_INCLUDE ${header})
    if(NOT HALOCLINE_${name}_LIBRARY OR NOT HALOCLINE_${name}_INCLUDE)
      halocline_note_missing(${name} ${need})
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
    halocline_note_missing("BLAS and LAPACK" blas)
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
  halocline_find_headers(doctest doctest/doctest.h)
endif()

if(HALOCLINE_PYTHON)
  find_package(Python 3.11 COMPONENTS Interpreter Development.Module)
  if(NOT Python_FOUND)
    halocline_note_missing("Python 3.11 or later with its headers" python-headers)
  endif()
endif()

# Programs that ./check uses besides. Nothing is built from them here.
set(halocline_optional "")
if(HALOCLINE_TESTS AND NOT CMAKE_CROSSCOMPILING)
  find_program(HALOCLINE_FORTRAN NAMES $ENV{FC} gfortran flang flang-new ifx)
  find_program(HALOCLINE_SIMGRID smpicxx)
  find_program(HALOCLINE_SVE_COMPILER aarch64-linux-gnu-g++)
  find_program(HALOCLINE_SVE_EMULATOR qemu-aarch64)
  find_program(HALOCLINE_DEBOOTSTRAP debootstrap PATHS /usr/sbin)
  # ScaLAPACK is loaded at run time; it is looked for only to name its package. Each MPI has its own; that of another
  # MPI than the one in use would install this MPI, too.
  set(halocline_scalapack "")
  if(HALOCLINE_MPI AND "${MPI_CXX_INCLUDE_DIRS}" MATCHES "openmpi")
    find_library(HALOCLINE_SCALAPACK scalapack-openmpi)
    set(halocline_scalapack "scalapack HALOCLINE_SCALAPACK")
  endif()
  foreach(needed "fortran HALOCLINE_FORTRAN" "simgrid HALOCLINE_SIMGRID" ${halocline_scalapack}
                 "sve HALOCLINE_SVE_COMPILER HALOCLINE_SVE_EMULATOR"
                 "debootstrap HALOCLINE_DEBOOTSTRAP")
    string(REPLACE " " ";" needed ${needed})
    list(POP_FRONT needed need)
    foreach(program ${needed})
      if(NOT ${program})
        halocline_packages_of(${need} halocline_found_packages)
        list(JOIN halocline_found_packages " " halocline_found_packages)
        string(APPEND halocline_optional "${need} ${halocline_found_packages}\n")
        break()
      endif()
    endforeach()
  endforeach()
endif()
file(WRITE ${PROJECT_BINARY_DIR}/optional_packages.txt "${halocline_optional}")

list(REMOVE_DUPLICATES halocline_missing_packages)
list(JOIN halocline_missing_packages "\n" halocline_packages)
file(WRITE ${PROJECT_BINARY_DIR}/missing_packages.txt "${halocline_packages}\n")
if(halocline_missing_names)
  list(JOIN halocline_missing_names ", " halocline_names)
  list(JOIN halocline_missing_packages " " halocline_packages)
  message(FATAL_ERROR "Halocline needs what was not found here: ${halocline_names}. On Debian or Ubuntu install with:\n"
                      "  apt-get install --no-install-recommends ${halocline_packages}\n")
endif()
