# SPDX-License-Identifier: Apache-2.0
"""The grid of a system: which spacing is recommended, and how many points there are along each edge."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from halocline.errors import InvalidArgument
from halocline.tddft.runfile import Run
from halocline.tddft.structure import Structure
from halocline.tddft.symmetry import crystal_symmetries

LARGEST_NUMBER = 2**31
"""Above every number of points, k-points or states that can be computed."""
RECOMMENDED = 0.8
"""The recommended spacing over Pseudopotential.coarsest_spacing, where errors are a tenth of those that it states."""
RECOMMENDED_BARE = 0.5
"""The same without projectors, as for hydrogen: electrons are densest at the nucleus, and the egg box is larger."""


def recommended_spacing(potentials: Iterable[Any]) -> float | None:
    """Spacing for an error of at most some 1e-4 hartree an atom [bohr]; None without pseudopotentials."""
    shares = ((p, RECOMMENDED if p.largest_l >= 0 else RECOMMENDED_BARE) for p in potentials)
    return min((share * p.coarsest_spacing for p, share in shares), default=None)


def grid_points(edges: np.ndarray, run: Run, recommended: float | None) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Points and spacing along each axis: the requested or the recommended spacing, reduced until it divides the edge.

    Raises InvalidArgument if there is neither.
    """
    spacing = run.grid.spacing or (None if recommended is None else (recommended,) * 3)
    if run.grid.extent is not None:
        extent = run.grid.extent
    elif spacing is None:
        raise InvalidArgument("[grid] needs 'spacing' or 'extent': without pseudopotentials none is recommended.")
    else:
        counts = [float(e) / h - 1e-6 for e, h in zip(edges, spacing, strict=True)]
        # Infinite numbers and NaN become LARGEST_NUMBER, and are refused later with all numbers that are too large.
        extent = tuple(max(1, math.ceil(n)) if n < LARGEST_NUMBER else LARGEST_NUMBER for n in counts)
    return extent, tuple(float(e) / n for e, n in zip(edges, extent, strict=True))


def symmetric_extent(structure: Structure, extent: tuple[int, ...]) -> tuple[int, ...]:
    """The next larger numbers of points that the translations of the crystal's symmetries divide."""
    _, translations = crystal_symmetries(structure)
    divisors = [
        math.lcm(*(Fraction(float(w)).limit_denominator(12).denominator for w in translations[:, axis]))
        for axis in range(3)
    ]
    return tuple(n + -n % d for n, d in zip(extent, divisors, strict=True))
