// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a set-up holds.

#include <cstdint>
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
#include "halocline/qcd/multigrid/twist.hpp"
#include "halocline/qcd/schwarz/matrix.hpp"

namespace halocline::qcd::multigrid {

struct Setup::State {
  /// The fine level; the coarse ones follow by build() or restore().
  /// @param aggregate  wanted; the nearest that fits is taken
  State(const GaugeField& gauge, const Action& action, const Parameters& given, const std::string& transport_given);
  /// The set-up of the same quark with another twisted mass. Shares all but the coarse blocks, their inverses and the
  /// deflation. Collective: yes.
  State(const State& other, double mu);

  /// Rounds the test vectors to fp16 in place, keeps them, and makes the coarse levels of them.
  void build(std::span<FineField> given);
  template <class S>
  void coarsen(std::span<const FineField> rounded);
  /// Sets the twisted mass of the coarse operator, and makes the coarse levels that belong to it.
  template <class S>
  void complete(CoarseGrid<S>& next, std::shared_ptr<const CoarseBlocks<S>> blocks, std::span<const FineField> rounded);

  /// Deflates the coarsest level by eigenvectors, if the parameters ask for them: once, since the rounds of the set-up
  /// are well served by test vectors. Collective: yes.
  void finish_coarsest();

  const GaugeField* gauge;    ///< null after the set-up
  std::uint64_t fingerprint;  ///< of the links
  Parameters parameters;
  std::string transport;
  LevelPlan plan;
  std::shared_ptr<const lattice::Aggregates> aggregates;  ///< of the fine level
  std::vector<double> term;  ///< clover::canonical_term; empty without one, and after the set-up
  schwarz::Matrix matrix;
  Twist twist;
  std::shared_ptr<const DomainClover> clover;
  /// Of mean square one, `batch` columns a field.
  std::shared_ptr<const std::vector<lattice::DomainField<core::Half>>> vectors;
  std::variant<CoarseGrid<core::Half>, CoarseGrid<float>> grid;
  int rounds = 0;
  bool coarsest_finished = false;  ///< by finish_coarsest(), since the coarse levels were made
  double seconds = 0;
  mutable std::optional<double> contraction;
};

}  // namespace halocline::qcd::multigrid
