# SPDX-License-Identifier: Apache-2.0
"""The run file of `halocline maxwell`: sections, keys, defaults and refusals.

Plain numbers are nm, fs and eV; texts carry their unit. Places count from the inner end of the lower absorbing layers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from halocline.errors import InvalidArgument
from halocline.maxwell import media
from halocline.maxwell.bodies import cuboid, cylinder, sphere, voxels_of_cube, voxels_of_mesh
from halocline.maxwell.checks import COMPONENTS
from halocline.maxwell.fitting import MOST_POLES, fit, read_index
from halocline.maxwell.units import quantity
from halocline.runs import RunFile, hdf5_name, time_limit_key
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

AXES = ("x", "y", "z")
ENDS = ("absorbing", "periodic", "electric", "magnetic")

length = quantity("length")
energy = quantity("energy", above=0.0)


def three_sizes(value: Any) -> list[float]:
    """Three lengths; 0 along flat axes."""
    return array(quantity("length", at_least=0.0), "three lengths x, y, z; 0 where nothing changes", length=3)(value)


def ends(value: Any) -> Any:
    """One end for all axes, or one for each."""
    if isinstance(value, str):
        return choice(*ENDS)(value)
    return array(choice(*ENDS), "an end, or one for each of x, y, z", length=3)(value)


def corner(value: Any) -> list[Any]:
    """Three lengths; "open" where a body does not end."""

    def entry(v: Any) -> Any:
        return "open" if v == "open" else length(v)

    return array(entry, 'three lengths x, y, z; "open" where the body does not end', length=3)(value)


@dataclasses.dataclass(frozen=True)
class Measured(Section):
    """A medium from a table of its refractive index."""

    title: ClassVar[str] = "a medium from a table:"
    index: str = key(REQUIRED, text, "file of wavelength, n and k")
    unit: str = key("um", choice("um", "nm", "angstrom"), "of its wavelengths")
    from_energy: float | None = key(None, energy, "lowest photon energy that counts")
    to_energy: float | None = key(None, energy, "highest photon energy that counts")
    most_poles: int = key(MOST_POLES, integer(at_least=1, at_most=20), "of the fit")
    permittivity: float | None = key(None, number(at_least=1.0), "at energies above all poles; found when absent")

    def medium(self) -> media.Medium:
        """Fits it. Raises FileError and InvalidArgument."""
        limits = {"lowest": self.from_energy, "highest": self.to_energy}
        given = {name: value for name, value in limits.items() if value is not None}
        return fit(read_index(self.index, self.unit), poles=self.most_poles, permittivity=self.permittivity, **given)


def a_medium(value: Any) -> Any:
    """A name of the table of media, a permittivity, or a table: of permittivity, conductivity and poles, or with the
    file of a refractive index."""
    try:
        if isinstance(value, str):
            media.medium(value)
            return value
        if isinstance(value, Mapping):
            if "index" in value:
                table(Measured)(value)
            else:
                media.medium(**value)
            return dict(value)
        return number(above=0.0)(value)
    except InvalidArgument as error:
        raise Unfit(f"a medium: {str(error).rstrip('.')}") from None
    except TypeError:
        raise Unfit(
            "a medium, such as { permittivity = 1.2, poles = [[resonance, damping, strength]] } in eV"
        ) from None


def medium_of(value: Any) -> media.Medium:
    """The medium that a_medium() accepted."""
    if isinstance(value, Mapping) and "index" in value:
        return table(Measured)(value).medium()
    return media.medium(**value) if isinstance(value, Mapping) else media.medium(value)


@dataclasses.dataclass(frozen=True)
class Grid(Section):
    title: ClassVar[str] = "[grid]"
    size: list = key(
        REQUIRED, three_sizes, "of the inner part; 0 where nothing changes", example='size = ["600 nm", 0, 0]'
    )
    step: float = key(REQUIRED, quantity("length", above=0.0), "of the grid", example='step = "2 nm"')
    ends: Any = key("absorbing", ends, 'of all axes, or of each: "absorbing", "periodic", "electric" or "magnetic"')
    azimuthal: int | None = key(
        None, integer(at_least=0, at_most=100), "m of a cylindrical grid, whose x is the distance from an axis along z"
    )
    layer: int = key(12, integer(at_least=1), "cells of an absorbing layer, which is added to the size")
    courant: float = key(0.95, number(above=0.0, below=1.0), "time step over its limit")
    precision: str = key("double", choice("double", "float"), '"double" or "float"')


@dataclasses.dataclass(frozen=True)
class Body(Section):
    """One body."""

    title: ClassVar[str] = "[matter] bodies:"
    medium: Any = key(REQUIRED, a_medium, "its medium")
    shape: str = key(
        "cuboid",
        choice("cuboid", "sphere", "cylinder", "cube", "mesh"),
        '"cube" is a file of cubes, "mesh" one of triangles',
    )
    lower: list | None = key(None, corner, "of a cuboid")
    upper: list | None = key(None, corner, "of a cuboid")
    centre: list | None = key(None, array(length, "three lengths", length=3), "of a sphere, cylinder, cube or mesh")
    radius: float | None = key(None, quantity("length", above=0.0), "of a sphere or cylinder")
    axis: str = key("z", choice(*AXES), "of a cylinder")
    length: float | None = key(None, quantity("length", above=0.0), "of a cylinder; without ends when absent")
    file: str | None = key(
        None, text, "of a cube: Gaussian's format; cubes of its lattice are the body; of a mesh: STL, OBJ, PLY or OFF"
    )
    step: float | None = key(
        None, quantity("length", above=0.0), "of a mesh: of the cubes that fill it, a quarter of the grid's or less"
    )
    unit: float = key(1.0, quantity("length", above=0.0), "of a mesh: length of the unit of its file; 1 nm when absent")
    value: float | None = key(None, number(), "of a cube: the number of its points inside; any but 0 when absent")

    def check_together(self) -> None:
        needed = {"cuboid": ("lower", "upper"), "cube": ("file",), "mesh": ("file", "step")}.get(
            self.shape, ("centre", "radius")
        )
        for name in needed:
            if getattr(self, name) is None:
                raise InvalidArgument(f"{self.title} a {self.shape} needs {' and '.join(needed)}.")
        if self.shape not in ("cube", "mesh"):
            self.native()

    def native(self) -> Any:
        """The body of the library."""
        if self.shape == "cuboid":
            return cuboid(*([... if v == "open" else v for v in c] for c in (self.lower, self.upper)))
        if self.shape == "cube":
            return voxels_of_cube(str(self.file), self.value, self.centre)
        if self.shape == "mesh":
            return voxels_of_mesh(str(self.file), self.step, self.unit, self.centre)
        if self.shape == "sphere":
            return sphere(self.centre, self.radius)
        return cylinder(self.centre, self.axis, self.radius, *([] if self.length is None else [self.length]))


@dataclasses.dataclass(frozen=True)
class Matter(Section):
    title: ClassVar[str] = "[matter]"
    background: Any = key(1.0, a_medium, "medium everywhere else: a name, a permittivity, or a table")
    bodies: list = key(
        [],
        array(table(Body), "a list of tables with shape, its places and medium"),
        "later ones over earlier ones",
        example='bodies = [{ shape = "cuboid", lower = ["300 nm", "open", "open"], upper = ["330 nm", "open", "open"], '
        'medium = "gold" }]',
    )


@dataclasses.dataclass(frozen=True)
class Wave(Section):
    title: ClassVar[str] = "[wave]"
    axis: str = key("x", choice(*AXES), "along which the pulse travels")
    polarisation: str = key("y", choice(*AXES), "of E")
    direction: int = key(1, integer(at_least=-1, at_most=1), "1 or -1 along the axis")
    from_energy: float = key(1.0, energy, "lowest photon energy", example='from_energy = "1.2 eV"')
    to_energy: float = key(3.0, energy, "highest photon energy", example='to_energy = "3 eV"')
    points: int = key(41, integer(at_least=1), "photon energies of all fluxes")
    box: list | None = key(
        None,
        array(array(length, "three lengths", length=3), "two corners", length=2),
        "corners of the box that the pulse enters; the whole way to the far end when absent",
        example="box = [[100, 100, 100], [500, 500, 500]]",
    )

    waist: float | None = key(
        None, quantity("length", above=0.0), "of a Gaussian beam, 1/e of E in its focus; a plane wave when absent"
    )
    focus: list | None = key(None, array(length, "three lengths", length=3), "of a beam")
    place: float | None = key(None, length, "of the plane through which a beam enters")

    def check_together(self) -> None:
        if self.direction == 0:
            raise InvalidArgument("[wave] direction = 0: expected 1 or -1.")
        if (self.waist is None) != (self.focus is None):
            raise InvalidArgument("[wave] a beam needs waist and focus; give both, or neither for a plane wave.")
        if self.waist is None and self.place is not None:
            raise InvalidArgument("[wave] place is for beams; a plane wave has a box.")
        if self.waist is not None and self.box is not None:
            raise InvalidArgument("[wave] box is for plane waves; a beam enters through a place.")
        if self.to_energy < self.from_energy:
            raise InvalidArgument("[wave] to_energy must not lie below from_energy.")


@dataclasses.dataclass(frozen=True)
class Kick(Section):
    title: ClassVar[str] = "[kick]"
    direction: str | None = key(
        None,
        choice(*AXES),
        "of a uniform field that acts for no time; instead of the wave, for the extinction of small particles",
        example='direction = "x"',
    )
    from_energy: float = key(1.0, energy, "lowest photon energy of the extinction")
    to_energy: float = key(6.0, energy, "highest photon energy")
    points: int = key(201, integer(at_least=1), "photon energies")

    def check_together(self) -> None:
        if self.to_energy < self.from_energy:
            raise InvalidArgument("[kick] to_energy must not lie below from_energy.")


@dataclasses.dataclass(frozen=True)
class Flux(Section):
    """One plane or box."""

    title: ClassVar[str] = "[measure] flux:"
    name: str = key(REQUIRED, text, "of the column")
    axis: str | None = key(None, choice(*AXES), "across which a plane lies")
    place: float | None = key(None, length, "of a plane")
    lower: list | None = key(None, array(length, "three lengths", length=3), "of a closed box")
    upper: list | None = key(None, array(length, "three lengths", length=3), "of a closed box")

    def check_together(self) -> None:
        plane, box = (self.axis, self.place), (self.lower, self.upper)
        if (None in plane) == (None in box) or (None in plane and plane != (None, None)):
            raise InvalidArgument(
                f"{self.title} {self.name}: give axis and place of a plane, or lower and upper of a box."
            )


@dataclasses.dataclass(frozen=True)
class Probe(Section):
    """One point."""

    title: ClassVar[str] = "[measure] probes:"
    name: str = key(REQUIRED, text, "of the column")
    component: str = key(REQUIRED, choice(*COMPONENTS), "of the field")
    place: list = key(REQUIRED, array(length, "three lengths", length=3), "of the point")


def directions(value: Any) -> list[list[float]]:
    """Vectors."""
    one = array(number(), "three numbers", length=3)
    found = array(one, "a list of vectors, such as [[1, 0, 0], [0, 0, 1]]")(value)
    if not found or not all(any(v) for v in found):
        raise Unfit("at least one vector, and none that is zero")
    return found


@dataclasses.dataclass(frozen=True)
class Far(Section):
    """A far field."""

    title: ClassVar[str] = "[measure] far:"
    name: str = key(REQUIRED, text, "of the result")
    lower: list = key(REQUIRED, array(length, "three lengths", length=3), "of a box around all matter")
    upper: list = key(REQUIRED, array(length, "three lengths", length=3), "of the box")
    directions: list = key(REQUIRED, directions, "into which light goes")


@dataclasses.dataclass(frozen=True)
class Monitored(Section):
    """Fields at photon energies."""

    title: ClassVar[str] = "[measure] monitors:"
    name: str = key(REQUIRED, text, "of the result")
    components: list = key(REQUIRED, array(choice(*COMPONENTS), "a list of components"), "of the field")
    lower: list = key(REQUIRED, array(length, "three lengths", length=3), "of a box; a plane or line may be thin")
    upper: list = key(REQUIRED, array(length, "three lengths", length=3), "of the box")


@dataclasses.dataclass(frozen=True)
class Snapshot(Section):
    """A field in time."""

    title: ClassVar[str] = "[measure] snapshots:"
    name: str = key(REQUIRED, text, "of the result")
    component: str = key(REQUIRED, choice(*COMPONENTS), "of the field")
    every: float = key(REQUIRED, quantity("time", above=0.0), "time between two of them")
    axis: str | None = key(None, choice(*AXES), "across which a plane lies; the whole grid when absent")
    place: float | None = key(None, length, "of the plane")


@dataclasses.dataclass(frozen=True)
class Measure(Section):
    title: ClassVar[str] = "[measure]"
    flux: list = key(
        [],
        array(table(Flux), "a list of tables with name and axis, place or lower, upper"),
        "energy through planes and closed boxes, over that of the wave",
        example='flux = [{ name = "reflected", axis = "x", place = "6 nm" }, '
        '{ name = "transmitted", axis = "x", place = "580 nm" }]',
    )
    probes: list = key(
        [],
        array(table(Probe), "a list of tables with name, component and place"),
        "components kept after every step",
        example='probes = [{ name = "middle", component = "Ey", place = [300, 0, 0] }]',
    )
    fields: list = key(
        [],
        array(choice(*COMPONENTS), "a list of components"),
        "components whose last fields are kept",
        example='fields = ["Ey"]',
    )
    far: list = key(
        [],
        array(table(Far), "a list of tables with name, lower, upper and directions"),
        "light far away, by the field on a closed box: differential cross-sections",
    )
    monitors: list = key(
        [],
        array(table(Monitored), "a list of tables with name, components, lower and upper"),
        "fields at the photon energies of the wave",
    )
    snapshots: list = key(
        [],
        array(table(Snapshot), "a list of tables with name, component, every, and axis and place of a plane"),
        "fields while light travels",
        example='snapshots = [{ name = "light", component = "Ey", every = "0.1 fs" }]',
    )


@dataclasses.dataclass(frozen=True)
class RunTime(Section):
    title: ClassVar[str] = "[run]"
    fall: float = key(1e-6, number(above=0.0, below=1.0), "the run ends when the energy has fallen to this part")
    longest: float = key(1e4, quantity("time", above=0.0), "limit of the simulated time", example='longest = "500 fs"')
    checkpoint_interval: float = key(600.0, number(above=0.0), "seconds between checkpoints")
    wall_limit: float | None = key(None, number(above=0.0), "seconds after which the run stops with a checkpoint")


@dataclasses.dataclass(frozen=True)
class Output(Section):
    title: ClassVar[str] = "[output]"
    file: str = key("light.h5", hdf5_name, "the results; table, picture, log and checkpoint lie beside it")
    plots: bool = key(True, boolean, "pictures of fluxes, energy, fields and snapshots")
    movie: bool = key(False, boolean, "an animation of each of the snapshots, GIF")

    def path(self, suffix: str = ".h5") -> Path:
        """A file beside the results."""
        return Path(self.file).with_suffix(suffix)


@dataclasses.dataclass(frozen=True)
class Parallel(Section):
    title: ClassVar[str] = "[parallel]"
    time_limit: float = time_limit_key()


@dataclasses.dataclass(frozen=True)
class Run(RunFile):
    """A whole run file."""

    sections: ClassVar[dict[str, type[Section]]] = {
        "grid": Grid,
        "matter": Matter,
        "wave": Wave,
        "kick": Kick,
        "measure": Measure,
        "run": RunTime,
        "output": Output,
        "parallel": Parallel,
    }
    required: ClassVar[tuple[str, ...]] = ("grid",)
    command: ClassVar[str] = "halocline maxwell run"
    example_head: ClassVar[tuple[str, ...]] = (
        "Run file of `halocline maxwell run`: a film of gold in empty space.",
        'Numbers are nm, fs and eV; a text carries its unit: "1.2 um", "100 as", "800 meV".',
    )
    example_keys: ClassVar[tuple[str, ...]] = ("grid.size", "grid.step")

    grid: Grid
    matter: Matter = dataclasses.field(default_factory=Matter)
    wave: Wave = dataclasses.field(default_factory=Wave)
    kick: Kick = dataclasses.field(default_factory=Kick)
    measure: Measure = dataclasses.field(default_factory=Measure)
    run: RunTime = dataclasses.field(default_factory=RunTime)
    output: Output = dataclasses.field(default_factory=Output)
    parallel: Parallel = dataclasses.field(default_factory=Parallel)
