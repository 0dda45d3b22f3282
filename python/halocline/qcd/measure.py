# SPDX-License-Identifier: Apache-2.0
"""Sources of quark propagators, and the contractions that make hadron correlators of propagators.

Spinors are NumPy arrays [t][z][y][x][spin][colour], complex128, the local part of each process; basis DeGrand-Rossi.
Contractions are collective over the processes of the propagator; sources say whether they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halocline import _halocline
from halocline.errors import InvalidArgument
from halocline.qcd import checks
from halocline.qcd.gauge import GaugeField
from halocline.qcd.propagators import Propagator, StaggeredPropagator
from halocline.qcd.runfile import CLIFFORD, MESONS, STAGGERED_MESONS, Source, channels, momentum_list, one_of
from halocline.schema import choice, phase, shown, takes

Spinor = NDArray[np.complex128]


def spinor_of(values: Any) -> Spinor:
    """The spinor as a contiguous complex128 array; the library checks its shape. Raises InvalidArgument otherwise."""
    try:
        return np.ascontiguousarray(values, dtype=np.complex128)
    except (TypeError, ValueError):
        raise InvalidArgument(
            f"a spinor was given as {shown(values)}; expected an array [t][z][y][x][spin][colour] of complex numbers."
        ) from None


@takes(geometry=checks.a_place, position=checks.a_site, spin=checks.a_spin, colour=checks.a_colour)
def point_source(geometry: Any, position: Sequence[int], spin: int, colour: int) -> Spinor:
    """1 at a global position x, y, z, t in one spin and colour; geometry: or a GaugeField. Not collective."""
    return _halocline.qcd.point_source(_geometry(geometry), list(position), spin, colour)


@takes(
    geometry=checks.a_place, time=checks.a_time, spin=checks.a_spin, colour=checks.a_colour, momentum=checks.a_momentum
)
def wall_source(geometry: Any, time: int, spin: int, colour: int, momentum: Sequence[int] = (0, 0, 0)) -> Spinor:
    """exp(i p x) on a time slice in one spin and colour; fix the gauge first. Not collective."""
    return _halocline.qcd.wall_source(_geometry(geometry), time, spin, colour, list(momentum))


def _geometry(place: Any) -> Any:
    return place.geometry if isinstance(place, GaugeField) else place


@takes(s=checks.a_propagator, time=checks.a_time, gamma=choice(*CLIFFORD), momentum=checks.a_momentum)
def sequential_sources(
    s: Propagator, time: int, gamma: str = "gxgygzgt", momentum: Sequence[int] = (0, 0, 0)
) -> list[Spinor]:
    """Twelve sources through a sink at `time`: exp(-i p x) Gamma S on that slice, zero elsewhere.

    gamma: a product of gx, gy, gz, gt by name, "1" for none; gamma5 is "gxgygzgt"
    Raises InvalidArgument for another name or a time outside the lattice. Not collective.
    """
    return _halocline.qcd.sequential_sources(s, time, CLIFFORD.index(gamma), list(momentum))


@takes(
    u=checks.a_field,
    width=checks.positive,
    steps=checks.one_or_more,
    boundary=checks.space_phases,
)
def smear_gaussian(
    spinor: Spinor, u: GaugeField, width: float, steps: int = 20, boundary: Sequence[complex] = (1, 1, 1, -1)
) -> Spinor:
    """Gauge-covariant Gaussian smearing of a spinor in space, a new array; width in sites.

    With at most 3/2 width^2 steps, the largest momenta grow and the source is no Gaussian. This is a warning and not an
    error, because other codes allow it.
    """
    for sentence in Source(kind="gaussian", width=width, steps=steps).doubts():
        warnings.warn(sentence, stacklevel=3)
    spinor = spinor_of(spinor)
    return _halocline.qcd.smear_gaussian(spinor, u, width, steps, [complex(b) for b in boundary[:3]])


def source_columns(u: GaugeField, source: Source, position: Sequence[int], boundary: Sequence[complex]) -> list[Spinor]:
    """The right-hand sides of a propagator with twelve columns, in the order 3 spin + colour.

    Collective for a Gaussian source.
    """
    geometry = u.geometry
    if source.kind == "z2":
        sample = int(position[3])
        return _halocline.qcd.noise_sources(geometry, int(position[3]), source.seed, sample)
    columns = []
    for spin in range(4):
        for colour in range(3):
            if source.kind == "wall":
                columns.append(wall_source(geometry, position[3], spin, colour))
                continue
            column = point_source(geometry, position, spin, colour)
            if source.kind == "gaussian":
                column = _halocline.qcd.smear_gaussian(column, u, source.width, source.steps, list(boundary[:3]))
            columns.append(column)
    return columns


@takes(geometry=checks.a_place, position=checks.a_site, colour=checks.a_colour)
def staggered_point_source(geometry: Any, position: Sequence[int], colour: int) -> Spinor:
    """1 at a global position x, y, z, t in one colour of staggered quarks: [t][z][y][x][colour]. Not collective."""
    return _halocline.qcd.staggered_point_source(_geometry(geometry), list(position), colour)


@takes(geometry=checks.a_place, position=checks.a_site, colour=checks.a_colour)
def staggered_wall_source(geometry: Any, position: Sequence[int], colour: int) -> Spinor:
    """A corner wall of staggered quarks: 1 on the time slice of a position, where x, y and z differ from it by even
    numbers: [t][z][y][x][colour]. For links in a fixed gauge. Not collective.

    Raises InvalidArgument for an odd extent in space.
    """
    return _halocline.qcd.staggered_wall_source(_geometry(geometry), list(position), colour)


@takes(
    quark=checks.any_propagator,
    antiquark=checks.any_propagator,
    channels=channels,
    momenta=momentum_list,
)
def mesons(
    quark: Propagator | StaggeredPropagator,
    antiquark: Propagator | StaggeredPropagator | None = None,
    channels: Sequence[str] | str | None = None,
    momenta: Sequence[Sequence[int]] | None = None,
) -> dict[str, NDArray[Any]]:
    """Meson correlators C(t), summed over space, source time at index 0, no volume or kappa factor.

    channels: names, "all", or None for the named ones; those of staggered quarks are others (docs/actions.md)
    momenta: integer momenta [nx, ny, nz] of the sink
    Returns channel -> shape (T,), real, when momenta is None, and shape (momenta, T), complex, otherwise.
    """
    antiquark = quark if antiquark is None else antiquark
    staggered = isinstance(quark, StaggeredPropagator)
    if staggered != isinstance(antiquark, StaggeredPropagator):
        raise InvalidArgument("mesons: one propagator is of staggered quarks and the other is not; give two of a kind.")
    if channels is None or (staggered and channels == MESONS + CLIFFORD):
        channels = STAGGERED_MESONS if staggered else MESONS
    names = list(channels)
    known = STAGGERED_MESONS if staggered else MESONS + CLIFFORD
    if (unknown := next((name for name in names if name not in known), None)) is not None:
        raise InvalidArgument(f'mesons: these quarks have no channel "{unknown}"; give {", ".join(known)}.')
    chosen = [[0, 0, 0]] if momenta is None else [list(p) for p in momenta]
    contract = _halocline.qcd.staggered_mesons if staggered else _halocline.qcd.mesons
    result = contract(quark, antiquark, names, chosen)
    return {name: c[0].real.copy() for name, c in result.items()} if momenta is None else result


@takes(up=checks.a_propagator, down=checks.a_propagator, boundary_t=phase, parity=one_of(1, -1), momenta=momentum_list)
def nucleon(
    up: Propagator,
    down: Propagator | None = None,
    boundary_t: complex = -1,
    parity: int = 1,
    momenta: Sequence[Sequence[int]] | None = None,
) -> NDArray[Any]:
    """The nucleon correlator tr[(1 + parity gamma_t)/2 G(t)] of docs/conventions.md.

    boundary_t: the t entry of the action's boundary
    Returns shape (T,), real, when momenta is None, and shape (momenta, T), complex, otherwise.
    Raises InvalidArgument for propagators of twisted-mass quarks: in their basis the projector is not one on parity.
    """
    actions = [(getattr(s, "record", None) or {}).get("action") for s in (up, down)]
    if any(isinstance(action, Mapping) and action.get("mu") for action in actions):
        raise InvalidArgument(
            "nucleon: the propagator is of twisted-mass quarks, whose basis mixes parities; the nucleon of these is "
            "not available. Give propagators of WilsonClover."
        )
    chosen = [[0, 0, 0]] if momenta is None else [list(p) for p in momenta]
    result = _halocline.qcd.nucleon(up, up if down is None else down, complex(boundary_t), parity, chosen)
    return result[0].real.copy() if momenta is None else result
