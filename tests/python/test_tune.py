# SPDX-License-Identifier: Apache-2.0
"""The tune cache from Python and from the command line: what is in the file is shown, cleared and exported, no more."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from halocline.cli.main import main

import halocline as hc

GPU, OTHER = "NVIDIA H200, 9.0", "NVIDIA A100-SXM4-80GB, 8.0"


def entry(kernel="wilson_hop", problem="16x16x16x32, fixed16", **changed):
    """An entry as the file holds it; of this build's device code unless told otherwise."""
    return {
        "device": GPU,
        "driver": "13.0, toolkit 13.0",
        "kernel": kernel,
        "problem": problem,
        "kernel_hash": hc.gpu.kernel_hash(),
        "block": [64, 2, 1],
        "sites_per_thread": 2,
        "columns_per_thread": 1,
        "carveout": -1,
        "prefetch": 0,
        "evict_first": 0,
        "no_allocate": 0,
        "streaming_stores": 0,
        "policy": "",
        "seconds": 2e-5,
        "first_seconds": 3e-5,
        "bytes": 8e7,
        "flops": 1.6e8,
        "candidates": 12,
        "failed": 1,
        "failure": "too many threads",
        "when": "2026-01-02T03:04:05Z",
    } | changed


FIVE = {
    "hop": {},
    "bigger": {"problem": "32x32x32x64, fixed16"},
    "pack": {"kernel": "pack", "flops": 0.0},
    "other device": {"device": OTHER},
    "stale": {"kernel_hash": "0" * 16},
}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """cache(entry, ...) writes the file that the environment names; without arguments it gives the path."""
    path = tmp_path / "tune.json"
    monkeypatch.setenv("HALOCLINE_TUNE_CACHE", str(path))
    monkeypatch.setenv("HALOCLINE_TUNE_DEFAULTS", "")
    monkeypatch.delenv("HALOCLINE_TUNE", raising=False)

    def write(*entries):
        if entries:
            path.write_text(json.dumps({"format": "halocline tune cache", "version": 1, "entries": list(entries)}))
        return path

    return write


@pytest.fixture
def five(cache):
    cache(*(entry(**changed) for changed in FIVE.values()))
    return cache()


@pytest.fixture
def tune(tmp_path, monkeypatch, capfd):
    """tune("show", ...): the command in this process; its status, what it printed, its error, and its --json."""
    monkeypatch.chdir(tmp_path)

    def command(*words):
        capfd.readouterr()
        Path("out.json").unlink(missing_ok=True)
        status = main(["tune", *map(str, words), "--json", "out.json"])
        said = capfd.readouterr()
        numbers = json.loads(Path("out.json").read_text()) if Path("out.json").exists() else None
        return status, said.out, said.err, numbers

    return command


def refused(result, *words):
    status, out, err, numbers = result
    assert status == 2 and numbers is None and "Traceback" not in err
    assert err.startswith("halocline: ") and err.count("\n") == 1
    for word in words:
        assert word in err, err


def names(entries):
    """Which of FIVE these are."""
    return {
        name for e in entries for name, changed in FIVE.items()
        if all(e.as_dict()[k] == v for k, v in entry(**changed).items() if k not in ("block",))
    }  # fmt: skip


def test_entries_are_what_the_file_holds(cache):
    cache(entry())
    (found,) = hc.gpu.tune_entries()
    assert {k: v for k, v in found.as_dict().items() if k in entry()} == entry() | {"block": (64, 2, 1)}
    assert found.flops_per_second == 1.6e8 / 2e-5 and found.bytes_per_second == 8e7 / 2e-5
    assert found.gain == 3e-5 / 2e-5 and not found.stale


def test_what_was_not_measured_is_not_derived(cache):
    cache(entry(bytes=0, flops=0, first_seconds=0))
    (found,) = hc.gpu.tune_entries()
    assert (found.flops_per_second, found.bytes_per_second, found.gain) == (None, None, None)


def test_no_file_has_no_entries_and_none_is_made(cache, tune):
    status, out, _, numbers = tune("show")
    assert status == 0 and numbers["entries"] == [] and "0 entries" in out
    assert hc.gpu.tune_entries() == [] and not cache().exists()
    assert tune("clear", "--kernel", "wilson_hop")[0] == 0
    assert not cache().exists()


def test_entries_are_chosen_by_kernel_device_and_code(five):
    assert names(hc.gpu.tune_entries()) == set(FIVE)
    assert names(hc.gpu.tune_entries(kernel="pack")) == {"pack"}
    assert names(hc.gpu.tune_entries(device="a100")) == {"other device"}
    assert names(hc.gpu.tune_entries(stale=True)) == {"stale"}
    assert names(hc.gpu.tune_entries(stale=False)) == set(FIVE) - {"stale"}
    assert names(hc.gpu.tune_entries(five, kernel="wilson_hop", device="h200", stale=False)) == {"hop", "bigger"}


def test_show_prints_a_table_by_device(five, tune):
    status, out, _, numbers = tune("show")
    assert status == 0
    lines = out.splitlines()
    assert str(five) in lines[0] and "read-write" in lines[0]
    assert f"{GPU}, driver 13.0, toolkit 13.0" in lines and f"{OTHER}, driver 13.0, toolkit 13.0" in lines
    row = next(line for line in lines if "32x32x32x64" in line).split("  ")
    words = [word.strip() for word in row if word.strip()]
    problem = ["wilson_hop", "32x32x32x64, fixed16", "64x2x1", "2 sites"]
    assert words == [*problem, "20 us", "8", "4e+03", "1.5", "2026-01-02"]
    assert sum(line.lstrip().startswith("*wilson_hop") for line in lines) == 1
    assert "5 entries, 1 of them of other device code" in lines[-1]
    assert numbers["entries"] == json.loads(json.dumps([e.as_dict() for e in hc.gpu.tune_entries()]))
    assert numbers["file"] == str(five) and numbers["kernel_hash"] == hc.gpu.kernel_hash()
    assert len(tune("show", "--kernel", "pack")[3]["entries"]) == 1
    assert len(tune("show", "--device", "H200")[3]["entries"]) == 4
    assert len(tune("show", "--stale")[3]["entries"]) == 1


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["--kernel", "pack"], set(FIVE) - {"pack"}),
        (["--device", "a100"], set(FIVE) - {"other device"}),
        (["--stale"], set(FIVE) - {"stale"}),
        (["--kernel", "wilson_hop", "--device", "H200"], {"pack", "other device"}),
        (["--kernel", "unknown"], set(FIVE)),
    ],
)
def test_clear_removes_what_is_named(five, tune, words, left):
    status, out, _, numbers = tune("clear", *words)
    assert status == 0 and numbers["removed"] == len(FIVE) - len(left)
    assert names(hc.gpu.tune_entries()) == left
    assert f"{len(FIVE) - len(left)} entries removed" in out


def test_clear_all_asks_for_yes(five, tune):
    before = five.read_text()
    refused(tune("clear", "--all"), str(five), "--yes")
    assert five.read_text() == before
    assert tune("clear", "--all", "--yes")[3]["removed"] == 5
    assert not five.exists()
    assert tune("clear", "--all", "--yes")[3]["removed"] == 0


def test_clear_refuses_what_it_cannot_mean(five, tune, monkeypatch):
    refused(tune("clear"), "nothing is named")
    refused(tune("clear", "--yes"), "nothing is named")
    refused(tune("clear", "--all", "--yes", "--kernel", "pack"), "--all")
    monkeypatch.setenv("HALOCLINE_TUNE", "read-only")
    refused(tune("clear", "--kernel", "pack"), "read-only")
    refused(tune("clear", "--all", "--yes"), "read-only")
    assert len(hc.gpu.tune_entries()) == 5
    with pytest.raises(hc.InvalidArgument):
        hc.gpu.clear_tuning()
    with pytest.raises(hc.InvalidArgument):
        hc.gpu.clear_tuning(everything=True, stale=True)


def test_a_damaged_file_is_named_and_stays(five, tune):
    five.write_text(five.read_text()[:-3] + "\n")
    before = five.read_text()
    refused(tune("show"), str(five), "line ", "column ", "clear --all --yes")
    refused(tune("clear", "--kernel", "pack"), str(five))
    refused(tune("export", "defaults.json"), str(five))
    with pytest.raises(hc.FileError, match="line "):
        hc.gpu.tune_entries()
    assert five.read_text() == before
    assert tune("clear", "--all", "--yes")[3]["removed"] == 0
    assert not five.exists() and hc.gpu.tune_entries() == []


def test_a_wrong_mode_is_refused(cache, tune, monkeypatch):
    monkeypatch.setenv("HALOCLINE_TUNE", "never")
    refused(tune("show"), "HALOCLINE_TUNE", "never", "read-only")


def test_wrong_words_are_refused(tmp_path, halocline):
    for words in (("export",), ("show", "--kernle", "x"), ("forget",)):
        done = halocline("tune", *words)
        assert done.returncode == 2 and "Traceback" not in done.stderr and "halocline: " in done.stderr
    assert "tune" in halocline("--help").stdout.split()


def test_export_makes_defaults(five, tune, tmp_path, monkeypatch):
    assert tune("export", "defaults.json")[3] == {"file": "defaults.json", "written": 4}
    assert tune("export", "all.json", "--stale")[3]["written"] == 5
    assert tune("export", "one.json", "--kernel", "pack")[3]["written"] == 1
    assert names(hc.gpu.tune_entries(tmp_path / "all.json")) == set(FIVE)
    refused(tune("export", five), "the tune cache itself")
    refused(tune("export", "absent/defaults.json"), "absent/defaults.json")

    monkeypatch.setenv("HALOCLINE_TUNE_DEFAULTS", str(tmp_path / "defaults.json"))
    five.unlink()
    assert names(hc.gpu.tune_entries()) == set(FIVE) - {"stale"}  # no file, and defaults
    assert tune("clear", "--kernel", "pack")[3]["removed"] == 0  # defaults stay
    assert len(hc.gpu.tune_entries()) == 4


def test_the_package_brings_defaults_that_can_be_read():
    code = "import halocline, os; print(os.environ['HALOCLINE_TUNE_DEFAULTS'])"
    clean = {k: v for k, v in os.environ.items() if k != "HALOCLINE_TUNE_DEFAULTS"}
    done = subprocess.run([sys.executable, "-c", code], env=clean, capture_output=True, text=True, check=True)
    path = Path(done.stdout.strip())
    assert path.is_file() and path.parent.parent == Path(hc.__file__).parent
    assert isinstance(hc.gpu.tune_entries(path), list)  # damaged ones raise


def test_ranks_of_a_job_clear_once(five, halocline, tmp_path):
    done = halocline("tune", "clear", "--stale", "--json", "out.json", ranks=2)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["removed"] == 1
    assert done.stdout.count("removed") == 1


def test_devices_or_one_sentence_why_not():
    why = hc.gpu.unavailable_reason()
    assert (hc.gpu.devices() == []) == bool(why)
    assert why.count(". ") == 0
    assert hc.gpu.built() or why
    for device in hc.gpu.devices():
        assert device.name in str(device) and device.memory > 0 and device.multiprocessors > 0


def test_halo_policies_say_why_not():
    policies = hc.gpu.halo_policies()
    assert policies["staged"] == ""
    assert {"copy-engine", "remote-write", "nvshmem"} <= set(policies)


def test_doctor_tells_of_gpus(cache, monkeypatch):
    from halocline.cli.doctor import gpu_halos, graphics

    problems = []
    found = graphics(problems)
    assert problems == [] and found["back end"] in ("in this build", "not in this build")
    assert found["usable"] == (f"no: {hc.gpu.unavailable_reason()}" if hc.gpu.unavailable_reason() else "yes")
    assert str(cache()) in found["tune cache"] and "0 entries" in found["tune cache"]
    assert sum(key.startswith("cuda:") for key in found) == len(hc.gpu.devices())
    assert gpu_halos()["staged"] == "available"
    card = hc.gpu.GPU(0, GPU, "GPU-0", "9.0", 132, 2**37, 2**26, "13.0", "13.0")
    with monkeypatch.context() as machine:
        machine.setattr(hc.gpu, "devices", lambda: [card])
        machine.setattr(hc._halocline.gpu, "remarks", lambda number: [("it is busy", True), ("it is small", False)])
        found = graphics(problems)
    assert found["1. note on cuda:0"] == "it is busy" and found["2. note on cuda:0"] == "it is small"
    assert problems == ["cuda:0: it is busy"]
    with monkeypatch.context() as machine:
        machine.setattr(hc.gpu, "devices", lambda: [card])
        machine.setattr(hc._halocline.gpu, "remarks", lambda number: [])
        machine.setattr(hc._halocline.gpu, "binding", lambda address: ("PCI 0, NUMA node 1", "it is far"))
        found = graphics(problems)
    assert found["cuda:0 is at"] == "PCI 0, NUMA node 1" and found["1. note on cuda:0"] == "it is far"
    assert hc._halocline.gpu.binding("0000:ff:1f.0", str(cache().parent)) == ("PCI 0000:ff:1f.0", "")
    problems.clear()
    cache().write_text("{")
    assert "line 1" in graphics(problems)["tune cache"] and len(problems) == 1
