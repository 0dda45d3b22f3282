// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/model/grid_xc.hpp"

#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

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
double GridExchangeCorrelation::at_points(const XcResult& result, const XcFields& fields,
                                          const comm::Communicator& mates) {
  const std::size_t points = fields.n.size() / size(spins_), parts = size(mates.size());
  if (!result.f.empty() || parts == 1 || points - points / parts < worth_sharing) return xc_.evaluate(result, fields);
  const auto share_of = [&](int mate) { return part_of(static_cast<std::int64_t>(points), mates.size(), mate); };
  const Range mine = share_of(mates.rank());
  const std::size_t here = size(mine.size());
  const std::array<std::span<const double>, 4> in{fields.n, fields.gradient, fields.laplacian, fields.kinetic};
  const std::array<std::span<double>, 3> out{result.v, result.flux, result.kinetic_slope};
  const auto rows = [points](const auto& list) {
    std::size_t sum = 0;
    for (const auto& field : list) sum += field.size() / points;
    return sum;
  };
  // The share's fields stand one behind the other, and behind those that come out the sum of the energy.
  share_in_.resize(rows(in) * here);
  share_out_.resize(rows(out) * here + 1);
  std::array<std::span<const double>, 4> from;
  std::array<std::span<double>, 3> to;
  std::size_t row = 0;
  for (std::size_t list = 0; list < in.size(); ++list) {
    const std::size_t count = in[list].size() / points;
    from[list] = std::span<const double>(share_in_).subspan(row * here, count * here);
    for (std::size_t k = 0; k < count; ++k, ++row)
      std::copy_n(in[list].data() + k * points + size(mine.begin), here, share_in_.data() + row * here);
  }
  row = 0;
  for (std::size_t list = 0; list < out.size(); ++list) {
    const std::size_t count = out[list].size() / points;
    to[list] = std::span<double>(share_out_).subspan(row * here, count * here);
    row += count;
  }
  share_out_.back() = xc_.evaluate({{}, to[0], to[1], to[2]}, {from[0], from[1], from[2], from[3]});
  const std::vector<std::byte> all = mates.allgather(std::as_bytes(std::span<const double>(share_out_)));
  double energy = 0;
  std::size_t at = 0;
  for (int mate = 0; mate < mates.size(); ++mate) {
    const Range share = share_of(mate);
    const std::size_t bytes = size(share.size()) * sizeof(double);
    for (const std::span<double> field : out)
      for (std::size_t k = 0; k < field.size() / points; ++k, at += bytes)
        std::memcpy(field.data() + k * points + size(share.begin), all.data() + at, bytes);
    double sum = 0;
    std::memcpy(&sum, all.data() + at, sizeof(double));
    at += sizeof(double);
    energy += sum;
  }
  return energy;
}

/// Gives the functional the mean of |grad n| / n over the cell.
void GridExchangeCorrelation::find_mean_slope(const XcFields& fields, const Decomposition& decomposition) {
  const std::size_t points = fields.n.size() / size(spins_);
  double sum = 0;
  for (std::size_t i = 0; i < points; ++i) {
    double density = 0;
    Vec3 slope{};
    for (std::size_t s = 0; s < size(spins_); ++s) {
      density += fields.n[s * points + i];
      for (std::size_t axis = 0; axis < 3; ++axis) slope[axis] += fields.gradient[(3 * s + axis) * points + i];
    }
    if (density > 0) sum += norm(slope) / density;
  }
  decomposition.space().sum(std::span(&sum, 1));
  xc_.set_mean_slope(sum / static_cast<double>(decomposition.grid().points()));
}

double GridExchangeCorrelation::evaluate(const XcResult& result, const XcFields& fields, Stencil& stencil,
                                         const Decomposition& decomposition) {
  XcFields all = fields;
  if (xc_.is_potential()) {
    if (xc_.has_mean_slope()) find_mean_slope(fields, decomposition);
    laplacian_.resize(fields.n.size());
    fill(3 * spins_, fields.gradient.data(), static_cast<std::int64_t>(fields.n.size()) / spins_);
    stencil.divergence(laplacian_, block_.data(), spins_);
    all.laplacian = laplacian_;
  }
  return at_points(result, all, decomposition.box_mates());
}

double GridExchangeCorrelation::evaluate(std::span<double> v, std::span<const double> n, Stencil& stencil,
                                         const comm::Communicator& mates) {
  // Where nothing is shared, the energy at each point costs nothing, and forces need it.
  const bool alone = mates.size() == 1;
  last_f_.resize(alone ? n.size() / size(spins_) : 0);
  last_n_.assign(n.begin(), alone ? n.end() : n.begin());
  return evaluate(last_f_, v, n, stencil, mates);
}

bool GridExchangeCorrelation::remembers(std::span<const double> n) const {
  return !last_f_.empty() && std::ranges::equal(n, last_n_);
}

/// @param f  the energy at each point, shape (points,), or empty
double GridExchangeCorrelation::evaluate(std::span<double> f, std::span<double> v, std::span<const double> n,
                                         Stencil& stencil, const comm::Communicator& mates) {
  const auto evaluated = [&] {
    return at_points({.f = f, .v = v, .flux = flux_, .kinetic_slope = {}},
                     {.n = n, .gradient = gradient_, .laplacian = {}, .kinetic = {}}, mates);
  };
  if (!xc_.has_gradients()) return evaluated();
  const auto points = static_cast<std::int64_t>(n.size()) / spins_;
  gradient_.resize(3 * n.size());
  flux_.resize(3 * n.size());
  divergence_.resize(n.size());
  fill(spins_, n.data(), points);
  stencil.gradient(gradient_, block_.data(), spins_);
  const double energy = evaluated();
  fill(3 * spins_, flux_.data(), points);
  stencil.divergence(divergence_, block_.data(), spins_);
  const auto values = static_cast<std::int64_t>(v.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < values; ++i) v[static_cast<std::size_t>(i)] -= divergence_[static_cast<std::size_t>(i)];
  return energy;
}

void GridExchangeCorrelation::evaluate_alone(std::span<double> v, std::span<const double> n, Stencil& stencil) {
  last_f_.resize(n.size() / size(spins_));
  last_n_.clear();  // the caller's potential is of other densities
  evaluate(last_f_, v, n, stencil, comm::Communicator::self());
}

void GridExchangeCorrelation::add_flux_of_slopes(std::span<double> field, double factor, Stencil& stencil) {
  if (!xc_.has_gradients()) return;
  const std::size_t points = field.size() / 3;
  const auto count = static_cast<std::int64_t>(points);
  divergence_.resize(std::max(divergence_.size(), 2 * points));
  for (const auto& axes : {std::pair{0, 2}, std::pair{2, 3}}) {  // two components in one sweep
    const int together = axes.second - axes.first;
#pragma omp parallel for schedule(static)
    for (std::int64_t point = 0; point < count; ++point) {
      const auto i = static_cast<std::size_t>(point);
      for (int k = 0; k < together; ++k)
        for (std::size_t b = 0; b < 3; ++b) {
          double product = 0;
          for (std::size_t s = 0; s < size(spins_); ++s)
            product += flux_[(3 * s + b) * points + i] * gradient_[(3 * s + size(axes.first + k)) * points + i];
          block_[point * doubles_per_point + 3 * k + static_cast<std::int64_t>(b)] = product;
        }
    }
    const std::span<double> divergence = std::span(divergence_).first(size(together) * points);
    stencil.divergence(divergence, block_.data(), together);
    double* out = field.data() + size(axes.first) * points;
    const auto values = static_cast<std::int64_t>(divergence.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < values; ++i) out[i] += factor * divergence[static_cast<std::size_t>(i)];
  }
}

}  // namespace halocline::tddft
