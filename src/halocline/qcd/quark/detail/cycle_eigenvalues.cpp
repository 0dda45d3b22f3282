// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/cycle_eigenvalues.hpp"

#include <algorithm>
#include <complex>
#include <utility>

#include "halocline/core/half.hpp"
#include "halocline/core/region.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/multigrid/multigrid.hpp"
#include "halocline/qcd/schwarz/layout_change.hpp"
#include "halocline/solve/davidson.hpp"

namespace halocline::qcd {
namespace {

/// Columns that go through a cycle together, as in the set-up: numbers of test vectors are multiples of it.
constexpr int block = 8;

struct HermitianDirac {
  const DiracOperator<double>* d;
  void apply(SpinorField<double>& out, const SpinorField<double>& in) {
    d->apply(out, in);
    apply_gamma5(out, out);
  }
};

/// out = approximately D^-1 gamma5 in, by a cycle.
class Cycle {
public:
  Cycle(const SpinorSpace<double>& space, const multigrid::Setup& setup)
      : space_(&space),
        multigrid_(setup, space.columns()),
        change_(space.layout(), multigrid_.smoother().layout()),
        turned_(space.create()),
        from_(multigrid_.smoother().create()),
        to_(multigrid_.smoother().create()) {}

  void apply(SpinorField<double>& out, const SpinorField<double>& in) {
    // Scaled to one, so that the numbers of a small residual stay far from the ends of single precision. Davidson's
    // method does not mind the length of its directions.
    std::vector<double> factor = norms(*space_, in);
    for (double& f : factor) f = f > 0 ? 1.0 / f : 0.0;
    apply_gamma5(turned_, in);
    change_.to_domains(from_, turned_, factor);
    multigrid_.smoother().multiply_inverse_clover(from_);
    multigrid_.precondition(to_, from_);
    change_.to_tiles(out, to_, std::vector<double>(factor.size(), 1.0));
  }

private:
  const SpinorSpace<double>* space_;
  multigrid::Multigrid multigrid_;
  schwarz::LayoutChange change_;
  SpinorField<double> turned_;
  multigrid::Multigrid::Field from_, to_;
};

/// The test vectors in blocks.
std::vector<SpinorField<double>> start_blocks(const SpinorSpace<double>& space, const multigrid::Setup& setup) {
  const core::Region region("test vectors to double");
  const auto stored = setup.stored();
  const std::int64_t sites = space.layout()->geometry().local_volume();
  std::vector<std::complex<double>> canonical(static_cast<std::size_t>(sites * spinor_components));
  std::vector<SpinorField<double>> out;
  for (int vector = 0; vector < stored.vectors; ++vector) {
    if (vector % block == 0) out.push_back(space.create());
#pragma omp parallel for schedule(static)
    for (std::int64_t site = 0; site < sites; ++site) {
      const core::Half* from = stored.numbers.data() + (site * stored.vectors + vector) * spinor_reals;
      for (int colour = 0; colour < 3; ++colour)
        for (int spin = 0; spin < 4; ++spin, from += 2)
          canonical[static_cast<std::size_t>(site * spinor_components + spin * 3 + colour)] = {core::widen(from[0]),
                                                                                               core::widen(from[1])};
    }
    from_canonical<double>(out.back(), vector % block, canonical);
  }
  return out;
}

}  // namespace

EigenvalueReport cycle_eigenvalues(const DiracOperator<double>& d, const multigrid::Setup& setup,
                                   const EigenvalueParameters& parameters,
                                   const std::function<bool(int applications, int found)>& progress) {
  const auto wide = d.with_columns(block);
  SpinorSpace<double> space(wide->layout(), lattice::Subset::full, block);
  HermitianDirac h{wide.get()};
  Cycle cycle(space, setup);
  solve::DavidsonOptions options;
  options.count = parameters.count;
  options.tolerance = parameters.tolerance;
  options.max_applications = parameters.max_applications;
  options.progress = progress;
  const auto result = solve::davidson(space, h, cycle, start_blocks(space, setup), options);

  EigenvalueReport report;
  report.converged = result.converged();
  report.reason = solve::name(result.reason);
  report.values = result.values;
  report.residuals = result.residuals;
  report.applications = result.applications;
  report.cycles = result.preconditionings;
  report.seconds = result.timings.total;
  if (parameters.vectors)
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      report.vectors.emplace_back(
          static_cast<std::size_t>(space.layout()->geometry().local_volume() * spinor_components));
      to_canonical<double>(report.vectors.back(), result.blocks[i / block], static_cast<int>(i % block));
    }
  return report;
}

}  // namespace halocline::qcd
