# SPDX-License-Identifier: Apache-2.0
"""The ten configurations of Table 4 of the paper on uTofu, as cases of `bench qcdjdd`.

A configuration says how the messages of the solver travel: transport, buffers, who posts, how many network interfaces,
and whether received data goes into the last-level cache. A machine runs those that it has. The others are skipped with
the reason, and their printed row stands alone.

`parts` divides the time of an iteration as the paper does. Each part is that of the slowest thread of all processes:

| part | region of the solver | column of Table 4 |
|---|---|---|
| received | computation that needed a message | post calc. |
| wait | waiting for messages | recv. |
| post | posting messages | send |
| sent | waiting until a send buffer is free | send post, and recv. init. with one buffer |
| sums | sums over processes | all reduces |
| barrier | the barrier before a sum, if asked for | - |
| compute | the rest, 0 where the slowest parts are of several processes and fill the whole | - |
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from halocline.bench import published
from halocline.bench.table import number_text, text_table, time_text

EXCHANGES = 20
"""Exchanges of an iteration, as the paper counts them."""
ITERATIONS = 500


@dataclasses.dataclass(frozen=True)
class Configuration:
    """One row of Table 4."""

    name: str
    transport: str
    buffers: int = 2
    posting: str = "thread"
    interfaces: int = 0
    """Network interfaces of a node that are used; 0 where the transport does not choose among them."""
    cache_injection: bool = False

    def interfaces_of_faces(self, table: Sequence[int] = ()) -> list[int]:
        """The interface of each face: the owners of a table, folded onto as many interfaces as the configuration uses;
        without a table the faces in turn. Empty where the transport does not choose."""
        if not self.interfaces:
            return []
        return [owner % self.interfaces for owner in table or range(8)]

    @property
    def printed(self) -> dict[str, float | None]:
        """Seconds of 500 iterations by part, as the paper prints them; `sent` has the start of receives too."""
        row = dict(zip(published.TABLE_4_KEYS, published.TABLE_4[self.name], strict=True))
        row["sent"] = (row["sent"] or 0.0) + (row["start"] or 0.0)
        return row


CONFIGURATIONS = (
    Configuration("utofu base", "utofu", interfaces=4),
    Configuration("w/ 6 TNI", "utofu", interfaces=6),
    Configuration("w/ threaded put", "utofu", posting="all", interfaces=4),
    Configuration("w/ cache inject.", "utofu", interfaces=4, cache_injection=True),
    Configuration("full", "utofu", posting="all", interfaces=6, cache_injection=True),
    Configuration("full [1buf]", "utofu", buffers=1, posting="all", interfaces=6, cache_injection=True),
    Configuration("FJMPI [1buf]", "fjmpi_persistent", buffers=1),
    Configuration("FJMPI [2buf]", "fjmpi_persistent"),
    Configuration("MPI [1buf]", "mpi_persistent", buffers=1),
    Configuration("MPI [2buf]", "mpi_persistent"),
)

PARTS: dict[str, tuple[str, ...]] = {
    "received": ("received",),
    "wait": ("wait",),
    "post": ("post",),
    "sent": ("free",),
    "sums": ("sum of 1", "sum of 2", "sum of 3", "sum of more"),
    "barrier": ("barrier",),
}
"""The regions of the solver that make a part, by the ends of their paths."""


def spread_interfaces(count: int, faces: int = 8) -> list[int]:
    """An interface for each face: the faces in turn over so many interfaces. For jobs without a table of a search."""
    return [face % count for face in range(faces)]


def parts(result: Mapping[str, Any]) -> dict[str, float]:
    """Seconds of an iteration by part, of the slowest thread. Empty for a result without regions of several threads."""
    regions = result.get("regions", {})
    if published.TOTAL not in regions or "min_seconds" not in regions[published.TOTAL]:
        return {}
    found = {
        part: sum(r["seconds"] for path, r in regions.items() if path.rsplit(" > ", 1)[-1] in names)
        for part, names in PARTS.items()
    }
    total = regions[published.TOTAL]["seconds"]
    return {"all": total, "compute": max(0.0, total - sum(found.values())), **found}


def predicted_exchange(configuration: Configuration) -> float | None:
    """Seconds that the network model gives one exchange of a configuration, on 432 nodes of Fugaku under the paper's
    map. None for a transport whose interfaces the MPI library chooses."""
    if not configuration.interfaces:
        return None
    from halocline import mapping

    network = mapping.with_interfaces(mapping.network_named("tofu-d", (4, 6, 18)), configuration.interfaces)
    grid, per_node = (6, 12, 6, 4), (1, 2, 2, 1)
    rings = mapping.rings_of("A,Z%3 ; C,Z/3 ; B ; X,Y", network, grid, per_node)
    found = mapping.map_of_rings(network, grid, per_node, rings)
    loads = mapping.evaluate(network, found, mapping.qcd_domain_solver((32, 6, 4, 3)))
    return mapping.exchange_time(network, loads).total


def table(results: Sequence[Mapping[str, Any]], as_markdown: bool = False) -> str:
    """Every configuration: the measured parts of 500 iterations, and the printed ones below. The last column is the
    time of 10,000 exchanges by the network model."""
    names = ("all", "received", "wait", "post", "sent", "sums", "barrier")
    header = ["configuration", "", *names, "halo GB/s", "model, exchanges"]
    lines = []
    for configuration in CONFIGURATIONS:
        for mine in (r for r in results if r["case"].get("configuration") == configuration.name):
            times = parts(mine)
            if not times:
                continue
            rate = number_text(mine["result"].get("halo_gbytes_per_s"))
            sums = mine["case"].get("sums", "ordered")
            where = f"here, {mine['case']['threads']} threads" + ("" if sums == "ordered" else f", sums {sums}")
            lines.append(
                [configuration.name, where, *(time_text(ITERATIONS * times[n]) if n in times else "-" for n in names)]
                + [rate, "-"]
            )
        printed = configuration.printed
        predicted = predicted_exchange(configuration)
        model = "-" if predicted is None else time_text(EXCHANGES * ITERATIONS * predicted)
        lines.append([configuration.name, "Fugaku", *(time_text(printed.get(n)) for n in names)] + ["-", model])
    return text_table(header, lines, as_markdown, names=2)
