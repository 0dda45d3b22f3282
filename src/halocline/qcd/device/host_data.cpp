// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/device/host_data.hpp"

#include <utility>

#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd::device {
namespace {

void store(double* to, const Su3<double>& u) {
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column) {
      *to++ = u.e[row][column].re;
      *to++ = u.e[row][column].im;
    }
}

}  // namespace

HostLinks host_links(const Box& box, const GaugeField& gauge, const WilsonCloverAction& action) {
  action.validate();
  HostLinks links;
  links.box = box;
  links.matrices.resize(std::size_t{2} * 8 * 18 * static_cast<std::size_t>(box.sites));
  for (int parity = 0; parity < 2; ++parity)
    for (int d = 0; d < 8; ++d) {
      double* to = links.matrices.data() + std::int64_t{8 * parity + d} * box.sites * 18;
#pragma omp parallel for schedule(static)
      for (int site = 0; site < box.sites; ++site) {
        const Coordinates c = box.coordinates(parity, site);
        lattice::Coordinates<4> x{c.x[0], c.x[1], c.x[2], c.x[3]};
        if (d >= 4) --x[d % 4];
        const Su3<double> u = gauge.link(x, d % 4);
        store(to + std::int64_t{18} * site, d < 4 ? u : adjoint(u));
      }
    }
  const auto& geometry = gauge.geometry();
  for (int d = 0; d < 8; ++d) {
    const int axis = d % 4;
    const bool last = d < 4 ? geometry.offset()[axis] + geometry.local()[axis] == geometry.global()[axis]
                            : geometry.offset()[axis] == 0;
    const std::complex<double> phase = d < 4 ? action.boundary[axis] : std::conj(action.boundary[axis]);
    links.edge[d] = last ? phase : 1.0;
    links.coefficient[axis] = action.hopping(axis);
  }
  links.unitarity_violation = gauge.unitarity_violation();
  return links;
}

}  // namespace halocline::qcd::device
