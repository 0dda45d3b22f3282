# SPDX-License-Identifier: Apache-2.0
"""Set-up on a machine where something is missing: packages that CMake names go in, or one line is printed, status 2."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDS_CMAKE = pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake on the path")


def packages():
    """Need -> packages, from the one list; a need with a question mark is for tests alone."""
    rows = {}
    for line in (ROOT / "cmake" / "packages.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            need, *names = line.split()
            rows[need] = names
    return rows


@pytest.fixture
def tree(tmp_path):
    """A folder in which the set-up may write: the list of packages, and a build folder of its own."""
    (tmp_path / "cmake").mkdir()
    shutil.copy(ROOT / "cmake" / "packages.txt", tmp_path / "cmake")
    (tmp_path / "build" / "release").mkdir(parents=True)
    (tmp_path / "build" / "log").mkdir()
    return tmp_path


def in_shell(script, tree):
    """Runs `script` after tools/setup.sh, in `tree`."""
    return subprocess.run(
        ["bash", "-c", f". {ROOT}/tools/setup.sh\ntool=quickstart\n{script}"],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )


# A cmake that misses FMT until the package is there, then LIBXC, and is content with both.
FAKE_CMAKE = """
find_python() { echo python3; }; find_compiler() { echo g++; }; apt_prefix() { echo env; }
apt_install() { echo "apt: $*"; for name in "$@"; do touch "have-$name"; done; }
cmake() {
  rm -f build/release/missing_packages.txt
  for name in libfmt-dev libxc-dev; do
    [ -e "have-$name" ] || { echo "$name" >build/release/missing_packages.txt; return 1; }
  done
}
"""


def test_what_cmake_misses_is_installed_and_cmake_is_asked_again(tree):
    answer = in_shell(FAKE_CMAKE + "configure_release && echo configured", tree)
    assert answer.stdout.split("\n")[:-1] == ["apt: libfmt-dev", "apt: libxc-dev", "configured"]


def test_a_package_that_does_not_help_ends_the_questions(tree):
    answer = in_shell(FAKE_CMAKE + 'apt_install() { echo "apt: $*"; }; configure_release; echo went on', tree)
    assert answer.returncode == 2
    assert answer.stdout == "apt: libfmt-dev\n"
    assert "CMake does not find what was installed for it: libfmt-dev" in answer.stderr


def test_an_error_of_cmake_that_no_package_mends_is_shown(tree):
    script = "find_compiler() { echo g++; }; cmake() { echo 'the ISA is not known'; return 1; }; configure_release"
    answer = in_shell(script, tree)
    assert answer.returncode == 1
    assert "the ISA is not known" in answer.stderr


def test_without_root_the_line_to_run_is_printed(tree):
    script = FAKE_CMAKE + "apt_prefix() { return 1; }; configure_release; echo went on"
    answer = in_shell(script, tree)
    assert answer.returncode == 2
    assert "went on" not in answer.stdout
    line = answer.stdout.strip().splitlines()[-1].strip()
    assert line == "sudo apt-get update && sudo apt-get install -y --no-install-recommends libfmt-dev"


def test_where_cmake_cannot_run_yet_the_line_has_every_required_package(tree):
    script = "apt_prefix() { return 1; }; find_compiler() { return 1; }; can_make_venv() { return 1; }; setup_machine"
    answer = in_shell(script, tree)
    assert answer.returncode == 2
    said = set(answer.stdout.strip().splitlines()[-1].split())
    for need, names in packages().items():
        assert set(names) <= said or need.startswith("?"), need
        assert not set(names) & said or not need.startswith("?"), need


def test_with_root_only_what_cmake_stands_on_is_installed_first(tree):
    script = (
        'apt_prefix() { echo env; }; apt_install() { echo "apt: $*"; find_compiler() { echo g++; }; }; '
        "find_compiler() { return 1; }; find_python() { echo python3; }; can_make_venv() { return 0; }; setup_machine"
    )
    answer = in_shell(script, tree)
    assert answer.returncode == 0
    assert answer.stdout == "apt: g++\n"


def test_optional_packages_that_do_not_install_stop_nothing(tree):
    (tree / "build/release/optional_packages.txt").write_text("fortran gfortran\nsve qemu-user g++-aarch64-linux-gnu\n")
    script = 'apt_install() { echo "apt: $*"; return 1; }; install_optional fortran; install_optional; echo went on'
    answer = in_shell(script, tree)
    assert "apt: gfortran\n" in answer.stdout
    assert "apt: gfortran qemu-user g++-aarch64-linux-gnu\n" in answer.stdout
    assert answer.stdout.endswith("went on\n")


def test_an_old_python_is_passed_over(tmp_path, tree):
    for name, status in (("python3", 1), ("python3.13", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    answer = in_shell(f'PYTHON=; PATH="{tmp_path}:$PATH"; find_python', tree)
    assert answer.stdout.strip() == str(tmp_path / "python3.13")


def test_progress_counts_files_and_ends_with_all(tree):
    script = 'for i in $(seq 40); do echo "[$i/40] Building CXX object a_$i.o"; echo noise; done | show_progress'
    lines = in_shell(script, tree).stdout.splitlines()
    assert all(line.startswith("quickstart: compiling [") for line in lines)
    assert 10 <= len(lines) <= 12
    assert "[40/40]" in lines[-1]


def test_a_failed_build_shows_what_the_compiler_said(tree):
    said = 'echo "[1/2] Building CXX object a.o"; echo "a.cpp:1: error: no such thing"'
    script = f"cmake() {{ {said}; return 1; }}; build_release all"
    answer = in_shell(script, tree)
    assert answer.returncode == 1
    assert "error: no such thing" in answer.stderr
    assert "the build failed" in answer.stderr


def configure(folder, *options):
    return subprocess.run(
        ["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DHALOCLINE_PYTHON=OFF", *options],
        capture_output=True,
        text=True,
        check=False,
    )


@NEEDS_CMAKE
def test_cmake_names_every_missing_package_at_once(tmp_path):
    absent = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("MPI", "BLAS", "LAPACK")]
    answer = configure(tmp_path, *absent, "-DHALOCLINE_TESTS=OFF")
    assert answer.returncode != 0
    said = " ".join(answer.stderr.split())
    assert re.search(r"apt-get install .*libopenmpi-dev openmpi-bin", said)
    assert "HALOCLINE_MPI=OFF" in said
    missing = (tmp_path / "missing_packages.txt").read_text().split()
    assert {*packages()["mpi"], *packages()["blas"]} <= set(missing)
    assert len(missing) == len(set(missing))


@NEEDS_CMAKE
def test_cmake_that_misses_nothing_says_so_in_its_file(tmp_path):
    answer = configure(tmp_path, "-DHALOCLINE_ROOMS=comm", "-DHALOCLINE_MPI=OFF", "-DHALOCLINE_TESTS=OFF")
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "missing_packages.txt").read_text().split() == []


@NEEDS_CMAKE
def test_an_unknown_instruction_set_is_refused_with_the_known_ones(tmp_path):
    answer = configure(tmp_path, "-DHALOCLINE_ISA=mmx")
    assert answer.returncode != 0
    assert "HALOCLINE_ISA=mmx is not known" in " ".join(answer.stderr.split())
    assert "portable" in answer.stderr


# A Python whose mpi4py asks for one library, and a compiler that finds another of its own making.
MPI4PY = """
venv=$PWD/venv; mkdir -p venv/bin venv/lib there
printf '#!/bin/sh\\necho "ImportError: %s: cannot open shared object file" >&2; exit 1\\n' "$missing" >venv/bin/python
chmod +x venv/bin/python
g++ -shared -x c++ /dev/null -Wl,-soname,libmpich.so.12 -o there/libmpich.so.12
export LIBRARY_PATH=$PWD/there
match_mpi4py
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ in PATH")
def test_the_library_that_mpi4py_asks_for_leads_to_the_one_of_mpich(tree):
    answer = in_shell("missing=libmpi.so.12" + MPI4PY, tree)
    assert answer.returncode == 0 and answer.stdout == "", answer
    made = (tree / "venv/lib/libmpi.so.12").read_bytes()
    assert made.startswith(b"\x7fELF") and b"libmpi.so.12\0" in made and b"libmpich.so.12\0" in made


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ in PATH")
def test_what_else_mpi4py_lacks_is_left_alone(tree):
    answer = in_shell("missing=libz.so.1" + MPI4PY, tree)
    assert answer.returncode == 0 and not list((tree / "venv/lib").iterdir())
