# SPDX-License-Identifier: Apache-2.0
"""Media from measured refractive indices: `read_index("Si.csv")` and `fit(...)`.

A table of n and k over the wavelength becomes a sum of poles, which is what a simulation in time can propagate. All
strengths and dampings of the fit are positive, so a medium never gives energy to light.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np

from halocline.errors import FileError, InvalidArgument
from halocline.maxwell.media import Medium, Pole
from halocline.maxwell.units import energy_of, quantity
from halocline.schema import takes

MOST_POLES = 8
ENOUGH = 2e-3
"""Error of the fit, root mean square of |epsilon - fit| / |epsilon|, below which no pole is added."""

_UNITS_NM = {"nm": 1.0, "um": 1e3, "angstrom": 0.1}


@dataclasses.dataclass(frozen=True)
class IndexTable:
    """A refractive index over photon energies, which rise."""

    energy: np.ndarray
    """[eV]"""
    index: np.ndarray
    """n + i k"""
    source: str

    @property
    def epsilon(self) -> np.ndarray:
        """The permittivity."""
        return self.index**2


def read_index(path: str | Path, unit: str = "um") -> IndexTable:
    """Reads a refractive index from a text file: lines of wavelength, n and, where it absorbs, k, separated by blanks,
    commas or tabs; lines of words and those that begin with # are skipped. A file may have a block of n and then one of
    k at the same wavelengths, as tables on the web do.

    unit: of wavelengths, "um", "nm" or "angstrom"
    Raises FileError for a file without such lines. Collective: no.
    """
    if unit not in _UNITS_NM:
        raise InvalidArgument(f'read_index: unit = "{unit}": expected "um", "nm" or "angstrom".')
    blocks: list[list[list[float]]] = [[]]
    try:
        lines = Path(path).read_text(errors="replace").splitlines()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None
    for line in lines:
        words = line.split("#")[0].replace(",", " ").split()
        try:
            numbers = [float(w) for w in words]
        except ValueError:
            numbers = []
        if len(numbers) >= 2:
            blocks[-1].append(numbers)
        elif words and blocks[-1]:
            blocks.append([])  # a line of words begins a new block
    blocks = [b for b in blocks if b]
    if not blocks or len(blocks) > 2 or any(len({len(row) for row in b}) > 1 for b in blocks):
        raise FileError(
            f"{path}: is no table of a refractive index; expected lines of wavelength, n and k, or a block of n and "
            "one of k."
        )
    first = np.array(blocks[0])
    index = first[:, 1] + (1j * first[:, 2] if first.shape[1] > 2 else 0j)
    if len(blocks) == 2:
        second = np.array(blocks[1])
        if len(second) != len(first) or np.abs(second[:, 0] - first[:, 0]).max() > 1e-6 * first[:, 0].max():
            raise FileError(f"{path}: n and k are given at different wavelengths; bring them to the same ones.")
        index = first[:, 1] + 1j * second[:, 1]
    wavelength = first[:, 0] * _UNITS_NM[unit]
    if np.any(wavelength <= 0) or np.any(index.real < 0) or np.any(index.imag < 0) or not np.all(np.isfinite(index)):
        raise FileError(f"{path}: has wavelengths, n or k below zero or not finite.")
    energy = np.array([energy_of(float(w)) for w in wavelength])
    order = np.argsort(energy)
    return IndexTable(energy[order], index[order], os.path.basename(path))


def _model(energy: np.ndarray, resonance: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """Columns: 1 and each pole of strength 1."""
    poles = 1 / (resonance**2 - energy[:, None] ** 2 - 1j * damping * energy[:, None])
    return np.concatenate([np.ones((len(energy), 1), dtype=complex), poles], axis=1)


class _Fit:
    """Poles for a permittivity: strengths by least squares that are not negative, the others by descent."""

    def __init__(self, energy: np.ndarray, epsilon: np.ndarray, fixed: float | None) -> None:
        """fixed: permittivity at high frequencies; found by the fit if None"""
        self.energy, self.epsilon, self.fixed = energy, epsilon, fixed
        self.weight = 1 / np.abs(epsilon)

    def strengths(self, resonance: np.ndarray, damping: np.ndarray) -> tuple[np.ndarray, float]:
        """What the permittivity at high frequencies is above 1, and the strengths; with the error."""
        from scipy.optimize import nnls  # slow to load

        columns = _model(self.energy, resonance, damping) * self.weight[:, None]
        base = 1.0 if self.fixed is None else self.fixed
        rest = (self.epsilon - base) * self.weight
        if self.fixed is not None:
            columns = columns[:, 1:]
            if columns.shape[1] == 0:
                return np.array([base - 1]), float(np.linalg.norm(rest) / np.sqrt(len(self.energy)))
        matrix = np.concatenate([columns.real, columns.imag])
        size = np.linalg.norm(matrix, axis=0)
        found, residual = nnls(matrix / size, np.concatenate([rest.real, rest.imag]))
        found = found / size
        if self.fixed is not None:
            found = np.append(base - 1, found)
        return found, residual / np.sqrt(len(self.energy))

    def refine(self, resonance: np.ndarray, damping: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Moves all poles downhill. A pole at zero stays there."""
        from scipy.optimize import least_squares

        fixed = resonance == 0
        lowest, highest = 1e-3 * self.energy[0], 5 * self.energy[-1]

        def split(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            moved = np.zeros(len(fixed))
            moved[~fixed] = np.exp(x[: np.sum(~fixed)])
            return moved, np.exp(x[np.sum(~fixed) :])

        def residuals(x: np.ndarray) -> np.ndarray:
            r, d = split(x)
            s, _ = self.strengths(r, d)
            rest = (_model(self.energy, r, d) @ s + 1 - self.epsilon) * self.weight
            return np.concatenate([rest.real, rest.imag])

        start = np.log(np.concatenate([resonance[~fixed], damping]))
        bounds = [np.log([lowest] * np.sum(~fixed) + [1e-4 * self.energy[0]] * len(damping))]
        bounds.append(np.log([highest] * np.sum(~fixed) + [highest] * len(damping)))
        start = np.clip(start, bounds[0] + 1e-9, bounds[1] - 1e-9)
        return split(least_squares(residuals, start, bounds=bounds, max_nfev=60).x)

    def candidates(self) -> list[tuple[float, float]]:
        """Poles to begin with, from zero to beyond the highest energy."""
        low, high = self.energy[0], self.energy[-1]
        places = [0.0, *np.linspace(0.5 * low, 1.5 * high, 24), 2.0 * high, 3.0 * high, 4.5 * high]
        return [(p, d * high) for p in places for d in (0.01, 0.05, 0.2, 0.6)]


@takes(lowest=quantity("energy", above=0.0), highest=quantity("energy", above=0.0))
def fit(
    table: Any,
    *,
    lowest: Any = None,
    highest: Any = None,
    poles: int = MOST_POLES,
    permittivity: float | None = None,
    name: str = "",
) -> Medium:
    """A medium with the permittivity of a table: poles are added one by one, each where it helps most, and all are
    moved until the error is below 0.2 % or `poles` are there. `error_of` gives the error.

    table: of read_index, or the name of a file for it
    lowest, highest: range of photon energies that counts [eV]; all of the table when absent
    permittivity: at energies above all poles, such as 1 for a kick; found by the fit when absent, at least 1
    Raises InvalidArgument for a range with fewer than five energies. Collective: no. Cost: seconds.
    """
    data = table if isinstance(table, IndexTable) else read_index(table)
    inside = np.ones(len(data.energy), dtype=bool)
    if lowest is not None:
        inside &= data.energy >= lowest
    if highest is not None:
        inside &= data.energy <= highest
    if np.sum(inside) < 5:
        raise InvalidArgument(
            f"fit: {np.sum(inside)} energies of {data.source} lie in the range, which has {data.energy[0]:.4g} to "
            f"{data.energy[-1]:.4g} eV; at least 5 are needed."
        )
    work = _Fit(data.energy[inside], data.epsilon[inside], permittivity)
    resonance, damping = np.zeros(0), np.zeros(0)
    strengths, error = work.strengths(resonance, damping)
    for _ in range(poles):
        if error < ENOUGH:
            break
        trials = [
            (work.strengths(np.append(resonance, r), np.append(damping, d))[1], r, d) for r, d in work.candidates()
        ]
        _, r, d = min(trials)
        more = work.refine(np.append(resonance, r), np.append(damping, d))
        found, better = work.strengths(*more)
        if better > 0.98 * error:
            break
        (resonance, damping), strengths, error = more, found, better
    kept = [
        Pole(float(r), float(d), float(s)) for r, d, s in zip(resonance, damping, strengths[1:], strict=True) if s > 0
    ]
    source = f"{len(kept)} poles fitted to {data.source}, {work.energy[0]:.4g} to {work.energy[-1]:.4g} eV"
    return Medium(float(1 + strengths[0]), 0.0, tuple(kept), name or Path(data.source).stem, source)


def error_of(medium: Medium, table: IndexTable) -> np.ndarray:
    """|epsilon of the medium - epsilon of the table| / |epsilon of the table| at all energies of the table."""
    return np.abs(medium.epsilon(table.energy) / table.epsilon - 1)
