// SPDX-License-Identifier: Apache-2.0
/// @file
/// The CUDA back end. Compiled by a C++ compiler it says that it is not there.

#include "halocline/gpu/detail/runtime.hpp"

#include "halocline/core/error.hpp"

namespace halocline::gpu::detail {

#if !defined(__CUDACC__)

bool cuda_is_built() noexcept { return false; }
std::string cuda_hindrance() {
  return "this build of Halocline has no GPU back end; rebuild it with -DHALOCLINE_CUDA=on where nvcc is";
}
std::vector<Properties> cuda_devices() { return {}; }
std::shared_ptr<Runtime> make_cuda_runtime(int) { throw core::InvalidArgument(cuda_hindrance()); }

#endif

}  // namespace halocline::gpu::detail
