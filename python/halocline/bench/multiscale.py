# SPDX-License-Identifier: Apache-2.0
"""A step of light across a film whose cells are crystals, beside a step of one cell alone."""

from __future__ import annotations

import math
import statistics
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.bench.clock import counted, energy, summary, timed
from halocline.comm import communicator
from halocline.errors import InvalidArgument
from halocline.schema import changed
from halocline.tddft.multiscale import Cells, Filling, FilmLight, Section, given_field
from halocline.tddft.propagation import library_options

STEP = 80.0
"""Thickness of a cell [bohr], 4.2 nm."""
PULSE = {"amplitude": "1e12 W/cm^2", "frequency": "1.55 eV", "duration": "10 fs", "direction": "z"}
STEPS = 20000
"""At most, of one measurement."""
POTENTIAL = 1e-3
"""Largest that the cell alone is given [a.u.]; it changes in every step, as in a pulse."""


def multiscale(
    cells: int = 4,
    groups: int = 0,
    points: Sequence[int] = (16, 16, 16),
    k_points: Sequence[int] = (2, 2, 2),
    line: int = 1000,
    scheme: str = "taylor4",
    comm: Any = None,
    seconds: float = 2.0,
) -> dict[str, Any]:
    """One step of light and of all cells of a film of bulk silicon, 8 atoms a cell, in its ground state.

    groups: of processes that share the cells; 0: as many as there are cells or processes; points, k_points: of a
    crystal; line: cells of the longer film whose light alone is timed, on each process; scheme: "taylor4" or "midpoint"
    `result` has the seconds of a step of one cell that every group takes at the same time (`one_cell`), those of the
    whole step over the cells of the largest group times these (`over_one`), the seconds of the light of `line` cells,
    and these over one cell's step (`light_share`). All are measured in turns, until the whole steps have taken
    `seconds`.
    Raises InvalidArgument for more groups than cells or processes. Collective.
    """
    import ase.build

    import halocline as hc

    world = communicator(comm)
    groups = groups or min(cells, world.size)
    if groups > min(cells, world.size):
        raise InvalidArgument(
            f"multiscale: {groups} groups were asked for, of {cells} cells and {world.size} processes; give fewer."
        )
    group = world.split(world.rank * groups // world.size) if groups > 1 else world
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # coarse grids are for the sake of time
        system = hc.tddft.from_atoms(ase.build.bulk("Si", cubic=True), extent=points, mesh=k_points, allow_coarse=True)
        ground = hc.tddft.ground_state(system, comm=group)
    options = changed(system.run.propagate, {"pulses": [PULSE], "kick": 0.0, "steps": STEPS, "scheme": scheme})
    options = changed(options, {"gauge": "velocity", "energy_every": 0, "total_time": None})
    crystal = Filling(ground, None)
    section = changed(Section(), {"cells": cells, "step": STEP})
    film = Cells([crystal] * cells, STEP, section, options, world)
    field = given_field(options)
    given = library_options(options, film.time_step)
    alone = _halocline.tddft.Propagator(ground.model, ground.state.copy(), field, given)
    longer = FilmLight(field, [crystal] * line, STEP, 0, changed(section, {"cells": line}), film.time_step, STEPS)
    currents = np.zeros((line, 3))

    used: list[tuple[float, float]] = []
    times: dict[str, list[float]] = {"whole": [], "one": [], "light": []}

    def one() -> None:
        alone.set_next_potential([0.0, 0.0, POTENTIAL * math.sin(0.01 * len(times["one"]))])
        alone.step()
        _ = alone.driving_current

    work = {"whole": film.advance, "one": one, "light": lambda: longer.advance(currents)}
    for step in work.values():
        step()
    while len(times["one"]) < 3 or (sum(times["whole"]) < seconds and len(times["one"]) < STEPS - 2):
        for name, step in work.items():
            lasted, joules = counted(world, step) if name == "whole" else (timed(world, step), 0.0)
            times[name].append(world.max([lasted])[0])
            if name == "whole":
                used.append((times[name][-1], joules))
    largest = round(world.max([float(len(film.mine))])[0])
    medians = {name: statistics.median(some) for name, some in times.items()}
    return {
        "bench": "multiscale",
        "case": {
            "cells": cells,
            "groups": groups,
            "points": list(points),
            "k_points": list(k_points),
            "scheme": scheme,
            "threads": _halocline.core.threads(),
            "processes": world.size,
        },
        "seconds": summary(times["whole"]),
        "energy": energy(used),
        "result": {
            "one_cell": summary(times["one"]),
            "cells_of_the_largest_group": largest,
            "over_one": medians["whole"] / (largest * medians["one"]),
            "line": line,
            "light": summary(times["light"]),
            "light_share": medians["light"] / medians["one"],
        },
    }
