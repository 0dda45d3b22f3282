# SPDX-License-Identifier: Apache-2.0
"""The documents tell the truth: what they show runs, and the links between them lead somewhere.

In README.md and docs/*.md, a fenced block marked `python run`, `bash run` or `toml run` is executed. The blocks of one
page run in order in one folder: python blocks share one session up to the next block of another kind, a toml block is
written to the file that its first line names (`# file: run.toml`), and a bash block must end with status 0.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```(python|bash|toml) run\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.name)
def test_snippets_run(page, tmp_path):
    session, steps = [], []
    for language, text in blocks(page):
        if language == "python":
            session.append(text)
            continue
        if session:
            steps.append(("python", "\n".join(session)))
            session = []
        steps.append((language, text))
    if session:
        steps.append(("python", "\n".join(session)))
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for language, text in steps:
        if language == "toml":
            name = re.match(r"# file: (\S+)", text)
            assert name, f"{page.name}: the first line of a toml block names its file"
            (tmp_path / name[1]).write_text(text)
            continue
        command = [sys.executable, "-c", text] if language == "python" else ["bash", "-euo", "pipefail", "-c", text]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{page.name}:\n{text}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_some_pages_have_snippets():
    assert {"README.md", "tutorial.md"} <= {p.name for p in PAGES if blocks(p)}


HOSTS = ROOT / "examples" / "qcd_hosts"
SHOWN = re.compile(r"^```(c|cpp|fortran)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_code_of_hosts_is_that_of_the_examples():
    """The C, C++ and Fortran code of using-qcd.md stands in the programs that ctest builds, line by line."""
    programs = ["\n".join(line.strip() for line in path.read_text().splitlines()) for path in HOSTS.iterdir()]
    shown = SHOWN.findall((ROOT / "docs" / "using-qcd.md").read_text(encoding="utf-8"))
    assert len(shown) >= 8
    for _, code in shown:
        lines = "\n".join(line.strip() for line in code.strip().splitlines())
        assert any(lines in program for program in programs), f"no program of {HOSTS} has\n{code}"
