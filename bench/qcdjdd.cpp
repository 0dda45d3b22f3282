// SPDX-License-Identifier: Apache-2.0
#include "bench/qcdjdd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "bench/group_regions.hpp"
#include "bench/iteration_clock.hpp"
#include "bench/schwarz_cost.hpp"
#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/comm/sums/solver_reduction.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/schwarz/domain_space.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"
#include "halocline/solve/bicgstab.hpp"

namespace halocline::bench {
namespace {

using qcd::schwarz::DomainSpace;
using qcd::schwarz::Schwarz;
using Field = Schwarz::Field;

/// Far above the critical hopping parameter, which is at most 1/4 for independent links.
constexpr double kappa = 0.3;
constexpr double csw = 0.2;
/// Number of iterations for the warm-up, and for the region timers.
constexpr int warm_up = 6, timed_by_region = 50;

qcd::WilsonCloverAction action() {
  qcd::WilsonCloverAction parameters;
  parameters.mass = 0.5 / kappa - 4;
  parameters.csw = csw;
  return parameters;
}

qcd::schwarz::Parameters preset(const QcdjddCase& c) {
  auto parameters = qcd::schwarz::Parameters::fugaku();
  parameters.storage = c.storage;
  parameters.link_reals = c.link_reals;
  return parameters;
}

/// D'K with the interface of a solver's operator.
struct Preconditioned {
  Schwarz* schwarz;
  void apply(Field& out, const Field& in) { schwarz->apply_preconditioned(out, in); }
};

/// Gives a group settings, and back those that it had. Collective: yes.
class Settings {
public:
  Settings(const comm::Communicator& group, const comm::SolverCommunication& settings)
      : group_(group), before_(comm::solver_communication(group)) {
    comm::set_solver_communication(group_, settings);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
  ~Settings() {
    // Valid before, and the same on every rank. Only a process that has ended can keep it from being set.
    try {
      comm::set_solver_communication(group_, before_);
    } catch (const core::Error&) {
    }
  }

private:
  comm::Communicator group_;
  comm::SolverCommunication before_;
};

/// The linear system, which can be iterated any number of times.
class Solve {
public:
  Solve(const std::shared_ptr<const lattice::Geometry4>& geometry, const QcdjddCase& c)
      : schwarz_(qcd::gauge::random_links(geometry, 1), action(), preset(c), c.columns),
        space_(schwarz_.layout(), c.columns),
        solution_(space_.create()),
        source_(space_.create()) {
    fill(source_.span());
  }

  Schwarz& schwarz() noexcept { return schwarz_; }
  Field& source() noexcept { return source_; }
  Field& solution() noexcept { return solution_; }

  /// @param ended  called at the end of every iteration; `begun` before the first one
  /// @return number of solves: more than one if the recursion ended
  int run(int iterations, const Work& begun, const Work& ended) {
    solve::SolveOptions options;
    options.tolerance = 1e-30;
    options.stagnation_window = iterations + 1;
    options.progress = [&](int, double) {
      ended();
      return true;
    };
    Preconditioned a{&schwarz_};
    int done = 0, solves = 0;
    for (; done < iterations; ++solves) {
      begun();
      options.max_iterations = iterations - done;
      const auto found = solve::bicgstab(space_, a, solution_, source_, options);
      if (found.iterations == 0 || found.reason == solve::Reason::not_finite)
        throw core::Error(fmt::format("the benchmark's solve ended after {} of {} iterations: {}",
                                      done + found.iterations, iterations, found.describe()));
      done += found.iterations;
    }
    return solves;
  }

private:
  Schwarz schwarz_;
  DomainSpace space_;
  Field solution_, source_;
};

/// How the messages and sums of a case travel.
void add_communication(Result& result, const comm::Communicator& group, const QcdjddCase& c,
                       const comm::HaloExchange* exchange) {
  const auto& settings = c.communication;
  const bool all = exchange != nullptr && exchange->concurrent() && c.threads > 1;
  result.parameters.insert(
      result.parameters.end(),
      {{"transport", exchange == nullptr ? settings.transport : std::string(exchange->transport().name())},
       {"buffers", std::int64_t(settings.buffers)},
       {"posting", std::string(all ? "all" : "thread")},
       {"sums", std::string(comm::name(comm::solver_reduction(group).way(1)))},
       {"barrier", settings.barrier_before_sums},
       {"interfaces", std::vector<std::int64_t>(settings.interfaces.begin(), settings.interfaces.end())}});
}

/// The properties common to both results of a case.
Result result_of(const comm::Communicator& group, const lattice::Geometry4& geometry, const QcdjddCase& c,
                 const lattice::DomainLayout& layout, const comm::HaloExchange* exchange, const std::string& measured) {
  Result result;
  result.bench = "qcdjdd";
  const auto& grid = geometry.grid().dims();
  result.parameters = {{"measured", measured},
                       {"local", to_vector(c.local)},
                       {"processes", std::int64_t(group.size())},
                       {"threads", std::int64_t(c.threads)},
                       {"columns", std::int64_t(c.columns)},
                       {"precision", std::string("float")},
                       {"storage", c.storage},
                       {"link_reals", std::int64_t(c.link_reals)},
                       {"grid", std::vector<std::int64_t>(grid.begin(), grid.end())},
                       {"blocks", to_vector(layout.blocks())},
                       {"tile", to_vector(layout.tile())}};
  if (group.size() > 1) add_communication(result, group, c, exchange);
  return result;
}

void set_peak(Result& result, const comm::Communicator& group, int threads, const Spread& companion) {
  const double flops = 1e-9 * FmaChains<float>::flops(threads) * group.size();
  result.ceilings.fma_gflops = flops / companion.median;
  result.fma_gflops_of_cpu_time = flops / companion.cpu;
}

/// Adds our own count beside the published count, by which the case is judged.
void add_counts(Result& result, double own_flops) {
  const double own_gflops = 1e-9 * own_flops / result.seconds.median;
  result.outcome.insert(result.outcome.end(), {{"own_flops", own_flops},
                                               {"own_gflops", own_gflops},
                                               {"own_fraction_of_fma_peak", own_gflops / result.ceilings.fma_gflops}});
}

/// Our own flops of one column and bytes of all columns, on one process.
struct OwnCount {
  double flops, bytes;
  double held;  ///< bytes that an iteration touches
};

OwnCount count_of(const DomainBox& box, const QcdjddCase& c) {
  const SchwarzSteps steps{.link_reals = c.link_reals};
  const double numbers = spinor_reals * c.columns * static_cast<double>(box.sites());
  const double blocks = inside_cost(box, c.link_reals).shared;
  const Cost vectors = bicgstab_cost * static_cast<double>(box.sites());
  OwnCount count{vectors.flops, sizeof(float) * vectors.reals(c.columns), sizeof(float) * (blocks + 8 * numbers)};
  if (c.storage == "float") {
    const Cost applied = fused_cost(box, steps);
    count.flops += 2 * applied.flops;
    count.bytes += 2 * sizeof(float) * applied.reals(c.columns);
  } else {
    // The source is read to find its scale and again to be demoted; the result is read and promoted; then D' in float.
    const Cost k = preconditioner_cost(box, steps), full = full_cost(box, c.link_reals);
    count.flops += 2 * (k.flops + full.flops);
    count.bytes += 2 * (2 * (k.reals(c.columns) + 2 * numbers) + sizeof(float) * (full.reals(c.columns) + 3 * numbers));
    count.held += 2 * (blocks + 4 * numbers) + sizeof(float) * numbers;
  }
  return count;
}

/// Number of executions of the peak that last as long as an undisturbed iteration.
int peak_repeats(const comm::Communicator& group, Solve& solve, const Work& peak) {
  IterationClock clock(group, peak, 1, 1);
  solve.run(warm_up, [&] { clock.pause(); }, [&] { clock.tick(); });
  return std::max(1, static_cast<int>(clock.iterations().minimum / clock.companion().minimum));
}

void check(const QcdjddCase& c) {
  if (c.iterations < 1)
    throw core::InvalidArgument(fmt::format("{} iterations were asked for; give at least 1", c.iterations));
  if (c.columns < 1) throw core::InvalidArgument(fmt::format("{} columns were asked for; give at least 1", c.columns));
  preset(c).validate();
}

}  // namespace

std::vector<Result> qcdjdd(const comm::Communicator& group, const QcdjddCase& c, const Effort& effort) {
  check(c);
  effort.validate();
  const Threads threads(c.threads);
  const auto geometry = geometry_of(group, c.local, c.grid, c.ranks);
  const Settings settings(group, c.communication);
  const std::string& transport = c.communication.transport;
  if (const std::string reason = transport.empty() || transport == "auto"
                                     ? ""
                                     : comm::transport_unavailable_reason(transport, geometry->grid());
      !reason.empty()) {
    Result skipped;
    skipped.bench = "qcdjdd";
    skipped.parameters = {{"measured", std::string("iteration")},
                          {"local", to_vector(c.local)},
                          {"transport", transport},
                          {"buffers", std::int64_t(c.communication.buffers)}};
    skipped.skipped = reason;
    return {skipped};
  }
  Solve solve(geometry, c);
  const lattice::DomainLayout& layout = *solve.schwarz().layout();
  const DomainBox box{c.local, layout.blocks()};
  const OwnCount own = count_of(box, c);
  const Cost inside_own = inside_cost(box, c.link_reals);
  const double copies = static_cast<double>(c.columns) * group.size();
  const bool published =
      std::ranges::find(published_counts, c.local, &PublishedCount::local) != std::ranges::end(published_counts);

  Result iteration = result_of(group, *geometry, c, layout, solve.schwarz().exchange(), "iteration");
  iteration.flops = static_cast<double>(published_iteration_flops(box)) * copies;
  iteration.bytes = own.bytes * group.size();
  iteration.ceilings = bandwidth_ceilings(group, static_cast<std::int64_t>(own.held), effort);

  const Work nothing = [] {};
  const FmaChains<float> peak;
  const int repeats = peak_repeats(group, solve, peak);
  IterationClock clock(group, peak, repeats, std::max(4, c.iterations / 100));
  // One more than requested, because the first iteration of a solve is not timed.
  const int solves = solve.run(c.iterations + 1, [&] { clock.pause(); }, [&] { clock.tick(); });
  iteration.seconds = clock.iterations();
  count_energy(iteration.seconds,
               [&](int n) { return time_block(group, [&] { solve.run(n, nothing, nothing); }).wall / n; });
  set_peak(iteration, group, c.threads, clock.companion());
  const int by_region = std::min(c.iterations, timed_by_region);
  const comm::HaloExchange* const exchange = solve.schwarz().exchange();
  const std::uint64_t before = exchange == nullptr ? 0 : exchange->bytes_posted();
  iteration.regions = group_regions(
      group,
      [&] {
        const core::Region region("bicgstab");
        solve.run(by_region, nothing, nothing);
      },
      by_region);
  iteration.outcome = {{"iterations", clock.count()},
                       {"solves", std::int64_t(solves)},
                       {"elapsed", clock.total()},
                       {"published", published}};
  if (exchange != nullptr) {
    // A solve begins with one more application, which 50 iterations hide.
    std::array<double, 1> bytes{static_cast<double>(exchange->bytes_posted() - before) / by_region};
    group.max(bytes);
    iteration.outcome.insert(
        iteration.outcome.end(),
        {{"halo_bytes", bytes[0]}, {"halo_gbytes_per_s", 1e-9 * bytes[0] * group.size() / iteration.seconds.median}});
  }
  add_counts(iteration, own.flops * copies);

  Result inside = result_of(group, *geometry, c, layout, solve.schwarz().exchange(), "inside");
  inside.flops = static_cast<double>(published_inside_flops(box)) * copies;
  inside.bytes = sizeof(float) * inside_own.reals(c.columns) * group.size();
  inside.ceilings =
      bandwidth_ceilings(group, static_cast<std::int64_t>(sizeof(float) * inside_own.reals(c.columns)), effort);
  const Work d_in = [&] {
    solve.schwarz().apply_inside(solve.solution(), solve.source(), 0);
    solve.schwarz().apply_inside(solve.solution(), solve.source(), 1);
  };
  const Pair times = measure_together(group, d_in, peak, effort);
  inside.seconds = times.work;
  set_peak(inside, group, c.threads, times.companion);
  inside.regions = regions_of(d_in);
  inside.outcome = {{"published", published}};
  add_counts(inside, inside_own.flops * copies);
  return {iteration, inside};
}

}  // namespace halocline::bench
