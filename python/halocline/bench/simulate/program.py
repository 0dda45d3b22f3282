# SPDX-License-Identifier: Apache-2.0
"""The simulated programs: compiled from the sources of core and comm when they are first asked for, and run by smpirun.

The library's sources are compiled as they are, by the usual compiler against SimGrid's MPI header; only the programs
around them go through `smpicxx`, which makes `main` a function that the simulator starts once a rank. The result lies
in the user's cache, under a name made from the sources, the compiler and SimGrid's version.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from halocline.errors import Error, InvalidArgument

FLAGS = ("-std=c++20", "-O1", "-fPIC")
TOGETHER = 8
"""Sources compiled as one, as cmake/Unity.cmake does it: most of the time goes into the headers that they share."""
NOT_SIMULATED = (
    "comm/bindings/",
    "comm/group/without_mpi.cpp",
    "comm/mpi/with_fjmpi.cpp",
    "comm/mpi/fjmpi_coordinates.cpp",
)
"""A border that nobody crosses here; what stands in for MPI where there is none; what needs Fujitsu's MPI."""
PROGRAMS = ("weak", "multigrid", "electrons")
"""The programs in bench/simulated, each of one source."""
OF_OTHER_ROOMS = ("lattice/coarsening", "lattice/gathering", "tddft/base/decomposition", "tddft/hartree/pencils")
"""Sources of other rooms that they use; the rest of these rooms needs the vector units of a machine."""
HEADERS = (
    "lattice/geometry.hpp",
    "tddft/base/grid.hpp",
    "tddft/base/index.hpp",
    "tddft/base/orbitals.hpp",
    "tddft/base/system.hpp",
)
"""What those include besides core and comm."""
LIBRARIES = ("", "mpi")
"""What the transports of the simulated program may stand on."""
CONFIGURATION = {
    "HALOCLINE_HAVE_MPI": "1", "PROJECT_VERSION": "simulated", "HALOCLINE_ISA_NAME": "any",
    "HALOCLINE_SVE_BITS": "0", "CMAKE_CXX_COMPILER_ID": "any", "CMAKE_CXX_COMPILER_VERSION": "",
    "CMAKE_BUILD_TYPE": "simulated", "HALOCLINE_CPU_FEATURES": "",
}  # fmt: skip
"""What core/config.hpp.in asks for, 0 for what is not here: no instruction sets, so that the program runs wherever it
was compiled."""


def unavailable_reason() -> str:
    """Why nothing can be simulated here, with what to do; empty when it can."""
    for tool in ("smpicxx", "smpirun"):
        if shutil.which(tool) is None:
            return f"the simulation needs SimGrid's {tool}: install it by apt-get install libsimgrid-dev"
    if shutil.which(_compiler()) is None:
        return f"the simulation needs the C++ compiler {_compiler()}: install it by apt-get install g++"
    return ""


def _compiler() -> str:
    return os.environ.get("CXX", "g++")


def sources() -> Path:
    """The folder that holds src/halocline and bench/simulated: of the installed package, or of its checkout."""
    from halocline import _halocline

    here = Path(__file__).resolve()
    for folder in (*here.parents, Path(_halocline.__file__).resolve().parent / "sources"):
        if (folder / "bench/simulated/program.hpp").is_file() and (folder / "src/halocline/comm").is_dir():
            return folder
    raise Error("the sources of core and comm are not beside this package; install Halocline again, by ./quickstart.")


def _version(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split("\n")[0]


def _include_folders() -> list[str]:
    """Where mpi.h of SimGrid is."""
    said = subprocess.run(["smpicxx", "-show", "-c", "x.cpp"], capture_output=True, text=True, check=False).stdout
    return [word for word in said.split() if word.startswith("-I") and word.endswith("smpi")] or ["-I/usr/include/smpi"]


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "halocline"


def build(progress: Callable[[int, int], None] | None = None, name: str = "weak") -> Path:
    """One of PROGRAMS, compiled; the first time all of them are, which takes half a minute on two cores.

    progress: called with the parts compiled so far and how many there are
    Raises InvalidArgument where SimGrid is not installed, Error with the compiler's words where it refuses.
    """
    if why := unavailable_reason():
        raise InvalidArgument(why + ".")
    top = sources()
    rooms = top / "src/halocline"
    files = [f for room in ("core", "comm") for f in sorted((rooms / room).rglob("*.?pp"))]
    files += [rooms / f"{stem}.{ending}" for stem in OF_OTHER_ROOMS for ending in ("hpp", "cpp")]
    programs = sorted((top / "bench/simulated").glob("*.?pp"))
    template, transports = rooms / "core/config.hpp.in", top / "cmake/Transports.cmake"
    digest = hashlib.sha256(
        repr((FLAGS, _version(_compiler(), "--version"), _version("smpicxx", "--version"))).encode()
    )
    for file in (*files, *programs, *(rooms / name for name in HEADERS), template, transports):
        digest.update(file.read_bytes())
    folder = _cache() / f"simulated-{sysconfig.get_platform()}-{digest.hexdigest()[:16]}"
    if (folder / name).is_file():
        return folder / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="simulated-") as made:
        work = Path(made)
        _compile(top, [f for f in files if f.suffix == ".cpp"], work, progress)
        folder.mkdir(exist_ok=True)
        for program in PROGRAMS:
            (work / program).replace(folder / program)  # whole or not at all, whoever else builds it
    return folder / name


def _compile(
    top: Path, files: list[Path], work: Path, progress: Callable[[int, int], None] | None
) -> None:  # fmt: skip
    config = work / "halocline/core/config.hpp"
    config.parent.mkdir(parents=True)
    template = (top / "src/halocline/core/config.hpp.in").read_text()
    config.write_text(re.sub(r"@(\w+)@", lambda name: CONFIGURATION.get(name[1], "0"), template))
    includes = [f"-I{work}", f"-I{top}", f"-I{top / 'src'}"]
    list_of_transports, left_out = _transports((top / "cmake/Transports.cmake").read_text())
    (work / "built_in_transports.cpp").write_text(list_of_transports)
    left_out += NOT_SIMULATED
    compiled = [f for f in files if not any(part in f.as_posix() for part in left_out)]
    compiled.append(work / "built_in_transports.cpp")
    objects, commands = [], []
    for number, batch in enumerate(compiled[i : i + TOGETHER] for i in range(0, len(compiled), TOGETHER)):
        together = work / f"{number}.cpp"
        together.write_text("".join(f'#include "{file}"\n' for file in batch))
        objects.append(work / f"{number}.o")
        commands.append(
            [_compiler(), *FLAGS, *includes, *_include_folders(), "-c", str(together), "-o", str(objects[-1])]
        )
    parts = len(commands) + len(PROGRAMS)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, _ in enumerate(pool.map(_run, commands)):
            if progress is not None:
                progress(done + 1, parts)
    link = ["-lrt", "-ldl"]
    for done, name in enumerate(PROGRAMS):
        source = str(top / f"bench/simulated/{name}.cpp")
        _run(["smpicxx", *FLAGS, *includes, source, *map(str, objects), "-o", str(work / name), *link])
        if progress is not None:
            progress(len(commands) + done + 1, parts)


def _transports(lines: str) -> tuple[str, tuple[str, ...]]:
    """The source of built_in_transports() from cmake/Transports.cmake, and the folders of transports that it leaves
    out.
    """
    names = re.search(r"^set\(halocline_transports(.*?)\)", lines, re.MULTILINE | re.DOTALL)
    kinds = re.findall(r'"(\w+)(?: +NEEDS (\w+))?"', names[1] if names else "")
    if not kinds:
        raise Error("cmake/Transports.cmake names no transports; install Halocline again, by ./quickstart.")
    here = [name for name, need in kinds if need in LIBRARIES]
    text = '#include "halocline/comm/exchange/transport.hpp"\n'
    text += "".join(f'#include "halocline/comm/transports/{name}/{name}.hpp"\n' for name in here)
    text += "namespace halocline::comm {\nstd::vector<TransportKind> built_in_transports() {\n  return {"
    text += ", ".join(f"{name}_transport()" for name in here) + "};\n}\n}\n"
    return text, tuple(f"comm/transports/{name}/" for name, _ in kinds if name not in here)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Error(f"the simulated program did not compile: {command[-3:]}\n{done.stderr[-2000:]}")


def run(
    program: Path, platform: str, hosts: list[str], settings: dict[str, str], arguments: dict[str, str]
) -> dict[str, Any]:
    """Runs the program on a platform and returns the numbers that it prints.

    platform: SimGrid's XML; hosts: the host of every rank; settings: of SimGrid; arguments: of the program
    Raises Error with the end of what the simulator says when it fails.
    """
    with tempfile.TemporaryDirectory(prefix="halocline-simulated-") as made:
        work = Path(made)
        (work / "platform.xml").write_text(platform)
        (work / "hosts").write_text("".join(f"{host}\n" for host in hosts))
        command = [
            "smpirun", "-np", str(len(hosts)), "-platform", "platform.xml", "-hostfile", "hosts",
            *(f"--cfg={name}:{value}" for name, value in settings.items()), "--log=root.thresh:error",
            str(program), *(f"{name}={value}" for name, value in arguments.items()),
        ]  # fmt: skip
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        raise Error(f"the simulation ended with status {done.returncode}: {(done.stderr or done.stdout)[-1000:]}")
    return json.loads(lines[-1])
