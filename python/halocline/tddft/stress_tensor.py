# SPDX-License-Identifier: Apache-2.0
"""The stress of a crystal, `stress(ground)`: the slope of its energy with the strain of the cell.

It is a difference of ground states at two strains of each kind, with the same number of grid points, so that it is the
exact slope of the energy that the grid has: an optimisation of the cell with a fixed `extent` ends where that energy is
lowest. Twelve ground states are computed, each from the orbitals of the unstrained one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from halocline.errors import Interrupted, InvalidArgument
from halocline.reporter import Reporter
from halocline.schema import shown
from halocline.tddft.ground import GroundState, ground_state

STRAIN = 1e-3
"""Of each kind, forward and back."""
COMPONENTS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
"""In the order of Voigt."""


def stress(ground: GroundState, *, strain: float = STRAIN, reporter: Reporter | None = None, **scf: Any) -> np.ndarray:
    """The stress tensor (3, 3), dE/d(strain) over the volume [hartree/bohr^3]; positive where the crystal would shrink.

    strain: of each kind, forward and back; the error grows with its square
    scf: keys of [scf], instead of those of the ground state
    With smearing it is the slope of the free energy. K-points are all of the mesh, and move with the cell.
    Raises NotConverged, InvalidArgument for an isolated system or a strain that is not positive, Interrupted if the
    reporter asks to stop. Collective.

        s = hc.tddft.stress(ground)
        print(-np.trace(s) / 3)  # the pressure
    """
    system = ground.require_converged().system
    if not system.periodic or not system.structure.symbols:
        raise InvalidArgument(
            "the stress of a system that is no crystal of atoms was asked for; only crystals have one."
        )
    if not 0 < strain < 0.1:
        raise InvalidArgument(
            f"strain = {shown(strain)} given; a positive number below 0.1 expected, such as {STRAIN:g}."
        )
    options = {"tolerance": 1e-7} | ({} if ground.options is None else _chosen(ground)) | scf
    start = ground if system.reduction is None else None
    tensor = np.empty((3, 3))
    reporter = reporter or Reporter()
    with reporter.stage("stress", len(COMPONENTS)) as advance:
        for n, (a, b) in enumerate(COMPONENTS):
            energies = []
            for sign in (-1.0, 1.0):
                change = np.zeros((3, 3))
                change[a, b] = change[b, a] = sign * strain * (1.0 if a == b else 0.5)
                found = ground_state(
                    system.strained(change),
                    comm=ground.model.communicator,
                    start=start,
                    reporter=_Quiet(reporter),
                    parallel=system.run.parallel,
                    **options,
                )
                if found.reason == "stopped":
                    raise Interrupted("stopped before the stress was known.")
                energies.append(found.require_converged().energy["total"])
            tensor[a, b] = tensor[b, a] = (energies[1] - energies[0]) / (2.0 * strain * system.native.volume)
            advance(n + 1, "")
    return tensor


def _chosen(ground: GroundState) -> dict[str, Any]:
    """The tolerances and ways of a ground state."""
    names = ("tolerance", "energy_tolerance", "eigen_tolerance", "max_iterations", "eigensolver", "temperature")
    return {name: getattr(ground.options, name) for name in names}


class _Quiet(Reporter):
    """Passes on the request to stop, and nothing else: the strained crystals are not reported one by one."""

    def __init__(self, other: Reporter) -> None:
        super().__init__()
        self.other = other

    def stop_requested(self) -> bool:
        return self.other.stop_requested()
