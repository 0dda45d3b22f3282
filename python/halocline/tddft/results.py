# SPDX-License-Identifier: Apache-2.0
"""HDF5 files of ground states, propagations, spectra, relaxations and dynamics, and their numbers for JSON.

    /                      attributes: format, kind ("ground_state", "propagation", "spectrum", "relaxation",
                           "dynamics", "bands", "dos", "harmonics", "multiscale"), version, revision, parameters (JSON,
                           every default included), identity (JSON: system, grid, k-points, pseudopotentials), as_given
                           (JSON: parameters given with a unit), chosen (JSON: settled values of automatic parameters),
                           and the attributes of the kind
    ground_state           converged, reason; energy/<part>, eigenvalues (channels, states), occupations, k, weights,
                           spins, density (spins, z, y, x), forces (atoms, 3), net_force (3,),
                           grid_forces (atoms, 3), history/<column>, atoms
    propagation            steps, finished; step, time, current (n, 3), dipole (n, 3), norm, vector_potential,
                           electric_field; with spin moment (n,), spin_current and spin_dipole (n, 3); energy_time and
                           energy/<part>; excited_time and excited, populations (m, channels, states), band_changes
                           (m, spins, states); angular_momentum (n, 3); of moving atoms
                           ions/time, ions/positions (m, atoms, 3), velocities, forces, kinetic, dipole of the ions at
                           every step, and ions/now/<name> of the last step; of light that depends on the place
                           light/incident, reflected, transmitted (n, 3), near_field (n,), light/profile_time (m,), and
                           light/potential and light/current (m, planes, 3)
    relaxation             converged, force_tolerance; of each geometry energy, largest_force, positions, forces,
                           iterations; cells (n, 3, 3) and stress (n, 3, 3) where the cell changes
    dynamics               steps, finished; time, potential, kinetic, conserved, temperature, iterations, positions,
                           velocities, forces, bath_taken, bath_places, bath_speeds
    bands                  path, fermi_level, filled and gap where bands are filled or empty; energies (spins, k-points,
                           bands), kpts, x, special_x, special_labels
    dos                    reference, of_reference, width, complete_to; energy, density (spins, n), integral (spins, n);
                           projected/<element>_<s, p, d or f> (spins, n)
    multiscale             steps, finished, cells, cell_step, axis, index_behind, orbitals_step; time, vector_potential
                           and current (n, cells, 3), first_current (cells, 3); field_time, incident, reflected,
                           transmitted (n, 3)
    harmonics              fundamental, resolution, window; energy, order, intensity (n, 3)
    spectrum               photon_energy, photon_energy_ev, the columns of its kind; peaks_ev, symbols, positions

Every dataset has the attribute `unit`; all numbers are in Hartree atomic units. A new version is written beside the old
file and renamed, so a killed run or a full disk never loses the old file. A seal after the end reveals a damaged file
(halocline/hdf5.py).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from halocline import _halocline, hdf5
from halocline.errors import FileError
from halocline.results import DAMAGED, OTHER_FILE, ResultFile, refuse_other
from halocline.schema import given_texts

FORMAT = "halocline tddft 1"
PARTS = ("total", "kinetic", "hartree", "ion_local", "ion_nonlocal", "xc", "ion_ion")
"""The parts of the energy."""
UNITS = {
    "energy": "hartree",
    "entropy": "hartree",
    "eigenvalues": "hartree",
    "energies": "hartree",
    "fermi_level": "hartree",
    "gap": "hartree",
    "occupations": "electrons",
    "k": "1/bohr",
    "density": "1/bohr^3",
    "forces": "hartree/bohr",
    "grid_forces": "hartree/bohr",
    "largest_force": "hartree/bohr",
    "potential": "hartree",
    "kinetic": "hartree",
    "conserved": "hartree",
    "temperature": "K",
    "net_force": "hartree/bohr",
    "positions": "bohr",
    "velocities": "bohr hartree/hbar",
    "time": "hbar/hartree",
    "time_step": "hbar/hartree",
    "current": "electrons hartree/(hbar bohr^2), particle current density of the electrons",
    "dipole": "e bohr, ions and electrons",
    "moment": "electrons, up minus down",
    "spin_dipole": "bohr",
    "spin_current": "electrons hartree/(hbar bohr^2), spin up minus spin down",
    "norm": "electrons",
    "cells": "bohr",
    "stress": "hartree/bohr^3",
    "excited": "electrons",
    "populations": "electrons",
    "band_changes": "electrons",
    "angular_momentum": "hbar",
    "vector_potential": "hbar/(e bohr)",
    "electric_field": "hartree/(e bohr)",
    "kick": "hbar/bohr",
}
"""Unit of every number in files and JSON."""
HEAD = ("version", "revision", "parameters")
NEEDED = {
    "ground_state": (
        ("converged", "reason"),
        (*(f"energy/{part}" for part in PARTS), "eigenvalues", "occupations", "k"),
    ),
    "harmonics": (("fundamental", "resolution", "window", "formula"), ("energy", "order", "intensity")),
    "dos": (("reference", "width", "complete_to", "formula"), ("energy", "density", "integral")),
    "bands": (("fermi_level", "path", "formula"), ("energies", "kpts", "x", "special_x", "special_labels")),
    "relaxation": (("converged", "force_tolerance", "formula"), ("energy", "positions", "forces", "largest_force")),
    "dynamics": (
        ("steps", "finished", "ensemble", "formula"),
        ("time", "potential", "kinetic", "conserved", "temperature", "positions", "velocities"),
    ),
    "multiscale": (
        ("steps", "time_step", "finished", "cells", "cell_step", "axis", "index_behind", "orbitals_step", "formula"),
        ("time", "vector_potential", "current", "first_current", "incident", "reflected", "transmitted"),
    ),
    "propagation": (("steps", "time_step", "finished"), ("step", "time", "current", "norm")),
}
"""Kind -> attributes and datasets that are read from every file of the kind; HEAD is in all kinds."""


@contextlib.contextmanager
def opened(path: Path | str) -> Iterator[h5py.File]:
    """Opens an HDF5 file of this format for reading; failures become FileErrors."""
    with hdf5.opened(path) as file:
        if file.attrs.get("format") != FORMAT:
            raise FileError(f"{path}: is no result of `halocline tddft`.")
        yield file


def kind_of(path: Path | str) -> str:
    """'ground_state', 'propagation', 'spectrum', 'relaxation', 'dynamics' or 'bands'. Raises FileError for others."""
    with opened(path) as file:
        return str(file.attrs["kind"])


def is_result(path: Path | str) -> bool:
    """True for any file of this format."""
    try:
        with opened(path):
            return True
    except FileError:
        return False


def _filling(kind: str, attributes: Mapping[str, Any], data: Mapping[str, Any]) -> Callable[[h5py.File], None]:
    head = {"format": FORMAT, "kind": kind, "version": _halocline.core.version, "revision": _halocline.core.revision}
    if given := given_texts(attributes.get("parameters", {})):
        head["as_given"] = given

    def fill(file: h5py.File) -> None:
        for name, value in (head | dict(attributes)).items():
            file.attrs[name] = json.dumps(value, sort_keys=True) if isinstance(value, dict) else value
        for name, value in data.items():
            array, unit = value if isinstance(value, tuple) else (value, unit_of(name))
            if isinstance(array, list) and array and isinstance(array[0], str):
                file.create_dataset(name, data=array, dtype=h5py.string_dtype())
                continue
            file.create_dataset(name, data=np.asarray(array))
            file[name].attrs["unit"] = unit

    return fill


def write(path: Path, kind: str, attributes: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    """Writes a file to disk, whole or not at all.

    data: name -> array, or (array, unit); slashes make groups
    Raises FileError; an older file is then unchanged. For one process.
    """
    ResultFile(path).put(_filling(kind, attributes, data))


class Guarded(ResultFile):
    """A result file that a run may replace, because it is the run's own or may be lost; used inside
    `files.claimed(path)`.

    The run reads the existing file first. It never replaces a file that another program put there later. For one
    process.
    """

    def __init__(self, path: Path, kind: str, identity: Mapping[str, Any], overwrite: bool) -> None:
        """`there`: the attributes of the existing file; None if there is none or it may be overwritten.

        Raises InvalidArgument if it belongs to another run, FileError if it cannot be read.
        """
        super().__init__(path)
        self.there: dict[str, Any] | None = None
        if overwrite or not path.exists():
            return
        try:
            self.there = attributes_of(path, kind)
            if "identity" not in self.there:
                raise FileError(f"{path}: does not say which system it belongs to.")
        except FileError as error:
            raise FileError(f"{str(error).rstrip('.')}; {OTHER_FILE}.") from None
        refuse_other(path, self.there["identity"], identity)

    def write(self, kind: str, attributes: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        """As results.write, after check()."""
        self.check()
        self.put(_filling(kind, attributes, data))

    def check(self) -> None:
        """Raises FileError if the file has changed since it was read."""
        if self.replaced():
            raise FileError(
                f"{self.path}: another program replaced it while this run was working; it is left as it is, and what "
                "this run has since reached is not kept. Move it away and give the same command again."
            )


def unit_of(name: str) -> str:
    """The unit of a dataset, from the first or last word of its path."""
    words = name.split("/")
    return UNITS.get(words[-1], UNITS.get(words[0], "1") if words[-1] != "step" else "1")


def read(path: Path | str, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Attributes (JSON texts parsed) and datasets (by path) of a file. Raises FileError. Collective: no."""
    data: dict[str, Any] = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            value = item[()]
            data[name] = [v.decode() for v in value] if item.dtype == object else value

    with opened(path) as file:
        attributes = _attributes(path, file, kind)
        file.visititems(visit)
    attributes_needed, data_needed = NEEDED.get(kind, ((), ()))
    missing = [name for name in (*HEAD, *attributes_needed) if name not in attributes]
    missing += [name for name in data_needed if name not in data]
    if missing:
        raise FileError(f"{path}: lacks {', '.join(missing)}, which every {kind.replace('_', ' ')} has: {DAMAGED}.")
    return attributes, data


def attributes_of(path: Path | str, kind: str) -> dict[str, Any]:
    """The attributes, as read() returns them."""
    with opened(path) as file:
        return _attributes(path, file, kind)


def _attributes(path: Path | str, file: h5py.File, kind: str) -> dict[str, Any]:
    if file.attrs["kind"] != kind:
        found = str(file.attrs["kind"]).replace("_", " ")
        raise FileError(f"{path}: holds a {found}, and a {kind.replace('_', ' ')} was expected.")
    return {name: _attribute(value) for name, value in file.attrs.items()}


def _attribute(value: Any) -> Any:
    if isinstance(value, str) and value[:1] == "{":
        return json.loads(value)
    return value.item() if isinstance(value, np.generic) else value


def as_json(path: Path | str) -> dict[str, Any]:
    """The numbers of any result file for `--json`: energy.total, eigenvalues[k][i], time, current, ..., and units."""
    kind = kind_of(path)
    attributes, data = read(path, kind)
    numbers: dict[str, Any] = {"kind": kind}
    for name, value in data.items():
        if name == "density":
            continue  # as large as the grid: in the HDF5 and the cube file
        *groups, last = name.split("/")
        inside = numbers
        for group in groups:
            inside = inside.setdefault(group, {})
        inside[last] = value
    units = {name: UNITS[name] for name in numbers if name in UNITS}
    return numbers | {"units": units | attributes.pop("units", {})} | attributes
