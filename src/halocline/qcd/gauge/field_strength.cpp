// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/gauge/field_strength.hpp"

#include <string>

#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/detail/rows.hpp"

namespace halocline::qcd::gauge {

Su3<double> field_strength(const GaugeField& u, const lattice::Coordinates<4>& x, int mu, int nu) {
  if (mu < 0 || mu > 3 || nu < 0 || nu > 3)
    throw core::InvalidArgument("field strength in the plane of axes " + std::to_string(mu) + " and " +
                                std::to_string(nu) + ": axes are 0 to 3 (x y z t)");
  for (int axis = 0; axis < 4; ++axis)
    if (x[axis] < 0 || x[axis] >= u.geometry().local()[axis])
      throw core::InvalidArgument("field strength at local coordinate " + std::to_string(x[axis]) + " of axis " +
                                  std::to_string(axis) + ": this process holds 0 to " +
                                  std::to_string(u.geometry().local()[axis] - 1));
  if (mu == nu) return Su3<double>::zero();
  return detail::clover_field_strength<double>(detail::RowLinks<double>(u, x), mu, nu);
}

std::vector<Su3<double>> field_strength(const GaugeField& u) {
  const auto& local = u.geometry().local();
  std::vector<Su3<double>> f(static_cast<std::size_t>(6 * u.geometry().local_volume()));
  detail::for_each_site_pack(local, [&](auto kind, const detail::Site& x) {
    using Real = typename decltype(kind)::type;
    const detail::RowLinks<Real> links(u, x);
    Su3<double>* out = f.data() + 6 * lattice::linear_index<4>(x, local);
    for (int plane = 0; plane < 6; ++plane) {
      const auto [mu, nu] = field_strength_plane[plane];
      const Su3<Real> value = detail::clover_field_strength<Real>(links, mu, nu);
      for (int lane = 0; lane < core::Lanes<Real>::count; ++lane) out[6 * lane + plane] = detail::lane_of(value, lane);
    }
  });
  return f;
}

}  // namespace halocline::qcd::gauge
