// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a set-up holds.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "halocline/core/half.hpp"
#include "halocline/qcd/multigrid/detail/hierarchy.hpp"
#include "halocline/qcd/multigrid/setup.hpp"
#include "halocline/qcd/multigrid/transfer.hpp"
#include "halocline/qcd/schwarz/matrix.hpp"

namespace halocline::qcd::multigrid {

struct Setup::State {
  /// The fine level; the coarse ones follow by build() or restore().
  /// @param aggregate  wanted; the nearest that fits is taken
  State(const GaugeField& gauge, const WilsonCloverAction& action, const Parameters& given,
        const std::string& transport_given);

  /// Rounds the test vectors to fp16 in place, keeps them, and makes the coarse levels of them.
  void build(std::span<FineField> given);
  template <class S>
  void coarsen(std::span<const FineField> rounded);

  const GaugeField* gauge;  ///< null after the set-up
  Parameters parameters;
  std::string transport;
  AggregatePlan plan;
  std::shared_ptr<const lattice::Aggregates> aggregates;  ///< of the fine level
  std::vector<double> term;  ///< clover::canonical_term; empty without one, and after the set-up
  schwarz::Matrix matrix;
  DomainClover clover;
  std::vector<lattice::DomainField<core::Half>> vectors;  ///< of mean square one, `batch` columns a field
  std::variant<CoarseGrid<core::Half>, CoarseGrid<float>> grid;
  int rounds = 0;
  double seconds = 0;
  mutable std::optional<double> contraction;
};

}  // namespace halocline::qcd::multigrid
