# SPDX-License-Identifier: Apache-2.0
"""Solutions of D x = b for any Dirac operator, on the CPU or on a device; mirrors qcd/quark/quark_solver.hpp.

Spinors are NumPy arrays [t][z][y][x][spin][colour], complex128, the local part of each process; those of staggered
quarks [t][z][y][x][colour]. Everything is collective over the processes of the gauge field unless it says otherwise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from halocline import _halocline
from halocline.comm import on_root
from halocline.device import DeviceArray
from halocline.errors import Error, Interrupted, InvalidArgument
from halocline.qcd.low_modes_file import read_low_modes, write_low_modes
from halocline.qcd.measure import Spinor, spinor_of
from halocline.qcd.multigrid_keys import Multigrid
from halocline.qcd.propagators import AnyPropagator
from halocline.qcd.runfile import Solver
from halocline.qcd.setup_file import read_setup, write_setup
from halocline.schema import read_table, sorted_keys

if TYPE_CHECKING:
    from halocline.qcd.quark import DiracOperator

Progress = Callable[[int, float], bool]
RUN_FILE_KEYS = ("shifts", "shift_operator")
"""Keys of [solver] for run files alone; in Python `solve_shifted` takes them as arguments."""
SOLVER_KEYS = {f.name: f for f in dataclasses.fields(Solver) if f.name not in RUN_FILE_KEYS}

_trials: dict[tuple, list[dict[str, Any]]] = {}
"""Results of the trials of kind = "auto" in this process, by lattice, processes, action and solver."""


def forget_trials() -> None:
    """Makes the next solve with kind = "auto" measure again, as in a new process. Not collective."""
    _trials.clear()


class QuarkSolver:
    """Solves D x = b for one operator, with settings of its own. An operator has one, `D.solver`; others may stand
    beside it.

    >>> import halocline as hc
    >>> D = hc.qcd.WilsonClover(hc.qcd.unit_links([4, 4, 4, 8]), mass=0.5)
    >>> b = hc.qcd.point_source(D.geometry, [0, 0, 0, 0], spin=0, colour=0)
    >>> cg = hc.qcd.QuarkSolver(D, kind="cg", tolerance=1e-10)
    >>> bool(abs(D(cg.solve(b)) - b).max() < 1e-9)
    True
    """

    def __init__(
        self, D: DiracOperator, solver: Solver | Mapping[str, Any] | str | None = None, **solver_keys: Any
    ) -> None:
        """D: an operator; its device and time limit hold here too
        solver: as [solver] of the run file: a kind such as "cg", a dictionary of its keys, or a Solver
        solver_keys: keys of [solver], such as tolerance=1e-12, which override it

        Converts links and clover blocks to the layout of the methods. Raises InvalidArgument for settings that cannot
        work.
        """
        from halocline.qcd.quark import DiracOperator

        if not isinstance(D, DiracOperator):
            raise InvalidArgument(
                f"QuarkSolver: D is a {type(D).__name__}; give an operator, such as hc.qcd.WilsonClover(u, mass=0.1)."
            )
        (changes,) = sorted_keys("QuarkSolver", solver_keys, SOLVER_KEYS, known=("D", "solver"))
        self._D = D
        self._u, self._action, self._parallel, self._choice = D._u, D.action, D._parallel, D._choice
        self.settings: Solver | None = None
        self._prepare(dataclasses.replace(solver_section(solver), **changes))

    def _prepare(self, settings: Solver) -> None:
        """Makes a new solver of the library if the settings have changed; keeps a set-up of multigrid that serves."""
        if settings == self.settings:
            return
        if settings.shifts is not None:
            raise InvalidArgument(
                "[solver] shifts is a key of run files for `halocline qcd solve`; in Python call "
                "D.solver.solve_shifted(b, shifts)."
            )
        a, p = self._action, self._parallel
        settings.check_device(p.device)
        _halocline.comm.set_solve_time_limit(self._u.geometry.communicator, p.time_limit)
        stored = self._stored_setup(settings)
        modes = self._stored_modes(settings)
        self._quark = _halocline.qcd.Quark(
            self._u, a.m0, a.clover, [complex(b) for b in a.boundary], a.anisotropy, a.nu, a.csw_t, a.mu,
            settings.as_binding_values()
            | {"choice": self._choice if settings.kind == "auto" else ""}
            | {"device": p.device, "device_halo": p.halo_policy or "auto"},
            None if stored is None else stored["numbers"].view(np.uint16),
            [1, 1, 1, 1] if stored is None else stored["aggregate"],
            None if modes is None else modes["numbers"].view(np.uint16),
            [] if modes is None else modes["values"],
            None if self.settings is None else self._quark, a.walls, a.staggered,
            a.epsilon,
        )  # fmt: skip
        self.settings = settings
        self._recall()
        self._store_setup()
        self._store_modes()

    def _stored_setup(self, settings: Solver) -> dict[str, Any] | None:
        """The set-up of multigrid in its file; None where there is no such file yet. Collective."""
        multigrid = settings.multigrid or Multigrid()
        self._setup_file = multigrid.setup_file
        if self._setup_file is None:
            return None
        if not on_root(self._u.geometry.communicator, Path(self._setup_file).exists):
            return None
        path, self._setup_file = self._setup_file, None  # nothing to write
        same_keys = self.settings is not None and self.settings.multigrid == settings.multigrid
        if same_keys and self._quark.keeps_setup(self._u):
            return None
        return read_setup(path, self._u, self._action, multigrid.made_vectors)

    def _store_setup(self) -> None:
        """Writes the set-up of multigrid into its file, once there is one. Collective."""
        if self._setup_file is None or self._quark.setup(False) is None:
            return
        setup = self._quark.setup(True)
        path, self._setup_file = self._setup_file, None
        write_setup(path, setup | {"numbers": setup["numbers"].view(np.float16)}, self._u, self._action)

    def _stored_modes(self, settings: Solver) -> dict[str, Any] | None:
        """The low modes of the file of deflation; None where they are to be computed or not wanted. Collective."""
        self._modes_file = None
        if settings.deflation is None or settings.deflation.file is None:
            return None
        path = settings.deflation.file
        if on_root(self._u.geometry.communicator, Path(path).exists):
            return read_low_modes(path, self._u, self._action, settings.deflation.vectors)
        if settings.kind == "auto":
            raise InvalidArgument(
                f'[solver] deflation: there is no file {path}, and kind = "auto" computes no modes; make the file with '
                'kind = "deflated-cg", or leave deflation out.'
            )
        self._modes_file = path
        return None

    def _store_modes(self) -> None:
        """Writes low modes that were just computed into their file. Collective."""
        if self._modes_file is None:
            return
        modes = self._quark.low_modes(True)
        path, self._modes_file = self._modes_file, None
        write_low_modes(path, modes | {"numbers": modes["numbers"].view(np.float16)}, self._u, self._action)

    def change(self, title: str, changes: Mapping[str, Any]) -> None:
        """Changes keys of [solver] for later solves; refusals begin with `title`."""
        (known,) = sorted_keys(title, dict(changes), SOLVER_KEYS, known=("source", "progress"))
        if known:
            self._prepare(dataclasses.replace(self.settings, **known))

    def _trial_key(self) -> tuple | None:
        """The key under which trials are remembered, for any links; None if this solver makes no trials."""
        if self.settings.kind != "auto" or self._choice or self._parallel.device != "cpu":
            return None
        g = self._u.geometry
        values = self.settings.as_binding_values()
        del values["right_hand_sides"]  # a trial holds for about as many (qcd/quark/quark_solver.hpp)
        solver = tuple(sorted((k, str(v)) for k, v in values.items()))
        action = tuple(str(v) for v in dataclasses.astuple(self._action))  # the mass decides between the methods
        return (*g.extents, *g.grid, g.communicator.size, action, solver, self.settings.deflation is not None)

    def _recall(self) -> None:
        """Takes over the trials of earlier solvers on such a lattice, from the first process for all. Collective."""
        key = self._trial_key()
        if key is not None:
            self._quark.recall(on_root(self._u.geometry.communicator, lambda: _trials.get(key, [])))

    def _remember(self) -> None:
        key = self._trial_key()
        if key is not None:
            _trials[key] = self._quark.trials

    @property
    def tile(self) -> tuple[int, ...]:
        """SIMD lanes along x, y, z, t in the layout that was chosen; 1 on a device."""
        return tuple(self._quark.tile)

    @property
    def rhs_batch(self) -> int:
        """The largest number of right-hand sides that are solved together."""
        return self._quark.rhs_batch

    @property
    def device(self) -> str:
        """The device that solves: "cpu", "cuda:0 (NVIDIA H200)", "host executor"."""
        return self._quark.device or "cpu"

    @property
    def storage(self) -> str:
        """How the iteration on a device stores numbers: "fixed16, 12 reals a link"; empty on the CPU."""
        return self._quark.storage

    @property
    def memory(self) -> dict[str, int] | None:
        """Bytes on the device: predicted, ours, most_ours, free, total; None on the CPU.

        `predicted` is for solves of rhs_batch columns and includes links, clover blocks and buffers for copies. `ours`
        is the present use, `most_ours` the largest so far. The memory of the host executor is that of the host. Not
        collective.
        """
        return self._quark.memory

    @property
    def setup(self) -> dict[str, Any] | None:
        """The set-up of multigrid; None as long as there is none.

        `vectors`, `aggregate`, `rounds` of inverse iteration, `contraction` (factor by which a cycle lowers the
        residual, measured at the first call), `seconds` and `bytes` of this process. Collective.
        """
        return self._quark.setup(False)

    @property
    def low_modes(self) -> dict[str, Any] | None:
        """The low modes for deflation; None without. `values`: eigenvalues of gamma5 D. Not collective."""
        return self._quark.low_modes(False)

    def refresh(self, u: Any) -> None:
        """Takes other links on the same lattice and processes, as after steps of a Markov chain; D follows.

        A set-up of multigrid keeps its test vectors and gets a new coarse operator; if it foretells 1.2 times the
        iterations, a round of inverse iteration follows. Deflation keeps its low modes, which help less the further the
        links have moved. Files of both belong to the old links: they are left as they are, and taken out of the
        settings. Raises InvalidArgument for links of another lattice or process grid,
        and on a device. Collective.
        """
        self._quark.refresh(u)
        self._u = self._D._u = u
        self._setup_file = None
        if self.settings.multigrid is not None:
            multigrid = dataclasses.replace(self.settings.multigrid, setup_file=None)
            self.settings = dataclasses.replace(self.settings, multigrid=multigrid)
        if self.settings.deflation is not None and self.settings.kind != "auto":
            deflation = dataclasses.replace(self.settings.deflation, file=None)
            self.settings = dataclasses.replace(self.settings, deflation=deflation)
        elif self.settings.deflation is not None:
            self.settings = dataclasses.replace(self.settings, deflation=None)

    def apply(self, spinor: Spinor, dagger: bool = False) -> Spinor:
        """D spinor, or D^dagger spinor, in double; of domain walls on arrays [s][t][z][y][x][spin][colour]."""
        return self._quark.apply(spinor_of(spinor), dagger)

    def solve(self, source: Spinor, progress: Progress | None = None, **changes: Any) -> Spinor:
        """The x with D x = source.

        With kind = "auto" the first solve on a lattice begins with a short trial of the methods. Their timing decides,
        so the last bits may differ from run to run, by less than the tolerance. Only the choice depends on timing: the
        chosen method gives results bit-identical to selecting it by name. Other solvers with the same settings, on the
        same lattice and processes, use the same choice (`forget_trials` makes them measure again). Any other kind is
        reproducible.

        progress: called with iterations and residual; returning False stops, which raises Interrupted
        changes: keys of the run file's [solver], such as tolerance=1e-12; they stay for later calls
        Raises Error when it does not converge, with the reason; `report` holds the last one either way.
        """
        self.change("solve", changes)
        x, self.report = self._quark.solve(spinor_of(source), progress)
        self._remember()
        self._store_setup()
        _check(self.report)
        return x

    def solve_many(self, sources: Sequence[Spinor], progress: Progress | None = None) -> list[Spinor]:
        """The x with D x = source for several sources, `rhs_batch` of them at a time, as `solve` for each.

        progress: called with iterations and the worst residual; returning False stops, which raises Interrupted
        Raises Error when one does not converge; `reports` holds the reports of all either way.
        """
        solutions, self.reports = self._quark.solve_many([spinor_of(b) for b in sources], progress)
        self._remember()
        self._store_setup()
        for report in self.reports:
            _check(report)
        return solutions

    def solve_shifted(
        self, source: Spinor, shifts: Sequence[float], even_odd: bool = False, progress: Progress | None = None
    ) -> list[Spinor]:
        """The x with (S^dagger S + shift) x = source for every shift, by multi-shift conjugate gradients in double.

        S is D, or with even_odd its Schur complement on the even sites (zero is returned on the odd ones, and the
        source there is not read). For staggered quarks even_odd means D^dagger D + shift on the even sites, so that
        shift = m^2 - mass^2 gives other masses m. For domain walls the arrays have five dimensions,
        [s][t][z][y][x][spin][colour], and S is D of docs/actions.md. All shifts together take the operator applications
        of the smallest one. This is the solve of a rational approximation, and of several twisted masses mu at once
        (shift = mu^2).

        shifts: real; with the smallest one the operator must be positive
        progress: called with iterations and residual; returning False stops, which raises Interrupted
        Raises Error when a shift does not converge, and InvalidArgument; `reports` holds the reports either way.
        """
        solutions, self.reports = self._quark.solve_shifted(
            spinor_of(source), [float(s) for s in shifts], even_odd, progress
        )
        for report in self.reports:
            _check(report)
        return solutions

    def solve_on_device(self, sources: Sequence[Spinor], progress: Progress | None = None) -> DeviceArray:
        """The x with D x = source for several sources at once, left in the memory of the device.

        sources: at most rhs_batch NumPy arrays, local parts as everywhere
        Returns a DeviceArray [column][t][z][y][x][spin][colour], complex128, without spin for staggered quarks; other
        libraries take it without a copy
        Raises as `solve`, and InvalidArgument on the CPU; `reports` holds the reports of the columns either way.
        """
        if self._parallel.device == "cpu":
            raise InvalidArgument('solve_on_device: the operator is on the CPU; make it with device = "cuda".')
        sources = [spinor_of(b) for b in sources]
        held, self.reports = self._quark.solve_on_device(sources, progress)
        for report in self.reports:
            _check(report)
        return DeviceArray(held)

    def choose(self, sources: Sequence[Spinor], progress: Progress | None = None) -> dict[str, Any] | None:
        """Runs the trial of kind = "auto" on the first of these right-hand sides, as many as are solved together.

        One trial is made for each number of columns; a later call returns the earlier result.
        progress: called with iterations and residual; returning False ends the trial without a choice
        Returns `chosen` ("schwarz", "bicgstab", "multigrid" or "deflated-cg"), `columns` (how many are solved
        together), `right_hand_sides` (how many were going to be solved), and `schwarz_seconds`, `bicgstab_seconds`,
        `multigrid_seconds` and `deflated_seconds`, predicted for the whole solve by each method (None: it would never
        end; 0: not tried), and `setup_seconds` of multigrid. If one iteration of Schwarz was too slow to win,
        `schwarz_ruled_out` is True and `schwarz_seconds` a lower bound. Returns None when there is no choice.
        A solve makes the trial by itself and loses less time with it.
        """
        sources = [spinor_of(b) for b in sources]
        trial = self._quark.choose(sources, progress)
        self._remember()
        self._store_setup()
        return None if trial is None else _of_json(trial)

    def trial(self, columns: int) -> dict[str, Any] | None:
        """The trial that solves of so many columns together use, as of `choose`; None where there is none yet."""
        found = next((trial for trial in self._quark.trials if trial["columns"] == columns), None)
        return None if found is None else _of_json(found)

    def solve_columns(
        self,
        s: AnyPropagator,
        first: int,
        sources: Sequence[Spinor],
        progress: Progress | None = None,
    ) -> list[dict]:
        """Solves columns of a propagator together and in place: as many as there are sources, from `first` on.

        With domain walls also those of `s.midpoint`, if it has one. The propagator of staggered quarks is a
        StaggeredPropagator, with a column for each colour, and that of a doublet a DoubletPropagator.

        progress: called with iterations and the worst residual; returning False stops
        Returns the solver's report of each column. Raises as `solve`.
        """
        sources = [spinor_of(b) for b in sources]
        if self._action.flavours == 2:
            solutions, reports = self._quark.solve_many(sources, progress)
            for number, x in enumerate(solutions, first):
                s.column(number // 12, number // 3 % 4, number % 3)[...] = x
        elif self._action.staggered:
            reports = self._quark.solve_staggered_columns(s, first, sources, progress)
        else:
            reports = self._quark.solve_columns(s, first, sources, progress, getattr(s, "midpoint", None))
        self._remember()
        self._store_setup()
        for report in reports:
            _check(report)
        return reports


def _of_json(trial: dict[str, Any]) -> dict[str, Any]:
    """The trial with None in the place of infinite seconds."""
    return {k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in trial.items()}


def solver_section(given: Solver | Mapping[str, Any] | str | None) -> Solver:
    """The Solver that an argument `solver` describes. Raises InvalidArgument for an unknown kind, key or type."""
    if isinstance(given, Solver):
        return given
    if given is None or isinstance(given, str):
        return Solver() if given is None else Solver(kind=given)
    if isinstance(given, Mapping):
        return read_table(Solver, given)
    raise InvalidArgument(
        f'solver is a {type(given).__name__}; give a kind such as "cg", a dictionary of keys of [solver], or a Solver.'
    )


def _check(report: dict[str, Any]) -> None:
    if report["reason"] == "cancelled":
        raise Interrupted("the solve was stopped.")
    if report["reason"] == "not_finite" and report["iterations"] == 0 and report["notes"]:
        raise InvalidArgument(f"solve: {report['notes'][-1]}.")
    if not report["converged"]:
        raise Error(
            f"the solver stopped without reaching the tolerance: {report['reason']} after {report['iterations']} "
            f"iterations of {report['method']}, |b - D x|/|b| = {report['residual']:.3g}; "
            "raise max_iterations or the quark mass, or try another kind."
            + "".join(f" ({note})" for note in report["notes"])
        )
