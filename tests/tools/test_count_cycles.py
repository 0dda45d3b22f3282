# SPDX-License-Identifier: Apache-2.0
"""The count of cycles on A64FX: what it promises of D_in, and of the ways to move lanes along x."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("count_cycles", ROOT / "tools/count_cycles.py")
count_cycles = importlib.util.module_from_spec(SPEC)
sys.modules["count_cycles"] = count_cycles
SPEC.loader.exec_module(count_cycles)

WHY = count_cycles.unavailable_reason("aarch64-linux-gnu-g++")


def first_line(*words):
    try:
        return subprocess.run(words, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return ""


# The figures are those of one compiler and one model.
if not WHY and " 12." not in first_line("aarch64-linux-gnu-g++", "--version"):
    WHY = "the counted figures are those of g++ 12"

# Cycles a site of the public solver of Fugaku for the same domain, compiler and flags (docs/fugaku.md).
OF_THEIRS = 75.1


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    out = tmp_path_factory.mktemp("cycles") / "cycles.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/count_cycles.py"), "--json", str(out)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return {count["kernel"]: count for count in json.loads(out.read_text())}


@pytest.mark.skipif(WHY != "", reason=WHY)
def test_d_in_takes_at_most_seven_tenths_of_the_cycles_of_the_solver_of_fugaku(counts):
    inside = counts["D_in 16x6x4x3"]
    assert inside["cycles"] < 0.7 * OF_THEIRS
    assert counts["D_in 16x6x4x3, prefetching"]["cycles"] < 0.7 * OF_THEIRS
    assert inside["spills"] * 16 < 10  # a tile
    # No model can let the pipelines do more than they can.
    assert inside["cycles"] > inside["float_pipes"] > inside["flops"] / 64 / 2


@pytest.mark.skipif(WHY != "", reason=WHY)
def test_the_ways_to_move_lanes_agree_and_a_permutation_beats_a_selection(counts):
    for where in ("edge", "inner"):
        ways = {way: counts[f"x-shift, {where}, {way}"] for way in count_cycles.WAYS}
        assert len({count["result"] for count in ways.values()}) == 1
        assert float(ways["loads"]["result"]) != 0
        assert ways["permute"]["cycles"] < ways["select"]["cycles"]


def test_instructions_lose_the_addresses_of_the_program():
    assert count_cycles.for_model("b.eq\t402f00 <main+0x20>") == "b.eq #16"
    assert count_cycles.for_model("bl\t402f00 <shift>") == "b #16"
    assert count_cycles.for_model("cbz\tx1, 402f00 <main>") == "cbz x1, #16"
    assert count_cycles.for_model("fmsb\tz1.s, p0/m, z2.s, z3.s").startswith("fmls")
    assert count_cycles.for_model("ld1b\t{z0.b}, p0/z, [x1]") == "ld1b\t{z0.b}, p0/z, [x1]"


def test_a_wrong_domain_is_one_sentence():
    if WHY:
        pytest.skip(WHY)
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/count_cycles.py"), "--domain", "12x6x4x3"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "12x6x4x3 is no domain" in done.stderr and done.stderr.count("\n") == 1
