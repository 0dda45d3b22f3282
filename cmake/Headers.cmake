# SPDX-License-Identifier: Apache-2.0
#
# Target `headers`: every header compiles alone, and twice.
#
# One generated .cpp a header, compiled at -O0 as an object library, so ninja runs them side by side and repeats only
# those whose includes changed. Not part of `all`. Headers for C (*.h) are seen by a C compiler in tests/package.
add_custom_target(headers)
foreach(room ${halocline_rooms})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${halocline_source_root} ${halocline_source_root}/halocline/${room}/*.hpp
       ${halocline_source_root}/halocline/${room}/*.h)
  if(NOT HALOCLINE_MPI)
    list(FILTER headers EXCLUDE REGEX "comm/(mpi[^/]*|[^/]*_mpi)\\.hpp$")
  endif()
  if(room STREQUAL core)
    list(APPEND headers halocline/core/config.hpp)
  endif()
  set(units "")
  foreach(header ${headers})
    string(MAKE_C_IDENTIFIER ${header} unit)
    set(unit ${PROJECT_BINARY_DIR}/headers/${unit}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include <${header}>\n#include <${header}>\n")
    list(APPEND units ${unit})
  endforeach()
  add_library(halocline_headers_${room} OBJECT EXCLUDE_FROM_ALL ${units})
  target_link_libraries(halocline_headers_${room} PRIVATE halocline::${room} halocline_warnings halocline_dep_fmt)
  target_compile_options(halocline_headers_${room} PRIVATE -O0)
  add_dependencies(headers halocline_headers_${room})
endforeach()
