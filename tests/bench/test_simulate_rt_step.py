# SPDX-License-Identifier: Apache-2.0
"""Steps of electrons on simulated machines: parts add up, slow networks and imbalance show, and what is refused."""

import dataclasses
import json

import pytest
from halocline.bench import simulate
from halocline.bench.simulate.electrons import PARTS, SHARES, shares_of
from halocline.cli.bench.simulate_rt_step import weak_efficiency

from halocline import FileError, InvalidArgument, mapping

needs_simgrid = pytest.mark.skipif(bool(simulate.unavailable_reason()), reason=simulate.unavailable_reason())

SMALL = simulate.ElectronStep(extent=(16, 24, 24), states=32, space=(1, 1, 2), orbitals=4, atoms=20, radius=4.0)


def machine(step=SMALL):
    network = mapping.network_named("torus-4d", (2, 2, 2, 1))
    return network, mapping.natural_order(network, [*step.space, step.orbitals], [1, 1, 1, 1])


@pytest.mark.slow
@needs_simgrid
def test_parts_add_up_and_the_clock_is_simulated(cache):
    found = simulate.electrons(*machine(), SMALL)
    result = found["result"]
    assert found["case"]["processes"] == 8 and set(result["parts"]) == set(PARTS)
    # A balanced division: all processes are in the same part at the same time, and the density is summed in between.
    density = SMALL.seconds()["density"] * SMALL.blocks
    assert sum(result["parts"].values()) + density == pytest.approx(result["step"], rel=0.05)
    assert result["computation"] < result["step"] < 10 * result["computation"]
    assert simulate.electrons(*machine(), SMALL) == found


@pytest.mark.slow
@needs_simgrid
def test_on_slow_processes_computation_is_all_there_is(cache):
    slow = dataclasses.replace(SMALL, gflops=1e-2)
    result = simulate.electrons(*machine(), slow)["result"]
    assert result["step"] == pytest.approx(result["computation"], rel=0.01)
    # Eight blocks on four processes: two each. An application of the stencil is 158 flops a point and orbital.
    stencil = 158 * 16 * 24 * 12 * 4 / 1e7
    assert slow.seconds()["stencil"] == pytest.approx(stencil)
    expected = 2 * 4 * (1 + SHARES["nonlocal"]) * stencil
    assert result["parts"]["hamiltonian"] == pytest.approx(expected, rel=0.01)
    assert result["parts"]["xc"] == pytest.approx(SHARES["xc"] * stencil / 4 / 4, rel=0.05)


@pytest.mark.slow
@needs_simgrid
def test_the_scale_of_messages_does_not_change_the_times_of_long_ones(cache):
    one, other = (simulate.electrons(*machine(), dataclasses.replace(SMALL, scale=s))["result"] for s in (4, 32))
    assert other["parts"]["hamiltonian"] == pytest.approx(one["parts"]["hamiltonian"], rel=0.1)
    assert other["parts"]["density"] == pytest.approx(one["parts"]["density"], rel=0.3)


@pytest.mark.slow
@needs_simgrid
def test_blocks_that_do_not_divide_evenly_cost_the_longest_share(cache):
    uneven = dataclasses.replace(SMALL, states=36)  # nine blocks on four processes
    assert uneven.blocks == 3
    even = simulate.electrons(*machine(), dataclasses.replace(SMALL, states=48))["result"]
    result = simulate.electrons(*machine(), uneven)["result"]
    assert result["parts"]["hamiltonian"] == pytest.approx(even["parts"]["hamiltonian"], rel=0.05)


def test_numbers_of_a_step_follow_from_its_size():
    step = simulate.ElectronStep()
    assert step.processes == 288 and step.local == [128, 32, 27] and step.blocks == 4
    messages = step.messages()
    assert list(messages.bytes)[:3] == [0, 64 * 4 * 128 * 27, 64 * 4 * 128 * 32]
    # Atoms in a slab of two radii about a face, nine projectors of four complex numbers.
    density = 246 / (128 * 64 * 81)
    assert step.face_doubles()[2] == pytest.approx(density * 128 * 32 * 14 * 9 * 8, rel=0.01)
    assert simulate.ElectronStep(space=(1, 1, 3)).edge_doubles() == 0


def test_weak_efficiency_compares_rates_of_processes():
    def result(extent, states, processes, seconds):
        return {"case": {"extent": extent, "states": states, "processes": processes}, "result": {"step": seconds}}

    first = result((8, 8, 8), 10, 4, 1.0)
    assert weak_efficiency(first, result((8, 8, 16), 20, 16, 1.25)) == pytest.approx(0.8)


def test_shares_come_from_a_measurement(tmp_path):
    seconds = {"stencil": 4.0, "nonlocal": 2.0, "density": 0.1, "current": 1.0, "hartree": 0.05, "xc": 0.2}
    regions = {f"tddft/{name}": {"seconds": value} for name, value in seconds.items()}
    case = {
        "bench": "rt-step",
        "case": {"scheme": "taylor4"},
        "regions": regions,
        "result": {"points": 100.0, "point_orbitals": 1000.0},
    }
    path = tmp_path / "step.json"
    path.write_text(json.dumps([case]))
    found = shares_of(path)
    assert found == pytest.approx({"nonlocal": 0.5, "density": 0.1, "current": 1.0, "hartree": 0.5, "xc": 2.0})
    path.write_text("[]")
    with pytest.raises(FileError, match="no result of `halocline bench rt-step"):
        shares_of(path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"extent": (16, 24)}, "points and the processes along x, y and z"),
        ({"space": (1, 1, 4)}, "leave fewer than 8 of its 24 points"),
        ({"orbitals": 9}, "at most one process a block"),
        ({"states": 0}, "0 states"),
        ({"gflops": 0.0}, "Gflop/s"),
    ],
)
def test_impossible_steps_are_refused(change, says):
    with pytest.raises(InvalidArgument, match=says):
        dataclasses.replace(SMALL, **change).check()


@pytest.mark.slow
@needs_simgrid
def test_the_command_gives_a_curve(cache, bench_command, tmp_path):
    done = bench_command(
        "simulate-rt-step", "--network", "torus-4d", "--shape", "2x2x1x1,2x2x2x1", "--per-node", "1x1x1x1", "--natural",
        "--points", "16x16x16,16x16x32", "--states", "16,16", "--division", "1x1x2x2,1x1x4x2", "--atoms", "10,20",
        "--json", "found.json", ranks=0,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second = json.loads((tmp_path / "found.json").read_text())
    assert (first["case"]["processes"], second["case"]["processes"]) == (4, 8)
    assert f"{weak_efficiency(first, second):.3f}" in done.stdout


def test_the_command_refuses_in_a_sentence(bench_command):
    done = bench_command("simulate-rt-step", "--shape", "4x3x6,4x6x12", ranks=0)
    assert done.returncode == 2 and "give one a machine" in done.stderr
