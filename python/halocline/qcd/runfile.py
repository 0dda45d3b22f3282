# SPDX-License-Identifier: Apache-2.0
"""The run file of `halocline qcd spectrum` and `halocline qcd solve`: sections, keys, defaults and refusals.

Read with `read_run_file(path)`; every mistake is an InvalidArgument before any work starts. Paths in a run file are
relative to the folder the command is started in. Lattice units throughout.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from halocline import _halocline
from halocline.device import HALO_POLICIES, INNER_PRECISIONS, device_name
from halocline.errors import InvalidArgument
from halocline.parallel import buffers_key, posting_key, sums_key, transport_key
from halocline.qcd.deflation import DEFLATED_SOLVERS, Deflation, check_deflation
from halocline.qcd.multigrid_keys import Multigrid
from halocline.qcd.runfile_action import Action
from halocline.qcd.runfile_gauge import Gauge, extents
from halocline.runs import RunFile, digest, hdf5_name, time_limit_key
from halocline.schema import (
    Check,
    Section,
    Unfit,
    array,
    boolean,
    choice,
    integer,
    key,
    number,
    table,
    text,
)

MESONS = ("pion", "rho", "rho_tensor", "a0", "a1", "b1", "pionA4_sinkA4_srcP")
"""Named channels (docs/conventions.md)."""
STAGGERED_MESONS = _halocline.qcd.STAGGERED_CHANNELS
"""Channels of staggered quarks (docs/actions.md)."""
CLIFFORD = tuple("".join(g for n, g in enumerate(("gx", "gy", "gz", "gt")) if k >> n & 1) or "1" for k in range(16))
"""The sixteen channels with Gamma at the sink and its dagger at the source, named by the factors of Gamma."""

SOURCES = ("point", "wall", "gaussian", "z2")
STAGGERED_SOURCES = ("point", "wall")
SOLVERS = _halocline.qcd.SOLVER_KINDS
OUTER_SOLVERS = _halocline.qcd.OUTER_SOLVERS


@dataclasses.dataclass(frozen=True)
class Source(Section):
    title: ClassVar[str] = "[source]"
    kind: str = key("point", choice(*SOURCES), '"point", "wall", "gaussian" or "z2"')
    positions: tuple = key(
        ((0, 0, 0, 0),),
        array(
            array(integer(at_least=0), "four integers x, y, z, t", length=4),
            "a list of positions [x, y, z, t]",
            at_least=1,
        ),
        "one propagator each; a wall or z2 source uses only t",
    )
    width: float | None = key(None, number(above=0.0), "gaussian: width [sites]", example="width = 2.0")
    steps: int = key(20, integer(at_least=1), "gaussian: smearing steps")
    seed: int = key(1, integer(at_least=0), "z2: of the noise")
    sink: str = key("point", choice("point", "gaussian"), '"point", or "gaussian" with the width and steps above')

    def check_together(self) -> None:
        if (self.kind == "gaussian" or self.sink == "gaussian") and self.width is None:
            raise InvalidArgument("[source] a gaussian source or sink needs width (in sites, e.g. 2.0).")
        if self.width is not None and self.kind != "gaussian" and self.sink != "gaussian":
            raise InvalidArgument(f'[source] width is set but neither kind = "{self.kind}" nor the sink is gaussian.')
        if len(set(self.positions)) != len(self.positions):
            raise InvalidArgument("[source] positions names the same site twice.")

    def doubts(self) -> list[str]:
        """Sentences about settings that are allowed but may not be intended."""
        if self.width is None or self.steps > 1.5 * self.width**2:
            return []
        return [
            f"a Gaussian of width {self.width:g} in {self.steps} steps amplifies the largest momenta, so it is no "
            f"Gaussian at the scale of a site; more than 3/2 width^2 = {1.5 * self.width**2:g} steps make it one."
        ]


def domains(value: Any) -> Any:
    """Numbers of domains along x, y, z, t of each process, or "auto"."""
    if value == "auto":
        return value
    if isinstance(value, str):
        raise Unfit('four integers x, y, z, t, or "auto"')
    return array(integer(at_least=1), 'four integers x, y, z, t, or "auto"', length=4)(value)


def one_of(*values: int) -> Check:
    """A check that the value is one of these numbers."""

    def check(value: Any) -> int:
        if isinstance(value, bool) or value not in values:
            raise Unfit(" or ".join(map(str, values)))
        return value

    return check


@dataclasses.dataclass(frozen=True)
class Schwarz(Section):
    """The Schwarz preconditioner. All defaults except `domains` are those of the preset "fugaku"."""

    title: ClassVar[str] = "[solver] schwarz:"
    nsap: int = key(4, integer(at_least=0, at_most=100), "sweeps over the domains, less one")
    steps: int = key(2, integer(at_least=1, at_most=100), "of the approximate inverse inside a domain (nm)")
    inner: str = key("jacobi", choice(*_halocline.qcd.SCHWARZ_INVERSES), "that inverse: Jacobi, or minimal residual")
    domains: Any = key("auto", domains, 'domains along x, y, z, t of each process, or "auto"')
    storage: str = key(
        "float", choice(*_halocline.qcd.SCHWARZ_STORAGES), 'precision of the preconditioner: "float" or "half"'
    )
    arithmetic: str = key(
        "auto",
        choice(*_halocline.qcd.SCHWARZ_ARITHMETICS),
        'what storage "half" is computed in: "float", "half", or "auto", half where the CPU has it',
    )
    link_reals: int = key(18, one_of(18, 12), "kept of a link: 18, or 12 with the third row computed")
    outer: str = key("bicgstab", choice(*OUTER_SOLVERS), "the solver in double: " + ", ".join(OUTER_SOLVERS))


PRESETS = {"fugaku": Schwarz(domains=(2, 1, 1, 1))}
"""Named parameters of the Schwarz preconditioner. "fugaku": four powers, two Jacobi steps, the two x-halves of each
process, as in arXiv:2109.10687."""


def schwarz(value: Any) -> Schwarz:
    """A table, or the name of a preset."""
    if not isinstance(value, str):
        return table(Schwarz)(value)
    try:
        return PRESETS[choice(*PRESETS)(value)]
    except Unfit as unfit:
        raise Unfit(f"a table of nsap, steps, ..., or a preset: {unfit}") from None


DEVICE_SOLVERS = _halocline.qcd.DEVICE_SOLVER_KINDS


def shift_list(value: Any) -> tuple:
    """Shifts of D^dagger D, each once."""
    shifts = array(number(), "a list of numbers", at_least=1)(value)
    if len(set(shifts)) != len(shifts):
        raise Unfit("each shift once")
    return shifts


@dataclasses.dataclass(frozen=True)
class Solver(Section):
    title: ClassVar[str] = "[solver]"
    kind: str = key("auto", choice(*SOLVERS), ", ".join(f'"{s}"' for s in SOLVERS) + '; "auto" measures')
    tolerance: float = key(1e-10, number(above=0.0, below=1.0), "on |b - D x| / |b| of the full operator, in double")
    max_iterations: int = key(10000, integer(at_least=1), "of one column, before it counts as failed")
    precision: str = key(
        "mixed", choice(*_halocline.qcd.SOLVER_PRECISIONS), '"mixed" (single inside, double outside) or "double"'
    )
    even_odd: bool = key(True, boolean, "solve the even-odd Schur complement (not with schwarz)")
    schwarz: Schwarz | None = key(
        None,
        schwarz,
        'on the CPU: the preconditioner of "schwarz" and "auto", a table or "fugaku"',
        example='schwarz = { nsap = 4, steps = 2, domains = [2, 1, 1, 1], storage = "float", link_reals = 18 }',
    )
    multigrid: Multigrid | None = key(
        None,
        table(Multigrid),
        'on the CPU: parameters of multigrid, for kind = "multigrid" and "auto"',
        example='multigrid = { vectors = 24, aggregate = [4, 4, 4, 4], setup_file = "setup.h5" }',
    )
    deflation: Deflation | None = key(
        None,
        table(Deflation),
        'on the CPU: low modes, for kind = "deflated-cg" and "deflated-bicgstab"; with a file that exists, for "auto"',
        example='deflation = { vectors = 16, file = "low_modes.h5" }',
    )
    right_hand_sides: int | None = key(
        None,
        integer(at_least=1),
        "to be solved on each configuration, for the set-up of multigrid; a run counts its own when absent",
        example="right_hand_sides = 120",
    )
    rhs_batch: int | None = key(
        None,
        integer(at_least=1, at_most=12),
        "columns solved together; twelve where memory allows when absent",
        example="rhs_batch = 12",
    )
    shifts: tuple | None = key(
        None,
        shift_list,
        "halocline qcd solve: solve (S^dagger S + shift) x = b for each, together, by multi-shift conjugate gradients",
        example="shifts = [0.0, 0.01]",
    )
    shift_operator: str | None = key(
        None,
        choice("full", "even-odd"),
        'with shifts: S is D ("full", also when absent), or its Schur complement on the even sites ("even-odd")',
        example='shift_operator = "full"',
    )
    inner_precision: str | None = key(
        None,
        choice(*INNER_PRECISIONS),
        'inside precision "mixed": "fixed16", "fixed8" or "float" on a device, fixed16 when absent; "float" on the CPU',
        example='inner_precision = "fixed16"',
    )
    link_reals: int | None = key(
        None,
        one_of(18, 12, 8),
        "on a device: reals kept of a link inside the iteration; when absent 12, or 18 where links are not unitary",
        example="link_reals = 12",
    )

    def check_together(self) -> None:
        if self.tolerance < 1e-15:
            raise InvalidArgument(
                f"[solver] tolerance = {self.tolerance:g} is below double precision; 1e-14 is reachable."
            )
        if self.schwarz is not None and self.kind not in ("auto", "schwarz"):
            raise InvalidArgument(f'[solver] schwarz is set but kind = "{self.kind}" has no Schwarz preconditioner.')
        if self.schwarz is not None and self.precision == "double":
            raise InvalidArgument(
                '[solver] schwarz is set, but precision = "double" has no Schwarz preconditioner; '
                'set precision = "mixed", or leave schwarz out.'
            )
        if self.multigrid is not None and self.kind not in ("auto", "multigrid", *DEFLATED_SOLVERS):
            raise InvalidArgument(
                f'[solver] multigrid is set but kind = "{self.kind}"; set kind = "multigrid" or "auto", or leave '
                "multigrid out."
            )
        check_deflation(self)
        if self.kind in ("schwarz", "multigrid", *DEFLATED_SOLVERS) and self.precision == "double":
            raise InvalidArgument(
                f'[solver] kind = "{self.kind}" iterates in single precision inside double; '
                'precision = "mixed" reaches the same residual.'
            )
        if self.shifts is None and self.shift_operator is not None:
            raise InvalidArgument("[solver] shift_operator is set without shifts; give shifts, or leave it out.")
        if self.shifts is not None and self.kind not in ("auto", "cg"):
            raise InvalidArgument(
                f'[solver] shifts is set but kind = "{self.kind}"; shifted systems are solved by multi-shift conjugate '
                'gradients: set kind = "cg", or leave kind out.'
            )
        for name in ("schwarz", "multigrid", "inner_precision"):
            if self.shifts is not None and getattr(self, name) is not None:
                raise InvalidArgument(
                    f"[solver] {name} is set together with shifts; multi-shift conjugate gradients iterate in double "
                    f"without a preconditioner: leave {name} out."
                )
        if self.precision == "double" and self.inner_precision is not None:
            raise InvalidArgument(
                f'[solver] inner_precision = "{self.inner_precision}" needs precision = "mixed"; '
                '"double" iterates in double.'
            )

    def check_device(self, device: str) -> None:
        """Raises InvalidArgument for settings that the device does not support."""
        check_deflation(self, device)
        if device != "cpu" and self.kind not in DEVICE_SOLVERS:
            raise InvalidArgument(
                f'[solver] kind = "{self.kind}" does not run on device = "{device}"; '
                f'give one of {", ".join(DEVICE_SOLVERS)}, or device = "cpu".'
            )
        if device != "cpu" and self.schwarz is not None:
            raise InvalidArgument(
                f'[solver] schwarz is set, but device = "{device}" has no Schwarz preconditioner; leave schwarz out, '
                'or give device = "cpu".'
            )
        if device == "cpu" and self.inner_precision not in (None, "float"):
            raise InvalidArgument(
                f'[solver] inner_precision = "{self.inner_precision}" applies to devices only; '
                'set [parallel] device = "cuda", or give "float".'
            )
        if device == "cpu" and self.link_reals is not None:
            raise InvalidArgument(
                '[solver] link_reals applies to devices only; set [parallel] device = "cuda", or leave link_reals out.'
            )

    def for_shifts(self) -> Solver:
        """The settings of the solver that solves the shifted systems."""
        even_odd = self.shift_operator == "even-odd"
        return dataclasses.replace(
            self, kind="cg", precision="double", even_odd=even_odd, shifts=None, shift_operator=None
        )

    def as_binding_values(self) -> dict[str, Any]:
        """The settings as the library's solver takes them."""
        k = self.schwarz or Schwarz()
        return {
            "kind": self.kind,
            "tolerance": self.tolerance,
            "max_iterations": self.max_iterations,
            "precision": self.precision,
            "even_odd": self.even_odd,
            "rhs_batch": self.rhs_batch or 0,
            "outer": k.outer,
            "nsap": k.nsap,
            "steps": k.steps,
            "inner": k.inner,
            "domains": [0, 0, 0, 0] if k.domains == "auto" else list(k.domains),
            "storage": k.storage,
            "arithmetic": k.arithmetic,
            "link_reals": k.link_reals,
            "right_hand_sides": self.right_hand_sides or 0,
            **(self.multigrid or Multigrid()).as_binding_values(),
            **(self.deflation or Deflation()).as_binding_values(),
            "inner_precision": self.inner_precision or "auto",
            "device_links": self.link_reals or 0,
        }


def channels(value: Any) -> tuple:
    """A list of channel names, or "all" for the named channels and the sixteen of the Clifford algebra."""
    if value == "all":
        return MESONS + CLIFFORD
    if isinstance(value, str):
        raise Unfit('a list of channels, or "all"')
    known = dict.fromkeys((*MESONS, *STAGGERED_MESONS, *CLIFFORD))
    return array(choice(*known), 'a list of channels, or "all"')(value)


def momentum_list(value: Any) -> tuple:
    """Momenta, each once."""
    entry = array(integer(at_least=-1000), "three integers", length=3)
    momenta = array(entry, "a list of momenta [nx, ny, nz]", at_least=1)(value)
    if len(set(momenta)) != len(momenta):
        raise Unfit("each momentum once")
    return momenta


@dataclasses.dataclass(frozen=True)
class Measure(Section):
    title: ClassVar[str] = "[measure]"
    mesons: tuple = key(
        ("pion", "rho"),
        channels,
        'channels, or "all": '
        + ", ".join(MESONS)
        + ", 1, gx, gy, gxgy, ... gxgygzgt; of staggered quarks "
        + ", ".join(STAGGERED_MESONS),
    )
    nucleon: bool = key(True, boolean, "the nucleon two-point function")
    momenta: tuple = key(((0, 0, 0),), momentum_list, "of the sink, in units of 2 pi / L; correlators come for each")
    bin: int = key(1, integer(at_least=1), "configurations a jackknife bin, for the errors in plots and tables")

    def check_together(self) -> None:
        if not self.mesons and not self.nucleon:
            raise InvalidArgument("[measure] asks for nothing: name a channel in mesons, or set nucleon = true.")


@dataclasses.dataclass(frozen=True)
class Parallel(Section):
    title: ClassVar[str] = "[parallel]"
    grid: tuple | None = key(
        None, extents(), "processes along x, y, z, t; least surface when absent", example="grid = [1, 1, 1, 2]"
    )
    groups: int = key(
        1, integer(at_least=1), "of processes, which take configurations and sources as they get free; grid is of one"
    )
    device: str = key("cpu", device_name, 'what solves: "cpu", "cuda" (each process takes a GPU), "cuda:N" (the N-th)')
    time_limit: float = time_limit_key()
    halo_policy: str | None = key(
        None,
        choice(*HALO_POLICIES),
        "between GPUs: " + ", ".join(HALO_POLICIES) + "; the tuned one when absent",
        example='halo_policy = "remote-write"',
    )
    transport: str | None = transport_key(None)
    buffers: int = buffers_key()
    posting: str = posting_key()
    sums: str = sums_key()
    map: str | None = key(
        None,
        text,
        "rank-order.txt of `halocline map search`: the ranks take their places by it, without a launcher's file",
        example='map = "map/rank-order.txt"',
    )
    nodes: str = key(
        "auto", text, 'of map, where processes stand: "fujitsu", "slurm", "launch", a file of hosts, or found (auto)'
    )
    interfaces: str | None = key(
        None,
        text,
        "interfaces.txt of the same search: network interface of each face, for transport utofu",
        example='interfaces = "map/interfaces.txt"',
    )

    def check_together(self) -> None:
        if self.map is None and (self.interfaces is not None or self.nodes != "auto"):
            name = "interfaces" if self.interfaces is not None else "nodes"
            raise InvalidArgument(
                f"[parallel] {name} applies to a map; give map = FILE of the same search too, or leave {name} out."
            )
        if self.map is not None and self.groups > 1:
            raise InvalidArgument(
                f"[parallel] map places all processes of a job, and groups = {self.groups} divides them; leave one out."
            )
        usual = not self.transport and self.buffers == 2 and self.posting == "thread" and not self.interfaces
        if self.device != "cpu" and not usual:
            raise InvalidArgument(
                "[parallel] transport, buffers, posting and interfaces apply to the CPU; GPUs exchange by halo_policy. "
                'Leave them out, or set device = "cpu".'
            )
        if self.device == "cpu" and self.halo_policy is not None:
            raise InvalidArgument(
                '[parallel] halo_policy applies to devices only; set device = "cuda", or leave halo_policy out.'
            )


@dataclasses.dataclass(frozen=True)
class Output(Section):
    title: ClassVar[str] = "[output]"
    file: str = key("spectrum.h5", hdf5_name, "results; folders are made, pictures and the log lie beside it")
    plots: bool = key(True, boolean, "correlators and effective masses as PNG and PDF")


@dataclasses.dataclass(frozen=True)
class Run(RunFile):
    """A whole run file. Raises InvalidArgument on construction by `from_table`."""

    sections: ClassVar[dict[str, type[Section]]] = {
        "gauge": Gauge,
        "action": Action,
        "source": Source,
        "solver": Solver,
        "measure": Measure,
        "parallel": Parallel,
        "output": Output,
    }
    required: ClassVar[tuple[str, ...]] = ("gauge", "action")
    command: ClassVar[str] = "halocline qcd spectrum"
    example_head: ClassVar[tuple[str, ...]] = (
        "Run file of `halocline qcd spectrum` and `halocline qcd solve`. Lattice units; axes x, y, z, t.",
        "Beyond the links, a mass and csw, every key may be left out; what is commented out has no default.",
    )
    example_keys: ClassVar[tuple[str, ...]] = ("gauge.files", "action.mass", "action.csw")

    gauge: Gauge
    action: Action
    source: Source = dataclasses.field(default_factory=Source)
    solver: Solver = dataclasses.field(default_factory=Solver)
    measure: Measure = dataclasses.field(default_factory=Measure)
    parallel: Parallel = dataclasses.field(default_factory=Parallel)
    output: Output = dataclasses.field(default_factory=Output)

    def __post_init__(self) -> None:
        self.solver.check_device(self.parallel.device)
        if self.action.mu and self.solver.kind == "schwarz":
            raise InvalidArgument(
                '[solver] kind = "schwarz" is for Wilson-clover quarks; with a twisted mass give "auto", "multigrid", '
                '"bicgstab", "cg" or "gcr".'
            )
        if self.action.walls and self.solver.kind not in ("auto", "cg", "block-cg"):
            raise InvalidArgument(
                f'[solver] kind = "{self.solver.kind}" does not solve domain-wall quarks; give "auto", "cg" or '
                '"block-cg".'
            )
        if self.action.walls and self.solver.shifts is not None:
            raise InvalidArgument("[solver] shifts: shifted systems are for quarks without a fifth dimension.")
        self._check_channels()
        if self.action.staggered:
            self._check_staggered()
        if self.action.flavours == 2:
            return self._check_doublet()
        if self.action.mu and self.measure.nucleon:
            raise InvalidArgument(
                "[measure] the nucleon of twisted-mass quarks needs both flavours, and this run has one; set "
                "nucleon = false. The mesons are those of a quark and the other flavour's antiquark."
            )

    def _check_channels(self) -> None:
        known = STAGGERED_MESONS if self.action.staggered else MESONS + CLIFFORD
        asked = known if self.measure.mesons == MESONS + CLIFFORD else self.measure.mesons
        for name in asked:
            if name not in known:
                raise InvalidArgument(
                    f'[measure] mesons: the quarks of kind = "{self.action.kind}" have no channel "{name}"; give '
                    f"{', '.join(known)}."
                )

    def _check_staggered(self) -> None:
        kind = self.action.kind
        if self.solver.kind not in ("auto", "cg", "block-cg"):
            raise InvalidArgument(
                f'[solver] kind = "{self.solver.kind}" does not solve staggered quarks; give "auto", "cg" or '
                '"block-cg".'
            )
        if self.solver.inner_precision not in (None, "float"):
            raise InvalidArgument(
                f'[solver] inner_precision = "{self.solver.inner_precision}" does not hold the fat links of staggered '
                'quarks; give "float", or leave inner_precision out.'
            )
        if self.solver.link_reals not in (None, 18):
            raise InvalidArgument(
                f"[solver] link_reals = {self.solver.link_reals}: fat links are not unitary, and staggered quarks need "
                "18; leave link_reals out."
            )
        if self.parallel.halo_policy is not None:
            raise InvalidArgument(
                "[parallel] halo_policy: staggered quarks run on one device, without a halo; leave halo_policy out."
            )
        if self.solver.shifts is not None:
            raise InvalidArgument(
                "[solver] shifts: run files have none of staggered quarks; in Python call "
                "D.solver.solve_shifted(b, shifts), which solves for several masses."
            )
        if self.measure.nucleon:
            raise InvalidArgument(
                f'[measure] the nucleon of staggered quarks (kind = "{kind}") is not built; set nucleon = false.'
            )
        if self.source.kind not in STAGGERED_SOURCES or self.source.sink != "point":
            raise InvalidArgument(
                f'[source] staggered quarks (kind = "{kind}") have point sources, corner walls, and point sinks only; '
                'give kind = "point" or "wall", and leave sink out.'
            )

    def _check_doublet(self) -> None:
        if self.solver.kind not in ("auto", "cg", "block-cg"):
            raise InvalidArgument(
                f'[solver] kind = "{self.solver.kind}" does not solve twisted doublets; give "auto", "cg" or '
                '"block-cg".'
            )
        if self.parallel.device != "cpu":
            raise InvalidArgument(
                f'[parallel] device = "{self.parallel.device}": twisted doublets are solved on the processor; give '
                '"cpu".'
            )
        if self.solver.shifts is not None:
            raise InvalidArgument(
                "[solver] shifts: run files have none of twisted doublets; in Python call "
                "D.solver.solve_shifted(b, shifts)."
            )

    @property
    def channels(self) -> tuple:
        """The meson channels that are measured: "all" means those that the quarks have."""
        if self.action.staggered and self.measure.mesons == MESONS + CLIFFORD:
            return tuple(STAGGERED_MESONS)
        return self.measure.mesons

    def on_device(self, device: str | None) -> Run:
        """The same run with another [parallel] device; itself for None. Raises InvalidArgument if that cannot work."""
        if device is None:
            return self
        try:
            return dataclasses.replace(self, parallel=dataclasses.replace(self.parallel, device=device))
        except InvalidArgument as error:
            raise InvalidArgument(f"--device {device}: {error}") from None

    def physics_hash(self) -> str:
        """Digest of what changes a number in a result beyond rounding: all sections but [parallel] and [output].

        [measure] bin, [solver] rhs_batch and [gauge] files are left out too, so that a run may be resumed with more
        configurations or another batch.
        """
        values = self.as_toml_values()
        del values["parallel"], values["output"], values["measure"]["bin"]
        values["solver"].pop("rhs_batch", None)
        values["gauge"].pop("files", None)
        if "generate" in values["gauge"]:
            values["gauge"]["generate"].pop("configurations")
        return digest(values)


read_run_file, parse_run_file, example_run_file = Run.read, Run.parse, Run.example
