// SPDX-License-Identifier: Apache-2.0
//
// The same families under libFuzzer, which follows the branches that its inputs reach:
//
//   fuzz_gauge --corpus FOLDER (of a build without libFuzzer), then fuzz_gauge -max_len=16384 FOLDER

#include "fuzz/fuzz.hpp"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const halocline::fuzz::Family family = halocline::fuzz::make_family();
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const halocline::fuzz::Judgement judgement = halocline::fuzz::judged(family, bytes);
  if (!judgement.failure.empty()) {
    std::fprintf(stderr, "%s\n", judgement.failure.c_str());
    std::abort();
  }
  return 0;
}
