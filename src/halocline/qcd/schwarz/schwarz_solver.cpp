// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/schwarz_solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "halocline/core/error.hpp"
#include "halocline/qcd/schwarz/correction_problem.hpp"
#include "halocline/solve/bicgstab.hpp"
#include "halocline/solve/defect_correction.hpp"
#include "halocline/solve/gcr.hpp"

namespace halocline::qcd::schwarz {
namespace {

constexpr std::array<const char*, 3> outer_names{"bicgstab", "defect_correction", "gcr"};

/// The residual is replaced each time it fell by this factor: late enough to be cheap, early enough for float.
constexpr double replacement = 1e-2;

void require_known(const std::string& outer) {
  if (std::ranges::find(outer_names, outer) == outer_names.end())
    throw core::InvalidArgument(
        fmt::format("the outer solver around Schwarz is \"{}\"; give one of {}", outer, fmt::join(outer_names, ", ")));
}

}  // namespace

std::span<const char* const> outer_solvers() noexcept { return outer_names; }

struct SchwarzSolver::State {
  State(const DiracOperator<double>& d_given, const Matrix& matrix, const std::string& outer_given, int columns,
        const std::string& transport)
      : outer((require_known(outer_given), outer_given)),
        d(&d_given),
        schwarz(matrix, columns, transport),
        space(schwarz.layout(), columns),
        outer_space(d->layout(), lattice::Subset::full, columns),
        change(d->layout(), schwarz.layout()) {}

  solve::SolveResult reliable(SpinorField<double>& x, const SpinorField<double>& b, solve::SolveOptions options) {
    options.replacement = replacement;
    CorrectionProblem problem(space, InnerSystem{&schwarz, schwarz.linear()}, change, outer_space, *d, x, b, options);
    auto e = space.create();
    solve::SolveResult result;
    if (schwarz.linear()) {
      const solve::NoPreconditioner none;
      result = solve::bicgstab_on(problem, e, options, none);
    } else {
      DirectionPreconditioner k{&schwarz};
      result = solve::bicgstab_on(problem, e, options, k);
    }
    result.residual = problem.residuals();
    return result;
  }

  /// Solves D' e = r' = A^-1 r approximately, that is D e = r; r' has a norm of about one.
  solve::SolveResult correct(Schwarz::Field& e, const Schwarz::Field& r, const solve::SolveOptions& options) {
    InnerSystem a{&schwarz, schwarz.linear()};
    if (schwarz.linear()) {
      auto y = space.create();
      auto result = solve::bicgstab(space, a, y, r, options);
      schwarz.precondition(e, y);
      return result;
    }
    DirectionPreconditioner k{&schwarz};
    return solve::bicgstab(space, a, e, r, options, k);
  }

  solve::SolveResult defect(SpinorField<double>& x, const SpinorField<double>& b, const solve::SolveOptions& options) {
    const std::vector<double> ones(static_cast<std::size_t>(space.columns()), 1.0);
    const auto to_inner = [&](Schwarz::Field& out, const SpinorField<double>& in) {
      change.to_domains(out, in, ones);
      schwarz.multiply_inverse_clover(out);
    };
    const auto to_outer = [&](SpinorField<double>& out, const Schwarz::Field& in) { change.to_tiles(out, in, ones); };
    std::vector<double> reached = ones;
    int spent = 0;
    const auto inner = [&](Schwarz::Field& e, const Schwarz::Field& r) {
      auto result = correct(e, r, inner_options(options, reached, spent));
      // A converged column has nothing to correct, and reports the residual 0.
      for (std::size_t c = 0; c < reached.size(); ++c)
        if (result.residual[c] > 0) reached[c] *= result.residual[c];
      spent += result.iterations;
      return result;
    };
    return solve::defect_correction(outer_space, *d, x, b, space, inner, to_inner, to_outer, options);
  }

  /// The flexible preconditioner of an outer solver in double.
  struct RoughInverse {
    State* self;
    const solve::SolveOptions* options;
    std::vector<int> spent;

    void apply(SpinorField<double>& out, const SpinorField<double>& in) {
      auto& space = self->space;
      const auto pending = solve::reduce(self->outer_space, {{&in, &in}});
      std::vector<double> down, up;
      for (const solve::Scalar& norm2 : pending.wait()) {
        up.push_back(std::sqrt(norm2.real()));
        down.push_back(norm2.real() > 0 ? 1.0 / up.back() : 0.0);
      }
      auto r = space.create(), e = space.create();
      self->change.to_domains(r, in, down);
      self->schwarz.multiply_inverse_clover(r);
      const auto result = self->correct(
          e, r, inner_options(*options, std::vector<double>(spent.size(), 1.0), *std::ranges::max_element(spent)));
      for (std::size_t c = 0; c < spent.size(); ++c) spent[c] += result.column_iterations[c];
      self->change.to_tiles(out, e, up);
    }
  };

  solve::SolveResult gcr(SpinorField<double>& x, const SpinorField<double>& b, const solve::SolveOptions& options) {
    RoughInverse m{this, &options, std::vector<int>(static_cast<std::size_t>(space.columns()), 0)};
    solve::SolveOptions outer_options = options;
    bool exhausted = false;
    outer_options.progress = [&](int, double residual) {
      const int most = *std::ranges::max_element(m.spent);
      exhausted = most >= options.max_iterations;
      return !exhausted && (!options.progress || options.progress(most, residual));
    };
    solve::SolveResult result = solve::gcr(outer_space, *d, x, b, outer_options, m);
    for (std::size_t c = 0; c < m.spent.size(); ++c) {
      result.column_iterations[c] = m.spent[c];
      if (exhausted && result.reasons[c] == solve::Reason::cancelled)
        result.reasons[c] = solve::Reason::iteration_limit;
    }
    if (exhausted && result.reason == solve::Reason::cancelled) result.reason = solve::Reason::iteration_limit;
    result.iterations = *std::ranges::max_element(m.spent);
    return result;
  }

  /// Options of an inner solve. It solves each column only to the accuracy that the column still lacks, within the
  /// iterations that are left.
  static solve::SolveOptions inner_options(const solve::SolveOptions& options, const std::vector<double>& reached,
                                           int spent) {
    solve::SolveOptions inner;
    for (std::size_t c = 0; c < reached.size(); ++c) {
      const double wanted = options.column_tolerance.empty() ? options.tolerance : options.column_tolerance[c];
      inner.column_tolerance.push_back(
          std::clamp(0.5 * wanted / std::max(reached[c], 1e-300), options.inner_tolerance, 0.1));
    }
    inner.max_iterations = std::max(1, options.max_iterations - spent);
    inner.stagnation_window = options.stagnation_window;
    if (options.progress)
      inner.progress = [&options, spent, from = *std::ranges::max_element(reached)](int iteration, double residual) {
        return options.progress(spent + iteration, from * residual);
      };
    return inner;
  }

  std::string outer;
  const DiracOperator<double>* d;
  Schwarz schwarz;
  DomainSpace space;
  SpinorSpace<double> outer_space;
  LayoutChange change;
};

SchwarzSolver::SchwarzSolver(const DiracOperator<double>& d, const GaugeField& gauge, const WilsonCloverAction& action,
                             const Parameters& parameters, const std::string& outer, int columns,
                             const std::string& transport)
    : SchwarzSolver(d, Matrix(gauge, action, parameters, columns), outer, columns, transport) {}
SchwarzSolver::SchwarzSolver(const DiracOperator<double>& d, const Matrix& matrix, const std::string& outer,
                             int columns, const std::string& transport)
    : state_(std::make_unique<State>(d, matrix, outer, columns, transport)) {}
SchwarzSolver::~SchwarzSolver() = default;
SchwarzSolver::SchwarzSolver(SchwarzSolver&&) noexcept = default;

const Schwarz& SchwarzSolver::preconditioner() const noexcept { return state_->schwarz; }
int SchwarzSolver::columns() const noexcept { return state_->space.columns(); }

solve::SolveResult SchwarzSolver::solve(SpinorField<double>& x, const SpinorField<double>& b,
                                        const solve::SolveOptions& options) {
  auto& self = *state_;
  for (const SpinorField<double>* field : {static_cast<const SpinorField<double>*>(&x), &b})
    if (field->layout_ptr() != self.d->layout() || field->subset() != lattice::Subset::full ||
        field->columns() != self.space.columns())
      throw core::InvalidArgument(fmt::format(
          "the Schwarz solver needs full fields of {} columns in the layout of its operator", self.space.columns()));
  if (self.outer == "gcr") return self.gcr(x, b, options);
  if (self.outer == "defect_correction") return self.defect(x, b, options);
  return self.reliable(x, b, options);
}

}  // namespace halocline::qcd::schwarz
