// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/ky.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/pseudopotential/detail/cubic_spline.hpp"
#include "halocline/tddft/pseudopotential/detail/finite.hpp"
#include "halocline/tddft/pseudopotential/detail/semilocal.hpp"
#include "halocline/tddft/pseudopotential/detail/spacing.hpp"
#include "halocline/tddft/pseudopotential/detail/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace halocline::tddft {

namespace {

constexpr double hartree_ev = 27.21138505;       // see ky.hpp
constexpr double bohr_angstrom = 0.52917721067;  // see ky.hpp
constexpr double no_projector = 1e-10;           // limit of the integral 1/h below which there is no projector
constexpr double largest_valence = 120;
constexpr double smallest_step = 1e-6, largest_end = 1e4;  // of the table [bohr]
constexpr double largest_ky_entry = 1e6;                   // of any column, in the file's units; larger means damage

/// The file's content in atomic units.
struct Table {
  double step = 0, valence = 0;
  std::vector<double> core_radius;                ///< of each l
  std::vector<std::vector<double>> potential, u;  ///< of each l, at i step
  double largest_core() const { return *std::max_element(core_radius.begin(), core_radius.end()); }
};

class KyReader {
public:
  KyReader(std::string path, std::string_view text) : path_(std::move(path)), words_(text) {}

  Table read() {
    Table table;
    const double steps = number("the number of radial steps");
    table.step = number("the step") / bohr_angstrom;
    const double largest_l = number("the largest l");
    table.valence = number("the valence charge");
    if (!(steps >= 4 && steps <= 1e6) || steps != std::floor(steps))
      fail("line 1", fmt::format("{:g} radial steps given; a whole number from 4 to 1000000 expected", steps));
    if (!(table.step >= smallest_step && table.step * steps <= largest_end))
      fail("line 1",
           fmt::format("the radial step is {:g} bohr; from {:g} bohr on expected, with the table's end at {:g} "
                       "bohr at most",
                       table.step, smallest_step, largest_end));
    if (!(largest_l >= 0 && largest_l <= detail::largest_tabulated_l) || largest_l != std::floor(largest_l))
      fail("line 1",
           fmt::format("{:g} given as the largest l; 0 to {} expected", largest_l, detail::largest_tabulated_l));
    if (!(table.valence > 0 && table.valence < largest_valence))
      fail("line 1", fmt::format("the valence charge is {:g}; a positive one below {:g} expected", table.valence,
                                 largest_valence));
    const int channels = static_cast<int>(largest_l) + 1, points = static_cast<int>(steps) + 1;
    if (number("the flag of a partial core") != 0)
      fail("line 2", "the file has a partial core, and core corrections are not supported; take one without");
    for (int l = 0; l < channels; ++l) {
      table.core_radius.push_back(number("a core radius") / bohr_angstrom);
      if (!(table.core_radius.back() > 0 && table.core_radius.back() < (points - 2) * table.step))
        fail("line 2", fmt::format("the core radius of l = {} is {:.4f} bohr, and the table ends at {:.4f} bohr", l,
                                   table.core_radius.back(), (points - 1) * table.step));
    }
    table.potential = columns(channels, points, table.step, true, 1 / hartree_ev);
    table.u = columns(channels, points, table.step, false, std::sqrt(bohr_angstrom));
    return table;
  }

private:
  [[noreturn]] void fail(const std::string& record, const std::string& sentence) const {
    throw core::FileError(path_, record, sentence);
  }

  double number(const char* what) {
    const auto value = words_.number();
    if (value) return *value;
    const std::string found = words_.word().empty() ? "the file ends" : "there is " + detail::shown(words_.word());
    fail(fmt::format("line {}", words_.line()), fmt::format("{} where {} was expected", found, what));
  }

  double entry(const char* what) {
    const double value = number(what);
    if (std::abs(value) <= largest_ky_entry) return value;
    fail(fmt::format("line {}", words_.line()),
         fmt::format("{:g} stands where {} was expected, which is {:g} at most: the file is damaged; take another copy",
                     value, what, largest_ky_entry));
  }

  std::vector<std::vector<double>> columns(int channels, int points, double step, bool core, double unit) {
    std::vector<std::vector<double>> columns(at(channels));
    for (int i = 0; i < points; ++i) {
      const double r = number("a radius") / bohr_angstrom;
      if (std::abs(r - i * step) > 1e-3 * step)
        fail(fmt::format("line {}", words_.line()),
             fmt::format("the radius is {:.6f} bohr where {:.6f} was expected (equal steps from 0)", r, i * step));
      if (core) entry("a core density");
      for (auto& column : columns) column.push_back(entry(core ? "a potential" : "a wave function") * unit);
    }
    return columns;
  }

  std::string path_;
  detail::Words words_;
};

class Ky final : public Pseudopotential {
public:
  Ky(std::string path, std::string_view symbol, int local_l, const Table& table)
      : path_(std::move(path)),
        symbol_(symbol),
        local_l_(local_l),
        valence_(table.valence),
        step_(table.step),
        radius_(table.largest_core()) {
    // Nodes up to and including the first one beyond the largest core radius.
    std::size_t nodes = 0;
    while (static_cast<double>(nodes) * step_ <= radius_) ++nodes;
    ++nodes;
    std::vector<double> r(nodes);
    for (std::size_t i = 0; i < nodes; ++i) r[i] = static_cast<double>(i) * step_;
    const auto& local = table.potential[at(local_l)];
    nodes_of_local_.assign(local.begin(), local.begin() + static_cast<std::ptrdiff_t>(nodes));
    std::vector<double> all(local.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(i) * step_;
    end_ = all.back();
    local_ = detail::CubicSpline(std::move(all), local);
    for (int l = 0; l < static_cast<int>(table.u.size()); ++l) {
      channels_.emplace_back();
      if (l != local_l) make_projector(l, r, table);
      if (channels_.back().coupling != 0) largest_l_ = l;
    }
    make_start_density(table);
    coarsest_ = detail::coarsest_spacing(*this);
  }

  const std::string& symbol() const noexcept override { return symbol_; }
  std::string origin() const override { return fmt::format("KY file {}, local l = {}", path_, local_l_); }
  double valence() const noexcept override { return valence_; }
  std::string functional() const override { return {}; }  // not stated in the format

  double local(double r) const override { return r < end_ ? local_.value(r) : -valence_ / r; }
  double local_radius() const override { return end_; }
  double local_slope(double r) const override { return r < end_ ? local_.slope(r) : valence_ / (r * r); }

  double local_fourier(double g) const override {
    double sum = 0;
    for (std::size_t i = 1; i < nodes_of_local_.size(); ++i) {
      const double r = (static_cast<double>(i) - 0.5) * step_;
      const double v = 0.5 * (nodes_of_local_[i - 1] + nodes_of_local_[i]);
      sum += (g > 0 ? std::sin(g * r) / g : r) * (r * v + valence_);
    }
    return 4 * std::numbers::pi * step_ * sum;
  }

  int largest_l() const noexcept override { return largest_l_; }
  int projectors(int l) const override { return channel(l) != nullptr ? 1 : 0; }
  double projector(int l, int i, double r) const override {
    const Channel* const c = i == 0 && r < radius_ ? channel(l) : nullptr;
    return c == nullptr ? 0.0 : c->shape.value(r) * std::pow(r, l);
  }
  double projector_slope(int l, int i, double r) const override {
    const Channel* const c = i == 0 && r < radius_ ? channel(l) : nullptr;
    if (c == nullptr) return 0;
    return c->shape.slope(r) * std::pow(r, l) + (l > 0 ? l * c->shape.value(r) * std::pow(r, l - 1) : 0.0);
  }
  double coupling(int l, int i, int j) const override {
    const Channel* const c = i == 0 && j == 0 ? channel(l) : nullptr;
    return c == nullptr ? 0.0 : c->coupling;
  }
  double projector_radius(int l) const override { return channel(l) != nullptr ? radius_ : 0.0; }
  double coarsest_spacing() const override { return coarsest_; }
  double start_density(double r) const override { return r < density_.last() ? std::max(0.0, density_.value(r)) : 0.0; }

private:
  struct Channel {
    detail::CubicSpline shape;  ///< p / r^l
    double coupling = 0;        ///< 0: no projector
  };

  const Channel* channel(int l) const {
    if (l < 0 || l >= static_cast<int>(channels_.size()) || channels_[at(l)].coupling == 0) return nullptr;
    return &channels_[at(l)];
  }

  void make_projector(int l, const std::vector<double>& r, const Table& table) {
    const auto &u = table.u[at(l)], &v = table.potential[at(l)], &local = table.potential[at(local_l_)];
    const auto term = [&](std::size_t i) { return u[i] * u[i] * (v[i] - local[i]); };
    double integral = 0;
    for (std::size_t i = 1; i + 1 < u.size(); ++i) integral += 0.5 * step_ * (term(i - 1) + term(i));
    if (std::abs(integral) < no_projector) return;
    std::vector<double> shape(r.size());
    for (std::size_t i = 1; i < r.size(); ++i) shape[i] = (v[i] - local[i]) * u[i] / std::pow(r[i], l + 1);
    shape[0] = (v[0] - local[0]) * u[1] / std::pow(r[1], l + 1);
    channels_.back() = {detail::CubicSpline(r, std::move(shape)), 1 / integral};
  }

  void make_start_density(const Table& table) {
    const auto electrons = detail::filling(valence_);
    const std::size_t points = table.u[0].size();
    std::vector<double> r(points), n(points, 0.0);
    for (std::size_t i = 0; i < points; ++i) {
      r[i] = static_cast<double>(i) * step_;
      const double radius = std::max(r[i], step_);
      for (std::size_t l = 0; l < table.u.size(); ++l) {
        const double u = table.u[l][std::max<std::size_t>(i, 1)];
        n[i] += electrons[l] * u * u / (4 * std::numbers::pi * radius * radius);
      }
    }
    double charge = 0;
    for (std::size_t i = 0; i < points; ++i) charge += 4 * std::numbers::pi * r[i] * r[i] * n[i] * step_;
    if (charge > 0)
      for (double& value : n) value *= valence_ / charge;
    density_ = detail::CubicSpline(std::move(r), std::move(n));
  }

  std::string path_, symbol_;
  int local_l_;
  double valence_, step_, radius_;
  double end_ = 0;  ///< of the tables [bohr]
  std::vector<double> nodes_of_local_;
  detail::CubicSpline local_, density_;
  std::vector<Channel> channels_;  ///< of each l in the file
  int largest_l_ = -1;
  double coarsest_ = 0;
};

}  // namespace

std::shared_ptr<const Pseudopotential> read_ky(const std::string& path, std::string_view symbol, int local_l,
                                               int largest_l) {
  const std::string text = detail::read_text(path);
  Table table = KyReader(path, text).read();
  int channels = static_cast<int>(table.u.size());
  if (largest_l < -1 || largest_l >= channels)
    throw core::InvalidArgument(fmt::format("largest l = {} asked for, and {} has l = 0 to {}; name one of these, or "
                                            "-1 for all",
                                            largest_l, path, channels - 1));
  if (largest_l >= 0) {
    channels = largest_l + 1;
    table.potential.resize(at(channels));
    table.u.resize(at(channels));
  }
  if (local_l < -1 || local_l >= channels)
    throw core::InvalidArgument(
        fmt::format("local channel l = {} asked for, and of {} l = 0 to {} are taken; name one of these, "
                    "or -1 for the largest",
                    local_l, path, channels - 1));
  auto pseudopotential = std::make_shared<const Ky>(path, symbol, local_l < 0 ? channels - 1 : local_l, table);
  detail::require_finite(*pseudopotential, path);
  return pseudopotential;
}

}  // namespace halocline::tddft
