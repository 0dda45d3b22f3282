# SPDX-License-Identifier: Apache-2.0
"""A network as a platform of SimGrid: what it has of it, and what it lacks.

A grid becomes a torus whose every axis is closed (SimGrid knows no other), with a link each way between neighbours; a
fat tree of full bisection becomes hosts with a link each way to a switch that never limits. There are no network
interfaces, and messages inside a node go by a loop of the node's injection bandwidth. Latency is the hops' alone: the
rest of a message's latency is slept by its sender.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from halocline.errors import InvalidArgument

POLL_SECONDS = 1e-7
"""What a look for a message costs a simulated rank: time stands still unless somebody spends it."""


def _lengths(network: Any) -> list[int]:
    """Lengths of the axes that have links; SimGrid wants no others."""
    return [axis.length for axis in network.axes if axis.length > 1] or [1]


def platform(network: Any, slower: int = 1) -> str:
    """The XML of a platform with hosts n0, n1, ..., numbered as the network's nodes.

    slower: links have their bandwidth divided by this, for programs that send as much less
    Raises InvalidArgument for axes whose links differ.
    """
    axes = [axis for axis in network.axes if axis.length > 1] or list(network.axes)
    if len({(axis.bandwidth, axis.hop_latency) for axis in axes}) > 1:
        raise InvalidArgument(
            f"network {network.name} has links of different speed, and SimGrid's torus has one; give all axes the same."
        )
    bandwidth = network.injection_bandwidth if network.full_bisection else axes[0].bandwidth
    bandwidth, injection = bandwidth / slower, network.injection_bandwidth / slower
    hop = axes[0].hop_latency
    if network.full_bisection:
        shape = f'sharing_policy="SPLITDUPLEX" bw="{bandwidth!r}Bps" lat="{hop / 2!r}s"'
    else:
        lengths = ",".join(map(str, _lengths(network)))
        shape = (
            f'topology="TORUS" topo_parameters="{lengths}" sharing_policy="SPLITDUPLEX" '
            f'bw="{bandwidth!r}Bps" lat="{hop!r}s"'
        )
    return (
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1">\n <zone id="world" routing="Full">\n'
        f'  <cluster id="machine" prefix="n" suffix="" radical="0-{network.nodes - 1}" speed="1Gf" {shape} '
        f'loopback_bw="{injection!r}Bps" loopback_lat="0s"/>\n'
        " </zone>\n</platform>\n"
    )


def settings(network: Any, poll: float = POLL_SECONDS) -> dict[str, str]:
    """SimGrid's settings: real computation costs nothing, links are plain, a look for messages costs `poll` seconds.

    What sums send costs its sender the latency of a message; for exchanges the program sleeps it.
    """
    return {
        "smpi/simulate-computation": "no",
        "smpi/privatization": "no",  # no globals: all ranks share the program
        "smpi/allgather": "GB",  # making an exchange gathers often, and by default in the time of ranks squared
        "smpi/test": repr(poll),
        "smpi/iprobe": repr(poll),
        "smpi/grow-injected-times": "no",
        "smpi/ois": f"0:{network.latency!r}:0",
        "smpi/lat-factor": "0:1",
        "smpi/bw-factor": "0:1",
        "network/crosstraffic": "0",
        "network/TCP-gamma": "0",
    }


def uses_absent_wraps(network: Any, map: Any) -> bool:
    """Whether SimGrid would send a message of the exchange over a link that the network does not have.

    It goes the shorter way round every axis, so that is where neighbours of the grid are half of an open axis apart or
    more. Sums go between many pairs of nodes, and are not looked at.
    """
    from halocline.mapping import node_coordinates

    if network.full_bisection:
        return False
    grid = np.asarray(map.node).reshape(tuple(reversed(map.grid)))
    for axis in range(len(map.grid)):
        there = np.roll(grid, -1, axis=len(map.grid) - 1 - axis)
        apart = np.abs(node_coordinates(network, there.ravel()) - node_coordinates(network, grid.ravel())).max(axis=0)
        for a, length in zip(network.axes, apart, strict=True):
            if not a.wraps and a.length > 2 and 2 * int(length) >= a.length:
                return True
    return False
