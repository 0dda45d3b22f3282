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
constexpr Form form_at(std::size_t place, bool current) {
  return {static_cast<int>(place / 4), (place & 2) != 0, (place & 1) != 0, current};
}

template <std::size_t... place>
constexpr std::array<RowKernel, sizeof...(place)> plain(std::index_sequence<place...>) {
  return {&apply_row<form_at(place, false)>...};
}
template <std::size_t... place>
constexpr std::array<RowKernel, sizeof...(place)> with_current(std::index_sequence<place...>) {
  return {&apply_row<form_at(28 + place, true)>...};
}

}  // namespace

RowKernel kernel_for(const Form& form) {
  static constexpr auto kernels = plain(std::make_index_sequence<32>{});
  static constexpr auto current_kernels = with_current(std::make_index_sequence<4>{});
  return form.current ? current_kernels[place_of(form) - 28] : kernels[place_of(form)];
}

}  // namespace halocline::tddft::detail
