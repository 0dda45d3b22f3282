// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/gauge/flow.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/detail/algebra_field.hpp"
#include "halocline/qcd/gauge/topological_charge.hpp"

namespace halocline::qcd::gauge {

namespace {

using detail::AlgebraField;

constexpr int all_axes = 4;

void check_positive(const char* what, double value) {
  if (!(value > 0) || !std::isfinite(value))
    throw core::InvalidArgument(std::string("Wilson flow with ") + what + " = " + std::to_string(value) +
                                ": give a positive number");
}

/// The three stages of one step; `a` is work space. Calls at_first with Z0 and at_second with A = 8/9 Z1 - 17/36 Z0.
template <class First, class Second>
void stages(GaugeField& u, AlgebraField& a, double step, First&& at_first, Second&& at_second) {
  detail::add_force(a, u, step, 0, all_axes);
  at_first(a);
  detail::follow(u, a, 1.0 / 4, all_axes);
  detail::add_force(a, u, 8.0 / 9 * step, -17.0 / 36, all_axes);
  at_second(a);
  detail::follow(u, a, 1, all_axes);
  detail::add_force(a, u, 3.0 / 4 * step, -1, all_axes);
  detail::follow(u, a, 1, all_axes);
}

void plain_step(GaugeField& u, AlgebraField& a, double step) {
  stages(u, a, step, [](const AlgebraField&) {}, [](const AlgebraField&) {});
}

/// One step; u equals `start` on entry. Returns the error: the largest Frobenius distance of a link to the embedded
/// second-order result.
double measured_step(GaugeField& u, AlgebraField& a, const GaugeField& start, double step) {
  AlgebraField lower = a;  // 2 Z1 - Z0 = 9/4 (8/9 Z1 - 17/36 Z0) + 1/16 Z0
  stages(
      u, a, step, [&](const AlgebraField& z0) { lower = z0; },
      [&](const AlgebraField& second) {
        detail::for_each_site_pack(u.geometry().local(), [&](auto kind, const detail::Site& x) {
          using Real = typename decltype(kind)::type;
          for (int mu = 0; mu < 4; ++mu)
            lower.store<Real>(x, mu,
                              Real(9.0 / 4) * second.load<Real>(x, mu) + Real(1.0 / 16) * lower.load<Real>(x, mu));
        });
      });
  const double squared = detail::largest_over_sites(u.geometry(), [&](auto kind, const detail::Site& x) {
    using Real = typename decltype(kind)::type;
    Real largest = Real(0);
    for (int mu = 0; mu < 4; ++mu) {
      const Su3<Real> distance =
          exponential(lower.load<Real>(x, mu)) * detail::link_at<Real>(start, x, mu) - detail::link_at<Real>(u, x, mu);
      const Real norm = real_trace_times_adjoint(distance, distance);
      largest = qcd::detail::choose(norm > largest, norm, largest) + (norm - norm);  // the difference keeps a NaN
    }
    return largest;
  });
  if (!std::isfinite(squared)) throw core::Error("Wilson flow: the links are no longer finite numbers");
  return std::sqrt(squared);
}

/// Value at t of the polynomial through the points.
double interpolated(std::span<const double> t, std::span<const double> y, double at) {
  double sum = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    double term = y[i];
    for (std::size_t j = 0; j < t.size(); ++j)
      if (j != i) term *= (at - t[j]) / (t[i] - t[j]);
    sum += term;
  }
  return sum;
}

/// First t at which y crosses the level from below: bisection on the polynomial through the four points around it.
std::optional<double> first_crossing(std::span<const double> t, std::span<const double> y, double level) {
  for (std::size_t i = 0; i + 1 < t.size(); ++i) {
    if (!(y[i] < level && y[i + 1] >= level)) continue;
    const std::size_t first = i > 0 ? i - 1 : 0, last = std::min(i + 3, t.size());
    const auto near_t = t.subspan(first, last - first), near_y = y.subspan(first, last - first);
    double low = t[i], high = t[i + 1];
    for (int bit = 0; bit < 60; ++bit) {
      const double middle = 0.5 * (low + high);
      (interpolated(near_t, near_y, middle) < level ? low : high) = middle;
    }
    return high;
  }
  return std::nullopt;
}

}  // namespace

void flow_step(GaugeField& u, double step) {
  check_positive("step", step);
  AlgebraField a(u.geometry().local());
  plain_step(u, a, step);
}

std::optional<double> flow_scale_t0(std::span<const FlowPoint> points, double level) {
  std::vector<double> t, y;
  for (const auto& point : points) {
    t.push_back(point.t);
    y.push_back(point.t2_energy_clover());
  }
  return first_crossing(t, y, level);
}

std::optional<double> flow_scale_w0(std::span<const FlowPoint> points, double level) {
  std::vector<double> t, y;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const auto &a = points[i - 1], &b = points[i], &c = points[i + 1];
    const double left = (b.t2_energy_clover() - a.t2_energy_clover()) / (b.t - a.t);
    const double right = (c.t2_energy_clover() - b.t2_energy_clover()) / (c.t - b.t);
    t.push_back(b.t);
    y.push_back(b.t * (left * (c.t - b.t) + right * (b.t - a.t)) / (c.t - a.t));
  }
  const auto squared = first_crossing(t, y, level);
  return squared ? std::optional(std::sqrt(*squared)) : std::nullopt;
}

FlowReport wilson_flow(GaugeField& u, const FlowParameters& parameters, const FlowProgress& progress) {
  check_positive("t_max", parameters.t_max);
  check_positive("step", parameters.step);
  if (parameters.measure_every < 1)
    throw core::InvalidArgument("Wilson flow measured every " + std::to_string(parameters.measure_every) +
                                " steps: give 1 or more");
  if (parameters.adaptive && !(parameters.tolerance >= 1e-13 && std::isfinite(parameters.tolerance)))
    throw core::InvalidArgument("Wilson flow with a tolerance of " + std::to_string(parameters.tolerance) +
                                ": double precision allows 1e-13 and more");

  FlowReport report;
  AlgebraField a(u.geometry().local());
  double t = 0, step = parameters.step;
  auto measure = [&] {
    const auto now = clover_observables(u);
    report.points.push_back({t, now.plaquette, now.energy_plaquette, now.energy_clover, now.topological_charge});
    return !u.geometry().communicator().any(progress && !progress(report.points.back()));
  };
  bool wanted = measure();
  while (wanted && t < parameters.t_max) {
    const double rest = parameters.t_max - t;
    const bool last = step >= rest * (1 - 1e-9);
    const double taken = last ? rest : step;
    if (parameters.adaptive) {
      const GaugeField before = u;
      const double error = measured_step(u, a, before, taken);
      const double factor = error > 0 ? 0.95 * std::cbrt(parameters.tolerance / error) : 2.0;
      step = taken * std::clamp(factor, 0.3, 2.0);
      if (error > parameters.tolerance) {
        u = before;
        ++report.rejected;
        continue;
      }
    } else {
      plain_step(u, a, taken);
    }
    ++report.steps;
    t = last ? parameters.t_max : parameters.adaptive ? t + taken : report.steps * step;
    if (t >= parameters.t_max || report.steps % parameters.measure_every == 0) wanted = measure();
  }
  report.reason = t >= parameters.t_max ? "reached t_max" : "cancelled";
  report.t0 = flow_scale_t0(report.points);
  report.w0 = flow_scale_w0(report.points);
  return report;
}

}  // namespace halocline::qcd::gauge
