# SPDX-License-Identifier: Apache-2.0
#
# The Python extension halocline._halocline from python/bindings/*.cpp, one file a room.
#
# nanobind is found through the Python that builds (a wheel of PyPI: pyproject.toml pins it). The module lands in
# <build>/python/halocline, and in the package by the install component "python".
file(GLOB halocline_binding_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/bindings/*.cpp)
if(NOT halocline_binding_sources)
  return()
endif()
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE
                OUTPUT_VARIABLE halocline_nanobind_folder RESULT_VARIABLE halocline_status ERROR_QUIET)
if(NOT halocline_status EQUAL 0)
  message(FATAL_ERROR "Halocline's Python extension needs nanobind in ${Python_EXECUTABLE}; run ./quickstart, or "
                      "`${Python_EXECUTABLE} -m pip install nanobind`, or configure with -DHALOCLINE_PYTHON=OFF.")
endif()
find_package(nanobind CONFIG REQUIRED PATHS ${halocline_nanobind_folder} NO_DEFAULT_PATH)
nanobind_add_module(_halocline NB_STATIC NOMINSIZE ${halocline_binding_sources})
# Our warnings are not for nanobind's own headers.
target_include_directories(_halocline SYSTEM PRIVATE ${NB_DIR}/include)
list(TRANSFORM halocline_rooms PREPEND halocline:: OUTPUT_VARIABLE halocline_room_targets)
target_link_libraries(_halocline PRIVATE ${halocline_room_targets} halocline_warnings halocline_dep_fmt)
if(TARGET halocline_bench)
  target_link_libraries(_halocline PRIVATE halocline_bench)
endif()
halocline_unite(nanobind-static)
halocline_unite(_halocline)
if(HALOCLINE_PRECOMPILED)
  target_precompile_headers(_halocline PRIVATE ${PROJECT_SOURCE_DIR}/python/bindings/bindings.hpp)
endif()
set_target_properties(_halocline PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/halocline)
install(TARGETS _halocline LIBRARY DESTINATION halocline COMPONENT python)
