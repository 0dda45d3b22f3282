// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Krylov methods instantiated once for spinor fields, behind an operator that hides which one it is. Fields of
/// several columns are that many solves that share the applications of the operator: each column has its own tolerance,
/// iterations and reason, and the bits that it has alone.

#include <string>

#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/solve/result.hpp"

namespace halocline::qcd {

/// A reference to any operator with apply and apply_dagger on spinor fields. The call through a pointer costs nothing
/// beside a hop, and one instantiation of each solver serves D and its Schur complement.
template <class T>
class SpinorOperator {
public:
  using Field = SpinorField<T>;

  template <class Operator>
  static SpinorOperator of(Operator& a) {
    SpinorOperator me;
    me.object_ = &a;
    me.apply_ = [](void* object, Field& out, const Field& in) { static_cast<Operator*>(object)->apply(out, in); };
    me.dagger_ = [](void* object, Field& out, const Field& in) {
      static_cast<Operator*>(object)->apply_dagger(out, in);
    };
    return me;
  }

  void apply(Field& out, const Field& in) { apply_(object_, out, in); }
  void apply_dagger(Field& out, const Field& in) { dagger_(object_, out, in); }

private:
  using Call = void (*)(void*, Field&, const Field&);
  void* object_ = nullptr;
  Call apply_ = nullptr;
  Call dagger_ = nullptr;
};

/// A x = b by "bicgstab", "cg" (normal equations), "gcr" or "fgmres" in one precision. Collective.
template <class T>
solve::SolveResult solve_by(const std::string& kind, SpinorSpace<T>& space, SpinorOperator<T>& a, SpinorField<T>& x,
                            const SpinorField<T>& b, const solve::SolveOptions& options);

/// The same with the iteration in float and solution and residual in double. Collective.
solve::SolveResult solve_mixed(const std::string& kind, SpinorSpace<double>& space, SpinorOperator<double>& a,
                               SpinorField<double>& x, const SpinorField<double>& b, SpinorSpace<float>& inner_space,
                               SpinorOperator<float>& inner, const solve::SolveOptions& options);

extern template solve::SolveResult solve_by(const std::string&, SpinorSpace<float>&, SpinorOperator<float>&,
                                            SpinorField<float>&, const SpinorField<float>&, const solve::SolveOptions&);
extern template solve::SolveResult solve_by(const std::string&, SpinorSpace<double>&, SpinorOperator<double>&,
                                            SpinorField<double>&, const SpinorField<double>&,
                                            const solve::SolveOptions&);

}  // namespace halocline::qcd
