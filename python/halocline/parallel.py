# SPDX-License-Identifier: Apache-2.0
"""How the processes of a run exchange halos and add: keys of [parallel] that all commands share.

The settings belong to the group of processes. Every exchange and every sum of a solver that is made on this group later
follows them. Results do not depend on them, with one exception: sums by MPI are added in an order of MPI's choice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from halocline import _halocline
from halocline.comm import raise_together
from halocline.errors import InvalidArgument
from halocline.schema import choice, integer, key, text

SUMS = ("ordered", "mpi", "mpi-split", "auto")


def transport_key(default: str | None) -> Any:
    """The key [parallel] transport."""
    usual = "the usual one when absent" if default is None else "measured (auto)"
    note = f'of the halo: a name of `halocline doctor`, "hybrid:NAME", "auto" for a trial; {usual}'
    return key(default, text, note, example='transport = "hybrid"' if default is None else None)


def buffers_key() -> Any:
    """The key [parallel] buffers."""
    return key(2, integer(at_least=1, at_most=2), "buffers of each direction of a halo; 1 is for comparison")


def posting_key() -> Any:
    """The key [parallel] posting."""
    note = "who posts a halo: one thread, or all where the transport allows it"
    return key("thread", choice("thread", "all"), note)


def sums_key() -> Any:
    """The key [parallel] sums."""
    note = "who adds: ordered (the same bits in every placement), mpi, mpi-split (3 values at a time), auto (a trial)"
    return key("ordered", choice(*SUMS), note)


def set_communication(
    group: Any,
    transport: str = "",
    buffers: int = 2,
    posting: str = "thread",
    sums: str = "ordered",
    interfaces: Sequence[int] = (),
    interface_grid: Sequence[int] = (),
) -> None:
    """Sets how solvers that are made from now on communicate.

    transport: a name of `halocline.parallel.transports()`, "auto" for a trial, or "" for the usual choice
    buffers: 2, or 1 for comparison; posting: "thread" or "all"; sums: one of SUMS
    interfaces: network interface of each face of this process, lower and upper side of axis 0, of axis 1, and so on,
        for process grids of the shape interface_grid; the transport must be utofu or hybrid:utofu
    The settings hold for the group and for all groups that are or were split off it, until they are set anew.
    Raises InvalidArgument, on every process, for an unknown or unavailable transport and for impossible values.
    Collective.
    """
    if transport not in ("", "auto"):
        problem = _halocline.comm.transport_problem(transport, group)
        if problem:
            usable = ", ".join(name for name, reason in transports().items() if not reason)
            raise InvalidArgument(f'transport "{transport}" cannot be used here: it {problem}; usable here: {usable}.')
    named = transport == "utofu" or transport == "hybrid:utofu"
    sentence = ""
    if interfaces and not named and group.size > 1:
        chosen = f'transport "{transport}"' if transport else "the usual transport"
        sentence = (
            f"network interfaces were given, but {chosen} does not choose among interfaces; take "
            'transport "utofu" or "hybrid:utofu", or leave interfaces out.'
        )
    raise_together(group, sentence, InvalidArgument)
    _halocline.comm.set_solver_communication(
        group, transport, buffers, posting == "all", sums, list(interfaces), list(interface_grid)
    )


@contextlib.contextmanager
def kept_communication(group: Any) -> Iterator[None]:
    """Gives the group back its settings at the end of a block that ends without an error. Collective."""
    before = _halocline.comm.solver_communication(group)
    yield
    _halocline.comm.set_solver_communication(
        group,
        before["transport"],
        before["buffers"],
        before["posting"] == "all",
        before["sums"],
        before["interfaces"],
        before["interface_grid"],
    )


def communication(group: Any) -> dict[str, Any]:
    """The present settings: transport, buffers, posting, sums and interfaces. Collective: no."""
    settings = _halocline.comm.solver_communication(group)
    return {name: value for name, value in settings.items() if name != "interface_grid"}


def transport_problem(name: str, group: Any) -> str:
    """Why a transport cannot serve a group, as the end of a sentence that begins with "it"; empty where it can.
    Collective."""
    return str(_halocline.comm.transport_problem(name, group))


def transports() -> dict[str, str]:
    """Every known transport, with the reason why it is not available here, or an empty text."""
    return dict(_halocline.comm.transports())
