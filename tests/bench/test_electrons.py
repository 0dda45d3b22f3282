# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of electrons: what they count, what they compare, and what they refuse."""

import json
import math

import pytest
from halocline.bench import plots
from halocline.cli.main import main

from halocline import InvalidArgument, bench

SHORT = {"seconds": 0.02, "block_seconds": 0.0002}


def transforms(points, half, columns, last):
    """Operations of the lines of x, y and z, there and back, and of the kernel."""

    def line(n):
        return 5 * n * math.log2(n)

    nx, ny, nz = points
    lines = ny * nz * line(2 * (half - 1)) / 2 + half * nz * line(columns) + half * columns * line(last)
    return 2 * lines + 2 * half * columns * last


@pytest.mark.parametrize("boundary", bench.BOUNDARIES)
def test_hartree_compares_both_ways_with_the_choice(boundary):
    points = (12, 10, 8)
    results = bench.hartree(points, boundary, **SHORT)
    assert [r["case"]["way"] for r in results] == ["redundant", "shared", "automatic"]
    lengths = points if boundary == "periodic" else (24, 20, 15)  # the fast lengths from 2 n - 1 on: 23, 19, 15
    for r in results:
        assert r["bench"] == "hartree"
        assert r["case"]["points"] == list(points)
        assert r["flops"] == pytest.approx(transforms(points, lengths[0] // 2 + 1, lengths[1], lengths[2]))
        assert r["bytes"] == 16 * 12 * 10 * 8
        assert 0 < r["seconds"]["min"] <= r["seconds"]["median"]
        # One process alone: both ways are the same, and nothing is tried.
        assert r["result"]["chosen"] == "redundant"
        assert r["result"]["trial_redundant"] == r["result"]["trial_shared"] == 0
    medians = [r["seconds"]["median"] for r in results]
    assert results[2]["result"]["over_better"] == pytest.approx(medians[2] / min(medians[:2]))


def test_hartree_refuses_what_it_does_not_know():
    for options in ({"boundary": "open"}, {"over": "time"}, {"points": (4, 8, 8)}, {"threads": 0}):
        with pytest.raises(InvalidArgument, match="give"):
            bench.hartree(**{"points": (8, 8, 8)} | options, **SHORT)


def test_hartree_from_the_command_line(tmp_path, capsys):
    target = tmp_path / "hartree.json"
    assert main(["bench", "hartree", "--points", "8x8x8,8x9x10", "--seconds", "0.02", "--json", str(target)]) == 0
    results = json.loads(target.read_text())
    cases = [(r["case"]["boundary"], r["case"]["points"], r["case"]["way"]) for r in results]
    assert len(cases) == len(set(map(str, cases))) == 2 * 2 * 3
    assert "over better" in capsys.readouterr().out
    assert main(["bench", "hartree", "--points", "8x8"]) == 2
    assert "--points 8x8: give 3 extents such as 64x64x64" in capsys.readouterr().err


def test_stencil_counts_what_it_does():
    for form, flops, arrays in (("apply", 158, 2), ("taylor", 158, 3), ("current", 84, 1), ("density", 5, 1)):
        r = bench.stencil((8, 9, 10), 6, form, **SHORT)
        assert r["case"]["points"] == [8, 9, 10]
        assert r["flops"] == flops * 720 * 6
        assert r["bytes"] == 720 * 2 * (64 * arrays + 8)  # two blocks of four orbitals
        assert 0 < r["seconds"]["min"] <= r["seconds"]["median"]
        assert r["result"]["seconds_a_point_orbital"] == pytest.approx(r["seconds"]["median"] / (720 * 6))
        assert "stencil" in json.dumps(r["regions"]) or form == "density"


def test_stencil_in_float_moves_half_of_the_bytes():
    double, single = (bench.stencil((8, 9, 10), 8, "apply", precision=p, **SHORT) for p in ("double", "float"))
    assert single["case"]["precision"] == "float" and single["flops"] == double["flops"]
    assert single["bytes"] == 720 * (64 * 2 + 8) == double["bytes"] / 2


def test_stencil_skips_what_does_not_fit():
    r = bench.stencil((32, 32, 32), 128, memory_gib=0.1, **SHORT)
    assert "more than the 0.1 allowed" in r["skipped"]
    assert "seconds" not in r


def test_stencil_refuses_what_it_does_not_know():
    for options in ({"form": "wilson"}, {"points": (4, 8, 8)}, {"orbitals": 0}, {"precision": "half"}):
        with pytest.raises(InvalidArgument, match="give"):
            bench.stencil(**{"points": (8, 8, 8)} | options, **SHORT)


@pytest.mark.slow
def test_stencil_from_the_command_line(tmp_path, capsys):
    target = tmp_path / "stencil.json"
    options = ["--grid", "8x8x8,10x9x8", "--orbitals", "1,5", "--form", "all", "--seconds", "0.02"]
    assert main(["bench", "stencil", *options, "--json", str(target)]) == 0
    results = json.loads(target.read_text())
    assert len({str(r["case"]) for r in results}) == len(results) == 2 * 2 * 5
    assert "a point and orbital" in capsys.readouterr().out


def test_rt_step_tells_where_the_time_goes():
    r = bench.rt_step("silicon-8", energy_every=0, **SHORT)
    size = 16**3 * 64 * 16
    assert r["result"]["point_orbitals"] == size == 2**22
    assert r["result"]["seconds_for_4m"] == pytest.approx(r["seconds"]["median"])
    assert r["flops"] == 4 * 158 * size
    assert 0 < r["result"]["time_step"] < 0.5
    assert any("stencil" in path for path in r["regions"])
    single = bench.rt_step("silicon-8", precision="float", energy_every=0, **SHORT)
    assert single["case"]["precision"] == "float" and single["bytes"] == r["bytes"] / 2
    moving = bench.rt_step("silicon-8", energy_every=0, ions_every=2, **SHORT)
    assert moving["case"]["ions_every"] == 2 and any("forces" in path for path in moving["regions"])
    assert not any("forces" in path for path in r["regions"])
    travelling = bench.rt_step("silicon-8", energy_every=0, light="travelling", **SHORT)
    assert travelling["case"]["light"] == "travelling"
    assert any("local vector potential" in path for path in travelling["regions"])
    assert not any("local vector potential" in path for path in r["regions"])
    with pytest.raises(InvalidArgument, match="give kick, uniform or travelling"):
        bench.rt_step("silicon-8", light="sun", **SHORT)
    with pytest.raises(InvalidArgument, match="an ion step has energies at its end alone"):
        bench.rt_step("silicon-8", energy_every=3, ions_every=2, **SHORT)
    with pytest.raises(InvalidArgument, match="give silicon-8 or silicon-64"):
        bench.rt_step("diamond", **SHORT)


def test_fdtd_counts_cells_and_refuses_what_it_does_not_know(tmp_path, capsys):
    r = bench.fdtd((36, 32, 28), "absorbing", "silver", depth=2, **SHORT)
    assert r["bench"] == "fdtd"
    assert r["flops"] == 36 * 36 * 32 * 28 and r["bytes"] == 18 * 8 * 36 * 32 * 28
    assert r["case"]["depth"] == 2
    assert r["result"]["cells_a_second"] == pytest.approx(36 * 32 * 28 / r["seconds"]["median"])
    assert "maxwell/update" in r["regions"]
    assert bench.fdtd((24, 20, 16), "periodic", precision="float", **SHORT)["bytes"] == 18 * 4 * 24 * 20 * 16
    for options in ({"ends": "open"}, {"matter": "wood"}, {"precision": "half"}):
        with pytest.raises(InvalidArgument, match="give"):
            bench.fdtd((24, 20, 16), **options, **SHORT)
    with pytest.raises(InvalidArgument, match="layers of 24 cells do not fit"):
        bench.fdtd((24, 20, 16), "absorbing", **SHORT)
    target = tmp_path / "fdtd.json"
    assert main(["bench", "fdtd", "--cells", "16x16x16", "--seconds", "0.02", "--json", str(target)]) == 0
    assert [r["case"]["depth"] for r in json.loads(target.read_text())][0] == 1
    assert "million cells a second" in capsys.readouterr().out


def test_rt_step_takes_any_run_file(tmp_path):
    (tmp_path / "run.toml").write_text(
        """
[system]
atoms = [["H", 0, 0, -0.37], ["H", 0, 0, 0.37]]
box = [3.6, 3.6, 4.2]
states = 6
[grid]
spacing = "0.3 angstrom"
[xc]
functional = "pbe"
"""
    )
    r = bench.rt_step(tmp_path / "run.toml", energy_every=0, **SHORT)
    assert r["case"]["system"] == "H2"
    points = r["result"]["points"]
    assert points == 12 * 12 * 14 and r["result"]["point_orbitals"] == 6 * points
    assert r["regions"]["tddft/xc"]["seconds"] > 0


def test_a_roofline_has_the_ceilings_measured_with_each_precision():
    def case(precision, fma, triad, cached):
        return {
            "bench": "stencil", "case": {"precision": precision}, "flops": 300.0, "bytes": 100.0,
            "ceiling": {
                "fma_gflops": fma, "stream_gbytes_per_s": triad, "working_set": {"stream_gbytes_per_s": cached},
            },
        }  # fmt: skip

    results = [
        case("double", 50, 9, 12),
        case("double", 52, 10, 30),
        case("double", 51, 11, 12),
        case("float", 99, 10, 30),
    ]
    assert plots.rooflines(results) == {"double": {"fma": 51, "triad": 10}, "float": {"fma": 99, "triad": 10}}
    # Three operations a byte: bound by the triad at 12 GB/s, by arithmetic at 30.
    assert [plots.own_ceiling(r) for r in results] == [36, 52, 36, 90]


@pytest.mark.parametrize(
    "words",
    [
        ["stencil", "--grid", "8x8x8,9x8x8", "--orbitals", "4", "--form", "all", "--precision", "float,double"],
        ["rt-step", "--case", "silicon-8", "--energy-every", "0"],
    ],
)
def test_the_command_draws_a_roofline(tmp_path, words):
    picture = tmp_path / "roofline.svg"
    assert main(["bench", *words, "--seconds", "0.01", "--plot", str(picture)]) == 0
    assert picture.stat().st_size > 10_000


def test_a_step_of_a_film_is_compared_with_one_of_a_cell(bench_command, tmp_path, capsys):
    words = ["multiscale", "--points", "8x8x8", "--k-points", "1x1x1", "--seconds", "0.02", "--line", "100"]
    target = tmp_path / "film.json"
    assert main(["bench", *words, "--cells", "1,3", "--scheme", "all", "--json", str(target)]) == 0
    results = json.loads(target.read_text())
    assert [(r["case"]["cells"], r["case"]["scheme"]) for r in results] == [
        (1, "taylor4"), (1, "midpoint"), (3, "taylor4"), (3, "midpoint"),
    ]  # fmt: skip
    for r in results:
        found = r["result"]
        assert found["cells_of_the_largest_group"] == r["case"]["cells"] and r["case"]["groups"] == 1
        one = found["one_cell"]["median"]
        assert found["over_one"] == pytest.approx(r["seconds"]["median"] / one / r["case"]["cells"])
        assert found["light_share"] == pytest.approx(found["light"]["median"] / one) and found["line"] == 100
    assert "over one" in capsys.readouterr().out
    done = bench_command(*words, "--cells", 3, "--json", target)
    assert done.returncode == 0, done.stderr
    (shared,) = json.loads(target.read_text())
    assert shared["case"]["groups"] == 2 and shared["result"]["cells_of_the_largest_group"] == 2
    assert main(["bench", *words, "--cells", "2", "--groups", "3"]) == 2
    assert "3 groups were asked for, of 2 cells and 1 processes; give fewer" in capsys.readouterr().err
