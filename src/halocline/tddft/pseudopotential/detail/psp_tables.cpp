// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/psp_tables.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/pseudopotential/detail/cubic_spline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace halocline::tddft::detail {

namespace {

constexpr double largest_entry = 1e9;  // of any table: larger means damage
constexpr int most_nodes = 1 << 20, most_projectors_of_l = 10;
constexpr int fewest = static_cast<int>(fewest_nodes);

/// The form of the partial core of pspcod 1: (sin(2 pi x) / (2 pi x (1 - 4 x^2)(1 - x^2)))^2, up to x = 3.
double core_shape(double x) {
  // The three zeros of the denominator are zeros of the sine too; nearby points on both sides replace them.
  constexpr double near = 1e-4;
  for (const double pole : {0.0, 0.5, 1.0})
    if (std::abs(x - pole) < near)
      return pole == 0 ? 1.0 : 0.5 * (core_shape(pole - 1.5 * near) + core_shape(pole + 1.5 * near));
  const double y = 2 * std::numbers::pi * x;
  const double f = std::sin(y) / (y * (1 - 4 * x * x) * (1 - x * x));
  return f * f;
}

}  // namespace

void PspWords::fail(const std::string& sentence) const {
  throw core::FileError(path_, fmt::format("line {}", words_.line()), sentence);
}

double PspWords::number(const char* meaning) {
  const auto value = words_.number();
  if (value && std::abs(*value) <= largest_entry) return *value;
  const std::string found = words_.word().empty() ? "the file ends" : "there is " + shown(words_.word());
  fail(fmt::format("{} where {} was expected; the file is damaged or truncated", found, meaning));
}

int PspWords::whole(const char* meaning, int least, int most) {
  const double value = number(meaning);
  if (!(value >= least && value <= most) || value != std::floor(value))
    fail(fmt::format("{} is {:g}; a whole number from {} to {} expected", meaning, value, least, most));
  return static_cast<int>(value);
}

std::vector<double> PspWords::numbers_of_line() {
  Words line(words_.rest_of_line());
  std::vector<double> numbers;
  for (auto value = line.number(); value; value = line.number()) numbers.push_back(*value);
  return numbers;
}

PspHeader read_psp_header(PspWords& words) {
  PspHeader header;
  words.skip_line();
  header.atomic_number = words.number("the atomic number");
  header.valence = words.number("the charge of the ion");
  if (!(header.valence > 0 && header.valence < 120))
    words.fail(fmt::format("the charge of the ion is {:g}; a positive one below 120 expected", header.valence));
  words.skip_line();
  header.format = words.whole("the number of the format, pspcod,", 1, 99);
  header.functional = words.whole("the functional, pspxc,", -999999, 999999);
  header.largest_l = words.whole("the largest l", -1, largest_tabulated_l);
  header.local_l = words.whole("the local l", -1, 9);
  header.nodes = words.whole("the number of radii", 1, most_nodes);
  words.skip_line();
  const bool gaussian = header.format == 2 || header.format == 3 || header.format == 10;
  if (header.largest_l < 0 && !gaussian)
    words.fail(fmt::format("the largest l is {}; 0 or more expected in pspcod {}", header.largest_l, header.format));
  return header;
}

void read_pspnc(PspWords& words, const PspHeader& header, Semilocal& semilocal, Tabulated& table) {
  const int channels = header.largest_l + 1;
  if (header.nodes < fewest) words.fail(fmt::format("{} radii; at least {} expected", header.nodes, fewest));
  std::vector<int> projectors;
  for (int l = 0; l < channels; ++l) {
    static_cast<void>(words.whole("an angular momentum", l, l));
    static_cast<void>(words.number("e99.0"));
    static_cast<void>(words.number("e99.9"));
    projectors.push_back(words.whole("the number of projectors", 0, 2));
    words.skip_line();
    words.skip_line();
  }
  const double core_radius = words.number("the radius of the core"), core = words.number("the core density");
  words.skip_line();
  for (int i = 0; i < header.nodes; ++i)
    semilocal.r.push_back(100 * std::pow(static_cast<double>(i) / (header.nodes - 1) + 0.01, 5) - 1e-8);
  semilocal.r[0] = 0;
  const auto column = [&](int l, const char* meaning) {
    static_cast<void>(words.whole("an angular momentum", l, l));
    words.skip_line();
    std::vector<double> values;
    for (int i = 0; i < header.nodes; ++i) values.push_back(words.number(meaning));
    return values;
  };
  semilocal.channels.resize(at(channels));
  for (int l = 0; l < channels; ++l) semilocal.channels[at(l)].potential = column(l, "a potential");
  // A file without projectors may have no wave functions; one with some has those of all l below, too.
  const auto last = std::ranges::find_if(projectors.rbegin(), projectors.rend(), [](int n) { return n > 0; });
  for (int l = 0; l < static_cast<int>(projectors.rend() - last); ++l) {
    auto u = column(l, "a wave function");
    if (projectors[at(l)] > 0) semilocal.channels[at(l)].u = std::move(u);
  }
  if (core != 0 && !(core_radius > 0.05 && core_radius < 20))
    words.fail(fmt::format("the radius of the core is {:g} bohr; from 0.05 to 20 expected", core_radius));
  if (core != 0)
    for (const double r : semilocal.r)
      table.core.push_back(r < 3 * core_radius ? core * core_shape(r / core_radius) : 0.0);
}

CpiHeader read_cpi_header(PspWords& words) {
  CpiHeader header;
  header.valence = words.number("the charge of the ion");
  if (!(header.valence > 0 && header.valence < 120))
    words.fail(fmt::format("the charge of the ion is {:g}; a positive one below 120 expected", header.valence));
  header.channels = words.whole("the number of angular momenta", 1, largest_tabulated_l + 1);
  for (int line = 0; line < 11; ++line) words.skip_line();
  return header;
}

void read_fhi_tables(PspWords& words, int channels, Semilocal& semilocal) {
  for (int l = 0; l < channels; ++l) {
    const int nodes = words.whole("the number of radii", fewest, most_nodes);
    if (l > 0 && at(nodes) != semilocal.r.size())
      words.fail(fmt::format("{} radii for l = {}, and {} for l = 0", nodes, l, semilocal.r.size()));
    words.skip_line();
    auto& channel = semilocal.channels.emplace_back();
    for (int i = 0; i < nodes; ++i) {
      static_cast<void>(words.whole("the number of a radius", i + 1, i + 1));
      const double r = words.number("a radius");
      if (l == 0) semilocal.r.push_back(r);
      if (std::abs(r - semilocal.r[at(i)]) > 1e-8 * r)
        words.fail(fmt::format("the radius is {:g} bohr, and {:g} for l = 0", r, semilocal.r[at(i)]));
      channel.u.push_back(words.number("a wave function"));
      channel.potential.push_back(words.number("a potential"));
    }
  }
}

std::vector<double> read_fhi_core(PspWords& words, const std::vector<double>& radii) {
  // The density and two derivatives, times 4 pi; some programs write it on radii of its own.
  std::vector<double> r, density;
  for (std::size_t i = 0; i < radii.size(); ++i) {
    r.push_back(words.number("a radius of the core density"));
    if (!(r[i] >= 0) || (i > 0 && !(r[i] > r[i - 1])))
      words.fail(fmt::format("the radius of the core density is {:g} bohr; increasing radii expected", r[i]));
    density.push_back(words.number("a core density") / (4 * std::numbers::pi));
    static_cast<void>(words.number("a slope of the core density"));
    static_cast<void>(words.number("a curvature of the core density"));
  }
  const double end = r.back();
  const CubicSpline spline(std::move(r), std::move(density));
  std::vector<double> core;
  for (const double at_radius : radii) core.push_back(at_radius <= end ? spline.value(at_radius) : 0.0);
  return core;
}

void read_psp8(PspWords& words, const PspHeader& header, Tabulated& table) {
  if (header.nodes < fewest) words.fail(fmt::format("{} radii; at least {} expected", header.nodes, fewest));
  static_cast<void>(words.number("the radius of the core"));
  const bool has_core = words.number("the flag of a core") > 0;
  words.skip_line();
  std::array<int, largest_tabulated_l + 1> projectors{};
  int blocks = 1;
  for (int l = 0; l <= header.largest_l; ++l) {
    projectors[at(l)] = words.whole("the number of projectors", 0, most_projectors_of_l);
    if (l == header.local_l && projectors[at(l)] > 0)
      words.fail(fmt::format("l = {} is the local one and has {} projectors", l, projectors[at(l)]));
    blocks += projectors[at(l)] > 0 ? 1 : 0;
  }
  words.skip_line();
  if (words.whole("the switch of extensions", 0, 9) >= 2)
    words.fail("the pseudopotential is fully relativistic (spin-orbit projectors), which is not supported; take the "
               "scalar-relativistic one");
  words.skip_line();
  std::vector<double> strength;
  const auto radius = [&](int i) {
    static_cast<void>(words.whole("the number of a radius", i + 1, i + 1));
    const double r = words.number("a radius");
    if (table.r.size() < at(header.nodes)) table.r.push_back(r);
    if (std::abs(r - table.r[at(i)]) > 1e-8 * std::max(r, 1.0))
      words.fail(fmt::format("the radius is {:g} bohr, and {:g} in the first table", r, table.r[at(i)]));
    return r;
  };
  for (int block = 0; block < blocks; ++block) {
    const int l = words.whole("the angular momentum of a table", 0, 9);
    if (l == header.local_l) {
      words.skip_line();
      for (int i = 0; i < header.nodes; ++i) {
        static_cast<void>(radius(i));
        table.local.push_back(words.number("a potential"));
      }
      continue;
    }
    if (l > header.largest_l || projectors[at(l)] == 0)
      words.fail(fmt::format("a table of l = {}, for which the header has no projectors", l));
    const std::size_t first = table.projectors.size(), count = at(projectors[at(l)]);
    for (std::size_t k = 0; k < count; ++k) {
      strength.push_back(words.number("the strength of a projector"));
      table.projectors.push_back({l, {}});
    }
    words.skip_line();
    for (int i = 0; i < header.nodes; ++i) {
      static_cast<void>(radius(i));
      for (std::size_t k = 0; k < count; ++k) table.projectors[first + k].p.push_back(words.number("a projector"));
    }
    projectors[at(l)] = 0;  // so that a second table of this l is refused
  }
  if (has_core)
    for (int i = 0; i < header.nodes; ++i) {
      static_cast<void>(radius(i));
      table.core.push_back(words.number("a core density") / (4 * std::numbers::pi));
      words.skip_line();
    }
  if (table.local.empty()) words.fail("there is no local potential; the file is damaged");
  for (auto& projector : table.projectors) {
    if (!trim_projector(projector.p)) words.fail(fmt::format("a projector of l = {} is zero", projector.l));
    for (std::size_t i = 0; i < projector.p.size(); ++i)
      projector.p[i] = table.r[i] > 0 ? projector.p[i] / table.r[i] : 0.0;
  }
  const std::size_t count = strength.size();
  table.coupling.assign(count * count, 0.0);
  for (std::size_t i = 0; i < count; ++i) table.coupling[i * count + i] = strength[i];
}

void read_gaussian(PspWords& words, const PspHeader& header, GaussianParameters& parameters) {
  parameters.local_radius = words.number("r_loc");
  int coefficients = 4;
  if (header.format == 10) coefficients = words.whole("the number of coefficients", 0, 4);
  for (int i = 0; i < coefficients; ++i) parameters.c[at(i)] = words.number("a coefficient of the local potential");
  words.skip_line();
  int channels = header.format == 2 ? 2 : header.largest_l + 1;
  if (header.format == 10) {
    channels = words.whole("the number of angular momenta", 0, 4);
    words.skip_line();
  }
  for (int l = 0; l < channels; ++l) {
    auto& channel = parameters.channels[at(l)];
    channel.radius = words.number("the radius of a projector");
    if (header.format == 10) {
      channel.count = words.whole("the number of projectors", 0, 3);
      for (int i = 0; i < channel.count; ++i) {
        for (int j = i; j < channel.count; ++j)
          channel.h[at(i)][at(j)] = channel.h[at(j)][at(i)] = words.number("a coupling");
        words.skip_line();
      }
      if (channel.count == 0) words.skip_line();
      if (l > 0)
        for (int i = 0; i < channel.count; ++i) words.skip_line();  // spin-orbit
      continue;
    }
    const int functions = header.format == 3 ? 3 : l == 0 ? 2 : 1;
    for (int i = 0; i < functions; ++i)
      if ((channel.h[at(i)][at(i)] = words.number("a coupling")) != 0) channel.count = i + 1;
    words.skip_line();
    if (header.format != 3) continue;
    if (l > 0) words.skip_line();  // spin-orbit
    if (l == 3 && channel.count > 1) words.fail("h_22 of l = 3 is not 0, and h_12 has no published rule");
    for (int i = 0; i < channel.count; ++i)
      for (int j = i + 1; j < channel.count; ++j)
        channel.h[at(i)][at(j)] = channel.h[at(j)][at(i)] = hgh_off_diagonal(l, i, j) * channel.h[at(j)][at(j)];
  }
}

}  // namespace halocline::tddft::detail
