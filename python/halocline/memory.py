# SPDX-License-Identifier: Apache-2.0
"""Predicts the memory of a computation before it is allocated, and compares it with the available memory.

A system that promises more memory than it has kills a process without a message, minutes later. So large computations
state a lower bound of their bytes here. They are refused if the processes of a machine together need more than is
available. Available memory is the smallest of: MemAvailable and free swap of the kernel, the remainder of the process's
control group, and the remainder of `ulimit -v`. These are estimates. The environment variable HALOCLINE_MEMORY replaces
them: an amount that each machine has ("64 GiB"), or "none" for no check. It never changes a result.
"""

from __future__ import annotations

import json
import os
import re
import resource
import socket
from pathlib import Path
from typing import Any

from halocline.errors import InvalidArgument

GIB = 1 << 30
VARIABLE = "HALOCLINE_MEMORY"
UNITS = {"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": GIB, "tib": 1 << 40}
NOT_WORTH_ASKING = 64 << 20
"""Bytes of a process below which no check is made."""


def require(group: Any, needed: float, what: str, advice: str) -> None:
    """Raises InvalidArgument, on every process, if a machine of the group does not have the needed memory.

    needed: bytes of this process; what: the subject of the sentence, such as "the lattice 8 x 8 x 8 x 16"
    advice: what to do, at the end of the sentence
    Collective.
    """
    limited = os.environ.get(VARIABLE, "").strip().lower() == "none"
    alone = group.size == 1
    if limited if alone else group.any(limited):
        return
    if not (needed > NOT_WORTH_ASKING if alone else group.any(needed > NOT_WORTH_ASKING)):
        return
    mine: dict[str, Any] = {"host": socket.gethostname(), "needed": float(needed)}
    try:
        mine["available"] = available()
    except InvalidArgument as error:
        mine["wrong"] = str(error)
    said = group.gather(json.dumps(mine).encode() + b"\n", 0)
    sentence = _refusal([json.loads(line) for line in said.splitlines()], what, advice) if group.rank == 0 else ""
    if sentence := group.broadcast(sentence.encode(), 0).decode():
        raise InvalidArgument(sentence)


def require_here(needed: float, what: str, advice: str) -> None:
    """The same for this process alone. Collective: no."""
    if os.environ.get(VARIABLE, "").strip().lower() == "none" or not needed > NOT_WORTH_ASKING:
        return
    if sentence := _refusal([{"host": "", "needed": needed, "available": available()}], what, advice):
        raise InvalidArgument(sentence)


def _refusal(processes: list[dict[str, Any]], what: str, advice: str) -> str:
    """The error message for the machine that lacks most; empty if none lacks memory."""
    for process in processes:
        if "wrong" in process:
            return process["wrong"]
    worst = ""
    most = 1.0
    for host in {p["host"] for p in processes}:
        here = [p for p in processes if p["host"] == host]
        needed, there = sum(p["needed"] for p in here), min(p["available"] for p in here)
        if needed <= most * there:
            continue
        most = needed / max(there, 1.0)
        shared = f" for its {len(here)} processes" if len(here) > 1 else ""
        machine = f"{host}, which has" if len({p["host"] for p in processes}) > 1 else "this machine, which has"
        worst = (
            f"{what} needs about {gib(needed)} of memory{shared} on {machine} {gib(there)} available; {advice}, or "
            f"set {VARIABLE} to the memory that a machine has, such as 64GiB, or to none."
        )
    return worst


def gib(amount: float) -> str:
    """'1.25 GiB'."""
    return f"{amount / GIB:.3g} GiB"


def available() -> float:
    """Bytes that this process and the others on its machine can still allocate. Raises InvalidArgument."""
    given = os.environ.get(VARIABLE, "").strip()
    if given:
        found = re.fullmatch(r"(\d+(?:\.\d*)?)\s*([a-z]*)", given.lower())
        if found is None or found[2] not in UNITS:
            raise InvalidArgument(f'{VARIABLE} = "{given}": expected an amount such as 64GiB, or none.')
        return float(found[1]) * UNITS[found[2]]
    return min(_of_machine(), _of_control_groups(), _of_address_space())


def _of_machine() -> float:
    found = _fields("/proc/meminfo")
    if "MemAvailable" in found:
        return 1024.0 * (found["MemAvailable"] + found.get("SwapFree", 0))
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _fields(path: str | Path) -> dict[str, int]:
    """Name -> number from a table of the kernel; empty if it cannot be read."""
    try:
        lines = [line.replace(":", " ").split() for line in Path(path).read_text().splitlines()]
    except OSError:
        return {}
    return {line[0]: int(line[1]) for line in lines if len(line) > 1 and line[1].isdigit()}


def _number(path: Path) -> float | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return float(text) if text.isdigit() else None


def _of_control_groups(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> float:
    """Bytes left in the control group of this process and in its parents; files in the page cache can be reclaimed."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return float("inf")
    least = float("inf")
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":  # version 2
            base, limit, usage, given_back = root, "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            base, limit, usage = root / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            given_back = "total_inactive_file"
        else:
            continue
        here = base / path.lstrip("/")
        for folder in (here, *here.parents):
            if not folder.is_relative_to(base):
                break
            most, used = _number(folder / limit), _number(folder / usage)
            if most is not None and used is not None:
                least = min(least, most - used + _fields(folder / "memory.stat").get(given_back, 0))
    return max(least, 0.0)


def _of_address_space() -> float:
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return float("inf")
    return max(0.0, most - 1024.0 * _fields("/proc/self/status").get("VmSize", 0))
