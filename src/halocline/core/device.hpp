// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The macros that let a per-site physics kernel compile for a CPU and, unchanged, under nvcc.

#if defined(__CUDACC__)
#define HALOCLINE_HOST_DEVICE __host__ __device__
#else
#define HALOCLINE_HOST_DEVICE
#endif

#define HALOCLINE_INLINE HALOCLINE_HOST_DEVICE inline __attribute__((always_inline))

// Before a loop of at most n rounds: unrolled whole, so that arrays it indexes are registers. nvcc has its own pragma.
#define HALOCLINE_PRAGMA(text) _Pragma(#text)
#if defined(__CUDACC__)
#define HALOCLINE_UNROLLED(n) HALOCLINE_PRAGMA(unroll n)
#else
#define HALOCLINE_UNROLLED(n) HALOCLINE_PRAGMA(GCC unroll n)
#endif
