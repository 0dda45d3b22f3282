# SPDX-License-Identifier: Apache-2.0
"""The stress of a crystal, `stress(ground)`: the slope of its energy with the strain of the cell.

The energy of a ground state is stationary: its slope with a strain is that at fixed orbitals, whose numbers on the grid
points stay while the points move apart (Nielsen and Martin, Phys. Rev. B 32, 3780, 1985). So the stress is a difference
of energies of the same orbitals on grids strained forward and back, twelve energies and no further ground state. It is
the exact slope of the energy that the grid has: an optimisation of the cell with a fixed `extent` ends where that
energy is lowest.
"""

from __future__ import annotations

import numpy as np

from halocline import _halocline
from halocline.errors import Interrupted, InvalidArgument
from halocline.reporter import Reporter
from halocline.schema import shown
from halocline.tddft.ground import GroundState, divided_as, make_model
from halocline.tddft.system import System

native = _halocline.tddft

STRAIN = 5e-4
"""Of each kind, forward and back."""
COMPONENTS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
"""In the order of Voigt."""


def stress(ground: GroundState, *, strain: float = STRAIN, reporter: Reporter | None = None) -> np.ndarray:
    """The stress tensor (3, 3), dE/d(strain) over the volume [hartree/bohr^3]; positive where the crystal would shrink.

    strain: of each kind, forward and back; the error grows with its square
    Its error grows with the residual of the orbitals ([scf] eigen_tolerance), as that of forces does. With smearing it
    is the slope of the free energy. K-points move with the cell.
    Raises NotConverged, InvalidArgument for an isolated system or a strain that is not positive, Interrupted if the
    reporter asks to stop. Collective. Cost: twelve systems are set up, with an energy each; memory of one more ground
    state.

        s = hc.tddft.stress(ground)
        print(-np.trace(s) / 3)  # the pressure
    """
    system = ground.require_converged().system
    if not system.periodic or not system.structure.symbols:
        raise InvalidArgument(
            "the stress of a system that is no crystal of atoms was asked for; only crystals have one."
        )
    system.require_energy("a stress")
    if system.functional_kind == "mgga" and system.reduction is not None and len(system.reduction.rotations) > 1:
        raise InvalidArgument(
            f"the stress of the functional {system.functional} was asked for with k-points reduced by symmetry; "
            "the kinetic energy density of their images changes otherwise with a strain: take all k-points, with "
            "symmetry = false."
        )
    if not 0 < strain < 0.1:
        raise InvalidArgument(
            f"strain = {shown(strain)} given; a positive number below 0.1 expected, such as {STRAIN:g}."
        )
    group = ground.model.communicator
    parallel = divided_as(ground.model, system.run.parallel)
    state, scaled = ground.state.copy(), 1.0
    tensor = np.empty((3, 3))
    reporter = reporter or Reporter()
    with reporter.stage("stress", len(COMPONENTS)) as advance:
        for n, (a, b) in enumerate(COMPONENTS):
            energies = []
            for sign in (-1.0, 1.0):
                change = np.zeros((3, 3))
                change[a, b] = change[b, a] = sign * strain * (1.0 if a == b else 0.5)
                strained = system.strained(change)
                # Orbitals of norm 1 in the larger volume.
                wanted = (system.native.volume / strained.native.volume) ** 0.5
                native.scale_state(state, wanted / scaled)
                scaled = wanted
                model = make_model(strained, group, parallel)
                if model.has_kinetic:
                    model.sum_kinetic(state)
                energies.append(model.energies(state)["total"])
            if group.any(reporter.stop_requested()):
                raise Interrupted("stopped before the stress was known.")
            tensor[a, b] = tensor[b, a] = (energies[1] - energies[0]) / (2.0 * strain * system.native.volume)
            advance(n + 1, "")
    return tensor if system.reduction is None else symmetrised(tensor, system)


def symmetrised(tensor: np.ndarray, system: System) -> np.ndarray:
    """The mean of a tensor (3, 3) over the symmetries by which k-points are reduced: that of all k-points."""
    steps = system.structure.cell.T / np.array(system.extent)  # from numbers of grid points to a place
    turns = [steps @ rotation @ np.linalg.inv(steps) for rotation in system.reduction.rotations]
    return np.mean([turn @ tensor @ turn.T for turn in turns], axis=0)
