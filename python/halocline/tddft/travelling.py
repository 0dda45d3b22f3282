# SPDX-License-Identifier: Apache-2.0
"""Light whose vector potential depends on the place, [propagate] travels: what it goes with, its columns in a series,
and the balance of its energy."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from halocline.errors import InvalidArgument
from halocline.tddft.induced import FilmBalance
from halocline.tddft.runfile_crystal import AXES
from halocline.tddft.runfile_light import Propagate, unit_vector
from halocline.tddft.system import System
from halocline.tddft.units import SPEED_OF_LIGHT

NAMES = ("incident", "reflected", "transmitted")
POTENTIAL_UNIT = "hbar/(e bohr)"


def way_of(options: Propagate) -> tuple[int, int] | None:
    """Axis and direction, +1 or -1, of [propagate] travels; None for light that is the same everywhere."""
    if options.travels is None:
        return None
    return AXES.index(options.travels[-1]), -1 if options.travels.startswith("-") else 1


def check_travelling(system: System, options: Propagate, ions_move: bool) -> None:
    """Raises InvalidArgument for what light that depends on the place does not go with."""
    if options.travels is None:
        if options.profile_every:
            raise InvalidArgument(
                "[propagate] profile_every is for light that depends on the place; say its way, such as travels = "
                '"z", or leave profile_every out.'
            )
        return
    given = f'[propagate] travels = "{options.travels}"'
    axis, towards = way_of(options)
    lines = (
        (options.kick != 0, "with a kick", "give a pulse, which has a beginning at the face of the cell"),
        (options.gauge == "length", 'with gauge = "length"', "leave gauge out"),
        (options.response != "transverse", f'with response = "{options.response}"', "leave response out, since this "
         "light answers by itself"),
        (options.precision != "double", 'with precision = "float"', "take double"),
        (options.angular_momentum, "with angular_momentum = true", "leave it out"),
        (options.excited_every > 0, "with excited_every, which counts electrons in a uniform field", "leave it out"),
        (ions_move, "with [ions] move = true", "let the atoms rest"),
        (system.reduction is not None, "with k-points reduced by symmetry", "set [kpoints] symmetry = false"),
        (system.periodic and any(o for a, o in enumerate(system.structure.open) if a != axis),
         "across vacuum beside a slab or wire", "let it travel along the open axis of a slab"),
        (not system.structure.orthogonal, "in a cell whose edges are not at right angles", "take an orthogonal cell"),
    )  # fmt: skip
    for wrong, what, instead in lines:
        if wrong:
            raise InvalidArgument(f"{given} was given {what}; {instead}.")
    for pulse in options.pulses:
        vectors = [unit_vector(pulse.direction)]
        if pulse.ellipticity:
            vectors.append(tuple(np.cross(unit_vector(pulse.around), vectors[0])))
        if any(abs(v[axis]) > 1e-12 for v in vectors):
            raise InvalidArgument(
                f"{given} was given with a pulse whose electric field has a part along {AXES[axis]}; give it a "
                "direction at right angles to the way of the light."
            )
        if pulse.ellipticity and unit_vector(pulse.around)[axis] * towards < 0:
            raise InvalidArgument(
                f"{given} was given with an elliptic pulse around the other way, which would turn its sense; give "
                "around the way of the light."
            )


LONGEST_BOX = 0.3
"""Largest edge over wavelength / 2 pi for which the near field of a box is taken without a word."""


def advice_on_box(system: System, options: Propagate) -> str | None:
    """A warning about a box in which the near field is late; None if all is well."""
    if options.travels is None or system.periodic or not options.pulses:
        return None
    longest = max(float(edge) for edge in system.structure.edges)
    part = longest * max(p.frequency for p in options.pulses) / SPEED_OF_LIGHT
    if part < LONGEST_BOX:
        return None
    return (
        f"the box of {longest:.4g} bohr is {part:.3g} of the wavelength / 2 pi; the near field of the currents, "
        f"which is taken without its time of flight, errs by some {100 * part**2:.2g} % of itself (light/near_field)."
    )


@dataclasses.dataclass
class TravellingLight:
    """Light at the faces of the cell or box, and its profile along the way, of a propagation. Atomic units.

    time: shape (n,); incident, reflected, transmitted: vector potentials, shape (n, 3): of the light from outside at
    the face where it enters, of that which leaves there, and of all light behind the other face
    near_field: shape (n,): largest |A| of the near field of the currents
    profile_time: shape (m,); potential, current: means over the planes across the way, shape (m, planes, 3)
    """

    time: np.ndarray
    incident: np.ndarray
    reflected: np.ndarray
    transmitted: np.ndarray
    near_field: np.ndarray
    profile_time: np.ndarray
    potential: np.ndarray
    current: np.ndarray

    @classmethod
    def of_records(cls, records: list[dict[str, Any]]) -> TravellingLight:
        """From the records of a propagation."""
        light = [r["light"] for r in records]
        profiles = [(r["time"], *r["profile"]) for r in records if "profile" in r]
        return cls(
            np.array([r["time"] for r in records]),
            *(np.array([row[name] for row in light], dtype=float).reshape(-1, 3) for name in NAMES),
            np.array([row["near_field"] for row in light], dtype=float),
            np.array([p[0] for p in profiles]),
            *(np.array([p[n] for p in profiles], dtype=float) for n in (1, 2)),
        )

    def field(self, name: str) -> np.ndarray:
        """E of "incident", "reflected" or "transmitted" light in the middle of each step, shape (n - 1, 3)."""
        return -np.diff(getattr(self, name), axis=0) / np.diff(self.time)[:, None]

    def balance(self, area: float, won: float | None, until: float) -> FilmBalance | None:
        """Where the energy of the light has gone up to a time [a.u.]; None without light. area: of the cell across the
        way [bohr^2]. won: energy of the electrons [hartree]; what is missing in the light when absent."""
        step = (np.diff(self.time) * (self.time[1:] < until + 0.5 * np.diff(self.time)))[:, None]
        flow = {n: SPEED_OF_LIGHT / (4.0 * np.pi) * float((step * self.field(n) ** 2).sum()) for n in NAMES}
        if not flow["incident"]:
            return None
        parts = {name: flow[name] / flow["incident"] for name in NAMES[1:]}
        absorbed = 1.0 - sum(parts.values()) if won is None else won / area / flow["incident"]
        return FilmBalance(flow["incident"], parts["reflected"], parts["transmitted"], absorbed)

    def data(self) -> dict[str, Any]:
        """The columns in the form for results.write."""
        found = {f"light/{name}": (getattr(self, name), POTENTIAL_UNIT) for name in (*NAMES, "near_field")}
        if self.profile_time.size:
            found |= {
                "light/profile_time": (self.profile_time, "hbar/hartree"),
                "light/potential": (self.potential, POTENTIAL_UNIT),
                "light/current": (self.current, "electrons hartree/(hbar bohr^2)"),
            }
        return found


def restore_light(records: list[dict[str, Any]], data: dict[str, Any]) -> None:
    """Puts the columns of data() back into records."""
    if "light/incident" not in data:
        return
    rows = {float(t): n for n, t in enumerate(data.get("light/profile_time", ()))}
    for n, record in enumerate(records):
        record["light"] = {name: data[f"light/{name}"][n].tolist() for name in NAMES}
        record["light"]["near_field"] = float(data["light/near_field"][n])
        if record["time"] in rows:
            at = rows[record["time"]]
            record["profile"] = data["light/potential"][at], data["light/current"][at]


def add_profile(record: dict[str, Any], propagator: Any, options: Propagate) -> None:
    """Adds the profile of the light to a record, if it is due. Collective."""
    if options.travels is not None and options.profile_every and record["step"] % options.profile_every == 0:
        record["profile"] = propagator.light_profile()
