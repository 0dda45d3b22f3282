// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/detail/arithmetic.hpp"

#include <fmt/format.h>

#include "halocline/core/error.hpp"
#include "halocline/core/half_pack.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"

namespace halocline::qcd::schwarz {
namespace {

constexpr int float_lanes = core::native_lanes<float>;

/// The doubled layout if arithmetic in half is wanted and possible on this one; otherwise null.
std::shared_ptr<const lattice::DomainLayout> layout_in_half(const Parameters& parameters,
                                                            const lattice::DomainLayout& layout) {
  const bool wanted = parameters.arithmetic == "half" || (parameters.arithmetic == "auto" && core::native_half);
  if (parameters.storage != "half" || !wanted || layout.lanes() != float_lanes) return nullptr;
  return layout.doubled(parameters.inner == "even-odd");
}

}  // namespace

void require_lanes(const lattice::DomainLayout& layout, int lanes) {
  if (layout.lanes() == lanes) return;
  const auto& block = layout.block();
  throw core::InvalidArgument(fmt::format(
      "{} need {} lanes, and the domains of {}x{}x{}x{} sites fill {}; {}, or choose domains whose extents "
      "have more factors of 2",
      lanes == float_lanes ? "fields of 16 bits" : "computations in 16 bits", lanes, block[0], block[1], block[2],
      block[3], layout.lanes(), lanes == float_lanes ? "store the preconditioner in float" : "compute in float"));
}

ArithmeticChoice choose_arithmetic(const Parameters& parameters,
                                   const std::shared_ptr<const lattice::DomainLayout>& layout) {
  if (const auto doubled = layout_in_half(parameters, *layout)) return {Arithmetic::half, doubled};
  if (parameters.storage == "half")
    require_lanes(*layout, parameters.arithmetic == "half" ? core::native_lanes<core::Half> : float_lanes);
  return {Arithmetic::single, layout};
}

int preconditioner_lanes(const Parameters& parameters, const lattice::DomainLayout& layout) {
  return layout_in_half(parameters, layout) ? 2 * layout.lanes() : layout.lanes();
}

}  // namespace halocline::qcd::schwarz
