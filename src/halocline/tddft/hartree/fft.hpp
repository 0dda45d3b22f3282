// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// One-dimensional Fourier transforms of many lines at once, by FFTW; and lengths that it is fast for.
///
/// Real lines stand one after another (rows of x). Complex lines stand side by side, element j of all lines before
/// element j + 1 of any (columns of y or z): registers then hold the same element of neighbouring lines and no line is
/// ever gathered. Nothing is scaled: forward and backward multiply by the length.
///
/// Plans are estimated, not measured. A measured plan depends on what else the machine did when it was made, and
/// another plan rounds otherwise: a continued run would not repeat the bits of an uninterrupted one. For lengths up to
/// 512 of columns in cache the difference was below the noise of the machine.
///
/// A plan works for any memory that stands on 16 bytes, from any number of threads. Planning is serialised.

#include <complex>
#include <cstdint>

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

/// Real lines to the non-negative half of their spectra, and back.
class RowTransform {
public:
  /// @param length  of a line; a spectrum has length / 2 + 1 numbers
  /// @param lines   may be 0: then nothing is ever done
  RowTransform(std::int64_t length, std::int64_t lines);

  /// @param in   shape (lines, length)
  /// @param out  shape (lines, length / 2 + 1)
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

  /// @param values  shape (length, lines)
  void forward(std::complex<double>* values) const;
  void backward(std::complex<double>* values) const;

private:
  detail::Plan forward_, backward_;
};

/// The smallest number from `least` on that has no prime factor above 7.
std::int64_t fast_length(std::int64_t least) noexcept;

}  // namespace halocline::tddft
