// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The system D x = b for a solver on domains (solve/problem.hpp): residuals of norm one and less in float, the
/// solution and the true residual in double on the tiles of the plain operator.
///
/// The inner residual is r' = s A^-1 (b - D x), and the inner solution e stands for x + K e / s, or x + e / s where the
/// search directions are preconditioned explicitly. The inner system is a template argument, so it may also be that of
/// the adjoint, or one with further terms. At every start of the recursion, the number s of each column is set
/// so that |r'| = `margin` |b - D x| / |b|. Until the next start, |r'| is only an estimate of this, as A^-1 is not a
/// number. The margin makes it err on the safe side, and convergence is decided by the residual in double.

#include <cmath>
#include <span>
#include <vector>

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/schwarz/domain_space.hpp"
#include "halocline/qcd/schwarz/layout_change.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"
#include "halocline/solve/problem.hpp"

namespace halocline::qcd::schwarz {

/// The inner system of the Schwarz solver: D' K where K is linear, D' otherwise.
struct InnerSystem {
  Schwarz* schwarz;
  bool composed;
  /// The operator of the recursion.
  void apply(Schwarz::Field& out, const Schwarz::Field& in) {
    if (composed)
      schwarz->apply_preconditioned(out, in);
    else
      schwarz->apply(out, in);
  }
  /// Makes the inner residual of the outer one, in place.
  void prepare(Schwarz::Field& r) { schwarz->multiply_inverse_clover(r); }
  /// The correction of x that belongs to e, which may be kept in `work`.
  const Schwarz::Field& correction(Schwarz::Field& work, const Schwarz::Field& e) {
    if (!composed) return e;
    schwarz->precondition(work, e);
    return work;
  }
};

/// K as a preconditioner of the search directions.
struct DirectionPreconditioner {
  Schwarz* schwarz;
  void apply(Schwarz::Field& out, const Schwarz::Field& in) { schwarz->precondition(out, in); }
};

/// Refers to its arguments, which must outlive it; holds a copy of `inner`.
/// @tparam Inner  with the members of InnerSystem
template <class Inner>
class CorrectionProblem {
public:
  using Space = DomainSpace;
  using Vector = Schwarz::Field;
  using Outer = solve::LinearProblem<SpinorSpace<double>, const SpinorOperator<double>>;

  CorrectionProblem(DomainSpace& space, const Inner& inner, const LayoutChange& change,
                    SpinorSpace<double>& outer_space, const SpinorOperator<double>& d, SpinorField<double>& x,
                    const SpinorField<double>& b, const solve::SolveOptions& options)
      : space_(&space),
        a_(inner),
        change_(&change),
        outer_space_(&outer_space),
        outer_(outer_space, d, b),
        x_(&x),
        outer_r_(outer_space.create()),
        outer_e_(outer_space.create()),
        inner_(space.create()),
        tolerance_(options.column_tolerance) {
    tolerance_.resize(outer_.source_norms2().size(), options.tolerance);
    for (const double norm2 : outer_.source_norms2()) {
      source_norms2_.push_back(norm2 > 0 ? 1.0 : norm2);
      to_unit_.push_back(norm2 > 0 ? 1.0 / std::sqrt(norm2) : 0.0);
    }
    scale_.assign(to_unit_.size(), 0.0);
  }

  DomainSpace& space() const { return *space_; }
  /// 1 for each column; 0 where the source is zero, NaN where it holds a NaN.
  const std::vector<double>& source_norms2() const { return source_norms2_; }
  solve::Timings& timings() { return outer_.timings(); }
  /// |b - D x| / |b| when it was last computed.
  const std::vector<double>& residuals() const { return residuals_; }

  void apply(Vector& out, const Vector& in) {
    const solve::detail::Stopwatch watch(timings().apply);
    a_.apply(out, in);
  }
  template <class Preconditioner>
  void precondition(Preconditioner& m, Vector& out, const Vector& in) {
    const solve::detail::Stopwatch watch(timings().precondition);
    m.apply(out, in);
  }

  std::vector<double> start(Vector& e, Vector& r, bool use_initial_guess) {
    space_->set_zero(e);
    return calibrate(r, outer_.start(*x_, outer_r_, use_initial_guess));
  }

  std::vector<double> replace_residual(Vector& e, Vector& r) {
    collect(e, solve::Scalars(scale_.size(), 1.0));
    space_->set_zero(e);
    return calibrate(r, outer_.replace_residual(*x_, outer_r_));
  }

  std::vector<double> replace_residual(Vector& e, Vector& r, std::span<const solve::Scalar> mask) {
    solve::Scalars keep;
    for (const solve::Scalar& m : mask) keep.push_back(1.0 - m);
    collect(e, mask);
    const std::vector<double> norms2 = outer_.replace_residual(*x_, outer_r_);
    change_->to_domains(inner_, outer_r_, scale_);
    a_.prepare(inner_);
    const auto pending =
        solve::update_and_reduce(*space_, {solve::scale(e, keep), solve::scale_add(r, keep, mask, inner_)}, {{&r, &r}});
    remember(norms2);
    return solve::detail::real_parts(pending.wait());
  }

private:
  static constexpr double margin = 1.1;

  void remember(std::span<const double> norms2) {
    residuals_.clear();
    for (std::size_t c = 0; c < norms2.size(); ++c)
      residuals_.push_back(to_unit_[c] > 0 ? std::sqrt(norms2[c]) * to_unit_[c] : outer_.source_norms2()[c]);
  }

  /// Computes r from the present outer residual, with new scales. Returns |r|^2; for a column that has reached its
  /// tolerance, the square of its outer residual.
  std::vector<double> calibrate(Vector& r, const std::vector<double>& norms2) {
    remember(norms2);
    std::vector<double> factor(norms2.size(), 0.0);
    for (std::size_t c = 0; c < norms2.size(); ++c)
      if (residuals_[c] > 0) factor[c] = 1.0 / std::sqrt(norms2[c]);
    change_->to_domains(r, outer_r_, factor);
    a_.prepare(r);
    const auto pending = solve::reduce(*space_, {{&r, &r}});
    const std::vector<double> inner2 = solve::detail::real_parts(pending.wait());
    solve::Scalars stretch;
    std::vector<double> result;
    for (std::size_t c = 0; c < norms2.size(); ++c) {
      const double wanted = margin * residuals_[c];
      stretch.emplace_back(inner2[c] > 0 ? wanted / std::sqrt(inner2[c]) : 0.0);
      scale_[c] = factor[c] * stretch.back().real();
      result.push_back(residuals_[c] <= tolerance_[c] ? residuals_[c] * residuals_[c] : wanted * wanted);
    }
    solve::update(*space_, {solve::scale(r, stretch)});
    return result;
  }

  /// x += e / s, or K e / s, in the columns where mask is one.
  void collect(const Vector& e, std::span<const solve::Scalar> mask) {
    std::vector<double> back;
    for (std::size_t c = 0; c < scale_.size(); ++c)
      back.push_back(scale_[c] > 0 && mask[c] != 0.0 ? 1.0 / scale_[c] : 0.0);
    const Vector* correction = nullptr;
    {
      const solve::detail::Stopwatch watch(timings().precondition);
      correction = &a_.correction(inner_, e);
    }
    change_->to_tiles(outer_e_, *correction, back);
    solve::update(*outer_space_, {solve::add(*x_, mask, outer_e_)});
  }

  DomainSpace* space_;
  Inner a_;
  const LayoutChange* change_;
  SpinorSpace<double>* outer_space_;
  Outer outer_;
  SpinorField<double>* x_;
  SpinorField<double> outer_r_, outer_e_;
  Vector inner_;
  std::vector<double> tolerance_, source_norms2_, to_unit_, scale_, residuals_;
};

}  // namespace halocline::qcd::schwarz
