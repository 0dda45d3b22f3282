// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A batch of right-hand sides in the memory of whatever solves it: what ColumnSolves asks of a processor or a device.
///
/// Four full fields in double belong to it, of columns() columns each: the sources b, the solutions x, the residual
/// r = b - D x, and the last correction e. No number of them but norms is seen by the caller until the end.

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
  /// The words of a report: "even-odd bicgstab, mixed precision".
  virtual std::string describe(const std::string& method) const = 0;

  /// b = the sources, zero in columns beyond; |b| of each column.
  /// @param sources  at most columns(), local boxes [t][z][y][x][spin][colour]
  /// @throws InvalidArgument  for a wrong length. Collective: yes.
  virtual std::vector<double> load(std::span<const std::span<const std::complex<double>>> sources) = 0;
  /// b = 0 in a column, whatever it held.
  virtual void clear(int column) = 0;
  /// b = factor b, x = 0, r = b.
  virtual void start(std::span<const solve::Scalar> factor) = 0;
  /// r = factor r
  virtual void scale_residual(std::span<const solve::Scalar> factor) = 0;
  /// e = D^-1 r, from e = 0.
  /// @param tolerance  of each column, on |r - D e| / |r|; above 0
  /// @param caution    at most 1, smaller where a correction before missed what it promised: asks the inner system,
  ///                   whose residual only estimates that of D, for that much more
  /// @param limits     of iterations, and progress, which hears a residual relative to |r|
  /// The result is about the inner system; a method that fails says why. Collective: yes.
  virtual solve::SolveResult correct(const std::string& method, std::span<const double> tolerance, double caution,
                                     const solve::SolveOptions& limits) = 0;
  /// x += weight e, r = b - D x; |r| of each column. A weight of zero leaves x alone whatever e holds.
  /// Collective: yes.
  virtual std::vector<double> add_correction(std::span<const solve::Scalar> weight) = 0;
  /// x of a column.
  /// @param solution  the local box, as the sources
  virtual void unload(std::span<std::complex<double>> solution, int column) = 0;
};

}  // namespace halocline::qcd
