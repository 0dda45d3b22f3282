// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/coarse_eigenvectors.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "halocline/core/philox.hpp"
#include "halocline/core/region.hpp"
#include "halocline/solve/lanczos.hpp"

namespace halocline::qcd::multigrid {
namespace {

constexpr std::uint64_t start_stream = 0x6d69;
/// Lanczos ends here with the vectors that it has found.
constexpr int most_applications = 40000;

/// out = Gamma5 D_c(mu) in - i mu in, which is Gamma5 D_c(0) in.
template <class S>
class HermitianCoarse {
public:
  HermitianCoarse(std::shared_ptr<const CoarseBlocks<S>> blocks, const std::string& transport)
      : d_(std::move(blocks), 1, transport) {}

  void apply(CoarseField& out, const CoarseField& in) {
    d_.apply(out, in);
    const int half = out.rows();  // numbers of a chirality: N complex ones
    const auto mu = static_cast<float>(d_.blocks().mu());
    for (std::int64_t site = 0; site < out.sites(); ++site) {
      float* to = out.at(site, 0);
      const float* from = in.at(site, 0);
      for (int i = half; i < 2 * half; ++i) to[i] = -to[i];
      if (mu == 0) continue;
      for (int i = 0; i < 2 * half; i += 2 * row_group)
        for (int k = i; k < i + row_group; ++k) {
          to[k] += mu * from[k + row_group];
          to[k + row_group] -= mu * from[k];
        }
    }
  }

private:
  CoarseOperator<S> d_;
};

}  // namespace

template <class S>
CoarseEigenvectors coarse_eigenvectors(std::shared_ptr<const CoarseBlocks<S>> blocks, int count, double tolerance,
                                       const std::string& transport) {
  const core::Region region("coarse eigenvectors");
  const auto geometry = blocks->geometry();
  const int rows = blocks->rows();
  CoarseSpace space(geometry, rows, 1);
  HermitianCoarse<S> h(std::move(blocks), transport);
  const core::Philox random(1, start_stream);
  const auto randomise = [&](CoarseField& out, int draw) {
    for (std::int64_t site = 0; site < out.sites(); ++site) {
      const auto global = geometry->global_index(lattice::coordinates_of<4>(site, geometry->local()));
      auto here = random.at(static_cast<std::uint64_t>(global), static_cast<std::uint64_t>(draw) << 32);
      for (int i = 0; i < 2 * rows; ++i) out.at(site, 0)[i] = static_cast<float>(here.bits() >> 40) * 0x1p-23f - 1.f;
    }
  };
  solve::EigenOptions options;
  options.count = count;
  options.tolerance = tolerance;
  // A long basis and a low degree take the fewest applications of D_c; a copy that was missed costs iterations only.
  options.basis = 3 * count + 48;
  options.chebyshev_degree = 4;
  options.max_applications = most_applications;
  options.verify = false;
  const auto found = solve::lanczos(space, h, randomise, options);
  CoarseEigenvectors out;
  out.values = found.values;
  out.residuals = found.residuals;
  out.norm = found.norm;
  out.applications = found.applications;
  out.vectors = CoarseField(space.create().sites(), rows, static_cast<int>(found.vectors.size()));
  for (std::size_t j = 0; j < found.vectors.size(); ++j)
    for (std::int64_t site = 0; site < out.vectors.sites(); ++site)
      std::copy_n(found.vectors[j].at(site, 0), 2 * rows, out.vectors.at(site, static_cast<int>(j)));
  return out;
}

template CoarseEigenvectors coarse_eigenvectors(std::shared_ptr<const CoarseBlocks<float>>, int, double,
                                                const std::string&);
template CoarseEigenvectors coarse_eigenvectors(std::shared_ptr<const CoarseBlocks<core::Half>>, int, double,
                                                const std::string&);

}  // namespace halocline::qcd::multigrid
