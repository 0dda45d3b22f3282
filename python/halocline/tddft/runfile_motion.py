# SPDX-License-Identifier: Apache-2.0
"""Sections of the run file of moving atoms: [ions], [dynamics] and [relax]."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from halocline.errors import InvalidArgument
from halocline.schema import Section, Unfit, array, boolean, choice, integer, key, number
from halocline.tddft.units import ATOMIC_TIME_FS, BOHR_ANGSTROM, HARTREE_EV, quantity, vector

velocity = quantity("velocity")


def masses(value: Any) -> dict[str, float]:
    """Symbol -> mass."""
    if not isinstance(value, Mapping):
        raise Unfit("a table { H = 2.014 } of masses in u")
    return {str(symbol): number(above=0.0)(mass) for symbol, mass in value.items()}


@dataclasses.dataclass(frozen=True)
class Ions(Section):
    """How atoms move, with the electrons in time (`propagate`) or in their ground state (`dynamics`)."""

    title: ClassVar[str] = "[ions]"
    move: bool = key(False, boolean, "propagate: in the mean field of the electrons (Ehrenfest dynamics)")
    every: int = key(5, integer(at_least=1), "propagate: electron steps in a step of the atoms")
    temperature: float = key(
        0.0,
        quantity("energy", at_least=0.0),
        "of the first velocities, drawn at random; 0: those of the file, or at rest",
        example='temperature = "300 K"',
    )
    velocities: tuple | None = key(
        None,
        array(vector(velocity, "three velocities x, y, z"), "a list of velocities [x, y, z], one of each atom"),
        "instead of temperature: of each atom",
        example="velocities = [[0, 0, 0.001], [0, 0, -0.001]]",
    )
    masses: dict = key({}, masses, "of elements [u]; the natural ones when absent", example="# masses = { H = 2.014 }")
    fixed: tuple = key((), array(integer(at_least=0), "a list of numbers of atoms"), "atoms that stay, counted from 0")
    seed: int = key(1, integer(at_least=0), "of the random velocities, and of the Langevin forces")

    def check_together(self) -> None:
        if self.velocities is not None and self.temperature > 0:
            raise InvalidArgument("[ions] has both 'velocities' and 'temperature'; keep one of them.")


@dataclasses.dataclass(frozen=True)
class Dynamics(Section):
    """Molecular dynamics with electrons in their ground state."""

    title: ClassVar[str] = "[dynamics]"
    time_step: float = key(
        0.5 / ATOMIC_TIME_FS, quantity("time", above=0.0), "0.5 fs when absent", example='time_step = "0.5 fs"'
    )
    total_time: float | None = key(
        None, quantity("time", above=0.0), "length of the run, or steps", example='total_time = "100 fs"'
    )
    steps: int | None = key(None, integer(at_least=1), "instead of total_time", example="steps = 200")
    ensemble: str = key(
        "nve", choice("nve", "langevin", "nose-hoover"), '"nve", "langevin", or "nose-hoover" (a chain of three)'
    )
    temperature: float | None = key(
        None, quantity("energy", above=0.0), "of the thermostat", example='temperature = "300 K"'
    )
    relaxation: float = key(
        20.0 / ATOMIC_TIME_FS,
        quantity("time", above=0.0),
        "of the thermostat: the time in which it acts; 20 fs when absent",
        example='relaxation = "20 fs"',
    )
    checkpoint_every: int = key(0, integer(at_least=0), "steps between checkpoints; 0: by the clock alone")
    checkpoint_interval: float = key(
        600.0, quantity("wall time", above=0.0), "seconds between checkpoints, where checkpoint_every is 0"
    )
    wall_limit: float | None = key(
        None, quantity("wall time", above=0.0), "stop with a checkpoint after it", example='wall_limit = "23.5 h"'
    )

    def check_together(self) -> None:
        if self.total_time is not None and self.steps is not None:
            raise InvalidArgument("[dynamics] has both 'total_time' and 'steps'; keep one of them.")
        if self.ensemble != "nve" and self.temperature is None:
            raise InvalidArgument(f'[dynamics] ensemble = "{self.ensemble}" needs a temperature, such as "300 K".')
        if self.ensemble == "nve" and self.temperature is not None:
            raise InvalidArgument(
                '[dynamics] temperature is that of a thermostat, and "nve" has none; first velocities are drawn at '
                "[ions] temperature."
            )


@dataclasses.dataclass(frozen=True)
class Relax(Section):
    """The search for the geometry of lowest energy."""

    title: ClassVar[str] = "[relax]"
    optimizer: str = key("bfgs", choice("bfgs", "lbfgs", "fire"), '"bfgs", "lbfgs" or "fire", as ASE has them')
    force_tolerance: float = key(
        0.01 * BOHR_ANGSTROM / HARTREE_EV,
        quantity("force", above=0.0),
        "largest force on an atom; 0.01 eV/angstrom when absent",
        example='force_tolerance = "0.01 eV/angstrom"',
    )
    max_steps: int = key(200, integer(at_least=1), "before giving up; exit status 3 then")
    longest_step: float = key(
        0.2 / BOHR_ANGSTROM,
        quantity("length", above=0.0),
        "of an atom; 0.2 angstrom when absent",
        example='longest_step = "0.2 angstrom"',
    )
    cell: bool = key(False, boolean, "crystals: the cell, too, on as many grid points")
