# SPDX-License-Identifier: Apache-2.0
#
# libhalocline.so: the C interfaces of the rooms that were built, for programs that know nothing of C++.
#
# One library for all of them, because a handle must not cross between two copies of `comm`. It exports the functions of
# <room>/bindings/symbols.txt under the version in which each of them appeared, and nothing else: the C++ inside is
# hidden and can change. The soname has the minor version as long as minor versions may change interfaces.
#
# A file libhalocline.a beside it names the static libraries of the rooms, so that -lhalocline works without the shared
# one too. pkg-config gets halocline-comm.pc and halocline-qcd.pc.
include(CheckLinkerFlag)
include(CMakeDependentOption)
set(halocline_map ${PROJECT_BINARY_DIR}/halocline.map)
file(WRITE ${halocline_map}.probe "HALOCLINE_0 { local: *; };\n")
check_linker_flag(CXX LINKER:--version-script=${halocline_map}.probe HALOCLINE_LINKER_TAKES_VERSIONS)
# Sanitizers want their own symbols in the program. cmake/toolchains/aarch64-sve.cmake,
# whose programs are static, switches it off too.
string(TOUPPER "${CMAKE_BUILD_TYPE}" halocline_build_type)
set(halocline_sanitized OFF)
if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${halocline_build_type}}" MATCHES "-fsanitize=")
  set(halocline_sanitized ON)
endif()
cmake_dependent_option(HALOCLINE_SHARED "Build libhalocline.so, the C interfaces" ON
                       "HALOCLINE_LINKER_TAKES_VERSIONS;TARGET halocline_comm;NOT halocline_sanitized" OFF)

set(halocline_c_rooms "")
set(halocline_symbol_versions "")
set(halocline_symbols "")
foreach(room ${halocline_rooms})
  set(list ${halocline_source_root}/halocline/${room}/bindings/symbols.txt)
  if(NOT EXISTS ${list})
    continue()
  endif()
  list(APPEND halocline_c_rooms ${room})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines REGEX "^[0-9]")
  foreach(line ${lines})
    string(REGEX MATCH "^([0-9.]+) (halocline_[a-z0-9_]+)$" matched "${line}")
    if(NOT matched)
      message(FATAL_ERROR "${list} has the line `${line}`; expected a version and the name of a function.")
    endif()
    list(APPEND halocline_symbol_versions ${CMAKE_MATCH_1})
    list(APPEND halocline_symbols ${CMAKE_MATCH_2})
    list(APPEND halocline_symbols_of_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endforeach()
endforeach()

if(HALOCLINE_SHARED AND halocline_c_rooms)
  list(REMOVE_DUPLICATES halocline_symbol_versions)
  list(SORT halocline_symbol_versions COMPARE NATURAL)
  set(content "")
  set(before "")
  foreach(version ${halocline_symbol_versions})
    list(JOIN halocline_symbols_of_${version} ";\n    " names)
    set(hidden "")
    if(NOT before)
      set(hidden "\n  local:\n    *;")
    endif()
    string(APPEND content "HALOCLINE_${version} {\n  global:\n    ${names};${hidden}\n}${before};\n")
    set(before " HALOCLINE_${version}")
  endforeach()
  file(CONFIGURE OUTPUT ${halocline_map} CONTENT "${content}")

  # The functions are in archives, from which the linker takes what is asked for.
  list(TRANSFORM halocline_symbols PREPEND "-u " OUTPUT_VARIABLE halocline_wanted_symbols)
  list(JOIN halocline_wanted_symbols "\n" content)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/halocline_symbols.rsp CONTENT "${content}\n")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/halocline_c.cpp CONTENT "// everything is in the libraries\n")

  add_library(halocline_c SHARED ${PROJECT_BINARY_DIR}/halocline_c.cpp)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" halocline_soversion ${PROJECT_VERSION})
  set_target_properties(halocline_c PROPERTIES OUTPUT_NAME halocline EXPORT_NAME c VERSION ${PROJECT_VERSION}
                        SOVERSION ${halocline_soversion} LINKER_LANGUAGE CXX LINK_DEPENDS ${halocline_map}
                        INSTALL_RPATH_USE_LINK_PATH ON)
  target_link_options(halocline_c PRIVATE LINKER:--version-script=${halocline_map} LINKER:-Bsymbolic-functions
                                          LINKER:--gc-sections LINKER:-z,defs LINKER:@${PROJECT_BINARY_DIR}/halocline_symbols.rsp)
  foreach(room ${halocline_c_rooms})
    target_link_libraries(halocline_c PRIVATE halocline_${room})
  endforeach()
  target_include_directories(halocline_c INTERFACE $<BUILD_INTERFACE:${halocline_source_root}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(HALOCLINE_LINKER_EXPORTS_SYMBOL) # as halocline_comm has it
    target_link_options(halocline_c INTERFACE
                        $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:LINKER:--export-dynamic-symbol=_end>)
  endif()
  add_library(halocline::c ALIAS halocline_c)
endif()

# pkg-config, and the static libraries under one name -------------------------------------------------------------------
set(halocline_archives "")
foreach(room ${halocline_rooms})
  get_target_property(type halocline_${room} TYPE)
  if(type STREQUAL STATIC_LIBRARY AND NOT room MATCHES "^(tddft|maxwell|mapping)$")
    list(PREPEND halocline_archives -lhalocline_${room})
  endif()
endforeach()
list(JOIN halocline_archives " " halocline_archives)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/archive/libhalocline.a CONTENT
     "/* The static libraries of Halocline, for the linker. */\nGROUP ( ${halocline_archives} )\n")

# What the static libraries need of others.
set(halocline_needs -fopenmp -lstdc++ -lm)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  list(APPEND halocline_needs -lrt)
endif()
foreach(library ${CMAKE_DL_LIBS})
  list(APPEND halocline_needs -l${library})
endforeach()
if(HALOCLINE_MPI)
  list(APPEND halocline_needs ${MPI_CXX_LIBRARIES})
endif()
foreach(library ${halocline_optional_libraries})
  string(TOUPPER ${library} key)
  if(HALOCLINE_${key}_LIBRARY)
    list(APPEND halocline_needs ${HALOCLINE_${key}_LIBRARY})
  endif()
endforeach()
if(halocline_have_cuda)
  list(APPEND halocline_needs ${HALOCLINE_CUDART})
endif()
list(JOIN halocline_needs " " halocline_needs)
set(halocline_libs_public "")
set(halocline_libs_private "Libs.private: ${halocline_needs}\n")
if(NOT TARGET halocline_c)
  set(halocline_libs_public " ${halocline_needs}")
  set(halocline_libs_private "")
endif()
# The files can be moved with the whole installation, unless its libraries have a place of their own.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(halocline_pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH halocline_pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" halocline_pc_up "${halocline_pc_up}")
  set(halocline_pc_prefix \${pcfiledir}/${halocline_pc_up})
endif()
foreach(folder LIBDIR DATADIR INCLUDEDIR)
  set(halocline_pc_${folder} ${CMAKE_INSTALL_${folder}})
  if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    set(halocline_pc_${folder} \${prefix}/${CMAKE_INSTALL_${folder}})
  endif()
endforeach()
set(halocline_pc_program "")
if(HALOCLINE_LINKER_EXPORTS_SYMBOL)
  set(halocline_pc_program "-Wl,--export-dynamic-symbol=_end")
endif()
set(halocline_pc_files "")
foreach(room ${halocline_c_rooms})
  set(description "Halo exchange and sums of Halocline")
  if(room STREQUAL qcd)
    set(description "Lattice QCD of Halocline")
  endif()
  set(pc ${PROJECT_BINARY_DIR}/halocline-${room}.pc)
  file(CONFIGURE OUTPUT ${pc} CONTENT "prefix=${halocline_pc_prefix}
libdir=${halocline_pc_LIBDIR}
fortrandir=${halocline_pc_DATADIR}/halocline/fortran
programflags=${halocline_pc_program}
Name: halocline-${room}
Description: ${description}, for C and Fortran
Version: ${PROJECT_VERSION}
Cflags: -I${halocline_pc_INCLUDEDIR}
Libs: -L\${libdir} -lhalocline${halocline_libs_public}
${halocline_libs_private}" @ONLY)
  list(APPEND halocline_pc_files ${pc})
endforeach()
