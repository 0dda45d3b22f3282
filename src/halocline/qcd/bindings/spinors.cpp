// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/bindings/spinors.hpp"

#include <bit>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/order/convert.hpp"

namespace halocline::qcd::bindings {
namespace {

/// Calls `convert(reals, canonical)` for each point of the fifth dimension.
template <class Real, class Complex, class Convert>
void each_point(Real* host, std::span<Complex> canonical, const SpinorShape& shape, const Convert& convert) {
  const std::size_t numbers = canonical.size() / static_cast<std::size_t>(shape.fifth);
  for (std::size_t s = 0; s < static_cast<std::size_t>(shape.fifth); ++s)
    convert(std::span(host + 2 * s * numbers, 2 * numbers), canonical.subspan(s * numbers, numbers));
}

template <class Complex, class Void>
std::span<Complex> as_complex(Void* values, std::size_t reals) {
  return {static_cast<Complex*>(values), reals / 2};
}

}  // namespace

SpinorShape shape_of(const Action& action, bool whole) {
  SpinorShape shape;
  if (is_staggered(action)) shape.spins = 1;
  shape.flavours = flavours(action);
  if (const auto* walls = std::get_if<DomainWallAction>(&action); walls != nullptr && whole) shape.fifth = walls->ls;
  return shape;
}

void check_spinor(const SpinorFormat& format, const SpinorShape& shape, const lattice::Geometry4& geometry,
                  std::size_t count, const char* call, const char* of) {
  check_count(count, shape.count(geometry), call, of);
  if (shape.flavours == 2 && !format.canonical())
    throw core::InvalidArgument(
        fmt::format("{}: arrays of doublets are canonical, [t][z][y][x][flavour][spin][colour] in double, and another "
                    "format was given; give NULL",
                    call));
  order::check(format.order.sites, geometry, static_cast<std::size_t>(format.bits / 8));
}

bool share_memory(const void* one, const void* other, std::size_t bytes) noexcept {
  const auto a = std::bit_cast<std::uintptr_t>(one), b = std::bit_cast<std::uintptr_t>(other);
  return (a < b ? b - a : a - b) < bytes;
}

SpinorIn::SpinorIn(const SpinorFormat& format, const SpinorShape& shape, const lattice::Geometry4& geometry,
                   const void* values) {
  if (format.canonical()) {
    values_ = as_complex<const std::complex<double>>(values, shape.count(geometry));
    return;
  }
  copy_.resize(shape.count(geometry) / 2);
  const auto load = [&](const auto* host) {
    each_point(host, std::span(copy_), shape, [&](auto reals, std::span<std::complex<double>> canonical) {
      order::load(canonical, reals, format.order, geometry, shape.spins);
    });
  };
  if (format.bits == 32)
    load(static_cast<const float*>(values));
  else
    load(static_cast<const double*>(values));
  values_ = copy_;
}

SpinorOut::SpinorOut(const SpinorFormat& format, const SpinorShape& shape, const lattice::Geometry4& geometry,
                     void* values, std::vector<std::complex<double>> room)
    : format_(format), shape_(shape), geometry_(&geometry), host_(values), copy_(std::move(room)) {
  if (format.canonical()) {
    values_ = as_complex<std::complex<double>>(values, shape.count(geometry));
    return;
  }
  copy_.resize(shape.count(geometry) / 2);
  values_ = copy_;
}

void SpinorOut::finish() const {
  if (format_.canonical()) return;
  const auto store = [&](auto* host) {
    each_point(host, std::span<const std::complex<double>>(copy_), shape_,
               [&](auto reals, std::span<const std::complex<double>> canonical) {
                 order::store(reals, canonical, format_.order, *geometry_, shape_.spins);
               });
  };
  if (format_.bits == 32)
    store(static_cast<float*>(host_));
  else
    store(static_cast<double*>(host_));
}

SpinorTransfer::SpinorTransfer(const lattice::Geometry4& geometry, const SpinorFormat& format, const SpinorShape& shape,
                               std::span<void* const> to, std::span<const void* const> from) {
  in_.reserve(from.size());
  out_.reserve(to.size());
  for (const void* const one : from) sources_.push_back(in_.emplace_back(format, shape, geometry, one).values());
  for (void* const one : to) results_.push_back(out_.emplace_back(format, shape, geometry, one).values());
}

void SpinorTransfer::finish() {
  for (const SpinorOut& one : out_) one.finish();
}

}  // namespace halocline::qcd::bindings
