# SPDX-License-Identifier: Apache-2.0
"""Pseudopotentials on this machine: the built-in ones, and files in the folders where other codes keep theirs."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ase.data import atomic_numbers

from halocline import _halocline
from halocline.errors import Error, FileError, InvalidArgument
from halocline.tddft import runfile
from halocline.tddft.units import BOHR_ANGSTROM
from halocline.texts import file_name

native = _halocline.tddft

FOLDER_VARIABLES = ("HALOCLINE_POTENTIALS", "ESPRESSO_PSEUDO", "ABI_PSPDIR", "CP2K_DATA_DIR")
"""Environment variables with folders, several of them separated as in PATH."""
USUAL_FOLDERS = (
    "/usr/share/espresso/pseudo",  # Debian: quantum-espresso-data
    "/usr/share/abinit/psp",  # Debian: abinit-data
    "/usr/share/cp2k",  # Debian: cp2k-data
    "/usr/local/share/pseudopotentials",
    "~/pseudopotentials",
    "~/.local/share/pseudopotentials",
)
SUFFIXES = (
    ".upf", ".psp8", ".fhi", ".cpi", ".pspnc", ".hgh", ".pspgth", ".pspfhi", ".psp", ".psml", ".xml", ".drh", ".khgh",
    ".oncvpsp", ".paw",
)  # fmt: skip
"""Of pseudopotential files; others are looked at if their names begin with the number of an element or hold `_POT`."""
MOST_BYTES = 64 << 20
"""Larger files are no pseudopotentials."""


@dataclasses.dataclass(frozen=True)
class Found:
    """A pseudopotential, or the reason why one cannot be used."""

    path: str
    """Of the file; empty for a built-in one."""
    symbol: str = ""
    family: str = ""
    """"GTH (pade)", "GTH (pbe)" for built-in ones; "upf", "abinit 8", "gth", "cpi", "ky" for files."""
    name: str = ""
    """Of the entry in a library."""
    functional: str = ""
    """Empty if the file does not state it."""
    valence: float = 0.0
    core_correction: bool = False
    spacing: float = 0.0
    """Largest recommended one [bohr]: an error of some 1e-3 hartree an atom is to be expected."""
    refused: str = ""
    """Sentence; empty for one that can be used."""

    @property
    def cutoff(self) -> float:
        """Plane-wave cutoff of the same resolution, (pi/spacing)^2 / 2 [hartree]."""
        return 0.5 * (math.pi / self.spacing) ** 2 if self.spacing else 0.0


def folders(more: Iterable[str | Path] = (), environment: Mapping[str, str] | None = None) -> list[Path]:
    """The folders that exist: `more`, those of the environment, and the usual ones, each once.

    Raises FileError for one of `more` that does not exist.
    """
    environment = os.environ if environment is None else environment
    named = [Path(folder) for folder in more]
    for folder in named:
        if not folder.is_dir():
            raise FileError(f"{folder}: no such folder.")
    for variable in FOLDER_VARIABLES:
        named += [Path(part) for part in environment.get(variable, "").split(os.pathsep) if part]
    named += [Path(folder).expanduser() for folder in USUAL_FOLDERS]
    found: dict[Path, None] = {}
    for folder in named:
        if folder.is_dir():
            found[folder.resolve()] = None
    return list(found)


def candidates(folder: Path) -> Iterator[Path]:
    """Files in a folder and below that may be pseudopotentials, by their names."""
    for path in sorted(folder.rglob("*")):
        lower = path.name.lower()
        numbered = lower[:1].isdigit() and any(c.isalpha() for c in lower[:4])
        library = "_pot" in lower or lower == "potential"
        if (lower.endswith(SUFFIXES) or numbered or library) and path.is_file() and path.stat().st_size <= MOST_BYTES:
            yield path


def built_in(element: str = "") -> Iterator[Found]:
    """All built-in pseudopotentials, or those of one element."""
    for table in ("pade", "pbe"):
        for symbol in [element] if element else native.goedecker_symbols(table):
            for valence in native.goedecker_valences(symbol, table):
                yield described(native.goedecker(symbol, valence, table), "", f"GTH ({table})")


def described(p: Any, path: str, family: str, name: str = "") -> Found:
    """The entry of a pseudopotential of the library."""
    return Found(
        path=path,
        symbol=p.symbol,
        family=family,
        name=name,
        functional=p.functional,
        valence=p.valence,
        core_correction=p.core_radius > 0,
        spacing=p.coarsest_spacing,
    )


def read(path: Path, element: str = "") -> Iterator[Found]:
    """The pseudopotentials of a file, or the reason why it cannot be used. element: of libraries, only this one"""
    name = str(path)
    try:
        kind = native.recognised_format(file_name(name))
        if kind == "gth":
            yield from library(path, element)
        elif kind in ("cpi", "ky"):
            p = native.read_potential_file(file_name(name), symbol="?", format=kind)
            yield dataclasses.replace(described(p, name, kind), symbol="")
        else:
            p = native.read_potential_file(file_name(name), format=kind)
            yield described(p, name, family_of(p, kind))
    except Error as error:
        yield Found(path=name, refused=str(error).removeprefix(name).lstrip(": "))


def family_of(p: Any, kind: str) -> str:
    """ "abinit 8" of an origin that ends with "(pspcod 8)"."""
    return f"abinit {p.origin.rsplit(' ', 1)[1].rstrip(')')}" if kind == "abinit" else kind


def library(path: Path, element: str) -> Iterator[Found]:
    """The entries of a library in GTH format."""
    for symbol, entry in native.library_entries(file_name(str(path))):
        if element and symbol != element:
            continue
        try:
            p = native.read_potential_file(file_name(str(path)), symbol=symbol, format="gth", name=entry)
            yield described(p, str(path), "gth", entry)
        except Error as error:
            reason = str(error).removeprefix(str(path)).lstrip(": ")
            yield Found(path=str(path), symbol=symbol, family="gth", name=entry, refused=reason)


def find(
    element: str = "", functional: str = "", more: Iterable[str | Path] = (), built_in_too: bool = True
) -> list[Found]:
    """Pseudopotentials of this machine.

    element: only of this one; functional: only made for this one, by a name of [xc]
    more: folders beside those of the environment and the usual ones
    Returns the usable ones by element, then the refused files. Raises InvalidArgument for an unknown element or
    functional, FileError for a folder of `more` that does not exist. Collective: no. Cost: every file is read.
    """
    if element and element not in atomic_numbers:
        raise InvalidArgument(f'"{element}" was given, and is no chemical symbol; give one such as "Si".')
    wanted = ""
    if functional:
        try:
            wanted = runfile.functional(functional)
        except runfile.Unfit as error:
            raise InvalidArgument(f'functional = "{functional}" given, but expected {error}.') from None
    found = list(built_in(element)) if built_in_too else []
    for folder in folders(more):
        for path in candidates(folder):
            found += read(path, element)
    if element:
        found = [f for f in found if f.symbol in (element, "")]
    if wanted:
        found = [f for f in found if f.refused or same_functional(f.functional, wanted)]
    return sorted(found, key=lambda f: (bool(f.refused), f.symbol, f.path != "", f.functional, f.path, f.name))


def same_functional(made_for: str, wanted: str) -> bool:
    """Whether two names are one functional."""
    try:
        return bool(made_for) and native.functional_name(made_for) == wanted
    except InvalidArgument:
        return made_for == wanted


def table(found: Iterable[Found]) -> list[str]:
    """Lines for people; lengths in angstrom, energies in hartree."""
    lines = ["element  family      functional   valence  core  spacing  cutoff  file"]
    for f in found:
        where = f"{f.path} {f.name}".strip() or "(built in)"
        lines.append(
            f"{f.symbol or '?':<7}  {f.family:<10}  {f.functional or 'not stated':<11}  {f.valence:7g}  "
            f"{'yes' if f.core_correction else 'no':<4}  {f.spacing * BOHR_ANGSTROM:7.3f}  {f.cutoff:6.1f}  {where}"
        )
    return lines
