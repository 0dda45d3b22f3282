// SPDX-License-Identifier: Apache-2.0

#include "halocline/tddft/propagate/populations.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/propagate/observables.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace halocline::tddft {
namespace {

using Products = std::array<double, orbital_lanes * orbital_lanes * 2>;

void check_fit(const Model& model, const Model& holder, int states) {
  const System &one = model.system(), &other = holder.system();
  if (one.grid.extent != other.grid.extent || one.channels.size() != other.channels.size() ||
      model.decomposition().counts().text() != holder.decomposition().counts().text())
    throw core::InvalidArgument("populations of states on another grid, of other k-points or divided otherwise were "
                                "asked for; give states of the same system on the same processes");
  if (states < 1 || states > other.states)
    throw core::InvalidArgument(fmt::format(
        "populations of {} states asked for; from 1 to {} expected, those of the reference", states, other.states));
}

/// sum over the points of this process of conj(reference_j) psi_i, shape (i, j) complex.
Products products(const double* reference, const double* psi, std::int64_t doubles) {
  Products sum{};
  for (std::int64_t p = 0; p < doubles; p += doubles_per_point)
    for (std::int64_t i = 0; i < orbital_lanes; ++i)
      for (std::int64_t j = 0; j < orbital_lanes; ++j) {
        const double gr = reference[p + 2 * j], gi = reference[p + 2 * j + 1];
        const double re = psi[p + 2 * i], im = psi[p + 2 * i + 1];
        sum[size(2 * (i * orbital_lanes + j))] += gr * re + gi * im;
        sum[size(2 * (i * orbital_lanes + j) + 1)] += gr * im - gi * re;
      }
  return sum;
}

}  // namespace

std::vector<double> populations(const Model& model, const State& now, const Model& holder, const Orbitals& reference,
                                int states, const Vec3& a) {
  const core::Region region("tddft/populations");
  const Decomposition& decomposition = model.decomposition();
  comm::on_every_rank(decomposition.world(), [&] { check_fit(model, holder, states); });
  const comm::Communicator& others = decomposition.orbitals();
  const std::int64_t doubles = decomposition.box().points() * doubles_per_point;
  Orbitals moved;
  const bool boosted = decomposition.grid().boundary == Boundary::isolated && a != Vec3{};
  if (boosted) {
    moved = reference;
    boost(moved, decomposition, {-a[0], -a[1], -a[2]});
  }
  const Orbitals& compared = boosted ? moved : reference;
  const double volume = decomposition.grid().point_volume();
  const auto in_channel = size(model.system().states);

  std::vector<double> found(model.system().channels.size() * size(states), 0.0);
  core::AlignedArray<double> visitor(doubles);
  DoubleBlocks orbitals(now.orbitals), others_orbitals(compared);
  for (std::int64_t channel = 0; channel < now.orbitals.channels(); ++channel) {
    const auto global = size(decomposition.channels().begin + channel);
    for (std::int64_t block = 0; block * orbital_lanes < states; ++block) {
      const int owner = holder.decomposition().orbital_part_of(block);
      if (owner == others.rank())
        std::copy_n(others_orbitals.read(channel, block - holder.decomposition().blocks().begin), doubles,
                    visitor.data());
      others.broadcast(std::as_writable_bytes(visitor.span()), owner);
      std::vector<double> overlaps;
      for (std::int64_t b = 0; b < now.orbitals.blocks(); ++b) {
        const Products sum = products(visitor.data(), orbitals.read(channel, b), doubles);
        overlaps.insert(overlaps.end(), sum.begin(), sum.end());
      }
      decomposition.space().sum(overlaps);
      for (std::int64_t b = 0; b < now.orbitals.blocks(); ++b)
        for (int i = 0; i < orbital_lanes; ++i) {
          const int number = model.state_number(b, i);
          if (number < 0) continue;
          const double f = now.occupations[global * in_channel + size(number)];
          for (std::int64_t j = 0; j < orbital_lanes && block * orbital_lanes + j < states; ++j) {
            const std::size_t at = 2 * size((b * orbital_lanes + i) * orbital_lanes + j);
            found[global * size(states) + size(block * orbital_lanes + j)] +=
                f * volume * volume * (overlaps[at] * overlaps[at] + overlaps[at + 1] * overlaps[at + 1]);
          }
        }
    }
  }
  decomposition.box_mates().sum(found);
  return found;
}

}  // namespace halocline::tddft
