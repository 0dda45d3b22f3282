# SPDX-License-Identifier: Apache-2.0
"""Maps the processes of a grid onto a torus network: the node of each process, the interface of each message, the cost.

    import halocline as hc
    network = hc.mapping.network_named("tofu-d", (4, 6, 18))
    messages = hc.mapping.qcd_domain_solver((32, 6, 4, 3))
    found = hc.mapping.search(network, (6, 12, 6, 4), (1, 2, 2, 1), messages)
    print(found.loads.interface_bytes, found.gap)

A map is a NumPy array of node numbers, one for each rank. Ranks run over the process grid with axis 0 fastest, nodes
over the network with its first axis fastest. Units are bytes and seconds. All functions here depend only on their
arguments: no MPI, and no files except rank-order files. `placement` alone asks a running job for its nodes. `formats`
writes the files of launchers, `predict` computes scaling curves. docs/mapping.md explains the search.
"""

from __future__ import annotations

from halocline import _halocline
from halocline.mapping import formats, predict
from halocline.mapping.networks import node_coordinates, permutation, with_interfaces
from halocline.mapping.problem import (
    electron_halo,
    evaluate,
    link_loads,
    map_of_rings,
    natural_order,
    network_named,
    qcd_domain_solver,
    rank_map,
    rings_of,
    search,
    wilson_operator,
)
from halocline.mapping.rank_order import RankOrder, read_rank_order, write_rank_order
from halocline.mapping.tables import read_messages, read_network

Axis = _halocline.mapping.Axis
Loads = _halocline.mapping.Loads
Messages = _halocline.mapping.Messages
Network = _halocline.mapping.Network
NodeType = _halocline.mapping.NodeType
Piece = _halocline.mapping.Piece
RankMap = _halocline.mapping.RankMap
Ring = _halocline.mapping.Ring
SearchResult = _halocline.mapping.SearchResult
SendItem = _halocline.mapping.SendItem
network_names = _halocline.mapping.network_names
all_reduce_seconds = _halocline.mapping.all_reduce_seconds
all_to_all_seconds = _halocline.mapping.all_to_all_seconds
bisection_bandwidth = _halocline.mapping.bisection_bandwidth
exchange_time = _halocline.mapping.exchange_time
face_items = _halocline.mapping.face_items

__all__ = [
    "Axis",
    "Loads",
    "Messages",
    "Network",
    "NodeType",
    "Piece",
    "RankMap",
    "RankOrder",
    "Ring",
    "SearchResult",
    "SendItem",
    "all_reduce_seconds",
    "all_to_all_seconds",
    "bisection_bandwidth",
    "electron_halo",
    "evaluate",
    "exchange_time",
    "face_items",
    "formats",
    "link_loads",
    "map_of_rings",
    "natural_order",
    "network_named",
    "network_names",
    "node_coordinates",
    "permutation",
    "predict",
    "qcd_domain_solver",
    "rank_map",
    "read_messages",
    "read_network",
    "read_rank_order",
    "rings_of",
    "search",
    "wilson_operator",
    "with_interfaces",
    "write_rank_order",
]
