# SPDX-License-Identifier: Apache-2.0
"""Electrons in real time: from a molecule or a crystal to ground state, time propagation and absorption spectrum; and
atoms that move, in the ground state or with the electrons in time.

    system = hc.tddft.from_atoms(ase.build.molecule("C2H2"), spacing="0.25 angstrom", box=[10, 10, 10])
    ground = hc.tddft.ground_state(system).require_converged()
    series = hc.tddft.propagate(ground, kick=0.01, direction="z", total_time="5 fs")
    print(hc.tddft.spectrum(series).peaks_ev)

Plain numbers are in Hartree atomic units; a text carries its unit. In `from_atoms` and in the ASE calculator
`hc.tddft.Halocline`, plain numbers are in ASE's units, angstrom and eV.
"""

from typing import TYPE_CHECKING, Any

from halocline.comm import check_machine
from halocline.tddft import potentials
from halocline.tddft.bands import BandStructure, band_structure
from halocline.tddft.densities import ResponseDensities, response_densities
from halocline.tddft.dos import DensityOfStates, density_of_states
from halocline.tddft.emission import Harmonics, harmonics
from halocline.tddft.ground import GroundState, ground_state
from halocline.tddft.masses import EffectiveMass, effective_mass
from halocline.tddft.molecular_dynamics import Trajectory, dynamics
from halocline.tddft.multiscale import multiscale
from halocline.tddft.multiscale_series import Multiscale
from halocline.tddft.propagation import Series, propagate
from halocline.tddft.relaxation import Relaxation, relax
from halocline.tddft.runfile import Run, example_run_file, parse_run_file, read_run_file
from halocline.tddft.spectra import Spectrum, spectrum
from halocline.tddft.stress_tensor import stress
from halocline.tddft.surfaces import Vacuum, vacuum
from halocline.tddft.system import System, from_atoms

if TYPE_CHECKING:
    from halocline.tddft.calculator import Halocline

__all__ = [
    "BandStructure", "DensityOfStates", "EffectiveMass", "GroundState", "Halocline", "Harmonics", "Multiscale",
    "Relaxation", "ResponseDensities", "Run", "Series", "Spectrum", "System", "Trajectory", "Vacuum",
    "band_structure", "density_of_states", "dynamics", "effective_mass", "example_run_file", "from_atoms",
    "ground_state", "harmonics", "multiscale", "parse_run_file", "potentials", "propagate", "read_run_file",
    "relax", "response_densities", "spectrum", "stress", "vacuum",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "Halocline":  # loading ASE's calculators takes longer than loading all other modules
        from halocline.tddft.calculator import Halocline

        return Halocline
    raise AttributeError(f"module 'halocline.tddft' has no attribute '{name}'")


check_machine()  # before anything is computed
