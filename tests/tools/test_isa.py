# SPDX-License-Identifier: Apache-2.0
"""The instruction set on 64-bit Arm: `native` takes the vector length of the machine, here of an emulated one."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("cmake", "ninja", "aarch64-linux-gnu-g++", "qemu-aarch64")
MISSING = next((tool for tool in TOOLS if shutil.which(tool) is None), None)
pytestmark = pytest.mark.skipif(MISSING is not None, reason=f"no {MISSING} in PATH")


def configured(folder, *options):
    done = subprocess.run(
        ["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "--toolchain", "cmake/toolchains/aarch64-sve.cmake"]
        + ["-DHALOCLINE_ROOMS=core", "-DHALOCLINE_MPI=OFF", "-DHALOCLINE_PYTHON=OFF", *options],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(("cpu", "isa"), [("a64fx", "sve512"), ("max,sve256=on", "sve256"), ("max,sve=off", "neon")])
def test_native_takes_the_vector_length_of_the_machine(tmp_path, cpu, isa):
    status, said = configured(tmp_path, "-DHALOCLINE_ISA=native", f"-DHALOCLINE_EMULATED_CPU={cpu}")
    assert status == 0, said
    config = (tmp_path / "include/halocline/core/config.hpp").read_text()
    assert re.search(r'isa_name = "(\w+)"', config)[1] == isa
    assert int(re.search(r"sve_bits = (\d+)", config)[1]) == int(isa.removeprefix("sve") if "sve" in isa else 0)


def test_names_of_other_machines_are_refused_with_the_known_ones(tmp_path):
    status, said = configured(tmp_path, "-DHALOCLINE_ISA=avx512")
    assert status != 0
    assert "HALOCLINE_ISA=avx512 is not known for aarch64" in said and "neoverse-v2" in said


def test_a_machine_that_cannot_be_asked_leads_to_names(tmp_path):
    status, said = configured(tmp_path, "-DHALOCLINE_ISA=native", "-DHALOCLINE_EMULATED_CPU=no-such-cpu")
    assert status != 0
    assert "Name the machine instead: HALOCLINE_ISA=a64fx" in said
