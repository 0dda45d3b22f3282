# SPDX-License-Identifier: Apache-2.0
#
# halocline_add_room(name dependencies...) declares a room, halocline_build_rooms() makes those asked for: of each the
# static library halocline_<name>, alias halocline::<name>.
#
# HALOCLINE_ROOMS=comm builds comm and the rooms below it, for programs that need nothing else.
#
# A room is every *.cpp and *.cu below src/halocline/<name> (Cuda.cmake says how the latter are compiled). A room with
# headers only becomes an INTERFACE library, a room without a folder does not exist. An absent transport is an absent
# folder (Transports.cmake).

include(CheckLinkerFlag)
set(halocline_known_rooms "")
set(halocline_rooms "")
set(halocline_source_root ${PROJECT_SOURCE_DIR}/src)

macro(halocline_add_room name)
  list(APPEND halocline_known_rooms ${name})
  set(halocline_below_${name} ${ARGN})
endmacro()

macro(halocline_build_rooms)
  set(halocline_wanted ${HALOCLINE_ROOMS})
  if(HALOCLINE_ROOMS STREQUAL all)
    set(halocline_wanted ${halocline_known_rooms})
  endif()
  foreach(room ${halocline_wanted})
    if(NOT room IN_LIST halocline_known_rooms)
      list(JOIN halocline_known_rooms ", " halocline_names)
      message(FATAL_ERROR "HALOCLINE_ROOMS names ${room}, which is no room; there are all, ${halocline_names}.")
    endif()
    list(APPEND halocline_wanted ${halocline_below_${room}})
  endforeach()
  foreach(room ${halocline_known_rooms})
    if(room IN_LIST halocline_wanted)
      halocline_build_room(${room} ${halocline_below_${room}})
    endif()
  endforeach()
endmacro()

# A library of these sources of a room, with what the room stands on.
function(halocline_add_library target sources headers)
  if(sources)
    add_library(${target} STATIC ${sources} ${headers})
    set(scope PUBLIC)
    halocline_precompile(${target})
    halocline_unite(${target})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:halocline_warnings> $<BUILD_INTERFACE:halocline_dep_fmt>
                                            $<BUILD_INTERFACE:halocline_dep_eigen> $<BUILD_INTERFACE:halocline_dep_json>)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${halocline_source_root}>
                             $<BUILD_INTERFACE:${halocline_generated}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} ${scope} halocline_flags)
  foreach(dependency ${ARGN})
    if(TARGET halocline_${dependency})
      target_link_libraries(${target} ${scope} halocline_${dependency})
    endif()
  endforeach()
endfunction()

function(halocline_build_room name)
  set(folder ${halocline_source_root}/halocline/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${folder}/*.hpp)
  file(GLOB_RECURSE device CONFIGURE_DEPENDS ${folder}/*.cu)
  if(name STREQUAL gpu OR (TARGET halocline_gpu AND halocline_have_kernels))
    halocline_device_sources("${device}" device)
    list(APPEND sources ${device})
    list(FILTER sources EXCLUDE REGEX "/without_kernels\\.cpp$")
  endif()
  if(NOT sources AND NOT headers)
    return()
  endif()
  halocline_without_absent(sources)
  if(name STREQUAL comm)
    halocline_write_transports(list_of_transports)
    list(APPEND sources ${list_of_transports})
  endif()
  if(name STREQUAL tddft AND NOT HALOCLINE_TDDFT)
    # Without its libraries (a cross build) the room is its stencil.
    list(FILTER sources INCLUDE REGEX "/tddft/(stencil/.*|base/.*)\\.cpp$")
  endif()
  if(name STREQUAL gpu)
    list(APPEND sources ${halocline_kernel_hash_cpp})
  endif()
  if(name STREQUAL core)
    list(APPEND sources ${halocline_revision_cpp})
    set_source_files_properties(${halocline_revision_cpp} PROPERTIES GENERATED ON)
    # Must run on any machine: it is the code that says the rest cannot.
    set_source_files_properties(${folder}/cpu.cpp PROPERTIES COMPILE_OPTIONS "${halocline_baseline_flags}"
                                SKIP_PRECOMPILE_HEADERS ON)
  endif()
  # Unrolled kernels take a sanitizer ten times as long to compile; the code around them, which
  # computes every address that they get, is what it looks at by default.
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" MATCHES "-fsanitize=" AND NOT HALOCLINE_SANITIZE_KERNELS)
    set(kernels ${sources})
    list(FILTER kernels INCLUDE REGEX "/((tile_passes|hop_tiles)_[^/]*|stencil/kernels)\\.cpp$")
    set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS -fno-sanitize=all SKIP_PRECOMPILE_HEADERS ON)
  endif()

  set(target halocline_${name})
  halocline_add_library(${target} "${sources}" "${headers}" ${ARGN})
  add_library(halocline::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  set(halocline_sources_of_${name} ${sources} PARENT_SCOPE)
  if(name STREQUAL core)
    add_dependencies(${target} halocline_revision)
  endif()
  if(name STREQUAL tddft AND HALOCLINE_TDDFT)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:halocline_dep_tddft>
                                            $<INSTALL_INTERFACE:$<LINK_ONLY:${HALOCLINE_FFTW_LIBRARY}>>
                                            $<INSTALL_INTERFACE:$<LINK_ONLY:LAPACK::LAPACK>>
                                            $<INSTALL_INTERFACE:$<LINK_ONLY:BLAS::BLAS>>
                                            $<INSTALL_INTERFACE:$<LINK_ONLY:${HALOCLINE_libxc_LIBRARY}>>
                                            $<INSTALL_INTERFACE:$<LINK_ONLY:${HALOCLINE_pugixml_LIBRARY}>>)
  endif()
  if(name STREQUAL gpu)
    target_link_libraries(${target} PRIVATE $<$<PLATFORM_ID:Linux>:rt> ${CMAKE_DL_LIBS})
    if(halocline_have_cuda)
      target_link_libraries(${target} PUBLIC ${HALOCLINE_CUDART})
    endif()
  endif()
  if(name STREQUAL comm)
    set(scope PUBLIC)
    if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
      target_link_libraries(${target} ${scope} rt) # shm_open, before glibc 2.34
    endif()
    if(HALOCLINE_MPI)
      target_link_libraries(${target} ${scope} MPI::MPI_CXX)
    endif()
    foreach(library ${halocline_optional_libraries})
      string(TOUPPER ${library} key)
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:halocline_dep_${library}>
                                              $<INSTALL_INTERFACE:$<LINK_ONLY:${HALOCLINE_${key}_LIBRARY}>>)
    endforeach()
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
    # Programs show where their data ends: Open MPI's OpenSHMEM asks (comm/transports/openshmem).
    check_linker_flag(CXX LINKER:--export-dynamic-symbol=_end HALOCLINE_LINKER_EXPORTS_SYMBOL)
    if(HALOCLINE_LINKER_EXPORTS_SYMBOL)
      target_link_options(${target} INTERFACE
                          $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:LINKER:--export-dynamic-symbol=_end>)
    endif()
  endif()
  set(halocline_rooms ${halocline_rooms} ${name} PARENT_SCOPE)
endfunction()
