// SPDX-License-Identifier: Apache-2.0
/// @file
/// Fills states in order of energy, or by the Fermi-Dirac distribution.

#include "halocline/tddft/ground_state/occupations.hpp"

#include "halocline/core/error.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace halocline::tddft {
namespace {

// [hartree] Eigenvalues of one shell differ by less than this, although the grid and unfinished iterations split them.
// With a much smaller value an open shell oscillates for ever: the filled orbital rises above the empty one.
constexpr double same_level = 1e-3;

/// A state and its capacity.
struct Level {
  double energy;
  double capacity;    ///< electrons in the cell: weight of the k-point times electrons of a full state
  std::size_t index;  ///< of the state in the occupations
};

/// The states of one spin, or of both, in order of energy, and the number of electrons to distribute over them.
struct Pool {
  std::vector<Level> levels;
  double electrons = 0;
  double full = 2;
};

/// Fills a pool whose occupations are zero. Returns {highest occupied, lowest empty} level: equal if a level is
/// partially filled, infinite if there is none.
std::pair<double, double> fill_lowest(const Pool& pool, std::vector<double>& occupations) {
  const double infinite = std::numeric_limits<double>::infinity();
  const double enough = 1e-9;  // electrons; counts are sums of k-point weights
  double below = 0;
  std::size_t last = 0;
  while (last < pool.levels.size() && below + pool.levels[last].capacity < pool.electrons - enough)
    below += pool.levels[last++].capacity;
  if (pool.levels.empty() || pool.electrons <= enough)
    return {-infinite, pool.levels.empty() ? infinite : pool.levels.front().energy};
  if (last == pool.levels.size()) --last;

  std::size_t first = last, end = last + 1;
  const double energy = pool.levels[last].energy;
  while (first > 0 && energy - pool.levels[first - 1].energy <= same_level) below -= pool.levels[--first].capacity;
  while (end < pool.levels.size() && pool.levels[end].energy - energy <= same_level) ++end;
  double capacity = 0;
  for (std::size_t i = first; i < end; ++i) capacity += pool.levels[i].capacity;
  const double share = std::min(1.0, (pool.electrons - below) / capacity);
  const bool whole = share * capacity > capacity - enough;
  for (std::size_t i = 0; i < end; ++i)
    occupations[pool.levels[i].index] = i < first || whole ? pool.full : share * pool.full;
  if (!whole) return {energy, energy};
  return {pool.levels[end - 1].energy, end < pool.levels.size() ? pool.levels[end].energy : infinite};
}

double fermi(double x) { return x > 0 ? std::exp(-x) / (1 + std::exp(-x)) : 1 / (1 + std::exp(x)); }

/// f ln f + (1 - f) ln(1 - f) of one spin state, without cancellation: ln f and ln(1 - f) are -ln(1 + exp(+-x)).
double mixing_entropy(double x) {
  const double s = std::abs(x), tail = std::log1p(std::exp(-s));
  return -tail - s * fermi(s);
}

double electrons_below(const Pool& pool, double level, double temperature) {
  double sum = 0;
  for (const Level& state : pool.levels) sum += state.capacity * fermi((state.energy - level) / temperature);
  return sum;
}

/// Fills a pool by Fermi-Dirac occupations. Returns the Fermi level and adds to the entropy.
double fill_smeared(const Pool& pool, double temperature, std::vector<double>& occupations, double& entropy) {
  if (pool.levels.empty()) return 0;
  double low = pool.levels.front().energy - 800 * temperature, high = pool.levels.back().energy + 800 * temperature;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (electrons_below(pool, middle, temperature) < pool.electrons ? low : high) = middle;
  }
  const double level = 0.5 * (low + high);
  for (const Level& state : pool.levels) {
    const double x = (state.energy - level) / temperature;
    occupations[state.index] = pool.full * fermi(x);
    entropy -= temperature * state.capacity * mixing_entropy(x);
  }
  return level;
}

double capacity_of(const Pool& pool) {
  double sum = 0;
  for (const Level& state : pool.levels) sum += state.capacity;
  return sum;
}

void check(const System& system, double temperature, std::optional<double> moment) {
  if (!(temperature >= 0))
    throw core::InvalidArgument(
        fmt::format("the temperature of the electrons is {} hartree; it must not be negative", temperature));
  if (!moment) return;
  if (system.spins != 2)
    throw core::InvalidArgument("a spin moment is kept, but the system has one spin; give it two (spins = 2)");
  const double larger = 0.5 * (system.electrons + std::abs(*moment));
  if (!(std::abs(*moment) <= system.electrons) || larger > system.states + 1e-9)
    throw core::InvalidArgument(
        fmt::format("a spin moment of {} needs {} electrons in one spin, but there are {} electrons and {} states for "
                    "each spin; ask for a smaller moment or more states",
                    *moment, larger, system.electrons, system.states));
}

}  // namespace

Filling fill_states(const System& system, std::span<const double> eigenvalues, double temperature,
                    std::optional<double> moment) {
  check(system, temperature, moment);
  const auto states = static_cast<std::size_t>(system.states);
  assert(eigenvalues.size() == system.channels.size() * states);
  std::vector<Pool> pools(moment ? 2 : 1);
  for (std::size_t channel = 0; channel < system.channels.size(); ++channel)
    for (std::size_t state = 0; state < states; ++state) {
      Pool& pool = pools[moment ? static_cast<std::size_t>(system.channels[channel].spin) : 0];
      const std::size_t index = channel * states + state;
      pool.levels.push_back({eigenvalues[index], system.channels[channel].weight * system.full(), index});
    }
  for (std::size_t spin = 0; spin < pools.size(); ++spin) {
    Pool& pool = pools[spin];
    pool.full = system.full();
    pool.electrons = moment ? 0.5 * (system.electrons + (spin == 0 ? *moment : -*moment)) : system.electrons;
    std::stable_sort(pool.levels.begin(), pool.levels.end(),
                     [](const Level& a, const Level& b) { return a.energy < b.energy; });
  }

  Filling filling;
  filling.occupations.assign(eigenvalues.size(), 0.0);
  double occupied = -std::numeric_limits<double>::infinity(), empty = -occupied, level_sum = 0;
  for (const Pool& pool : pools) {
    const auto [highest, lowest] = fill_lowest(pool, filling.occupations);
    occupied = std::max(occupied, highest);
    empty = std::min(empty, lowest);
    if (std::isfinite(highest) || std::isfinite(lowest))
      level_sum += !std::isfinite(highest) ? lowest : !std::isfinite(lowest) ? highest : 0.5 * (highest + lowest);
  }
  filling.gap = std::isfinite(empty) ? (std::isfinite(occupied) ? std::max(0.0, empty - occupied) : 0.0) : -1.0;
  filling.fermi_level = level_sum / static_cast<double>(pools.size());
  if (temperature == 0) return filling;

  level_sum = 0;
  for (const Pool& pool : pools) {
    // A full or an empty pool keeps its occupations at any temperature: its Fermi level would be infinite.
    if (pool.electrons < 1e-9 || pool.electrons > capacity_of(pool) - 1e-9) {
      level_sum += filling.fermi_level;
      continue;
    }
    level_sum += fill_smeared(pool, temperature, filling.occupations, filling.entropy);
  }
  filling.fermi_level = level_sum / static_cast<double>(pools.size());
  return filling;
}

}  // namespace halocline::tddft
