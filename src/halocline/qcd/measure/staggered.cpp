// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/measure/staggered.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "halocline/qcd/measure/detail/spatial_sum.hpp"

namespace halocline::qcd::measure {
namespace {

constexpr std::array channel_names{"pion", "pion_sc", "rho", "rho_pv"};

/// The sign of a channel, or the mean of its signs; parity[axis] is +1 or -1.
double sign(std::size_t channel, const std::array<int, 3>& parity) {
  const auto [x, y, z] = parity;
  switch (channel) {
  case 0:
    return 1;
  case 1:
    return x * y * z;
  case 2:
    return (x + y + z) / 3.0;
  default:
    return (x * y + y * z + z * x) / 3.0;
  }
}

}  // namespace

StaggeredPropagator::StaggeredPropagator(GeometryPointer geometry, const Coordinates4& source)
    : geometry_(std::move(geometry)), source_(source) {
  check_position(*geometry_, source_);
  for (auto& column : columns_) column = core::AlignedArray<std::complex<double>>(colours * geometry_->local_volume());
}

namespace {

/// Zeros for a source at a position and colour that exist.
std::vector<std::complex<double>> no_source(const lattice::Geometry4& geometry, const Coordinates4& position,
                                            int colour) {
  check_position(geometry, position);
  if (colour < 0 || colour >= colours)
    throw core::InvalidArgument(fmt::format("there is no colour {}; give 0, 1 or 2", colour));
  return std::vector<std::complex<double>>(static_cast<std::size_t>(colours * geometry.local_volume()));
}

}  // namespace

std::vector<std::complex<double>> staggered_point_source(const lattice::Geometry4& geometry,
                                                         const Coordinates4& position, int colour) {
  auto source = no_source(geometry, position, colour);
  Coordinates4 local = position;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    local[axis] -= geometry.offset()[axis];
    if (local[axis] < 0 || local[axis] >= geometry.local()[axis]) return source;
  }
  source[static_cast<std::size_t>(colours * lattice::linear_index<4>(local, geometry.local()) + colour)] = 1;
  return source;
}

std::vector<std::complex<double>> staggered_wall_source(const lattice::Geometry4& geometry,
                                                        const Coordinates4& position, int colour) {
  auto source = no_source(geometry, position, colour);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (geometry.global()[axis] % 2 != 0)
      throw core::InvalidArgument(
          fmt::format("a wall of staggered quarks needs even extents in space, and the lattice is {}; take another",
                      fmt::join(geometry.global(), "x")));
  for (std::int64_t site = 0; site < geometry.local_volume(); ++site) {
    const auto local = lattice::coordinates_of<4>(site, geometry.local());
    bool corner = true;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      const std::int64_t away = local[axis] + geometry.offset()[axis] - position[axis];
      corner = corner && (axis == 3 ? away == 0 : away % 2 == 0);
    }
    if (corner) source[static_cast<std::size_t>(colours * site + colour)] = 1;
  }
  return source;
}

std::span<const char* const> staggered_channels() noexcept { return channel_names; }

std::vector<Correlator> staggered_mesons(const StaggeredPropagator& quark, const StaggeredPropagator& antiquark,
                                         std::span<const std::string> channels, std::span<const Momentum> momenta) {
  const lattice::Geometry4& geometry = quark.geometry();
  if (geometry.global() != antiquark.geometry().global() || geometry.local() != antiquark.geometry().local() ||
      quark.source() != antiquark.source())
    throw core::InvalidArgument(
        "the staggered propagators of a meson differ in lattice, process grid or source; solve both from one source");
  if (momenta.empty()) throw core::InvalidArgument("no momentum was given; the list (0, 0, 0) projects on rest");
  std::vector<std::size_t> wanted;
  for (const std::string& name : channels) {
    const auto found = std::ranges::find(channel_names, name);
    if (found == channel_names.end())
      throw core::InvalidArgument(
          fmt::format("staggered quarks have no meson channel \"{}\"; give {}", name, fmt::join(channel_names, ", ")));
    wanted.push_back(static_cast<std::size_t>(found - channel_names.begin()));
  }

  const auto kernel = [&](std::int64_t first, int count, detail::PackComplex* values) {
    std::vector<std::array<double, detail::lanes>> re(wanted.size()), im(wanted.size());
    for (int lane = 0; lane < count; ++lane) {
      const auto x = lattice::coordinates_of<4>(first + lane, geometry.local());
      std::array<int, 3> parity{};
      for (std::size_t axis = 0; axis < 3; ++axis)
        parity[axis] = ((x[axis] + geometry.offset()[axis] - quark.source()[axis]) & 1) == 0 ? 1 : -1;
      std::complex<double> trace = 0;
      for (int from = 0; from < colours; ++from)
        for (int to = 0; to < colours; ++to) {
          const auto at = static_cast<std::size_t>(colours * (first + lane) + to);
          trace += quark.column(from)[at] * std::conj(antiquark.column(from)[at]);
        }
      for (std::size_t c = 0; c < wanted.size(); ++c) {
        const std::complex<double> value = sign(wanted[c], parity) * trace;
        re[c][static_cast<std::size_t>(lane)] = value.real();
        im[c][static_cast<std::size_t>(lane)] = value.imag();
      }
    }
    for (std::size_t c = 0; c < wanted.size(); ++c)
      values[c] = {detail::Number::load(re[c].data()), detail::Number::load(im[c].data())};
  };
  const auto sums =
      detail::sum_over_local_space(geometry, quark.source(), momenta, static_cast<std::int64_t>(wanted.size()), kernel);

  const auto extent = static_cast<std::size_t>(geometry.global()[3]);
  std::vector<std::complex<double>> values(wanted.size() * momenta.size() * extent);
  for (std::int64_t t = 0; t < geometry.local()[3]; ++t) {
    const std::size_t time = detail::shifted_time(geometry, quark.source(), t).index;
    for (std::size_t p = 0; p < momenta.size(); ++p)
      for (std::size_t c = 0; c < wanted.size(); ++c)
        values[(c * momenta.size() + p) * extent + time] =
            sums[(static_cast<std::size_t>(t) * momenta.size() + p) * wanted.size() + c];
  }
  detail::sum_over_ranks(geometry, values);

  std::vector<Correlator> correlators;
  for (std::size_t c = 0; c < wanted.size(); ++c)
    for (std::size_t p = 0; p < momenta.size(); ++p) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>((c * momenta.size() + p) * extent);
      correlators.push_back(
          {std::string(channels[c]), momenta[p], {first, first + static_cast<std::ptrdiff_t>(extent)}});
    }
  return correlators;
}

}  // namespace halocline::qcd::measure
