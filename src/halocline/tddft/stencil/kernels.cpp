// SPDX-License-Identifier: Apache-2.0
/// @file
/// Instantiates every form of the row kernel, and selects among them.
#include "halocline/tddft/stencil/detail/kernels.hpp"

namespace halocline::tddft::detail {
namespace {

/// Index of a form in the table: slopes, then imaginary, then base.
constexpr std::size_t place_of(const Form& form) {
  return static_cast<std::size_t>(4 * (form.slopes & 7) + (form.imaginary ? 2 : 0) + (form.base ? 1 : 0));
}
constexpr Form form_at(std::size_t place, bool current, int diagonals = 0) {
  return {static_cast<int>(place / 4), (place & 2) != 0, (place & 1) != 0, current, diagonals};
}

template <std::size_t... place>
constexpr std::array<RowKernel, sizeof...(place)> plain(std::index_sequence<place...>) {
  return {&apply_row<form_at(place, false)>...};
}
template <std::size_t... place>
constexpr std::array<RowKernel, sizeof...(place)> with_current(std::index_sequence<place...>) {
  return {&apply_row<form_at(28 + place, true)>...};
}
/// Kernels with diagonals have slopes along all axes or none: first those without, then those with, then with current.
template <int diagonals, std::size_t... place>
constexpr std::array<RowKernel, 3 * sizeof...(place)> skew(std::index_sequence<place...>) {
  return {&apply_row<form_at(place, false, diagonals)>..., &apply_row<form_at(28 + place, false, diagonals)>...,
          &apply_row<form_at(28 + place, true, diagonals)>...};
}

template <int diagonals>
constexpr SlopeKernels of_slopes() {
  return {&current_row<diagonals>,
          &density_gradient_row<diagonals>,
          {&gradient_row<1, diagonals>, &gradient_row<2, diagonals>},
          {&divergence_row<1, diagonals>, &divergence_row<2, diagonals>}};
}

}  // namespace

SlopeKernels slope_kernels(int diagonals) {
  return diagonals == 0 ? of_slopes<0>() : diagonals == 1 ? of_slopes<1>() : of_slopes<3>();
}

RowKernel kernel_for(const Form& form) {
  static constexpr auto kernels = plain(std::make_index_sequence<32>{});
  static constexpr auto current_kernels = with_current(std::make_index_sequence<4>{});
  if (form.diagonals > 0) {
    static constexpr auto one = skew<1>(std::make_index_sequence<4>{});
    static constexpr auto three = skew<3>(std::make_index_sequence<4>{});
    const std::size_t place = place_of(form) % 4 + (form.current ? 8 : form.slopes != 0 ? 4 : 0);
    return form.diagonals == 1 ? one[place] : three[place];
  }
  return form.current ? current_kernels[place_of(form) - 28] : kernels[place_of(form)];
}

}  // namespace halocline::tddft::detail
