// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/detail/coarse_solver.hpp"

#include <algorithm>
#include <utility>

#include "halocline/core/region.hpp"
#include "halocline/solve/fgmres.hpp"
#include "halocline/solve/gcr_steps.hpp"
#include "halocline/solve/multigrid.hpp"

namespace halocline::qcd::multigrid {
namespace {

solve::SolveOptions options_for(const Parameters& p, double tolerance) {
  solve::SolveOptions options;
  options.tolerance = tolerance;
  options.max_iterations = p.coarse_iterations;
  options.restart_length = std::min(30, p.coarse_iterations);
  return options;
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
  DeflatedSolver(const CoarseLevel<S>& level, int columns, const std::string& transport,
                 const solve::SolveOptions& options, std::int64_t& iterations)
      : deflation_(level.deflation),
        system_(level, columns, transport),
        r_(system_.space().create()),
        options_(options),
        iterations_(&iterations) {}

  void operator()(CoarseField& x, const CoarseField& b) override {
    const core::Region region("coarse solve");
    system_.solve(x, b, [&](CoarseField& out, const CoarseField& in) { solve_system(out, in); });
  }

private:
  void solve_system(CoarseField& x, const CoarseField& b) {
    auto& space = system_.space();
    space.copy(r_, b);
    auto along = deflation_->project(r_);
    struct Deflated {
      void apply(CoarseField& out, const CoarseField& in) {
        system->apply(out, in);
        deflation->project(out);
      }
      System* system;
      const CoarseDeflation* deflation;
    } deflated{&system_, deflation_.get()};
    *iterations_ += solve::fgmres(space, deflated, x, r_, options_).iterations;
    // A x has a part along C, which the directions take back.
    system_.apply(r_, x);
    const auto back = deflation_->project(r_);
    for (std::size_t i = 0; i < along.size(); ++i) along[i] -= back[i];
    deflation_->add(x, along);
  }

  std::shared_ptr<const CoarseDeflation> deflation_;
  System system_;
  CoarseField r_;
  solve::SolveOptions options_;
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
              const std::string& transport, const Parameters& p, const solve::SolveOptions& options,
              std::int64_t& iterations)
      : next_(std::move(next)),
        level_(level, columns, transport, p.coarse_smoother_steps),
        cycle_(level_, *next_),
        krylov_(p.cycle == "K"),
        options_(options),
        iterations_(&iterations) {}

  void operator()(CoarseField& x, const CoarseField& b) override {
    const core::Region region("coarse solve");
    level_.system.solve(x, b, [&](CoarseField& out, const CoarseField& in) {
      if (krylov_) {
        *iterations_ += solve::fgmres(level_.space(), level_.system, out, in, options_, cycle_).iterations;
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
  bool krylov_;
  solve::SolveOptions options_;
  std::int64_t* iterations_;
};

}  // namespace

template <class S>
std::unique_ptr<CoarseSolver> coarse_solver(std::span<const CoarseLevel<S>> levels, int columns,
                                            const std::string& transport, const Parameters& parameters,
                                            double tolerance, std::span<std::int64_t> iterations) {
  const CoarseLevel<S>& level = levels.front();
  const auto options = options_for(parameters, tolerance);
  return with_system(level, [&]<class System>() -> std::unique_ptr<CoarseSolver> {
    if (level.transfer)
      return std::make_unique<CycleSolver<S, System>>(
          level, coarse_solver<S>(levels.subspan(1), columns, transport, parameters, tolerance, iterations.subspan(1)),
          columns, transport, parameters, options, iterations.front());
    if (level.dense) return std::make_unique<DenseSolver<System>>(level, columns, transport, iterations.front());
    return std::make_unique<DeflatedSolver<System>>(level, columns, transport, options, iterations.front());
  });
}

template std::unique_ptr<CoarseSolver> coarse_solver(std::span<const CoarseLevel<float>>, int, const std::string&,
                                                     const Parameters&, double, std::span<std::int64_t>);
template std::unique_ptr<CoarseSolver> coarse_solver(std::span<const CoarseLevel<core::Half>>, int, const std::string&,
                                                     const Parameters&, double, std::span<std::int64_t>);

}  // namespace halocline::qcd::multigrid
