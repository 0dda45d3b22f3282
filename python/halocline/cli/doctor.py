# SPDX-License-Identifier: Apache-2.0
"""`halocline doctor`: the components of this installation, and whether they suit this machine."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
from pathlib import Path
from typing import Any

import typer

from halocline.cli.common import Json
from halocline.cli.console import Console, write_json
from halocline.errors import Error

PACKAGES = ("numpy", "h5py", "mpi4py", "typer", "rich", "matplotlib", "ase")


def add_to(group: typer.Typer) -> None:
    group.command()(doctor)


def doctor(json: Json = None) -> None:
    """Check the installation: versions, instruction set, MPI, threads, transports, GPUs, energy, libraries, memory."""
    console = Console()
    found = examine()
    for name, value in found.items():
        if name == "problems":
            continue
        if isinstance(value, dict):
            console.line(f"{name.replace('_', ' ')}:")
            for key, text in value.items():
                console.line(f"  {key:<22}{text}")
        else:
            console.line(f"{name.replace('_', ' '):<24}{value}")
    for problem in found["problems"]:
        console.warning(problem)
    console.line("no problem found" if not found["problems"] else f"{len(found['problems'])} problems")
    write_json(json, found)
    if found["problems"]:
        raise Error("; ".join(found["problems"]))


def examine() -> dict[str, Any]:
    """Everything that the command prints, as plain values; `problems` are sentences."""
    from halocline import _halocline, energy

    core = _halocline.core
    problems = []
    missing = core.missing_cpu_feature()
    if missing:
        problems.append(f"this CPU lacks {missing}, which the build needs: rebuild with another HALOCLINE_ISA")
    mpi = mpi_library(problems) if core.have_mpi else "not compiled in"
    return {
        "halocline": f"{core.version} ({core.revision})",
        "compiled": f"{core.compiler}, {core.build_type}",
        "instruction_set": instruction_set(missing),
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "openmp_threads": core.threads(),
        "waiting_threads": waiting(),
        "blas": blas(_halocline.tddft.blas()),
        "scalapack": scalapack(_halocline.tddft.scalapack()),
        "memory_gib": memory(),
        "mpi": mpi,
        "launcher": shutil.which("mpirun") or "no mpirun in PATH",
        "transports": transports(),
        "gpu": graphics(problems),
        "gpu_halos": gpu_halos(),
        "energy": energy.sources(),
        "python": platform.python_version(),
        "packages": {name: version(name, problems) for name in PACKAGES},
        "libraries": libraries(),
        "problems": problems,
    }


def instruction_set(missing: str) -> str:
    """The instruction set of the build, and how it suits this CPU."""
    from halocline import _halocline

    core = _halocline.core
    if missing:
        return f"{core.isa}, but the CPU lacks {missing}"
    return f"{core.isa}, which this CPU has" + (f"; {narrower}" if (narrower := core.narrower_than_cpu()) else "")


def waiting() -> str:
    """How OpenMP's threads wait; see halocline.threads."""
    policy, spins = (os.environ.get(name) for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"))
    if policy:
        return f"OMP_WAIT_POLICY={policy}" + (": they sleep" if policy.lower() == "passive" else "")
    return f"GOMP_SPINCOUNT={spins}: they look so often, and then sleep" if spins else "as OpenMP has it"


def blas(found: dict[str, Any]) -> dict[str, str]:
    """The BLAS library, its threads, and advice if it is slow."""
    models = {
        "none": "none: ours divide large products",
        "openmp": "OpenMP's: kept to one a call, ours divide large products",
        "own": "its own: kept asleep, ours divide large products",
    }
    told = {"library": found["name"], "file": found["file"] or "not told by the system"}
    told["threads"] = models[found["threads"]]
    if not found["reentrant"]:
        told["threads"] = "none, and it serves one thread at a time: products stay on one"
    if found["reference"]:
        told["advice"] = "the reference BLAS is slow; another one is used without rebuilding: libopenblas-openmp-dev"
    elif not found["reentrant"]:
        told["advice"] = "a BLAS with threads lets ours share the work: libopenblas-openmp-dev"
    return told


def scalapack(found: dict[str, str]) -> str:
    """The ScaLAPACK library, or why there is none."""
    if found["file"]:
        return f"{found['file']}: processes share the dense eigenproblem of a ground state with many orbitals"
    return f"this program {found['problem']}: every process solves the dense eigenproblem of a ground state"


def processor() -> str:
    """The processor model as the kernel reports it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Processor")):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def memory() -> str:
    pages = os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"{os.sysconf('SC_AVPHYS_PAGES') * pages:.1f} free of {os.sysconf('SC_PHYS_PAGES') * pages:.1f}"


def mpi_library(problems: list[str]) -> str:
    """The MPI library of mpi4py; it must be the one that the extension is linked with."""
    try:
        from mpi4py import rc

        rc.initialize = False
        from mpi4py import MPI

        return MPI.Get_library_version().split("\n")[0].rstrip("\0 ,")
    except Exception as error:
        problems.append(
            f"mpi4py does not load ({error}): build it for this MPI, "
            "by `pip install --force-reinstall --no-deps --no-binary=mpi4py mpi4py`"
        )
        return "compiled in"


def transports() -> dict[str, str]:
    from halocline import _halocline

    return {name: "available" if not why else f"absent: {why}" for name, why in _halocline.comm.transports().items()}


def graphics(problems: list[str]) -> dict[str, str]:
    """The GPU back end, the driver, each GPU, and the tuner's file. A missing GPU is not a problem."""
    from halocline import _halocline, gpu

    found = {
        "back end": "in this build" if gpu.built() else "not in this build",
        "driver": kernel_driver(),
        "usable": "yes" if not gpu.unavailable_reason() else f"no: {gpu.unavailable_reason()}",
    }
    devices = gpu.devices()
    if devices:
        found["cuda"] = f"{devices[0].driver} by the driver, {devices[0].toolkit} in this build"
    for device in devices:
        name = f"cuda:{device.number}"
        found[name] = str(device)
        place, far = _halocline.gpu.binding(device.pci_address)
        if place:
            found[f"{name} is at"] = place
        remarks = _halocline.gpu.remarks(device.number) + ([(far, False)] if far else [])
        for number, (sentence, hinders) in enumerate(remarks):
            found[f"{number + 1}. note on {name}"] = sentence
            if hinders:
                problems.append(f"{name}: {sentence}")
    try:
        found["tune cache"] = f"{gpu.tune_file() or 'no place'}, {gpu.tune_mode()}, {len(gpu.tune_entries())} entries"
    except Error as error:
        found["tune cache"] = str(error)
        problems.append(str(error))
    return found


def kernel_driver() -> str:
    """The version of NVIDIA's kernel module, which is loaded on machines that manage GPUs."""
    try:
        words = Path("/proc/driver/nvidia/version").read_text().split()
    except OSError:
        return "none loaded"
    return next((f"NVIDIA {word}" for word in words if word[0].isdigit() and "." in word), "NVIDIA")


def gpu_halos() -> dict[str, str]:
    from halocline import gpu

    found = {"tried on": "host executor, which stands in for a GPU" if gpu.unavailable_reason() else "GPU"}
    return found | {n: "available" if not why else f"absent: {why}" for n, why in gpu.halo_policies().items()}


def version(package: str, problems: list[str]) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        problems.append(f"the Python package {package} is missing")
        return "missing"


def libraries() -> dict[str, str]:
    """Shared libraries that the extension loaded into this process: MPI, OpenMP, C++."""
    wanted = ("libmpi.", "libmpich", "libgomp", "libomp", "libstdc++", "libopenblas", "liblapack", "_halocline")
    found = {}
    try:
        for line in Path("/proc/self/maps").read_text().splitlines():
            path = line.split()[-1]
            name = path.rsplit("/", 1)[-1]
            if path.startswith("/") and name.startswith(wanted):
                found[name.split(".so")[0]] = path
    except OSError:
        pass
    return dict(sorted(found.items()))
