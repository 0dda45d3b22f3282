# SPDX-License-Identifier: Apache-2.0
"""Light: Maxwell's equations on Yee's grid, in one, two and three dimensions.

    import halocline as hc
    film = hc.maxwell.cuboid((400, ..., ...), (420, ..., ...))
    sim = hc.maxwell.Simulation(size=("1 um", 0, 0), step="2 nm", bodies=[(film, "gold")])

`Simulation` has the grid and the matter in it, `medium` and `TABLE` the media, `cuboid`, `sphere` and `cylinder` the
bodies, `Waveform` how sources change with time.
"""

from __future__ import annotations

from halocline import _halocline
from halocline.maxwell.media import TABLE, Medium, Pole, medium
from halocline.maxwell.simulation import COMPONENTS, Flux, PlaneWave, Simulation, cuboid, cylinder, sphere
from halocline.maxwell.units import energy_of, frequency_of

Waveform = _halocline.maxwell.Waveform

__all__ = [
    "COMPONENTS",
    "TABLE",
    "Flux",
    "Medium",
    "PlaneWave",
    "Pole",
    "Simulation",
    "Waveform",
    "cuboid",
    "cylinder",
    "energy_of",
    "frequency_of",
    "medium",
    "sphere",
]
