# SPDX-License-Identifier: Apache-2.0
"""The table `deflation` of [solver]: its keys, and the settings that do not go with it.

Low modes of gamma5 D are taken out of the iteration of the kinds "deflated-cg" and "deflated-bicgstab". They are
computed when the solver is made, or read from a file (low_modes_file.py). "auto" tries deflated CG where a file has
them.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from halocline import _halocline
from halocline.errors import InvalidArgument
from halocline.runs import hdf5_name
from halocline.schema import Section, choice, integer, key, number

DEFLATED_SOLVERS = ("deflated-cg", "deflated-bicgstab")


@dataclasses.dataclass(frozen=True)
class Deflation(Section):
    """Low modes that are taken out of the iteration. No key must be set."""

    title: ClassVar[str] = "[solver] deflation:"
    vectors: int = key(16, integer(at_least=1, at_most=1024), "low modes of gamma5 D")
    file: str | None = key(
        None,
        hdf5_name,
        "keeps the modes: read if it is there, else written; numbered for several configurations",
        example='file = "low_modes.h5"',
    )
    tolerance: float = key(1e-4, number(above=0.0, below=1.0), "of the modes, on |gamma5 D v - lambda v| / |gamma5 D|")
    method: str = key(
        "multigrid", choice(*_halocline.qcd.EIGENVALUE_METHODS), 'that computes them: "multigrid" or "lanczos"'
    )

    def as_binding_values(self) -> dict[str, Any]:
        """The settings as the library's solver takes them."""
        return {f"deflation_{name}": value for name, value in vars(self).items() if name != "file"}


def check_deflation(solver: Any, device: str = "cpu") -> None:
    """Raises InvalidArgument for a Solver whose deflation cannot work, on the CPU or on a device."""
    modes, kind = solver.deflation, solver.kind
    if solver.multigrid is not None and kind in DEFLATED_SOLVERS and (modes or Deflation()).method != "multigrid":
        raise InvalidArgument(
            f'[solver] multigrid is set, but deflation computes its modes by method = "{modes.method}"; set '
            'method = "multigrid", or leave multigrid out.'
        )
    if modes is None:
        return
    if kind not in ("auto", *DEFLATED_SOLVERS):
        raise InvalidArgument(
            f'[solver] deflation is set but kind = "{kind}"; set kind = "deflated-cg", "deflated-bicgstab" or "auto", '
            "or leave deflation out."
        )
    if kind == "auto" and modes.file is None:
        raise InvalidArgument(
            '[solver] deflation has no file, and kind = "auto" computes no modes; name the file of an earlier run with '
            'kind = "deflated-cg", or set that kind.'
        )
    if solver.precision == "double":
        raise InvalidArgument(
            '[solver] deflation is set, but precision = "double" has no deflation; set precision = "mixed", which '
            "reaches the same residual, or leave deflation out."
        )
    if device != "cpu":
        raise InvalidArgument(
            f'[solver] deflation is set, but device = "{device}" has no deflation; leave deflation out, or give '
            'device = "cpu".'
        )
