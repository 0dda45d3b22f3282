# SPDX-License-Identifier: Apache-2.0
"""The `halocline` command: its groups, and the exit status of every command.

Exit status 0: done. 2: a mistake of the user (arguments, run file, input or output files), explained in one sentence.
1: any other failure, such as a solver that did not converge. 3: a ground state that did not converge. 130: stopped by
Ctrl-C or SIGTERM.

Under an MPI launcher the first rank writes for all. If all ranks have the same error, every rank ends in order. If some
ranks do not learn of the error, the whole job is aborted, so that no rank hangs.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from typing import Annotated

import typer
from typer.exceptions import Abort, Exit, TyperException

from halocline.cli.common import command_group
from halocline.cli.ending import STOPPED, finish, print_error
from halocline.comm import check_machine, launched_rank
from halocline.errors import Error, FileError, Interrupted, InvalidArgument, NotConverged

DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

app = typer.Typer(
    name="halocline",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Stencil physics at the strong-scaling limit: lattice QCD, and electron dynamics by real-time TDDFT.",
)


def _version(asked: bool) -> None:
    if asked:
        from halocline import _halocline

        typer.echo(f"halocline {_halocline.core.version} ({_halocline.core.revision}, {_halocline.core.isa})")
        raise Exit(0)


@app.callback()
def _top(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")] = False,
) -> None:
    pass


def _add_groups() -> None:
    from halocline.cli import bench, doctor, gauge, jobs, map, maxwell, report, spectrum, tddft, tune

    qcd = command_group("Lattice QCD.")
    qcd.add_typer(gauge.app, name="gauge")
    qcd.add_typer(jobs.app, name="jobs")
    spectrum.add_to(qcd)
    app.add_typer(qcd, name="qcd")
    app.add_typer(tddft.app, name="tddft")
    app.add_typer(maxwell.app, name="maxwell")
    app.add_typer(bench.app, name="bench")
    app.add_typer(map.app, name="map")
    app.add_typer(tune.app, name="tune")
    report.add_to(app)
    doctor.add_to(app)


def outcome(error: BaseException) -> tuple[int, str]:
    """Exit status and message for an exception of a command; the message is empty if there is nothing to print."""
    if isinstance(error, Exit):
        return error.exit_code, ""
    if isinstance(error, (Abort, KeyboardInterrupt)):
        return STOPPED, "stopped."
    if isinstance(error, TyperException):
        return error.exit_code, error.format_message()
    if isinstance(error, Interrupted):
        return STOPPED, str(error)
    if isinstance(error, (InvalidArgument, FileError)):
        return 2, str(error)
    if isinstance(error, NotConverged):
        return 3, str(error)
    if isinstance(error, Error):
        return 1, str(error)
    if isinstance(error, OSError) and error.errno in DISK_IS_FULL:
        return 2, f"the output of this command cannot be written: {error.strerror}; make room."
    if isinstance(error, MemoryError):
        return 1, "out of memory; use more ranks, or a smaller lattice."
    return 1, "internal error, please report it:\n" + "".join(traceback.format_exception(error)).rstrip()


def _forget_output() -> None:
    """Discards the buffered standard output, because Python would try to write it again at exit and report the
    failure."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _refused_machine() -> str:
    """Why this machine cannot run the build, with the rank; empty where it can."""
    try:
        check_machine()
    except InvalidArgument as error:
        rank = launched_rank()
        return str(error) if rank is None else f"rank {rank}: {error}"
    return ""


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    try:
        from halocline import thread_problem

        if thread_problem:
            raise InvalidArgument(thread_problem)
        if missing := _refused_machine():
            print_error(missing)  # on each rank where it is so: MPI has not started, and nobody else can say it
            return 2
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # file names may contain characters that no encoding has
                stream.reconfigure(errors="backslashreplace")
        if not app.registered_groups:
            _add_groups()
        if launched_rank() not in (None, 0):
            with contextlib.redirect_stdout(None):
                result = app(arguments, standalone_mode=False)
        else:
            result = app(arguments, standalone_mode=False)
        sys.stdout.flush()  # so that a full disk is detected here, not at the exit of Python
        return result if isinstance(result, int) else 0
    except BaseException as error:
        if isinstance(error, OSError) and error.errno in DISK_IS_FULL:
            _forget_output()
        if isinstance(error, SystemExit):
            raise
        if isinstance(error, BrokenPipeError):
            return 0
        return finish(*outcome(error))


if __name__ == "__main__":
    sys.exit(main())
