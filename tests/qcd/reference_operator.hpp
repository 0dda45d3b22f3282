// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// The Wilson-clover operator in its plainest form: the oracle of every faster one. One process, double precision,
// canonical arrays, a loop over sites, a loop over axes, 4x4 gamma matrices written out, nothing shared with the
// library but the definition:
//
//   D psi(x) = (m0 + sum_mu h_mu) psi(x)
//              - 1/2 sum_mu h_mu [(1 - gamma_mu) U_mu(x) psi(x+mu) + (1 + gamma_mu) U_mu(x-mu)^dagger psi(x-mu)]
//              + sum_{mu<nu} csw_munu (i/2) sigma_munu F_munu(x) psi(x),
//   sigma_munu = (i/2) [gamma_mu, gamma_nu],   F = (Q - Q^dagger) / 8,
//   Q_munu(x) = sum of the four counter-clockwise plaquettes of the mu-nu plane that touch x.
//
// h_mu = 1 is the isotropic operator. A field continued across the upper end of axis mu is multiplied by
// boundary[mu], across the lower end by its conjugate; the clover term does not see the phases.
// Spinors are [t][z][y][x][spin][colour], links [t][z][y][x][mu][row][column].

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace halocline::test {

using Complex = std::complex<double>;
using Spinor = std::vector<Complex>;
using Matrix3 = std::array<std::array<Complex, 3>, 3>;
using Matrix4 = std::array<std::array<Complex, 4>, 4>;
using Site = std::array<std::int64_t, 4>;

// The product without the checks for infinities that std::complex makes.
inline Complex times(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <std::size_t N>
std::array<std::array<Complex, N>, N> times(const std::array<std::array<Complex, N>, N>& a,
                                            const std::array<std::array<Complex, N>, N>& b) {
  std::array<std::array<Complex, N>, N> c{};
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j)
      for (std::size_t k = 0; k < N; ++k) c[i][j] += times(a[i][k], b[k][j]);
  return c;
}
template <std::size_t N>
std::array<std::array<Complex, N>, N> dagger(const std::array<std::array<Complex, N>, N>& a) {
  std::array<std::array<Complex, N>, N> c{};
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j) c[i][j] = std::conj(a[j][i]);
  return c;
}

// gamma_x, gamma_y, gamma_z, gamma_t of the DeGrand-Rossi basis.
inline const std::array<Matrix4, 4>& reference_gamma() {
  static constexpr Complex i{0, 1}, j{0, -1};
  static constexpr std::array<Matrix4, 4> gamma{
      Matrix4{{{{0, 0, 0, i}}, {{0, 0, i, 0}}, {{0, j, 0, 0}}, {{j, 0, 0, 0}}}},
      Matrix4{{{{0, 0, 0, -1}}, {{0, 0, 1, 0}}, {{0, 1, 0, 0}}, {{-1, 0, 0, 0}}}},
      Matrix4{{{{0, 0, i, 0}}, {{0, 0, 0, j}}, {{j, 0, 0, 0}}, {{0, i, 0, 0}}}},
      Matrix4{{{{0, 0, 1, 0}}, {{0, 0, 0, 1}}, {{1, 0, 0, 0}}, {{0, 1, 0, 0}}}},
  };
  return gamma;
}
// gamma_x gamma_y gamma_z gamma_t
inline Matrix4 reference_gamma5() {
  const auto& g = reference_gamma();
  return times(times(g[0], g[1]), times(g[2], g[3]));
}

struct ReferenceParameters {
  double mass = 0;
  double csw = 0;                                           // every plane, unless csw_t is set
  std::array<Complex, 4> boundary{1, 1, 1, -1};             // phase of psi(x + L_mu) / psi(x)
  std::array<double, 4> hopping{1, 1, 1, 1};                // h_mu
  double csw_t = std::numeric_limits<double>::quiet_NaN();  // planes with t; NaN: as csw
};

class ReferenceOperator {
public:
  ReferenceOperator(const Site& extents, std::span<const Complex> links, const ReferenceParameters& parameters)
      : extents_(extents), parameters_(parameters) {
    volume_ = extents[0] * extents[1] * extents[2] * extents[3];
    if (static_cast<std::int64_t>(links.size()) != volume_ * 36) throw std::invalid_argument("wrong number of links");
    links_.resize(4 * volume_);
    for (std::int64_t k = 0; k < 4 * volume_; ++k)
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) links_[k][a][b] = links[9 * k + 3 * a + b];
    for (int mu = 0; mu < 4; ++mu)
      for (int nu = mu + 1; nu < 4; ++nu) {
        const bool temporal = nu == 3 && !std::isnan(parameters.csw_t);
        const double csw = temporal ? parameters.csw_t : parameters.csw;
        if (csw != 0) add_clover(mu, nu, csw);
      }
  }

  std::int64_t volume() const { return volume_; }
  const Site& extents() const { return extents_; }

  Site site(std::int64_t index) const {
    Site x{};
    for (int mu = 0; mu < 4; ++mu) {
      x[mu] = index % extents_[mu];
      index /= extents_[mu];
    }
    return x;
  }
  std::int64_t index(const Site& x) const {
    return ((x[3] * extents_[2] + x[2]) * extents_[1] + x[1]) * extents_[0] + x[0];
  }
  // x + step mu on the periodic lattice
  Site shifted(Site x, int mu, int step) const {
    x[mu] = (x[mu] + step + extents_[mu]) % extents_[mu];
    return x;
  }
  const Matrix3& link(const Site& x, int mu) const { return links_[4 * index(x) + mu]; }

  // Q_munu(x): four leaves, each starts and ends at x and turns from mu towards nu.
  Matrix3 leaves(const Site& x, int mu, int nu) const {
    const Site back_mu = shifted(x, mu, -1), back_nu = shifted(x, nu, -1);
    const Site corner = shifted(back_mu, nu, -1);
    const std::array<Matrix3, 4> leaf{
        product(link(x, mu), link(shifted(x, mu, 1), nu), dagger(link(shifted(x, nu, 1), mu)), dagger(link(x, nu))),
        product(link(x, nu), dagger(link(shifted(back_mu, nu, 1), mu)), dagger(link(back_mu, nu)), link(back_mu, mu)),
        product(dagger(link(back_mu, mu)), dagger(link(corner, nu)), link(corner, mu), link(back_nu, nu)),
        product(dagger(link(back_nu, nu)), link(back_nu, mu), link(shifted(back_nu, mu, 1), nu), dagger(link(x, mu)))};
    Matrix3 sum{};
    for (const Matrix3& l : leaf)
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) sum[a][b] += l[a][b];
    return sum;
  }

  Spinor apply(const Spinor& psi) const {
    Spinor out(12 * volume_);
    double diagonal = parameters_.mass;
    for (double h : parameters_.hopping) diagonal += h;
    for (std::int64_t k = 0; k < volume_; ++k) {
      const Site x = site(k);
      for (int i = 0; i < 12; ++i) out[12 * k + i] = diagonal * psi[12 * k + i];
      for (int mu = 0; mu < 4; ++mu) {
        const Complex phase = parameters_.boundary[mu];
        const Complex forward = x[mu] == extents_[mu] - 1 ? phase : Complex(1);
        const Complex backward = x[mu] == 0 ? std::conj(phase) : Complex(1);
        const Site up = shifted(x, mu, 1), down = shifted(x, mu, -1);
        hop(&out[12 * k], -0.5 * parameters_.hopping[mu] * forward, mu, -1, link(x, mu), &psi[12 * index(up)]);
        hop(&out[12 * k], -0.5 * parameters_.hopping[mu] * backward, mu, +1, dagger(link(down, mu)),
            &psi[12 * index(down)]);
      }
    }
    for (const CloverPlane& plane : clover_)
      for (std::int64_t k = 0; k < volume_; ++k) add_product(&out[12 * k], plane.spin, plane.colour[k], &psi[12 * k]);
    return out;
  }

  // D^dagger = gamma5 D gamma5 holds for boundary phases of modulus one
  Spinor apply_dagger(const Spinor& psi) const { return times_gamma5(apply(times_gamma5(psi))); }

  static Spinor times_gamma5(Spinor psi) {
    for (std::size_t i = 0; i < psi.size(); ++i)
      if (i % 12 >= 6) psi[i] = -psi[i];
    return psi;
  }

private:
  struct CloverPlane {
    Matrix4 spin;                 // csw (i/2) sigma_munu
    std::vector<Matrix3> colour;  // F_munu(x)
  };

  static Matrix3 product(const Matrix3& a, const Matrix3& b, const Matrix3& c, const Matrix3& d) {
    return times(times(a, b), times(c, d));
  }

  // out += spin (x) colour psi, at one site
  static void add_product(Complex* out, const Matrix4& spin, const Matrix3& colour, const Complex* psi) {
    Complex rotated[12] = {};
    for (int s = 0; s < 4; ++s)
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) rotated[3 * s + a] += times(colour[a][b], psi[3 * s + b]);
    for (int s = 0; s < 4; ++s)
      for (int r = 0; r < 4; ++r)
        if (spin[s][r] != Complex(0))
          for (int a = 0; a < 3; ++a) out[3 * s + a] += times(spin[s][r], rotated[3 * r + a]);
  }

  // out += factor (1 + sign gamma_mu) u psi, at one site
  static void hop(Complex* out, Complex factor, int mu, double sign, const Matrix3& u, const Complex* psi) {
    Matrix4 projector = reference_gamma()[mu];
    for (int s = 0; s < 4; ++s)
      for (int r = 0; r < 4; ++r) projector[s][r] = factor * (sign * projector[s][r] + (s == r ? 1.0 : 0.0));
    add_product(out, projector, u, psi);
  }

  void add_clover(int mu, int nu, double csw) {
    const Matrix4 forth = times(reference_gamma()[mu], reference_gamma()[nu]);
    const Matrix4 back = times(reference_gamma()[nu], reference_gamma()[mu]);
    CloverPlane plane;
    for (int s = 0; s < 4; ++s)
      for (int r = 0; r < 4; ++r) {
        const Complex sigma = Complex(0, 0.5) * (forth[s][r] - back[s][r]);
        plane.spin[s][r] = csw * Complex(0, 0.5) * sigma;
      }
    plane.colour.resize(volume_);
    for (std::int64_t k = 0; k < volume_; ++k) {
      const Matrix3 q = leaves(site(k), mu, nu);
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) plane.colour[k][a][b] = (q[a][b] - std::conj(q[b][a])) / 8.0;
    }
    clover_.push_back(std::move(plane));
  }

  Site extents_;
  ReferenceParameters parameters_;
  std::int64_t volume_ = 0;
  std::vector<Matrix3> links_;
  std::vector<CloverPlane> clover_;
};

inline Complex inner_product(const Spinor& a, const Spinor& b) {
  Complex sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += times(std::conj(a[i]), b[i]);
  return sum;
}
inline double norm(const Spinor& a) { return std::sqrt(inner_product(a, a).real()); }

// x with |b - D x| <= tolerance |b|, by conjugate gradients on D^dagger D x = D^dagger b.
inline Spinor solve_reference(const ReferenceOperator& d, const Spinor& b, double tolerance,
                              int max_iterations = 5000) {
  Spinor x(b.size()), residual = b;  // residual = b - D x
  Spinor s = d.apply_dagger(residual), p = s;
  double rho = inner_product(s, s).real();
  const double target = tolerance * norm(b);
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    if (norm(residual) <= target) {
      const Spinor dx = d.apply(x);
      for (std::size_t i = 0; i < b.size(); ++i) residual[i] = b[i] - dx[i];
      if (norm(residual) <= 2 * target) return x;
    }
    const Spinor dp = d.apply(p);
    const double alpha = rho / inner_product(dp, dp).real();
    for (std::size_t i = 0; i < b.size(); ++i) {
      x[i] += alpha * p[i];
      residual[i] -= alpha * dp[i];
    }
    s = d.apply_dagger(residual);
    const double rho_next = inner_product(s, s).real();
    for (std::size_t i = 0; i < b.size(); ++i) p[i] = s[i] + rho_next / rho * p[i];
    rho = rho_next;
  }
  throw std::runtime_error("the reference solver did not converge");
}

}  // namespace halocline::test
