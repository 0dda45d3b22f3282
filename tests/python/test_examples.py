# SPDX-License-Identifier: Apache-2.0
"""Every program in examples/ runs, and says something true."""

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.stem)
def test_runs(python, request, script):
    words = [script]
    if script.stem == "plaquette":
        words.append(request.getfixturevalue("lime"))
    done = python(*words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_free_quark_has_its_mass(python):
    found, expected = (float(w) for w in python(EXAMPLES / "free_quark.py").stdout.split() if w[0].isdigit())
    assert found == pytest.approx(expected, rel=1e-6)


def test_the_quickstart_run_file_is_accepted():
    from halocline.qcd import read_run_file

    run = read_run_file(EXAMPLES / "quickstart.toml")
    assert run.measure.nucleon and run.gauge.generate.configurations > 1
