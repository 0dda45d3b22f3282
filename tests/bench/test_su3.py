# SPDX-License-Identifier: Apache-2.0
"""`bench su3`: the products are right in both layouts, operations are counted, and the command draws its picture."""

import json

import numpy as np
import pytest
from halocline.cli.main import main
from halocline.errors import InvalidArgument

from halocline import _halocline, bench

LOCAL = [4, 4, 4, 8]
SITES = 4 * 4 * 4 * 8
SHORT = {"seconds": 1e-3, "block_seconds": 1e-5}


@pytest.mark.parametrize("precision", bench.PRECISIONS)
@pytest.mark.parametrize("layout", bench.LAYOUTS)
@pytest.mark.parametrize(("form", "columns"), [("product", 3), ("vector", 2)])
def test_products_are_those_of_numpy(form, columns, layout, precision):
    # Small integers, whose products are exact in both precisions.
    random = np.random.default_rng(3)
    x, y = (random.integers(-9, 10, (SITES, 3, n)) + 1j * random.integers(-9, 10, (SITES, 3, n)) for n in (3, columns))
    z = _halocline.bench.su3_once(LOCAL, precision, layout, form, x.ravel().tolist(), y.ravel().tolist())
    assert np.array_equal(np.reshape(z, (SITES, 3, columns)), x @ y)


@pytest.mark.parametrize(("form", "flops", "reals"), [("product", 198, 54), ("vector", 132, 42)])
def test_operations_and_bytes_are_counted(form, flops, reals):
    result = bench.su3(LOCAL, form=form, precision="double", **SHORT)
    assert result["flops"] == flops * SITES and result["bytes"] == 8 * reals * SITES
    assert result["case"]["layout"] == "apart" and result["seconds"]["median"] > 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"layout": "sideways"}, "give apart or interleaved"),
        ({"form": "trace"}, "give product or vector"),
        ({"precision": "half"}, "give float or double"),
        ({"local": [1, 1, 1, 3]}, "3 sites"),
    ],
)
def test_what_there_is_not_is_refused(words, sentence):
    with pytest.raises(InvalidArgument, match=sentence):
        bench.su3(**({"local": LOCAL} | words), **SHORT)


def test_the_command_draws_both_layouts(tmp_path):
    file, picture = tmp_path / "su3.json", tmp_path / "su3.png"
    words = ["--local", "4x4x4x8", "--local", "8x8x8x8", "--form", "all", "--seconds", "0.01"]
    assert main(["bench", "su3", *words, "--json", str(file), "--plot", str(picture)]) == 0
    results = json.loads(file.read_text())
    assert len(results) == 2 * 2 * 2 * 2
    assert {r["case"]["layout"] for r in results} == set(bench.LAYOUTS)
    assert picture.stat().st_size > 10_000
