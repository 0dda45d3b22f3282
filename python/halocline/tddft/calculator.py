# SPDX-License-Identifier: Apache-2.0
"""The ASE calculator: `atoms.calc = hc.tddft.Halocline(spacing="0.2 angstrom", box=[8, 8, 8])`.

Energies are in eV and forces in eV/angstrom, as in ASE. With centre = False, isolated atoms stay in the box at their
own coordinates, so that the grid stays fixed while they move; this is the default here.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ase.calculators.calculator import CalculationFailed, Calculator, SCFError, all_changes

from halocline.errors import NotConverged
from halocline.reporter import Reporter
from halocline.tddft.ground import GroundState, ground_state, net_force_ev, spacing_text, unlike
from halocline.tddft.system import System, from_atoms
from halocline.tddft.units import BOHR_ANGSTROM, HARTREE_EV, in_unit

NET_FORCE_LIMIT = 0.5
"""Default of net_force_limit [eV/angstrom]."""


class Halocline(Calculator):
    """Kohn-Sham energies and forces.

    Plain numbers are in ASE's units, eV and angstrom; a text carries its own unit.

    system: the arguments of halocline.tddft.from_atoms: spacing, box, mesh, pseudopotential, functional, spin, ...
    scf: keys of [scf]: tolerance, max_iterations, ...; energies among them in eV, mixing_screening in 1/angstrom
    comm: see halocline.comm; every process must make the same calls. reporter: gets the convergence table
    net_force_limit: [eV/angstrom] forces are returned only if the length of their sum over all atoms, which should be
        zero, is at most this; None always returns them
    Properties are recomputed when positions, cell or elements have changed; `ground` is the last ground state. If only
    positions have changed, it is the start of the next calculation.
    Raises InvalidArgument for impossible input, ase's SCFError if the cycle does not converge, and, if forces are
    requested, ase's CalculationFailed for a net force above the limit.
    """

    implemented_properties: ClassVar[list[str]] = ["energy", "free_energy", "forces"]

    def __init__(
        self,
        *,
        scf: dict[str, Any] | None = None,
        comm: Any = None,
        reporter: Reporter | None = None,
        net_force_limit: float | None = NET_FORCE_LIMIT,
        **system: Any,
    ) -> None:
        super().__init__()
        self.net_force_limit = net_force_limit
        self.system_keys = {"centre": False} | system
        self.scf, self.comm, self.reporter = in_ase_units(scf or {}), comm, reporter
        self.ground: GroundState | None = None

    def calculate(
        self, atoms: Any = None, properties: Any = ("energy",), system_changes: Any = tuple(all_changes)
    ) -> None:
        """See ASE. Collective."""
        super().calculate(atoms, properties, system_changes)
        if not system_changes and self.results:  # forces that were not requested before
            return self._hand_out_forces(properties)
        self.results = {}
        system = from_atoms(self.atoms, **self.system_keys)
        try:
            ground = ground_state(
                system, comm=self.comm, reporter=self.reporter, start=self._start(system, system_changes), **self.scf
            ).require_converged()
        except NotConverged as error:
            raise SCFError(str(error)) from None
        self.ground = ground
        # Forces are derivatives of the free energy; without smearing energy and free energy are equal.
        free = ground.energy["total"]
        self.results = {
            "energy": (free + 0.5 * ground.energy["entropy"]) * HARTREE_EV,
            "free_energy": free * HARTREE_EV,
        }
        return self._hand_out_forces(properties)

    def _hand_out_forces(self, properties: Any) -> None:
        """Returns forces within net_force_limit as a result; raises an error for other forces if they were
        requested."""
        ground = self.ground
        if ground is None or ground.forces is None:
            return
        net = net_force_ev(ground)
        if self.net_force_limit is None or net <= self.net_force_limit:
            self.results["forces"] = ground.forces * (HARTREE_EV / BOHR_ANGSTROM)
        elif "forces" in properties:
            raise CalculationFailed(
                f"the forces add up to {net:.3g} eV/angstrom, where {self.net_force_limit:g} is the limit and the sum "
                f"should be zero: the spacing of {spacing_text(ground.system)} is too coarse for them. Take a smaller "
                "spacing, or set net_force_limit of the calculator."
            )

    def _start(self, system: System, changes: Any) -> GroundState | None:
        """The last ground state, if it can be the start of the next one."""
        if self.ground is None or set(changes) - {"positions"} or unlike(system, self.ground.system):
            return None
        return self.ground


def in_ase_units(scf: dict[str, Any]) -> dict[str, Any]:
    """Keys of [scf] with plain energies in eV and wave numbers in 1/angstrom."""
    units = {"mixing_screening": "1/angstrom"} | dict.fromkeys(
        ("energy_tolerance", "eigen_tolerance", "temperature"), "eV"
    )
    return {name: in_unit(value, units[name]) if name in units else value for name, value in scf.items()}
