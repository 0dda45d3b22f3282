// SPDX-License-Identifier: Apache-2.0

#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/mixing.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace halocline::tddft {
namespace {

constexpr std::size_t unknowns = 6;

/// A linear response that plain mixing cannot follow: n_out - n = -(1 + chi) (n - exact) with 1 + chi from 0.4 to 40.
std::vector<double> response(const std::vector<double>& n) {
  std::vector<double> out(n);
  double mean = 0;
  for (std::size_t i = 0; i < n.size(); ++i) mean += (n[i] - static_cast<double>(i)) / static_cast<double>(n.size());
  for (std::size_t i = 0; i < n.size(); ++i) {
    const double error = n[i] - static_cast<double>(i);
    out[i] -= (0.4 + static_cast<double>(i)) * error + 34 * mean;
  }
  return out;
}

double error(const std::vector<double>& n) {
  double worst = 0;
  for (std::size_t i = 0; i < n.size(); ++i) worst = std::max(worst, std::abs(n[i] - static_cast<double>(i)));
  return worst;
}

double error_after(const std::string& kind, int iterations) {
  Mixer mixer(comm::Communicator::self(), kind, 0.3, 8);
  std::vector<double> n(unknowns, 1.0);
  for (int i = 0; i < iterations; ++i) mixer.mix(n, response(n));
  return error(n);
}

}  // namespace

TEST_CASE("mixing: pulay solves a linear problem in as many steps as it has unknowns") {
  CHECK(error_after("pulay", static_cast<int>(unknowns) + 2) < 1e-8);
}

TEST_CASE("mixing: broyden solves it too, where plain mixing explodes") {
  CHECK(error_after("broyden", 40) < 1e-8);
  CHECK(error_after("linear", 40) > 1e3);
}

TEST_CASE("mixing: linear mixing takes the weighted mean") {
  Mixer mixer(comm::Communicator::self(), "linear", 0.25, 1);
  std::vector<double> n{1, 2};
  mixer.mix(n, std::vector<double>{5, 0});
  CHECK(n == std::vector<double>{2, 1.5});
}

TEST_CASE("mixing: what is a fixed point stays one") {
  for (const std::string& kind : Mixer::kinds()) {
    Mixer mixer(comm::Communicator::self(), kind, 0.3, 4);
    std::vector<double> n{1, 2, 3};
    const std::vector<double> same = n;
    for (int i = 0; i < 3; ++i) mixer.mix(n, same);
    CHECK(n == same);
  }
}

TEST_CASE("mixing: a residual that changes by rounding alone says nothing of the next density") {
  for (const std::string& kind : Mixer::kinds()) {
    CAPTURE(kind);
    Mixer mixer(comm::Communicator::self(), kind, 0.4, 3);
    const std::vector<double> residual{0.1, -0.1, 0.07, -0.07}, begin{1, 2, 3, 4};
    std::vector<double> n = begin;
    for (int step = 1; step <= 6; ++step) {
      std::vector<double> out(n.size());
      for (std::size_t i = 0; i < n.size(); ++i) {
        const int noise = (5 * step + 3 * static_cast<int>(i)) % 7 - 3;
        out[i] = n[i] + residual[i] + 4e-16 * noise;
      }
      mixer.mix(n, out);
      for (std::size_t i = 0; i < n.size(); ++i)
        CHECK(n[i] == doctest::Approx(begin[i] + 0.4 * step * residual[i]).epsilon(1e-12));
    }
  }
}

TEST_CASE("mixing: the number of electrons is that of the densities mixed") {
  for (const std::string& kind : Mixer::kinds()) {
    Mixer mixer(comm::Communicator::self(), kind, 0.4, 3);
    std::vector<double> n{1, 2, 3, 4};
    for (int i = 0; i < 5; ++i) {
      const std::vector<double> out{n[0] + 0.3 * n[1] - 0.3, n[1] - 0.2 * n[3] + 0.9, n[2] - 0.3 * n[1] + 0.3,
                                    n[3] + 0.2 * n[3] - 0.9};
      mixer.mix(n, out);
      CHECK(n[0] + n[1] + n[2] + n[3] == doctest::Approx(10).epsilon(1e-10));  // of terms that may be hundreds
    }
  }
}

TEST_CASE("mixing: unknown kinds and impossible weights are refused") {
  const comm::Communicator self = comm::Communicator::self();
  CHECK_THROWS_WITH_AS(Mixer(self, "anderson", 0.3, 8),
                       "the mixing \"anderson\" is not known; there are pulay, broyden, linear", core::InvalidArgument);
  CHECK_THROWS_AS(Mixer(self, "pulay", 0.0, 8), core::InvalidArgument);
  CHECK_THROWS_AS(Mixer(self, "pulay", 1.5, 8), core::InvalidArgument);
  CHECK_THROWS_AS(Mixer(self, "pulay", std::nan(""), 8), core::InvalidArgument);
  CHECK_THROWS_AS(Mixer(self, "pulay", 0.3, 0), core::InvalidArgument);
}

}  // namespace halocline::tddft
