# SPDX-License-Identifier: Apache-2.0
"""Numbers with units in run files and arguments; each package has its own table of units and says what a plain number
is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from halocline.schema import Given, Unfit

Convert = Callable[[float], float]

_TEXT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S.*?)\s*")


def times(factor: float) -> Convert:
    """The conversion that multiplies by a factor."""
    return lambda value: value * factor


class Units:
    """Quantity -> unit -> conversion to the package's unit. A plain number has the first unit of its quantity."""

    def __init__(self, table: Mapping[str, Mapping[str, Convert]], aliases: Mapping[str, str] | None = None) -> None:
        """aliases: other spelling -> unit."""
        self.table, self.aliases = table, aliases or {}

    def converted(self, value: Any, kind: str) -> float:
        """A number, or a text with its unit, in the package's unit.

        Raises Unfit: neither a number nor a text, an unknown unit, or not finite.
        """
        units = self.table[kind]
        first = next(iter(units))
        expected = f"{_with_article(kind)}: a number ({first}), or a text with its unit: {', '.join(units)}"
        if isinstance(value, str):
            match = _TEXT.fullmatch(value)
            unit = self.aliases.get(match[2], match[2]) if match else ""
            if unit not in units:
                raise Unfit(expected)
            result = units[unit](float(match[1]))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            result = float(value)
        else:
            raise Unfit(expected)
        if not math.isfinite(result):
            raise Unfit(expected)
        return result

    def quantity(self, kind: str, *, above: float = -math.inf, at_least: float = -math.inf) -> Callable[[Any], float]:
        """A check: the quantity in the package's unit, within the limits."""

        def check(value: Any) -> float:
            """A number or text as a quantity."""
            result = self.converted(value, kind)
            if not result > above:
                raise Unfit(f"{_with_article(kind)} above {above:g}")
            if result < at_least:
                raise Unfit(f"{_with_article(kind)} of at least {at_least:g}")
            return Given(result, value.strip()) if isinstance(value, str) else result

        return check


def _with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
