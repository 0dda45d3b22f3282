# SPDX-License-Identifier: Apache-2.0
"""The errors that Halocline raises, each one sentence: what was given, what was expected, what to do.

The first three mirror `halocline/core/error.hpp`; the bindings translate the C++ ones into these classes. Each is also
one of Python's own errors, so `except ValueError` and `except OSError` do what they say.
"""


class Error(RuntimeError):
    """Base of everything Halocline raises."""


class InvalidArgument(Error, ValueError):
    """The caller gave something that cannot work; on the command line, exit status 2."""


class FileError(Error, OSError):
    """A file is missing, damaged, foreign or cannot be written; on the command line, exit status 2.

    The path stands at the head of the sentence, followed by the record that is wrong, in parentheses.
    """

    def __str__(self) -> str:
        return RuntimeError.__str__(self)


class Interrupted(Error):
    """The run was asked to stop (Ctrl-C, SIGTERM) and did so at a safe point; on the command line, exit status 130."""


class NotConverged(Error):
    """An iteration ended before it reached what was asked for; on the command line, exit status 3."""
