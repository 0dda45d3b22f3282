// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the preconditioner computes in, and the layout that its fields have for it.
///
/// Fields stored in float are computed with in float. Fields of 16 bits are widened to float on their way into
/// registers, in the layout of the outer fields; or they are computed with as they are, twice as many lanes at a time,
/// in the outer layout doubled (DomainLayout::doubled). Domains that cannot be doubled are computed in float: registers
/// half full of halves would do no more work.

#include <memory>

#include "halocline/lattice/domain_layout.hpp"

namespace halocline::qcd::schwarz {

struct Parameters;

enum class Arithmetic { single, half };

struct ArithmeticChoice {
  Arithmetic arithmetic = Arithmetic::single;
  std::shared_ptr<const lattice::DomainLayout> layout;  ///< of the preconditioner's fields
};

/// What `parameters.storage` and `parameters.arithmetic` mean for domains whose outer fields have this layout. "auto"
/// is arithmetic in half where the instruction set has it and a tile of these domains fills a register with halves.
/// @throws InvalidArgument  where the lanes do not fill a register of what was asked for. Collective: no.
ArithmeticChoice choose_arithmetic(const Parameters& parameters,
                                   const std::shared_ptr<const lattice::DomainLayout>& layout);

/// The lanes that the preconditioner would have there: those of the layout, or twice as many.
int preconditioner_lanes(const Parameters& parameters, const lattice::DomainLayout& layout);

/// For fields of 16 bits.
/// @throws InvalidArgument  where the layout has other lanes
void require_lanes(const lattice::DomainLayout& layout, int lanes);

}  // namespace halocline::qcd::schwarz
