// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What hinders work on a GPU that is there: a build without code for it, another process, a slice.

#include <cstdint>
#include <string>
#include <vector>

#include "halocline/gpu/device.hpp"

namespace halocline::gpu {

/// The compute mode of a GPU, which its administrator sets.
enum class Sharing { shared, exclusive, prohibited };

struct Condition {
  Properties properties;
  Sharing sharing = Sharing::shared;
  bool busy = false;        ///< another process has an exclusive GPU
  bool has_code = true;     ///< this build has code for its compute capability
  bool slice = false;       ///< a MIG instance
  std::string failure{};    ///< why it does not start, in CUDA's words; empty if it does
  std::int64_t others = 0;  ///< memory that other processes hold [bytes]
};

struct Remark {
  std::string sentence;
  bool hinders;  ///< the GPU cannot be used
};

/// @param number  of the GPU, as in "cuda:0". Cost: starts CUDA on that GPU, which takes some 0.3 s and 0.5 GB there
///                until the process ends. @throws InvalidArgument  there is no such GPU. Collective: no.
Condition condition(int number);

/// One sentence each, the gravest first.
std::vector<Remark> remarks(const Condition& of);

/// "other processes hold 40.0 GiB of its 80.0 GiB"; empty below 1 GiB, since CUDA itself holds some memory.
std::string held_by_others(std::int64_t others, std::int64_t total);

}  // namespace halocline::gpu
