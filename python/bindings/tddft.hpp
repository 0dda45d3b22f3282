// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the binding files of tddft share.

#include <string>

#include "bindings.hpp"
#include "halocline/tddft/model/model.hpp"

namespace halocline::bindings {

using PseudopotentialPtr = std::shared_ptr<const tddft::Pseudopotential>;

/// {"total": ..., "kinetic": ..., ..., "entropy": ...} in hartree.
nb::dict to_dict(const tddft::Energies& energy);

/// @throws InvalidArgument  for anything but auto, redundant and shared
tddft::HartreeShare hartree_share_of(const std::string& name);
std::string name_of(tddft::HartreeShare share);

}  // namespace halocline::bindings
