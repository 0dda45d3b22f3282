# SPDX-License-Identifier: Apache-2.0
#
# The flags every translation unit shares, and what they mean for the machine the binary will run on.
#
# `halocline_flags` (exported: whoever instantiates our templates must use the same instruction set) carries the ISA
# and floating-point flags; `halocline_warnings` stays ours. The compiler is asked what the flags switched on, because
# `native` names nothing: the answer goes into config.hpp as the name and the list of CPU features that
# core::check_cpu() asks for at start. docs/building.md explains the names of HALOCLINE_ISA.

# No code reads errno after a mathematical function, and square roots in loops become vectors only without it.
set(halocline_isa_flags -ffp-contract=fast -fno-math-errno)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set(halocline_isa_names native avx512 avx2 portable)
  set(halocline_isa_native -march=native -mprefer-vector-width=512)
  set(halocline_isa_avx512 -march=x86-64-v4 -mprefer-vector-width=512)
  set(halocline_isa_avx2 -march=x86-64-v3)
  set(halocline_isa_portable -march=x86-64)
  set(halocline_baseline_flags -march=x86-64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  include(SveLength)
  # The kernels need registers of a fixed length. Without a length in the flags they would be those of Neon, 128 bits,
  # whatever the CPU has.
  set(halocline_isa_names native a64fx neoverse-v1 neoverse-v2 grace sve512 sve256 sve128 portable)
  set(halocline_isa_a64fx -mcpu=a64fx -msve-vector-bits=512)
  set(halocline_isa_neoverse-v1 -mcpu=neoverse-v1 -msve-vector-bits=256)
  set(halocline_isa_neoverse-v2 -mcpu=neoverse-v2 -msve-vector-bits=128)
  # GCC 12 and Clang 15 know the smaller sister alone, whose instructions neoverse-v2 has too.
  if((CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
     OR (CMAKE_CXX_COMPILER_ID STREQUAL Clang AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16))
    set(halocline_isa_neoverse-v2 -mcpu=neoverse-n2 -msve-vector-bits=128)
  endif()
  set(halocline_isa_grace ${halocline_isa_neoverse-v2})  # Grace's cores are Neoverse V2
  foreach(bits 512 256 128)
    set(halocline_isa_sve${bits} -march=armv8.2-a+sve -msve-vector-bits=${bits})
  endforeach()
  set(halocline_isa_portable -march=armv8-a)
  set(halocline_isa_native "")
  if(HALOCLINE_ISA STREQUAL native)
    halocline_find_sve_bits(halocline_native_bits)
    if(NOT halocline_native_bits MATCHES "^(0|128|256|512)$")
      message(FATAL_ERROR "This machine's SVE registers have ${halocline_native_bits} bits; the kernels have layouts for 128, 256 "
                          "and 512. Let the system give shorter ones (/proc/sys/abi/sve_default_vector_length), or build with "
                          "HALOCLINE_ISA=portable.")
    endif()
    if(NOT CMAKE_CROSSCOMPILING)
      set(halocline_isa_native -mcpu=native)
    elseif(halocline_native_bits EQUAL 0)
      set(halocline_isa_native ${halocline_isa_portable})
    else()
      set(halocline_isa_native -march=armv8.2-a+sve)
    endif()
    if(NOT halocline_native_bits EQUAL 0)
      list(APPEND halocline_isa_native -msve-vector-bits=${halocline_native_bits})
    endif()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL Fujitsu)
    message(FATAL_ERROR "Fujitsu's compiler in trad mode knows neither C++20 nor vector extensions. Its clang mode may: "
                        "-DCMAKE_CXX_COMPILER=\"FCC;-Nclang\" (docs/fugaku.md). GCC 12 or later is what is tested.")
  endif()
  set(halocline_baseline_flags -march=armv8-a)
  if("${halocline_isa_${HALOCLINE_ISA}}" MATCHES "-mcpu")
    set(halocline_baseline_flags -mcpu=generic)  # the last -mcpu counts; beside it GCC warns of another -march
  endif()
else()
  set(halocline_isa_names native portable)
  set(halocline_isa_native "")
  set(halocline_isa_portable "")
  set(halocline_baseline_flags "")
endif()
if(NOT HALOCLINE_ISA IN_LIST halocline_isa_names)
  message(FATAL_ERROR "HALOCLINE_ISA=${HALOCLINE_ISA} is not known for ${CMAKE_SYSTEM_PROCESSOR}; x86-64 has native, avx512, avx2, "
                      "portable; 64-bit Arm has native, a64fx, neoverse-v1, neoverse-v2, grace, sve512, sve256, sve128, portable.")
endif()
list(APPEND halocline_isa_flags ${halocline_isa_${HALOCLINE_ISA}})

# g++ 12.2 (Debian 12's) takes a 256-bit constant whose two low words are equal and whose high ones are zero, such as
# {64, 64, 0, 0}, for a broadcast of the low word: a wrong program without a warning. Where the compiler at hand does so,
# it is kept from making constants by broadcast from an integer register, which is the one place of the error. Kernels do
# not notice: they broadcast from memory.
if(NOT CMAKE_CROSSCOMPILING AND CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set(halocline_probe ${PROJECT_BINARY_DIR}/wide_constant)
  file(WRITE ${halocline_probe}.cpp "
#include <cstddef>
#include <span>
#include <vector>
__attribute__((noinline)) bool right(std::span<const std::size_t> v) { return v[1] == 64 && v[2] == 0 && v[3] == 0; }
int main() {
  bool good = true;
  for (int k : {1, 2, 3}) good = right(std::vector<std::size_t>{64, 64, 0, 0}) && k > 0 && good;
  return good ? 0 : 1;
}
")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -O3 ${halocline_isa_flags} ${halocline_probe}.cpp -o ${halocline_probe}
                  RESULT_VARIABLE halocline_status OUTPUT_QUIET ERROR_QUIET)
  if(halocline_status EQUAL 0)
    execute_process(COMMAND ${halocline_probe} RESULT_VARIABLE halocline_status OUTPUT_QUIET ERROR_QUIET)
    if(NOT halocline_status EQUAL 0)  # also where this machine cannot run it
      message(STATUS "This compiler makes some wide constants wrong; building without the optimisation that does")
      list(APPEND halocline_isa_flags -mtune-ctrl=^inter_unit_moves_to_vec)
    endif()
  endif()
endif()

# What the compiler defines under these flags. Its own first argument is that of "FCC;-Nclang"; Clang is told its target.
separate_arguments(halocline_compiler_argument UNIX_COMMAND "${CMAKE_CXX_COMPILER_ARG1}")
if(CMAKE_CXX_COMPILER_TARGET AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND halocline_compiler_argument --target=${CMAKE_CXX_COMPILER_TARGET})
endif()
set(halocline_empty ${PROJECT_BINARY_DIR}/empty.cpp)
file(WRITE ${halocline_empty} "")
execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${halocline_compiler_argument} ${halocline_isa_flags} -dM -E ${halocline_empty}
                OUTPUT_VARIABLE halocline_macros RESULT_VARIABLE halocline_status ERROR_VARIABLE halocline_said)
if(NOT halocline_status EQUAL 0)
  message(FATAL_ERROR "The compiler refuses the flags of HALOCLINE_ISA=${HALOCLINE_ISA}: ${halocline_said}")
endif()
set(halocline_cpu_features "")
foreach(feature avx avx2 fma bmi2 avx512f avx512bw avx512dq avx512vl avx512vnni avx512bf16 avx512fp16)
  string(TOUPPER ${feature} FEATURE)
  if(halocline_macros MATCHES "#define __${FEATURE}__ 1")
    list(APPEND halocline_cpu_features ${feature})
  endif()
endforeach()
# Of 64-bit Arm: the macro and the name in /proc/cpuinfo.
foreach(feature SVE:sve SVE2:sve2 FP16_VECTOR_ARITHMETIC:asimdhp DOTPROD:asimddp ATOMICS:atomics BF16_VECTOR_ARITHMETIC:bf16
                MATMUL_INT8:i8mm)
  string(REPLACE ":" ";" feature ${feature})
  list(GET feature 0 macro)
  list(GET feature 1 name)
  if(halocline_macros MATCHES "#define __ARM_FEATURE_${macro} 1")
    list(APPEND halocline_cpu_features ${name})
  endif()
endforeach()
set(HALOCLINE_SVE_BITS 0)
if(halocline_macros MATCHES "#define __AVX512F__ 1")
  set(HALOCLINE_ISA_NAME avx512)
elseif(halocline_macros MATCHES "#define __AVX2__ 1")
  set(HALOCLINE_ISA_NAME avx2)
elseif(halocline_macros MATCHES "#define __SSE2__ 1")
  set(HALOCLINE_ISA_NAME sse2)
elseif(halocline_macros MATCHES "#define __ARM_FEATURE_SVE_BITS ([1-9][0-9]*)")
  set(HALOCLINE_SVE_BITS ${CMAKE_MATCH_1})
  set(HALOCLINE_ISA_NAME sve${CMAKE_MATCH_1})
elseif(halocline_macros MATCHES "#define __ARM_NEON 1")
  set(HALOCLINE_ISA_NAME neon)
else()
  set(HALOCLINE_ISA_NAME scalar)
endif()

add_library(halocline_flags INTERFACE)
target_compile_features(halocline_flags INTERFACE cxx_std_20)
target_compile_options(halocline_flags INTERFACE ${halocline_isa_flags})
target_link_libraries(halocline_flags INTERFACE OpenMP::OpenMP_CXX)
set_target_properties(halocline_flags PROPERTIES EXPORT_NAME flags)

# -Wno-psabi: GCC notes that the calling convention of vector types changed in GCC 4.6; nobody links across that.
# Designated initialisers name what differs from the defaults, so a field left out is no mistake.
# GCC 12 raises stringop-overflow and array-bounds falsely inside std::vector, and restrict inside std::string, once they
# are inlined at -O3; the address sanitizer looks for the real ones.
add_library(halocline_warnings INTERFACE)
# Sources compiled together (Unity.cmake): a local name may be that of a neighbour's constant, and GCC takes an included file
# for a header, in which a member of a type without linkage would be a mistake.
target_compile_options(halocline_warnings INTERFACE -Wall -Wextra -Wpedantic -Wundef -Wno-psabi
                                                    -Wno-missing-field-initializers $<$<BOOL:${HALOCLINE_WERROR}>:-Werror>)
if(NOT HALOCLINE_UNITY)
  target_compile_options(halocline_warnings INTERFACE -Wshadow)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(halocline_warnings INTERFACE -Wno-subobject-linkage)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(halocline_warnings INTERFACE -Wno-stringop-overflow -Wno-array-bounds -Wno-restrict)
  # GCC collects its garbage once it has 0.5 GiB: of a source with many kernels a third of the time, for memory that a core
  # has.
  target_compile_options(halocline_warnings INTERFACE --param=ggc-min-heapsize=524288)
endif()
message(STATUS "Halocline ${PROJECT_VERSION}: ${HALOCLINE_ISA_NAME}, MPI ${HALOCLINE_MPI}, ${CMAKE_BUILD_TYPE}")
