# SPDX-License-Identifier: Apache-2.0
"""The command line under mpirun: the same numbers as one process, one rank speaks, no rank is left hanging."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

HERE = os.path.dirname(__file__)


def write_run(tmp_path, lime, output, more="", solver=""):
    (tmp_path / "run.toml").write_text(
        f'[gauge]\nfiles = ["{lime}"]\n[action]\nmass = -0.5\ncsw = 1.0\n[solver]\ntolerance = 1e-12\n{solver}\n'
        f'[measure]\nmesons = "all"\n[output]\nfile = "{output}"\nplots = false\n{more}'
    )


def correlators(tmp_path, name):
    entry = json.loads((tmp_path / name).read_text())["configurations"][0]
    return {channel: np.array(c) for channel, c in entry["mesons"].items()}


@pytest.mark.parametrize(("encoding", "numbers"), [("ildg.lime", (2, 4)), ("2row.f32.nersc", (2,))])
def test_correlators_do_not_depend_on_the_number_of_ranks(halocline, data, tmp_path, encoding, numbers):
    lime = data / f"4x4x4x4b6.0000id3n1.{encoding}"
    write_run(tmp_path, lime, "one.h5")
    assert halocline("qcd", "spectrum", "run.toml", "--json", "one.json").returncode == 0
    one = correlators(tmp_path, "one.json")
    for ranks in numbers:
        write_run(tmp_path, lime, f"{ranks}.h5")
        done = halocline("qcd", "spectrum", "run.toml", "--json", f"{ranks}.json", ranks=ranks)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("boundary") == 1  # one rank speaks
        many = correlators(tmp_path, f"{ranks}.json")
        for channel, expected in one.items():
            assert many[channel] == pytest.approx(expected, abs=1e-9 * one["pion"].max()), channel


@pytest.mark.alone
@pytest.mark.parametrize(
    "solver",
    [
        'kind = "schwarz"',
        'kind = "schwarz"\nschwarz = { storage = "half", domains = [1, 1, 2, 1] }\nrhs_batch = 6',
        'kind = "auto"',
    ],
)
def test_schwarz_gives_the_same_on_many_ranks(halocline, lime, tmp_path, solver):
    write_run(tmp_path, lime, "one.h5", solver='kind = "bicgstab"')
    assert halocline("qcd", "spectrum", "run.toml", "--json", "one.json").returncode == 0
    one = correlators(tmp_path, "one.json")
    for ranks in (2, 8):  # four sites along each axis
        write_run(tmp_path, lime, f"{ranks}.h5", solver=solver)
        done = halocline("qcd", "spectrum", "run.toml", "--json", f"{ranks}.json", ranks=ranks)
        assert done.returncode == 0, done.stderr
        assert ("auto: " in done.stdout and ", schwarz " in done.stdout) == ("auto" in solver)
        many = correlators(tmp_path, f"{ranks}.json")
        for channel, expected in one.items():
            assert many[channel] == pytest.approx(expected, abs=1e-9 * one["pion"].max()), channel


def test_a_set_up_in_a_file_serves_other_numbers_of_ranks(halocline, lime, tmp_path):
    solver = 'kind = "multigrid"\nmultigrid = {{ vectors = 8, aggregate = [2, 2, 2, 2], setup_file = "{}" }}'
    for ranks in (1, 2):  # each writes its own file
        write_run(tmp_path, lime, f"made{ranks}.h5", solver=solver.format(f"setup{ranks}.h5"))
        done = halocline("qcd", "spectrum", "run.toml", "--json", f"made{ranks}.json", ranks=ranks)
        assert done.returncode == 0, done.stderr
    one = correlators(tmp_path, "made1.json")
    for ranks, made_by in ((1, 2), (4, 1)):
        before = (tmp_path / f"setup{made_by}.h5").read_bytes()
        write_run(tmp_path, lime, f"{ranks}.h5", solver=solver.format(f"setup{made_by}.h5"))
        done = halocline("qcd", "spectrum", "run.toml", "--json", f"{ranks}.json", ranks=ranks)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / f"setup{made_by}.h5").read_bytes() == before
        for channel, expected in one.items():
            found = correlators(tmp_path, f"{ranks}.json")[channel]
            assert found == pytest.approx(expected, abs=1e-9 * one["pion"].max()), channel


def test_low_modes_in_a_file_serve_other_numbers_of_ranks(halocline, lime, tmp_path):
    solver = (
        'kind = "deflated-cg"\nmultigrid = { vectors = 8, aggregate = [2, 2, 2, 2] }\n'
        'deflation = { vectors = 4, tolerance = 1e-3, file = "modes.h5" }'
    )
    for ranks in (2, 1):  # the first ones write the file
        write_run(tmp_path, lime, f"{ranks}.h5", solver=solver)
        done = halocline("qcd", "spectrum", "run.toml", "--json", f"{ranks}.json", ranks=ranks)
        assert done.returncode == 0, done.stderr
        assert "deflation     4 low modes in modes.h5" in done.stdout
        if ranks == 2:
            written = (tmp_path / "modes.h5").read_bytes()
        assert (tmp_path / "modes.h5").read_bytes() == written
    one = correlators(tmp_path, "1.json")
    two = correlators(tmp_path, "2.json")
    for channel, expected in one.items():
        assert two[channel] == pytest.approx(expected, abs=1e-9 * one["pion"].max()), channel


def test_generated_links_do_not_depend_on_the_number_of_ranks(halocline, tmp_path):
    words = ("--size", 4, 4, 8, 8, "--beta", 5.8, "--sweeps", 3, "--seed", 4)
    for ranks, name in ((0, "a.lime"), (2, "b.lime"), (4, "c.lime")):
        done = halocline("qcd", "gauge", "generate", name, *words, ranks=ranks)
        assert done.returncode == 0, done.stderr
    files = [(tmp_path / name).read_bytes() for name in ("a.lime", "b.lime", "c.lime")]
    assert files[0] == files[1] == files[2]


def test_hdf5_links_do_not_depend_on_the_number_of_ranks(halocline, lime, tmp_path):
    import halocline as hc

    for ranks in (2, 4):
        done = halocline("qcd", "gauge", "convert", lime, f"{ranks}.h5", ranks=ranks)
        assert done.returncode == 0, done.stderr
        u = hc.qcd.read_gauge(tmp_path / f"{ranks}.h5")
        assert np.array_equal(u.array(), hc.qcd.read_gauge(lime).array())


def test_mpi4py_communicators_are_taken(python):
    done = python(os.path.join(HERE, "..", "..", "examples", "with_mpi4py.py"), ranks=4)
    assert done.returncode == 0, done.stderr
    assert "plaquette" in done.stdout


@pytest.mark.parametrize(
    ("grid", "said"),
    [("[1, 1, 1, 3]", "grid"), ("[3, 1, 1, 1]", "grid")],
)
def test_an_impossible_grid_ends_every_rank_with_one_sentence(halocline, lime, tmp_path, grid, said):
    write_run(tmp_path, lime, "out.h5", f"[parallel]\ngrid = {grid}\n")
    done = halocline("qcd", "spectrum", "run.toml", ranks=3)
    assert done.returncode == 2
    assert done.stderr.count("halocline: ") == 1 and said in done.stderr and "Traceback" not in done.stderr


def test_more_ranks_than_the_lattice_has_boxes(halocline, tmp_path):
    done = halocline("qcd", "gauge", "generate", "a.lime", "--size", 2, 2, 2, 2, "--beta", 6, ranks=5)
    assert done.returncode == 2 and done.stderr.count("halocline: ") == 1 and "Traceback" not in done.stderr


def test_a_signal_ends_every_rank_and_keeps_the_results(tmp_path, parallel_environment, finished_configurations):
    (tmp_path / "run.toml").write_text(
        "[gauge]\ngenerate = { size = [4, 4, 4, 8], beta = 6.0, sweeps = 2, separation = 1, configurations = 500 }\n"
        '[action]\nmass = 0.2\ncsw = 1.0\n[output]\nfile = "out.h5"\nplots = false\n'
    )
    words = ["mpirun", "-n", "2", sys.executable, "-m", "halocline.cli.main", "qcd", "spectrum", "run.toml"]
    out = open(tmp_path / "said", "w")  # noqa: SIM115 - a pipe would be held open by a rank that stays
    run = subprocess.Popen(words, cwd=tmp_path, env=parallel_environment, stdout=out, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + 200
    # The file is there as soon as the solver is chosen.
    while not finished_configurations(tmp_path / "out.h5") and time.monotonic() < deadline:
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=60) != 0
    assert "Traceback" not in (tmp_path / "said").read_text()
    assert 1 <= finished_configurations(tmp_path / "out.h5") < 500


def test_a_bad_file_ends_every_rank(halocline, tmp_path):
    (tmp_path / "bad.lime").write_bytes(b"no gauge file at all" * 100)
    done = halocline("qcd", "gauge", "info", "bad.lime", ranks=3)
    assert done.returncode == 2 and done.stderr.count("halocline: ") == 1 and "Traceback" not in done.stderr


def test_an_error_on_one_rank_alone_ends_the_whole_job(python, lime, tmp_path):
    """Rank 1 fails where rank 0 waits in a collective: no agreement is possible, so the job is ended."""
    script = tmp_path / "fails.py"
    script.write_text(
        "import sys\n"
        "from halocline.cli import ending, main\n"
        "from halocline.comm import launched_rank\n"
        "from halocline.errors import Error\n"
        "from halocline.qcd import gauge\n"
        "ending.SECONDS_TO_AGREE = 1.0\n"
        "def fails(u):\n"
        "    raise Error('the disk of this node is gone.')\n"
        "if launched_rank() == 1:\n"
        "    gauge.plaquette = fails\n"
        f"sys.exit(main.main(['qcd', 'gauge', 'info', {str(lime)!r}]))\n"
    )
    done = python(script, ranks=2)
    assert done.returncode == 1
    assert "halocline: rank 1: the disk of this node is gone." in done.stderr and "Traceback" not in done.stderr


def test_a_first_rank_that_starts_late_still_says_the_sentence(tmp_path, parallel_environment):
    """A launcher ends the job when the first rank exits with an error, so the others must not exit before."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, time\ntime.sleep(2 if os.environ.get('OMPI_COMM_WORLD_RANK') == '0' else 0)\n"
    )
    words = ["mpirun", "-n", "3", sys.executable, "-m", "halocline.cli.main", "qcd", "spectrum", "none.toml"]
    environment = parallel_environment | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2
    assert done.stderr.count("halocline: ") == 1 and "halocline: none.toml" in done.stderr, done.stderr


FAILS_BEFORE_MPI = """
import sys, time
from halocline.cli import ending
from halocline.comm import launched_rank, world
ending.SECONDS_TO_AGREE = 1.0
if launched_rank() == 1:
    sys.exit(ending.finish(2, "the run file is missing on this node."))
if sys.argv[1] == "waits":
    world().broadcast(b"")
if sys.argv[1] != "has ended":
    time.sleep(60)
"""


@pytest.mark.parametrize("other", ["waits", "works", "has ended"])
def test_an_error_before_mpi_starts_on_one_rank_alone_is_said(python, tmp_path, other):
    (tmp_path / "fails.py").write_text(FAILS_BEFORE_MPI)
    done = python("fails.py", other, ranks=2)
    assert done.returncode != 0
    assert "halocline: rank 1: the run file is missing on this node." in done.stderr, done.stderr


STALLED = """
import os, signal, sys
import numpy as np
import halocline as hc
solve, call = map(int, sys.argv[1:])
u = hc.qcd.weak_links([4, 4, 4, 8], 0.2, seed=1)
d = hc.qcd.WilsonClover(u, mass=0.1, time_limit=1.0)
b = np.ones(u.geometry.local[::-1] + [4, 3], dtype=complex)
calls = 0
def progress(iterations, residual):
    global calls
    calls += 1
    if u.geometry.communicator.rank == 1 and number == solve and calls == call:
        os.kill(os.getpid(), signal.SIGSTOP)
    return True
assert not hc._halocline.comm.gave_up_waiting()
try:
    for number in range(3):
        calls = 0
        d.solve(b, progress)
except hc.Error as error:
    print(error, "gave up:", hc._halocline.comm.gave_up_waiting(), flush=True)
    hc._halocline.comm.abort_all(4)
"""


@pytest.mark.parametrize("solve, call", [(0, 1), (0, 2), (0, 12), (1, 1), (2, 3)])
def test_a_process_that_stalls_in_a_solve_is_an_error_of_the_others_within_the_time_limit(
    python, tmp_path, solve, call
):
    """The first solve makes the trial of auto, which goes on when a method fails, but not when a process is missing."""
    (tmp_path / "stalled.py").write_text(STALLED)
    done = python("stalled.py", solve, call, ranks=2)
    assert done.returncode == 4, done.stderr
    assert "within 1 s" in done.stdout and "rank" in done.stdout and "gave up: True" in done.stdout


STALLED_LINKS = """
import os, signal, threading
import halocline as hc
from halocline.comm import CommonWork
u = hc.qcd.unit_links([4, 4, 4, 8])
group = u.geometry.communicator
if group.rank == 1:
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGSTOP)).start()
try:
    with CommonWork(group, 1.0) as work:
        with work.paused():
            pass
        while True:
            hc.qcd.heatbath(u, 6.0, 1, seed=1)
            hc.qcd.smear_stout(u, 0.1)
            hc.qcd.fix_gauge(u, max_iterations=3)
            hc.qcd.wilson_flow(u, 0.02)
            hc.qcd.plaquette(u)
except hc.Error as error:
    print(error, flush=True)
    hc._halocline.comm.abort_all(4)
"""


def test_a_process_that_stalls_in_work_on_links_is_an_error_of_the_others_within_the_time_limit(python, tmp_path):
    (tmp_path / "stalled.py").write_text(STALLED_LINKS)
    done = python("stalled.py", ranks=2)
    assert done.returncode == 4, done.stderr
    assert "within 1 s" in done.stdout and "rank" in done.stdout
