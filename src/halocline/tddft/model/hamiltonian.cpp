// SPDX-License-Identifier: Apache-2.0
/// @file
/// The order of work in one application of H, and the bounds of its spectrum.
///
/// The projections onto the atoms need only `in`, so they come first. The stencil runs while their sums are in transit.
/// The nonlocal part is added at the points near atoms when both are complete. If nothing is split, this is done for
/// few blocks at a time, so that the second part finds in the cache the data of the first.

#include "halocline/tddft/model/hamiltonian.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/philox.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <type_traits>

namespace halocline::tddft {
namespace {

std::vector<Channel> own_channels(const System& system, const Decomposition& decomposition) {
  const Range own = decomposition.channels();
  return {system.channels.begin() + own.begin, system.channels.begin() + own.end};
}

/// Smallest and largest eigenvalue of a symmetric tridiagonal matrix, by counting sign changes of its Sturm sequence.
/// @param beta  beta[i] couples i and i + 1; it may have one more element than needed
std::pair<double, double> tridiagonal_ends(std::span<const double> alpha, std::span<const double> beta) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    const double radius = (i > 0 ? beta[i - 1] : 0) + (i + 1 < alpha.size() ? beta[i] : 0);
    low = std::min(low, alpha[i] - radius);
    high = std::max(high, alpha[i] + radius);
  }
  const auto below = [&](double x) {  // number of eigenvalues smaller than x
    int count = 0;
    double d = 1;
    for (std::size_t i = 0; i < alpha.size(); ++i) {
      const double off = i > 0 ? beta[i - 1] : 0;
      d = alpha[i] - x - (i > 0 ? off * off / d : 0);
      if (d == 0) d = 1e-300;
      if (d < 0) ++count;
    }
    return count;
  };
  const auto bisect = [&](int wanted) {  // the smallest x with more than `wanted` eigenvalues below it
    double a = low, b = high;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (a + b);
      (below(middle) > wanted ? b : a) = middle;
    }
    return 0.5 * (a + b);
  };
  return {bisect(0), bisect(static_cast<int>(alpha.size()) - 1)};
}

}  // namespace

Hamiltonian::Hamiltonian(const System& system, const Decomposition& decomposition, const std::string& transport)
    : decomposition_(decomposition),
      channels_(own_channels(system, decomposition)),
      stencil_(decomposition, transport),
      nonlocal_(system, decomposition),
      spins_(system.spins),
      potential_(size(system.spins * decomposition.box().points())) {
  set_vector_potential({});
}

void Hamiltonian::set_potential(std::span<const double> v) {
  const std::size_t points = size(decomposition_.box().points()), spins = size(spins_), of_spins = spins * points;
  assert(v.size() == of_spins || v.size() == 5 * of_spins || v.size() == 8 * of_spins);
  potential_.assign(v.begin(), v.end());
  flowing_ = v.size() == 8 * of_spins;
  if (v.size() == of_spins) return kinetic_fields_.clear();
  kinetic_fields_.assign(kinetic_fields * of_spins, 0.0);
  for (std::size_t s = 0; s < spins; ++s) {
    const std::span<double> to =
        std::span(kinetic_fields_).subspan(kinetic_fields * s * points, kinetic_fields * points);
    std::ranges::copy(v.subspan(of_spins + s * points, points), to.begin());
    std::ranges::copy(v.subspan(2 * of_spins + 3 * s * points, 3 * points), to.subspan(points).begin());
    if (flowing_)
      std::ranges::copy(v.subspan(5 * of_spins + 3 * s * points, 3 * points), to.subspan(4 * points).begin());
  }
  const std::int64_t scratch = 4 * static_cast<std::int64_t>(points) * doubles_per_point;
  if (kinetic_scratch_.size() != scratch) kinetic_scratch_ = core::AlignedArray<double>(scratch);
}

Vec3 Hamiltonian::momentum(std::int64_t channel) const noexcept {
  const Vec3& k = channels_[static_cast<std::size_t>(channel)].k;
  const double sign = spin(channel) == 0 ? 1.0 : -1.0;
  return {k[0] + a_[0] + sign * spin_a_[0], k[1] + a_[1] + sign * spin_a_[1], k[2] + a_[2] + sign * spin_a_[2]};
}

int Hamiltonian::spin(std::int64_t channel) const noexcept { return channels_[static_cast<std::size_t>(channel)].spin; }

void Hamiltonian::move_atoms(const System& system) {
  nonlocal_.move(system, decomposition_);
  set_vector_potential(a_);
}

void Hamiltonian::set_vector_potential(const Vec3& a) {
  local_.reset();
  with_k_.reset();
  channel_of_k_ = -1;
  a_ = a;
  std::vector<Vec3> q;
  for (std::size_t channel = 0; channel < channels_.size(); ++channel)
    q.push_back(momentum(static_cast<std::int64_t>(channel)));
  nonlocal_.set_phases(q);
}

void Hamiltonian::set_local_potential(std::span<const double> a) {
  const core::Region region("tddft/local vector potential");
  a_ = {};
  if (local_)
    stencil_.set_momentum(*local_, a);
  else
    local_ = stencil_.local_momentum(a);
  channel_of_k_ = -1;
  std::vector<Vec3> k;
  for (std::size_t channel = 0; channel < channels_.size(); ++channel)
    k.push_back(momentum(static_cast<std::int64_t>(channel)));
  nonlocal_.set_local_phases(k, a);
}

/// k + A(r) of a channel. Channels follow one after the other, so that one of them is kept.
const LocalMomentum& Hamiltonian::local_momentum(std::int64_t channel) {
  const Vec3 k = momentum(channel);
  if (k == Vec3{}) return *local_;
  if (channel_of_k_ != channel) {
    with_k_ = local_;
    with_k_->add(k);
    channel_of_k_ = channel;
  }
  return *with_k_;
}

void Hamiltonian::apply_kinetic(std::int64_t channel, double* out, const double* in, std::span<const double> v) {
  if (local_) return stencil_.apply_local(out, in, 1, v, local_momentum(channel));
  stencil_.apply(out, in, 1, v, momentum(channel));
}

void Hamiltonian::set_spin_potential(const Vec3& b) {
  spin_a_ = b;
  set_vector_potential(a_);
}

std::span<const double> Hamiltonian::potential_of(std::int64_t channel) const noexcept {
  const auto points = static_cast<std::size_t>(decomposition_.box().points());
  return std::span<const double>(potential_).subspan(static_cast<std::size_t>(spin(channel)) * points, points);
}

/// Adds the operator of a meta-GGA to `out`.
void Hamiltonian::add_kinetic_operator(std::int64_t channel, double* out, const double* in, std::int64_t blocks,
                                       const Combination& what) {
  const core::Region region("tddft/kinetic operator");
  const std::size_t fields = kinetic_fields * size(decomposition_.box().points());
  const std::int64_t doubles = decomposition_.box().points() * doubles_per_point;
  const Vec3& k = channels_[size(channel)].k;
  for (std::int64_t b = 0; b < blocks; ++b)
    stencil_.add_kinetic_operator(
        out + b * doubles, in + b * doubles,
        std::span<const double>(kinetic_fields_).subspan(size(spin(channel)) * fields, fields),
        flowing_ ? k : momentum(channel), what.factor, kinetic_scratch_.data());
}

template <class T>
void Hamiltonian::apply_some(std::int64_t channel, T* out, const T* in, std::int64_t blocks,
                             const CombinationOf<T>& what) {
  if (!nonlocal_.empty()) {
    core::Region region("tddft/nonlocal");
    nonlocal_.begin(channel, in, blocks);
  }
  {
    core::Region region("tddft/stencil");
    if (!local_)
      stencil_.apply(out, in, blocks, potential_of(channel), momentum(channel), what);
    else if constexpr (std::is_same_v<T, double>)
      stencil_.apply_local(out, in, blocks, potential_of(channel), local_momentum(channel), what);
    else
      throw core::InvalidArgument(
          "a vector potential that depends on the place was to act on orbitals in float; give them in double");
  }
  if (!nonlocal_.empty()) {
    core::Region region("tddft/nonlocal");
    nonlocal_.finish(out, what.factor);
  }
  if (kinetic_fields_.empty()) return;
  if constexpr (std::is_same_v<T, double>)
    add_kinetic_operator(channel, out, in, blocks, what);
  else
    throw core::InvalidArgument("the operator of a meta-GGA was to act on orbitals in float; give them in double");
}

template <class T>
void Hamiltonian::apply(std::int64_t channel, T* out, const T* in, std::int64_t blocks, const CombinationOf<T>& what) {
  const std::int64_t step = std::max<std::int64_t>(1, blocks_together(blocks));
  const std::int64_t numbers = decomposition_.box().points() * numbers_per_point<T>;
  for (std::int64_t b = 0; b < blocks; b += step) {
    CombinationOf<T> part = what;
    if (part.base != nullptr) part.base += b * numbers;
    apply_some(channel, out + b * numbers, in + b * numbers, std::min(step, blocks - b), part);
  }
}
template void Hamiltonian::apply(std::int64_t, double*, const double*, std::int64_t, const CombinationOf<double>&);
template void Hamiltonian::apply(std::int64_t, float*, const float*, std::int64_t, const CombinationOf<float>&);

std::int64_t Hamiltonian::blocks_together(std::int64_t blocks) const noexcept {
  constexpr std::int64_t cache = 4 * 1024 * 1024;  // [bytes], a core's share of the last-level cache
  if (decomposition_.space().size() > 1) return blocks;
  const std::int64_t bytes = decomposition_.box().points() * doubles_per_point * std::int64_t{sizeof(double)};
  return std::clamp<std::int64_t>(cache / (2 * bytes), 1, std::max<std::int64_t>(1, blocks));
}

std::pair<double, double> Hamiltonian::lanczos_ends(std::int64_t channel) {
  // A few Lanczos steps on one random block. The four lanes are four independent sequences; the widest estimates count.
  // |r| of the last step makes the estimate a bound (Zhou, Saad, Tiago, Chelikowsky, J. Comput. Phys. 219, 172, 2006).
  constexpr int steps = 12;
  const Box& box = decomposition_.box();
  const Grid& grid = decomposition_.grid();
  const std::int64_t doubles = box.points() * doubles_per_point;
  core::AlignedArray<double> v(doubles), previous(doubles), w(doubles);
  const core::Philox random(20260601);
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (std::int64_t y = 0; y < box.extent[1]; ++y)
      for (std::int64_t x = 0; x < box.extent[0]; ++x) {
        auto numbers = random.at(static_cast<std::uint64_t>(
            x + box.offset[0] + grid.extent[0] * (y + box.offset[1] + grid.extent[1] * (z + box.offset[2]))));
        for (int i = 0; i < doubles_per_point; ++i)
          v[box.index(x, y, z) * doubles_per_point + i] = numbers.uniform() - 0.5;
      }
  const auto dots = [&](const double* a, const double* b) {
    std::array<double, orbital_lanes> sum{};
    for (std::int64_t i = 0; i < doubles; i += doubles_per_point)
      for (std::size_t lane = 0; lane < orbital_lanes; ++lane) {
        const auto at = i + 2 * static_cast<std::int64_t>(lane);
        sum[lane] += a[at] * b[at] + a[at + 1] * b[at + 1];
      }
    decomposition_.space().sum(sum);
    return sum;
  };
  const auto scale = [&](double* a, const std::array<double, orbital_lanes>& factor) {
    for (std::int64_t i = 0; i < doubles; ++i) a[i] *= factor[static_cast<std::size_t>(i % doubles_per_point / 2)];
  };
  std::array<double, orbital_lanes> norm = dots(v.data(), v.data());
  for (double& n : norm) n = 1 / std::sqrt(n);
  scale(v.data(), norm);

  std::array<std::vector<double>, orbital_lanes> alpha, beta;
  std::array<double, orbital_lanes> last{};
  for (int step = 0; step < steps; ++step) {
    apply(channel, w.data(), v.data(), 1);
    const auto a = dots(v.data(), w.data());
    for (std::int64_t i = 0; i < doubles; ++i) {
      const auto lane = static_cast<std::size_t>(i % doubles_per_point / 2);
      w[i] -= a[lane] * v[i] + last[lane] * previous[i];
    }
    auto b = dots(w.data(), w.data());
    std::array<double, orbital_lanes> inverse{};
    for (std::size_t lane = 0; lane < orbital_lanes; ++lane) {
      b[lane] = std::sqrt(b[lane]);
      inverse[lane] = b[lane] > 0 ? 1 / b[lane] : 0.0;
      alpha[lane].push_back(a[lane]);
      beta[lane].push_back(b[lane]);
    }
    last = b;
    std::swap(previous, v);
    std::swap(v, w);
    scale(v.data(), inverse);
  }
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t lane = 0; lane < orbital_lanes; ++lane) {
    const auto [first, last_value] = tridiagonal_ends(alpha[lane], beta[lane]);
    low = std::min(low, first - beta[lane].back());
    high = std::max(high, last_value + beta[lane].back());
  }
  return {low, high};
}

std::pair<double, double> Hamiltonian::spectrum_bounds() {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::int64_t channel = 0; channel < static_cast<std::int64_t>(channels_.size()); ++channel) {
    const auto [first, last] = lanczos_ends(channel);
    low = std::min(low, first);
    high = std::max(high, last);
  }
  decomposition_.world().min(std::span(&low, 1));
  decomposition_.world().max(std::span(&high, 1));
  return {low, high};
}

}  // namespace halocline::tddft
