# SPDX-License-Identifier: Apache-2.0
#
# Cross compiler for 64-bit Arm with SVE, programs linked statically and run by an emulated CPU with 512-bit vectors.
# Debian: g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-cpu;max,sve512=on)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# By name, so that -static takes the archive: the search would find the shared library first.
set(OpenMP_gomp_LIBRARY gomp CACHE STRING "OpenMP runtime")
