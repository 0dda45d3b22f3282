# SPDX-License-Identifier: Apache-2.0
"""How many threads a process takes, and how they wait for work.

libgomp reads both once, from the environment, when the extension is loaded; `prepare` sets what the user has not set. A
thread that waits may spin, which wakes it in a microsecond, or sleep, from which it wakes in five, or in sixty where a
hypervisor must be asked. Spinning costs the core: where anything else wants it, the scheduler lets the spinning thread
use up its share, and then the thread that everybody waits for has to stand in the queue. Two threads were then twenty
times slower than one. A thread that sleeps is served at once. So threads spin, for some 25 microseconds, only where
nobody else wants their cores; elsewhere they sleep.
"""

from __future__ import annotations

import dataclasses
import os
import platform
from collections.abc import MutableMapping
from pathlib import Path

LOCAL_RANKS = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
"""How Open MPI and the MPICH family tell a process the number of ranks on its machine."""

MOST_THREADS = 4096
"""That are handed on: libgomp dies of numbers that no machine has, and of 100000 already."""

SPINS = {"x86_64": "1000", "AMD64": "1000"}
SPINS_ELSEWHERE = "20000"
"""Looks at the flag of some 25 microseconds together. The pause between two looks takes 65 to 140 cycles of an x86 (25
to 50 ns); libgomp makes none on other processors."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """What matters of it."""

    cores: int
    """That this process may use."""
    all_cores: int
    running: int = 0
    """Other threads that run or want to, at this moment."""
    quota: float = float("inf")
    """Cores' worth of time that the process's control group may use."""


def prepare(environment: MutableMapping[str, str], machine: Machine) -> str:
    """Sets OMP_NUM_THREADS where launcher or control group give less than all cores, and how threads wait.

    Returns a sentence where the number of threads that the user has set cannot be taken; it is removed then.
    """
    problem = refuse_number(environment)
    ranks = next((int(environment[name]) for name in LOCAL_RANKS if environment.get(name, "").isdigit()), 1)
    given = environment.get("OMP_NUM_THREADS")
    if given is None:
        # Ranks that a launcher has not bound to cores share them.
        bound = machine.cores < machine.all_cores
        most = machine.cores if bound else machine.cores // max(1, ranks)
        threads = max(1, min(most, int(min(machine.quota, machine.cores))))
        if threads < machine.cores:
            environment["OMP_NUM_THREADS"] = str(threads)
    else:
        first = given.split(",")[0].strip()  # a list has a number for each level
        threads = int(first) if first.isdigit() else machine.cores
    if "OMP_WAIT_POLICY" in environment or "GOMP_SPINCOUNT" in environment:
        return problem
    if cores_are_shared(machine, threads, ranks):
        environment["OMP_WAIT_POLICY"] = "passive"
    else:
        environment["GOMP_SPINCOUNT"] = SPINS.get(platform.machine(), SPINS_ELSEWHERE)
    return problem


def refuse_number(environment: MutableMapping[str, str]) -> str:
    """Removes an OMP_NUM_THREADS that would end the program, and says so; otherwise an empty text."""
    given = environment.get("OMP_NUM_THREADS", "")
    for word in given.split(","):
        digits = word.strip().lstrip("+").lstrip("0")
        if digits.isascii() and digits.isdigit() and (len(digits) > 9 or int(digits) > MOST_THREADS):
            del environment["OMP_NUM_THREADS"]
            return f"OMP_NUM_THREADS={given[:60]} asks for more than {MOST_THREADS} threads; give the number of cores."
    return ""


def cores_are_shared(machine: Machine, threads: int, ranks: int = 1) -> bool:
    """Whether others may want the cores on which these threads wait."""
    bound = machine.cores < machine.all_cores
    ours = threads if bound else threads * ranks
    return ours > machine.cores or threads > machine.quota or threads + machine.running > machine.all_cores


def this_machine() -> Machine:
    """As the system tells it. Takes a fraction of a millisecond."""
    everything = os.cpu_count() or 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else everything
    return Machine(cores, everything, running(), quota())


def _head(path: str, size: int = 4096) -> str:
    """The beginning of a file; empty where there is none."""
    try:
        with open(path, errors="replace") as file:
            return file.read(size)
    except OSError:
        return ""


def running() -> int:
    """Other threads of the whole system that run or want to."""
    words = _head("/proc/loadavg").split()
    now = words[3].split("/")[0] if len(words) > 3 else ""
    return max(0, int(now) - 1) if now.isdigit() else 0


def quota() -> float:
    """The least of this control group and those around it, in cores; infinite where nothing is limited."""
    least = float("inf")
    for line in _head("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        top = Path("/sys/fs/cgroup") / ("cpu" if controllers else "")
        # Inside a container the group's own folder is the top.
        for folder in {top, *(top / p for p in _with_parents(path))}:
            if controllers:
                words = [_head(str(folder / name)).strip() for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")]
            else:
                words = _head(str(folder / "cpu.max")).split()
            if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]) > 0:
                least = min(least, int(words[0]) / int(words[1]))
    return least


def _with_parents(path: str) -> list[str]:
    parts = [p for p in path.split("/") if p not in ("", "..")]
    return ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]
