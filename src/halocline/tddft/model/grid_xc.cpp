// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/model/grid_xc.hpp"

#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <cstring>

namespace halocline::tddft {
namespace {

/// Points that others must take over before the exchange pays: some 70 nanoseconds each for the cheapest functional,
/// against some ten microseconds for the messages and a few nanoseconds a point.
constexpr std::size_t worth_sharing = 1024;

}  // namespace

/// Puts scalar fields where a block has its numbers. A block has eight numbers a point, of which the stencil takes
/// those in front: densities, or components of vectors.
void GridExchangeCorrelation::fill(int fields, const double* field, std::int64_t points) {
  if (block_.size() != points * doubles_per_point) block_ = core::AlignedArray<double>(points * doubles_per_point);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < points; ++i)
    for (int k = 0; k < fields; ++k) block_[i * doubles_per_point + k] = field[k * points + i];
}

/// The functional at every point, in shares that the mates exchange. With `f`, the energy at each point, every process
/// does all points itself.
double GridExchangeCorrelation::at_points(std::span<double> f, std::span<double> v, std::span<const double> n,
                                          const comm::Communicator& mates) {
  const std::size_t points = n.size() / size(spins_), parts = size(mates.size());
  if (!f.empty() || parts == 1 || points - points / parts < worth_sharing)
    return xc_.evaluate(f, v, flux_, n, gradient_);
  const auto share_of = [&](int mate) { return part_of(static_cast<std::int64_t>(points), mates.size(), mate); };
  const Range mine = share_of(mates.rank());
  const std::size_t fields = n.size() / points, slopes = gradient_.size() / points, here = size(mine.size());
  // Densities and slopes go in, potentials, fluxes and the sum of the energy come out.
  share_in_.resize((fields + slopes) * here);
  share_out_.resize((fields + slopes) * here + 1);
  const auto take = [&](std::span<const double> from, std::size_t count, double* to) {
    for (std::size_t k = 0; k < count; ++k)
      std::copy_n(from.data() + k * points + size(mine.begin), here, to + k * here);
  };
  take(n, fields, share_in_.data());
  take(gradient_, slopes, share_in_.data() + fields * here);
  const std::span<const double> in = share_in_;
  const std::span<double> out = share_out_;
  out.back() = xc_.evaluate({}, out.first(fields * here), out.subspan(fields * here, slopes * here),
                            in.first(fields * here), in.subspan(fields * here, slopes * here));
  const std::vector<std::byte> all = mates.allgather(std::as_bytes(out));
  double energy = 0;
  std::size_t at = 0;
  const auto put = [&](std::span<double> to, std::size_t count, const Range& share) {
    const std::size_t row = size(share.size()) * sizeof(double);
    for (std::size_t k = 0; k < count; ++k, at += row)
      std::memcpy(to.data() + k * points + size(share.begin), all.data() + at, row);
  };
  for (int mate = 0; mate < mates.size(); ++mate) {
    put(v, fields, share_of(mate));
    put(flux_, slopes, share_of(mate));
    double sum = 0;
    std::memcpy(&sum, all.data() + at, sizeof(double));
    at += sizeof(double);
    energy += sum;
  }
  return energy;
}

double GridExchangeCorrelation::evaluate(std::span<double> v, std::span<const double> n, Stencil& stencil,
                                         const comm::Communicator& mates) {
  return evaluate({}, v, n, stencil, mates);
}

/// @param f  the energy at each point, shape (points,), or empty
double GridExchangeCorrelation::evaluate(std::span<double> f, std::span<double> v, std::span<const double> n,
                                         Stencil& stencil, const comm::Communicator& mates) {
  if (!xc_.has_gradients()) return at_points(f, v, n, mates);
  const auto points = static_cast<std::int64_t>(n.size()) / spins_;
  gradient_.resize(3 * n.size());
  flux_.resize(3 * n.size());
  divergence_.resize(n.size());
  fill(spins_, n.data(), points);
  stencil.gradient(gradient_, block_.data(), spins_);
  const double energy = at_points(f, v, n, mates);
  fill(3 * spins_, flux_.data(), points);
  stencil.divergence(divergence_, block_.data(), spins_);
  const auto values = static_cast<std::int64_t>(v.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < values; ++i) v[static_cast<std::size_t>(i)] -= divergence_[static_cast<std::size_t>(i)];
  return energy;
}

void GridExchangeCorrelation::add_defect(std::span<double> field, std::span<const double> n,
                                         std::span<const double> slopes, bool second, Stencil& stencil) {
  const std::size_t points = n.size() / size(spins_);
  std::vector<double> f(points), v(n.size()), part(3 * points);
  evaluate(f, v, n, stencil, comm::Communicator::self());
  for (std::size_t s = 0; s < size(spins_); ++s)
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::size_t i = 0; i < points; ++i)
        field[axis * points + i] += v[s * points + i] * slopes[(3 * s + axis) * points + i];

  // The processes with parts of the slopes have the same box: each takes part in the sweeps, one of them counts.
  const double counts = second ? 1.0 : 0.0;
  fill(1, f.data(), static_cast<std::int64_t>(points));
  stencil.gradient(part, block_.data(), 1);
  for (std::size_t i = 0; i < part.size(); ++i) field[i] -= counts * part[i];
  if (!xc_.has_gradients()) return;
  std::vector<double> product(3 * points), divergence(points);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::ranges::fill(product, 0.0);
    for (std::size_t s = 0; s < size(spins_); ++s)
      for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t i = 0; i < points; ++i)
          product[b * points + i] += flux_[(3 * s + b) * points + i] * gradient_[(3 * s + axis) * points + i];
    fill(3, product.data(), static_cast<std::int64_t>(points));
    stencil.divergence(divergence, block_.data(), 1);
    for (std::size_t i = 0; i < points; ++i) field[axis * points + i] += counts * divergence[i];
  }
}

}  // namespace halocline::tddft
