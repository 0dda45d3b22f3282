// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the binding files of mapping share.

#include <string>

#include "bindings.hpp"
#include "halocline/mapping/loads.hpp"

namespace halocline::bindings {

/// @throws InvalidArgument  for anything but hops and injected
mapping::Count count_of(const std::string& name);

}  // namespace halocline::bindings
