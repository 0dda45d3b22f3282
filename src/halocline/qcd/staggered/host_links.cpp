// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/staggered/host_links.hpp"

#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/gauge/staggered_links.hpp"
#include "halocline/qcd/staggered/phases.hpp"

namespace halocline::qcd::device {

HostStaggeredLinks host_links(const Box& box, const GaugeField& u, const StaggeredAction& action) {
  const gauge::StaggeredLinks links = gauge::staggered_links(u, action);
  constexpr std::int64_t reals = 18;
  HostStaggeredLinks out{.box = box, .steps = links.naik ? 16 : 8};
  out.matrices.resize(static_cast<std::size_t>(2 * out.steps * reals * box.sites));
  for (int parity = 0; parity < 2; ++parity)
    for (int step = 0; step < out.steps; ++step) {
      double* to = out.matrices.data() + (std::int64_t{parity} * out.steps + step) * box.sites * reals;
#pragma omp parallel for schedule(static)
      for (int site = 0; site < box.sites; ++site) {
        const Coordinates c = box.coordinates(parity, site);
        const Su3<double> link = staggered::step_matrix(step < 8 ? links.fat : *links.naik, action,
                                                        {c.x[0], c.x[1], c.x[2], c.x[3]}, step % 8, step < 8 ? 1 : 3);
        double* number = to + reals * site;
        for (int row = 0; row < colours; ++row)
          for (int column = 0; column < colours; ++column) {
            *number++ = link.e[row][column].re;
            *number++ = link.e[row][column].im;
          }
      }
    }
  return out;
}

}  // namespace halocline::qcd::device
