# SPDX-License-Identifier: Apache-2.0
"""Plots (PNG) of convergence, of the observables of a propagation, and of spectra. One process draws."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from halocline.picture import COLOURS, STYLE, save
from halocline.tddft import results
from halocline.tddft.units import ATOMIC_FIELD_V_PER_ANGSTROM, ATOMIC_TIME_FS, BOHR_ANGSTROM, HARTREE_EV


@contextmanager
def _figure(path: Path, rows: int = 1, height: float = 3.8, apart: bool = False) -> Iterator[Any]:
    """Axes to draw on; the new picture replaces an older one when it is complete. apart: their x axes differ"""
    import matplotlib as mpl  # slow to load, so only if a picture is drawn

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(rows, 1, figsize=(6.4, height), squeeze=False, sharex=not apart)
        try:
            yield [a for (a,) in axes]
            save(figure, path)
        finally:
            plt.close(figure)


def convergence(path: Path, history: Sequence[Mapping[str, Any]], title: str) -> None:
    """Plots the residuals of all iterations so far."""
    with _figure(path) as (axes,):
        iteration = [h["iteration"] for h in history]
        for colour, name, label in (
            (COLOURS[0], "density_residual", "density, per electron"),
            (COLOURS[1], "energy_change", "energy change [hartree]"),
            (COLOURS[2], "eigen_residual", "eigenvalue residual [hartree]"),
        ):
            values = np.abs([h[name] for h in history])
            axes.semilogy(
                iteration, np.where(values > 0, values, np.nan), "o-", ms=3.5, lw=1.2, color=colour, label=label
            )
        axes.set_xlabel("iteration")
        axes.set_ylabel("change or residual")
        axes.legend()
        _title(axes, formula_label(title))


def series(path: Path) -> list[Path]:
    """Plots a propagation file: dipole or current, and the energy. Returns the pictures."""
    attributes, data = results.read(path, "propagation")
    periodic = attributes["periodic"]
    picture = path.with_name(f"{path.stem}_{'current' if periodic else 'dipole'}.png")
    time = data["time"] * ATOMIC_TIME_FS
    with_energy = "energy_time" in data and len(data["energy_time"]) > 1
    with _figure(picture, 2 if with_energy else 1, 5.2 if with_energy else 3.8) as axes:
        values = data["current"] if periodic else (data["dipole"] - data["dipole"][0]) * BOHR_ANGSTROM
        for axis, colour in zip(range(3), COLOURS[:3], strict=True):
            if np.abs(values[:, axis]).max() > 1e-3 * np.abs(values).max():
                axes[0].plot(time, values[:, axis], lw=1.0, color=colour, label=f"${'xyz'[axis]}$")
        axes[0].set_ylabel("current density [a.u.]" if periodic else r"dipole [e $\mathrm{\AA}$]")
        axes[0].legend()
        if with_energy:
            curves = {"electrons": data["energy/total"]}
            if "ions/kinetic" in data:
                kinetic = np.interp(data["energy_time"], data["ions/time"], data["ions/kinetic"])
                curves["with the atoms' kinetic energy"] = curves["electrons"] + kinetic
            for (label, energy), colour in zip(curves.items(), COLOURS[:2], strict=False):
                change = (energy - energy[0]) * HARTREE_EV
                axes[1].plot(data["energy_time"] * ATOMIC_TIME_FS, change, lw=1.0, color=colour, label=label)
            if len(curves) > 1:
                axes[1].legend()
            axes[1].set_ylabel("energy change [eV]")
        axes[-1].set_xlabel("time [fs]")
        _title(axes[0], formula_label(attributes["formula"]))
    return [picture, *_populations(path, attributes, data), *_light(path, attributes, data)]


def _light(path: Path, attributes: Mapping[str, Any], data: Mapping[str, Any]) -> list[Path]:
    """E of light that crosses the cell or box, before and behind it, and A over the way and time if it was kept."""
    if "light/incident" not in data:
        return []
    picture = path.with_name(f"{path.stem}_light.png")
    time = data["time"] * ATOMIC_TIME_FS
    axis = int(np.argmax(np.abs(data["light/incident"]).max(axis=0)))
    profiles = len(data.get("light/profile_time", ())) > 1
    with _figure(picture, 2 if profiles else 1, 5.6 if profiles else 3.8) as axes:
        if profiles:
            # The light from outside is nearly the same everywhere: the picture shows what the currents make of it.
            potential = data["light/potential"][:, :, axis]
            own = (
                potential
                - np.interp(data["light/profile_time"], data["time"], data["light/incident"][:, axis])[:, None]
            )
            largest = np.abs(own).max() or 1.0
            span = data["light/profile_time"] * ATOMIC_TIME_FS
            image = axes[0].imshow(
                own.T, origin="lower", aspect="auto", extent=(span[0], span[-1], -0.5, own.shape[1] - 0.5),
                cmap="RdBu_r", vmin=-largest, vmax=largest, interpolation="nearest",
            )  # fmt: skip
            axes[0].grid(False)
            axes[0].set_ylabel("plane across the way")
            axes[0].figure.colorbar(image, ax=axes[0], label=f"$A_{'xyz'[axis]}$ less incident [a.u.]")
        # A box is small against the wavelength: the light behind it is that before it.
        names = ("incident", "reflected", "transmitted") if attributes["periodic"] else ("incident",)
        for colour, name in zip(COLOURS, names, strict=False):
            field = -np.diff(data[f"light/{name}"][:, axis]) / np.diff(data["time"]) * ATOMIC_FIELD_V_PER_ANGSTROM
            axes[-1].plot(0.5 * (time[1:] + time[:-1]), field, lw=1.0, color=colour, label=name)
        axes[-1].set_ylabel(rf"$E_{'xyz'[axis]}$ [V/$\mathrm{{\AA}}$]")
        axes[-1].set_xlabel("time [fs]")
        axes[-1].legend()
        _title(axes[0], formula_label(attributes["formula"]))
    return [picture]


def _populations(path: Path, attributes: Mapping[str, Any], data: Mapping[str, Any]) -> list[Path]:
    """Electrons outside the ground state, and what each band has won and lost, if they were counted."""
    if len(data.get("excited_time", ())) < 2:
        return []
    picture = path.with_name(f"{path.stem}_populations.png")
    time = data["excited_time"] * ATOMIC_TIME_FS
    changes = data.get("band_changes")
    with _figure(picture, 1 if changes is None else 2, 3.8 if changes is None else 5.6) as axes:
        axes[0].plot(time, data["excited"], lw=1.2, color=COLOURS[0], label="missing in filled states")
        if attributes.get("absorbing"):
            axes[0].plot(
                data["time"] * ATOMIC_TIME_FS, data["norm"][0] - data["norm"], lw=1.0, color=COLOURS[1],
                label="absorbed at the walls",
            )  # fmt: skip
            axes[0].legend()
        axes[0].set_ylabel("electrons missing\nin filled states")
        if changes is not None:
            _bands_over_time(axes[1], time, changes)
        axes[-1].set_xlabel("time [fs]")
        _title(axes[0], formula_label(attributes["formula"]))
    return [picture]


def _bands_over_time(axes: Any, time: np.ndarray, changes: np.ndarray) -> None:
    """Draws the bands that change most, electrons above zero and holes below. changes: shape (times, spins, bands)"""
    spins = changes.shape[1]
    largest = np.abs(changes).max(axis=0)
    order = np.argsort(-largest, axis=None)[: len(COLOURS)]
    shown = [n for n in order if largest.flat[n] > 0.02 * largest.max()]
    for n, colour in zip(sorted(shown), COLOURS, strict=False):
        spin, band = np.unravel_index(n, largest.shape)
        label = f"state {band + 1}" + (f", spin {'up' if spin == 0 else 'down'}" if spins == 2 else "")
        axes.plot(time, changes[:, spin, band], lw=1.1, color=colour, label=label)
    axes.axhline(0.0, lw=0.7, color="0.5")
    axes.set_ylabel("electrons won or lost")
    axes.legend(ncols=2, fontsize=7)


def dynamics(path: Path) -> Path:
    """Plots a file of molecular dynamics: energies and temperature. Returns the picture."""
    attributes, data = results.read(path, "dynamics")
    picture = path.with_suffix(".png")
    time = data["time"] * ATOMIC_TIME_FS
    with _figure(picture, 2, 5.2) as axes:
        for name, label, colour in (
            ("potential", "potential energy, change", COLOURS[0]),
            ("kinetic", "kinetic energy", COLOURS[1]),
            ("conserved", "conserved energy, change", COLOURS[2]),
        ):
            values = data[name] * HARTREE_EV
            axes[0].plot(time, values - (0.0 if name == "kinetic" else values[0]), lw=1.2, color=colour, label=label)
        axes[0].set_ylabel("energy [eV]")
        axes[0].legend()
        axes[1].plot(time, data["temperature"], lw=1.2, color=COLOURS[0])
        axes[1].set_ylabel("temperature [K]")
        axes[-1].set_xlabel("time [fs]")
        _title(axes[0], formula_label(attributes["formula"]))
    return picture


def bands(path: Path) -> Path:
    """Plots a file of bands. Returns the picture."""
    attributes, data = results.read(path, "bands")
    picture = path.with_suffix(".png")
    filled = attributes.get("filled")
    reference = attributes["fermi_level"] if filled is None else data["energies"][:, :, :filled].max()
    with _figure(picture, 1, 4.4) as (axes,):
        for spin, colour in zip(data["energies"], COLOURS, strict=False):
            axes.plot(data["x"], (spin - reference) * HARTREE_EV, lw=1.1, color=colour)
        for place in data["special_x"]:
            axes.axvline(place, lw=0.6, color="0.7", zorder=0)
        axes.axhline(0.0, lw=0.7, ls="--", color="0.5")
        names = [r"$\Gamma$" if label == "G" else label for label in data["special_labels"]]
        axes.set_xticks(data["special_x"], names)
        axes.set_xlim(data["x"][0], data["x"][-1])
        axes.set_ylabel(
            "energy above the filled bands [eV]" if filled is not None else "energy above the Fermi level [eV]"
        )
        axes.grid(False)
        _title(axes, formula_label(attributes["formula"]))
    return picture


def dos(path: Path) -> Path:
    """Plots a file of a density of states. Returns the picture."""
    attributes, data = results.read(path, "dos")
    picture = path.with_suffix(".png")
    energy = (data["energy"] - attributes["reference"]) * HARTREE_EV
    with _figure(picture) as (axes,):
        for spin, density in enumerate(data["density"]):
            shown = density / HARTREE_EV * (-1 if spin else 1)
            axes.plot(energy, shown, lw=1.2, color=COLOURS[spin])
            axes.fill_between(energy, shown, where=energy <= 0, color=COLOURS[spin], alpha=0.15, lw=0)
        parts = {name.split("/")[1]: v for name, v in data.items() if name.startswith("projected/")}
        largest = max((float(v.max()) for v in parts.values()), default=0.0)
        by_character = sorted(parts.items(), key=lambda part: (part[0][:-1], "spdf".index(part[0][-1])))
        shown_parts = [(name, v) for name, v in by_character if v.max() > 0.05 * largest]
        for (name, density), colour in zip(shown_parts, COLOURS[2:], strict=False):
            for spin, values in enumerate(density):
                label = name.replace("_", " ") if spin == 0 else None
                axes.plot(energy, values / HARTREE_EV * (-1 if spin else 1), lw=0.9, color=colour, label=label)
        if shown_parts:
            axes.legend(fontsize=7)
        axes.axvline(0.0, lw=0.7, ls="--", color="0.5")
        end = (attributes["complete_to"] - attributes["reference"]) * HARTREE_EV
        axes.axvspan(end, max(end, energy[-1]), color="0.93", zorder=0)
        axes.set_xlim(energy[0], energy[-1])
        axes.set_xlabel(f"energy above the {attributes['of_reference']} [eV]")
        axes.set_ylabel("density of states [1/eV]" + (", spin up and down" if len(data["density"]) == 2 else ""))
        width = attributes["width"] * HARTREE_EV
        _title(
            axes,
            f"{formula_label(attributes['formula'])}, width {width:.2g} eV; states may be missing in the grey range",
        )
    return picture


def harmonics(path: Path) -> Path:
    """Plots a file of harmonics. Returns the picture."""
    attributes, data = results.read(path, "harmonics")
    picture = path.with_suffix(".png")
    with _figure(picture) as (axes,):
        strongest = data["intensity"].max()
        for n, (name, colour) in enumerate(zip("xyz", COLOURS, strict=False)):
            values = data["intensity"][:, n]
            if strongest > 0 and values.max() > 1e-14 * strongest:
                axes.semilogy(data["order"], values, lw=1.1, color=colour, label=f"along {name}")
        axes.set_xticks(range(1, int(data["order"][-1]) + 1, 2))
        axes.set_xlim(0, data["order"][-1])
        axes.set_xlabel("order of the harmonic")
        axes.set_ylabel(r"$|\omega J(\omega)|^2$ [a.u.]")
        axes.legend()
        photon = attributes["fundamental"] * HARTREE_EV
        _title(
            axes, f"{formula_label(attributes['formula'])}, fundamental {photon:.3g} eV, {attributes['window']} window"
        )
    return picture


def multiscale(path: Path) -> Path:
    """Plots light that crosses a film: E in the film over place and time, and E before and behind it; of a body the
    energy that its cells have taken, and E on the axis. Returns the picture."""
    attributes, data = results.read(path, "multiscale")
    picture = path.with_suffix(".png")
    if "inside" in data:
        return _body(picture, attributes, data)
    potential = data["vector_potential"]
    field = -np.diff(potential, axis=0, prepend=np.zeros((1, *potential.shape[1:]))) / attributes["time_step"]
    axis = int(np.argmax(np.abs(data["incident"]).max(axis=0)))
    time, field = data["field_time"] * ATOMIC_TIME_FS, field[:, :, axis] * ATOMIC_FIELD_V_PER_ANGSTROM
    depth = 0.1 * BOHR_ANGSTROM * attributes["cell_step"] * attributes["cells"]
    half = 0.5 * attributes["time_step"] * ATOMIC_TIME_FS
    with _figure(picture, 2, 5.6) as axes:
        largest = np.abs(field).max() or 1.0
        image = axes[0].imshow(
            field.T, origin="lower", aspect="auto", extent=(time[0] - half, time[-1] + half, 0.0, depth),
            cmap="RdBu_r", vmin=-largest, vmax=largest, interpolation="nearest",
        )  # fmt: skip
        axes[0].grid(False)
        axes[0].set_ylabel("depth in the film [nm]")
        axes[0].figure.colorbar(image, ax=axes[0], label=rf"$E_{'xyz'[axis]}$ [V/$\mathrm{{\AA}}$]")
        for colour, name in zip(COLOURS, ("incident", "reflected", "transmitted"), strict=False):
            values = data[name][:, axis] * ATOMIC_FIELD_V_PER_ANGSTROM
            axes[1].plot(time, values, lw=1.0, color=colour, label=name)
        axes[1].set_ylabel(rf"$E_{'xyz'[axis]}$ [V/$\mathrm{{\AA}}$]")
        axes[1].set_xlabel("time [fs]")
        axes[1].legend()
        _title(axes[0], f"{formula_label(attributes['formula'])}, {depth:.3g} nm")
    return picture


def _body(picture: Path, attributes: Mapping[str, Any], data: Mapping[str, Any]) -> Path:
    """The energy that the cells of a body have taken, on the plane through its middle, and E on the axis."""
    inside = np.asarray(data["inside"], dtype=bool)
    potential, current = data["vector_potential"], data["current"]
    none = np.zeros((1, *potential.shape[1:]))
    middle = 0.5 * (current + np.concatenate([data["first_current"][None], current[:-1]]))
    taken = np.full(inside.shape, np.nan)
    taken[inside] = np.sum(np.diff(potential, axis=0, prepend=none) * middle, axis=(0, 2))
    # The plane of the two axes with most cells, the axis of the light among them.
    along = int(attributes["axis"])
    other = max((a for a in range(3) if a != along), key=lambda a: inside.shape[2 - a])
    (normal,) = set(range(3)) - {along, other}
    plane = np.take(taken, inside.shape[2 - normal] // 2, axis=2 - normal)
    if along < other:
        plane = plane.T
    nm = 0.1 * BOHR_ANGSTROM * attributes["cell_step"]
    wide, high = (0.5 * nm * n for n in plane.T.shape[::-1])
    axis = int(np.argmax(np.abs(data["incident"]).max(axis=0)))
    with _figure(picture, 2, 6.4, apart=True) as axes:
        image = axes[0].imshow(
            plane.T * HARTREE_EV / BOHR_ANGSTROM**3 * 1e3, origin="lower", extent=(-wide, wide, -high, high),
            cmap="viridis", interpolation="nearest",
        )  # fmt: skip
        axes[0].grid(False)
        axes[0].set_anchor("W")
        axes[0].set_xlabel(f"{'xyz'[along]} [nm], the way of the light")
        axes[0].set_ylabel(f"{'xyz'[other]} [nm]")
        axes[0].figure.colorbar(image, ax=axes[0], label="energy taken [eV/nm$^3$]")
        time = data["field_time"] * ATOMIC_TIME_FS
        labels = {"incident": "incident", "reflected": "scattered, before", "transmitted": "all, behind"}
        for colour, (name, label) in zip(COLOURS, labels.items(), strict=False):
            values = data[name][:, axis] * ATOMIC_FIELD_V_PER_ANGSTROM
            axes[1].plot(time, values, lw=1.0, color=colour, label=label)
        axes[1].set_ylabel(rf"$E_{'xyz'[axis]}$ [V/$\mathrm{{\AA}}$]")
        axes[1].set_xlabel("time [fs]")
        axes[1].legend()
        _title(axes[0], formula_label(attributes["formula"]))
    return picture


def relaxation(path: Path) -> Path:
    """Plots a file of a relaxation: energy and largest force. Returns the picture."""
    attributes, data = results.read(path, "relaxation")
    picture = path.with_suffix(".png")
    with _figure(picture, 2, 5.2) as axes:
        step = np.arange(len(data["energy"]))
        axes[0].plot(step, (data["energy"] - data["energy"][-1]) * HARTREE_EV, "o-", ms=3.5, lw=1.2, color=COLOURS[0])
        axes[0].set_ylabel("energy above the last [eV]")
        axes[1].semilogy(
            step, data["largest_force"] * HARTREE_EV / BOHR_ANGSTROM, "o-", ms=3.5, lw=1.2, color=COLOURS[1]
        )
        axes[1].axhline(attributes["force_tolerance"] * HARTREE_EV / BOHR_ANGSTROM, lw=0.8, ls="--", color="0.5")
        axes[1].set_ylabel(r"largest force [eV/$\mathrm{\AA}$]")
        axes[-1].set_xlabel("geometry")
        _title(axes[0], formula_label(attributes["formula"]))
    return picture


def spectrum(path: Path, made: Any) -> None:
    """Plots a Spectrum; its highest peaks are marked, with their energies above the frame. The circular dichroism, if
    there is one, has a frame of its own."""
    dichroism = made.circular_dichroism
    with _figure(path, 1 if dichroism is None else 2, 3.8 if dichroism is None else 5.4) as (axes, *below):
        if made.kind == "dielectric":
            axes.plot(made.energy_ev, made.response.real, lw=1.2, color=COLOURS[0], label=r"Re $\epsilon$")
            axes.plot(made.energy_ev, made.response.imag, lw=1.2, color=COLOURS[1], label=r"Im $\epsilon$")
            shown = made.response.imag
            axes.set_ylabel("dielectric function")
            axes.legend()
            limit = 1.2 * np.abs(shown[made.energy_ev > 1.0]).max(initial=1.0)
            axes.set_ylim(-0.8 * limit, limit)  # a real part that diverges at zero would hide the other curves
        else:
            shown = made.cross_section * BOHR_ANGSTROM**2
            axes.plot(made.energy_ev, shown, lw=1.3, color=COLOURS[0])
            axes.fill_between(made.energy_ev, shown, color=COLOURS[0], alpha=0.12, lw=0)
            what = "spin's answer, as a cross-section" if made.kind == "spin" else "absorption cross-section"
            axes.set_ylabel(what + r" [$\mathrm{\AA}^2$]")
        for at in _apart([e * HARTREE_EV for e, _ in sorted(made.peaks, key=lambda p: -p[1])], made.energy_ev)[:3]:
            axes.axvline(at, lw=0.6, ls=":", color="0.6", zorder=0)
            axes.annotate(
                f"{at:.2f} eV", (at, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2),
                textcoords="offset points", ha="center", va="bottom", fontsize=7, color="0.3",
            )  # fmt: skip
        axes.set_xlim(made.energy_ev[0], made.energy_ev[-1])
        for frame in below:
            frame.plot(made.energy_ev, dichroism, lw=1.2, color=COLOURS[1])
            frame.axhline(0.0, lw=0.7, color="0.5")
            frame.set_ylabel(r"$\Delta\epsilon$ [l/(mol cm)]")
        (below or [axes])[-1].set_xlabel("photon energy [eV]")
        width = made.resolution * HARTREE_EV
        _title(axes, f"{formula_label(made.formula)}, resolution {width:.2g} eV, {made.window} window", pad=14)


def _apart(places: Sequence[float], axis: np.ndarray) -> list[float]:
    """Those of some places whose labels do not lie over each other; the first ones count most."""
    kept: list[float] = []
    for place in places:
        if all(abs(place - other) > 0.09 * (axis[-1] - axis[0]) for other in kept):
            kept.append(place)
    return kept


def formula_label(formula: str) -> str:
    """The formula C2H2 with its numbers as subscripts."""
    return re.sub(r"(?<=[A-Za-z)])(\d+)", r"$_{\1}$", formula)


def _title(axes: Any, text: str, pad: float | None = None) -> None:
    axes.set_title(text, fontsize=9, color="0.35", loc="left", pad=pad)
