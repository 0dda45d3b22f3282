// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The first version of UPF: sections in angle brackets, whose numbers stand in a fixed order, each with a comment
/// behind it on the line.

#include "halocline/tddft/pseudopotential/detail/upf_content.hpp"

#include <string>
#include <string_view>

namespace halocline::tddft::detail {

/// @param text  of the whole file @throws core::FileError  a section is missing or damaged
UpfContent read_upf_version_1(std::string_view text, const std::string& path);

}  // namespace halocline::tddft::detail
