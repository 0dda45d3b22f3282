# SPDX-License-Identifier: Apache-2.0
#
# The transports of halo exchanges, in the order of preference among equals.
#
# A transport is a folder of src/halocline/comm/transports and a line here. The folder's header, <name>/<name>.hpp,
# declares `TransportKind <name>_transport()`. NEEDS names what it stands on (halocline_optional in Dependencies.cmake):
# where that is absent the folder is not compiled, and the list says why.
#
#                       name            stands on
set(halocline_transports "self"
                         "shared_memory"
                         "hybrid"
                         "utofu          NEEDS utofu"
                         "fjmpi_persistent NEEDS fjmpi"
                         "mpi_persistent NEEDS mpi"
                         "mpi_rma        NEEDS mpi"
                         "simulated"
                         "openshmem      NEEDS mpi")

# Takes folders of absent transports out of a list of files, `comm/mpi` without MPI, and what needs Fujitsu's MPI without it.
function(halocline_without_absent files)
  set(kept ${${files}})
  foreach(line ${halocline_transports})
    if(line MATCHES "^([a-z0-9_]+) +NEEDS (.+)$")
      set(name ${CMAKE_MATCH_1})
      if(NOT halocline_have_${CMAKE_MATCH_2})
        list(FILTER kept EXCLUDE REGEX "comm/transports/${name}/")
      endif()
    endif()
  endforeach()
  if(halocline_have_mpi)
    list(FILTER kept EXCLUDE REGEX "comm/group/without_mpi\\.cpp$")
  else()
    list(FILTER kept EXCLUDE REGEX "comm/mpi/")
  endif()
  if(halocline_have_fjmpi)
    list(FILTER kept EXCLUDE REGEX "comm/mpi/without_fjmpi\\.cpp$")
  else()
    list(FILTER kept EXCLUDE REGEX "comm/mpi/(with_fjmpi|fjmpi_coordinates)\\.cpp$")
  endif()
  set(${files} ${kept} PARENT_SCOPE)
endfunction()

# Writes built_in_transports(), and says where.
function(halocline_write_transports result)
  set(includes "")
  set(lines "")
  foreach(line ${halocline_transports})
    string(REGEX MATCH "^([a-z0-9_]+)( +NEEDS (.+))?$" matched "${line}")
    set(name ${CMAKE_MATCH_1})
    set(need "${CMAKE_MATCH_3}")
    if(need AND NOT halocline_have_${need})
      string(APPEND lines "      absent(\"${name}\", \"is not in this build, which ${halocline_without_${need}}\"),\n")
    else()
      string(APPEND includes "#include \"halocline/comm/transports/${name}/${name}.hpp\"\n")
      string(APPEND lines "      ${name}_transport(),\n")
    endif()
  endforeach()
  set(file ${PROJECT_BINARY_DIR}/built_in_transports.cpp)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT [=[
// Written by cmake/Transports.cmake.
#include "halocline/comm/exchange/transport.hpp"
@includes@
namespace halocline::comm {
namespace {

[[maybe_unused]] TransportKind absent(const char* name, const char* reason) {
  return {.name = name,
          .unavailable_reason = [reason](const ProcessGrid*) { return std::string(reason); },
          .make = [](const TransportOptions&) { return std::unique_ptr<Transport>(); }};
}

}  // namespace

std::vector<TransportKind> built_in_transports() {
  return {
@lines@  };
}

}  // namespace halocline::comm
]=])
  set(${result} ${file} PARENT_SCOPE)
endfunction()
