// SPDX-License-Identifier: Apache-2.0
/// @file
/// A build without kernels refuses every device by name, and says what to do.
#include <doctest/doctest.h>

#include <string>

#include "halocline/core/error.hpp"
#include "halocline/gpu/device.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/device_backend.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::device {
namespace {

std::string refusal(const std::string& device) {
  const GaugeField gauge(test::one_process({4, 4, 4, 4}));
  try {
    open_backend(gauge, WilsonCloverAction{}, {.device = device});
  } catch (const core::InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("a build without kernels says so of the host executor") {
  CHECK_FALSE(has_kernels());
  CHECK(refusal("host-executor").find("-DHALOCLINE_HOST_EXECUTOR=ON") != std::string::npos);
}

TEST_CASE("a build without kernels gives the reason why there is no GPU, and refuses unknown names") {
  if (!gpu::unavailable_reason().empty()) CHECK(refusal("cuda") == gpu::unavailable_reason());
  CHECK(refusal("tpu").find("there is no device \"tpu\"") != std::string::npos);
}

}  // namespace
}  // namespace halocline::qcd::device
