# SPDX-License-Identifier: Apache-2.0
#
# halocline_add_room(name dependencies...): the static library halocline_<name>, alias halocline::<name>.
#
# The room is every *.cpp below src/halocline/<name>. A room with headers only becomes an INTERFACE library, a room
# without a folder does not exist. "An absent back end is an absent file": without MPI the files named mpi*.cpp or
# *_mpi.cpp are left out, and utofu.cpp where there is no such interconnect.

include(CheckLinkerFlag)
set(halocline_rooms "")
set(halocline_source_root ${PROJECT_SOURCE_DIR}/src)

function(halocline_add_room name)
  set(folder ${halocline_source_root}/halocline/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${folder}/*.hpp)
  if(NOT sources AND NOT headers)
    return()
  endif()
  if(NOT HALOCLINE_MPI)
    list(FILTER sources EXCLUDE REGEX "(/mpi[^/]*|_mpi)\\.cpp$")
  endif()
  if(NOT HALOCLINE_UTOFU_FOUND)
    list(FILTER sources EXCLUDE REGEX "/utofu\\.cpp$")
  endif()
  if(name STREQUAL core)
    list(APPEND sources ${halocline_revision_cpp})
    set_source_files_properties(${halocline_revision_cpp} PROPERTIES GENERATED ON)
    # Must run on any machine: it is the code that says the rest cannot.
    set_source_files_properties(${folder}/cpu.cpp PROPERTIES COMPILE_OPTIONS "${halocline_baseline_flags}")
  endif()

  set(target halocline_${name})
  if(sources)
    add_library(${target} STATIC ${sources} ${headers})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:halocline_warnings> $<BUILD_INTERFACE:halocline_dep_fmt>
                                            $<BUILD_INTERFACE:halocline_dep_eigen> $<BUILD_INTERFACE:halocline_dep_json>)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  if(name STREQUAL core)
    add_dependencies(${target} halocline_revision)
  endif()
  add_library(halocline::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${halocline_source_root}>
                             $<BUILD_INTERFACE:${halocline_generated}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} ${scope} halocline_flags)
  foreach(dependency ${ARGN})
    if(TARGET halocline_${dependency})
      target_link_libraries(${target} ${scope} halocline_${dependency})
    endif()
  endforeach()
  if(name STREQUAL comm)
    if(HALOCLINE_MPI)
      target_link_libraries(${target} ${scope} MPI::MPI_CXX)
    endif()
    if(HALOCLINE_UTOFU_FOUND)
      target_include_directories(${target} SYSTEM PRIVATE ${HALOCLINE_UTOFU_INCLUDE})
      target_link_libraries(${target} ${scope} ${HALOCLINE_UTOFU_LIBRARY})
    endif()
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
    # Programs show where their data ends: Open MPI's OpenSHMEM asks (comm/openshmem.hpp).
    check_linker_flag(CXX LINKER:--export-dynamic-symbol=_end HALOCLINE_LINKER_EXPORTS_SYMBOL)
    if(HALOCLINE_LINKER_EXPORTS_SYMBOL)
      target_link_options(${target} INTERFACE
                          $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:LINKER:--export-dynamic-symbol=_end>)
    endif()
  endif()
  set(halocline_rooms ${halocline_rooms} ${name} PARENT_SCOPE)
endfunction()
