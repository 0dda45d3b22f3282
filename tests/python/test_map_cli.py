# SPDX-License-Identifier: Apache-2.0
"""`halocline map`: what it finds, what it writes, what it refuses."""

import json
import os
import re
import signal

import pytest
from halocline.cli.main import main

import halocline as hc
from halocline.mapping import formats, problem

MACHINE = ["--network", "tofu-d", "--shape", "4x6x18"]
WORKED = [*MACHINE, "--grid", "6x12x6x4", "--per-node", "1x2x2x1", "--local", "32x6x4x3"]
SLOW = ["--network", "torus-5d", "--shape", "6x6x6x6x6", "--grid", "6x6x6x12", "--per-node", "1x2x2x1"]
SLOW += ["--local", "32x6x4x3", "--interfaces", "5"]
"""A search whose proof takes long."""
PICTURES = ["axes.png", "axes.svg", "loads.png", "loads.svg"]


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """run("search", ...): the command in this process, in tmp_path; its status, what it said and its --json."""
    monkeypatch.chdir(tmp_path)

    def command(*words):
        capfd.readouterr()
        status = main(["map", *map(str, words)])
        said = capfd.readouterr()
        names = [tmp_path / words[n + 1] for n, word in enumerate(words) if word == "--json"]
        return status, said.out + said.err, json.loads(names[0].read_text()) if names and names[0].exists() else None

    return command


@pytest.mark.slow
def test_the_worked_case_from_search_to_files_and_back(run, tmp_path):
    every = ",".join(formats.FORMATS)
    status, said, found = run("search", *WORKED, "--json", "s.json", "--output", "out", "--format", every)
    assert status == 0, said
    assert found["bottleneck_link_bytes"] == found["lower_bound"] == 73728 and found["gap"] == 0
    assert found["interface_bytes"][0] == 73728 and len(found["interface_bytes"]) == 6
    assert [axis["nodes"] for axis in found["axes"]] == [6, 6, 3, 4]
    assert found["axes"][2]["pieces"] == ["B"] and found["axes"][0]["axis"] == "x"
    assert len(found["ranks"]) == 1728 and len({tuple(node) for node in found["ranks"]}) == 432

    files = {path.name for path in (tmp_path / "out").iterdir()}
    launchers = {name.file for name in formats.FORMATS.values()}
    assert files == launchers | {"rank-order.txt", "interfaces.txt", "report.md", *PICTURES} == set(found["files"])
    report = (tmp_path / "out/report.md").read_text()
    assert "73728" in report and "proven best" in report and all(name in report for name in files - {"report.md"})

    status, said, again = run("evaluate", "out/rank-order.txt", "--json", "e.json")
    assert status == 0, said
    for key in ("bottleneck_link_bytes", "interface_bytes", "axis_bytes", "hops", "unused_nodes", "natural_order"):
        assert again[key] == found[key]
    for name, launcher in formats.FORMATS.items():
        status, said, other = run("evaluate", f"out/{launcher.file}", "--format", name, *WORKED, "--json", "f.json")
        assert status == 0, said
        assert other["interface_bytes"] == found["interface_bytes"] and other["axes"] == again["axes"]


@pytest.mark.slow
def test_pictures_and_reports_are_the_same_every_time(run, tmp_path):
    for folder in ("a", "b"):
        assert run("search", *WORKED, "--output", folder)[0] == 0
    for name in [*PICTURES, "report.md", "rank-order.txt", "interfaces.txt"]:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    assert (tmp_path / "a/axes.png").read_bytes()[:4] == b"\x89PNG"
    assert "<svg" in (tmp_path / "a/loads.svg").read_text()


@pytest.mark.slow
def test_the_printed_rings_have_the_printed_loads(run):
    rings = ["--rings", "A,Z%3 ; C,Z/3 ; B ; X,Y"]
    status, said, found = run("evaluate", *rings, *WORKED, "--json", "e.json", "--output", "out")
    assert status == 0, said
    assert found["interface_bytes"] == [73728] * 4 + [69120] * 2
    status, said, found = run("evaluate", "out/rank-order.txt", "--interfaces", "4", "--json", "e.json")
    assert found["interface_bytes"] == [115200] * 2 + [101376] * 2
    status, said, found = run("evaluate", "out/rank-order.txt", "--count", "injected", "--json", "e.json")
    assert max(found["interface_bytes"]) <= 73728 and found["bottleneck_link_bytes"] == 73728


def test_hosts_of_the_job_take_the_places_of_numbers(run, tmp_path):
    (tmp_path / "hosts").write_text("".join(f"node{k:03}\n" for k in range(432)))
    words = ["--hosts", "hosts", *WORKED]
    status, said, _ = run("search", *words, "--output", "out", "--format", "slurm", "--no-plots")
    assert status == 0, said
    assert re.fullmatch(r"(node\d\d\d\n){1728}", (tmp_path / "out/slurm.hostfile").read_text())
    status, said, found = run("evaluate", "out/slurm.hostfile", "--format", "slurm", *words, "--json", "e.json")
    assert found["bottleneck_link_bytes"] == 73728
    assert run("evaluate", "out/slurm.hostfile", "--format", "slurm", *WORKED)[0] == 2


def test_a_table_of_a_network_serves_as_a_known_one(run, tmp_path):
    from halocline.mapping.tables import messages_toml, network_toml

    (tmp_path / "n.toml").write_text(network_toml(hc.mapping.network_named("tofu-d", (4, 6, 18))))
    (tmp_path / "m.toml").write_text(messages_toml(hc.mapping.qcd_domain_solver((32, 6, 4, 3))))
    words = ["--network", "n.toml", "--messages", "m.toml", "--grid", "6x12x6x4", "--per-node", "1x2x2x1"]
    status, said, found = run("search", *words, "--json", "s.json")
    assert status == 0, said
    assert found["bottleneck_link_bytes"] == found["lower_bound"] == 73728
    status, said, found = run("search", *words, "--shape", "2x2x12x2x3x2", "--wrap", "Z", "--json", "s.json")
    assert status == 0, said
    assert found["shape"] == [2, 2, 12, 2, 3, 2] and found["wraps"] == ["Z", "B"] and found["unused_nodes"] == 144


def test_a_limit_in_time_leaves_a_map_with_its_gap(run):
    status, said, found = run("search", *SLOW, "--seconds", "0.02", "--json", "s.json")
    assert status == 0, said
    assert not found["proven"] and found["lower_bound"] <= found["busiest_interface_bytes"]
    assert found["gap"] == pytest.approx(found["busiest_interface_bytes"] / found["lower_bound"] - 1)


def test_ctrl_c_keeps_the_best_map_so_far(run, tmp_path, monkeypatch):
    search, calls = hc.mapping.search, []

    def interrupted(*words, progress, **options):
        def tick(steps, best):
            calls.append(steps)
            if len(calls) == 3:
                os.kill(os.getpid(), signal.SIGINT)
            return progress(steps, best)

        return search(*words, progress=tick, **options)

    monkeypatch.setattr(hc.mapping, "search", interrupted)
    status, said, _ = run("search", *SLOW, "--output", "out", "--no-plots")
    assert status == 130 and len(calls) < 20, said
    assert "the best map so far is in out" in said and "Traceback" not in said
    order = hc.mapping.read_rank_order(tmp_path / "out/rank-order.txt")
    assert order.map.ranks == 6 * 6 * 6 * 12


def test_predict_gives_the_weak_and_the_strong_curve(run, tmp_path):
    small = ["--shape", "4x6x18,4x6x24", "--grid", "6x12x6x4,6x16x6x4", "--per-node", "1x2x2x1"]
    status, said, weak = run("predict", *small, "--natural", "--json", "w.json", "--plot", "w.png")
    assert status == 0, said
    names = [curve["name"] for curve in weak["curves"]]
    assert names[0] == "best map, sums by hardware" and len(names) == 4
    for curve in weak["curves"]:
        assert [p["nodes"] for p in curve["points"]] == [432, 576] and curve["points"][0]["efficiency"] == 1
        for point in curve["points"]:
            parts = [v for k, v in point["seconds"].items() if k != "total"]
            assert point["seconds"]["total"] == pytest.approx(sum(parts))
    assert weak["curves"][0]["points"][0]["busiest_interface_bytes"] == 73728
    status, said, strong = run("predict", *small, "--lattice", "192x192x192x192", "--json", "t.json", "--plot", "t.svg")
    assert status == 0, said
    first, second = strong["curves"][0]["points"]
    assert first["local"] == [32, 16, 32, 48] and second["local"] == [32, 12, 32, 48]
    assert first["sites"] == second["sites"] == 192**4
    assert (tmp_path / "w.png").read_bytes()[:4] == b"\x89PNG" and "<svg" in (tmp_path / "t.svg").read_text()


def test_predict_has_the_printed_times_of_fugaku(run):
    """IPSJ 2020-HPC-177, table 5, with and without the barrier, and 0.80 ms on the whole machine: within 15 %."""
    status, said, found = run("predict", "--json", "p.json")
    assert status == 0, said
    printed = {432: (0.821, 1.111), 1152: (0.837, 1.175), 9216: (0.857, 1.298), 27648: (0.874, 1.448)}
    for curve, column in zip(found["curves"], (0, 1), strict=True):
        seconds = {point["nodes"]: point["seconds"]["total"] for point in curve["points"]}
        for nodes, times in printed.items():
            assert 1e3 * seconds[nodes] == pytest.approx(times[column], rel=0.15)
    assert 1e3 * found["curves"][0]["points"][-1]["seconds"]["total"] == pytest.approx(0.80, rel=0.15)
    assert found["curves"][0]["points"][-1]["nodes"] == 147456


def test_predict_fits_the_jitter_to_a_measured_time(run):
    small = ["--shape", "4x6x18", "--grid", "6x12x6x4", "--per-node", "1x2x2x1"]
    status, said, found = run("predict", *small, "--measured", "1.111e-3", "--json", "p.json")
    assert status == 0, said
    for curve in found["curves"]:
        assert curve["points"][0]["seconds"]["total"] == pytest.approx(1.111e-3, rel=1e-9)


def test_predict_takes_computation_from_tables(run, tmp_path):
    (tmp_path / "c.toml").write_text("[computation]\nsites = [1000, 4608]\nseconds = [1e-4, 2e-3]\n")
    case = {"local": [32, 6, 4, 6], "measured": "iteration"}
    (tmp_path / "c.json").write_text(json.dumps([{"case": case, "seconds": {"median": 2e-3}}]))
    small = ["--shape", "4x6x18", "--grid", "6x12x6x4", "--per-node", "1x2x2x1", "--local", "32x6x4x6"]
    for source in ("c.toml", "c.json", "2e-3"):
        status, said, found = run("predict", *small, "--computation", source, "--json", "p.json")
        assert status == 0, said
        assert found["curves"][0]["points"][0]["seconds"]["computation"] == pytest.approx(2e-3)


def test_predict_knows_the_step_of_light_across_a_film(run):
    words = ["--job", "multiscale", "--per-node", "4", "--group", "32", "--computation", "26.7e-3", "--json", "p.json"]
    status, said, found = run("predict", *words)
    assert status == 0, said
    points = found["points"]
    assert [p["cells"] for p in points[:3]] == [54, 72, 108] and points[5]["cells"] == 1152
    network = problem.network_named("tofu-d", [4, 6, 18])
    first = points[0]
    assert first["light"] == pytest.approx(54 * 2.5e-8)
    assert first["sum"] == pytest.approx(9 * network.reduction_latency + 2 * 24 * 54 / network.interface_bandwidth)
    assert first["total"] == pytest.approx(26.7e-3 + first["light"] + first["sum"])
    assert points[5]["share"] < 0.01 and "light + sum" in said
    for wrong, sentence in (("5", "groups must divide"), ("0", "greater than or equal to 1")):
        status, said, _ = run("predict", "--job", "multiscale", "--group", wrong, "--computation", "1e-3")
        assert status == 2 and sentence in said
    status, said, _ = run("predict", "--job", "light", "--computation", "1e-3")
    assert status == 2 and "give solver or multiscale" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", "--shape", "4x6x18"], "--grid is missing"),
        (["search", "--grid", "6x12x6x4"], "--shape is missing"),
        (["search", *MACHINE, "--grid", "6x12x6x4"], "--local is missing"),
        (["search", *WORKED, "--shape", "4x6x17"], "the nearest is 4x6x18"),
        (["search", *WORKED, "--shape", "4x6"], "tofu-d"),
        (["search", *WORKED, "--network", "tofu"], "the nearest is 'tofu-d'"),
        (["search", *WORKED, "--grid", "6x12x6x5"], "the nearest grid that fits is 6x12x6x4"),
        (["search", *WORKED, "--grid", "6x12x6xA"], "--grid 6x12x6xA"),
        (["search", *WORKED, "--per-node", "1x5x2x1"], "do not divide"),
        (["search", *WORKED, "--per-node", "1x2x2"], "--per-node 1x2x2: the grid 6x12x6x4 has 4 axes"),
        (["search", *WORKED, "--local", "31x6x4x3"], "give 32 or 30"),
        (["search", *WORKED, "--messages", "qdc"], "give qcd, wilson, tddft"),
        (["search", *WORKED, "--messages", "absent.toml"], "absent.toml: cannot be read"),
        (["search", *WORKED, "--network", "absent.toml"], "absent.toml: cannot be read"),
        (["search", *WORKED, "--count", "heaps"], "give hops or injected"),
        (["search", *WORKED, "--wrap", "Q"], "'Q'"),
        (["search", *WORKED, "--interfaces", "99"], "less than or equal to 64"),
        (["search", *WORKED, "--format", "lsf", "--output", "out"], "give one of openmpi, slurm, fujitsu, simgrid"),
        (["search", *WORKED, "--format", "slurm"], "--output"),
        (["search", *WORKED, "--hosts", "absent", "--output", "out"], "absent: cannot be read"),
        (["search", *WORKED, "--output", "/dev/null/out"], "/dev/null/out"),
        (["evaluate"], "a rank-order file or --rings"),
        (["evaluate", "absent.txt"], "absent.txt: cannot be read"),
        (["evaluate", "--rings", "A;B", *WORKED], "names 2 rings for 4 process axes"),
        (["predict", "--network", "torus-3d"], "give one grid a shape"),
        (["predict", "--lattice", "192x192x192x190"], "does not divide"),
        (["predict", "--computation", "absent.toml"], "absent.toml: cannot be read"),
        (["predict", "--messages", "wilson"], "--computation is missing"),
    ],
)
def test_wrong_words_are_refused_in_one_sentence(run, tmp_path, words, said):
    status, text, _ = run(*words)
    assert status == 2, text
    assert "Traceback" not in text
    sentences = [line for line in text.splitlines() if line.startswith("halocline: ")]
    assert len(sentences) == 1 and said in sentences[0], text
    assert not list(tmp_path.glob("*.json")) and not list(tmp_path.rglob("*partial*"))


def test_a_launchers_file_without_its_format_is_recognised(run, tmp_path):
    (tmp_path / "r").write_text("rank 0=+n0 slot=0\n")
    status, said, _ = run("evaluate", "r")
    assert status == 2 and "--format openmpi" in said
