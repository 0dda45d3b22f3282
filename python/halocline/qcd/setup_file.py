# SPDX-License-Identifier: Apache-2.0
"""Set-ups of multigrid in HDF5 files: the test vectors, and what they were made for.

The file is that of vector_file.py, with the attributes

    aggregate         sites x y z t of an aggregate
    contraction       factor by which a cycle lowered the residual
    rounds            of inverse iteration

The coarse operator is made again from the vectors and the links.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from halocline.qcd.vector_file import VectorFile

SETUP = VectorFile(
    format="halocline multigrid 1",
    magic=b"halocline mgrid1",
    noun="multigrid set-up",
    made="this set-up was made",
    key="setup_file",
    vector="{} test vectors",
    own=("aggregate",),
)


def write_setup(path: str | Path, setup: dict[str, Any], u: Any, action: Any) -> None:
    """Writes a set-up, the whole file or none.

    setup: `numbers` (local array in fp16), `aggregate`, `contraction` and `rounds`, as the solver gives them
    Raises FileError on every process. Collective; each process writes its part.
    """
    own = {"aggregate": list(setup["aggregate"]), "contraction": setup["contraction"], "rounds": setup["rounds"]}
    SETUP.write(path, setup["numbers"], u, action, own)


def read_setup(path: str | Path, u: Any, action: Any, vectors: int) -> dict[str, Any]:
    """The test vectors of a file for these links and this action.

    vectors: the number that is wanted
    Returns `numbers` (local array in fp16) and `aggregate`.
    Raises FileError (missing, damaged, foreign) and InvalidArgument (made for other links, action, lattice or number
    of vectors; both values are given), on every process alike. Collective.
    """
    numbers, own = SETUP.read(path, u, action, vectors)
    return {"numbers": numbers, "aggregate": own["aggregate"]}
