# SPDX-License-Identifier: Apache-2.0
"""The files by which launchers place ranks: Open MPI, Slurm, Fujitsu MPI, SimGrid.

A format writes the name of a node for every rank, in its own syntax, and reads it back:

- `openmpi`: `rank N=HOST slot=CPUS`, for `mpirun --rankfile` [mpirun(1), Rankfiles]. HOST is `+nK` by default, the
  K-th host of the allocation; CPUS are logical cores, of the node's first rank, second rank and so on.
- `slurm`: one host for each task, in the order of the tasks, for `SLURM_HOSTFILE=FILE srun --distribution=arbitrary`.
- `fujitsu`: `(x,y,z)` for each rank, one to three coordinates within the job, for `mpiexec --vcoordfile`.
- `simgrid`: `HOST` or `HOST:RANKS` for consecutive ranks, for `smpirun -hostfile`.

Only the rank-order file (rank_order.py) describes the network. The files above contain names only. So reading one needs
the names of all nodes, in the order of their numbers: a list of hosts, or the default names of `names_of`.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from halocline.errors import FileError, InvalidArgument
from halocline.mapping.networks import node_coordinates
from halocline.texts import whole_number

MOST_RANKS = 2**24
"""Largest number of ranks in a file; no machine has a tenth of it."""


@dataclasses.dataclass(frozen=True)
class Format:
    """One file format for a map."""

    file: str
    """Default name of the file."""
    use: str
    """The command that reads it."""
    write: Callable[[list[str], int], str]
    """Makes the text from the name of the node of every rank, and the number of cores for each rank."""
    parse: Callable[[str, str], list[str]]
    """Reads the name of the node of every rank from a text; the second argument names it in errors. Raises
    FileError."""


def _local_numbers(names: Sequence[str]) -> list[int]:
    """For each rank, the number of earlier ranks on its node."""
    seen: dict[str, int] = {}
    numbers = []
    for name in names:
        numbers.append(seen.get(name, 0))
        seen[name] = numbers[-1] + 1
    return numbers


def _write_openmpi(names: list[str], cores: int) -> str:
    lines = []
    for rank, (name, local) in enumerate(zip(names, _local_numbers(names), strict=True)):
        first = local * cores
        slots = f"{first}" if cores == 1 else f"{first}-{first + cores - 1}"
        lines.append(f"rank {rank}={name} slot={slots}\n")
    return "".join(lines)


_OPENMPI_LINE = re.compile(r"\s*rank\s+(\d+)\s*=\s*(\S+)\s+slots?\s*=\s*(\S+)\s*$")


def _parse_openmpi(text: str, where: str) -> list[str]:
    found: dict[int, str] = {}
    for number, line in _lines(text):
        match = _OPENMPI_LINE.match(line)
        rank = None if match is None else whole_number(match[1], MOST_RANKS)
        if match is None or rank is None:
            raise FileError(f"{where}: line {number}, '{line[:60]}': expected 'rank N=HOST slot=CPUS'.")
        if rank in found:
            raise FileError(f"{where}: line {number} places rank {rank} a second time; give each rank once.")
        found[rank] = match[2]
    missing = next((rank for rank in range(len(found)) if rank not in found), None)
    if missing is not None:
        raise FileError(f"{where}: has no line for rank {missing}; give every rank from 0 on.")
    return [found[rank] for rank in range(len(found))]


def _write_slurm(names: list[str], cores: int) -> str:
    return "".join(f"{name}\n" for name in names)


def _parse_slurm(text: str, where: str) -> list[str]:
    names = []
    for number, line in _lines(text):
        words = line.split()
        if len(words) != 1 or "," in line:
            raise FileError(f"{where}: line {number}, '{line[:60]}': expected one host.")
        names.append(words[0])
    return names


_COORDINATES = re.compile(r"\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?(?:,\s*(\d+)\s*)?\)$")


def _write_fujitsu(names: list[str], cores: int) -> str:
    for name in dict.fromkeys(names):
        if _COORDINATES.match(name) is None:
            raise InvalidArgument(f"'{name}' names no node for a vcoordfile; give (x), (x,y) or (x,y,z) for each.")
    return "".join(f"{name}\n" for name in names)


def _parse_fujitsu(text: str, where: str) -> list[str]:
    names = []
    for number, line in _lines(text):
        match = _COORDINATES.match(line.strip())
        place = [None] if match is None else [whole_number(n) for n in match.groups() if n is not None]
        if None in place:
            raise FileError(f"{where}: line {number}, '{line[:60]}': expected (x), (x,y) or (x,y,z).")
        names.append("(" + ",".join(map(str, place)) + ")")
    return names


def _write_simgrid(names: list[str], cores: int) -> str:
    lines = []
    for name, group in itertools.groupby(names):
        ranks = len(list(group))
        lines.append(f"{name}\n" if ranks == 1 else f"{name}:{ranks}\n")
    return "".join(lines)


def _parse_simgrid(text: str, where: str) -> list[str]:
    names: list[str] = []
    for number, line in _lines(text):
        name, _, ranks = line.strip().partition(":")
        count = whole_number(ranks or "1")
        if not name or " " in name or count is None:
            raise FileError(f"{where}: line {number}, '{line[:60]}': expected HOST or HOST:RANKS.")
        if len(names) + count > MOST_RANKS:
            raise FileError(
                f"{where}: line {number}, '{line[:60]}': more than {MOST_RANKS} ranks; give those of one job."
            )
        names += [name] * count
    return names


def _lines(text: str) -> list[tuple[int, str]]:
    """The non-empty lines that are not comments, with their numbers."""
    return [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]


FORMATS = {
    "openmpi": Format("openmpi.rankfile", "mpirun --rankfile FILE", _write_openmpi, _parse_openmpi),
    "slurm": Format("slurm.hostfile", "SLURM_HOSTFILE=FILE srun --distribution=arbitrary", _write_slurm, _parse_slurm),
    "fujitsu": Format("fujitsu.vcoordfile", "mpiexec --vcoordfile FILE", _write_fujitsu, _parse_fujitsu),
    "simgrid": Format("simgrid.hostfile", "smpirun -hostfile FILE", _write_simgrid, _parse_simgrid),
}
"""The formats by their names in `--format`."""


def names_of(network: Any, format: str) -> list[str]:
    """Default names of all nodes for a format, in the order of their numbers.

    openmpi: `+n0`, `+n1`, ..., the hosts of the allocation in order; slurm and simgrid: `n0`, `n1`, ..., for simgrid as
        `halocline bench weak --simulate` names them
    fujitsu: for Tofu-D (A + 2 X, B + 3 Y, C + 2 Z); for a network of up to three axes its coordinates; else the number
    """
    numbers = range(network.nodes)
    if format == "fujitsu":
        coordinates = node_coordinates(network)
        if [axis.name for axis in network.axes] == ["X", "Y", "Z", "A", "B", "C"]:
            inner = np.array([axis.length for axis in network.axes[3:]])
            coordinates = coordinates[:, 3:] + inner * coordinates[:, :3]
        elif network.axes[3:]:
            coordinates = np.arange(network.nodes)[:, None]
        return ["(" + ",".join(map(str, row)) + ")" for row in coordinates.tolist()]
    prefix = {"openmpi": "+n", "slurm": "n", "simgrid": "n"}[format]
    return [f"{prefix}{k}" for k in numbers]


def hosts_of(text: str, network: Any, where: str) -> list[str]:
    """Names of all nodes from a list of hosts, one on each line in the order of the node numbers.

    Raises FileError: another number of lines than nodes, or a repeated name.
    """
    names = [line.split()[0] for _, line in _lines(text)]
    if len(names) != network.nodes:
        raise FileError(
            f"{where}: names {len(names)} hosts for the {network.nodes} nodes of the network; give one a node."
        )
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FileError(f"{where}: names '{twice}' twice; give each node a host of its own.")
    return names


def format_named(name: str) -> Format:
    """The format of this name. Raises InvalidArgument for an unknown name."""
    if name not in FORMATS:
        raise InvalidArgument(f"--format {name}: give one of {', '.join(FORMATS)}.")
    return FORMATS[name]


def write_map(map: Any, network: Any, format: str, names: Sequence[str] | None = None, cores: int = 1) -> str:
    """The map as text in another format. names: of all nodes; cores: of each rank, for formats that bind ranks to
    cores."""
    chosen = format_named(format)
    known = names_of(network, format) if names is None else names
    return chosen.write([known[node] for node in map.node.tolist()], cores)


def read_map(text: str, network: Any, format: str, where: str, names: Sequence[str] | None = None) -> np.ndarray:
    """The node of every rank from a file of another format. Raises FileError for a name that belongs to no node."""
    known = names_of(network, format) if names is None else names
    numbers = {name: k for k, name in enumerate(known)}
    found = format_named(format).parse(text, where)
    unknown = next((name for name in found if name not in numbers), None)
    if unknown is not None:
        raise FileError(f"{where}: no node is called '{unknown}'; the first is '{known[0]}', give others by --hosts.")
    return np.array([numbers[name] for name in found], dtype=np.int64)


def format_of(text: str) -> str | None:
    """Guesses the format of a text from its first line; None if it is unknown."""
    line = next((line for _, line in _lines(text)), "")
    if _OPENMPI_LINE.match(line):
        return "openmpi"
    if _COORDINATES.match(line.strip()):
        return "fujitsu"
    return None
