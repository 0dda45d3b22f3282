# SPDX-License-Identifier: Apache-2.0
"""Halocline on an mpi4py communicator: links as NumPy arrays, one box a process.

mpirun -n 4 python examples/with_mpi4py.py
"""

from mpi4py import MPI

import halocline as hc

u = hc.qcd.random_links([4, 4, 4, 8], seed=5, comm=MPI.COMM_WORLD)
links = u.array()  # [t][z][y][x][mu][3][3], this process's box
again = hc.qcd.GaugeField.from_array(u.geometry, links)
plaquette = hc.qcd.plaquette(again)
if MPI.COMM_WORLD.rank == 0:
    print("box", links.shape, "on a grid", list(u.geometry.grid), "plaquette", round(plaquette, 12))
