# SPDX-License-Identifier: Apache-2.0
"""The section of the run file for electrons in time: [propagate], with kicks, pulses and absorbing walls."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from halocline.errors import InvalidArgument
from halocline.maxwell.runfile import a_medium
from halocline.schema import (
    REQUIRED,
    Section,
    Unfit,
    array,
    boolean,
    choice,
    integer,
    key,
    number,
    table,
    text,
)
from halocline.tddft.runfile_crystal import AXES
from halocline.tddft.units import HARTREE_EV, quantity


def direction(value: Any) -> Any:
    """An axis, "xyz" for one run along each axis, or a vector."""
    if isinstance(value, str):
        return choice(*AXES, "xyz")(value)
    vector_3 = array(number(), 'an axis "x", "y" or "z", "xyz" for one run each, or three numbers', length=3)(value)
    if not any(vector_3):
        raise Unfit("a direction that is not zero")
    return vector_3


def side(value: Any) -> Any:
    """A length [bohr], or "open"."""
    return value if value == "open" else quantity("length", above=0.0)(value)


def unit_vector(given: Any) -> tuple[float, float, float]:
    """The unit vector along an axis or along three numbers."""
    if isinstance(given, str):
        return tuple(1.0 if a == given else 0.0 for a in AXES)  # type: ignore[return-value]
    size = sum(v * v for v in given) ** 0.5
    return tuple(v / size for v in given)  # type: ignore[return-value]


@dataclasses.dataclass(frozen=True)
class Pulse(Section):
    """One pulse of light."""

    title: ClassVar[str] = "[propagate] pulses:"
    amplitude: float = key(REQUIRED, quantity("field", above=0.0), 'peak electric field, or intensity "1e12 W/cm^2"')
    frequency: float = key(REQUIRED, quantity("energy", above=0.0), "photon energy; a static field is a table")
    duration: float = key(REQUIRED, quantity("time", above=0.0), "whole length of cos2; FWHM of gaussian's intensity")
    shape: str = key("cos2", choice("cos2", "gaussian"), '"cos2" or "gaussian"')
    centre: float | None = key(None, quantity("time"), "of the envelope; begins at t = 0 when absent")
    phase: float = key(0.0, quantity("angle"), "of the carrier at the centre")
    chirp: float = key(0.0, quantity("chirp"), "growth of the photon energy; positive: from red to blue")
    ellipticity: float = key(
        0.0, number(at_least=-1.0, at_most=1.0), "shorter axis of the polarisation over the longer; 1 and -1: circular"
    )
    around: Any = key(None, direction, "elliptic pulses: the direction in which the light travels, as direction")
    direction: Any = key("z", direction, 'polarisation, or its longer axis: "x", "y", "z" or a vector')

    def check_together(self) -> None:
        if "xyz" in (self.direction, self.around):
            raise InvalidArgument('[propagate] pulses: direction = "xyz" is for kicks; give an axis or a vector.')
        if self.ellipticity and self.around is None:
            raise InvalidArgument(
                "[propagate] pulses: an elliptic pulse needs the direction in which it travels; say around, such as "
                'around = "z" for a direction "x".'
            )


@dataclasses.dataclass(frozen=True)
class Film(Section):
    """A crystal that is thin against the wavelength of the light."""

    title: ClassVar[str] = "[propagate] film:"
    thickness: float = key(REQUIRED, quantity("length", above=0.0), "small against the wavelength in the film")
    front: float = key(1.0, number(above=0.0), "refractive index of the medium from which the light comes")
    behind: float = key(1.0, number(above=0.0), "and of that behind the film")


@dataclasses.dataclass(frozen=True)
class Absorber(Section):
    """Walls that take electrons away."""

    title: ClassVar[str] = "[propagate] absorber:"
    width: float = key(REQUIRED, quantity("length", above=0.0), "of the layer inside of each wall")
    up_to: float = key(
        50.0 / HARTREE_EV, quantity("energy", above=0.0), "kinetic energy up to which 99 % of the electrons are taken"
    )
    strength: float | None = key(
        None, quantity("energy", above=0.0), "of the absorption at the wall; from up_to when absent"
    )


@dataclasses.dataclass(frozen=True)
class Propagate(Section):
    title: ClassVar[str] = "[propagate]"
    time_step: float | None = key(
        None,
        quantity("time", above=0.0),
        "0.9 of the limit of stability when absent",
        example='time_step = "1.25 as"',
    )
    total_time: float | None = key(
        None, quantity("time", above=0.0), "length of the run, or steps", example='total_time = "6 fs"'
    )
    steps: int | None = key(None, integer(at_least=1), "instead of total_time", example="steps = 8000")
    scheme: str = key(
        "midpoint",
        choice("midpoint", "taylor4", "etrs"),
        '"midpoint", "taylor4" (its potential lags half a step) or "etrs" (enforced time-reversal symmetry)',
    )
    exponential_tolerance: float = key(
        0.0, number(at_least=0.0), "etrs: the Taylor series ends where its last term is below; 0: order 4"
    )
    correction_tolerance: float = key(
        0.0, number(at_least=0.0), "etrs: the step is repeated until its density changes less, per electron; 0: once"
    )
    gauge: str = key(
        "auto", choice("auto", "length", "velocity"), '"length", "velocity", or "auto": length for a box, else velocity'
    )
    kick: float = key(
        0.0, quantity("momentum"), "momentum given to every electron at t = 0; none when absent", example="kick = 0.01"
    )
    spin_kick: bool = key(
        False, boolean, "with [system] spin: the opposite momentum for spin down, for triplet excitations"
    )
    direction: Any = key("z", direction, 'of the kick: "x", "y", "z", a vector, or "xyz" for three runs')
    pulses: tuple = key(
        (),
        array(table(Pulse), "a list of pulses"),
        "of light, beside or instead of the kick",
        example='# pulses = [{ amplitude = "1e12 W/cm^2", frequency = "1.55 eV", duration = "10 fs" }]',
    )
    field_table: str | None = key(
        None,
        text,
        "a file of columns t, Ex, Ey, Ez in atomic units: the electric field",
        example='field_table = "field.txt"',
    )
    response: str = key(
        "transverse",
        choice("transverse", "longitudinal", "film"),
        'of the light to a crystal\'s current: "transverse": none; "longitudinal": the field between charged surfaces; '
        '"film": reflection and transmission',
    )
    film: Film | None = key(
        None,
        table(Film),
        "on which the light arrives at right angles, for the response of that name",
        example='film = { thickness = "20 nm" }',
    )
    travels: str | None = key(
        None,
        choice(*AXES, *(f"-{a}" for a in AXES)),
        "way of light that crosses the cell or box: A depends on the place, and the current density at each point "
        "answers; A is the same everywhere when absent",
        example='travels = "z"',
    )
    profile_every: int = key(
        0, integer(at_least=0), "travels: steps between means of A and j over the planes across the way; 0: none"
    )
    precision: str = key(
        "double",
        choice("double", "float"),
        'of the orbitals: "double", or "float", which takes about half of the time; sums and fields are in double',
    )
    energy_every: int = key(10, integer(at_least=0), "steps between energies; 0: never")
    excited_every: int = key(
        0, integer(at_least=0), "steps between counts of the electrons outside the ground state; 0: never"
    )
    populations: int = key(
        0, integer(at_least=0), "lowest states whose electrons are counted one by one at these steps, filled and empty"
    )
    absorber: Absorber | None = key(
        None,
        table(Absorber),
        "isolated atoms: walls that take away electrons that leave; none when absent",
        example='absorber = { width = "5 angstrom" }',
    )
    angular_momentum: bool = key(False, boolean, "isolated atoms: measure it, for circular dichroism")
    checkpoint_every: int = key(0, integer(at_least=0), "steps between checkpoints; 0: by the clock alone")
    checkpoint_interval: float = key(
        600.0, quantity("wall time", above=0.0), "seconds between checkpoints, where checkpoint_every is 0"
    )
    wall_limit: float | None = key(
        None, quantity("wall time", above=0.0), "stop with a checkpoint after it", example='wall_limit = "23.5 h"'
    )
    restart: str = key(
        "auto",
        choice("auto", "never", "always"),
        '"auto": from the checkpoint when there is one; "never"; "always"',
    )

    def check_together(self) -> None:
        if self.total_time is not None and self.steps is not None:
            raise InvalidArgument("[propagate] has both 'total_time' and 'steps'; keep one of them.")
        if self.direction == "xyz" and self.pulses:
            raise InvalidArgument('[propagate] direction = "xyz" makes three kicked runs; leave the pulses out.')
        if (self.response == "film") != (self.film is not None):
            raise InvalidArgument(
                '[propagate] response = "film" and film = { thickness = ... } belong together; give both or neither.'
            )
        if self.populations and not self.excited_every:
            raise InvalidArgument(
                "[propagate] populations is set but excited_every = 0; say every how many steps, such as "
                "excited_every = 100."
            )

    def directions(self) -> list[tuple[str, tuple[float, float, float]]]:
        """(suffix of the file names, unit vector of the kick) of each run."""
        if self.direction == "xyz":
            return [(f"_{a}", unit_vector(a)) for a in AXES]
        return [("", unit_vector(self.direction))]


@dataclasses.dataclass(frozen=True)
class Layer(Section):
    """Cells of one kind in a film."""

    title: ClassVar[str] = "[multiscale] layers:"
    cells: int = key(REQUIRED, integer(at_least=1), "of the layer")
    medium: Any = key(None, a_medium, "that answers by itself, as in `halocline maxwell`; electrons when absent")
    run_file: str | None = key(None, text, "run file of another crystal; that of this file when absent")

    def check_together(self) -> None:
        if self.medium is not None and self.run_file is not None:
            raise InvalidArgument("[multiscale] layers: a layer has a medium or the run_file of a crystal, not both.")


@dataclasses.dataclass(frozen=True)
class Body(Section):
    """A body of cells in two or three dimensions."""

    title: ClassVar[str] = "[multiscale] body:"
    shape: str = key("cuboid", choice("cuboid", "cylinder", "sphere"), "of the body; a cylinder has no ends")
    size: list | None = key(
        None,
        array(side, 'three lengths, or "open" along axes on which nothing changes', length=3),
        'of a cuboid along x, y and z; "open": nothing changes along this axis',
    )
    radius: float | None = key(None, quantity("length", above=0.0), "of a cylinder or sphere")
    axis: str = key("z", choice(*AXES), "of a cylinder")

    def check_together(self) -> None:
        needed = "size" if self.shape == "cuboid" else "radius"
        if getattr(self, needed) is None:
            raise InvalidArgument(f"{self.title} a {self.shape} needs {needed}.")
        other = "radius" if self.shape == "cuboid" else "size"
        if getattr(self, other) is not None:
            raise InvalidArgument(f"{self.title} a {self.shape} has no {other}; leave it out.")

    def inside(self, step: float) -> np.ndarray:
        """Cells whose middle is inside, shape (z, y, x). Raises InvalidArgument for fewer than two along an axis."""
        if self.shape == "cuboid":
            sides = [None if side == "open" else side for side in self.size]
        else:
            endless = [self.shape == "cylinder" and a == self.axis for a in AXES]
            sides = [None if e else 2.0 * self.radius for e in endless]
        if all(side is None for side in sides):
            raise InvalidArgument(f"{self.title} a cuboid that is open along all axes is no body; give it a size.")
        counts = [1 if side is None else round(side / step) for side in sides]
        for side, count in zip(sides, counts, strict=True):
            if side is not None and count < 2:
                raise InvalidArgument(
                    f"{self.title} {side:.4g} bohr are {count} cells of {step:.4g} bohr; at least two are needed."
                )
        places = np.meshgrid(*((np.arange(n) + 0.5 - 0.5 * n) * step for n in reversed(counts)), indexing="ij")
        if self.shape == "cuboid":
            return np.ones(places[0].shape, dtype=bool)
        inside = sum(p**2 for p in places) <= self.radius**2
        if not inside.any():
            raise InvalidArgument(
                f"{self.title} no cell of {step:.4g} bohr has its middle in a {self.shape} of {self.radius:.4g} bohr; "
                "take smaller cells."
            )
        return inside


@dataclasses.dataclass(frozen=True)
class Multiscale(Section):
    """Light that crosses a crystal cell by cell; multiscale.py."""

    title: ClassVar[str] = "[multiscale]"
    cells: int | None = key(None, integer(at_least=1), "of the film, along the way of the light", example="cells = 16")
    step: float | None = key(
        None, quantity("length", above=0.0), "of the light's grid: the thickness of a cell", example='step = "5 nm"'
    )
    layers: list | None = key(
        None,
        array(table(Layer), "a list of tables with cells, and medium or run_file"),
        "instead of cells, in the order in which light meets them",
        example='layers = [{ cells = 8 }, { cells = 4, medium = "silica" }]',
    )
    body: Body | None = key(
        None,
        table(Body),
        "instead of cells: a body in two or three dimensions, in empty space",
        example='body = { shape = "cylinder", radius = "20 nm", axis = "z" }',
    )
    axis: str = key("x", choice(*AXES), "of the crystal, along which the light travels")
    angle: float = key(0.0, quantity("angle", at_least=0.0), 'of incidence, in empty space, such as "45 deg"')
    polarisation: str = key("s", choice("s", "p"), "at an angle: across the plane of incidence, or in it")
    index_behind: float = key(1.0, number(above=0.0), "refractive index of the medium behind the film")
    groups: int | None = key(
        None, integer(at_least=1), "of processes, each with its part of the cells; as many as fit when absent"
    )

    def check_together(self) -> None:
        if self.polarisation == "p" and not self.angle:
            raise InvalidArgument(
                '[multiscale] polarisation = "p" is for light at an angle; give the angle, or leave it out.'
            )
        if self.angle >= 0.5 * math.pi - 1e-3:
            raise InvalidArgument(
                f"[multiscale] angle = {self.angle:.6g} rad: expected an angle of incidence below 90 degrees."
            )

    def required(self) -> tuple[list[Layer], float]:
        """Layers and step. Raises InvalidArgument if one of them is absent."""
        if self.body is not None:
            return self._of_body()
        if self.cells is not None and self.layers is not None:
            raise InvalidArgument("[multiscale] cells and layers were given; the layers say how many cells there are.")
        if (self.cells is None and not self.layers) or self.step is None:
            missing = "step" if self.step is None else "cells"
            raise InvalidArgument(f'[multiscale] needs {missing}: give both, such as cells = 16, step = "5 nm".')
        return self.layers or [Layer(cells=self.cells)], self.step

    def _of_body(self) -> tuple[list[Layer], float]:
        if self.cells is not None or self.layers is not None:
            raise InvalidArgument("[multiscale] body and cells or layers were given; leave one of them out.")
        if self.step is None:
            raise InvalidArgument('[multiscale] needs step: the size of the cells of the body, such as step = "5 nm".')
        if self.angle or self.index_behind != 1:
            raise InvalidArgument(
                "[multiscale] a body stands in empty space, in light along an axis; leave angle and index_behind out."
            )
        return [Layer(cells=int(self.body.inside(self.step).sum()))], self.step
