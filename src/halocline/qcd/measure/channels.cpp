// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/measure/channels.hpp"

#include <fmt/format.h>

#include <utility>

#include "halocline/core/error.hpp"

namespace halocline::qcd::measure {

namespace {

/// (G, G^dagger) for each sink matrix
MesonChannel mean_over(std::string name, std::initializer_list<SpinMatrix> sinks) {
  MesonChannel channel{std::move(name), {}};
  for (const SpinMatrix& sink : sinks) channel.pairs.push_back({sink, adjoint(sink)});
  return channel;
}

}  // namespace

std::vector<MesonChannel> named_channels() {
  const auto& [gx, gy, gz, gt] = gamma;
  return {
      mean_over("pion", {gamma5}),
      mean_over("rho", {gx, gy, gz}),
      mean_over("rho_tensor", {gx * gt, gy * gt, gz * gt}),
      mean_over("a0", {spin_unit}),
      mean_over("a1", {gx * gamma5, gy * gamma5, gz * gamma5}),
      mean_over("b1", {gx * gy, gy * gz, gx * gz}),
      {"pionA4_sinkA4_srcP", {{gt * gamma5, gamma5}}},
  };
}

std::vector<MesonChannel> sixteen_channels() {
  static constexpr std::array<const char*, 4> factor{"gx", "gy", "gz", "gt"};
  std::vector<MesonChannel> channels;
  for (int n = 0; n < 16; ++n) {
    std::string name = n == 0 ? "1" : "";
    for (std::size_t axis = 0; axis < 4; ++axis)
      if ((n >> axis) & 1) name += factor[axis];
    channels.push_back(mean_over(std::move(name), {gamma_product(n)}));
  }
  return channels;
}

MesonChannel meson_channel(std::string_view name) {
  if (name == "pionA4") name = "pionA4_sinkA4_srcP";
  std::string known;
  for (const auto& list : {named_channels(), sixteen_channels()})
    for (const MesonChannel& channel : list) {
      if (channel.name == name) return channel;
      known += (known.empty() ? "" : ", ") + channel.name;
    }
  throw core::InvalidArgument(fmt::format("there is no meson channel \"{}\"; the channels are {}", name, known));
}

}  // namespace halocline::qcd::measure
