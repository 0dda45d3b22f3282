# SPDX-License-Identifier: Apache-2.0
"""Effective masses and their errors from hadron correlators, in NumPy alone.

Correlators are real arrays whose last axis is t, source at t = 0, as `halocline qcd spectrum` writes them. Everything
here works along that axis and leaves the others alone. The jackknife is the delete-one-bin one: for n bins,
error^2 = (n - 1)/n sum_b (f_b - mean f)^2 with f_b the estimate without bin b, which is right for any smooth function
of the mean, correlations along t included.
"""

from __future__ import annotations

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
    """Means over `size` consecutive samples (axis 0), against autocorrelation; a rest at the front is left out.

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
    binned = bin_samples(samples, bin)
    count = binned.shape[0]
    mean = binned.mean(axis=0)
    centre = np.asarray(function(mean), dtype=float)
    if count < 2:
        return centre, np.full_like(centre, np.nan)
    without = (count * mean - binned) / (count - 1)
    estimates = np.stack([np.asarray(function(w), dtype=float) for w in without])
    deviation = estimates - estimates.mean(axis=0)
    return centre, np.sqrt((count - 1) / count * (deviation**2).sum(axis=0))
