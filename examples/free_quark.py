# SPDX-License-Identifier: Apache-2.0
"""A free quark on unit links: the pion falls like two quarks, each with the energy ln(1 + m) of the Wilson action."""

import math

import halocline as hc

mass = 0.3
D = hc.qcd.WilsonClover(hc.qcd.unit_links([4, 4, 4, 32]), mass=mass)
columns = [hc.qcd.wall_source(D.geometry, time=0, spin=s, colour=0) for s in range(4)]
pion = sum((abs(D.solve(b, tolerance=1e-12)) ** 2).sum(axis=(1, 2, 3, 4, 5)) for b in columns)
print("effective mass", hc.qcd.analysis.effective_mass(pion, "cosh")[8], "expected", 2 * math.log(1 + mass))
