# SPDX-License-Identifier: Apache-2.0
"""The base of all run files: reading, refusals, the commented example, and keys that several of them have.

A run file is a TOML file whose tables are sections (schema.py). `qcd.runfile.Run` and `tddft.runfile.Run` name theirs.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from halocline.errors import FileError, InvalidArgument
from halocline.schema import Section, Unfit, key, number, plain, printable, read_table, shown, text
from halocline.texts import toml_tables

Sections = Mapping[str, type[Section]]


class RunFile:
    """Base of a whole run file: a frozen dataclass with a field for each section, under the section's name."""

    sections: ClassVar[Sections] = {}
    """In the order of `--example`."""
    required: ClassVar[tuple[str, ...]] = ()
    command: ClassVar[str] = ""
    """The command that prints an example, as refusals name it."""
    example_head: ClassVar[tuple[str, ...]] = ()
    example_keys: ClassVar[tuple[str, ...]] = ()
    """Keys "section.key" without a default that the example sets."""

    @classmethod
    def from_table(cls, tables: Mapping[str, Any]) -> Self:
        """Makes a run from nested dictionaries, as TOML gives them. Raises InvalidArgument."""
        return cls(**read_sections(tables, cls.sections, cls.required, cls.command))

    @classmethod
    def parse(cls, content: str, name: str) -> Self:
        """Reads the text of a run file; error messages begin with `name`."""
        tables = parse(content, name)
        try:
            return cls.from_table(tables)
        except InvalidArgument as error:
            raise InvalidArgument(f"{name}: {printable(str(error))}") from None

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Reads and checks a run file.

        Raises FileError if it cannot be read, InvalidArgument for the first error in it. Collective: no.
        """
        return cls.parse(text_of(path), str(path))

    @classmethod
    def example(cls) -> str:
        """A complete run file with a comment on every key, as `--example` prints it."""
        return example(cls.sections, cls.example_head, cls.example_keys)

    def as_toml_values(self) -> dict[str, Any]:
        """Every parameter, including defaults, as plain values in the units of the library."""
        return {name: getattr(self, name).as_toml_values() for name in self.sections}


def digest(values: Any) -> str:
    """SHA-256 of plain values, in hexadecimal digits."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def digest_of_file(path: str) -> str:
    """SHA-256 of a file's bytes, in hexadecimal digits. Raises FileError."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None


def hdf5_name(value: Any) -> str:
    """A check: a name that ends in .h5 or .hdf5."""
    name = text(value)
    if not name.endswith((".h5", ".hdf5")):
        raise Unfit('a file name ending in ".h5"')
    return name


def time_limit_key() -> Any:
    """The key [parallel] time_limit."""
    note = "seconds that a process waits for others in the work before the run ends with an error"
    return key(300.0, number(above=0.0), note)


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


def example(
    sections: Sections,
    head: Iterable[str],
    shown_anyway: Iterable[str] = (),
    instead: Mapping[str, str] | None = None,
) -> str:
    """A complete run file with a comment on every key.

    head: comment lines at the top, without the comment mark
    shown_anyway: keys that are not commented out although they have no default
    instead: TOML text for some keys, such as {"grid.step": "step = 2.0"}, not commented out
    """
    texts = instead or {}
    lines = [f"# {line}" for line in head]
    kept = {*shown_anyway, *texts}
    for name, cls in sections.items():
        lines += ["", f"[{name}]"]
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            default = default_of(field)
            absent = default is None or default is dataclasses.MISSING
            text = field.metadata["example"] or f"{field.name} = {shown(plain(default))}"
            text = texts.get(f"{name}.{field.name}", text)
            off = absent and f"{name}.{field.name}" not in kept
            lines += [f"# {field.metadata['note']}", f"{'# ' if off else ''}{text}"]
    return "\n".join(lines) + "\n"


def default_of(field: dataclasses.Field) -> Any:
    """The default of a key; MISSING for one that must be given."""
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
