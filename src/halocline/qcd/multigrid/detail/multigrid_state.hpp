// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a cycle holds for its number of columns.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "halocline/qcd/multigrid/detail/setup_state.hpp"
#include "halocline/qcd/multigrid/multigrid.hpp"
#include "halocline/qcd/schwarz/domain_space.hpp"

namespace halocline::qcd::multigrid {

struct Multigrid::State {
  /// A cycle whose coarse solves end at `coarse_tolerance`. @param smoother  of the set-up's matrix. Collective: yes.
  static std::unique_ptr<State> make(std::shared_ptr<const Setup::State> setup,
                                     std::shared_ptr<schwarz::Schwarz> smoother, double coarse_tolerance);

  State(std::shared_ptr<const Setup::State> setup_given, std::shared_ptr<schwarz::Schwarz> smoother_given)
      : setup(std::move(setup_given)),
        smoother(std::move(smoother_given)),
        space(smoother->layout(), smoother->columns()),
        coarse_iterations(setup->plan.shapes.size()) {}
  virtual ~State() = default;
  virtual void precondition(Field& out, const Field& in) = 0;

  std::shared_ptr<const Setup::State> setup;
  std::shared_ptr<schwarz::Schwarz> smoother;
  schwarz::DomainSpace space;
  std::vector<std::int64_t> coarse_iterations;  ///< of each coarse level
};

}  // namespace halocline::qcd::multigrid
