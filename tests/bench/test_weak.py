# SPDX-License-Identifier: Apache-2.0
"""The communication code on simulated machines: that it runs there, agrees with the model, and what is refused.

The tests that simulate compile core and comm once, for SimGrid; they are skipped where it is not installed.
"""

import json

import pytest
from halocline.bench import simulate
from halocline.bench.simulate import platform

from halocline import FileError, InvalidArgument, mapping

needs_simgrid = pytest.mark.skipif(bool(simulate.unavailable_reason()), reason=simulate.unavailable_reason())


def torus_problem():
    """216 processes on 54 nodes: every message but those inside a node is one hop long."""
    network = mapping.network_named("torus-3d", (3, 3, 6))
    rings = mapping.rings_of("X;Y;Z", network, (3, 6, 12), (1, 2, 2))
    map = mapping.map_of_rings(network, (3, 6, 12), (1, 2, 2), rings)
    return network, map, mapping.Messages("test", [20000, 10000, 30000], [1, 2, 2])


@pytest.mark.slow
@needs_simgrid
@pytest.mark.parametrize("transport", simulate.TRANSPORTS)
def test_the_simulator_and_the_model_of_links_agree(cache, transport):
    network, map, messages = torus_problem()
    iteration = simulate.Iteration(2e-4, exchanges=4, posting=1e-6, sums=[1, 3])
    found = simulate.weak(network, map, messages, iteration, transport=transport)
    times = found["result"]
    assert found["case"]["processes"] == 216 and found["case"]["nodes"] == 54
    assert not times["absent_wraps"]
    if transport == "mpi_persistent":
        assert times["exchange"] == pytest.approx(times["model"]["exchange"], rel=0.2)
        assert times["iteration"] == pytest.approx(times["model"]["iteration"], rel=0.2)
    else:  # which knows the data of each of its five messages to be there before it sends their flag
        assert times["model"]["exchange"] < times["exchange"] < 5 * times["model"]["exchange"]
    parts = iteration.computation + 4 * (iteration.posting + times["exchange"]) + times["sums"]
    assert times["iteration"] == pytest.approx(parts, rel=0.02)  # looking whether buffers are free is in no part
    assert simulate.weak(network, map, messages, iteration, transport=transport) == found  # the clock is simulated


@pytest.mark.slow
@needs_simgrid
def test_shared_links_are_shared_in_the_simulator_too(cache):
    """The natural order sends several neighbours over one link; both then find the exchange longer, by like factors."""
    network, good, messages = torus_problem()
    bad = mapping.natural_order(network, good.grid, good.per_node)
    iteration = simulate.Iteration(0.0, exchanges=2)
    one, other = (simulate.weak(network, m, messages, iteration)["result"] for m in (good, bad))
    factor = other["model"]["exchange"] / one["model"]["exchange"]
    assert factor > 1.5
    assert other["exchange"] / one["exchange"] == pytest.approx(factor, rel=0.2)


def test_rings_that_the_network_lacks_are_told():
    network = mapping.network_named("tofu-d", (2, 2, 9, 2, 3, 2))
    rings = mapping.rings_of("A,Z%3;C,Z/3;B;X,Y", network, (6, 12, 6, 4), (1, 2, 2, 1))
    found = mapping.map_of_rings(network, (6, 12, 6, 4), (1, 2, 2, 1), rings)
    assert not platform.uses_absent_wraps(network, found)
    nodes = mapping.node_coordinates(network, found.node)
    assert {axis.wraps for axis in network.axes if axis.name == "Z"} == {False} and nodes.shape == (1728, 6)
    line = mapping.network_named("tofu-d", (1, 1, 9, 1, 1, 1))
    around = mapping.rank_map(line, (9,), (1,), range(9))  # rank 8 is the neighbour of rank 0: eight hops, or one
    assert platform.uses_absent_wraps(line, around)


def test_platforms_have_the_hosts_of_the_network():
    text = platform.platform(mapping.network_named("tofu-d", (1, 2, 3, 2, 3, 2)))
    assert 'radical="0-71"' in text and 'topo_parameters="2,3,2,3,2"' in text
    assert 'topology="TORUS"' not in platform.platform(mapping.network_named("fat-tree", (8,)))


def test_what_cannot_be_simulated_is_refused():
    network, map, messages = torus_problem()
    iteration = simulate.Iteration(0.0, exchanges=1)
    with pytest.raises(InvalidArgument, match="mpi_persistent or mpi_rma"):
        simulate.weak(network, map, messages, iteration, transport="shared_memory")
    with pytest.raises(InvalidArgument, match="without exchanges"):
        simulate.weak(network, map, messages, simulate.Iteration(0.0))


def test_the_command_says_what_is_missing(bench_command):
    for words, says in [
        ((), "--simulate"),
        (("--simulate", "--network", "fat-tree", "--shape", "8"), "--grid"),
        (("--simulate", "--shape", "4x6x18", "--iterations", "0"), "equal to 1"),
        (("--simulate", "--shape", "4x6x18", "--computation", "soon"), "soon"),
        (("--simulate", "--map", "nowhere.txt", "--natural"), "--natural"),
    ]:
        if simulate.unavailable_reason() and words:
            says = "libsimgrid-dev"
        done = bench_command("weak", *words, ranks=0)
        assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "results",
    [
        '[{"bench": "qcdjdd", "case": {"measured": "iteration", "local": [32, 6, 4, 3]}}]',
        '{"bench": "qcdjdd", "case": {"measured": "iteration", "local": [32, 6, 4, 3]}, "seconds": 1}',
        '[{"bench": "qcdjdd", "case": [1]}, {"bench": "qcdjdd"}, 7, "qcdjdd"]',
        "[[[{}]]]",
    ],
)
def test_a_file_of_other_results_is_refused_in_a_sentence(tmp_path, results):
    from halocline.cli.bench.weak import _computation

    (tmp_path / "other.json").write_text(results)
    with pytest.raises(FileError, match="has no iteration of 32x6x4x3 sites"):
        _computation(str(tmp_path / "other.json"), None)


@pytest.mark.slow
@needs_simgrid
def test_the_command_writes_what_it_says(cache, bench_command, tmp_path):
    measured = [
        {"bench": "qcdjdd", "case": {"measured": "iteration", "local": [32, 6, 4, 3]}, "seconds": {"median": 3e-4}}
    ]
    (tmp_path / "qcdjdd.json").write_text(json.dumps(measured))
    done = bench_command(
        "weak", "--simulate", "--network", "torus-4d", "--shape", "2x2x2x2", "--grid", "2x2x2x2", "--per-node",
        "1x1x1x1", "--rings", "X;Y;Z;T", "--exchanges", 2, "--sums", "none", "--computation", "qcdjdd.json", "--json",
        "weak.json", ranks=0,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (found,) = json.loads((tmp_path / "weak.json").read_text())
    assert found["case"]["computation"] == 3e-4 and found["case"]["sums"] == []
    assert found["seconds"]["median"] == found["result"]["iteration"] > 3e-4
    assert "16 processes" in done.stdout
