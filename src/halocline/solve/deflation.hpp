// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Deflation: a few vectors V that approximate the low modes of an operator A take them out of the iteration.
///
/// With U = A V and vectors L of the same number, the matrix H = L^dagger U is small and is inverted exactly. So V need
/// neither be orthonormal nor consist of eigenvectors; better vectors only save more iterations.
///
///   Q = V H^-1 L^dagger       the part of the solution in the span of V: a first guess x0 = Q b
///   P = 1 - U H^-1 L^dagger   projects the residual; P U = 0, and 1 - A Q = P
///
/// Galerkin takes L = V (after V was made orthonormal). For a hermitian A, the operator P A is hermitian too. Minimal
/// residual takes L = U, made orthonormal with V transformed alike; P is then an orthogonal projector, whatever A is.
///
/// The deflated system is P A x = P b, from the left (Frank and Vuik, SIAM J. Sci. Comput. 23 (2001) 442). Its residual
/// P (b - A x) is the residual of x + Q (b - A x). So a solver iterates on P A as on any operator, and at the end of
/// each cycle x is corrected by Q (b - A x), which gives it the same residual. `DeflatedProblem` does this for every
/// solver of problem.hpp. Conjugate gradients on P A with Galerkin vectors make the iterates of deflated CG (Saad,
/// Yeung, Erhel and Guyomarc'h, SIAM J. Sci. Comput. 21 (2000) 1909), whose search directions differ by
/// vectors of the span of V. The convergence depends on the condition number of A without the deflated modes.

#include <algorithm>
#include <cmath>
#include <optional>

#include "halocline/solve/bicgstab.hpp"
#include "halocline/solve/cg.hpp"
#include "halocline/solve/cg_normal.hpp"
#include "halocline/solve/detail/gram_schmidt.hpp"
#include "halocline/solve/detail/small_matrix.hpp"
#include "halocline/solve/shared_vectors.hpp"

namespace halocline::solve {

/// The vectors L of deflation.
enum class Projection {
  galerkin,          ///< L = V: for a hermitian A
  minimal_residual,  ///< L = U: for any A
};

/// The vectors V and U, and the inverse of H. They are vectors of a space of one column and serve batches of any width.
template <VectorSpace Space>
class Deflation {
public:
  using Vector = typename Space::Vector;

  /// No vectors: Q = 0 and P = 1.
  explicit Deflation(Projection projection = Projection::galerkin) : projection_(projection) {}

  /// @param space    of one column
  /// @param a        the operator of the systems to be solved
  /// @param vectors  taken over. A vector that is linearly dependent on those before it is dropped: its remainder, or
  ///                 with minimal residual that of A v, is below 1e-6 of its norm. So is one that is not finite, or
  ///                 whose image under A is not.
  /// @throws InvalidArgument  a space of several columns; on every process
  /// Collective. Cost: one application for each vector, O(k^2) vector operations; 2 k vectors.
  template <class A>
    requires OperatorOn<A, Space>
  Deflation(Space& space, A& a, std::vector<Vector> vectors, Projection projection = Projection::galerkin)
      : projection_(projection) {
    if (space.columns() != 1)
      throw core::InvalidArgument("deflation: vectors of " + std::to_string(space.columns()) +
                                  " columns given, a space of one column expected");
    extend(space, a, std::move(vectors));
  }

  /// Takes further vectors, under the same conditions. Collective. Cost: for each of them one application and O(k)
  /// vector operations.
  template <class A>
    requires OperatorOn<A, Space>
  void extend(Space& space, A& a, std::vector<Vector> vectors) {
    const std::size_t old = size();
    for (Vector& v : vectors) append(space, a, std::move(v));
    measure(space, old);
    inverse_ = detail::inverse(size(), h_);
  }

  /// Number of vectors that were kept.
  std::size_t size() const noexcept { return v_.size(); }
  Projection projection() const noexcept { return projection_; }
  /// The kept vectors: orthonormal with Galerkin, with orthonormal images otherwise.
  const std::vector<Vector>& vectors() const noexcept { return v_; }

  /// x = Q b in every column: the solution within the span of V. Collective. Cost: 2 passes over k vectors.
  template <VectorSpace Batch>
  void guess(Batch& space, Vector& x, const Vector& b) const {
    space.set_zero(x);
    correct(space, x, b, {});
  }

  /// x += mask Q r, for a mask of one entry for each column; an empty mask is one in every column. Collective.
  template <VectorSpace Batch>
  void correct(Batch& space, Vector& x, const Vector& r, std::span<const Scalar> mask) const {
    combine(space, x, v_, projection_ == Projection::galerkin ? v_ : u_, r, false, 1.0, mask);
  }

  /// r = P r in the columns whose mask is one; an empty mask is one in every column. Collective. Cost: 2 passes over k
  /// vectors.
  template <VectorSpace Batch>
  void project(Batch& space, Vector& r, std::span<const Scalar> mask = {}) const {
    combine(space, r, u_, projection_ == Projection::galerkin ? v_ : u_, r, false, -1.0, mask);
  }

  /// r = P^dagger r. Collective. Cost: 2 passes over k vectors.
  template <VectorSpace Batch>
  void project_dagger(Batch& space, Vector& r) const {
    combine(space, r, projection_ == Projection::galerkin ? v_ : u_, u_, r, true, -1.0, {});
  }

private:
  // A remainder this small against the vector is not a direction of its own, in single precision either.
  static constexpr double dependent2 = 1e-12;

  static std::vector<const Vector*> pointers(const std::vector<Vector>& vectors) {
    std::vector<const Vector*> out;
    for (const Vector& v : vectors) out.push_back(&v);
    return out;
  }

  // Orthonormalises w against `basis`; false if it is dependent or not finite. `partner` is transformed alike.
  bool orthonormalise(Space& space, const std::vector<Vector>& basis, Vector& w, Vector* partner) {
    const auto against = pointers(basis);
    const auto ortho = detail::orthogonalise(space, std::span<const Vector* const>(against), {}, w);
    if (!std::isfinite(ortho.norm2[0]) || !(ortho.norm2[0] > dependent2 * ortho.before2[0])) return false;
    const Scalars inverse{1.0 / std::sqrt(ortho.norm2[0])};
    if (!std::isfinite(inverse[0].real())) return false;
    update(space, {solve::scale(w, inverse)});
    if (!partner) return true;
    for (std::size_t i = 0; i < v_.size(); ++i) {
      const Scalars minus{-ortho.coefficients[i]};
      update(space, {add(*partner, minus, v_[i])});
    }
    update(space, {solve::scale(*partner, inverse)});
    return true;
  }

  template <class A>
  void append(Space& space, A& a, Vector v) {
    const bool galerkin = projection_ == Projection::galerkin;
    if (galerkin && !orthonormalise(space, v_, v, nullptr)) return;
    Vector u = space.create();
    a.apply(u, v);
    if (!galerkin && !orthonormalise(space, u_, u, &v)) return;
    const auto norms = reduce(space, {{&v, &v}, {&u, &u}});
    if (!std::isfinite(norms.wait()[0].real()) || !std::isfinite(norms.wait()[1].real())) return;
    v_.push_back(std::move(v));
    u_.push_back(std::move(u));
  }

  // H, of which the upper left corner of `old` rows is known.
  void measure(Space& space, std::size_t old) {
    const auto left = pointers(projection_ == Projection::galerkin ? v_ : u_);
    const std::size_t k = size();
    std::vector<Scalar> h(k * k);
    for (std::size_t j = 0; j < k; ++j) {
      const std::size_t first = j < old ? old : 0;  // the rows above are known
      for (std::size_t i = 0; i < first; ++i) h[j * k + i] = h_[j * old + i];
      if (first == k) continue;
      const auto pending = shared_dots(space, std::span<const Vector* const>(left).subspan(first), u_[j]);
      std::ranges::copy(std::span<const Scalar>(pending.wait()),
                        h.begin() + static_cast<std::ptrdiff_t>(j * k + first));
    }
    h_ = std::move(h);
  }

  // target += sign mask right M left^dagger r, where M is H^-1 or its adjoint.
  template <VectorSpace Batch>
  void combine(Batch& space, Vector& target, const std::vector<Vector>& right, const std::vector<Vector>& left,
               const Vector& r, bool adjoint, double sign, std::span<const Scalar> mask) const {
    require_sharing(space);
    const std::size_t k = size(), columns = static_cast<std::size_t>(space.columns());
    if (k == 0) return;
    const auto bras = pointers(left), kets = pointers(right);
    const auto pending = shared_dots(space, std::span<const Vector* const>(bras), r);
    const std::span<const Scalar> dots = pending.wait();
    Scalars coefficients(k * columns);
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t c = 0; c < columns; ++c) {
        if (!mask.empty() && mask[c] == 0.0) continue;
        Scalar sum = 0.0;
        for (std::size_t j = 0; j < k; ++j)
          sum += (adjoint ? std::conj(inverse_[i * k + j]) : inverse_[j * k + i]) * dots[j * columns + c];
        coefficients[i * columns + c] = sign * sum;
      }
    }
    shared_add(space, target, coefficients, std::span<const Vector* const>(kets));
  }

  Projection projection_;
  std::vector<Vector> v_, u_;
  std::vector<Scalar> h_, inverse_;  // H and its inverse, (row, column) at [column * k + row]
};

/// The replacement within a cycle of a deflated recursion.
enum class Replacement {
  recompute,  ///< x += Q (b - A x) and r = P (b - A x): two applications
  project,    ///< r = P r. The change of x that belongs to it follows at the end of the cycle
};

/// The deflated system P A x = P b of a system A x = b, in the form on which a solver iterates. Its x has the residual
/// of the recursion whenever a residual was recomputed. Refers to its arguments, which must outlive it.
///
/// Rounding errors give r a part outside the range of P, which the recursion cannot see and does not reduce. When the
/// rest has become as small, the search directions run off along the vectors V. So r must be projected from time to
/// time: give CG, its kind on the normal equations, and BiCGStab an options.replacement. Each cycle starts so too.
template <class Base, VectorSpace Single>
class DeflatedProblem {
public:
  using Space = typename Base::Space;
  using Vector = typename Base::Vector;

  /// @throws InvalidArgument  the space of the problem has several columns and no products with shared vectors
  DeflatedProblem(Base& base, const Deflation<Single>& deflation, Replacement replacement = Replacement::recompute)
      : base_(&base),
        deflation_(&deflation),
        replacement_(replacement),
        corrected_norms2_(base.source_norms2().size(), std::nan("")) {
    require_sharing(base.space());
  }

  Space& space() const { return base_->space(); }
  const std::vector<double>& source_norms2() const { return base_->source_norms2(); }
  Timings& timings() { return base_->timings(); }

  void apply(Vector& out, const Vector& in) {
    base_->apply(out, in);
    deflation_->project(space(), out);
  }
  void apply_dagger(Vector& out, const Vector& in)
    requires requires(Base& base) { base.apply_dagger(out, in); }
  {
    if (!work_) work_.emplace(space().create());
    space().copy(*work_, in);
    deflation_->project_dagger(space(), *work_);
    base_->apply_dagger(out, *work_);
  }
  template <class Preconditioner>
  void precondition(Preconditioner& m, Vector& out, const Vector& in) {
    base_->precondition(m, out, in);
  }

  std::vector<double> start(Vector& x, Vector& r, bool use_initial_guess) {
    return base_->start(x, r, use_initial_guess);
  }
  /// r = P r. Every cycle starts like this, so that rounding errors of r outside the range of P do not stay.
  std::vector<double> enter_cycle(Vector& r) {
    deflation_->project(space(), r);
    return detail::real_parts(reduce(space(), {{&r, &r}}).wait());
  }
  std::vector<double> replace_residual(Vector& x, Vector& r) {
    std::vector<double> norms2 = base_->replace_residual(x, r);
    return deflation_->size() == 0 ? norms2 : corrected(x, r, std::move(norms2));
  }
  std::vector<double> replace_residual(Vector& x, Vector& r, std::span<const Scalar> mask) {
    if (replacement_ == Replacement::recompute && deflation_->size() > 0) {
      base_->replace_residual(x, r, mask);
      deflation_->correct(space(), x, r, mask);
    }
    if (replacement_ == Replacement::recompute) base_->replace_residual(x, r, mask);
    deflation_->project(space(), r, mask);
    return detail::real_parts(reduce(space(), {{&r, &r}}).wait());
  }

private:
  // x += Q r, and the residual of the new x. A finished column comes back with the residual that its last correction
  // left. It is not corrected again: its result must not depend on how long its neighbours take.
  std::vector<double> corrected(Vector& x, Vector& r, std::vector<double> norms2) {
    Scalars mask;
    bool any = false;
    for (std::size_t c = 0; c < norms2.size(); ++c) {
      const bool changed = norms2[c] > 0.0 && std::isfinite(norms2[c]) && norms2[c] != corrected_norms2_[c];
      mask.emplace_back(changed ? 1.0 : 0.0);
      any = any || changed;
    }
    if (!any) return norms2;
    deflation_->correct(space(), x, r, mask);
    const std::vector<double> exact = base_->replace_residual(x, r, mask);
    for (std::size_t c = 0; c < norms2.size(); ++c)
      if (mask[c] != 0.0) norms2[c] = corrected_norms2_[c] = exact[c];
    return norms2;
  }

  Base* base_;
  const Deflation<Single>* deflation_;
  Replacement replacement_;
  std::vector<double> corrected_norms2_;  // |r|^2 after the last correction of each column
  std::optional<Vector> work_;
};

namespace detail {
inline void require_projection(Projection given, Projection expected, const char* who) {
  if (given != expected)
    throw core::InvalidArgument(
        std::string(who) + ": deflation of the kind " +
        (expected == Projection::galerkin ? "minimal_residual given, galerkin" : "galerkin given, minimal_residual") +
        " expected");
}

/// Solves by `solve`, callable (problem, options). Unless options.replacement asks for more, r is projected whenever it
/// fell by a factor of ten.
template <class Space, class A, class Solve>
SolveResult deflated(Space& space, A& a, const Deflation<Space>& deflation, const typename Space::Vector& b,
                     SolveOptions options, Solve&& solve) {
  LinearProblem<Space, A> problem(space, a, b);
  const bool recompute = options.replacement > 0.0;
  if (!recompute && deflation.size() > 0) options.replacement = 0.1;
  DeflatedProblem<LinearProblem<Space, A>, Space> deflated_problem(
      problem, deflation, recompute ? Replacement::recompute : Replacement::project);
  return solve(deflated_problem, options);
}
}  // namespace detail

/// Solves A x = b by conjugate gradients, deflated. Collective.
/// @param a          hermitian positive
/// @param deflation  of A, Galerkin
/// @param x          the solution; on entry the initial guess if options.use_initial_guess
/// @throws InvalidArgument  another kind of deflation; on every process
/// Cost: that of cg, one application more, and in each iteration one more reduction and 2 passes over the vectors of
/// the deflation.
template <VectorSpace Space, class A>
  requires OperatorOn<A, Space>
SolveResult deflated_cg(Space& space, A& a, const Deflation<Space>& deflation, typename Space::Vector& x,
                        const typename Space::Vector& b, const SolveOptions& options = {}) {
  detail::require_projection(deflation.projection(), Projection::galerkin, "deflated_cg");
  return detail::deflated(space, a, deflation, b, options,
                          [&](auto& problem, const SolveOptions& own) { return cg_on(problem, x, own); });
}

/// Solves D x = b by conjugate gradients on the normal equations, deflated: those of P D x = P b, whose operator is the
/// deflated D^dagger D. Collective.
/// @param deflation  of D, minimal residual, from approximations of the right singular vectors of D with the smallest
///                   singular values
/// @throws InvalidArgument  another kind of deflation; on every process
/// Cost: that of cg_normal, and in each iteration 2 more reductions and 4 passes over the vectors of the deflation.
template <VectorSpace Space, class D>
  requires AdjointOperatorOn<D, Space>
SolveResult deflated_cg_normal(Space& space, D& d, const Deflation<Space>& deflation, typename Space::Vector& x,
                               const typename Space::Vector& b, const SolveOptions& options = {}) {
  detail::require_projection(deflation.projection(), Projection::minimal_residual, "deflated_cg_normal");
  return detail::deflated(space, d, deflation, b, options,
                          [&](auto& problem, const SolveOptions& own) { return cg_normal_on(problem, x, own); });
}

/// Solves A x = b by BiCGStab on P A x = P b, preconditioned from the right by M. Collective.
/// @param deflation  of A, of either kind
/// @param m          approximates the inverse of A
/// Cost: that of bicgstab, and in each iteration 2 more reductions and 4 passes over the vectors of the deflation.
template <VectorSpace Space, class A, class M>
  requires OperatorOn<A, Space> && PreconditionerOn<M, Space>
SolveResult deflated_bicgstab(Space& space, A& a, const Deflation<Space>& deflation, typename Space::Vector& x,
                              const typename Space::Vector& b, const SolveOptions& options, M& m) {
  return detail::deflated(space, a, deflation, b, options,
                          [&](auto& problem, const SolveOptions& own) { return bicgstab_on(problem, x, own, m); });
}

/// As above, without a preconditioner.
template <VectorSpace Space, class A>
  requires OperatorOn<A, Space>
SolveResult deflated_bicgstab(Space& space, A& a, const Deflation<Space>& deflation, typename Space::Vector& x,
                              const typename Space::Vector& b, const SolveOptions& options = {}) {
  const NoPreconditioner none;
  return deflated_bicgstab(space, a, deflation, x, b, options, none);
}

}  // namespace halocline::solve
