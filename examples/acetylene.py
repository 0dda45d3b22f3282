# SPDX-License-Identifier: Apache-2.0
"""Absorption of acetylene kicked along its axis: `python acetylene.py 6` follows the electrons for 6 fs, some minutes.

Without a number it is a trial of 0.25 fs in a small box, whose spectrum means nothing yet.
"""

import sys

import ase

import halocline as hc

whole = len(sys.argv) > 1
femtoseconds = float(sys.argv[1]) if whole else 0.25
grid = {"extent": [36, 36, 44], "box": [8, 8, 9.6]} if whole else {"extent": [18, 18, 24], "box": [4.5, 4.5, 6.0]}

carbon, hydrogen = 0.599672, 1.662257
atoms = ase.Atoms("C2H2", [[0, 0, -carbon], [0, 0, carbon], [0, 0, -hydrogen], [0, 0, hydrogen]])
system = hc.tddft.from_atoms(atoms, **grid)
ground = hc.tddft.ground_state(system).require_converged()
print(f"total energy {ground.energy['total']:.6f} hartree, gap {ground.gap * 27.2114:.3f} eV")
series = hc.tddft.propagate(ground, kick=0.01, direction="z", total_time=f"{femtoseconds} fs")
print(f"{series.step[-1]} steps, {series.norm[-1]:.8f} electrons")
spectrum = hc.tddft.spectrum(series, to_energy="20 eV")
print("peaks [eV]", " ".join(f"{e:.2f}" for e in spectrum.peaks_ev))
