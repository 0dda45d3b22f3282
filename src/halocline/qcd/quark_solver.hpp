// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// D x = b from a source to a solution in canonical order: the one call that measurements need.
///
/// Even-odd preconditioning, the Krylov method and the change of precision are chosen by name; whatever is chosen, the
/// residual that is reported is |b - D x| / |b| of the full operator, recomputed in double. A method that stagnates or
/// breaks down is named, and `auto` goes on with conjugate gradients on the normal equations, which cannot break down.

#include <complex>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halocline/qcd/action.hpp"

namespace halocline::qcd {

class GaugeField;

struct SolverParameters {
  std::string kind = "auto";        ///< "auto", "bicgstab", "cg" (normal equations), "gcr", "fgmres"
  double tolerance = 1e-10;         ///< on |b - D x| / |b|
  int max_iterations = 10000;       ///< of the Krylov method, in all
  std::string precision = "mixed";  ///< "mixed": float inside, double outside; or "double"
  bool even_odd = true;             ///< solve the Schur complement instead of D
  std::string schur = "symmetric";  ///< "symmetric" or "asymmetric"
  int restart_length = 20;          ///< k of GCR(k) and FGMRES(k)
  int lanes = 16;                   ///< most lanes of the layout; 16 but in tests
  std::string transport{};          ///< of the halo; empty for the default

  /// @throws InvalidArgument  for an unknown name (the known ones are listed) or an impossible number
  void validate() const;
};

struct SolveReport {
  bool converged = false;
  std::string reason;           ///< solve::name(...): "converged", "iteration_limit", "stagnation", "breakdown", ...
  std::string method;           ///< what was run, e.g. "even-odd bicgstab, mixed precision"
  int iterations = 0;           ///< of the Krylov method
  double residual = 0;          ///< |b - D x| / |b| of the full operator in double
  double seconds = 0;           ///< wall clock
  std::vector<double> history;  ///< relative residual of the recursion after each iteration
};

/// Holds the operator in the precisions that the method needs.
class QuarkSolver {
public:
  /// Called with the number of iterations and the residual of the recursion; false ends the solve as "cancelled".
  using Progress = std::function<bool(int iterations, double residual)>;

  /// @param gauge  links with ghosts filled; read here and not kept
  /// @throws InvalidArgument  as ActionParameters, SolverParameters and TileLayout do; on every rank
  /// Collective: yes.  Cost: links and clover blocks in the order of the kernels, 1152 bytes a site for the links in
  /// double, half of that in float, and 1152 (double) for the clover term and its inverse.
  QuarkSolver(const GaugeField& gauge, const ActionParameters& action, const SolverParameters& parameters = {});
  ~QuarkSolver();
  QuarkSolver(QuarkSolver&&) noexcept;
  QuarkSolver& operator=(QuarkSolver&&) noexcept;

  /// Solves D x = b.
  /// @param solution  local box, shape [t][z][y][x][spin 4][colour 3]
  /// @param source    the same shape
  /// A solve that does not converge is reported, not thrown. Collective: yes.
  SolveReport solve(std::span<std::complex<double>> solution, std::span<const std::complex<double>> source,
                    const Progress& progress = {});

  /// out = D in, or D^dagger in, in double; shapes as above. Collective: yes.
  void apply(std::span<std::complex<double>> out, std::span<const std::complex<double>> in, bool dagger = false);

  const ActionParameters& action() const noexcept;
  const SolverParameters& parameters() const noexcept;
  /// Lanes along x, y, z, t of the layout that was chosen.
  std::array<std::int64_t, 4> tile() const noexcept;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace halocline::qcd
