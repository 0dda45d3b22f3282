// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Computes the next input density of the self-consistent cycle from its input and output densities.
///
///   linear   n + w r, with the residual r = n_out - n_in
///   pulay    the combination sum_i c_i (n_i + w r_i), sum c_i = 1, whose residual is smallest (Pulay, Chem. Phys.
///            Lett. 73, 393, 1980)
///   broyden  Johnson's second method with weights 1 and w_0 = 0.01 (Phys. Rev. B 38, 12807, 1988)
/// In a large metallic cell the residual overestimates long waves of the density by 1 + (q_0 / G)^2. `screening` = q_0
/// damps the residual by the inverse of this factor (Kerker, Phys. Rev. B 23, 3082, 1981) before the weight is applied.

#include "halocline/tddft/base/decomposition.hpp"

#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace halocline::tddft {

class Mixer {
public:
  /// The preconditioner: applied in place to a residual before the weight.
  using Damping = std::function<void(std::span<double>)>;

  /// @param kind     "pulay", "broyden", "linear"
  /// @param weight   w, in (0, 1]
  /// @param history  number of earlier densities to remember, at least 1
  /// @throws InvalidArgument  an unknown kind, a weight or a history outside these ranges. Collective: no.
  Mixer(const comm::Communicator& space, const std::string& kind, double weight, int history, Damping damping = {});

  static std::vector<std::string> kinds();

  /// Replaces `in` by the next density. @param in, out  on this process's box; the length is the same in each call
  /// Collective over space; the sums of the history are added in rank order.
  void mix(std::span<double> in, std::span<const double> out);

private:
  void add_damped(std::span<double> in, std::vector<double> step) const;
  std::vector<double> dots(std::span<const std::vector<double>* const> left,
                           std::span<const std::vector<double>* const> right) const;

  comm::Communicator space_;
  std::string kind_;
  double weight_;
  std::size_t history_;
  Damping damping_;
  std::vector<double> last_density_, last_residual_;
  std::deque<std::vector<double>> density_steps_, residual_steps_;  ///< differences, newest last
};

}  // namespace halocline::tddft
