// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Operations and reals of the Schwarz solver, counted from its equations: the published count and our own.
///
/// The published count ("theoretical", Tables 4 and 5 of the paper on Fugaku) consists of ten numbers. One formula
/// reproduces all ten to the last digit, so its terms are known and it can be used for other boxes:
///
/// - D_in on a site with all neighbours: 1920. A direction in x, y or z is 168 (projection 12, SU(3) on two spins 132,
///   sum 24). A direction in t is 156: gamma_t is diagonal, so the projection is a doubling (12 less in total). All
///   directions together are 1320; the inverse clover term 504; the change of spin basis around it 48; x - kappa (...)
///   48. For a neighbour beyond the face of the domain, the number of its direction is subtracted.
/// - D_out: the terms that D_in omits, and 600 = 504 + 48 + 48 for every site with a face (once, for any number of
///   faces).
/// - An iteration: two applications of D'K at nsap = 4 and nm = 2. Each has ten half sweeps. A half sweep is three
///   times D_in (two in Jacobi, one alone) and once D_out on the domains of a colour. Vector updates and sums are 2400
///   a site, scalar operations 42.
///
/// Our own count contains the operations that the equations in schwarz.hpp need, each once: no change of basis, no
/// doubling, one clover multiplication for each residual, nothing for a missing neighbour, nothing for the third row of
/// a link if only two rows are stored.

#include <cstdint>

#include "bench/fields.hpp"

namespace halocline::bench {

/// One process's box and the domains in it.
struct DomainBox {
  Extents local;
  Extents blocks{2, 1, 1, 1};

  constexpr std::int64_t sites() const { return lattice::product<4>(local); }
  constexpr std::int64_t domains() const { return lattice::product<4>(blocks); }
  constexpr std::int64_t domain_sites() const { return sites() / domains(); }
  constexpr std::int64_t extent(std::size_t axis) const { return local[axis] / blocks[axis]; }
  /// Sites of one face of a domain.
  constexpr std::int64_t face(std::size_t axis) const { return domain_sites() / extent(axis); }
  /// Number of sites of all domains with a neighbour in another domain.
  constexpr std::int64_t edge_sites() const {
    std::int64_t inner = 1;
    for (std::size_t axis = 0; axis < 4; ++axis) inner *= extent(axis) > 2 ? extent(axis) - 2 : 0;
    return domains() * (domain_sites() - inner);
  }
  /// Number of steps of all sites along an axis, or along all axes, that leave their domain.
  constexpr std::int64_t crossings(std::size_t axis) const { return domains() * 2 * face(axis); }
  constexpr std::int64_t crossings() const { return crossings(0) + crossings(1) + crossings(2) + crossings(3); }
};

/// The published count of D_in on all domains once (two of the paper's calls). [flop]
constexpr std::int64_t published_inside_flops(const DomainBox& box) {
  return 1920 * box.sites() - 168 * box.crossings() + 12 * box.crossings(3);
}

/// The published count of one iteration of BiCGStab on D'K, on one process. [flop]
constexpr std::int64_t published_iteration_flops(const DomainBox& box) {
  const std::int64_t inside = published_inside_flops(box);
  const std::int64_t outside = 1920 * box.sites() - inside + 600 * box.edge_sites();
  return 2 * 5 * (3 * inside + outside) + 2400 * box.sites() + 42;
}

/// The paper's tables: flops of a process for 500 iterations, and the part of its stand-alone calls of D_in.
struct PublishedCount {
  Extents local;
  std::int64_t solver, inside;
};
inline constexpr PublishedCount published_counts[] = {
    {{32, 6, 4, 3}, 69254421000, 19065600000},      {{32, 6, 4, 6}, 139560981000, 39329280000},
    {{32, 6, 8, 6}, 280304661000, 80593920000},     {{32, 6, 8, 12}, 561369621000, 163584000000},
    {{32, 12, 8, 12}, 1122981141000, 332328960000},
};

constexpr bool published_counts_are_reproduced() {
  for (const PublishedCount& count : published_counts) {
    const DomainBox box{count.local};
    if (500 * published_iteration_flops(box) != count.solver || 500 * 10 * published_inside_flops(box) != count.inside)
      return false;
  }
  return true;
}
static_assert(published_counts_are_reproduced());

/// The composition of K.
struct SchwarzSteps {
  int nsap = 4;         ///< highest power: nsap + 1 sweeps
  int steps = 2;        ///< Jacobi steps
  int link_reals = 18;  ///< reals stored for each link
};

/// Our own count of D_in on all domains: 1320 + 504 + 24 flops a site, minus 168 for each neighbour outside the domain.
/// Reals: four links and the clover block of a site, a spinor read and one written.
constexpr Cost inside_cost(const DomainBox& box, int link_reals = 18) {
  const double sites = static_cast<double>(box.sites());
  return {static_cast<double>(1848 * box.sites() - 168 * box.crossings()), 2 * spinor_reals * sites,
          (4 * link_reals + clover_reals) * sites};
}

/// The common part of the two ways to compute D'K, on all domains: nsap + 1 sweeps, each with `steps` times D_in in its
/// Jacobi steps, with as many sums as D_in itself. One pass over memory for the residual and the steps after it reads
/// links and clover blocks once, and reads and writes r and z.
constexpr Cost sweeps_cost(const DomainBox& box, const SchwarzSteps& s) {
  const double sites = static_cast<double>(box.sites());
  const Cost pass{s.steps * inside_cost(box).flops, 4 * spinor_reals * sites, inside_cost(box, s.link_reals).shared};
  return pass * (s.nsap + 1);
}

/// Our own count of D'K where K is linear (Schwarz::apply_preconditioned), on all domains.
///
/// Residuals r -= z - B hop z, 1320 + 504 + 48 a site: nsap of them, and a last one with 24 more for b - r. The
/// contribution of the first z of colour 0 to colour 1 is a residual of its own, only D_out, on the sites at the edge.
/// The last residual then omits it, which leaves one more clover multiplication at the edge. The last pass reads and
/// writes four vectors: r, z, b and the result.
constexpr Cost fused_cost(const DomainBox& box, const SchwarzSteps& s = {}) {
  const double sites = static_cast<double>(box.sites());
  const double residuals = (s.nsap + 1) * 1872 * sites + 24 * sites + 0.5 * static_cast<double>(504 * box.edge_sites());
  return sweeps_cost(box, s) + Cost{residuals, 4 * spinor_reals * sites, inside_cost(box, s.link_reals).shared};
}

/// Our own count of K alone: as fused_cost() without the last residual, and with the sum x += z in every sweep.
constexpr Cost preconditioner_cost(const DomainBox& box, const SchwarzSteps& s = {}) {
  const double sites = static_cast<double>(box.sites());
  const double first = 0.5 * static_cast<double>(168 * box.crossings() + 504 * box.edge_sites());
  return sweeps_cost(box, s) +
         Cost{s.nsap * 1872 * sites + first + (s.nsap + 1) * 24 * sites, (s.nsap + 1) * 2 * spinor_reals * sites, 0};
}

/// Our own count of D' on all domains, with all neighbours.
constexpr Cost full_cost(const DomainBox& box, int link_reals = 18) {
  return {1848 * static_cast<double>(box.sites()), inside_cost(box).spinors, inside_cost(box, link_reals).shared};
}

/// Vector updates and sums of an iteration of BiCGStab (solve/bicgstab.hpp), for each site: updates 96, 192, 96 and
/// 192, three complex sums of 96, three real ones of 48. Reals in five passes: 2, 3, 2, 7 and 4 vectors.
inline constexpr Cost bicgstab_cost{96 + 192 + 96 + 192 + 3 * 96 + 3 * 48, 18 * spinor_reals, 0};

}  // namespace halocline::bench
