# SPDX-License-Identifier: Apache-2.0
"""Networks and messages as TOML tables, in a user's file and in the header of a rank-order file.

A complete table of a network:

    [network]
    name = "my machine"
    interfaces = 2
    interface_bandwidth = 12.5e9        # bytes/s
    injection_bandwidth = 25e9          # bytes/s, of a node over all its interfaces
    latency = 0.9e-6                    # seconds, without the hop
    axes = [
      { name = "X", length = 8, wraps = true, bandwidth = 12.5e9, hop_latency = 0.1e-6 },
      { name = "Y", length = 8, wraps = true, bandwidth = 12.5e9, hop_latency = 0.1e-6 },
    ]

and of messages:

    [messages]
    name = "my stencil"
    bytes = [4096, 4096, 8192]          # of one face of one process, along each axis of the process grid
    directions = [2, 2, 2]              # 2: + and - travel at the same time, 1: one after the other
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from halocline import _halocline
from halocline.errors import FileError, InvalidArgument
from halocline.mapping.networks import AXIS_FIELDS, FIELDS
from halocline.schema import (
    REQUIRED,
    Section,
    array,
    boolean,
    integer,
    key,
    number,
    printable,
    read_table,
    table,
    text,
)
from halocline.texts import toml_tables

LARGEST = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class AxisTable(Section):
    """One axis of a network."""

    title: ClassVar[str] = "[network] axes:"
    name: str = key(REQUIRED, text, "one word")
    length: int = key(REQUIRED, integer(at_least=1, at_most=LARGEST), "nodes along it")
    bandwidth: float = key(REQUIRED, number(above=0.0), "of a link in one direction [bytes/s]")
    wraps: bool = key(False, boolean, "the last node has a link to the first")
    hop_latency: float = key(0.0, number(at_least=0.0), "what a hop adds to a message [s]")


@dataclasses.dataclass(frozen=True)
class NetworkTable(Section):
    """A network; see the module's docstring."""

    title: ClassVar[str] = "[network]"
    name: str = key(REQUIRED, text, "a name for reports")
    axes: tuple = key(REQUIRED, array(table(AxisTable), "a list of axes", at_least=1), "the first runs fastest")
    interfaces: int = key(REQUIRED, integer(at_least=1, at_most=64), "of a node")
    interface_bandwidth: float = key(REQUIRED, number(above=0.0), "of one interface [bytes/s]")
    injection_bandwidth: float = key(REQUIRED, number(above=0.0), "of a node over all its interfaces [bytes/s]")
    latency: float = key(0.0, number(at_least=0.0), "of a small message to a neighbour, without the hop [s]")
    reduction_latency: float = key(0.0, number(at_least=0.0), "of a step of a software reduction [s]")
    barrier_latency: float = key(0.0, number(at_least=0.0), "of a step of a hardware reduction [s]; 0: has none")
    barrier_elements: int = key(
        0, integer(at_least=0, at_most=LARGEST), "numbers that a hardware reduction sums at once"
    )
    full_bisection: bool = key(False, boolean, "a fat tree: links never limit")

    def check_together(self) -> None:
        names = [axis.name for axis in self.axes]
        for name in names:
            if not name.isidentifier() or names.count(name) > 1:
                raise InvalidArgument(f"[network] axes: the name '{name}' is no single word, or is used twice.")

    def network(self) -> Any:
        axes = [_halocline.mapping.Axis(**{f: getattr(a, f) for f in AXIS_FIELDS}) for a in self.axes]
        return _halocline.mapping.Network(self.name, axes, **{f: getattr(self, f) for f in FIELDS})


@dataclasses.dataclass(frozen=True)
class MessagesTable(Section):
    """Messages; see the module's docstring."""

    title: ClassVar[str] = "[messages]"
    name: str = key(REQUIRED, text, "a name for reports")
    bytes: tuple = key(
        REQUIRED, array(integer(at_least=0, at_most=2**40), "a list of byte counts", at_least=1), "of one face"
    )
    directions: tuple | None = key(
        None, array(integer(at_least=1, at_most=2), "a list of 1 and 2", at_least=1), "2: + and - travel at once"
    )

    def check_together(self) -> None:
        if self.directions is not None and len(self.directions) != len(self.bytes):
            raise InvalidArgument(
                f"[messages] directions has {len(self.directions)} numbers for {len(self.bytes)} axes; give one each."
            )

    def messages(self) -> Any:
        directions = self.directions or (2,) * len(self.bytes)
        return _halocline.mapping.Messages(self.name, list(self.bytes), list(directions))


def tables_of(document: str, where: str) -> dict[str, Any]:
    """The TOML text as a dict. Raises FileError, which names the faulty line."""
    try:
        return toml_tables(document)
    except ValueError as error:
        raise FileError(f"{where}: no TOML: {error}.") from None


def _document(path: str | Path) -> dict[str, Any]:
    try:
        document = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no text"
        raise FileError(f"{path}: cannot be read: {reason}.") from None
    return tables_of(document, str(path))


def section_of(tables: Mapping[str, Any], name: str, cls: type[Section], where: str) -> Any:
    """One section of a document. Raises FileError, which names the file and the error."""
    if name not in tables:
        raise FileError(f"{where}: has no table [{name}]; see docs/map-command.md for one to start from.")
    try:
        return read_table(cls, tables[name])
    except InvalidArgument as error:
        raise FileError(f"{where}: {printable(str(error))}") from None


def network_of(tables: Mapping[str, Any], where: str) -> Any:
    """The network of the table [network] of a document. Raises FileError, which names the file."""
    table = section_of(tables, "network", NetworkTable, where)
    try:
        return table.network()
    except InvalidArgument as error:
        raise FileError(f"{where}: {printable(str(error))}") from None


def read_network(path: str | Path) -> Any:
    """The network of the table [network] of a TOML file. Raises FileError."""
    return network_of(_document(path), str(path))


def read_messages(path: str | Path) -> Any:
    """The messages of the table [messages] of a TOML file. Raises FileError."""
    return section_of(_document(path), "messages", MessagesTable, str(path)).messages()


def toml_value(value: Any) -> str:
    """A plain value as TOML; reading a number back gives the same bits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        shown = repr(value)
        return shown if math.isfinite(value) and any(c in shown for c in ".e") else f"{shown}.0"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {toml_value(v)}" for k, v in value.items()) + " }"
    return str(value)


def network_toml(network: Any) -> str:
    """The table in the form that read_network() reads."""
    lines = ["[network]", f"name = {toml_value(network.name)}"]
    lines += [f"{name} = {toml_value(getattr(network, name))}" for name in FIELDS]
    axes = [toml_value({name: getattr(axis, name) for name in AXIS_FIELDS}) for axis in network.axes]
    return "\n".join([*lines, "axes = [", *(f"  {axis}," for axis in axes), "]"]) + "\n"


def messages_toml(messages: Any) -> str:
    """The table in the form that read_messages() reads."""
    lines = [f"{name} = {toml_value(getattr(messages, name))}" for name in ("name", "bytes", "directions")]
    return "\n".join(["[messages]", *lines]) + "\n"
