# SPDX-License-Identifier: Apache-2.0
"""The work of `halocline tddft dos`: from a run file to a density of states, a table and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from halocline.comm import on_root
from halocline.files import claimed_for, write_file
from halocline.reporter import Reporter
from halocline.tddft import plots, results
from halocline.tddft.dos import DensityOfStates, density_of_states
from halocline.tddft.jobs import SYSTEM_SECTIONS, echo, ground_of, head_lines
from halocline.tddft.runfile import Run
from halocline.tddft.system import System
from halocline.tddft.units import HARTREE_EV


def dos_job(run: Run, group: Any, reporter: Reporter, overwrite: bool = False) -> Path:
    """Computes the density of states of the ground state, which is computed first where its file is not there.

    overwrite: replace that of another system. Returns the result file. Raises InvalidArgument, FileError,
    NotConverged. Collective.
    """
    system = System(run)
    path = run.output.path("_dos.h5")
    for line in head_lines(system, group) + echo(run, *SYSTEM_SECTIONS, "dos"):
        reporter.line(line)
    with claimed_for(group, path):
        guarded = on_root(group, lambda: results.Guarded(path, "dos", system.identity(), overwrite))
        found = density_of_states(ground_of(run, group, reporter, system))
        for line in found.summary():
            reporter.line(line)
        attributes = {"parameters": run.as_toml_values(), "identity": system.identity()}
        on_root(group, lambda: _write(path, guarded, found, attributes | {"formula": system.structure.formula()}))
    reporter.line(f"results       {path}, table {path.with_suffix('.txt')}")
    if run.output.plots:
        reporter.line(f"picture       {on_root(group, lambda: plots.dos(path))}")
    return path


def _write(path: Path, guarded: Any, found: DensityOfStates, attributes: dict[str, Any]) -> None:
    known = {
        "reference": found.reference,
        "of_reference": found.of_reference,
        "width": found.width,
        "complete_to": found.complete_to,
    }
    data = {
        "energy": (found.energy, "hartree"),
        "density": (found.density, "1/hartree"),
        "integral": (found.integral, "states"),
    }
    for name, density in found.projected.items():
        data[f"projected/{name.replace(' ', '_')}"] = (density, "1/hartree")
    known |= {f"radius {symbol}": radius for symbol, radius in found.radii.items()}
    guarded.write("dos", attributes | known, data)
    columns = [found.energy * HARTREE_EV, *(found.density / HARTREE_EV), *found.integral]
    spins = " of each spin" if len(found.density) == 2 else ""
    head = f"# energy [eV], density of states [1/eV]{spins}, integral{spins}"
    for name, density in found.projected.items():
        columns += [*(density / HARTREE_EV)]
        head += f", {name}{spins}"
    rows = [" ".join(f"{v:14.6f}" for v in row) for row in np.column_stack(columns)]
    write_file(path.with_suffix(".txt"), "\n".join([head, *rows]) + "\n")
