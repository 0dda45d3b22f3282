// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the fuzzers of pseudopotential files share: the judgement on what was read.

#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"
#include "tddft/pseudopotential/scratch_file.hpp"

namespace halocline::fuzz {

/// Values of all functions of a pseudopotential at a few places. @throws std::runtime_error  where one is not finite
inline std::vector<double> values_of(const tddft::Pseudopotential& p) {
  std::vector<double> values{p.valence(), p.coarsest_spacing(), p.local_fourier(0.0), p.local_fourier(1.3)};
  for (const double r : {0.0, 0.03, 0.4, 1.1, 2.7, 30.0}) {
    values.push_back(p.local(r > 0 ? r : 1e-6));
    values.push_back(p.local_slope(r > 0 ? r : 1e-6));
    values.push_back(p.start_density(r));
    values.push_back(p.core_density(r));
    values.push_back(p.core_slope(r));
    for (int l = 0; l <= p.largest_l(); ++l)
      for (int i = 0; i < p.projectors(l); ++i) {
        values.push_back(p.projector(l, i, r));
        values.push_back(p.projector_slope(l, i, r));
        values.push_back(p.coupling(l, i, i));
      }
  }
  for (const double value : values)
    if (!std::isfinite(value)) throw std::runtime_error("a pseudopotential with a value that is not finite is read");
  return values;
}

/// Sets `family.read`: the values are those of one of its sound files, or others. The formats have no checksum.
inline void read_with(Family& family,
                      std::function<std::shared_ptr<const tddft::Pseudopotential>(const std::string&)> reader) {
  std::vector<std::vector<double>> sound;
  for (const Sample& sample : family.samples) {
    const tddft::test::ScratchFile file(sample.bytes);
    sound.push_back(values_of(*reader(file.path())));
  }
  family.read = [sound, reader = std::move(reader)](const std::string& path, const std::string&) {
    const std::vector<double> found = values_of(*reader(path));
    for (const auto& values : sound)
      if (found == values) return Verdict::unchanged;
    return Verdict::unprotected;
  };
}

}  // namespace halocline::fuzz
