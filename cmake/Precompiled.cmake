# SPDX-License-Identifier: Apache-2.0
#
# The language's headers and fmt, parsed once for all rooms: where HALOCLINE_PRECOMPILED asks, half of the time that a
# small source takes to compile.
#
# halocline_precompile(target) lets a target include what stands below before its sources. A compiler takes a precompiled
# header only under the flags that it was made with, so this one has those of the rooms; a target or a source with other
# flags is left alone. Sources still include all that they use: the builds without this option, and the target `headers`,
# see to that.
set(halocline_precompiled_headers
    <algorithm> <array> <atomic> <bit> <chrono> <cmath> <complex> <cstddef> <cstdint> <cstring> <functional> <limits> <map>
    <memory> <numbers> <numeric> <optional> <set> <span> <string> <string_view> <tuple> <type_traits> <utility> <vector>
    <fmt/format.h>)

function(halocline_precompile target)
  if(NOT HALOCLINE_PRECOMPILED OR NOT TARGET halocline_dep_fmt)
    return()
  endif()
  if(NOT TARGET halocline_precompiled_rooms)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled_rooms.cpp CONTENT "// for what it includes first\n")
    add_library(halocline_precompiled_rooms OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled_rooms.cpp)
    target_link_libraries(halocline_precompiled_rooms PRIVATE halocline_flags halocline_warnings halocline_dep_fmt)
    target_precompile_headers(halocline_precompiled_rooms PRIVATE ${halocline_precompiled_headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM halocline_precompiled_rooms)
endfunction()
