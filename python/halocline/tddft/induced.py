# SPDX-License-Identifier: Apache-2.0
"""Light that answers the current of a crystal: what the library takes of it, and the balance of light on a film."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from halocline.errors import FileError, InvalidArgument
from halocline.tddft.runfile_light import Propagate
from halocline.tddft.system import System
from halocline.tddft.units import SPEED_OF_LIGHT


def response_of(options: Propagate) -> dict[str, Any]:
    """The library's form of [propagate] response and film."""
    film = options.film
    found = {"geometry": options.response, "thickness": 0.0, "front": 1.0, "behind": 1.0}
    return found | ({} if film is None else dataclasses.asdict(film))


def check_response(system: System, options: Propagate) -> None:
    """Raises InvalidArgument for an induced field that the system cannot have."""
    if options.response == "transverse":
        return
    if not system.periodic:
        raise InvalidArgument(
            f'[propagate] response = "{options.response}" is for crystals; the own field of a molecule is in its '
            "Hartree potential already: leave it out."
        )
    if options.spin_kick:
        raise InvalidArgument(
            f'[propagate] response = "{options.response}" was given with spin_kick, which drives no current; leave one '
            "of them out."
        )


def driving(records: list[dict[str, Any]], step: int) -> tuple[list[float], ...] | None:
    """The induced field of a step, to go on from: potential and current of this step, and of the one before. None where
    the light does not answer. Raises FileError if the step is not there."""
    if not records or "induced" not in records[-1]:
        return None
    found = [r["induced"] for r in records if r["step"] in (step - 1, step)]
    if len(found) != min(step, 1) + 1:
        raise FileError(f"the series does not have the induced field of step {step}, where its orbitals are from.")
    now, before = found[-1], found[0]
    return now["potential"], now["current"], before["potential"], before["current"]


@dataclasses.dataclass(frozen=True)
class FilmBalance:
    """Where the energy of light on a film has gone, as parts of the incident energy. They add up to 1, up to the step's
    error, once the pulse is over."""

    incident: float
    """Energy through an area [hartree/bohr^2]."""
    reflected: float
    transmitted: float
    absorbed: float

    def sentence(self) -> str:
        """The line of the log."""
        parts = (f"{100 * getattr(self, name):.4g} % {name}" for name in ("reflected", "transmitted", "absorbed"))
        return ", ".join(parts)


def advice_on_film(balance: FilmBalance | None) -> str | None:
    """A warning about a film that has given off energy, which no ground state can; None if all is well."""
    if balance is None or balance.absorbed > -0.01:
        return None
    return gives_off("film has", -balance.absorbed)


def gives_off(who: str, share: float) -> str:
    """The warning about matter that has given off a share of the light's energy; who: with its verb."""
    return (
        f"the {who} given off {100 * share:.3g} % of the light's energy, which a ground state cannot: its energy falls "
        "as the vector potential moves the k-points, because they are too few, and the light grows by itself. Take a "
        "finer [kpoints] mesh."
    )


def balance_on_film(
    options: Propagate, time: np.ndarray, applied: np.ndarray, field: np.ndarray, current: np.ndarray
) -> FilmBalance | None:
    """The balance of light on a film, by the trapezoidal rule in time. None without a film, or without light but the
    kick, whose energy is infinite.

    applied, field: E of the incident light and E in the film, shape (n, 3) [a.u.]; current: J with that of the ions,
    shape (n, 3)
    """
    if options.film is None or not np.any(applied):
        return None
    flow = SPEED_OF_LIGHT / (4.0 * np.pi)
    incident = flow * options.film.front * float(np.trapezoid((applied**2).sum(1), time))
    reflected = flow * options.film.front * float(np.trapezoid(((field - applied) ** 2).sum(1), time))
    transmitted = flow * options.film.behind * float(np.trapezoid((field**2).sum(1), time))
    # The current is one of particles; their charge is -1.
    absorbed = -options.film.thickness * float(np.trapezoid((field * current).sum(1), time))
    return FilmBalance(incident, reflected / incident, transmitted / incident, absorbed / incident)
