# SPDX-License-Identifier: Apache-2.0
#
# Generates halocline/core/config.hpp, and core's revision.cpp.
#
# The header changes only with the configuration, so a commit does not rebuild the world; the git revision is in one
# .cpp of its own that is rewritten at build time when the revision has moved.

if(HALOCLINE_MPI)
  set(HALOCLINE_HAVE_MPI 1)
else()
  set(HALOCLINE_HAVE_MPI 0)
endif()
list(TRANSFORM halocline_cpu_features PREPEND "\"" OUTPUT_VARIABLE halocline_quoted)
list(TRANSFORM halocline_quoted APPEND "\"")
list(JOIN halocline_quoted ", " HALOCLINE_CPU_FEATURES)
set(halocline_generated ${PROJECT_BINARY_DIR}/include)
configure_file(${PROJECT_SOURCE_DIR}/src/halocline/core/config.hpp.in ${halocline_generated}/halocline/core/config.hpp @ONLY)

set(halocline_revision_cpp ${PROJECT_BINARY_DIR}/revision.cpp)
set(halocline_revision_command
    ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${halocline_revision_cpp} -P
    ${PROJECT_SOURCE_DIR}/cmake/write_revision.cmake)
add_custom_target(halocline_revision COMMAND ${halocline_revision_command} BYPRODUCTS ${halocline_revision_cpp}
                  COMMENT "Looking up the git revision")
execute_process(COMMAND ${halocline_revision_command})
