# SPDX-License-Identifier: Apache-2.0
#
# Target `headers`: every header compiles alone.
#
# A header that is the first include of a source of its library, and includes no other project's, has compiled alone
# there. For each of the others one generated .cpp, compiled at -O0 as an object library without what only our sources
# may include, so ninja runs them side by side and repeats only those whose includes changed. The target stands on the
# libraries, and is not part of `all`. That a header may be included twice, tools/check_rooms.py sees. Headers for C (*.h)
# are seen by a C compiler in tests/package.
add_custom_target(headers)

# Headers that these sources include before anything else, unconditionally, and that include only ours and the language's;
# as of the last configuration.
function(halocline_covered_headers sources result)
  set(found "")
  foreach(source ${sources})
    if(source MATCHES "\\.(cpp|cu)$" AND EXISTS ${source})
      file(STRINGS ${source} first REGEX "^#" LIMIT_COUNT 1)
      if(first MATCHES "^#include [<\"]([^>\"]+)[>\"]")
        set(header ${CMAKE_MATCH_1})
        set(foreign "")
        if(EXISTS ${halocline_source_root}/${header})
          file(STRINGS ${halocline_source_root}/${header} foreign REGEX "^#include <[^>]*[./]")
        endif()
        if(NOT foreign)
          list(APPEND found ${header})
        endif()
      endif()
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

foreach(room ${halocline_rooms})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${halocline_source_root} ${halocline_source_root}/halocline/${room}/*.hpp
       ${halocline_source_root}/halocline/${room}/*.h)
  halocline_without_absent(headers)
  if(room STREQUAL core)
    list(APPEND headers halocline/core/config.hpp)
  endif()
  halocline_covered_headers("${halocline_sources_of_${room}}" covered)
  if(covered)
    list(REMOVE_ITEM headers ${covered})
    add_dependencies(headers halocline_${room})
  endif()
  if(NOT headers)
    continue()
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
