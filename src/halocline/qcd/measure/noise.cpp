// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/measure/noise.hpp"

#include <array>
#include <complex>

#include "halocline/core/philox.hpp"
#include "halocline/qcd/measure/detail/slices.hpp"

namespace halocline::qcd::measure {

namespace {

constexpr std::uint64_t noise_stream = 0x6E6F697365;  // "noise": keeps these numbers apart from other uses of a seed

/// Which of a site's twelve random numbers a component takes, and the column it goes to.
struct Place {
  int draw;
  std::size_t column;
};
constexpr Place place(Dilution dilution, int component) {
  switch (dilution) {
  case Dilution::spin:
    return {component % 3, static_cast<std::size_t>(component / 3)};
  case Dilution::spin_colour:
    return {0, static_cast<std::size_t>(component)};
  case Dilution::none:
    break;
  }
  return {component, 0};
}

}  // namespace

std::vector<Spinor> noise_source(const lattice::Geometry4& geometry, const NoiseOptions& options) {
  if (options.time) check_time(geometry, *options.time);
  std::vector<Spinor> made(place(options.dilution, 11).column + 1, detail::zero(geometry));
  const detail::Slice sites =
      options.time ? detail::local_slice(geometry, *options.time) : detail::Slice{0, geometry.local_volume()};
  const core::Philox philox(options.seed, noise_stream);
  static constexpr std::array<std::complex<double>, 4> root{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
#pragma omp parallel for schedule(static)
  for (std::int64_t i = sites.first; i < sites.first + sites.count; ++i) {
    const std::int64_t global = geometry.global_index(lattice::coordinates_of<4>(i, geometry.local()));
    const std::uint64_t bits = philox.at(static_cast<std::uint64_t>(global), options.sample).bits();
    for (int k = 0; k < spinor_components; ++k) {
      const auto [draw, column] = place(options.dilution, k);
      const std::uint64_t two = (bits >> (2 * draw)) & 3U;
      made[column][static_cast<std::size_t>(spinor_components * i + k)] =
          root[options.noise == Noise::z2 ? two & 2U : two];
    }
  }
  return made;
}

}  // namespace halocline::qcd::measure
