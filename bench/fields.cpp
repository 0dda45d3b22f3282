// SPDX-License-Identifier: Apache-2.0
#include "bench/fields.hpp"

#include <cstdint>

namespace halocline::bench {

template <class T>
void fill(std::span<T> numbers) {
  std::uint32_t state = 12345;
  for (T& number : numbers) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<T>(static_cast<std::int32_t>(state >> 8 | 1u) - (1 << 23)) / T(1 << 23);
  }
}
template void fill(std::span<float>);
template void fill(std::span<double>);

}  // namespace halocline::bench
