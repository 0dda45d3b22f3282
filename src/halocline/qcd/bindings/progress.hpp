// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The progress function of a C program as that of the library.

#include "halocline/qcd/bindings/c.h"
#include "halocline/qcd/bindings/handles.hpp"

namespace halocline::qcd::bindings {

/// Stops where the function of any rank says so: one gather of a word for each call. Empty for NULL.
QuarkSolver::Progress progress_of(const Context& context, halocline_progress progress, void* data);

}  // namespace halocline::qcd::bindings
