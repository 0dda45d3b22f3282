// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/hartree/fft.hpp"

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"

#include <fftw3.h>

#include <limits>
#include <mutex>
#include <numbers>
#include <string>
#include <utility>

namespace halocline::tddft {
namespace {

/// FFTW must create and destroy plans one at a time.
std::mutex& planning() {
  static std::mutex mutex;
  return mutex;
}

fftw_plan raw(const detail::Plan& plan) noexcept { return static_cast<fftw_plan>(plan.raw()); }

// std::complex<double> has the memory layout of FFTW's type.
fftw_complex* raw(std::complex<double>* values) noexcept { return reinterpret_cast<fftw_complex*>(values); }

int as_int(std::int64_t number) {
  if (number < 1 || number > std::numeric_limits<int>::max())
    throw core::InvalidArgument("a Fourier transform of length or number of lines " + std::to_string(number) +
                                " was asked for; give 1 to 2147483647");
  return static_cast<int>(number);
}

/// Whether FFTW has straight-line code for complex transforms of this length.
bool has_code(std::int64_t length) noexcept {
  return length <= 16 || length == 20 || length == 25 || length == 32 || length == 64 || length == 128;
}

bool is_prime(std::int64_t number) noexcept {
  for (std::int64_t divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) return false;
  }
  return true;
}

/// Runs `make()`, which returns a plan, while no other thread makes plans.
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

RowTransform::RowTransform(std::int64_t length) {
  const int n = as_int(length);
  core::AlignedArray<double> real(length), spectrum(2 * (length / 2 + 1));
  auto* complex = reinterpret_cast<fftw_complex*>(spectrum.data());
  forward_ = planned([&] { return fftw_plan_dft_r2c_1d(n, real.data(), complex, FFTW_ESTIMATE); });
  backward_ = planned([&] { return fftw_plan_dft_c2r_1d(n, complex, real.data(), FFTW_ESTIMATE); });
}

void RowTransform::forward(double* in, std::complex<double>* out) const {
  fftw_execute_dft_r2c(raw(forward_), in, raw(out));
}

void RowTransform::backward(std::complex<double>* in, double* out) const {
  fftw_execute_dft_c2r(raw(backward_), raw(in), out);
}

std::vector<std::int64_t> stage_lengths(std::int64_t length) {
  if (has_code(length)) return {length};
  std::vector<std::int64_t> best{length};  // for a prime that only FFTW's general methods can transform
  bool found = false;
  for (std::int64_t first = 2; first < length; ++first) {
    if (length % first != 0 || !(has_code(first) || is_prime(first))) continue;
    std::vector<std::int64_t> stages = stage_lengths(length / first);
    stages.insert(stages.begin(), first);
    // Elements of the first stage are furthest apart: at most eight, which fit in one set of the first-level cache.
    if (!found || stages.size() < best.size() || (stages.size() == best.size() && first <= 8)) best = stages;
    found = true;
  }
  return best;
}

ColumnTransform::ColumnTransform(std::int64_t length, std::int64_t lines) : length_(length), lines_(lines) {
  if (lines > 0) static_cast<void>(as_int(length * lines));
  core::AlignedArray<double> values(2 * length * lines);
  auto* complex = reinterpret_cast<fftw_complex*>(values.data());
  // Each stage turns the transform of a block of L elements into transforms of `factor` blocks of L / factor elements.
  // The k-th of these gives the wavenumbers k + factor k'.
  wavenumbers_ = {0};
  std::int64_t stride = 1, rest = length;
  for (const std::int64_t factor : stage_lengths(length)) {
    Stage stage{rest, {}, {}, {}};
    const std::int64_t inner = rest / factor;
    if (lines > 0) {
      const auto apart = static_cast<int>(inner * lines), block = static_cast<int>(rest * lines);
      const fftw_iodim along{static_cast<int>(factor), apart, apart};
      const fftw_iodim many[2]{{static_cast<int>(length / rest), block, block}, {apart, 1, 1}};
      const auto make = [&](int sign) {
        return planned([&] { return fftw_plan_guru_dft(1, &along, 2, many, complex, complex, sign, FFTW_ESTIMATE); });
      };
      stage.forward = make(FFTW_FORWARD);
      stage.backward = make(FFTW_BACKWARD);
    }
    for (std::int64_t k = 0; inner > 1 && k < factor; ++k) {
      for (std::int64_t j = 0; j < inner; ++j)
        stage.factors.push_back(
            std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k) / static_cast<double>(rest)));
    }
    stages_.push_back(std::move(stage));
    std::vector<std::int64_t> finer;
    for (const std::int64_t before : wavenumbers_) {
      for (std::int64_t k = 0; k < factor; ++k) finer.push_back(before + stride * k);
    }
    wavenumbers_ = std::move(finer);
    stride *= factor;
    rest = inner;
  }
}

void ColumnTransform::multiply(std::complex<double>* values, const Stage& stage, bool conjugate) const noexcept {
  for (std::int64_t at = 0; at < length_; ++at) {
    const std::complex<double> factor = stage.factors[static_cast<std::size_t>(at % stage.length)];
    const double c = factor.real(), s = conjugate ? -factor.imag() : factor.imag();
    auto* row = reinterpret_cast<double*>(values + at * lines_);
    for (std::int64_t i = 0; i < lines_; ++i) {
      const double re = row[2 * i], im = row[2 * i + 1];
      row[2 * i] = re * c - im * s;
      row[2 * i + 1] = re * s + im * c;
    }
  }
}

void ColumnTransform::forward(std::complex<double>* values) const {
  if (lines_ == 0) return;
  for (const Stage& stage : stages_) {
    fftw_execute_dft(raw(stage.forward), raw(values), raw(values));
    if (!stage.factors.empty()) multiply(values, stage, false);
  }
}

void ColumnTransform::backward(std::complex<double>* values) const {
  if (lines_ == 0) return;
  for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
    if (!stage->factors.empty()) multiply(values, *stage, true);
    fftw_execute_dft(raw(stage->backward), raw(values), raw(values));
  }
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
