# SPDX-License-Identifier: Apache-2.0
"""Gauge fields: reading, writing, observables, smearing and flow, on NumPy arrays and any number of processes.

A `GaugeField` holds the links of this process's box. `u.array()` gives them as [t][z][y][x][mu][3][3], complex128, and
`GaugeField.from_array(geometry, links)` takes them; axes are x y z t = 0 1 2 3. Functions are collective over the
processes of the field unless they say otherwise, and results are the same on every process.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halocline import _halocline, memory
from halocline.comm import CommonWork, communicator, on_root
from halocline.errors import InvalidArgument
from halocline.qcd import checks, hdf5_gauge
from halocline.qcd.runfile_gauge import Smear, extents
from halocline.schema import boolean, choice, integer, number, takes
from halocline.texts import file_name

Geometry = _halocline.lattice.Geometry
GaugeField = _halocline.qcd.GaugeField
LINK_BYTES = 576
"""Bytes of the links of a site: four matrices of 3 x 3 complex numbers in double precision."""
LARGEST_EXTENT, MOST_SITES = 2**31, 2**48
PLANES = ("xy", "xz", "xt", "yz", "yt", "zt")
FORMATS = ("ildg", "nersc", "openqcd", "milc", "npy", "hdf5")
SUFFIXES = {
    ".lime": "ildg", ".ildg": "ildg", ".nersc": "nersc", ".milc": "milc", ".openqcd": "openqcd",
    ".npy": "npy", ".h5": "hdf5", ".hdf5": "hdf5",
}  # fmt: skip


@takes(extents=extents(), grid=checks.a_grid)
def geometry(
    extents: Sequence[int], comm: Any = None, grid: Sequence[int] | None = None, ranks: Sequence[int] = ()
) -> Geometry:
    """A lattice cut into equal boxes, one a process.

    extents: x, y, z, t [sites]; comm: see halocline.comm; grid: processes along x, y, z, t, least surface when None
    ranks: the rank at each place of the grid, x fastest, as halocline.mapping.permutation gives it; in order when empty
    Raises InvalidArgument, on every process, when the lattice does not divide over the grid (the error names the
    possible grids), and when the links alone would not fit into the available memory. Collective.
    """
    group = communicator(comm)
    sizes = checked_extents(extents)
    require_memory(sizes, group, LINK_BYTES, "the links of ")
    order = [int(rank) for rank in ranks]
    return Geometry(sizes, group, None if grid is None else list(grid), order)


def checked_extents(extents: Sequence[int]) -> list[int]:
    """The extents as four integers.

    Raises InvalidArgument for anything else, and for a lattice that no machine could hold. Collective: no.
    """
    try:
        sizes = [operator.index(n) for n in extents]
    except TypeError:
        sizes = []
    if len(sizes) != 4:
        raise InvalidArgument(f"{extents} was given for the extents of a lattice; expected four integers x, y, z, t.")
    if max(sizes) >= LARGEST_EXTENT or math.prod(sizes) >= MOST_SITES:
        raise InvalidArgument(f"the lattice {_sizes_text(sizes)} is larger than any machine could hold.")
    return sizes


def _sizes_text(sizes: Sequence[int]) -> str:
    """'8 x 8 x 8 x 16'."""
    return " x ".join(str(n) if n < 10**9 else "(more than a billion)" for n in sizes)


def require_memory(extents: Sequence[int], group: Any, site_bytes: float, what: str = "") -> None:
    """Raises InvalidArgument, on every process, when a lattice does not fit into the available memory.

    site_bytes: bytes that a process needs for each of its sites. Collective.
    """
    if min(extents, default=1) < 1:
        return  # refused elsewhere, with the right sentence
    needed = site_bytes * math.prod(extents) / group.size
    what = f"{what}the lattice {_sizes_text(extents)}"
    memory.require(group, needed, what, "take a smaller lattice or more machines")


def inspect_gauge(path: str | Path) -> dict[str, Any]:
    """What the header of a gauge file says: format, lattice, bits, rows, endian, checksum, header_plaquette, ...

    Raises FileError. Not collective; reads a few kilobytes.
    """
    if hdf5_gauge.is_hdf5(path):
        return hdf5_gauge.inspect(path)
    return _halocline.qcd.inspect_gauge(file_name(path))


def read_gauge(
    path: str | Path,
    comm: Any = None,
    grid: Sequence[int] | None = None,
    strict: bool = False,
    warn: bool = True,
    ranks: Sequence[int] = (),
) -> GaugeField:
    """The links of a file, each process its own part, verified against every check that the format carries.

    strict: refuse links that are not in SU(3) to the precision of the file; otherwise that is a warning
    warn: issue warnings through Python's `warnings`, on process 0; they are in `info["warnings"]` anyway
    ranks: as for geometry()
    Returns a GaugeField; its attribute `info` holds the header as `inspect_gauge` gives it, and the measured plaquette,
    link_trace and unitarity_violation.
    Raises FileError (missing, damaged, foreign, truncated) and InvalidArgument (grid), on every process alike.
    """
    group = communicator(comm)
    header = on_root(group, lambda: inspect_gauge(path))
    here = geometry(header["lattice"], group, grid, ranks)
    if header["format"] == "hdf5":
        u, info = hdf5_gauge.read(path, here, strict)
    else:
        u, info = _halocline.qcd.read_gauge(file_name(path), here, strict)
    u.info = info
    if warn and group.rank == 0:
        for sentence in info["warnings"]:
            warnings.warn(f"{path}: {sentence}", stacklevel=2)
    return u


@takes(u=checks.a_field, bits=integer(at_least=0), rows=integer(at_least=0))
def write_gauge(
    path: str | Path,
    u: GaugeField,
    format: str | None = None,
    bits: int = 0,
    rows: int = 3,
    endian: str = "",
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Writes the links, the whole file or none.

    format: "ildg", "nersc", "openqcd", "milc", "npy" or "hdf5"; taken from the suffix when None
    bits: 32 or 64, 0 for what the format prefers; rows: 2 for NERSC files that leave the third row out
    endian: "big" or "little", "" for what the format prefers; metadata: texts for the header
    Raises InvalidArgument and FileError, on every process alike. Collective.
    """
    format = format_of(path) if format is None else format
    if format not in FORMATS:
        raise InvalidArgument(f'format = "{format}"; gauge files are written as {", ".join(FORMATS)}.')
    if format == "hdf5":
        if rows != 3 or endian:
            raise InvalidArgument("HDF5 gauge files have three rows and the byte order of the machine; leave both out.")
        hdf5_gauge.write(path, u, bits or 64, dict(metadata or {}))
        return
    texts = [(str(k), str(v)) for k, v in (metadata or {}).items()]
    _halocline.qcd.write_gauge(file_name(path), u, format, bits, rows, endian, texts)


def format_of(path: str | Path) -> str:
    """The format of a file name, from its suffix. Raises InvalidArgument for an unknown suffix."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        known = ", ".join(f"{s} ({f})" for s, f in SUFFIXES.items())
        raise InvalidArgument(f'{path}: the suffix "{suffix}" names no gauge format; use {known}, or give the format.')
    return SUFFIXES[suffix]


@takes(u=checks.a_field)
def plaquette(u: GaugeField) -> float:
    """Mean of Re tr U_munu / 3 over sites and planes; 1 for unit links."""
    return _halocline.qcd.plaquette(u)


@takes(u=checks.a_field)
def plaquette_planes(u: GaugeField) -> dict[str, float]:
    """The same for each plane: "xy", "xz", "xt", "yz", "yt", "zt"."""
    return dict(zip(PLANES, _halocline.qcd.plaquette_planes(u), strict=True))


@takes(u=checks.a_field)
def rectangle(u: GaugeField) -> float:
    """Mean of Re tr / 3 over all 2 x 1 rectangles."""
    return _halocline.qcd.rectangle(u)


@takes(u=checks.a_field)
def link_trace(u: GaugeField) -> float:
    """Mean of Re tr U_mu(x) / 3 over all links; depends on the gauge."""
    return _halocline.qcd.link_trace(u)


@takes(u=checks.a_field)
def polyakov(u: GaugeField) -> NDArray[np.complex128]:
    """Mean of tr / 3 of the straight loop around x, y, z and t. Returns shape (4,)."""
    return np.array(_halocline.qcd.polyakov(u))


@takes(u=checks.a_field)
def topological_charge(u: GaugeField) -> float:
    """The charge from the clover field strength; near an integer only on smooth fields."""
    return _halocline.qcd.topological_charge(u)


@takes(u=checks.a_field, rho=checks.positive, steps=checks.some_steps, spatial=boolean)
def smear_stout(u: GaugeField, rho: float, steps: int = 1, spatial: bool = False) -> GaugeField:
    """Stout-smeared links (Morningstar and Peardon, hep-lat/0311018), a new field; spatial: x, y, z links only.

    rho: weight of the staples, above 0; repeated steps roughen the links again above about 0.125
    """
    smeared = u.copy()
    with CommonWork(u.geometry.communicator):
        _halocline.qcd.smear_stout(smeared, rho, steps, spatial)
    return smeared


@takes(u=checks.a_field, alpha=checks.a_fraction, steps=checks.some_steps, spatial=boolean)
def smear_ape(u: GaugeField, alpha: float, steps: int = 1, spatial: bool = False) -> GaugeField:
    """APE-smeared links, a new field: (1 - alpha) link + alpha/n sum of the n staples, projected to SU(3).

    alpha: from 0 to 1
    """
    smeared = u.copy()
    with CommonWork(u.geometry.communicator):
        _halocline.qcd.smear_ape(smeared, alpha, steps, spatial)
    return smeared


def smeared(u: GaugeField, how: Smear) -> GaugeField:
    """The links smeared as a run file's `smear` says, a new field."""
    spatial = how.axes == "spatial"
    if how.kind == "stout":
        return smear_stout(u, how.rho, how.steps, spatial)
    return smear_ape(u, how.alpha, how.steps, spatial)


@takes(
    u=checks.a_field,
    kind=choice("coulomb", "landau"),
    tolerance=checks.positive,
    max_iterations=checks.one_or_more,
    omega=number(at_least=1.0, below=2.0),
)
def fix_gauge(
    u: GaugeField,
    kind: str = "coulomb",
    tolerance: float = 1e-12,
    max_iterations: int = 10000,
    omega: float = 1.7,
    progress: Callable[[int, float], bool] | None = None,
) -> tuple[GaugeField, dict[str, Any]]:
    """The links in Coulomb or Landau gauge, by over-relaxation.

    tolerance: on theta, the mean of tr(Delta Delta^dagger)/3 with Delta the divergence of the gauge field
    progress: called with iterations and theta; returning False on any process stops all
    Returns the transformed links, a new field, and {"converged", "reason", "iterations", "theta", "functional"}.
    Raises InvalidArgument for another kind or parameters out of range.
    """
    fixed = u.copy()
    with CommonWork(u.geometry.communicator):
        report = _halocline.qcd.fix_gauge(fixed, kind == "landau", tolerance, max_iterations, omega, progress)
    return fixed, report


@takes(u=checks.a_field)
def coulomb_theta(u: GaugeField) -> float:
    """How far the links are from Coulomb gauge: below about 1e-8 when fixed, about 1 when not."""
    return _halocline.qcd.coulomb_theta(u)


@takes(
    u=checks.a_field,
    t_max=checks.positive,
    step=checks.positive,
    adaptive=boolean,
    tolerance=checks.positive,
    measure_every=checks.one_or_more,
)
def wilson_flow(
    u: GaugeField,
    t_max: float,
    step: float = 0.02,
    adaptive: bool = False,
    tolerance: float = 1e-6,
    measure_every: int = 1,
    progress: Callable[[dict[str, float]], bool] | None = None,
) -> tuple[GaugeField, dict[str, Any]]:
    """The Wilson flow (Luescher, arXiv:1006.4518) from t = 0 to t_max, in units of a^2.

    adaptive: choose steps so that the error of no link exceeds tolerance a step; measure_every: steps between points
    progress: called with each point; returning False on any process stops all
    Returns the flowed links, a new field, and {"points": [{t, plaquette, t2_energy_clover, topological_charge, ...}],
    "t0", "w0" (None while not reached), "steps", "rejected", "reason"}.
    """
    flowed = u.copy()
    with CommonWork(u.geometry.communicator):
        return flowed, _halocline.qcd.wilson_flow(flowed, t_max, step, adaptive, tolerance, measure_every, progress)


@takes(where=checks.a_place, root=integer(at_least=0))
def gather(local: NDArray[Any], where: Geometry | GaugeField, root: int = 0) -> NDArray[Any] | None:
    """The whole lattice on process `root`, from the local parts [t][z][y][x]... of all processes; None on the others.

    Collective.
    """
    here = where.geometry if isinstance(where, GaugeField) else where
    local = np.ascontiguousarray(local)
    box = tuple(here.local[::-1])
    if local.shape[:4] != box:
        raise InvalidArgument(f"gather: the array has the shape {local.shape}; this process's part begins with {box}.")
    group = here.communicator
    parts = group.gather(local.tobytes(), root)
    offsets = np.frombuffer(group.gather(np.array(here.offset, dtype=np.int64).tobytes(), root), dtype=np.int64)
    if group.rank != root:
        return None
    whole = np.empty(tuple(here.extents[::-1]) + local.shape[4:], dtype=local.dtype)
    stacked = np.frombuffer(parts, dtype=local.dtype).reshape(group.size, *local.shape)
    for part, offset in zip(stacked, offsets.reshape(-1, 4), strict=True):
        at = tuple(slice(o, o + n) for o, n in zip(offset[::-1], box, strict=True))
        whole[at] = part
    return whole


@takes(where=checks.a_place)
def local_part(whole: NDArray[Any], where: Geometry | GaugeField) -> NDArray[Any]:
    """This process's part of an array of the whole lattice that every process holds. Not collective.

    Raises InvalidArgument when the array does not begin with the extents t, z, y, x.
    """
    here = where.geometry if isinstance(where, GaugeField) else where
    if whole.shape[:4] != tuple(here.extents[::-1]):
        raise InvalidArgument(
            f"local_part: the array has the shape {whole.shape}; the lattice begins with {tuple(here.extents[::-1])}."
        )
    at = tuple(slice(o, o + n) for o, n in zip(here.offset[::-1], here.local[::-1], strict=True))
    return np.ascontiguousarray(whole[at])


@takes(extents=extents())
def unit_links(
    extents: Sequence[int], comm: Any = None, grid: Sequence[int] | None = None, ranks: Sequence[int] = ()
) -> GaugeField:
    """All links 1, the free field, on a lattice x, y, z, t; grid and ranks as for geometry()."""
    return _halocline.qcd.unit_links(geometry(extents, comm, grid, ranks))


@takes(extents=extents(), seed=checks.a_seed)
def random_links(
    extents: Sequence[int], seed: int, comm: Any = None, grid: Sequence[int] | None = None, ranks: Sequence[int] = ()
) -> GaugeField:
    """Independent links, uniform over SU(3); the same on any process grid. grid and ranks as for geometry()."""
    return _halocline.qcd.random_links(geometry(extents, comm, grid, ranks), seed)


@takes(extents=extents(), epsilon=checks.not_negative, seed=checks.a_seed)
def weak_links(
    extents: Sequence[int], epsilon: float, seed: int, comm: Any = None, grid: Sequence[int] | None = None
) -> GaugeField:
    """Independent links near 1; the mean plaquette is 1 - 8 epsilon^2 / 3 for small epsilon."""
    return _halocline.qcd.weak_links(geometry(extents, comm, grid), epsilon, seed)


@takes(
    u=checks.a_field,
    beta=checks.not_negative,
    sweeps=integer(at_least=0, at_most=2**32),
    seed=checks.a_seed,
    overrelaxation=checks.some_steps,
    first=integer(at_least=0, at_most=2**32 - 1),
    xi0=checks.positive,
)
def heatbath(
    u: GaugeField, beta: float, sweeps: int, seed: int, overrelaxation: int = 3, first: int = 0, xi0: float = 1.0
) -> None:
    """Quenched updates in place with the Wilson action: `sweeps` times a heatbath sweep and over-relaxation sweeps.

    beta: not negative; overrelaxation: sweeps after each heatbath sweep; xi0: bare anisotropy, above 0
    first: number of the first sweep in the Markov chain; continue with first + sweeps, or the random numbers repeat
    The links have the same bits on every process grid.
    """
    with CommonWork(u.geometry.communicator):
        for sweep in range(first, first + sweeps):
            _halocline.qcd.heatbath_sweep(u, beta, overrelaxation, seed, xi0, sweep)


@takes(u=checks.a_field, seed=checks.a_seed)
def random_gauge(u: GaugeField, seed: int) -> GaugeField:
    """The links after a random gauge transformation, a new field."""
    transformed = u.copy()
    _halocline.qcd.random_transformation(transformed, seed)
    return transformed
