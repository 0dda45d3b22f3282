// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a set-up holds, and the coarse level in either storage.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "halocline/core/half.hpp"
#include "halocline/qcd/multigrid/coarse_deflation.hpp"
#include "halocline/qcd/multigrid/coarse_operator.hpp"
#include "halocline/qcd/multigrid/coarse_schur.hpp"
#include "halocline/qcd/multigrid/setup.hpp"
#include "halocline/qcd/multigrid/transfer.hpp"
#include "halocline/qcd/schwarz/matrix.hpp"

namespace halocline::qcd::multigrid {

/// The coarse level in one storage.
template <class S>
struct CoarseGrid {
  std::shared_ptr<const Transfer<S>> transfer;
  std::shared_ptr<const CoarseBlocks<S>> blocks;
  std::shared_ptr<const InverseBlocks<S>> inverse;   ///< null where the coarse lattice has no parities
  std::shared_ptr<const CoarseDeflation> deflation;  ///< of the Schur complement; null where there is none
};

struct Setup::State {
  /// The fine level; the coarse one follows by build() or restore().
  /// @param aggregate  wanted; the nearest that fits is taken
  State(const GaugeField& gauge, const WilsonCloverAction& action, const Parameters& given,
        const std::string& transport_given);

  /// Rounds the test vectors to fp16 in place, keeps them, and makes the coarse level of them.
  void build(std::span<FineField> given);
  template <class S>
  void coarsen(std::span<const FineField> rounded);

  const GaugeField* gauge;  ///< null after the set-up
  Parameters parameters;
  std::string transport;
  std::shared_ptr<const lattice::Aggregates> aggregates;
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
