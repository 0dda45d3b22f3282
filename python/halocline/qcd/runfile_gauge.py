# SPDX-License-Identifier: Apache-2.0
"""The section [gauge] of a run file: where the links come from, and what is done to them before the quarks see them."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from halocline.errors import InvalidArgument
from halocline.schema import REQUIRED, Check, Section, array, boolean, choice, integer, key, number, table, text


def extents(at_least: int = 1) -> Check:
    """Extents of a lattice."""
    return array(integer(at_least=at_least), "four integers x, y, z, t", length=4)


@dataclasses.dataclass(frozen=True)
class Generate(Section):
    """A quenched ensemble made on the spot by heatbath and over-relaxation."""

    title: ClassVar[str] = "[gauge] generate:"
    size: tuple = key(REQUIRED, extents(2), "extents x, y, z, t [sites]")
    beta: float = key(REQUIRED, number(above=0.0), "Wilson coupling")
    sweeps: int = key(200, integer(at_least=0), "heatbath sweeps before the first configuration")
    separation: int = key(20, integer(at_least=1), "heatbath sweeps between configurations")
    configurations: int = key(1, integer(at_least=1), "how many")
    overrelaxation: int = key(3, integer(at_least=0), "over-relaxation sweeps after each heatbath sweep")
    seed: int = key(1, integer(at_least=0), "of the random numbers, which do not depend on the process count")
    start: str = key("cold", choice("cold", "hot"), '"cold" (unit links) or "hot" (random links)')


@dataclasses.dataclass(frozen=True)
class Smear(Section):
    """Smearing of the links that the quarks see."""

    title: ClassVar[str] = "[gauge] smear:"
    kind: str = key(REQUIRED, choice("stout", "ape"), '"stout" or "ape"')
    rho: float | None = key(None, number(above=0.0), "stout: weight of the staples")
    alpha: float | None = key(None, number(above=0.0, below=1.0), "ape: weight of the staples")
    steps: int = key(1, integer(at_least=1), "how often")
    axes: str = key("all", choice("all", "spatial"), '"all", or "spatial" for the links along x, y and z alone')

    def check_together(self) -> None:
        wanted, other = ("rho", "alpha") if self.kind == "stout" else ("alpha", "rho")
        if getattr(self, other) is not None:
            raise InvalidArgument(f'{self.title} kind = "{self.kind}" takes {wanted}, not {other}.')
        if getattr(self, wanted) is None:
            raise InvalidArgument(f'{self.title} kind = "{self.kind}" needs {wanted}.')


@dataclasses.dataclass(frozen=True)
class Fix(Section):
    """Gauge fixing before the sources are placed."""

    title: ClassVar[str] = "[gauge] fix:"
    kind: str = key(REQUIRED, choice("coulomb", "landau"), '"coulomb" or "landau"')
    tolerance: float = key(1e-12, number(above=0.0, below=1.0), "on the mean squared divergence of the gauge field")
    max_iterations: int = key(10000, integer(at_least=1), "sweeps before giving up")


@dataclasses.dataclass(frozen=True)
class Gauge(Section):
    title: ClassVar[str] = "[gauge]"
    files: tuple | None = key(
        None,
        array(text, "a list of file names", at_least=1),
        "gauge files: NERSC, ILDG/SciDAC LIME, openQCD, MILC v5, NPY or HDF5, one configuration each",
        example='files = ["cfg.lime"]',
    )
    generate: Generate | None = key(
        None,
        table(Generate),
        "instead of files: make a quenched ensemble",
        example="generate = { size = [8, 8, 8, 16], beta = 6.0, sweeps = 200, seed = 1 }",
    )
    smear: Smear | None = key(
        None,
        table(Smear),
        "smear the links that the quarks see",
        example='smear = { kind = "stout", rho = 0.1, steps = 3 }',
    )
    fix: Fix | None = key(
        None,
        table(Fix),
        "fix the gauge; a wall source needs it",
        example='fix = { kind = "coulomb", tolerance = 1e-12 }',
    )
    strict: bool = key(False, boolean, "refuse links that are not in SU(3) instead of warning")

    def check_together(self) -> None:
        if self.files is None and self.generate is None:
            raise InvalidArgument("[gauge] needs 'files' (configurations to read) or 'generate' (an ensemble to make).")
        if self.files is not None and self.generate is not None:
            raise InvalidArgument("[gauge] has both 'files' and 'generate'; keep one of them.")
