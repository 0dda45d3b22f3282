// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A Dirac operator D = A - 1/2 hop on fields of the CPU: the interface that even-odd preconditioning, the quark solver
/// and Python use.
///
/// A is a block at each site, diagonal in chirality, or a number. `hop` connects sites of opposite parity. A fermion
/// action supplies A and its inverse (SiteTerm) and `hop`. Everything else follows from these, here and in
/// schur/even_odd.hpp. The interface is virtual and not a template argument: run files choose the action, a virtual
/// call costs nothing beside a hop, and one instantiation of each solver serves all actions.
///
/// The concept EvenOddOperator (dirac/even_odd_operator.hpp) names the part that even-odd preconditioning needs.
/// Operators of a device (dirac/cuda.cuh) satisfy it too, and the algorithms are templates over it.

#include <complex>
#include <memory>
#include <span>

#include "halocline/qcd/dirac/even_odd_operator.hpp"
#include "halocline/qcd/dirac/site_term.hpp"
#include "halocline/qcd/field/spinor_field.hpp"

namespace halocline::qcd {

/// The interface of an operator on spinor fields to the Krylov methods: M = D, or its Schur complement.
template <class T>
class SpinorOperator {
public:
  using Field = SpinorField<T>;

  virtual ~SpinorOperator() = default;
  /// out = M in, and out = M^dagger in; out and in are different fields. One application at a time. Collective: yes.
  virtual void apply(Field& out, const Field& in) const = 0;
  virtual void apply_dagger(Field& out, const Field& in) const = 0;
  /// True if M is hermitian and positive, so that conjugate gradients solve it without the normal equations.
  virtual bool hermitian_positive() const noexcept { return false; }
};

template <class T>
class DiracOperator : public SpinorOperator<T> {
public:
  using typename SpinorOperator<T>::Field;
  using Term = SiteTerm<T>;
  using Terms = DiracTerms<Field, Term>;

  /// The same operator on fields of another number of columns; shares links and blocks. Collective: yes.
  virtual std::unique_ptr<DiracOperator> with_columns(int columns) const = 0;

  virtual const std::shared_ptr<const lattice::TileLayout>& layout() const noexcept = 0;
  /// The number of columns of a field: its right-hand sides, times points().
  virtual int columns() const noexcept = 0;
  /// Complex numbers of a quark at one site: spinor_components, or 3 for staggered quarks.
  virtual int components() const noexcept { return spinor_components; }
  /// Points of a fifth dimension, or flavours of a doublet. So many columns, one after another, belong to one
  /// right-hand side.
  virtual int points() const noexcept { return 1; }
  /// A if it is a number; otherwise its typical size.
  virtual double diagonal() const noexcept = 0;
  /// A, or A^dagger, on one parity; null if A is the number diagonal().
  virtual const Term* site(int parity, bool dagger) const noexcept = 0;
  /// A^-1, or its hermitian conjugate, on one parity; null if A is the number diagonal().
  virtual const Term* inverse_site(int parity, bool dagger) const noexcept = 0;
  /// True if gamma5 D is hermitian.
  virtual bool gamma5_hermitian() const noexcept = 0;
  /// True if the Schur complement of D is hermitian and positive.
  virtual bool hermitian_schur() const noexcept { return false; }
  /// A zero field of this operator.
  Field field(lattice::Subset subset) const { return Field(layout(), 2 * components(), subset, columns()); }

  /// out = hop(in), or hop^dagger(in), on `target_parity`, with `terms`. Fields hold one parity or both.
  /// @param out  may be terms.add;  @param in  a different field from out
  /// Collective: yes where an axis is split.
  virtual void hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) const = 0;

  /// out = D in on different full fields of columns() columns.
  /// @throws InvalidArgument  for other fields. Collective: yes.  Cost: two hops, for Wilson quarks of 1320 flops a
  /// site of its parity and column, and the site terms.
  void apply(Field& out, const Field& in) const override { apply(out, in, false); }
  /// out = D^dagger in
  void apply_dagger(Field& out, const Field& in) const override { apply(out, in, true); }

  /// Sets the first right-hand sides of a full field from sources of quarks, and the others to zero. With a fifth
  /// dimension the source of a quark becomes one of five dimensions.
  /// @param sources  local boxes, [t][z][y][x][spin 4][colour 3], or [t][z][y][x][colour 3] for staggered quarks
  /// @throws InvalidArgument  for a wrong length. Collective: yes.
  virtual void load_sources(Field& b, std::span<const std::span<const std::complex<double>>> sources) const;
  /// Writes the quark of the right-hand side `number` of x, a solution of this operator.
  /// @param quark  the shape of a source. @throws InvalidArgument  for a wrong length. Collective: no.
  virtual void unload_quark(std::span<std::complex<double>> quark, const Field& x, int number) const;

  /// The same in the middle of the fifth dimension. @throws InvalidArgument  without one
  virtual void unload_midpoint(std::span<std::complex<double>> quark, const Field& x, int number) const;

  /// out = A^-1 in, or A^-dagger in, on one parity, which both fields hold; out may be in. Collective: no.
  void multiply_inverse_diagonal(Field& out, const Field& in, int parity, bool dagger = false) const;

private:
  void apply(Field& out, const Field& in, bool dagger) const;
};

extern template class DiracOperator<float>;
extern template class DiracOperator<double>;

/// An action on given links, which makes its operator in each precision. It computes the data that they share once,
/// in double.
class DiracSetup {
public:
  virtual ~DiracSetup() = default;
  /// As of the operators.
  virtual int points() const noexcept { return 1; }
  /// @param columns       of the fields
  /// @param stored_reals  of a link: 18, or 12
  /// @throws InvalidArgument  as wilson::Hopping does
  /// Collective: yes.  Cost: memory for the links in the order of the kernel, and for the blocks.
  virtual std::unique_ptr<DiracOperator<float>> in_float(int columns = 1, int stored_reals = 18) const = 0;
  virtual std::unique_ptr<DiracOperator<double>> in_double(int columns = 1, int stored_reals = 18) const = 0;
};

}  // namespace halocline::qcd
