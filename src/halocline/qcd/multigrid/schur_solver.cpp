// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/schur_solver.hpp"

#include <fmt/format.h>

#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/multigrid/multigrid.hpp"
#include "halocline/qcd/schwarz/layout_change.hpp"
#include "halocline/solve/fgmres.hpp"
#include "halocline/solve/reliable_update.hpp"

namespace halocline::qcd::multigrid {
namespace {

/// As in multigrid_solver.cpp.
constexpr double replacement = 1e-4;

/// A cycle of D as an approximate inverse of S.
class SchurCycle {
public:
  SchurCycle(Multigrid& multigrid, const schwarz::LayoutChange& change, SchurForm form)
      : multigrid_(&multigrid),
        change_(&change),
        form_(form),
        b_(multigrid.smoother().create()),
        x_(multigrid.smoother().create()),
        ones_(static_cast<std::size_t>(multigrid.columns()), 1.0) {}

  void apply(SpinorField<float>& out, const SpinorField<float>& in) {
    change_->to_domains<float>(b_, in, ones_);
    if (form_ == SchurForm::asymmetric) {
      multigrid_->smoother().multiply_inverse_clover(b_);
    } else if (multigrid_->twist().mu() != 0) {
      x_ = b_;
      multigrid_->twist().add(b_, x_);
    }
    multigrid_->precondition(x_, b_);
    change_->to_tiles<float>(out, x_, ones_);
  }

private:
  Multigrid* multigrid_;
  const schwarz::LayoutChange* change_;
  SchurForm form_;
  Multigrid::Field b_, x_;
  std::vector<double> ones_;
};

}  // namespace

struct SchurSolver::State {
  State(const DiracOperator<double>& precise, const DiracOperator<float>& single_given, const Setup& setup, int columns,
        SchurForm form, int parity)
      : s(precise, form, parity),
        single(single_given, form, parity),
        space(precise.layout(), s.subset(), columns),
        single_space(single_given.layout(), s.subset(), columns),
        multigrid(setup, columns),
        change(single_given.layout(), multigrid.smoother().layout()),
        cycle(multigrid, change, form) {}

  Schur<double> s;
  Schur<float> single;
  SpinorSpace<double> space;
  SpinorSpace<float> single_space;
  Multigrid multigrid;
  schwarz::LayoutChange change;
  SchurCycle cycle;
};

SchurSolver::SchurSolver(const DiracOperator<double>& precise, const DiracOperator<float>& single, const Setup& setup,
                         int columns, SchurForm form, int parity)
    : state_(std::make_unique<State>(precise, single, setup, columns, form, parity)) {}
SchurSolver::~SchurSolver() = default;
SchurSolver::SchurSolver(SchurSolver&&) noexcept = default;

Schur<double>& SchurSolver::schur() noexcept { return state_->s; }
int SchurSolver::columns() const noexcept { return state_->space.columns(); }

solve::SolveResult SchurSolver::solve(SpinorField<double>& x, const SpinorField<double>& b,
                                      const solve::SolveOptions& given) {
  auto& self = *state_;
  for (const SpinorField<double>* field : {static_cast<const SpinorField<double>*>(&x), &b})
    if (field->layout_ptr() != self.s.layout() || field->subset() != self.s.subset() || field->columns() != columns())
      throw core::InvalidArgument(
          fmt::format("the multigrid solver of a Schur complement needs fields of its parity and of {} columns, in the "
                      "layout of its operator",
                      columns()));
  solve::SolveOptions options = given;
  options.replacement = replacement;
  const auto narrow = [](SpinorField<float>& out, const SpinorField<double>& in) { convert(out, in); };
  const auto widen = [](SpinorField<double>& out, const SpinorField<float>& in) { convert(out, in); };
  solve::ReliableProblem problem(self.single_space, self.single, self.space, self.s, x, b, narrow, widen);
  auto e = self.single_space.create();
  return solve::fgmres_on(problem, e, options, self.cycle);
}

}  // namespace halocline::qcd::multigrid
