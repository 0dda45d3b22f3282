// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Errors as values that reach the user.
///
/// The caller's mistake is an `InvalidArgument`: one sentence that says what was given, what was expected and what
/// to do. A file that cannot be used is a `FileError`, which keeps the path and the record apart from the sentence.
/// Everything else that stops a computation is an `Error`. The library throws these and never prints or exits; the
/// command line turns the first two into exit status 2.

#include <stdexcept>
#include <string>
#include <utility>

namespace halocline::core {

/// Base of everything Halocline throws.
class Error : public std::runtime_error {
public:
  explicit Error(const std::string& sentence, int rank = -1) : std::runtime_error(sentence), rank_(rank) {}

  /// Rank on which it happened; -1 when that is not known or there is only one.
  int rank() const noexcept { return rank_; }

private:
  int rank_;
};

/// The caller gave something that cannot work.
class InvalidArgument : public Error {
public:
  using Error::Error;
};

/// A file is missing, damaged, foreign, or cannot be written.
class FileError : public Error {
public:
  /// @param path    the file as the user named it
  /// @param record  the part of it that is wrong, e.g. "CHECKSUM"; empty for the whole file
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
