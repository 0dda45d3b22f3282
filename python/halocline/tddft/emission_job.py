# SPDX-License-Identifier: Apache-2.0
"""The work of `halocline tddft harmonics`: from the file of a propagation to a table and a picture of its harmonics."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from halocline.comm import on_root
from halocline.errors import FileError
from halocline.files import claimed_for, write_file
from halocline.reporter import Reporter
from halocline.tddft import plots, results
from halocline.tddft.emission import harmonics
from halocline.tddft.jobs import echo, refuse_other_runs
from halocline.tddft.runfile import Run
from halocline.tddft.system import System
from halocline.tddft.units import HARTREE_EV


def harmonics_job(run: Run, group: Any, reporter: Reporter, overwrite: bool = False) -> Path:
    """`halocline tddft harmonics`: from the file of a propagation. overwrite: replace those of another system.

    Raises FileError, InvalidArgument. Returns the result file. Collective.
    """
    path, file = run.output.path("_harmonics.h5"), run.output.path("_rt.h5")
    identity = System(run).identity()
    if not on_root(group, file.is_file):
        raise FileError(f"{file}: is not there; run `halocline tddft propagate` with the same run file first.")
    for line in echo(run, "harmonics"):
        reporter.line(line)

    def work() -> list[str]:
        refuse_other_runs([file], identity)
        guarded = results.Guarded(path, "harmonics", identity, overwrite)
        options = {name: getattr(run.harmonics, name) for name in ("to_order", "window", "points")}
        found = harmonics(file, **options)
        attributes = {
            "fundamental": found.fundamental,
            "resolution": found.resolution,
            "window": found.window,
            "formula": found.formula,
        }
        common = {"parameters": run.as_toml_values(), "identity": identity}
        data = {
            "energy": (found.energy, "hartree"),
            "order": (found.order, "1"),
            "intensity": (found.intensity, "a.u."),
        }
        guarded.write("harmonics", attributes | common, data)
        table = io.StringIO()
        columns = np.column_stack([found.order, found.energy * HARTREE_EV, found.intensity])
        np.savetxt(table, columns, fmt="%16.8e", header="order, photon energy [eV], intensity along x, y, z [a.u.]")
        write_file(path.with_suffix(".txt"), table.getvalue())
        return found.summary()

    with claimed_for(group, path):
        for line in on_root(group, work):
            reporter.line(line)
    reporter.line(f"results       {path}, table {path.with_suffix('.txt')}")
    if run.output.plots:
        reporter.line(f"picture       {on_root(group, lambda: plots.harmonics(path))}")
    return path
