# SPDX-License-Identifier: Apache-2.0
"""A run as an array of jobs that the batch system starts on its own: shares, what is done, and the joined result.

The items of a run are its solves from one source on one configuration, numbered configuration by configuration. Task t
of n always has the same share of them, so tasks need not know of each other, and a task that is started again does
what is missing of its own share. Files lie in the folder `<result file>.jobs`:

    plan.json       tasks, configurations, sources, physics_hash, digest of the list [gauge] files
    task000012.h5   what task 12 has measured: a result file, whose configurations may lack sources
    task000012.done JSON: ranges of items in that file, their seconds, physics_hash, files; written after it

The small files `.done` tell what is done without a look at the results. One that is missing or older than its result
file makes less seem done than is; the task itself looks at its result file, and mends its `.done`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from halocline.comm import on_root
from halocline.errors import Error, FileError, Interrupted, InvalidArgument
from halocline.files import claimed, claimed_for, make_folder_of, write_file
from halocline.hdf5 import opened
from halocline.qcd.results import FORMAT, Measured, SpectrumFile, joined
from halocline.qcd.runfile import Run
from halocline.qcd.spectrum import Job, refuse_without_correlators
from halocline.reporter import Reporter
from halocline.runs import digest

SECONDS_BETWEEN_SAVES = 30.0
LARGEST_SHARE_OF_SAVING = 0.05
"""Of the time of a task. A task that is killed loses what it has measured since it saved."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """How the items of a run are shared out."""

    configurations: int
    sources: int
    tasks: int

    @property
    def items(self) -> int:
        return self.configurations * self.sources

    def share(self, task: int) -> range:
        """The items of a task: whole configurations where there are as many as tasks."""
        units, size = (self.configurations, self.sources) if self.configurations >= self.tasks else (self.items, 1)
        return range(size * (task * units // self.tasks), size * ((task + 1) * units // self.tasks))


def folder_of(run: Run) -> Path:
    return Path(f"{run.output.file}.jobs")


def result_of(folder: Path, task: int) -> Path:
    return folder / f"task{task:06d}.h5"


def plan_of(run: Run, tasks: int) -> Plan:
    """The plan of a run for so many tasks. Raises InvalidArgument for a run that cannot be an array."""
    refuse_without_correlators(run)
    if run.gauge.files is None:
        raise InvalidArgument(
            "[gauge] generate: every task would make the whole chain for itself; make the configurations by "
            "`halocline qcd gauge generate` first, and name them in [gauge] files."
        )
    if run.solver.kind == "auto":
        raise InvalidArgument(
            '[solver] kind = "auto": every task would choose for itself; give the kind by name, such as "bicgstab" '
            "(`halocline qcd solve` on one configuration says what auto chooses)."
        )
    if run.parallel.groups > 1:
        raise InvalidArgument(
            f"[parallel] groups = {run.parallel.groups}: a task works with one group of processes; leave groups out, "
            "and take as many more tasks."
        )
    plan = Plan(len(run.gauge.files), len(run.source.positions), tasks)
    if not 1 <= tasks <= plan.items:
        raise InvalidArgument(
            f"{tasks} tasks were asked for, and the run has {plan.items} items ({plan.configurations} configurations "
            f"of {plan.sources} sources); give 1 to {plan.items} tasks."
        )
    return plan


def write_plan(run: Run, plan: Plan) -> Path:
    """Begins an array, or goes on with it. Raises InvalidArgument if the folder has the plan of another one."""
    folder = folder_of(run)
    path = folder / "plan.json"
    wanted = _plan_values(run, plan)
    there = _json_of(path)
    if there is not None and there != wanted:
        if any(folder.glob("task*.h5")):
            raise InvalidArgument(f"{path} is the plan of another array ({_difference(there, wanted)}); {MEND}.")
        there = None
    if there is None:
        make_folder_of(path)
        write_file(path, json.dumps(wanted, indent=1) + "\n")
    return path


MEND = "go on with that one, or remove its folder, with all that its tasks have done"


def read_plan(run: Run) -> Plan:
    """The plan of a run's array. Raises InvalidArgument if there is none, or if it is of another run."""
    path = folder_of(run) / "plan.json"
    there = _json_of(path)
    if there is None:
        raise InvalidArgument(f"{path}: there is no plan of an array; `halocline qcd jobs script` makes one.")
    try:
        plan = plan_of(run, int(there["tasks"]))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise FileError(f"{path}: is damaged; make it again by `halocline qcd jobs script`.") from None
    wanted = _plan_values(run, plan)
    if there != wanted:
        raise InvalidArgument(f"{path} is the plan of another array ({_difference(there, wanted)}); {MEND}.")
    return plan


def _plan_values(run: Run, plan: Plan) -> dict[str, Any]:
    return dataclasses.asdict(plan) | _identity_of(run)


def _identity_of(run: Run) -> dict[str, str]:
    """What numbers its items mean: the physics, and the configurations in their order."""
    return {"physics_hash": run.physics_hash(), "files": digest(list(run.gauge.files or ()))}


def _difference(there: dict[str, Any], here: dict[str, Any]) -> str:
    name = next(n for n in here if there.get(n) != here[n])
    words = {
        "physics_hash": "the run file had other physics",
        "files": "the run file had other [gauge] files, or in another order",
    }
    return words.get(name, f"{there.get(name)} {name}, now {here[name]}")


def _json_of(path: Path) -> Any:
    """The content of a file; None where there is none, or no JSON."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


# ---- a task


def parse_share(text: str) -> tuple[int, int]:
    """Task and tasks of a text such as 12/100. Raises InvalidArgument."""
    first, _, second = text.partition("/")
    if not (first.isdecimal() and second.isdecimal()) or not int(first) < int(second):
        raise InvalidArgument(f"--share {text}: give the task, from 0, and the number of tasks, such as 0/100.")
    return int(first), int(second)


class TaskJob:
    """One task of an array; the constructor refuses a run that cannot work. Collective."""

    def __init__(self, run: Run, task: int, tasks: int, group: Any, reporter: Reporter) -> None:
        self.plan = plan_of(run, tasks)
        self.job, self.task, self.reporter = Job(run, group, reporter), task, reporter
        self.folder = folder_of(run)
        self.path = result_of(self.folder, task)
        self.pending: list[Measured] = []
        self.saved = time.monotonic()
        self.saving = 0.0

    def run_all(self) -> tuple[int, int]:
        """Measures what is missing of the share. Returns how many of its items are done, and how many it has.
        Collective."""
        with claimed_for(self.job.group, self.path), self.job.work:
            return self._run_all()

    def _run_all(self) -> tuple[int, int]:
        job, run, share = self.job, self.job.run, self.plan.share(self.task)
        done = on_root(job.group, self._begin)
        left = [item for item in share if item not in done]
        job.log_parameters()
        before = f"{len(share) - len(left)} finished before"
        self.reporter.line(f"task          {self.task} of {self.plan.tasks}: {len(share)} items, {before}")
        try:
            for number, item in enumerate(left):
                index, source = divmod(item, self.plan.sources)
                measured = job.measure(index, [run.source.positions[source]], f"[{number + 1}/{len(left)}]")
                self.pending.append(measured)
                if job.group.any(self._save_is_due()):
                    on_root(job.group, self._save)
        except Interrupted:
            on_root(job.group, self._save)
            raise Interrupted(
                f"stopped; the finished items of task {self.task} are in {self.path}, the same command goes on from "
                "there."
            ) from None
        except Exception:  # of this process alone, perhaps: nothing collective may follow
            if job.group.rank == 0:
                with contextlib.suppress(Error):  # the error is worth more
                    self._save()
            raise
        on_root(job.group, self._save)
        return len(share), len(share)

    def _begin(self) -> set[int]:
        """Opens the result file of the task. Returns the items that are in it."""
        run = self.job.run
        write_plan(run, self.plan)
        self.file = SpectrumFile(self.path, run, self.job.attributes)
        path = _done_of(self.folder, self.task)
        if (self.file.measured or path.exists()) and _json_of(path) != _done_values(run, self.file.measured):
            write_done(run, self.folder, self.task, self.file.measured)
        return set(items_of(run, self.file.measured))

    def _save_is_due(self) -> bool:
        return time.monotonic() - self.saved > max(SECONDS_BETWEEN_SAVES, self.saving / LARGEST_SHARE_OF_SAVING)

    def _save(self) -> None:
        if not self.pending:
            return
        begun = time.monotonic()
        run = self.job.run
        by_name: dict[str, list[Measured]] = {}
        for m in self.pending:
            by_name.setdefault(m.name, []).append(m)
        self.file.add_all([joined(some) for some in by_name.values()], run.gauge.files or ())
        self.pending.clear()
        write_done(run, self.folder, self.task, self.file.measured)
        self.saved = time.monotonic()
        self.saving = self.saved - begun


def items_of(run: Run, measured: Iterable[Measured]) -> Iterator[int]:
    """The items of the run that these results are of."""
    of_name = {name: index for index, name in enumerate(run.gauge.files or ())}
    of_position = {tuple(p): k for k, p in enumerate(run.source.positions)}
    for m in measured:
        for position in m.positions.tolist():
            if m.name in of_name and tuple(position) in of_position:
                yield of_name[m.name] * len(of_position) + of_position[tuple(position)]


def write_done(run: Run, folder: Path, task: int, measured: Sequence[Measured]) -> None:
    """Writes which items a task has measured, beside its result file."""
    write_file(_done_of(folder, task), json.dumps(_done_values(run, measured)) + "\n")


def _done_of(folder: Path, task: int) -> Path:
    return folder / f"task{task:06d}.done"


def _done_values(run: Run, measured: Sequence[Measured]) -> dict[str, Any]:
    return _identity_of(run) | {
        "items": ranges_of(items_of(run, measured)),
        "seconds": sum(float(m.attributes["seconds"]) for m in measured),
    }


def ranges_of(items: Iterable[int]) -> list[list[int]]:
    """[[first, last], ...] of numbers."""
    numbers = np.unique(np.fromiter(items, dtype=np.int64))
    if not numbers.size:
        return []
    cuts = np.flatnonzero(np.diff(numbers) > 1)
    return np.stack([numbers[np.r_[0, cuts + 1]], numbers[np.r_[cuts, numbers.size - 1]]], axis=1).tolist()


# ---- the array


@dataclasses.dataclass(frozen=True)
class Status:
    """What is done of an array."""

    plan: Plan
    done: int
    seconds: float
    """That the items which are done took, on the processes of a task."""
    unfinished: list[int]
    """The tasks with items left."""

    @property
    def seconds_an_item(self) -> float | None:
        return self.seconds / self.done if self.done else None

    @property
    def seconds_left(self) -> float | None:
        """Of one task that does all that is left."""
        return None if self.seconds_an_item is None else (self.plan.items - self.done) * self.seconds_an_item

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self.plan) | {
            "items": self.plan.items,
            "done": self.done,
            "left": self.plan.items - self.done,
            "seconds_an_item": self.seconds_an_item,
            "task_seconds_left": self.seconds_left,
            "unfinished_tasks": self.unfinished,
        }


def status_of(run: Run, plan: Plan) -> Status:
    """What is done, from the files `.done` alone. Cost: a small file for each task. Not collective."""
    folder, identity = folder_of(run), _identity_of(run)
    done, seconds, unfinished = 0, 0.0, []
    for task in range(plan.tasks):
        share = plan.share(task)
        there = _json_of(_done_of(folder, task))
        mine = 0
        with contextlib.suppress(KeyError, TypeError, ValueError):
            if there is not None and all(there[name] == value for name, value in identity.items()):
                ranges = np.array(there["items"], dtype=np.int64).reshape(-1, 2)
                low, high = np.maximum(ranges[:, 0], share.start), np.minimum(ranges[:, 1] + 1, share.stop)
                mine = int(np.maximum(high - low, 0).sum())
                seconds += float(there["seconds"])
        done += mine
        if mine < len(share):
            unfinished.append(task)
    return Status(plan, done, seconds, unfinished)


def merge(run: Run, plan: Plan) -> tuple[int, int]:
    """Joins what the tasks have measured into the result file of the run, in the order of the run file.

    Returns the number of configurations that are complete and now in the file, and that of the run. Raises
    InvalidArgument and FileError; the old file then stands. Cost: the memory of all results. Not collective.
    """
    folder = folder_of(run)
    with claimed(run.output.file):
        parts: dict[str, list[Measured]] = {}
        attributes: dict[str, Any] = {}
        for task in range(plan.tasks):
            path = result_of(folder, task)
            if not path.exists():
                continue
            attributes = attributes or _root_of(path)
            for m in SpectrumFile(path, run, {}).measured:
                parts.setdefault(m.name, []).append(m)
        positions = [tuple(p) for p in run.source.positions]
        complete = []
        for name in run.gauge.files or ():
            there = {tuple(p) for m in parts.get(name, ()) for p in m.positions.tolist()}
            if there.issuperset(positions):
                complete.append(joined(parts[name], positions))
        file = SpectrumFile(run.output.file, run, attributes)
        have = {m.name for m in file.measured}
        if new := [m for m in complete if m.name not in have]:
            file.add_all(new, run.gauge.files or ())
        return sum(m.name in set(run.gauge.files or ()) for m in file.measured), plan.configurations


OF_THE_RUN = ("format", "parameters", "physics_hash", "momenta", "solver_choice")


def _root_of(path: Path) -> dict[str, Any]:
    """The root attributes of a result file that tell of the program and the action."""
    with opened(path) as file:
        if file.attrs.get("format") != FORMAT:
            raise FileError(f"{path}: not a result file of `halocline qcd spectrum`.")
        return {name: value for name, value in file.attrs.items() if name not in OF_THE_RUN}


# ---- scripts of batch systems


def numbers_text(numbers: Iterable[int]) -> str:
    """'0-9,12' of numbers, as Slurm takes them."""
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges_of(numbers))


SYSTEMS = ("slurm", "pjm")


def script(
    system: str, run_file: str, plan: Plan, tasks: Sequence[int], processes: int, limit: str, at_once: int | None
) -> str:
    """A script that starts these tasks of an array.

    system: one of SYSTEMS; run_file: as the command gets it; processes: of a task; limit: its longest time as HH:MM:SS;
    at_once: how many tasks may run at the same time, for Slurm
    """
    words = f"halocline qcd spectrum {run_file} --share"
    if system == "slurm":
        most = f"%{at_once}" if at_once else ""
        return (
            "#!/bin/bash\n"
            f"# {len(tasks)} of {plan.tasks} tasks with {plan.items} items in all. Submit: sbatch SCRIPT\n"
            f"#SBATCH --job-name=halocline\n#SBATCH --array={numbers_text(tasks)}{most}\n"
            f"#SBATCH --ntasks={processes}\n#SBATCH --time={limit}\n"
            "#SBATCH --signal=TERM@120  # a task then stops at a safe point and saves what it has\n"
            f'srun {words} "$SLURM_ARRAY_TASK_ID/{plan.tasks}"\n'
        )
    lines = [f"TASKS=({' '.join(map(str, tasks))})", f'mpiexec {words} "${{TASKS[$PJM_BULKNUM]}}/{plan.tasks}"']
    if list(tasks) == list(range(plan.tasks)):
        lines = [f'mpiexec {words} "$PJM_BULKNUM/{plan.tasks}"']
    return (
        "#!/bin/bash\n"
        f"# {len(tasks)} of {plan.tasks} tasks with {plan.items} items in all.\n"
        f'# Submit: pjsub --bulk --sparam "0-{len(tasks) - 1}" SCRIPT\n'
        f'#PJM --mpi "proc={processes}"\n#PJM -L "elapse={limit}"\n' + "\n".join(lines) + "\n"
    )
