# SPDX-License-Identifier: Apache-2.0
#
# cmake -DOUTPUT=FILE -P write_kernel_hash.cmake -- SOURCES...
# Writes the C++ source of halocline::gpu::kernel_hash(): 16 hexadecimal digits made of what the files hold.
set(hashes "")
set(found OFF)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE 0 ${last})
  if(found)
    file(SHA256 "${CMAKE_ARGV${i}}" hash)
    string(APPEND hashes ${hash})
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(found ON)
  endif()
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 16 hash)
file(WRITE ${OUTPUT} "namespace halocline::gpu {\nconst char* kernel_hash() noexcept;\nconst char* kernel_hash() noexcept { return \"${hash}\"; }\n}  // namespace halocline::gpu\n")
