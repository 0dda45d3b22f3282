# SPDX-License-Identifier: Apache-2.0
#
# cmake -DSOURCE=dir -DOUTPUT=file.cpp -P write_revision.cmake: the git revision of SOURCE as a C++ function, written
# only when it changed. Outside a git checkout the revision reads "unknown".
set(revision unknown)
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE answer RESULT_VARIABLE status
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(status EQUAL 0)
    set(revision ${answer})
  endif()
endif()
set(text "#include \"halocline/core/cpu.hpp\"\n
namespace halocline::core {\nstd::string_view git_revision() noexcept { return \"${revision}\"; }\n}\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
