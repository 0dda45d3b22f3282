#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the tree to src/halocline/rooms.toml: arrows between rooms, headers of others, page rules.

    tools/check_rooms.py [ROOT]            check
    tools/check_rooms.py --picture [ROOT]  the rooms and their floors, from the top down, with who stands on what

Prints one line a finding, `path:line: sentence`, and exits with status 1 when there is any; 2 when rooms.toml itself
is wrong. What is checked:

- a room includes only itself and the rooms on its line; `*.cu` files may include one more (rooms.toml, `exception`);
- where a room has floors, each of its folders includes only itself and the folders on its line (`floors`), and every
  source is in a folder;
- an arrow that no include uses is taken off, of rooms and of folders;
- headers of others appear only in the files that rooms.toml gives them (`only`);
- `detail/` headers are included only by their own room and its tests, with floors only by their own folder and tests;
- no include climbs with `..`, every header has `#pragma once`, no headers include each other in a circle;
- no device code has [[no_unique_address]], which nvcc and the host's compiler lay out differently;
- a licence line within the first two lines, at most `max_lines` lines, no reminder words left behind.

Line-based on purpose: an include inside an inactive #if is an arrow all the same.
"""

import fnmatch
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
REMINDER = re.compile(r"\b(TO" + r"DO|FIX" + r"ME)\b")
UNPORTABLE = "no_unique_address"
LICENCE = "SPDX-License-Identifier: Apache-2.0"
HEADERS = {".hpp", ".cuh", ".h"}
CPP = HEADERS | {".cpp", ".cu", ".c"}
SOURCES = CPP | {".f90", ".py", ".cmake", ".sh", ".toml", ".in"}
FOLDERS = ("src", "tests", "python", "bench", "examples", "tools", "cmake")
TOP_FILES = ("CMakeLists.txt", "pyproject.toml", "quickstart", "check", ".ci/run")
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")


class BadRules(Exception):
    """rooms.toml contradicts itself."""


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.sentence}"


@dataclass(frozen=True)
class Rules:
    rooms: dict[str, list[str]]
    floors: dict[str, dict[str, list[str]]]
    max_lines: int
    exceptions: list[dict]
    only: list[dict]


def read_rules(root: Path) -> Rules:
    """The rules of ROOT/src/halocline/rooms.toml.

    Raises BadRules for an arrow to a room or folder that is not there and for a circle of arrows.
    """
    data = tomllib.loads((root / "src/halocline/rooms.toml").read_text())
    rooms, floors = data["rooms"], data.get("floors", {})
    check_arrows(rooms, "room")
    for room, folders in floors.items():
        if room not in rooms:
            raise BadRules(f"floors are given of {room}, which is not a room")
        check_arrows(folders, f"folder of {room}")
    return Rules(rooms, floors, data["max_lines"], data.get("exception", []), data.get("only", []))


def check_arrows(arrows: dict[str, list[str]], kind: str) -> None:
    """Raises BadRules unless all arrows lead to names of the table, and none back. kind: "room" or "folder of qcd"."""
    for name, targets in arrows.items():
        for target in targets:
            if target not in arrows:
                raise BadRules(f"{kind} {name} may include {target}, which is not a {kind}")
    settled: set[str] = set()
    while len(settled) < len(arrows):
        ready = [name for name in arrows if name not in settled and settled.issuperset(arrows[name])]
        if not ready:
            raise BadRules("the arrows run in a circle among " + ", ".join(sorted(set(arrows) - settled)))
        settled.update(ready)


def source_files(root: Path) -> list[Path]:
    """Everything with page rules, sorted."""
    found = [root / name for name in TOP_FILES if (root / name).is_file()]
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            if path.is_file() and path.suffix in SOURCES and "__pycache__" not in path.parts:
                found.append(path)
    return sorted(found)


def room_of(path: str) -> str | None:
    """Room of a source file, None outside the library."""
    parts = path.split("/")
    return parts[2] if len(parts) > 3 and parts[:2] == ["src", "halocline"] else None


def floor_of(rules: Rules, path: str) -> str | None:
    """Folder inside its room of a path from src/ on, "" for the room itself; None where the room has no floors.

    A folder that is not on a line, a `detail/` for example, belongs to the nearest one around it that is.
    """
    room = room_of(path)
    if room not in rules.floors:
        return None
    inner = path.split("/")[3:-1]
    for length in range(len(inner), 0, -1):
        if "/".join(inner[:length]) in rules.floors[room]:
            return "/".join(inner[:length])
    return "/".join(inner[: inner.index("detail")] if "detail" in inner else inner)


def matches(path: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def check_include(rules: Rules, path: str, target: str) -> str | None:
    """The sentence that is wrong with `#include target` in `path`, or None."""
    if ".." in target.split("/"):
        return f"include {target} climbs; write the path from halocline/ on"
    for rule in rules.only:
        if target.startswith(rule["header"]) and not matches(path, rule["files"]):
            return f"include {target} is allowed only in {', '.join(rule['files'])}"
    parts = target.split("/")
    if parts[0] != "halocline" or len(parts) < 3:
        return None
    there, here = parts[1], room_of(path)
    floor_here, floor_there = floor_of(rules, path), floor_of(rules, f"src/{target}")
    if "detail" in parts[2:-1]:
        folder = path.split("/")
        own_test = folder[0] == "tests" and folder[1] == there
        if here != there and not own_test:
            return f"include {target} reaches into the detail/ of room {there}"
        around = "/".join(["src", *parts[: parts.index("detail")], ""])
        if here == there and floor_here is not None and not path.startswith(around):
            return f"include {target} reaches into the detail/ of folder {around.split('/', 3)[3].rstrip('/')}"
    if here == there and floor_here is not None and floor_here != floor_there:
        below = rules.floors[there].get(floor_here, [])
        if floor_there not in below:
            may = ", ".join(below) or "none"
            return f"folder {floor_here} of {here} may not include folder {floor_there} (it may: {may})"
    if here is None or here == there:
        return None
    allowed = list(rules.rooms.get(here, []))
    allowed += [rule["room"] for rule in rules.exceptions if fnmatch.fnmatch(path, rule["files"])]
    if there not in allowed:
        return f"room {here} may not include room {there} (it may: {', '.join(allowed) or 'none'})"
    return None


def library_includes(root: Path) -> dict[str, set[str]]:
    """Path of every source of the library -> paths of ours that it includes, from src/ on, there or not."""
    found = {}
    for file in (root / "src/halocline").rglob("*"):
        if file.suffix in CPP:
            matches = map(INCLUDE.match, file.read_text(errors="replace").splitlines())
            targets = {f"src/{match[1]}" for match in matches if match and match[1].startswith("halocline/")}
            found[file.relative_to(root).as_posix()] = targets
    return found


def used_arrows(rules: Rules, includes: dict[str, set[str]]) -> set[tuple[str, str, str]]:
    """(room, from, to) of every include between folders of a room, and ("", from, to) between rooms."""
    used = set()
    for path, targets in includes.items():
        for target in targets:
            here, there = room_of(path), room_of(target)
            if here != there:
                used.add(("", here, there))
            elif here in rules.floors:
                used.add((here, floor_of(rules, path), floor_of(rules, target)))
    return used


def check_floors(rules: Rules, root: Path, includes: dict[str, set[str]]) -> list[Finding]:
    """Folders without a line, lines without a folder, sources outside of folders, and arrows that nobody uses."""
    library, table, found = root / "src/halocline", "src/halocline/rooms.toml", []
    for room, floors in rules.floors.items():
        there = set()
        for file in sorted((library / room).rglob("*")):
            if file.is_file():
                floor = floor_of(rules, file.relative_to(root).as_posix())
                there.add(floor)
                if floor not in floors:
                    place = f"folder {floor} of {room} is" if floor else f"room {room} has floors, and this file is"
                    found.append(Finding(file.relative_to(root).as_posix(), 1, f"{place} on none of them (rooms.toml)"))
        for floor in sorted(set(floors) - there):
            found.append(Finding(table, 1, f"folder {floor} of room {room} is not there"))
    used = used_arrows(rules, includes)
    for room, arrows in [("", rules.rooms), *rules.floors.items()]:
        for name, targets in arrows.items():
            for target in targets:
                if (room, name, target) not in used:
                    kind = f"folder {name} of {room}" if room else f"room {name}"
                    found.append(Finding(table, 1, f"{kind} may include {target}, and nothing does: take it off"))
    return found


def check_circles(includes: dict[str, set[str]]) -> list[Finding]:
    """Headers of the library that include each other, directly or on the way round."""
    left = {path for path in includes if Path(path).suffix in HEADERS}
    while settled := {header for header in left if not includes[header] & left}:
        left -= settled
    # What is left is in a circle or on the way to one. A header that none of the others includes is on the way.
    while outside := {header for header in left if not any(header in includes[other] for other in left - {header})}:
        left -= outside
    sentence = "header in a circle of includes: " + ", ".join(sorted(left))
    return [Finding(header, 1, sentence) for header in sorted(left)]


def check_file(rules: Rules, root: Path, file: Path) -> list[Finding]:
    path = file.relative_to(root).as_posix()
    lines = file.read_text(errors="replace").splitlines()
    found = []
    if not any(LICENCE in line for line in lines[:2]):
        found.append(Finding(path, 1, f"first line must be the licence: {LICENCE}"))
    if len(lines) > rules.max_lines:
        found.append(Finding(path, len(lines), f"{len(lines)} lines, at most {rules.max_lines}; split by idea"))
    if file.suffix in HEADERS and not any(line.startswith("#pragma once") for line in lines):
        found.append(Finding(path, 1, "header without #pragma once"))
    for number, line in enumerate(lines, 1):
        if REMINDER.search(line):
            found.append(Finding(path, number, "reminder word: do it now, or open an issue"))
        if UNPORTABLE in line and (file.suffix in {".cu", ".cuh"} or "/qcd/site/" in path):
            sentence = f"[[{UNPORTABLE}]], which nvcc and the host's compiler lay out differently"
            found.append(Finding(path, number, sentence))
        if file.suffix in CPP and (include := INCLUDE.match(line)):
            sentence = check_include(rules, path, include[1])
            if sentence:
                found.append(Finding(path, number, sentence))
    return found


def check(root: Path) -> list[Finding]:
    """All findings below ROOT, in the order of paths."""
    rules = read_rules(root)
    found = []
    library = root / "src/halocline"
    folders = {entry.name for entry in library.iterdir() if entry.is_dir()}
    for room in sorted(folders - set(rules.rooms)):
        found.append(Finding(f"src/halocline/{room}", 1, "room without a line in rooms.toml"))
    for room in sorted(set(rules.rooms) - folders):
        found.append(Finding("src/halocline/rooms.toml", 1, f"room {room} has no folder"))
    includes = library_includes(root)
    found += check_floors(rules, root, includes)
    found += check_circles(includes)
    for file in source_files(root):
        found += check_file(rules, root, file)
    pages = [root / name for name in PAGES] + sorted((root / "docs").rglob("*.md"))
    for page in pages:
        if page.is_file():
            for number, line in enumerate(page.read_text().splitlines(), 1):
                if REMINDER.search(line):
                    found.append(Finding(page.relative_to(root).as_posix(), number, "reminder word in a document"))
    return found


def storeys(arrows: dict[str, list[str]]) -> list[list[str]]:
    """The names by height, the lowest first: one that may include nothing is on storey 0, others above what they
    include.
    """
    height: dict[str, int] = {}
    while len(height) < len(arrows):
        for name, targets in arrows.items():
            if name not in height and all(target in height for target in targets):
                height[name] = 1 + max((height[target] for target in targets), default=-1)
    return [[n for n in arrows if height[n] == level] for level in range(max(height.values()) + 1)]


def picture(rules: Rules) -> str:
    """The rooms, and the floors of each room that has them, the highest first, each with what it may include."""
    lines = []
    for title, arrows in [("rooms", rules.rooms), *((f"floors of {room}", f) for room, f in rules.floors.items())]:
        width = max(map(len, arrows))
        lines.append(f"{title}:")
        for level, names in reversed(list(enumerate(storeys(arrows)))):
            for name in names:
                targets = ", ".join(arrows[name])
                lines.append(f"  {level}  {name:<{width}}  ->  {targets}" if targets else f"  {level}  {name}")
        lines.append("")
    return "\n".join(lines).rstrip()


def main(arguments: list[str]) -> int:
    drawn = "--picture" in arguments
    places = [argument for argument in arguments if argument != "--picture"]
    root = Path(places[0]) if places else Path(__file__).resolve().parent.parent
    try:
        if drawn:
            print(picture(read_rules(root)))
            return 0
        found = check(root)
    except (BadRules, KeyError, tomllib.TOMLDecodeError) as error:
        print(f"src/halocline/rooms.toml: {error}", file=sys.stderr)
        return 2
    for finding in found:
        print(finding)
    files = len(source_files(root))
    print(f"rooms: {files} files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
