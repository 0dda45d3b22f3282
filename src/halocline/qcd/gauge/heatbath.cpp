// SPDX-License-Identifier: Apache-2.0
//
// Layout of a sweep. Sites of a row along x alternate in parity. A pack of links of one parity is therefore assembled
// from two halves, each every second site of a stretch of one row: two unaligned loads and one shuffle. Thanks to the
// ghosts, neighbours are at the same distances in memory for every site. The two halves may lie in different rows, so
// short rows cost little. New links go to a scratch array and are written back after the step, because a load of a
// stretch also reads the sites between, which no other thread may be writing.

#include "halocline/qcd/gauge/heatbath.hpp"

#include "halocline/qcd/gauge/detail/su2_heatbath.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace halocline::qcd::gauge {

namespace {

constexpr int lanes = core::native_lanes<double>;
constexpr int half = lanes / 2;
using Sites = core::Pack<double, lanes>;

/// Up to lanes / 2 sites of one parity in one row: places first, first + 2, ...
struct HalfPack {
  std::int64_t place;   ///< of component 0 in the field
  std::int64_t global;  ///< index of the first site in the whole lattice
  int count;
};

std::vector<HalfPack> half_packs(const GaugeField& gauge, int parity) {
  const auto& geometry = gauge.geometry();
  const auto& local = geometry.local();
  std::vector<HalfPack> list;
  for (std::int64_t t = 0; t < local[3]; ++t)
    for (std::int64_t z = 0; z < local[2]; ++z)
      for (std::int64_t y = 0; y < local[1]; ++y)
        for (std::int64_t x = geometry.parity({0, y, z, t}) == parity ? 0 : 1; x < local[0]; x += 2 * half) {
          const std::int64_t left = (local[0] - x + 1) / 2;
          list.push_back({gauge.field().offset({x, y, z, t}), geometry.global_index({x, y, z, t}),
                          static_cast<int>(left < half ? left : half)});
        }
  if (list.size() % 2 == 1) list.push_back({list.back().place, list.back().global, 0});
  return list;
}

/// Loads links for a pair of half packs.
class Loader {
public:
  Loader(const GaugeField& gauge, const HalfPack& a, const HalfPack& b)
      : a_(gauge.field().data() + a.place),
        b_(gauge.field().data() + b.place),
        component_stride_(gauge.field().component_stride()),
        link_stride_(gauge.link_stride()) {}

  /// U_mu at a distance from the sites.
  __attribute__((always_inline)) Su3<Sites> operator()(int mu, std::int64_t distance = 0) const {
    const std::int64_t from = distance + mu * link_stride_;
    Su3<Sites> u;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const std::int64_t component = from + (6 * i + 2 * j) * component_stride_;
        u.e[i][j] = {alternate(component), alternate(component + component_stride_)};
      }
    return u;
  }

private:
  __attribute__((always_inline)) Sites alternate(std::int64_t place) const {
    const Sites a = Sites::load(a_ + place), b = Sites::load(b_ + place);
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return Sites(__builtin_shufflevector(a.v, b.v, (2 * static_cast<int>(i))...));
    }(std::make_index_sequence<lanes>{});
  }

  const double* a_;
  const double* b_;
  std::int64_t component_stride_, link_stride_;
};

/// The weighted sum S of the staples: the plaquettes that contain U_mu(x) contribute Re tr(U S^dagger).
/// 6 x (2 x 198 + 36) flops a link, from 18 links or 2592 bytes.
__attribute__((always_inline)) inline Su3<Sites> staples(const Loader& links, const GaugeField& gauge, int mu,
                                                         const std::array<double, 4>& weight) {
  const std::int64_t ahead = gauge.field().stride(mu);
  Su3<Sites> sum = Su3<Sites>::zero();
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    const std::int64_t up = gauge.field().stride(nu);
    Su3<Sites> staple = times_adjoint(links(nu) * links(mu, up), links(nu, ahead));
    staple += adjoint_times(links(nu, -up), links(mu, -up) * links(nu, ahead - up));
    sum += Sites(weight[static_cast<std::size_t>(nu)]) * staple;
  }
  return sum;
}

/// A quaternion as its length and an SU(2) matrix.
struct Direction {
  Quaternion<Sites> v;
  Sites length;
};

Direction direction_of(const Quaternion<Sites>& q) {
  const Sites length = qcd::detail::square_root(q.norm());
  const auto none = length.v == Sites(0.0).v;  // any direction will do: the unit
  const Sites scale = Sites(1.0) / core::select(none, Sites(1.0), length);
  return {{core::select(none, Sites(1.0), scale * q.a0), scale * q.a1, scale * q.a2, scale * q.a3}, length};
}

/// a v^dagger
Quaternion<Sites> times_adjoint(const Quaternion<Sites>& a, const Quaternion<Sites>& v) {
  return {
      a.a0 * v.a0 + a.a1 * v.a1 + a.a2 * v.a2 + a.a3 * v.a3, a.a1 * v.a0 - a.a0 * v.a1 + (a.a2 * v.a3 - a.a3 * v.a2),
      a.a2 * v.a0 - a.a0 * v.a2 + (a.a3 * v.a1 - a.a1 * v.a3), a.a3 * v.a0 - a.a0 * v.a3 + (a.a1 * v.a2 - a.a2 * v.a1)};
}

/// The eight steps of a sweep: update(u, s, global link indices) changes links u with staple sums s.
template <class Update>
void for_each_link(GaugeField& gauge, const std::array<std::array<double, 4>, 4>& weight, Update&& update) {
  double* const data = gauge.field().data();
  const std::int64_t component_stride = gauge.field().component_stride();
  const std::array lists = {half_packs(gauge, 0), half_packs(gauge, 1)};
  const std::size_t longest = std::max(lists[0].size(), lists[1].size()) / 2;
  core::AlignedArray<double> scratch(static_cast<std::int64_t>(longest) * link_reals * lanes);
  bool finite = true;
  for (int mu = 0; mu < 4; ++mu)
    for (const auto& list : lists) {
      const auto pairs = static_cast<std::int64_t>(list.size() / 2);
#pragma omp parallel reduction(&& : finite)
      {
#pragma omp for schedule(static)
        for (std::int64_t pair = 0; pair < pairs; ++pair) {
          const HalfPack& a = list[static_cast<std::size_t>(2 * pair)];
          const HalfPack& b = list[static_cast<std::size_t>(2 * pair + 1)];
          const Loader links(gauge, a, b);
          Su3<Sites> u = links(mu);
          detail::Words<lanes> global;
          for (int lane = 0; lane < lanes; ++lane)
            global[lane] =
                static_cast<std::uint64_t>(4 * (lane < half ? a.global + 2 * lane : b.global + 2 * (lane - half)) + mu);
          update(u, staples(links, gauge, mu, weight[static_cast<std::size_t>(mu)]), global);
          store_link<Sites>(scratch.data() + pair * link_reals * lanes, lanes, u);
        }
#pragma omp for schedule(static)
        for (std::int64_t index = 0; index < 2 * pairs; ++index) {
          const HalfPack& sites = list[static_cast<std::size_t>(index)];
          const double* from = scratch.data() + (index / 2 * link_reals * lanes + index % 2 * half);
          double* to = data + sites.place + mu * link_reals * component_stride;
          double zero = 0;
          for (int component = 0; component < link_reals; ++component)
            for (int site = 0; site < sites.count; ++site) {
              const double number = from[component * lanes + site];
              to[component * component_stride + 2 * site] = number;
              zero += 0 * number;
            }
          finite = finite && zero == 0;
        }
      }
      gauge.exchange_ghosts(mu);
    }
  if (!gauge.geometry().communicator().all(finite))
    throw core::Error("a link of the gauge field is not finite; the field that was given holds NaN or infinite "
                      "numbers, check it with unitarity_violation()");
}

/// Factor of the staples of a link mu in the planes mu nu.
std::array<std::array<double, 4>, 4> plane_weights(const GaugeField& gauge, double beta, double xi0) {
  if (!(beta >= 0) || std::isinf(beta))
    throw core::InvalidArgument("beta = " + std::to_string(beta) +
                                " was given; the inverse coupling must be a finite number that is not negative");
  if (!(xi0 > 0) || std::isinf(xi0))
    throw core::InvalidArgument("xi0 = " + std::to_string(xi0) + " was given; the bare anisotropy must be positive");
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (gauge.geometry().global()[axis] % 2 != 0)
      throw core::InvalidArgument("axis " + std::to_string(axis) + " has " +
                                  std::to_string(gauge.geometry().global()[axis]) +
                                  " sites; links are updated by parity, which needs an even number");
  std::array<std::array<double, 4>, 4> weight{};
  for (std::size_t mu = 0; mu < 4; ++mu)
    for (std::size_t nu = 0; nu < 4; ++nu) weight[mu][nu] = beta / 3 * (mu == 3 || nu == 3 ? xi0 : 1 / xi0);
  return weight;
}

void heatbath_links(GaugeField& gauge, const HeatbathParameters& parameters, std::uint64_t sweep_index) {
  // A link: 198 flops for W = U S^dagger; per subgroup about 170 for its two products, 60 instructions of arithmetic
  // for the logarithms and angles of a draw and 120 for each of its two blocks of random bits; 150 to reunitarise.
  for_each_link(gauge, plane_weights(gauge, parameters.beta, parameters.xi0),
                [&](Su3<Sites>& u, const Su3<Sites>& s, const detail::Words<lanes>& global) {
                  const detail::LinkStream<lanes> stream{parameters.seed, global, sweep_index};
                  Su3<Sites> w = qcd::times_adjoint(u, s);
                  for (std::uint64_t subgroup = 0; subgroup < 3; ++subgroup) {
                    const auto& [i, j] = su2_subgroup[subgroup];
                    const Direction staple = direction_of(quaternion_part(w, i, j));
                    const auto drawn = detail::su2_heatbath<lanes>(staple.length, stream, subgroup, 3);
                    const auto a = times_adjoint(drawn, staple.v);
                    multiply_rows(a, w, i, j);
                    multiply_rows(a, u, i, j);
                  }
                  reunitarise(u);
                });
}

}  // namespace

void overrelaxation_sweep(GaugeField& gauge, double xi0) {
  for_each_link(gauge, plane_weights(gauge, 1.0, xi0),
                [](Su3<Sites>& u, const Su3<Sites>& s, const detail::Words<lanes>&) {
                  Su3<Sites> w = qcd::times_adjoint(u, s);
                  for (const auto& [i, j] : su2_subgroup) {
                    const Quaternion<Sites> v = direction_of(quaternion_part(w, i, j)).v;
                    const auto a = times_adjoint({v.a0, -v.a1, -v.a2, -v.a3}, v);
                    multiply_rows(a, w, i, j);
                    multiply_rows(a, u, i, j);
                  }
                });
}

void heatbath_sweep(GaugeField& gauge, const HeatbathParameters& parameters, std::uint64_t sweep_index) {
  if (sweep_index > std::numeric_limits<std::uint32_t>::max())
    throw core::InvalidArgument("sweep " + std::to_string(sweep_index) +
                                " was asked for; the random numbers of a seed last for 2^32 sweeps: take another seed");
  if (parameters.overrelaxation_steps < 0)
    throw core::InvalidArgument(std::to_string(parameters.overrelaxation_steps) +
                                " over-relaxation steps were asked for; give 0 or more");
  heatbath_links(gauge, parameters, sweep_index);
  for (int step = 0; step < parameters.overrelaxation_steps; ++step) overrelaxation_sweep(gauge, parameters.xi0);
}

}  // namespace halocline::qcd::gauge
