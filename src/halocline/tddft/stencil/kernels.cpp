// SPDX-License-Identifier: Apache-2.0
/// @file
/// Instantiates every form of the row kernel, and selects among them.
#include "halocline/tddft/stencil/detail/kinetic_kernels.hpp"
#include "halocline/tddft/stencil/detail/local_kernels.hpp"

namespace halocline::tddft::detail {
namespace {

/// Index of a form in the table: slopes, then imaginary, then base.
constexpr std::size_t place_of(const Form& form) {
  return static_cast<std::size_t>(4 * (form.slopes & 7) + (form.imaginary ? 2 : 0) + (form.base ? 1 : 0));
}
constexpr Form form_at(std::size_t place, bool current, bool skew, bool single) {
  return {static_cast<int>(place / 4), (place & 2) != 0, (place & 1) != 0, current, skew, single};
}

template <bool single, std::size_t... place>
constexpr std::array<RowKernel, sizeof...(place)> plain(std::index_sequence<place...>) {
  return {&apply_row<form_at(place, false, false, single)>...};
}
template <bool single, std::size_t... place>
constexpr std::array<RowKernel, sizeof...(place)> with_current(std::index_sequence<place...>) {
  return {&apply_row<form_at(28 + place, true, false, single)>...};
}
/// Without slopes, with them, and with the current.
template <bool single, std::size_t... place>
constexpr std::array<RowKernel, 3 * sizeof...(place)> skew(std::index_sequence<place...>) {
  return {&apply_skew_row<form_at(place, false, true, single)>...,
          &apply_skew_row<form_at(28 + place, false, true, single)>...,
          &apply_skew_row<form_at(28 + place, true, true, single)>...};
}
template <bool single>
RowKernel kernel_of(const Form& form) {
  static constexpr auto kernels = plain<single>(std::make_index_sequence<32>{});
  static constexpr auto current_kernels = with_current<single>(std::make_index_sequence<4>{});
  static constexpr auto skew_kernels = skew<single>(std::make_index_sequence<4>{});
  if (form.skew) return skew_kernels[place_of(form) % 4 + (form.current ? 8 : form.slopes != 0 ? 4 : 0)];
  return form.current ? current_kernels[place_of(form) - 28] : kernels[place_of(form)];
}

template <bool skew, bool imaginary>
constexpr std::array<RowKernel, 3> outer() {
  return {&kinetic_outer_row<skew, imaginary, 0>, &kinetic_outer_row<skew, imaginary, 1>,
          &kinetic_outer_row<skew, imaginary, 2>};
}

}  // namespace

SlopeKernels slope_kernels(bool skew) {
  if (skew)
    return {{&current_skew_row<double>, &current_skew_row<float>},
            &density_gradient_skew_row,
            {&gradient_skew_row<1>, &gradient_skew_row<2>},
            {&divergence_skew_row<1>, &divergence_skew_row<2>},
            &kinetic_row<true>,
            &kinetic_inner_row<true>,
            {outer<true, false>(), outer<true, true>()}};
  return {{&current_row<double>, &current_row<float>},  &density_gradient_row, {&gradient_row<1>, &gradient_row<2>},
          {&divergence_row<1>, &divergence_row<2>},     &kinetic_row<false>,   &kinetic_inner_row<false>,
          {outer<false, false>(), outer<false, true>()}};
}

RowKernel local_kernel(bool imaginary, bool base) {
  if (imaginary) return base ? &local_row<true, true> : &local_row<true, false>;
  return base ? &local_row<false, true> : &local_row<false, false>;
}
RowKernel current_density_kernel() { return &current_density_row; }

RowKernel kernel_for(const Form& form) { return form.single ? kernel_of<true>(form) : kernel_of<false>(form); }

}  // namespace halocline::tddft::detail
