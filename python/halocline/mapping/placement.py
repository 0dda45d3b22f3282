# SPDX-License-Identifier: Apache-2.0
"""A map applied inside a running job: the order of its ranks, and the network interface of each face.

No launcher file is needed. The job finds out on which node each process stands, and the process grid takes the ranks in
the order that the map asks for. The node comes from

- `fujitsu`: the coordinates that Fujitsu's MPI gives (X, Y, Z, A, B, C from the origin of the job);
- `slurm`: SLURM_TOPOLOGY_ADDR, the switches above a node and its name. The nodes are numbered in its order, so that
  nodes below one switch have consecutive numbers;
- `launch`: the order of the ranks. The node of the lowest rank is number 0, the next new host number 1, and so on;
- a file with a line for each host: its name and its coordinates, or its name alone, in the order of the nodes.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import socket
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.comm import on_root, raise_together
from halocline.errors import Error, FileError, InvalidArgument
from halocline.mapping.interface_table import item_name, parse_interface_table
from halocline.mapping.networks import node_coordinates, permutation
from halocline.mapping.rank_order import parse_rank_order, read_text
from halocline.mapping.walks import process_axes
from halocline.texts import whole_number

SOURCES = ("auto", "fujitsu", "slurm", "launch")


@dataclasses.dataclass(frozen=True)
class Placement:
    """A map in a job."""

    grid: tuple[int, ...]
    """Processes along each axis."""
    ranks: tuple[int, ...]
    """The rank at each place of the grid, x fastest."""
    interfaces: tuple[int, ...] = ()
    """The interface of each face of this process: lower and upper side of axis 0, of axis 1, and so on."""


def placement(group: Any, map_file: str, nodes: str = "auto", interfaces_file: str | None = None) -> Placement:
    """Places a running job by the files of `halocline map search`.

    map_file: rank-order.txt; interfaces_file: interfaces.txt of the same search, for transport utofu
    nodes: where the nodes of the processes come from, as described for the module; "auto" is Fujitsu's MPI or Slurm,
        where the job has one of them
    Raises FileError and InvalidArgument, on every process: a damaged file, a map for another number of processes, a
    host that no line names, nodes that are filled otherwise than the map fills them, and a table of interfaces that
    does not fit the map. Collective.
    """
    order = parse_rank_order(on_root(group, lambda: _checked_text(map_file, group.size)), map_file)
    launched = job_nodes(group, order.network, nodes)
    ranks = permutation(order.map, launched)
    interfaces: tuple[int, ...] = ()
    if interfaces_file is not None:
        place = int(np.nonzero(ranks == group.rank)[0][0])
        text = on_root(group, lambda: read_text(interfaces_file))
        sentence, found = "", []
        try:
            found = face_interfaces(order, place, text, interfaces_file)
        except Error as error:
            sentence = str(error)
        raise_together(group, sentence, FileError)
        interfaces = tuple(found)
    return Placement(tuple(order.map.grid), tuple(int(r) for r in ranks), interfaces)


def _checked_text(map_file: str, processes: int) -> str:
    """The text of a map for so many processes. One process reads it, so that an error is raised on all."""
    text = read_text(map_file)
    ranks = len(parse_rank_order(text, map_file).map.node)
    if ranks != processes:
        raise InvalidArgument(
            f"{map_file} places {ranks} processes, and the job has {processes}; start {ranks}, or search a map for "
            f"{processes}."
        )
    return text


def job_nodes(group: Any, network: Any, source: str) -> np.ndarray:
    """The node of every rank of a running job, shape (ranks,).

    source: as `nodes` of placement(). Raises InvalidArgument and FileError on every process. Collective.
    """
    if source == "auto":
        source = _found_source(group)
    if source in ("slurm", "launch"):
        names = _all_texts(group, _slurm_address() if source == "slurm" else socket.gethostname())
        if "" in names:
            raise InvalidArgument(
                f"[parallel] nodes: rank {names.index('')} has no SLURM_TOPOLOGY_ADDR; start the job by srun where "
                "Slurm has a topology, or give a file of hosts."
            )
        order = sorted(set(names), key=_natural) if source == "slurm" else list(dict.fromkeys(names))
        if len(order) > network.nodes:
            raise InvalidArgument(f"the job has {len(order)} nodes, and the map's network {network.nodes}.")
        return np.array([order.index(name) for name in names], dtype=np.int64)
    sentence, node = "", -1
    try:
        node = _tofu_node(group, network) if source == "fujitsu" else _node_in_file(source, network)
    except Error as error:
        sentence = str(error)
    raise_together(group, sentence, InvalidArgument)
    return np.array([int(text) for text in _all_texts(group, str(node))], dtype=np.int64)


def _found_source(group: Any) -> str:
    """What "auto" stands for, the same on every process."""
    if group.all(bool(_slurm_address())):
        return "slurm"
    try:
        _halocline.comm.tofu_coordinates(group)
        known = True
    except Error:
        known = False
    if group.all(known):
        return "fujitsu"
    raise InvalidArgument(
        "[parallel] nodes: this job has neither Fujitsu's topology nor Slurm's, so nobody knows on which node a "
        'process stands; give a file of hosts and their coordinates, or "launch" for hosts in the order of the ranks.'
    )


def _slurm_address() -> str:
    return os.environ.get("SLURM_TOPOLOGY_ADDR", "")


def _natural(text: str) -> list[Any]:
    """A key that sorts node10 behind node9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def _all_texts(group: Any, mine: str) -> list[str]:
    gathered = group.gather((json.dumps(mine) + "\n").encode(), 0)
    return [json.loads(line) for line in group.broadcast(gathered, 0).decode().splitlines()]


def _tofu_node(group: Any, network: Any) -> int:
    names = [axis.name for axis in network.axes]
    if sorted(names) != sorted("XYZABC"):
        raise InvalidArgument(
            f"the map's network has the axes {' '.join(names)}, and Fujitsu's MPI gives coordinates X Y Z A B C; "
            "search a map with --network tofu-d."
        )
    place = dict(zip("XYZABC", _halocline.comm.tofu_coordinates(group), strict=True))
    return node_number(network, [place[name] for name in names], "the job")


def node_number(network: Any, coordinates: Any, where: str) -> int:
    """The number of the node at coordinates on the axes of the network. Raises InvalidArgument."""
    lengths = [axis.length for axis in network.axes]
    if len(coordinates) != len(lengths) or any(not 0 <= c < n for c, n in zip(coordinates, lengths, strict=True)):
        raise InvalidArgument(
            f"{where} gives the coordinates {' '.join(map(str, coordinates))}, and the axes of the map's network have "
            f"{' '.join(map(str, lengths))} nodes; search a map for the shape of this job."
        )
    number, stride = 0, 1
    for c, n in zip(coordinates, lengths, strict=True):
        number, stride = number + int(c) * stride, stride * n
    return number


def _node_in_file(path: str, network: Any) -> int:
    return node_of_host(read_text(path), socket.gethostname(), network, path)


def node_of_host(text: str, host: str, network: Any, where: str) -> int:
    """The node of a host by a file of hosts. A host matches by its name up to the first dot.

    Raises FileError for a damaged line or a host without a line.
    """
    number = 0
    found: int | None = None
    for at, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        places = [whole_number(word) for word in words[1:]]
        if None in places or len(places) not in (0, len(network.axes)):
            raise FileError(
                f"{where}: line {at}, '{line[:60]}': expected a host and {len(network.axes)} coordinates, or a host "
                "alone."
            )
        node = node_number(network, places, f"{where}, line {at},") if places else number
        number += 1
        if words[0] == host or words[0].split(".")[0] == host.split(".")[0]:
            if found is not None and found != node:
                raise FileError(f"{where}: line {at} places {words[0]} a second time; give each host once.")
            found = node
    if found is None:
        raise FileError(f"{where}: has no line for the host {host}.")
    if found >= network.nodes:
        raise FileError(f"{where}: has {number} hosts, and the map's network {network.nodes} nodes.")
    return found


def face_interfaces(order: Any, place: int, text: str, where: str) -> list[int]:
    """The interface of each face of the process at a place of the grid, from the text of a table of interfaces.

    order: the RankOrder of the map that the table belongs to
    A face without a message gets 0. Raises FileError when the table does not fit the map.
    """
    network, made = order.network, order.map
    names, where_nodes, owners = parse_interface_table(text, len(network.axes), where)
    node = int(made.node[place])
    coordinates = node_coordinates(network, [node])[0]
    rows = np.nonzero((where_nodes == coordinates).all(axis=1))[0]
    if rows.size != 1:
        raise FileError(
            f"{where}: has {rows.size} lines for the node {' '.join(map(str, coordinates))} of the map; give one."
        )
    row = dict(zip(names, owners[int(rows[0])].tolist(), strict=True))
    axes = process_axes(made)
    interfaces = []
    for item in _halocline.mapping.face_items(network, made, place):
        if item is None:
            interfaces.append(0)
            continue
        name = item_name(item, network, axes)
        owner = row.get(name, -1)
        if not 0 <= owner < network.interfaces:
            said = "no interface" if owner < 0 else f"interface {owner}"
            raise FileError(
                f"{where}: gives {said} to {name} of the node {' '.join(map(str, coordinates))}, whose processes send "
                f"there through one of {network.interfaces} interfaces; write the table anew for this map."
            )
        interfaces.append(int(owner))
    return interfaces
