# SPDX-License-Identifier: Apache-2.0
"""Quarks: the Wilson-clover operator, sources, propagators and their contractions.

Spinors are NumPy arrays [t][z][y][x][spin][colour], complex128, the local part of each process; basis DeGrand-Rossi.
docs/conventions.md gives the operator. Everything is collective over the processes of the gauge field unless it says
otherwise.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halocline import _halocline
from halocline.device import DeviceArray
from halocline.errors import Error, Interrupted, InvalidArgument
from halocline.qcd.gauge import GaugeField
from halocline.qcd.runfile import CLIFFORD, MESONS, Action, Parallel, Solver, Source

Propagator = _halocline.qcd.Propagator
Spinor = NDArray[np.complex128]
Progress = Callable[[int, float], bool]
kappa_from_mass = _halocline.qcd.kappa_from_mass
mass_from_kappa = _halocline.qcd.mass_from_kappa


class WilsonClover:
    """D of the Wilson-clover action on one gauge field, and its inverse, on the CPU or on a device (docs/gpu.md).

    >>> import halocline as hc
    >>> D = hc.qcd.WilsonClover(hc.qcd.unit_links([4, 4, 4, 8]), mass=0.5)
    >>> b = hc.qcd.point_source(D.geometry, [0, 0, 0, 0], spin=0, colour=0)
    >>> x = D.solve(b, tolerance=1e-10)
    >>> bool(abs(D(x) - b).max() < 1e-9)
    True
    """

    def __init__(
        self,
        u: GaugeField,
        mass: float | None = None,
        kappa: float | None = None,
        csw: float = 0.0,
        boundary: Sequence[complex] = (1, 1, 1, -1),
        anisotropy: float = 1.0,
        nu: float = 1.0,
        csw_t: float | None = None,
        solver: Solver | None = None,
        device: str = "cpu",
        halo_policy: str | None = None,
        time_limit: float = 300.0,
    ) -> None:
        """mass or kappa, one of them; boundary: factor of the quark field across each edge, of modulus one; anisotropy,
        nu, csw_t: see the run file; solver: how `solve` works; device: "cpu", "cuda" or "cuda:N" (halocline.device),
        which then keeps the links; halo_policy: see the run file; time_limit: seconds that a process waits for others
        during a solve before it raises Error, of the whole group.

        Raises InvalidArgument for parameters that cannot work, and where the device cannot be had.
        """
        self.action = Action(
            mass=mass, kappa=kappa, csw=csw, boundary=tuple(boundary), anisotropy=anisotropy, nu=nu, csw_t=csw_t
        )
        self._u = u
        self._choice = ""
        self._parallel = Parallel(device=device, halo_policy=halo_policy, time_limit=time_limit)
        self._solver: Solver | None = None
        self._prepare(solver or Solver())

    @classmethod
    def from_sections(
        cls, u: GaugeField, action: Action, solver: Solver, choice: str = "", parallel: Parallel | None = None
    ) -> WilsonClover:
        """From the [action], [solver] and [parallel] of a run file.

        choice: what kind = "auto" takes without a trial, "schwarz" or "bicgstab"; empty for a trial
        """
        self = cls.__new__(cls)
        self.action, self._u, self._solver, self._choice = action, u, None, choice
        self._parallel = parallel or Parallel()
        self._prepare(solver)
        return self

    def _prepare(self, solver: Solver) -> None:
        """Makes the solver anew when it is another one."""
        if solver == self._solver:
            return
        a, s, p = self.action, solver, self._parallel
        s.check_device(p.device)
        _halocline.comm.set_solve_time_limit(self._u.geometry.communicator, p.time_limit)
        boundary = [complex(b) for b in a.boundary]
        self._quark = _halocline.qcd.Quark(
            self._u, a.m0, a.clover, boundary, a.anisotropy, a.nu, a.csw_t,
            s.as_binding_values()
            | {"choice": self._choice if s.kind == "auto" else ""}
            | {"device": p.device, "device_halo": p.halo_policy or "auto"},
        )  # fmt: skip
        self._solver = solver

    @property
    def geometry(self) -> Any:
        return self._u.geometry

    @property
    def kappa(self) -> float:
        return 0.5 / (4.0 + self.action.m0)

    @property
    def tile(self) -> tuple[int, ...]:
        """SIMD lanes along x, y, z, t in the layout that was chosen; 1 on a device."""
        return tuple(self._quark.tile)

    @property
    def rhs_batch(self) -> int:
        """Right-hand sides that are solved together, at most."""
        return self._quark.rhs_batch

    @property
    def device(self) -> str:
        """What solves: "cpu", "cuda:0 (NVIDIA H200)", "host executor"."""
        return self._quark.device or "cpu"

    @property
    def storage(self) -> str:
        """Of the iteration on a device: "half, 12 reals a link"; empty on the CPU."""
        return self._quark.storage

    @property
    def memory(self) -> dict[str, int] | None:
        """Bytes on the device: `predicted` for solves of rhs_batch columns, links and clover blocks included (a fixed
        area of 8 MiB for copies is not), `ours` now, `most_ours` so far, `free` and `total`; None on the CPU.

        The memory of the host executor is that of the host. Not collective.
        """
        return self._quark.memory

    def __call__(self, spinor: Spinor) -> Spinor:
        """D spinor, in double."""
        return self._quark.apply(np.ascontiguousarray(spinor, dtype=np.complex128), False)

    def dagger(self, spinor: Spinor) -> Spinor:
        """D^dagger spinor, in double."""
        return self._quark.apply(np.ascontiguousarray(spinor, dtype=np.complex128), True)

    def low_eigenvalues(
        self, count: int = 8, tolerance: float = 1e-10, max_applications: int = 1_000_000, seed: int = 1
    ) -> NDArray[np.float64]:
        """The eigenvalues of gamma5 D nearest to zero, signed, by increasing modulus: shape (count,).

        tolerance: on |gamma5 D v - lambda v| / |gamma5 D|; max_applications: of D, before giving up
        Raises Error when they are not found; `report` holds residuals, applications and seconds either way.
        """
        a = self.action
        self.report = _halocline.qcd.low_eigenvalues(
            self._u, a.m0, a.clover, [complex(b) for b in a.boundary], a.anisotropy, a.nu, a.csw_t,
            count, tolerance, max_applications, seed,
        )  # fmt: skip
        if not self.report["converged"]:
            raise Error(
                f"low_eigenvalues: {self.report['reason']} after {self.report['applications']} applications of D; "
                "raise max_applications or tolerance, or ask for more eigenvalues."
            )
        return np.array(self.report["values"])

    def solve(self, source: Spinor, progress: Progress | None = None, **changes: Any) -> Spinor:
        """The x with D x = source.

        With kind = "auto" the first solve on a gauge field begins with a short trial of two methods, whose timing
        decides; the last bits may therefore differ from run to run, by less than the tolerance. What was chosen gives
        the bits that it gives by name. Any other kind is reproducible.

        progress: called with iterations and residual; returning False stops, which raises Interrupted
        changes: keys of the run file's [solver], such as tolerance=1e-12; they stay for later calls
        Raises Error when it does not converge, with the reason; `report` holds the last one either way.
        """
        self._change(changes)
        x, self.report = self._quark.solve(np.ascontiguousarray(source, dtype=np.complex128), progress)
        _check(self.report)
        return x

    def solve_on_device(self, sources: Sequence[Spinor], progress: Progress | None = None) -> DeviceArray:
        """The x with D x = source for several sources at once, left in the memory of the device.

        sources: at most rhs_batch of them, NumPy arrays as everywhere
        Returns a DeviceArray [column][t][z][y][x][spin][colour], complex128, which other libraries take without a copy
        Raises as `solve`, and InvalidArgument on the CPU; `reports` holds the reports of the columns either way.
        """
        if self._parallel.device == "cpu":
            raise InvalidArgument('solve_on_device: the operator is on the CPU; make it with device = "cuda".')
        sources = [np.ascontiguousarray(b, dtype=np.complex128) for b in sources]
        held, self.reports = self._quark.solve_on_device(sources, progress)
        for report in self.reports:
            _check(report)
        return DeviceArray(held)

    def _change(self, changes: dict[str, Any]) -> None:
        if not changes:
            return
        known = {f.name: getattr(self._solver, f.name) for f in dataclasses.fields(Solver)}
        unknown = set(changes) - set(known)
        if unknown:
            raise InvalidArgument(f"solve: no option {', '.join(sorted(unknown))}; there are {', '.join(known)}.")
        self._prepare(Solver(**(known | changes)))

    def choose(self, sources: Sequence[Spinor], progress: Progress | None = None) -> dict[str, Any] | None:
        """The trial of kind = "auto" on right-hand sides, as many of them as are solved together; once for each number.

        progress: called with iterations and residual; returning False ends the trial, which then is none
        Returns `chosen` ("schwarz" or "bicgstab"), `columns` (how many together), and `schwarz_seconds` and
        `bicgstab_seconds`, foretold for their whole solve (None: never); None where there is nothing to choose.
        """
        sources = [np.ascontiguousarray(b, dtype=np.complex128) for b in sources]
        trial = self._quark.choose(sources, progress)
        if trial is None:
            return None
        return {k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in trial.items()}

    def solve_columns(
        self, s: Propagator, first: int, sources: Sequence[Spinor], progress: Progress | None = None
    ) -> list[dict]:
        """Solves columns `first` and on of a propagator in place, as many as there are sources, and together.

        progress: called with iterations and the worst residual; returning False stops
        Returns the solver's report of each column. Raises as `solve`.
        """
        sources = [np.ascontiguousarray(b, dtype=np.complex128) for b in sources]
        reports = self._quark.solve_columns(s, first, sources, progress)
        for report in reports:
            _check(report)
        return reports


def _check(report: dict[str, Any]) -> None:
    if report["reason"] == "cancelled":
        raise Interrupted("the solve was stopped.")
    if not report["converged"]:
        raise Error(
            f"the solver stopped without reaching the tolerance: {report['reason']} after {report['iterations']} "
            f"iterations of {report['method']}, |b - D x|/|b| = {report['residual']:.3g}; "
            "raise max_iterations or the quark mass, or try another kind."
            + "".join(f" ({note})" for note in report["notes"])
        )


def point_source(geometry: Any, position: Sequence[int], spin: int, colour: int) -> Spinor:
    """1 at a global position x, y, z, t in one spin and colour. Not collective."""
    return _halocline.qcd.point_source(geometry, list(position), spin, colour)


def wall_source(geometry: Any, time: int, spin: int, colour: int, momentum: Sequence[int] = (0, 0, 0)) -> Spinor:
    """exp(i p x) on a time slice in one spin and colour; fix the gauge first. Not collective."""
    return _halocline.qcd.wall_source(geometry, time, spin, colour, list(momentum))


def sequential_sources(
    s: Propagator, time: int, gamma: str = "gxgygzgt", momentum: Sequence[int] = (0, 0, 0)
) -> list[Spinor]:
    """Twelve sources through a sink at `time`: exp(-i p x) Gamma S on that slice, zero elsewhere.

    gamma: a product of gx, gy, gz, gt by name, "1" for none; gamma5 is "gxgygzgt"
    Raises InvalidArgument for another name or a time outside the lattice. Not collective.
    """
    if gamma not in CLIFFORD:
        raise InvalidArgument(f'sequential_sources: gamma = "{gamma}"; give one of {", ".join(CLIFFORD)}.')
    return _halocline.qcd.sequential_sources(s, time, CLIFFORD.index(gamma), list(momentum))


def smear_gaussian(
    spinor: Spinor, u: GaugeField, width: float, steps: int = 20, boundary: Sequence[complex] = (1, 1, 1, -1)
) -> Spinor:
    """Gauge-covariant Gaussian smearing of a spinor in space, a new array; width in sites."""
    spinor = np.ascontiguousarray(spinor, dtype=np.complex128)
    return _halocline.qcd.smear_gaussian(spinor, u, width, steps, [complex(b) for b in boundary[:3]])


def source_columns(u: GaugeField, source: Source, position: Sequence[int], boundary: Sequence[complex]) -> list[Spinor]:
    """The twelve right-hand sides of a propagator, in the order 3 spin + colour. Collective for a Gaussian source."""
    geometry = u.geometry
    if source.kind == "z2":
        sample = int(position[3])
        return _halocline.qcd.noise_sources(geometry, int(position[3]), source.seed, sample)
    columns = []
    for spin in range(4):
        for colour in range(3):
            if source.kind == "wall":
                columns.append(wall_source(geometry, position[3], spin, colour))
                continue
            column = point_source(geometry, position, spin, colour)
            if source.kind == "gaussian":
                column = smear_gaussian(column, u, source.width, source.steps, boundary)
            columns.append(column)
    return columns


def propagator(
    D: WilsonClover,
    source: Sequence[int] = (0, 0, 0, 0),
    kind: str = "point",
    progress: Callable[[int, dict[str, Any]], None] | None = None,
    inner: Callable[[int, int, int, float], bool] | None = None,
    chosen: Callable[[dict[str, Any]], None] | None = None,
    **source_keys: Any,
) -> Propagator:
    """Twelve solutions from one source, `D.rhs_batch` columns at a time.

    source: global position x, y, z, t; kind and source_keys: as in the run file's [source] (width, steps, seed, sink)
    progress: called for each finished column with its number (1 to 12) and the solver's report
    inner: called during a solve with the first column and the number of those that are solved together, iterations and
    worst residual; returning False stops, which raises Interrupted
    chosen: called before the first solve with what `D.choose` found, where there was something to choose
    Returns a Propagator with attributes `reports` (twelve) beside its arrays.
    Raises InvalidArgument, and Error when a column does not converge.
    """
    how = Source(kind=kind, positions=(tuple(source),), **source_keys)
    boundary = D.action.boundary
    s = Propagator(D.geometry, list(source))
    s.reports = []
    sources = source_columns(D._u, how, source, boundary)
    batches = -(-len(sources) // D.rhs_batch)
    together = -(-len(sources) // batches)
    if chosen is not None:
        trial = D.choose(sources, None if inner is None else functools.partial(inner, 0, together))
        if trial is not None:
            chosen(trial)
    for first in range(0, len(sources), together):
        some = sources[first : first + together]
        heard = None if inner is None else functools.partial(inner, first, len(some))
        for report in D.solve_columns(s, first, some, heard):
            s.reports.append(report)
            if progress is not None:
                progress(len(s.reports), report)
    if how.sink == "gaussian":
        _halocline.qcd.smear_sink(s, D._u, how.width, how.steps, [complex(b) for b in boundary[:3]])
    return s


def mesons(
    quark: Propagator,
    antiquark: Propagator | None = None,
    channels: Sequence[str] | str = MESONS,
    momenta: Sequence[Sequence[int]] | None = None,
) -> dict[str, NDArray[Any]]:
    """Meson correlators C(t), summed over space, source time at index 0, no volume or kappa factor.

    channels: names, or "all"; momenta: integer momenta [nx, ny, nz] of the sink
    Returns channel -> shape (T,), real, when momenta is None, and shape (momenta, T), complex, otherwise.
    """
    names = list(MESONS + CLIFFORD) if channels == "all" else list(channels)
    chosen = [[0, 0, 0]] if momenta is None else [list(p) for p in momenta]
    result = _halocline.qcd.mesons(quark, quark if antiquark is None else antiquark, names, chosen)
    return {name: c[0].real.copy() for name, c in result.items()} if momenta is None else result


def nucleon(
    up: Propagator,
    down: Propagator | None = None,
    boundary_t: complex = -1,
    parity: int = 1,
    momenta: Sequence[Sequence[int]] | None = None,
) -> NDArray[Any]:
    """The nucleon correlator tr[(1 + parity gamma_t)/2 G(t)] of docs/conventions.md.

    boundary_t: the t entry of the action's boundary
    Returns shape (T,), real, when momenta is None, and shape (momenta, T), complex, otherwise.
    """
    chosen = [[0, 0, 0]] if momenta is None else [list(p) for p in momenta]
    result = _halocline.qcd.nucleon(up, up if down is None else down, complex(boundary_t), parity, chosen)
    return result[0].real.copy() if momenta is None else result
