# SPDX-License-Identifier: Apache-2.0
"""Runs of the four long commands that tests kill, stop and starve, and what must hold afterwards.

A run is found by a word in its environment, so that no process of it is overlooked and no other one is met. Folders
with little room, or where nothing can be written, are mounts in a namespace of their own, which takes root.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import numpy as np

SECONDS_TO_START = 120
"""Python, MPI and the first results, on a machine that does other things too."""
SECONDS_TO_END = 60
"""From a fault to the end of the run."""
MARK = "HALOCLINE_FAULT_TEST"


@dataclasses.dataclass(frozen=True)
class Job:
    """A command, its run file, and what it leaves."""

    name: str
    words: tuple[str, ...]
    text: str
    under_way: Callable[[Path], bool]
    """Whether a run in this folder has results, or is in the midst of its work."""
    results: Callable[[Path], dict[str, np.ndarray]]
    """What the run has left in this folder, read by the project's readers; fails where a file is damaged."""


def spectrum_results(folder: Path) -> dict[str, np.ndarray]:
    from halocline.qcd.results import read_spectrum

    if not (folder / "out.h5").exists():
        return {}
    _, measured = read_spectrum(folder / "out.h5")
    return {m.name: m.mesons["pion"] for m in measured}


def propagators(folder: Path) -> dict[str, np.ndarray]:
    """The names alone: a reader has verified the checksum of each."""
    from halocline import _halocline

    found = {}
    for path in sorted(folder.glob("out*.lime")):
        _halocline.qcd.inspect_propagator(str(path))
        found[path.name] = np.array(path.stat().st_size)
    return found


def ground_state(folder: Path) -> dict[str, np.ndarray]:
    from halocline.tddft import results

    if not (folder / "out_gs.h5").exists():
        return {}
    _, data = results.read(folder / "out_gs.h5", "ground_state")
    return {"energy": data["energy/total"]}


def propagation(folder: Path) -> dict[str, np.ndarray]:
    from halocline.tddft import results

    if not (folder / "out_rt.h5").exists():
        return {}
    _, data = results.read(folder / "out_rt.h5", "propagation")
    return {"step": data["step"], "dipole": data["dipole"]}


QCD = """
[gauge]
generate = { size = [4, 4, 4, 8], beta = 6.0, sweeps = 1, separation = 1, seed = 3, configurations = CONFIGURATIONS }
[action]
mass = 0.1
csw = 1.0
[solver]
kind = "bicgstab"
[parallel]
[output]
file = "FOLDERout.h5"
plots = false
"""
ELECTRONS = """
[system]
atoms = [["H", 0, 0, -0.37], ["H", 0, 0, 0.37]]
box = [3.6, 3.6, 4.2]
[grid]
spacing = "0.3 angstrom"
[parallel]
hartree = "redundant"
[scf]
tolerance = TOLERANCE
max_iterations = 100000
[propagate]
kick = 0.01
steps = STEPS
checkpoint_every = 10
[output]
file = "FOLDERout.h5"
plots = false
cube = false
"""
JOBS = {
    "spectrum": Job(
        "spectrum", ("qcd", "spectrum", "run.toml"), QCD, lambda f: len(spectrum_results(f)) > 0, spectrum_results
    ),
    "solve": Job(
        "solve", ("qcd", "solve", "run.toml", "--output", "FOLDERout.lime"), QCD,
        lambda f: (f / "out_0000.lime").exists(), propagators,
    ),
    "ground-state": Job(
        "ground-state", ("tddft", "ground-state", "run.toml"), ELECTRONS,
        lambda f: (f / "out_gs.log").exists() and "   5 " in (f / "out_gs.log").read_text(), ground_state,
    ),
    "propagate": Job(
        "propagate", ("tddft", "propagate", "run.toml"), ELECTRONS,
        lambda f: (f / "out_rt.h5").exists() and (f / "out_rt.orbitals").exists(), propagation,
    ),
}  # fmt: skip


def write_run(job: Job, folder: Path, amount: int = 0, *, into: str = "", parallel: str = "") -> None:
    """The run file.

    amount: of configurations or steps; 0: of so much work that the run does not end while a test looks on
    into: the folder of the results, with a slash at its end
    parallel: more keys of that section
    """
    endless = amount == 0
    values = {"CONFIGURATIONS": "2000" if endless else str(amount), "STEPS": "1000000" if endless else str(amount)}
    values["TOLERANCE"] = "1e-300" if endless and job.name == "ground-state" else "1e-8"
    values |= {"FOLDER": into, "[parallel]": f"[parallel]\n{parallel}"}
    text = job.text
    for name, value in values.items():
        text = text.replace(name, value)
    (folder / "run.toml").write_text(text)


def environment(**more: str) -> dict[str, str]:
    """As in tests/python: one thread each, Open MPI as root with more ranks than cores, no launcher above."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_", "PRTE_"))}
    return kept | more | {
        "OMP_NUM_THREADS": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # the same for Open MPI 5
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "OMPI_MCA_mpi_yield_when_idle": "1",
    }  # fmt: skip


class Started:
    """A run that goes on while a test does something to it."""

    def __init__(self, job: Job, folder: Path, ranks: int, wrapped: tuple[str, ...], into: str) -> None:
        words = [word.replace("FOLDER", into) for word in job.words]
        command = [sys.executable, "-m", "halocline.cli.main", *words]
        if ranks:
            command = ["mpirun", "-n", str(ranks), *command]
        self.job, self.folder, self.mark = job, folder, uuid.uuid4().hex
        self.said = folder / f"said-{self.mark}"
        with open(self.said, "w") as said:  # a pipe would be held open by a rank that stays
            self.process = subprocess.Popen(
                [*wrapped, *command], cwd=folder, env=environment(**{MARK: self.mark}), stdout=said,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def processes(self) -> dict[int, str]:
        """All processes of this run that have not ended, with their rank or ''."""
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                words = (entry / "environ").read_bytes().split(b"\0")
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
                if f"{MARK}={self.mark}".encode() in words and state != "Z":
                    rank = next((w for w in words if w.startswith(b"OMPI_COMM_WORLD_RANK=")), b"=")
                    found[int(entry.name)] = rank.decode().split("=")[1]
        return found

    def rank(self, number: int) -> int:
        """The process of a rank."""
        return next(pid for pid, rank in self.processes().items() if rank == str(number))

    def until_under_way(self) -> None:
        self.until(lambda: self.job.under_way(self.folder))

    def until(self, reached: Callable[[], bool]) -> None:
        """Waits for something that the run does before its end."""
        until = time.monotonic() + SECONDS_TO_START
        while not reached():
            assert self.process.poll() is None, f"the run ended before the fault: {self.text()}"
            assert time.monotonic() < until, f"the run does not get going: {self.text()}"
            time.sleep(0.02)

    def status(self, seconds: float = SECONDS_TO_END) -> int:
        """The exit status; the run has ended, every process of it, within the time."""
        status = self.process.wait(seconds)
        until = time.monotonic() + 15
        while left := self.processes():
            assert time.monotonic() < until, f"processes of the run are left: {left}\n{self.text()}"
            time.sleep(0.05)
        return status

    def text(self) -> str:
        return self.said.read_text(errors="replace")

    def sentences(self) -> list[str]:
        """What `halocline` says at its end; nothing of Python may show."""
        assert "Traceback" not in self.text() and "internal error" not in self.text(), self.text()
        return [line for line in self.text().splitlines() if line.startswith("halocline: ")]

    def end(self) -> None:
        for pid in self.processes():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
