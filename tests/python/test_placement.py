# SPDX-License-Identifier: Apache-2.0
"""A map inside a running job: nodes of the processes, order of the ranks, interfaces of the faces, and the settings of
the solvers' communication."""

import json
import math

import numpy as np
import pytest
from halocline.errors import FileError, InvalidArgument

import halocline as hc
from halocline import mapping, parallel
from halocline.mapping import interface_table, job_script, placement, rank_order, walks

GRID, PER_NODE = (6, 12, 6, 4), (1, 2, 2, 1)


@pytest.fixture(scope="module")
def printed():
    """The map of the paper on uTofu with the messages of the Wilson operator, both directions of every face."""
    network = mapping.network_named("tofu-d", (4, 6, 18))
    rings = mapping.rings_of("A,Z%3 ; C,Z/3 ; B ; X,Y", network, GRID, PER_NODE)
    found = mapping.map_of_rings(network, GRID, PER_NODE, rings)
    return mapping.RankOrder(network, mapping.wilson_operator((32, 6, 4, 3)), found, "injected")


@pytest.fixture(scope="module")
def table(printed):
    loads = mapping.evaluate(printed.network, printed.map, printed.messages, "injected")
    return interface_table.interface_table_text(loads, printed.network, walks.process_axes(printed.map)), loads


def test_the_faces_of_a_node_send_through_each_interface_what_the_search_counted(printed, table):
    text, loads = table
    order, node_of = printed, np.asarray(printed.map.node)
    for node in (0, 77, 431):
        sent = [0] * order.network.interfaces
        for place in np.nonzero(node_of == node)[0]:
            owners = placement.face_interfaces(order, int(place), text, "interfaces.txt")
            assert len(owners) == 8
            for face, owner in enumerate(owners):
                sent[owner] += order.messages.bytes[face // 2]
        kind = loads.node_types[loads.node_type[node]]
        assert sent == list(kind.interface)


def test_a_table_of_another_map_is_refused(printed, table):
    text, _ = table
    lines = text.splitlines()
    for wrong, sentence in (
        ("\n".join(lines[:2] + lines[3:]), "0 lines for the node"),
        (text.replace("#halocline interfaces 1", "#other"), "no table of interfaces"),
        ("\n".join(lines[:2] + [lines[2][:12] + lines[2][12:].replace("0", "9")] + lines[3:]), "interface 9"),
        (
            "\n".join(lines[:2] + [lines[2][:12] + " ".join("-" * len(lines[2][12:].split()))] + lines[3:]),
            "no interface",
        ),
    ):
        with pytest.raises(FileError, match=sentence):
            placement.face_interfaces(printed, 0, wrong, "interfaces.txt")


def test_an_axis_of_one_process_has_no_item_and_loops_back_inside_a_node():
    network = mapping.network_named("torus-3d", (2, 2, 2))
    made = mapping.natural_order(network, (1, 2, 8), (1, 2, 1))
    items = mapping.face_items(network, made, 0)
    assert items[0] is None and items[1] is None
    assert [(i.axis, i.direction, i.loopback) for i in items[2:4]] == [(1, -1, True), (1, 1, True)]
    assert all(not i.loopback for i in items[4:])
    with pytest.raises(InvalidArgument, match="places 0 to 15"):
        mapping.face_items(network, made, 16)


HOSTS = """# hosts of the job
node7 1 0 2
node8.cluster 0 1 0   # the second
"""


def test_a_host_finds_its_node_by_coordinates_or_by_its_line():
    network = mapping.network_named("torus-3d", (2, 3, 4))
    assert placement.node_of_host(HOSTS, "node7.cluster", network, "hosts") == 1 + 2 * (0 + 3 * 2)
    assert placement.node_of_host(HOSTS, "node8.cluster", network, "hosts") == 2
    assert placement.node_of_host("b\na\n", "a", network, "hosts") == 1
    for text, sentence in (
        ("node9 0 0 0\n", "no line for the host node7"),
        ("node7 2 0 0\n", "coordinates 2 0 0, and the axes .* have 2 3 4 nodes"),
        ("node7 0 0\n", "a host and 3 coordinates"),
        ("node7 0 0 0\nnode7 1 0 0\n", "a second time"),
        ("\n".join(f"n{i}" for i in range(24)) + "\nnode7\n", "25 hosts, and the map's network 24 nodes"),
    ):
        with pytest.raises((FileError, InvalidArgument), match=sentence):
            placement.node_of_host(text, "node7", network, "hosts")


class Job:
    """A group of processes of which each says one text; as much of a communicator as placement needs."""

    rank = 0

    def __init__(self, texts):
        self.texts, self.size = texts, len(texts)

    def gather(self, mine, root):
        return b"".join((json.dumps(t) + "\n").encode() for t in self.texts)

    def broadcast(self, data, root):
        return data

    def all(self, mine):
        return all(self.texts)


def test_nodes_follow_the_switches_of_slurm_and_the_order_of_the_ranks(monkeypatch):
    network = mapping.network_named("torus-3d", (2, 2, 1))
    addresses = ["s0.s2.n10", "s0.s1.n9", "s0.s2.n9", "s0.s2.n10"]
    monkeypatch.setenv("SLURM_TOPOLOGY_ADDR", addresses[0])
    for source in ("slurm", "auto"):
        assert placement.job_nodes(Job(addresses), network, source).tolist() == [2, 0, 1, 2]
    assert placement.job_nodes(Job(["b", "a", "b", "c"]), network, "launch").tolist() == [0, 1, 0, 2]
    with pytest.raises(InvalidArgument, match="rank 1 has no SLURM_TOPOLOGY_ADDR"):
        placement.job_nodes(Job([addresses[0], ""]), network, "slurm")
    with pytest.raises(InvalidArgument, match="5 nodes, and the map's network 4"):
        placement.job_nodes(Job(list("abcde")), network, "launch")


def test_a_job_without_a_topology_is_told_what_to_give(monkeypatch):
    monkeypatch.delenv("SLURM_TOPOLOGY_ADDR", raising=False)
    network = mapping.network_named("tofu-d", (2, 3, 2))
    group = hc.comm.self_alone()
    with pytest.raises(InvalidArgument, match="neither Fujitsu's topology nor Slurm's"):
        placement.job_nodes(group, network, "auto")
    with pytest.raises(InvalidArgument, match="built without"):
        placement.job_nodes(group, network, "fujitsu")


def test_communication_is_set_for_a_group_and_refused_before_the_first_solver():
    group = hc.comm.self_alone()
    parallel.set_communication(group, "self", 1, "all", "mpi")
    assert parallel.communication(group) == {
        "transport": "self", "buffers": 1, "posting": "all", "sums": "mpi", "interfaces": [],
    }  # fmt: skip
    parallel.set_communication(group)
    with pytest.raises(InvalidArgument, match='"pigeon" cannot be used here: it is not known; usable here: '):
        parallel.set_communication(group, "pigeon")
    with pytest.raises(InvalidArgument, match="3 buffers"):
        parallel.set_communication(group, buffers=3)
    with pytest.raises(InvalidArgument, match='"fast"'):
        parallel.set_communication(group, sums="fast")


RUN = """
[gauge]
generate = {{ size = [4, 4, 4, 8], beta = 6.0, sweeps = 2, seed = 3 }}
[action]
kind = "wilson-clover"
mass = 0.2
csw = 1.0
[solver]
kind = "schwarz"
[output]
file = "{name}.h5"
plots = false
[parallel]
{parallel}
"""


def pions(halocline, tmp_path, name, keys, ranks=4):
    (tmp_path / f"{name}.toml").write_text(RUN.format(name=name, parallel=keys))
    done = halocline("qcd", "spectrum", f"{name}.toml", "--json", f"{name}.json", ranks=ranks)
    if done.returncode:
        return done
    return json.loads((tmp_path / f"{name}.json").read_text())["configurations"][0]["mesons"]["pion"]


def write_map(tmp_path, ranks=4):
    """A map of four processes on one node of a network."""
    (tmp_path / "machine.toml").write_text(
        '[network]\nname = "one"\ninterfaces = 2\ninterface_bandwidth = 1e9\ninjection_bandwidth = 2e9\n'
        'latency = 1e-6\naxes = [{ name = "X", length = 1, bandwidth = 1e9, hop_latency = 1e-7 }]\n'
    )
    network = mapping.read_network(str(tmp_path / "machine.toml"))
    made = mapping.natural_order(network, (1, 1, 2, 2), (1, 1, 2, 2))
    messages = mapping.wilson_operator((4, 4, 2, 4))
    rank_order.write_rank_order(tmp_path / "map.txt", mapping.RankOrder(network, messages, made))
    loads = mapping.evaluate(network, made, messages)
    (tmp_path / "interfaces.txt").write_text(
        interface_table.interface_table_text(loads, network, walks.process_axes(made))
    )


def test_a_run_by_other_transports_buffers_posters_and_a_map_has_the_same_bits(halocline, tmp_path):
    import socket

    write_map(tmp_path)
    (tmp_path / "hosts.txt").write_text(f"{socket.gethostname()} 0\n")
    usual = pions(halocline, tmp_path, "usual", "grid = [1, 1, 2, 2]")
    by_map = 'map = "map.txt"\nnodes = "hosts.txt"\ntransport = "mpi_persistent"\nbuffers = 1\nposting = "all"'
    assert pions(halocline, tmp_path, "mapped", by_map) == usual
    by_mpi = pions(halocline, tmp_path, "summed", 'grid = [1, 1, 2, 2]\nsums = "mpi-split"')
    assert np.allclose(by_mpi, usual, rtol=1e-8)

    for name, keys, sentence in (
        ("a", 'map = "map.txt"\nnodes = "launch"\ninterfaces = "interfaces.txt"\ntransport = "mpi_rma"',
         '"mpi_rma" does not choose among interfaces'),
        ("b", 'map = "map.txt"\nnodes = "launch"\ngrid = [1, 1, 1, 4]', "leave grid out"),
        ("c", 'transport = "utofu"', 'transport "utofu" cannot be used here'),
        ("d", 'interfaces = "interfaces.txt"', "interfaces applies to a map"),
    ):  # fmt: skip
        done = pions(halocline, tmp_path, name, keys)
        assert done.returncode == 2 and sentence in done.stderr, done.stderr
        assert done.stderr.count("halocline: ") == 1
    done = pions(halocline, tmp_path, "e", 'map = "map.txt"\nnodes = "launch"', ranks=2)
    assert done.returncode == 2 and "places 4 processes, and the job has 2" in done.stderr


PERMUTED = """
import os, sys
import numpy as np
import halocline as hc
from halocline import parallel
from halocline.qcd.runfile import read_run_file
from halocline.qcd.spectrum import Job
from halocline.reporter import Reporter

world = hc.comm.world()
os.environ["SLURM_TOPOLOGY_ADDR"] = "s0.n" + str([2, 0, 3, 1][world.rank])
job = Job(read_run_file("permuted.toml"), world, Reporter())
u = job.links(0)
mine = [world.rank, *u.geometry.coordinates]
found = world.gather(np.array(mine, dtype=np.int64).tobytes(), 0)
if world.rank == 0:
    places = {int(row[0]): row[1:].tolist() for row in np.frombuffer(found, dtype=np.int64).reshape(-1, 5)}
    print("places", places, "plaquette", repr(hc.qcd.plaquette(u)))
else:
    hc.qcd.plaquette(u)
"""


def test_the_links_of_a_run_stand_where_the_map_puts_them(tmp_path, python, lime):
    """Nodes 0 to 3 of the map hold the places 0 to 3; rank r was started on node [2, 0, 3, 1][r]."""
    network = mapping.network_named("torus-3d", (4, 1, 1))
    made = mapping.natural_order(network, (1, 1, 2, 2), (1, 1, 1, 1))
    order = mapping.RankOrder(network, mapping.wilson_operator((4, 4, 2, 2)), made)
    rank_order.write_rank_order(tmp_path / "map.txt", order)
    run = RUN.replace("generate = {{ size = [4, 4, 4, 8], beta = 6.0, sweeps = 2, seed = 3 }}", f'files = ["{lime}"]')
    (tmp_path / "permuted.toml").write_text(run.format(name="p", parallel='map = "map.txt"\nnodes = "slurm"'))
    (tmp_path / "permuted.py").write_text(PERMUTED)
    done = python("permuted.py", ranks=4)
    assert done.returncode == 0, done.stderr
    places = {0: [0, 0, 0, 1], 1: [0, 0, 0, 0], 2: [0, 0, 1, 1], 3: [0, 0, 1, 0]}
    assert f"places {places}" in done.stdout, done.stdout
    assert float(done.stdout.split("plaquette")[1]) == pytest.approx(
        hc.qcd.plaquette(hc.qcd.read_gauge(lime)), rel=1e-12
    )


def test_scripts_of_batch_systems_have_the_shape_of_the_job(printed):
    nodes = len(set(printed.map.node.tolist()))
    pjm = job_script.job_script(printed, "pjm", job_script.weak_command("pjm", nodes, "32x6x4x3"), 12, 90)
    assert '#PJM -L "node=4x6x18:torus"' in pjm and '"elapse=01:30:00"' in pjm
    assert "proc=1728,max-proc-per-node=4" in pjm and "OMP_NUM_THREADS=12" in pjm
    assert "halocline bench weak --map rank-order.txt --nodes fujitsu --interfaces interfaces.txt --local" in pjm
    assert job_script.weak_command("slurm", 8, "4x4x4x4").endswith(
        "--map rank-order.txt --nodes slurm --local 4x4x4x4 --json weak-8.json"
    )
    slurm = job_script.job_script(printed, "slurm", "halocline qcd spectrum run.toml", 12, 5)
    for line in (
        "#SBATCH --nodes=432",
        "#SBATCH --ntasks-per-node=4",
        "#SBATCH --cpus-per-task=12",
        "#SBATCH --time=5",
    ):
        assert line in slurm.splitlines()
    assert "srun --ntasks=1728 --cpu-bind=cores halocline qcd spectrum run.toml" in slurm
    torus = mapping.network_named("torus-3d", (2, 2, 2))
    order = mapping.RankOrder(torus, printed.messages, mapping.natural_order(torus, (2, 2, 2, 1), (1, 1, 1, 1)))
    assert "--nodes=8" in job_script.job_script(order, "slurm", "true", 1, 1)
    with pytest.raises(InvalidArgument, match="a map on tofu-d"):
        job_script.job_script(order, "pjm", "true", 1, 1)
    with pytest.raises(InvalidArgument, match="give one of slurm, pjm"):
        job_script.job_script(order, "lsf", "true", 1, 1)
    assert math.prod(job_script.job_shape(printed.network)) == nodes
