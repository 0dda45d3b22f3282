// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Solves D x = b for sources and solutions in canonical order: the one call that measurements need.
///
/// The preconditioner (even-odd, or Schwarz on domains), the Krylov method and the precision are chosen by name. The
/// reported residual is always |b - D x| / |b| of the full operator, recomputed in double. If a method stagnates or
/// breaks down, a note of the report says so.
///
/// - "schwarz": if it fails, it starts once more from the true residual. If it fails again, even-odd BiCGStab follows
///   (in double if the caller asked for "schwarz"). The last resort is conjugate gradients on the normal equations,
///   which cannot break down.
/// - "multigrid": its set-up is made when the solver is. If it fails, or 40 cycles do not gain a digit, it starts once
///   more from the true residual. Then a round of inverse iteration is added to the set-up, once, and multigrid starts
///   again. At last conjugate gradients follow, for the columns that have not converged.
/// - "auto" begins with even-odd BiCGStab and predicts the time of a whole solve (detail/trial.hpp). If there are
///   enough right-hand sides for the set-up of multigrid to pay, it makes the set-up and goes on with multigrid. On
///   several processes it tries Schwarz where neither multigrid nor the time of one iteration rules it out. From then
///   on it uses the method that takes the least time on the slowest process, for this number of columns. If Schwarz or
///   multigrid fails later, the methods above follow; if BiCGStab fails, conjugate gradients follow.
/// - "deflated-cg" and "deflated-bicgstab": low modes are taken out of the iteration (detail/deflated_solves.hpp). They
///   are given, or computed when the solver is made. Where they are given, "auto" tries "deflated-cg" too.
/// - Any other name runs that method and nothing else. "block-bicgstab" and "block-cg" build one Krylov space for all
///   columns that are solved together, so a column's iterations and last bits depend on the others.
///
/// Only the choice of "auto" depends on timing. A trial that is part of a solve goes on into that solve, and other
/// solutions of it are thrown away, so the chosen solver gives bit-identical results to selecting it by name. A choice
/// that was saved (Trial) and is passed again (SolverParameters::choice) needs no trial, so a resumed run gives the
/// same bits. For a given choice, the same processes and threads give the same bits every time.
///
/// On a device "auto" is even-odd BiCGStab and, if it fails, conjugate gradients; with a twisted mass it is conjugate
/// gradients. No other kinds than these, "cg" and "gcr" are available there. All work stays on the device: a source is
/// uploaded once, and a solution is downloaded once or stays there (solve_on_device).
///
/// Several right-hand sides are solved together, up to `rhs_batch` at a time, so that links and clover blocks are read
/// once for all of them. Each has its own iterations and report.

#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/multigrid/setup.hpp"
#include "halocline/qcd/quark/device_backend.hpp"
#include "halocline/qcd/quark/low_modes.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"

namespace halocline::qcd {

class GaugeField;

/// The result of a trial of "auto".
struct Trial {
  std::string chosen;            ///< "schwarz", "bicgstab", "multigrid" or "deflated-cg"
  int columns = 1;               ///< right-hand sides that were solved together
  int right_hand_sides = 1;      ///< that were going to be solved in all
  double schwarz_seconds = 0;    ///< predicted for the whole solve of the columns; infinite without any progress; 0
                                 ///< where multigrid was found best before; at least so many, if Schwarz was ruled out
  double bicgstab_seconds = 0;   ///< the same by even-odd BiCGStab
  double multigrid_seconds = 0;  ///< the same by multigrid; 0 where its set-up was not made
  double deflated_seconds = 0;   ///< the same by deflated conjugate gradients; 0 without low modes
  double setup_seconds = 0;      ///< of the set-up; foretold where it was begun and given up; 0 where it was not begun
  bool schwarz_ruled_out = false;  ///< by the time of its first iteration
};

/// Names that SolverParameters accept, the default first. Python and the command line use these lists.
std::span<const char* const> solver_kinds() noexcept;
std::span<const char* const> device_solver_kinds() noexcept;  ///< those that run on a device
std::span<const char* const> solver_precisions() noexcept;
std::span<const char* const> schur_forms() noexcept;
std::span<const char* const> inner_precisions() noexcept;

struct SolverParameters {
  /// "auto", "schwarz", "multigrid", "bicgstab", "cg" (normal equations), "gcr", "fgmres", "gmres-dr", "s-step-gcr",
  /// "block-bicgstab", "block-cg" (normal equations), "deflated-cg" (normal equations), "deflated-bicgstab"
  std::string kind = "auto";
  double tolerance = 1e-10;         ///< on |b - D x| / |b|
  int max_iterations = 10000;       ///< of the Krylov method, in all
  std::string precision = "mixed";  ///< "mixed": float inside, double outside; or "double"
  bool even_odd = true;             ///< solve the Schur complement instead of D
  std::string schur = "auto";     ///< "symmetric", "asymmetric" or "auto": asymmetric for domain walls, else symmetric
  int restart_length = 20;        ///< k of GCR(k) and FGMRES(k)
  int lanes = 16;                 ///< most lanes of the layout; other values are for tests
  std::string transport{};        ///< of the halo exchange; empty for the default
  schwarz::Parameters schwarz{};  ///< parameters of the Schwarz preconditioner
  multigrid::Parameters multigrid{};  ///< parameters of the multigrid solver
  DeflationParameters deflation{};    ///< low modes that "deflated-cg" and "deflated-bicgstab" compute
  std::string outer = "bicgstab";     ///< solver around it: "bicgstab", "defect_correction", "gcr" (schwarz_solver.hpp)
  int rhs_batch = 0;                  ///< most right-hand sides solved together; 0: 12 if memory allows, else fewer
  std::string
      choice{};  ///< method of "auto" without a trial: "schwarz", "bicgstab", "multigrid", "deflated-cg"; empty: trial
  /// Right-hand sides that are going to be solved in all, for "auto" and for the set-up of multigrid; 0: those of the
  /// first call, and then again as many as have been solved.
  int right_hand_sides = 0;
  std::string device = "cpu";  ///< "cpu", "cuda", "cuda:N" or "host-executor" (gpu/device.hpp)
  /// Storage of fields and links inside the iteration, for mixed precision: "float", "fixed16" or "fixed8". "auto" is
  /// float on the CPU, which has no other, and fixed16 on a device.
  std::string inner_precision = "auto";
  int device_links = 0;          ///< reals of a link on a device: 18, 12, 8; 0: 12 if unitary, else 18; 18 in double
  std::string device_halo{};     ///< policy of the halo between devices (gpu/face_exchange.hpp), or "auto"
  unsigned device_emulated = 0;  ///< bit `axis`: on a device treat this axis as split although one process holds it
  bool device_graphs = true;     ///< on a device replay the operator and iterations from graphs

  bool on_device() const noexcept { return !device.empty() && device != "cpu"; }
  /// @throws InvalidArgument  for an unknown name (the message lists the known ones), an impossible number, "schwarz"
  ///                          in double precision, or a solver or precision that the device or CPU does not have
  void validate() const;
};

/// A sentence for the log.
struct SolveNote {
  enum class Kind {
    choice,   ///< which method "auto" took, and why
    memory,   ///< how much memory of a device the solver uses
    failure,  ///< a method that failed, and the next step
    source,   ///< a source that is zero, or that could not be solved
    tuning,   ///< a file of the tuner that could not be used
  };
  Kind kind;
  std::string text;
};
/// The name of the kind, spelled as above: "choice", "memory", ...
const char* name(SolveNote::Kind kind) noexcept;

/// The result for one right-hand side.
struct SolveReport {
  bool converged = false;
  std::string reason;    ///< solve::name(...): "converged", "iteration_limit", "stagnation", "breakdown", ...
  std::string method;    ///< the last method, for example "even-odd bicgstab, mixed precision"
  int iterations = 0;    ///< of the Krylov method
  double residual = 0;   ///< |b - D x| / |b| of the full operator in double
  double seconds = 0;    ///< wall clock; the time of a batch is divided equally among its right-hand sides
  int columns = 1;       ///< right-hand sides that were solved together with this one
  std::string device{};  ///< "cuda:0 (NVIDIA H200)"; empty on the CPU
  std::int64_t predicted_bytes = 0;  ///< on the device, predicted before the solve; 0 on the CPU
  std::vector<double> history;       ///< relative residual of the recursion after each iteration
  std::vector<SolveNote> notes{};
  /// Recomputations of the residual in double within the iteration (reliable updates), of all columns at once.
  int reliable_updates = 0;
};

class QuarkSolver;

/// What earlier solvers have left to a new one. Each part may be absent.
struct Inheritance {
  /// Test vectors for the set-up of multigrid, if multigrid is named or chosen.
  std::optional<multigrid::StoredVectors> vectors{};
  /// Low modes for "deflated-cg", "deflated-bicgstab" and "auto". Their number is theirs and not that of the
  /// parameters.
  std::optional<LowModes> modes{};
  /// A solver whose set-up of multigrid is taken, if it has one that serves these links, action and parameters. Read by
  /// the constructor and not kept.
  const QuarkSolver* earlier = nullptr;
};

/// Solves with one operator, which it holds in the precisions that the method needs.
class QuarkSolver {
public:
  /// Called with the number of iterations and the residual of the recursion (the worst one of several columns).
  /// Returning false ends the solve as "cancelled". All processes must return the same value.
  using Progress = std::function<bool(int iterations, double residual)>;

  /// @param gauge      links with ghosts filled; read here and not kept
  /// @param inherited  of earlier solvers
  /// @throws InvalidArgument  as validate(action), SolverParameters, TileLayout, Schwarz and device::open_backend do,
  ///                          and as multigrid::Setup does for stored vectors; for low modes of a wrong number of
  ///                          numbers; on every rank
  /// @throws core::Error      if the predicted memory exceeds the free memory of the device, before allocating any
  /// Collective: yes.  Cost on the CPU, in bytes a site:
  ///   - links in the order of the kernels: 1152 in double, 576 in float
  ///   - clover term and its inverse: 1152 in double, 576 in float
  ///   - Schwarz: 576, shared by all numbers of columns that use the same domains
  ///   - multigrid with 24 vectors: 3456, and a copy of the links, 576; "auto" has the copy alone until it is chosen
  QuarkSolver(const GaugeField& gauge, const Action& action, const SolverParameters& parameters = {},
              Inheritance inherited = {});
  ~QuarkSolver();
  QuarkSolver(QuarkSolver&&) noexcept;
  QuarkSolver& operator=(QuarkSolver&&) noexcept;

  /// Solves D x = b.
  /// @param solution  local box, shape [t][z][y][x][spin 4][colour 3], or [t][z][y][x][colour 3] for staggered quarks
  /// @param source    the same shape
  /// A solve that does not converge is reported, not thrown. Collective: yes.
  SolveReport solve(std::span<std::complex<double>> solution, std::span<const std::complex<double>> source,
                    const Progress& progress = {});

  /// Solves D x = b for several right-hand sides, at most rhs_batch() together, in batches of about equal size: with
  /// rhs_batch() = 5, twelve right-hand sides are solved four at a time. A column has the same solution as alone, to
  /// the tolerance.
  /// @param solutions, sources  equally many; shapes as above
  /// @param midpoints  empty; or, for domain walls, as many: the quarks in the middle of the fifth dimension
  /// @throws InvalidArgument  if their numbers differ, or for midpoints without a fifth dimension. Collective: yes.
  /// Cost: about 3 KB of memory for each site and column.
  std::vector<SolveReport> solve(std::span<const std::span<std::complex<double>>> solutions,
                                 std::span<const std::span<const std::complex<double>>> sources,
                                 const Progress& progress = {},
                                 std::span<const std::span<std::complex<double>>> midpoints = {});
  /// The same on a device, for 1 to rhs_batch() sources. The solutions stay there.
  /// @throws InvalidArgument  on the CPU, or for another number of sources. Collective: yes.
  std::pair<device::DeviceSolutions, std::vector<SolveReport>>
  solve_on_device(std::span<const std::span<const std::complex<double>>> sources, const Progress& progress = {});
  /// The backend of the solver on a device; null on the CPU.
  device::Backend* backend() const noexcept;
  /// Predicted bytes on the device for solves of rhs_batch() columns, links included; 0 on the CPU.
  std::int64_t predicted_bytes() const;
  /// Most right-hand sides solved together.
  int rhs_batch() const noexcept;

  /// Solves (S^dagger S + shifts[i]) x[i] = b for every shift by multi-shift conjugate gradients in double, with the
  /// operator applications of one solve. S is D or its even-odd Schur complement. For staggered quarks `even_odd` means
  /// D^dagger D + shifts[i] on the even sites, so that shifts of m^2 - mass^2 give other masses m. For domain walls the
  /// arrays have five dimensions, [s][t][z][y][x][spin 4][colour 3], and S is D or its asymmetric Schur complement.
  /// @param solutions  one for each shift; shapes as above. With `even_odd` only the even sites are written, and only
  ///                   the even sites of the source are read.
  /// @param shifts     real; with the smallest one the operator must be positive
  /// The residual of a report is that of its shifted system. The tolerance is that of the parameters.
  /// @throws InvalidArgument  if numbers differ, there is no shift, or one is not finite; on a device for another
  ///                          even_odd than that of the parameters
  /// Collective: yes.  Cost: shifts + 8 fields in double.
  std::vector<SolveReport> solve_shifted(std::span<const std::span<std::complex<double>>> solutions,
                                         std::span<const double> shifts, std::span<const std::complex<double>> source,
                                         bool even_odd = false, const Progress& progress = {});

  /// Makes the trial of "auto" alone, on as many of these right-hand sides as `solve` would take together. Returns the
  /// earlier trial if there is one for this number of columns. Later solves of this number begin with the chosen
  /// method. A solve makes the trial by itself and loses less time with it.
  /// @returns  nothing if there is no trial: for another kind, a given choice, a device, double precision, sources that
  ///           are zero, or where only one method fits; or if `progress` ended the trial
  /// Collective: yes.  Cost: about a third of a solve by each method.
  std::optional<Trial> choose(std::span<const std::span<const std::complex<double>>> sources,
                              const Progress& progress = {});

  /// All trials that solves use: those made here, and those taken over by recall(). Collective: no.
  std::vector<Trial> trials() const;
  /// Takes over trials that another solver made, instead of making its own for the same numbers of columns. Does
  /// nothing if this solver makes no trials, nor with one that chose Schwarz where this solver does not have it.
  /// @param trials  the same on every process; from a solver with the same parameters, lattice and process grid. The
  ///                best method depends on these more than on the links. The solutions do not depend on the method
  ///                beyond the tolerance.
  /// @throws InvalidArgument  for an unknown method. Collective: no.
  void recall(std::span<const Trial> trials);

  /// out = D in, or D^dagger in, in double; shapes as above, of domain walls those of solve_shifted().
  /// @throws InvalidArgument  for domain walls on a device. Collective: yes.
  void apply(std::span<std::complex<double>> out, std::span<const std::complex<double>> in, bool dagger = false);

  /// out = S in, or S^dagger in, with the symmetric even-odd Schur complement S of D, in double; shapes as above. Reads
  /// the even sites of `in`, and sets the odd sites of `out` to 0.
  /// @throws InvalidArgument  for domain walls, and on a device. Collective: yes.  Cost: work fields of the size of one
  ///                          source, made for each call.
  void apply_schur(std::span<std::complex<double>> out, std::span<const std::complex<double>> in, bool dagger = false);

  /// The set-up of multigrid; null as long as there is none. Collective: no.
  const multigrid::Setup* setup() const noexcept;
  /// The low modes for deflation; null without. Collective: no.
  const LowModes* low_modes() const noexcept;
  /// Takes other links or another action of the same kind, on the same lattice and processes. A set-up of multigrid
  /// keeps its test vectors (multigrid::Setup::refreshed), and deflation its low modes. Choices of "auto" stay.
  /// @throws InvalidArgument  as check_refresh(), or for links of another lattice or process grid. After any error the
  ///                          solver is as before, with its old links
  /// Collective: yes.  Cost: about that of the constructor; with multigrid a fifth of its set-up. For a while the
  /// memory holds the old operators beside the new ones.
  void refresh(const GaugeField& gauge, const Action& action);
  /// What refresh() refuses without looking at links.
  /// @throws InvalidArgument  for a solver on a device, or an action of another kind or of other arrays. Collective:
  /// no.
  void check_refresh(const Action& action) const;

  const Action& action() const noexcept;
  const SolverParameters& parameters() const noexcept;
  /// Lanes of the layout along x, y, z, t; 1 on a device.
  std::array<std::int64_t, 4> tile() const noexcept;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::qcd
