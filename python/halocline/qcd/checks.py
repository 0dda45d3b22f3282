# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of `halocline.qcd` functions, in the words of the run file (halocline.schema)."""

from __future__ import annotations

from typing import Any

from halocline import _halocline
from halocline.qcd.doublet import DoubletPropagator
from halocline.schema import Unfit, array, instance, integer, number, phase, pythonic

AXES = "xyzt"
MOST = 2**31 - 1
"""The largest number of steps, and of anything else that the library counts in 32 bits."""

a_field = instance(
    _halocline.qcd.GaugeField, "a GaugeField, as read_gauge, unit_links or GaugeField.from_array make it"
)
a_place = instance((_halocline.qcd.GaugeField, _halocline.lattice.Geometry), "a GaugeField or a Geometry")
a_propagator = instance(_halocline.qcd.Propagator, "a Propagator, as hc.qcd.propagator and read_propagator give it")
any_propagator = instance(
    (_halocline.qcd.Propagator, _halocline.qcd.StaggeredPropagator),
    "a Propagator or a StaggeredPropagator, as hc.qcd.propagator gives it, or a block of a DoubletPropagator",
)
for_a_file = instance(
    (_halocline.qcd.Propagator, _halocline.qcd.StaggeredPropagator, DoubletPropagator),
    "a propagator, as hc.qcd.propagator gives it",
)
a_seed = integer(at_least=0, at_most=2**64 - 1)
a_grid = array(integer(at_least=1), "four integers, the processes along x, y, z, t", length=4)
a_site = array(integer(at_least=0), "a position [x, y, z, t]", length=4)
a_momentum = array(integer(at_least=-1000, at_most=1000), "three integers nx, ny, nz", length=3)
a_spin, a_colour = integer(at_least=0, at_most=3), integer(at_least=0, at_most=2)
a_time = integer(at_least=0)
positive = number(above=0.0)
not_negative = number(at_least=0.0)
some_steps = integer(at_least=0, at_most=MOST)
one_or_more = integer(at_least=1, at_most=MOST)
four_phases = array(phase, "four boundary factors x, y, z, t", length=4)
four_factors = array(number(), "four numbers, for x, y, z, t", length=4)
a_lane_count = integer(at_least=0, at_most=1024)
space_phases = array(phase, "boundary factors x, y, z", at_least=3)


def a_fraction(value: Any) -> float:
    """A number from 0 to 1."""
    try:
        value = not_negative(value)
    except Unfit:
        value = 2.0
    if value > 1.0:
        raise Unfit("a number from 0 to 1")
    return value


def an_axis(value: Any) -> int:
    """0 to 3, or a letter."""
    value = pythonic(value)
    if isinstance(value, str) and len(value) == 1 and value in AXES:
        return AXES.index(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 4:
        return value
    raise Unfit('an axis, 0 to 3 or "x", "y", "z", "t"')
