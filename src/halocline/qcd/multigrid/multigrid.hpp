// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Adaptive aggregation multigrid for the Wilson-clover operator.
///
/// At a light quark mass, few modes of long wavelength take most iterations of a Krylov solver. They look alike on
/// every box of a few sites (local coherence, Luescher, arXiv:0706.2298), so some twenty vectors, cut to boxes,
/// represent them all. The set-up finds such vectors, and they define the coarse operator (transfer.hpp,
/// coarse_operator.hpp). A cycle (solve/multigrid.hpp) solves for the modes of long wavelength on the coarse lattice,
/// and smooths the others with the Schwarz preconditioner (schwarz/schwarz.hpp), whose domains are the aggregates. The
/// method is that of Frommer et al., arXiv:1303.1377.
///
/// Set-up: random vectors, the same for any division over processes, are smoothed three times. Then `setup_iterations`
/// rounds of inverse iteration follow: every vector is replaced by the result of a cycle on it, and the coarse operator
/// is built again. Vectors go through the cycle twelve at a time.

#include <memory>
#include <string>

#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/multigrid/parameters.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::multigrid {

/// What cycles for all numbers of columns share.
class Setup {
public:
  /// @param gauge  links in double with ghosts filled; read here and not kept
  /// @throws InvalidArgument  for impossible parameters, on every rank
  /// @throws core::Error      if the clover term cannot be inverted, or the test vectors became dependent
  /// Collective: yes.  Cost: (setup_iterations + 1) N cycles; the memory of bytes(), and during the set-up 96 N bytes a
  /// site more.
  Setup(const GaugeField& gauge, const WilsonCloverAction& action, const Parameters& parameters,
        const std::string& transport = "");

  const Parameters& parameters() const noexcept;
  /// The size of an aggregate that was taken.
  const lattice::Coordinates<4>& aggregate() const noexcept;
  /// Bytes of this process: test vectors, coarse operator, clover term, and the data of the smoother.
  std::int64_t bytes() const noexcept;
  /// Wall-clock seconds of the set-up.
  double seconds() const noexcept;

private:
  friend class Multigrid;
  struct State;
  std::shared_ptr<const State> state_;
};

/// The cycle for a number of columns.
class Multigrid {
public:
  using Field = schwarz::Schwarz::Field;

  /// Collective: yes.
  Multigrid(const Setup& setup, int columns, const std::string& transport = "");
  ~Multigrid();
  Multigrid(Multigrid&&) noexcept;

  int columns() const noexcept;
  /// The smoother; it also applies D' = A^-1 D, makes fields, and names their layout.
  schwarz::Schwarz& smoother() noexcept;
  const schwarz::Schwarz& smoother() const noexcept;
  /// out = approximately D'^-1 in; different fields. Collective: yes.
  void precondition(Field& out, const Field& in);
  /// Iterations of all coarse solves so far, of their slowest columns.
  std::int64_t coarse_iterations() const noexcept;

private:
  friend class Setup;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::qcd::multigrid
