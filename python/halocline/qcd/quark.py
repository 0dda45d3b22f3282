# SPDX-License-Identifier: Apache-2.0
"""Quarks: Dirac operators and propagators.

Spinors are NumPy arrays [t][z][y][x][spin][colour], complex128, the local part of each process; basis DeGrand-Rossi.
Those of staggered quarks are [t][z][y][x][colour], those of a twisted doublet [t][z][y][x][flavour][spin][colour].
docs/conventions.md gives the operator. Everything is collective over the processes of the gauge field unless it says
otherwise.
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halocline import _halocline
from halocline.errors import Error, InvalidArgument
from halocline.qcd import checks
from halocline.qcd.doublet import DoubletPropagator
from halocline.qcd.gauge import GaugeField
from halocline.qcd.measure import Spinor, mesons, source_columns, staggered_point_source, staggered_wall_source
from halocline.qcd.propagators import AnyPropagator, Propagator, gauge_record, propagator_class
from halocline.qcd.quark_solver import SOLVER_KEYS, Progress, QuarkSolver
from halocline.qcd.runfile import STAGGERED_SOURCES, Parallel, Solver, Source
from halocline.qcd.runfile_action import STAGGERED, WALLS, Action
from halocline.schema import choice, instance, number, sorted_keys, takes

kappa_from_mass = _halocline.qcd.kappa_from_mass
mass_from_kappa = _halocline.qcd.mass_from_kappa

MIDPOINT = "in the middle of the fifth dimension"
"""`quark` in the record of a midpoint; propagators of the quark on the walls have no such entry."""
SOURCE_KEYS = {f.name: f for f in dataclasses.fields(Source) if f.name not in ("kind", "positions")}


class DiracOperator:
    """D of a fermion action on one gauge field; `solver` (a QuarkSolver) has its inverse, on the CPU or on a device.

    The actions are classes of their own: WilsonClover, TwistedMass, TwistedDoublet, DomainWall, Staggered. Collective,
    like all of this file.
    """

    def _open(
        self,
        u: GaugeField,
        kind: str,
        solver: Solver | Mapping[str, Any] | str | None,
        solver_keys: dict[str, Any],
        device: str,
        halo_policy: str | None,
        time_limit: float,
        **action: Any,
    ) -> None:
        """The constructor that the actions share. kind, action: keys of [action]; the rest as of WilsonClover."""
        known = ("solver", "device", "halo_policy", "time_limit", *action)
        (changes,) = sorted_keys(type(self).__name__, solver_keys, SOLVER_KEYS, known=known)
        self.action = Action(kind=kind, **action)
        self._u = u
        self._choice = ""
        self._parallel = Parallel(device=device, halo_policy=halo_policy, time_limit=time_limit)
        self.solver = QuarkSolver(self, solver, **changes)

    @property
    def geometry(self) -> Any:
        return self._u.geometry

    @property
    def kappa(self) -> float:
        return 0.5 / (4.0 + self.action.m0)

    def __call__(self, spinor: Spinor) -> Spinor:
        """D spinor, in double."""
        return self.solver.apply(spinor)

    def dagger(self, spinor: Spinor) -> Spinor:
        """D^dagger spinor, in double."""
        return self.solver.apply(spinor, dagger=True)

    @takes(
        count=checks.one_or_more,
        tolerance=number(above=0.0, below=1.0),
        max_applications=checks.one_or_more,
        seed=checks.a_seed,
        method=choice(*_halocline.qcd.EIGENVALUE_METHODS),
    )
    def low_eigenvalues(
        self,
        count: int = 8,
        tolerance: float = 1e-10,
        max_applications: int = 1_000_000,
        seed: int = 1,
        method: str = "lanczos",
    ) -> NDArray[np.float64]:
        """The eigenvalues of gamma5 D nearest to zero, signed, by increasing modulus: shape (count,).

        tolerance: on |gamma5 D v - lambda v| / |gamma5 D|; max_applications: of D, before giving up
        seed: of the random start vectors of "lanczos"
        method: "lanczos", or "multigrid", which is faster at light masses: Davidson's method with cycles of the set-up
        of `solver`, or of one that is made with the solver's multigrid keys
        Raises Error when they are not found; `report` holds residuals, applications, cycles and seconds either way.
        """
        a = self.action
        self.report = _halocline.qcd.low_eigenvalues(
            self._u, a.m0, a.clover, [complex(b) for b in a.boundary], a.anisotropy, a.nu, a.csw_t, a.mu,
            count, tolerance, max_applications, seed, method, self.solver._quark,
        )  # fmt: skip
        if not self.report["converged"]:
            raise Error(
                f"low_eigenvalues: {self.report['reason']} after {self.report['applications']} applications of D; "
                "raise max_applications or tolerance, or ask for more eigenvalues."
            )
        return np.array(self.report["values"])

    def solve(self, source: Spinor, progress: Progress | None = None, **changes: Any) -> Spinor:
        """The x with D x = source by `solver`, whose `solve` has the details. Raises as it does."""
        return self.solver.solve(source, progress, **changes)


class WilsonClover(DiracOperator):
    """D of the Wilson-clover action on one gauge field, and its inverse, on the CPU or on a device (docs/gpu.md).

    >>> import halocline as hc
    >>> D = hc.qcd.WilsonClover(hc.qcd.unit_links([4, 4, 4, 8]), mass=0.5)
    >>> b = hc.qcd.point_source(D.geometry, [0, 0, 0, 0], spin=0, colour=0)
    >>> x = D.solve(b, tolerance=1e-10)
    >>> bool(abs(D(x) - b).max() < 1e-9)
    True
    """

    @takes(u=checks.a_field, boundary=checks.four_phases)
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
        solver: Solver | Mapping[str, Any] | str | None = None,
        device: str = "cpu",
        halo_policy: str | None = None,
        time_limit: float = 300.0,
        **solver_keys: Any,
    ) -> None:
        """mass, kappa: give one of them
        boundary: factor of the quark field across each edge, of modulus one
        anisotropy, nu, csw_t, halo_policy: see the run file
        device: "cpu", "cuda" or "cuda:N" (halocline.device); a device keeps the links in its memory
        time_limit: seconds that a process waits for others during a solve before it raises Error; holds for the group
        solver: settings of `solve`, as [solver] of the run file: a kind such as "cg", a dictionary of its keys, or a
        Solver; solver_keys: keys of [solver], such as tolerance=1e-12, which override it

        Raises InvalidArgument for parameters that cannot work, and when the device is not available.
        """
        self._open(
            u, "wilson-clover", solver, solver_keys, device, halo_policy, time_limit,
            mass=mass, kappa=kappa, csw=csw, boundary=tuple(boundary), anisotropy=anisotropy, nu=nu, csw_t=csw_t,
        )  # fmt: skip


class TwistedMass(DiracOperator):
    """D(mu) = D + i mu gamma5, one flavour of a twisted-mass doublet in the twisted basis; the other has -mu.

    D is the Wilson operator, or with csw the Wilson-clover operator. D(mu)^dagger = gamma5 D(-mu) gamma5.

    >>> import halocline as hc
    >>> up = hc.qcd.TwistedMass(hc.qcd.unit_links([4, 4, 4, 8]), mu=0.25, mass=0.1)
    >>> down = up.opposite()  # mu = -0.25
    >>> b = hc.qcd.point_source(up.geometry, [0, 0, 0, 0], spin=0, colour=0)
    >>> bool(abs(up(up.solve(b)) - b).max() < 1e-9)
    True
    """

    @takes(u=checks.a_field, mu=number(), boundary=checks.four_phases)
    def __init__(
        self,
        u: GaugeField,
        mu: float,
        mass: float | None = None,
        kappa: float | None = None,
        csw: float = 0.0,
        boundary: Sequence[complex] = (1, 1, 1, -1),
        anisotropy: float = 1.0,
        nu: float = 1.0,
        csw_t: float | None = None,
        solver: Solver | Mapping[str, Any] | str | None = None,
        device: str = "cpu",
        halo_policy: str | None = None,
        time_limit: float = 300.0,
        **solver_keys: Any,
    ) -> None:
        """mu: twisted mass in lattice units; all others as for WilsonClover.

        The Schwarz solver is for Wilson-clover quarks: kind = "auto" chooses between even-odd BiCGStab and multigrid
        here; where one fails, conjugate gradients on the normal equations follow. Raises as WilsonClover.
        """
        self._open(
            u, "twisted-clover", solver, solver_keys, device, halo_policy, time_limit, mu=mu,
            mass=mass, kappa=kappa, csw=csw, boundary=tuple(boundary), anisotropy=anisotropy, nu=nu, csw_t=csw_t,
        )  # fmt: skip

    def opposite(self) -> TwistedMass:
        """D(-mu), the other flavour, on the same links and with the present settings of `solver`.

        It makes clover blocks of its own; those of the C++ class are shared. Collective.
        """
        a, p = self.action, self._parallel
        return TwistedMass(
            self._u, mu=-a.mu, mass=a.mass, kappa=a.kappa, csw=a.clover, boundary=a.boundary, anisotropy=a.anisotropy,
            nu=a.nu, csw_t=a.csw_t, solver=self.solver.settings, device=p.device, halo_policy=p.halo_policy,
            time_limit=p.time_limit,
        )  # fmt: skip


class TwistedDoublet(DiracOperator):
    """Two twisted flavours of different masses: D = D_W + i mu gamma5 tau_1 + epsilon tau_3 (docs/actions.md).

    Spinors are [t][z][y][x][flavour 2][spin 4][colour 3]; tau_1 and tau_3 act on the flavour. D_W is the Wilson
    operator, or with csw the Wilson-clover operator, of both. D^dagger = gamma5 tau_3 D gamma5 tau_3.

    >>> import halocline as hc, numpy as np
    >>> D = hc.qcd.TwistedDoublet(hc.qcd.unit_links([4, 4, 4, 8]), mu=0.15, epsilon=0.19, mass=0.1)
    >>> b = np.zeros((8, 4, 4, 4, 2, 4, 3), complex)
    >>> b[..., 0, :, :] = hc.qcd.point_source(D.geometry, [0, 0, 0, 0], spin=0, colour=0)
    >>> bool(abs(D(D.solve(b)) - b).max() < 1e-9)
    True
    """

    @takes(u=checks.a_field, mu=number(), epsilon=number(), boundary=checks.four_phases)
    def __init__(
        self,
        u: GaugeField,
        mu: float,
        epsilon: float,
        mass: float | None = None,
        kappa: float | None = None,
        csw: float = 0.0,
        boundary: Sequence[complex] = (1, 1, 1, -1),
        anisotropy: float = 1.0,
        nu: float = 1.0,
        csw_t: float | None = None,
        solver: Solver | Mapping[str, Any] | str | None = None,
        time_limit: float = 300.0,
        **solver_keys: Any,
    ) -> None:
        """mu: twisted mass, mu_sigma of ETMC; epsilon: splitting of the masses, their mu_delta; both in lattice units
        others as for WilsonClover

        The solver is conjugate gradients on the normal equations, on the CPU. Raises as WilsonClover.
        """
        self._open(
            u, "twisted-doublet", solver, solver_keys, "cpu", None, time_limit, mu=mu, epsilon=epsilon,
            mass=mass, kappa=kappa, csw=csw, boundary=tuple(boundary), anisotropy=anisotropy, nu=nu, csw_t=csw_t,
        )  # fmt: skip

    def low_eigenvalues(self, *_: Any, **__: Any) -> NDArray[np.float64]:
        """Refused: eigenvalues are found for quarks of one flavour."""
        raise InvalidArgument("low_eigenvalues: give WilsonClover or TwistedMass; doublets are not built here.")


class DomainWall(DiracOperator):
    """Domain-wall quarks of Shamir, or of Moebius with b and c, in five dimensions (docs/actions.md).

    Sources and solutions are those of quarks, in four dimensions: `solve` puts the source on the walls, solves in five
    dimensions, and takes the quark from the walls. The result is the propagator of the quark without its contact term,
    (D_ov^-1 - 1) / (1 - mass) of the overlap operator that Ls approximates. `propagator` adds the quark in the middle
    of the fifth dimension, `S.midpoint`, for `residual_mass(S)`.

    >>> import halocline as hc
    >>> D = hc.qcd.DomainWall(hc.qcd.unit_links([4, 4, 4, 8]), mass=0.1, M5=1.4, Ls=8)
    >>> S = hc.qcd.propagator(D, [0, 0, 0, 0])
    >>> bool((hc.qcd.residual_mass(S) < 0.02).all())
    True
    """

    @takes(u=checks.a_field, mass=number(), boundary=checks.four_phases)
    def __init__(
        self,
        u: GaugeField,
        mass: float,
        M5: float = 1.8,
        Ls: int = 8,
        b: complex | Sequence[complex] = 1.0,
        c: complex | Sequence[complex] = 0.0,
        boundary: Sequence[complex] = (1, 1, 1, -1),
        solver: Solver | Mapping[str, Any] | str | None = None,
        device: str = "cpu",
        halo_policy: str | None = None,
        time_limit: float = 300.0,
        **solver_keys: Any,
    ) -> None:
        """mass: of the quark; M5: height of the wall, between 0 and 2; Ls: points of the fifth dimension, even, 4 to 64
        b, c: of the Moebius action, one number or Ls numbers, real or complex; others as for WilsonClover

        The solver is conjugate gradients on the normal equations. Raises as WilsonClover.
        """
        shamir = np.ndim(b) == np.ndim(c) == 0 and b == 1 and c == 0
        more = {} if shamir else {"b": b, "c": c}
        self._open(
            u, "domain-wall" if shamir else "mobius", solver, solver_keys, device, halo_policy, time_limit,
            mass=mass, M5=M5, Ls=Ls, boundary=tuple(boundary), **more,
        )  # fmt: skip

    def __call__(self, spinor: Spinor) -> Spinor:
        """D of five dimensions on an array [s][t][z][y][x][spin][colour], in double, on the CPU."""
        return super().__call__(spinor)

    def dagger(self, spinor: Spinor) -> Spinor:
        """D^dagger of five dimensions, as D above."""
        return super().dagger(spinor)

    def pauli_villars(self) -> DomainWall:
        """The Pauli-Villars operator: D with mass 1 on the same links, with the present settings of `solver`.

        det D / det D_PV is the determinant of the overlap operator that Ls approximates. D_PV^-1 b of five dimensions
        is `P.solver.solve_shifted(P.dagger(b), [0.0])[0]`. It converts the links once more; those of the C++ class are
        shared. Collective.
        """
        a, p = self.action, self._parallel
        walls = a.walls
        moebius = {name: walls[name] for name in "bc"} if a.kind == "mobius" else {}
        return DomainWall(
            self._u, mass=1.0, M5=walls["M5"], Ls=walls["Ls"], boundary=a.boundary, solver=self.solver.settings,
            device=p.device, halo_policy=p.halo_policy, time_limit=p.time_limit, **moebius,
        )  # fmt: skip

    @property
    def kappa(self) -> float:
        raise InvalidArgument("kappa: domain-wall quarks have none; `action` holds mass and M5.")

    def low_eigenvalues(self, *_: Any, **__: Any) -> NDArray[np.float64]:
        """Refused: eigenvalues are found for quarks without a fifth dimension."""
        raise InvalidArgument(
            "low_eigenvalues: give WilsonClover or TwistedMass; domain-wall quarks are not built here."
        )


class Staggered(DiracOperator):
    """Staggered quarks: of one link, asqtad or HISQ (docs/actions.md). Spinors are [t][z][y][x][colour].

    D^dagger D connects sites of one parity, so the solver is conjugate gradients on half of the sites.
    `D.solver.solve_shifted(b, shifts)` solves for several masses m at once, with shift = m^2 - mass^2.

    >>> import halocline as hc
    >>> D = hc.qcd.Staggered(hc.qcd.unit_links([4, 4, 4, 8]), mass=0.2)
    >>> S = hc.qcd.propagator(D, [0, 0, 0, 0])
    >>> sorted(hc.qcd.mesons(S))
    ['pion', 'pion_sc', 'rho', 'rho_pv']
    """

    @takes(u=checks.a_field, mass=number(), kind=choice(*STAGGERED), boundary=checks.four_phases)
    def __init__(
        self,
        u: GaugeField,
        mass: float,
        kind: str = "hisq",
        naik_epsilon: float | None = None,
        u0: float | None = None,
        boundary: Sequence[complex] = (1, 1, 1, -1),
        solver: Solver | Mapping[str, Any] | str | None = None,
        device: str = "cpu",
        time_limit: float = 300.0,
        **solver_keys: Any,
    ) -> None:
        """mass: m of D = m + ..., positive; MILC's mass
        kind: "one-link", "asqtad" or "hisq", whose links are made here in double; naik_epsilon: of "hisq", the
        correction of the long links for heavy quarks; u0: of "asqtad", the tadpole factor; others as for WilsonClover

        The solver is conjugate gradients. A device takes staggered quarks in float and double, on one process.
        Raises as WilsonClover, and Error where a smeared link of HISQ cannot be projected to U(3).
        """
        self._open(
            u, kind, solver, solver_keys, device, None, time_limit,
            mass=mass, naik_epsilon=naik_epsilon, u0=u0, boundary=tuple(boundary),
        )  # fmt: skip

    @property
    def kappa(self) -> float:
        raise InvalidArgument("kappa: staggered quarks have none; `action` holds the mass.")

    def low_eigenvalues(self, *_: Any, **__: Any) -> NDArray[np.float64]:
        """Refused: eigenvalues are found for Wilson and twisted quarks."""
        raise InvalidArgument("low_eigenvalues: give WilsonClover or TwistedMass; staggered quarks are not built here.")


def residual_mass(s: Propagator) -> NDArray[np.float64]:
    """The residual mass of domain-wall quarks for each time, shape (T,): what of chiral symmetry Ls leaves broken.

    The correlator of the pseudoscalar density in the middle of the fifth dimension with the source, over that of the
    density on the walls (Blum et al., hep-lat/0007038); a plateau at times far from the source.
    s: from `propagator` of a DomainWall. Raises InvalidArgument for another. Collective.
    """
    midpoint = getattr(s, "midpoint", None)
    if midpoint is None:
        raise InvalidArgument("residual_mass: the propagator has no midpoint; give one of a DomainWall.")
    if s.record["source"].get("sink") == "gaussian":
        raise InvalidArgument("residual_mass: the sink is smeared; give a propagator with a point sink.")
    middle, walls = (mesons(of, channels=["pion"])["pion"] for of in (midpoint, s))
    return middle / walls


def dirac_operator(
    u: GaugeField, action: Action, solver: Solver, choice: str = "", parallel: Parallel | None = None
) -> DiracOperator:
    """The operator of the [action], [solver] and [parallel] of a run file.

    choice: the method of kind = "auto", "schwarz" or "bicgstab", without a trial; empty for a trial
    """
    others = {"twisted-clover": TwistedMass, "twisted-doublet": TwistedDoublet}
    others |= dict.fromkeys(WALLS, DomainWall) | dict.fromkeys(STAGGERED, Staggered)
    kind = others.get(action.kind, WilsonClover)
    self = kind.__new__(kind)
    self.action, self._u, self._choice = action, u, choice
    self._parallel = parallel or Parallel()
    self.solver = QuarkSolver(self, solver)
    return self


@takes(D=instance(DiracOperator, "a WilsonClover or another operator"))
def propagator(
    D: DiracOperator,
    source: Sequence[int] | Source = (0, 0, 0, 0),
    kind: str = "point",
    progress: Callable[[int, dict[str, Any]], None] | None = None,
    inner: Callable[[int, int, int, float], bool] | None = None,
    chosen: Callable[[dict[str, Any]], None] | None = None,
    **keys: Any,
) -> AnyPropagator:
    """Twelve solutions from one source, three of staggered quarks, or 24 of a doublet, `D.solver.rhs_batch` columns at
    a time.

    source: global position x, y, z, t, or a Source, which then describes the source completely
    kind: "point", "wall", "gaussian" or "z2"; for staggered quarks "point" or "wall", a corner wall
    keys: of the run file's [source] (width, steps, seed, sink), and of its [solver], such as tolerance=1e-12, which
    stay for later solves of D
    progress: called for each finished column with its number (1 to 12) and the solver's report
    inner: called during a solve with the first column, the number of columns solved together, iterations and worst
    residual; returning False stops, which raises Interrupted
    chosen: called after the first solve with the trial of kind = "auto" (`D.solver.choose`), if there was a choice
    Returns a Propagator with its arrays and the attributes `reports` (one a column) and `record` (the parameters that
    reproduce it; write_propagator stores them); of staggered quarks a StaggeredPropagator, of a doublet a
    DoubletPropagator.
    Raises InvalidArgument, and Error when a column does not converge.
    """
    in_source, in_solver = sorted_keys(
        "propagator", keys, SOURCE_KEYS, SOLVER_KEYS, known=("source", "kind", "progress", "inner", "chosen")
    )
    how = _one_source(source, kind, in_source)
    if D.geometry.communicator.rank == 0:
        for sentence in how.doubts():
            warnings.warn(sentence, stacklevel=3)
    D.solver.change("propagator", in_solver)
    return propagator_from(D, how, progress, inner, chosen)


def propagator_from(
    D: DiracOperator,
    how: Source,
    progress: Callable[[int, dict[str, Any]], None] | None = None,
    inner: Callable[[int, int, int, float], bool] | None = None,
    chosen: Callable[[dict[str, Any]], None] | None = None,
) -> AnyPropagator:
    """The propagator from a Source with one position; the rest as `propagator`."""
    source = how.positions[0]
    s = propagator_class(D.action)(D.geometry, list(source))
    s.reports = []
    if D.action.walls:
        s.midpoint = Propagator(D.geometry, list(source))
    sources = _sources(D, how, source)
    batches = -(-len(sources) // D.solver.rhs_batch)
    together = -(-len(sources) // batches)
    for first in range(0, len(sources), together):
        some = sources[first : first + together]
        heard = None if inner is None else functools.partial(inner, first, len(some))
        reports = D.solver.solve_columns(s, first, some, heard)
        if chosen is not None and first == 0 and (trial := D.solver.trial(len(some))) is not None:
            chosen(trial)
        for report in reports:
            s.reports.append(report)
            if progress is not None:
                progress(len(s.reports), report)
    _finish(s, D, how, D.solver.settings)
    return s


def shifted_propagators_from(
    D: DiracOperator,
    how: Source,
    settings: Solver,
    progress: Callable[[int, list[dict[str, Any]]], None] | None = None,
    inner: Callable[[int, int, float], bool] | None = None,
) -> list[Propagator]:
    """Twelve solutions of (S^dagger S + shift) x = b from a Source with one position, for every shift of a [solver].

    D: an operator whose solver has the settings `settings.for_shifts()`
    progress: called for each finished column with its number (1 to 12) and the reports of its shifts
    inner: called during a solve with the number of the column (from 0), iterations and residual; returning False stops,
    which raises Interrupted
    Returns a Propagator for each shift, with `reports` and `record` as of `propagator`; the record has `shift` and
    `shift_operator` too. Raises as `QuarkSolver.solve_shifted`. Collective.
    """
    of = settings.shift_operator or "full"
    every = [Propagator(D.geometry, list(how.positions[0])) for _ in settings.shifts]
    for s in every:
        s.reports = []
    for index, b in enumerate(source_columns(D._u, how, how.positions[0], D.action.boundary)):
        heard = None if inner is None else functools.partial(inner, index)
        solutions = D.solver.solve_shifted(b, settings.shifts, of == "even-odd", heard)
        for s, x, report in zip(every, solutions, D.solver.reports, strict=True):
            s.column(index // 3, index % 3)[...] = x
            s.reports.append(report)
        if progress is not None:
            progress(index + 1, D.solver.reports)
    for s, shift in zip(every, settings.shifts, strict=True):
        _finish(s, D, how, settings)
        s.record |= {"shift": shift, "shift_operator": of}
    return every


def _sources(D: DiracOperator, how: Source, position: Sequence[int]) -> list[Spinor]:
    """The right-hand sides of a propagator of D. Collective."""
    if D.action.flavours == 2:
        columns = source_columns(D._u, how, position, D.action.boundary)
        return [np.stack((b, 0 * b) if flavour == 0 else (0 * b, b), -3) for flavour in (0, 1) for b in columns]
    if not D.action.staggered:
        return source_columns(D._u, how, position, D.action.boundary)
    if how.kind not in STAGGERED_SOURCES or how.sink != "point":
        raise InvalidArgument(
            f'propagator: the source "{how.kind}" with sink "{how.sink}" was asked for; staggered quarks have point '
            "sources, corner walls, and point sinks only."
        )
    source = staggered_wall_source if how.kind == "wall" else staggered_point_source
    return [source(D.geometry, position, colour) for colour in range(3)]


def failures_of(reports: list[dict[str, Any]]) -> list[str]:
    """The notes about methods that failed, each once, in order. Not collective."""
    pairs = (pair for report in reports for pair in zip(report["notes"], report["note_kinds"], strict=True))
    return list(dict.fromkeys(note for note, kind in pairs if kind == "failure"))


def _finish(s: AnyPropagator, D: DiracOperator, how: Source, settings: Solver) -> None:
    """Smears the sink of a solved propagator if the source asks for it, and makes its `record`. Collective."""
    if how.sink == "gaussian":
        smearing = (how.width, how.steps, [complex(b) for b in D.action.boundary[:3]])
        if isinstance(s, DoubletPropagator):
            for *source, sink in np.ndindex(2, 4, 3, 2):
                one = s.column(*source)[..., sink, :, :]
                one[...] = _halocline.qcd.smear_gaussian(np.ascontiguousarray(one), D._u, *smearing)
        else:
            _halocline.qcd.smear_sink(s, D._u, *smearing)
    s.record = {
        "action": D.action.as_toml_values(),
        "source": how.as_toml_values(),
        "solver": settings.as_toml_values(),
        "gauge": gauge_record(D._u),
        "method": s.reports[0]["method"],
        "residuals": [report["residual"] for report in s.reports],
        "iterations": [report["iterations"] for report in s.reports],
    } | ({"warnings": warnings} if (warnings := failures_of(s.reports)) else {})
    if (midpoint := getattr(s, "midpoint", None)) is not None:
        # Its sink is never smeared.
        width = how.width if how.kind == "gaussian" else None
        source = dataclasses.replace(how, sink="point", width=width)
        midpoint.record = s.record | {"quark": MIDPOINT, "source": source.as_toml_values()}


def _one_source(source: Any, kind: str, keys: dict[str, Any]) -> Source:
    if not isinstance(source, Source):
        return Source(kind=kind, positions=(source,), **keys)
    if len(source.positions) != 1 or kind != "point" or keys:
        raise InvalidArgument(
            f"propagator: the source is a Source with {len(source.positions)} positions; give one with one position, "
            "and no other words about the source."
        )
    return source
