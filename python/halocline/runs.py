# SPDX-License-Identifier: Apache-2.0
"""Run files of several sections: reading, refusals, and the commented example, for any set of sections.

A run file is a TOML file whose tables are sections (schema.py). The caller gives the sections by name, in the order in
which `--example` prints them.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from halocline.errors import FileError, InvalidArgument
from halocline.schema import Section, plain, read_table, shown
from halocline.texts import toml_tables

Sections = Mapping[str, type[Section]]


def read_sections(
    tables: Mapping[str, Any], sections: Sections, required: Iterable[str], command: str
) -> dict[str, Section]:
    """Makes the sections from nested dictionaries, as TOML gives them; absent sections are left out.

    required: names of sections that must be present
    command: the command that prints an example; named if a section is missing
    Raises InvalidArgument: an unknown or missing section or key, a key outside sections, an impossible value.
    """
    homes = {cls.title: [f.name for f in dataclasses.fields(cls)] for cls in sections.values()}  # type: ignore[arg-type]
    for name, value in tables.items():
        if name in sections:
            continue
        home = next((title for title, names in homes.items() if name in names), None)
        if home is not None and not isinstance(value, Mapping):
            raise InvalidArgument(f"'{name}' stands outside every section; it belongs in {home}.")
        near = difflib.get_close_matches(name.lower(), sections, n=1, cutoff=0.5)
        advice = f"did you mean [{near[0]}]? " if near else ""
        listed = ", ".join(f"[{s}]" for s in sections)
        raise InvalidArgument(f"there is no section [{name}]; {advice}there are {listed}.")
    for name in required:
        if name not in tables:
            raise InvalidArgument(f"the section [{name}] is missing; `{command} --example` shows one.")
    return {name: _section(sections[name], value, homes) for name, value in tables.items()}


def _section(cls: type[Section], value: Any, homes: Mapping[str, Iterable[str]]) -> Section:
    if isinstance(value, cls):
        return value
    prepare = getattr(cls, "prepared", None)
    return read_table(cls, value if prepare is None else prepare(value), homes)


def parse(content: str, name: str) -> dict[str, Any]:
    """The tables of a TOML text; error messages begin with `name`."""
    try:
        return toml_tables(content)
    except ValueError as error:
        raise InvalidArgument(f"{name}: not a TOML file: {error}.") from None


def text_of(path: str | Path) -> str:
    """The content of a run file. Raises FileError if it cannot be read, InvalidArgument if it is not text."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidArgument(f"{path}: not a TOML file: it is not text in UTF-8.") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None


def example(sections: Sections, head: Iterable[str], shown_anyway: Iterable[str] = ()) -> str:
    """A complete run file with a comment on every key.

    head: comment lines at the top, without the comment mark
    shown_anyway: keys that are not commented out although they have no default
    """
    lines = [f"# {line}" for line in head]
    kept = set(shown_anyway)
    for name, cls in sections.items():
        lines += ["", f"[{name}]"]
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            default = default_of(field)
            absent = default is None or default is dataclasses.MISSING
            text = field.metadata["example"] or f"{field.name} = {shown(plain(default))}"
            off = absent and f"{name}.{field.name}" not in kept
            lines += [f"# {field.metadata['note']}", f"{'# ' if off else ''}{text}"]
    return "\n".join(lines) + "\n"


def default_of(field: dataclasses.Field) -> Any:
    """The default of a key; MISSING for one that must be given."""
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
