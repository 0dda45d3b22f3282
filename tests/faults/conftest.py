# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests that kill, stop and starve runs; faulty_runs.py has the runs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from faulty_runs import JOBS, SECONDS_TO_START, Job, Started, write_run  # noqa: E402


@pytest.fixture
def started() -> Iterator[Callable[..., Started]]:
    """started(job, folder, ranks=2): a run in the background; all its processes are gone when the test is over."""
    runs: list[Started] = []

    def start(job: Job, folder: Path, ranks: int = 0, wrapped: tuple[str, ...] = (), into: str = "") -> Started:
        if ranks and shutil.which("mpirun") is None:
            pytest.skip("no mpirun in PATH")
        runs.append(Started(job, folder, ranks, wrapped, into))
        return runs[-1]

    yield start
    for run in runs:
        run.end()


@pytest.fixture(scope="session")
def ground(tmp_path_factory) -> Path:
    """A folder with the finished ground state that `propagate` begins from."""
    folder = tmp_path_factory.mktemp("ground")
    job = JOBS["ground-state"]
    write_run(job, folder, 3)
    run = Started(job, folder, 0, (), "")
    assert run.status(SECONDS_TO_START) == 0, run.text()
    return folder


@pytest.fixture
def prepared(ground) -> Callable[[Job, Path], None]:
    """prepared(job, folder): puts into the folder what the command begins from."""

    def prepare(job: Job, folder: Path) -> None:
        if job.name == "propagate":
            for name in ("out_gs.h5", "out_gs.orbitals"):
                shutil.copy(ground / name, folder / name)

    return prepare


@pytest.fixture(scope="session")
def mounts() -> None:
    """Skips where a namespace with mounts of its own cannot be made."""
    if (
        shutil.which("unshare") is None
        or subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode
    ):
        pytest.skip("mounts in a namespace of their own take root: unshare -m")
