# SPDX-License-Identifier: Apache-2.0
"""A rank that dies or stalls in the middle of a run: every rank that waits says so, and the run ends."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.alone

RANKS, VICTIM, TIME_LIMIT = 3, 1, 3
ATTEMPTS = 4


def process_of(rank: int, launcher: int) -> int | None:
    """The process of this rank among the children of mpirun, once it runs the command."""
    for folder in Path("/proc").iterdir():
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == launcher and f"OMPI_COMM_WORLD_RANK={rank}".encode() in (folder / "environ").read_bytes():
                return int(folder.name)
        except (OSError, IndexError, ValueError):
            continue
    return None


def wait_for(condition, seconds: float):
    """Polls a condition; what it found, or None when the time is over."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := condition():
            return found
        time.sleep(0.05)
    return None


def in_the_middle(pid: int) -> bool:
    """The rank has exchanged for some time: it has used CPU for seconds beyond the start of Python."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") > 2.0


def blow_and_listen(command: list[str], folder: Path, environment: dict[str, str], blow: int) -> str | None:
    """What the ranks print when the blow falls on one of them; None when the run does not end by itself.

    Every 5000 steps the run makes new exchanges. A rank that is lost while MPI makes what they stand on is lost where
    no time limit holds, and one that is killed while it writes into a queue that MPI shares between processes leaves
    the reader inside MPI for ever, until another rank ends the job: that rank then prints nothing. The blow misses both
    with much greater probability.
    """
    with subprocess.Popen(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as run:  # fmt: skip
        try:
            pid = wait_for(lambda: process_of(VICTIM, run.pid), 60)
            assert pid, "the rank did not start"
            assert wait_for(lambda: in_the_middle(pid), 120), "the rank did not get going"
            os.kill(pid, blow)
            return run.communicate(timeout=60)[0]
        except subprocess.TimeoutExpired:
            return None
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)


def sentence_of(rank: int, transport: str, text: str) -> str | None:
    """What this rank printed of the exchange, sum or collective in which it found another one lost."""
    found = re.search(
        rf"halo exchange, rank {rank}, face [+-]\w+, step \d+, transport {transport}: [^\n]*"
        rf"|rank {rank}: sum \d+ of this reduction: [^\n]*"
        rf"|rank {rank}: [a-z-]+: (not all of the {RANKS} ranks have come within|rank \d+ has ended)[^\n]*",
        text,
    )
    return found and found[0]


def is_open_mpi() -> bool:
    said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
    return "Open MPI" in said or "OpenRTE" in said


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun in PATH")
@pytest.mark.skipif(
    shutil.which("mpirun") is not None and not is_open_mpi(),
    reason="the launcher ends all ranks when the first one speaks and ends; Open MPI's lets the others speak",
)
@pytest.mark.parametrize(
    ("transport", "blow", "said"),
    [
        ("shared_memory", signal.SIGSTOP, f"within {TIME_LIMIT} s"),
        ("mpi_persistent", signal.SIGKILL, "has ended"),
    ],
)
def test_a_lost_rank_is_an_error_on_every_rank_that_waits(open_mpi, tmp_path, transport, blow, said):
    words = ("bench", "halo", "--stress", 10**9, "--transport", transport, "--buffers", 2, "--time-limit", TIME_LIMIT)
    command = ["mpirun", "--enable-recovery", "-n", str(RANKS), sys.executable, "-m", "halocline.cli.main"]
    for _ in range(ATTEMPTS):
        text = blow_and_listen([*command, *map(str, words)], tmp_path, open_mpi, blow)
        if text is None:
            continue
        sentences = {rank: sentence_of(rank, transport, text) for rank in set(range(RANKS)) - {VICTIM}}
        spoken = {rank: sentence for rank, sentence in sentences.items() if sentence}
        # A collective that waits for all knows whose death it sees, and not who stalls.
        found = {r for r, s in spoken.items() if f"rank {VICTIM}" in s or f"not all of the {RANKS} ranks" in s}
        if not found:
            continue
        for rank, sentence in spoken.items():
            # Who has found the lost rank ends with its sentence, and a third may see that end first. Or the third waits
            # for one that waits for the lost rank, and the time limit of both is over in the same moment.
            others = "|".join(map(str, found - {rank}))
            ended = others and re.search(rf"rank ({others})\b[^\n]*ended", sentence)
            starved = others and re.search(rf"rank ({others})\b[^\n]*waits for another rank", sentence)
            assert rank in found or ended or starved, text
            assert said in sentence or ended or not sentence.startswith("halo exchange"), text
        if len(spoken) == len(sentences):
            return
    raise AssertionError(f"in {ATTEMPTS} runs, every time a rank was lost inside MPI; the last printed:\n{text}")
