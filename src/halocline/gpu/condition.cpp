// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/condition.hpp"

#include <fmt/format.h>

#include "halocline/core/error.hpp"
#include "halocline/gpu/detail/runtime.hpp"

namespace halocline::gpu {

Condition condition(int number) {
  const auto there = gpus();
  if (number < 0 || number >= static_cast<int>(there.size()))
    throw core::InvalidArgument(
        fmt::format("GPU number {} was asked for; this process sees {}, counted from 0", number, there.size()));
  return detail::cuda_condition(there[static_cast<std::size_t>(number)]);
}

std::string held_by_others(std::int64_t others, std::int64_t total) {
  constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
  if (others < gibibyte) return "";
  const auto amount = [](std::int64_t bytes) { return detail::amount(static_cast<std::uint64_t>(bytes)); };
  return fmt::format("other processes hold {} of its {}", amount(others), amount(total));
}

std::vector<Remark> remarks(const Condition& of) {
  const Properties& p = of.properties;
  std::vector<Remark> found;
  if (of.sharing == Sharing::prohibited)
    found.push_back({"no process may use it: its compute mode is \"prohibited\"; choose another GPU, or ask who "
                     "administers the machine",
                     true});
  else if (of.busy)
    found.push_back({"another process has it for itself: its compute mode is \"exclusive process\"; wait for that "
                     "process, or choose another GPU",
                     true});
  else if (!of.has_code)
    found.push_back({fmt::format("this build has no code for compute capability {}.{}; rebuild with "
                                 "-DHALOCLINE_CUDA_ARCHITECTURES={}{}",
                                 p.major, p.minor, p.major, p.minor),
                     true});
  else if (!of.failure.empty())
    found.push_back({"CUDA does not start on it: " + of.failure, true});
  if (of.slice)
    found.push_back(
        {fmt::format("it is a slice of a GPU (MIG) with {} multiprocessors; processes on other slices cannot "
                     "map its memory, so halos between them travel by \"staged\" or MPI",
                     p.multiprocessors),
         false});
  if (const std::string held = held_by_others(of.others, p.memory); !held.empty())
    found.push_back({held + "; solves have room in the rest, and share its speed", false});
  return found;
}

}  // namespace halocline::gpu
