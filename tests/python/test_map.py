# SPDX-License-Identifier: Apache-2.0
"""halocline.mapping: every file that is written can be read back, and says what the map is."""

import itertools

import numpy as np
import pytest

import halocline as hc
from halocline.mapping import formats, interface_table, rank_order, tables, walks

GRID, SPLIT = (6, 12, 6, 4), (1, 2, 2, 1)


@pytest.fixture(scope="module")
def network():
    return hc.mapping.network_named("tofu-d", (4, 6, 18))


@pytest.fixture(scope="module")
def messages():
    return hc.mapping.qcd_domain_solver((32, 6, 4, 3))


@pytest.fixture(scope="module")
def found(network, messages):
    return hc.mapping.search(network, GRID, SPLIT, messages)


@pytest.fixture(scope="module")
def order(network, messages, found):
    return hc.mapping.RankOrder(network, messages, found.map)


def scattered(network, seed=7):
    """A map without any order: whole nodes, shuffled."""
    ranks = np.repeat(np.random.default_rng(seed).permutation(network.nodes), 4)
    return hc.mapping.rank_map(network, GRID, SPLIT, np.random.default_rng(seed + 1).permutation(ranks))


def test_the_worked_case(network, messages, found):
    rings = hc.mapping.rings_of("A,Z%3 ; C,Z/3 ; B ; X,Y", network, GRID, SPLIT)
    printed = hc.mapping.map_of_rings(network, GRID, SPLIT, rings)
    assert hc.mapping.evaluate(network, printed, messages).interface_bytes == [73728] * 4 + [69120] * 2
    four = hc.mapping.with_interfaces(network, 4)
    assert hc.mapping.evaluate(four, printed, messages).interface_bytes == [115200] * 2 + [101376] * 2
    assert found.loads.busiest_interface == found.lower_bound == 73728 and found.gap == 0 and found.proven
    better = hc.mapping.search(four, GRID, SPLIT, messages)
    assert better.loads.busiest_interface <= 105984


def test_a_search_with_a_limit_still_has_a_map_and_an_honest_gap(network, messages, found):
    seen = []
    stopped = hc.mapping.search(network, GRID, SPLIT, messages, progress=lambda n, best: bool(seen.append(best)))
    assert seen and sorted(stopped.map.node.tolist()) == sorted(list(range(432)) * 4)
    assert stopped.lower_bound <= found.loads.busiest_interface <= stopped.loads.busiest_interface
    assert stopped.gap == stopped.loads.busiest_interface / stopped.lower_bound - 1


def test_an_error_of_the_callback_ends_the_search(network, messages):
    def broken(steps, best):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        hc.mapping.search(network, GRID, SPLIT, messages, progress=broken)


def test_ranks_are_a_permutation_that_puts_neighbours_where_the_map_has_them(network, found):
    launched = np.repeat(np.arange(432), 4)
    ranks = hc.mapping.permutation(found.map, launched)
    assert sorted(ranks.tolist()) == list(range(1728))
    assert (launched[ranks] == found.map.node).all()
    with pytest.raises(hc.InvalidArgument, match="node 0 has 5 launched ranks, but 4"):
        hc.mapping.permutation(found.map, np.concatenate([[0], launched[:-1]]))
    with pytest.raises(hc.InvalidArgument, match="10 ranks launched"):
        hc.mapping.permutation(found.map, launched[:10])


def test_a_rank_order_file_holds_all_that_evaluate_needs(tmp_path, network, messages, order, found):
    hc.mapping.write_rank_order(tmp_path / "r.txt", order)
    back = hc.mapping.read_rank_order(tmp_path / "r.txt")
    assert (back.map.node == order.map.node).all() and back.map.grid == list(GRID) and back.count == "hops"
    assert rank_order.rank_order_text(back) == (tmp_path / "r.txt").read_text()
    loads = hc.mapping.evaluate(back.network, back.map, back.messages, back.count)
    assert loads.interface_bytes == found.loads.interface_bytes and loads.axis_bytes == found.loads.axis_bytes
    assert list(tmp_path.iterdir()) == [tmp_path / "r.txt"]


def test_lines_of_a_rank_order_file_may_stand_in_any_order(order):
    lines = rank_order.rank_order_text(order).splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("#rank")) + 1
    body = np.random.default_rng(1).permutation(lines[head:]).tolist()
    text = "\n".join([*lines[:head], "", "# shuffled", *body])
    assert (rank_order.parse_rank_order(text, "r").map.node == order.map.node).all()


DAMAGE = {
    "another first line": (lambda t: t.replace("order 1", "order 2", 1), "no rank-order file of this version"),
    "no head": (lambda t: t.split("\n", 1)[0] + "\n", "no line '#rank"),
    "no network": (lambda t: t.replace("#[network]", "#[nework]"), r"no table \[network\]"),
    "a broken head": (lambda t: t.replace("#grid = [6", "#grid = 6"), "no TOML"),
    "an unknown key": (lambda t: t.replace("#count =", "#cuont ="), "did you mean 'count'"),
    "a rank twice": (lambda t: t.replace("\n5 ", "\n4 "), "places rank 4 2 times"),
    "a rank too many": (lambda t: t + "1728 0 0 0 0 0 0\n", "the grid has ranks 0 to 1727"),
    "a rank missing": (lambda t: t[: t.rindex("\n1727 ") + 1], "has 1727 lines for the 1728 ranks"),
    "a node off the network": (lambda t: t.replace("\n5 ", "\n5 7 7 7 7 7 7\n#"), "no such node"),
    "a word": (lambda t: t.replace("\n5 ", "\n5 x "), "expected a rank and 6 coordinates"),
    "a huge number": (lambda t: t.replace("\n5 ", "\n99999999999999999999 "), "expected a rank and 6 coordinates"),
    "a huge grid": (
        lambda t: t.replace("#grid = [6,", "#grid = [2000000000,"),
        "1728 lines for the 576",
    ),
    "a grid beyond numbers": (lambda t: t.replace("#grid = [6,", f"#grid = [{10**20},"), "does not fit into 64 bits"),
    "a huge network": (lambda t: t.replace('"Z", length = 9', '"Z", length = 2000000000'), "nodes"),
    "other axes": (lambda t: t.replace("#rank X Y", "#rank Y X"), "names the axes"),
    "too many on a node": (lambda t: t.replace("\n5 ", "\n5 0 0 0 0 0 0\n#5 "), "node"),
    "a split that does not divide": (
        lambda t: t.replace("#per_node = [1, 2,", "#per_node = [1, 5,"),
        "divide",
    ),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_rank_order_file_is_refused_by_name(order, how):
    change, said = DAMAGE[how]
    text = rank_order.rank_order_text(order)
    assert change(text) != text
    with pytest.raises(hc.FileError, match=said) as caught:
        rank_order.parse_rank_order(change(text), "r.txt")
    assert str(caught.value).startswith("r.txt: ")


@pytest.mark.parametrize("name", formats.FORMATS)
@pytest.mark.parametrize("cores", [1, 12])
def test_what_a_launcher_gets_can_be_read_back(network, order, name, cores):
    for map in (order.map, scattered(network)):
        text = formats.write_map(map, network, name, cores=cores)
        assert (formats.read_map(text, network, name, "f") == map.node).all()


def test_launchers_files_have_the_syntax_of_their_manuals():
    network = hc.mapping.Network("pair", [hc.mapping.Axis("X", 3, False, 1.0)], 1, 1.0, 1.0)
    map = hc.mapping.rank_map(network, (6,), (2,), [0, 2, 2, 1, 0, 1])
    hosts = ["a", "b", "c"]
    bound = formats.write_map(map, network, "openmpi", hosts, cores=2).splitlines()
    assert bound[:3] == ["rank 0=a slot=0-1", "rank 1=c slot=0-1", "rank 2=c slot=2-3"]
    assert bound[3:] == ["rank 3=b slot=0-1", "rank 4=a slot=2-3", "rank 5=b slot=2-3"]
    assert formats.write_map(map, network, "openmpi").startswith("rank 0=+n0 slot=0\nrank 1=+n2 slot=0\n")
    assert formats.write_map(map, network, "slurm", hosts) == "a\nc\nc\nb\na\nb\n"
    assert formats.write_map(map, network, "fujitsu") == "(0)\n(2)\n(2)\n(1)\n(0)\n(1)\n"
    assert formats.write_map(map, network, "simgrid") == "n0\nn2:2\nn1\nn0\nn1\n"
    with pytest.raises(hc.InvalidArgument, match="'a' names no node for a vcoordfile"):
        formats.write_map(map, network, "fujitsu", hosts)


def test_default_names_are_as_many_as_nodes(network):
    for name in formats.FORMATS:
        assert len(set(formats.names_of(network, name))) == 432
    assert formats.names_of(network, "fujitsu")[-1] == "(3,5,17)"
    five = hc.mapping.network_named("torus-5d", (2, 2, 2, 2, 2))
    assert formats.names_of(five, "fujitsu")[31] == "(31)"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("openmpi", "rank 0=+n0\n", "expected 'rank N=HOST slot=CPUS'"),
        ("openmpi", "rank 0=+n0 slot=0\nrank 0=+n1 slot=0\n", "a second time"),
        ("openmpi", "rank 1=+n0 slot=0\n", "no line for rank 0"),
        ("slurm", "n0,n1\n", "expected one host"),
        ("fujitsu", "(1,2,3,4)\n", r"expected \(x\)"),
        ("simgrid", "n0:x\n", "expected HOST or HOST:RANKS"),
        ("slurm", "elsewhere\n", "no node is called 'elsewhere'"),
    ],
)
def test_a_wrong_line_of_a_launchers_file_is_named(network, name, text, said):
    with pytest.raises(hc.FileError, match=said):
        formats.read_map(text, network, name, "f")


def test_hosts_are_one_a_node(network):
    names = [f"c{k}" for k in range(432)]
    assert formats.hosts_of("\n".join(names), network, "h") == names
    with pytest.raises(hc.FileError, match="names 431 hosts for the 432 nodes"):
        formats.hosts_of("\n".join(names[1:]), network, "h")
    with pytest.raises(hc.FileError, match="names 'c1' twice"):
        formats.hosts_of("\n".join(["c1", *names[1:]]), network, "h")


def test_the_interface_table_adds_up_to_the_loads(network, messages, order, found):
    axes = walks.process_axes(order.map)
    text = interface_table.interface_table_text(found.loads, network, axes)
    names, nodes, owners = interface_table.parse_interface_table(text, 6, "i")
    assert nodes.shape == (432, 6) and len({tuple(row) for row in nodes.tolist()}) == 432
    largest = 0
    for row, owner in zip(nodes, owners, strict=True):
        node = int(row @ np.cumprod([1, 2, 2, 9, 2, 3]))
        kind = found.loads.node_types[found.loads.node_type[node]]
        load = np.zeros(network.interfaces, dtype=np.int64)
        for item in kind.items:
            load[owner[names.index(interface_table.item_name(item, network, axes))]] += item.bytes
        assert sorted(load.tolist()) == sorted(kind.interface)
        assert np.count_nonzero(owner >= 0) == len(kind.items)
        largest = max(largest, load.max())
    assert largest == found.loads.busiest_interface
    with pytest.raises(hc.FileError, match="line 3"):
        interface_table.parse_interface_table("\n".join(text.splitlines()[:2] + ["0 0"]), 6, "i")


@pytest.mark.parametrize("word", ["99999999999999999999", "\u00b2", "\u0663", "-0", "+1"])
def test_an_interface_table_has_numbers_in_plain_digits_that_fit(network, messages, order, found, word):
    text = interface_table.interface_table_text(found.loads, network, walks.process_axes(order.map))
    lines = text.splitlines()
    lines[5] = word + lines[5][1:]
    with pytest.raises(hc.FileError, match="line 6"):
        interface_table.parse_interface_table("\n".join(lines), 6, "i")


def test_mean_hops_times_messages_are_the_hops_of_the_walk(network, messages, found):
    for map in (found.map, hc.mapping.natural_order(network, GRID, SPLIT), scattered(network)):
        total = 0.0
        node = map.node.reshape(GRID[::-1])
        for q, hops in enumerate(walks.mean_hops(network, map).sum(axis=1)):
            leaves = np.count_nonzero(node != np.roll(node, -1, 3 - q))
            total += 2 * leaves * hops * messages.directions[q] / 2
        assert hc.mapping.evaluate(network, map, messages).hops == pytest.approx(total, rel=1e-12)


def test_links_carry_what_loads_say(network, messages, found):
    links = hc.mapping.link_loads(network, found.map, messages)
    assert links.shape == (432, 6, 2)
    assert links.max(axis=(0, 2)).tolist() == found.loads.axis_bytes


def test_a_fat_tree_has_no_narrow_middle_and_a_torus_has():
    tree, torus = (hc.mapping.network_named(n, s) for n, s in (("fat-tree", (512,)), ("torus-3d", (8, 8, 8))))
    assert hc.mapping.bisection_bandwidth(tree) == np.inf
    assert hc.mapping.bisection_bandwidth(torus) == pytest.approx(2 * 64 * torus.axes[0].bandwidth)
    long = hc.mapping.network_named("torus-3d", (128, 2, 2))
    assert hc.mapping.all_to_all_seconds(long, 1e6) > hc.mapping.all_to_all_seconds(torus, 1e6)
    assert hc.mapping.all_reduce_seconds(torus, 512, 1e6) > hc.mapping.all_reduce_seconds(torus, 2, 1e6)


def test_networks_and_messages_survive_their_tables(tmp_path, network, messages):
    for machine in (network, hc.mapping.network_named("fat-tree", (64,)), hc.mapping.with_interfaces(network, 3)):
        (tmp_path / "n.toml").write_text(tables.network_toml(machine))
        back = hc.mapping.read_network(tmp_path / "n.toml")
        assert tables.network_toml(back) == tables.network_toml(machine) and back.nodes == machine.nodes
    (tmp_path / "m.toml").write_text(tables.messages_toml(messages))
    back = hc.mapping.read_messages(tmp_path / "m.toml")
    assert (back.name, back.bytes, back.directions) == (messages.name, messages.bytes, messages.directions)


AXIS = '{ name = "X", length = 4, bandwidth = 1.0 }'
NETWORK = (
    f'[network]\nname = "n"\ninterfaces = 1\ninterface_bandwidth = 1.0\ninjection_bandwidth = 1.0\naxes = [{AXIS}]\n'
)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("interfaces = 1", "interfaces = 0"), "integer of at least 1"),
        (("interfaces = 1\n", ""), "needs the key 'interfaces'"),
        (('name = "n"', 'nam = "n"'), "did you mean 'name'"),
        (("length = 4", "length = 0"), "expected"),
        (("length = 4", "lenght = 4"), "no key 'lenght'"),
        ((AXIS, f"{AXIS}, {AXIS}"), "is used twice"),
        (("bandwidth = 1.0 }", "bandwidth = -1.0 }"), "expected"),
        (("[network]", "[net]"), r"no table \[network\]"),
        (("[network]", "[network"), "no TOML"),
    ],
)
def test_a_wrong_table_is_refused_with_what_would_do(tmp_path, change, said):
    path = tmp_path / "n.toml"
    path.write_text(NETWORK)
    assert hc.mapping.read_network(path).nodes == 4
    path.write_text(NETWORK.replace(*change))
    with pytest.raises(hc.FileError, match=said):
        hc.mapping.read_network(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A,Z%3 ; C ; B", "names 3 rings for 4"),
        ("A,Z%3;C,Z/3;B;W", "W"),
        ("A,Z%4;C,Z/3;B;X,Y", "Z%4"),
        ("A;C;B;X", "ring"),
    ],
)
def test_rings_that_cannot_be_are_refused(network, text, said):
    with pytest.raises(hc.InvalidArgument, match=said):
        hc.mapping.map_of_rings(network, GRID, SPLIT, hc.mapping.rings_of(text, network, GRID, SPLIT))


def test_maps_that_do_not_fit_are_refused(network):
    with pytest.raises(hc.InvalidArgument):
        hc.mapping.rank_map(network, GRID, SPLIT, np.zeros(1728))
    with pytest.raises(hc.InvalidArgument):
        hc.mapping.rank_map(network, GRID, SPLIT, np.full(1728, 432))
    with pytest.raises(hc.InvalidArgument, match="hops or injected"):
        messages = hc.mapping.qcd_domain_solver((32, 6, 4, 3))
        hc.mapping.evaluate(network, hc.mapping.natural_order(network, GRID, SPLIT), messages, "heaps")


def test_lines_of_the_picture_are_the_rings_of_the_search(network, found):
    for q, ring in enumerate(found.rings):
        line = walks.line(network, found.map, q)
        assert len(line) == GRID[q] // SPLIT[q] == len(ring.steps)
        moved = {piece.axis for piece in ring.pieces}
        assert set(np.nonzero((line != line[0]).any(axis=0))[0].tolist()) == moved
        steps = [walks.distances(network, a, b).sum() for a, b in itertools.pairwise(line)]
        assert set(steps) <= {piece.stride for piece in ring.pieces}


def test_a_lattice_on_ranks_in_another_order_has_the_same_links(tmp_path, python):
    (tmp_path / "ordered.py").write_text(
        "import halocline as hc\n"
        "from halocline import _halocline\n"
        "from halocline.qcd import gauge\n"
        "plain = gauge.random_links([4, 4, 4, 8], seed=5, grid=[1, 1, 2, 2])\n"
        "where = gauge.geometry([4, 4, 4, 8], grid=[1, 1, 2, 2], ranks=[2, 0, 3, 1])\n"
        "u = _halocline.qcd.random_links(where, 5)\n"
        "assert abs(gauge.plaquette(u) - gauge.plaquette(plain)) < 1e-13\n"
        "places = [[0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 1]]\n"
        "assert where.coordinates == places[where.communicator.rank]\n"
        "try:\n"
        "    gauge.geometry([4, 4, 4, 8], grid=[1, 1, 2, 2], ranks=[0, 0, 1, 2])\n"
        "except hc.InvalidArgument as error:\n"
        "    assert 'each rank of the grid once' in str(error), error\n"
        "    print('refused')\n"
    )
    done = python("ordered.py", ranks=4)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("refused") == 4  # ranks may write to one line
