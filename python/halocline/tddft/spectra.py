# SPDX-License-Identifier: Apache-2.0
"""Spectra of kicked electrons: absorption of a molecule, dielectric function of a crystal.

A molecule's dipole gives the polarisability along its kick. The mean over three kicks is that of randomly oriented
molecules, and gives the absorption cross-section sigma = 4 pi omega / c Im alpha. After a spin kick the dipole of the
spin takes its place: of a closed shell this shows the triplet excitations, which light does not reach. A crystal's
current gives the dielectric function epsilon = 1 + 4 pi i J / (kappa omega). A window damps the signals. A run of
length T does not resolve lines closer than 2 pi / T. If the angular momentum was measured after kicks along x, y and z,
the spectrum has the circular dichroism of a chiral molecule.

An insulator's current oscillates about zero. Grids and k-points that are too coarse leave a constant in it, which makes
epsilon wrong at low energies. It is subtracted unless the crystal is a metal, whose constant current is its Drude
response. Two laws test the quality of the current: the f-sum rule, by which the current starts as n kappa, and the
Kramers-Kronig relation between Re epsilon(0) and the absorption.
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
from halocline.schema import changed
from halocline.tddft import results, runfile
from halocline.tddft.lines import Line, fit
from halocline.tddft.propagation import Series
from halocline.tddft.units import ATOMIC_TIME_FS, BOHR_ANGSTROM, HARTREE_EV

native = _halocline.tddft

PEAK_FRACTION = 0.05
"""Fraction of the highest peak below which peaks are not listed."""
QUANTITY = {"absorption": "cross-section", "spin": "strength of the spin's answer"}
"""What the height of a peak is, for each kind of a molecule's spectrum."""
ROTATORY_CGS = 471.4436
"""(e bohr) (e hbar / m_e c) in 1e-40 erg esu cm / gauss."""
DICHROISM_CGS = 22.9648
"""3 h c 1000 ln(10) / (32 pi^3 N_A) in 1e-40 erg esu cm / gauss: the rotatory strength is this times the integral of
the dichroism over the logarithm of the energy."""
LARGEST_DEVIATION = 0.1
"""Largest deviation without a warning, for the f-sum rule, the drift and the Kramers-Kronig relation."""


@dataclasses.dataclass
class Signal:
    """One kicked run."""

    time: np.ndarray
    values: np.ndarray
    """Displacement of the electrons along the kick (molecule), that of their spin after a spin kick, or their current
    (crystal)."""
    kick: float
    axis: np.ndarray
    """Unit vector of the kick."""
    periodic: bool
    electrons: float
    volume: float
    """Volume of the cell or box [bohr^3]."""
    formula: str
    metal: bool = False
    finished: bool = True
    spin: bool = False
    """Whether the kick was a spin kick."""
    longitudinal: bool = False
    """Crystals: whether the kick was the field from outside, to which the longitudinal field of the current adds."""
    turning: np.ndarray | None = None
    """Angular momentum of the electrons along the kick [hbar], if it was measured."""


@dataclasses.dataclass
class Spectrum:
    """A spectrum on a grid of photon energies; arrays have shape (n,)."""

    kind: str
    """"absorption", "spin" (the answer of the spin to a spin kick, in the same quantities) or "dielectric"."""
    energy: np.ndarray
    """[hartree]"""
    response: np.ndarray
    """Complex: polarisability [bohr^3], mean over the kicks, or dielectric function."""
    length: float
    """Length of the shortest run [a.u.]."""
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
    drift: float | None = None
    """Crystals: the constant part of the current as a fraction of n kappa, mean over the kicks; None for molecules."""
    drift_subtracted: bool = False
    static: float | None = None
    """Crystals: Re epsilon(0) by the Kramers-Kronig relation, without the drift."""
    initial_electrons: float | None = None
    """Crystals: number of electrons from the current just after the kick; by the f-sum rule all electrons."""
    spin: bool = False
    """Whether it is the answer of the spin to a spin kick; of a crystal epsilon is then that of the spin's current."""
    lines: list[Line] = dataclasses.field(default_factory=list)
    """Molecules: lines fitted at the peaks, with errors."""
    rotatory: np.ndarray | None = None
    """Molecules: sum over states of the rotatory strength Im <0|-r|n> <n|-L/2|0> times delta(omega - omega_n)
    [(e bohr)^2 hbar / m_e / hartree], if the angular momentum was measured after kicks along x, y and z."""

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
    def loss(self) -> np.ndarray:
        """Crystals: energy loss of fast electrons at long wavelength, -Im 1/epsilon."""
        return -(1.0 / self.response).imag

    @property
    def rotatory_cgs(self) -> np.ndarray | None:
        """Rotatory strength in the unit of the literature [1e-40 erg esu cm / gauss / eV]."""
        return None if self.rotatory is None else self.rotatory * ROTATORY_CGS / HARTREE_EV

    @property
    def circular_dichroism(self) -> np.ndarray | None:
        """Difference of the molar absorption of left and right circular light, of molecules of all orientations
        [litre / (mol cm)]."""
        return None if self.rotatory is None else self.energy_ev * self.rotatory_cgs / DICHROISM_CGS

    @property
    def strength(self) -> np.ndarray:
        """Dipole strength function [1/hartree]; its integral over all energies is the number of electrons."""
        return native.strength(self.energy, self.response)

    @property
    def sum_rule(self) -> float:
        """Number of electrons that the energy range accounts for."""
        return native.sum_rule(self.energy, self.strength)

    def attributes(self) -> dict[str, Any]:
        """The attributes of the result file."""
        return {
            "spectrum": self.kind,
            "window": self.window,
            "length": self.length,
            "resolution": self.resolution,
            "electrons": self.electrons,
            "formula": self.formula,
            "kicks": self.kicks,
        } | ({} if self.static is None else self._current_attributes())

    def _current_attributes(self) -> dict[str, Any]:
        return {
            "drift": self.drift,
            "drift_subtracted": self.drift_subtracted,
            "static_dielectric": self.static,
            "initial_electrons": self.initial_electrons,
        }

    def data(self) -> dict[str, Any]:
        """The spectrum in the form for results.write."""
        found: dict[str, Any] = {
            "photon_energy": (self.energy, "hartree"),
            "photon_energy_ev": (self.energy_ev, "eV"),
            "peaks_ev": (np.array(self.peaks_ev), "eV"),
        }
        if self.kind == "dielectric":
            return found | {
                "epsilon_re": (self.response.real, "1"),
                "epsilon_im": (self.response.imag, "1"),
                "loss": (self.loss, "1"),
            }
        if self.rotatory is not None:
            found |= {
                "rotatory_strength": (self.rotatory_cgs, "1e-40 erg esu cm / gauss / eV"),
                "circular_dichroism": (self.circular_dichroism, "litre / (mol cm)"),
            }
        for name, unit in (("energy", "hartree"), ("strength", "1"), ("width", "hartree")):
            for of in (name, f"{name}_error"):
                found[f"lines/{of}"] = (np.array([getattr(line, of) for line in self.lines]), unit)
        return found | {
            "polarisability_re": (self.response.real, "bohr^3"),
            "polarisability_im": (self.response.imag, "bohr^3"),
            "cross_section": (self.cross_section, "bohr^2"),
            "strength": (self.strength, "1/hartree"),
            "sum_rule": (self.sum_rule, "electrons"),
        }

    def summary(self) -> list[str]:
        """The lines of the log."""
        name = "Im epsilon" if self.kind == "dielectric" else f"{QUANTITY[self.kind]} [angstrom^2]"
        factor = 1.0 if self.kind == "dielectric" else BOHR_ANGSTROM**2
        kind = f"{self.kind}, of the spin" if self.spin and self.kind == "dielectric" else self.kind
        lines = [f"spectrum      {kind}, {self.window} window, resolution {self.resolution * HARTREE_EV:.3g} eV"]
        if self.kind != "dielectric":
            lines.append(
                f"sum rule      {self.sum_rule:.4f} of {self.electrons:g} electrons up to {self.energy_ev[-1]:.4g} eV"
            )
        if self.static is not None:
            done = "subtracted" if self.drift_subtracted else "kept"
            lines += [
                f"drift         {100 * self.drift:.3g} % of the kicked current is constant, {done}",
                f"static        Re epsilon(0) = {self.static:.5g} by Kramers-Kronig, without the drift",
                f"f-sum         {self.initial_electrons:.4f} of {self.electrons:g} electrons in the kicked current",
            ]
            highest = int(np.argmax(self.loss))
            if 0 < highest < len(self.loss) - 1:
                at, height = self.energy_ev[highest], self.loss[highest]
                lines.append(f"loss          -Im 1/epsilon is largest at {at:.3f} eV, {height:.4g}")
        lines += [f"peak          {e * HARTREE_EV:8.3f} eV   {name} {h * factor:.5g}" for e, h in self.peaks]
        lines += [f"line          {line.text()}" for line in self.lines]
        if self.rotatory is not None:
            at = int(np.argmax(np.abs(self.circular_dichroism)))
            lines.append(
                f"dichroism     largest at {self.energy_ev[at]:.3f} eV, {self.circular_dichroism[at]:.4g} l/(mol cm)"
            )
        return lines


def signal_of(series: Series) -> Signal:
    """The signal of a propagation in memory. Raises InvalidArgument."""
    system = series.system
    data = {
        "time": series.time,
        "current": series.current,
        "dipole": series.dipole,
        "spin_dipole": series.spin_dipole,
        "spin_current": series.spin_current,
    }
    if series.options.angular_momentum:
        data["angular_momentum"] = series.angular_momentum
    _refuse_other_light(series.options.pulses, series.options.field_table, "this run")
    about = {
        "periodic": system.periodic,
        "electrons": system.electrons,
        "volume": system.native.volume,
        "formula": system.structure.formula(),
        "metal": is_metal(series.gap, system.run.scf.temperature),
        "spin": series.options.spin_kick,
        "longitudinal": _longitudinal(series.options.response, "this run"),
    }
    return _signal(data, series.kick, about)


def signal_of_file(path: str | Path) -> Signal:
    """The signal of a file of `halocline tddft propagate`. Raises FileError, InvalidArgument."""
    a, data = results.read(path, "propagation")
    if len(data["time"]) < 4:
        raise FileError(f"{path}: has {len(data['time'])} points in time; let it propagate first.")
    given = a["parameters"]
    _refuse_other_light(given["propagate"].get("pulses"), given["propagate"].get("field_table"), str(path))
    about = {name: a[name] for name in ("periodic", "electrons", "volume", "formula", "finished")}
    about["metal"] = is_metal(a.get("gap"), given["scf"]["temperature"])
    about["spin"] = bool(given["propagate"].get("spin_kick", False))
    about["longitudinal"] = _longitudinal(given["propagate"].get("response", "transverse"), str(path))
    return _signal(data, tuple(float(v) for v in a["kick"]), about, str(path))


def is_metal(gap: float | None, temperature: float) -> bool:
    """Whether the system is a metal, judged by the gap of the ground state. With an unknown gap, smearing means a
    metal."""
    return temperature > 0 if gap is None else gap <= temperature


def _refuse_other_light(pulses: Any, field_table: Any, name: str) -> None:
    if pulses or field_table:
        light = "pulses" if pulses else "a field_table"
        raise InvalidArgument(f"{name}: was driven by {light} beside a kick; a spectrum needs a kick alone.")


def _longitudinal(response: str, name: str) -> bool:
    if response == "film":
        raise InvalidArgument(
            f"{name}: was driven by a kick that a film reflects in part; a spectrum needs response = "
            '"transverse" or "longitudinal".'
        )
    return response == "longitudinal"


def _signal(data: dict[str, Any], kick: Any, about: dict[str, Any], name: str = "this run") -> Signal:
    size = float(np.linalg.norm(kick))
    if size == 0.0:
        raise InvalidArgument(f"{name}: had no kick, and a spectrum needs one; set [propagate] kick = 0.01.")
    axis = np.array(kick) / size
    # The displacement of the electrons is opposite to the dipole, which includes their negative charge.
    if about["periodic"]:
        values = data["spin_current" if about["spin"] else "current"] @ axis
    else:
        values = data["spin_dipole"] @ axis if about["spin"] else -(data["dipole"] @ axis)
    turning = np.ascontiguousarray(data["angular_momentum"] @ axis) if "angular_momentum" in data else None
    return Signal(
        np.ascontiguousarray(data["time"]), np.ascontiguousarray(values), size, axis, turning=turning, **about
    )


def of_files(paths: Sequence[Path], options: runfile.Spectrum) -> Spectrum:
    """The spectrum of the files of one run, or of three. Raises FileError, InvalidArgument. Collective: no."""
    for path in paths:
        if not path.is_file():
            raise FileError(f"{path}: is not there; run `halocline tddft propagate` with the same run file first.")
    made = of_signals([signal_of_file(path) for path in paths], options)
    return made


def of_signals(signals: Sequence[Signal], options: runfile.Spectrum) -> Spectrum:
    """The mean over the signals. Raises InvalidArgument if they do not belong together, or resolve nothing."""
    first = signals[0]
    if any((s.periodic, s.formula, s.electrons) != (first.periodic, first.formula, first.electrons) for s in signals):
        raise InvalidArgument("these runs are of different systems; a spectrum is the mean over kicks of one.")
    if any(s.spin != first.spin for s in signals):
        raise InvalidArgument("some of these runs had a spin kick and others not; a spectrum is of one kind of kick.")
    if any(s.longitudinal != first.longitudinal for s in signals):
        raise InvalidArgument("some of these runs were transverse and others longitudinal; a spectrum is of one kind.")
    _refuse_equal_axes(signals)
    begin = max(options.from_energy, options.step) if first.periodic else options.from_energy
    length = min(float(s.time[-1]) for s in signals)
    resolution = 2 * np.pi / length
    _refuse_unresolved(length, resolution, options.to_energy - begin)
    count = int((options.to_energy - begin) / options.step + 1e-9) + 1
    energy = begin + options.step * np.arange(count)
    width = options.width or 0.0
    wanted = options.drift == "subtract" or (options.drift == "auto" and not first.metal)
    subtract = bool(first.periodic and wanted)
    if first.periodic:
        elements = [
            _epsilon(native.dielectric(s.time, s.values, s.kick, energy, options.window, width, subtract), s)
            for s in signals
        ]
    else:
        elements = [native.polarisability(s.time, s.values, s.kick, energy, options.window, width) for s in signals]
    response = np.ascontiguousarray(np.mean(elements, axis=0))
    shown = response.imag if first.periodic else native.cross_section(energy, response)
    made = Spectrum(
        kind="dielectric" if first.periodic else "spin" if first.spin else "absorption",
        energy=energy,
        response=response,
        length=length,
        resolution=resolution,
        window=options.window,
        electrons=first.electrons,
        formula=first.formula,
        kicks=len(signals),
        elements=elements,
        peaks=native.peaks(energy, np.ascontiguousarray(shown), PEAK_FRACTION),
        warnings=[],
        drift_subtracted=subtract,
        spin=first.spin,
    )
    if resolution > options.resolution * (1 + 1e-9):
        needed = 2 * np.pi / options.resolution
        made.warnings.append(
            f"the run of {length:.4g} a.u. resolves {resolution * HARTREE_EV:.3g} eV, and "
            f"{options.resolution * HARTREE_EV:.3g} eV was asked for: propagate for {needed:.4g} a.u."
        )
    if not all(s.finished for s in signals):
        made.warnings.append("a run has not reached its end yet; this is the spectrum of what there is.")
    if len(signals) == 2:
        made.warnings.append("the mean over two axes is not that over all directions, which takes a third run.")
    if first.periodic:
        _judge_current(made, signals)
        return made
    made.lines = _lines(made, signals, options, width)
    if len(signals) == 3 and not first.spin and all(s.turning is not None for s in signals):
        made.rotatory = sum(
            native.rotatory_strength(s.time, s.turning, s.kick, energy, options.window, width) for s in signals
        )
    return made


def _epsilon(answer: Any, signal: Signal) -> Any:
    """The dielectric function from 1 + 4 pi i J / kappa omega, which it is where the kick is the field in the crystal.
    Where the kick is the field from outside, 1 / epsilon = 1 - 4 pi i J / kappa omega."""
    return 1.0 / (2.0 - answer) if signal.longitudinal else answer


def _lines(made: Spectrum, signals: Sequence[Signal], options: runfile.Spectrum, width: float) -> list[Line]:
    """Lines at the peaks of a molecule's spectrum."""

    def absorption(energy: np.ndarray) -> np.ndarray:
        of_kicks = [native.polarisability(s.time, s.values, s.kick, energy, options.window, width) for s in signals]
        return np.ascontiguousarray(np.mean(of_kicks, axis=0).imag)

    def window(times: np.ndarray) -> np.ndarray:
        return native.window_values(np.ascontiguousarray(times), made.length, options.window, width)

    highest = min(np.pi / (s.time[1] - s.time[0]) for s in signals)
    return fit([energy for energy, _ in made.peaks], made.length, highest, window, absorption)


def _refuse_equal_axes(signals: Sequence[Signal]) -> None:
    """Checks that several kicks are at right angles; only then their mean represents all directions."""
    for n, one in enumerate(signals):
        for other in signals[:n]:
            if abs(float(one.axis @ other.axis)) > 1e-6:
                axes = " and ".join("(" + ", ".join(f"{v:.3g}" for v in s.axis) + ")" for s in (other, one))
                raise InvalidArgument(
                    f"two of the runs were kicked along {axes}; a mean over directions takes kicks at right angles: "
                    "one along each of x, y and z."
                )


def _refuse_unresolved(length: float, resolution: float, span: float) -> None:
    if resolution > span:
        raise InvalidArgument(
            f"the run of {length * ATOMIC_TIME_FS:.3g} fs resolves {resolution * HARTREE_EV:.3g} eV, more than the "
            f"{span * HARTREE_EV:.3g} eV that the spectrum is to show: propagate for at least "
            f"{2 * np.pi / span * ATOMIC_TIME_FS:.3g} fs, better ten times that, or raise [spectrum] to_energy."
        )


def _judge_current(made: Spectrum, signals: Sequence[Signal]) -> None:
    """Tests a crystal's current by its drift, the f-sum rule and the Kramers-Kronig relation."""
    whole = [s.kick * s.electrons / s.volume for s in signals]
    made.drift = float(np.mean([native.drift(s.time, s.values) / n for s, n in zip(signals, whole, strict=True)]))
    made.static = float(np.mean([_epsilon(native.static_dielectric(s.time, s.values, s.kick), s) for s in signals]))
    shares = [s.values[0] / n for s, n in zip(signals, whole, strict=True)]
    made.initial_electrons = float(np.mean(shares)) * made.electrons
    metal = signals[0].metal
    if abs(np.mean(shares) - 1) > LARGEST_DEVIATION:
        made.warnings.append(
            f"the current after the kick is that of {made.initial_electrons:.4g} electrons, and there are "
            f"{made.electrons:g}: the f-sum rule fails by {100 * abs(np.mean(shares) - 1):.2g} %; take a finer grid."
        )
    if made.drift_subtracted and abs(made.drift) > LARGEST_DEVIATION:
        made.warnings.append(
            f"{100 * made.drift:.3g} % of the kicked current is constant and was subtracted; an insulator's has none: "
            'take more k-points, a finer grid or a longer run (of a metal, set [spectrum] drift = "keep").'
        )
    if metal or made.drift_subtracted:
        return
    near_zero = np.array([0.1 * made.resolution])
    found = [native.dielectric(s.time, s.values, s.kick, near_zero, "polynomial", 0.0)[0].real for s in signals]
    low = float(np.mean(found))
    if abs(low - made.static) > LARGEST_DEVIATION * max(1.0, abs(made.static)):
        made.warnings.append(
            f"Re epsilon is {low:.4g} towards zero energy, and {made.static:.4g} by the absorption and Kramers-Kronig: "
            'a constant in the current spoils it; set [spectrum] drift = "subtract".'
        )


def spectrum(runs: Any, **options: Any) -> Spectrum:
    """The spectrum of kicked runs.

    runs: a Series, the name of a file of `halocline tddft propagate`, or a list of them: one along each axis
    options: keys of [spectrum]: window, width, from_energy, to_energy, step, resolution, drift; a plain number is in
        hartree, a text carries its unit, as in "0.1 eV"
    Raises FileError and InvalidArgument. Collective: no.

        s = hc.tddft.spectrum(series, to_energy="20 eV")
        print(s.peaks_ev)
    """
    several = runs if isinstance(runs, (list, tuple)) else [runs]
    signals = [signal_of(r) if isinstance(r, Series) else signal_of_file(r) for r in several]
    return of_signals(signals, changed(runfile.Spectrum(), options))


def write_table(path: Path, made: Spectrum) -> None:
    """Writes columns of numbers below a header that names them. Raises FileError."""
    if made.kind == "dielectric":
        names = "photon energy [eV], Re epsilon, Im epsilon, -Im 1/epsilon"
        columns = (made.energy_ev, made.response.real, made.response.imag, made.loss)
    else:
        names = f"photon energy [eV], {QUANTITY[made.kind]} [angstrom^2], "
        names += "Re alpha [bohr^3], Im alpha [bohr^3], strength [1/eV]"
        columns = (
            made.energy_ev, made.cross_section * BOHR_ANGSTROM**2, made.response.real, made.response.imag,
            made.strength / HARTREE_EV,
        )  # fmt: skip
        if made.rotatory is not None:
            names += ", rotatory strength [1e-40 erg esu cm / gauss / eV], circular dichroism [litre / (mol cm)]"
            columns += (made.rotatory_cgs, made.circular_dichroism)
    table = io.StringIO()
    np.savetxt(table, np.column_stack(columns), fmt="%16.8e", header=names)
    write_file(path, table.getvalue())
