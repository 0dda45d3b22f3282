# SPDX-License-Identifier: Apache-2.0
"""The propagator of a twisted doublet: solutions of D S = source for a source in each flavour, spin and colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halocline import _halocline
from halocline.schema import integer, takes

Propagator = _halocline.qcd.Propagator
Spinor = NDArray[np.complex128]

a_flavour = integer(at_least=0, at_most=1)


class DoubletPropagator:
    """The 24 columns from one source of a TwistedDoublet, as `hc.qcd.propagator` gives them.

    Contractions take its blocks: `S.block(sink, source)` is a Propagator, from the flavour `source` to the flavour
    `sink`. `geometry` and `source` (position x, y, z, t) are those of a Propagator. `record` holds the parameters.

    >>> import halocline as hc
    >>> u = hc.qcd.unit_links([4, 4, 4, 8])
    >>> S = hc.qcd.propagator(hc.qcd.TwistedDoublet(u, mu=0.15, epsilon=0.19, mass=0.4), [0, 0, 0, 0])
    >>> light = hc.qcd.propagator(hc.qcd.TwistedMass(u, mu=0.05, mass=0.4), [0, 0, 0, 0])
    >>> hc.qcd.mesons(S.block(0, 0), light)["pion"].shape
    (8,)
    """

    def __init__(self, geometry: Any, source: Sequence[int] = (0, 0, 0, 0)) -> None:
        """Columns of zeros: 9216 bytes a local site. Raises InvalidArgument for a source outside the lattice."""
        _halocline.qcd.check_position(geometry, list(source))
        self.geometry, self.source = geometry, list(source)
        self.record: dict[str, Any] = {}
        self._columns = np.zeros((2, 4, 3, *geometry.local[::-1], 2, 4, 3), dtype=np.complex128)

    def column(self, flavour: int, spin: int, colour: int) -> Spinor:
        """The solution for the source of this flavour, spin and colour, [t][z][y][x][flavour][spin][colour]: a view,
        to be read and written. Not collective."""
        return self._columns[flavour, spin, colour]

    @takes(sink=a_flavour, source=a_flavour)
    def block(self, sink: int, source: int) -> Propagator:
        """From the flavour `source` to the flavour `sink`: a Propagator, a copy of 2304 bytes a local site.

        Its record has the entry `flavours`, [sink, source]. Not collective.
        """
        s = Propagator(self.geometry, list(self.source))
        for spin, colour in np.ndindex(4, 3):
            s.column(spin, colour)[...] = self._columns[source, spin, colour][..., sink, :, :]
        s.record = self.record | {"flavours": [sink, source]} if self.record else {}
        return s

    def array(self) -> NDArray[np.complex128]:
        """All numbers, a copy: [t][z][y][x][flavour][spin][colour] of the sink and [flavour][spin][colour] of the
        source. Not collective."""
        return np.ascontiguousarray(np.moveaxis(self._columns, (0, 1, 2), (-3, -2, -1)))
