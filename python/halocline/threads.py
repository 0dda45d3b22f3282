# SPDX-License-Identifier: Apache-2.0
"""The number of threads of a process, and how they wait for work.

libgomp reads both once, from the environment, when the extension is loaded; `prepare` sets the values that the user has
not set. A waiting thread may spin or sleep. A spinning thread starts work within a microsecond; a sleeping one takes
five microseconds, or sixty if a hypervisor is involved. Spinning uses up the core. If another process wants the core,
the scheduler lets the spinning thread consume its time slice, and the thread that all others wait for must then queue.
In this situation two threads were twenty times slower than one. A thread that sleeps gets its core at once. So threads
spin, for some 25 microseconds, only if no other process wants their cores; otherwise they sleep.
"""

from __future__ import annotations

import dataclasses
import os
import platform
from collections.abc import MutableMapping
from pathlib import Path

LOCAL_RANKS = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
"""Variables with the number of ranks on this machine, from Open MPI and the MPICH family."""

MOST_THREADS = 4096
"""Largest number that is passed on: libgomp crashes for very large numbers, already for 100000."""

SPINS = {"x86_64": "1000", "AMD64": "1000"}
SPINS_ELSEWHERE = "20000"
"""Numbers of spins that take some 25 microseconds. The pause between two looks at the flag takes 65 to 140 cycles on
x86 (25 to 50 ns); on other processors libgomp does not pause."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """The relevant properties of the machine."""

    cores: int
    """Number of cores that this process may use."""
    all_cores: int
    running: int = 0
    """Number of other threads that are running or ready to run now."""
    quota: float = float("inf")
    """CPU time that the process's control group may use, in cores."""


def prepare(environment: MutableMapping[str, str], machine: Machine) -> str:
    """Sets OMP_NUM_THREADS if the launcher or a control group gives fewer than all cores, and how threads wait.

    If the number of threads that the user has set is unusable, removes it and returns a sentence about it.
    """
    problem = refuse_number(environment)
    ranks = next((int(environment[name]) for name in LOCAL_RANKS if environment.get(name, "").isdigit()), 1)
    given = environment.get("OMP_NUM_THREADS")
    if given is None:
        # Ranks that the launcher has not bound to cores share the cores.
        bound = machine.cores < machine.all_cores
        most = machine.cores if bound else machine.cores // max(1, ranks)
        threads = max(1, min(most, int(min(machine.quota, machine.cores))))
        if threads < machine.cores:
            environment["OMP_NUM_THREADS"] = str(threads)
    else:
        first = given.split(",")[0].strip()  # a list has one number for each nesting level
        threads = int(first) if first.isdigit() else machine.cores
    if "OMP_WAIT_POLICY" in environment or "GOMP_SPINCOUNT" in environment:
        return problem
    if cores_are_shared(machine, threads, ranks):
        environment["OMP_WAIT_POLICY"] = "passive"
    else:
        environment["GOMP_SPINCOUNT"] = SPINS.get(platform.machine(), SPINS_ELSEWHERE)
    return problem


def refuse_number(environment: MutableMapping[str, str]) -> str:
    """Removes an OMP_NUM_THREADS that would crash the program, and returns a sentence about it; otherwise empty."""
    given = environment.get("OMP_NUM_THREADS", "")
    for word in given.split(","):
        digits = word.strip().lstrip("+").lstrip("0")
        if digits.isascii() and digits.isdigit() and (len(digits) > 9 or int(digits) > MOST_THREADS):
            del environment["OMP_NUM_THREADS"]
            return f"OMP_NUM_THREADS={given[:60]} asks for more than {MOST_THREADS} threads; give the number of cores."
    return ""


def cores_are_shared(machine: Machine, threads: int, ranks: int = 1) -> bool:
    """Whether other processes may want the cores on which these threads wait."""
    bound = machine.cores < machine.all_cores
    ours = threads if bound else threads * ranks
    return ours > machine.cores or threads > machine.quota or threads + machine.running > machine.all_cores


def this_machine() -> Machine:
    """The properties reported by the operating system. Takes a fraction of a millisecond."""
    everything = os.cpu_count() or 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else everything
    return Machine(cores, everything, running(), quota())


def _head(path: str, size: int = 4096) -> str:
    """The beginning of a file; empty if there is no file."""
    try:
        with open(path, errors="replace") as file:
            return file.read(size)
    except OSError:
        return ""


def running() -> int:
    """Number of other threads in the whole system that are running or ready to run."""
    words = _head("/proc/loadavg").split()
    now = words[3].split("/")[0] if len(words) > 3 else ""
    return max(0, int(now) - 1) if now.isdigit() else 0


def quota() -> float:
    """The smallest limit of this control group and its parents, in cores; infinite without limits."""
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
