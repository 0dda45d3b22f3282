// SPDX-License-Identifier: Apache-2.0
#include "bench/stencil.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/tddft/stencil/stencil.hpp"

namespace halocline::bench {
namespace {

using tddft::lanes_of;
using tddft::numbers_per_point;

constexpr double point_spacing = 0.5;  ///< [bohr]; does not affect the time

struct Form {
  std::string_view name;
  double flops;   ///< for each point and orbital
  double arrays;  ///< number of orbital arrays read or written
};
constexpr double nominal_flops = 158;  ///< as in the report on the optimisation of SALMON for Fugaku
constexpr std::array forms{Form{"apply", nominal_flops, 2}, Form{"taylor", nominal_flops, 3},
                           Form{"taylor-current", nominal_flops, 3},
                           Form{"current", 3 * 4 * 6 + 3 * 4, 1},  // differences and their sums, Im(psi* slope)
                           Form{"density", 5, 1}};

const Form& form_of(const std::string& name) {
  const auto found = std::ranges::find(forms, name, &Form::name);
  if (found == forms.end())
    throw core::InvalidArgument(
        fmt::format("the form is \"{}\"; give apply, taylor, taylor-current, current or density", name));
  return *found;
}

tddft::System system_of(const StencilCase& c) {
  if (std::ranges::any_of(c.points, [](std::int64_t n) { return n < 5; }))
    throw core::InvalidArgument(
        fmt::format("{} points were asked for; give at least 5 along each axis", fmt::join(c.points, " x ")));
  if (c.orbitals < 1)
    throw core::InvalidArgument(fmt::format("{} orbitals were asked for; give at least 1", c.orbitals));
  tddft::System system;
  system.grid = {c.points, {point_spacing, point_spacing, point_spacing}, tddft::Boundary::periodic};
  if (c.lattice == "hexagonal")
    system.grid.axes = {{{1, 0, 0}, {-0.5, std::sqrt(0.75), 0}, {0, 0, 1}}};
  else if (c.lattice == "face-centred")
    system.grid.axes = {{{0, std::sqrt(0.5), std::sqrt(0.5)},
                         {std::sqrt(0.5), 0, std::sqrt(0.5)},
                         {std::sqrt(0.5), std::sqrt(0.5), 0}}};
  else if (c.lattice != "orthogonal")
    throw core::InvalidArgument(
        fmt::format("the lattice is \"{}\"; give orthogonal, hexagonal or face-centred", c.lattice));
  system.states = tddft::orbital_lanes;
  return system;
}

template <class T>
Result stencil_of(const comm::Communicator& group, const StencilCase& c, const Effort& effort) {
  const Threads threads(c.threads);
  const Form& form = form_of(c.form);
  const tddft::System system = system_of(c);
  Result result;
  result.bench = "stencil";
  result.parameters = {{"points", std::vector<std::int64_t>(c.points.begin(), c.points.end())},
                       {"orbitals", std::int64_t(c.orbitals)},
                       {"form", c.form},
                       {"lattice", c.lattice},
                       {"precision", c.precision},
                       {"processes", std::int64_t(group.size())},
                       {"threads", std::int64_t(c.threads)}};

  const std::int64_t blocks = (c.orbitals + lanes_of<T> - 1) / lanes_of<T>;
  const auto points = static_cast<double>(system.grid.points());
  const double array_bytes = points * static_cast<double>(blocks * numbers_per_point<T>) * sizeof(T);
  result.flops = form.flops * points * c.orbitals;
  result.bytes = form.arrays * array_bytes + points * static_cast<double>(blocks) * sizeof(double);
  const double needed_gib = 2 * array_bytes / (1 << 30);
  if (needed_gib > c.memory_gib) {
    result.skipped = fmt::format("its orbitals and their images take {:.1f} GiB, more than the {:.1f} allowed",
                                 needed_gib, c.memory_gib);
    return result;
  }

  const tddft::Decomposition decomposition(group, system, choose_counts(group.size(), system));
  tddft::Stencil stencil(decomposition);
  const std::int64_t local = decomposition.box().points();
  core::AlignedArray<T> in(blocks * local * numbers_per_point<T>), out(in.size());
  for (std::int64_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<T>(std::sin(0.7 * static_cast<double>(i % 9973) + 0.1));
  std::vector<double> v(static_cast<std::size_t>(local), 0.25);
  std::vector<double> gradient(static_cast<std::size_t>(blocks * lanes_of<T> * 3));
  const tddft::Vec3 q{0.1, 0.2, 0.3};
  tddft::CombinationOf<T> what;
  if (c.form.starts_with("taylor")) {
    what.factor = {0, -0.01};
    what.base = out.data();
  }
  const std::vector<double> factors(static_cast<std::size_t>(lanes_of<T>), 1e-9);
  const Work work = [&] {
    if (c.form == "current") return stencil.current(in.data(), blocks, gradient);
    if (c.form == "taylor-current")
      return stencil.apply_with_current(out.data(), in.data(), blocks, v, q, what, gradient);
    if (c.form != "density") return stencil.apply(out.data(), in.data(), blocks, v, q, what);
    for (std::int64_t b = 0; b < blocks; ++b)
      tddft::add_density(v, in.data() + b * local * numbers_per_point<T>, factors);
  };
  work();  // first use of its memory
  result.ceilings = bandwidth_ceilings(group, static_cast<std::int64_t>(result.bytes) / group.size(), effort);
  const auto times = measure_together(group, work, FmaChains<T>{}, effort);
  result.seconds = times.work;
  const double fma_flops = 1e-9 * FmaChains<T>::flops(c.threads) * group.size();
  result.ceilings.fma_gflops = fma_flops / times.companion.median;
  result.fma_gflops_of_cpu_time = fma_flops / times.companion.cpu;
  result.regions = regions_of(work);
  result.outcome = {{"seconds_a_point_orbital", times.work.median / (points * c.orbitals)}};
  return result;
}

}  // namespace

Result stencil(const comm::Communicator& group, const StencilCase& c, const Effort& effort) {
  if (c.precision == "float") return stencil_of<float>(group, c, effort);
  if (c.precision == "double") return stencil_of<double>(group, c, effort);
  throw core::InvalidArgument(fmt::format("the precision is \"{}\"; give float or double", c.precision));
}

}  // namespace halocline::bench
