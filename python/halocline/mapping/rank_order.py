# SPDX-License-Identifier: Apache-2.0
"""The rank-order file: a map with everything that is needed to evaluate it, in one text file.

    #halocline rank order 1
    #[map]
    #grid = [6, 12, 6, 4]                processes along each axis
    #per_node = [1, 2, 2, 1]             of one node
    #count = "hops"                      how interfaces count
    #[messages] ...                      tables as tables.py describes them
    #[network] ...
    #rank X Y Z A B C
    0 0 0 0 0 0 0
    1 0 0 1 0 0 0

The header is a TOML document with a `#` before every line. After it comes a line for each rank, in any order, with its
number and the coordinates of its node. Empty lines and further `#` lines are skipped.
"""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from halocline import _halocline
from halocline.errors import FileError, InvalidArgument
from halocline.files import write_file
from halocline.mapping.networks import node_coordinates
from halocline.mapping.tables import (
    LARGEST,
    MessagesTable,
    messages_toml,
    network_of,
    network_toml,
    section_of,
    tables_of,
    toml_value,
)
from halocline.schema import REQUIRED, Section, array, choice, integer, key

FIRST_LINE = "#halocline rank order 1"
LENGTHS = array(integer(at_least=1, at_most=LARGEST), "a list of lengths", at_least=1)


@dataclasses.dataclass(frozen=True)
class MapTable(Section):
    """The part of the header that is neither network nor messages."""

    title: ClassVar[str] = "[map]"
    grid: tuple = key(REQUIRED, LENGTHS, "processes along each axis")
    per_node: tuple = key(REQUIRED, LENGTHS, "of one node")
    count: str = key("hops", choice("hops", "injected"), "how interfaces count")


@dataclasses.dataclass(frozen=True)
class RankOrder:
    """The contents of a rank-order file."""

    network: Any
    messages: Any
    map: Any
    count: str = "hops"


def read_text(path: str | Path) -> str:
    """Reads a text file. Raises FileError."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise FileError(f"{path}: is no text file.") from None


def coordinates_text(network: Any) -> list[str]:
    """The coordinates of every node as text: "0 1 8 0 2 1"."""
    return [" ".join(map(str, row)) for row in node_coordinates(network).tolist()]


def rank_order_text(order: RankOrder) -> str:
    """The file as text; the same order gives the same bytes."""
    head = ["[map]"]
    head += [f"{name} = {toml_value(list(getattr(order.map, name)))}" for name in ("grid", "per_node")]
    head += [f"count = {toml_value(order.count)}"]
    head += messages_toml(order.messages).splitlines() + network_toml(order.network).splitlines()
    names = " ".join(axis.name for axis in order.network.axes)
    where = coordinates_text(order.network)
    lines = [f"{rank} {where[node]}" for rank, node in enumerate(order.map.node.tolist())]
    return "\n".join([FIRST_LINE, *(f"#{line}" for line in head), f"#rank {names}", *lines]) + "\n"


def write_rank_order(path: str | Path, order: RankOrder) -> None:
    """Writes a rank-order file, whole or not at all. Raises FileError. Cost: about 2 s for Fugaku's 589,824 ranks."""
    write_file(Path(path), rank_order_text(order))


def read_rank_order(path: str | Path) -> RankOrder:
    """Reads a rank-order file and checks that it places every rank once, on an existing node.

    Raises FileError, which names the faulty line or table.
    """
    return parse_rank_order(read_text(path), str(path))


def is_rank_order(text: str) -> bool:
    """Whether the text claims to be a rank-order file."""
    return text.startswith("#halocline rank order")


def parse_rank_order(text: str, where: str) -> RankOrder:
    """As read_rank_order(), from a text; `where` names it in errors."""
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != FIRST_LINE:
        raise FileError(f"{where}: its first line is not '{FIRST_LINE}', so it is no rank-order file of this version.")
    end = next((n for n, line in enumerate(lines) if line.startswith("#rank")), None)
    if end is None:
        raise FileError(f"{where}: has no line '#rank ...' that ends the head; write the file anew.")
    head = tables_of("\n".join(line[1:] for line in lines[1:end] if line.startswith("#")), where)
    network = network_of(head, where)
    messages = section_of(head, "messages", MessagesTable, where).messages()
    table = section_of(head, "map", MapTable, where)
    names = [axis.name for axis in network.axes]
    if lines[end].split()[1:] != names:
        raise FileError(f"{where}: line {end + 1} names the axes '{lines[end][6:]}', the head '{' '.join(names)}'.")
    node = _nodes(lines, end + 1, network, math.prod(table.grid), where)
    made = _halocline.mapping.RankMap(list(table.grid), list(table.per_node), node)
    try:
        _halocline.mapping.check(made, network)
    except InvalidArgument as error:
        raise FileError(f"{where}: {error}") from None
    return RankOrder(network, messages, made, table.count)


def _nodes(lines: list[str], first: int, network: Any, ranks: int, where: str) -> np.ndarray:
    """The node of every rank from the lines after the header."""
    lengths = np.array([axis.length for axis in network.axes], dtype=np.int64)
    body = [(n + 1, line) for n, line in enumerate(lines[first:], first) if line.strip() and not line.startswith("#")]
    try:
        rows = np.array(" ".join(line for _, line in body).split(), dtype=np.int64).reshape(len(body), lengths.size + 1)
    except (ValueError, OverflowError):
        rows = _slowly(body, lengths.size + 1, where)
    wrong = np.nonzero((rows[:, 1:] < 0).any(axis=1) | (rows[:, 1:] >= lengths).any(axis=1))[0]
    if wrong.size:
        number, line = body[int(wrong[0])]
        raise FileError(f"{where}: line {number}, '{line}': no such node; the axes have {lengths.tolist()} nodes.")
    rank = rows[:, 0]
    wrong = np.nonzero((rank < 0) | (rank >= ranks))[0]
    if wrong.size:
        number, line = body[int(wrong[0])]
        raise FileError(f"{where}: line {number}, '{line}': the grid has ranks 0 to {ranks - 1}.")
    if rank.size != ranks:
        raise FileError(f"{where}: has {rank.size} lines for the {ranks} ranks of the grid; give a line a rank.")
    times = np.bincount(rank, minlength=ranks)
    if (times != 1).any():
        first_wrong = int(np.nonzero(times != 1)[0][0])
        raise FileError(f"{where}: places rank {first_wrong} {times[first_wrong]} times; give each of {ranks} once.")
    strides = np.concatenate([[1], np.cumprod(lengths)[:-1]])
    node = np.empty(ranks, dtype=np.int64)
    node[rank] = rows[:, 1:] @ strides
    return node


def _slowly(body: list[tuple[int, str]], columns: int, where: str) -> np.ndarray:
    """As _nodes(), line by line, to find the faulty line."""
    rows = []
    for number, line in body:
        words = line.split()
        try:
            values = [int(word) for word in words]
        except ValueError:
            values = []
        if len(values) != columns or any(abs(v) >= 2**62 for v in values):
            raise FileError(f"{where}: line {number}, '{line[:60]}': expected a rank and {columns - 1} coordinates.")
        rows.append(values)
    return np.array(rows, dtype=np.int64).reshape(len(rows), columns)
