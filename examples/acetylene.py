# SPDX-License-Identifier: Apache-2.0
"""Absorption of acetylene kicked along its axis: `python acetylene.py 10` follows the electrons for 10 fs, some minutes.

Without a number it is a trial of 0.1 fs on a coarser grid, whose spectrum means nothing yet.
"""

import sys

import ase

import halocline as hc

femtoseconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
spacing, box = ("0.25 angstrom", [8, 8, 10]) if len(sys.argv) > 1 else ("0.28 angstrom", [5.04, 5.04, 6.72])

carbon, hydrogen = 0.599672, 1.662257
atoms = ase.Atoms("C2H2", [[0, 0, -carbon], [0, 0, carbon], [0, 0, -hydrogen], [0, 0, hydrogen]])
system = hc.tddft.from_atoms(atoms, spacing=spacing, box=box)
ground = hc.tddft.ground_state(system).require_converged()
print(f"total energy {ground.energy['total']:.6f} hartree, gap {ground.gap * 27.2114:.3f} eV")
series = hc.tddft.propagate(ground, kick=0.01, direction="z", total_time=f"{femtoseconds} fs")
print(f"{series.step[-1]} steps, {series.norm[-1]:.8f} electrons")
spectrum = hc.tddft.spectrum(series, to_energy="20 eV")
print("peaks [eV]", " ".join(f"{e:.2f}" for e in spectrum.peaks_ev))
