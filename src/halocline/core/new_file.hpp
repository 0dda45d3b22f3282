// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Writes a new file under a temporary name until it is complete.
///
/// A file PATH is written as `PATH.<8 hex digits>.partial` in the same folder, synced, and renamed. A crash or a full
/// disk therefore leaves the previous content of PATH. The digits are random, and the file is created exclusively and
/// without following links, so a file that another user placed under a guessed name is never written to. The writer
/// holds a lock (flock) on the partial file. A killed process leaves its partial file behind. The next process that
/// writes PATH removes partial files of PATH that belong to the same user, are more than ten minutes old and are not
/// locked. The Python writers do the same (halocline/files.py).

#include <array>
#include <string>

namespace halocline::core {

/// The random part of a partial file's name.
using PartialDigits = std::array<char, 8>;

/// `PATH.<digits>.partial`. Only the first 200 bytes of a long file name are kept, since names end at 255 bytes.
std::string partial_name(const std::string& path, const PartialDigits& digits);

/// A partial file that this process created.
struct NewPartial {
  PartialDigits digits{};
  int number = -1;  ///< file descriptor, open for reading and writing; the caller closes it
};

/// Removes abandoned partial files of PATH and creates a new, empty one.
/// @returns number -1 if it cannot be created; errno then says why. Collective: no.
NewPartial create_partial(const std::string& path) noexcept;

/// Opens a partial file that another process created, for writing.
/// @returns a descriptor that the caller closes; -1 with errno on failure. Collective: no.
int open_partial(const std::string& path, const PartialDigits& digits) noexcept;

}  // namespace halocline::core
