// SPDX-License-Identifier: Apache-2.0
/// @file
/// Chooses between the two ways. A trial solves with both in turns, so that other load on the machine affects both, and
/// compares the medians of the slowest process's times. All processes know the same times and make the same choice. If
/// the gain is small, each space group stays alone: then no process waits for other groups.

#include "halocline/tddft/hartree/hartree.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/hartree/poisson.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <vector>

namespace halocline::tddft {
namespace {

constexpr int fewest_turns = 5, most_turns = 25;
constexpr int turns_of_a_clear_case = 2;  ///< the trial ends here if one way took twice as long in each turn
constexpr double trial_seconds = 0.2;     ///< total time after which no further turn begins, beyond the fewest
/// `shared` is chosen only if it takes less than this fraction of the time of `redundant`, because then processes of
/// all groups wait for each other in every step.
constexpr double worth_sharing = 0.95;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The median time of one solution with each way [s].
std::array<double, 2> trial(const comm::Communicator& world, std::array<Poisson*, 2> ways, std::int64_t points) {
  const std::vector<double> n(static_cast<std::size_t>(points), 0.5);
  std::vector<double> v(n.size());
  std::array<std::vector<double>, 2> seconds;
  double total = 0;
  int clear = 0;
  for (int turn = -1; turn < fewest_turns || (turn < most_turns && total < trial_seconds); ++turn) {
    if (turn == turns_of_a_clear_case && std::abs(clear) == turn) break;
    std::array<double, 2> elapsed;
    for (std::size_t way = 0; way < 2; ++way) {
      world.barrier();
      const double begin = now();
      ways[way]->solve(v, n);
      elapsed[way] = now() - begin;
    }
    world.max(elapsed);
    if (turn < 0) continue;  // skip the first use of memory
    for (std::size_t way = 0; way < 2; ++way) seconds[way].push_back(elapsed[way]);
    total += elapsed[0] + elapsed[1];
    if (elapsed[1] > 2 * elapsed[0]) ++clear;
    if (elapsed[0] > 2 * elapsed[1]) --clear;
  }
  return {median(seconds[0]), median(seconds[1])};
}

}  // namespace

struct Hartree::State {
  std::size_t points;
  HartreeShare share;
  std::array<double, 2> seconds{};  ///< redundant, shared
  std::unique_ptr<Poisson> poisson;
};

Hartree::Hartree(const Decomposition& decomposition, HartreeShare share) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.points = static_cast<std::size_t>(decomposition.box().points());
  const auto make = [&](HartreeShare way) {
    return std::make_unique<Poisson>(decomposition, way == HartreeShare::shared);
  };
  if (share != HartreeShare::automatic) {
    state.share = share;
    state.poisson = make(share);
    return;
  }
  state.share = HartreeShare::redundant;
  state.poisson = make(state.share);
  if (decomposition.box_mates().size() == 1) return;  // one space group: both ways are the same
  auto shared = make(HartreeShare::shared);
  state.seconds = trial(decomposition.world(), {state.poisson.get(), shared.get()}, decomposition.box().points());
  if (!(state.seconds[1] < worth_sharing * state.seconds[0])) return;
  state.share = HartreeShare::shared;
  state.poisson = std::move(shared);
}

Hartree::Hartree(Hartree&&) noexcept = default;
Hartree::~Hartree() = default;

void Hartree::solve(std::span<double> v, std::span<const double> n) {
  if (v.size() != state_->points || n.size() != state_->points)
    throw core::InvalidArgument("the Hartree potential was asked for a density of " + std::to_string(n.size()) +
                                " points and a potential of " + std::to_string(v.size()) +
                                "; give the points of this process's box, " + std::to_string(state_->points));
  state_->poisson->solve(v, n);
}

HartreeShare Hartree::share() const noexcept { return state_->share; }
double Hartree::seconds_redundant() const noexcept { return state_->seconds[0]; }
double Hartree::seconds_shared() const noexcept { return state_->seconds[1]; }

}  // namespace halocline::tddft
