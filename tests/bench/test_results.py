# SPDX-License-Identifier: Apache-2.0
"""The benchmarks themselves: the keys of the contract, operations counted right, and rates that follow from them."""

import json
import math
import os

import pytest
from halocline.cli.main import main

from halocline import InvalidArgument, bench, qcd

LOCAL = [4, 4, 4, 8]
SITES = 4 * 4 * 4 * 8
SHORT = {"seconds": 0.02, "block_seconds": 0.0002}
KEYS = {
    "bench", "case", "seconds", "flops", "bytes", "gflops", "gbytes_per_s", "ceiling", "fraction_of_fma_peak",
    "fraction_of_stream", "fraction_of_read", "cpu", "energy", "regions",
}  # fmt: skip


def check(result: dict, name: str) -> None:
    """What every benchmark must say, whatever it measures."""
    assert set(result) - {"result", "load_average"} == KEYS
    assert result["bench"] == name
    assert {"local", "processes", "threads", "precision"} <= set(result["case"])
    s, c = result["seconds"], result["ceiling"]
    assert set(s) == {"median", "min", "max", "runs"}
    assert 0 < s["min"] <= s["median"] <= s["max"] and s["runs"] >= 1
    assert result["gflops"] == pytest.approx(1e-9 * result["flops"] / s["median"])
    assert result["gbytes_per_s"] == pytest.approx(1e-9 * result["bytes"] / s["median"])
    assert result["fraction_of_fma_peak"] == pytest.approx(result["gflops"] / c["fma_gflops"])
    assert result["fraction_of_stream"] == pytest.approx(result["gbytes_per_s"] / c["stream_gbytes_per_s"])
    working_set = c["working_set"]
    assert result["fraction_of_read"] == pytest.approx(result["gbytes_per_s"] / working_set["read_gbytes_per_s"])
    assert min(c["fma_gflops"], c["stream_gbytes_per_s"], c["read_gbytes_per_s"]) > 0
    assert min(working_set.values()) > 0
    # A line cannot cross between cores in less than a few clocks; on one core there is nothing to cross.
    assert (c["cache_line_ns"] is None) == (len(os.sched_getaffinity(0)) == 1)
    assert c["cache_line_ns"] is None or c["cache_line_ns"] > 1
    cpu = result["cpu"]
    assert cpu["gflops"] == pytest.approx(1e-9 * result["flops"] / cpu["seconds"])
    # Nothing beats the peak: by CPU time of one thread, because a wall-clock ceiling on a busy machine may be unlucky,
    # and a thread that waits for another, which waits for a core, spends CPU time on nothing.
    assert cpu["fraction_of_fma_peak"] > 0
    assert result["case"]["threads"] > 1 or cpu["fraction_of_fma_peak"] < 1.05


@pytest.mark.parametrize("precision", bench.PRECISIONS)
@pytest.mark.parametrize(
    ("form", "flops", "reals"),
    [
        ("hopping", 1320 * SITES // 2, 192 * SITES // 2),
        ("wilson", 1368 * SITES, 216 * SITES),
        ("clover", (1368 + 504) * SITES, (216 + 72) * SITES),
        ("schur", (2 * 1320 + 2 * 504 + 48) * SITES // 2, (2 * 192 + 2 * 72 + 24) * SITES // 2),
        ("clover-inverse", 504 * SITES, (72 + 48) * SITES),
    ],
)
def test_operators_count_their_operations(precision, form, flops, reals):
    result = bench.dslash(LOCAL, 1, precision, form, **SHORT)
    check(result, "dslash")
    assert result["case"]["form"] == form and result["case"]["precision"] == precision
    assert result["flops"] == flops
    assert result["bytes"] == reals * {"float": 4, "double": 8}[precision]
    assert result["ceiling"]["working_set"]["bytes"] == result["bytes"]


@pytest.mark.parametrize(("link_reals", "columns"), [(12, 1), (18, 4), (12, 3)])
@pytest.mark.parametrize(
    ("form", "flops", "links", "clover", "spinors", "sites"),
    [
        ("hopping", 1320, 8, 0, 48, SITES // 2),
        ("clover", 1368 + 504, 8, 72, 72, SITES),
        ("schur", 2 * 1320 + 2 * 504 + 48, 16, 144, 120, SITES // 2),
        ("clover-inverse", 504, 0, 72, 48, SITES),
        # Two halves of 2x4x4x8; a face of one has no neighbour inside.
        ("inside", 1848 - 2 * 168 * (1 / 2 + 1 / 4 + 1 / 4 + 1 / 8), 4, 72, 48, SITES),
    ],
)
def test_columns_share_links_and_clover_blocks(form, flops, links, clover, spinors, sites, link_reals, columns):
    result = bench.dslash(LOCAL, 1, "float", form, link_reals, columns, **SHORT)
    check(result, "dslash")
    assert (result["case"]["link_reals"], result["case"]["columns"]) == (link_reals, columns)
    assert result["flops"] == flops * columns * sites
    assert result["bytes"] == 4 * (links * link_reals + clover + columns * spinors) * sites


@pytest.mark.parametrize(("storage", "size"), [("half", 2), ("float", 4)])
@pytest.mark.parametrize(("form", "blocks", "fields"), [("operator", 5, 2), ("schur", 9, 1)])
def test_coarse_operators_count_their_blocks(form, blocks, fields, storage, size):
    result = bench.coarse([4, 2, 2, 4], vectors=8, columns=3, storage=storage, form=form, **SHORT)
    check(result, "coarse")
    assert (result["case"]["form"], result["case"]["storage"], result["case"]["columns"]) == (form, storage, 3)
    assert result["flops"] == 64 * 9 * 8 * 16**2 * 3
    assert result["bytes"] == 64 * (blocks * 16**2 * 2 * size + fields * 3 * 16 * 8)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"form": "dense"}, "operator or schur"),
        ({"storage": "double"}, "half or float"),
        ({"vectors": 12}, "multiple of 8"),
        ({"columns": 0}, "0 columns"),
        ({"form": "schur", "local": [2, 3, 2, 2]}, "even-odd"),
    ],
)
def test_impossible_coarse_operators_are_refused(words, says):
    with pytest.raises(InvalidArgument, match=says):
        bench.coarse(**({"local": [2, 2, 2, 2], "vectors": 8} | SHORT | words))


def test_the_fma_peak_of_double_is_half_that_of_float():
    ratio = [bench.dslash(LOCAL, 1, p, **SHORT)["cpu"]["fma_gflops"] for p in bench.PRECISIONS]
    assert 1.6 < ratio[0] / ratio[1] < 2.5


def test_threads_share_the_same_work():
    one, two = (bench.dslash(LOCAL, threads, **SHORT) for threads in (1, 2))
    check(two, "dslash")
    assert two["case"]["threads"] == 2
    assert (two["flops"], two["bytes"]) == (one["flops"], one["bytes"])


def test_the_schwarz_solver_counts_its_preconditioner():
    """Our own count, which test_qcdjdd.py has from a walk over the sites: twice D'K an iteration, without vectors."""
    u = qcd.weak_links(LOCAL, 0.2, seed=5)
    words = {"mass": 0.2, "csw": 1.0, "tolerance": 1e-8, "runs": 1} | SHORT
    results = [bench.solver(u, kind="schwarz", columns=n, **words) for n in (1, 3)]
    half = bench.solver(u, kind="schwarz", storage="half", **words)
    for result in [*results, half]:
        check(result, "solver")
        found = result["result"]
        assert found["converged"] and 0 < found["residual"] <= 1e-8 and found["method"].startswith("schwarz")
        assert found["seconds_a_column"] == pytest.approx(result["seconds"]["median"] / result["case"]["columns"])
    inside = 1848 - 2 * 168 * (1 / 2 + 1 / 4 + 1 / 4 + 1 / 8)
    fused = 5 * (2 * inside + 1872) + 24 + 0.5 * 504  # with two sites in x, all lie at an edge
    assert results[0]["flops"] == pytest.approx(2 * fused * SITES * results[0]["result"]["iterations"])
    assert results[1]["flops"] > 2.5 * results[0]["flops"]
    assert half["flops"] != results[0]["flops"]


@pytest.mark.parametrize(
    ("kind", "precision", "applied"), [("bicgstab", "mixed", 2), ("cg", "double", 2), ("gcr", "double", 1)]
)
def test_the_solver_counts_the_operator_and_tells_the_residual(kind, precision, applied):
    u = qcd.weak_links([4, 4, 4, 8], 0.2, seed=5)
    result = bench.solver(u, "weak", mass=0.2, csw=1.0, kind=kind, precision=precision, tolerance=1e-8, runs=2, **SHORT)
    check(result, "solver")
    found = result["result"]
    assert found["converged"] and 0 < found["residual"] <= 1e-8
    assert result["seconds"]["runs"] == 2
    assert result["flops"] == applied * found["iterations"] * (2 * 1320 + 2 * 504 + 48) * SITES // 2


def test_heatbath_counts_every_link():
    result = bench.heatbath(LOCAL, overrelaxation_steps=1, **SHORT)
    check(result, "heatbath")
    assert result["flops"] == 6 * (2 * 198 + 18) * 4 * SITES * 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"local": [0, 4, 4, 4]}, "0x4x4x4"),
        ({"precision": "half"}, "half"),
        ({"form": "staggered"}, "staggered"),
        ({"link_reals": 8}, "8 reals"),
        ({"columns": 0}, "0 columns"),
        ({"form": "inside", "precision": "double"}, "single"),
        ({"threads": 0}, "0 threads"),
        ({"seconds": -1.0}, "-1 s"),
    ],
)
def test_impossible_cases_are_refused(words, said):
    with pytest.raises(InvalidArgument, match=said):
        bench.dslash(**({"local": LOCAL} | SHORT | words))


def test_the_command_writes_one_object_a_case(tmp_path, capsys):
    file = tmp_path / "cases.json"
    words = ["--local", "4x4x4x4,4x4x4x8", "--precision", "float", "--threads", "1,2", "--seconds", "0.02"]
    assert main(["bench", "dslash", *words, "--json", str(file)]) == 0
    results = json.loads(file.read_text())
    assert [(r["case"]["local"], r["case"]["threads"]) for r in results] == [
        ([4, 4, 4, 4], 1), ([4, 4, 4, 4], 2), ([4, 4, 4, 8], 1), ([4, 4, 4, 8], 2)
    ]  # fmt: skip
    for result in results:
        check(result, "dslash")
    said = capsys.readouterr().out
    assert "4x4x4x8" in said and "of peak" in said and "ceilings: FMA" in said


def test_the_solver_command_reports_each_method(tmp_path, capsys):
    file = tmp_path / "solver.json"
    words = ["--size", "4", "4", "4", "4", "--kappa", "0.12", "--csw", "1.0", "--kind", "all", "--runs", "1"]
    assert main(["bench", "solver", *words, "--precision", "mixed", "--seconds", "0.02", "--json", str(file)]) == 0
    results = json.loads(file.read_text())
    assert [r["case"]["solver"] for r in results] == list(bench.SOLVERS)
    assert all(r["case"]["storage"] == "float" for r in results)
    assert all(r["result"]["converged"] and r["result"]["residual"] <= 1e-10 for r in results)
    assert all(math.isclose(r["case"]["mass"], 1 / 0.24 - 4) for r in results)
    assert "iterations" in capsys.readouterr().out


@pytest.mark.slow
def test_the_solver_command_takes_tolerances_storages_and_columns(tmp_path):
    file = tmp_path / "solver.json"
    words = [
        "--size",
        "4",
        "4",
        "4",
        "4",
        "--kappa",
        "0.12",
        "--csw",
        "1.0",
        "--kind",
        "schwarz,bicgstab",
        "--runs",
        "1",
    ]
    words += ["--tolerance", "1e-4,1e-8", "--columns", "1,2", "--storage", "float,half", "--seconds", "0.02"]
    assert main(["bench", "solver", *words, "--json", str(file)]) == 0
    cases = [r["case"] for r in json.loads(file.read_text())]
    found = [(c["solver"], c["precision"], c["storage"], c["tolerance"], c["columns"]) for c in cases]
    assert found == [
        (solver, precision, storage, tolerance, columns)
        for solver, precision, storages in (
            ("schwarz", "mixed", ("float", "half")),
            ("bicgstab", "mixed", ("float",)),
            ("bicgstab", "double", ("float",)),
        )
        for storage in storages
        for tolerance in (1e-4, 1e-8)
        for columns in (1, 2)
    ]  # fmt: skip


def test_the_solver_command_refuses_what_is_no_number(capsys):
    assert main(["bench", "solver", "--tolerance", "small"]) == 2
    assert "--tolerance small" in capsys.readouterr().err


def test_multigrid_beside_bicgstab_over_masses(tmp_path):
    file, picture = tmp_path / "multigrid.json", tmp_path / "masses.png"
    words = ["--size", "4", "4", "4", "8", "--mass", "0.2,-0.1", "--vectors", "8", "--columns", "1,2", "--runs", "1"]
    assert main(["bench", "multigrid", *words, "--from-file", "--json", str(file), "--plot", str(picture)]) == 0
    results = json.loads(file.read_text())
    assert [(r["case"]["m0"], r["case"]["columns"]) for r in results] == [(0.2, 1), (0.2, 2), (-0.1, 1), (-0.1, 2)]
    for r in results:
        found = r["result"]
        assert found["setup_seconds"] > 0 and found["setup_from_file"] > 0 and found["rounds"] == 2
        assert found["levels"] == 2
        assert 0 < found["contraction"] < 1 and 0 < found["cycles"] < 40 and found["bicgstab_iterations"] > 0
        assert found["speedup"] == pytest.approx(found["bicgstab_seconds"]["median"] / r["seconds"]["median"])
        assert found["bytes_a_site"] > 1000
    assert picture.stat().st_size > 10000
    assert main(["bench", "multigrid", "--mass", "light"]) == 2
