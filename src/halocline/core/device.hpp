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

// A large part of a kernel. Device code inlines it, because a call would pass its arrays through memory. Host code,
// also under nvcc, compiles it as a function of its own, because that compiles faster.
#if defined(__CUDA_ARCH__)
#define HALOCLINE_KERNEL_PART HALOCLINE_INLINE
#else
#define HALOCLINE_KERNEL_PART HALOCLINE_HOST_DEVICE inline __attribute__((noinline))
#endif

// A function that a kernel calls, so that it does not share the registers of the work before it.
#if defined(__CUDACC__)
#define HALOCLINE_KERNEL_CALL __host__ __device__ __noinline__
#else
#define HALOCLINE_KERNEL_CALL
#endif

// Put before a loop of at most n iterations: unrolls it completely, so that the arrays it indexes stay in registers.
// nvcc has its own pragma for this.
#define HALOCLINE_PRAGMA(text) _Pragma(#text)
#if defined(__CUDACC__)
#define HALOCLINE_UNROLLED(n) HALOCLINE_PRAGMA(unroll n)
#else
#define HALOCLINE_UNROLLED(n) HALOCLINE_PRAGMA(GCC unroll n)
#endif
