// SPDX-License-Identifier: Apache-2.0
//
// The pion correlator of pion.c with the C++ library. Run: mpiexec -n 2 ./pion_cpp [gauge file]

#include <halocline/comm/group/process_grid.hpp>
#include <halocline/comm/group/world.hpp>
#include <halocline/core/cpu.hpp>
#include <halocline/core/error.hpp>
#include <halocline/lattice/geometry.hpp>
#include <halocline/qcd/gauge/observables.hpp>
#include <halocline/qcd/gauge/start.hpp>
#include <halocline/qcd/io/gauge_file.hpp>
#include <halocline/qcd/measure/meson.hpp>
#include <halocline/qcd/measure/source.hpp>
#include <halocline/qcd/quark/quark_solver.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace halocline;

namespace {

/// The links of the file, or weak ones.
qcd::GaugeField links(int argc, char** argv) {
  lattice::Coordinates<4> extents{4, 4, 4, 8};
  if (argc > 1) extents = qcd::io::inspect_gauge(argv[1]).extents;
  const auto world = comm::world();
  const comm::ProcessGrid grid(world, comm::least_surface_grid(extents, world.size()));
  const auto geometry = std::make_shared<const lattice::Geometry4>(extents, grid);
  return argc > 1 ? qcd::io::read_gauge(argv[1], geometry).first : qcd::gauge::weak_links(geometry, 0.3, 1);
}

int run(int argc, char** argv) {
  core::check_cpu();
  const qcd::GaugeField u = links(argc, argv);
  qcd::QuarkSolver solver(u, qcd::WilsonCloverAction{.mass = -0.5, .csw = 1});

  qcd::measure::Propagator quark(u.geometry_ptr());
  const auto sources = qcd::measure::columns(
      [&](int spin, int colour) { return qcd::measure::point_source(u.geometry(), {0, 0, 0, 0}, spin, colour); });
  std::vector<std::span<std::complex<double>>> x;
  for (int column = 0; column < 12; ++column) x.push_back(quark.column(column / 3, column % 3));
  const std::vector<std::span<const std::complex<double>>> b(sources.begin(), sources.end());
  double worst = 0;
  for (const auto& report : solver.solve(x, b)) worst = std::max(worst, report.residual);

  const std::array channels{qcd::measure::meson_channel("pion")};
  const auto pion = qcd::measure::mesons(quark, quark, channels)[0].real();
  const double plaquette = qcd::gauge::plaquette(u);
  if (comm::world().rank() == 0) {
    std::printf("plaquette %.10f\n", plaquette);
    for (std::size_t t = 0; t < pion.size(); ++t) std::printf("pion %d %.9e\n", static_cast<int>(t), pion[t]);
    std::printf("residual %s\n", worst < 1e-9 ? "small" : "large");
  }
  return worst < 1e-9 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const core::Error& error) {
    std::fprintf(stderr, "pion: %s\n", error.what());
    comm::abort_all(1);
  }
}
