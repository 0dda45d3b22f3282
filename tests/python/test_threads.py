# SPDX-License-Identifier: Apache-2.0
"""How many threads a process takes, and what it leaves to the user."""

import os
import subprocess
import sys

import pytest

SHOW = "import os, halocline; print(os.environ.get('OMP_NUM_THREADS'), os.environ.get('GOMP_SPINCOUNT'))"


def threads(**given: str) -> list[str]:
    names = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
    environment = {key: value for key, value in os.environ.items() if key not in names} | given
    run = subprocess.run([sys.executable, "-c", SHOW], env=environment, capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_a_process_alone_leaves_the_number_to_openmp():
    assert threads() == ["None", "10000"]


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"])
def test_ranks_that_are_not_bound_share_the_cores(name):
    if len(os.sched_getaffinity(0)) != os.cpu_count():
        pytest.skip("this process is bound to some of the cores")
    assert threads(**{name: str(4 * os.cpu_count())})[0] == "1"
    assert threads(**{name: "1"})[0] == "None"


def test_what_the_user_sets_stays():
    given = {"OMP_NUM_THREADS": "3", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
    assert threads(**given, GOMP_SPINCOUNT="7") == ["3", "7"]
    assert threads(OMP_WAIT_POLICY="active") == ["None", "None"]
