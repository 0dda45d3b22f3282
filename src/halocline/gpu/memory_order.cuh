// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Accesses and fences of one thread that order memory for other blocks and other devices, for kernels only.
///
/// These are the orders of the PTX memory model (PTX ISA, "Memory Consistency Model"), which is transitive over scopes.
/// The stores of a block reach a reader so: a barrier of the block; one thread counts the block with release at device
/// scope; the last block to be counted fences; it raises a flag; the reader sees the flag, fences, and passes its block
/// a barrier. __threadfence() and __threadfence_system() are fences of sequential consistency (MEMBAR.SC), which cost
/// more and order nothing else here. A load with acquire empties the first-level cache each time (CCTL.IVALL), so
/// loops look at a flag with look() and fence once.

#include <cstdint>

#include "halocline/gpu/host_place.hpp"

#if defined(__CUDACC__)

namespace halocline::gpu::detail {

/// Adds one to a counter in device memory; returns the old value. What this thread has written or seen precedes it for
/// threads of this device that see the new value and then fence.
__device__ __forceinline__ std::uint32_t count_with_release(std::uint32_t* counter) {
  std::uint32_t before;
  asm volatile("atom.release.gpu.global.add.u32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(counter))
               : "memory");
  return before;
}

/// Orders what this thread has written or seen before what it writes or reads next, for the host and all devices.
__device__ __forceinline__ void fence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

/// The value of a flag that another device may write. Orders nothing.
__device__ __forceinline__ std::uint64_t look(const std::uint64_t* flag) {
  std::uint64_t value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(flag)) : "memory");
  return value;
}

/// Writes a flag that another device looks at. Orders nothing.
__device__ __forceinline__ void set(std::uint64_t* flag, std::uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(flag)), "l"(value) : "memory");
}

/// Writes a number that the host looks at, as a whole. Orders nothing.
__device__ __forceinline__ void store_for_host(double* place, double value) {
  asm volatile("st.relaxed.sys.global.f64 [%0], %1;" ::"l"(__cvta_generic_to_global(place)), "d"(value) : "memory");
}

/// Whether nothing has been stored to a place of host_place.hpp.
__device__ __forceinline__ bool is_no_number(double value) {
  return __double_as_longlong(value) == static_cast<long long>(no_number_bits);
}

/// Makes a place ready for the next number. As an integer: of a constant, nvcc would make a quiet NaN.
__device__ __forceinline__ void clear_within(double* place) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(place)), "l"(no_number_bits)
               : "memory");
}

/// Stores and looks at a number that another block of this kernel waits for, as a whole. Orders nothing.
__device__ __forceinline__ void store_within(double* place, double value) {
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(__cvta_generic_to_global(place)), "d"(value) : "memory");
}
__device__ __forceinline__ double look_within(const double* place) {
  double value;
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(value) : "l"(__cvta_generic_to_global(place)) : "memory");
  return value;
}

}  // namespace halocline::gpu::detail

#endif
