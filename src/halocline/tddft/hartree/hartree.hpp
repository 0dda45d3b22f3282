// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Hartree potential: laplacian v = -4 pi n, by fast Fourier transforms.
///
/// Periodic: v(G) = 4 pi n(G) / G^2, zero at G = 0. Isolated: the exact free-space convolution with 1/r on the doubled
/// grid, with a kernel of spectral accuracy (coulomb_kernel.hpp).
///
/// All groups of channels and orbitals hold the same density of a box (Decomposition::box_mates). So there are two ways
/// to solve, as in the report on the optimisation of SALMON for Fugaku, section 6.2. `redundant`: every space group
/// solves the whole problem on its own processes. `shared`: all processes share one solution, which costs wider
/// all-to-alls and a gather at the end. `automatic` times both at construction, and shares if that is faster by more
/// than 5 %. All processes choose the same way.

#include "halocline/tddft/base/decomposition.hpp"

#include <memory>
#include <span>
#include <string>

namespace halocline::tddft {

enum class HartreeShare { automatic, redundant, shared };

class Hartree {
public:
  /// Collective over the world. Cost: plans and the kernel (coulomb_kernel.hpp). `automatic`, if several processes hold
  /// a box: plans and kernels of both ways, and trial solutions with each. There are usually six trials; three if one
  /// way is clearly faster; more, up to 26, until all trials together have taken 0.2 s.
  explicit Hartree(const Decomposition& decomposition, HartreeShare share = HartreeShare::automatic);
  Hartree(Hartree&&) noexcept;
  ~Hartree();

  /// @param v  shape (points,) of this process's box [hartree]
  /// @param n  shape (points,) [1/bohr^3]; equal in all groups that hold the box
  /// @throws InvalidArgument  spans of another length; on the processes that gave them, before any message
  /// Bit-identical for the same way and division. Other divisions differ by rounding, 1e-14 of the largest v.
  /// Collective over the world. Cost: see poisson.hpp.
  void solve(std::span<double> v, std::span<const double> n);

  /// The way in use, and the time of a trial solution with each way [s]; 0 without a trial.
  HartreeShare share() const noexcept;
  double seconds_redundant() const noexcept;
  double seconds_shared() const noexcept;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::tddft
