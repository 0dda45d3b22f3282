// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// One-dimensional Fourier transforms of many lines at once, by FFTW; and lengths that it is fast for.
///
/// Real lines (rows of x) are transformed one by one. Complex lines stand side by side, element j of all lines before
/// element j + 1 of any (columns of y or z): registers then hold the same element of neighbouring lines and no line is
/// ever gathered. Nothing is scaled: forward and backward together multiply by the length.
///
/// Plans are estimated, not measured. A measured plan depends on what else the machine did when it was made, and
/// another plan rounds otherwise: a continued run would not repeat the bits of an uninterrupted one. For columns FFTW
/// estimates badly, though, unless it has straight-line code for the whole length. So a column is transformed here in
/// stages of such lengths, with factors in between. The stages leave the coefficients out of order; and as they are
/// only multiplied by numbers that can be put in the same order, and transformed back by the same stages in reverse,
/// there they stay. One core of an AMD EPYC, ns a number, estimated / measured / in stages: length 24 4.6 / 1.5 / 0.9,
/// 80 2.2 / 1.4 / 1.1, 256 2.0 / 1.6 / 1.3 (22 columns), 256 17.7 / 1.8 / 1.3 (32 columns).
///
/// A plan works for any memory that stands on 16 bytes, from any number of threads. Planning is serialised.

#include <complex>
#include <cstdint>
#include <vector>

namespace halocline::tddft {

namespace detail {
/// A plan of FFTW; owns it.
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

/// A real line to the non-negative half of its spectrum, and back.
class RowTransform {
public:
  /// @param length  of the line; its spectrum has length / 2 + 1 numbers
  explicit RowTransform(std::int64_t length);

  void forward(double* in, std::complex<double>* out) const;
  /// The reverse. Destroys `in`, and takes the numbers at 0 and at length / 2 for real ones.
  void backward(std::complex<double>* in, double* out) const;

private:
  detail::Plan forward_, backward_;
};

/// Complex columns, in place.
class ColumnTransform {
public:
  /// @param lines  may be 0
  ColumnTransform(std::int64_t length, std::int64_t lines);

  /// Which wavenumber, in [0, length), stands at which place of a transformed column.
  const std::vector<std::int64_t>& wavenumbers() const noexcept { return wavenumbers_; }

  /// @param values  shape (length, lines); afterwards row i is that of wavenumbers()[i]
  void forward(std::complex<double>* values) const;
  /// The reverse, from that order to the natural one.
  void backward(std::complex<double>* values) const;

private:
  /// Transforms of the factor's length, in blocks of `length` elements each `length / factor` apart.
  struct Stage {
    std::int64_t length;
    detail::Plan forward, backward;
    /// exp(-2 pi i j k / length) for k < factor and j < length / factor, which follow the stage forward; none after the
    /// last stage.
    std::vector<std::complex<double>> factors;
  };
  void multiply(std::complex<double>* values, const Stage& stage, bool conjugate) const noexcept;

  std::int64_t length_, lines_;
  std::vector<Stage> stages_;
  std::vector<std::int64_t> wavenumbers_;
};

/// Lengths of the stages of a column, whose product is `length`: as few as can be.
std::vector<std::int64_t> stage_lengths(std::int64_t length);

/// The smallest number from `least` on that has no prime factor above 7.
std::int64_t fast_length(std::int64_t least) noexcept;

}  // namespace halocline::tddft
