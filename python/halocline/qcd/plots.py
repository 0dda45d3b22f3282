# SPDX-License-Identifier: Apache-2.0
"""Pictures of a spectrum run: correlators and effective masses, each as PNG and PDF.

Points are means over sources and configurations with jackknife errors; mesons are folded about T/2 and their effective
mass is the cosh one, the nucleon is shown forward in time with the logarithmic one. Points whose error is larger than
a third of their value say nothing and are left out of the mass picture. With four jackknife bins or more, a band shows
the plateau that `analysis.plateau` fits, with its error, over the points of the fit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from halocline.picture import COLOURS, STYLE, save
from halocline.qcd import analysis
from halocline.qcd.results import Measured, zero_momentum

MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]
SYMBOLS = {
    "pion": r"$\pi$", "rho": r"$\rho$", "rho_tensor": r"$\rho$ (tensor)", "a0": r"$a_0$", "a1": r"$a_1$",
    "b1": r"$b_1$", "pion_sc": r"$\pi$ (SC)", "rho_pv": r"$\rho$ (PV)",
    "pionA4_sinkA4_srcP": r"$\langle A_4 P \rangle$", "nucleon": "$N$",
}  # fmt: skip


def curves(attributes: Mapping[str, Any], measured: list[Measured], bin: int) -> dict[str, dict[str, np.ndarray]]:
    """Correlators and effective masses with errors, by hadron, at zero momentum.

    Each value has t, c, dc (correlator, error), tm, m, dm (effective mass, error) and plateau (an analysis.Plateau or
    None). Empty without zero momentum.
    """
    zero = zero_momentum(np.asarray(attributes["momenta"]))
    if zero is None or not measured:
        return {}
    result = {}
    for name in [*measured[0].mesons, *(["nucleon"] if measured[0].nucleon is not None else [])]:
        stack = [m.nucleon if name == "nucleon" else m.mesons[name] for m in measured]
        samples = np.stack([c[:, zero].real.mean(axis=0) for c in stack])
        result[name] = curve(samples, name, min(bin, len(samples)))
    return result


def curve(samples: np.ndarray, name: str, bin: int = 1) -> dict[str, np.ndarray]:
    """Mean, error and effective mass of one hadron; samples has shape (configurations, T)."""
    extent = samples.shape[-1]
    antisymmetric = name == "pionA4_sinkA4_srcP"
    if name == "nucleon" or extent % 2:
        shown, mass = samples[:, : extent // 2 + 1], analysis.effective_mass
    else:
        shown = analysis.fold(samples, -1 if antisymmetric else 1)

        def mass(c: np.ndarray) -> np.ndarray:
            return analysis.effective_mass(np.abs(c), "log" if antisymmetric else "cosh", extent)

    c, dc = analysis.jackknife(shown, bin=bin)
    m, dm = analysis.jackknife(shown, mass, bin=bin)
    fitted = analysis.plateau(shown, mass, bin)
    times = {"t": np.arange(c.size), "tm": np.arange(m.size) + 0.5}
    return times | {"c": c, "dc": dc, "m": m, "dm": dm, "plateau": fitted}


def draw(path: str | Path, attributes: Mapping[str, Any], measured: list[Measured], bin: int = 1) -> list[Path]:
    """Writes `<stem>_correlators` and `<stem>_effective_mass` beside the result file, as .png and .pdf.

    Returns the files written, none when there is nothing at zero momentum. Raises FileError. Collective: no.
    """
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    shown = curves(attributes, measured, bin)
    if not shown:
        return []
    stem = Path(path).with_suffix("")
    written = []
    with mpl.rc_context(STYLE):
        for kind, paint in (("correlators", _paint_correlators), ("effective_mass", _paint_masses)):
            figure, axes = plt.subplots(figsize=(6.4, 4.3))
            paint(axes, shown)
            axes.set_title(caption(attributes, len(measured)), fontsize=9, color="0.35", loc="left")
            for suffix in (".png", ".pdf"):
                file = stem.with_name(f"{stem.name}_{kind}{suffix}")
                written.append(save(figure, file))
            plt.close(figure)
    return written


def table(attributes: Mapping[str, Any], measured: list[Measured], bin: int = 1) -> list[str]:
    """Effective masses and plateaus with their errors, as lines of text; one column for each hadron."""
    shown = curves(attributes, measured, bin)
    if not shown:
        return []
    lines = ["effective mass  " + "".join(f"{name[:18]:>20}" for name in shown)]
    for row in range(max(k["m"].size for k in shown.values())):
        cells = ""
        for k in shown.values():
            value, error = (k["m"][row], k["dm"][row]) if row < k["m"].size else (np.nan, np.nan)
            text = "-" if np.isnan(value) else f"{value:.4f}" + (f" +- {error:.4f}" if np.isfinite(error) else "")
            cells += f"{text:>20}"
        lines.append(f"  t = {row + 0.5:<10.1f}{cells}")
    fits = [k["plateau"] for k in shown.values()]
    if any(fits):
        texts = [f"{p.value:.4f} +- {p.error:.4f}" if p else "-" for p in fits]
        ranges = [f"{p.first + 0.5:.1f} to {p.last + 0.5:.1f}" if p else "-" for p in fits]
        quality = [f"{p.chi2:.1f}/{p.dof}" if p else "-" for p in fits]
        for title, cells in (("plateau", texts), ("  over t =", ranges), ("  chi^2/dof", quality)):
            lines.append(f"{title:<16}" + "".join(f"{cell:>20}" for cell in cells))
    return lines


def label(name: str) -> str:
    """A hadron or channel as a picture writes it: gxgy as a product of gamma matrices."""
    if re.fullmatch("(g[xyzt])+", name):
        return "$" + "".join(rf"\gamma_{axis}" for axis in name[1::2]) + "$"
    return SYMBOLS.get(name, name.replace("_", " "))


def caption(attributes: Mapping[str, Any], count: int) -> str:
    lattice = r"$\times$".join(str(int(n)) for n in attributes["lattice"])
    plural = "configuration" if count == 1 else "configurations"
    if "M5" in attributes:
        walls = rf"$m$ = {attributes['mass']:.5g}, $M_5$ = {attributes['M5']:.4g}, $L_s$ = {int(attributes['Ls'])}"
        return f"{lattice}, {walls}, {count} {plural}"
    if "kappa" not in attributes:
        return rf"{lattice}, staggered, $m$ = {attributes['mass']:.5g}, {count} {plural}"
    clover = rf", $c_\mathrm{{sw}}$ = {attributes['csw']:.4g}" if attributes["csw"] else ""
    return rf"{lattice}, $\kappa$ = {attributes['kappa']:.5g}{clover}, {count} {plural}"


def _paint_correlators(axes: Any, shown: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    for index, (name, k) in enumerate(shown.items()):
        value = np.abs(k["c"])
        good = value > 0.0
        error = np.minimum(np.nan_to_num(k["dc"]), 0.99 * value)  # the bar must not reach zero on a log scale
        _points(axes, k["t"][good], value[good], error[good], index, label(name))
    axes.set_yscale("log")
    axes.set_xlabel("time separation $t/a$")
    axes.set_ylabel(r"correlator $|C(t)|$ (lattice units)")
    axes.legend(ncols=2 if len(shown) > 4 else 1)


def _paint_masses(axes: Any, shown: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    top = 0.0
    for index, (name, k) in enumerate(shown.items()):
        error = np.nan_to_num(k["dm"])
        good = np.isfinite(k["m"]) & (error < np.abs(k["m"]) / 3)
        if np.isfinite(k["dm"]).any():
            good &= np.isfinite(k["dm"])  # a jackknife estimate without a mass leaves no error, so no statement
        fit = k["plateau"]
        words = label(name) + (f": {analysis.with_error(fit.value, fit.error)}" if fit else "")
        _points(axes, k["tm"][good], k["m"][good], error[good], index, words)
        if fit:
            colour, over = COLOURS[index % len(COLOURS)], k["tm"][[fit.first, fit.last]] + (-0.3, 0.3)
            axes.fill_between(over, fit.value - fit.error, fit.value + fit.error, color=colour, alpha=0.25, lw=0)
            axes.plot(over, [fit.value, fit.value], color=colour, lw=1.0)
        if good.any():
            top = max(top, float((k["m"] + error)[good].max()))
    axes.set_ylim(0.0, 1.08 * top if top > 0.0 else 1.0)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("time separation $t/a$")
    axes.set_ylabel(r"effective mass $a\,m_\mathrm{eff}(t)$")
    axes.legend(ncols=2 if len(shown) > 4 else 1)


def _points(axes: Any, t: np.ndarray, value: np.ndarray, error: np.ndarray, index: int, words: str) -> None:
    axes.errorbar(
        t,
        value,
        yerr=error if np.any(error) else None,
        fmt=MARKERS[index % len(MARKERS)],
        color=COLOURS[index % len(COLOURS)],
        markersize=4.5,
        markerfacecolor="white",
        markeredgewidth=1.3,
        elinewidth=1.2,
        capsize=2.5,
        label=words,
    )
