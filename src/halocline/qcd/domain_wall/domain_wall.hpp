// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The domain-wall operator of Shamir and Moebius on the CPU.
///
/// With S psi(s) = P_+ psi(s-1) + P_- psi(s+1), the mass at the ends, and the diagonal d = 4 - M5 of the Wilson
/// operator, the operator of DomainWallAction is
///
///   D = (b d + 1) + (c d - 1) S - 1/2 hop (b + c S)  =  (A - 1/2 hop) B,   B = b + c S,  A = [(b d + 1) + (c d - 1) S]
///   B^-1
///
/// DomainWall is the operator A - 1/2 hop: the same form as all Dirac operators here, whose site term A connects the
/// points of the fifth dimension. A solver solves (A - 1/2 hop) y = source; the solution of D x = source is x = B^-1 y,
/// and both have the same residual. For the action of Shamir B is one. apply_full() is D itself.
///
/// The points s are columns of the fields, so a hop reads its links once for all of them. While the columns of a tile
/// are in the first-level cache after the hop, its pass also applies A^-1 or A and adds a field. A and A^-1 are
/// recursions along s (dirac/fifth_term.hpp); they have no pass of their own.

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "halocline/qcd/domain_wall/wall_matrices.hpp"
#include "halocline/qcd/wilson/hopping_operator.hpp"

namespace halocline::qcd {

class DomainWallSetup final : public wilson::HoppingSetup {
public:
  /// @param gauge  links in double, ghosts filled; not copied, so it must outlive this object
  /// @param lanes  upper limit on the lanes of the layout; only tests lower it
  /// @throws InvalidArgument  for impossible parameters, matrices of the fifth dimension that cannot be inverted, or a
  ///                          box that no layout fits, on every rank
  /// Collective: yes.
  DomainWallSetup(const GaugeField& gauge, const DomainWallAction& action, int lanes = lattice::TileLayout::max_lanes,
                  std::string transport = "");

  const DomainWallAction& action() const noexcept { return action_; }
  int points() const noexcept override { return action_.ls; }
  /// @param columns  Ls times the number of right-hand sides; the points s of one follow one another
  std::unique_ptr<DiracOperator<float>> in_float(int columns, int stored_reals = 18) const override;
  std::unique_ptr<DiracOperator<double>> in_double(int columns, int stored_reals = 18) const override;

private:
  DomainWallAction action_;
};

template <class T>
class DomainWall final : public wilson::HoppingOperator<T> {
public:
  using typename DiracOperator<T>::Field;
  using typename DiracOperator<T>::Term;
  using typename DiracOperator<T>::Terms;

  /// @param columns       as of DomainWallSetup::in_float
  /// @param stored_reals  of a link: 18, or 12
  /// @throws InvalidArgument  as wilson::Hopping does; for columns that are no multiple of Ls
  /// Collective: yes.  Cost: memory for the links in the order of the kernel, whatever Ls is.
  DomainWall(const DomainWallSetup& setup, int columns, int stored_reals = 18);
  /// The same operator on fields of another number of columns; shares the links. Collective: yes.
  DomainWall(const DomainWall& other, int columns);
  std::unique_ptr<DiracOperator<T>> with_columns(int columns) const override;

  /// The Pauli-Villars operator: the same operator with mass 1. It shares the links. The determinant of D over that of
  /// its Pauli-Villars operator is the one of the overlap operator that Ls approximates. Collective: yes.
  std::unique_ptr<DomainWall> pauli_villars() const;

  int points() const noexcept override { return action_.ls; }
  /// d + 1 for b = 1: the size of A.
  double diagonal() const noexcept override { return action_.wilson().diagonal() + 1; }
  bool gamma5_hermitian() const noexcept override { return false; }  // gamma5 R5 hermitian

  /// The source of a quark eta is D_- (P_+ eta at s = 0, P_- eta at s = Ls - 1), D_- = 1 - c_s D_W. With it and
  /// unload_quark() the solution of D is the propagator (D_ov^-1 - 1) / (1 - m) of an overlap operator D_ov that Ls
  /// approximates (hep-lat/0409118). Collective: yes.
  void load_sources(Field& b, std::span<const std::span<const std::complex<double>>> sources) const override;
  /// q = P_- x(0) + P_+ x(Ls-1), where x is the solution of D that belongs to y.
  void unload_quark(std::span<std::complex<double>> quark, const Field& y, int number) const override;
  /// P_- x(Ls/2) + P_+ x(Ls/2 - 1): the quark in the middle, for the residual mass.
  void unload_midpoint(std::span<std::complex<double>> quark, const Field& y, int number) const override;

  /// out = D in, or D^dagger in, the operator of DomainWallAction, on different full fields.
  /// @throws InvalidArgument  for other fields. Collective: yes.  Cost: two hops; and with c not zero, for D, a pass
  /// over the fields and memory for one.
  void apply_full(Field& out, const Field& in, bool dagger = false) const;
  /// The same on local boxes [s][t][z][y][x][spin 4][colour 3]. out may be in.
  /// @throws InvalidArgument  for a wrong length; for an operator of other than Ls columns. Collective: yes.
  void apply_full(std::span<std::complex<double>> out, std::span<const std::complex<double>> in,
                  bool dagger = false) const;
  /// x = B^-1 y, from the solution of this operator to that of D. x may be y. Collective: no.  Cost: a pass.
  void to_solution(Field& x, const Field& y) const;
  /// y = B x, the way back, or y = B^dagger x. y may be x.
  void from_solution(Field& y, const Field& x, bool dagger = false) const;

private:
  DomainWall(const DomainWall& other, const DomainWallAction& action);

  /// The terms that refer to the matrices. By hermitian conjugation.
  struct FifthTerms : WallMatrices<T> {
    explicit FifthTerms(const DomainWallAction& action);
    FifthTerms(const FifthTerms&) = delete;
    std::array<Term, 2> full_site, product;
    Term solution, source_hop, source_site;
  };
  void require_columns() const;
  void set_fifth_terms();
  void multiply_all(Field& out, const Field& in, const Term& term) const;
  /// P_- x(minus) + P_+ x(plus)
  void unload(std::span<std::complex<double>> quark, const Field& y, int number, int minus, int plus) const;

  DomainWallAction action_;
  std::shared_ptr<const FifthTerms> terms_;
  mutable std::optional<Field> work_;
};

extern template class DomainWall<float>;
extern template class DomainWall<double>;

}  // namespace halocline::qcd
