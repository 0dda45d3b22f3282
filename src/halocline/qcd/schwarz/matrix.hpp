// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the Schwarz preconditioner reads and never writes: links and inverse clover blocks, in the order of its passes.
///
/// They are made from the gauge field once; preconditioners for any number of columns then stand on the same numbers,
/// and the gauge field is not needed any more. Where the domains are chosen automatically and another number of columns
/// asks for other domains, their numbers are brought into that order without a change of value.

#include <memory>
#include <string_view>

#include "halocline/qcd/schwarz/schwarz.hpp"

namespace halocline::qcd::schwarz {

class Matrix {
public:
  /// @param gauge    links in double with ghosts filled; read here and not kept
  /// @param columns  number that automatic domains are chosen for
  /// @throws InvalidArgument  for impossible parameters or a box that cannot be cut so, on every rank
  /// @throws Error            where the clover term cannot be inverted
  /// Collective: yes.  Cost: 72 + 72 floats a site (links, clover inverse), half as much again stored as half.
  Matrix(const GaugeField& gauge, const ActionParameters& action, const Parameters& parameters, int columns = 1);
  ~Matrix();
  Matrix(Matrix&&) noexcept;

  /// The same matrix with the domains that suit another number of columns: the same numbers in memory where these are
  /// the same domains, and otherwise a copy in another order.
  /// @throws InvalidArgument  for less than one column. Collective: no.
  Matrix for_columns(int columns) const;

  const ActionParameters& action() const noexcept;
  const Parameters& parameters() const noexcept;
  /// What K computes in, "float" or "half": the choice, where the parameters leave it open.
  std::string_view arithmetic() const noexcept;
  const std::shared_ptr<const lattice::DomainLayout>& layout() const noexcept;
  /// The memory is that of the other, too.
  bool shares_with(const Matrix& other) const noexcept;

private:
  friend class Schwarz;
  struct Implementation;
  explicit Matrix(std::shared_ptr<const Implementation> implementation);
  std::shared_ptr<const Implementation> implementation_;
};

}  // namespace halocline::qcd::schwarz
