# SPDX-License-Identifier: Apache-2.0
"""Links, spinors and propagators as arrays in the memory orders of other codes, by name.

    order           arrays (L lanes, X Y Z T the local extents)                                        spin basis
    "lexicographic" links [t][z][y][x][mu][3][3], spinors [t][z][y][x][spin][colour]: Halocline's own  DeGrand-Rossi
    "even-odd"      links [2][t][z][y][x/2][mu][3][3], spinors [2][t][z][y][x/2][spin][colour]         DeGrand-Rossi
    "qdp++"         links [mu][2][t][z][y][x/2][3][3]: QDP++, and hence Chroma, by default             DeGrand-Rossi
    "quda"          the same: QUDA_QDP_GAUGE_ORDER, QUDA_DIRAC_ORDER                                   DeGrand-Rossi
    "pyquda"        the same: `data` of LatticeGauge, LatticeFermion and LatticePropagator             DeGrand-Rossi
    "milc"          links [2][t][z][y][x/2][mu][3][3]: MILC, and QUDA_MILC_GAUGE_ORDER                 DeGrand-Rossi
    "qws"           links [2][mu][t][z][y][x/2/L][column][row][2][L] of reals, the halves of x first   UKQCD
    "qws-even-odd"  the same with the parities first                                                   UKQCD
    "openqcd"       links [V/2][8][3][3], the links around odd sites; spinors [V][4][3]; openQCD 1.x   openQCD

docs/conventions.md has the offset of every number. Every process has the array of its own box. Numbers are complex64
or complex128; those of QWS are float32 or float64, since real and imaginary parts are apart. Functions are collective
and raise InvalidArgument on every process alike.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from halocline import _halocline
from halocline.comm import raise_together
from halocline.errors import InvalidArgument
from halocline.qcd import checks
from halocline.qcd.gauge import GaugeField, Geometry
from halocline.qcd.propagators import Propagator
from halocline.schema import boolean, takes

ORDERS = _halocline.qcd.ORDERS
"""The names of the orders. "canonical" is another name of "lexicographic", "chroma" of "qdp++"."""


@takes(
    where=checks.a_place,
    lanes=checks.a_lane_count,
    scale=checks.four_factors,
    boundary=checks.four_factors,
    staggered_phases=boolean,
)
def gauge_from_array(
    links: NDArray[Any],
    where: Geometry | GaugeField,
    order: str = "lexicographic",
    *,
    lanes: int = 0,
    scale: Sequence[float] = (1, 1, 1, 1),
    boundary: Sequence[float] = (1, 1, 1, 1),
    staggered_phases: bool = False,
) -> GaugeField:
    """The links of an array of another code, a new field.

    links: this process's part, in the shape of the order or flat
    order: one of ORDERS; lanes: sites side by side in QWS's arrays, 8 doubles or 16 floats when 0
    scale: the factor of the array's links of each direction, which is divided out; boundary: the same for the links
      across the upper end of each axis, such as (1, 1, 1, -1) of links for antiperiodic quarks
    staggered_phases: the array's links contain MILC's phases of staggered quarks
    Raises InvalidArgument for an unknown order, an array of another size or type, or a process grid that the order
    cannot have. Collective. Cost: one sweep, then an exchange of ghosts.

    >>> import numpy as np
    >>> import halocline as hc
    >>> u = hc.qcd.random_links([8, 8, 8, 8], seed=1)
    >>> a = gauge_to_array(u, "pyquda", boundary=(1, 1, 1, -1))
    >>> a.shape
    (4, 2, 8, 8, 8, 4, 3, 3)
    >>> v = gauge_from_array(a, u, "pyquda", boundary=(1, 1, 1, -1))
    >>> hc.qcd.plaquette(v) == hc.qcd.plaquette(u)
    True
    """
    here = _geometry(where)
    numbers = _numbers("gauge_from_array", links, here, order, None, lanes, _gauge_shape)
    u = GaugeField(here)
    _halocline.qcd.load_links(u, numbers, order, lanes, _factors(scale, boundary, staggered_phases))
    return u


@takes(
    u=checks.a_field,
    lanes=checks.a_lane_count,
    scale=checks.four_factors,
    boundary=checks.four_factors,
    staggered_phases=boolean,
)
def gauge_to_array(
    u: GaugeField,
    order: str = "lexicographic",
    *,
    bits: int = 64,
    lanes: int = 0,
    scale: Sequence[float] = (1, 1, 1, 1),
    boundary: Sequence[float] = (1, 1, 1, 1),
    staggered_phases: bool = False,
) -> NDArray[Any]:
    """The links as an array of another code, in the shape of the order; its memory begins at a multiple of 64 bytes.

    bits: of each real number, 64 or 32; the rest as gauge_from_array: the array's links are multiplied by the factors
    Raises InvalidArgument as gauge_from_array. Collective. Cost: one sweep.
    """
    here = u.geometry
    out = _new_array("gauge_to_array", here, order, None, bits, lanes, _gauge_shape)
    _halocline.qcd.store_links(_reals(out), u, order, lanes, _factors(scale, boundary, staggered_phases))
    return out


@takes(where=checks.a_place, lanes=checks.a_lane_count)
def spinor_from_array(
    spinor: NDArray[Any],
    where: Geometry | GaugeField,
    order: str = "lexicographic",
    *,
    basis: str | None = None,
    lanes: int = 0,
    staggered: bool = False,
) -> NDArray[np.complex128]:
    """A spinor of another code as Halocline's [t][z][y][x][spin][colour], DeGrand-Rossi, complex128.

    spinor: this process's part, in the shape of the order or flat; order, lanes: as gauge_from_array
    basis: "DeGrand-Rossi", "Dirac-Pauli", "UKQCD", "openQCD" or "Chiral", that of the order when None
    staggered: one spin; the result is [t][z][y][x][colour]
    Raises InvalidArgument as gauge_from_array, and for an unknown basis. Collective. Cost: one sweep.

    >>> import numpy as np
    >>> import halocline as hc
    >>> g = hc.qcd.geometry([8, 4, 4, 4])
    >>> b = hc.qcd.point_source(g, [1, 0, 0, 0], 0, 2)
    >>> a = spinor_to_array(b, g, "quda", basis="UKQCD")
    >>> a.shape
    (2, 4, 4, 4, 4, 4, 3)
    >>> np.argwhere(a).tolist()  # an odd site, two spins
    [[1, 0, 0, 0, 0, 1, 2], [1, 0, 0, 0, 0, 3, 2]]
    >>> np.allclose(spinor_from_array(a, g, "quda", basis="UKQCD"), b)
    True
    """
    here, spins = _geometry(where), 1 if staggered else 4
    shape_of = functools.partial(_spinor_shape, spins=spins)
    numbers = _numbers("spinor_from_array", spinor, here, order, basis, lanes, shape_of)
    out = np.empty((*here.local[::-1], *((3,) if staggered else (4, 3))), dtype=np.complex128)
    _halocline.qcd.load_spinor(out, numbers, here, order, basis or "", lanes, spins)
    return out


@takes(where=checks.a_place, lanes=checks.a_lane_count)
def spinor_to_array(
    spinor: NDArray[Any],
    where: Geometry | GaugeField,
    order: str = "lexicographic",
    *,
    basis: str | None = None,
    bits: int = 64,
    lanes: int = 0,
) -> NDArray[Any]:
    """A spinor [t][z][y][x][spin][colour], or [t][z][y][x][colour] of staggered quarks, as an array of another code.

    The rest as spinor_from_array and gauge_to_array. Collective. Cost: one sweep.
    """
    here, title = _geometry(where), "spinor_to_array"
    given = spinor if isinstance(spinor, np.ndarray) else None
    box, inside = tuple(here.local[::-1]), () if given is None else given.shape[4:]
    sentence = ""
    if given is None or given.shape[:4] != box or inside not in ((4, 3), (3,)):
        what = type(spinor).__name__ if given is None else f"the shape {given.shape}"
        sentence = f"{title}: the spinor has {what}; expected {(*box, 4, 3)}, or {(*box, 3)} of staggered quarks."
    raise_together(here.communicator, sentence, InvalidArgument)
    spins = 4 if inside == (4, 3) else 1
    out = _new_array(title, here, order, basis, bits, lanes, functools.partial(_spinor_shape, spins=spins))
    canonical = np.ascontiguousarray(spinor, dtype=np.complex128)
    _halocline.qcd.store_spinor(_reals(out), canonical, here, order, basis or "", lanes, spins)
    return out


@takes(where=checks.a_place, source=checks.a_site, lanes=checks.a_lane_count)
def propagator_from_array(
    propagator: NDArray[Any],
    where: Geometry | GaugeField,
    order: str = "lexicographic",
    *,
    source: Sequence[int] = (0, 0, 0, 0),
    basis: str | None = None,
    lanes: int = 0,
) -> Propagator:
    """A propagator of another code.

    The indices at a site are [sink spin][sink colour][source spin][source colour] in "lexicographic" and "even-odd",
    [sink spin][source spin][sink colour][source colour] in "qdp++" and "pyquda". "quda", "qws" and "openqcd" have
    twelve spinors one after another, [source spin][source colour] before the site.

    source: its global position x, y, z, t; basis: of both spins, S_B = V S V^dagger; the rest as spinor_from_array
    Raises InvalidArgument as spinor_from_array, and for "milc", which has no such order here. Collective.

    >>> import halocline as hc
    >>> D = hc.qcd.WilsonClover(hc.qcd.unit_links([8, 4, 4, 4]), mass=1.0)
    >>> s = hc.qcd.propagator(D)
    >>> a = propagator_to_array(s, "pyquda", basis="Dirac-Pauli")
    >>> a.shape
    (2, 4, 4, 4, 4, 4, 4, 3, 3)
    >>> back = propagator_from_array(a, s.geometry, "pyquda", basis="Dirac-Pauli")
    >>> bool(abs(hc.qcd.mesons(back)["pion"] - hc.qcd.mesons(s)["pion"]).max() < 1e-12)
    True
    """
    here = _geometry(where)
    numbers = _numbers("propagator_from_array", propagator, here, order, basis, lanes, _propagator_shape)
    s = Propagator(here, list(source))
    _halocline.qcd.load_propagator(s, numbers, order, basis or "", lanes)
    return s


@takes(s=checks.a_propagator, lanes=checks.a_lane_count)
def propagator_to_array(
    s: Propagator, order: str = "lexicographic", *, basis: str | None = None, bits: int = 64, lanes: int = 0
) -> NDArray[Any]:
    """A propagator as an array of another code: the indices as propagator_from_array, the rest as spinor_to_array."""
    out = _new_array("propagator_to_array", s.geometry, order, basis, bits, lanes, _propagator_shape)
    _halocline.qcd.store_propagator(_reals(out), s, order, basis or "", lanes)
    return out


# ---- shapes ------------------------------------------------------------------------------------------------------


def _geometry(where: Geometry | GaugeField) -> Geometry:
    return where.geometry if isinstance(where, GaugeField) else where


def _factors(scale: Sequence[float], boundary: Sequence[float], phases: bool) -> tuple[list[float], list[float], bool]:
    return [float(f) for f in scale], [float(f) for f in boundary], bool(phases)


def _site_shape(order: str, local: Sequence[int], lanes: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The indices of a site, and the lanes that follow the numbers: those of each half come first."""
    x, y, z, t = local
    sites = _halocline.qcd.describe_order(order)["sites"]
    if sites == "cache_blocks":
        return (x * y * z * t,), ()
    across = x if sites == "lexicographic" else x // 2
    rows = (t, z, y, across) if lanes == 1 else (t, z, y, across // lanes)
    return (rows if sites == "lexicographic" else (2, *rows)), (() if lanes == 1 else (2, lanes))


def _gauge_shape(order: str, local: Sequence[int], lanes: int) -> tuple[int, ...]:
    directions = _halocline.qcd.describe_order(order)["directions"]
    sites, inner = _site_shape(order, local, lanes)
    if directions == "inside":
        return (*sites, 4, 3, 3, *inner)
    if directions == "outside":
        return (4, *sites, 3, 3, *inner)
    if directions == "in_each_half":
        return (sites[0], 4, *sites[1:], 3, 3, *inner)
    return (sites[0] // 2, 8, 3, 3)


def _spinor_shape(order: str, local: Sequence[int], lanes: int, spins: int = 4) -> tuple[int, ...]:
    sites, inner = _site_shape(order, local, lanes)
    colour_first = _halocline.qcd.describe_order(order)["colour_first"]
    return (*sites, *((3,) if spins == 1 else (3, 4) if colour_first else (4, 3)), *inner)


def _propagator_shape(order: str, local: Sequence[int], lanes: int) -> tuple[int, ...]:
    indices = _halocline.qcd.propagator_indices(order)
    if indices == "source_outside":
        return (4, 3, *_spinor_shape(order, local, lanes))
    sites, inner = _site_shape(order, local, lanes)
    return (*sites, *((4, 3, 4, 3) if indices == "sink_source" else (4, 4, 3, 3)), *inner)


def _shape(
    order: Any, basis: Any, lanes: int, number_bytes: int, here: Geometry, shape_of: Callable[..., tuple[int, ...]]
) -> tuple[int, ...]:
    """Of an array. Raises InvalidArgument for an unknown name, and an order that the box cannot have."""
    if not isinstance(order, str) or not isinstance(basis or "", str):
        raise InvalidArgument(f"order = {order!r}, basis = {basis!r}: expected names, such as 'quda' and 'UKQCD'.")
    described = _halocline.qcd.describe_order(order)
    if basis is not None:
        _halocline.qcd.basis_name(basis)
    if lanes and described["lanes"] != 0:
        raise InvalidArgument(f"lanes = {lanes}: only QWS's orders keep sites side by side; leave lanes out.")
    _halocline.qcd.check_order(order, lanes, number_bytes, here)
    return shape_of(order, here.local, lanes or described["lanes"] or 64 // number_bytes)


def _numbers(
    title: str, values: Any, here: Geometry, order: str, basis: str | None, lanes: int, shape_of: Callable[..., Any]
) -> NDArray[Any]:
    """The flat real numbers of an array. Raises InvalidArgument on every process. Collective."""
    sentence, numbers = "", None
    try:
        if not isinstance(values, np.ndarray) or values.dtype.char not in "fdFD":
            kind = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
            raise InvalidArgument(f"{title}: the array is {kind}; expected float32, float64, complex64 or complex128.")
        values = values.astype(values.dtype.newbyteorder("="), copy=False)  # of this machine, whatever a file had
        parts = 2 if values.dtype.kind == "c" else 1
        shape = _shape(order, basis, lanes, values.dtype.itemsize // parts, here, shape_of)
        pairs = _is_complex(order, lanes)
        whole = values.ndim == 1 or values.shape in (shape, (*shape, 2))
        if parts * values.size != math.prod(shape) * (2 if pairs else 1) or not whole:
            raise InvalidArgument(
                f"{title}: the array has the shape {values.shape}, {values.dtype}; this process's part in the order "
                f'"{order}" has the shape {shape} of {"complex" if pairs else "real"} numbers.'
            )
        numbers = _reals(np.ascontiguousarray(values))
    except InvalidArgument as error:
        sentence = str(error)
    raise_together(here.communicator, sentence, InvalidArgument)
    return numbers


def _new_array(
    title: str, here: Geometry, order: str, basis: str | None, bits: int, lanes: int, shape_of: Callable[..., Any]
) -> NDArray[Any]:
    """An array of the order's shape, at a multiple of 64 bytes. Raises InvalidArgument on every process. Collective."""
    sentence, shape = "", ()
    try:
        if bits not in (32, 64):
            raise InvalidArgument(f"{title}: bits = {bits}: expected 32 or 64.")
        shape = _shape(order, basis, lanes, bits // 8, here, shape_of)
    except InvalidArgument as error:
        sentence = str(error)
    raise_together(here.communicator, sentence, InvalidArgument)
    kinds: dict[tuple[bool, int], DTypeLike] = {
        (True, 64): np.complex128, (True, 32): np.complex64, (False, 64): np.float64, (False, 32): np.float32,
    }  # fmt: skip
    kind = np.dtype(kinds[_is_complex(order, lanes), bits])
    size = math.prod(shape) * kind.itemsize
    memory = np.empty(size + 64, dtype=np.uint8)
    begin = -memory.ctypes.data % 64
    return memory[begin : begin + size].view(kind).reshape(shape)


def _is_complex(order: str, lanes: int) -> bool:
    # Of one lane, a real and an imaginary part stand side by side.
    return lanes == 1 or (lanes == 0 and _halocline.qcd.describe_order(order)["lanes"] == 1)


def _reals(values: NDArray[Any]) -> NDArray[Any]:
    """The same memory as flat real numbers."""
    flat = values.reshape(-1)
    return flat.view(np.float64 if flat.dtype.char in "dD" else np.float32)
