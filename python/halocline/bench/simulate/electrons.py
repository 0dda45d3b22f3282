# SPDX-License-Identifier: Apache-2.0
"""Steps of real-time propagation on a simulated machine (bench/simulated/electrons.cpp), part by part.

The division of orbitals and space, the halo exchanges, the sums of projections and of the density, and the exchanges of
the Fourier transforms are the library's own code. Computation is slept: the stencil by its nominal 158 flops a point,
orbital and application at a stated rate, the other parts by their share of the stencil's time where it was measured.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.bench.simulate import platform, program
from halocline.bench.simulate.weak import check_transport, joined, nodes_of
from halocline.errors import FileError, InvalidArgument

PARTS = ("hamiltonian", "current", "density", "hartree", "xc", "sums")
"""Parts of a step: four applications of H to all orbitals; the current; what the sum of the density takes after the
current; the Hartree potential; exchange and correlation; the small sum at the end. Each with its waiting for
messages."""
POLL_SECONDS = 5e-6
"""The grain of waiting: messages of a megabyte are long on their way, and every look for them is an event."""
APPLICATIONS = 4
LANES = 4
REACH = 4
SHARES = {"nonlocal": 0.40, "density": 0.081, "current": 1.15, "hartree": 1.3, "xc": 12.9}
"""Times as multiples of the stencil's, for one application: of the nonlocal part in an application, of density and
current in a step, for each point and orbital; of the Hartree potential and of exchange and correlation for each point.
Measured by `bench rt-step --case silicon-64` on one core with AVX-512 beside other load."""
GFLOPS = 80.7
"""Of the stencil on a process of Fugaku: a quarter of the 322.72 Gflop/s of a node (report on SALMON, section 5.2)."""


@dataclasses.dataclass(frozen=True)
class ElectronStep:
    """What a step is about; the defaults are the smallest size of the report (its tables 4 and 5)."""

    extent: Sequence[int] = (128, 64, 81)
    """Grid points of the cell."""
    states: int = 648
    space: Sequence[int] = (1, 2, 3)
    """Processes along each axis of space."""
    orbitals: int = 48
    """Processes along the orbitals."""
    atoms: int = 246
    projectors: int = 9
    """Of an atom."""
    radius: float = 7.0
    """Of the projectors [grid spacings]."""
    shared: bool = False
    """Whether all processes solve for the Hartree potential together; otherwise each space group by itself."""
    gflops: float = GFLOPS
    shares: Mapping[str, float] = dataclasses.field(default_factory=lambda: dict(SHARES))
    scale: int = 32
    """Messages are simulated this many times shorter, on links as many times slower: it saves memory."""

    @property
    def processes(self) -> int:
        return self.orbitals * math.prod(self.space)

    @property
    def local(self) -> list[int]:
        """Points of the largest box."""
        return [math.ceil(n / p) for n, p in zip(self.extent, self.space, strict=True)]

    @property
    def blocks(self) -> int:
        """Blocks of four orbitals on the process that has most."""
        return math.ceil(math.ceil(self.states / LANES) / self.orbitals)

    def check(self) -> None:
        """Raises InvalidArgument for what cannot be simulated anywhere."""
        if len(self.extent) != 3 or len(self.space) != 3:
            raise InvalidArgument("give the points and the processes along x, y and z, such as 128x64x81 and 1x2x3.")
        numbers = {
            "points along an axis": min(self.extent), "processes along an axis": min(self.space),
            "processes over orbitals": self.orbitals, "states": self.states, "scale": self.scale,
        }  # fmt: skip
        for name, number in numbers.items():
            if number < 1:
                raise InvalidArgument(f"{number} {name} given; give at least 1.")
        for axis, points, parts in zip("xyz", self.extent, self.space, strict=True):
            if parts > 1 and points // parts < 2 * REACH:
                raise InvalidArgument(
                    f"{parts} processes along {axis} leave fewer than {2 * REACH} of its {points} points to one; give "
                    "fewer."
                )
        if self.orbitals > math.ceil(self.states / LANES):
            raise InvalidArgument(
                f"{self.orbitals} processes over {self.states} states given, which are "
                f"{math.ceil(self.states / LANES)} blocks of {LANES}; give at most one process a block."
            )
        if not 0 < self.gflops < math.inf:
            raise InvalidArgument(f"a rate of {self.gflops} Gflop/s given; give a positive number.")

    def seconds(self) -> dict[str, float]:
        """Of the computation of one process: of a block of four orbitals (`stencil`, `nonlocal` in one application;
        `density`, `current`), and of the potentials of a step."""
        points = math.prod(self.local)
        one = 158.0 / (self.gflops * 1e9)  # of the stencil, a point and orbital
        block = one * points * LANES
        return {
            "stencil": block,
            "nonlocal": self.shares["nonlocal"] * block,
            "density": self.shares["density"] * block,
            "current": self.shares["current"] * block,
            "hartree": self.shares["hartree"] * one * points,
            "xc": self.shares["xc"] * one * points,
        }

    def face_doubles(self) -> list[int]:
        """Numbers in the sums of projections of the atoms that reach over one face along each axis, for a block."""
        density = self.atoms / math.prod(self.extent)
        local = self.local
        return [
            round(density * math.prod(local) / local[axis] * 2 * self.radius * self.projectors * 2 * LANES)
            for axis in range(3)
        ]

    def edge_doubles(self) -> int:
        """The same of the atoms that reach over an edge between four boxes."""
        divided = [axis for axis in range(3) if self.space[axis] > 1]
        if len(divided) < 2:
            return 0
        density, along = self.atoms / math.prod(self.extent), 3 - divided[-1] - divided[-2]
        return round(density * self.local[along] * math.pi * self.radius**2 * self.projectors * 2 * LANES)

    def messages(self) -> Any:
        """What travels between neighbours along x, y, z and the orbitals in an exchange, for the search of a map; of
        the density its share of one exchange."""
        local = self.local
        points = math.prod(local)
        faces = [
            64 * REACH * points // local[axis] if self.space[axis] > 1 else 0 for axis in range(3)
        ]  # a block: 64 bytes a point
        exchanges = (APPLICATIONS + 1) * self.blocks
        density = 16 * points // max(exchanges, 1) if self.orbitals > 1 else 0
        return _halocline.mapping.Messages("electrons", [*faces, density], [2, 2, 2, 2])


def settings(network: Any) -> dict[str, str]:
    """SimGrid's settings: as for the other programs, but a coarser look for messages, and a gathering of long messages
    by recursive doubling and an all-to-all in a ring, as MPI libraries do them: potentials are gathered by the one, and
    the Fourier transforms of all processes together exchange by the other."""
    return platform.settings(network, POLL_SECONDS) | {"smpi/allgather": "rdb", "smpi/alltoall": "ring"}


def shares_of(path: Path) -> dict[str, float]:
    """The shares of a result of `bench rt-step --json`, of its first case. Raises FileError."""
    try:
        found = json.loads(path.read_text())
        result = next(r for r in found if r["bench"] == "rt-step" and r["case"]["scheme"] != "etrs")
        region = {name: part["seconds"] for name, part in result["regions"].items()}
        size, points = result["result"]["point_orbitals"], result["result"]["points"]
        stencil = region["tddft/stencil"] / APPLICATIONS
        return {
            "nonlocal": region.get("tddft/nonlocal", 0.0) / APPLICATIONS / stencil,
            "density": region["tddft/density"] / stencil,
            "current": region["tddft/current"] / stencil,
            "hartree": region["tddft/hartree"] / points / (stencil / size),
            "xc": region["tddft/xc"] / points / (stencil / size),
        }
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        raise FileError(
            f"{path}: no result of `halocline bench rt-step --json` with its regions ({type(error).__name__})."
        ) from None


def electrons(
    network: Any,
    map: Any,
    step: ElectronStep,
    *,
    posting: float | None = None,
    transport: str = "mpi_persistent",
    steps: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Runs steps of a propagation on a simulated machine, one process a rank of the map.

    network, map: as halocline.mapping has them; the map's grid is space (x, y, z) and orbitals
    posting: seconds to post and complete an exchange; Fugaku's where absent
    Returns the object of a benchmark: `seconds` of a step, and in `result` seconds of PARTS, of waiting for halos and
    for sums of projections, and of `computation`, what a step takes without any communication.
    Raises InvalidArgument where SimGrid is missing or the case cannot be simulated; Error when the simulation fails.
    """
    step.check()
    if list(map.grid) != [*step.space, step.orbitals]:
        raise InvalidArgument(
            f"a map of {'x'.join(str(n) for n in map.grid)} processes given; space and orbitals are divided among "
            f"{'x'.join(str(n) for n in (*step.space, step.orbitals))}."
        )
    check_transport(transport)
    if steps < 1:
        raise InvalidArgument(f"{steps} steps given; give at least 1.")
    if posting is None:
        posting = _halocline.mapping.published_iteration().posting
    built = program.build(progress, "electrons")
    seconds = step.seconds()
    arguments = {
        "extent": joined(step.extent),
        "space": joined(step.space),
        "face_doubles": joined(step.face_doubles()),
        "edge_doubles": str(step.edge_doubles()),
        "states": str(step.states),
        "orbitals": str(step.orbitals),
        "steps": str(steps),
        "shared": str(int(step.shared)),
        "scale": str(step.scale),
        "transport": transport,
        "posting": repr(posting),
        "latency": repr(network.latency),
        **{name: repr(value) for name, value in seconds.items()},
    }
    hosts = [f"n{node}" for node in np.asarray(map.node).tolist()]
    found = program.run(built, platform.platform(network, slower=step.scale), hosts, settings(network), arguments)
    computed = (
        seconds["hartree"]
        + seconds["xc"] / step.orbitals
        + step.blocks
        * (APPLICATIONS * (seconds["stencil"] + seconds["nonlocal"]) + seconds["density"] + seconds["current"])
    )
    return {
        "bench": "simulate-rt-step",
        "case": {
            "network": network.name,
            "shape": [axis.length for axis in network.axes],
            "nodes": nodes_of(map),
            "processes": found["processes"],
            "extent": list(step.extent),
            "states": step.states,
            "space": list(step.space),
            "orbitals": step.orbitals,
            "shared": step.shared,
            "gflops": step.gflops,
            "transport": transport,
            "steps": steps,
        },
        "seconds": {"median": found["step"], "min": found["step"], "max": found["step"], "runs": 1},
        "result": {
            "step": found["step"],
            "computation": computed,
            "parts": {part: found[part] for part in PARTS},
            "halo_wait": found["halo_wait"],
            "projection_wait": found["projection_wait"],
            "absent_wraps": platform.uses_absent_wraps(network, map),
        },
    }
