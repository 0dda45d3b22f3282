// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A batch of right-hand sides in the memory of the CPU or device that solves it: the interface that ColumnSolves uses.
///
/// A batch holds four full fields in double, of columns() columns each: the sources b, the solutions x, the residual
/// r = b - D x, and the last correction e. Until the end of a solve the caller sees only their norms.

#include <complex>
#include <span>
#include <string>
#include <vector>

#include "halocline/solve/result.hpp"
#include "halocline/solve/vector_space.hpp"

namespace halocline::qcd {

class BatchEngine {
public:
  virtual ~BatchEngine() = default;

  virtual int columns() const = 0;
  /// The method in the words of a report: "even-odd bicgstab, mixed precision".
  virtual std::string describe(const std::string& method) const = 0;

  /// Sets b to the sources, and to zero in columns without a source. Returns |b| of each column.
  /// @param sources  at most columns() local boxes, [t][z][y][x][spin][colour]
  /// @throws InvalidArgument  for a wrong length. Collective: yes.
  virtual std::vector<double> load(std::span<const std::span<const std::complex<double>>> sources) = 0;
  /// Sets b to zero in one column, even if the column held NaN.
  virtual void clear(int column) = 0;
  /// b = factor b, x = 0, r = b.
  virtual void start(std::span<const solve::Scalar> factor) = 0;
  /// r = factor r
  virtual void scale_residual(std::span<const solve::Scalar> factor) = 0;
  /// e = D^-1 r, from e = 0.
  /// @param tolerance  of each column, on |r - D e| / |r|; above 0
  /// @param caution    at most 1; multiplies the tolerances of the inner system, whose residual only estimates that of
  ///                   D. The caller lowers it after a correction that missed its tolerance.
  /// @param limits     iteration limits, and progress, which is called with the residual relative to |r|
  /// The result describes the solve of the inner system; if the method failed, it gives the reason. Collective: yes.
  virtual solve::SolveResult correct(const std::string& method, std::span<const double> tolerance, double caution,
                                     const solve::SolveOptions& limits) = 0;
  /// What renew() did.
  struct Renewal {
    bool done = false;  ///< the method may be tried again
    std::string text;   ///< for the notes: what was done, or why it failed; empty where there is nothing to improve
  };
  /// Improves what a method works with, once: one more round of the set-up of multigrid. Collective: yes; the same
  /// result on every rank.
  virtual Renewal renew(const std::string& /*method*/) { return {}; }
  /// |D x| / |x| of each column, or |D e| / |e| where x is zero: an upper bound of the lowest singular value of D,
  /// which is the lowest |eigenvalue| of gamma5 D. Zero where both are zero. Overwrites r and e. Collective: yes.
  virtual std::vector<double> shrinking() = 0;
  /// x += weight e, then r = b - D x. Returns |r| of each column. A weight of zero leaves x unchanged, even if e holds
  /// NaN. Collective: yes.
  virtual std::vector<double> add_correction(std::span<const solve::Scalar> weight) = 0;
  /// Writes one column of x.
  /// @param solution  local box, in the shape of the sources
  virtual void unload(std::span<std::complex<double>> solution, int column) = 0;
};

}  // namespace halocline::qcd
