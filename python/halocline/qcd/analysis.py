# SPDX-License-Identifier: Apache-2.0
"""Effective masses and their errors from hadron correlators, in NumPy alone.

Correlators are real arrays whose last axis is t, source at t = 0, as `halocline qcd spectrum` writes them. Everything
here works along that axis and leaves the others alone. The jackknife is the delete-one-bin one: for n bins,
error^2 = (n - 1)/n sum_b (f_b - mean f)^2 with f_b the estimate without bin b, which is right for any smooth function
of the mean, correlations along t included.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halocline.errors import InvalidArgument

Array = NDArray[np.float64]


def fold(correlator: ArrayLike, sign: int = 1) -> Array:
    """The mean of C(t) and sign C(T - t).

    correlator: shape (..., T), T even
    sign: 1 for a correlator symmetric about T/2 (mesons), -1 for an antisymmetric one
    Returns shape (..., T/2 + 1); t = 0 and t = T/2 are kept as they are.
    Raises InvalidArgument when T is odd or sign is neither 1 nor -1.

    >>> fold([4.0, 2.0, 1.0, 2.2])
    array([4. , 2.1, 1. ])
    """
    c = np.asarray(correlator, dtype=float)
    extent = c.shape[-1]
    if extent % 2:
        raise InvalidArgument(f"fold: the correlator has {extent} time slices; an even number is needed.")
    if sign not in (1, -1):
        raise InvalidArgument(f"fold: sign = {sign}; give 1 for a symmetric correlator or -1 for an antisymmetric one.")
    half = extent // 2
    folded = c[..., : half + 1].copy()
    folded[..., 1:half] += sign * c[..., :half:-1]
    folded[..., 1:half] *= 0.5
    return folded


def effective_mass(correlator: ArrayLike, kind: str = "log", extent: int | None = None) -> Array:
    """The mass that C(t) and C(t + 1) imply, for every t; NaN where there is none.

    kind: "log", m = ln C(t)/C(t+1); or "cosh", the m >= 0 with C(t)/C(t+1) = cosh(m (t - T/2))/cosh(m (t + 1 - T/2)),
      which takes the image behind the boundary into account
    extent: T of the unfolded correlator, needed for "cosh" when the correlator is folded
    Returns shape (..., n - 1) for n time slices, in inverse lattice spacings.
    Raises InvalidArgument for another kind.

    >>> import numpy as np
    >>> effective_mass(np.exp(-0.5 * np.arange(4))).round(12)
    array([0.5, 0.5, 0.5])
    """
    c = np.asarray(correlator, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = c[..., :-1] / c[..., 1:]
        log_mass = np.where(ratio > 0.0, np.log(np.where(ratio > 0.0, ratio, 1.0)), np.nan)
    if kind == "log":
        return log_mass
    if kind != "cosh":
        raise InvalidArgument(f'effective_mass: kind = "{kind}"; give "log" or "cosh".')
    middle = 0.5 * (c.shape[-1] if extent is None else extent)
    t = np.arange(c.shape[-1] - 1, dtype=float)
    near, far = np.abs(t - middle), np.abs(t + 1.0 - middle)
    # Beyond the middle the ratio is below 1: exchange the two slices, so that the distance always shrinks.
    outward = far > near
    ratio = np.where(outward, 1.0 / np.where(ratio == 0.0, np.nan, ratio), ratio)
    return _solve_cosh(ratio, np.maximum(near, far), np.minimum(near, far))


def _solve_cosh(ratio: Array, outer: NDArray, inner: NDArray) -> Array:
    """The m >= 0 with cosh(m outer)/cosh(m inner) = ratio by bisection; NaN where ratio < 1 or outer = inner.

    The left side grows from 1 monotonically and is at least half of e^{m (outer - inner)}, which brackets m.
    """
    outer, inner = np.broadcast_to(outer, ratio.shape), np.broadcast_to(inner, ratio.shape)
    solvable = (ratio >= 1.0) & (outer > inner)
    safe = np.where(solvable, ratio, 1.0)
    step = np.where(outer > inner, outer - inner, 1.0)
    low, high = np.zeros(ratio.shape), np.log(2.0 * safe) / step
    for _ in range(60):
        mass = 0.5 * (low + high)
        log_left = (
            mass * (outer - inner) + np.log1p(np.exp(-2.0 * mass * outer)) - np.log1p(np.exp(-2.0 * mass * inner))
        )
        above = log_left > np.log(safe)
        high, low = np.where(above, mass, high), np.where(above, low, mass)
    return np.where(solvable, 0.5 * (low + high), np.nan)


def bin_samples(samples: ArrayLike, size: int) -> Array:
    """Means over `size` consecutive samples (axis 0), against autocorrelation.

    Samples at the front that do not fill a bin are left out.

    Raises InvalidArgument when there are fewer samples than one bin takes.
    """
    s = np.asarray(samples, dtype=float)
    count = s.shape[0] // size if size > 0 else 0
    if count == 0:
        raise InvalidArgument(f"bin_samples: {s.shape[0]} samples do not fill one bin of {size}; lower bin.")
    return s[s.shape[0] - count * size :].reshape(count, size, *s.shape[1:]).mean(axis=1)


def jackknife(
    samples: ArrayLike, function: Callable[[Array], Array] = lambda mean: mean, bin: int = 1
) -> tuple[Array, Array]:
    """A function of the mean of samples, with its error.

    samples: shape (configurations, ...); function: of an array of shape (...), any smooth one
    Returns (function(mean), error), both of the shape function returns; the error is NaN with fewer than two bins.
    Cost: one call of function for each bin.

    >>> value, error = jackknife([[1.0], [2.0], [3.0]])
    >>> float(value[0]), round(float(error[0]), 12)
    (2.0, 0.57735026919)
    """
    centre, estimates = _jackknife_estimates(samples, function, bin)
    return centre, _jackknife_error(estimates)


def _jackknife_estimates(samples: ArrayLike, function: Callable[[Array], Array], bin: int) -> tuple[Array, Array]:
    """function(mean), and its values without each bin in turn; no such values for a single bin."""
    binned = bin_samples(samples, bin)
    count = binned.shape[0]
    mean = binned.mean(axis=0)
    centre = np.asarray(function(mean), dtype=float)
    if count < 2:
        return centre, np.empty((0, *centre.shape))
    without = (count * mean - binned) / (count - 1)
    return centre, np.stack([np.asarray(function(w), dtype=float) for w in without])


def _jackknife_error(estimates: Array) -> Array:
    count = estimates.shape[0]
    if count < 2:
        return np.full(estimates.shape[1:], np.nan)
    deviation = estimates - estimates.mean(axis=0)
    return np.sqrt((count - 1) / count * (deviation**2).sum(axis=0))


@dataclasses.dataclass(frozen=True)
class Plateau:
    """A constant fitted to a function of t."""

    value: float
    error: float
    first: int
    """Index of the first point of the fit, and of the last."""
    last: int
    chi2: float
    """Of the points against the constant, without their correlations."""

    @property
    def dof(self) -> int:
        return self.last - self.first


LEAST_BINS = 4
"""The fewest bins of a plateau; an error from fewer bins means nothing."""


def plateau(
    samples: ArrayLike,
    function: Callable[[Array], Array] = effective_mass,
    bin: int = 1,
    first: int | None = None,
    last: int | None = None,
) -> Plateau | None:
    """A constant fitted to a function of t of the mean of samples, such as an effective mass, with its error.

    The points are weighted by 1/error^2. The fit is repeated without each bin in turn, so the error includes the
    correlations along t.
    samples: shape (configurations, T); function: of an array of shape (T,), with values along t
    first, last: indices of the points; where last is None, the last point before the error first exceeds a third of the
    value; where first is None, the earliest one from which on a constant describes the points,
    chi^2 <= dof + sqrt(2 dof), or else the one with the least chi^2/dof, if that is below dof + 3 sqrt(2 dof)
    Returns None where there is nothing to fit: fewer than four bins, fewer than two points, or no constant stretch.

    >>> noise = np.array([1.0, -1.0, 0.5, -0.5])[:, None] * 1e-3
    >>> found = plateau(np.exp(-0.5 * np.arange(6)) * (1 + noise * np.arange(6)))
    >>> round(found.value, 3), found.first, found.last
    (0.5, 0, 4)
    """
    centre, estimates = _jackknife_estimates(samples, function, bin)
    if estimates.shape[0] < LEAST_BINS:
        return None
    error = _jackknife_error(estimates)
    good = np.isfinite(centre) & np.isfinite(error) & (error > 0.0) & (error < np.abs(centre) / 3)
    begin = int(np.argmax(good)) if first is None else first
    if last is None:
        behind = np.flatnonzero(~good[begin:])
        last = begin + int(behind[0]) - 1 if behind.size else centre.size - 1
    if not (0 <= begin < last < centre.size) or not good[begin : last + 1].all():
        return None
    fits = []
    for start in range(begin, last):
        points = slice(start, last + 1)
        weight = 1.0 / error[points] ** 2
        weight /= weight.sum()
        value = float(weight @ centre[points])
        chi2 = float((((centre[points] - value) / error[points]) ** 2).sum())
        fits.append(Plateau(value, float(_jackknife_error(estimates[:, points] @ weight)), start, last, chi2))
        if first is not None or chi2 <= fits[-1].dof + np.sqrt(2.0 * fits[-1].dof):
            return fits[-1]
    best = min(fits, key=lambda fit: fit.chi2 / fit.dof)
    return best if best.chi2 <= best.dof + 3.0 * np.sqrt(2.0 * best.dof) else None


def with_error(value: float, error: float) -> str:
    """The value with the error of its last digits in parentheses: one digit, or two if the first is 1.

    >>> with_error(0.52304, 0.0041), with_error(12.3, 0.13), with_error(0.5, float("nan"))
    ('0.523(4)', '12.30(13)', '0.5')
    """
    if not (np.isfinite(error) and error > 0.0):
        return f"{value:.4g}"
    place = int(np.floor(np.log10(error)))
    if round(error / 10.0**place) == 1:
        place -= 1
    digits = max(0, -place)
    return f"{value:.{digits}f}({round(error * 10.0**digits)})"
