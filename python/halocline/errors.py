# SPDX-License-Identifier: Apache-2.0
"""The errors that Halocline raises. Each message is one sentence: what was given, what was expected, what to do.

The first three classes mirror `halocline/core/error.hpp`; the bindings translate the C++ errors into them. Each class
is also one of Python's built-in errors, so `except ValueError` and `except OSError` work as expected.
"""


class Error(RuntimeError):
    """Base of everything Halocline raises."""


class InvalidArgument(Error, ValueError):
    """The caller gave an argument that cannot work; on the command line, exit status 2."""


class FileError(Error, OSError):
    """A file is missing, damaged, foreign or cannot be written; on the command line, exit status 2.

    The message begins with the path, followed by the faulty record in parentheses.
    """

    def __str__(self) -> str:
        return RuntimeError.__str__(self)


class Interrupted(Error):
    """The run was asked to stop (Ctrl-C, SIGTERM) and did so at a safe point; on the command line, exit status 130."""


class NotConverged(Error):
    """An iteration ended before it reached its tolerance; on the command line, exit status 3."""
