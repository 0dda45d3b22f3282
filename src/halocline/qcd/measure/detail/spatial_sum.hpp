// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums over space of any quantity that is computed site by site from propagators, for many momenta at once.
///
/// Sites of a time slice are taken in blocks as wide as a register: the 12x12 matrices of a block are transposed into
/// packs that hold one matrix element of all its sites, and a kernel turns them into a list of complex numbers a site.
/// These are weighted by exp(-i p (x - x0)) and added in lanes. A time slice is cut into a number of chunks that
/// depends on the local extents alone; threads take chunks, and their sums are added in chunk order, so the result does
/// not depend on the number of threads. Over processes the sums are added in rank order by the communicator.

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/complex.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/qcd/measure/momentum.hpp"
#include "halocline/qcd/measure/propagator.hpp"

namespace halocline::qcd::measure::detail {

inline constexpr int lanes = core::native_lanes<double>;
using Number = core::Pack<double, lanes>;
using PackComplex = core::Complex<Number>;

/// The 12x12 matrices of `lanes` sites: element [12 source + sink], spin-colour index 3 spin + colour.
using SiteMatrix = std::array<PackComplex, 144>;

/// Reads `count` <= lanes consecutive sites; the lanes beyond are zero.
/// Cost: 2304 bytes read a site.
inline void load(SiteMatrix& out, const Propagator& s, std::int64_t site, int count) {
  alignas(64) double element[spinor_reals][lanes] = {};
  for (int source = 0; source < spinor_components; ++source) {
    const auto* from =
        reinterpret_cast<const double*>(s.column(source / 3, source % 3).data() + spinor_components * site);
    for (int lane = 0; lane < count; ++lane)
      for (int k = 0; k < spinor_reals; ++k) element[k][lane] = from[spinor_reals * lane + k];
    for (int sink = 0; sink < spinor_components; ++sink)
      out[static_cast<std::size_t>(spinor_components * source + sink)] = {Number::load(element[2 * sink]),
                                                                          Number::load(element[2 * sink + 1])};
  }
}

/// exp(-i p (x - x0)) of local sites, from one small table an axis.
class Phases {
public:
  Phases(const lattice::Geometry4& geometry, const Coordinates4& source, const Momentum& n) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      local_[axis] = geometry.local()[axis];
      const std::int64_t extent = geometry.global()[axis];
      trivial_ = trivial_ && n[axis] % extent == 0;
      for (std::int64_t x = 0; x < local_[axis]; ++x) {
        const std::int64_t turns = (n[axis] % extent) * (x + geometry.offset()[axis] - source[axis]) % extent;
        table_[axis].push_back(
            std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(turns) / static_cast<double>(extent)));
      }
    }
  }

  bool trivial() const noexcept { return trivial_; }

  /// @param site  index in the local time slice, x fastest
  std::complex<double> operator()(std::int64_t site) const {
    const auto x = static_cast<std::size_t>(site % local_[0]);
    const auto y = static_cast<std::size_t>(site / local_[0] % local_[1]);
    const auto z = static_cast<std::size_t>(site / (local_[0] * local_[1]));
    return table_[0][x] * table_[1][y] * table_[2][z];
  }

  PackComplex block(std::int64_t site, int count) const {
    alignas(64) double re[lanes] = {}, im[lanes] = {};
    for (int lane = 0; lane < count; ++lane) {
      const std::complex<double> phase = (*this)(site + lane);
      re[lane] = phase.real();
      im[lane] = phase.imag();
    }
    return {Number::load(re), Number::load(im)};
  }

private:
  std::array<std::int64_t, 3> local_{};
  std::array<std::vector<std::complex<double>>, 3> table_;
  bool trivial_ = true;
};

/// sum[t][momentum][entry], t over local time slices, before any communication.
/// @param kernel  kernel(first site, count, PackComplex* entries) fills `entries` numbers for a block of sites; it may
///                not throw
template <class Kernel>
std::vector<std::complex<double>> sum_over_local_space(const lattice::Geometry4& geometry, const Coordinates4& source,
                                                       std::span<const Momentum> momenta, std::int64_t entries,
                                                       const Kernel& kernel) {
  std::vector<Phases> phases;
  for (const Momentum& n : momenta) phases.emplace_back(geometry, source, n);
  const auto& local = geometry.local();
  const std::int64_t slice = local[0] * local[1] * local[2];
  const std::int64_t blocks = (slice + lanes - 1) / lanes;
  const std::int64_t chunks = std::min<std::int64_t>(8, (blocks + 31) / 32);
  const std::int64_t row = static_cast<std::int64_t>(momenta.size()) * entries;
  std::vector<std::complex<double>> partial(static_cast<std::size_t>(local[3] * chunks * row));

#pragma omp parallel
  {
    core::AlignedArray<PackComplex> sum(row), value(entries);
#pragma omp for schedule(dynamic)
    for (std::int64_t job = 0; job < local[3] * chunks; ++job) {
      const std::int64_t t = job / chunks, chunk = job % chunks;
      for (std::int64_t i = 0; i < row; ++i) sum[i] = {Number(0.0), Number(0.0)};
      for (std::int64_t b = blocks * chunk / chunks; b < blocks * (chunk + 1) / chunks; ++b) {
        const std::int64_t first = b * lanes;
        const int count = static_cast<int>(std::min<std::int64_t>(lanes, slice - first));
        kernel(t * slice + first, count, value.data());
        for (std::size_t p = 0; p < phases.size(); ++p) {
          PackComplex* into = sum.data() + static_cast<std::int64_t>(p) * entries;
          if (phases[p].trivial()) {
            for (std::int64_t e = 0; e < entries; ++e) into[e] += value[e];
          } else {
            const PackComplex phase = phases[p].block(first, count);
            for (std::int64_t e = 0; e < entries; ++e) core::multiply_add(into[e], phase, value[e]);
          }
        }
      }
      for (std::int64_t i = 0; i < row; ++i)
        partial[static_cast<std::size_t>(job * row + i)] = {core::horizontal_sum(sum[i].re),
                                                            core::horizontal_sum(sum[i].im)};
    }
  }

  std::vector<std::complex<double>> total(static_cast<std::size_t>(local[3] * row));
  for (std::int64_t t = 0; t < local[3]; ++t)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      for (std::int64_t i = 0; i < row; ++i)
        total[static_cast<std::size_t>(t * row + i)] +=
            partial[static_cast<std::size_t>((t * chunks + chunk) * row + i)];
  return total;
}

/// Adds the numbers of all ranks in rank order.
/// Collective: yes.
inline void sum_over_ranks(const lattice::Geometry4& geometry, std::span<std::complex<double>> values) {
  geometry.communicator().sum(std::span<double>(reinterpret_cast<double*>(values.data()), 2 * values.size()));
}

/// Index of a local time slice after the source time has been shifted to 0, and whether the shift wrapped it around the
/// end of the lattice.
struct ShiftedTime {
  std::size_t index;
  bool wrapped;
};
inline ShiftedTime shifted_time(const lattice::Geometry4& geometry, const Coordinates4& source, std::int64_t local_t) {
  const std::int64_t t = local_t + geometry.offset()[3], extent = geometry.global()[3];
  return {static_cast<std::size_t>((t - source[3] + extent) % extent), t < source[3]};
}

/// @throws InvalidArgument  unless the propagators share lattice, process grid and source
void check_same_source(std::span<const Propagator* const> propagators);

}  // namespace halocline::qcd::measure::detail
