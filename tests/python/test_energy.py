# SPDX-License-Identifier: Apache-2.0
"""Energy counters on files and libraries made for the test: sums, wraps, what is absent; benchmarks with one."""

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from halocline.energy import Absent, Counters, Cray, Meter, Nvml, PowerApi, Rapl, constants, gpu_of, quantity, sources

from halocline.comm import self_alone

NOWHERE = {"cray": Path("/nowhere"), "nvml": "libnone.so", "pwr": (("libnone.so",), ())}


def powercap(root, packages=2):
    """Packages with memory and cores, and the zones that are parts or doubles of these."""
    for p in range(packages):
        zones = {f"intel-rapl:{p}": f"package-{p}", f"intel-rapl:{p}:0": "core", f"intel-rapl:{p}:1": "dram"}
        for zone, name in zones.items():
            (root / zone).mkdir(parents=True)
            (root / zone / "name").write_text(name + "\n")
            (root / zone / "max_energy_range_uj").write_text("1000000\n")
            (root / zone / "energy_uj").write_text("0\n")
    for zone, name in (("intel-rapl:9", "psys"), ("intel-rapl-mmio:0", "package-0")):
        (root / zone).mkdir()
        (root / zone / "name").write_text(name + "\n")
        (root / zone / "energy_uj").write_text("777\n")
    return root


def put(root, zone, microjoules):
    (root / zone / "energy_uj").write_text(f"{microjoules}\n")


def test_rapl_adds_packages_and_their_memory_and_nothing_twice(tmp_path):
    root = powercap(tmp_path)
    counters = Counters(powercap=root, **NOWHERE)
    assert sorted(Rapl(root).zones) == ["package 0", "package 0 memory", "package 1", "package 1 memory"]
    assert counters.joules() == 0.0 and counters.names == "RAPL" and counters.wrap
    for zone, value in (("intel-rapl:0", 300000), ("intel-rapl:0:0", 250000), ("intel-rapl:1:1", 40000)):
        put(root, zone, value)
    assert counters.joules() == pytest.approx(0.34)


def test_a_counter_that_wraps_goes_on(tmp_path):
    root = powercap(tmp_path, packages=1)
    put(root, "intel-rapl:0", 900000)
    counters = Counters(powercap=root, **NOWHERE)
    put(root, "intel-rapl:0", 100000)  # the range is a joule
    assert counters.joules() == pytest.approx(0.2)
    put(root, "intel-rapl:0", 150000)
    assert counters.joules() == pytest.approx(0.25)


def test_a_counter_that_falls_without_a_known_range_counts_nothing(tmp_path):
    root = powercap(tmp_path, packages=1)
    (root / "intel-rapl:0" / "max_energy_range_uj").unlink()
    put(root, "intel-rapl:0", 900000)
    counters = Counters(powercap=root, **NOWHERE)
    put(root, "intel-rapl:0", 950000)
    assert counters.joules() == pytest.approx(0.05) and counters.wrap
    put(root, "intel-rapl:0", 100000)
    assert counters.joules() is None
    assert counters.reason == "RAPL: the counter of package 0 fell from 0.95 to 0.1 J, and nothing tells its range"


def test_a_counter_that_may_not_be_read_says_so(tmp_path, monkeypatch):
    root = powercap(tmp_path)
    read = Path.read_text

    def denied(path, *rest, **more):
        if path.name == "energy_uj":
            raise PermissionError
        return read(path, *rest, **more)

    monkeypatch.setattr(Path, "read_text", denied)
    counters = Counters(powercap=root, **NOWHERE)
    assert counters.joules() is None and "may be read by root alone" in counters.reason
    assert "Cray: there is no /nowhere" in counters.reason


def test_a_counter_of_the_whole_node_comes_first(tmp_path):
    cray = tmp_path / "cray"
    cray.mkdir()
    (cray / "energy").write_text("5000 J 1700000000 us\n")
    (cray / "freshness").write_text("17\n")
    counters = Counters(powercap=powercap(tmp_path / "powercap"), **(NOWHERE | {"cray": cray}))
    put(tmp_path / "powercap", "intel-rapl:0", 300000)
    (cray / "energy").write_text("5250 J 1700000100 us\n")
    assert counters.joules() == 250.0 and counters.names == "Cray" and not counters.wrap
    assert Cray(cray).read() == {"node": 5250.0}


def test_work_on_gpus_needs_their_counter(tmp_path):
    counters = Counters(powercap=powercap(tmp_path), devices=True, **NOWHERE)
    assert counters.joules() is None and "NVML: there is no libnone.so" in counters.reason


def compiled(folder, name, text):
    if (compiler := shutil.which("cc") or shutil.which("gcc")) is None:
        pytest.skip("no C compiler")
    (folder / f"{name}.c").write_text(text)
    library = folder / f"{name}.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / f"{name}.c"], check=True)
    return str(library)


FAKE_NVML = """
static unsigned long long calls;
int nvmlInit_v2(void) { return STATUS; }
int nvmlDeviceGetCount_v2(unsigned* n) { *n = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** d) { *d = (void*)(unsigned long)(i + 1); return 0; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** d) {
  *d = (void*)(unsigned long)(uuid[4] - '0');
  return uuid[4] < '1' || uuid[4] > '2' ? 6 : 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* d, unsigned long long* mj) {
  *mj = 1000 * (unsigned long)d + ++calls;
  return 0;
}
"""


def test_gpus_are_added_in_millijoules(tmp_path):
    counters = Nvml(compiled(tmp_path, "nvml", FAKE_NVML.replace("STATUS", "0")))
    assert counters.read() == {"GPU 0": pytest.approx(1.003), "GPU 1": pytest.approx(2.004)}
    with pytest.raises(Absent, match="nvmlInit_v2 fails: the driver is not loaded"):
        Nvml(compiled(tmp_path, "broken", FAKE_NVML.replace("STATUS", "9")))


def test_a_process_counts_the_gpu_that_it_works_on(tmp_path):
    library = compiled(tmp_path, "nvml", FAKE_NVML.replace("STATUS", "0"))
    node = Counters(powercap=powercap(tmp_path / "node", packages=1), **NOWHERE)
    meter = Meter(self_alone(), "cuda:1", node, gpus=["GPU-1", "GPU-2"], nvml=library)
    put(tmp_path / "node", "intel-rapl:0", 500000)
    used = meter.close()  # the library counts a millijoule a call: one since the start
    assert used.joules == pytest.approx(0.501) and used.sources == "RAPL and NVML"
    meter = Meter(self_alone(), "cuda", node, gpus=["GPU-9"], nvml=library)
    assert meter.close().reason == "NVML: nvmlDeviceGetHandleByUUID fails: not found"
    seen = [["u", "v", "w"], ["u"], []]
    assert [gpu_of("cuda", 4, uuids) for uuids in seen] == ["v", "u", ""] and gpu_of("cuda:2", 0, seen[0]) == "w"


HEADER = """
/* of the test: PWR_ATTR_ENERGY = 99 */
typedef enum { PWR_ROLE_APP = 3, PWR_ROLE_MC, PWR_ROLE_INVALID = -1 } PWR_Role;
typedef enum {
  PWR_ATTR_POWER, // double
  PWR_ATTR_ENERGY = 12, PWR_ATTR_TEMP,
  PWR_ATTR_MEASURED_ENERGY
} PWR_AttrName;
#define PWR_RET_SUCCESS 0
#define PWR_CNTXT_FX1000 (1000)
"""
FAKE_PWR = """
static double joules = 40;
static int node;
int PWR_CntxtInit(int kind, int role, const char* name, void** c) {
  *c = &node; return kind == 1000 && role == 3 ? 0 : -1;
}
int PWR_CntxtGetObjByName(void* c, const char* name, void** o) {
  *o = &node; return c == &node && name[5] == 'n' ? 0 : -1;
}
int PWR_ObjAttrGetValue(void* o, int attribute, double* value, unsigned long* t) {
  *t = 1; *value = joules += 2.5; return o == &node && attribute == 14 ? 0 : -1;
}
"""


def test_the_power_api_has_the_numbers_of_its_header(tmp_path):
    found = constants(HEADER)
    assert (found["PWR_ROLE_MC"], found["PWR_ATTR_POWER"], found["PWR_ATTR_MEASURED_ENERGY"]) == (4, 0, 14)
    library = compiled(tmp_path, "pwr", FAKE_PWR)
    with pytest.raises(Absent, match="no header in .* has PWR_CNTXT_FX1000"):
        PowerApi([library], [str(tmp_path)])
    (tmp_path / "pwr.h").write_text(HEADER)
    counters = Counters(powercap=tmp_path, **(NOWHERE | {"pwr": (["libnone.so", library], [str(tmp_path)])}))
    assert counters.names == "PowerAPI" and counters.joules() == 2.5
    (tmp_path / "pwr.h").write_text(HEADER.replace("PWR_ROLE_APP = 3", "PWR_ROLE_APP = 0"))
    with pytest.raises(Absent, match="PWR_CntxtInit fails with status -1"):
        PowerApi([library], [str(tmp_path)])


def test_every_source_is_named(tmp_path):
    assert list(sources()) == ["RAPL", "NVML", "Cray", "PowerAPI"]
    assert all(sources().values())


def test_sentences_and_numbers_of_a_piece_of_work(tmp_path):
    root = powercap(tmp_path, packages=1)
    meter = Meter(self_alone(), counters=Counters(powercap=root, **NOWHERE))
    put(root, "intel-rapl:0", 500000)
    time.sleep(0.01)
    used = meter.close()
    assert used.joules == pytest.approx(0.5) and used.watts == pytest.approx(0.5 / used.seconds)
    assert used.sentence(1000, "step").startswith("energy        500 mJ, ")
    assert used.sentence(1000, "step").endswith(", 500 uJ a step (RAPL)")
    assert used.as_json(10)["joules_an_iteration"] == pytest.approx(0.05)
    absent = Meter(self_alone(), counters=Counters(powercap=tmp_path / "none", **NOWHERE)).close()
    assert absent.joules is None and "`halocline doctor` says why" in absent.sentence(3)
    assert absent.as_json(3) == {"joules": None, "watts": None, "joules_an_iteration": None, "sources": ""}
    assert [quantity(v, "J") for v in (1234.0, 0.0123, 5e6)] == ["1.23 kJ", "12.3 mJ", "5 MJ"]


class Steady:
    """A node that takes a hundred watts."""

    name, ranges = "steady", {}

    def read(self):
        return {"node": 100.0 * time.monotonic()}


@pytest.fixture
def steady(monkeypatch):
    def chosen(self, devices):
        return [Steady()], ""

    monkeypatch.setattr(Counters, "_chosen", chosen)


@pytest.mark.parametrize("words", [
    ("su3", "--local", "4x4x4x4", "--precision", "float", "--layout", "apart"),
    ("solver", "--size", 4, 4, 4, 4, "--kind", "bicgstab", "--precision", "mixed", "--runs", 1),
])  # fmt: skip
def test_a_benchmark_counts_the_energy_of_its_work(command, tmp_path, steady, words):
    begun = time.monotonic()
    done = command(tmp_path, "bench", *words, "--seconds", 0.02, "--json", "out.json")
    most = 100.0 * (time.monotonic() - begun)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads((tmp_path / "out.json").read_text())
    energy = found["energy"]
    # The counter is read before and after the clock; between these readings other programs may run.
    assert energy["watts"] >= 99.9 and 0 < energy["joules_a_run"] < most
    assert energy["gflops_per_watt"] == pytest.approx(1e-9 * found["flops"] / energy["joules_a_run"])
    assert "energy: by steady" in done.stdout and "Gflop/s/W" in done.stdout
    if words[0] == "solver":
        assert energy["joules_an_iteration"] == pytest.approx(energy["joules_a_run"] / found["result"]["iterations"])


def test_a_benchmark_without_a_counter_says_so(command, tmp_path, monkeypatch):
    monkeypatch.setattr(Counters, "_chosen", lambda self, devices: ([], "none for this test"))
    words = ("--local", "4x4x4x4", "--precision", "float", "--layout", "apart", "--seconds", 0.02)
    done = command(tmp_path, "bench", "su3", *words, "--json", "out.json")
    assert "energy: no readable counter: none for this test" in done.stdout and "Gflop/s/W" not in done.stdout
    (found,) = json.loads((tmp_path / "out.json").read_text())
    assert found["energy"] == {"joules_a_run": None, "watts": None, "gflops_per_watt": None}


def test_a_spectrum_run_tells_its_energy(command, lime, tmp_path, steady):
    text = f'[gauge]\nfiles = ["{lime}"]\n[action]\nmass = 0.1\ncsw = 1.0\n[output]\nfile = "out.h5"\nplots = false\n'
    (tmp_path / "run.toml").write_text(text)
    done = command(tmp_path, "qcd", "spectrum", "run.toml", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out.json").read_text())
    (configuration,) = found["configurations"]
    iterations = sum(map(sum, configuration["iterations"]))
    assert found["energy"]["joules_an_iteration"] == pytest.approx(found["energy"]["joules"] / iterations)
    assert "energy        " in (tmp_path / "out.log").read_text() and " an iteration (steady)" in done.stdout
    done = command(tmp_path, "qcd", "solve", "run.toml", "--json", "solve.json")
    found = json.loads((tmp_path / "solve.json").read_text())
    assert found["energy"]["joules_an_iteration"] == pytest.approx(found["energy"]["joules"] / iterations)


SCRIPT = """
import sys
from pathlib import Path
import halocline as hc
from halocline.energy import Counters, Meter
root = Path(sys.argv[1])
group = hc.comm.world()
nowhere = (Path("/nowhere"), "libnone.so", (("libnone.so",), ()))
meter = Meter(group, counters=Counters(root, *nowhere))
gpus = Meter(group, "cuda", Counters(root, *nowhere), ["GPU-1", "GPU-2"], sys.argv[2])
group.barrier()
if group.rank == 0:
    (root / "intel-rapl:0" / "energy_uj").write_text("250000")
group.barrier()
used = meter.close()
assert abs(used.joules - 0.25) < 1e-12 and used.nodes == 1, used
# Ranks 0 and 2 share the first GPU. Each library counts a millijoule a call: one since the start in ranks 0 and 1.
used = gpus.close()
assert abs(used.joules - 0.252) < 1e-12 and used.sources == "RAPL and NVML", used
"""


def test_one_process_of_a_node_reads_and_one_of_each_gpu(python, tmp_path):
    powercap(tmp_path / "tree", packages=1)
    (tmp_path / "script.py").write_text(SCRIPT)
    library = compiled(tmp_path, "nvml", FAKE_NVML.replace("STATUS", "0"))
    done = python("script.py", tmp_path / "tree", library, ranks=3)
    assert done.returncode == 0, done.stderr
