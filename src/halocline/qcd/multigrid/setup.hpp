// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The set-up of adaptive aggregation multigrid: test vectors, and the coarse operator that they define.
///
/// At a light quark mass, few modes of long wavelength take most iterations of a Krylov solver. They look alike on
/// every box of a few sites (local coherence, Luescher, arXiv:0706.2298), so some twenty vectors, cut to boxes,
/// represent them all. Random vectors, the same for any division over processes, are smoothed three times. Then rounds
/// of inverse iteration follow: every vector is replaced by the result of a cycle on it, and the coarse operator is
/// built again (Frommer et al., arXiv:1303.1377).
///
/// Two rounds are made, and then more as long as they pay. A round costs about as much as 1.3 N cycles. The contraction
/// of the residual in FGMRES, measured on a random right-hand side, foretells how many cycles a solve takes. The next
/// round is expected to save a quarter of what the last one saved. It pays if that, times the number of right-hand
/// sides, is more than it costs. The rule counts cycles and reads no clock, so the same set-up follows every time.
///
/// With a twisted mass the cycles of the set-up are those of D(mu). D(mu)^dagger D(mu) = (gamma5 D)^2 + mu^2, so its
/// singular vectors are those of D at any mu, and one set of test vectors serves D(mu) and D(-mu). At the critical mass
/// D has modes near zero on which its own inverse iteration breaks down; that of D(mu) does not.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "halocline/core/half.hpp"
#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/multigrid/parameters.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::multigrid {

/// Test vectors as a file holds them: the part of this process, in canonical order.
struct StoredVectors {
  int vectors = 0;
  lattice::Coordinates<4> aggregate{};  ///< for which they were made
  std::vector<core::Half> numbers;      ///< `[t][z][y][x][vector][colour][spin][re, im]`, of mean square one
};

/// What cycles for all numbers of columns share.
class Setup {
public:
  /// What a set-up foretells while it is made. Seconds are those of the slowest process.
  struct Foretold {
    double part;           ///< that is done, from 0 to 1
    double seconds;        ///< of the whole set-up
    double cycle_seconds;  ///< of a cycle, for each column of several
  };
  /// Called during a set-up, from the first pass over all vectors on. Returning false ends it; all processes must
  /// return the same value.
  using Progress = std::function<bool(const Foretold&)>;

  /// @param gauge  links in double with ghosts filled; read here and not kept
  /// @throws InvalidArgument  for impossible parameters, on every rank
  /// @throws core::Error      if the clover term cannot be inverted, or the test vectors became dependent
  /// Collective: yes.  Cost: about 1.3 N (rounds + 1) cycles of one column; the memory of bytes(), and during the
  /// set-up 96 N bytes a site more.
  Setup(const GaugeField& gauge, const Action& action, const Parameters& parameters, const std::string& transport = "");
  /// From the test vectors of an earlier set-up. With the same links, action, parameters and processes its cycles give
  /// the same bits.
  /// @param parameters  the number of vectors (setup_vectors, where it is set) and the aggregate are taken from the
  ///                    vectors instead; where the aggregate does not fit the box of a process, the nearest one that
  ///                    does
  /// @throws InvalidArgument  also for a wrong number of numbers
  /// Collective: yes.  Cost: about a fifth of a new set-up.
  Setup(const GaugeField& gauge, const Action& action, const Parameters& parameters, const StoredVectors& vectors,
        const std::string& transport = "");
  /// As the first, or nothing if `progress` ended it.
  static std::optional<Setup> attempt(const GaugeField& gauge, const Action& action, const Parameters& parameters,
                                      const std::string& transport, const Progress& progress);

  /// The same test vectors for other links or another action, and a new coarse operator. If their contraction foretells
  /// more than 1.2 times the cycles of this set-up, a round of inverse iteration follows.
  /// @throws InvalidArgument  for links of another lattice or process grid
  /// Collective: yes.  Cost: about a fifth of a new set-up; a quarter more with the round.
  Setup refreshed(const GaugeField& gauge, const Action& action) const;
  /// This set-up after one more round of inverse iteration.
  /// @param gauge, action  those that it was made for
  /// @throws InvalidArgument  for links of another lattice or process grid
  /// @throws core::Error      as a new set-up does
  /// Collective: yes.  Cost: a fifth of a new set-up for its coarse levels, and the round.
  Setup another_round(const GaugeField& gauge, const Action& action) const;
  /// The set-up of D(-mu) = gamma5 D(mu)^dagger gamma5, for the adjoint system; this one where mu = 0. Test vectors, P
  /// and the data of the smoother are shared.
  /// Collective: yes.  Cost: 8 (2 N)^3 flops a coarse site and the coarse operator on 2 N directions; the memory of the
  /// coarse level once more.
  Setup adjoint() const;

  /// Whether it is a set-up for these links and this action with these parameters. The number of right-hand sides does
  /// not count: a set-up that is there costs nothing. Collective: yes.  Cost: reads the links once.
  bool serves(const GaugeField& gauge, const Action& action, const Parameters& parameters) const;

  const Parameters& parameters() const noexcept;
  /// Twisted mass of the operator that it is for.
  double mu() const noexcept;
  /// The size of an aggregate that was taken.
  const lattice::Coordinates<4>& aggregate() const noexcept;
  /// Levels, the fine one among them: fewer than the parameters ask for where the lattice has no more.
  int levels() const noexcept;
  /// Rounds of inverse iteration that were made here.
  int rounds() const noexcept;
  /// Factor by which a cycle lowers the residual in FGMRES, measured on a random right-hand side at the first call.
  /// Collective: yes.  Cost: five cycles.
  double contraction() const;
  /// Cycles that a solve to the residual 1e-10 is going to take, as the contraction says. Collective: as contraction().
  double foretold_cycles() const;
  /// The test vectors of this process. Collective: no.  Cost: their memory once more.
  StoredVectors stored() const;
  /// Bytes that a set-up with these parameters takes on a process, and the work fields of cycles of `columns` columns.
  /// Collective: no.
  static std::int64_t predicted_bytes(const lattice::Geometry4& geometry, const Parameters& parameters, int columns);
  /// Bytes of this process: test vectors and P, all coarse levels, clover term, and the data of the smoother.
  std::int64_t bytes() const noexcept;
  /// Wall-clock seconds of the set-up.
  double seconds() const noexcept;

private:
  friend class Multigrid;
  struct State;
  class Construction;
  explicit Setup(std::shared_ptr<const State> state);
  void require_lattice_of(const GaugeField& gauge) const;
  std::shared_ptr<const State> state_;
};

}  // namespace halocline::qcd::multigrid
