// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The arithmetic of the preconditioner, and the layout of its fields.
///
/// Fields stored in float are computed in float. Fields of 16 bits are either widened to float when they are loaded, in
/// the layout of the outer fields; or they are computed in half, twice as many lanes at a time, in the doubled outer
/// layout (DomainLayout::doubled). Domains that cannot be doubled are computed in float, since a register half full of
/// halves would do no more work.

#include <memory>

#include "halocline/lattice/domain_layout.hpp"

namespace halocline::qcd::schwarz {

struct Parameters;

enum class Arithmetic { single, half };

struct ArithmeticChoice {
  Arithmetic arithmetic = Arithmetic::single;
  std::shared_ptr<const lattice::DomainLayout> layout;  ///< of the preconditioner's fields
};

/// Resolves `parameters.storage` and `parameters.arithmetic` for domains whose outer fields have this layout. "auto"
/// takes half if the instruction set has it and a tile of these domains fills a register with halves.
/// @throws InvalidArgument  if the lanes do not fill a register of the numbers asked for. Collective: no.
ArithmeticChoice choose_arithmetic(const Parameters& parameters,
                                   const std::shared_ptr<const lattice::DomainLayout>& layout);

/// Lanes of the preconditioner on this layout: as many as the layout has, or twice as many.
int preconditioner_lanes(const Parameters& parameters, const lattice::DomainLayout& layout);

/// Checks the lanes of a layout for fields of 16 bits.
/// @throws InvalidArgument  if the layout has another number of lanes
void require_lanes(const lattice::DomainLayout& layout, int lanes);

}  // namespace halocline::qcd::schwarz
