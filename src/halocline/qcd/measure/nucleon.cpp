// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/measure/nucleon.hpp"

#include <fmt/format.h>

#include "halocline/qcd/field/gamma.hpp"
#include "halocline/qcd/measure/detail/spatial_sum.hpp"

namespace halocline::qcd::measure {

namespace {

using detail::PackComplex;
using detail::SiteMatrix;

constexpr SpinMatrix diquark = gamma[1] * gamma[3] * gamma5;                // C gamma5
constexpr SpinMatrix diquark_bar = gamma[3] * adjoint(diquark) * gamma[3];  // gamma_t (C gamma5)^dagger gamma_t

constexpr bool is_real(const SpinMatrix& m) {
  for (int power : m.power)
    if (power % 2 != 0) return false;
  return true;
}
// The entries are real, so multiplying by them only changes signs. In the formula of Obar the second matrix has this
// form because gamma_t is real and symmetric in this basis.
static_assert(is_real(diquark) && is_real(diquark_bar) && is_real(gamma[3]));

constexpr std::size_t element(int sink_spin, int sink_colour, int source_spin, int source_colour) {
  return static_cast<std::size_t>(spinor_components * (3 * source_spin + source_colour) + 3 * sink_spin + sink_colour);
}

/// D~ = (C gamma5) S (gamma_t (C gamma5)^dagger gamma_t)
void dress(SiteMatrix& out, const SiteMatrix& s) {
  for (std::size_t alpha = 0; alpha < 4; ++alpha)
    for (std::size_t rho = 0; rho < 4; ++rho) {
      const int beta = diquark.column[alpha], sigma = diquark_bar.column[rho];
      const bool negative = (diquark.power[alpha] + diquark_bar.power[rho]) % 4 == 2;
      for (int b = 0; b < 3; ++b)
        for (int b2 = 0; b2 < 3; ++b2) {
          const PackComplex& z = s[element(beta, b, static_cast<int>(rho), b2)];
          out[element(static_cast<int>(alpha), b, sigma, b2)] = negative ? -z : z;
        }
    }
}

void multiply_subtract(PackComplex& sum, const PackComplex& a, const PackComplex& b) {
  sum.re -= a.re * b.re;
  sum.re += a.im * b.im;
  sum.im -= a.re * b.im;
  sum.im -= a.im * b.re;
}

/// V[c c'] = sum epsilon_abc epsilon_c'b'a' (D~[b b'])^T S_u[a a'], rows sigma, columns gamma'.
void diquark_with_quark(std::array<PackComplex, 16>& v, const SiteMatrix& d, const SiteMatrix& u, int c, int c2) {
  const int a = (c + 1) % 3, b = (c + 2) % 3;      // epsilon_abc = 1; exchanging them gives -1
  const int b2 = (c2 + 1) % 3, a2 = (c2 + 2) % 3;  // epsilon_c'b'a' = 1
  for (int sigma = 0; sigma < 4; ++sigma)
    for (int gamma2 = 0; gamma2 < 4; ++gamma2) {
      PackComplex plus{0.0, 0.0}, minus{0.0, 0.0};
      for (int alpha = 0; alpha < 4; ++alpha) {
        core::multiply_add(plus, d[element(alpha, b, sigma, b2)], u[element(alpha, a, gamma2, a2)]);
        core::multiply_add(plus, d[element(alpha, a, sigma, a2)], u[element(alpha, b, gamma2, b2)]);
        core::multiply_add(minus, d[element(alpha, a, sigma, b2)], u[element(alpha, b, gamma2, a2)]);
        core::multiply_add(minus, d[element(alpha, b, sigma, a2)], u[element(alpha, a, gamma2, b2)]);
      }
      v[static_cast<std::size_t>(4 * sigma + gamma2)] = plus - minus;
    }
}

/// G of a block of sites. Flops a site: 9 x (16 x 16 + 4 x 16 + 16) complex multiply-adds.
void contract(PackComplex* g, const SiteMatrix& u, const SiteMatrix& d) {
  for (int i = 0; i < 16; ++i) g[i] = {0.0, 0.0};
  std::array<PackComplex, 16> v;
  for (int c = 0; c < 3; ++c)
    for (int c2 = 0; c2 < 3; ++c2) {
      diquark_with_quark(v, d, u, c, c2);
      const PackComplex trace = (v[0] + v[5]) + (v[10] + v[15]);
      for (int row = 0; row < 4; ++row)
        for (int column = 0; column < 4; ++column) {
          PackComplex& sum = g[4 * row + column];
          multiply_subtract(sum, trace, u[element(row, c, column, c2)]);
          for (int k = 0; k < 4; ++k)
            multiply_subtract(sum, u[element(row, c, k, c2)], v[static_cast<std::size_t>(4 * k + column)]);
        }
    }
}

}  // namespace

std::vector<std::complex<double>> NucleonCorrelator::project(int parity) const {
  if (parity != 1 && parity != -1)
    throw core::InvalidArgument(fmt::format("parity {} was given; it is +1 (the nucleon) or -1 (its partner)", parity));
  std::vector<std::complex<double>> projected;
  for (const auto& g : values) {
    std::complex<double> sum = 0;
    for (std::size_t row = 0; row < 4; ++row) {
      const auto column = static_cast<std::size_t>(gamma[3].column[row]);  // the entries of gamma_t are ones
      sum += g[4 * row + row] + static_cast<double>(parity) * g[4 * column + row];
    }
    projected.push_back(0.5 * sum);
  }
  return projected;
}

std::vector<NucleonCorrelator> nucleon(const Propagator& up, const Propagator& down, std::complex<double> boundary_t,
                                       std::span<const Momentum> momenta) {
  const std::array<const Propagator*, 2> both{&up, &down};
  detail::check_same_source(both);
  if (momenta.empty()) throw core::InvalidArgument("no momentum was given; the list (0, 0, 0) projects on rest");

  const bool same = &up == &down;
  const auto kernel = [&](std::int64_t site, int count, PackComplex* values) {
    SiteMatrix u, d, dressed;
    detail::load(u, up, site, count);
    if (!same) detail::load(d, down, site, count);
    dress(dressed, same ? u : d);
    contract(values, u, dressed);
  };
  const lattice::Geometry4& geometry = up.geometry();
  const auto sums = detail::sum_over_local_space(geometry, up.source(), momenta, 16, kernel);

  const auto extent = static_cast<std::size_t>(geometry.global()[3]);
  std::vector<std::complex<double>> values(momenta.size() * extent * 16);
  const std::complex<double> carried = boundary_t * boundary_t * boundary_t;
  for (std::int64_t t = 0; t < geometry.local()[3]; ++t) {
    const auto [time, wrapped] = detail::shifted_time(geometry, up.source(), t);
    for (std::size_t p = 0; p < momenta.size(); ++p)
      for (std::size_t i = 0; i < 16; ++i)
        values[(p * extent + time) * 16 + i] =
            (wrapped ? carried : 1.0) * sums[(static_cast<std::size_t>(t) * momenta.size() + p) * 16 + i];
  }
  detail::sum_over_ranks(geometry, values);

  std::vector<NucleonCorrelator> correlators;
  for (std::size_t p = 0; p < momenta.size(); ++p) {
    NucleonCorrelator correlator{momenta[p], {}};
    correlator.values.resize(extent);
    for (std::size_t t = 0; t < extent; ++t)
      for (std::size_t i = 0; i < 16; ++i) correlator.values[t][i] = values[(p * extent + t) * 16 + i];
    correlators.push_back(std::move(correlator));
  }
  return correlators;
}

NucleonCorrelator nucleon(const Propagator& up, const Propagator& down, std::complex<double> boundary_t) {
  static constexpr std::array<Momentum, 1> rest{{{0, 0, 0}}};
  return nucleon(up, down, boundary_t, rest).front();
}

}  // namespace halocline::qcd::measure
