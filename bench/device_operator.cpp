// SPDX-License-Identifier: Apache-2.0
#include "bench/device_operator.hpp"

#include <variant>

#include "bench/actions.hpp"
#include "bench/fields.hpp"
#include "halocline/qcd/domain_wall/wall_matrices.hpp"

namespace halocline::bench {
namespace {

/// Per site: shared reals once, spinors and flops for each column.
DeviceCost of_storage(const DeviceDslashCase& c, const Cost& cost, double neighbours, double numbers, int columns) {
  const DeviceStorage storage = device_storage(c.precision);
  const double vector = numbers * storage.number + storage.scale;
  const double shared = cost.shared * storage.number, once = cost.spinors / numbers * vector;
  return {.flops = cost.flops * columns,
          .bytes = shared + columns * (once + neighbours * 7 / 8 * vector),
          .bytes_with_reuse = shared + columns * once};
}

}  // namespace

qcd::Action device_action(const DeviceDslashCase& c) { return action_of({.name = c.action, .csw = 1.0, .ls = c.ls}); }

DeviceCost device_operator_cost(const DeviceDslashCase& c) {
  const bool schur = c.form != "hopping", symmetric = c.form == "schur";
  const int columns = c.columns * columns_of_one(c.action, c.ls), hops = schur ? 2 : 1;
  const qcd::Action action = device_action(c);
  if (const auto* staggered = std::get_if<qcd::StaggeredAction>(&action)) {
    const int steps = staggered->has_long_links() ? 16 : 8;
    const Cost sum{12, 6, 0}, hop = staggered_hopping_cost(steps);
    return of_storage(c, schur ? hop * 2 + sum : hop, 8.0 / 7 * (steps - 1) * hops, 6, columns);
  }
  const Cost sum{48, spinor_reals, 0};
  Cost cost = hopping_cost(c.link_reals) * hops + (schur ? sum : Cost{});
  if (schur && has_walls(c.action)) {
    const qcd::WallMatrices<double> matrices(std::get<qcd::DomainWallAction>(action));
    cost.flops += matrices.inverse_a[0].flops() + (symmetric ? matrices.inverse_a : matrices.a)[0].flops();
  } else if (schur) {
    // The inverse of a twisted term is a product of two blocks.
    const bool twisted = c.action == "twisted";
    const Cost a{clover_cost.flops + (twisted ? 48 : 0), 0, clover_reals};
    const Cost inverse = Cost{clover_cost.flops, 0, clover_reals} + (twisted ? a : Cost{});
    cost = cost + inverse + (symmetric ? inverse : a);
  }
  return of_storage(c, cost, 8.0 * hops, spinor_reals, columns);
}

}  // namespace halocline::bench
