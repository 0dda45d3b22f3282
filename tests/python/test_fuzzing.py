# SPDX-License-Identifier: Apache-2.0
"""The fuzzer of readers in Python finds planted faults, and makes each input again."""

import importlib.util
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from halocline.errors import FileError

FUZZING = Path(__file__).resolve().parents[1] / "fuzz/fuzzing.py"
SPEC = importlib.util.spec_from_file_location("fuzzing", FUZZING)
fuzzing = importlib.util.module_from_spec(SPEC)
sys.modules["fuzzing"] = fuzzing
SPEC.loader.exec_module(fuzzing)


def family(do_wrong, **options):
    """A reader that takes the sound file, refuses all damage behind its head, and does wrong where the head is hit."""

    def read(path, label, content):
        assert Path(path).read_bytes() == content and path.endswith(".text")
        if content == b"head 8 rest":
            return "unchanged"
        if content.startswith(b"head"):
            raise FileError(f"{path}: is damaged.")
        return do_wrong()

    return fuzzing.Family("planted", [("text", b"head 8 rest")], read, [b"8"], **options)


def fuzz(planted, folder, inputs=40):
    found = fuzzing.fuzz(planted, inputs=inputs, seconds=0, seed=1, first=0, save=folder)
    return found["labels"]["text"], sorted(folder.iterdir())


def two_lines():
    raise FileError("two\nlines")


@pytest.mark.parametrize(
    "do_wrong", [lambda: [][1], two_lines, lambda: bytes(2 << 30) and "unprotected", lambda: "silent"]
)
def test_planted_faults_are_found_and_saved(tmp_path, do_wrong):
    counts, saved = fuzz(family(do_wrong), tmp_path)
    assert counts["inputs"] == 40 and 0 < counts["failures"] < 40
    assert len(saved) == min(counts["failures"], fuzzing.MOST_SAVED)
    number = int(saved[0].name.rsplit("-", 1)[1])
    assert saved[0].read_bytes() == fuzzing.mutated(family(do_wrong), 1, number)[1]


def killed():
    os.kill(os.getpid(), signal.SIGSEGV)


@pytest.mark.parametrize(("do_wrong", "said"), [(killed, "crash"), (lambda: time.sleep(60), "hang")])
def test_what_ends_or_stops_the_process_is_counted_and_the_rest_is_read(tmp_path, do_wrong, said):
    counts, saved = fuzz(family(do_wrong, time_limit=0.3), tmp_path, inputs=10)
    assert counts["inputs"] == 10 and counts[said] == counts["failures"] == len(saved) > 0
    assert counts["refused"] + counts["unchanged"] + counts[said] == 10


def test_a_sound_reader_passes(tmp_path):
    def refuse():
        raise FileError("it has no head.")

    counts, saved = fuzz(family(refuse), tmp_path)
    assert counts["failures"] == 0 and counts["refused"] + counts["unchanged"] == 40 and not saved
