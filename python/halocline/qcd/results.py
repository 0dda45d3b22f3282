# SPDX-License-Identifier: Apache-2.0
"""The HDF5 file that a spectrum run leaves, and the resumption of a run from it.

    /                      attributes: format, version, revision, parameters (JSON, every default included),
                           physics_hash, run_file (its text), lattice, kappa, m0, csw (of domain walls mass, M5, Ls,
                           b, c; of staggered quarks mass, naik_epsilon, u0), boundary, basis, momenta,
                           solver_choice (JSON: the choice of kind = "auto", if there was one)
    /configurations/0000   attributes: name, checksum, plaquette, process_grid, ranks, threads, isa, seconds, ... (with
                           [parallel] groups those of one group), residual_mass (sources, T) of domain walls, warnings
                           (sentences about solvers that failed and what followed, if there were any)
        positions          (sources, 4) integer, x y z t
        residuals          (sources, 12 or 3) |b - D x| / |b| of each column, and iterations beside it
        mesons/<channel>   (sources, momenta, T) complex, summed over space, source shifted to t = 0
        nucleon            (sources, momenta, T) complex

To add a configuration, the whole file is written anew beside the old one and renamed, so a killed run or a full disk
never costs earlier results. A seal after the end reveals a damaged file (halocline/hdf5.py). A later run with the same
physics skips finished configurations. A run with other physics is refused; the error names the first difference. The
choice of kind = "auto" is written to disk before the first solve. A run that continues uses the same choice, so its
results have the same bits as those of a run without the stop.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from halocline.errors import FileError, InvalidArgument
from halocline.hdf5 import opened
from halocline.qcd.runfile import Run
from halocline.results import DAMAGED, ResultFile, first_difference, other_run, plain_value

FORMAT = "halocline spectrum 1"
NEEDED = ("parameters", "physics_hash", "momenta")
NOT_PHYSICS = ("parallel", "output", "files", "bin")
"""Sections and keys in which the runs of one file may differ."""


@dataclasses.dataclass(eq=False)  # compared by identity: == of arrays gives no single truth value
class Measured:
    """The results of one configuration; arrays as in the file."""

    name: str
    positions: np.ndarray
    mesons: dict[str, np.ndarray]
    nucleon: np.ndarray | None
    residuals: np.ndarray
    iterations: np.ndarray
    attributes: dict[str, Any]


class SpectrumFile(ResultFile):
    """Results on disk. Used by one rank alone, inside `files.claimed(path)`."""

    def __init__(self, path: str | Path, run: Run, attributes: Mapping[str, Any], overwrite: bool = False) -> None:
        """Opens or begins a result file.

        attributes: of the file's root, besides the parameters
        overwrite: begin anew; an existing file, whatever it holds, is replaced at the first write
        Raises InvalidArgument when the file holds the results of other physics, FileError when it is no such file or
        cannot be written.
        """
        super().__init__(path)
        self.run = run
        self.attributes = dict(attributes)
        self.measured: list[Measured] = []
        self.choice: dict[str, Any] | None = None
        if self.path.exists() and not overwrite:
            self._take_in()
        elif not os.access(self.path.parent, os.W_OK):
            raise FileError(f"{self.path}: cannot be written: no permission in its folder.")

    def _take_in(self) -> None:
        """Reads the file and keeps its configurations and choice, beside those that this run has measured."""
        self._check_same_physics()
        root, there = read_spectrum(self.path)
        mine = {m.name for m in self.measured}
        self.measured[:0] = [m for m in there if m.name not in mine]
        self.choice = self.choice or choice_of(root)

    def _check_same_physics(self) -> None:
        with opened(self.path) as file:
            if file.attrs.get("format") != FORMAT:
                raise FileError(
                    f"{self.path}: exists and is not a result file of `halocline qcd spectrum`; name another [output] "
                    "file, or replace it with --overwrite."
                )
            if file.attrs["physics_hash"] == self.run.physics_hash():
                return
            there = json.loads(file.attrs["parameters"])
        difference = first_difference(there, self.run.as_toml_values(), NOT_PHYSICS)
        raise other_run(self.path, difference or "the same keys, and another hash of them")

    def finished(self, name: str) -> Measured | None:
        """The results of a configuration that an earlier run finished."""
        return next((m for m in self.measured if m.name == name), None)

    def add(self, measured: Measured) -> None:
        """Adds a configuration and puts the file on disk, whole. Raises FileError; the old file then stands.

        If another program has replaced the file meanwhile, its configurations are kept too. Raises InvalidArgument when
        that file holds the results of other physics.
        """
        self.add_all([measured])

    def add_all(self, measured: Sequence[Measured], order: Sequence[str] = ()) -> None:
        """Adds several configurations by one write, as `add`; one that is there gets the sources that it lacks.

        order: names of configurations in the order that the file is to have; others come first
        """
        before = list(self.measured)
        try:
            if self.replaced():
                self._take_in()
            for new in measured:
                place = next((i for i, m in enumerate(self.measured) if m.name == new.name), len(self.measured))
                self.measured[place:] = [joined([*self.measured[place : place + 1], new]), *self.measured[place + 1 :]]
            place_of = {name: place for place, name in enumerate(order)}
            self.measured.sort(key=lambda m: place_of.get(m.name, -1))
            self.put(self._fill)
        except (FileError, InvalidArgument):
            self.measured[:] = before
            raise

    def keep_choice(self, choice: dict[str, Any]) -> None:
        """Puts the choice of "auto" on disk. Raises FileError; the old file then stands."""
        self.choice = choice
        self._replace()

    def _replace(self) -> None:
        if self.replaced():
            self._take_in()
        self.put(self._fill)

    def _fill(self, file: h5py.File) -> None:
        file.attrs["format"] = FORMAT
        file.attrs["parameters"] = json.dumps(self.run.as_toml_values(), sort_keys=True)
        file.attrs["physics_hash"] = self.run.physics_hash()
        file.attrs["momenta"] = np.array(self.run.measure.momenta, dtype=np.int64)
        for name, value in self.attributes.items():
            file.attrs[name] = value
        if self.choice is not None:
            file.attrs["solver_choice"] = json.dumps(self.choice)
        file.create_group("configurations")
        for index, measured in enumerate(self.measured):
            group = file.create_group(f"configurations/{index:04d}")
            group.attrs["name"] = measured.name
            for name, value in measured.attributes.items():
                group.attrs[name] = value
            group["positions"] = measured.positions
            group["residuals"] = measured.residuals
            group["iterations"] = measured.iterations
            for channel, correlator in measured.mesons.items():
                group[f"mesons/{channel}"] = correlator
            if measured.nucleon is not None:
                group["nucleon"] = measured.nucleon


def joined(parts: Sequence[Measured], positions: Sequence[Sequence[int]] | None = None) -> Measured:
    """One configuration from results of some of its sources each.

    positions: the order of the sources; as they come when None. A source that several parts have is taken from the
    first. Raises InvalidArgument if the parts are of links with other checksums. Not collective.
    """
    first = parts[0]
    if len(parts) == 1 and positions is None:
        return first
    checksums = sorted({str(m.attributes["checksum"]) for m in parts})
    if len(checksums) > 1:
        raise InvalidArgument(
            f"{first.name} has changed between the measurements of its sources (checksums {', '.join(checksums)}); "
            "compute them anew."
        )
    where: dict[tuple, tuple[int, int]] = {}
    for part, m in enumerate(parts):
        for row, position in enumerate(m.positions):
            where.setdefault(tuple(int(x) for x in position), (part, row))
    order = list(where) if positions is None else [tuple(p) for p in positions]

    def rows(arrays: Sequence[np.ndarray]) -> np.ndarray:
        return np.stack([arrays[where[p][0]][where[p][1]] for p in order])

    attributes = dict(first.attributes)
    for name in ("seconds", "solver_seconds"):
        attributes[name] = sum(float(m.attributes[name]) for m in parts)
    if "residual_mass" in attributes:
        attributes["residual_mass"] = rows([m.attributes["residual_mass"] for m in parts])
    if warnings := dict.fromkeys(str(w) for m in parts for w in m.attributes.get("warnings", ())):
        attributes["warnings"] = list(warnings)
    return Measured(
        name=first.name,
        positions=np.array(order, dtype=np.int64),
        mesons={channel: rows([m.mesons[channel] for m in parts]) for channel in first.mesons},
        nucleon=None if first.nucleon is None else rows([m.nucleon for m in parts]),  # type: ignore[misc]
        residuals=rows([m.residuals for m in parts]),
        iterations=rows([m.iterations for m in parts]),
        attributes=attributes,
    )


def read_spectrum(path: str | Path) -> tuple[dict[str, Any], list[Measured]]:
    """The root attributes and the configurations of a result file. Raises FileError. Collective: no."""
    with opened(Path(path)) as file:
        if file.attrs.get("format") != FORMAT:
            raise FileError(f"{path}: not a result file of `halocline qcd spectrum`.")
        missing = [name for name in NEEDED if name not in file.attrs]
        if missing:
            raise FileError(f"{path}: lacks the attributes {', '.join(missing)}; {DAMAGED}.")
        for name in ("parameters", "solver_choice"):
            json.loads(file.attrs.get(name, "{}"))  # refuses damaged texts here; later readers need no check
        groups = [file["configurations"][k] for k in sorted(file["configurations"])]
        return dict(file.attrs), [_read_measured(path, group) for group in groups]


def choice_of(attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    """The choice of "auto", from the root attributes of a result file; None if there was none."""
    return json.loads(attributes["solver_choice"]) if "solver_choice" in attributes else None


def _read_measured(path: str | Path, group: h5py.Group) -> Measured:
    attributes = dict(group.attrs)
    if "name" not in attributes:
        raise FileError(f"{path}: configuration {group.name} lacks its name; {DAMAGED}.")
    return Measured(
        name=attributes.pop("name"),
        positions=group["positions"][()],
        mesons={channel: data[()] for channel, data in group["mesons"].items()} if "mesons" in group else {},
        nucleon=group["nucleon"][()] if "nucleon" in group else None,
        residuals=group["residuals"][()],
        iterations=group["iterations"][()],
        attributes=attributes,
    )


def zero_momentum(momenta: np.ndarray) -> int | None:
    """Position of zero momentum in the list, None when it was not asked for."""
    hits = np.flatnonzero(~np.any(np.asarray(momenta), axis=1))
    return int(hits[0]) if hits.size else None


def as_json(attributes: Mapping[str, Any], measured: list[Measured]) -> dict[str, Any]:
    """The numbers of a run for `--json`: correlators are means over the sources, real parts, at zero momentum.

    Other momenta are in `configurations[i].momenta` with the same keys. The nucleon is also listed under `mesons`, so
    that every correlator is found in one place.
    """
    momenta = np.asarray(attributes["momenta"])
    zero = zero_momentum(momenta)
    configurations = []
    for m in measured:
        hadrons = dict(m.mesons) | ({"nucleon": m.nucleon} if m.nucleon is not None else {})
        at = [{name: c[:, p].real.mean(axis=0).tolist() for name, c in hadrons.items()} for p in range(len(momenta))]
        entry: dict[str, Any] = {"name": m.name, "mesons": at[zero] if zero is not None else {}}
        if m.nucleon is not None and zero is not None:
            entry["nucleon"] = at[zero]["nucleon"]
        entry["residuals"] = m.residuals.tolist()
        entry["iterations"] = m.iterations.tolist()
        entry["positions"] = m.positions.tolist()
        others = [p for p in range(len(momenta)) if p != zero]
        entry["momenta"] = [{"momentum": momenta[p].tolist(), "mesons": at[p]} for p in others]
        entry |= {name: plain_value(value) for name, value in m.attributes.items()}
        configurations.append(entry)
    texts = ("parameters", "run_file", "solver_choice")
    root = {name: plain_value(value) for name, value in attributes.items() if name not in texts}
    root["solver_choice"] = choice_of(attributes)
    return root | {"parameters": json.loads(attributes["parameters"]), "configurations": configurations}
