# SPDX-License-Identifier: Apache-2.0
"""The work of `halocline tddft bands`: from a run file to a file of bands, a table and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from halocline.comm import CommonWork, on_root
from halocline.files import claimed_for, write_file
from halocline.reporter import Reporter
from halocline.tddft import plots, results
from halocline.tddft.bands import BandStructure, band_path, band_structure, bands_wanted
from halocline.tddft.jobs import SYSTEM_SECTIONS, echo, ground_of, head_lines
from halocline.tddft.runfile import Run
from halocline.tddft.system import System
from halocline.tddft.units import HARTREE_EV


def bands_job(run: Run, group: Any, reporter: Reporter, overwrite: bool = False) -> Path:
    """Computes the bands of the ground state, which is computed first where its file is not there.

    overwrite: replace the bands of another system. Returns the result file. Raises InvalidArgument, FileError,
    NotConverged. Collective.
    """
    system = System(run)
    way = band_path(system, run.bands)
    bands_wanted(system, run.bands)
    path = run.output.path("_bands.h5")
    say = reporter.line
    for line in head_lines(system, group) + echo(run, *SYSTEM_SECTIONS, "bands"):
        say(line)
    say(f"path          {way.path}, {len(way.kpts)} k-points")
    with claimed_for(group, path):
        guarded = on_root(group, lambda: results.Guarded(path, "bands", system.identity(), overwrite))
        ground = ground_of(run, group, reporter, system)
        with CommonWork(group, run.parallel.time_limit):
            found = band_structure(ground, reporter=reporter)
        for line in found.summary():
            say(line)
        attributes = {"parameters": run.as_toml_values(), "identity": system.identity()}
        on_root(group, lambda: _write(path, guarded, found, attributes | {"formula": system.structure.formula()}))
    say(f"results       {path}, table {path.with_suffix('.txt')}")
    if run.output.plots:
        say(f"picture       {on_root(group, lambda: plots.bands(path))}")
    return path


def _write(path: Path, guarded: Any, found: BandStructure, attributes: dict[str, Any]) -> None:
    x, special, labels = found.path.get_linear_kpoint_axis()
    known = {"fermi_level": found.fermi_level} | ({} if found.gap is None else {"gap": found.gap})
    if found.filled is not None:
        known["filled"] = found.filled
    data = {
        "energies": found.energies,
        "kpts": (found.path.kpts, "reciprocal cell"),
        "x": (x, "1/angstrom"),
        "special_x": (special, "1/angstrom"),
        "special_labels": [str(label) for label in labels],
    }
    guarded.write("bands", attributes | known | {"path": str(found.path.path)}, data)
    write_file(path.with_suffix(".txt"), table(found, x))


def table(found: BandStructure, x: np.ndarray) -> str:
    """Columns: place on the path [1/angstrom], k in units of the reciprocal cell, energies [eV], spin after spin."""
    spins, points, bands = found.energies.shape
    columns = found.energies.transpose(1, 0, 2).reshape(points, spins * bands) * HARTREE_EV
    head = f"# place [1/angstrom], k [reciprocal cell], {bands} energies [eV]" + (" of each spin" if spins == 2 else "")
    rows = [
        " ".join([f"{x[n]:10.6f}", *(f"{v:9.6f}" for v in found.path.kpts[n]), *(f"{e:12.6f}" for e in columns[n])])
        for n in range(points)
    ]
    return "\n".join([head, *rows]) + "\n"
