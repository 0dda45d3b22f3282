# SPDX-License-Identifier: Apache-2.0
"""The run file of `halocline tddft`: sections, keys, defaults and refusals.

One file serves all commands: sections of the other commands are checked and otherwise ignored. Numbers are in
Hartree atomic units, texts carry their unit ("0.25 angstrom"); see units.py. Paths are relative to the folder in which
the command is started.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from halocline import _halocline
from halocline.errors import InvalidArgument
from halocline.parallel import buffers_key, posting_key, sums_key, transport_key
from halocline.runs import RunFile, digest, example, hdf5_name, time_limit_key
from halocline.schema import (
    REQUIRED,
    Section,
    Unfit,
    array,
    boolean,
    choice,
    integer,
    key,
    number,
    pythonic,
    read_table,
    table,
    text,
)
from halocline.tddft.runfile_crystal import AXES, BandPath, Dos, KPoints, three_counts
from halocline.tddft.runfile_light import Multiscale, Propagate
from halocline.tddft.runfile_motion import Dynamics, Ions, Relax
from halocline.tddft.runfile_spectra import Harmonics, Spectrum
from halocline.tddft.units import converted, quantity, vector

FUNCTIONALS = {
    "auto": (),
    "pz-mod": ("pzm", "lda-pz-mod"),
    "pz": ("pz81", "lda-pz", "pzlda", "ca", "perdew-zunger"),
    "pw": ("pw92", "pw-mod", "lda-pw", "pwlda", "perdew-wang"),
    "pade": ("teter", "teter93", "lda-pade", "gth", "goedecker"),
    "x": ("slater", "lda-x", "exchange"),
    "pbe": ("pbe96", "gga-pbe", "perdew-burke-ernzerhof"),
    "pbesol": ("gga-pbesol",),
    "revpbe": ("gga-revpbe", "zhang-yang"),
    "blyp": ("gga-blyp", "b88lyp"),
    "r2scan": ("mgga-r2scan", "r2-scan"),
    "scan": ("mgga-scan",),
    "tpss": ("mgga-tpss",),
    "tb-mbj": ("tbmbj", "mbj", "tb09", "tran-blaha", "modified-becke-johnson"),
    "none": ("hartree",),
}
"""Functional -> other common names. Case, blanks, "-", "_" and "+" do not matter."""
OF_LIBXC = re.compile(r"(lda|gga|mgga|hyb)_\w+(\+(lda|gga|mgga|hyb)_\w+)*")
"""Names of libxc, joined by "+"."""

length = quantity("length", above=0.0)
lengths = vector(length, "a length, or three of them x, y, z")


def any_length(value: Any) -> Any:
    """A number, or a text with a unit; the section determines the unit of a number."""
    if isinstance(value, str):
        converted(value, "length")
        return value
    return number()(value)


def cell_edges(value: Any) -> tuple:
    """A length, three of them, or three vectors of lengths."""
    expected = "a length, three of them x, y, z, or three vectors [x, y, z]"
    value = pythonic(value)
    if isinstance(value, (list, tuple)) and any(isinstance(v, (list, tuple)) for v in value):
        return array(array(any_length, "three lengths", length=3), expected, length=3)(value)
    return vector(any_length, expected)(value)


def periodicity(value: Any) -> Any:
    """True or false, or some of the letters x, y and z; "xyz" is true."""
    if not isinstance(value, str):
        return boolean(value)
    if not value or set(value) - set(AXES) or len(set(value)) != len(value):
        raise Unfit('true, false, or axes such as "xy" (a slab) or "z" (a wire)')
    return True if len(value) == 3 else "".join(sorted(value))


def atom(value: Any) -> tuple:
    """A symbol and three coordinates."""
    expected = '["C", x, y, z]'
    if not isinstance(value, (list, tuple)) or len(value) != 4 or not isinstance(value[0], str):
        raise Unfit(expected)
    return (value[0], *(any_length(v) for v in value[1:]))


def functional(value: Any) -> str:
    """A name of FUNCTIONALS, given by this or another common name, or names of libxc."""

    def plainly(name: str) -> str:
        return re.sub(r"[\s_+-]", "", name.lower())

    names = {plainly(n): ours for ours, others in FUNCTIONALS.items() for n in (ours, *others)}
    given = plainly(text(value))
    if given in names:
        return names[given]
    before, colon, parameter = value.partition(":")
    if colon and names.get(plainly(before)) == "tb-mbj":
        try:
            return _halocline.tddft.functional_name(f"tb-mbj:{parameter.strip()}")
        except InvalidArgument as error:
            raise Unfit(f"a functional; {error}") from None
    if OF_LIBXC.fullmatch(name := value.lower().replace(" ", "")):
        try:
            return _halocline.tddft.functional_name(name)
        except InvalidArgument as error:
            raise Unfit(f"functionals of libxc; {error}") from None
    ours = [f'"{n}"' for n in FUNCTIONALS]
    expected = f"a functional: {', '.join(ours[:-1])}, {ours[-1]}, or libxc's names joined by +"
    if given in ("lda", "lsda"):
        raise Unfit(f'{expected}; codes mean different ones by LDA, mostly "pz" or "pw"')
    near = difflib.get_close_matches(given, list(names), n=1, cutoff=0.6)
    raise Unfit(f'{expected}; did you mean "{names[near[0]]}"' if near else expected)


@dataclasses.dataclass(frozen=True)
class Jellium(Section):
    """A ball of uniform positive charge instead of atoms."""

    title: ClassVar[str] = "[system] jellium:"
    radius: float = key(REQUIRED, length, "Wigner-Seitz radius r_s: the density is 3 / (4 pi r_s^3)")
    charge: float = key(REQUIRED, number(above=0.0), "of the whole ball")
    centre: tuple | None = key(None, vector(any_length, "three lengths"), "where it stands; in the middle when absent")


@dataclasses.dataclass(frozen=True)
class System(Section):
    title: ClassVar[str] = "[system]"
    file: str | None = key(None, text, "atoms from a file: anything that ASE reads", example='file = "acetylene.xyz"')
    atoms: tuple | None = key(
        None,
        array(atom, 'a list of atoms ["C", x, y, z]', at_least=1),
        "instead of file: the atoms, coordinates in the unit below",
        example='atoms = [["C", 0, 0, -0.5997], ["C", 0, 0, 0.5997], ["H", 0, 0, -1.6623], ["H", 0, 0, 1.6623]]',
    )
    jellium: Jellium | None = key(
        None,
        table(Jellium),
        "instead of atoms: a ball of uniform positive charge",
        example="jellium = { radius = 1.0, charge = 10 }",
    )
    unit: str = key("angstrom", choice("angstrom", "bohr"), "of plain numbers in atoms, cell, box and jellium's centre")
    periodic: bool | str | None = key(
        None,
        periodicity,
        'a crystal (true), a box (false), or the axes along which it repeats: "xy" for a slab, "z" for a wire; as the '
        "file says when absent",
        example="periodic = false",
    )
    cell: tuple | None = key(
        None,
        cell_edges,
        "edges of a crystal's cell: lengths along x, y, z, or three vectors; as the file says when absent",
        example="cell = [10.26, 10.26, 10.26]",
    )
    box: tuple | None = key(
        None,
        vector(any_length, "a length, or three of them x, y, z"),
        "edges of the box that isolated atoms stand in",
        example="box = [8.0, 8.0, 9.6]",
    )
    centre: bool = key(True, boolean, "move isolated atoms to the middle of the box; false: the origin is the middle")
    charge: float = key(0.0, number(), "of the whole: electrons taken away")
    spin: bool = key(False, boolean, "collinear spin")
    moment: float = key(0.0, number(), "spin: electrons up minus electrons down, to start from")
    fixed_moment: bool = key(False, boolean, "spin: keep the moment")
    states: int | None = key(
        None,
        integer(at_least=1),
        "of each k-point and spin; a few more than are filled when absent",
        example="states = 8",
    )

    def check_together(self) -> None:
        given = [n for n in ("file", "atoms", "jellium") if getattr(self, n) is not None]
        if not given:
            raise InvalidArgument("[system] needs 'file' (anything ASE reads), 'atoms' (a list) or 'jellium'.")
        if len(given) > 1:
            raise InvalidArgument(f"[system] has both '{given[0]}' and '{given[1]}'; keep one of them.")
        if self.cell is not None and self.box is not None:
            raise InvalidArgument("[system] has both 'cell' (a crystal) and 'box' (isolated); keep one of them.")
        if self.periodic is False and self.cell is not None:
            raise InvalidArgument("[system] cell is set but periodic = false; an isolated system stands in a 'box'.")
        if self.periodic and self.box is not None:
            raise InvalidArgument("[system] box is set but periodic = true; a crystal has a 'cell'.")
        if self.file is None and self.cell is None and self.box is None:
            raise InvalidArgument("[system] needs 'cell' (a crystal) or 'box' (isolated): the edges along x, y, z.")
        if not self.spin and (self.moment or self.fixed_moment):
            raise InvalidArgument("[system] moment is set but spin = false.")

    def in_bohr(self, value: Any) -> float:
        """A length of this section in atomic units."""
        try:
            return converted(value if isinstance(value, str) else f"{value!r} {self.unit}", "length")
        except Unfit:  # only if the conversion overflows: the checks have accepted the value
            raise InvalidArgument(f"[system] {value!r} {self.unit} is longer than numbers can be.") from None

    def vectors(self) -> np.ndarray | None:
        """Edges of the cell or box in rows [bohr]; None if the structure file gives them."""
        given = self.cell if self.cell is not None else self.box
        if given is None:
            return None
        if isinstance(given[0], tuple):
            return np.array([[self.in_bohr(v) for v in edge] for edge in given])
        return np.diag([self.in_bohr(v) for v in given])


@dataclasses.dataclass(frozen=True)
class Grid(Section):
    title: ClassVar[str] = "[grid]"
    spacing: tuple | None = key(
        None,
        lengths,
        "of the grid points, along each axis or one for all; made smaller until it divides the cell; the recommended "
        "one of the pseudopotentials when absent",
        example='spacing = "0.25 angstrom"',
    )
    extent: tuple | None = key(
        None, three_counts, "instead of spacing: grid points along x, y, z", example="extent = [36, 36, 44]"
    )
    filter: bool = key(
        True,
        boolean,
        "isolated: leave out the waves of the ions' potentials that the grid cannot carry; false: as codes that sample "
        "the potentials at the points",
    )
    allow_coarse: bool = key(False, boolean, "compute even where the estimated error exceeds 1 hartree an atom")
    egg_box: bool = key(False, boolean, "measure how the energy changes as an atom moves between grid points")

    def check_together(self) -> None:
        if self.spacing is not None and self.extent is not None:
            raise InvalidArgument("[grid] has both 'spacing' and 'extent'; give one of them, or none.")


@dataclasses.dataclass(frozen=True)
class Element(Section):
    """The pseudopotential of one element."""

    title: ClassVar[str] = "[pseudopotential]"
    file: str | None = key(None, text, "a file of one of the formats below; the built-in one when absent")
    format: str | None = key(
        None,
        choice("upf", "abinit", "gth", "cpi", "ky"),
        "upf (1 and 2), abinit (psp8, fhi, pspnc, hgh, ...), gth (a library of CP2K), cpi (bare FHI table), ky; "
        "recognised by the content when absent",
    )
    local: int | None = key(
        None,
        integer(at_least=0, at_most=3),
        "ky, cpi, abinit's fhi and pspnc: angular momentum of the local channel; that of the file, or the largest, "
        "when absent",
    )
    largest: int | None = key(
        None, integer(at_least=0, at_most=3), "ky: channels of higher angular momentum are left out; none when absent"
    )
    valence: int | None = key(None, integer(at_least=1), "built-in and gth: valence electrons, where there is a choice")
    name: str | None = key(None, text, 'gth: name of the entry, as "GTH-PBE-q4"')

    def check_together(self) -> None:
        described = (self.format, self.local, self.largest, self.name)
        if self.file is None and described != (None, None, None, None):
            raise InvalidArgument(
                "[pseudopotential] format, local, largest and name describe a file; name it with 'file'."
            )


def elements(value: Any) -> dict[str, Element]:
    """Symbol -> Element; a text is a file name."""
    if not isinstance(value, Mapping):
        raise Unfit('a table { Si = { file = "Si.upf" } }')
    made = {}
    for symbol, entry in value.items():
        if isinstance(entry, str):
            entry = {"file": entry}
        try:
            made[symbol] = entry if isinstance(entry, Element) else read_table(Element, entry)
        except InvalidArgument as error:
            raise InvalidArgument(str(error).replace("[pseudopotential]", f"[pseudopotential] {symbol}", 1)) from None
    return made


@dataclasses.dataclass(frozen=True)
class Pseudopotential(Section):
    """Keys beside `default` are symbols of elements."""

    title: ClassVar[str] = "[pseudopotential]"
    default: str = key("goedecker", choice("goedecker"), 'of elements without a line: "goedecker", the built-in ones')
    elements: dict = key(
        {},
        elements,
        "of an element: a file, or the valence of the built-in one; the key is its symbol",
        example='# Si = { file = "Si_rps.dat", format = "ky", local = 2 }',
    )

    @staticmethod
    def prepared(value: Any) -> Any:
        """The table with the elements' symbols, which are keys in run files, collected in `elements`."""
        if not isinstance(value, Mapping) or "elements" in value:
            return value
        symbols = {k: v for k, v in value.items() if isinstance(v, Mapping) or (k[:1].isupper() and len(k) <= 2)}
        return {k: v for k, v in value.items() if k not in symbols} | ({"elements": symbols} if symbols else {})

    def as_toml_values(self) -> dict[str, Any]:
        return {"default": self.default} | {k: e.as_toml_values() for k, e in self.elements.items()}


@dataclasses.dataclass(frozen=True)
class Xc(Section):
    title: ClassVar[str] = "[xc]"
    functional: str = key(
        "auto",
        functional,
        '"pz", "pz-mod", "pw" (PW92), "pade", "x", "none", "pbe", "pbesol", "revpbe", "blyp", "r2scan", "scan", '
        '"tpss", "tb-mbj" or "tb-mbj:1.12", libxc\'s names joined by "+" as in "gga_x_pbe+gga_c_lyp", or "auto": '
        "the one that the pseudopotentials were made for",
    )


@dataclasses.dataclass(frozen=True)
class Scf(Section):
    title: ClassVar[str] = "[scf]"
    tolerance: float = key(1e-8, number(above=0.0), "of the density: integral of its change, per electron")
    energy_tolerance: float = key(1e-9, quantity("energy", above=0.0), "change of the total energy in an iteration")
    eigen_tolerance: float = key(1e-6, quantity("energy", above=0.0), "largest residual of an occupied state")
    max_iterations: int = key(100, integer(at_least=1), "before giving up; exit status 3 then")
    eigensolver: str = key("chebyshev", choice("chebyshev", "lobpcg"), '"chebyshev" or "lobpcg"')
    dense: str = key(
        "auto",
        choice("auto", "lapack", "scalapack"),
        '"lapack": every process solves the dense eigenproblem of chebyshev; "scalapack": together; "auto": together '
        "from 512 vectors on where ScaLAPACK is installed",
    )
    filter_degree: int = key(
        0, integer(at_least=0, at_most=100), "of the polynomial, iterations of lobpcg; 0: chosen from the spectrum"
    )
    mixing: str = key("pulay", choice("pulay", "broyden", "linear"), '"pulay", "broyden" or "linear"')
    mixing_weight: float = key(0.3, number(above=0.0), "of the new density")
    mixing_history: int = key(8, integer(at_least=1, at_most=100), "densities remembered")
    mixing_screening: float = key(
        0.0,
        quantity("momentum", at_least=0.0),
        "crystals: changes of the density of smaller wave number are damped; for metals in long cells 0.5 to 1",
    )
    temperature: float = key(
        0.0, quantity("energy", at_least=0.0), "of the Fermi smearing; 0: the lowest states are filled"
    )
    seed: int = key(1, integer(at_least=0), "of the random orbitals, which do not depend on the process count")
    forces: bool = key(True, boolean, "forces on the atoms when converged")


@dataclasses.dataclass(frozen=True)
class Output(Section):
    title: ClassVar[str] = "[output]"
    file: str = key(
        "electrons.h5", hdf5_name, "names all results: electrons_gs.h5, electrons_rt.h5, electrons_spectrum.h5, ..."
    )
    cube: bool = key(True, boolean, "the ground state's density as a cube file")
    plots: bool = key(True, boolean, "convergence, dipole or current, spectrum as PNG")
    json: bool = key(False, boolean, "the numbers as JSON beside each result")

    def path(self, suffix: str) -> Path:
        """The path of a result, such as path("_gs.h5")."""
        given = Path(self.file)
        return given.with_name(given.stem + suffix)


@dataclasses.dataclass(frozen=True)
class Parallel(Section):
    title: ClassVar[str] = "[parallel]"
    k: int | None = key(None, integer(at_least=1), "processes over k-points and spins; automatic", example="k = 1")
    orbitals: int | None = key(None, integer(at_least=1), "processes over orbitals", example="orbitals = 1")
    space: tuple | None = key(None, three_counts, "processes over the grid, x, y, z", example="space = [1, 1, 2]")
    time_limit: float = time_limit_key()
    transport: str = transport_key("auto")
    buffers: int = buffers_key()
    posting: str = posting_key()
    sums: str = sums_key()
    hartree: str = key(
        "auto", choice("auto", "redundant", "shared"), "Hartree potential in each group, by all, or measured (auto)"
    )


@dataclasses.dataclass(frozen=True)
class Run(RunFile):
    """A whole run file."""

    sections: ClassVar[dict[str, type[Section]]] = {
        "system": System,
        "grid": Grid,
        "kpoints": KPoints,
        "pseudopotential": Pseudopotential,
        "xc": Xc,
        "scf": Scf,
        "ions": Ions,
        "propagate": Propagate,
        "multiscale": Multiscale,
        "spectrum": Spectrum,
        "harmonics": Harmonics,
        "bands": BandPath,
        "dos": Dos,
        "relax": Relax,
        "dynamics": Dynamics,
        "output": Output,
        "parallel": Parallel,
    }
    required: ClassVar[tuple[str, ...]] = ("system",)
    command: ClassVar[str] = "halocline tddft ground-state"
    example_head: ClassVar[tuple[str, ...]] = (
        "Run file of `halocline tddft ground-state`, `propagate`, `spectrum`, `relax`, `dynamics`: acetylene in a box.",
        'Numbers are in Hartree atomic units; a text carries its unit: "0.25 angstrom", "1.25 as", "13.6 eV".',
        "What is commented out has no default, or stands for what is.",
    )
    example_keys: ClassVar[tuple[str, ...]] = (
        "system.atoms",
        "system.box",
        "grid.extent",
        "propagate.total_time",
        "dynamics.total_time",
    )
    crystal_head: ClassVar[tuple[str, ...]] = (
        "Run file of `halocline tddft multiscale` and `bands`, and of the other commands: silicon.",
        *example_head[1:],
    )
    crystal_keys: ClassVar[dict[str, str]] = {
        "system.atoms": """atoms = [
    ["Si", 0, 0, 0], ["Si", 0, 2.715, 2.715], ["Si", 2.715, 0, 2.715], ["Si", 2.715, 2.715, 0],
    ["Si", 1.3575, 1.3575, 1.3575], ["Si", 1.3575, 4.0725, 4.0725],
    ["Si", 4.0725, 1.3575, 4.0725], ["Si", 4.0725, 4.0725, 1.3575],
]""",
        "system.cell": "cell = [5.43, 5.43, 5.43]",
        "kpoints.mesh": "mesh = [4, 4, 4]",
        "kpoints.symmetry": 'symmetry = "z"',
        "propagate.total_time": 'total_time = "12 fs"',
        "propagate.kick": "kick = 0.0",
        "propagate.pulses": 'pulses = [{ amplitude = "1e12 W/cm^2", frequency = "1.55 eV", duration = "10 fs" }]',
        "multiscale.cells": "cells = 4",
        "multiscale.step": 'step = "5 nm"',
        "dynamics.total_time": 'total_time = "1 ps"',
    }

    system: System
    grid: Grid = dataclasses.field(default_factory=Grid)
    kpoints: KPoints = dataclasses.field(default_factory=KPoints)
    pseudopotential: Pseudopotential = dataclasses.field(default_factory=Pseudopotential)
    xc: Xc = dataclasses.field(default_factory=Xc)
    scf: Scf = dataclasses.field(default_factory=Scf)
    ions: Ions = dataclasses.field(default_factory=Ions)
    propagate: Propagate = dataclasses.field(default_factory=Propagate)
    multiscale: Multiscale = dataclasses.field(default_factory=Multiscale)
    spectrum: Spectrum = dataclasses.field(default_factory=Spectrum)
    harmonics: Harmonics = dataclasses.field(default_factory=Harmonics)
    bands: BandPath = dataclasses.field(default_factory=BandPath)
    dos: Dos = dataclasses.field(default_factory=Dos)
    relax: Relax = dataclasses.field(default_factory=Relax)
    dynamics: Dynamics = dataclasses.field(default_factory=Dynamics)
    output: Output = dataclasses.field(default_factory=Output)
    parallel: Parallel = dataclasses.field(default_factory=Parallel)

    @classmethod
    def example_of_crystal(cls) -> str:
        """The same as example() of a crystal, for commands that molecules have no use for."""
        return example(cls.sections, cls.crystal_head, (), cls.crystal_keys)

    def physics_hash(self, *sections: str) -> str:
        """Digest of the named sections; without names, of all sections that affect a ground state."""
        named = sections or ("system", "grid", "kpoints", "pseudopotential", "xc", "scf")
        values = self.as_toml_values()
        return digest({n: values[n] for n in named})


read_run_file, parse_run_file, example_run_file = Run.read, Run.parse, Run.example
example_of_crystal = Run.example_of_crystal
