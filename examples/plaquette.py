# SPDX-License-Identifier: Apache-2.0
"""Read a gauge file and measure it. Runs alone or under mpirun: every process reads its own part.

python examples/plaquette.py ../shared/data/4x4x4x4b6.0000id3n1.nersc
"""

import sys

import halocline as hc

u = hc.qcd.read_gauge(sys.argv[1])
print("plaquette", hc.qcd.plaquette(u), "charge", hc.qcd.topological_charge(u))
