# SPDX-License-Identifier: Apache-2.0
"""What arguments of a grid of light can be: axes, components, places, energies."""

from __future__ import annotations

from typing import Any

from halocline.maxwell.units import quantity
from halocline.schema import Unfit

AXES = "xyz"
COMPONENTS = ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")
a_length, a_duration, an_energy = quantity("length"), quantity("time", above=0.0), quantity("energy", above=0.0)


def an_axis(value: Any) -> int:
    """Number of an axis."""
    if isinstance(value, str) and value in AXES and len(value) == 1:
        return AXES.index(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 3:
        return value
    raise Unfit('"x", "y" or "z"')


def a_component(value: Any) -> int:
    """Number of a component."""
    if value in COMPONENTS:
        return COMPONENTS.index(value)
    raise Unfit(f"one of {', '.join(COMPONENTS)}")


def some_energies(value: Any) -> list[float]:
    """Photon energies [eV], at least one."""
    values = [value] if isinstance(value, (int, float, str)) else list(value)
    if not values:
        raise Unfit("at least one photon energy")
    return [an_energy(v) for v in values]


def a_size(value: Any) -> list[float]:
    """Three lengths [nm], 0 along flat axes."""
    if isinstance(value, (str, int, float)) or len(value) != 3:
        raise Unfit("three lengths; 0 along an axis along which nothing changes")
    return [quantity("length", at_least=0.0)(v) for v in value]


def a_place(value: Any) -> list[float]:
    """Three lengths [nm]."""
    if isinstance(value, (str, int, float)) or len(value) != 3:
        raise Unfit("three lengths x, y, z")
    return [a_length(v) for v in value]


def a_corner(value: Any) -> list[Any]:
    """Three lengths [nm]; ... where a body does not end."""
    if isinstance(value, (str, int, float)) or len(value) != 3:
        raise Unfit("three lengths x, y, z; ... where the body does not end")
    return [v if v is ... else a_length(v) for v in value]


def a_direction(value: Any) -> list[float]:
    """Three numbers, from an axis or a vector."""
    if isinstance(value, str):
        return [float(a == an_axis(value)) for a in range(3)]
    if len(value) != 3:
        raise Unfit('"x", "y", "z", or three numbers')
    return [float(v) for v in value]
