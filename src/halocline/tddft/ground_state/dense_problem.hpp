// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The dense eigenvalue problem of Rayleigh-Ritz, H c = e S c, among the processes of a channel.
///
/// "lapack": each of them holds both matrices and solves the same problem. "scalapack": they hold blocks of them and
/// solve it together (detail/scalapack.hpp); the vectors c are then collected on all. H and S arrive in pieces, so that
/// with ScaLAPACK no process holds all of either, but all hold all of c. "auto" takes ScaLAPACK where the program finds
/// it, from `large` vectors on.

#include "halocline/comm/group/communicator.hpp"
#include "halocline/tddft/base/decomposition.hpp"
#include "halocline/tddft/ground_state/dense.hpp"

#include <complex>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halocline::tddft {

/// Solves like generalised_eigenpairs(), and gives all processes of the channel the bits of the first one's result.
/// Collective over space() and orbitals().
Eigenpairs solve_alike(const Decomposition& decomposition, const Matrix& h, const Matrix& s, int wanted);

/// The ScaLAPACK that this program has loaded, or why there is none: the end of a sentence that begins with "this
/// program". One of both is empty. Collective: no.
struct FoundScalapack {
  std::string file, problem;
};
FoundScalapack find_scalapack();

class DenseProblem {
public:
  static constexpr int large = 512;
  static constexpr int usual_block = 64;

  /// @param n       vectors
  /// @param method  one of methods()
  /// @param block   of ScaLAPACK: rows and columns of a block
  /// @throws InvalidArgument  on every rank: an unknown method; "scalapack" where it is not found
  /// Collective over the world.
  DenseProblem(const Decomposition& decomposition, int n, const std::string& method, int block = usual_block);
  DenseProblem(DenseProblem&&) noexcept;
  ~DenseProblem();

  static std::vector<std::string> methods() { return {"auto", "lapack", "scalapack"}; }

  /// Whether the processes hold parts of the matrices. With one process in a channel never.
  bool distributed() const noexcept;

  /// Makes room for new matrices.
  void begin();
  enum class Which { h, s };
  /// Sets elements of H or S from a piece that all processes of the channel hold, and by it the mirror images.
  /// @param piece  shape (rows, columns)
  void set(Which which, std::span<const int> rows, std::span<const int> columns, const Matrix& piece);
  /// All pairs, as generalised_eigenpairs(); the same bits on all processes of the channel. Frees the matrices.
  /// Collective over space() and orbitals(), without a time limit if distributed.
  Eigenpairs solve();

private:
  struct Distributed;
  std::optional<Eigenpairs> solve_together();
  Matrix collected(std::span<const std::complex<double>> local) const;

  const Decomposition& decomposition_;
  int n_;
  Matrix h_, s_;  ///< whole
  std::unique_ptr<Distributed> distributed_;
};

}  // namespace halocline::tddft
