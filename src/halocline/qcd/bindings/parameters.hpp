// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The structs of c.h as values of the library.
///
/// A struct of the caller may be shorter than ours (a program compiled with an older header) or longer (a newer one).
/// Members that the caller does not have keep their defaults. Bytes that we do not know must be zero, as `..._init` of
/// this library left them: then nothing was asked for that this library could not do.

#include "halocline/qcd/bindings/c.h"
#include "halocline/qcd/bindings/handles.hpp"
#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/order/order.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace halocline::qcd::bindings {

/// The default values of a struct, its size included.
template <class Struct>
Struct defaults();
template <>
halocline_format defaults();
template <>
halocline_action defaults();
template <>
halocline_solver_parameters defaults();
template <>
halocline_report defaults();

/// @throws InvalidArgument  for a size that no version of the struct has
void check_struct_size(std::size_t size, std::size_t least, const char* call, const char* name);
/// @throws InvalidArgument  for bytes that are not zero
void check_unknown_bytes(const std::byte* first, std::size_t count, const char* call, const char* name);

/// Writes the defaults into a struct of the caller.
/// @param least  bytes of the first version
template <class Struct>
int init(Struct* to, std::size_t size, std::size_t least, const char* call, const char* name) noexcept {
  return guarded([&] {
    given(to, call, name);
    check_struct_size(size, least, call, name);
    Struct made = defaults<Struct>();
    made.struct_size = size;
    std::memset(static_cast<void*>(to), 0, size);
    std::memcpy(static_cast<void*>(to), &made, std::min(size, sizeof made));
  });
}

/// A struct of the caller with our defaults where it ends.
template <class Struct>
Struct taken(const Struct* from, std::size_t least, const char* call, const char* name) {
  Struct made = defaults<Struct>();
  if (from == nullptr) return made;
  std::size_t size = 0;
  std::memcpy(&size, from, sizeof size);
  check_struct_size(size, least, call, name);
  if (size > sizeof made)
    check_unknown_bytes(reinterpret_cast<const std::byte*>(from) + sizeof made, size - sizeof made, call, name);
  std::memcpy(static_cast<void*>(&made), from, std::min(size, sizeof made));
  return made;
}

/// Bytes of the first version of each struct, up to its last member then; never to be changed.
inline constexpr std::size_t first_format = offsetof(halocline_format, link_scale) + sizeof(double[4]);
inline constexpr std::size_t first_action = offsetof(halocline_action, naik_epsilon) + sizeof(double);
inline constexpr std::size_t first_parameters = offsetof(halocline_solver_parameters, multigrid_vectors) + sizeof(int);
inline constexpr std::size_t first_report = offsetof(halocline_report, device) + sizeof(const char*);

/// Arrays of spinors or links of the host.
struct SpinorFormat {
  order::SpinorOrder order;
  int bits = 64;

  /// Whether an array is Halocline's own, and needs no copy.
  bool canonical() const;
  std::size_t bytes(std::size_t reals) const noexcept { return reals * static_cast<std::size_t>(bits / 8); }
};
struct LinkFormat {
  order::GaugeOrder order;
  int bits = 64;
};

/// @param format  NULL for the defaults
/// @param digest  gets every value
/// @throws InvalidArgument  for unknown names and numbers
SpinorFormat spinor_format(const halocline_format* format, const char* call, Digest& digest);
LinkFormat link_format(const halocline_format* format, const char* call, Digest& digest);

/// @throws InvalidArgument  for an unknown kind, or a number that the kind does not have; the values themselves are
///                          checked by the library
Action action(const halocline_action* given, const char* call, Digest& digest);
SolverParameters solver_parameters(const halocline_solver_parameters* given, const char* call, Digest& digest);

}  // namespace halocline::qcd::bindings
