# SPDX-License-Identifier: Apache-2.0
"""Low modes of gamma5 D in HDF5 files, for deflation: the vectors, and what they belong to.

The file is that of vector_file.py, with the attribute `values`: eigenvalues of gamma5 D, by increasing modulus. Its
action is without a twisted mass, which changes no eigenvector.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from halocline.qcd.vector_file import VectorFile

LOW_MODES = VectorFile(
    format="halocline low modes 1",
    magic=b"halocline modes1",
    noun="file of low modes",
    made="these low modes were made",
    key="file of deflation",
    vector="{} vectors",
    one_a_vector=("values",),
    without=("mu",),
    takes_fewer=True,
)


def write_low_modes(path: str | Path, modes: dict[str, Any], u: Any, action: Any) -> None:
    """Writes low modes, the whole file or none.

    modes: `numbers` (local array in fp16) and `values`, as the solver gives them
    Raises FileError on every process. Collective; each process writes its part.
    """
    LOW_MODES.write(path, modes["numbers"], u, action, {"values": list(modes["values"])})


def read_low_modes(path: str | Path, u: Any, action: Any, vectors: int) -> dict[str, Any]:
    """The low modes of a file for these links and this action.

    vectors: the number that is wanted; a file with more gives the lowest of them
    Returns `numbers` (local array in fp16) and `values`.
    Raises FileError (missing, damaged, foreign) and InvalidArgument (of other links, action or lattice, both values
    are given; fewer vectors), on every process alike. Collective.
    """
    numbers, own = LOW_MODES.read(path, u, action, vectors)
    return {"numbers": numbers, "values": own["values"]}
