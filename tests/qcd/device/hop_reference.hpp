// SPDX-License-Identifier: Apache-2.0
#pragma once
// A hop on a device and the oracle beside it: a random gauge field, what a device takes of it, and plain loops
// (qcd/reference_operator.hpp) over the same links.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "halocline/qcd/wilson/cuda.cuh"
#include "qcd/random_fields.hpp"
#include "qcd/reference_operator.hpp"

namespace halocline::test {

using Numbers = std::vector<std::complex<double>>;

/// Phases and coefficients that tell every axis from every other.
inline ReferenceParameters rough_parameters() {
  ReferenceParameters p;
  p.boundary = {std::polar(1.0, 0.3), 1.0, std::polar(1.0, -1.1), -1.0};
  p.hopping = {0.75, 0.75, 0.75, 1.0};
  return p;
}

/// One lattice on one process.
struct HopProblem {
  lattice::Coordinates<4> extents;
  ReferenceParameters parameters;
  Numbers links;
  ReferenceOperator oracle;

  HopProblem(const lattice::Coordinates<4>& e, const ReferenceParameters& p, unsigned seed = 7)
      : extents(e),
        parameters(p),
        links(random_links(e[0] * e[1] * e[2] * e[3], seed)),
        oracle({e[0], e[1], e[2], e[3]}, links, p) {}

  std::int64_t volume() const { return oracle.volume(); }
  Numbers spinor(unsigned seed) const { return random_numbers(12 * volume(), seed); }
  /// Parity of a canonical site.
  int parity(std::int64_t site) const {
    const Site x = oracle.site(site);
    return static_cast<int>((x[0] + x[1] + x[2] + x[3]) % 2);
  }
  /// hop psi on all sites.
  Numbers hop(const Numbers& psi, bool dagger) const {
    Numbers out = dagger ? oracle.apply_dagger(psi) : oracle.apply(psi);
    double diagonal = parameters.mass;
    for (const double h : parameters.hopping) diagonal += h;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = 2.0 * (diagonal * psi[i] - out[i]);
    return out;
  }

  qcd::device::HostLinks host_links(const qcd::device::Box& box) const {
    qcd::device::HostLinks host;
    host.box = box;
    host.matrices.resize(std::size_t{2} * 8 * static_cast<std::size_t>(box.sites) * 18);
    for (int mu = 0; mu < 4; ++mu) {
      host.coefficient[static_cast<std::size_t>(mu)] = parameters.hopping[static_cast<std::size_t>(mu)];
      host.edge[static_cast<std::size_t>(mu)] = parameters.boundary[static_cast<std::size_t>(mu)];
      host.edge[static_cast<std::size_t>(mu + 4)] = std::conj(parameters.boundary[static_cast<std::size_t>(mu)]);
    }
    for (std::int64_t site = 0; site < volume(); ++site) {
      const Site x = oracle.site(site);
      const qcd::device::Coordinates c{
          {static_cast<int>(x[0]), static_cast<int>(x[1]), static_cast<int>(x[2]), static_cast<int>(x[3])}};
      for (int d = 0; d < 8; ++d) {
        const Matrix3 u = d < 4 ? oracle.link(x, d) : dagger(oracle.link(oracle.shifted(x, d - 4, -1), d - 4));
        const auto at = (std::int64_t{parity(site)} * 8 + d) * box.sites + box.index(c);
        for (int k = 0; k < 9; ++k) {
          const auto& z = u[static_cast<std::size_t>(k / 3)][static_cast<std::size_t>(k % 3)];
          host.matrices[static_cast<std::size_t>(18 * at + 2 * k)] = z.real();
          host.matrices[static_cast<std::size_t>(18 * at + 2 * k + 1)] = z.imag();
        }
      }
    }
    return host;
  }

  /// Hermitian blocks with the structure of the clover term, [parity][site][72] (site/clover_block.hpp): a common
  /// number on the diagonal, and [[M, O], [O^dagger, -M]] beside it.
  std::vector<double> blocks(unsigned seed) const {
    const auto numbers = random_numbers(volume() * 32, seed);
    std::vector<double> all;
    for (std::int64_t site = 0; site < volume(); ++site)
      for (int chirality = 0; chirality < 2; ++chirality) {
        const auto* r = &numbers[static_cast<std::size_t>(32 * site + 16 * chirality)];
        std::complex<double> a[6][6];
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) {
            const auto m = i == j ? r[3 * i + i].real() : i > j ? r[3 * i + j] : std::conj(r[3 * j + i]);
            a[i][j] = 0.3 * m + (i == j ? 3.0 : 0.0);
            a[3 + i][3 + j] = -0.3 * m + (i == j ? 3.0 : 0.0);
            a[3 + i][j] = 0.3 * (r[9 + (2 * i + j) % 7] + std::complex<double>(0.1 * i, 0.2 * j));
            a[j][3 + i] = std::conj(a[3 + i][j]);
          }
        for (int i = 0; i < 6; ++i) all.push_back(a[i][i].real());
        for (int i = 1; i < 6; ++i)
          for (int j = 0; j < i; ++j) {
            all.push_back(a[i][j].real());
            all.push_back(a[i][j].imag());
          }
      }
    return all;
  }
  /// A psi, by 6x6 matrices over the index 3 (spin mod 2) + colour.
  Numbers multiply(const qcd::device::Box& box, const std::vector<double>& blocks, const Numbers& psi) const {
    Numbers out(psi.size());
    for (std::int64_t site = 0; site < volume(); ++site) {
      const Site x = oracle.site(site);
      const qcd::device::Coordinates c{
          {static_cast<int>(x[0]), static_cast<int>(x[1]), static_cast<int>(x[2]), static_cast<int>(x[3])}};
      const double* block =
          &blocks[static_cast<std::size_t>(72 * (std::int64_t{parity(site)} * box.sites + box.index(c)))];
      for (int chirality = 0; chirality < 2; ++chirality)
        for (int row = 0; row < 6; ++row)
          for (int column = 0; column < 6; ++column) {
            const double* b = block + 36 * chirality;
            std::complex<double> a = b[row];
            if (row != column) {
              const int high = std::max(row, column), low = std::min(row, column);
              const double* place = b + 6 + 2 * (high * (high - 1) / 2 + low);
              a = {place[0], row > column ? place[1] : -place[1]};
            }
            out[static_cast<std::size_t>(12 * site + 6 * chirality + row)] +=
                a * psi[static_cast<std::size_t>(12 * site + 6 * chirality + column)];
          }
    }
    return out;
  }
};

/// The problem on a device, in one storage.
template <class S>
struct HopSetup {
  qcd::device::ContextPtr context;
  std::shared_ptr<const qcd::device::DeviceLinks<S>> links;

  HopSetup(const gpu::Device& device, const HopProblem& problem, int reals, unsigned emulated = 0,
           const std::shared_ptr<gpu::TuneCache>& cache = std::make_shared<gpu::TuneCache>("",
                                                                                           gpu::TuneCache::Mode::off))
      : context(std::make_shared<qcd::device::Context>(device, one_process(problem.extents), emulated,
                                                       qcd::device::HaloChoice{}, cache)),
        links(std::make_shared<const qcd::device::DeviceLinks<S>>(context, problem.host_links(context->box), reals)) {}

  /// A field of both parities with column i from seed + i.
  qcd::device::DeviceSpinor<S> field(const HopProblem& problem, int columns, unsigned seed) const {
    qcd::device::DeviceSpinor<S> f(context, lattice::Subset::full, columns);
    for (int column = 0; column < columns; ++column)
      qcd::device::from_canonical(f, column, problem.spinor(seed + static_cast<unsigned>(column)));
    return f;
  }
  Numbers read(const qcd::device::DeviceSpinor<S>& f, int column = 0) const {
    Numbers numbers(static_cast<std::size_t>(24 * context->box.sites));
    qcd::device::to_canonical<S>(numbers, f, column);
    return numbers;
  }
};

/// The largest difference over the largest number; infinite where something is not finite.
inline double difference(const Numbers& a, const Numbers& b) {
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(std::abs(a[i]))) return INFINITY;
    largest = std::max(largest, std::abs(b[i]));
    apart = std::max(apart, std::abs(a[i] - b[i]));
  }
  return a.size() == b.size() ? apart / largest : INFINITY;
}

/// Allowed of a hop against the oracle: 1e-14, 1e-6 and 1e-3 as the issue of precision has them; an 8-bit number is
/// rounded to 1/254 of its spinor's largest, and so are the 9 complex numbers of 8 links.
template <class S>
constexpr double hop_tolerance() {
  if (std::is_same_v<S, double>) return 1e-14;
  if (std::is_same_v<S, float>) return 1e-6;
  return std::is_same_v<S, qcd::device::Fixed16> ? 1e-3 : 5e-2;
}

}  // namespace halocline::test
