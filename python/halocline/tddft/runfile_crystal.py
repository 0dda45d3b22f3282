# SPDX-License-Identifier: Apache-2.0
"""Sections of the run file for crystals: [kpoints], [bands] and [dos]."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from halocline.schema import Section, Unfit, array, boolean, choice, integer, key, number, pythonic, text
from halocline.tddft.units import HARTREE_EV, quantity, vector

AXES = ("x", "y", "z")

three_counts = vector(integer(at_least=1), "three integers x, y, z, each at least 1")


def symmetry_use(value: Any) -> Any:
    """True, False, or the direction of a field."""
    value = pythonic(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return choice(*AXES)(value)
    expected = 'true, false, or the direction of a field: an axis "x", "y" or "z", or three numbers'
    vector_3 = array(number(), expected, length=3)(value)
    if not any(vector_3):
        raise Unfit(expected)
    return vector_3


@dataclasses.dataclass(frozen=True)
class KPoints(Section):
    title: ClassVar[str] = "[kpoints]"
    mesh: tuple = key((1, 1, 1), three_counts, "Monkhorst-Pack mesh of a crystal")
    shift: tuple = key((0.0, 0.0, 0.0), vector(number(), "three numbers"), "of the mesh, in units of its own steps")
    gamma: bool = key(False, boolean, "move a mesh of even numbers by half a step, so that k = 0 is in it")
    symmetry: Any = key(
        False,
        symmetry_use,
        "true: only the k-points that the crystal's symmetries do not relate, for ground states and bands; an axis or "
        'a vector, such as "z": by those symmetries that leave it alone, for a field along it',
    )


@dataclasses.dataclass(frozen=True)
class BandPath(Section):
    """The bands of a crystal along a path."""

    title: ClassVar[str] = "[bands]"
    path: str | None = key(
        None,
        text,
        "special points of the Brillouin zone, as ASE names them; ASE's path for the cell when absent",
        example='path = "GXMGR"',
    )
    points: int = key(60, integer(at_least=2), "k-points on the whole path")
    bands: int | None = key(
        None,
        integer(at_least=1),
        "of each k-point and spin; the filled ones and half more when absent",
        example="bands = 12",
    )


def radii_of_spheres(value: Any) -> dict[str, float]:
    """Symbol -> radius [bohr]."""
    if not isinstance(value, Mapping):
        raise Unfit('a table such as { Si = "1.1 angstrom" }')
    return {str(symbol): quantity("length", above=0.0)(radius) for symbol, radius in value.items()}


@dataclasses.dataclass(frozen=True)
class Dos(Section):
    """The density of states."""

    title: ClassVar[str] = "[dos]"
    width: float = key(
        0.1 / HARTREE_EV,
        quantity("energy", above=0.0),
        "standard deviation of the Gaussian of a state; 0.1 eV when absent",
        example='width = "0.1 eV"',
    )
    from_energy: float | None = key(
        None,
        quantity("energy"),
        "where the table begins; below all states when absent",
        example='from_energy = "-8 eV"',
    )
    to_energy: float | None = key(
        None, quantity("energy"), "where it ends; above all states when absent", example='to_energy = "12 eV"'
    )
    step: float = key(
        0.02 / HARTREE_EV,
        quantity("energy", above=0.0),
        "of the table; 0.02 eV when absent",
        example='step = "0.02 eV"',
    )
    projected: bool = key(False, boolean, "the parts of s, p, d and f character in spheres around the atoms, too")
    radii: dict = key(
        {},
        radii_of_spheres,
        "of the spheres, by element; those at which the nearest spheres touch when absent",
        example='# radii = { Si = "1.1 angstrom" }',
    )
