// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/ions/detail/wave_sums.hpp"

#include "halocline/tddft/ions/detail/layers.hpp"

#include <numbers>

namespace halocline::tddft::detail {

using std::numbers::pi;

Waves::Waves(const Grid& grid, int axis) {
  const std::int64_t n = grid.extent[at(axis)];
  for (std::int64_t k = 0; k < n; ++k)
    g_.push_back(2 * pi * static_cast<double>(2 * k <= n ? k : k - n) / grid.length(axis));
}

std::vector<Complex> Waves::phases(double r) const {
  std::vector<Complex> result(g_.size());
  for (std::int64_t k = 0; k < count(); ++k) {
    result[at(k)] = std::polar(1.0, -g(k) * r);
    if (at_end(k)) result[at(k)] = result[at(k)].real();
  }
  return result;
}

std::vector<Complex> Waves::at_points(std::int64_t offset, std::int64_t points) const {
  // G r = 2 pi k i / N, so only k i mod N matters, and all factors are N-th roots of unity.
  const std::int64_t n = count();
  std::vector<Complex> roots(at(n)), result(at(n * points));
  for (std::int64_t i = 0; i < n; ++i)
    roots[at(i)] = std::polar(1.0, 2 * pi * static_cast<double>(i) / static_cast<double>(n));
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t i = 0; i < points; ++i) result[at(k * points + i)] = roots[at(k * (offset + i) % n)];
  return result;
}

WaveSums::WaveSums(const Grid& grid, const Box& box)
    : box_(box), waves_{Waves(grid, 0), Waves(grid, 1), Waves(grid, 2)} {
  for (std::size_t axis = 0; axis < 3; ++axis) to_[axis] = waves_[axis].at_points(box.offset[axis], box.extent[axis]);
}

std::vector<double>
WaveSums::at_points(const Decomposition& decomposition,
                    const std::function<void(std::span<Complex>, std::int64_t, std::int64_t)>& fill) const {
  const comm::Communicator &space = decomposition.space(), &mates = decomposition.box_mates();
  const std::int64_t nx = count(0), ny = count(1), bx = box_.extent[0], by = box_.extent[1], bz = box_.extent[2];
  std::vector<double> values(at(box_.points()), 0.0);
  std::vector<Complex> waves(at(ny * nx)), half(at(ny * bx)), plane(at(by * bx));
  for (std::int64_t kz = 0; kz < planes(); ++kz) {
    if (kz % mates.size() != mates.rank()) continue;
    std::ranges::fill(waves, Complex{});
#pragma omp parallel for schedule(static) if (box_.points() >= points_for_threads)
    for (std::int64_t ky = 0; ky < ny; ++ky)
      if (ky % space.size() == space.rank()) fill(row(waves, ky, nx), ky, kz);
    space.sum({reinterpret_cast<double*>(waves.data()), 2 * waves.size()});  // zeros but for one process
#pragma omp parallel if (box_.points() >= points_for_threads)
    {
#pragma omp for schedule(static)
      for (std::int64_t ky = 0; ky < ny; ++ky) {
        std::ranges::fill(row(half, ky, bx), Complex{});
        for (std::int64_t kx = 0; kx < nx; ++kx) add(row(half, ky, bx), waves[at(ky * nx + kx)], row(to_[0], kx, bx));
      }
#pragma omp for schedule(static)
      for (std::int64_t y = 0; y < by; ++y) {
        std::ranges::fill(row(plane, y, bx), Complex{});
        for (std::int64_t ky = 0; ky < ny; ++ky) add(row(plane, y, bx), to_[1][at(ky * by + y)], row(half, ky, bx));
      }
#pragma omp for schedule(static)
      for (std::int64_t z = 0; z < bz; ++z) {
        const Complex phase = weight(kz) * to_[2][at(kz * bz + z)];
        for (std::int64_t i = 0; i < bx * by; ++i)
          values[at(i + bx * by * z)] += phase.real() * plane[at(i)].real() - phase.imag() * plane[at(i)].imag();
      }
    }
  }
  mates.sum(values);
  return values;
}

void WaveSums::of_field(std::span<const double> field, const std::function<void(std::span<double>)>& sum_planes,
                        const std::function<void(std::int64_t, std::span<const Complex>)>& action) const {
  const std::int64_t nx = count(0), ny = count(1), bx = box_.extent[0], by = box_.extent[1], bz = box_.extent[2];
  std::vector<Complex> from_x(at(bx * nx));  // shape (points, count): sums over points run over contiguous waves
  for (std::int64_t kx = 0; kx < nx; ++kx)
    for (std::int64_t x = 0; x < bx; ++x) from_x[at(x * nx + kx)] = to_[0][at(kx * bx + x)];
  std::vector<Complex> plane(at(3 * by * bx)), half(at(3 * ny * bx)), transforms(at(3 * ny * nx));
  for (std::int64_t kz = 0; kz < planes(); ++kz) {
#pragma omp parallel if (box_.points() >= points_for_threads)
    {
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < 3 * by; ++i) {  // a component and y
        const std::span<Complex> out = row(plane, i, bx);
        std::ranges::fill(out, Complex{});
        const double* in = field.data() + i / by * box_.points() + i % by * bx;
        for (std::int64_t z = 0; z < bz; ++z) {
          const Complex phase = to_[2][at(kz * bz + z)];
          for (std::int64_t x = 0; x < bx; ++x) out[at(x)] += phase * in[z * bx * by + x];
        }
      }
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < 3 * ny; ++i) {  // a component and k_y
        const std::int64_t component = i / ny, ky = i % ny;
        std::ranges::fill(row(half, i, bx), Complex{});
        for (std::int64_t y = 0; y < by; ++y)
          add(row(half, i, bx), to_[1][at(ky * by + y)], row(plane, component * by + y, bx));
        std::ranges::fill(row(transforms, i, nx), Complex{});
        for (std::int64_t x = 0; x < bx; ++x) add(row(transforms, i, nx), half[at(i * bx + x)], row(from_x, x, nx));
      }
    }
    sum_planes({reinterpret_cast<double*>(transforms.data()), 2 * transforms.size()});
    action(kz, transforms);
  }
}

}  // namespace halocline::tddft::detail
