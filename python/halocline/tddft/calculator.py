# SPDX-License-Identifier: Apache-2.0
"""The ASE calculator: `atoms.calc = hc.tddft.Halocline(spacing="0.2 angstrom", box=[8, 8, 8])`.

Energies are in eV and forces in eV/angstrom, as in ASE. With centre = False, isolated atoms stay in the box at their
own coordinates, so that the grid stays fixed while they move; this is the default here.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from ase.calculators.calculator import CalculationFailed, Calculator, Parameters, SCFError, all_changes

from halocline.errors import InvalidArgument
from halocline.reporter import Reporter
from halocline.schema import shown
from halocline.tddft.ground import (
    GroundState,
    expected_force_error,
    grid_force_ev,
    not_converged,
    spacing_text,
)
from halocline.tddft.motion import GroundStates
from halocline.tddft.stress_tensor import COMPONENTS, stress
from halocline.tddft.structure import structure_of
from halocline.tddft.system import from_atoms
from halocline.tddft.units import BOHR_ANGSTROM, HARTREE_EV, in_unit

FORCE_ERROR_LIMIT = 0.1
"""Default of force_error_limit [eV/angstrom]."""


class Halocline(Calculator):
    """Kohn-Sham energies, forces and eigenvalues.

    Plain numbers are in ASE's units, eV and angstrom; a text carries its own unit.

    system: the arguments of halocline.tddft.from_atoms: spacing, box, mesh, pseudopotential, functional, spin, ...
    scf: keys of [scf]: tolerance, max_iterations, ...; energies among them in eV, mixing_screening in 1/angstrom
    comm: see halocline.comm; every process must make the same calls. reporter: gets the convergence table
    force_error_limit: [eV/angstrom] forces are returned only if their expected error is at most this; None always
        returns them. The error is estimated from what the grid had added, see GroundState.grid_forces
    Properties: energy, free_energy, forces, dipole (isolated systems, e angstrom), magmom (with spin), stress
    (crystals, twelve ground states more; to optimise a cell give extent, not spacing). ASE's protocol
    of eigenvalues is there, too: get_eigenvalues, get_fermi_level, get_occupation_numbers, get_bz_k_points, ...
    Properties are recomputed when positions, cell or elements have changed; `ground` is the last ground state. If only
    positions have changed, the next one starts from what the last ones give by extrapolation. `warnings` lists what is
    doubtful about the last calculation, in sentences; without a reporter they are also given by warnings.warn.
    Raises InvalidArgument for impossible input, ase's SCFError if the cycle does not converge, and, if forces are
    requested, ase's CalculationFailed for an expected error above the limit.
    """

    implemented_properties: ClassVar[list[str]] = ["energy", "free_energy", "forces", "dipole", "magmom", "stress"]

    def __init__(
        self,
        *,
        scf: dict[str, Any] | None = None,
        comm: Any = None,
        reporter: Reporter | None = None,
        force_error_limit: float | None = FORCE_ERROR_LIMIT,
        **system: Any,
    ) -> None:
        super().__init__()
        self.force_error_limit = force_error_limit
        self.system_keys = {"centre": False} | system
        self.parameters = Parameters(system | ({"scf": dict(scf)} if scf else {}))
        self.scf, self.comm, self.reporter = in_ase_units(scf or {}), comm, reporter
        self.ground: GroundState | None = None
        self.warnings: list[str] = []
        self.states: GroundStates | None = None

    def calculate(
        self, atoms: Any = None, properties: Any = ("energy",), system_changes: Any = tuple(all_changes)
    ) -> None:
        """See ASE. Collective."""
        super().calculate(atoms, properties, system_changes)
        if not system_changes and self.results:  # forces or a stress that were not requested before
            self._hand_out_stress(properties)
            return self._hand_out_forces(properties)
        self.results = {}
        ground = self._states(system_changes).at(self.positions)
        if not ground.converged:
            raise SCFError(not_converged(ground))
        self.ground = ground
        # Forces are derivatives of the free energy; without smearing energy and free energy are equal.
        free = ground.energy["total"]
        self.results = {
            "energy": (free + 0.5 * ground.energy["entropy"]) * HARTREE_EV,
            "free_energy": free * HARTREE_EV,
        }
        if not ground.system.periodic:
            self.results["dipole"] = ground.dipole() * BOHR_ANGSTROM
        if ground.system.spins == 2:
            self.results["magmom"] = ground.moment
        self._hand_out_stress(properties)
        return self._hand_out_forces(properties)

    def _hand_out_stress(self, properties: Any) -> None:
        """Computes the stress if it was requested and is not there."""
        if "stress" not in properties or "stress" in self.results or self.ground is None:
            return
        tensor = stress(self.ground, reporter=self.reporter) * (HARTREE_EV / BOHR_ANGSTROM**3)
        self.results["stress"] = np.array([tensor[a, b] for a, b in COMPONENTS])

    def _hand_out_forces(self, properties: Any) -> None:
        """Returns forces within force_error_limit as a result; raises an error for other forces if they were
        requested."""
        ground = self.ground
        if ground is None or ground.forces is None:
            return
        grid = grid_force_ev(ground)
        error = expected_force_error(grid)
        if self.force_error_limit is None or error <= self.force_error_limit:
            self.results["forces"] = ground.forces * (HARTREE_EV / BOHR_ANGSTROM)
        elif "forces" in properties:
            raise CalculationFailed(
                f"the grid added up to {grid:.3g} eV/angstrom to the forces, so that errors of some {error:.1g} "
                f"eV/angstrom are to be expected in them, where {self.force_error_limit:g} is the limit: the spacing "
                f"of {spacing_text(ground.system)} is too coarse for them. Take a smaller spacing, or set "
                "force_error_limit of the calculator."
            )

    def _states(self, changes: Any) -> GroundStates:
        """The ground states along the path of these atoms: those of before if only positions have changed."""
        if self.states is not None and not set(changes) - {"positions"}:
            self.positions = structure_of(self.states.system.run.system, self.atoms).positions
            return self.states
        system = from_atoms(self.atoms, **self.system_keys)
        self.positions = system.structure.positions
        self.warnings = list(system.warnings)
        self.states = GroundStates(system, comm=self.comm, reporter=self.reporter, said=self.warnings, **self.scf)
        return self.states

    # ---- ASE's protocol of eigenvalues; k-points are not reduced by symmetry -----------------------------------------

    def _ground(self) -> GroundState:
        if self.ground is None:
            raise InvalidArgument("eigenvalues were asked for before a calculation; ask for the energy first.")
        return self.ground

    def _channel(self, kpt: int, spin: int) -> int:
        system = self._ground().system
        count = len(system.native.channels) // system.spins
        if not (0 <= kpt < count and 0 <= spin < system.spins):
            raise InvalidArgument(
                f"k-point {shown(kpt)} of spin {shown(spin)} was asked for; there are {count} k-points and "
                f"{system.spins} spins, counted from 0."
            )
        return spin * count + kpt

    def get_number_of_spins(self) -> int:
        """1 or 2."""
        return self._ground().system.spins

    def get_spin_polarized(self) -> bool:
        """Whether there are two spins."""
        return self.get_number_of_spins() == 2

    def get_number_of_bands(self) -> int:
        """States of each k-point and spin."""
        return self._ground().system.states

    def get_bz_k_points(self) -> np.ndarray:
        """Shape (k-points, 3), in units of the reciprocal cell."""
        system = self._ground().system
        channels = system.native.channels[: len(system.native.channels) // system.spins]
        return np.array([c[0] for c in channels]) @ system.structure.cell.T / (2.0 * np.pi)

    def get_ibz_k_points(self) -> np.ndarray:
        """As get_bz_k_points()."""
        return self.get_bz_k_points()

    def get_k_point_weights(self) -> np.ndarray:
        """Shape (k-points,); their sum is 1."""
        system = self._ground().system
        return np.array([c[1] for c in system.native.channels[: len(system.native.channels) // system.spins]])

    def get_eigenvalues(self, kpt: int = 0, spin: int = 0) -> np.ndarray:
        """Shape (bands,) [eV]."""
        return self._ground().eigenvalues[self._channel(kpt, spin)] * HARTREE_EV

    def get_occupation_numbers(self, kpt: int = 0, spin: int = 0) -> np.ndarray:
        """Shape (bands,): electrons in each state, times the weight of the k-point."""
        ground = self._ground()
        channel = self._channel(kpt, spin)
        return ground.occupations[channel] * ground.system.native.channels[channel][1]

    def get_fermi_level(self) -> float:
        """[eV]"""
        return self._ground().fermi_level * HARTREE_EV

    def get_homo_lumo(self) -> tuple[float, float | None]:
        """Highest occupied and lowest empty eigenvalue [eV]; None if no state is empty."""
        ground = self._ground()
        full = 2.0 if ground.system.spins == 1 else 1.0
        filled = ground.occupations > 0.5 * full
        empty = ground.eigenvalues[~filled]
        return float(ground.eigenvalues[filled].max()) * HARTREE_EV, (
            float(empty.min()) * HARTREE_EV if empty.size else None
        )


def in_ase_units(scf: dict[str, Any]) -> dict[str, Any]:
    """Keys of [scf] with plain energies in eV and wave numbers in 1/angstrom."""
    units = {"mixing_screening": "1/angstrom"} | dict.fromkeys(
        ("energy_tolerance", "eigen_tolerance", "temperature"), "eV"
    )
    return {name: in_unit(value, units[name]) if name in units else value for name, value in scf.items()}
