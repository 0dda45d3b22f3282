// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Hartree potential: laplacian v = -4 pi n, by fast Fourier transforms.
///
/// Periodic: v(G) = 4 pi n(G) / G^2, zero at G = 0. Isolated: the exact free-space convolution with 1/r on the doubled
/// grid, with a kernel that keeps spectral accuracy.
/// The density of a box is the same in all groups of channels and orbitals (Decomposition::box_mates). So there are two
/// ways (papers/003, 6.2): every space group solves the whole problem on its own processes (`redundant`), or all
/// processes share one solution (`shared`), which costs wider all-to-alls and a gathering at the end. `automatic` times
/// both at construction and shares where that is faster by more than 5 %, all processes alike.

#include "halocline/tddft/base/decomposition.hpp"

#include <memory>
#include <span>
#include <string>

namespace halocline::tddft {

enum class HartreeShare { automatic, redundant, shared };

class Hartree {
public:
  /// Collective over the world. Cost: plans and the kernel (coulomb_kernel.hpp), and for `automatic`, where several
  /// processes hold a box, those of both ways and six solutions or 0.2 s of each.
  explicit Hartree(const Decomposition& decomposition, HartreeShare share = HartreeShare::automatic);
  Hartree(Hartree&&) noexcept;
  ~Hartree();

  /// @param v  shape (points,) of this process's box [hartree]
  /// @param n  shape (points,) [1/bohr^3]; equal in all groups that hold the box
  /// @throws InvalidArgument  spans of another length; on the processes that gave them, before any message
  /// The same for the same way and division, bit by bit; other divisions differ by rounding, 1e-14 of the largest v.
  /// Collective over the world. Cost: see poisson.hpp.
  void solve(std::span<double> v, std::span<const double> n);

  /// Which way is used, and what a trial of each took [s]; 0 where it was not tried.
  HartreeShare share() const noexcept;
  double seconds_redundant() const noexcept;
  double seconds_shared() const noexcept;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::tddft
