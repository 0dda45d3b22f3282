// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// D x = b from a source to a solution in canonical order: the one call that measurements need.
///
/// The preconditioner (even-odd, or Schwarz on domains), the Krylov method and the change of precision are chosen by
/// name. The reported residual is always |b - D x| / |b| of the full operator, recomputed in double. The notes of the
/// report name a method that stagnates or breaks down.
///
/// - "schwarz" starts once more from the true residual. If it fails again, even-odd BiCGStab follows (in double where
///   "schwarz" was asked for by name), and in the end conjugate gradients on the normal equations, which cannot break
///   down.
/// - "auto" first tries even-odd BiCGStab and Schwarz in turn on the first right-hand sides that it meets, three digits
///   of each, and predicts the time of a whole solve (detail/trial.hpp). The method that would take less time on the
///   slowest process is used from then on for that number of columns. If it fails later, "auto" goes on as above, or
///   with conjugate gradients.
/// - Any other name runs that method and nothing else.
///
/// Only the choice of "auto" depends on timing. The chosen solver gives bit-identical results to selecting it by name,
/// as the solutions of the trial are thrown away. A choice that was kept (Trial) and is given again
/// (SolverParameters::choice) needs no trial, so a resumed run gives the same bits. The same processes and threads give
/// the same bits every time.
///
/// On a device "auto" is even-odd BiCGStab and, where it fails, conjugate gradients; "schwarz" and "fgmres" are
/// unavailable there. All work stays on the device: a source goes up once, a solution comes down once, or stays
/// (solve_on_device).
///
/// Several right-hand sides are solved together, up to `rhs_batch` at a time, so that links and clover blocks are read
/// once for all. Each has its own tolerance, iterations and report.

#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/quark/device_backend.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"

namespace halocline::qcd {

class GaugeField;

/// What a trial of "auto" found.
struct Trial {
  std::string chosen;           ///< "schwarz" or "bicgstab"
  int columns = 1;              ///< right-hand sides that were solved together
  double schwarz_seconds = 0;   ///< predicted for the whole solve of all of them; infinite where nothing was gained
  double bicgstab_seconds = 0;  ///< by even-odd BiCGStab
};

/// Names that SolverParameters take, the default first. Python and the command line ask for them here.
std::span<const char* const> solver_kinds() noexcept;
std::span<const char* const> solver_precisions() noexcept;
std::span<const char* const> schur_forms() noexcept;
std::span<const char* const> inner_precisions() noexcept;

struct SolverParameters {
  std::string kind = "auto";        ///< "auto", "schwarz", "bicgstab", "cg" (normal equations), "gcr", "fgmres"
  double tolerance = 1e-10;         ///< on |b - D x| / |b|
  int max_iterations = 10000;       ///< of the Krylov method, in all
  std::string precision = "mixed";  ///< "mixed": float inside, double outside; or "double"
  bool even_odd = true;             ///< solve the Schur complement instead of D
  std::string schur = "symmetric";  ///< "symmetric" or "asymmetric"
  int restart_length = 20;          ///< k of GCR(k) and FGMRES(k)
  int lanes = 16;                   ///< most lanes of the layout; 16 but in tests
  std::string transport{};          ///< of the halo; empty for the default
  schwarz::Parameters schwarz{};    ///< of the Schwarz preconditioner
  std::string outer = "bicgstab";   ///< around it: "bicgstab", "defect_correction", "gcr" (schwarz_solver.hpp)
  int rhs_batch = 0;                ///< most right-hand sides solved together; 0: 12 where memory allows, or fewer
  std::string choice{};             ///< what "auto" takes without a trial: "schwarz" or "bicgstab"; empty for a trial
  std::string device = "cpu";       ///< "cpu", "cuda", "cuda:N" or "host-executor" (gpu/device.hpp)
  /// Of the iteration where the precision is mixed: "float", "fixed16" or "fixed8"; "auto" is float on the processor,
  /// the only one there, and fixed16 on a device. Links are of the same storage.
  std::string inner_precision = "auto";
  int device_links = 0;          ///< reals a link on a device: 18, 12 or 8; 0: 12 where links are unitary, double 18
  std::string device_halo{};     ///< policy of the halo between devices (gpu/face_exchange.hpp), or "auto"
  unsigned device_emulated = 0;  ///< bit `axis`: on a device treat it as split though one process holds it
  bool device_graphs = true;     ///< replay the operator from graphs where a device gains by it

  bool on_device() const noexcept { return !device.empty() && device != "cpu"; }
  /// @throws InvalidArgument  for an unknown name (the known ones are listed), an impossible number, "schwarz" in
  ///                          double precision, or a solver or precision that the device or the processor has not
  void validate() const;
};

/// A sentence for the log.
struct SolveNote {
  enum class Kind {
    choice,   ///< which method "auto" took, and why
    memory,   ///< what a device's memory is used for
    failure,  ///< a method that failed, and the next step
    source,   ///< a source that was not solved for as it stands
    tuning,   ///< a file of the tuner that could not be used
  };
  Kind kind;
  std::string text;
};
/// "choice", "memory", ...
const char* name(SolveNote::Kind kind) noexcept;

/// What became of one right-hand side.
struct SolveReport {
  bool converged = false;
  std::string reason;    ///< solve::name(...): "converged", "iteration_limit", "stagnation", "breakdown", ...
  std::string method;    ///< what was run, e.g. "even-odd bicgstab, mixed precision"
  int iterations = 0;    ///< of the Krylov method
  double residual = 0;   ///< |b - D x| / |b| of the full operator in double
  double seconds = 0;    ///< wall clock; of right-hand sides solved together each has an equal part
  int columns = 1;       ///< right-hand sides that were solved together with this one
  std::string device{};  ///< "cuda:0 (NVIDIA H200)"; empty for the processor
  std::int64_t predicted_bytes = 0;  ///< on the device, predicted before the solve; 0 on the processor
  std::vector<double> history;       ///< relative residual of the recursion after each iteration
  std::vector<SolveNote> notes{};
};

/// Holds the operator in the precisions that the method needs.
class QuarkSolver {
public:
  /// Called with the number of iterations and the residual of the recursion, of several columns the worst; false ends
  /// the solve as "cancelled". All processes must answer alike.
  using Progress = std::function<bool(int iterations, double residual)>;

  /// @param gauge  links with ghosts filled; read here and not kept
  /// @throws InvalidArgument  as validate(action), SolverParameters, TileLayout, Schwarz and device::open_backend do;
  /// on
  ///                          every rank
  /// @throws core::Error      a device without enough free memory for the prediction, before anything is allocated
  /// Collective: yes.  Cost: links and clover blocks in the order of the kernels, 1152 bytes a site for the links in
  /// double, half of that in float, and 1152 (double) for the clover term and its inverse; 576 more for Schwarz, which
  /// all numbers of columns share where their domains are the same.
  QuarkSolver(const GaugeField& gauge, const Action& action, const SolverParameters& parameters);
  /// With the default parameters.
  QuarkSolver(const GaugeField& gauge, const Action& action);
  ~QuarkSolver();
  QuarkSolver(QuarkSolver&&) noexcept;
  QuarkSolver& operator=(QuarkSolver&&) noexcept;

  /// Solves D x = b.
  /// @param solution  local box, shape [t][z][y][x][spin 4][colour 3]
  /// @param source    the same shape
  /// A solve that does not converge is reported, not thrown. Collective: yes.
  SolveReport solve(std::span<std::complex<double>> solution, std::span<const std::complex<double>> source,
                    const Progress& progress = {});

  /// Solves D x = b for several right-hand sides, at most rhs_batch() together; of twelve with a batch of five, four at
  /// a time. A column has the same solution as alone, to the tolerance.
  /// @param solutions, sources  of the same number; shapes as above
  /// @throws InvalidArgument  for different numbers. Collective: yes.
  /// Cost: about 3 KB a site and column.
  std::vector<SolveReport> solve(std::span<const std::span<std::complex<double>>> solutions,
                                 std::span<const std::span<const std::complex<double>>> sources,
                                 const Progress& progress = {});
  /// The same on a device, for at most rhs_batch() sources, with the solutions left there.
  /// @throws InvalidArgument  on the processor, or for more sources. Collective: yes.
  std::pair<device::DeviceSolutions, std::vector<SolveReport>>
  solve_on_device(std::span<const std::span<const std::complex<double>>> sources, const Progress& progress = {});
  /// What the solver has open on a device; null on the processor.
  device::Backend* backend() const noexcept;
  /// Predicted bytes on the device for solves of rhs_batch() columns, links included; 0 on the processor.
  std::int64_t predicted_bytes() const;
  /// Most right-hand sides solved together.
  int rhs_batch() const noexcept;

  /// The trial of "auto" alone, on the first of these right-hand sides, as many as `solve` would take together; the one
  /// that was made earlier where there was one for as many. Solves of as many then begin with what it chose.
  /// @returns  nothing where there is no trial: another kind, a choice that was given, double precision, sources that
  ///           are zero, a box that Schwarz does not fit, or a trial that the progress ended
  /// Collective: yes.  Cost: about a third of a solve by each method.
  std::optional<Trial> choose(std::span<const std::span<const std::complex<double>>> sources,
                              const Progress& progress = {});

  /// The trials that solves begin with: those made here, and those recalled. Not collective.
  std::vector<Trial> trials() const;
  /// Takes trials that another solver made, and makes none for as many columns. Ignored where there is no trial.
  /// @param trials  the same on every process: of a solver with the same parameters on the same lattice and processes.
  ///                The best method depends on them more than on the links; solutions do not depend on it beyond the
  ///                tolerance.
  /// @throws InvalidArgument  for a method that is none. Not collective.
  void recall(std::span<const Trial> trials);

  /// out = D in, or D^dagger in, in double; shapes as above. Collective: yes.
  void apply(std::span<std::complex<double>> out, std::span<const std::complex<double>> in, bool dagger = false);

  const Action& action() const noexcept;
  const SolverParameters& parameters() const noexcept;
  /// Lanes along x, y, z, t of the layout that was chosen; 1 on a device.
  std::array<std::int64_t, 4> tile() const noexcept;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace halocline::qcd
