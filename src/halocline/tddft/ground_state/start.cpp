// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/ground_state/start.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/ions/ions.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

namespace halocline::tddft {
namespace {

const char* name_of(Boundary boundary) { return boundary == Boundary::periodic ? "periodic" : "isolated"; }

template <class T>
void refuse_unless_equal(const char* what, const T& before, const T& now) {
  if (before != now)
    throw core::InvalidArgument(fmt::format(
        "the orbitals to start from have {} {}, and the system has {}; start anew, without them", what, before, now));
}

void check_alike(const Model& model, const Model& before) {
  const System &now = model.system(), &then = before.system();
  refuse_unless_equal("a grid of", fmt::format("{} points", fmt::join(then.grid.extent, " x ")),
                      fmt::format("{} points", fmt::join(now.grid.extent, " x ")));
  refuse_unless_equal("the boundary", std::string(name_of(then.grid.boundary)),
                      std::string(name_of(now.grid.boundary)));
  refuse_unless_equal("spins:", then.spins, now.spins);
  refuse_unless_equal("k-points and spins:", then.channels.size(), now.channels.size());
  refuse_unless_equal("states:", then.states, now.states);
  refuse_unless_equal("the division over processes", before.decomposition().counts().text(),
                      model.decomposition().counts().text());
}

}  // namespace

State start_from(const Model& model, const Model& before, const State& state) {
  const Decomposition& decomposition = model.decomposition();
  comm::on_every_rank(decomposition.world(), [&] { check_alike(model, before); });
  State made(state);
  const System &now = model.system(), &then = before.system();
  const std::size_t points = size(decomposition.box().points());
  std::vector<double> change(points, 0.0);
  if (!now.jellium && !then.jellium) {
    change = start_density(now, decomposition);
    const std::vector<double> old = start_density(then, before.decomposition());
    for (std::size_t i = 0; i < points; ++i) change[i] -= old[i];
  }
  const std::vector<double> shared = shared_between_spins(decomposition, change, made.density);
  for (std::size_t i = 0; i < shared.size(); ++i) made.density[i] += shared[i];
  make_physical(model, made.density);
  return made;
}

std::vector<double> shared_between_spins(const Decomposition& decomposition, std::span<const double> one,
                                         std::span<const double> between) {
  const std::size_t points = one.size();
  std::vector<double> electrons(between.size() / points, 0.0), shared(between.size());
  for (std::size_t i = 0; i < between.size(); ++i) electrons[i / points] += between[i];
  decomposition.space().sum(electrons);
  double all = 0;
  for (const double n : electrons) all += n;
  for (std::size_t i = 0; i < shared.size(); ++i)
    shared[i] = all > 0 ? one[i % points] * electrons[i / points] / all : 0.0;
  return shared;
}

void make_physical(const Model& model, std::span<double> density) {
  double sum = 0;
  for (double& n : density) {
    n = std::max(0.0, n);
    sum += n;
  }
  model.decomposition().space().sum(std::span(&sum, 1));
  const double factor = sum > 0 ? model.system().electrons / (sum * model.system().grid.point_volume()) : 0.0;
  for (double& n : density) n *= factor;
}

}  // namespace halocline::tddft
