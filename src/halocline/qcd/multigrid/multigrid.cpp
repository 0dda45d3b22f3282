// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/multigrid.hpp"

#include <memory>
#include <utility>
#include <variant>

#include "halocline/core/region.hpp"
#include "halocline/qcd/multigrid/detail/coarse_solver.hpp"
#include "halocline/qcd/multigrid/detail/multigrid_state.hpp"
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
  CoarseField create_coarse() { return {transfer->aggregates()->count(), 2 * transfer->vectors(), space_->columns()}; }
  void restrict_to(CoarseField& out, const FineField& in) { transfer->restrict_to(out, in, clover); }
  void prolongate(FineField& out, const CoarseField& in) { transfer->prolongate(out, in); }

  Space* space_;
  schwarz::Schwarz* smoother;
  const Transfer<S>* transfer;
  const DomainClover* clover;
  const Twist* twist;
};

/// The cycle in one storage of the coarse levels.
template <class S, class Base>
class InStorage final : public Base {
public:
  template <class SetupState>
  InStorage(std::shared_ptr<const SetupState> setup_given, std::shared_ptr<schwarz::Schwarz> smoother_given,
            double coarse_tolerance)
      : Base(std::move(setup_given), std::move(smoother_given)),
        grid_(std::get<CoarseGrid<S>>(this->setup->grid)),
        level_{&this->space, this->smoother.get(), grid_.transfer.get(), this->setup->clover.get(),
               &this->setup->twist},
        coarse_solve_(coarse_solver<S>(grid_.levels, this->space.columns(), this->setup->transport,
                                       this->setup->parameters, coarse_tolerance, this->coarse_iterations)),
        cycle_(level_, *coarse_solve_) {}
  void precondition(FineField& out, const FineField& in) override { cycle_.apply(out, in); }

private:
  CoarseGrid<S> grid_;
  FineLevel<S> level_;
  std::unique_ptr<CoarseSolver> coarse_solve_;
  solve::MultigridCycle<FineLevel<S>, CoarseSolver> cycle_;
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
std::span<const std::int64_t> Multigrid::coarse_iterations() const noexcept { return state_->coarse_iterations; }

}  // namespace halocline::qcd::multigrid
