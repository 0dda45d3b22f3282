// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Errors as values that reach the user.
///
/// A mistake of the caller is an `InvalidArgument`: one sentence that says what was given, what was expected and what
/// to do. An unusable file is a `FileError`, which also keeps the path and the record as separate values. Everything
/// else that stops a computation is an `Error`. The library throws these and never prints or exits. The command line
/// turns the first two into exit status 2.

#include <stdexcept>
#include <string>
#include <utility>

namespace halocline::core {

/// Base of everything Halocline throws.
class Error : public std::runtime_error {
public:
  explicit Error(const std::string& sentence, int rank = -1) : std::runtime_error(sentence), rank_(rank) {}

  /// Rank on which the error happened; -1 if unknown or if there is only one rank.
  int rank() const noexcept { return rank_; }

private:
  int rank_;
};

/// The caller gave an argument that cannot work.
class InvalidArgument : public Error {
public:
  using Error::Error;
};

/// A computation has met NaN or infinity. Every rank meets it alike, so all of them may go on in another way.
class NotFinite : public Error {
public:
  using Error::Error;
};

/// A file is missing, damaged, foreign, or cannot be written.
class FileError : public Error {
public:
  /// @param path    the file as the user named it
  /// @param record  the faulty part of the file, e.g. "CHECKSUM"; empty for the whole file
  FileError(std::string path, std::string record, const std::string& sentence)
      : Error(path + (record.empty() ? "" : " (" + record + ")") + ": " + sentence),
        path_(std::move(path)),
        record_(std::move(record)) {}

  const std::string& path() const noexcept { return path_; }
  const std::string& record() const noexcept { return record_; }

private:
  std::string path_;
  std::string record_;
};

}  // namespace halocline::core
