// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/hartree/fft.hpp"

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"

#include <fftw3.h>

#include <limits>
#include <mutex>
#include <string>
#include <utility>

namespace halocline::tddft {
namespace {

/// FFTW plans and forgets plans one at a time.
std::mutex& planning() {
  static std::mutex mutex;
  return mutex;
}

fftw_plan raw(const detail::Plan& plan) noexcept { return static_cast<fftw_plan>(plan.raw()); }

// std::complex<double> is two doubles, which is what FFTW takes.
fftw_complex* raw(std::complex<double>* values) noexcept { return reinterpret_cast<fftw_complex*>(values); }

int as_int(std::int64_t number) {
  if (number < 1 || number > std::numeric_limits<int>::max())
    throw core::InvalidArgument("a Fourier transform of length or number of lines " + std::to_string(number) +
                                " was asked for; give 1 to 2147483647");
  return static_cast<int>(number);
}

/// Runs `make()`, which returns a plan, where nobody else plans.
template <class Make>
detail::Plan planned(Make&& make) {
  const std::lock_guard lock(planning());
  const fftw_plan plan = make();
  if (plan == nullptr) throw core::Error("FFTW could not plan a Fourier transform");
  return detail::Plan(plan);
}

}  // namespace

namespace detail {
Plan::Plan(Plan&& other) noexcept : plan_(std::exchange(other.plan_, nullptr)) {}
Plan& Plan::operator=(Plan&& other) noexcept {
  std::swap(plan_, other.plan_);
  return *this;
}
Plan::~Plan() {
  if (plan_ == nullptr) return;
  const std::lock_guard lock(planning());
  fftw_destroy_plan(static_cast<fftw_plan>(plan_));
}
}  // namespace detail

RowTransform::RowTransform(std::int64_t length, std::int64_t lines) {
  if (lines == 0) return;
  const int n = as_int(length), count = as_int(lines), half = n / 2 + 1;
  core::AlignedArray<double> real(length * lines), spectrum(2 * half * lines);
  auto* complex = reinterpret_cast<fftw_complex*>(spectrum.data());
  forward_ = planned([&] {
    return fftw_plan_many_dft_r2c(1, &n, count, real.data(), nullptr, 1, n, complex, nullptr, 1, half, FFTW_ESTIMATE);
  });
  backward_ = planned([&] {
    return fftw_plan_many_dft_c2r(1, &n, count, complex, nullptr, 1, half, real.data(), nullptr, 1, n, FFTW_ESTIMATE);
  });
}

void RowTransform::forward(double* in, std::complex<double>* out) const {
  if (forward_.raw() != nullptr) fftw_execute_dft_r2c(raw(forward_), in, raw(out));
}

void RowTransform::backward(std::complex<double>* in, double* out) const {
  if (backward_.raw() != nullptr) fftw_execute_dft_c2r(raw(backward_), raw(in), out);
}

ColumnTransform::ColumnTransform(std::int64_t length, std::int64_t lines) {
  if (lines == 0) return;
  const int n = as_int(length), count = as_int(lines);
  core::AlignedArray<double> values(2 * length * lines);
  auto* complex = reinterpret_cast<fftw_complex*>(values.data());
  const auto make = [&](int sign) {
    return planned([&] {
      return fftw_plan_many_dft(1, &n, count, complex, nullptr, count, 1, complex, nullptr, count, 1, sign,
                                FFTW_ESTIMATE);
    });
  };
  forward_ = make(FFTW_FORWARD);
  backward_ = make(FFTW_BACKWARD);
}

void ColumnTransform::forward(std::complex<double>* values) const {
  if (forward_.raw() != nullptr) fftw_execute_dft(raw(forward_), raw(values), raw(values));
}

void ColumnTransform::backward(std::complex<double>* values) const {
  if (backward_.raw() != nullptr) fftw_execute_dft(raw(backward_), raw(values), raw(values));
}

std::int64_t fast_length(std::int64_t least) noexcept {
  for (std::int64_t n = least < 1 ? 1 : least;; ++n) {
    std::int64_t rest = n;
    for (const int prime : {2, 3, 5, 7}) {
      while (rest % prime == 0) rest /= prime;
    }
    if (rest == 1) return n;
  }
}

}  // namespace halocline::tddft
