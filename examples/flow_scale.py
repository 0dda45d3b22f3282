# SPDX-License-Identifier: Apache-2.0
"""The Wilson flow of a quenched configuration: t^2 E(t) and the smoothed topological charge."""

import halocline as hc

u = hc.qcd.unit_links([6, 6, 6, 6])
hc.qcd.heatbath(u, beta=6.0, sweeps=20, seed=3)
flowed, report = hc.qcd.wilson_flow(u, t_max=1.0, step=0.05, measure_every=5)
for point in report["points"]:
    print(f"t {point['t']:.2f}  t^2 E {point['t2_energy_clover']:.5f}  charge {point['topological_charge']:+.4f}")
