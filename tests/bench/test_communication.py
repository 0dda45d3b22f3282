# SPDX-License-Identifier: Apache-2.0
"""The communication benchmarks: what they report, what they refuse, and that every field they move is right."""

import json

import pytest
from halocline.bench import plots, published, table

from halocline import Error, InvalidArgument, bench

pytestmark = pytest.mark.alone

SHORT = {"seconds": 0.01, "block_seconds": 0.0001}
REGIONS = ("packing", "posting", "interior", "waiting", "boundary", "send_completion")
ALONE = [("self", 1), ("self", 2)]


def check_times(result):
    s = result["seconds"]
    assert 0 < s["min"] <= s["median"] <= s["max"] and s["runs"] >= 1


@pytest.mark.parametrize("inflation", [1, 7])
@pytest.mark.parametrize("touched", [True, False])
def test_a_sweep_is_right_and_its_regions_are_told(inflation, touched):
    results = bench.jacobi2d((12, 10), inflation=inflation, touched=touched, carriers=ALONE, **SHORT)
    assert [(r["case"]["transport"], r["case"]["buffers"]) for r in results] == ALONE
    for result in results:
        check_times(result)
        case, found = result["case"], result["result"]
        assert case["grid"] == [1, 1] and case["inflation"] == inflation and case["touched"] == touched
        assert case["message_bytes"] == [8 * 10 * inflation, 8 * 12 * inflation]
        assert result["flops"] == 5 * 120 and result["bytes"] == 3 * 8 * 120
        assert all(found[region] > 0 for region in REGIONS)
        assert found["overlap"] == found["interior"]
        assert found["non_overlap"] == pytest.approx(found["posting"] + found["waiting"])
        assert 0 <= found["error"] < 1e-13


def test_transports_that_cannot_serve_are_skipped_with_the_reason():
    results = bench.jacobi2d((4, 4), carriers=[("simulated", 2), ("mpi", 2), ("self", 2)], **SHORT)
    assert ["skipped" in r for r in results] == [True, True, False]
    assert "simulation" in results[0]["skipped"] and "one buffer" in results[1]["skipped"]
    assert set(results[0]) == {"bench", "case", "skipped"}
    assert len(table.rows(results)[1]) == 1
    assert table.skipped(results)[0] == f"skipped: simulated, 2 buffers: {results[0]['skipped']}"


def test_without_names_every_transport_is_tried():
    results = bench.halo_face(64, "both-ways", **SHORT)
    tried = [(r["case"]["transport"], r["case"]["buffers"]) for r in results]
    assert tried == bench.carriers()
    assert {"mpi", "self", "shared_memory", "simulated"} <= {name for name, _ in tried}


def test_one_process_exchanges_with_itself():
    for result in bench.halo_face(4096, "both-ways", ALONE, **SHORT):
        check_times(result)
        assert result["bytes"] == 2 * 4096
        assert result["result"]["copy"] > 0 and result["result"]["floor"] is None


@pytest.mark.parametrize(
    ("local", "sizes"),
    [((32, 6, 4, 3), [3456, 9216, 13824, 18432]), ((32, 6, 8, 12), [27648, 73728, 55296, 36864])],
)
def test_the_operator_has_the_message_sizes_of_its_lattice(local, sizes):
    (result,) = bench.halo_operator(local, carriers=[("self", 2)], **SHORT)
    check_times(result)
    assert result["case"]["face_bytes"] == sizes
    assert result["bytes"] == 10 * (sizes[0] + 2 * sum(sizes[1:]))
    assert result["result"]["exchange"] == pytest.approx(result["seconds"]["median"] / 10)
    for axis, face in enumerate("xyzt"):
        (alone,) = bench.halo_operator(local, face, carriers=[("self", 2)], **SHORT)
        assert alone["case"]["face_bytes"] == [size if mu == axis else 0 for mu, size in enumerate(sizes)]
        assert alone["bytes"] == 10 * sizes[axis] * (1 if face == "x" else 2)


@pytest.mark.parametrize("posting_by_all", [False, True])
def test_threads_share_the_faces_of_the_operator(posting_by_all):
    for result in bench.halo_operator((4, 4, 4, 4), "all", 2, posting_by_all, ALONE, **SHORT):
        check_times(result)
        assert result["case"]["posting"] == ("all threads" if posting_by_all else "first thread")
        assert result["regions"]["packing"]["threads"] == 2
        assert result["regions"]["posting"]["threads"] == (2 if posting_by_all else 1)


@pytest.mark.parametrize(
    ("function", "words", "said"),
    [
        (bench.jacobi2d, {"local": (1, 60)}, "1x60"),
        (bench.jacobi2d, {"inflation": 0}, "0 times"),
        (bench.jacobi2d, {"inflation": 1 << 20}, "buffers of one exchange"),
        (bench.jacobi2d, {"mass_squared": 0.0}, "squared mass"),
        (bench.jacobi2d, {"grid": (2, 1)}, "2"),
        (bench.jacobi2d, {"grid": (1,)}, "1 axes"),
        (bench.jacobi2d, {"carriers": [("self", 3)]}, "3 buffers"),
        (bench.jacobi2d, {"carriers": [("pigeon", 2)]}, "pigeon"),
        (bench.halo_face, {}, "nobody to answer"),
        (bench.halo_face, {"traffic": "sideways"}, "sideways"),
        (bench.halo_face, {"bytes": 12, "traffic": "both-ways"}, "12 bytes"),
        (bench.halo_operator, {"local": (3, 4, 4, 4)}, "3x4x4x4"),
        (bench.halo_operator, {"face": "w"}, '"w"'),
        (bench.halo_operator, {"threads": 0}, "0 threads"),
    ],
)
def test_impossible_cases_are_refused(function, words, said):
    with pytest.raises(InvalidArgument, match=said):
        function(**(words | SHORT))


def test_stress_is_silent_about_what_is_right():
    told = []
    result = bench.halo_stress("self", 2, 12000, seed=5, longest=300, progress=lambda done, words: told.append(done))
    assert told == [5000, 10000, 12000]
    found = result["result"]
    assert found["exchanges"] == 12000 and found["wrong"] == 0
    assert found["messages"] > 12000 and found["bytes"] > found["messages"] and found["reductions"] > 200


def test_stress_of_simulated_ranks_finds_every_byte_right():
    for buffers in (1, 2):
        found = bench.halo_stress("simulated", buffers, 50_000, seed=buffers, longest=200)["result"]
        assert found["exchanges"] == 50_000 and found["messages"] > 100_000


def test_stress_follows_from_the_seed():
    counts = [bench.halo_stress("simulated", 2, 2000, seed=s, longest=100)["result"] for s in (7, 7, 8)]
    assert counts[0] == counts[1] != counts[2]


def test_stress_finds_a_damaged_byte_and_says_where():
    said = []
    for _ in range(2):
        with pytest.raises(Error, match=r"rank \d+.*step \d+") as caught:
            bench.halo_stress("simulated", 2, 20_000, seed=3, longest=200, damage=1e-3)
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"transport": "pigeon"}, "pigeon"),
        ({"transport": "self", "buffers": 3}, "3 buffers"),
        ({"transport": "self", "exchanges": 0}, "0 exchanges"),
        ({"transport": "self", "damage": 0.1}, "only the simulated"),
        ({"transport": "simulated", "ranks": 1}, "1 simulated"),
    ],
)
def test_impossible_stress_is_refused(words, said):
    with pytest.raises(InvalidArgument, match=said):
        bench.halo_stress(**words)


def test_sums_are_exact_beside_whatever_they_are_compared_with():
    result = bench.allreduce(5, "messages", **SHORT)
    check_times(result)
    found = result["result"]
    assert found["exact"] and 0 < found["min"] <= found["average"] <= found["max"]


def test_sums_of_floats_and_of_nothing_stand_beside_the_printed_table():
    for elements, bytes in ((0, 0), (3, 12), (32, 128)):
        result = bench.allreduce(elements, "shared_memory", "float", barrier=True, **SHORT)
        assert result["result"]["bytes"] == bytes and result["result"]["exact"]
        assert result["result"]["fugaku_barrier"] == pytest.approx(1e-6 * published.TABLE_6[bytes][2])
        assert result["case"]["precision"] == "float" and result["case"]["barrier"]
    assert bench.allreduce(5, "shared_memory", **SHORT)["result"]["fugaku_software"] is None
    for words, said in (
        ({"elements": 33}, "33 elements"),
        ({"method": "fast"}, "mpi-split"),
        ({"precision": "half"}, "half"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            bench.allreduce(**words, **SHORT)


@pytest.mark.parametrize(
    "measure",
    [
        lambda: bench.allreduce(3, "messages", **SHORT),
        lambda: bench.halo_operator((4, 4, 4, 4), carriers=[("self", 2)], **SHORT)[0],
        lambda: bench.halo_face(64, "both-ways", [("self", 2)], **SHORT)[0],
    ],
    ids=["allreduce", "halo operator", "halo face"],
)
def test_ceilings_that_were_not_measured_are_null(measure):
    result = measure()
    assert result["ceiling"] == {
        "fma_gflops": None,
        "stream_gbytes_per_s": None,
        "read_gbytes_per_s": None,
        "cache_line_ns": None,
        "working_set": {"bytes": 0, "stream_gbytes_per_s": None, "read_gbytes_per_s": None},
    }
    assert all(result[name] is None for name in result if name.startswith("fraction_of_"))
    assert table.ceiling_text(result) == ""


def test_two_processes_are_measured_over_every_transport_that_serves_them(bench_command, tmp_path):
    words = ["--seconds", "0.02", "--json", "j.json", "--plot", "j.png", "--markdown"]
    done = bench_command("jacobi2d", "--local", "12x8", "--grid", 2, 1, "--inflation", "1,3", *words)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "j.json").read_text())
    by_name = {}
    for r in results:
        by_name.setdefault(r["case"]["transport"], []).append(r)
    for name in ("mpi", "mpi_persistent", "shared_memory"):
        assert any("skipped" not in r for r in by_name[name]), by_name[name]
    for r in table.measured(results):
        assert r["case"]["grid"] == [2, 1] and r["result"]["error"] < 1e-13
    assert all("one process" in r["skipped"] for r in by_name["self"])
    assert done.stdout.count("| local |") == 1  # one rank speaks
    assert "skipped: self, 1 buffer:" in done.stdout
    assert (tmp_path / "j.png").read_bytes().startswith(b"\x89PNG")


def test_a_face_between_two_processes_has_a_floor(bench_command, tmp_path):
    words = ["--seconds", "0.02", "--transport", "mpi,shared_memory", "--json", "h.json", "--plot", "h.svg"]
    done = bench_command("halo", "--bytes", "64,512", *words)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "h.json").read_text())
    assert {(r["case"]["traffic"], r["case"]["bytes"]) for r in results} == {
        (t, n) for t in ("ping-pong", "both-ways") for n in (64, 512)
    }
    for r in table.measured(results):
        found = r["result"]
        assert found["over_floor"] == pytest.approx(r["seconds"]["median"] / found["floor"])
        parts = found["copy"] + found["cache_line"]
        assert found["over_parts"] == pytest.approx(r["seconds"]["median"] / parts)
    assert (tmp_path / "h.svg").read_text().startswith("<?xml")


def test_the_exchanges_of_an_operator_run_on_three_processes(bench_command, tmp_path):
    words = ["--seconds", "0.02", "--local", "4x4x4x4", "--face", "x,all", "--json", "o.json"]
    done = bench_command("halo", "--operator", "--transport", "mpi,mpi_persistent,shared_memory", *words, ranks=3)
    assert done.returncode == 0, done.stderr
    results = table.measured(json.loads((tmp_path / "o.json").read_text()))
    grids = {r["case"]["face"]: r["case"]["grid"] for r in results}
    assert grids == {"x": [3, 1, 1, 1], "all": [1, 1, 1, 3]}
    assert len(results) == 2 * 5


def test_sums_of_two_processes_are_compared_with_mpi(bench_command, tmp_path):
    done = bench_command("allreduce", "--elements", "1,16", "--seconds", "0.02", "--json", "a.json", "--plot", "a.png")
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "a.json").read_text())
    assert [(r["case"]["elements"], r["case"]["method"]) for r in results] == [
        (n, m) for n in (1, 16) for m in bench.REDUCTIONS
    ]
    assert all(r["result"]["speedup"] > 0 for r in results)
    assert all(r["result"]["exact"] for r in results if r["case"]["method"] != "mpi")


def test_every_usable_transport_survives_a_short_stress(bench_command, tmp_path):
    done = bench_command("halo", "--stress", 3000, "--longest", 1000, "--seed", 11, "--json", "s.json")
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "s.json").read_text())
    survived = {(r["case"]["transport"], r["case"]["buffers"]) for r in table.measured(results)}
    assert {(name, n) for name in ("mpi_persistent", "shared_memory", "hybrid") for n in (1, 2)} <= survived
    assert all(r["result"]["wrong"] == 0 for r in table.measured(results))
    assert all(r["skipped"] for r in results if (r["case"]["transport"], r["case"]["buffers"]) not in survived)


def test_the_stress_command_ends_with_an_error_at_a_wrong_byte(bench_command):
    words = ["--transport", "simulated", "--buffers", 2, "--longest", 100, "--damage", 0.001]
    done = bench_command("halo", "--stress", 5000, *words, ranks=0)
    assert done.returncode == 1
    assert "rank" in done.stderr and "step" in done.stderr


def test_a_picture_of_what_has_none_is_refused(tmp_path):
    results = bench.halo_operator((4, 4, 4, 4), carriers=[("self", 2)], **SHORT)
    with pytest.raises(InvalidArgument, match="no picture"):
        plots.draw(tmp_path / "o.png", results)
    assert list(tmp_path.iterdir()) == []
