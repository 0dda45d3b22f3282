// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// One-dimensional Fourier transforms of many lines at once, by FFTW; and lengths for which they are fast.
///
/// Real lines (rows of x) are transformed one by one. Complex lines are interleaved: element j of all lines precedes
/// element j + 1 (columns of y or z). A register then holds the same element of neighbouring lines, and no line needs
/// to be gathered. Nothing is scaled: forward and backward together multiply by the length.
///
/// Plans are estimated, not measured. A measured plan depends on the load of the machine when it was made, and
/// different plans round differently: a continued run would not repeat the bits of an uninterrupted one. For columns,
/// however, FFTW estimates badly unless it has straight-line code for the whole length. So columns are transformed here
/// in stages of such lengths, with twiddle factors in between. The stages leave the coefficients out of order. They
/// stay so, because they are only multiplied by numbers that can be stored in the same order, and are transformed back
/// by the same stages in reverse. Times on one core of an AMD EPYC [ns a number]:
///
///   length (columns)   estimated   measured   in stages
///   24                       4.6        1.5         0.9
///   80                       2.2        1.4         1.1
///   256 (22)                 2.0        1.6         1.3
///   256 (32)                17.7        1.8         1.3
///
/// A plan works for any memory aligned to 16 bytes, from any number of threads. Planning is serialised.

#include <complex>
#include <cstdint>
#include <vector>

namespace halocline::tddft {

namespace detail {
/// Owns a plan of FFTW.
class Plan {
public:
  Plan() noexcept = default;
  explicit Plan(void* plan) noexcept : plan_(plan) {}
  Plan(Plan&& other) noexcept;
  Plan& operator=(Plan&& other) noexcept;
  ~Plan();
  void* raw() const noexcept { return plan_; }

private:
  void* plan_ = nullptr;
};
}  // namespace detail

/// Transforms a real line to the non-negative half of its spectrum, and back.
class RowTransform {
public:
  /// @param length  of the line; its spectrum has length / 2 + 1 numbers
  explicit RowTransform(std::int64_t length);

  void forward(double* in, std::complex<double>* out) const;
  /// The reverse. Overwrites `in`, and assumes that the numbers at 0 and at length / 2 are real.
  void backward(std::complex<double>* in, double* out) const;

private:
  detail::Plan forward_, backward_;
};

/// Transforms complex columns in place.
class ColumnTransform {
public:
  /// @param lines  may be 0
  ColumnTransform(std::int64_t length, std::int64_t lines);

  /// The wavenumber, in [0, length), at each position of a transformed column.
  const std::vector<std::int64_t>& wavenumbers() const noexcept { return wavenumbers_; }

  /// @param values  shape (length, lines); afterwards row i is that of wavenumbers()[i]
  void forward(std::complex<double>* values) const;
  /// The reverse, from this order to the natural one.
  void backward(std::complex<double>* values) const;

private:
  /// Transforms of length `factor`, in blocks of `length` elements; the elements of one transform are `length / factor`
  /// apart.
  struct Stage {
    std::int64_t length;
    detail::Plan forward, backward;
    /// Twiddle factors exp(-2 pi i j k / length) for k < factor and j < length / factor, applied after the forward
    /// stage; empty for the last stage.
    std::vector<std::complex<double>> factors;
  };
  void multiply(std::complex<double>* values, const Stage& stage, bool conjugate) const noexcept;

  std::int64_t length_, lines_;
  std::vector<Stage> stages_;
  std::vector<std::int64_t> wavenumbers_;
};

/// Lengths of the stages of a column, with product `length`; as few as possible.
std::vector<std::int64_t> stage_lengths(std::int64_t length);

/// The smallest number, at least `least`, that has no prime factor above 7.
std::int64_t fast_length(std::int64_t least) noexcept;

}  // namespace halocline::tddft
