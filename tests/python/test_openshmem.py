# SPDX-License-Identifier: Apache-2.0
"""OpenSHMEM below the halo: what its start and its end must not do to a job."""

import os
import shutil
import subprocess
import sys

import pytest

from halocline import _halocline

EXCHANGE = """
import sys
{before}
import halocline.bench
done = halocline.bench.halo_stress("openshmem", exchanges=20, longest=64)
print("skipped: " + done["skipped"] if "skipped" in done else "exchanged", flush=True)
sys.exit({status})
"""
RUN = """
[system]
jellium = { radius = 1.5, charge = 2 }
cell = 8
unit = "bohr"
states = 4
[grid]
extent = [8, 8, 8]
[scf]
tolerance = 1e-4
[parallel]
space = [1, 1, 2]
transport = "auto"
[output]
file = "small.h5"
plots = false
cube = false
"""
FINALIZED_TWICE = ("MPI_FINALIZE", "An error occurred", "without calling")


def run(environment, words, before=(), cwd=None):
    command = [*before, "mpirun", "-n", "2", sys.executable, *words]
    return subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=120)


@pytest.fixture
def openshmem():
    if problem := _halocline.comm.transports()["openshmem"]:
        pytest.skip(f"openshmem {problem}")


@pytest.fixture
def small_shared_memory(parallel_environment):
    """The words that run a command where /dev/shm holds 8 MiB. Skips where MPI itself needs more."""
    words = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=8m tmpfs /dev/shm && exec "$@"', "sh"]
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("only root can make a small /dev/shm of its own")
    if subprocess.run([*words, "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine lets nobody mount a file system on /dev/shm")
    if run(parallel_environment, ["-c", "from mpi4py import MPI"], words).returncode != 0:
        pytest.skip("MPI does not start where /dev/shm holds 8 MiB")
    return words


@pytest.mark.parametrize("before", ["", "from mpi4py import MPI"])
@pytest.mark.parametrize("status", [0, 3, 130])
def test_the_end_of_a_job_ends_mpi_once(openshmem, parallel_environment, before, status):
    done = run(parallel_environment, ["-c", EXCHANGE.format(before=before, status=status)])
    assert done.stdout.count("exchanged") == 2, done.stderr
    assert done.returncode == status, done.stderr
    assert not any(said in done.stderr for said in FINALIZED_TWICE), done.stderr


def test_auto_lives_with_a_small_shared_memory(small_shared_memory, parallel_environment, tmp_path):
    (tmp_path / "run.toml").write_text(RUN)
    words = ["-m", "halocline.cli.main", "tddft", "ground-state", "run.toml"]
    done = run(parallel_environment, words, small_shared_memory, tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("small*.h5"))


def test_a_small_shared_memory_is_refused_in_a_sentence(openshmem, small_shared_memory, parallel_environment):
    done = run(parallel_environment, ["-c", EXCHANGE.format(before="", status=0)], small_shared_memory)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("skipped: needs 12 MiB of /dev/shm to start 2 processes on a node") == 2
