// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/multigrid.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "halocline/core/region.hpp"
#include "halocline/qcd/multigrid/detail/multigrid_state.hpp"
#include "halocline/solve/fgmres.hpp"
#include "halocline/solve/multigrid.hpp"

namespace halocline::qcd::multigrid {
namespace {

/// The fine level and its coarse one, in the words of solve/multigrid.hpp.
template <class S>
struct FineLevel {
  using Space = schwarz::DomainSpace;
  using Coarse = CoarseField;

  Space& space() { return *space_; }
  void apply(FineField& out, const FineField& in) {
    smoother->apply(out, in);
    twist->add(out, in);
  }
  void smooth(FineField& out, const FineField& in) { smoother->precondition(out, in); }
  CoarseField create_coarse() { return coarse_space->create(); }
  void restrict_to(CoarseField& out, const FineField& in) { transfer->restrict_to(out, in, clover); }
  void prolongate(FineField& out, const CoarseField& in) { transfer->prolongate(out, in); }

  Space* space_;
  schwarz::Schwarz* smoother;
  CoarseSpace* coarse_space;
  const Transfer<S>* transfer;
  const DomainClover* clover;
  const Twist* twist;
};

/// Solves on the coarsest level by restarted GMRES, on one parity where the coarse lattice has parities.
template <class S>
class CoarseSolve {
public:
  CoarseSolve(const CoarseGrid<S>& grid, int columns, const std::string& transport, const Parameters& p,
              double tolerance, std::int64_t* iterations)
      : iterations_(iterations) {
    options_.tolerance = tolerance;
    options_.max_iterations = p.coarse_iterations;
    options_.restart_length = std::min(30, p.coarse_iterations);
    if (grid.inverse) {
      schur_.emplace(grid.blocks, grid.inverse, columns, transport);
      deflation_ = grid.deflation;
      space_.emplace(schur_->space());
      x_ = space_->create();
      b_ = space_->create();
    } else {
      d_.emplace(grid.blocks, columns, transport);
      space_.emplace(grid.blocks->geometry(), grid.blocks->rows(), columns);
    }
  }

  void operator()(CoarseField& x, const CoarseField& b) {
    const core::Region region("coarse solve");
    if (!schur_) {
      *iterations_ += solve::fgmres(*space_, *d_, x, b, options_).iterations;
      return;
    }
    schur_->prepare(b_, b);
    auto along = deflation_->project(b_);
    struct Deflated {
      void apply(CoarseField& out, const CoarseField& in) {
        schur->apply(out, in);
        deflation->project(out);
      }
      CoarseSchur<S>* schur;
      const CoarseDeflation* deflation;
    } deflated{&*schur_, deflation_.get()};
    *iterations_ += solve::fgmres(*space_, deflated, x_, b_, options_).iterations;
    // A x_ has a part along C, which the directions take back.
    schur_->apply(b_, x_);
    const auto back = deflation_->project(b_);
    for (std::size_t i = 0; i < along.size(); ++i) along[i] -= back[i];
    deflation_->add(x_, along);
    schur_->reconstruct(x, x_, b);
  }

private:
  std::optional<CoarseOperator<S>> d_;
  std::optional<CoarseSchur<S>> schur_;
  std::shared_ptr<const CoarseDeflation> deflation_;
  std::optional<CoarseSpace> space_;
  CoarseField x_, b_;
  solve::SolveOptions options_;
  std::int64_t* iterations_;
};

/// The cycle in one storage of the coarse level.
template <class S, class Base>
class InStorage final : public Base {
public:
  template <class SetupState>
  InStorage(std::shared_ptr<const SetupState> setup_given, std::shared_ptr<schwarz::Schwarz> smoother_given,
            double coarse_tolerance)
      : Base(std::move(setup_given), std::move(smoother_given)),
        grid_(std::get<CoarseGrid<S>>(this->setup->grid)),
        coarse_space_(grid_.blocks->geometry(), grid_.blocks->rows(), this->space.columns()),
        level_{&this->space,         this->smoother.get(),      &coarse_space_,
               grid_.transfer.get(), this->setup->clover.get(), &this->setup->twist},
        coarse_solve_(grid_, this->space.columns(), this->setup->transport, this->setup->parameters, coarse_tolerance,
                      &this->coarse_iterations),
        cycle_(level_, coarse_solve_) {}
  void precondition(FineField& out, const FineField& in) override { cycle_.apply(out, in); }

private:
  CoarseGrid<S> grid_;
  CoarseSpace coarse_space_;
  FineLevel<S> level_;
  CoarseSolve<S> coarse_solve_;
  solve::MultigridCycle<FineLevel<S>, CoarseSolve<S>> cycle_;
};

}  // namespace

std::unique_ptr<Multigrid::State> Multigrid::State::make(std::shared_ptr<const Setup::State> setup,
                                                         std::shared_ptr<schwarz::Schwarz> smoother,
                                                         double coarse_tolerance) {
  return std::visit(
      [&]<class S>(const CoarseGrid<S>&) -> std::unique_ptr<State> {
        return std::make_unique<InStorage<S, State>>(setup, smoother, coarse_tolerance);
      },
      setup->grid);
}

Multigrid::Multigrid(const Setup& setup, int columns)
    : Multigrid(State::make(setup.state_,
                            std::make_shared<schwarz::Schwarz>(setup.state_->matrix, columns, setup.state_->transport),
                            setup.state_->parameters.coarse_tolerance)) {}
Multigrid::Multigrid(std::unique_ptr<State> state) : state_(std::move(state)) {}
Multigrid::~Multigrid() = default;
Multigrid::Multigrid(Multigrid&&) noexcept = default;

int Multigrid::columns() const noexcept { return state_->space.columns(); }
schwarz::Schwarz& Multigrid::smoother() noexcept { return *state_->smoother; }
const schwarz::Schwarz& Multigrid::smoother() const noexcept { return *state_->smoother; }
void Multigrid::apply(Field& out, const Field& in) {
  state_->smoother->apply(out, in);
  state_->setup->twist.add(out, in);
}
const Twist& Multigrid::twist() const noexcept { return state_->setup->twist; }
void Multigrid::precondition(Field& out, const Field& in) {
  const core::Region region("multigrid");
  state_->precondition(out, in);
}
std::int64_t Multigrid::coarse_iterations() const noexcept { return state_->coarse_iterations; }

}  // namespace halocline::qcd::multigrid
