// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The one macro that lets a per-site physics kernel compile for a CPU and, unchanged, under nvcc.

#if defined(__CUDACC__)
#define HALOCLINE_HOST_DEVICE __host__ __device__
#else
#define HALOCLINE_HOST_DEVICE
#endif

#define HALOCLINE_INLINE HALOCLINE_HOST_DEVICE inline __attribute__((always_inline))
