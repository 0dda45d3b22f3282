# SPDX-License-Identifier: Apache-2.0
#
# Cross compiler for 64-bit Arm with SVE, programs linked statically and run by an emulated CPU: A64FX, or the one of
# qemu-aarch64's that HALOCLINE_EMULATED_CPU names, such as max,sve256=on for registers of 256 bits.
# Debian: g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(HALOCLINE_SHARED OFF CACHE BOOL "libhalocline.so, which static programs cannot load")
set(HALOCLINE_EMULATED_CPU a64fx CACHE STRING "CPU of qemu-aarch64 that runs the tests")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-cpu;${HALOCLINE_EMULATED_CPU})
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# By name, so that -static takes the archive: the search would find the shared library first.
set(OpenMP_gomp_LIBRARY gomp CACHE STRING "OpenMP runtime")
