# SPDX-License-Identifier: Apache-2.0
"""The main job: from gauge configurations to hadron correlators, configuration by configuration.

For each one: read or generate, fix the gauge and smear when asked, solve the columns from each source, contract, and
put the results on disk. All input is checked before the first solve: headers of all files, their extents, source
positions, the process grid and the result file. Results on disk are never lost: a stopped run continues with the first
missing configuration.
"""

from __future__ import annotations

import dataclasses
import json
import math
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.comm import CommonWork, communicator, on_root
from halocline.device import refuse_absent
from halocline.errors import Error, FileError, Interrupted, InvalidArgument
from halocline.files import claimed_for, output_names
from halocline.parallel import kept_communication
from halocline.qcd import gauge, measure, quark
from halocline.qcd.deflation import DEFLATED_SOLVERS, Deflation
from halocline.qcd.multigrid_keys import Multigrid
from halocline.qcd.placed_geometry import placed_geometry
from halocline.qcd.quark import DiracOperator
from halocline.qcd.results import Measured, SpectrumFile
from halocline.qcd.runfile import Run, Schwarz, Solver
from halocline.reporter import Reporter

BASIS = "DeGrand-Rossi"
STAGGERED_BASIS = "one spin, phases of MILC"
ITERATIONS_BETWEEN_AGREEMENTS = 10
SITE_BYTES, COLUMN_BYTES = 7500, 1800
"""The least memory of a job [bytes a site]: a fixed part, and one for each column that is solved together with others.
Measured on 12^4 sites: 11600 and 31900 bytes a site for even-odd BiCGStab with 1 and 12 columns, 37500 for Schwarz with
12. A column of domain walls has Ls times as many numbers, one of a doublet twice, and one of staggered quarks a
quarter."""
ONE_LINK_BYTES = 5000
"""The fixed part of staggered quarks of one link. Measured on 16^4 sites: 6050 and 6540 bytes a site with 1 and 3
columns; HISQ takes 9410."""


def spectrum(
    run: Run, comm: Any = None, reporter: Reporter | None = None, overwrite: bool = False
) -> tuple[dict[str, Any], list[Measured]]:
    """Runs a run file.

    run: from `read_run_file`; comm: see halocline.comm; reporter: hears lines, warnings and progress
    overwrite: begin anew and replace the result file, whatever it holds
    Returns the root attributes of the result file and its configurations, those of earlier runs included.
    Raises InvalidArgument and FileError before any work, for wrong input (shifted systems among it) and while another
    run is writing the result file; Error when a solve does not converge; Interrupted when the reporter asks to stop.
    The result file then holds every finished configuration. Collective.
    """
    group = communicator(comm)
    with kept_communication(group):
        return job_of(run, group, reporter or Reporter(), overwrite).run_all()


def job_of(run: Run, group: Any, reporter: Reporter, overwrite: bool = False) -> Any:
    """The job of a run file, with `run_all()`: a Job, or a GroupedJob where the file asks for groups. Collective."""
    if run.parallel.groups == 1:
        return Job(run, group, reporter, overwrite)
    from halocline.qcd.spectrum_groups import GroupedJob

    return GroupedJob(run, group, reporter, overwrite)


def refuse_without_correlators(run: Run) -> None:
    """Raises InvalidArgument for a run with shifted systems, whose solutions are no propagators of D, and for a
    doublet, whose mesons have a quark of another action."""
    if run.action.flavours == 2:
        raise InvalidArgument(
            f'[action] kind = "{run.action.kind}": the mesons of a doublet have a light quark of another action; solve '
            "both by `halocline qcd solve`, and contract the blocks in Python (docs/actions.md)."
        )
    if run.solver.shifts is not None:
        raise InvalidArgument(
            "[solver] shifts is set, and correlators are made of solutions of D x = b; leave shifts out, or solve the "
            "shifted systems by `halocline qcd solve`."
        )


@dataclasses.dataclass
class _Present:
    """The configuration that is being measured."""

    index: int
    identity: str
    plaquette: float
    D: DiracOperator


class Job:
    """One run of a run file; the constructor refuses a run that cannot work."""

    def __init__(self, run: Run, group: Any, reporter: Reporter, overwrite: bool = False) -> None:
        self.run, self.group, self.reporter, self.overwrite = run, group, reporter, overwrite
        refuse_absent(run.parallel.device)
        self._device_is_said = False
        self.extents = self._extents()
        self._check_positions()
        batch = run.solver.rhs_batch or 1 if run.parallel.device == "cpu" else 0
        site_bytes = ONE_LINK_BYTES if run.action.kind == "one-link" else SITE_BYTES
        size = 0.25 if run.action.staggered else run.action.points * run.action.flavours
        self.column_bytes = COLUMN_BYTES * size
        site_bytes += batch * self.column_bytes
        gauge.require_memory(self.extents, group, site_bytes, "a propagator on ")
        self.least_bytes = site_bytes * math.prod(self.extents) / group.size
        self.geometry, self.ranks = placed_geometry(self.extents, group, run.parallel)
        self.work = CommonWork(group, run.parallel.time_limit)
        self.attributes = self._attributes()
        self.measured: list[Measured] = []
        self.choice: dict[str, Any] | None = None
        self.configuration = 0  # index of the present one
        self.file: SpectrumFile | None = None
        self.keep: Callable[[dict[str, Any]], None] | None = None  # takes the choice of "auto" in the place of the file
        self.agree: Callable[[], None] | None = None  # waits for the choice of another group
        self.iterations = 0
        """Of the solver in this run, of all columns together."""
        self._present: _Present | None = None
        self._chain: tuple[int, Any] | None = None  # the generated configuration that was made last

    # ---- before the work

    def _extents(self) -> list[int]:
        chosen = self.run.gauge
        if chosen.files is None:
            return list(chosen.generate.size)
        for path in chosen.files:
            if not Path(path).is_file():
                raise FileError(f"{path}: no such gauge file (paths are relative to the folder of the command).")
        if len(set(chosen.files)) != len(chosen.files):
            raise InvalidArgument("[gauge] files names the same file twice.")
        headers = {path: list(gauge.inspect_gauge(path)["lattice"]) for path in chosen.files}
        first = headers[chosen.files[0]]
        for path, extents in headers.items():
            if extents != first:
                raise InvalidArgument(
                    f"{path} is a lattice {extents}, {chosen.files[0]} is {first}; a run has one size."
                )
        return first

    def _check_positions(self) -> None:
        for position in self.run.source.positions:
            if any(x >= n for x, n in zip(position, self.extents, strict=True)):
                raise InvalidArgument(
                    f"[source] the position {list(position)} lies outside the lattice {self.extents} (from 0)."
                )

    def _attributes(self) -> dict[str, Any]:
        action = self.run.action
        return {
            "lattice": np.array(self.extents, dtype=np.int64),
            **self._action_attributes(),
            "boundary": np.array(action.boundary, dtype=np.complex128),
            "basis": STAGGERED_BASIS if action.staggered else BASIS,
            "version": _halocline.core.version,
            "revision": _halocline.core.revision,
        }

    def _action_attributes(self) -> dict[str, Any]:
        action = self.run.action
        if walls := action.walls:
            return {name: np.array(v) if isinstance(v, list) else v for name, v in walls.items()}
        if staggered := action.staggered:
            return {name: v for name, v in staggered.items() if name != "kind"}
        numbers = {"kappa": 0.5 / (4.0 + action.m0), "m0": action.m0, "csw": action.clover}
        return numbers | {name: v for name in ("mu", "epsilon") if (v := getattr(action, name)) is not None}

    def log_parameters(self) -> None:
        a, action, solver = self.attributes, self.run.action, self.run.solver
        threads = _halocline.core.threads()
        say = self.reporter.line
        say(f"halocline {a['version']} ({a['revision']}, {_halocline.core.isa})")
        if narrower := _halocline.core.narrower_than_cpu():
            self.reporter.warning(narrower)
        say(f"lattice       {' x '.join(map(str, self.extents))}")
        say(f"action        {action_text(action)}")
        if action.anisotropy != 1.0 or action.nu != 1.0 or action.csw_t is not None:
            say(f"anisotropy    {action.anisotropy:g}, nu = {action.nu:g}, csw_t = {action.clover_t:g}")
        say(f"boundary      {', '.join(phase_text(b) for b in action.boundary)} (x, y, z, t)")
        say(f"basis         {a['basis']}{'' if action.staggered else ', gamma5 = diag(1, 1, -1, -1)'}")
        say(f"process grid  {' x '.join(map(str, self.geometry.grid))}, {threads} threads each")
        if self.run.parallel.groups > 1:
            say(f"groups        {self.run.parallel.groups} of {self.group.size} process{'es' * (self.group.size > 1)}")
        say(f"memory        at least {self.least_bytes / 2**30:.3g} GiB a process")
        schur = "even-odd" if solver.even_odd else "full operator"
        if solver.shifts is not None:
            of = "the Schur complement" if solver.shift_operator == "even-odd" else "D"
            say(
                f"solver        multi-shift cg of S^dagger S + shift with S = {of}, shifts "
                f"{', '.join(f'{s:g}' for s in solver.shifts)}, tolerance {solver.tolerance:g}"
            )
        else:
            say(f"solver        {solver.kind}, {schur}, precision {solver.precision}, tolerance {solver.tolerance:g}")
        wilson = not (action.mu or action.walls or action.staggered)
        schwarz = solver.kind in ("auto", "schwarz") and solver.shifts is None and wilson
        if schwarz and self.run.parallel.device == "cpu":
            k = solver.schwarz or Schwarz()
            say(
                f"schwarz       nsap = {k.nsap}, {k.steps} steps of {k.inner}, domains {k.domains}, {k.storage}"
                f"{f' (arithmetic {k.arithmetic})' if k.storage == 'half' else ''}, "
                f"{k.link_reals} reals a link, {k.outer} outside"
            )
        if solver.kind == "multigrid":
            m = solver.multigrid or Multigrid()
            levels = "levels as needed" if m.levels is None else f"{m.levels} levels, {m.cycle} cycles"
            rounds = "as many as pay" if m.setup_iterations is None else m.setup_iterations
            made = "" if m.setup_vectors is None else f" of {m.setup_vectors}"
            say(
                f"multigrid     {levels}, {m.vectors}{made} vectors, "
                f"aggregates of {' x '.join(map(str, m.aggregate))}, "
                f"{rounds} rounds of set-up, {m.smoother_sweeps} sweeps of {m.smoother_steps} steps of "
                f"{m.smoother}, {m.storage}"
            )
        if solver.kind in DEFLATED_SOLVERS or solver.deflation is not None:
            d = solver.deflation or Deflation()
            kept = f" in {d.file}" if d.file is not None else ""
            say(f"deflation     {d.vectors} low modes{kept}, by {d.method} to {d.tolerance:g}")
        source = self.run.source
        say(f"source        {source.kind} at {', '.join(str(list(p)) for p in source.positions)}, sink {source.sink}")
        for sentence in source.doubts():
            self.reporter.warning(sentence)

    # ---- the work

    def run_all(self) -> tuple[dict[str, Any], list[Measured]]:
        """Measures all configurations; no other run may write the result file until the end. Collective."""
        refuse_without_correlators(self.run)
        with claimed_for(self.group, self.run.output.file), self.work:
            return self._run_all()

    def _run_all(self) -> tuple[dict[str, Any], list[Measured]]:
        def begin() -> tuple[list[Measured], dict[str, Any] | None]:
            self.file = SpectrumFile(self.run.output.file, self.run, self.attributes, self.overwrite)
            return self.file.measured, self.file.choice

        measured, self.choice = on_root(self.group, begin)
        self.measured = list(measured)
        self.log_parameters()
        if self.choice is not None:
            self.reporter.line(f"auto: {self.choice['chosen']}, as chosen when this run began")
        total = self.configuration_count()
        done: list[Measured] = []
        for index, name in enumerate(self.names()):
            finished = next((m for m in self.measured if m.name == name), None)
            if finished is not None:
                self.refuse_changed(finished, self.identity(index))
                self.reporter.line(f"[{len(done) + 1}/{total}] {name}: finished before, skipped")
                done.append(finished)
                continue
            measured = self.measure(index, self.run.source.positions, f"[{len(done) + 1}/{total}]")
            on_root(self.group, lambda m=measured: self.file.add_all([m], self.names()))
            done.append(measured)
        return self.root(), done

    def refuse_changed(self, finished: Measured, identity: str) -> None:
        """Raises InvalidArgument if a configuration has another checksum than it had when it was measured."""
        if finished.attributes["checksum"] != identity:
            raise InvalidArgument(
                f"{finished.name} has changed since its results were put into {self.run.output.file} (checksum "
                f"{finished.attributes['checksum']} then, {identity} now); name another [output] file."
            )

    def root(self) -> dict[str, Any]:
        """The root attributes of the result file."""
        root = self.attributes | {"momenta": np.array(self.run.measure.momenta, dtype=np.int64)}
        if self.choice is not None:
            root["solver_choice"] = json.dumps(self.choice)
        root["parameters"] = json.dumps(self.run.as_toml_values(), sort_keys=True)
        return root

    def configuration_count(self) -> int:
        return len(self.run.gauge.files) if self.run.gauge.files else self.run.gauge.generate.configurations

    def names(self) -> list[str]:
        """The names of all configurations."""
        if self.run.gauge.files:
            return list(self.run.gauge.files)
        make = self.run.gauge.generate
        sweeps = (make.sweeps + i * make.separation for i in range(make.configurations))
        return [f"beta {make.beta:g}, seed {make.seed}, sweep {n}" for n in sweeps]

    def identity(self, index: int) -> str:
        """The checksum of a configuration."""
        if not self.run.gauge.files:
            return "generated"
        with self.work.paused():
            return on_root(self.group, lambda: checksum_of(self.run.gauge.files[index]))

    def links(self, index: int) -> Any:
        """The links of a configuration, read or generated."""
        if self.run.gauge.files:
            with self.work.paused():
                return self._read(self.run.gauge.files[index])
        before, u = self._chain if self._chain is not None and self._chain[0] <= index else (-1, None)
        self._chain = None
        u = self._generate(u, before, index)
        self._chain = (index, u)
        return u

    def configurations(self) -> Iterator[tuple[str, str, Any]]:
        """(name, checksum, links) of each."""
        for index, name in enumerate(self.names()):
            self.configuration = index
            yield name, self.identity(index), self.links(index)

    def _read(self, path: str) -> Any:
        grid, strict = self.geometry.grid, self.run.gauge.strict
        u = gauge.read_gauge(path, self.group, grid, strict, warn=False, ranks=self.ranks)
        for sentence in u.info["warnings"]:
            self.reporter.warning(f"{path}: {sentence}")
        return u

    def _generate(self, u: Any, before: int, index: int) -> Any:
        """The links of a configuration of the chain from those of an earlier one; from the start where u is None."""
        make = self.run.gauge.generate
        begin = 0 if u is None else make.sweeps + before * make.separation
        end = make.sweeps + index * make.separation
        if u is None:
            starts = {"cold": gauge.unit_links, "hot": lambda *a: gauge.random_links(a[0], make.seed, *a[1:])}
            u = starts[make.start](self.extents, self.group, self.geometry.grid, self.ranks)
        if end > begin:
            with self.reporter.stage(f"generating, sweeps {begin} to {end}", end - begin) as advance:
                for sweep in range(begin, end):
                    gauge.heatbath(u, make.beta, 1, make.seed, make.overrelaxation, sweep)
                    advance(sweep + 1 - begin, "")
                    self._stop_if_asked()
        return u

    def measure(self, index: int, positions: Sequence[Any], count: str) -> Measured:
        """Measures a configuration from some sources. Links and operator serve the next call for the same one.

        count: the beginning of lines of the log. Collective.
        """
        name = self.names()[index]
        if self._present is None or self._present.index != index:
            self._present = None  # frees its memory before the next one is read
            self.configuration = index
            identity, u = self.identity(index), self.links(index)
            self.wait_for_choice()
            begun = time.monotonic()
            plaquette = gauge.plaquette(u)
            self.reporter.line(f"{count} {name}: plaquette {plaquette:.12f}, checksum {identity}")
            self._present = _Present(index, identity, plaquette, self.operator(self.prepared(u)))
        else:
            begun = time.monotonic()
        identity, plaquette, D = self._present.identity, self._present.plaquette, self._present.D
        results = [self._one_source(D, position) for position in positions]
        reports = [r for _, _, reports, _ in results for r in reports]
        residuals = np.array([r["residual"] for r in reports]).reshape(-1, self.run.action.columns)
        iterations = np.array([r["iterations"] for r in reports]).reshape(-1, self.run.action.columns)
        self.iterations += int(iterations.sum())
        seconds = time.monotonic() - begun
        self.reporter.line(
            f"{count} {reports[0]['method']}: iterations {iterations.min()} to {iterations.max()}, largest residual "
            f"{residuals.max():.2e}, {seconds:.1f} s"
        )
        left = [one for *_, one in results if one is not None]
        if left:
            half = len(left[0]) // 2
            self.reporter.line(f"{count} residual mass {np.mean([one[half] for one in left]):.4g} at t = {half}")
        return Measured(
            name=name,
            positions=np.array(positions, dtype=np.int64),
            mesons={c: np.stack([m[c] for m, *_ in results]) for c in self.run.channels},
            nucleon=np.stack([n for _, n, *_ in results]) if self.run.measure.nucleon else None,
            residuals=residuals,
            iterations=iterations,
            attributes={
                "checksum": identity,
                "plaquette": plaquette,
                "process_grid": np.array(self.geometry.grid, dtype=np.int64),
                "ranks": self.group.size,
                "threads": _halocline.core.threads(),
                "isa": _halocline.core.isa,
                "method": reports[0]["method"],
                "device": self.run.parallel.device,
                "seconds": seconds,
                "solver_seconds": sum(r["seconds"] for r in reports),
            }
            | ({"residual_mass": np.stack(left)} if left else {})
            | ({"warnings": warnings} if (warnings := quark.failures_of(reports)) else {}),
        )

    def forget(self) -> None:
        """Drops what is kept for later configurations, after a failure of one."""
        self._present = self._chain = None

    def wait_for_choice(self) -> None:
        """Before a solve of a run in groups: waits until "auto" has chosen, in this group or another. Collective."""
        if self.agree is not None and self.choice is None and self._chooses:
            with self.work.paused():
                self.agree()

    @property
    def _chooses(self) -> bool:
        return self.run.solver.kind == "auto" and self.run.solver.shifts is None

    def prepared(self, u: Any) -> Any:
        """The links that the quarks see: gauge fixed, then smeared, as asked."""
        fix = self.run.gauge.fix
        if fix is not None:
            u, report = gauge.fix_gauge(u, fix.kind, fix.tolerance, fix.max_iterations)
            said = f"{report['iterations']} iterations, theta = {report['theta']:.2e}"
            if not report["converged"]:
                raise Error(f"[gauge] fix: {report['reason']} after {said}; raise max_iterations or tolerance.")
            self.reporter.line(f"{fix.kind} gauge: {said}")
        elif self.run.source.kind == "wall" and (theta := gauge.coulomb_theta(u)) > 1e-8:
            self.reporter.warning(
                f"a wall source on links that are not in Coulomb gauge (theta = {theta:.2e}) gives noise; "
                'set [gauge] fix = { kind = "coulomb" }.'
            )
        if self.run.gauge.smear is not None:
            u = gauge.smeared(u, self.run.gauge.smear)
            self.reporter.line(f"smeared links: plaquette {gauge.plaquette(u):.12f}")
        return u

    def operator(self, u: Any) -> DiracOperator:
        """D on prepared links. "auto" chooses once in a run, so that all configurations are solved alike."""
        choice = self.choice["chosen"] if self.choice is not None else ""
        D = quark.dirac_operator(u, self.run.action, self._solver(), choice, self.run.parallel)
        if self.run.parallel.device != "cpu" and not self._device_is_said:
            self._device_is_said = True
            self.reporter.line(f"device {D.solver.device}: {memory_text(D.solver.memory)}; {D.solver.storage}")
        return D

    def _solver(self) -> Solver:
        """The [solver] for the present configuration: it knows how many right-hand sides come, and its files."""
        solver = self.run.solver
        if solver.shifts is not None:
            return solver.for_shifts()
        if solver.right_hand_sides is None:
            count = self.run.action.columns * len(self.run.source.positions)
            solver = dataclasses.replace(solver, right_hand_sides=count)
        if solver.multigrid is not None and solver.multigrid.setup_file is not None:
            path = output_names(solver.multigrid.setup_file, self.configuration_count())[self.configuration]
            solver = dataclasses.replace(solver, multigrid=dataclasses.replace(solver.multigrid, setup_file=path))
        if solver.deflation is not None and solver.deflation.file is not None:
            path = output_names(solver.deflation.file, self.configuration_count())[self.configuration]
            solver = dataclasses.replace(solver, deflation=dataclasses.replace(solver.deflation, file=path))
        return solver

    def _keep_choice(self, trial: dict[str, Any]) -> None:
        if self.choice is not None:
            return
        self.choice = trial | {"ranks": self.group.size, "threads": _halocline.core.threads()}
        if self.keep is not None:
            return self.keep(self.choice)
        on_root(self.group, lambda: self.file.keep_choice(self.choice) if self.file is not None else None)

    def propagator(self, D: DiracOperator, position: Any) -> Any:
        """The columns from one source; reports progress, and stops when asked to."""
        count = self.run.action.columns
        source = dataclasses.replace(self.run.source, positions=(position,))
        with self.reporter.stage(f"source {list(position)}", count) as advance:

            def column(number: int, report: dict[str, Any]) -> None:
                advance(number, f"{number} of {count} columns, residual {report['residual']:.1e}")
                self._stop_if_asked()

            def iteration(first: int, together: int, iterations: int, residual: float) -> bool:
                share = min(1.0, max(0.0, math.log(max(residual, 1e-300)) / math.log(self.run.solver.tolerance)))
                columns = f"columns {first + 1} to {first + together}" if together > 1 else f"column {first + 1}"
                advance(first + together * share, f"{columns}: iteration {iterations}, residual {residual:.1e}")
                if self.group.size == 1:
                    return not self.reporter.stop_requested()
                # All ranks are at the same iteration; every few iterations they agree on whether to stop.
                if iterations % ITERATIONS_BETWEEN_AGREEMENTS:
                    return True
                return not self.group.any(self.reporter.stop_requested())

            try:
                s = quark.propagator_from(D, source, column, iteration, self._keep_choice)
            except Interrupted:
                raise self._stopped() from None
        notes = (pair for report in s.reports for pair in zip(report["notes"], report["note_kinds"], strict=True))
        for note, kind in dict.fromkeys(notes):
            if kind == "memory":  # the log has it already, from the beginning of the job
                continue
            # A choice is news, a method that failed is a warning.
            (self.reporter.line if kind == "choice" else self.reporter.warning)(note)
        return s

    def _one_source(self, D: DiracOperator, position: Any) -> tuple[dict[str, Any], Any, list[dict[str, Any]], Any]:
        """Mesons, nucleon, reports of the solver, and of domain walls the residual mass for each time."""
        asked = self.run.measure
        s = self.propagator(D, position)
        mesons = measure.mesons(s, channels=self.run.channels, momenta=asked.momenta) if asked.mesons else {}
        nucleon = None
        if asked.nucleon:
            nucleon = measure.nucleon(s, boundary_t=self.run.action.boundary[3], momenta=asked.momenta)
        walls = self.run.action.walls and self.run.source.sink != "gaussian"
        return mesons, nucleon, s.reports, quark.residual_mass(s) if walls else None

    def _stop_if_asked(self) -> None:
        if self.group.any(self.reporter.stop_requested()):
            raise self._stopped()

    def _stopped(self) -> Interrupted:
        return Interrupted(
            f"stopped; the finished configurations are in {self.run.output.file}, the same command goes on from there."
        )


def checksum_of(path: str) -> str:
    """The checksum that the gauge file carries, or the CRC-32 of its bytes where it has none. Not collective."""
    carried = gauge.inspect_gauge(path)["checksum"]
    if carried and carried != "fletcher32":
        return carried
    crc = 0
    with open(path, "rb") as file:
        while block := file.read(1 << 22):
            crc = zlib.crc32(block, crc)
    return f"crc32 {crc:08x}"


def memory_text(memory: dict[str, int]) -> str:
    """'predicted 1.3 GB of 139 GB free'; free as before any allocation, because the prediction includes the links."""
    free = memory["free"] + memory["ours"]
    return f"predicted {1e-9 * memory['predicted']:.2g} GB of {1e-9 * free:.3g} GB free"


def action_text(action: Any) -> str:
    """The action and its parameters for the log."""
    if walls := action.walls:
        numbers = {name: ", ".join(f"{z:g}" if z.imag else f"{z.real:g}" for z in walls[name]) for name in "bc"}
        said = f"{action.kind}, mass = {walls['mass']:.10g}, M5 = {walls['M5']:g}, Ls = {walls['Ls']}"
        return said + (f", b = {numbers['b']}, c = {numbers['c']}" if action.kind == "mobius" else "")
    if staggered := action.staggered:
        more = {"asqtad": f", u0 = {staggered['u0']:g}", "hisq": f", naik_epsilon = {staggered['naik_epsilon']:g}"}
        return f"{action.kind}, mass = {staggered['mass']:.10g}{more.get(action.kind, '')}"
    said = f"{action.kind}, kappa = {0.5 / (4.0 + action.m0):.10g}, m0 = {action.m0:.10g}"
    said += f", csw = {action.clover:g}" if action.kind != "wilson" else ""
    said += f", mu = {action.mu:g}" if action.mu is not None else ""
    return said + (f", epsilon = {action.epsilon:g}" if action.epsilon is not None else "")


def phase_text(phase: complex) -> str:
    """'1', '-1' or 'exp(0.5 i pi)'."""
    if phase.imag == 0.0:
        return str(int(phase.real))
    return f"exp({np.angle(phase) / np.pi:.6g} i pi)"
