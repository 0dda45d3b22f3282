// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/eigenvalues.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "halocline/core/error.hpp"
#include "halocline/core/philox.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/quark/detail/cycle_eigenvalues.hpp"
#include "halocline/qcd/quark/dirac_setup.hpp"
#include "halocline/solve/lanczos.hpp"

namespace halocline::qcd {
namespace {

/// Key of the random-number stream for the start vectors of Lanczos.
constexpr std::uint64_t lanczos_stream = 0x4c616e637a6f73;
constexpr std::array method_names{"lanczos", "multigrid"};

struct Gamma5Dirac {
  const DiracOperator<double>* d;

  void apply(SpinorField<double>& out, const SpinorField<double>& in) {
    d->apply(out, in);
    apply_gamma5(out, out);
  }
};

std::vector<std::complex<double>> gaussian_spinor(const lattice::Geometry4& geometry, const core::Philox& random,
                                                  int draw) {
  std::vector<std::complex<double>> spinor(static_cast<std::size_t>(geometry.local_volume() * spinor_components));
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < geometry.local_volume(); ++site) {
    const auto x = lattice::coordinates_of<4>(site, geometry.local());
    auto numbers = random.at(static_cast<std::uint64_t>(geometry.global_index(x)),
                             static_cast<std::uint64_t>(draw) * spinor_components);
    for (int i = 0; i < spinor_components; ++i) {
      const auto [re, im] = numbers.gaussian_pair();
      spinor[spinor_components * site + i] = {re, im};
    }
  }
  return spinor;
}

}  // namespace

std::span<const char* const> eigenvalue_methods() noexcept { return method_names; }

void EigenvalueParameters::validate() const {
  if (std::ranges::find(method_names, method) == method_names.end())
    throw core::InvalidArgument(
        fmt::format("the method of the eigenvalues is \"{}\"; give one of {}", method, fmt::join(method_names, ", ")));
  if (count < 1) throw core::InvalidArgument(fmt::format("{} eigenvalues were asked for; ask for at least 1", count));
  if (!(tolerance > 0) || !(tolerance < 1))
    throw core::InvalidArgument(
        fmt::format("the eigenvalues' tolerance is {}; give a number between 0 and 1, such as 1e-10", tolerance));
  if (max_applications < 1)
    throw core::InvalidArgument(fmt::format("max_applications is {}; give at least 1", max_applications));
  multigrid.validate();
}

EigenvalueReport low_eigenvalues(const GaugeField& gauge, const Action& action, const EigenvalueParameters& parameters,
                                 const std::function<bool(int applications, int found)>& progress,
                                 const multigrid::Setup* setup) {
  parameters.validate();
  const auto& geometry = gauge.geometry();
  if (parameters.count > geometry.global_volume() * spinor_components)
    throw core::InvalidArgument(fmt::format("{} eigenvalues were asked for, but the operator has {}", parameters.count,
                                            geometry.global_volume() * spinor_components));
  const auto d = dirac_setup(gauge, action)->in_double();
  if (!d->gamma5_hermitian())
    throw core::InvalidArgument(
        fmt::format("gamma5 D is not hermitian with mu = {0}: its eigenvalues are those with mu = "
                    "0, each plus i times {0}; ask for these",
                    twisted_mass(action)));
  if (parameters.method == "multigrid") {
    std::optional<multigrid::Setup> made;
    if (setup == nullptr) setup = &made.emplace(gauge, wilson_part(action), parameters.multigrid);
    EigenvalueReport report = cycle_eigenvalues(*d, *setup, parameters, progress);
    if (made) report.setup_seconds = made->seconds();
    return report;
  }
  Gamma5Dirac h{d.get()};
  SpinorSpace<double> space(d->layout(), lattice::Subset::full);
  const core::Philox random(parameters.seed, lanczos_stream);
  const auto randomise = [&](SpinorField<double>& v, int draw) {
    from_canonical<double>(v, gaussian_spinor(geometry, random, draw));
  };
  solve::EigenOptions options;
  options.count = parameters.count;
  options.tolerance = parameters.tolerance;
  options.max_applications = parameters.max_applications;
  options.progress = progress;
  const auto result = solve::lanczos(space, h, randomise, options);

  EigenvalueReport report;
  report.converged = result.converged();
  report.reason = solve::name(result.reason);
  report.values = result.values;
  report.residuals = result.residuals;
  report.applications = result.applications;
  report.seconds = result.timings.total;
  if (parameters.vectors)
    for (const auto& v : result.vectors) {
      report.vectors.emplace_back(static_cast<std::size_t>(geometry.local_volume() * spinor_components));
      to_canonical<double>(report.vectors.back(), v);
    }
  return report;
}

}  // namespace halocline::qcd
