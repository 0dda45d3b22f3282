# SPDX-License-Identifier: Apache-2.0
"""Common parts of the benchmark commands: options, the machine's lock, and the display of results."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from halocline.cli.common import Json
from halocline.cli.console import Console, speaks, write_json
from halocline.errors import InvalidArgument
from halocline.texts import whole_number

Case = tuple[str, Callable[[], Any]]
"""The text shown during a measurement, and the function that measures."""

Threads = Annotated[
    str, typer.Option("--threads", metavar="N[,N...]", help="OpenMP threads of each process, a case each.")
]
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
    """The items of an option that may be repeated, given as a comma-separated list, or both."""
    return [item for text in ([texts] if isinstance(texts, str) else texts) for item in text.split(",") if item]


def extents(option: str, texts: list[str], axes: int, example: str) -> list[list[int]]:
    """Positive numbers joined by x, one for each axis."""
    found = []
    for text in split(texts):
        numbers = text.lower().split("x")
        values = [whole_number(n) for n in numbers]
        if len(numbers) != axes or not all(values):
            raise InvalidArgument(f"{option} {text[:60]}: give {axes} extents such as {example}.")
        found.append(values)
    return found


def volumes(texts: list[str], axes: int = 4, example: str = "8x8x8x16") -> list[list[int]]:
    return extents("--local", texts, axes, example)


def counts(option: str, text: str, example: str, at_least: int = 1) -> list[int]:
    """Whole numbers, joined by commas; positive ones, or of at least 0."""
    numbers = [whole_number(n) for n in split(text)]
    if not numbers or any(n is None or n < at_least for n in numbers):
        kind = "positive" if at_least else "whole"
        raise InvalidArgument(f"{option} {text[:60]}: give {kind} numbers such as {example}.")
    return numbers  # type: ignore[return-value]


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
    """The named items, or all of them for `all`."""
    names = split(texts)
    if names == ["all"]:
        return list(known)
    for name in names:
        if name not in known:
            raise InvalidArgument(f"{option} {name}: give all or some of {', '.join(known)}.")
    return names


@contextlib.contextmanager
def alone(timeout: float) -> Iterator[None]:
    """Holds the lock of this machine; the first process holds it for all."""
    from halocline.bench import lock
    from halocline.comm import on_root, world

    group = world()
    with contextlib.ExitStack() as held:
        on_root(group, lambda: held.enter_context(lock.exclusive(timeout)))
        yield
        group.barrier()


@dataclasses.dataclass
class Bench:
    """The options common to all benchmarks, and the processing of their cases."""

    seconds: Annotated[float, typer.Option(help="Seconds to measure each case and each ceiling.")] = 0.5
    lock_timeout: Annotated[
        float, typer.Option(help="Seconds to wait for another benchmark on this machine before giving up.")
    ] = 600.0
    json: Json = None
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the times; .png, .svg or .pdf.")] = None
    console: Console = dataclasses.field(default_factory=Console)
    device: ClassVar[str] = "cpu"
    energy_line: ClassVar[str] = ""
    """Who counts the energy of the cases, or why nobody does; the objects have their own."""

    def run(self, cases: list[Case]) -> list[Any]:
        """Measures the cases, and reports them."""
        results = self.measure(cases)
        self.report(results)
        return results

    def measure(self, cases: list[Case]) -> list[Any]:
        """Runs the cases one after another and announces each; a case gives one result or several."""
        results: list[Any] = []
        with alone(self.lock_timeout), self.counted(), self.console.stage("benchmark", len(cases)) as advance:
            for i, (name, case) in enumerate(cases):
                advance(i, name)
                found = case()
                results += found if isinstance(found, list) else [found]
            advance(len(cases), f"{len(cases)} cases")
        for result in results:
            with_energy(result)
        return results

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """The cases measured meanwhile count their energy, if the machine has a counter that can be read."""
        from halocline import _halocline
        from halocline.bench import clock
        from halocline.comm import world
        from halocline.energy import Meter

        meter = Meter(world(), self.device)
        used = meter.used()
        self.energy_line = f"by {used.sources}" if used.joules is not None else f"no readable counter: {used.reason}"
        clock.energy_counter = meter.joules if used.joules is not None else None
        _halocline.bench.set_energy_counter(clock.energy_counter)
        try:
            yield
        finally:
            clock.energy_counter = None
            _halocline.bench.set_energy_counter(None)
            meter.stop()

    def report(self, results: list[Any]) -> None:
        """Shows the results as a table for each kind, the skipped cases and the machine, and writes the requested
        files."""
        from halocline.bench import table

        console = self.console
        write_json(self.json, results)
        for kind in dict.fromkeys(table.kind(r) for r in table.measured(results)):
            some = [r for r in results if table.kind(r) == kind]
            for line in (table.markdown(some) if self.markdown else table.render(some)).splitlines():
                console.line(line)
        for sentence in table.skipped(results):
            console.line(sentence)
        shown = table.measured(results)
        if shown and self.energy_line:
            console.line(f"energy: {self.energy_line}")
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
        if self.plot is not None and speaks():
            from halocline.bench import plots

            plots.draw(self.plot, results)


def with_energy(result: dict[str, Any]) -> None:
    """Completes the key `energy` of a result: nulls where it was not counted, and joules an iteration of solvers."""
    if "skipped" in result:
        return
    energy = result.setdefault("energy", {"joules_a_run": None, "watts": None, "gflops_per_watt": None})
    iterations = result.get("result", {}).get("iterations")
    if result["bench"] == "solver":  # an execution is a whole solve
        each = energy["joules_a_run"]
        energy["joules_an_iteration"] = each / iterations if each is not None and iterations else None


def command(app: typer.Typer, function: Callable[..., None], seconds: float, plot: bool = False) -> None:
    """Adds a benchmark to the command line with its own options and those of `Bench`, which it gets as `bench`.

    seconds: the default of that option; plot: whether the benchmark can draw its results
    """
    own = inspect.signature(function, eval_str=True).parameters
    shared = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY, default=seconds if p.name == "seconds" else p.default)
        for p in inspect.signature(Bench, eval_str=True).parameters.values()
        if p.name != "console" and (plot or p.name != "plot")
    ]

    @functools.wraps(function)
    def with_shared(**options: Any) -> None:
        function(bench=Bench(**{p.name: options.pop(p.name) for p in shared}), **options)

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own.values() if p.name != "bench"] + shared
    with_shared.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_shared.__annotations__ = {p.name: p.annotation for p in parameters}
    app.command()(with_shared)


def later(function: Callable[..., Any], *arguments: Any, **options: Any) -> Callable[[], Any]:
    """Makes a function that makes this call when it is called itself."""
    return lambda: function(*arguments, **options)
