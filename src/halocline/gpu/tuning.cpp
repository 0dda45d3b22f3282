// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include <fmt/core.h>

#include "halocline/comm/group/communicator.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/detail/tune_measure.hpp"
#include "halocline/gpu/detail/tune_state.hpp"

namespace halocline::gpu {

namespace {

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

/// Index of the parameters among the candidates; the number of candidates if they are not among them.
std::size_t position(std::span<const TuneParameters> candidates, const TuneParameters& wanted) {
  return static_cast<std::size_t>(std::find(candidates.begin(), candidates.end(), wanted) - candidates.begin());
}

void require_candidates(const TuneProblem& problem, std::span<const TuneParameters> candidates) {
  if (candidates.empty())
    throw core::InvalidArgument(
        fmt::format("{} ({}) has no candidates to tune; give at least the default", problem.kernel, problem.problem));
}

/// FNV-1a over all data that must agree between the processes.
std::uint64_t fingerprint(const TuneProblem& problem, std::span<const TuneParameters> candidates) {
  std::uint64_t hash = 14695981039346656037U;
  const auto add = [&hash](const std::string& text) {
    for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  };
  add(problem.kernel);
  for (const TuneParameters& p : candidates)
    add(fmt::format("|{} {} {} {} {} {} {} {} {} {} {}", p.block_x, p.block_y, p.block_z, p.sites_per_thread,
                    p.columns_per_thread, p.carveout, p.prefetch, p.evict_first, p.no_allocate, p.streaming_stores,
                    p.policy));
  return hash;
}

}  // namespace

Tuner::Tuner(Device device, std::shared_ptr<TuneCache> cache, Clock clock)
    : device_(std::move(device)), cache_(std::move(cache)), clock_(std::move(clock)) {}

TuneKey Tuner::key(const TuneProblem& problem) const {
  const Properties& of = device_.properties();
  return {.device = fmt::format("{}, {}.{}", of.name, of.major, of.minor),
          .driver = fmt::format("{}, toolkit {}", version(of.driver), version(of.runtime)),
          .kernel = problem.kernel,
          .problem = problem.problem,
          .kernel_hash = kernel_hash()};
}

bool Tuner::measures(const Stream& stream) const {
  return (device_.on_gpu() || clock_) && cache_->mode() != TuneCache::Mode::off && !stream.capturing();
}

TuneParameters Tuner::best(Stream& stream, const TuneProblem& problem, std::span<const TuneParameters> candidates,
                           const std::function<void(const TuneParameters&)>& run) {
  require_candidates(problem, candidates);
  if (candidates.size() == 1 || !(device_.on_gpu() || clock_)) return candidates[0];
  const TuneKey wanted = key(problem);
  const auto remembered = [&] {
    const auto entry = cache_->find(wanted);
    return entry ? position(candidates, entry->parameters) : candidates.size();
  };
  if (const std::size_t i = remembered(); i < candidates.size()) return candidates[i];
  if (!measures(stream)) return candidates[0];
  const std::scoped_lock one_at_a_time(cache_->state_->measuring);
  if (const std::size_t i = remembered(); i < candidates.size())
    return candidates[i];  // another thread has measured it meanwhile
  detail::Measurement measurement(stream, candidates, run, clock_);
  const TuneEntry entry = measurement.measure(problem);
  if (measurement.nothing_runs()) std::rethrow_exception(measurement.last_error());
  cache_->keep(wanted, entry);
  return entry.parameters;
}

TuneParameters Tuner::best_for_all(Stream& stream, const TuneProblem& problem,
                                   std::span<const TuneParameters> candidates,
                                   const std::function<void(const TuneParameters&)>& run,
                                   const comm::Communicator& group) {
  const std::uint64_t own = fingerprint(problem, candidates);
  std::uint64_t first = own;
  group.broadcast(std::as_writable_bytes(std::span(&first, 1)), 0);
  const bool alike = group.all(own == first);
  if (alike) require_candidates(problem, candidates);  // throws on every process or on none
  if (!alike)
    throw core::InvalidArgument(
        fmt::format("the processes gave different candidates for {} ({}); give the same ones in the same order on all",
                    problem.kernel, problem.problem));
  TuneProblem together = problem;
  together.problem += fmt::format(", {} {}", group.size(), group.size() == 1 ? "process" : "processes");
  const TuneKey wanted = key(together);

  // The first process's answer holds for all, so that either all processes measure or none.
  const bool all_could = group.all(candidates.size() > 1 && (device_.on_gpu() || clock_) && !stream.capturing());
  std::size_t chosen = 0;
  if (group.rank() == 0) {
    const auto entry = device_.on_gpu() || clock_ ? cache_->find(wanted) : std::nullopt;
    chosen = entry ? position(candidates, entry->parameters) : candidates.size();
    if (chosen == candidates.size() && (!all_could || cache_->mode() == TuneCache::Mode::off)) chosen = 0;
  }
  group.broadcast(std::as_writable_bytes(std::span(&chosen, 1)), 0);
  if (chosen < candidates.size()) return candidates[chosen];

  detail::Measurement measurement(stream, candidates, run, clock_, &group);
  const TuneEntry entry = measurement.measure(together);
  if (measurement.nothing_runs())
    comm::on_every_rank(group, [&] {
      if (measurement.last_error() != nullptr) std::rethrow_exception(measurement.last_error());
    });
  if (group.rank() == 0) cache_->keep(wanted, entry);
  return entry.parameters;
}

}  // namespace halocline::gpu
