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

// A large part of a kernel: inlined on a device, where a call would send its arrays through memory; a function for the
// host executor, which compiles faster so, also under nvcc.
#if defined(__CUDA_ARCH__)
#define HALOCLINE_KERNEL_PART HALOCLINE_INLINE
#else
#define HALOCLINE_KERNEL_PART HALOCLINE_HOST_DEVICE inline __attribute__((noinline))
#endif

// Before a loop of at most n rounds: unrolled whole, so that arrays it indexes are registers. nvcc has its own pragma.
#define HALOCLINE_PRAGMA(text) _Pragma(#text)
#if defined(__CUDACC__)
#define HALOCLINE_UNROLLED(n) HALOCLINE_PRAGMA(unroll n)
#else
#define HALOCLINE_UNROLLED(n) HALOCLINE_PRAGMA(GCC unroll n)
#endif
