// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Builds whose tests are slow (a sanitizer, an emulated CPU) or repeat those of another build run a sample of the cases
// (CMake: HALOCLINE_TEST_SAMPLES).

namespace halocline::test {

#if defined(HALOCLINE_TEST_SAMPLES)
inline constexpr bool takes_samples = true;
#else
inline constexpr bool takes_samples = false;
#endif

template <class T>
T sampled(const T& whole, const T& sample) {
  return takes_samples ? sample : whole;
}

}  // namespace halocline::test
