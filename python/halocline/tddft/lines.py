# SPDX-License-Identifier: Apache-2.0
"""Lines of an absorption spectrum: energies, oscillator strengths and widths, with their errors.

After a kick the polarisability is the transform of sum_n f_n / omega_n sin(omega_n t) exp(-gamma_n t / 2), times the
window w of the spectrum. So close to a line
    Im alpha(omega) = f / (2 omega_n) Re integral from 0 to T of w(t) exp(-gamma t / 2) exp(i (omega - omega_n) t) dt,
whose shape is known. Lines closer than three times the resolution are fitted together, up to three of them, above a
constant for the tails of others, by least squares. More than two lines together have no widths. Lines that are not
larger than twice their error, or whose energies are not known to half of the resolution, are left out: in a crowd of
peaks, or in the continuum, a spectrum is not made of lines. The errors follow from what the fit leaves over. They
measure how well such lines describe the spectrum, and not the error of the functional or of the grid.
Without a window points pi / T apart are independent of each other; a window w leaves the mean of w^2 as many.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from halocline.tddft.units import HARTREE_EV

REACH = 3.0
"""Of a fit beyond the outermost peaks, in units of the resolution."""
TOGETHER = 3.0
"""Peaks closer than this, in units of the resolution, are fitted together."""
MOST = 3
"""Lines of a fit. Longer groups are divided where their peaks are farthest apart."""
MOST_WITH_WIDTHS = 2
OVERSAMPLING = 4
"""Points of a fit in pi / T."""
NODES = 64
"""Of the integral over time: enough for the few oscillations of a line's shape within the reach."""


@dataclasses.dataclass(frozen=True)
class Line:
    """A fitted line; energies in hartree, errors are standard deviations."""

    energy: float
    energy_error: float
    strength: float
    """Oscillator strength; the mean over three kicks is that of all orientations."""
    strength_error: float
    width: float
    """Full width at half maximum besides the resolution; 0 for a state that lives longer than the run."""
    width_error: float

    def text(self) -> str:
        """A line of the log."""
        e, de, w, dw = (v * HARTREE_EV for v in (self.energy, self.energy_error, self.width, self.width_error))
        width = f"   width {w:.3f}({dw:.3f}) eV" if w > 2 * dw else ""
        return f"{e:8.4f}({de:.4f}) eV   f {self.strength:.4f}({self.strength_error:.4f}){width}"


def fit(
    peaks: Sequence[float], length: float, highest: float, window: Callable[[np.ndarray], np.ndarray],
    absorption: Callable[[np.ndarray], np.ndarray],
) -> list[Line]:  # fmt: skip
    """Lines at the peaks of a spectrum.

    peaks: energies to begin with [hartree], ascending
    length: T of the run [a.u.]; highest: energy that its steps can tell [hartree]
    window: w(t); absorption: Im alpha at energies [hartree]
    A group of peaks whose fit does not converge, or with too little of the spectrum around it, is left out.
    Collective: no.
    """
    resolution = 2 * np.pi / length
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    times = 0.5 * length * (nodes + 1)
    weights = 0.5 * length * weights
    found = []
    groups = _groups(peaks, resolution)
    for n, group in enumerate(groups):
        first, last = group[0] - REACH * resolution, group[-1] + REACH * resolution
        if n > 0:
            first = max(first, 0.5 * (groups[n - 1][-1] + group[0]))
        if n + 1 < len(groups):
            last = min(last, 0.5 * (group[-1] + groups[n + 1][0]))
        last = min(last, highest)
        lines = _fit_group(group, (first, last), resolution, times, weights, window(times), absorption)
        found += [
            line for line in lines if line.strength > 2 * line.strength_error and line.energy_error < 0.5 * resolution
        ]
    return found


def _groups(peaks: Sequence[float], resolution: float) -> list[list[float]]:
    """Neighbours that are fitted together."""
    groups: list[list[float]] = []
    for peak in peaks:
        if groups and peak - groups[-1][-1] < TOGETHER * resolution:
            groups[-1].append(peak)
        else:
            groups.append([peak])
    while any(len(group) > MOST for group in groups):
        n = next(n for n, group in enumerate(groups) if len(group) > MOST)
        cut = 1 + int(np.argmax(np.diff(groups[n])))
        groups[n : n + 1] = [groups[n][:cut], groups[n][cut:]]
    return groups


def _fit_group(
    group: list[float], span: tuple[float, float], resolution: float, times: np.ndarray, weights: np.ndarray,
    window: np.ndarray, absorption: Callable[[np.ndarray], np.ndarray],
) -> list[Line]:  # fmt: skip
    from scipy.optimize import least_squares

    step = 0.5 * resolution / OVERSAMPLING
    first = max(span[0], step)
    energy = first + step * np.arange(max(0, int((span[1] - first) / step) + 1))
    count = len(group)
    if energy.size <= 3 * count + 1:
        return []
    values = absorption(energy)
    scale = np.abs(values).max()
    if not scale > 0:
        return []
    wide = count <= MOST_WITH_WIDTHS

    def shapes(parameters: np.ndarray) -> np.ndarray:
        """Of unit strength, shape (energies, lines)."""
        at = parameters[:count] * resolution
        width = parameters[count:] * resolution if wide else np.zeros(count)
        damped = (weights * window)[:, None] * np.exp(-0.5 * width * times[:, None])
        phase = np.cos((energy[:, None] - at)[:, None, :] * times[None, :, None])
        return np.einsum("tn,etn->en", damped, phase) / (2.0 * at)

    def linear(parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Strengths and the constant that fit best, and their columns."""
        columns = np.column_stack([shapes(parameters), np.full(energy.size, scale)])
        return np.linalg.lstsq(columns, values, rcond=None)[0], columns

    def left(parameters: np.ndarray) -> np.ndarray:
        best, columns = linear(parameters)
        return (columns @ best - values) / scale

    widths = count if wide else 0
    start = np.concatenate([np.array(group) / resolution, np.full(widths, 0.05)])
    low = np.concatenate([start[:count] - 1.0, np.zeros(widths)])
    high = np.concatenate([start[:count] + 1.0, np.full(widths, 20.0)])
    solved = least_squares(left, start, bounds=(low, high), x_scale=0.1, xtol=1e-10, ftol=1e-10)
    if not solved.success:
        return []
    best, columns = linear(solved.x)
    # The covariance of all parameters together: columns of the linear ones beside the slopes of the others.
    slopes = np.empty((energy.size, count + widths))
    for n in range(count + widths):
        moved = solved.x.copy()
        moved[n] += 1e-4
        slopes[:, n] = (shapes(moved) - shapes(solved.x)) @ best[:count] / 1e-4
    jacobian = np.column_stack([slopes, columns])
    # The share of the points that are independent of each other.
    share = (weights @ window**2) / weights.sum() / OVERSAMPLING
    freedom = max(share * energy.size - jacobian.shape[1], 1.0)
    variance = share * np.sum((scale * solved.fun) ** 2) / freedom
    try:
        covariance = np.linalg.inv(share * jacobian.T @ jacobian) * variance
    except np.linalg.LinAlgError:
        return []
    error = np.sqrt(np.clip(np.diag(covariance), 0.0, None))
    return [
        Line(
            energy=float(solved.x[n] * resolution),
            energy_error=float(error[n] * resolution),
            strength=float(best[n]),
            strength_error=float(error[count + widths + n]),
            width=float(solved.x[count + n] * resolution) if wide else 0.0,
            width_error=float(error[count + n] * resolution) if wide else 0.0,
        )
        for n in range(count)
    ]
