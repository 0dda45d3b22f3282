# SPDX-License-Identifier: Apache-2.0
"""What the Python tests share: reference data, the command line, and MPI runs of it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("HALOCLINE_DATA", ROOT.parent / "shared" / "data"))
SMALL = "4x4x4x4b6.0000id3n1"
SECONDS = 300


@pytest.fixture(autouse=True)
def no_trials_of_other_tests() -> None:
    """A trial of "auto" is remembered in the process, and which tests share a process is chance."""
    if (solver := sys.modules.get("halocline.qcd.quark_solver")) is not None:
        solver.forget_trials()


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of reference configurations; tests that need it are skipped without it."""
    if not (DATA / "gauge.json").is_file():
        pytest.skip(f"no reference data in {DATA} (HALOCLINE_DATA names another folder)")
    return DATA


@pytest.fixture(scope="session")
def gauge_reference(data) -> dict:
    return json.loads((data / "gauge.json").read_text())[SMALL]


@pytest.fixture(scope="session")
def lime(data) -> Path:
    """The 64-bit ILDG file of the 4^4 configuration."""
    return data / f"{SMALL}.ildg.lime"


def environment() -> dict[str, str]:
    """For subprocesses: one thread each, Open MPI as root with more ranks than cores, and no launcher above."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_", "PRTE_"))}
    return kept | {
        "OMP_NUM_THREADS": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # the same for Open MPI 5
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "OMPI_MCA_mpi_yield_when_idle": "1",  # the cores may be shared with other tests
    }


def launch(*words: object, ranks: int = 0, cwd: Path | None = None) -> subprocess.CompletedProcess:
    """Runs a Python module or script, under mpirun when ranks is not 0."""
    command = [sys.executable, *map(str, words)]
    if ranks:
        if shutil.which("mpirun") is None:
            pytest.skip("no mpirun in PATH")
        command = ["mpirun", "-n", str(ranks), *command]
    return subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, timeout=SECONDS)


@pytest.fixture(scope="session")
def finished_configurations():
    """finished_configurations(path): how many of them a result file holds; 0 where there is no file yet."""
    from halocline.qcd.results import read_spectrum

    return lambda path: len(read_spectrum(path)[1]) if path.exists() else 0


@pytest.fixture(scope="session")
def write_without():
    """write_without(path, whole, name): a sealed copy of an open HDF5 file without a dataset or an attribute.

    With its seal the file is read at once. One without, which another program has written, is first tried in a process
    of its own: a third of a second each.
    """
    from halocline import hdf5

    def write(path, whole, name, group="/"):
        def fill(file):
            for key, value in whole.attrs.items():
                file.attrs[key] = value
            for key in whole:
                whole.copy(key, file)
            del (file if name in file else file[group].attrs)[name]

        hdf5.write(path, fill)

    return write


@pytest.fixture(scope="session")
def parallel_environment() -> dict[str, str]:
    """The environment of an MPI run of a test; skips where there is no mpirun."""
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun in PATH")
    return environment()


@pytest.fixture(scope="session")
def command():
    """command(folder, "tddft", "relax", ...): the command in this process, started in `folder`; far quicker than a
    process each."""
    from halocline.cli.main import main

    def run(folder: Path, *words: object) -> subprocess.CompletedProcess:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([str(w) for w in words])
        return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def halocline(tmp_path):
    """halocline("qcd", "gauge", ..., ranks=2): the command, run in tmp_path."""

    def run(*words: object, ranks: int = 0) -> subprocess.CompletedProcess:
        return launch("-m", "halocline.cli.main", *words, ranks=ranks, cwd=tmp_path)

    return run


@pytest.fixture
def python(tmp_path):
    """python("script.py", ranks=2): any Python program, run in tmp_path."""

    def run(*words: object, ranks: int = 0) -> subprocess.CompletedProcess:
        return launch(*words, ranks=ranks, cwd=tmp_path)

    return run
