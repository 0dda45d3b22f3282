# SPDX-License-Identifier: Apache-2.0
"""A spectrum run in groups of processes: `[parallel] groups`.

A piece of work is a configuration, because reading, smearing and the set-up of a solver are done once for each. As many
configurations as can be shared out evenly go whole; the sources of the rest are pieces of their own. A group begins
with the sources of another configuration than its neighbours, so that sources of one stay together while there are
enough.

Every piece is computed by the code of a run without groups, so it has the bits that such a run has on as many processes
as a group has. "auto" chooses once: the first group that begins makes the trial, and the others wait for its choice.

Results of pieces lie in the folder of the pool (groups.py) until the end of the run. Those that are not in the result
file by then, because the run was stopped or killed before all sources of their configuration were done, stay there, and
the next run takes them.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from halocline import memory
from halocline.comm import on_root
from halocline.errors import FileError
from halocline.files import claimed_for
from halocline.groups import Groups, raise_ending
from halocline.qcd import gauge
from halocline.qcd.group_choice import SharedChoice
from halocline.qcd.group_devices import on_own_devices
from halocline.qcd.results import Measured, SpectrumFile, choice_of, joined, read_spectrum
from halocline.qcd.runfile import Run
from halocline.qcd.spectrum import Job, checksum_of, refuse_without_correlators
from halocline.reporter import Reporter


class Piece(NamedTuple):
    """Some sources of a configuration."""

    index: int
    """Of the configuration."""
    sources: tuple[int, ...]
    """Their numbers in [source] positions."""


def pieces_of(missing: dict[int, list[int]], groups: int) -> list[Piece]:
    """The work of so many groups. missing: for each configuration the sources that have no results yet."""
    whole = len(missing) - len(missing) % groups
    pieces = [Piece(index, tuple(sources)) for index, sources in list(missing.items())[:whole]]
    for index, sources in list(missing.items())[whole:]:
        pieces += [Piece(index, (source,)) for source in sources]
    return pieces


def order_for(group: int, groups: int, pieces: Sequence[Piece]) -> list[int]:
    """The numbers of the pieces as a group prefers them: those of one source begin with a configuration of its own."""
    counts: dict[int, int] = {}
    for piece in pieces:
        counts[piece.index] = counts.get(piece.index, 0) + 1
    split = [index for index in counts if counts[index] > 1]
    first = split[group * len(split) // groups] if split else 0

    def key(number: int) -> tuple:
        piece = pieces[number]
        return (counts[piece.index] > 1, counts[piece.index] > 1 and piece.index < first, number)

    return sorted(range(len(pieces)), key=key)


class GroupedJob:
    """A run of a run file in groups; the constructor refuses a run that cannot work. Collective."""

    def __init__(self, run: Run, world: Any, reporter: Reporter, overwrite: bool = False) -> None:
        self.run, self.world, self.reporter, self.overwrite = run, world, reporter, overwrite
        count = run.parallel.groups
        folder = Path(f"{run.output.file}.groups")
        self.groups = Groups(world, count, folder, run.parallel.time_limit, reporter)
        self.job = Job(on_own_devices(run, world), self.groups.mine, reporter)
        share_memory(self.job, world, count)
        self.choice = SharedChoice(self.job, self.groups)
        self.file: SpectrumFile | None = None
        self.partial: dict[str, list[Measured]] = {}
        """Results of configurations that lack sources."""
        self.held: dict[Path, list[str]] = {}
        """The configurations of each file in the folder of the pool that was read."""
        self._checksums: dict[str, str] = {}
        self.pieces: list[Piece] = []
        self.iterations = 0

    def run_all(self) -> tuple[dict[str, Any], list[Measured]]:
        """Measures all configurations; no other run may write the result file until the end. Collective."""
        refuse_without_correlators(self.run)
        with claimed_for(self.world, self.run.output.file):
            return self._run_all()

    def _run_all(self) -> tuple[dict[str, Any], list[Measured]]:
        job, groups = self.job, self.groups
        missing, job.choice = on_root(self.world, self._begin)
        job.log_parameters()
        if job.choice is not None:
            self.reporter.line(f"auto: {job.choice['chosen']}, as chosen when this run began")
        self.pieces = pieces_of(missing, groups.count)
        total = job.configuration_count()
        if len(missing) < total:
            self.reporter.line(f"{total - len(missing)} of {total} configurations finished before, skipped")
        if 0 < len(self.pieces) < groups.count:
            self.reporter.warning(
                f"there are {len(self.pieces)} pieces of work for {groups.count} groups: some have nothing to do."
            )
        if self.pieces:
            job.reporter = groups.reporter
            order = order_for(groups.number, groups.count, self.pieces)
            stopped = (
                f"stopped; the finished configurations are in {self.run.output.file}, the same command goes on from "
                "there."
            )
            found = (self._work, self._collect, self._name, stopped, self._spare)
            raise_ending(groups.run(len(self.pieces), order, *found))
            job.reporter = self.reporter
        elif self.world.rank == 0:
            groups.remove_folder(self._spare)
        self.iterations = int(self.world.sum([float(job.iterations * (groups.mine.rank == 0))])[0])
        done, job.choice = on_root(self.world, self._finished)
        return job.root(), done

    # ---- on the first process

    def _begin(self) -> tuple[dict[int, list[int]], dict[str, Any] | None]:
        """Opens the result file. Returns the missing sources of each configuration, and the choice of "auto"."""
        job = self.job
        self.file = SpectrumFile(self.run.output.file, self.run, job.attributes, self.overwrite)
        names = job.names()
        for finished in self.file.measured:
            if finished.name in names:
                job.refuse_changed(finished, self._checksum(finished.name))
        if self.overwrite:
            self.groups.remove_folder()
        for path in self.groups.earlier_results():
            self._take_earlier(path, set(names))
        there = {m.name for m in self.file.measured}
        positions = self.run.source.positions
        missing = {}
        for index, name in enumerate(names):
            have = {tuple(p) for m in self.partial.get(name, ()) for p in m.positions.tolist()}
            if name not in there:
                missing[index] = [k for k, p in enumerate(positions) if tuple(p) not in have]
        return missing, self.file.choice

    def _checksum(self, name: str) -> str:
        """The checksum of a configuration, now. A generated one has none."""
        if not self.run.gauge.files:
            return "generated"
        if name not in self._checksums:
            self._checksums[name] = checksum_of(name)
        return self._checksums[name]

    def _take_earlier(self, path: Path, names: set[str]) -> None:
        """A piece that an earlier run has left. One that is damaged, or of links that have changed, is done again; of
        another configuration it stays. Raises InvalidArgument if it is of another run."""
        try:
            part = SpectrumFile(path, self.run, self.job.attributes)
        except FileError as error:
            self.reporter.warning(f"{str(error).rstrip('.')}; this piece of work is done again.")
            self.held[path] = []
            return
        self.file.choice = self.file.choice or part.choice
        if not {m.name for m in part.measured} <= names:
            return
        same = [m for m in part.measured if m.attributes["checksum"] == self._checksum(m.name)]
        if len(same) < len(part.measured):
            self.reporter.warning(f"{path}: its links have changed since; this piece of work is done again.")
        self.held[path] = [m.name for m in same]
        self._add(same)

    def _add(self, new: Sequence[Measured]) -> None:
        """Keeps results, and puts those configurations into the file that are complete by them."""
        there = {m.name for m in self.file.measured}
        positions = self.run.source.positions
        for m in new:
            if m.name in there:
                continue
            parts = self.partial.setdefault(m.name, [])
            have = {tuple(p) for one in parts for p in one.positions.tolist()}
            if not have.issuperset(map(tuple, m.positions.tolist())):
                parts.append(m)
        complete = {}
        for name, parts in self.partial.items():
            have = {tuple(p) for one in parts for p in one.positions.tolist()}
            if have.issuperset(map(tuple, positions)):
                complete[name] = joined(parts, positions)
        if complete:
            self.file.add_all(list(complete.values()), self.job.names())
            for name in complete:
                del self.partial[name]

    def _collect(self, paths: dict[int, Path]) -> None:
        new = []
        for number, path in paths.items():
            root, there = read_spectrum(path)
            piece = self.pieces[number]
            wanted = (self.job.names()[piece.index], [list(self.run.source.positions[k]) for k in piece.sources])
            found = [(m.name, m.positions.tolist()) for m in there]
            if root["physics_hash"] != self.run.physics_hash() or found != [wanted]:
                raise FileError(f"{path}: is not the result of {self._name(number)} in this run; move it elsewhere.")
            self.held[path] = [wanted[0]]
            self.file.choice = self.file.choice or choice_of(root)
            new += there
        self._add(new)

    def _spare(self) -> list[Path]:
        """The files of results that are in the result file."""
        return [path for path, names in self.held.items() if not any(name in self.partial for name in names)]

    def _finished(self) -> tuple[list[Measured], dict[str, Any] | None]:
        by_name = {m.name: m for m in self.file.measured}
        return [by_name[name] for name in self.job.names()], self.file.choice

    def _name(self, number: int) -> str:
        piece = self.pieces[number]
        positions = self.run.source.positions
        sources = "" if len(piece.sources) == len(positions) else f", source {list(positions[piece.sources[0]])}"
        return f"{self.job.names()[piece.index]}{sources}"

    # ---- on every group

    def _work(self, number: int) -> Callable[[Path], None]:
        """Measures a piece. Returns a function that writes its results."""
        job, piece = self.job, self.pieces[number]
        positions = [self.run.source.positions[k] for k in piece.sources]
        with self.choice.shared(), job.work:
            measured = job.measure(piece.index, positions, f"[{number + 1}/{len(self.pieces)}]")

        def write(path: Path) -> None:
            part = SpectrumFile(path, self.run, job.attributes, overwrite=True)
            part.choice = job.choice
            part.add(measured)

        return write


def share_memory(job: Job, world: Any, groups: int) -> None:
    """Raises InvalidArgument unless the groups have the memory to work at the same time. Where it is short, all groups
    solve fewer columns together than one alone would. Collective over `world`."""
    site_bytes = job.least_bytes * job.group.size / math.prod(job.extents)
    gauge.require_memory(job.extents, world, site_bytes * groups, f"{groups} propagators at once on ")
    solver = job.run.solver
    unlimited = world.any(os.environ.get(memory.VARIABLE, "").strip().lower() == "none")
    if unlimited or solver.rhs_batch is not None or job.run.parallel.device != "cpu":
        return
    batch = fitting_batch(job, memory.available() / world.split_by_node().size)
    batch = int(-world.max([-float(batch)])[0])
    if batch < BATCHES[0]:
        job.run = dataclasses.replace(job.run, solver=dataclasses.replace(solver, rhs_batch=batch))


BATCHES = (12, 6, 4, 3, 2, 1)
LARGEST_SHARE_OF_MEMORY = 0.4


def fitting_batch(job: Job, room: float) -> int:
    """The columns that a process solves together with `room` bytes of memory."""
    column = job.column_bytes * math.prod(job.geometry.local)
    return next((n for n in BATCHES if n * column <= LARGEST_SHARE_OF_MEMORY * room), 1)
