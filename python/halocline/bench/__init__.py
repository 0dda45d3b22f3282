# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: times beside the ceilings that the same run measured. docs/benchmarks/README.md explains the numbers.

Every function returns one dictionary a case, the object that `halocline bench NAME --json FILE` writes; those that
compare transports return a list, one a transport and number of buffers. Collective.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from halocline import _halocline
from halocline.bench import published
from halocline.bench.configurations import Configuration
from halocline.bench.multigrid import multigrid
from halocline.bench.multiscale import multiscale
from halocline.comm import communicator
from halocline.mapping.placement import Placement

__all__ = ["multigrid", "multiscale"]

FORMS = ("hopping", "wilson", "clover", "schur", "schur-asymmetric", "clover-inverse", "inside")
WALL_FORMS = ("hopping", "wilson", "schur", "schur-asymmetric")
STAGGERED_FORMS = ("hopping", "wilson", "schur")
ACTIONS = ("wilson", "twisted", "doublet", "domain-wall", "mobius", "one-link", "asqtad", "hisq")
WALLS = ("domain-wall", "mobius")
STAGGERED = ("one-link", "asqtad", "hisq")
PRECISIONS = ("float", "double")
STORAGES = ("float", "half")
LAYOUTS = ("apart", "interleaved")
SU3_FORMS = ("product", "vector")
REORDERED = ("gauge", "spinor", "canonical", "propagator")
REORDERINGS = ("load", "store")
COARSE_FORMS = ("operator", "schur")
SOLVERS = tuple(kind for kind in _halocline.qcd.SOLVER_KINDS if kind != "multigrid")
"""Kinds whose operations `solver` counts. A cycle of multigrid has operations of another kind."""
TRAFFICS = ("ping-pong", "both-ways")
FACES = ("all", "x", "y", "z", "t")
REDUCTIONS = ("shared_memory", "messages", "mpi", "mpi-split", "auto")
BOUNDARIES = ("periodic", "isolated")
DIVISIONS = ("orbitals", "space")
STENCILS = ("apply", "taylor", "taylor-current", "current", "density")
LATTICES = ("orthogonal", "hexagonal", "face-centred")
ENDS = ("electric", "magnetic", "periodic", "absorbing")
MATTER = ("empty", "glass", "silver")
SILICON = ("silicon-8", "silicon-64")
CELL_SCHEMES = ("taylor4", "midpoint")
LIGHTS = ("kick", "uniform", "travelling")
Carriers = Sequence[tuple[str, int]]
"""Transports by name, or "mpi" for plain MPI written by hand, each with its number of buffers; empty: all there are."""
SECONDS = 0.5
BLOCK_SECONDS = 0.0005


def dslash(
    local: Sequence[int],
    threads: int = 1,
    precision: str = "float",
    form: str = "hopping",
    link_reals: int = 18,
    columns: int = 1,
    action: str = "wilson",
    ls: int = 8,
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """One application of a Dirac operator.

    local: x, y, z, t, the sites of each process; form: one of FORMS, "inside" in single precision only; link_reals: 18,
    or 12 with the third row of a link computed; columns: right-hand sides that share links and clover blocks; action:
    one of ACTIONS; those of domain walls and doublets have the forms of WALL_FORMS, those of staggered quarks the forms
    of STAGGERED_FORMS and links of 18 reals; ls: points of the fifth dimension, even, 4 to 64; seconds: how long to
    measure
    Raises InvalidArgument for an unknown name or a lattice that does not fit.
    """
    group = communicator(comm)
    text = _halocline.bench.dslash(
        group, list(local), threads, precision, form, link_reals, columns, action, ls, seconds, block_seconds
    )
    return json.loads(text)


def su3(
    local: Sequence[int],
    threads: int = 1,
    precision: str = "float",
    layout: str = "apart",
    form: str = "product",
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """Products of SU(3) matrices at every site of a field.

    local: x, y, z, t, the sites of each process; layout: one of LAYOUTS, real and imaginary parts in registers of their
    own or side by side; form: "product" of two fields of matrices (198 flops a site), or "vector" of a matrix and two
    colour vectors (132)
    Raises InvalidArgument for an unknown name or a volume that the lanes of a register do not divide.
    """
    text = _halocline.bench.su3(
        communicator(comm), list(local), threads, precision, layout, form, seconds, block_seconds
    )
    return json.loads(text)


def reorder(
    local: Sequence[int] = (32, 16, 16, 32),
    order: str = "quda",
    field: str = "gauge",
    direction: str = "load",
    precision: str = "double",
    basis: str = "",
    threads: int = 1,
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """A field into or out of the memory order of another code, beside a copy of as many bytes.

    local: x, y, z, t, the sites of each process; order: one of hc.qcd.orders.ORDERS
    field: "gauge", "spinor" (of the solvers), "canonical" (a spinor of a canonical array) or "propagator"
    direction: "load", from the array into the field, or "store"; precision: of the array, and of a solver's spinor
    basis: of spinors and propagators, that of the order when empty
    The result has `copy_gbytes_per_s`, and `fraction_of_copy` by median times and by the CPU time of one thread.
    Raises InvalidArgument for an unknown name, or a box that the order cannot have.
    """
    text = _halocline.bench.reorder(
        communicator(comm), list(local), threads, order, field, direction, precision, basis, seconds, block_seconds
    )
    return json.loads(text)


def coarse(
    local: Sequence[int] = (8, 8, 8, 8),
    vectors: int = 24,
    columns: int = 1,
    storage: str = "half",
    form: str = "operator",
    threads: int = 1,
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """One application of the operator of a coarse level of multigrid, on random blocks.

    local: x, y, z, t, the coarse sites of each process; vectors: test vectors, a multiple of 8, half the rows of a
    block; columns: right-hand sides that share the blocks; storage: "half" or "float", of the blocks; form: "operator",
    or "schur" for the even-odd preconditioned one
    One column is limited by the bandwidth of reading (`fraction_of_read`), twelve by the multiply-adds
    (`fraction_of_fma_peak`).
    Raises InvalidArgument for an unknown name, or for "schur" on a lattice with an odd extent.
    """
    text = _halocline.bench.coarse(
        communicator(comm), list(local), vectors, columns, storage, form, threads, seconds, block_seconds
    )
    return json.loads(text)


def qcdjdd(
    local: Sequence[int] = (32, 6, 4, 3),
    threads: int = 1,
    columns: int = 1,
    storage: str = "float",
    link_reals: int = 18,
    iterations: int = 500,
    transport: str = "",
    buffers: int = 2,
    posting: str = "thread",
    sums: str = "ordered",
    barrier: bool = False,
    placement: Placement | None = None,
    configuration: Configuration | None = None,
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> list[dict[str, Any]]:
    """Iterations of single-precision BiCGStab with the Schwarz preconditioner, and its in-domain operator alone.

    local: x, y, z, t, the sites of each process; columns: right-hand sides; storage: "float" or "half", of the numbers
    of the preconditioner; link_reals: 18 or 12
    transport, buffers, posting, sums: as the keys of [parallel]; barrier: a barrier before every sum, so that its
    region has the sum alone; placement: from halocline.mapping.placement, with the interfaces of the faces;
    configuration: of halocline.bench.configurations, in place of transport, buffers and posting
    A transport that cannot serve here has the key `skipped`, and no times.
    Two results: `measured` is "iteration" (seconds of one) and "inside". Operations are those of the papers on Fugaku;
    `result` has our own count beside them, and what the papers and their code have for the same volume.
    Raises InvalidArgument for an unknown name or a volume that cannot be cut into two halves along x.
    """
    group = communicator(comm)
    grid, ranks, interfaces = (placement.grid, placement.ranks, placement.interfaces) if placement else ((), (), ())
    injection = True
    if configuration is not None:
        transport, buffers, posting = configuration.transport, configuration.buffers, configuration.posting
        injection = configuration.cache_injection
        grid = grid or _halocline.bench.spread_processes(group.size)
        interfaces = configuration.interfaces_of_faces(interfaces)
    texts = _halocline.bench.qcdjdd(
        group, list(local), threads, columns, storage, link_reals, iterations, transport, buffers,
        posting == "all", sums, barrier, list(grid), list(ranks), list(interfaces), injection, seconds, block_seconds,
    )  # fmt: skip
    results = [json.loads(text) for text in texts]
    for result in results:
        if configuration is not None:
            result["case"]["configuration"] = configuration.name
        if "skipped" not in result:
            result["result"] |= published.beside(result)
    return results


def published_flops(local: Sequence[int]) -> tuple[int, int]:
    """Operations by the published count: of one iteration on one process, and of D_in on all its sites once."""
    return _halocline.bench.published_flops(list(local))


def solver(
    u: Any,
    gauge: str = "given",
    mass: float = 0.0,
    csw: float = 0.0,
    boundary: Sequence[complex] = (1, 1, 1, -1),
    kind: str = "bicgstab",
    precision: str = "mixed",
    tolerance: float = 1e-10,
    even_odd: bool = True,
    threads: int = 1,
    runs: int = 3,
    columns: int = 1,
    storage: str = "float",
    action: str = "wilson",
    ls: int = 8,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """One solve of D x = b for the first columns of a point source at the origin of the gauge field u.

    kind: one of SOLVERS; precision: "mixed" or "double"; storage: "float" or "half", of the Schwarz preconditioner;
    columns: right-hand sides solved together; gauge: what to call the field in the report; action: one of ACTIONS, of
    which domain walls (with ls points) and staggered quarks have the kinds "cg" and "block-cg"
    The key `result` tells whether all converged, in how many iterations, and the worst residual of the full operator.
    Raises InvalidArgument for "schwarz" in double: it iterates in single precision inside double.
    """
    text = _halocline.bench.solver(
        u, gauge, mass, csw, [complex(p) for p in boundary], kind, precision, storage, tolerance, even_odd,
        threads, columns, runs, action, ls, seconds, block_seconds,
    )  # fmt: skip
    return json.loads(text)


def heatbath(
    local: Sequence[int] = (16, 16, 16, 16),
    threads: int = 1,
    beta: float = 6.0,
    overrelaxation_steps: int = 0,
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """One sweep of the quenched heatbath over all links."""
    group = communicator(comm)
    text = _halocline.bench.heatbath(group, list(local), threads, beta, overrelaxation_steps, seconds, block_seconds)
    return json.loads(text)


def carriers() -> list[tuple[str, int]]:
    """Every transport that Halocline knows of, with one buffer and with two, after plain MPI."""
    return [(transport, buffers) for transport, buffers in _halocline.bench.carriers()]


def jacobi2d(
    local: Sequence[int] = (60, 60),
    grid: Sequence[int] = (),
    inflation: int = 1,
    touched: bool = True,
    mass_squared: float = 1.0,
    carriers: Carriers = (),
    interfaces: Sequence[int] = (),
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> list[dict[str, Any]]:
    """One sweep of a 2-d Jacobi solver over every carrier, its field verified.

    local: x, y, the sites of each process; grid: processes along x and y, least surface when empty; inflation: messages
    are so many times as long as needed; touched: the rest of them is written and read as well; interfaces: network
    interface of each face, lower and upper side of x, then of y, for carriers by utofu
    A carrier that cannot serve here has the key `skipped`, and no times. Raises Error when a field comes out wrong.
    """
    texts = _halocline.bench.jacobi2d(
        communicator(comm), list(local), list(grid), inflation, touched, mass_squared, list(carriers),
        list(interfaces), seconds, block_seconds,
    )  # fmt: skip
    return [json.loads(text) for text in texts]


def halo_face(
    bytes: int = 4096,
    traffic: str = "ping-pong",
    carriers: Carriers = (),
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> list[dict[str, Any]]:
    """One face between two processes over every carrier, beside the floor of the same run.

    bytes: of the message, a multiple of 8; traffic: one of TRAFFICS
    """
    texts = _halocline.bench.halo_face(
        communicator(comm), bytes, traffic, list(carriers), seconds, block_seconds
    )  # fmt: skip
    return [json.loads(text) for text in texts]


def halo_operator(
    local: Sequence[int] = (32, 6, 4, 3),
    face: str = "all",
    threads: int = 1,
    posting_by_all: bool = False,
    carriers: Carriers = (),
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> list[dict[str, Any]]:
    """The ten exchanges of one application of the domain-decomposed Wilson operator, over every carrier.

    local: x, y, z, t, the sites of each process; face: one of FACES; posting_by_all: every thread posts its own faces
    """
    texts = _halocline.bench.halo_operator(
        communicator(comm), list(local), face, threads, posting_by_all, list(carriers), seconds, block_seconds
    )
    return [json.loads(text) for text in texts]


def halo_stress(
    transport: str,
    buffers: int = 2,
    exchanges: int = 1_000_000,
    seed: int = 1,
    longest: int = 4096,
    time_limit: float = 60.0,
    ranks: int = 4,
    damage: float = 0.0,
    comm: Any = None,
    progress: Callable[[int, str], None] | None = None,
) -> dict[str, Any]:
    """Random exchanges, every byte verified; all that is drawn follows from the seed.

    longest: bytes of a message at most; ranks, damage: of the transport `simulated`, which runs inside one process;
    progress: told from time to time how many exchanges are done, and a few words
    Raises Error at the first wrong byte, naming rank, face and step.
    """
    text = _halocline.bench.halo_stress(
        communicator(comm), transport, buffers, exchanges, seed, longest, time_limit, ranks, damage, progress
    )
    return json.loads(text)


def allreduce(
    elements: int = 3,
    method: str = "shared_memory",
    precision: str = "double",
    barrier: bool = False,
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """A sum of 0 to 32 numbers over all processes beside MPI_Allreduce.

    method: one of REDUCTIONS; precision: "double" or "float"; barrier: a barrier before every sum, which is then timed
    by itself
    `result` has the times of Table 6 of the paper on Fugaku for as many bytes, in seconds, where it has them.
    Raises InvalidArgument for an unknown name, and for a way of MPI without MPI.
    """
    text = _halocline.bench.allreduce(communicator(comm), elements, method, precision, barrier, seconds, block_seconds)
    result = json.loads(text)
    result["result"] |= published.sums_beside(result["result"]["bytes"])
    return result


def hartree(
    points: Sequence[int] = (64, 64, 64),
    boundary: str = "periodic",
    over: str = "orbitals",
    threads: int = 1,
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> list[dict[str, Any]]:
    """The Hartree potential of a density on a grid: each space group by itself, all processes together, and the choice.

    points: x, y, z, of the whole grid, 5 or more; boundary: one of BOUNDARIES; over: one of DIVISIONS, what the
    processes divide: over orbitals each has the whole density, over space a box of it
    Three results: `way` is "redundant", "shared" and "automatic", measured in turns. `result` has what the library
    chose, what its own trial of both ways took, and the median over that of the better of both.
    Raises InvalidArgument for an unknown name or a grid that cannot be divided so.
    """
    texts = _halocline.bench.hartree(communicator(comm), list(points), boundary, over, threads, seconds, block_seconds)
    return [json.loads(text) for text in texts]


def stencil(
    points: Sequence[int] = (32, 32, 32),
    orbitals: int = 16,
    form: str = "apply",
    lattice: str = "orthogonal",
    precision: str = "double",
    threads: int = 1,
    memory_gib: float = 8.0,
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """The 25-point stencil on complex orbitals, with the gradient along all axes; the processes divide space.

    points: x, y, z, of the whole grid, 5 or more; form: one of STENCILS: H psi, a step of the Taylor series, the same
    with the current, the current alone, the density; memory_gib: a case that needs more, on all processes together, has
    the key `skipped` and no times; lattice: one of LATTICES, with none, one and three diagonals beside the axes;
    precision: of the orbitals, one of PRECISIONS
    Operations are the nominal 158 a point and orbital where H is applied. `result` has the seconds for one of them.
    Raises InvalidArgument for an unknown form, lattice or precision, or a grid that cannot be divided so.
    """
    text = _halocline.bench.stencil(
        communicator(comm),
        list(points),
        orbitals,
        form,
        lattice,
        precision,
        threads,
        memory_gib,
        seconds,
        block_seconds,
    )
    return json.loads(text)


def fdtd(
    cells: Sequence[int] = (200, 200, 200),
    ends: str = "electric",
    matter: str = "empty",
    precision: str = "double",
    depth: int = 0,
    threads: int = 1,
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
) -> dict[str, Any]:
    """One step of Maxwell's equations on Yee's grid, of a run of 24.

    cells: along each axis; ends: of all axes, one of ENDS; matter: one of MATTER, a ball in the middle;
    precision: one of PRECISIONS; depth: steps of a sweep, 0 for what the library takes.
    `bytes` are 18 numbers a cell, what a step moves that updates H and then E. Raises InvalidArgument for an unknown
    name or a grid that cannot be.
    """
    text = _halocline.bench.fdtd(
        communicator(comm), list(cells), ends, matter, precision, depth, threads, seconds, block_seconds
    )
    return json.loads(text)


def rt_step(
    system: Any = "silicon-8",
    over: str = "auto",
    scheme: str = "taylor4",
    precision: str = "double",
    energy_every: int = 10,
    threads: int = 1,
    comm: Any = None,
    seconds: float = SECONDS,
    block_seconds: float = BLOCK_SECONDS,
    ions_every: int = 0,
    light: str = "kick",
) -> dict[str, Any]:
    """One step of real-time propagation after a kick or in a pulse, of bulk silicon or of any system.

    system: one of SILICON: 16^3 points, 64 k-points and 16 orbitals, or 32^3 points and 128 orbitals; or the path of a
    run file of `halocline tddft`; its orbitals are plane waves, not the ground state, and every state is filled;
    over: what the processes divide, "k", "orbitals", "space" or "auto"; scheme: "taylor4", "midpoint" or "etrs";
    precision: of the orbitals, one of PRECISIONS;
    energy_every: steps of a run, one of them with energies, whose time is divided by their number; 0: a step without;
    ions_every: the atoms move, with forces once in so many steps; 0: they rest; light: one of LIGHTS: a kick, a pulse
    that is the same everywhere, or one that crosses the cell, with a vector potential that depends on the place.
    `result` has the points, the points times orbitals, the seconds for 4.19 million of these, and the time step;
    `regions` says where the time goes. Raises InvalidArgument for an unknown name or a division that does not fit,
    FileError.
    """
    other, name, xc = None, str(system), "pz"
    if name not in SILICON and name.endswith(".toml"):
        from halocline.tddft import Run, System

        described = System(Run.read(name))
        other, xc = described.native, described.functional
        name = described.structure.formula()
    text = _halocline.bench.rt_step(
        communicator(comm),
        name,
        other,
        xc,
        over,
        scheme,
        precision,
        energy_every,
        ions_every,
        light,
        threads,
        seconds,
        block_seconds,
    )
    return json.loads(text)
