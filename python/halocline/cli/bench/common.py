# SPDX-License-Identifier: Apache-2.0
"""What the benchmark commands share: options, the machine's lock, and how results are shown."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from halocline.cli.console import Console, speaks, write_json
from halocline.errors import InvalidArgument

Threads = Annotated[
    str, typer.Option("--threads", metavar="N[,N...]", help="OpenMP threads of each process, a case each.")
]
Seconds = Annotated[float, typer.Option(help="Seconds to measure each case and each ceiling.")]
LockTimeout = Annotated[
    float, typer.Option(help="Seconds to wait for another benchmark on this machine before giving up.")
]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")]
LinkReals = Annotated[
    str, typer.Option("--link-reals", metavar="N[,N]", help="18, 12 or both: reals stored of a link.")
]
ColumnCounts = Annotated[
    str, typer.Option("--columns", metavar="N[,N...]", help="Right-hand sides that share links, a case each.")
]
Local = Annotated[
    list[str],
    typer.Option("--local", metavar="XxYxZxT", help="Sites of each process; several by commas or repetition."),
]


def split(texts: list[str] | str) -> list[str]:
    """The items of options that may be repeated, joined by commas, or both."""
    return [item for text in ([texts] if isinstance(texts, str) else texts) for item in text.split(",") if item]


def volumes(texts: list[str], axes: int = 4, example: str = "8x8x8x16") -> list[list[int]]:
    found = []
    for text in split(texts):
        numbers = text.lower().split("x")
        if len(numbers) != axes or not all(n.isdigit() and int(n) > 0 for n in numbers):
            raise InvalidArgument(f"--local {text}: give {axes} extents such as {example}.")
        found.append([int(n) for n in numbers])
    return found


def counts(option: str, text: str, example: str) -> list[int]:
    """Positive numbers, joined by commas."""
    numbers = split(text)
    if not numbers or not all(n.isdigit() and int(n) > 0 for n in numbers):
        raise InvalidArgument(f"{option} {text}: give positive numbers such as {example}.")
    return [int(n) for n in numbers]


def real_numbers(option: str, text: str, example: str) -> list[float]:
    """Positive real numbers, joined by commas."""
    try:
        found = [float(n) for n in split(text)]
    except ValueError:
        found = []
    if not found or not all(0 < n < math.inf for n in found):
        raise InvalidArgument(f"{option} {text}: give positive numbers such as {example}.")
    return found


def thread_counts(text: str) -> list[int]:
    return counts("--threads", text, "1,2")


def chosen(option: str, texts: list[str] | str, known: tuple[str, ...]) -> list[str]:
    """The named ones, or all of them."""
    names = split(texts)
    if names == ["all"]:
        return list(known)
    for name in names:
        if name not in known:
            raise InvalidArgument(f"{option} {name}: give all or some of {', '.join(known)}.")
    return names


@contextlib.contextmanager
def alone(timeout: float) -> Iterator[None]:
    """The lock of this machine, held by the first process for all."""
    from halocline.bench import lock
    from halocline.comm import on_root, world

    group = world()
    with contextlib.ExitStack() as held:
        on_root(group, lambda: held.enter_context(lock.exclusive(timeout)))
        yield
        group.barrier()


def measure(console: Console, cases: list[tuple[str, Callable[[], Any]]], timeout: float) -> list[Any]:
    """Runs the cases one after another, saying which; a case gives one result or several."""
    results: list[Any] = []
    with alone(timeout), console.stage("benchmark", len(cases)) as advance:
        for i, (name, case) in enumerate(cases):
            advance(i, name)
            found = case()
            results += found if isinstance(found, list) else [found]
        advance(len(cases), f"{len(cases)} cases")
    return results


def report(
    console: Console, results: list[Any], json: Path | None, markdown: bool = False, plot: Path | None = None
) -> None:
    """The results as a table for each kind, what was skipped, the machine, and the files that were asked for."""
    from halocline.bench import table

    write_json(json, results)
    for kind in dict.fromkeys(table.kind(r) for r in table.measured(results)):
        some = [r for r in results if table.kind(r) == kind]
        for line in (table.markdown(some) if markdown else table.render(some)).splitlines():
            console.line(line)
    for sentence in table.skipped(results):
        console.line(sentence)
    shown = table.measured(results)
    if shown:
        said = table.ceiling_text(shown[-1])
        if said:
            console.line(said)
        load, cores = shown[-1].get("load_average") or 0.0, os.cpu_count() or 1
        if load > cores:
            console.warning(
                f"the load is {load:.1f} on {cores} cores: other programs share them, and wall times say little; "
                "compare the fractions, or the CPU time on one thread."
            )
    if plot is not None and speaks():
        from halocline.bench import plots

        plots.draw(plot, results)


def later(function: Callable[..., Any], *arguments: Any, **options: Any) -> Callable[[], Any]:
    """A call for later."""
    return lambda: function(*arguments, **options)
