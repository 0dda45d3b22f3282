# SPDX-License-Identifier: Apache-2.0
"""Where the electrons are: their numbers in the states of the ground state's Hamiltonian.

In a field the states of a crystal to compare with are those at k + A(t). They are computed anew at every count, in the
potential of the ground state, from those of the count before. In an isolated box they are the ground state's, times a
phase in the velocity gauge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from halocline import _halocline
from halocline.errors import NotConverged
from halocline.tddft.ground import GroundState, divided_as, make_model, scf_options
from halocline.tddft.runfile_light import Propagate
from halocline.tddft.system import LANES, System

native = _halocline.tddft

MOST_PASSES = 200
"""Of the eigensolver in one count. A start from random orbitals takes a few dozen, later ones a few."""


class ElectronCount:
    """Counts the electrons in states of reference, every `excited_every` steps."""

    def __init__(self, ground: GroundState, options: Propagate) -> None:
        """ground: with the states that are propagated.

        Memory: for crystals, and if more states are counted than propagated, that of another ground state.
        """
        self.ground, self.every = ground, options.excited_every
        self.filled = np.array([np.flatnonzero(f)[-1] + 1 if f.any() else 0 for f in ground.occupations])
        self.states = max(options.populations, int(self.filled.max(initial=1)))
        self.kept = options.populations
        self.model = self.state = None

    def add(self, record: dict[str, Any], state: Any) -> None:
        """Adds excited, and populations, to a record if they are due. Raises NotConverged. Collective."""
        if not self.every or record["step"] % self.every:
            return
        a = record["vector_potential"]
        holder, reference = self._reference(a)
        found = native.populations(self.ground.model, state, holder, reference, self.states, a)
        record["excited"] = missing(self.ground.system, self.ground.occupations, found)
        if self.kept:
            record["populations"] = found[:, : self.kept].tolist()

    def _reference(self, a: list[float]) -> tuple[Any, Any]:
        """The states to compare with, and the model that holds them."""
        ground = self.ground
        system = ground.system
        at_rest = not system.periodic or not any(a)
        if at_rest and self.states <= system.states:  # the ground state's own orbitals
            return ground.model, ground.state
        if self.model is None:
            counts = ground.model.counts
            # A few states more speed up the highest; each process along the orbitals needs a group of lanes.
            states = LANES * max(counts["orbitals"], -(-(self.states + 2) // LANES))
            self.system = system.with_states(states)
            parallel = divided_as(ground.model, system.run.parallel)
            self.model = make_model(self.system, ground.model.communicator, parallel)
            self.state = self.model.empty_state()
        elif not system.periodic:
            return self.model, self.state
        options = scf_options(self.system, system.run.scf) | {"max_iterations": MOST_PASSES}
        at = a if system.periodic else [0.0, 0.0, 0.0]
        solved = native.solve_bands(
            self.model, self.state, ground.state, self.states, options, lambda residual: True, at
        )
        if not solved["converged"]:
            raise NotConverged(
                f"the states to count electrons in did not converge: the residual is {solved['residual']:.1e} hartree "
                f"after {solved['passes']} passes, where {options['eigen_tolerance']:.1e} is asked for; count fewer "
                "states with [propagate] populations, or raise [scf] eigen_tolerance."
            )
        return self.model, self.state


def missing(system: System, occupations: np.ndarray, found: np.ndarray) -> float:
    """Electrons that are missing from the states which the ground state filled.

    occupations: of the ground state, shape (channels, states); found: populations, shape (channels, at least as many
    states as are filled)
    """
    width = min(found.shape[1], occupations.shape[1])
    left = np.clip(occupations[:, :width] - found[:, :width], 0.0, None)
    return float(weights_of(system) @ left.sum(axis=1))


def weights_of(system: System) -> np.ndarray:
    """Shape (channels,): weights of the k-points."""
    return np.array([weight for _, weight, _ in system.native.channels])


def changes_of_bands(system: System, occupations: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Electrons that bands have won (positive) or lost (negative): shape (counts, spins, states).

    found: populations, shape (counts, channels, states); bands above those of `occupations` were empty
    """
    before = np.zeros(found.shape[1:])
    width = min(before.shape[1], occupations.shape[1])
    before[:, :width] = occupations[:, :width]
    spins = np.array([spin for _, _, spin in system.native.channels])
    weighted = weights_of(system)[None, :, None] * (found - before)
    return np.stack([weighted[:, spins == spin].sum(axis=1) for spin in range(system.spins)], axis=1)
