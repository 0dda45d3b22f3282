// SPDX-License-Identifier: Apache-2.0
/// @file
/// The only file that compiles the functions of the formatting library (fmt). All other files see declarations only.
///
/// Header-only use would compile the functions again in each file: three of its five seconds, or seven with a
/// sanitizer. Linking fmt's own binary is no alternative, because a cross build has none. The functions live in a
/// namespace of ours, so that a program may link fmt's binary as well (cmake/Dependencies.cmake).

#include <fmt/format-inl.h>

#include <locale>

FMT_BEGIN_NAMESPACE
namespace detail {

template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl<char>(locale_ref) -> char;
template locale_ref::locale_ref(const std::locale&);
template auto locale_ref::get<std::locale>() const -> std::locale;
#if FMT_VERSION >= 100000  // a function before
template void vformat_to(buffer<char>&, string_view, typename vformat_args<>::type, locale_ref);
#endif
template auto dragonbox::to_decimal<float>(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal<double>(double) noexcept -> dragonbox::decimal_fp<double>;

}  // namespace detail
FMT_END_NAMESPACE
