// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/hartree/poisson.hpp"

#include "halocline/core/region.hpp"

#include <omp.h>

#include <algorithm>
#include <map>

namespace halocline::tddft {
namespace {

/// Number of columns of z in a bundle: six 64-byte lines of each plane; a bundle of 1000 numbers a column stays in the
/// second-level cache. Not a power of two, for which all elements of a column would fall into few sets of a cache.
constexpr std::int64_t most_columns = 24;

std::int64_t largest(const std::vector<Range>& parts) {
  std::int64_t size = 0;
  for (const Range& part : parts) size = std::max(size, part.size());
  return size;
}

/// Divides columns into equal bundles of at most `most_columns`.
std::int64_t bundle_of(std::int64_t columns) {
  if (columns == 0) return 0;
  const std::int64_t bundles = (columns + most_columns - 1) / most_columns;
  return (columns + bundles - 1) / bundles;
}

/// Replaces k by the smaller of k and length - k.
std::vector<std::int64_t> folded(std::vector<std::int64_t> wavenumbers) {
  const auto length = static_cast<std::int64_t>(wavenumbers.size());
  for (std::int64_t& k : wavenumbers) k = std::min(k, length - k);
  return wavenumbers;
}

std::vector<std::int64_t> sorted_once(std::vector<std::int64_t> numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

}  // namespace

Poisson::Poisson(const Decomposition& decomposition, bool shared)
    : extent_(decomposition.grid().extent),
      lengths_(transform_lengths(decomposition.grid())),
      pencils_(decomposition, shared, lengths_),
      box_rows_(decomposition, pencils_),
      rows_(pencils_.rows()),
      half_(lengths_[0] / 2 + 1),
      kx_(pencils_.kx().size()),
      ky_(pencils_.ky().size()),
      bundle_(bundle_of(kx_)),
      x_(lengths_[0]),
      y_(lengths_[1], rows_.z.size() > 0 ? kx_ : 0),
      z_(lengths_[2], ky_ > 0 ? bundle_ : 0),
      among_y_(pencils_.among_y(), pencils_.among_y().size() == 1 ? 0
                                                                  : 2 * rows_.z.size() * largest(pencils_.y_parts()) *
                                                                        largest(pencils_.kx_parts())),
      among_z_(pencils_.among_z(), 2 * largest(pencils_.z_parts()) * largest(pencils_.ky_parts()) * kx_) {
  const bool even = even_kernel(decomposition.grid());
  const std::vector<std::int64_t> all = even ? folded(y_.wavenumbers()) : y_.wavenumbers();
  const std::vector<std::int64_t> ky(all.begin() + pencils_.ky().begin, all.begin() + pencils_.ky().end);
  const std::vector<std::int64_t> kept = sorted_once(ky);
  for (const std::int64_t k : ky) kernel_row_.push_back(std::ranges::lower_bound(kept, k) - kept.begin());
  kernel_plane_ = even ? folded(z_.wavenumbers()) : z_.wavenumbers();
  kernel_rows_ = static_cast<std::int64_t>(kept.size());
  kernel_ = coulomb_kernel(decomposition.grid(), lengths_, {pencils_.kx(), kept});

  for (int from = 0; from < among_z_.size(); ++from) {
    const std::int64_t count = pencils_.z_parts()[static_cast<std::size_t>(from)].size();
    for (std::int64_t z = 0; z < count; ++z) planes_.push_back(among_z_.far(from) + 2 * z * ky_ * kx_);
  }
}

void Poisson::make_scratch() {
  const auto threads = static_cast<std::size_t>(std::max(omp_get_max_threads(), 1));
  while (scratch_.size() < threads) {
    Scratch scratch;
    scratch.row = core::AlignedArray<double>(lengths_[0]);
    scratch.spectrum = core::AlignedArray<double>(rows_stay() ? 0 : 2 * rows_.y.size() * half_);
    scratch.plane = core::AlignedArray<double>(planes_stay() ? 0 : 2 * lengths_[1] * kx_);
    scratch.columns = core::AlignedArray<double>(2 * lengths_[2] * bundle_);
    scratch_.push_back(std::move(scratch));
  }
}

Poisson::complex* Poisson::plane_of(std::int64_t z, Scratch& scratch) noexcept {
  return planes_stay() ? reinterpret_cast<complex*>(planes_[static_cast<std::size_t>(z)])
                       : scratch.as_complex(scratch.plane);
}

/// Transforms the real rows of one z, padded with zeros, to their spectra: shape (y here, half).
void Poisson::transform_rows(complex* spectrum, std::span<const double> n, std::int64_t z, Scratch& scratch) {
  double* row = scratch.row.data();
  for (std::int64_t y = 0; y < rows_.y.size(); ++y) {
    box_rows_.read(row, n, y, z);
    std::fill(row + extent_[0], row + lengths_[0], 0.0);
    x_.forward(row, spectrum + y * half_);
  }
}

void Poisson::transform_rows_back(std::span<double> v, complex* spectrum, std::int64_t z, Scratch& scratch) {
  for (std::int64_t y = 0; y < rows_.y.size(); ++y) {
    x_.backward(spectrum + y * half_, scratch.row.data());
    box_rows_.write(v, scratch.row.data(), y, z);
  }
}

/// Copies the spectra of one z to the exchange: each of the p1 processes gets its k_x, shape (z, y here, k_x there).
void Poisson::spectra_to_exchange(const complex* spectrum, std::int64_t z) {
  for (int to = 0; to < among_y_.size(); ++to) {
    const Range& kx = pencils_.kx_parts()[static_cast<std::size_t>(to)];
    auto* block = reinterpret_cast<complex*>(among_y_.near(to)) + z * rows_.y.size() * kx.size();
    for (std::int64_t y = 0; y < rows_.y.size(); ++y)
      std::copy_n(spectrum + y * half_ + kx.begin, kx.size(), block + y * kx.size());
  }
}

void Poisson::spectra_from_exchange(complex* spectrum, std::int64_t z) {
  for (int from = 0; from < among_y_.size(); ++from) {
    const Range& kx = pencils_.kx_parts()[static_cast<std::size_t>(from)];
    const auto* block = reinterpret_cast<const complex*>(among_y_.near(from)) + z * rows_.y.size() * kx.size();
    for (std::int64_t y = 0; y < rows_.y.size(); ++y)
      std::copy_n(block + y * kx.size(), kx.size(), spectrum + y * half_ + kx.begin);
  }
}

/// Collects from each of the p1 processes its y for the local k_x: shape (z, y there, k_x here). They are consecutive
/// in the plane.
void Poisson::fill_plane(complex* plane, std::int64_t z) {
  for (int from = 0; from < among_y_.size(); ++from) {
    const Range& y = pencils_.y_parts()[static_cast<std::size_t>(from)];
    const auto* block = reinterpret_cast<const complex*>(among_y_.far(from)) + z * y.size() * kx_;
    std::copy_n(block, y.size() * kx_, plane + y.begin * kx_);
  }
}

void Poisson::empty_plane(const complex* plane, std::int64_t z) {
  for (int to = 0; to < among_y_.size(); ++to) {
    const Range& y = pencils_.y_parts()[static_cast<std::size_t>(to)];
    auto* block = reinterpret_cast<complex*>(among_y_.far(to)) + z * y.size() * kx_;
    std::copy_n(plane + y.begin * kx_, y.size() * kx_, block);
  }
}

/// Copies a plane to the exchange: each of the p2 processes gets its k_y, shape (z here, k_y there, k_x).
void Poisson::plane_to_exchange(const complex* plane, std::int64_t z) {
  for (int to = 0; to < among_z_.size(); ++to) {
    const Range& ky = pencils_.ky_parts()[static_cast<std::size_t>(to)];
    auto* block = reinterpret_cast<complex*>(among_z_.near(to)) + z * ky.size() * kx_;
    std::copy_n(plane + ky.begin * kx_, ky.size() * kx_, block);
  }
}

void Poisson::plane_from_exchange(complex* plane, std::int64_t z) {
  for (int from = 0; from < among_z_.size(); ++from) {
    const Range& ky = pencils_.ky_parts()[static_cast<std::size_t>(from)];
    const auto* block = reinterpret_cast<const complex*>(among_z_.near(from)) + z * ky.size() * kx_;
    std::copy_n(block, ky.size() * kx_, plane + ky.begin * kx_);
  }
}

/// Columns [first, first + count) of k_x at one k_y: forward along z, times the kernel, backward. Columns of the bundle
/// beyond `count` are zero.
void Poisson::multiply_columns(std::int64_t ky, std::int64_t first, std::int64_t count, Scratch& scratch) {
  complex* columns = scratch.as_complex(scratch.columns);
  const std::int64_t length = lengths_[2], at = ky * kx_ + first;
  for (std::int64_t z = 0; z < extent_[2]; ++z) {
    const auto* plane = reinterpret_cast<const complex*>(planes_[static_cast<std::size_t>(z)]);
    std::copy_n(plane + at, count, columns + z * bundle_);
    std::fill(columns + z * bundle_ + count, columns + (z + 1) * bundle_, complex{});
  }
  std::fill(columns + extent_[2] * bundle_, columns + length * bundle_, complex{});
  z_.forward(columns);
  for (std::int64_t kz = 0; kz < length; ++kz) {
    const std::int64_t row =
        kernel_plane_[static_cast<std::size_t>(kz)] * kernel_rows_ + kernel_row_[static_cast<std::size_t>(ky)];
    const double* factors = kernel_.data() + row * kx_ + first;
    for (std::int64_t i = 0; i < count; ++i) columns[kz * bundle_ + i] *= factors[i];
  }
  z_.backward(columns);
  for (std::int64_t z = 0; z < extent_[2]; ++z) {
    auto* plane = reinterpret_cast<complex*>(planes_[static_cast<std::size_t>(z)]);
    std::copy_n(columns + z * bundle_, count, plane + at);
  }
}

/// Transforms the density to the spectra of columns of z.
void Poisson::forward(std::span<const double> n) {
  const core::Region region("rows and planes");
  const std::int64_t planes = rows_.z.size();
  if (!rows_stay()) {
#pragma omp parallel for schedule(static) if (worth_waking())
    for (std::int64_t z = 0; z < planes; ++z) {
      Scratch& scratch = scratch_[static_cast<std::size_t>(omp_get_thread_num())];
      transform_rows(scratch.as_complex(scratch.spectrum), n, z, scratch);
      spectra_to_exchange(scratch.as_complex(scratch.spectrum), z);
    }
    among_y_.forth();
  }
#pragma omp parallel for schedule(static) if (worth_waking())
  for (std::int64_t z = 0; z < planes; ++z) {
    Scratch& scratch = scratch_[static_cast<std::size_t>(omp_get_thread_num())];
    complex* plane = plane_of(z, scratch);
    if (rows_stay())
      transform_rows(plane, n, z, scratch);
    else
      fill_plane(plane, z);
    std::fill(plane + extent_[1] * kx_, plane + lengths_[1] * kx_, complex{});
    y_.forward(plane);
    if (!planes_stay()) plane_to_exchange(plane, z);
  }
  among_z_.forth();
}

void Poisson::backward(std::span<double> v) {
  const core::Region region("rows and planes");
  among_z_.back();
  const std::int64_t planes = rows_.z.size();
#pragma omp parallel for schedule(static) if (worth_waking())
  for (std::int64_t z = 0; z < planes; ++z) {
    Scratch& scratch = scratch_[static_cast<std::size_t>(omp_get_thread_num())];
    complex* plane = plane_of(z, scratch);
    if (!planes_stay()) plane_from_exchange(plane, z);
    y_.backward(plane);
    if (rows_stay())
      transform_rows_back(v, plane, z, scratch);
    else
      empty_plane(plane, z);
  }
  if (rows_stay()) return;
  among_y_.back();
#pragma omp parallel for schedule(static) if (worth_waking())
  for (std::int64_t z = 0; z < planes; ++z) {
    Scratch& scratch = scratch_[static_cast<std::size_t>(omp_get_thread_num())];
    spectra_from_exchange(scratch.as_complex(scratch.spectrum), z);
    transform_rows_back(v, scratch.as_complex(scratch.spectrum), z, scratch);
  }
}

void Poisson::multiply() {
  const core::Region region("columns");
  const std::int64_t bundles = bundle_ == 0 ? 0 : (kx_ + bundle_ - 1) / bundle_;
#pragma omp parallel for schedule(static) if (worth_waking())
  for (std::int64_t i = 0; i < ky_ * bundles; ++i) {
    const std::int64_t first = i % bundles * bundle_;
    multiply_columns(i / bundles, first, std::min(bundle_, kx_ - first),
                     scratch_[static_cast<std::size_t>(omp_get_thread_num())]);
  }
}

void Poisson::solve(std::span<double> v, std::span<const double> n) {
  make_scratch();
  box_rows_.gather(n);
  forward(n);
  multiply();
  backward(v);
  box_rows_.scatter(v);
}

}  // namespace halocline::tddft
