// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Reads a pseudopotential from a file of any known format.

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace halocline::tddft {

struct FileChoice {
  std::string symbol;  ///< of the element, for formats that do not contain it
  std::string format;  ///< one of potential_file_formats(), or empty: recognised by the content
  int local_l = -1;    ///< semi-local formats (ky, cpi, abinit 1 and 6): the l of the local potential
  int largest_l = -1;  ///< ky: channels above it are ignored
  int valence = 0;     ///< gth: of the entry
  std::string name;    ///< gth: of the entry
};

/// "upf", "abinit", "gth", "cpi", "ky".
std::vector<std::string> potential_file_formats();

/// The format of a file by its content; empty if it is none of them.
/// @throws core::FileError  the file cannot be read; PAW and PSML files, by their names
std::string recognised_format(const std::string& path);

/// Symbol and name of each entry of a library in GTH format. @throws core::FileError  it cannot be read
std::vector<std::pair<std::string, std::string>> library_entries(const std::string& path);

/// @throws core::InvalidArgument  an unknown format; a choice that files of the format do not leave, such as a valence
/// @throws core::FileError  a file that cannot be read, is damaged, of an unknown or unsupported kind, or of another
///         element
/// Collective: no; every process reads the file.
std::shared_ptr<const Pseudopotential> read_potential_file(const std::string& path, const FileChoice& choice);

}  // namespace halocline::tddft
