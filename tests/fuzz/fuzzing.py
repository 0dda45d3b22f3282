# SPDX-License-Identifier: Apache-2.0
"""Fuzzing of readers in Python: damaged files, a reader in a child process, and what became of each input.

The counterpart of driver.cpp. A child process reads one input after another; the parent looks on, so that a crash, a
hang inside a library and an appetite for memory are found as well, and the next child goes on behind the input that
did it. Input I of seed K is always the same: `--seed K --first I --inputs 1` makes it again.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import mmap
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

VERDICTS = ("refused", "unchanged", "unprotected", "let_through", "silent")
"""As in fuzz.hpp."""
MEMORY = 1 << 30
"""Bytes that reading one small file may take beyond what the process has."""
MOST_SAVED = 20

ODD_VALUES = [
    b"0", b"-1", b"1", b"2", b"1e308", b"-1e308", b"1e-320", b"1e999", b"nan", b"inf", b"-inf", b"0x10", b"1.5",
    b"2147483648", b"4294967296", b"9223372036854775808", b"99999999999999999999", b"true", b"false", b'""', b'"x"',
    b"[]", b"{}", b"[1, 2]", b'["a", 1]', b"[[]]", b"{ a = 1 }", b"null", b"2026-01-01", b"'", b'"', b"",
]  # fmt: skip


@dataclasses.dataclass
class Family:
    """A reader, sound files for it, and the words of their format."""

    name: str
    samples: list[tuple[str, bytes]]
    """(label, content); labels are counted apart."""
    read: Callable[[str, str, bytes], str]
    """read(path, label, content) gives a verdict, or raises what the reader raises."""
    words: Sequence[bytes] = ()
    inputs_a_child: int = 20000
    """A library that leaks is left behind with its process."""
    time_limit: float = 30.0
    """Seconds for one input; generous, for machines that do other things too."""
    tolerated: Sequence[str] = ()
    """Endings of another project's reader that are counted and are no failures: "hang", "crash"."""


def mutated(family: Family, seed: int, number: int) -> tuple[str, bytes]:
    """Input `number`: its label and its bytes."""
    dice = random.Random(seed * 1_000_003 + number)
    label, sound = family.samples[number % len(family.samples)]
    content = bytearray(sound)
    for _ in range(1 + dice.randrange(8 if dice.randrange(4) == 0 else 2)):
        if content:
            _change(content, family, dice)
    return label, bytes(content[: 4 * len(sound) + 4096])


def _change(content: bytearray, family: Family, dice: random.Random) -> None:
    """One change in place."""
    at = dice.randrange(len(content))
    length = min(1 + dice.randrange(64), len(content) - at)
    kind = dice.randrange(13)
    if kind < 2:
        content[at] ^= 1 << dice.randrange(8)
    elif kind == 2:
        content[at] = dice.randrange(256)
    elif kind == 3:
        del content[at : at + length]
    elif kind == 4:
        to = dice.randrange(len(content))
        content[to:to] = content[at : at + length]
    elif kind == 5:
        content[at : at + length] = dice.choice((b"\0", b"\xff", b" ")) * length
    elif kind == 6:
        content[at:at] = dice.choice(family.words or ODD_VALUES)
    elif kind == 7:
        word = dice.choice(family.words or ODD_VALUES)
        content[at : at + len(word)] = word
    elif kind == 8:
        _tweak_text(content, at, dice)
    elif kind == 9:
        _tweak_binary(content, at, dice)
    elif kind == 10:
        _change_line(content, at, dice)
    elif kind == 11:
        other = dice.choice(family.samples)[1]
        if dice.randrange(4) == 0:
            content[at:] = other[dice.randrange(len(other)) :]
    elif dice.randrange(4) == 0:
        del content[at:]


def _tweak_text(content: bytearray, at: int, dice: random.Random) -> None:
    """Another number for the next one."""
    end = min(len(content), at + 256)
    while at < end and not 48 <= content[at] <= 57:
        at += 1
    stop = at
    while stop < min(len(content), at + 40) and content[stop] in b"0123456789.+-eE":
        stop += 1
    if stop == at:
        return
    if dice.randrange(3) == 0:
        content[at + dice.randrange(stop - at)] = 48 + dice.randrange(10)
    else:
        content[at:stop] = dice.choice(ODD_VALUES[:18])


def _tweak_binary(content: bytearray, at: int, dice: random.Random) -> None:
    width = 1 << dice.randrange(4)
    at = at // width * width
    if at + width > len(content):
        return
    order = dice.choice(("little", "big"))
    word = int.from_bytes(content[at : at + width], order)
    word = dice.choice((word + 1 + dice.randrange(16), word - 1 - dice.randrange(16), 0, 1 << (8 * width - 1), -1))
    content[at : at + width] = (word % (1 << 8 * width)).to_bytes(width, order)


def _change_line(content: bytearray, at: int, dice: random.Random) -> None:
    """A line twice, in another place, left out, or with another value behind its `=` or its last blank."""
    begin = content.rfind(b"\n", 0, at) + 1
    end = content.find(b"\n", at)
    end = len(content) if end < 0 else end + 1
    line = bytes(content[begin:end])
    kind = dice.randrange(5)
    if kind == 0:
        content[begin:begin] = line
    elif kind == 1:
        del content[begin:end]
    elif kind == 2:
        to = content.find(b"\n", dice.randrange(len(content))) + 1
        content[to:to] = line
    else:
        head, mark, _ = line.rpartition(b"=" if b"=" in line else b" ")
        content[begin:end] = head + mark + b" " + dice.choice(ODD_VALUES) + b"\n"


class _Board:
    """What the child tells the parent: the input at hand, since when, and counts."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 1 << 16)
        self.numbers = memoryview(self.memory)[:16].cast("d")  # each is written and read in one piece

    def at(self, number: int) -> None:
        self.numbers[1] = time.monotonic()
        self.numbers[0] = number

    def present(self) -> tuple[int, float]:
        return int(self.numbers[0]), self.numbers[1]

    def keep(self, counts: dict) -> None:
        text = json.dumps(counts).encode()
        self.memory[64 : 68 + len(text)] = len(text).to_bytes(4, "little") + text

    def counts(self) -> dict:
        length = int.from_bytes(self.memory[64:68], "little")
        return json.loads(self.memory[68 : 68 + length]) if length else {}


def judged(family: Family, label: str, content: bytes, folder: Path) -> tuple[str, str]:
    """(verdict, what is wrong or nothing) on one input, read from a new file `fuzzed.<label>` in the folder."""
    from halocline.errors import Error

    path = folder / f"fuzzed.{label}"
    path.write_bytes(content)
    try:
        verdict = family.read(str(path), label, content)
        return verdict, "damage is taken in without a word" if verdict == "silent" else ""
    except Error as error:
        text = str(error)
        return "refused", "" if text and "\n" not in text else f"the error is no single line: {text!r}"
    except MemoryError:
        return "refused", f"reading it takes more than {MEMORY >> 20} MiB"
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        where = traceback.extract_tb(error.__traceback__)[-1]
        return "refused", f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
    finally:
        path.unlink(missing_ok=True)  # the next one is another file for libraries that remember them


def _save(folder: Path, family: Family, seed: int, number: int, content: bytes, sentence: str) -> None:
    path = folder / f"{family.name}-{seed}-{number}"
    path.write_bytes(content)
    print(f"{sentence}\nfuzz: {family.name}, seed {seed}, input {number}: saved as {path}", file=sys.stderr, flush=True)


def _child(
    family: Family, board: _Board, counts: dict, numbers: range, until: float, seed: int, save: Path, folder: Path
) -> None:
    """Reads inputs until they or the time are over; ends the process."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for number in numbers:
        board.at(number)
        if time.monotonic() > until:
            break
        label, content = mutated(family, seed, number)
        verdict, wrong = judged(family, label, content, folder)
        here = counts.setdefault(label, dict.fromkeys(("inputs", "failures", *VERDICTS), 0))
        here["inputs"] += 1
        here[verdict] += 1
        if wrong:
            here["failures"] += 1
            if sum(c["failures"] for c in counts.values()) <= MOST_SAVED:
                _save(save, family, seed, number, content, wrong)
        board.keep(counts)
    else:
        board.at(numbers.stop)
    board.keep(counts)
    os._exit(0)


def fuzz(family: Family, *, inputs: int, seconds: float, seed: int, first: int, save: Path) -> dict:
    """Counts by label, and what failed. inputs: as many, unless seconds is positive."""
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="halocline-fuzz-", dir=shared if os.access(shared, os.W_OK) else None))
    try:
        return _fuzz(family, inputs, seconds, seed, first, save, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fuzz(family: Family, inputs: int, seconds: float, seed: int, first: int, save: Path, folder: Path) -> dict:
    for label, content in family.samples:
        verdict, wrong = judged(family, label, content, folder)
        if verdict != "unchanged" or wrong:
            raise AssertionError(f"{family.name}, {label}: the sound file is not read: {verdict} {wrong}")
    begun = time.monotonic()
    until = begun + seconds if seconds > 0 else float("inf")
    end = sys.maxsize if seconds > 0 else first + inputs
    counts: dict = {}
    number = first
    while number < end and time.monotonic() < until:
        board = _Board()
        board.at(number)
        child = os.fork()
        if child == 0:
            try:
                stop = min(end, number + family.inputs_a_child)
                _child(family, board, counts, range(number, stop), until, seed, save, folder)
            finally:
                os._exit(2)
        said = _wait(child, board, family.time_limit)
        counts = board.counts() or counts
        number, _ = board.present()
        if said:  # the child could not count the input that ended it
            label, content = mutated(family, seed, number)
            here = counts.setdefault(label, dict.fromkeys(("inputs", "failures", *VERDICTS), 0))
            here["inputs"] += 1
            here[said] = here.get(said, 0) + 1
            here["failures"] += said not in family.tolerated
            if said not in family.tolerated and sum(c["failures"] for c in counts.values()) <= MOST_SAVED:
                _save(save, family, seed, number, content, f"reading it ends in a {said}")
            number += 1
    return {"family": family.name, "seconds": round(time.monotonic() - begun, 3), "next": number, "labels": counts}


def _wait(child: int, board: _Board, time_limit: float) -> str:
    """'' when the child has ended in order, 'crash' or 'hang' of the input at hand otherwise."""
    pause = 0.001
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return "" if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 else "crash"
        if time.monotonic() - board.present()[1] > time_limit:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "hang"
        time.sleep(pause)
        pause = min(0.1, 2 * pause)


def main(make_family: Callable[[str], Family], names: Sequence[str]) -> int:
    """The command of a file with families. Exit status 1 where something failed."""
    parser = argparse.ArgumentParser(description="Fuzz a reader, or read saved inputs.")
    parser.add_argument("family", choices=names)
    parser.add_argument("files", nargs="*", help="saved inputs to be read once more")
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--save", type=Path, default=Path())
    words = parser.parse_args()
    family = make_family(words.family)
    if words.files:
        wrong = False
        for file in words.files:
            for label in dict.fromkeys(label for label, _ in family.samples):
                with tempfile.TemporaryDirectory() as folder:
                    verdict, sentence = judged(family, label, Path(file).read_bytes(), Path(folder))
                print(f"{file} as {label}: {verdict}{', FAILURE: ' + sentence if sentence else ''}")
                wrong = wrong or bool(sentence)
        return int(wrong)
    options = {name: getattr(words, name) for name in ("inputs", "seconds", "seed", "first", "save")}
    found = fuzz(family, **options)
    print(json.dumps(found))
    return int(any(counts["failures"] for counts in found["labels"].values()))
