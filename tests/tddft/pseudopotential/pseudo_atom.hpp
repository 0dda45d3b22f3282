// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A spherical pseudo-atom solved on its radius: independent of every grid in
/// three dimensions, and of the spherical harmonics, the stencil and the
/// solvers there.
///
/// The radial functions u = r R of each l are expanded in Gaussians r^(l+1)
/// exp(-a r^2) with even-tempered a; matrix elements are integrals on the mesh
/// r_i = R (i/N)^2, on which the trapezoidal rule is accurate, for everything
/// vanishes at both ends. Shells that are not full are averaged over m.

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"
#include "halocline/tddft/xc/xc.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

namespace halocline::tddft::test {

inline constexpr int functions = 17;  ///< Gaussians of each l
using Vector = std::array<double, functions>;
using Matrix = std::array<Vector, functions>;

/// Eigenvalues, not sorted, and eigenvectors, the rows of `vectors`, of a
/// symmetric matrix, by Jacobi's rotations.
struct Eigenpairs {
  Vector values{};
  Matrix vectors{};
};
inline Eigenpairs eigenpairs(Matrix a) {
  Eigenpairs result;
  for (std::size_t i = 0; i < functions; ++i) result.vectors[i][i] = 1;
  for (int sweep = 0; sweep < 12; ++sweep)
    for (std::size_t p = 0; p < functions; ++p)
      for (std::size_t q = p + 1; q < functions; ++q) {
        if (std::abs(a[p][q]) < 1e-300) continue;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < functions; ++k) {
          const double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y;
          a[k][q] = s * x + c * y;
        }
        for (std::size_t k = 0; k < functions; ++k) {
          const double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y;
          a[q][k] = s * x + c * y;
          const double u = result.vectors[p][k], v = result.vectors[q][k];
          result.vectors[p][k] = c * u - s * v;
          result.vectors[q][k] = s * u + c * v;
        }
      }
  for (std::size_t i = 0; i < functions; ++i) result.values[i] = a[i][i];
  return result;
}

/// Orbital number `order` (from 0) of an l.
struct Shell {
  int l, order;
  double electrons;
};

class PseudoAtom {
public:
  PseudoAtom(const Pseudopotential& pseudopotential, std::vector<Shell> shells, const char* xc)
      : shells_(std::move(shells)), xc_(xc, 1) {
    std::vector<double> density;
    for (int i = 1; i <= points; ++i) {
      const double x = i / static_cast<double>(points);
      r_.push_back(radius * x * x);
      weight_.push_back(2 * radius * x / points);
      density.push_back(pseudopotential.start_density(r_.back()));
    }
    for (int l = 0; l <= 3; ++l)
      if (std::ranges::any_of(shells_, [l](const Shell& s) { return s.l == l; })) add_channel(pseudopotential, l);
    solve(density);
  }

  const std::vector<double>& eigenvalues() const noexcept { return eigenvalues_; }  ///< of the shells [hartree]
  double energy() const noexcept { return energy_; }                                ///< total [hartree]
  /// Root mean square of one component of the electrons' positions [bohr].
  double width() const {
    double charge = 0, square = 0;
    for (std::size_t i = 0; i < r_.size(); ++i) {
      charge += weight_[i] * r_[i] * r_[i] * density_[i];
      square += weight_[i] * std::pow(r_[i], 4) * density_[i];
    }
    return std::sqrt(square / (3 * charge));
  }

private:
  static constexpr int points = 400;
  static constexpr double radius = 28, four_pi = 4 * std::numbers::pi;

  /// An orthonormal basis of an l, and the Hamiltonian without screening in it.
  struct Channel {
    int l;
    std::vector<std::vector<double>> u;  ///< shape (functions, points)
    Matrix bare{};
  };

  double integral(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& factor) const {
    double sum = 0;
    for (std::size_t i = 0; i < r_.size(); ++i) sum += a[i] * b[i] * factor[i];
    return sum;
  }

  void add_channel(const Pseudopotential& pseudopotential, int l) {
    std::vector<std::vector<double>> gaussians, slopes;
    for (int k = 0; k < functions; ++k) {
      const double a = 0.012 * std::pow(1.75, k);
      std::vector<double> u, slope;
      for (const double r : r_) {
        u.push_back(std::pow(r, l + 1) * std::exp(-a * r * r));
        slope.push_back(u.back() * ((l + 1) / r - 2 * a * r));
      }
      const double norm = std::sqrt(integral(u, u, weight_));
      for (double& value : u) value /= norm;
      for (double& value : slope) value /= norm;
      gaussians.push_back(std::move(u));
      slopes.push_back(std::move(slope));
    }
    Matrix overlap{};
    for (std::size_t j = 0; j < functions; ++j)
      for (std::size_t k = 0; k < functions; ++k) overlap[j][k] = integral(gaussians[j], gaussians[k], weight_);
    const Eigenpairs metric = eigenpairs(overlap);
    const auto orthonormal = [&](const std::vector<std::vector<double>>& from) {
      std::vector<std::vector<double>> to(functions, std::vector<double>(r_.size(), 0.0));
      for (std::size_t j = 0; j < functions; ++j)
        for (std::size_t k = 0; k < functions; ++k)
          for (std::size_t i = 0; i < r_.size(); ++i)
            to[j][i] += metric.vectors[j][k] / std::sqrt(metric.values[j]) * from[k][i];
      return to;
    };
    Channel channel{l, orthonormal(gaussians)};
    slopes = orthonormal(slopes);

    std::vector<double> local;
    for (std::size_t i = 0; i < r_.size(); ++i)
      local.push_back(weight_[i] * (pseudopotential.local(r_[i]) + 0.5 * l * (l + 1) / (r_[i] * r_[i])));
    std::vector<Vector> projections;
    for (int i = 0; i < pseudopotential.projectors(l); ++i) {
      std::vector<double> p;
      for (const double r : r_) p.push_back(r * pseudopotential.projector(l, i, r));
      projections.emplace_back();
      for (std::size_t k = 0; k < functions; ++k) projections.back()[k] = integral(p, channel.u[k], weight_);
    }
    for (std::size_t j = 0; j < functions; ++j)
      for (std::size_t k = 0; k < functions; ++k) {
        channel.bare[j][k] =
            0.5 * integral(slopes[j], slopes[k], weight_) + integral(channel.u[j], channel.u[k], local);
        for (std::size_t a = 0; a < projections.size(); ++a)
          for (std::size_t b = 0; b < projections.size(); ++b)
            channel.bare[j][k] += pseudopotential.coupling(l, static_cast<int>(a), static_cast<int>(b)) *
                                  projections[a][j] * projections[b][k];
      }
    channels_.push_back(std::move(channel));
  }

  std::vector<double> hartree_of(const std::vector<double>& n) const {
    std::vector<double> potential(r_.size());
    double inside = 0, outside = 0;
    const auto half_share = [&](std::size_t i) { return 0.5 * weight_[i] * four_pi * r_[i] * n[i]; };
    for (std::size_t i = 0; i < r_.size(); ++i) outside += 2 * half_share(i);
    for (std::size_t i = 0; i < r_.size(); ++i) {
      // Of the point's own share one half lies inside, the other outside.
      inside += half_share(i) * r_[i];
      outside -= half_share(i);
      potential[i] = inside / r_[i] + outside;
      inside += half_share(i) * r_[i];
      outside -= half_share(i);
    }
    return potential;
  }

  std::vector<double> screening_of(const std::vector<double>& n) const {
    auto v = hartree_of(n);
    std::vector<double> xc(r_.size());
    xc_.evaluate(xc, n);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += xc[i];
    return v;
  }

  /// The density of the orbitals in a screening potential; keeps their
  /// eigenvalues.
  std::vector<double> density_in(const std::vector<double>& screening) {
    std::vector<double> density(r_.size(), 0.0), weighted(r_.size());
    for (std::size_t i = 0; i < r_.size(); ++i) weighted[i] = weight_[i] * screening[i];
    for (const Channel& channel : channels_) {
      Matrix h = channel.bare;
      for (std::size_t j = 0; j < functions; ++j)
        for (std::size_t k = 0; k <= j; ++k) {
          const double element = integral(channel.u[j], channel.u[k], weighted);
          h[j][k] += element;
          if (j != k) h[k][j] += element;
        }
      const Eigenpairs orbitals = eigenpairs(h);
      std::array<std::size_t, functions> order{};
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::sort(order, {}, [&](std::size_t i) { return orbitals.values[i]; });
      for (std::size_t s = 0; s < shells_.size(); ++s) {
        if (shells_[s].l != channel.l) continue;
        const std::size_t state = order[static_cast<std::size_t>(shells_[s].order)];
        eigenvalues_[s] = orbitals.values[state];
        for (std::size_t i = 0; i < r_.size(); ++i) {
          double u = 0;
          for (std::size_t k = 0; k < functions; ++k) u += channel.u[k][i] * orbitals.vectors[state][k];
          density[i] += shells_[s].electrons * u * u / (four_pi * r_[i] * r_[i]);
        }
      }
    }
    return density;
  }

  void solve(std::vector<double> density) {
    eigenvalues_.assign(shells_.size(), 0.0);
    double change = 1;
    for (int iteration = 0; iteration < 100 && change > 1e-7; ++iteration) {
      const auto screening = screening_of(density), out = density_in(screening);
      change = 0;
      energy_ = 0;
      for (std::size_t s = 0; s < shells_.size(); ++s) energy_ += shells_[s].electrons * eigenvalues_[s];
      const auto hartree = hartree_of(density);
      for (std::size_t i = 0; i < r_.size(); ++i) {
        double ignored = 0;
        const double volume = weight_[i] * four_pi * r_[i] * r_[i];
        const double xc = xc_.evaluate(std::span(&ignored, 1), std::span(&density[i], 1));  // n eps of one point
        energy_ += volume * (xc + 0.5 * density[i] * hartree[i] - density[i] * screening[i]);
        change += volume * std::abs(out[i] - density[i]);
        density[i] += 0.35 * (out[i] - density[i]);
      }
    }
    density_ = std::move(density);
  }

  std::vector<Shell> shells_;
  ExchangeCorrelation xc_;
  std::vector<double> r_, weight_, density_;
  std::vector<Channel> channels_;
  std::vector<double> eigenvalues_;
  double energy_ = 0;
};

}  // namespace halocline::tddft::test
