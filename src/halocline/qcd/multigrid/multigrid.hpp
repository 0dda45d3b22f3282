// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The cycle of adaptive aggregation multigrid for the Wilson-clover and the twisted-clover operator.
///
/// A cycle (solve/multigrid.hpp) solves for the modes of long wavelength on the coarse lattice, and smooths the others
/// with the Schwarz preconditioner (schwarz/schwarz.hpp), whose domains are the aggregates. The coarse lattice comes
/// from the set-up (setup.hpp). With a twisted mass (twist.hpp) the smoother remains that of the untwisted operator,
/// and the residual that it works on is the twisted one.

#include <cstdint>
#include <memory>
#include <span>

#include "halocline/qcd/multigrid/setup.hpp"
#include "halocline/qcd/multigrid/twist.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"

namespace halocline::qcd::multigrid {

/// The cycle for a number of columns.
class Multigrid {
public:
  using Field = schwarz::Schwarz::Field;

  /// Collective: yes.
  Multigrid(const Setup& setup, int columns);
  ~Multigrid();
  Multigrid(Multigrid&&) noexcept;

  int columns() const noexcept;
  /// The smoother, of the untwisted operator; it also makes fields, names their layout, and multiplies by A^-1.
  schwarz::Schwarz& smoother() noexcept;
  const schwarz::Schwarz& smoother() const noexcept;
  /// out = D' in = A^-1 D in, with the twisted mass of D; different fields. Collective: yes.
  void apply(Field& out, const Field& in);
  /// The term of the twisted mass.
  const Twist& twist() const noexcept;
  /// out = approximately D'^-1 in; different fields. Collective: yes.
  void precondition(Field& out, const Field& in);
  /// Iterations of all solves so far on each coarse level, of their slowest columns; cycles on a level above the
  /// coarsest, and products with a dense inverse.
  std::span<const std::int64_t> coarse_iterations() const noexcept;

private:
  friend class Setup;
  struct State;
  explicit Multigrid(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace halocline::qcd::multigrid
