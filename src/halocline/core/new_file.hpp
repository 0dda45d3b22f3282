// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Where a new file grows until it takes its name.
///
/// A file PATH is written as `PATH.<8 hex digits>.partial` in the same folder, synced, and renamed, so that a crash or
/// a full disk leaves what PATH held before. The digits are random and the file is created exclusively, without
/// following links: what another user put there under a name that they guessed is never written to. The writer holds a
/// lock (flock) on it. A killed process leaves its partial file behind; the next one that writes PATH removes those
/// that are ours, ten minutes old and locked by nobody. The Python writers do the same (halocline/files.py).

#include <array>
#include <string>

namespace halocline::core {

/// The random part of a partial file's name.
using PartialDigits = std::array<char, 8>;

/// `PATH.<digits>.partial`; of a long name of PATH only the first 200 bytes, since names end at 255.
std::string partial_name(const std::string& path, const PartialDigits& digits);

/// A partial file that this process created.
struct NewPartial {
  PartialDigits digits{};
  int number = -1;  ///< open for reading and writing; the caller's to close
};

/// Removes abandoned partial files of PATH and creates a new one, empty.
/// @returns number -1 where it cannot be created; errno then says why. Collective: no.
NewPartial create_partial(const std::string& path) noexcept;

/// Opens the partial file that another process created, for writing.
/// @returns a descriptor, the caller's to close; -1 with errno. Collective: no.
int open_partial(const std::string& path, const PartialDigits& digits) noexcept;

}  // namespace halocline::core
