// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The requirements on an operator or a preconditioner, and operators made from others.
///
/// An operator has `apply(out, in)` for two different vectors, and `apply_dagger(out, in)` if a solver needs the
/// adjoint. A preconditioner has the same members. It may change from call to call if the solver is flexible.

#include <concepts>
#include <span>
#include <type_traits>

#include "halocline/solve/vector_space.hpp"

namespace halocline::solve {

template <class A, class Space>
concept OperatorOn =
    requires(A& a, typename Space::Vector& out, const typename Space::Vector& in) { a.apply(out, in); };

template <class A, class Space>
concept AdjointOperatorOn =
    OperatorOn<A, Space> &&
    requires(A& a, typename Space::Vector& out, const typename Space::Vector& in) { a.apply_dagger(out, in); };

/// Optional: the operator computes dot products that contain its result `out` in the pass that makes it. The returned
/// object's `wait()` gives the sums as [dot][column], like FusedVectorSpace. An operator may inspect the list and split
/// the work into two passes.
template <class A, class Space>
concept ReducingOperatorOn =
    OperatorOn<A, Space> && requires(A& a, Space& space, typename Space::Vector& out, const typename Space::Vector& in,
                                     std::span<const Dot<typename Space::Vector>> dots) {
      { a.apply_and_reduce(space, out, in, dots).wait() } -> std::convertible_to<std::span<const Scalar>>;
    };
/// The same for the adjoint.
template <class A, class Space>
concept ReducingAdjointOperatorOn =
    AdjointOperatorOn<A, Space> &&
    requires(A& a, Space& space, typename Space::Vector& out, const typename Space::Vector& in,
             std::span<const Dot<typename Space::Vector>> dots) {
      { a.apply_dagger_and_reduce(space, out, in, dots).wait() } -> std::convertible_to<std::span<const Scalar>>;
    };

/// No preconditioner; solvers skip the step without a copy.
struct NoPreconditioner {};

template <class M, class Space>
concept PreconditionerOn = std::same_as<std::remove_cvref_t<M>, NoPreconditioner> || OperatorOn<M, Space>;

/// D^dagger D, hermitian and positive. Holds one work vector; refers to space and D, which must outlive it.
template <VectorSpace Space, AdjointOperatorOn<Space> D>
class NormalOperator {
public:
  NormalOperator(Space& space, D& d) : d_(&d), work_(space.create()) {}

  void apply(typename Space::Vector& out, const typename Space::Vector& in) {
    d_->apply(work_, in);
    d_->apply_dagger(out, work_);
  }
  void apply_dagger(typename Space::Vector& out, const typename Space::Vector& in) { apply(out, in); }

private:
  D* d_;
  typename Space::Vector work_;
};

/// A + shift, the same shift in every column. Refers to space and A, which must outlive it.
template <VectorSpace Space, OperatorOn<Space> A>
class ShiftedOperator {
public:
  ShiftedOperator(Space& space, A& a, Scalar shift)
      : space_(&space), a_(&a), shift_(static_cast<std::size_t>(space.columns()), shift) {}

  void apply(typename Space::Vector& out, const typename Space::Vector& in) {
    a_->apply(out, in);
    update(*space_, {add(out, shift_, in)});
  }

private:
  Space* space_;
  A* a_;
  Scalars shift_;
};

}  // namespace halocline::solve
