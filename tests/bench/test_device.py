# SPDX-License-Identifier: Apache-2.0
"""The benchmarks on a device, run on the host executor: keys, operations and bytes counted right, stages, skips.

Nothing is said of times but that they are positive and that rates follow from them.
"""

import json
import re
import shlex
from pathlib import Path

import pytest
from halocline.bench import device
from halocline.cli.main import main

from halocline import InvalidArgument, _halocline, gpu, qcd

LOCAL = [4, 4, 2, 4]
SITES = 4 * 4 * 2 * 4 // 2
SHORT = {"device": "host-executor", "seconds": 0.01, "block_seconds": 0.0002}
KEYS = {
    "bench", "case", "host_executor", "seconds", "flops", "bytes", "bytes_with_reuse", "gflops", "gbytes_per_s",
    "gbytes_per_s_with_reuse", "ceiling", "fraction_of_copy", "fraction_of_copy_with_reuse", "energy", "memory_bytes",
    "result",
}  # fmt: skip
NUMBER = {"double": 8, "float": 4, "fixed16": 2, "fixed8": 1}
SCALE = {"double": 0, "float": 0, "fixed16": 4, "fixed8": 4}


def check(result: dict, name: str) -> None:
    assert set(result) == KEYS
    assert result["bench"] == name and result["case"]["measured"] == "device"
    assert result["host_executor"] is True and result["case"]["device_name"] == "host executor"
    s, c = result["seconds"], result["ceiling"]
    assert 0 < s["min"] <= s["median"] <= s["max"] and s["runs"] >= 1
    assert result["gflops"] == pytest.approx(1e-9 * result["flops"] / s["median"])
    assert result["gbytes_per_s"] == pytest.approx(1e-9 * result["bytes"] / s["median"])
    assert c["copy_gbytes_per_s"] > 0 and c["copy_bytes"] == 2**20
    assert result["fraction_of_copy"] == pytest.approx(result["gbytes_per_s"] / c["copy_gbytes_per_s"])
    with_reuse = result["gbytes_per_s_with_reuse"]
    assert with_reuse == pytest.approx(1e-9 * result["bytes_with_reuse"] / s["median"])
    assert result["fraction_of_copy_with_reuse"] == pytest.approx(with_reuse / c["copy_gbytes_per_s"])
    assert result["memory_bytes"] > 0


@pytest.mark.parametrize("precision", device.PRECISIONS)
@pytest.mark.parametrize(("link_reals", "columns"), [(18, 1), (12, 4), (8, 1)])
def test_the_hop_counts_operations_and_bytes(precision, link_reals, columns):
    result = device.dslash(LOCAL, precision=precision, link_reals=link_reals, columns=columns, **SHORT)
    check(result, "dslash")
    spinor = 24 * NUMBER[precision] + SCALE[precision]
    links = 8 * link_reals * NUMBER[precision]
    assert result["flops"] == 1320 * columns * SITES
    assert result["bytes"] == (links + columns * 9 * spinor) * SITES
    assert result["bytes_with_reuse"] == (links + columns * 2 * spinor) * SITES
    assert result["result"] == {"policy": "none", "message_bytes": 0}


@pytest.mark.parametrize(("form", "flops", "spinors"), [("hopping-clover", 1824, 0), ("fused", 2016, 1)])
def test_forms_add_what_they_fuse(form, flops, spinors):
    plain = device.dslash(LOCAL, precision="fixed16", **SHORT)
    for stage in ("whole", "separate"):
        result = device.dslash(LOCAL, precision="fixed16", form=form, stage=stage, **SHORT)
        check(result, "dslash")
        assert result["flops"] == flops * SITES
        assert result["bytes"] - plain["bytes"] == (72 * 2 + 4 + spinors * 52) * SITES


@pytest.mark.parametrize("precision", ["float", "fixed16"])
def test_a_hop_of_walls_has_a_column_for_each_point(precision):
    walls = device.dslash(LOCAL, precision=precision, action="domain-wall", ls=6, columns=2, **SHORT)
    columns = device.dslash(LOCAL, precision=precision, columns=12, **SHORT)
    check(walls, "dslash")
    for key in ("flops", "bytes", "bytes_with_reuse"):
        assert walls[key] == pytest.approx(columns[key])


@pytest.mark.parametrize(
    ("action", "flops", "least", "shared"),
    [
        ("wilson", 2 * (1320 + 504) + 48, 5 * 24, 2 * 96 + 2 * 72),
        ("twisted", 2 * (1320 + 2 * 504 + 48) + 48, 5 * 24, 2 * 96 + 2 * (72 + 72)),
        ("one-link", 2 * (8 * 72 - 6) + 12, 5 * 6, 2 * 8 * 18),
        ("hisq", 2 * (16 * 72 - 6) + 12, 5 * 6, 2 * 16 * 18),
    ],
)
def test_schur_complements_count_two_hops_and_their_blocks(action, flops, least, shared):
    result = device.dslash([4, 4, 4, 4], precision="float", action=action, form="schur", columns=3, **SHORT)
    check(result, "dslash")
    assert result["case"]["action"] == action
    assert result["flops"] == 3 * flops * 128
    assert result["bytes_with_reuse"] == 4 * (shared + 3 * least) * 128


def test_operators_refuse_what_they_lack():
    for wrong, said in [
        ({"action": "doublet"}, "measure it on the CPU"),
        ({"action": "hisq", "precision": "fixed16"}, "give double or float"),
        ({"action": "mobius", "form": "fused"}, "give hopping, schur or schur-asymmetric"),
        ({"action": "mobius", "ls": 3}, "give 4 to 64"),
        ({"form": "schur", "stage": "halo"}, "stages and emulated axes"),
    ]:
        with pytest.raises(InvalidArgument, match=said):
            device.dslash(LOCAL, **wrong, **SHORT)


def test_stages_are_those_of_the_library():
    assert list(device.STAGES) == _halocline.bench.device_stages()


@pytest.mark.parametrize("stage", device.STAGES)
@pytest.mark.parametrize("policy", ["staged", "remote-write"])
def test_stages_are_switched_off_one_by_one(stage, policy):
    result = device.dslash([4, 4, 4, 4], emulate=[1, 2, 2, 2], policy=policy, stage=stage, **SHORT)
    if stage == "messages" and policy == "remote-write":
        assert "packing kernel" in result["skipped"]
        return
    assert "skipped" not in result
    assert result["seconds"]["median"] > 0
    assert result["result"]["policy"] == ("none" if stage == "no-halo" else policy)
    counts = stage not in ("halo", "messages")
    assert (result["flops"] > 0) == (result["gflops"] is not None) == (result["fraction_of_copy"] is not None) == counts
    # Six faces of 32 slots: 12 numbers of two bytes and a scale, padded to whole chunks.
    sent = result["result"]["message_bytes"]
    assert sent == 0 if stage == "no-halo" else sent >= 6 * 32 * (12 * 2 + 4)


def test_a_policy_that_is_not_to_be_had_is_skipped_with_the_reason():
    for policy in device.POLICIES[:-1]:
        result = device.dslash(LOCAL, emulate=[1, 1, 1, 2], policy=policy, **SHORT)
        assert ("skipped" in result) != ("seconds" in result), policy
        assert len(result.get("skipped", "because of")) > 8


def test_a_hop_in_a_graph_is_the_same_work():
    result = device.dslash(LOCAL, graph=True, **SHORT)
    check(result, "dslash")
    assert result["case"]["graph"] is True and result["flops"] == 1320 * SITES


@pytest.mark.parametrize("policy", ["remote-write", "merged-pack", "one-kernel"])
def test_a_hop_in_a_graph_takes_its_halo_along(policy):
    result = device.dslash(LOCAL, emulate=[1, 1, 1, 2], policy=policy, graph=True, **SHORT)
    check(result, "dslash")
    assert result["case"]["graph"] is True and result["result"]["policy"] == policy


@pytest.mark.parametrize(
    "words", [{"emulate": [1, 1, 1, 2], "policy": "staged"}, {"form": "fused", "stage": "separate"}]
)
def test_work_that_waits_for_the_host_cannot_be_in_a_graph(words):
    assert "graph" in device.dslash(LOCAL, graph=True, **words, **SHORT)["skipped"]


def test_halos_need_an_axis_that_is_split():
    assert "split" in device.dslash(LOCAL, stage="halo", **SHORT)["skipped"]


@pytest.mark.parametrize(("kind", "inner", "applied"), [("bicgstab", "fixed16", 2), ("cg", "float", 2)])
def test_the_solver_counts_the_operator_and_tells_the_residual(kind, inner, applied):
    u = qcd.weak_links([4, 4, 4, 4], 0.2, seed=5)
    result = device.solver(u, "weak", mass=0.2, csw=1.0, kind=kind, inner=inner, tolerance=1e-8, runs=1, **SHORT)
    check(result, "solver")
    found = result["result"]
    assert found["converged"] and 0 < found["residual"] <= 1e-8
    assert result["flops"] == applied * found["iterations"] * (2 * 1320 + 2 * 504 + 48) * 128
    assert found["hop_gflops"] > 0 and found["predicted_bytes"] > 0
    assert found["fraction_of_hop"] == pytest.approx(result["gflops"] / found["hop_gflops"])
    assert found["seconds_around"] > 0


@pytest.mark.parametrize(
    ("action", "inner", "applied", "flops"),
    [("twisted", "fixed16", 2, 2 * (1320 + 2 * 504 + 48) + 48), ("hisq", "float", 1, 2 * (16 * 72 - 6) + 12)],
)
def test_solves_of_other_actions_count_their_operators(action, inner, applied, flops):
    u = qcd.weak_links([4, 4, 4, 4], 0.2, seed=5)
    result = device.solver(
        u, "weak", action=action, mass=0.3, csw=1.0, kind="cg", inner=inner, tolerance=1e-8, runs=1, **SHORT
    )
    check(result, "solver")
    found = result["result"]
    assert result["case"]["action"] == action and found["converged"]
    assert result["flops"] == applied * found["iterations"] * flops * 128


def test_a_solve_of_walls_counts_every_point():
    u = qcd.weak_links([4, 4, 4, 4], 0.2, seed=5)
    result = device.solver(u, "weak", action="domain-wall", mass=0.3, ls=4, kind="cg", tolerance=1e-8, runs=1, **SHORT)
    check(result, "solver")
    assert result["case"]["ls"] == 4 and result["result"]["converged"]
    hops = 2 * result["result"]["iterations"] * 2 * 1320 * 4 * 128
    assert hops < result["flops"] < 1.6 * hops
    with pytest.raises(InvalidArgument, match="that is for wilson"):
        device.solver(u, action="domain-wall", mass=0.3, ls=4, kind="cg", even_odd=False, runs=1, **SHORT)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"precision": "eighth"}, "double, float, fixed16 or fixed8"),
        ({"form": "wilson"}, "hopping, hopping-clover or fused"),
        ({"link_reals": 10}, "18, 12 or 8"),
        ({"columns": 33}, "1 to 32"),
        ({"emulate": [1, 1, 1, 0]}, "1x1x1x0"),
        ({"stage": "half"}, "no-halo"),
        ({"emulate": [1, 1, 1, 2], "policy": "pigeon"}, "remote-write"),
        ({"local": [3, 4, 4, 4]}, "3"),
        ({"device": "cpu"}, "cpu"),
    ],
)
def test_wrong_words_are_refused(words, said):
    with pytest.raises(InvalidArgument, match=said):
        device.dslash(**({"local": LOCAL} | SHORT | words))


def test_the_command_writes_tables_and_json(bench_command, tmp_path):
    done = bench_command(
        "dslash", "--device", "host-executor", "--local", "4x4x4x4", "--precision", "fixed16", "--link-reals", "12,8",
        "--emulate", "1x1x1x2", "--policy", "staged,nvshmem", "--seconds", "0.01", "--json", "d.json", ranks=0,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "d.json").read_text())
    assert [r["case"]["link_reals"] for r in results] == [12, 12, 8, 8]
    assert {r["case"]["policy"] for r in results} == {"staged", "nvshmem"}
    assert "Tflop/s" in done.stdout and "of copy" in done.stdout
    assert "skipped: dslash, 4x4x4x4, fixed16, hopping, nvshmem" in done.stdout
    assert "say nothing about a GPU" in done.stdout + done.stderr


def test_of_several_stages_forms_and_storages_an_operator_takes_its_own(bench_command, tmp_path):
    def cases(*words):
        done = bench_command(
            "dslash", "--device", "host-executor", "--local", "4x4x4x4", "--seconds", "0.001", "--json", "d.json",
            *words, ranks=0,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return [r["case"] for r in json.loads((tmp_path / "d.json").read_text())]

    found = cases("--precision", "fixed16", "--form", "all", "--stage", "whole,separate")
    stages = {(c["form"], c["stage"]) for c in found}
    assert ("schur", "whole") in stages and ("schur", "separate") not in stages and ("fused", "separate") in stages
    found = cases("--precision", "fixed16", "--form", "all", "--emulate", "1x1x1x2", "--policy", "staged")
    assert {c["form"] for c in found} == {"hopping", "hopping-clover", "fused"}
    found = cases("--action", "hisq,wilson", "--form", "schur", "--precision", "float,fixed16", "--link-reals", "18,12")
    assert [(c["action"], c["precision"], c["link_reals"]) for c in found] == [
        ("hisq", "float", 18), ("wilson", "float", 18), ("wilson", "float", 12), ("wilson", "fixed16", 18),
        ("wilson", "fixed16", 12),
    ]  # fmt: skip


@pytest.mark.skipif(not gpu.unavailable_reason(), reason="there is a GPU here, and they would run for an hour")
def test_the_commands_of_the_documentation_exist(capsys):
    """Each comes as far as the GPU, which is not there: an unknown option would be refused before."""
    page = (Path(__file__).resolve().parents[2] / "docs/benchmarks/gpu.md").read_text(encoding="utf-8")
    text = re.search(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1].replace("\\\n", " ")
    commands = [line for line in text.splitlines() if " --device cuda" in line]
    assert len(commands) >= 6
    for command in commands:
        words = shlex.split(command.partition("halocline ")[2])
        assert main(words) == 2, command
        assert gpu.unavailable_reason().rstrip(".") in capsys.readouterr().err, command
