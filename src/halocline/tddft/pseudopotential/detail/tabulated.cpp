// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/tabulated.hpp"

#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/pseudopotential/detail/cubic_spline.hpp"
#include "halocline/tddft/pseudopotential/detail/spacing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

namespace halocline::tddft::detail {

namespace {

constexpr int most_l_of_tables = 3;
constexpr std::size_t mirrored = 10;     // nodes; the effect of a cubic spline's end falls by 0.27 a node
constexpr double smallest_tail = 1e-7;   // of r V + Z [bohr hartree], below which -Z/r is used
constexpr double farthest_tail = 10;     // [bohr], beyond which it is used anyway
constexpr double transform_step = 0.01;  // upper limit of the step of Simpson's rule [bohr]
// Several projectors of an l are optimised together with the local potential: their short waves cancel, which the
// estimate of the spacing does not see. By measured errors of Si, C, O and H (docs/tddft-accuracy.md).
constexpr double optimised_spacing = 1.3;
constexpr double no_core = 1e-10;  // [1/bohr^3], below which a core density has ended

/// f(0) of a function of parity (-1)^l from its values at three radii: by the parabola in r^2 through them.
double at_origin(int l, std::span<const double, 3> r, std::span<const double, 3> f) {
  if (l % 2 == 1) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    double weight = 1;
    for (std::size_t j = 0; j < 3; ++j)
      if (j != i) weight *= r[j] * r[j] / (r[j] * r[j] - r[i] * r[i]);
    sum += weight * f[i];
  }
  return sum;
}

/// Spline through f at the nodes r and at mirrored ones; f has the parity of l.
CubicSpline even_or_odd(std::span<const double> r, std::span<const double> f, int l) {
  const double sign = l % 2 == 1 ? -1 : 1;
  const std::size_t first = r[0] > 0 ? 0 : 1, copies = std::min(mirrored, f.size() - first - 1);
  std::vector<double> x, y;
  for (std::size_t i = first + copies; i-- > first;) {
    x.push_back(-r[i]);
    y.push_back(sign * f[i]);
  }
  x.push_back(0);
  y.push_back(at_origin(l, r.subspan(first).first<3>(), f.subspan(first).first<3>()));
  for (std::size_t i = first; i < f.size(); ++i) {
    x.push_back(r[i]);
    y.push_back(f[i]);
  }
  return CubicSpline(std::move(x), std::move(y));
}

class TabulatedPseudopotential final : public Pseudopotential {
public:
  explicit TabulatedPseudopotential(Tabulated table) : table_(std::move(table)) {
    const auto& r = table_.r;
    const auto tail = [&](std::size_t i) { return std::abs(r[i] * table_.local[i] + table_.valence); };
    std::size_t end = r.size();
    while (end > 8 && (tail(end - 1) < smallest_tail || r[end - 1] > farthest_tail)) --end;
    tail_ = r[std::min(end, r.size() - 1)];
    // The table continues as -Z/r for some nodes, so that the end of the spline has no effect inside it.
    auto nodes = r;
    auto values = table_.local;
    for (std::size_t i = 0; i < mirrored; ++i) {
      nodes.push_back(nodes.back() + (r.back() - r[r.size() - 2]));
      values.push_back(-table_.valence / nodes.back());
    }
    local_ = even_or_odd(nodes, values, 0);
    for (std::size_t n = 0; n < table_.projectors.size(); ++n) {
      const auto& projector = table_.projectors[n];
      auto& channel = channels_[at(projector.l)];
      channel.shapes.push_back(even_or_odd(std::span(r).first(projector.p.size()), projector.p, projector.l));
      channel.numbers.push_back(n);
      channel.radius = std::max(channel.radius, r[projector.p.size() - 1]);
      largest_l_ = std::max(largest_l_, projector.l);
    }
    if (!table_.density.empty()) density_ = even_or_odd(r, table_.density, 0);
    std::size_t core_end = table_.core.size();
    while (core_end > 0 && std::abs(table_.core[core_end - 1]) < no_core) --core_end;
    if (core_end > 0) {
      core_ = even_or_odd(r, table_.core, 0);
      core_radius_ = r[std::min(core_end, r.size() - 1)];
    }
    const bool optimised = std::ranges::any_of(channels_, [](const Channel& c) { return c.shapes.size() > 1; });
    coarsest_ = detail::coarsest_spacing(*this) * (optimised ? optimised_spacing : 1.0);
  }

  const std::string& symbol() const noexcept override { return table_.symbol; }
  std::string origin() const override { return table_.origin; }
  double valence() const noexcept override { return table_.valence; }
  std::string functional() const override { return table_.functional; }

  double local(double r) const override { return r < tail_ ? local_.value(r) : -table_.valence / r; }
  double local_radius() const override { return tail_; }
  double local_slope(double r) const override { return r < tail_ ? local_.slope(r) : table_.valence / (r * r); }

  double local_fourier(double g) const override {
    const int half = static_cast<int>(std::ceil(0.5 * tail_ / transform_step));
    const double step = 0.5 * tail_ / half;
    double sum = 0;
    for (int i = 1; i <= 2 * half; ++i) {
      const double r = step * i, weight = i == 2 * half ? 1 : i % 2 == 1 ? 4 : 2;
      sum += weight * (g > 0 ? std::sin(g * r) / g : r) * (r * local_.value(r) + table_.valence);
    }
    return 4 * std::numbers::pi * step / 3 * sum;
  }

  int largest_l() const noexcept override { return largest_l_; }
  int projectors(int l) const override {
    return l < 0 || l > most_l_of_tables ? 0 : static_cast<int>(channels_[at(l)].shapes.size());
  }
  double projector(int l, int i, double r) const override {
    const CubicSpline* const shape = shape_of(l, i);
    return shape != nullptr && r < shape->last() ? shape->value(r) : 0.0;
  }
  double projector_slope(int l, int i, double r) const override {
    const CubicSpline* const shape = shape_of(l, i);
    return shape != nullptr && r < shape->last() ? shape->slope(r) : 0.0;
  }
  double coupling(int l, int i, int j) const override {
    if (i < 0 || j < 0 || std::max(i, j) >= projectors(l)) return 0;
    const auto& numbers = channels_[at(l)].numbers;
    return table_.coupling[numbers[at(i)] * table_.projectors.size() + numbers[at(j)]];
  }
  double projector_radius(int l) const override { return projectors(l) > 0 ? channels_[at(l)].radius : 0.0; }
  double coarsest_spacing() const override { return coarsest_; }

  double start_density(double r) const override {
    if (!density_.empty()) return r < density_.last() ? std::max(0.0, density_.value(r)) : 0.0;
    constexpr double width = 1.2;  // [bohr], the average over the elements of goedecker_table.cpp
    const double a = 0.5 / (width * width);
    const double b = a / std::numbers::pi;
    return table_.valence * b * std::sqrt(b) * std::exp(-a * r * r);
  }

  double core_density(double r) const override { return r < core_radius_ ? core_.value(r) : 0.0; }
  double core_slope(double r) const override { return r < core_radius_ ? core_.slope(r) : 0.0; }
  double core_radius() const override { return core_radius_; }

private:
  struct Channel {
    std::vector<CubicSpline> shapes;
    std::vector<std::size_t> numbers;  ///< indices in the table
    double radius = 0;
  };

  const CubicSpline* shape_of(int l, int i) const {
    return i >= 0 && i < projectors(l) ? &channels_[at(l)].shapes[at(i)] : nullptr;
  }

  Tabulated table_;
  double tail_ = 0;
  CubicSpline local_, density_, core_;
  double core_radius_ = 0;
  std::array<Channel, most_l_of_tables + 1> channels_;
  int largest_l_ = -1;
  double coarsest_ = 0;
};

}  // namespace

bool trim_projector(std::vector<double>& values, double end) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  if (!(largest > 0)) return false;
  std::size_t last = values.size();
  while (last > fewest_nodes && std::abs(values[last - 1]) <= end * largest) --last;
  values.resize(std::max(std::min(last + 1, values.size()), std::min(fewest_nodes, values.size())));
  return true;
}

std::string mesh_fault(std::span<const double> r) {
  if (r.size() < fewest_nodes) return fmt::format("{} radii; at least {} expected", r.size(), fewest_nodes);
  for (std::size_t i = 0; i < r.size(); ++i)
    if (!(r[i] >= 0) || r[i] > 1e4 || (i > 0 && !(r[i] > r[i - 1])))
      return fmt::format("radius {} is {:g} bohr; increasing radii from 0 on expected", i + 1, r[i]);
  return r[0] > 0.1 ? fmt::format("the radii begin at {:g} bohr, far from the nucleus", r[0]) : "";
}

std::string tail_fault(std::span<const double> r, std::span<const double> local, double valence) {
  if (std::abs(r.back() * local.back() + valence) <= largest_tail) return "";
  return fmt::format("the last value, {:g} hartree at {:g} bohr, is not -Z/r with Z = {:g}; the table is cut short or "
                     "damaged",
                     local.back(), r.back(), valence);
}

std::shared_ptr<const Pseudopotential> make_tabulated(Tabulated table) {
  return std::make_shared<const TabulatedPseudopotential>(std::move(table));
}

}  // namespace halocline::tddft::detail
