# SPDX-License-Identifier: Apache-2.0
"""What the benchmark tests share: the command under mpirun, and a lock of their own."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile

import pytest
from halocline.bench import simulate
from halocline.bench.simulate.program import build

SECONDS = 300
OPEN_MPI = {
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "passive",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # the same for Open MPI 5
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",  # the cores may be shared with other tests
}


@pytest.fixture
def open_mpi():
    """The environment of a run, with a lock of the benchmarks of its own.

    So a benchmark of somebody else does not hold up the tests. The lock is not in the test's folder: Open MPI keeps
    sockets there, whose paths must be short.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_", "PRTE_"))}
    with tempfile.TemporaryDirectory() as folder:
        yield kept | OPEN_MPI | {"TMPDIR": folder}


@pytest.fixture(scope="session")
def _cache_folder(tmp_path_factory):
    """One folder for the processes that share the tests: the first of them compiles, the others wait for it."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "simulated-cache"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def cache(_cache_folder, monkeypatch):
    """A cache of the tests' own, so that the simulated programs are compiled from these sources; once for all tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(_cache_folder))
    if not simulate.unavailable_reason():
        with open(_cache_folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            build()


@pytest.fixture
def bench_command(tmp_path, open_mpi):
    """bench_command(*words, ranks=2): `halocline bench ...` in the test's folder, under mpirun unless ranks is 0."""

    def run(*words: object, ranks: int = 2) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "halocline.cli.main", "bench", *map(str, words)]
        if ranks:
            if shutil.which("mpirun") is None:
                pytest.skip("no mpirun in PATH")
            command = ["mpirun", "-n", str(ranks), *command]
        return subprocess.run(command, cwd=tmp_path, env=open_mpi, capture_output=True, text=True, timeout=SECONDS)

    return run
