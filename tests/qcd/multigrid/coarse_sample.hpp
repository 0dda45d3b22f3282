// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// A coarse level over rough links and rough test vectors, and vectors of it in canonical order.

#include <complex>
#include <memory>
#include <optional>
#include <vector>

#include "halocline/qcd/clover/clover.hpp"
#include "halocline/qcd/multigrid/coarse_operator.hpp"
#include "halocline/qcd/multigrid/detail/galerkin.hpp"
#include "halocline/qcd/multigrid/transfer.hpp"
#include "halocline/qcd/schwarz/matrix.hpp"
#include "qcd/schwarz/sample.hpp"

namespace halocline::test {

/// The coarse level of one process in storage S.
template <class S>
struct CoarseSample {
  CoarseSample(const RoughLattice& rough, const std::shared_ptr<const lattice::Geometry4>& geometry,
               const qcd::WilsonCloverAction& action, const lattice::Coordinates<4>& block,
               const lattice::Coordinates<4>& size, int vectors, int columns)
      : gauge(rough.gauge(geometry)),
        matrix(gauge, action, parameters(*geometry, block)),
        schwarz(matrix, columns),
        aggregates(std::make_shared<const lattice::Aggregates>(geometry, size)) {
    if (action.has_clover()) term = qcd::clover::canonical_term(gauge, action);
    const auto* canonical = term.empty() ? nullptr : &term;
    clover.emplace(*schwarz.layout(), canonical, action.diagonal());
    qcd::multigrid::FineField phi(schwarz.layout(), 24, vectors);
    for (int n = 0; n < vectors; ++n)
      qcd::schwarz::from_canonical(
          phi, n,
          local_part(*geometry, random_numbers(12 * geometry->global_volume(), 100 + static_cast<unsigned>(n)), 12));
    transfer = std::make_shared<const qcd::multigrid::Transfer<S>>(schwarz.layout(), aggregates, std::span(&phi, 1));
    blocks = qcd::multigrid::galerkin<S, S>(*transfer, gauge, action, canonical);
    d.emplace(blocks, columns);
  }

  static qcd::schwarz::Parameters parameters(const lattice::Geometry4& geometry, const lattice::Coordinates<4>& block) {
    lattice::Coordinates<4> blocks{};
    for (int axis = 0; axis < 4; ++axis) blocks[axis] = geometry.local()[axis] / block[axis];
    return schwarz_parameters(blocks);
  }

  qcd::multigrid::CoarseField create() const { return {aggregates->count(), 2 * transfer->vectors(), d->columns()}; }
  /// Random numbers that depend on the global coarse site, the row and the column.
  qcd::multigrid::CoarseField random(unsigned seed) const {
    auto field = create();
    const auto& coarse = *aggregates->coarse();
    const int numbers = field.rows() * field.columns();
    const auto all = random_numbers(coarse.global_volume() * numbers, seed);
    for (std::int64_t site = 0; site < field.sites(); ++site)
      for (int c = 0; c < field.columns(); ++c)
        for (int row = 0; row < field.rows(); ++row) {
          const auto global = coarse.global_index(lattice::coordinates_of<4>(site, coarse.local()));
          const auto& z = all[static_cast<std::size_t>(global * numbers + c * field.rows() + row)];
          field.at(site, c)[qcd::multigrid::CoarseField::place(row)] = static_cast<float>(z.real());
          field.at(site, c)[qcd::multigrid::CoarseField::place(row) + 8] = static_cast<float>(z.imag());
        }
    return field;
  }

  qcd::GaugeField gauge;
  qcd::schwarz::Matrix matrix;
  qcd::schwarz::Schwarz schwarz;
  std::shared_ptr<const lattice::Aggregates> aggregates;
  std::vector<double> term;
  std::optional<qcd::multigrid::DomainClover> clover;
  std::shared_ptr<const qcd::multigrid::Transfer<S>> transfer;
  std::shared_ptr<const qcd::multigrid::CoarseBlocks<S>> blocks;
  std::optional<qcd::multigrid::CoarseOperator<S>> d;
};

/// Numbers of a column, [site][row].
inline Vector numbers(const qcd::multigrid::CoarseField& field, int column) {
  Vector out;
  for (std::int64_t site = 0; site < field.sites(); ++site)
    for (int row = 0; row < field.rows(); ++row) {
      const float* at = field.at(site, column) + qcd::multigrid::CoarseField::place(row);
      out.emplace_back(at[0], at[8]);
    }
  return out;
}

/// D_c v for one column by the definition of coarse_operator.hpp.
template <class S>
Vector plain_product(const qcd::multigrid::CoarseBlocks<S>& blocks, const Vector& v) {
  const lattice::SiteNeighbours neighbours(blocks.geometry());
  const int rows = blocks.rows();
  const auto sign = [&](int row) { return row < rows / 2 ? 1.0 : -1.0; };
  Vector out(v.size());
  for (std::int64_t site = 0; site < blocks.geometry()->local_volume(); ++site)
    for (int which = 0; which < 5; ++which) {
      const auto next = which == 0 ? site : neighbours.of(site, which - 1);
      for (int row = 0; row < rows; ++row)
        for (int column = 0; column < rows; ++column) {
          const std::complex<double> m(blocks.get(site, which, row, column));
          out[static_cast<std::size_t>(site * rows + row)] += m * v[static_cast<std::size_t>(next * rows + column)];
          if (which > 0)
            out[static_cast<std::size_t>(next * rows + column)] +=
                sign(row) * sign(column) * std::conj(m) * v[static_cast<std::size_t>(site * rows + row)];
        }
    }
  return out;
}

inline double distance(const qcd::multigrid::CoarseField& a, const qcd::multigrid::CoarseField& b) {
  double worst = 0;
  for (int c = 0; c < a.columns(); ++c) worst = std::max(worst, relative_distance(numbers(a, c), numbers(b, c)));
  return worst;
}

}  // namespace halocline::test
