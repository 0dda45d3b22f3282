# SPDX-License-Identifier: Apache-2.0
"""Reads numbers and tables from untrusted texts."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from halocline.errors import FileError

LARGEST = 2**63 - 1


def file_name(path: str | os.PathLike[str]) -> str:
    """The path in the form for the extension. Raises FileError for a name that is not UTF-8."""
    text = os.fspath(path)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise FileError(
            f"{text}: the name of the file is not UTF-8; rename it, or make a link with another name."
        ) from None
    return text


def whole_number(word: str, at_most: int = LARGEST) -> int | None:
    """The number of a word of decimal digits; None for any other word, and for a number above the limit.

    Python's int() accepts digits of every script, and raises ValueError for more than 4300 of them.
    """
    if not (word.isascii() and word.isdigit()) or len(word.lstrip("0")) > len(str(LARGEST)):
        return None
    number = int(word.lstrip("0") or "0")
    return number if number <= at_most else None


def toml_tables(content: str) -> dict[str, Any]:
    """The tables of a TOML text.

    Raises ValueError, whose text describes the error: not TOML, a whole number beyond 64 bits, tables nested too
    deeply.
    """
    try:
        tables = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(str(error)) from None
    except ValueError:  # of int()
        raise ValueError("a whole number has thousands of digits, and 64 bits are the most that is read") from None
    except RecursionError:
        raise ValueError("lists or tables are nested too deeply") from None
    _refuse_long_numbers(tables.items())
    return tables


def _refuse_long_numbers(items: Iterable[tuple[Any, Any]]) -> None:
    for name, value in items:
        if isinstance(value, Mapping):
            _refuse_long_numbers(value.items())
        elif isinstance(value, list):
            _refuse_long_numbers((name, entry) for entry in value)
        elif isinstance(value, int) and not -LARGEST - 1 <= value <= LARGEST:
            raise ValueError(f"the whole number of '{name}' does not fit into 64 bits")
