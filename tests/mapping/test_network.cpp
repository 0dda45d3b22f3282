// SPDX-License-Identifier: Apache-2.0
/// @file
/// Machines by name, node numbers, and bytes of faces.

#include "halocline/core/error.hpp"
#include "halocline/mapping/messages.hpp"
#include "halocline/mapping/network.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

using namespace halocline::mapping;
using halocline::core::InvalidArgument;

namespace {

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

std::string closed(const Network& network) {
  std::string names;
  for (const Axis& axis : network.axes) names += axis.wraps ? axis.name : "";
  return names;
}

}  // namespace

TEST_CASE("network: tofu-d from three products or six lengths; long axes close by themselves") {
  CHECK(tofu_d(std::array{4, 6, 18}).shape() == "2x2x9x2x3x2");
  CHECK(tofu_d(std::array{2, 2, 9, 2, 3, 2}).shape() == "2x2x9x2x3x2");
  CHECK(closed(tofu_d(std::array{4, 6, 18})) == "B");
  CHECK(closed(tofu_d(std::array{4, 6, 48})) == "ZB");
  CHECK(closed(tofu_d(std::array{24, 23, 24, 2, 3, 2})) == "XYZB");
  CHECK(closed(tofu_d(std::array{4, 6, 18}, std::array<std::string, 1>{"Y"})) == "YB");
  CHECK(closed(tofu_d(std::array{2, 2, 9, 1, 2, 1})) == "");  // two of the three nodes of B are no ring
  CHECK(tofu_d(std::array{24, 23, 24, 2, 3, 2}).nodes() == 158976);
}

TEST_CASE("network: shapes and names that cannot be are refused with what could be meant") {
  CHECK(refusal([] { tofu_d(std::array{4, 7, 17}); }).find("the nearest is 4x6x18") != std::string::npos);
  CHECK(refusal([] { tofu_d(std::array{50, 6, 18}); }).find("A X is at most 48") != std::string::npos);
  CHECK(refusal([] { tofu_d(std::array{4, 6}); }).find("2 lengths given") != std::string::npos);
  CHECK(refusal([] { tofu_d(std::array{4, 0, 18}); }).find("at least 1") != std::string::npos);
  CHECK(refusal([] { tofu_d(std::array{4, 6, 18}, std::array<std::string, 1>{"Q"}); }).find("axis 'Q'") !=
        std::string::npos);
  CHECK(refusal([] { network_named("tofu", std::array{4, 6, 18}); }).find("the nearest is 'tofu-d'") !=
        std::string::npos);
  CHECK(refusal([] { network_named("torus-4d", std::array{4, 6, 18}); }).find("expected 4 lengths, such as 8x8x8x8") !=
        std::string::npos);
  CHECK(refusal([] { network_named("torus-3d", std::array{4, 4, 4}, std::array<std::string, 1>{"X"}); }) != "");
  CHECK(refusal([] { network_named("fat-tree", std::array{0}); }) != "");
}

TEST_CASE("network: every known name makes a machine that can be") {
  for (const std::string& name : network_names()) {
    const std::vector<int> shape(name == "fat-tree" ? 1
                                 : name == "tofu-d" ? 3
                                                    : static_cast<std::size_t>(name[6] - '0'),
                                 6);
    const Network network = network_named(name, shape);
    network.validate();
    CHECK(network.name == name);
  }
}

TEST_CASE("network: nodes have coordinates, and coordinates nodes, the first axis fastest") {
  const Network network = tofu_d(std::array{4, 6, 18});
  CHECK(network.node_of(std::array{1, 0, 0, 0, 0, 0}) == 1);
  CHECK(network.node_of(std::array{0, 1, 0, 0, 0, 0}) == 2);
  for (std::int64_t node = 0; node < network.nodes(); ++node) CHECK(network.node_of(network.coords_of(node)) == node);
  CHECK_THROWS_AS(network.coords_of(432), InvalidArgument);
  CHECK_THROWS_AS(network.node_of(std::array{2, 0, 0, 0, 0, 0}), InvalidArgument);
  CHECK_THROWS_AS(network.node_of(std::array{0, 0, 0}), InvalidArgument);
}

TEST_CASE("network: what no machine can have is refused") {
  const auto refused = [](const std::function<void(Network&)>& change) {
    Network network = tofu_d(std::array{4, 6, 18});
    change(network);
    return refusal([&] { network.validate(); }) != "";
  };
  CHECK_FALSE(refused([](Network&) {}));
  CHECK(refused([](Network& n) { n.axes.clear(); }));
  CHECK(refused([](Network& n) { n.axes[0].length = 0; }));
  CHECK(refused([](Network& n) { n.axes[0].bandwidth = 0; }));
  CHECK(refused([](Network& n) { n.axes[0].hop_latency = -1; }));
  CHECK(refused([](Network& n) { n.interfaces = 0; }));
  CHECK(refused([](Network& n) { n.injection_bandwidth = -2; }));
  CHECK(refused([](Network& n) { n.full_bisection = true; }));
  CHECK(refused([](Network& n) { n.axes[0].length = n.axes[1].length = n.axes[2].length = 4000; }));
}

TEST_CASE("messages: bytes of faces") {
  const std::array local{32, 6, 4, 3};
  CHECK(qcd_domain_solver(local).bytes == std::vector<Bytes>{3456, 9216, 13824, 18432});
  CHECK(qcd_domain_solver(local).directions == std::vector<int>{1, 2, 2, 2});
  CHECK(wilson_operator(local).bytes == std::vector<Bytes>{3456, 18432, 27648, 36864});
  CHECK(electron_halo(std::array{8, 4, 2}, 3).bytes ==
        std::vector<Bytes>{4 * 2 * 4 * 3 * 16, 8 * 2 * 4 * 3 * 16, 8 * 4 * 4 * 3 * 16});
  CHECK(refusal([] { qcd_domain_solver(std::array{31, 6, 4, 3}); }).find("give 32 or 30 instead of 31") !=
        std::string::npos);
  CHECK(refusal([] { qcd_domain_solver(std::array{32, 6, 4}); }).find("3 lengths given, expected 4") !=
        std::string::npos);
  CHECK(refusal([] { wilson_operator(std::array{32, 6, 0, 3}); }) != "");
  CHECK(refusal([] { electron_halo(std::array{8, 4, 2}, 0); }) != "");
  CHECK(refusal([] { (Messages{"t", {-1}, {2}}).validate(1); }) != "");
  CHECK(refusal([] { (Messages{"t", {1}, {3}}).validate(1); }) != "");
}
