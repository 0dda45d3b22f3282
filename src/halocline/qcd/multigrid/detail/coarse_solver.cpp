// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/detail/coarse_solver.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/solve/gcr_steps.hpp"
#include "halocline/solve/inner_gmres.hpp"
#include "halocline/solve/multigrid.hpp"

namespace halocline::qcd::multigrid {
namespace {

using Gmres = solve::InnerGmres<CoarseSpace>;

Gmres::Options options_for(const Parameters& p, double tolerance) {
  return {.tolerance = tolerance,
          .max_iterations = p.coarse_iterations,
          .restart_length = std::min(30, p.coarse_iterations)};
}

/// The system of a level multiplied by the dense inverse.
template <class System>
class DenseSolver final : public CoarseSolver {
public:
  template <class S>
  DenseSolver(const CoarseLevel<S>& level, int columns, const std::string& transport, std::int64_t& iterations)
      : dense_(level.dense), system_(level, columns, transport), iterations_(&iterations) {}

  void operator()(CoarseField& x, const CoarseField& b) override {
    const core::Region region("coarse solve");
    system_.solve(x, b, [&](CoarseField& out, const CoarseField& in) { dense_->apply(out, in); });
    ++*iterations_;
  }

private:
  std::shared_ptr<const DenseInverse> dense_;
  System system_;
  std::int64_t* iterations_;
};

/// Restarted GMRES on the system of a level, from which the test vectors are deflated.
template <class System>
class DeflatedSolver final : public CoarseSolver {
public:
  template <class S>
  DeflatedSolver(const CoarseLevel<S>& level, int columns, const std::string& transport, const Gmres::Options& options,
                 std::int64_t& iterations)
      : deflation_(level.deflation),
        system_(level, columns, transport),
        gmres_(system_.space(), options),
        iterations_(&iterations) {}
  DeflatedSolver(const DeflatedSolver&) = delete;

  void operator()(CoarseField& x, const CoarseField& b) override {
    const core::Region region("coarse solve");
    system_.solve(x, b, [&](CoarseField& out, const CoarseField& in) {
      const solve::NoPreconditioner none;
      const auto result = gmres_.solve(system_, out, in, none, *deflation_);
      deflation_->add(out, result.along);
      *iterations_ += result.iterations;
    });
  }

private:
  std::shared_ptr<const CoarseDeflation> deflation_;
  System system_;
  Gmres gmres_;
  std::int64_t* iterations_;
};

/// A level above the coarsest, in the words of solve/multigrid.hpp.
template <class S, class System>
class CycleLevel {
public:
  using Space = CoarseSpace;
  using Coarse = CoarseField;

  CycleLevel(const CoarseLevel<S>& level, int columns, const std::string& transport, int steps)
      : system(level, columns, transport), transfer_(level.transfer), smoother_(system.space(), steps) {}
  CycleLevel(const CycleLevel&) = delete;

  Space& space() { return system.space(); }
  void apply(CoarseField& out, const CoarseField& in) { system.apply(out, in); }
  void smooth(CoarseField& out, const CoarseField& in) {
    const core::Region region("coarse smoother");
    smoother_.apply(system, out, in);
  }
  CoarseField create_coarse() {
    return {transfer_->aggregates()->count(), 2 * transfer_->vectors(), space().columns()};
  }
  void restrict_to(CoarseField& out, const CoarseField& in) { transfer_->restrict_to(out, system.whole(in)); }
  void prolongate(CoarseField& out, const CoarseField& in) {
    system.part(out, [&](CoarseField& whole) { transfer_->prolongate(whole, in); });
  }

  System system;

private:
  std::shared_ptr<const CoarseTransfer<S>> transfer_;
  solve::GcrSteps<CoarseSpace> smoother_;
};

/// A V or K cycle on a level and those below it.
template <class S, class System>
class CycleSolver final : public CoarseSolver {
public:
  CycleSolver(const CoarseLevel<S>& level, std::unique_ptr<CoarseSolver> next, int columns,
              const std::string& transport, const Parameters& p, const Gmres::Options& options,
              std::int64_t& iterations)
      : next_(std::move(next)),
        level_(level, columns, transport, p.coarse_smoother_steps),
        cycle_(level_, *next_),
        iterations_(&iterations) {
    if (p.cycle == "K") krylov_.emplace(level_.space(), options);
  }

  void operator()(CoarseField& x, const CoarseField& b) override {
    const core::Region region("coarse solve");
    level_.system.solve(x, b, [&](CoarseField& out, const CoarseField& in) {
      if (krylov_) {
        *iterations_ += krylov_->solve(level_.system, out, in, cycle_).iterations;
      } else {
        cycle_.apply(out, in);
        ++*iterations_;
      }
    });
  }

private:
  std::unique_ptr<CoarseSolver> next_;
  CycleLevel<S, System> level_;
  solve::MultigridCycle<CycleLevel<S, System>, CoarseSolver> cycle_;
  std::optional<Gmres> krylov_;
  std::int64_t* iterations_;
};

/// The solver of a level that fewer processes hold than the level above.
class GatheredSolver final : public CoarseSolver {
public:
  /// @param make  makes the solver on the processes that hold the level
  /// @param iterations  of the level and those below it
  template <class Make>
  GatheredSolver(std::shared_ptr<lattice::Gathering> gathering, std::span<std::int64_t> iterations, const Make& make)
      : gathering_(std::move(gathering)), iterations_(iterations) {
    comm::on_every_rank(gathering_->spread()->communicator(), [&] {
      if (gathering_->keeps()) inner_ = make();
    });
  }

  void operator()(CoarseField& x, const CoarseField& b) override {
    const core::Region region("gathered coarse level");
    if (inner_ && (b_.columns() != b.columns() || b_.rows() != b.rows() || b_.size() == 0))
      b_ = x_ = CoarseField(gathering_->gathered()->local_volume(), b.rows(), b.columns());
    gathering_->gather(std::as_writable_bytes(b_.span()), std::as_bytes(b.span()), bytes_a_site(b));
    // First whether it failed, then the iterations of each level.
    std::vector<std::int64_t> note(1 + iterations_.size());
    std::exception_ptr failure;
    std::string why;
    if (inner_) {
      for (std::size_t i = 0; i < iterations_.size(); ++i) note[1 + i] = -iterations_[i];
      try {
        (*inner_)(x_, b_);
      } catch (const std::exception& error) {
        failure = std::current_exception();
        why = error.what();
        note[0] = 1;
      }
      for (std::size_t i = 0; i < iterations_.size(); ++i) note[1 + i] += iterations_[i];
    }
    gathering_->scatter(std::as_writable_bytes(x.span()), std::as_bytes(x_.span()), bytes_a_site(b),
                        std::as_writable_bytes(std::span(note)));
    if (note[0] != 0) fail(failure, std::move(why));
    if (!inner_)
      for (std::size_t i = 0; i < iterations_.size(); ++i) iterations_[i] += note[1 + i];
  }

private:
  /// Throws on every process of a cell what was thrown on the one that holds its sites.
  [[noreturn]] void fail(const std::exception_ptr& failure, std::string why) {
    why.resize(1024);
    gathering_->broadcast(std::as_writable_bytes(std::span(why)));
    if (failure) std::rethrow_exception(failure);
    throw core::Error("the solve of a coarse level on other processes failed: " + std::string(why.c_str()));
  }

  std::shared_ptr<lattice::Gathering> gathering_;
  std::span<std::int64_t> iterations_;
  std::unique_ptr<CoarseSolver> inner_;  ///< null on a process that holds nothing
  CoarseField x_, b_;                    ///< on the gathered lattice
};

}  // namespace

template <class S>
std::unique_ptr<CoarseSolver> coarse_solver(std::span<const CoarseLevel<S>> levels, int columns,
                                            const std::string& transport, const Parameters& parameters,
                                            double tolerance, std::span<std::int64_t> iterations) {
  const CoarseLevel<S>& level = levels.front();
  const auto options = options_for(parameters, tolerance);
  const auto held = [&]<class System>() -> std::unique_ptr<CoarseSolver> {
    if (level.transfer)
      return std::make_unique<CycleSolver<S, System>>(
          level, coarse_solver<S>(levels.subspan(1), columns, transport, parameters, tolerance, iterations.subspan(1)),
          columns, transport, parameters, options, iterations.front());
    if (level.dense) return std::make_unique<DenseSolver<System>>(level, columns, transport, iterations.front());
    return std::make_unique<DeflatedSolver<System>>(level, columns, transport, options, iterations.front());
  };
  if (!level.gathering) return with_system(level, held);
  return std::make_unique<GatheredSolver>(level.gathering, iterations, [&] { return with_system(level, held); });
}

template std::unique_ptr<CoarseSolver> coarse_solver(std::span<const CoarseLevel<float>>, int, const std::string&,
                                                     const Parameters&, double, std::span<std::int64_t>);
template std::unique_ptr<CoarseSolver> coarse_solver(std::span<const CoarseLevel<core::Half>>, int, const std::string&,
                                                     const Parameters&, double, std::span<std::int64_t>);

}  // namespace halocline::qcd::multigrid
