# SPDX-License-Identifier: Apache-2.0
#
# halocline_find_sve_bits(result): the length of the SVE registers of the machine that will run the build [bits], 0 where
# it has none. A program asks the kernel (prctl), through the emulator where the build is for another machine; its answer
# is the length that the kernel gives to new programs, at most that of the CPU.
function(halocline_find_sve_bits result)
  set(probe ${PROJECT_BINARY_DIR}/sve_length)
  file(WRITE ${probe}.cpp "
#include <cstdio>
#include <sys/prctl.h>
int main() {
  const int answer = prctl(51 /* PR_SVE_GET_VL */);
  std::printf(\"%d\", answer < 0 ? 0 : (answer & 0xffff) * 8);
  return 0;
}
")
  separate_arguments(linker UNIX_COMMAND "${CMAKE_EXE_LINKER_FLAGS_INIT}")
  separate_arguments(argument UNIX_COMMAND "${CMAKE_CXX_COMPILER_ARG1}")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${argument} ${probe}.cpp ${linker} -o ${probe}
                  RESULT_VARIABLE status ERROR_VARIABLE said)
  set(bits "")
  if(status EQUAL 0)
    execute_process(COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} ${probe} RESULT_VARIABLE status OUTPUT_VARIABLE bits ERROR_VARIABLE said)
  endif()
  if(NOT status EQUAL 0 OR NOT bits MATCHES "^[0-9]+$")
    message(FATAL_ERROR "HALOCLINE_ISA=native asks the machine for the length of its SVE registers, and the program that asks "
                        "did not run (${said}). Name the machine instead: HALOCLINE_ISA=a64fx, neoverse-v1, neoverse-v2, grace, "
                        "sve512, sve256, sve128 or portable.")
  endif()
  set(${result} ${bits} PARENT_SCOPE)
endfunction()
