# SPDX-License-Identifier: Apache-2.0
"""Run-file sections as dataclasses that check themselves.

A section is a frozen dataclass derived from `Section`. `key()` makes each field; it holds the default, the check and
the comment. So one object serves the reader of run files, the commented example of `--example`, the documentation and
Python callers, who get the same error messages. A check takes a value as TOML gives it and returns it in its final
form, or raises `Unfit(expected)`; this module makes the sentence around it.

Python functions check their arguments with the same checks (`takes`), and distribute keywords over the sections that
have them (`sorted_keys`), so a caller gets the messages of the run file. NumPy's numbers and arrays count as Python's.
"""

from __future__ import annotations

import dataclasses
import datetime
import difflib
import functools
import inspect
import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from halocline.errors import InvalidArgument
from halocline.texts import LARGEST

Check = Callable[[Any], Any]
REQUIRED: Any = object()


class Unfit(Exception):
    """Raised by a check; the text describes a valid value."""


def key(default: Any, check: Check, note: str, *, example: str | None = None) -> Any:
    """A field of a section.

    default: value if the key is absent, or REQUIRED; None means absent
    check: see the module; not applied to a default of None
    note: the comment that `--example` prints
    example: TOML text that `--example` prints instead of the default; it is commented out if the default is None
    """
    metadata = {"check": check, "note": note, "example": example}
    if default is REQUIRED:
        return dataclasses.field(metadata=metadata)
    if isinstance(default, (list, dict)):
        return dataclasses.field(default_factory=lambda: default.copy(), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


class Given(float):
    """A number given as a text with its unit. It behaves as a number; the original text is kept for echoing."""

    text: str

    def __new__(cls, number: float, text: str) -> Given:
        self = super().__new__(cls, number)
        self.text = text
        return self

    def __getnewargs__(self) -> tuple[float, str]:
        return float(self), self.text


def given_texts(parameters: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """section -> key -> original text, for all keys whose number was given with its unit."""

    def holds_one(value: Any) -> bool:
        if isinstance(value, Mapping):
            return any(holds_one(v) for v in value.values())
        return isinstance(value, Given) or (isinstance(value, (list, tuple)) and any(holds_one(v) for v in value))

    found = {
        section: {name: shown(value) for name, value in values.items() if holds_one(value)}
        for section, values in parameters.items()
        if isinstance(values, Mapping)
    }
    return {section: values for section, values in found.items() if values}


class Section:
    """Base of all sections; error messages name a section by its `title`."""

    title: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value is None and field.default is None:
                continue
            object.__setattr__(self, field.name, checked(field, value, self.title))
        self.check_together()

    def check_together(self) -> None:
        """Checks that need several keys; raises InvalidArgument."""

    def as_toml_values(self) -> dict[str, Any]:
        """The section as plain values that JSON and TOML can hold; absent keys are left out."""
        return {
            f.name: plain(getattr(self, f.name))
            for f in dataclasses.fields(self)  # type: ignore[arg-type]
            if getattr(self, f.name) is not None
        }


def plain(value: Any) -> Any:
    """A value in a form that JSON and TOML can hold: sections as tables, phases as -1, 1 or { phase = ... }."""
    if isinstance(value, Section):
        return value.as_toml_values()
    if isinstance(value, complex):
        if value.imag == 0.0:
            return int(value.real)
        return {"phase": math.atan2(value.imag, value.real) / math.pi}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def checked(field: dataclasses.Field, value: Any, title: str) -> Any:
    try:
        return field.metadata["check"](value)
    except Unfit as unfit:
        raise InvalidArgument(f"{title} {field.name} = {shown(value)}: expected {unfit}.") from None


def shown(value: Any) -> str:
    """The value as in a run file, shortened."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Given):
        text = f'"{value.text}"'
    elif isinstance(value, str):
        text = f'"{value}"'
    elif isinstance(value, Mapping):
        text = "{ " + ", ".join(f"{k} = {shown(v)}" for k, v in value.items()) + " }"
    elif isinstance(value, (list, tuple)):
        text = "[" + ", ".join(shown(v) for v in value) + "]"
    elif hasattr(value, "dtype") and hasattr(value, "size"):
        return shown(value.tolist()) if value.size <= 16 else f"an array of the shape {tuple(value.shape)}"
    elif value is None or isinstance(value, (numbers.Number, datetime.date, datetime.time)):
        text = str(value)
    else:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def printable(sentence: str) -> str:
    """The sentence on one line: line breaks and other control characters from a user's text are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in sentence)


def read_table(cls: type[Section], table: Any, homes: Mapping[str, Iterable[str]] | None = None) -> Any:
    """Makes a section from a TOML table.

    homes: section title -> its keys, so that an error about a misplaced key can name the right section
    Raises InvalidArgument: unknown or missing key, wrong type, impossible value.
    """
    if not isinstance(table, Mapping):
        kind = f", such as kind = {shown(table)}" if isinstance(table, str) and hasattr(cls, "kind") else ""
        raise InvalidArgument(f"{cls.title} = {shown(table)}: expected a table of keys{kind}.")
    fields = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    refuse_unknown(cls.title, table, fields, homes)
    for name, field in fields.items():
        no_default = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if name not in table and no_default:
            raise InvalidArgument(f"{cls.title} needs the key '{name}': {field.metadata['note']}.")
    return cls(**table)


def changed(section: Any, given: Mapping[str, Any], homes: Mapping[str, Iterable[str]] | None = None) -> Any:
    """A copy of a section in which some keys have other values. homes: as for read_table().

    Raises InvalidArgument for a key that the section does not have, and for impossible values.
    """
    refuse_unknown(section.title, given, [f.name for f in dataclasses.fields(section)], homes)
    return dataclasses.replace(section, **given) if given else section


def refuse_unknown(
    title: str, given: Iterable[str], known: Iterable[str], homes: Mapping[str, Iterable[str]] | None = None
) -> None:
    """Raises InvalidArgument for the first name that is not known, with the nearest one. homes: as for read_table()."""
    known = list(known)
    for name in given:
        if name not in known:
            raise InvalidArgument(f"{title} has no key '{name}'{advice(name, known, title, homes or {})}.")


def advice(name: str, known: Iterable[str], title: str, homes: Mapping[str, Iterable[str]]) -> str:
    """'; did you mean ...' for a key that this section does not have; may be empty."""
    known = list(known)
    if f"[{name}]" in homes:
        return f"; the section [{name}] has {', '.join(homes[f'[{name}]'])}"
    for home, names in homes.items():
        if home != title and name in names:
            return f"; '{name}' belongs in {home}"
    everywhere = {n: home for home, names in homes.items() for n in names}
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    far = difflib.get_close_matches(name.lower(), list(everywhere), n=1, cutoff=0.7)
    if far and not (near and _likeness(name, near[0]) >= _likeness(name, far[0])):
        return f"; did you mean '{far[0]}' in {everywhere[far[0]]}"
    if near:
        return f"; did you mean '{near[0]}'"
    return f"; it has {', '.join(known)}"


def _likeness(given: str, known: str) -> float:
    return difflib.SequenceMatcher(None, known, given.lower()).ratio()


def sorted_keys(
    title: str, given: Mapping[str, Any], *sections: Mapping[str, Any], known: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Distributes the keywords of a call: for each section a dictionary of the keywords that it has.

    title: name of the called function; sections: mappings with the names of their keys; known: other keywords of the
        call
    Raises InvalidArgument for a keyword that no section has, with the nearest one.
    """
    refuse_unknown(title, given, [*known, *(name for section in sections for name in section)])
    return [{k: v for k, v in given.items() if k in section} for section in sections]


def takes(**checks: Check) -> Callable[[Callable], Callable]:
    """Decorates a function whose arguments pass these checks, by name; a default of None is not checked.

    A call with an unknown keyword, without a required one, or with a value that does not fit raises InvalidArgument,
    with the messages of the run file.
    """

    def decorate(function: Callable) -> Callable:
        title = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
        signature = inspect.signature(function)
        parameters = signature.parameters
        takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
        absent = {name for name in checks if parameters[name].default is None}

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not takes_any:
                sorted_keys(title, kwargs, known=[name for name in parameters if name != "self"])
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                raise InvalidArgument(f"{title}: {error}.") from None
            for name, check in checks.items():
                if name not in bound.arguments or (name in absent and bound.arguments[name] is None):
                    continue
                value = bound.arguments[name]
                try:
                    bound.arguments[name] = check(value)
                except Unfit as unfit:
                    raise InvalidArgument(f"{title}: {name} = {shown(value)}: expected {unfit}.") from None
            return function(*bound.args, **bound.kwargs)

        return call

    return decorate


def pythonic(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's numbers and lists; other values unchanged."""
    return value.tolist() if hasattr(value, "tolist") else value


# ---- checks ------------------------------------------------------------------------------------------------------


def number(
    *, above: float = -math.inf, at_least: float = -math.inf, below: float = math.inf, at_most: float = math.inf
) -> Check:
    """A finite real number in the open or half-open range."""
    limits = []
    if above > -math.inf:
        limits.append(f"above {above:g}")
    if at_least > -math.inf:
        limits.append(f"of at least {at_least:g}")
    if below < math.inf:
        limits.append(f"below {below:g}")
    if at_most < math.inf:
        limits.append(f"at most {at_most:g}")
    expected = "a number" + (" " + " and ".join(limits) if limits else "")

    def check(value: Any) -> float:
        value = pythonic(value)
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise Unfit(expected)
        if isinstance(value, int) and abs(value) > LARGEST or not math.isfinite(value):
            raise Unfit(expected)
        if not (above < value < below and at_least <= value <= at_most):
            raise Unfit(expected)
        return float(value)

    return check


def integer(*, at_least: int, at_most: int | None = None) -> Check:
    """An integer in the closed range."""
    expected = f"an integer of at least {at_least}" + (f" and at most {at_most}" if at_most is not None else "")

    def check(value: Any) -> int:
        value = pythonic(value)
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise Unfit(expected)
        if value < at_least or (at_most is not None and value > at_most):
            raise Unfit(expected)
        if value > LARGEST:
            raise Unfit(f"{expected}, and of at most 63 bits")
        return int(value)

    return check


def boolean(value: Any) -> bool:
    """True or false."""
    value = pythonic(value)
    if not isinstance(value, bool):
        raise Unfit("true or false")
    return value


def instance(cls: type, expected: str) -> Check:
    """An object of a class."""

    def check(value: Any) -> Any:
        if not isinstance(value, cls):
            raise Unfit(expected)
        return value

    return check


def text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise Unfit("a text in quotes")
    return value


def choice(*words: str) -> Check:
    """One of the words; the error for another word names the nearest one."""
    listed = ", ".join(f'"{w}"' for w in words[:-1]) + (" or " if len(words) > 1 else "") + f'"{words[-1]}"'

    def check(value: Any) -> str:
        if isinstance(value, str) and value in words:
            return value
        near = difflib.get_close_matches(value.lower(), words, n=1) if isinstance(value, str) else []
        raise Unfit(listed + (f' (did you mean "{near[0]}"?)' if near else ""))

    return check


def array(entry: Check, expected: str, *, length: int | None = None, at_least: int = 0) -> Check:
    """A list whose entries pass `entry`; `expected` describes the whole list."""

    def check(value: Any) -> tuple:
        value = pythonic(value)
        if not isinstance(value, (list, tuple)) or len(value) < at_least:
            raise Unfit(expected)
        if length is not None and len(value) != length:
            raise Unfit(expected)
        try:
            return tuple(entry(v) for v in value)
        except Unfit as unfit:
            raise Unfit(f"{expected}, each {unfit}") from None

    return check


def table(cls: type[Section]) -> Check:
    """An inline table that is a section of its own."""

    def check(value: Any) -> Section:
        return value if isinstance(value, cls) else read_table(cls, value)

    return check


def phase(value: Any) -> complex:
    """A boundary factor: 1, -1, or { phase = p } for exp(i pi p)."""
    expected = "1, -1 or { phase = p } for a factor exp(i pi p)"
    value = pythonic(value)
    if isinstance(value, bool):
        raise Unfit(expected)
    if isinstance(value, complex):
        if abs(abs(value) - 1.0) > 1e-12:
            raise Unfit(expected)
        return value
    if isinstance(value, (int, float)) and value in (1, -1):
        return complex(value)
    if isinstance(value, Mapping) and set(value) == {"phase"}:
        angle = value["phase"]
        if isinstance(angle, (int, float)) and not isinstance(angle, bool) and math.isfinite(angle):
            turn = math.fmod(angle, 2.0)
            if turn in (0.0, 1.0, -1.0):
                return complex(1.0 if turn == 0.0 else -1.0)
            return complex(math.cos(math.pi * turn), math.sin(math.pi * turn))
    raise Unfit(expected)
