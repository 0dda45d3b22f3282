// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The read-only data of the Schwarz preconditioner: links and inverse clover blocks, in the order of its passes.
///
/// They are computed once; the gauge field is not needed afterwards. Preconditioners for any number of columns use the
/// same data. If domains are chosen automatically and another number of columns asks for other domains, the numbers are
/// reordered without a change of value.

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "halocline/qcd/schwarz/schwarz.hpp"

namespace halocline::qcd::schwarz {

class Matrix {
public:
  /// @param gauge    links in double with ghosts filled; read here and not kept
  /// @param columns  number of columns that automatic domains are chosen for
  /// @param term     clover::canonical_term of these links and this action, or null: it is then computed here
  /// @throws InvalidArgument  for impossible parameters or a box that cannot be cut into these domains, on every rank
  /// @throws Error            where the clover term cannot be inverted
  /// Collective: yes.  Cost: 72 + 72 floats a site (links, clover inverse), half as much again stored as half.
  Matrix(const GaugeField& gauge, const WilsonCloverAction& action, const Parameters& parameters, int columns = 1,
         const std::vector<double>* term = nullptr);
  ~Matrix();
  Matrix(Matrix&&) noexcept;

  /// The same matrix with the domains that suit another number of columns. It shares the memory if these are the same
  /// domains; otherwise it is a copy in another order.
  /// @throws InvalidArgument  for less than one column. Collective: no.
  Matrix for_columns(int columns) const;

  const WilsonCloverAction& action() const noexcept;
  const Parameters& parameters() const noexcept;
  /// The arithmetic of K, "float" or "half": if the parameters leave it open, the one that was chosen.
  std::string_view arithmetic() const noexcept;
  const std::shared_ptr<const lattice::DomainLayout>& layout() const noexcept;
  /// A^-1 / 2 in float: `[domain][tile][72][lane]`, the 72 as in site/clover_block.hpp; empty without a clover term.
  std::span<const float> half_inverse_clover() const noexcept;
  /// True if both use the same memory.
  bool shares_with(const Matrix& other) const noexcept;

private:
  friend class Schwarz;
  struct State;
  explicit Matrix(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace halocline::qcd::schwarz
