# SPDX-License-Identifier: Apache-2.0
"""A pion in ten lines: a quenched configuration, a propagator, a correlator and its effective mass."""

import halocline as hc

u = hc.qcd.unit_links([4, 4, 4, 16])
hc.qcd.heatbath(u, beta=6.0, sweeps=30, seed=1)
D = hc.qcd.WilsonClover(u, kappa=0.13, csw=1.4)
propagator = hc.qcd.propagator(D, source=[0, 0, 0, 0])
pion = hc.qcd.mesons(propagator)["pion"]
for t, mass in enumerate(hc.qcd.analysis.effective_mass(hc.qcd.analysis.fold(pion), "cosh", extent=16)):
    print(f"{t + 0.5:4.1f} {mass:.4f}")
