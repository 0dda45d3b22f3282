# SPDX-License-Identifier: Apache-2.0
"""docs/using-comm.md shows code that compiles: every block stands, line by line, in a program that ctest builds.

The programs are built and run against an installed copy by the test `package` (tests/package/run.cmake). A block may
leave out nothing between its first and its last line; indentation is not compared.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = [*ROOT.glob("examples/jacobi2d/*"), *ROOT.glob("tests/package/*/*.[cf]*")]
BLOCK = re.compile(r"^```(cpp|c|fortran|cmake)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall((ROOT / "docs/using-comm.md").read_text(encoding="utf-8"))


def bare(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


def test_every_language_is_shown():
    assert {language for language, _ in BLOCKS} == {"cpp", "c", "fortran", "cmake"}


@pytest.mark.parametrize("text", [text for _, text in BLOCKS], ids=lambda text: text.split("\n", 1)[0].strip())
def test_a_block_is_part_of_a_program(text):
    assert any(bare(text) in bare(program.read_text(encoding="utf-8")) for program in PROGRAMS), text
