// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Reliable updates: a solver iterates in one space, and the solution lives in a more precise one.
///
/// Sleijpen and van der Vorst, Computing 56 (1996) 141; Clark et al., arXiv:0911.3191, sec. 5.2. The solver's x is only
/// the sum of updates since the last replacement. Whenever the residual has fallen by the factor `options.replacement`,
/// the solver asks for it to be replaced (in batches see options.replacement_interval). Then the sum is added to the
/// precise solution and cleared, and the solver gets the precise residual b - A x. The search directions are kept,
/// which is the advantage over defect correction.
///
///   ReliableProblem problem(inner_space, inner_a, space, a, x, b, to_inner, to_outer);
///   auto e = inner_space.create();
///   bicgstab_on(problem, e, options, no_preconditioner);   // the result refers to x, in the precision of x

#include "halocline/solve/problem.hpp"

namespace halocline::solve {

/// A problem for cg_on, cg_normal_on, bicgstab_on, gcr_on and fgmres_on. Refers to its arguments, which must outlive
/// it.
template <VectorSpace InnerSpace, OperatorOn<InnerSpace> InnerOperator, VectorSpace OuterSpace,
          OperatorOn<OuterSpace> OuterOperator, class ToInner, class ToOuter>
class ReliableProblem {
public:
  using Space = InnerSpace;
  using Vector = typename InnerSpace::Vector;
  using OuterVector = typename OuterSpace::Vector;

  /// @param x         the precise solution, updated during the solve; on entry the guess if options.use_initial_guess
  /// @param to_inner  callable (inner vector& out, const outer vector& in)
  /// @param to_outer  callable (outer vector& out, const inner vector& in)
  ReliableProblem(InnerSpace& inner_space, InnerOperator& inner_a, OuterSpace& space, OuterOperator& a, OuterVector& x,
                  const OuterVector& b, ToInner to_inner, ToOuter to_outer)
      : inner_space_(&inner_space),
        inner_a_(&inner_a),
        outer_space_(&space),
        outer_(space, a, b),
        x_(&x),
        outer_r_(space.create()),
        outer_e_(space.create()),
        inner_r_(inner_space.create()),
        to_inner_(std::move(to_inner)),
        to_outer_(std::move(to_outer)) {}

  Space& space() const { return *inner_space_; }
  const std::vector<double>& source_norms2() const { return outer_.source_norms2(); }
  Timings& timings() { return outer_.timings(); }

  void apply(Vector& out, const Vector& in) {
    const detail::Stopwatch watch(timings().apply);
    inner_a_->apply(out, in);
  }
  auto apply_and_reduce(Vector& out, const Vector& in, std::span<const Dot<Vector>> dots)
    requires ReducingOperatorOn<InnerOperator, InnerSpace>
  {
    const detail::Stopwatch watch(timings().apply);
    return inner_a_->apply_and_reduce(*inner_space_, out, in, dots);
  }
  void apply_dagger(Vector& out, const Vector& in)
    requires AdjointOperatorOn<InnerOperator, InnerSpace>
  {
    const detail::Stopwatch watch(timings().apply);
    inner_a_->apply_dagger(out, in);
  }
  auto apply_dagger_and_reduce(Vector& out, const Vector& in, std::span<const Dot<Vector>> dots)
    requires ReducingAdjointOperatorOn<InnerOperator, InnerSpace>
  {
    const detail::Stopwatch watch(timings().apply);
    return inner_a_->apply_dagger_and_reduce(*inner_space_, out, in, dots);
  }
  template <class Preconditioner>
  void precondition(Preconditioner& m, Vector& out, const Vector& in) {
    const detail::Stopwatch watch(timings().precondition);
    m.apply(out, in);
  }

  auto* recursion()
    requires requires(InnerOperator& a, Space& space) { a.recursion(space); }
  {
    return inner_a_->recursion(*inner_space_);
  }

  std::vector<double> start(Vector& e, Vector& r, bool use_initial_guess) {
    inner_space_->set_zero(e);
    std::vector<double> norms2 = outer_.start(*x_, outer_r_, use_initial_guess);
    to_inner_(r, outer_r_);
    return norms2;
  }

  std::vector<double> replace_residual(Vector& e, Vector& r) {
    to_outer_(outer_e_, e);
    update(*outer_space_, {add(*x_, {}, outer_e_)});
    inner_space_->set_zero(e);
    std::vector<double> norms2 = outer_.replace_residual(*x_, outer_r_);
    to_inner_(r, outer_r_);
    return norms2;
  }

  std::vector<double> replace_residual(Vector& e, Vector& r, std::span<const Scalar> mask) {
    Scalars keep;
    for (const Scalar& m : mask) keep.push_back(1.0 - m);
    to_outer_(outer_e_, e);
    update(*outer_space_, {add(*x_, mask, outer_e_)});
    std::vector<double> norms2 = outer_.replace_residual(*x_, outer_r_);
    to_inner_(inner_r_, outer_r_);
    update(*inner_space_, {scale(e, keep), scale_add(r, keep, mask, inner_r_)});
    return norms2;
  }

private:
  InnerSpace* inner_space_;
  InnerOperator* inner_a_;
  OuterSpace* outer_space_;
  LinearProblem<OuterSpace, OuterOperator> outer_;
  OuterVector* x_;
  OuterVector outer_r_, outer_e_;
  Vector inner_r_;
  ToInner to_inner_;
  ToOuter to_outer_;
};

}  // namespace halocline::solve
