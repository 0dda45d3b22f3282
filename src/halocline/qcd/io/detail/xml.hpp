// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The little XML that lattice files carry: reading one element's text from a short record, and escaping text for one.
///
/// ILDG and SciDAC records are flat lists of elements whose text is a number or a word. That needs no tree: a scan
/// over the tags finds an element by its name, whatever its namespace prefix or attributes, and returns the text up to
/// its closing tag. Comments and declarations are skipped. In malformed input no element is found; it does no harm.

#include <optional>
#include <string>
#include <string_view>

namespace halocline::qcd::io::detail {

/// The text of the first element called `name`, entities resolved and outer white space removed.
/// @returns nothing when there is no such element or it never closes
std::optional<std::string> element_text(std::string_view xml, std::string_view name);

/// Text with & < > replaced by entities.
std::string escaped(std::string_view text);

/// Text of a file, made safe for one line of an error message: at most 60 bytes, printable, valid UTF-8.
std::string shown(std::string_view text);

/// The unchanged text if it is valid UTF-8; otherwise with '?' for every byte beyond ASCII.
std::string valid_utf8(std::string text);

/// The text without leading and trailing white space and NUL bytes.
std::string_view trimmed(std::string_view text);

}  // namespace halocline::qcd::io::detail
