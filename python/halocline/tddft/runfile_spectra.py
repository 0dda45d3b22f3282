# SPDX-License-Identifier: Apache-2.0
"""Sections of the run file for what a propagation shows: [spectrum] and [harmonics]."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from halocline.errors import InvalidArgument
from halocline.schema import Section, choice, integer, key, number
from halocline.tddft.units import quantity


@dataclasses.dataclass(frozen=True)
class Spectrum(Section):
    title: ClassVar[str] = "[spectrum]"
    window: str = key(
        "polynomial",
        choice("polynomial", "gaussian", "exponential", "none"),
        'damping of the signal: "polynomial", "gaussian", "exponential" (Lorentzian lines) or "none"',
    )
    width: float | None = key(
        None,
        quantity("energy", above=0.0),
        "of a line of the gaussian and exponential windows",
        example='width = "0.1 eV"',
    )
    from_energy: float = key(0.0, quantity("energy", at_least=0.0), "where the table begins")
    to_energy: float = key(1.0, quantity("energy", above=0.0), "where it ends", example='to_energy = "20 eV"')
    step: float = key(
        0.0005, quantity("energy", above=0.0), "of the table; not the resolution", example='step = "0.01 eV"'
    )
    resolution: float = key(
        0.02,
        quantity("energy", above=0.0),
        "that is asked for: a shorter run is warned about",
        example='resolution = "0.7 eV"',
    )

    drift: str = key(
        "auto",
        choice("auto", "subtract", "keep"),
        'crystals: the constant part of the current: "subtract", "keep" (a metal\'s), or "auto" by the gap',
    )

    def check_together(self) -> None:
        if self.to_energy <= self.from_energy:
            raise InvalidArgument("[spectrum] to_energy must lie above from_energy.")
        if self.width is None and self.window in ("gaussian", "exponential"):
            raise InvalidArgument(f'[spectrum] window = "{self.window}" needs width, such as "0.1 eV".')


@dataclasses.dataclass(frozen=True)
class Harmonics(Section):
    """The light that electrons emit under a strong pulse."""

    title: ClassVar[str] = "[harmonics]"
    to_order: float = key(15.0, number(at_least=1), "where the table ends, in multiples of the pulse's frequency")
    window: str = key(
        "cos2", choice("cos2", "none"), '"cos2": the signal begins and ends at zero; "none": the bare signal'
    )
    points: int = key(40, integer(at_least=4), "of the table in each order")
