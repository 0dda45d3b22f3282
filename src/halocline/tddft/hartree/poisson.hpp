// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Coulomb potential of a density by Fourier transforms over pencils: one of the two ways of hartree.hpp.
///
///   rows of x      real to half a spectrum            | exchange among p1
///   columns of y   a plane of one z at a time         | exchange among p2
///   columns of z   a few at a time: forward, times the kernel, backward
///   and the same way back.
///
/// k_x always varies fastest in memory and z slowest. So on one process no transposition is needed, each plane and each
/// bundle of columns is processed in cache, and the whole array is read and written twice. In an isolated box the
/// transforms are twice as long as the data along each axis, but only lines with data are transformed: in x those of
/// the box, in y those of planes of the box, and the columns of z are extended in cache. The large array is therefore
/// four times the density, not sixteen times.
///
/// Cost on one process for N points: about 5 N log2(N) flops periodic, four to five times that isolated; the large
/// array is read and written twice.

#include "halocline/tddft/hartree/box_rows.hpp"
#include "halocline/tddft/hartree/coulomb_kernel.hpp"
#include "halocline/tddft/hartree/fft.hpp"

#include <complex>
#include <span>
#include <vector>

namespace halocline::tddft {

class Poisson {
public:
  /// @param shared  see Pencils
  /// Collective over the world.
  Poisson(const Decomposition& decomposition, bool shared);
  Poisson(const Poisson&) = delete;
  Poisson& operator=(const Poisson&) = delete;

  /// @param v, n  shape (points,) of this process's box
  /// Collective over the processes that solve together.
  void solve(std::span<double> v, std::span<const double> n);

private:
  using complex = std::complex<double>;
  /// Work space of a thread.
  struct Scratch {
    core::AlignedArray<double> row, spectrum, plane, columns;
    complex* as_complex(core::AlignedArray<double>& values) const noexcept {
      return reinterpret_cast<complex*>(values.data());
    }
  };

  void make_scratch();
  void forward(std::span<const double> n);
  void multiply();
  void backward(std::span<double> v);
  void transform_rows(complex* spectrum, std::span<const double> n, std::int64_t z, Scratch& scratch);
  void transform_rows_back(std::span<double> v, complex* spectrum, std::int64_t z, Scratch& scratch);
  void spectra_to_exchange(const complex* spectrum, std::int64_t z);
  void spectra_from_exchange(complex* spectrum, std::int64_t z);
  void fill_plane(complex* plane, std::int64_t z);
  void empty_plane(const complex* plane, std::int64_t z);
  void plane_to_exchange(const complex* plane, std::int64_t z);
  void plane_from_exchange(complex* plane, std::int64_t z);
  complex* plane_of(std::int64_t z, Scratch& scratch) noexcept;
  void multiply_columns(std::int64_t ky, std::int64_t first, std::int64_t count, Scratch& scratch);

  /// Whether to use threads: each of the few loops then takes some hundred microseconds, more than waking a thread
  /// takes.
  bool worth_waking() const noexcept { return lengths_[0] * lengths_[1] * rows_.z.size() >= 32 * 1024; }
  bool rows_stay() const noexcept { return among_y_.size() == 1; }    ///< no exchange between x and y
  bool planes_stay() const noexcept { return among_z_.size() == 1; }  ///< no exchange between y and z

  std::array<std::int64_t, 3> extent_, lengths_;
  Pencils pencils_;
  BoxRows box_rows_;
  Rectangle rows_;                          ///< of this process
  std::int64_t half_;                       ///< length of a row's spectrum
  std::int64_t kx_, ky_;                    ///< number of k_x and of k_y on this process
  std::int64_t bundle_;                     ///< number of columns of z transformed at once
  std::vector<std::int64_t> kernel_row_;    ///< row of the kernel for each local k_y
  std::vector<std::int64_t> kernel_plane_;  ///< plane of the kernel for each k_z
  core::AlignedArray<double> kernel_;
  std::int64_t kernel_rows_;
  RowTransform x_;
  ColumnTransform y_, z_;
  Exchange among_y_, among_z_;
  std::vector<double*> planes_;  ///< for each z, after the second exchange: shape (k_y, k_x) complex
  std::vector<Scratch> scratch_;
};

}  // namespace halocline::tddft
