// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Kohn-Sham Hamiltonian on blocks of orbitals:
///   H = (k + A)^2 / 2 - i (k + A) . grad - laplacian / 2 + v(r) + sum_a V_nonlocal,a
/// with the potential v of the channel's spin and a uniform vector potential A (atomic units, velocity gauge). The
/// orbitals are the periodic parts u of exp(i k r) u, and A adds to k. A meta-GGA adds the operator
///   sum_a [ -1/2 G_a t G_a + w_a G_a - G_a w_a ],   G_a = D_a + i p_a,   p = k + A,   or p = k - u with a flow,
/// with the slopes t and w of its energy with respect to kinetic energy density and gradient, and the velocity u = j /
/// n without A (kinetic_sum.hpp). Stencil and nonlocal part are objects of their own. The Hamiltonian runs them in an
/// order that hides the halo exchange and the sums over the processes of an atom.

#include "halocline/tddft/base/orbitals.hpp"
#include "halocline/tddft/pseudopotential/nonlocal.hpp"
#include "halocline/tddft/stencil/stencil.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace halocline::tddft {

/// Members with a type T take blocks in double or in float, of shape (points, lanes_of<T>, 2) each.
class Hamiltonian {
public:
  /// @param transport  of the halo exchanges, as for comm::HaloExchange
  /// Collective over the world of the decomposition.
  Hamiltonian(const System& system, const Decomposition& decomposition, const std::string& transport = "auto");

  /// @param v  shape (spins, points of the box) [hartree]; copied. For a meta-GGA behind it t, shape (spins, points),
  ///           and w, shape (spins, 3, points); where electrons flow also u, shape (spins, 3, points) [a.u.]
  void set_potential(std::span<const double> v);
  /// As it was given.
  std::span<const double> potential() const noexcept { return potential_; }
  /// Also sets the phases of the projectors. Cost: a factorised phase for each point near an atom and each channel.
  void set_vector_potential(const Vec3& a);
  const Vec3& vector_potential() const noexcept { return a_; }
  /// A vector potential A(r) that depends on the place, instead of the uniform one, until set_vector_potential().
  /// @param a  shape (3, points of the box) [1/bohr]
  /// @throws InvalidArgument  axes that are not orthogonal
  /// Collective over Decomposition::space().  Cost: one halo, 12 numbers a point, and a phase for each point near an
  /// atom and channel.
  void set_local_potential(std::span<const double> a);
  bool local() const noexcept { return local_.has_value(); }
  /// A further vector potential, of the opposite sign for electrons of spin down; zero at first. Cost: as above.
  void set_spin_potential(const Vec3& b);
  /// Computes the projectors anew, for the positions of `system`; everything else of it must be as at the construction.
  /// Collective over Decomposition::space().
  void move_atoms(const System& system);

  /// out = base_factor base + factor (H - shift) in, for consecutive blocks of a channel.
  /// @param channel    local number
  /// @param out        shape (blocks, points, lanes, 2); not `in`; may be `base`
  /// @param what       see Combination (stencil.hpp); its `base` may be null
  /// @throws InvalidArgument  blocks in float with the operator of a meta-GGA
  /// Collective over Decomposition::space(), with the same blocks on all of its ranks.
  template <class T>
  void apply(std::int64_t channel, T* out, const T* in, std::int64_t blocks, const CombinationOf<T>& what = {});

  /// out = (kinetic energy + v) in, for one block in double, without projectors and shift. @param v  shape (points,)
  /// Collective over Decomposition::space().
  void apply_kinetic(std::int64_t channel, double* out, const double* in, std::span<const double> v);

  /// The number of blocks that apply() processes together, and that a caller should take together through several
  /// applications. If the box is divided, these are all `blocks`, so that the halo exchange of one block overlaps with
  /// the work on another. Otherwise they are as many as fit in the cache, so that threads are woken once for many small
  /// blocks.
  std::int64_t blocks_together(std::int64_t blocks) const noexcept;

  Stencil& stencil() noexcept { return stencil_; }
  Nonlocal& nonlocal() noexcept { return nonlocal_; }
  /// k + A of a local channel, with the spin potential; without A where it depends on the place.
  Vec3 momentum(std::int64_t channel) const noexcept;
  int spin(std::int64_t channel) const noexcept;
  /// Bounds of the spectrum of H for the present potential and vector potential, over all channels [hartree]: the
  /// extreme eigenvalues of a few Lanczos steps, widened by the residual. The same on every rank, for any division.
  /// Collective over the world.  Cost: 12 applications to one block of each channel.
  /// @return  lowest, highest
  std::pair<double, double> spectrum_bounds();

private:
  std::span<const double> potential_of(std::int64_t channel) const noexcept;
  const LocalMomentum& local_momentum(std::int64_t channel);
  void add_kinetic_operator(std::int64_t channel, double* out, const double* in, std::int64_t blocks,
                            const Combination& what);
  template <class T>
  void apply_some(std::int64_t channel, T* out, const T* in, std::int64_t blocks, const CombinationOf<T>& what);
  std::pair<double, double> lanczos_ends(std::int64_t channel);

  Decomposition decomposition_;
  std::vector<Channel> channels_;  ///< of this process
  Stencil stencil_;
  Nonlocal nonlocal_;
  int spins_;
  std::vector<double> potential_;
  /// For a meta-GGA t, w and u, shape (spins, 7, points), and memory for four blocks; else empty.
  std::vector<double> kinetic_fields_;
  core::AlignedArray<double> kinetic_scratch_;
  bool flowing_ = false;  ///< u was given
  Vec3 a_{}, spin_a_{};
  std::optional<LocalMomentum> local_;   ///< A(r), if it depends on the place
  std::optional<LocalMomentum> with_k_;  ///< the same with the k of one channel
  std::int64_t channel_of_k_ = -1;       ///< that channel
};

}  // namespace halocline::tddft
