// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/finite.hpp"

#include "halocline/core/error.hpp"

#include <cmath>

#include <fmt/format.h>

namespace halocline::tddft::detail {

namespace {

constexpr double farthest = 10;  // [bohr]
constexpr int samples = 1000;

}  // namespace

void require_finite(const Pseudopotential& pseudopotential, const std::string& path) {
  const auto check = [&](double value, const char* what, double at) {
    if (!std::isfinite(value))
      throw core::FileError(
          path, "",
          fmt::format("the table gives {} of {:g} at {:g}, not a finite number: it is damaged; take another copy", what,
                      value, at));
  };
  for (int i = 0; i < samples; ++i) {
    const double r = farthest * (i + 0.5) / samples;
    check(pseudopotential.local(r), "a local potential", r);
    check(pseudopotential.local_slope(r), "a slope of the local potential", r);
    check(pseudopotential.start_density(r), "a density", r);
    check(pseudopotential.core_density(r), "a core density", r);
    check(pseudopotential.core_slope(r), "a slope of the core density", r);
  }
  for (const double g : {0.0, 1.0, 10.0}) check(pseudopotential.local_fourier(g), "a Fourier transform", g);
  for (int l = 0; l <= pseudopotential.largest_l(); ++l)
    for (int i = 0; i < pseudopotential.projectors(l); ++i) {
      for (int j = 0; j < pseudopotential.projectors(l); ++j)
        check(pseudopotential.coupling(l, i, j), "a coupling of projectors", l);
      for (int k = 0; k < samples; ++k) {
        const double r = pseudopotential.projector_radius(l) * (k + 0.5) / samples;
        check(pseudopotential.projector(l, i, r), "a projector", r);
        check(pseudopotential.projector_slope(l, i, r), "a slope of a projector", r);
      }
    }
}

}  // namespace halocline::tddft::detail
