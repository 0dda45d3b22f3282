// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The system A x = b, in the form on which a solver iterates.
///
/// A solver iterates on a *problem*: it applies the operator, and at times asks for the residual to be recomputed from
/// x. `LinearProblem` does this in the solver's own space. `ReliableProblem` (reliable_update.hpp) has the same
/// members, but holds the solution and the right-hand side in another, more precise space. This makes every solver a
/// mixed-precision solver.

#include <chrono>
#include <initializer_list>
#include <limits>

#include "halocline/solve/detail/monitor.hpp"
#include "halocline/solve/operators.hpp"
#include "halocline/solve/recursion.hpp"

namespace halocline::solve {

namespace detail {
using Clock = std::chrono::steady_clock;

/// Adds the lifetime of the object to a number of seconds.
class Stopwatch {
public:
  explicit Stopwatch(double& seconds) : seconds_(&seconds), start_(Clock::now()) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() { *seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

private:
  double* seconds_;
  Clock::time_point start_;
};

/// The real parts of sums, for sums of |.|^2.
inline std::vector<double> real_parts(std::span<const Scalar> sums) {
  std::vector<double> out;
  out.reserve(sums.size());
  for (const Scalar& value : sums) out.push_back(value.real());
  return out;
}

/// |b|^2 of each column. It is NaN, which no solver calls converged, if b is not zero but so small that its square, or
/// that of a residual of 1e-16 |b|, underflows in double. Otherwise the underflow to zero would look like a zero
/// source.
/// @param work  overwritten
template <VectorSpace Space>
std::vector<double> source_norms2(Space& space, const typename Space::Vector& b, typename Space::Vector& work) {
  constexpr double least = 0x1p-900;
  std::vector<double> norms2 = real_parts(reduce(space, {{&b, &b}}).wait());
  Scalars up;
  bool any = false;
  for (const double norm2 : norms2) {
    up.emplace_back(norm2 < least ? 0x1p100 : 0.0);
    any = any || norm2 < least;
  }
  if (!any) return norms2;
  // Scaling six times by 2^100, a factor that single precision can hold, makes the square of any non-zero number
  // representable.
  space.copy(work, b);
  const auto enlarged = update_and_reduce(
      space, {scale(work, up), scale(work, up), scale(work, up), scale(work, up), scale(work, up), scale(work, up)},
      {{&work, &work}});
  const auto sums = enlarged.wait();
  for (std::size_t c = 0; c < norms2.size(); ++c)
    if (norms2[c] < least) norms2[c] = sums[c] == 0.0 ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  return norms2;
}

/// Sets the solution to zero in columns with a zero source, even if the initial guess is not zero.
template <VectorSpace Space>
void clear_sourceless(Space& space, typename Space::Vector& x, std::span<const double> source_norms2) {
  Scalars keep;
  bool any = false;
  for (const double norm2 : source_norms2) {
    keep.emplace_back(norm2 == 0.0 ? 0.0 : 1.0);
    any = any || norm2 == 0.0;
  }
  if (any) update(space, {scale(x, keep)});
}

/// Lets the problem change r before a cycle iterates on it (deflation.hpp projects it); |r|^2 afterwards. Most problems
/// leave it, and `norms2` is returned.
template <class Problem>
std::vector<double> enter_cycle(Problem& problem, typename Problem::Vector& r, std::vector<double> norms2) {
  if constexpr (requires { problem.enter_cycle(r); }) {
    return problem.enter_cycle(r);
  } else {
    return norms2;
  }
}

/// out = A in, and dot products of the result: in one pass if the operator offers it, otherwise in two steps.
template <class Problem>
auto apply_and_reduce(Problem& problem, typename Problem::Vector& out, const typename Problem::Vector& in,
                      std::initializer_list<Dot<typename Problem::Vector>> dots) {
  const std::span<const Dot<typename Problem::Vector>> list(dots.begin(), dots.size());
  if constexpr (requires { problem.apply_and_reduce(out, in, list); }) {
    return problem.apply_and_reduce(out, in, list);
  } else {
    problem.apply(out, in);
    return reduce(problem.space(), dots);
  }
}
/// The same for the adjoint.
template <class Problem>
auto apply_dagger_and_reduce(Problem& problem, typename Problem::Vector& out, const typename Problem::Vector& in,
                             std::initializer_list<Dot<typename Problem::Vector>> dots) {
  const std::span<const Dot<typename Problem::Vector>> list(dots.begin(), dots.size());
  if constexpr (requires { problem.apply_dagger_and_reduce(out, in, list); }) {
    return problem.apply_dagger_and_reduce(out, in, list);
  } else {
    problem.apply_dagger(out, in);
    return reduce(problem.space(), dots);
  }
}
}  // namespace detail

/// The system A x = b in one space. Refers to its arguments, which must outlive it. Holds one work vector.
template <VectorSpace SpaceType, OperatorOn<SpaceType> Operator>
class LinearProblem {
public:
  using Space = SpaceType;
  using Vector = typename Space::Vector;

  LinearProblem(Space& space, Operator& a, const Vector& b)
      : space_(&space), a_(&a), b_(&b), work_(space.create()), source_norms2_(detail::source_norms2(space, b, work_)) {}

  Space& space() const { return *space_; }
  const std::vector<double>& source_norms2() const { return source_norms2_; }
  Timings& timings() { return timings_; }

  void apply(Vector& out, const Vector& in) {
    const detail::Stopwatch watch(timings_.apply);
    a_->apply(out, in);
  }
  void apply_dagger(Vector& out, const Vector& in)
    requires AdjointOperatorOn<Operator, Space>
  {
    const detail::Stopwatch watch(timings_.apply);
    a_->apply_dagger(out, in);
  }
  auto apply_and_reduce(Vector& out, const Vector& in, std::span<const Dot<Vector>> dots)
    requires ReducingOperatorOn<Operator, Space>
  {
    const detail::Stopwatch watch(timings_.apply);
    return a_->apply_and_reduce(*space_, out, in, dots);
  }
  auto apply_dagger_and_reduce(Vector& out, const Vector& in, std::span<const Dot<Vector>> dots)
    requires ReducingAdjointOperatorOn<Operator, Space>
  {
    const detail::Stopwatch watch(timings_.apply);
    return a_->apply_dagger_and_reduce(*space_, out, in, dots);
  }
  template <class Preconditioner>
  void precondition(Preconditioner& m, Vector& out, const Vector& in) {
    const detail::Stopwatch watch(timings_.precondition);
    m.apply(out, in);
  }

  /// The operator's recursion (recursion.hpp) if it has one.
  auto* recursion()
    requires requires(Operator& a, Space& space) { a.recursion(space); }
  {
    return a_->recursion(*space_);
  }

  /// Prepares x and sets r = b - A x; returns |r|^2 of each column. Without a guess the operator is not applied.
  std::vector<double> start(Vector& x, Vector& r, bool use_initial_guess) {
    if (use_initial_guess) {
      detail::clear_sourceless(*space_, x, source_norms2_);
      return replace_residual(x, r);
    }
    space_->set_zero(x);
    space_->copy(r, *b_);
    return source_norms2_;
  }

  /// r = b - A x in every column; returns |r|^2.
  std::vector<double> replace_residual(Vector& x, Vector& r) {
    apply(work_, x);
    const Scalars minus_one(source_norms2_.size(), Scalar(-1.0));
    return detail::real_parts(update_and_reduce(*space_, {assign(r, {}, *b_, minus_one, work_)}, {{&r, &r}}).wait());
  }

  /// The same in the columns whose mask is one; r is unchanged in columns whose mask is zero.
  std::vector<double> replace_residual(Vector& x, Vector& r, std::span<const Scalar> mask) {
    apply(work_, x);
    Scalars keep, minus;
    for (const Scalar& m : mask) {
      keep.push_back(1.0 - m);
      minus.push_back(-m);
    }
    return detail::real_parts(
        update_and_reduce(*space_, {scale_add(r, keep, mask, *b_, minus, work_)}, {{&r, &r}}).wait());
  }

private:
  Space* space_;
  Operator* a_;
  const Vector* b_;
  Vector work_;
  std::vector<double> source_norms2_;
  Timings timings_;
};

}  // namespace halocline::solve
