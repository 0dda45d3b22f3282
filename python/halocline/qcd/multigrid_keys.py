# SPDX-License-Identifier: Apache-2.0
"""The keys of [solver] multigrid in run files and in Python; mirrors qcd/multigrid/parameters.hpp."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from halocline import _halocline
from halocline.errors import InvalidArgument
from halocline.runs import hdf5_name
from halocline.schema import Section, Unfit, array, choice, integer, key, number


def vectors_of(value: Any) -> int:
    """Test vectors of multigrid: a multiple of 8."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 8 or value > 64 or value % 8 != 0:
        raise Unfit("a multiple of 8, from 8 to 64")
    return value


@dataclasses.dataclass(frozen=True)
class Multigrid(Section):
    """The multigrid solver. No key must be set."""

    title: ClassVar[str] = "[solver] multigrid:"
    vectors: int = key(24, vectors_of, "test vectors, a multiple of 8")
    setup_vectors: int | None = key(
        None,
        vectors_of,
        "vectors that the set-up makes, at least `vectors`, which each aggregate reduces to `vectors`; as many when "
        "absent",
        example="setup_vectors = 32",
    )
    aggregate: tuple[int, int, int, int] = key(
        (4, 4, 4, 4), array(integer(at_least=1), "four integers x, y, z, t", length=4), "sites of an aggregate"
    )
    setup_iterations: int | None = key(
        None,
        integer(at_least=0, at_most=100),
        "rounds of inverse iteration in the set-up; as many as pay when absent",
        example="setup_iterations = 3",
    )
    setup_file: str | None = key(
        None,
        hdf5_name,
        "keeps the set-up: read if it is there, else written; numbered for several configurations",
        example='setup_file = "setup.h5"',
    )
    smoother: str = key("even-odd", choice(*_halocline.qcd.SCHWARZ_INVERSES), "solver inside a domain of the smoother")
    smoother_sweeps: int = key(4, integer(at_least=1, at_most=100), "sweeps of the smoother over the domains")
    smoother_steps: int = key(2, integer(at_least=1, at_most=100), "steps of the solver inside a domain")
    levels: int | None = key(
        None,
        integer(at_least=2, at_most=8),
        "the fine lattice and the coarse ones; as many as the lattice needs when absent",
        example="levels = 3",
    )
    cycle: str = key(
        "K", choice(*_halocline.qcd.MULTIGRID_CYCLES), 'on the levels between: "K" (with a Krylov solver) or "V"'
    )
    coarse_aggregate: tuple[int, int, int, int] = key(
        (2, 2, 2, 2),
        array(integer(at_least=1), "four integers x, y, z, t", length=4),
        "coarse sites of an aggregate, with three levels or more",
    )
    coarse_vectors: int | None = key(
        None,
        vectors_of,
        "test vectors of the coarse levels, at most `vectors`; as many when absent",
        example="coarse_vectors = 16",
    )
    coarse_smoother_steps: int = key(2, integer(at_least=1, at_most=100), "steps of the smoother on a coarse level")
    coarse_tolerance: float = key(0.1, number(above=0.0, below=1.0), "residual of a coarse solve")
    coarse_iterations: int = key(100, integer(at_least=1), "most iterations of a coarse solve")
    gather_below: int = key(
        16,
        integer(at_least=1),
        "coarse sites of a process, below which fewer processes hold a coarse level; 1: never",
    )
    coarse_eigenvectors: int = key(
        0,
        integer(at_least=0, at_most=256),
        "eigenvectors that deflate the coarsest level where it has no dense inverse; 0: the test vectors",
    )
    storage: str = key(
        "half", choice(*_halocline.qcd.MULTIGRID_STORAGES), 'of test vectors and coarse operator: "half" or "float"'
    )
    seed: int = key(1, integer(at_least=0), "of the random vectors that the set-up begins with")

    def check_together(self) -> None:
        if self.coarse_vectors is not None and self.coarse_vectors > self.vectors:
            raise InvalidArgument(
                f"{self.title} coarse_vectors = {self.coarse_vectors} is more than vectors = {self.vectors}, of which "
                "the coarse levels take their own. Give at most as many."
            )

        if self.setup_vectors is not None and self.setup_vectors < self.vectors:
            raise InvalidArgument(
                f"{self.title} setup_vectors = {self.setup_vectors} is less than vectors = {self.vectors}, which are "
                "made of them. Give at least as many."
            )

    @property
    def made_vectors(self) -> int:
        """Test vectors that the set-up makes, and its file holds."""
        return self.setup_vectors or self.vectors

    def as_binding_values(self) -> dict[str, Any]:
        """The settings as the library's solver takes them."""
        return {f"multigrid_{name}": value for name, value in vars(self).items() if name != "setup_file"} | {
            "multigrid_aggregate": list(self.aggregate),
            "multigrid_setup_iterations": -1 if self.setup_iterations is None else self.setup_iterations,
            "multigrid_setup_vectors": self.setup_vectors or 0,
            "multigrid_levels": self.levels or 0,
            "multigrid_coarse_aggregate": list(self.coarse_aggregate),
            "multigrid_coarse_vectors": self.coarse_vectors or 0,
        }
