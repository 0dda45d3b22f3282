# SPDX-License-Identifier: Apache-2.0
#
# cmake -DREPORT=FILE -P run_nvcc.cmake -- nvcc ARGUMENTS...
# Runs the compiler, keeps what ptxas says of registers, stack and spills in FILE, and shows the rest.
set(command "")
set(found OFF)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE 0 ${last})
  if(found)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(found ON)
  endif()
endforeach()
execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE complained)
file(WRITE ${REPORT} "${complained}")
string(REGEX REPLACE "ptxas info[^\n]*\n|[^\n]*bytes stack frame[^\n]*\n" "" complained "${complained}\n")
string(STRIP "${said}${complained}" text)
if(NOT text STREQUAL "")
  message("${text}")
endif()
if(NOT status EQUAL 0)
  message(FATAL_ERROR "nvcc failed with status ${status}")
endif()
