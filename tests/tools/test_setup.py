# SPDX-License-Identifier: Apache-2.0
"""What the set-up says where something is missing: one line to run, and status 2; never a half-made build."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def in_shell(script):
    """Runs `script` after tools/setup.sh, in the top folder."""
    return subprocess.run(
        ["bash", "-c", f"tool=quickstart; . tools/setup.sh\n{script}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_root_the_line_to_run_is_printed():
    answer = in_shell("has_header() { return 1; }; apt_prefix() { return 1; }; setup_system; echo went on")
    assert answer.returncode == 2
    assert "went on" not in answer.stdout
    line = answer.stdout.strip().splitlines()[-1].strip()
    assert line.startswith("sudo apt-get update && sudo apt-get install")
    assert {"libfmt-dev", "libeigen3-dev", "nlohmann-json3-dev", "doctest-dev"} <= set(line.split())


def test_with_root_exactly_the_missing_packages_are_installed():
    answer = in_shell(
        'has_header() { [ "$1" != fmt/core.h ]; }; apt_prefix() { echo env; }; apt_install() { echo "apt: $*"; }; '
        "setup_system"
    )
    assert answer.returncode == 0
    assert re.search(r"^apt:.*\blibfmt-dev\b", answer.stdout, re.MULTILINE)
    assert "doctest-dev" not in answer.stdout


def test_an_old_python_is_passed_over(tmp_path):
    for name, status in (("python3", 1), ("python3.13", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    answer = in_shell(f'PYTHON=; PATH="{tmp_path}:$PATH"; find_python')
    assert answer.stdout.strip() == str(tmp_path / "python3.13")


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake on the path")
def test_cmake_names_every_missing_package_at_once(tmp_path):
    answer = subprocess.run(
        [
            *("cmake", "-S", ROOT, "-B", tmp_path, "-DHALOCLINE_PYTHON=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON"),
            *("-DHALOCLINE_TESTS=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode != 0
    said = " ".join(answer.stderr.split())
    assert "OpenMP" in said
    assert re.search(r"apt-get install .*g\+\+ libopenmpi-dev openmpi-bin", said)
    assert "HALOCLINE_MPI=OFF" in said


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake on the path")
def test_an_unknown_instruction_set_is_refused_with_the_known_ones(tmp_path):
    answer = subprocess.run(
        ["cmake", "-S", ROOT, "-B", tmp_path, "-DHALOCLINE_PYTHON=OFF", "-DHALOCLINE_ISA=mmx"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode != 0
    assert "HALOCLINE_ISA=mmx is not known" in " ".join(answer.stderr.split())
    assert "portable" in answer.stderr
