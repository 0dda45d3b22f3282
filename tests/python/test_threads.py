# SPDX-License-Identifier: Apache-2.0
"""How many threads a process takes, how they wait, and what it leaves to the user."""

import os
import subprocess
import sys

import pytest
from halocline.threads import LOCAL_RANKS, Machine, prepare, quota, running, this_machine

QUIET = Machine(cores=8, all_cores=8)
SPUN = {"GOMP_SPINCOUNT": "1000"} if os.uname().machine == "x86_64" else {"GOMP_SPINCOUNT": "20000"}
ASLEEP = {"OMP_WAIT_POLICY": "passive"}


def settings(machine: Machine, **given: str) -> dict[str, str]:
    """What is set beside what was given."""
    environment = dict(given)
    prepare(environment, machine)
    assert environment | given == environment
    return {name: value for name, value in environment.items() if name not in given}


def changed(**what) -> Machine:
    return Machine(**({"cores": 8, "all_cores": 8} | what))


def test_threads_with_cores_of_their_own_spin_for_a_bounded_time():
    assert settings(QUIET) == SPUN
    assert settings(changed(running=6), OMP_NUM_THREADS="2") == SPUN
    # Bound to two of eight cores, beside others on the other six.
    assert settings(changed(cores=2, running=6)) == SPUN


@pytest.mark.parametrize(
    ("machine", "given"),
    [
        (changed(running=1), {}),
        (changed(running=7), {"OMP_NUM_THREADS": "2"}),
        (QUIET, {"OMP_NUM_THREADS": "9"}),
        (changed(quota=1.5), {"OMP_NUM_THREADS": "2"}),
        (QUIET, {"OMP_NUM_THREADS": "2", LOCAL_RANKS[0]: "5"}),
    ],
)
def test_threads_that_share_their_cores_sleep(machine, given):
    assert settings(machine, **given) == ASLEEP


@pytest.mark.parametrize("name", LOCAL_RANKS)
def test_ranks_that_are_not_bound_share_the_cores(name):
    assert settings(QUIET, **{name: "4"})["OMP_NUM_THREADS"] == "2"
    assert settings(QUIET, **{name: "32"})["OMP_NUM_THREADS"] == "1"
    assert "OMP_NUM_THREADS" not in settings(QUIET, **{name: "1"})
    # Where the launcher has bound them, OpenMP sees their own cores alone.
    assert "OMP_NUM_THREADS" not in settings(changed(cores=2), **{name: "4"})


def test_a_control_group_of_few_cores_gets_few_threads():
    assert settings(changed(quota=3.5))["OMP_NUM_THREADS"] == "3"
    assert settings(changed(quota=0.5))["OMP_NUM_THREADS"] == "1"
    assert "OMP_NUM_THREADS" not in settings(changed(quota=8.0))


@pytest.mark.parametrize("number", ["4294967296", "100000", "2,99999", "9" * 5000])
def test_numbers_that_no_machine_has_are_refused_and_not_taken(number):
    environment = {"OMP_NUM_THREADS": number}
    assert "asks for more than" in prepare(environment, QUIET)
    assert "OMP_NUM_THREADS" not in environment
    words = [sys.executable, "-m", "halocline.cli.main", "--version"]
    run = subprocess.run(words, env=os.environ | {"OMP_NUM_THREADS": number}, capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr.splitlines()[-1].startswith("halocline: OMP_NUM_THREADS=")


def test_what_the_user_sets_stays():
    assert settings(changed(running=8), OMP_NUM_THREADS="3", GOMP_SPINCOUNT="7") == {}
    assert settings(QUIET, OMP_WAIT_POLICY="active") == {}
    assert settings(QUIET, OMP_NUM_THREADS="2,1") == SPUN


@pytest.mark.parametrize("number", ["4294967296", "100000", "2,99999", "9" * 5000])
def test_numbers_that_no_machine_has_are_not_taken(number):
    environment = {"OMP_NUM_THREADS": number}
    assert prepare(environment, QUIET).startswith("OMP_NUM_THREADS=")
    assert environment == SPUN
    run = subprocess.run(
        [sys.executable, "-c", "import os, halocline; halocline.comm; print('OMP_NUM_THREADS' in os.environ)"],
        env=os.environ | {"OMP_NUM_THREADS": number}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout.split() == ["False"] and "asks for more than 4096 threads" in run.stderr


def test_the_system_tells_what_others_want():
    machine = this_machine()
    assert 1 <= machine.cores <= machine.all_cores == os.cpu_count()
    assert quota() > 0
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            # The other process runs, or waits for its turn, whenever one looks after its start.
            assert any(running() >= 1 for _ in range(1000))
        finally:
            busy.kill()


def test_an_import_prepares_the_environment():
    show = "import os, halocline; print({'OMP_WAIT_POLICY', 'GOMP_SPINCOUNT'} & set(os.environ) != set())"
    names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    environment = {key: value for key, value in os.environ.items() if key not in names}
    run = subprocess.run([sys.executable, "-c", show], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True"]
