// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/measure/smear.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "halocline/core/pack.hpp"
#include "halocline/lattice/ghost_field.hpp"

namespace halocline::qcd::measure {

namespace {

constexpr int lanes = core::native_lanes<double>;
using Number = core::Pack<double, lanes>;
using Field = lattice::GhostField<double>;

ColourVector<Number> load_colour(const double* from, std::int64_t stride) {
  ColourVector<Number> v;
  for (int c = 0; c < 3; ++c) v.c[c] = {Number::load(from + 2 * c * stride), Number::load(from + (2 * c + 1) * stride)};
  return v;
}

/// out = (1 - 6 k) in + k H in on one row; flops a site: 6 x 4 x 66 + 48.
void smear_row(Field& out, const Field& in, const GaugeField& links, const Coordinates4& row, double step) {
  const std::int64_t stride = in.component_stride();
  const std::int64_t link_stride = links.field().component_stride();
  const Number own(1 - 6 * step), hop(step);
  for (std::int64_t x = 0; x < in.geometry().local()[0]; x += lanes) {
    const Coordinates4 site{x, row[1], row[2], row[3]};
    const double* from = in.data() + in.offset(site);
    ColourVector<Number> sum[4];
    for (int s = 0; s < 4; ++s)
      for (int c = 0; c < 3; ++c) sum[s].c[c] = {Number(0.0), Number(0.0)};
    for (int axis = 0; axis < 3; ++axis) {
      const double* up = from + in.stride(axis);
      const double* down = from - in.stride(axis);
      const double* link = links.field().data() + links.link_offset(site, axis);
      const auto forward = load_link<Number>(link, link_stride);
      const auto backward = load_link<Number>(link - links.field().stride(axis), link_stride);
      for (int s = 0; s < 4; ++s) {
        const auto ahead = forward * load_colour(up + 6 * s * stride, stride);
        const auto behind = adjoint_times(backward, load_colour(down + 6 * s * stride, stride));
        for (int c = 0; c < 3; ++c) {
          sum[s].c[c] += ahead.c[c];
          sum[s].c[c] += behind.c[c];
        }
      }
    }
    double* to = out.data() + out.offset(site);
    for (int s = 0; s < 4; ++s)
      for (int c = 0; c < 3; ++c) {
        const std::int64_t k = (6 * s + 2 * c) * stride;
        (own * Number::load(from + k) + hop * sum[s].c[c].re).store(to + k);
        (own * Number::load(from + k + stride) + hop * sum[s].c[c].im).store(to + k + stride);
      }
  }
}

bool is_one(const std::complex<double>& phase) { return phase == std::complex<double>(1); }

/// Links, multiplied by the boundary phase where they cross a spatial boundary.
GaugeField with_phases(GaugeField links, const std::array<std::complex<double>, 3>& boundary) {
  const auto& geometry = links.geometry();
  const auto& local = geometry.local();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (geometry.offset()[axis] + local[axis] != geometry.global()[axis]) continue;
    const core::Complex<double> phase{boundary[axis].real(), boundary[axis].imag()};
    Coordinates4 faces = local;
    faces[axis] = 1;
    for (std::int64_t i = 0; i < lattice::product<4>(faces); ++i) {
      Coordinates4 x = lattice::coordinates_of<4>(i, faces);
      x[axis] = local[axis] - 1;
      links.set_link(x, static_cast<int>(axis), phase * links.link(x, static_cast<int>(axis)));
    }
  }
  links.exchange_ghosts();
  return links;
}

}  // namespace

GaussianSmearing GaussianSmearing::of_width(double width, int iterations) {
  if (iterations < 1 || !std::isfinite(width * width) || width < 0)
    throw core::InvalidArgument(
        fmt::format("Gaussian smearing of width {} in {} iterations was asked for; the width must be finite and not "
                    "negative, the iterations at least 1",
                    width, iterations));
  return {width * width / (4.0 * iterations), iterations, {1., 1., 1.}};
}

struct GaussianSmearer::Work {
  const GaugeField* links;
  std::optional<GaugeField> phased;
  GaussianSmearing parameters;
  Field in, out;

  Work(const GaugeField& given, const GaussianSmearing& p)
      : links(&given),
        parameters(p),
        in(given.geometry_ptr(), spinor_reals, 1),
        out(given.geometry_ptr(), spinor_reals, 1) {
    if (is_one(p.boundary[0]) && is_one(p.boundary[1]) && is_one(p.boundary[2])) return;
    phased.emplace(with_phases(given, p.boundary));
    links = &*phased;
  }

  /// The local time slices that hold a non-zero number on any process. Collective: yes.
  std::vector<std::int64_t> active_slices(std::span<const std::complex<double>> spinor) const {
    const auto& geometry = links->geometry();
    const auto slice = static_cast<std::size_t>(spinor_components * geometry.local_volume() / geometry.local()[3]);
    std::vector<double> occupied(static_cast<std::size_t>(geometry.global()[3]));
    for (std::int64_t t = 0; t < geometry.local()[3]; ++t)
      for (const auto& z : spinor.subspan(static_cast<std::size_t>(t) * slice, slice))
        if (z != std::complex<double>(0)) {  // a NaN counts
          occupied[static_cast<std::size_t>(t + geometry.offset()[3])] = 1;
          break;
        }
    geometry.communicator().sum(std::span<double>(occupied));
    std::vector<std::int64_t> active;
    for (std::int64_t t = 0; t < geometry.local()[3]; ++t)
      if (occupied[static_cast<std::size_t>(t + geometry.offset()[3])] > 0) active.push_back(t);
    return active;
  }

  /// Calls move(index in the canonical array, number in the field) for all numbers of the given time slices.
  template <class Move>
  void for_each_number(const std::vector<std::int64_t>& slices, Field& field, const Move& move) const {
    const auto& local = field.geometry().local();
    const std::int64_t rows = local[1] * local[2];
#pragma omp parallel for schedule(static)
    for (std::int64_t job = 0; job < static_cast<std::int64_t>(slices.size()) * rows; ++job) {
      const std::int64_t t = slices[static_cast<std::size_t>(job / rows)], z = job % rows / local[1],
                         y = job % local[1];
      const std::int64_t first = spinor_reals * local[0] * (y + local[1] * (z + local[2] * t));
      double* row = field.data() + field.offset({0, y, z, t});
      for (std::int64_t x = 0; x < local[0]; ++x)
        for (std::int64_t k = 0; k < spinor_reals; ++k)
          move(first + spinor_reals * x + k, row[k * field.component_stride() + x]);
    }
  }
};

GaussianSmearer::GaussianSmearer(const GaugeField& links, const GaussianSmearing& parameters) {
  if (!(std::isfinite(parameters.step) && parameters.step >= 0) || parameters.iterations < 0)
    throw core::InvalidArgument(
        fmt::format("Gaussian smearing with step {} and {} iterations was asked for; both must be finite and not "
                    "negative",
                    parameters.step, parameters.iterations));
  work_ = std::make_unique<Work>(links, parameters);
}
GaussianSmearer::~GaussianSmearer() = default;
GaussianSmearer::GaussianSmearer(GaussianSmearer&&) noexcept = default;
GaussianSmearer& GaussianSmearer::operator=(GaussianSmearer&&) noexcept = default;

void GaussianSmearer::apply(std::span<std::complex<double>> spinor) {
  Work& work = *work_;
  const auto& geometry = work.links->geometry();
  check_spinor(geometry, spinor, "the spinor to smear");
  const std::vector<std::int64_t> slices = work.active_slices(spinor);
  auto* numbers = reinterpret_cast<double*>(spinor.data());
  const std::int64_t rows = geometry.local()[1] * geometry.local()[2];
  work.for_each_number(slices, work.in, [numbers](std::int64_t i, double& element) { element = numbers[i]; });
  for (int iteration = 0; iteration < work.parameters.iterations; ++iteration) {
    work.in.exchange_ghosts();
#pragma omp parallel for schedule(static)
    for (std::int64_t job = 0; job < static_cast<std::int64_t>(slices.size()) * rows; ++job) {
      const std::int64_t t = slices[static_cast<std::size_t>(job / rows)];
      const Coordinates4 row{0, job % geometry.local()[1], job % rows / geometry.local()[1], t};
      smear_row(work.out, work.in, *work.links, row, work.parameters.step);
    }
    std::swap(work.in, work.out);
  }
  work.for_each_number(slices, work.in, [numbers](std::int64_t i, const double& element) { numbers[i] = element; });
}

void smear_sink(Propagator& propagator, const GaugeField& links, const GaussianSmearing& parameters) {
  GaussianSmearer smearer(links, parameters);
  for (int spin = 0; spin < 4; ++spin)
    for (int colour = 0; colour < 3; ++colour) smearer.apply(propagator.column(spin, colour));
}

}  // namespace halocline::qcd::measure
