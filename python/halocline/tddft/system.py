# SPDX-License-Identifier: Apache-2.0
"""A system ready for computation: structure, pseudopotentials, grid, k-points, electrons and states.

`from_atoms(atoms, spacing=...)` makes one from ASE atoms, with the keys of a run file as arguments; `System(run)` makes
one from a run file. Systems that cannot be computed are refused here, before large allocations. `System.warnings` lists
doubtful choices.
"""

from __future__ import annotations

import copy
import dataclasses
import difflib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ase.data import atomic_numbers, covalent_radii

from halocline import _halocline, memory
from halocline.errors import FileError, InvalidArgument
from halocline.runs import digest_of_file
from halocline.tddft.runfile import Element, Run
from halocline.tddft.runfile_light import unit_vector
from halocline.tddft.spacing import LARGEST_NUMBER, grid_points, recommended_spacing, symmetric_extent
from halocline.tddft.structure import Structure, structure_of
from halocline.tddft.symmetry import Reduction, irreducible
from halocline.tddft.units import BOHR_ANGSTROM, in_unit
from halocline.texts import file_name

native = _halocline.tddft

STATED_ERROR = 1e-3
"""Expected error of an atom at the spacing Pseudopotential.coarsest_spacing [hartree]."""
CLOSE = 0.6
"""Distance of two atoms over the sum of their covalent radii below which a warning is given."""
LARGEST_ERROR = 1.0
"""Estimated error of an atom above which a spacing is refused [hartree]."""
VACUUM = 12.0
"""Room for the electrons at both surfaces of a slab or wire [bohr]."""
LANES = 4
"""Number of orbitals that are computed together."""
MOST_BYTES = 2**56
"""Limit of the bytes of all orbitals."""


class System:
    """The contents of a run file, checked and built.

    run: the run file
    structure: its atoms
    species: symbol -> pseudopotential
    native: the system of the library
    functional: name of the functional, with "auto" resolved
    warnings: sentences about doubtful choices
    """

    def __init__(self, run: Run, atoms: Any = None) -> None:
        """Raises InvalidArgument and FileError for a system that cannot be computed. Collective: no."""
        self.run = run
        self.warnings: list[str] = []
        self.structure: Structure = structure_of(run.system, atoms)
        self.species = pseudopotentials(self.structure.symbols, run.pseudopotential.elements, run.xc.functional)
        self.extent, self.spacing = grid_points(self.structure.edges, run, self.recommended_spacing)
        if run.kpoints.symmetry and self.structure.periodic and self.structure.symbols and run.grid.extent is None:
            self.extent = symmetric_extent(self.structure, self.extent)
            self.spacing = tuple(float(e) / n for e, n in zip(self.structure.edges, self.extent, strict=True))
        self.reduction: Reduction | None = None
        self.functional = self._functional()
        self.functional_kind: str = native.functional_kind(self.functional)
        valence = [self.species[s].valence for s in self.structure.symbols]
        positive = self.structure.jellium[1] if self.structure.jellium else sum(valence)
        self.electrons = positive - run.system.charge
        self._check_electrons(positive)
        self.ion_dipole = self.dipole_of_ions(self.structure.positions)
        self.states = self._states()
        self._refuse_impossible_sizes()
        self._check_spacing()
        self._check_distances()
        self._check_open_axes()
        self.native = self._build()
        native.validate(self.native, run.scf.temperature > 0)
        self._reduce()

    def _reduce(self) -> None:
        """Keeps the irreducible k-points if they are asked for."""
        if not self.run.kpoints.symmetry:
            return
        if not self.periodic or not self.structure.symbols:
            raise InvalidArgument("[kpoints] symmetry = true is for crystals of atoms; leave it out.")
        if self.run.grid.egg_box:
            raise InvalidArgument(
                "[kpoints] symmetry = true and [grid] egg_box = true were given; moving the atoms between grid points "
                "breaks the symmetries of the grid: switch one of them off."
            )
        mesh = np.array([k for k, _, spin in self.native.channels if spin == 0])
        given = self.run.kpoints.symmetry
        direction = None if given is True else unit_vector(given)
        self.reduction = irreducible(self.structure, self.extent, mesh, direction)
        self.native = self._build()

    def _check_open_axes(self) -> None:
        """Refuses a slab or wire that is charged or has several k-points across it, and warns of a thin vacuum."""
        s = self.structure
        for axis, name in enumerate("xyz"):
            if not s.open[axis]:
                continue
            if self.run.system.charge:
                raise InvalidArgument(
                    f"[system] charge = {self.run.system.charge:g} was given for a {s.boundaries}; the energy of a "
                    "charged one depends on the length of its cell and means nothing."
                )
            if self.run.kpoints.mesh[axis] > 1:
                raise InvalidArgument(
                    f"[kpoints] mesh has {self.run.kpoints.mesh[axis]} k-points along {name}, along which this "
                    f"{s.boundaries} does not repeat; give 1."
                )
            if s.symbols:
                thick, half = span_along(s, axis), 0.5 * float(s.edges[axis])
                if thick + VACUUM > half:
                    self.warnings.append(
                        f"the atoms reach over {thick * BOHR_ANGSTROM:.3g} angstrom along {name}, and electrons at "
                        f"their surface farther; half of the cell, {half * BOHR_ANGSTROM:.3g} angstrom, should hold "
                        f"both: take a cell of at least {2 * (thick + VACUUM) * BOHR_ANGSTROM:.3g} angstrom."
                    )

    def without_symmetry(self) -> System:
        """The same system with all k-points of the mesh."""
        if self.reduction is None:
            return self
        other = copy.copy(self)
        other.reduction = None
        other.native = other._build()
        return other

    @property
    def channels(self) -> int:
        """Number of k-points times spins."""
        points = math.prod(self.run.kpoints.mesh) if self.reduction is None else len(self.reduction.points)
        return points * self.spins

    def _check_electrons(self, positive: float) -> None:
        """Refuses a charge that leaves no electrons, and a fixed moment that whole electrons cannot have."""
        system = self.run.system
        if self.electrons <= 0:
            raise InvalidArgument(
                f"[system] charge = {system.charge:g} leaves {self.electrons:g} of the {positive:g} electrons that "
                f"{'the jellium' if self.structure.jellium else 'the atoms'} would have; take a smaller charge."
            )
        up = 0.5 * (self.electrons + system.moment)
        if not system.fixed_moment or self.run.scf.temperature > 0:
            return
        if abs(system.moment) > self.electrons or abs(up - round(up)) > 1e-9:
            raise InvalidArgument(
                f"[system] a fixed moment of {system.moment:g} would have {up:g} of {self.electrons:g} electrons with "
                "spin up, which no occupation gives; take another moment, or a temperature for occupations that are "
                "not whole."
            )

    def _functional(self) -> str:
        wanted = self.run.xc.functional
        if wanted == "auto":
            made_for = {p.functional for p in self.species.values()} - {""}
            listed = ", ".join(f"{symbol}: {p.functional or 'not stated'}" for symbol, p in self.species.items())
            if len(made_for) > 1:
                raise InvalidArgument(
                    f'[xc] the pseudopotentials were made for different functionals ({listed}); "auto" cannot choose: '
                    "say which."
                )
            wanted = made_for.pop() if made_for else "pz"
            try:
                native.functional_name(wanted)
            except InvalidArgument:
                raise InvalidArgument(
                    f'[xc] the pseudopotentials were made for a functional that there is not here ({listed}); "auto" '
                    "cannot choose: say which."
                ) from None
        for p in self.species.values():
            if sentence := native.functional_warning(p, wanted):
                self.warnings.append(sentence)
        return wanted

    def _check_spacing(self) -> None:
        coarse = max(self.spacing)
        for symbol, p in self.species.items():
            if coarse <= p.coarsest_spacing * (1 + 1e-9):
                continue
            # Measured errors of atoms grow as this power of the spacing, or slightly faster.
            error = STATED_ERROR * min(coarse / p.coarsest_spacing, 1e20) ** 10
            sentence = (
                f"a spacing of {coarse:.4g} bohr ({coarse * BOHR_ANGSTROM:.3g} angstrom) is coarse for {symbol} "
                f"({p.origin}): an error of some {error:.1g} hartree an atom is to be expected, "
                f"{STATED_ERROR:g} at {p.coarsest_spacing:.3g} bohr"
            )
            if error > LARGEST_ERROR and not self.run.grid.allow_coarse:
                raise InvalidArgument(f"[grid] {sentence}; take a smaller one, or set allow_coarse = true.")
            self.warnings.append(sentence + ".")

    def _check_distances(self) -> None:
        """Warns of the closest pair of atoms if their cores overlap."""
        s = self.structure
        if len(s.symbols) < 2:
            return
        radii = np.array([covalent_radii[atomic_numbers[symbol]] for symbol in s.symbols]) / BOHR_ANGSTROM
        closest, share = None, CLOSE
        for i in range(1, len(radii)):
            apart = s.positions[:i] - s.positions[i]
            apart += s.to_nearest(apart)
            shares = np.linalg.norm(apart, axis=1) / (radii[:i] + radii[i])
            j = int(np.argmin(shares))
            if shares[j] < share:
                closest, share = (j, i, float(np.linalg.norm(apart[j]))), float(shares[j])
        if closest:
            j, i, distance = closest
            self.warnings.append(
                f"atoms {j} ({s.symbols[j]}) and {i} ({s.symbols[i]}) are {distance:.3g} bohr "
                f"({distance * BOHR_ANGSTROM:.3g} angstrom) apart, {share:.0%} of a bond: their cores overlap, and "
                "pseudopotentials do not describe that; check the positions and their unit."
            )

    def _states(self) -> int:
        """Number of states of a channel: as requested, or the filled ones and a few more, in whole groups of lanes."""
        system = self.run.system
        if system.states is not None:
            return system.states
        filled = math.ceil(0.5 * (self.electrons + (abs(system.moment) if system.spin else 0.0)) - 1e-9)
        more = max(2, filled // 8) + (filled // 4 if self.run.scf.temperature > 0 else 0)
        return LANES * math.ceil((max(filled, 1) + more) / LANES)

    def _refuse_impossible_sizes(self) -> None:
        """Refuses sizes that no machine could hold for any number of processes; make_model() checks the actual
        number."""
        channels = math.prod(self.run.kpoints.mesh) * self.spins
        orbitals = 16 * math.prod(self.extent) * self.states * channels
        what = f"{self.sizes_text()}: that"
        if max(*self.extent, *self.run.kpoints.mesh, self.states) >= LARGEST_NUMBER or orbitals >= MOST_BYTES:
            raise InvalidArgument(f"[grid] {what} is larger than any machine could hold; take a coarser grid.")
        # Every process stores the numbers of all channels.
        memory.require_here(channels * (48 + 16 * self.states), f"[kpoints] {what}", "take fewer k-points")

    def sizes_text(self) -> str:
        """'40 x 40 x 48 points, 8 states and 1 channel'."""
        channels = self.channels
        counts = [*self.extent, self.states, channels]
        x, y, z, states, k = (str(n) if n < 10**9 else "(more than a billion)" for n in counts)
        return f"{x} x {y} x {z} points, {states} states and {k} channel{'' if channels == 1 else 's'}"

    def require_memory(self, group: Any, split: bool, more: int = 0) -> None:
        """Raises InvalidArgument, on every process, if there is not enough memory for the ground state.

        more: sets of orbitals that are kept besides
        split: only the orbitals are split between processes, and each process needs the density of all space
        A lower estimate of a process's allocations [bytes a point]; measured values are up to 20 % above it.
        Collective.
        """
        points = math.prod(self.extent)
        blocks, guards = -(-self.states // LANES), 1
        channels = self.channels
        block_bytes = 16 * LANES
        # The orbitals of all channels with guard vectors, and a quarter or an eighth of those of the channel in work.
        part = -(-(blocks + guards) // min(max(LANES * blocks // 128, 4), 8))
        orbitals = block_bytes * ((1 + more) * channels * blocks + guards * channels + part)
        mixed = 16 * self.spins * min(self.run.scf.mixing_history, self.run.scf.max_iterations)
        fields = (150 if self.periodic else 210) + mixed
        if any(p.core_radius > 0 for p in self.species.values()):
            fields += 8 + 8 * self.spins
        if self.functional_kind != "lda":
            fields += 64 + 56 * self.spins
        if self.functional_kind == "mgga":
            fields += 400 + 200 * self.spins + 4 * mixed
        if self.functional_kind == "potential":
            fields += 100 + 100 * self.spins + 4 * mixed
        needed = points * (orbitals / group.size + fields / (1 if split else group.size))
        advice = "take a coarser grid or more machines"
        memory.require(group, needed, f"[grid] the ground state of {self.sizes_text()}", advice)

    def require_energy(self, wanted: str) -> None:
        """Raises InvalidArgument if the functional has no energy, on which `wanted` depends."""
        if self.functional_kind == "potential":
            raise InvalidArgument(
                f"{wanted} with the functional {self.functional} asked for, a potential that no energy belongs to; "
                "take another functional, such as r2scan."
            )

    def with_points(self, points: np.ndarray, states: int) -> System:
        """The same system with other k-points [1/bohr] and states; nothing is checked."""
        other = copy.copy(self)
        other.states = states
        other.native = other._build(points)
        return other

    def _build(self, points: np.ndarray | None = None, weights: np.ndarray | None = None) -> Any:
        names = list(self.species)
        s, k, r = self.structure, self.run.kpoints, self.reduction if points is None else None
        if r is not None:
            points, weights = r.points, r.weights
        return native.System(
            extent=list(self.extent),
            spacing=list(self.spacing),
            periodic=s.periodic,
            open=list(s.open),
            axes=None if s.orthogonal else (s.cell / s.edges[:, None]).tolist(),
            species=list(self.species.values()),
            atoms=[
                (names.index(symbol), list(map(float, r))) for symbol, r in zip(s.symbols, s.positions, strict=True)
            ],
            jellium=s.jellium,
            mesh=list(k.mesh),
            shift=list(k.shift),
            gamma_centred=k.gamma,
            spins=2 if self.run.system.spin else 1,
            electrons=float(self.electrons),
            states=self.states,
            filtered=self.run.grid.filter,
            points=None if points is None else np.asarray(points, dtype=float).tolist(),
            weights=None if weights is None else weights.tolist(),
            time_reversal=r is not None and r.time_reversal,
            symmetries=[] if r is None else list(zip(r.rotations.tolist(), r.shifts.tolist(), strict=True)),
        )

    def with_states(self, states: int) -> System:
        """The same system with fewer states, because states without electrons need not be propagated."""
        other = copy.copy(self)
        other.states = states
        other.native = other._build()
        return other

    def with_positions(self, positions: np.ndarray) -> System:
        """The same system with the atoms elsewhere [bohr, in the frame of the grid]; nothing is checked."""
        other = copy.copy(self)
        other.structure = dataclasses.replace(self.structure, positions=np.array(positions, dtype=float))
        other.ion_dipole = self.dipole_of_ions(other.structure.positions)
        other.native = other._build()
        return other

    def _in_cell(self, cell: np.ndarray, positions: np.ndarray) -> System:
        """The same atoms in another cell with as many grid points; the library's system is still the old one."""
        other = copy.copy(self)
        cell, positions = np.array(cell, dtype=float), np.array(positions, dtype=float)
        other.structure = dataclasses.replace(self.structure, cell=cell, positions=positions)
        other.spacing = tuple(float(e) / n for e, n in zip(other.structure.edges, self.extent, strict=True))
        other.ion_dipole = self.dipole_of_ions(positions)
        other.reduction = None
        return other

    def with_cell(self, cell: np.ndarray, positions: np.ndarray) -> System:
        """The same crystal with other edges of its cell (in rows) and positions [bohr], on as many grid points, with
        all k-points of the mesh; nothing is checked."""
        other = self._in_cell(cell, positions)
        other.native = other._build()
        return other

    def strained(self, strain: np.ndarray) -> System:
        """The same crystal with its cell and positions multiplied by 1 + strain (3, 3), on as many grid points and with
        the same k-points at the same places of the reciprocal cell, but no symmetries; nothing is checked."""
        grown = np.eye(3) + np.asarray(strain, dtype=float).T
        s = self.structure
        other = self._in_cell(s.cell @ grown, s.positions @ grown)
        of_one_spin = [(k, weight) for k, weight, spin in self.native.channels if spin == 0]
        k, weights = (np.array(column) for column in zip(*of_one_spin, strict=True))
        other.native = other._build(k @ s.cell.T / (2.0 * np.pi) @ other.structure.reciprocal, weights)
        return other

    def dipole_of_ions(self, positions: np.ndarray) -> np.ndarray:
        """Shape (3,): of the ions at these positions [e bohr]; zero for jellium."""
        charges = np.array([self.species[s].valence for s in self.structure.symbols])
        return charges @ positions if len(charges) else np.zeros(3)

    def identity(self) -> dict[str, Any]:
        """Everything that another run must share to continue from this one's orbitals, as plain values."""
        s, k, system = self.structure, self.run.kpoints, self.run.system
        digests = {symbol: digest(e.file) for symbol, e in self.run.pseudopotential.elements.items() if e.file}
        return {
            "system": {
                "symbols": list(s.symbols),
                "positions": np.round(s.positions, 9).tolist(),
                "edges": np.round(s.edges if s.orthogonal else s.cell, 9).tolist(),
                "periodic": s.periodic,
                **({"open": list(s.open)} if any(s.open) else {}),
                "jellium": None if s.jellium is None else [*s.jellium[:2], *s.jellium[2]],
                "electrons": self.electrons,
                "states": self.states,
                "spins": self.spins,
                "moment": system.moment,
                "fixed_moment": system.fixed_moment,
            },
            "grid": {"extent": list(self.extent)} | ({} if s.periodic else {"filter": self.run.grid.filter}),
            "kpoints": {"mesh": list(k.mesh), "shift": list(k.shift), "gamma": k.gamma}
            | ({"symmetry": list(k.symmetry) if isinstance(k.symmetry, tuple) else k.symmetry} if k.symmetry else {}),
            "pseudopotential": {s: f"{p.origin} {p.valence:g} {digests.get(s, '')}" for s, p in self.species.items()},
            "xc": {"functional": self.functional},
            "scf": {"temperature": self.run.scf.temperature},
        }

    @property
    def recommended_spacing(self) -> float | None:
        """Spacing for an error of at most some 1e-4 hartree an atom [bohr]; None for jellium."""
        return recommended_spacing(self.species.values())

    @property
    def spins(self) -> int:
        """Number of spins, 1 or 2."""
        return 2 if self.run.system.spin else 1

    @property
    def periodic(self) -> bool:
        """True for a crystal, False for an isolated box."""
        return self.structure.periodic

    def _angles(self) -> str:
        """The angles of a cell that is not orthogonal."""
        if self.structure.orthogonal:
            return ""
        from ase.geometry import cell_to_cellpar

        return f", angles {' '.join(f'{a:.6g}' for a in cell_to_cellpar(self.structure.cell)[3:])} degrees"

    def describe(self) -> list[str]:
        """Lines that echo the system, including everything that was chosen automatically."""
        s, edges = self.structure, self.structure.edges
        lines = [
            f"system        {s.formula()}, {'crystal' if s.periodic else 'isolated'}, "
            f"{' x '.join(f'{e:.6g}' for e in edges)} bohr{self._angles()}",
            f"grid          {' x '.join(map(str, self.extent))} points, spacing "
            f"{' x '.join(f'{h:.6g}' for h in self.spacing)} bohr ({self.spacing[0] * BOHR_ANGSTROM:.4g} angstrom"
            + (
                f"; {self.recommended_spacing * BOHR_ANGSTROM:.3g} is recommended)" if self.recommended_spacing else ")"
            ),
        ]
        if s.jellium:
            lines.append(f"jellium       r_s = {s.jellium[0]:.6g} bohr, charge {s.jellium[1]:g}")
        lines += [f"{symbol:<14}{p.origin}, valence {p.valence:g}" for symbol, p in self.species.items()]
        k = self.run.kpoints
        if s.periodic:
            lines.append(f"k-points      {' x '.join(map(str, k.mesh))}{', Gamma in the mesh' if k.gamma else ''}")
            if (r := self.reduction) is not None:
                both = "the grid" if k.symmetry is True else "the grid and the field"
                lines.append(
                    f"symmetry      {len(r.points)} of {r.mesh_points} k-points, by {len(r.rotations)} of {r.found} "
                    f"symmetries; {r.of_grid} are symmetries of {both}"
                )
        spin = f", collinear spin, moment {self.run.system.moment:g}" if self.spins == 2 else ""
        lines.append(f"electrons     {self.electrons:g} in {self.states} states a channel{spin}")
        lines.append(f"functional    {self.functional}")
        return lines


def span_along(structure: Structure, axis: int) -> float:
    """The length [bohr] that the atoms reach over along an edge, where they are nearest to each other."""
    places = np.sort(np.mod(structure.positions @ np.linalg.inv(structure.cell), 1.0)[:, axis])
    gaps = np.append(np.diff(places), 1.0 + places[0] - places[-1])
    return float((1.0 - gaps.max()) * structure.edges[axis])


def digest(path: str) -> str:
    """Digest of a file's content. Raises FileError."""
    return digest_of_file(path)[:16]


def pseudopotentials(
    symbols: Sequence[str], elements: Mapping[str, Element], functional: str = "auto"
) -> dict[str, Any]:
    """The pseudopotential of each element, in the order of first appearance.

    functional: of the calculation; built-in ones are those made for PBE if it has gradients, else those for the LDA.
        With "auto" the files decide, and without files the LDA is taken.
    Raises InvalidArgument for an element without one, FileError for a file that is damaged or of another element.
    """
    present = list(dict.fromkeys(symbols))
    for symbol in elements:
        if symbol not in present:
            near = difflib.get_close_matches(symbol, present, n=1, cutoff=0.5)
            raise InvalidArgument(
                f"[pseudopotential] has a line for {symbol}, but there are only {', '.join(present) or 'no'} atoms"
                f"{f'; did you mean {near[0]}?' if near else '.'}"
            )
    from_files = {
        symbol: pseudopotential(symbol, elements[symbol])
        for symbol in present
        if symbol in elements and elements[symbol].file is not None
    }
    wanted = [p.functional for p in from_files.values()] if functional == "auto" else [functional]
    table = "pbe" if any(has_gradients(name) for name in wanted) else "pade"
    return {
        symbol: from_files.get(symbol) or pseudopotential(symbol, elements.get(symbol, Element()), table)
        for symbol in present
    }


def has_gradients(functional: str) -> bool:
    """Whether a functional has gradients; False for an unknown one and for none."""
    try:
        return bool(functional) and native.functional_kind(functional) != "lda"
    except InvalidArgument:
        return False


def pseudopotential(symbol: str, element: Element, table: str = "pade") -> Any:
    """The pseudopotential of one element; see pseudopotentials(). table: of the built-in ones, "pade" or "pbe"."""
    if element.file is None:
        return native.goedecker(symbol, element.valence or 0, table)
    if not Path(element.file).is_file():
        raise FileError(f"{element.file}: no such pseudopotential (paths are relative to the folder of the command).")
    return native.read_potential_file(
        file_name(element.file),
        symbol=symbol,
        format=element.format or "",
        local=-1 if element.local is None else element.local,
        largest=-1 if element.largest is None else element.largest,
        valence=element.valence or 0,
        name=element.name or "",
    )


def from_atoms(
    atoms: Any,
    spacing: Any = None,
    *,
    extent: Any = None,
    box: Any = None,
    periodic: bool | None = None,
    mesh: Any = (1, 1, 1),
    shift: Any = (0.0, 0.0, 0.0),
    gamma: bool = False,
    symmetry: Any = False,
    pseudopotential: Mapping[str, Any] | None = None,
    functional: str = "auto",
    temperature: Any = 0.0,
    allow_coarse: bool = False,
    filter: bool = True,
    **system: Any,
) -> System:
    """A system from ASE atoms.

    Plain numbers are in ASE's units, like the atoms: lengths in angstrom, the temperature in eV. A text carries its
    own unit, as in "0.4 bohr" or "300 K". With unit = "bohr" plain lengths are in bohr.

    atoms: positions and cell in angstrom, as in ASE
    spacing: of the grid; or give extent. Without both it is System.recommended_spacing
    box: edges of an isolated box, if the atoms have no cell
    mesh, shift, gamma: k-points of a crystal
    symmetry: True: only the k-points that the crystal's symmetries do not relate; "z", or another direction: by
        those symmetries that leave it alone, for a field along it
    pseudopotential: symbol -> file name or {"file": ..., "format": "ky", "local": 2}; other elements use the built-in
        ones
    functional: "pz", "pz-mod", "pw" (PW92), "pade", "x", "none", "pbe", "pbesol", "revpbe", "blyp", "r2scan", "scan",
        "tpss", "tb-mbj", libxc's names joined by "+", or "auto"
    temperature: of the Fermi smearing
    filter: isolated atoms: leave out the waves of their potentials that the grid cannot carry, as in a crystal
    system: other keys of [system]: charge, spin, moment, states, centre
    Raises InvalidArgument and FileError. Collective: no.
    """
    given = {"file": "(atoms)", "box": box, "periodic": periodic, **system}
    unit = system.get("unit", "angstrom")
    grid = {"spacing": in_unit(spacing, unit), "extent": extent, "allow_coarse": allow_coarse, "filter": filter}
    tables = {
        "system": {k: v for k, v in given.items() if v is not None},
        "grid": {k: v for k, v in grid.items() if v is not None},
        "kpoints": {"mesh": mesh, "shift": shift, "gamma": gamma, "symmetry": symmetry},
        "pseudopotential": dict(pseudopotential or {}),
        "xc": {"functional": functional},
        "scf": {"temperature": in_unit(temperature, "eV")},
    }
    return System(Run.from_table(tables), atoms)
