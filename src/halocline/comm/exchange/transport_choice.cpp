// SPDX-License-Identifier: Apache-2.0
/// @file
/// Trying transports on the exchange itself.

#include "halocline/comm/exchange/transport_choice.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace halocline::comm {
namespace {

constexpr int blocks = 5;
constexpr double worth_a_change = 0.98;  // of the time of the best transport before it in the list

/// One step as a caller makes it: write every outgoing message, wait for every incoming one.
void step(HaloExchange& exchange, std::byte value) {
  for (int face = 0; face < 2 * exchange.grid().ndim(); ++face) {
    const auto buffer = exchange.send_buffer(Face::from_index(face));
    if (!buffer.empty()) std::memset(buffer.data(), static_cast<int>(value), buffer.size());
  }
  exchange.post();
  exchange.wait_all();
}

/// Seconds of a step: the median over blocks, each timed by its slowest rank. The same on every rank.
/// Collective: yes.
double seconds_a_step(HaloExchange& exchange, double budget) {
  const Communicator& group = exchange.grid().communicator();
  detail::Backend& clock = group.backend();
  const auto block = [&](int steps) {
    group.barrier();
    const double begin = clock.now();
    for (int k = 0; k < steps; ++k) step(exchange, static_cast<std::byte>(k));
    double seconds = (clock.now() - begin) / steps;
    group.max(std::span(&seconds, 1));
    return seconds;
  };
  const double first = block(4);  // warm-up: connections are made here
  const int steps = std::clamp(static_cast<int>(budget / blocks / std::max(first, 1e-9)), 2, 1000);
  double times[blocks];
  for (double& time : times) time = block(steps);
  std::nth_element(times, times + blocks / 2, times + blocks);
  return times[blocks / 2];
}

}  // namespace

TransportChoice choose_transport(const ProcessGrid& grid, std::span<const std::size_t> face_bytes,
                                 const HaloOptions& options, double seconds) {
  TransportChoice choice;
  const TransportTrial* best = nullptr;
  for (const TransportKind& kind : transport_kinds()) {
    TransportTrial trial{kind.name, 0.0, kind.unavailable_reason(&grid)};
    if (trial.problem.empty() && kind.trial_unavailable_reason) trial.problem = kind.trial_unavailable_reason(grid);
    if (trial.problem.empty()) {
      // A transport may look usable and fail when it is opened, on some ranks or on all.
      try {
        HaloExchange exchange(grid, face_bytes, make_transport(kind.name, grid, options.transport), options);
        trial.seconds = seconds_a_step(exchange, seconds);
        exchange.close();
      } catch (const core::Error& error) {
        if (gave_up_waiting()) throw;
        trial.problem = error.what();
      }
    }
    choice.trials.push_back(trial);
  }
  for (const TransportTrial& trial : choice.trials) {
    if (!trial.problem.empty()) continue;
    if (best == nullptr || trial.seconds < worth_a_change * best->seconds) best = &trial;
  }
  if (best == nullptr) {
    std::string problems;
    for (const TransportTrial& trial : choice.trials)
      problems += (problems.empty() ? "" : "; ") + trial.name + ": " + trial.problem;
    throw core::InvalidArgument("no transport can serve this process grid: " + problems);
  }
  choice.name = best->name;
  return choice;
}

}  // namespace halocline::comm
