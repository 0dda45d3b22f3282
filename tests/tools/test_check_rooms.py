# SPDX-License-Identifier: Apache-2.0
"""The rooms checker finds each kind of trespass, and nothing else, in small trees made for it."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("check_rooms", ROOT / "tools/check_rooms.py")
check_rooms = importlib.util.module_from_spec(SPEC)
sys.modules["check_rooms"] = check_rooms
SPEC.loader.exec_module(check_rooms)

RULES = """
max_lines = 10
[rooms]
core = []
comm = ["core"]
[[exception]]
files = "*.cu"
room = "gpu"
[[only]]
header = "mpi.h"
files = ["src/halocline/comm/mpi.hpp"]
[[only]]
header = "nanobind/"
files = ["python/bindings/*"]
"""
TOP = "// SPDX-License-Identifier: Apache-2.0\n"


@pytest.fixture
def tree(tmp_path):
    """A clean tree, and a function that adds a C++ file with these lines to it."""

    def add(path, *lines, top=TOP):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(top + "\n".join(lines) + "\n")
        return tmp_path

    add("src/halocline/rooms.toml", RULES, top="# SPDX-License-Identifier: Apache-2.0\n")
    rules = tmp_path / "src/halocline/rooms.toml"
    rules.write_text(rules.read_text().replace("\n\n", "\n"))
    add("src/halocline/core/error.hpp", "#pragma once")
    add("src/halocline/comm/mpi.hpp", "#pragma once", "#include <mpi.h>", '#include "halocline/core/error.hpp"')
    return add


def sentences(root):
    # The rules file is longer than its own limit here; that finding is checked once, below.
    return [str(finding) for finding in check_rooms.check(root) if not finding.path.endswith("rooms.toml")]


def test_members_without_an_address_are_for_the_host_alone(tree):
    root = tree("src/halocline/core/a.cuh", "#pragma once", "struct A { [[no_unique_address]] B b; };")
    tree("src/halocline/core/b.hpp", "#pragma once", "struct A { [[no_unique_address]] B b; };")
    assert sentences(root) == [
        "src/halocline/core/a.cuh:3: [[no_unique_address]], which nvcc and the host's compiler lay out differently"
    ]


def test_a_clean_tree_has_no_findings(tree):
    root = tree("src/halocline/core/a.cpp", '#include "halocline/core/error.hpp"', "#include <vector>")
    assert sentences(root) == []


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("src/halocline/core/a.cpp", "#include <halocline/comm/mpi.hpp>", "core may not include room comm"),
        ("src/halocline/comm/b.cpp", "#include <mpi.h>", "mpi.h is allowed only in"),
        ("tests/comm/test_b.cpp", "  #  include <mpi.h>", "mpi.h is allowed only in"),
        ("src/halocline/core/a.cpp", "#include <nanobind/nanobind.h>", "nanobind/nanobind.h is allowed only in"),
        ("src/halocline/core/a.cpp", '#include "../comm/mpi.hpp"', "climbs"),
        ("src/halocline/comm/b.cpp", '#include "halocline/core/detail/x.hpp"', "detail/ of room core"),
        ("bench/halo.cpp", '#include "halocline/comm/detail/x.hpp"', "detail/ of room comm"),
        ("tests/comm/test_b.cpp", '#include "halocline/core/detail/x.hpp"', "detail/ of room core"),
        ("src/halocline/comm/b.cpp", '#include "halocline/gpu/device.hpp"', "comm may not include room gpu"),
        ("src/halocline/core/a.cpp", "// TO" + "DO later", "reminder word"),
        ("src/halocline/core/a.hpp", "int x;", "without #pragma once"),
        ("src/halocline/core/a.h", "int x;", "without #pragma once"),
        ("examples/a.c", "#include <mpi.h>", "mpi.h is allowed only in"),
    ],
)
def test_each_trespass_is_found_at_its_line(tree, path, line, expected):
    found = sentences(tree(path, line))
    assert len(found) == 1
    assert expected in found[0]
    assert found[0].startswith(f"{path}:{1 if 'pragma' in expected else 2}: ")


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/halocline/comm/b.cu", '#include "halocline/gpu/device.hpp"'),
        ("src/halocline/comm/b.cpp", '#include "halocline/comm/detail/x.hpp"'),
        ("tests/core/test_x.cpp", '#include "halocline/core/detail/x.hpp"'),
        ("python/bindings/core.cpp", "#include <nanobind/nanobind.h>"),
        ("tests/core/test_x.cpp", '#include "halocline/comm/mpi.hpp"'),
    ],
)
def test_what_is_allowed_is_not_found(tree, path, line):
    assert sentences(tree(path, line)) == []


def test_long_files_and_missing_licences_are_found(tree):
    root = tree("src/halocline/core/long.cpp", *["int x;"] * 10)
    assert sentences(root) == ["src/halocline/core/long.cpp:11: 11 lines, at most 10; split by idea"]
    (root / "src/halocline/core/long.cpp").write_text("int x;\n")
    assert "must be the licence" in sentences(root)[0]


def test_fortran_sources_have_a_licence_too(tree):
    root = tree("src/halocline/core/a.f90", "end", top="")
    assert "must be the licence" in sentences(root)[0]


def test_folders_and_lines_of_the_rules_match(tree):
    root = tree("src/halocline/extra/x.cpp")
    assert "room without a line" in sentences(root)[0]
    rules = root / "src/halocline/rooms.toml"
    rules.write_text(rules.read_text().replace('comm = ["core"]', 'comm = ["core"]\nsolve = []'))
    assert any("room solve has no folder" in str(finding) for finding in check_rooms.check(root))


FLOORS = '[floors.comm]\nbase = []\nhalo = ["base"]\n'


@pytest.fixture
def house(tree):
    """The clean tree with floors in room comm, all of whose arrows are used; adds a file as `tree` does."""
    rules = tree("src/halocline/comm/base/rank.hpp", "#pragma once") / "src/halocline/rooms.toml"
    text = rules.read_text().replace("src/halocline/comm/mpi.hpp", "src/halocline/comm/base/mpi.hpp")
    rules.write_text(text.replace("[[exception]]", FLOORS + "[[exception]]", 1))
    (rules.parent / "comm/mpi.hpp").rename(rules.parent / "comm/base/mpi.hpp")
    tree("src/halocline/comm/halo/face.hpp", "#pragma once", '#include "halocline/comm/base/rank.hpp"')
    tree("src/halocline/comm/halo/detail/box.hpp", "#pragma once", '#include "halocline/comm/halo/face.hpp"')
    return tree


def all_sentences(root):
    return [str(finding) for finding in check_rooms.check(root) if "lines, at most" not in finding.sentence]


def test_a_room_with_floors_has_no_findings(house):
    root = house("src/halocline/comm/halo/a.cpp", '#include "halocline/comm/halo/detail/box.hpp"')
    house("tests/comm/test_box.cpp", '#include "halocline/comm/halo/detail/box.hpp"')
    assert all_sentences(root) == []


def test_folders_inside_a_floor_belong_to_it_and_keep_their_details(house):
    house("src/halocline/comm/halo/ring/ring.hpp", "#pragma once", '#include "halocline/comm/base/rank.hpp"')
    house("src/halocline/comm/halo/ring/detail/order.hpp", "#pragma once")
    root = house("src/halocline/comm/halo/ring/ring.cpp", '#include "halocline/comm/halo/ring/detail/order.hpp"')
    assert all_sentences(root) == []
    found = all_sentences(
        house("src/halocline/comm/halo/a.cpp", '#include "halocline/comm/halo/ring/detail/order.hpp"')
    )
    assert len(found) == 1 and "reaches into the detail/ of folder halo/ring" in found[0]


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("src/halocline/comm/base/a.cpp", '#include "halocline/comm/halo/face.hpp"', "base of comm may not include"),
        (
            "src/halocline/comm/base/detail/a.cpp",
            '#include "halocline/comm/halo/face.hpp"',
            "may not include folder halo",
        ),
        ("src/halocline/comm/base/a.cpp", '#include "halocline/comm/halo/detail/box.hpp"', "detail/ of folder halo"),
        ("src/halocline/comm/a.cpp", "", "room comm has floors, and this file is on none"),
        ("src/halocline/comm/sums/a.cpp", "", "folder sums of comm is on none"),
    ],
)
def test_each_trespass_between_floors_is_found(house, path, line, expected):
    found = all_sentences(house(path, line))
    assert len(found) == 1 and expected in found[0] and found[0].startswith(path)


def test_headers_that_include_each_other_are_found(tree):
    tree("src/halocline/core/a.hpp", "#pragma once", '#include "halocline/core/b.hpp"')
    tree("src/halocline/core/b.hpp", "#pragma once", '#include "halocline/core/c.hpp"')
    tree("src/halocline/core/above.hpp", "#pragma once", '#include "halocline/core/a.hpp"')
    assert sentences(tree("src/halocline/core/c.hpp", "#pragma once")) == []
    found = sentences(tree("src/halocline/core/c.hpp", "#pragma once", '#include "halocline/core/a.hpp"'))
    assert [text.split(":")[0] for text in found] == [f"src/halocline/core/{n}.hpp" for n in "abc"]


def test_folders_and_arrows_that_are_not_there_are_found(house):
    rules = house("src/halocline/comm/halo/a.cpp") / "src/halocline/rooms.toml"
    rules.write_text(rules.read_text().replace('halo = ["base"]', 'halo = ["base"]\nsums = []\nsend = []'))
    found = all_sentences(rules.parents[2])
    assert [text.split(": ", 1)[1] for text in found] == [
        f"folder {n} of room comm is not there" for n in ("send", "sums")
    ]
    (rules.parent / "comm/halo/face.hpp").write_text(TOP + "#pragma once\n")
    assert any(
        "folder halo of comm may include base, and nothing does" in text for text in all_sentences(rules.parents[2])
    )
    (rules.parent / "comm/base/mpi.hpp").write_text(TOP + "#pragma once\n")
    assert any("room comm may include core, and nothing does" in text for text in all_sentences(rules.parents[2]))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("core = []", 'core = ["comm"]', "circle"),
        ("core = []", 'core = ["mapping"]', "not a room"),
        ("[[exception]]", "[floors.mapping]\na = []\n[[exception]]", "mapping, which is not a room"),
        ("[[exception]]", '[floors.comm]\na = ["b"]\nb = ["a"]\n[[exception]]', "circle among a, b"),
        ("[[exception]]", '[floors.comm]\na = ["b"]\n[[exception]]', "b, which is not a folder of comm"),
    ],
)
def test_contradicting_rules_are_refused_with_status_2(tree, before, after, expected):
    root = tree("src/halocline/core/a.cpp")
    rules = root / "src/halocline/rooms.toml"
    rules.write_text(rules.read_text().replace(before, after, 1))
    answer = subprocess.run(
        [sys.executable, ROOT / "tools/check_rooms.py", root], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert expected in answer.stderr


def test_the_picture_puts_each_floor_above_what_it_includes(house, capsys):
    root = house("src/halocline/comm/halo/a.cpp")
    assert check_rooms.main(["--picture", str(root)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == ["  1  halo  ->  base", "  0  base"] and "floors of comm:" in lines
    heights = {line.split()[1]: int(line.split()[0]) for line in lines[1 : lines.index("")]}
    assert heights["core"] == 0 and heights["comm"] == 1
