# SPDX-License-Identifier: Apache-2.0
"""Multigrid on simulated machines: parts add up to a cycle, gathering helps where it should, and what is refused."""

import dataclasses
import json
import math

import pytest
from halocline.bench import simulate
from halocline.bench.simulate.multigrid import COARSE_PARTS, PARTS

from halocline import InvalidArgument, mapping

needs_simgrid = pytest.mark.skipif(bool(simulate.unavailable_reason()), reason=simulate.unavailable_reason())


def machine(shape=(2, 2, 2, 2), grid=(4, 2, 2, 2), per_node=(2, 1, 1, 1)):
    network = mapping.network_named("torus-4d", shape)
    return network, mapping.natural_order(network, grid, per_node)


SMALL = simulate.Cycle(local=(4, 4, 4, 4), coarse_iterations=3)
"""One coarse site a process."""


@pytest.mark.slow
@needs_simgrid
def test_parts_add_up_and_the_clock_is_simulated(cache):
    found = simulate.multigrid(*machine(), SMALL)
    result = found["result"]
    assert found["case"]["processes"] == 32 and found["case"]["nodes"] == 16
    (level,) = result["levels"]
    assert (level["sites"], level["processes"], level["sites_of_a_process"]) == ([4, 2, 2, 2], 2, 16)
    assert set(result["parts"]) == set(PARTS) and set(result["coarse_parts"]) == set(COARSE_PARTS)
    # A rank is in one part at any time; the cycle is that of the slowest rank, and ranks end microseconds apart.
    assert sum(result["parts"].values()) == pytest.approx(result["cycle"], rel=0.05)
    assert sum(result["shares"].values()) == pytest.approx(1)
    assert sum(result["coarse_parts"].values()) == pytest.approx(result["parts"]["coarsest"], rel=0.05)
    assert simulate.multigrid(*machine(), SMALL) == found


@pytest.mark.slow
@needs_simgrid
def test_gathering_halves_the_sums_where_processes_hold_one_site(cache):
    """One site a process: 32 processes wait for each other at every sum. Gathered, two do."""
    gathered = simulate.multigrid(*machine(), SMALL)["result"]
    spread = simulate.multigrid(*machine(), dataclasses.replace(SMALL, gather_below=1))["result"]
    assert spread["levels"][-1]["processes"] == 32
    assert gathered["coarse_parts"]["summing"] < 0.5 * spread["coarse_parts"]["summing"]
    assert gathered["coarse_parts"]["exchanging"] < spread["coarse_parts"]["exchanging"]
    # What does not belong to the coarse level does not change, but for ranks that come later or earlier to it.
    assert gathered["parts"]["smoother"] == pytest.approx(spread["parts"]["smoother"], rel=0.1)


@pytest.mark.slow
@needs_simgrid
def test_computation_takes_its_flops_over_the_rate(cache):
    """On slow processes all but computation vanishes."""
    cycle = simulate.Cycle(levels=2, coarse_iterations=2, columns=2, gflops=1e-3)
    found = simulate.multigrid(*machine((2, 2, 2, 1), (2, 2, 2, 2), (1, 1, 1, 2)), cycle)["result"]
    flops = cycle.flops()
    seconds = {part: 2 * flops[part] / 1e6 for part in ("smoother", "transfer", "outer")}
    seconds["fine_operator"] = 2 * 2 * flops["fine_operator"] / 1e6  # for the cycle, and for the new direction
    # On one parity two half hops, and two for each iteration; a projection more than iterations and the removal.
    solve = 3 * flops["coarse_operator"] + 3.5 * flops["coarse_projection"] + 3 * flops["coarse_vectors"]
    seconds["coarsest"] = 2 * 16 * solve / 1e6
    assert found["parts"]["between"] == 0
    for part, expected in seconds.items():
        assert found["parts"][part] == pytest.approx(expected, rel=0.01), part


@pytest.mark.slow
@needs_simgrid
def test_levels_between_are_cycles_and_do_not_count_the_levels_below(cache):
    """16^4 sites on 16 slow processes: 4^4 coarse sites on all of them, and 2^4 on one, with a dense inverse."""
    cycle = simulate.Cycle(gflops=1e-3, coarse_cycles=2, coarse_steps=1)
    found = simulate.multigrid(*machine((2, 2, 2, 1), (2, 2, 2, 2), (1, 1, 1, 2)), cycle)["result"]
    first, last = found["levels"]
    assert (first["processes"], first["sites_of_a_process"]) == (16, 16)
    assert (last["processes"], last["sites_of_a_process"]) == (1, 16)
    flops = cycle.flops()
    # Two half hops; in each cycle three applications, vectors and two transfers.
    site = 7 * flops["coarse_operator"] + (2 + 2 + 1 + 2) * flops["coarse_vectors"] + 4 * flops["coarse_transfer"]
    assert found["parts"]["between"] == first["seconds"] == pytest.approx(16 * site / 1e6, rel=0.01)
    inverse = 16 * flops["coarse_operator"] + flops["dense_row"] * (8 * cycle.rows) ** 2
    assert found["parts"]["coarsest"] == last["seconds"] == pytest.approx(2 * inverse / 1e6, rel=0.01)


def test_flops_of_a_site_are_those_of_the_kernels():
    """16^4 sites of one domain: hardly any faces, so that the counts are those of whole operators."""
    cycle = simulate.Cycle(local=(16,) * 4, aggregate=(16,) * 4)
    flops = cycle.flops()
    assert flops["fine_operator"] == 1848 * 16**4
    assert flops["transfer"] == (2 * 48 * 48 + 504) * 16**4
    assert flops["coarse_operator"] == 9 * 8 * 48**2
    whole = 4 * (3 * 1848 + 24) + 3 * 1872
    assert flops["smoother"] / 16**4 == pytest.approx(whole, rel=0.05)
    # A face of 8^4 sites in domains of 4^4: half of 8^3 sites for a colour, 12 reals of 4 bytes.
    assert simulate.Cycle().fine_bytes() == [8**3 // 2 * 48] * 4
    assert math.prod(simulate.Cycle(local=(8, 4, 4, 4)).coarse) == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"local": (6, 4, 4, 4)}, "aggregates of 4 sites along x"),
        ({"vectors": 20}, "multiple of 8"),
        ({"columns": 0}, "0 columns"),
        ({"levels": 1}, "1 levels"),
        ({"coarse_cycles": 0}, "0 cycles of a coarse solve"),
        ({"gather_below": 0}, "0 least coarse sites"),
        ({"gflops": 0.0}, "Gflop/s"),
        ({"local": (8, 8, 8)}, "four extents"),
    ],
)
def test_impossible_cycles_are_refused(change, says):
    with pytest.raises(InvalidArgument, match=says):
        dataclasses.replace(simulate.Cycle(), **change).check()


def test_process_grids_of_other_dimensions_are_refused():
    with pytest.raises(InvalidArgument, match="3 axes"):
        simulate.Cycle().check_grid((3, 2, 2))


@pytest.mark.slow
@needs_simgrid
def test_the_command_writes_what_it_says(cache, bench_command, tmp_path):
    done = bench_command(
        "simulate-multigrid", "--network", "torus-4d", "--shape", "2x2x2x2", "--grid", "2x2x2x2", "--per-node",
        "1x1x1x1", "--natural", "--local", "4x4x4x4", "--coarse-iterations", 2, "--gather-below", "1,16", "--json",
        "found.json", ranks=0,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    spread, gathered = json.loads((tmp_path / "found.json").read_text())
    assert spread["result"]["levels"][-1]["processes"] == 16 and gathered["result"]["levels"][-1]["processes"] == 1
    assert done.stdout.count("coarsest level") == 2 and "2x2x2x2 sites on 1 processes of 16" in done.stdout


def test_the_command_refuses_in_a_sentence(bench_command):
    for words, says in [
        (("--local", "6x4x4x4"), "aggregates of 4 sites"),
        (("--gather-below", "0"), "--gather-below"),
        (("--network", "fat-tree", "--shape", "8"), "--grid"),
    ]:
        if simulate.unavailable_reason():
            says = "libsimgrid-dev"
        done = bench_command("simulate-multigrid", *words, ranks=0)
        assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1
