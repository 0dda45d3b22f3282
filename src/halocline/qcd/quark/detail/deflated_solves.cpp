// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/deflated_solves.hpp"

#include <fmt/format.h>

#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/quark/detail/corrections.hpp"
#include "halocline/qcd/quark/detail/krylov.hpp"
#include "halocline/qcd/quark/detail/quark_engine.hpp"
#include "halocline/solve/reliable_update.hpp"

namespace halocline::qcd {

bool is_deflated(const std::string& method) noexcept { return method.starts_with("deflated-"); }

std::shared_ptr<const LowModeDeflation> low_mode_deflation(const DiracOperator<float>& d, bool even_odd, SchurForm form,
                                                           const LowModes& modes) {
  const core::Region region("deflation vectors");
  Level<DiracOperator<float>> level(d.with_columns(1), even_odd, form);
  const std::int64_t sites = level.space().layout()->geometry().local_volume();
  const auto wanted = static_cast<std::size_t>(sites * modes.vectors() * spinor_reals);
  if (modes.numbers.size() != wanted)
    throw core::InvalidArgument(fmt::format("{} numbers of {} low modes were given for the box of a process; give {}",
                                            modes.numbers.size(), modes.vectors(), wanted));
  std::vector<std::complex<double>> box(static_cast<std::size_t>(sites * spinor_components));
  std::vector<SpinorField<float>> vectors;
  for (int i = 0; i < modes.vectors(); ++i) {
    modes.unpack(box, i);
    vectors.push_back(level.space().create());
    from_canonical<float>(vectors.back(), box);
  }
  return std::make_shared<const LowModeDeflation>(level.space(), level.a(), std::move(vectors),
                                                  solve::Projection::minimal_residual);
}

solve::SolveResult solve_deflated(const std::string& method, SpinorSpace<double>& space,
                                  const SpinorOperator<double>& a, SpinorField<double>& x, const SpinorField<double>& b,
                                  SpinorSpace<float>& inner_space, const SpinorOperator<float>& inner,
                                  const LowModeDeflation& deflation, const solve::SolveOptions& options) {
  if (method == "deflated-cg")
    return solve_by_corrections(
        space, a, x, b, inner_space, options.inner_tolerance,
        [&](SpinorField<float>& e, const SpinorField<float>& r, const solve::SolveOptions& own) {
          return solve::deflated_cg_normal(inner_space, inner, deflation, e, r, own);
        },
        options);
  solve::ReliableProblem problem(
      inner_space, inner, space, a, x, b,
      [](SpinorField<float>& out, const SpinorField<double>& in) { convert(out, in); },
      [](SpinorField<double>& out, const SpinorField<float>& in) { convert(out, in); });
  solve::DeflatedProblem deflated(problem, deflation, solve::Replacement::recompute);
  solve::SolveOptions reliable = options;
  reliable.replacement = KrylovTraits<SpinorSpace<float>>::replacement;
  auto e = inner_space.create();
  const solve::NoPreconditioner none;
  return solve::bicgstab_on(deflated, e, reliable, none);
}

}  // namespace halocline::qcd
