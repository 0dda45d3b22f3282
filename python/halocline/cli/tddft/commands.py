# SPDX-License-Identifier: Apache-2.0
"""The commands; halocline/tddft/jobs.py and potentials.py do their work."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from halocline.cli.common import Json, Overwrite
from halocline.cli.console import Console, speaks, write_json
from halocline.errors import InvalidArgument

if TYPE_CHECKING:
    from halocline.tddft.runfile import Run

RunFile = Annotated[str | None, typer.Argument(metavar="RUN.toml", help="Run file; --example prints one.")]
Example = Annotated[bool, typer.Option("--example", help="Print a commented run file and stop.")]


def add_to(group: typer.Typer) -> None:
    group.command(name="ground-state")(ground_state)
    group.command()(propagate)
    group.command()(multiscale)
    group.command()(spectrum)
    group.command()(harmonics)
    group.command()(dos)
    group.command()(bands)
    group.command()(relax)
    group.command()(dynamics)
    group.command()(potentials)


def run_of(run_file: str | None, example: bool, command: str) -> Run | None:
    """The run to compute; None if the example was requested, which is then printed."""
    from halocline.tddft.runfile import example_of_crystal, example_run_file, read_run_file

    if example:
        if speaks():
            print(example_of_crystal() if command in ("multiscale", "bands") else example_run_file(), end="")
        return None
    if run_file is None:
        raise InvalidArgument(f"a run file is missing; `halocline tddft {command} --example` prints one to start from.")
    return read_run_file(run_file)


@contextlib.contextmanager
def console_of(run: Run, suffix: str) -> Iterator[Console]:
    """A console that receives signals and writes the log beside the results."""
    console = Console()
    with console.hears_signals():
        console.keep_log(run.output.path(f"{suffix}.log"))
        try:
            yield console
        finally:
            console.close()


def numbers(run: Run, json: Path | None, results: list[Path]) -> None:
    """Writes the requested JSON files: one under the given name (a list for several results), and one beside each
    result."""
    from halocline.tddft.results import as_json

    if not speaks():
        return
    if run.output.json:
        for path in results:
            write_json(path.with_suffix(".json"), as_json(path))
    if json is not None:
        every = [as_json(path) for path in results]
        write_json(json, every[0] if len(every) == 1 else every)


def ground_state(
    run_file: RunFile = None, example: Example = False, overwrite: Overwrite = False, json: Json = None
) -> None:
    """Atoms or jellium in, the self-consistent ground state out.

    Numbers go to `<output>_gs.h5` and orbitals beside it, with a log, a cube file of the density and a picture of the
    convergence. Exit status 3 when it does not converge; what was reached is kept, marked so, and the same command goes
    on from there. The result of another system is never replaced without --overwrite.
    """
    run = run_of(run_file, example, "ground-state")
    if run is None:
        return
    from halocline.comm import communicator
    from halocline.tddft import jobs

    with console_of(run, "_gs") as console:
        job = jobs.GroundStateJob(run, communicator(), console, overwrite=overwrite)
        ground = job.run()
        numbers(run, json, [job.path])
        ground.require_converged()


def propagate(
    run_file: RunFile = None,
    example: Example = False,
    json: Json = None,
    restart: Annotated[bool, typer.Option("--restart", help="Go on from a checkpoint, which must be there.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Electrons in time after a kick or under pulses of light, from the ground state.

    The ground state is computed first where its file is not there. Time series go to `<output>_rt.h5`. A run that was
    stopped, by a signal, its wall_limit or a crash, goes on from its last checkpoint when the same command is given.
    The series of another run is never replaced without --overwrite.
    """
    run = run_of(run_file, example, "propagate")
    if run is None:
        return
    from halocline.comm import communicator
    from halocline.tddft import jobs

    with console_of(run, "_rt") as console:
        job = jobs.PropagateJob(run, communicator(), console, must_restart=restart, overwrite=overwrite)
        numbers(run, json, job.run())


def spectrum(
    run_file: RunFile = None,
    example: Example = False,
    overwrite: Overwrite = False,
    json: Json = None,
    drift: Annotated[
        str | None,
        typer.Option(metavar="auto|subtract|keep", help="Constant part of a crystal's current, for [spectrum]."),
    ] = None,
) -> None:
    """The absorption spectrum or dielectric function of what `propagate` left: table, picture, peaks."""
    run = run_of(run_file, example, "spectrum")
    if run is None:
        return
    if drift is not None:
        run = dataclasses.replace(run, spectrum=dataclasses.replace(run.spectrum, drift=drift))
    from halocline.tddft import jobs

    with console_of(run, "_spectrum") as console:
        if speaks():
            numbers(run, json, [jobs.spectrum_job(run, console, overwrite)])


def multiscale(
    run_file: RunFile = None, example: Example = False, overwrite: Overwrite = False, json: Json = None
) -> None:
    """Light that crosses a film of a crystal cell by cell; every cell is an electron calculation of its own.

    The ground state is computed first where its file is not there. Light and currents go to `<output>_ms.h5`, with a
    picture. A run that was stopped, by a signal, its wall_limit or a crash, goes on from its last checkpoint when the
    same command is given.
    """
    run = run_of(run_file, example, "multiscale")
    if run is None:
        return
    from halocline.comm import communicator
    from halocline.tddft.multiscale_job import MultiscaleJob

    with console_of(run, "_ms") as console:
        numbers(run, json, [MultiscaleJob(run, communicator(), console, overwrite).run()])


def harmonics(
    run_file: RunFile = None, example: Example = False, overwrite: Overwrite = False, json: Json = None
) -> None:
    """The light that the electrons of a propagation emit under a pulse: table, picture, height of each harmonic."""
    run = run_of(run_file, example, "harmonics")
    if run is None:
        return
    from halocline.comm import communicator
    from halocline.tddft.emission_job import harmonics_job

    with console_of(run, "_harmonics") as console:
        numbers(run, json, [harmonics_job(run, communicator(), console, overwrite)])


def bands(run_file: RunFile = None, example: Example = False, overwrite: Overwrite = False, json: Json = None) -> None:
    """The bands of a crystal along a path, in the density of its ground state.

    The ground state is computed first where its file is not there. Bands go to `<output>_bands.h5`, with a table and a
    picture.
    """
    run = run_of(run_file, example, "bands")
    if run is None:
        return
    from halocline.comm import communicator
    from halocline.tddft.bands_job import bands_job

    with console_of(run, "_bands") as console:
        numbers(run, json, [bands_job(run, communicator(), console, overwrite)])


def dos(run_file: RunFile = None, example: Example = False, overwrite: Overwrite = False, json: Json = None) -> None:
    """The density of states of a ground state, from its k-points.

    The ground state is computed first where its file is not there. The density of states goes to `<output>_dos.h5`,
    with a table and a picture.
    """
    run = run_of(run_file, example, "dos")
    if run is None:
        return
    from halocline.comm import communicator
    from halocline.tddft.dos_job import dos_job

    with console_of(run, "_dos") as console:
        numbers(run, json, [dos_job(run, communicator(), console, overwrite)])


def relax(run_file: RunFile = None, example: Example = False, overwrite: Overwrite = False, json: Json = None) -> None:
    """Moves the atoms to the geometry of lowest energy.

    All geometries go to `<output>_relax.h5` and `.xyz`, the last one to `<output>_relaxed.xyz`, which [system] file can
    name. Exit status 3 when [relax] max_steps were not enough. A run that was stopped goes on when the same command is
    given, with what the optimiser has learnt.
    """
    run = run_of(run_file, example, "relax")
    if run is None:
        return
    from halocline.comm import communicator
    from halocline.tddft import motion_jobs

    with console_of(run, "_relax") as console:
        job = motion_jobs.RelaxJob(run, communicator(), console, overwrite=overwrite)
        try:
            job.run()
        finally:
            if job.path.is_file():
                numbers(run, json, [job.path])


def dynamics(
    run_file: RunFile = None, example: Example = False, overwrite: Overwrite = False, json: Json = None
) -> None:
    """Molecular dynamics, with the electrons in their ground state at every step.

    The trajectory goes to `<output>_md.h5` and `.xyz`. A run that was stopped, by a signal, its wall_limit or a crash,
    goes on from its last checkpoint when the same command is given, with the same bits on the same number of processes.
    Atoms that move with the electrons in time are `halocline tddft propagate` with [ions] move = true.
    """
    run = run_of(run_file, example, "dynamics")
    if run is None:
        return
    from halocline.comm import communicator
    from halocline.tddft import motion_jobs

    with console_of(run, "_md") as console:
        numbers(run, json, [motion_jobs.DynamicsJob(run, communicator(), console, overwrite=overwrite).run()])


def potentials(
    element: Annotated[
        str | None, typer.Argument(metavar="[ELEMENT]", help="Symbol; all elements when absent.")
    ] = None,
    functional: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only those made for this functional, as in [xc].")
    ] = None,
    folder: Annotated[
        list[str] | None, typer.Option(metavar="FOLDER", help="Look here, too; may be given several times.")
    ] = None,
    refused: Annotated[bool, typer.Option("--refused", help="List the refused files, with reasons.")] = False,
    json: Json = None,
) -> None:
    """Lists pseudopotentials: the built-in ones, and files in the usual folders of other codes.

    Files are looked for in the folders of HALOCLINE_POTENTIALS, ESPRESSO_PSEUDO, ABI_PSPDIR and CP2K_DATA_DIR, and
    where Debian's packages quantum-espresso-data, abinit-data and cp2k-data put theirs. The spacing [angstrom] is the
    largest that is recommended, with an error of some 1e-3 hartree an atom. The cutoff [hartree] is that of plane waves
    of the same resolution.
    """
    from halocline.tddft import potentials as found

    if not speaks():
        return
    entries = found.find(element or "", functional or "", folder or ())
    usable = [e for e in entries if not e.refused]
    rejected = [e for e in entries if e.refused]
    for line in found.table(usable):
        print(line)
    searched = ", ".join(map(str, found.folders(folder or ()))) or "none of the usual folders exists"
    print(f"\nfolders       {searched}")
    if refused:
        for entry in rejected:
            print(f"{entry.path} {entry.name}: {entry.refused}".replace(" : ", ": "))
    elif rejected:
        print(f"refused       {len(rejected)} files; --refused lists them with the reasons")
    if not usable:
        print("none found; docs/pseudopotentials.md says where there are some")
    write_json(json, [dataclasses.asdict(e) | {"cutoff": e.cutoff} for e in entries])
