# SPDX-License-Identifier: Apache-2.0
"""Spectra of kicked electrons: absorption of a molecule, dielectric function of a crystal.

A molecule's dipole gives the polarisability along its kick, the mean over three kicks that of a molecule turned every
way, and the absorption cross-section sigma = 4 pi omega / c Im alpha. A crystal's current gives the dielectric function
epsilon = 1 + 4 pi i J / (kappa omega). Signals are damped by a window, and nothing is resolved that is closer than
2 pi / T for a run of length T.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.errors import FileError, InvalidArgument
from halocline.files import write_file
from halocline.tddft import results, runfile
from halocline.tddft.motion import Series
from halocline.tddft.units import BOHR_ANGSTROM, HARTREE_EV

native = _halocline.tddft

PEAK_FRACTION = 0.05
"""Of the highest peak: lower ones are not listed."""


@dataclasses.dataclass
class Signal:
    """One kicked run."""

    time: np.ndarray
    values: np.ndarray
    """Displacement of the electrons along the kick (molecule), or their current (crystal)."""
    kick: float
    periodic: bool
    electrons: float
    formula: str
    finished: bool = True


@dataclasses.dataclass
class Spectrum:
    """A spectrum on a grid of photon energies; arrays have shape (n,)."""

    kind: str
    """"absorption" or "dielectric"."""
    energy: np.ndarray
    """[hartree]"""
    response: np.ndarray
    """Complex: polarisability [bohr^3], mean over the kicks, or dielectric function."""
    length: float
    """Of the shortest run [a.u.]."""
    resolution: float
    """2 pi / length [hartree]."""
    window: str
    electrons: float
    formula: str
    kicks: int
    elements: list[np.ndarray]
    """The polarisability along each kick."""
    peaks: list[tuple[float, float]]
    """Energy [hartree] and height of the cross-section [bohr^2] or of Im epsilon."""
    warnings: list[str]

    @property
    def energy_ev(self) -> np.ndarray:
        """Photon energies [eV]."""
        return self.energy * HARTREE_EV

    @property
    def peaks_ev(self) -> list[float]:
        """Energies of the peaks [eV]."""
        return [energy * HARTREE_EV for energy, _ in self.peaks]

    @property
    def cross_section(self) -> np.ndarray:
        """[bohr^2]"""
        return native.cross_section(self.energy, self.response)

    @property
    def strength(self) -> np.ndarray:
        """Dipole strength function [1/hartree]; its integral over all energies is the number of electrons."""
        return native.strength(self.energy, self.response)

    @property
    def sum_rule(self) -> float:
        """Electrons that the energies have reached."""
        return native.sum_rule(self.energy, self.strength)

    def attributes(self) -> dict[str, Any]:
        """Of the result file."""
        return {
            "spectrum": self.kind,
            "window": self.window,
            "length": self.length,
            "resolution": self.resolution,
            "electrons": self.electrons,
            "formula": self.formula,
            "kicks": self.kicks,
        }

    def data(self) -> dict[str, Any]:
        """As results.write takes it."""
        found: dict[str, Any] = {
            "photon_energy": (self.energy, "hartree"),
            "photon_energy_ev": (self.energy_ev, "eV"),
            "peaks_ev": (np.array(self.peaks_ev), "eV"),
        }
        if self.kind == "dielectric":
            return found | {"epsilon_re": (self.response.real, "1"), "epsilon_im": (self.response.imag, "1")}
        return found | {
            "polarisability_re": (self.response.real, "bohr^3"),
            "polarisability_im": (self.response.imag, "bohr^3"),
            "cross_section": (self.cross_section, "bohr^2"),
            "strength": (self.strength, "1/hartree"),
            "sum_rule": (self.sum_rule, "electrons"),
        }

    def summary(self) -> list[str]:
        """Lines of the log."""
        name = "Im epsilon" if self.kind == "dielectric" else "cross-section [angstrom^2]"
        factor = 1.0 if self.kind == "dielectric" else BOHR_ANGSTROM**2
        lines = [f"spectrum      {self.kind}, {self.window} window, resolution {self.resolution * HARTREE_EV:.3g} eV"]
        if self.kind == "absorption":
            lines.append(
                f"sum rule      {self.sum_rule:.4f} of {self.electrons:g} electrons up to {self.energy_ev[-1]:.4g} eV"
            )
        lines += [f"peak          {e * HARTREE_EV:8.3f} eV   {name} {h * factor:.5g}" for e, h in self.peaks]
        return lines


def signal_of(series: Series) -> Signal:
    """Of a propagation in memory."""
    system = series.system
    data = {"time": series.time, "current": series.current, "dipole": series.dipole}
    return _signal(data, series.kick, system.periodic, system.electrons, system.structure.formula(), True)


def signal_of_file(path: str | Path) -> Signal:
    """Of a file that `halocline tddft propagate` left. Raises FileError."""
    a, data = results.read(path, "propagation")
    if len(data["time"]) < 4:
        raise FileError(f"{path}: has {len(data['time'])} points in time; let it propagate first.")
    kick = tuple(float(v) for v in a["kick"])
    signal = _signal(data, kick, a["periodic"], a["electrons"], a["formula"], a["finished"], str(path))
    if a["parameters"]["propagate"].get("pulses") or a["parameters"]["propagate"].get("field_table"):
        raise InvalidArgument(f"{path}: was driven by pulses beside a kick; a spectrum needs a kick alone.")
    return signal


def _signal(
    data: dict[str, Any],
    kick: Any,
    periodic: bool,
    electrons: float,
    formula: str,
    finished: bool,
    name: str = "this run",
) -> Signal:
    size = float(np.linalg.norm(kick))
    if size == 0.0:
        raise InvalidArgument(f"{name}: had no kick, and a spectrum needs one; set [propagate] kick = 0.01.")
    axis = np.array(kick) / size
    # Electrons are displaced against the dipole, which counts their charge.
    values = data["current"] @ axis if periodic else -(data["dipole"] @ axis)
    return Signal(
        np.ascontiguousarray(data["time"]), np.ascontiguousarray(values), size, periodic, electrons, formula, finished
    )


def of_files(paths: Sequence[Path], options: runfile.Spectrum) -> Spectrum:
    """Of the files of one run, or of three. Raises FileError, InvalidArgument. Collective: no."""
    for path in paths:
        if not path.is_file():
            raise FileError(f"{path}: is not there; run `halocline tddft propagate` with the same run file first.")
    made = of_signals([signal_of_file(path) for path in paths], options)
    return made


def of_signals(signals: Sequence[Signal], options: runfile.Spectrum) -> Spectrum:
    """The mean over the signals. Raises InvalidArgument where they do not belong together."""
    first = signals[0]
    if any((s.periodic, s.formula, s.electrons) != (first.periodic, first.formula, first.electrons) for s in signals):
        raise InvalidArgument("these runs are of different systems; a spectrum is the mean over kicks of one.")
    begin = max(options.from_energy, options.step) if first.periodic else options.from_energy
    count = int((options.to_energy - begin) / options.step + 1e-9) + 1
    energy = begin + options.step * np.arange(count)
    calculate = native.dielectric if first.periodic else native.polarisability
    width = options.width or 0.0
    elements = [calculate(s.time, s.values, s.kick, energy, options.window, width) for s in signals]
    response = np.mean(elements, axis=0)
    length = min(float(s.time[-1]) for s in signals)
    shown = response.imag if first.periodic else native.cross_section(energy, np.ascontiguousarray(response))
    resolution = 2 * np.pi / length
    warnings = []
    if resolution > options.resolution * (1 + 1e-9):
        needed = 2 * np.pi / options.resolution
        warnings.append(
            f"the run of {length:.4g} a.u. resolves {resolution * HARTREE_EV:.3g} eV, and "
            f"{options.resolution * HARTREE_EV:.3g} eV was asked for: propagate for {needed:.4g} a.u."
        )
    if not all(s.finished for s in signals):
        warnings.append("a run has not reached its end yet; this is the spectrum of what there is.")
    return Spectrum(
        kind="dielectric" if first.periodic else "absorption",
        energy=energy,
        response=np.ascontiguousarray(response),
        length=length,
        resolution=resolution,
        window=options.window,
        electrons=first.electrons,
        formula=first.formula,
        kicks=len(signals),
        elements=elements,
        peaks=native.peaks(energy, np.ascontiguousarray(shown), PEAK_FRACTION),
        warnings=warnings,
    )


def spectrum(runs: Any, **options: Any) -> Spectrum:
    """The spectrum of kicked runs.

    runs: a Series, the name of a file of `halocline tddft propagate`, or a list of them: one along each axis
    options: keys of [spectrum]: window, width, from_energy, to_energy, step, resolution; "0.1 eV" or hartree
    Raises FileError and InvalidArgument. Collective: no.

        s = hc.tddft.spectrum(series, to_energy="20 eV")
        print(s.peaks_ev)
    """
    several = runs if isinstance(runs, (list, tuple)) else [runs]
    signals = [signal_of(r) if isinstance(r, Series) else signal_of_file(r) for r in several]
    return of_signals(signals, runfile.Spectrum(**options))


def write_table(path: Path, made: Spectrum) -> None:
    """Columns of numbers with a head that names them. Raises FileError."""
    if made.kind == "dielectric":
        names = "photon energy [eV], Re epsilon, Im epsilon"
        columns = (made.energy_ev, made.response.real, made.response.imag)
    else:
        names = "photon energy [eV], cross-section [angstrom^2], Re alpha [bohr^3], Im alpha [bohr^3], strength [1/eV]"
        columns = (
            made.energy_ev, made.cross_section * BOHR_ANGSTROM**2, made.response.real, made.response.imag,
            made.strength / HARTREE_EV,
        )  # fmt: skip
    table = io.StringIO()
    np.savetxt(table, np.column_stack(columns), fmt="%16.8e", header=names)
    write_file(path, table.getvalue())
