# SPDX-License-Identifier: Apache-2.0
"""Light: Maxwell's equations on Yee's grid, in one, two and three dimensions.

    import halocline as hc
    film = hc.maxwell.cuboid((400, ..., ...), (420, ..., ...))
    sim = hc.maxwell.Simulation(size=("1 um", 0, 0), step="2 nm", bodies=[(film, "gold")])

`Simulation` has the grid and the matter in it, `medium` and `TABLE` the media, `cuboid`, `sphere`, `cylinder` and
`voxels` the bodies, `Waveform` how sources change with time.
"""

from __future__ import annotations

from halocline import _halocline
from halocline.comm import check_machine
from halocline.maxwell.bodies import cuboid, cylinder, sphere, voxels, voxels_of_cube, voxels_of_mesh
from halocline.maxwell.checks import COMPONENTS
from halocline.maxwell.fitting import IndexTable, error_of, fit, read_index
from halocline.maxwell.measures import Dipole, FarField, Flux, Monitor
from halocline.maxwell.media import TABLE, Medium, Pole, medium
from halocline.maxwell.simulation import Simulation
from halocline.maxwell.snapshots import Snapshots
from halocline.maxwell.sources import Beam, PlaneWave
from halocline.maxwell.units import energy_of, frequency_of

Waveform = _halocline.maxwell.Waveform

__all__ = [
    "COMPONENTS",
    "TABLE",
    "Beam",
    "Dipole",
    "FarField",
    "Flux",
    "IndexTable",
    "Medium",
    "Monitor",
    "PlaneWave",
    "Pole",
    "Simulation",
    "Snapshots",
    "Waveform",
    "cuboid",
    "cylinder",
    "energy_of",
    "error_of",
    "fit",
    "frequency_of",
    "medium",
    "read_index",
    "sphere",
    "voxels",
    "voxels_of_cube",
    "voxels_of_mesh",
]

check_machine()  # before anything is computed
