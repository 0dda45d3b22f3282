# SPDX-License-Identifier: Apache-2.0
"""The GPUs of groups of processes: each process takes one of its own, whichever group it is in.

A process alone takes the GPU whose number is its own among the processes of its group on the node. Two groups on a node
would take the same GPUs, so here the number is that among all processes of the run on the node.
"""

from __future__ import annotations

import json
import socket
from typing import Any

from halocline import _halocline
from halocline.comm import raise_together
from halocline.errors import InvalidArgument
from halocline.qcd.runfile import Run


def on_own_devices(run: Run, world: Any) -> Run:
    """The run with the device of this process. Raises InvalidArgument on every process, if two would share a GPU.

    Collective over all processes of the run.
    """
    asked = run.parallel.device
    if not asked.startswith("cuda"):
        return run
    seen = [device["uuid"] or device["pci_address"] for device in _halocline.gpu.gpus()]
    mine = json.dumps([socket.gethostname(), seen]).encode() + b"\n"
    everyone = [json.loads(line) for line in world.broadcast(world.gather(mine, 0), 0).splitlines()]
    if not all(seen for _, seen in everyone):
        return run  # refused elsewhere, with the right sentence
    sentence = ""
    number, used = device_number(asked, everyone, world.rank)
    if number is None:
        sentence = (
            f'[parallel] groups = {run.parallel.groups} with device = "{asked}": rank {world.rank} would share the GPU '
            f"{used} of {everyone[world.rank][0]} with another process, and each process needs one of its own; start "
            "as many processes on a node as it has GPUs, and divide these into groups."
        )
    raise_together(world, sentence, InvalidArgument)
    return run.on_device(f"cuda:{number}")


def device_number(asked: str, everyone: list[list[Any]], rank: int) -> tuple[int | None, str]:
    """The number of the GPU that a rank takes, and its name; None for the number if another rank takes it too.

    everyone: for each rank the name of its machine and the GPUs that it sees
    """
    chosen = []
    for r, (host, seen) in enumerate(everyone):
        here = sum(other == host for other, _ in everyone[:r])
        number = int(asked[5:]) if asked[5:] else here % max(1, len(seen))
        chosen.append((number, (host, seen[number] if number < len(seen) else "")))
    number, mine = chosen[rank]
    shared = sum(other == mine for _, other in chosen) > 1
    return (None if shared else number), str(number)
