#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the cycles of kernels on a CPU that is not here, by a model of its pipelines (llvm-mca).

    tools/count_cycles.py                             D_in on a domain of 16x6x4x3 sites, and the three x-shifts
    tools/count_cycles.py --domain 16x6x8x6           another domain
    tools/count_cycles.py --flags=-fno-schedule-insns further flags of the compiler
    tools/count_cycles.py --json cycles.json
    tools/count_cycles.py --source FILE.cpp --sites 1152 -- ARGUMENTS    another program

The kernel is compiled for the CPU by a cross compiler with the flags of a release. The emulator runs the program, one
instruction at a time, and writes down their addresses. What ran between the calls of count_begin() and count_end()
(tools/cycles/count.hpp) is given to llvm-mca as one long sequence. So tiles with and without neighbours count as often
as they occur, and loops, calls and tables count too. Work of the program before the marks does not.

What the model has: pipelines, latencies, a scheduler of 60 and a window of 180 instructions, four of which are
dispatched a cycle (as A64FX decodes; the model's own number is six). What it has not: caches, all loads hit the first
level; loads that cross a line; the distance between a store and a load of the same memory; mispredicted branches.
Figures are therefore lower bounds of cycles, and good for comparing kernels.

LLVM 14 has no entry for FMSB; it is counted as FMLS, the same operation with another destination. Calls and returns are
counted as branches.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RELEASE = ["-O3", "-DNDEBUG", "-std=c++20", "-ffp-contract=fast", "-fno-math-errno", "-static"]


@dataclass(frozen=True)
class Machine:
    """A CPU: how to compile for it, to emulate it, and what of it the model needs."""

    flags: tuple[str, ...]
    emulated: str
    model: str
    bits: int  # of a register
    dispatched: int  # instructions a cycle
    float_pipes: tuple[str, ...]
    memory_pipes: tuple[str, ...]

    @property
    def peak(self) -> int:
        """Flops a cycle in float: a multiply-add in each pipeline."""
        return 2 * len(self.float_pipes) * self.bits // 32


MACHINES = {
    "a64fx": Machine(
        flags=("-mcpu=a64fx", "-msve-vector-bits=512"),
        emulated="a64fx",
        model="a64fx",
        bits=512,
        dispatched=4,
        float_pipes=("A64FXIPFLA", "A64FXIPFLB"),
        memory_pipes=("A64FXIPEAGA", "A64FXIPEAGB"),
    )
}
CONFIGURATION = {
    "HALOCLINE_HAVE_MPI": "0", "PROJECT_VERSION": "counted", "HALOCLINE_ISA_NAME": "counted",
    "HALOCLINE_SVE_BITS": "512", "CMAKE_CXX_COMPILER_ID": "any", "CMAKE_CXX_COMPILER_VERSION": "",
    "CMAKE_BUILD_TYPE": "counted", "HALOCLINE_CPU_FEATURES": "",
}  # fmt: skip
WAYS = ("loads", "permute", "select")
SHIFTED_TILES = 72


@dataclass
class Count:
    """Of one program, per site."""

    kernel: str
    sites: int
    instructions: float
    cycles: float
    float_pipes: float  # cycles that the busier one works
    memory_pipes: float
    spills: float  # vectors that the compiler puts on the stack for want of registers and loads again
    flops: float | None = None
    of_peak: float | None = None
    result: str = field(default="", repr=False)


def unavailable_reason(compiler: str) -> str:
    """Why nothing can be counted here; empty when it can."""
    for tool, package in (
        (compiler, "g++-aarch64-linux-gnu"),
        ("qemu-aarch64", "qemu-user"),
        ("llvm-mca", "llvm"),
        ("aarch64-linux-gnu-objdump", "binutils-aarch64-linux-gnu"),
    ):
        if shutil.which(tool) is None:
            return f"there is no {tool} in PATH: apt-get install {package}"
    return ""


def run(command: list[str], **options) -> str:
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command[:3])} ... failed with status {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def compiled(source: Path, machine: Machine, compiler: str, further: list[str], folder: Path) -> Path:
    """The program of one source, with the headers of the library and a config.hpp of its own."""
    text = (ROOT / "src/halocline/core/config.hpp.in").read_text()
    config = folder / "include/halocline/core/config.hpp"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(re.sub(r"@(\w+)@", lambda m: CONFIGURATION.get(m[1], "0"), text))
    program = folder / source.stem
    target = ["--target=aarch64-linux-gnu"] if "clang" in compiler else []
    parts = re.findall(r'"halocline/core/(aligned_array|machine)\.hpp"', source.read_text())
    sources = [str(source), *(str(ROOT / f"src/halocline/core/{part}.cpp") for part in parts)]
    includes = [f"-I{ROOT}/src", f"-I{ROOT}/tools/cycles", f"-I{folder}/include"]
    run([compiler, *target, *RELEASE, *machine.flags, *further, *includes, *sources, "-o", str(program)])
    return program


def disassembled(program: Path) -> tuple[dict[int, str], dict[str, int]]:
    """Instructions by address, and the addresses of functions."""
    texts, functions = {}, {}
    for line in run(["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", str(program)]).splitlines():
        if named := re.match(r"^([0-9a-f]+) <(.*)>:$", line):
            functions[named[2]] = int(named[1], 16)
        elif found := re.match(r"^\s+([0-9a-f]+):\s+(.*)$", line):
            texts[int(found[1], 16)] = found[2].split("//")[0].strip()
    return texts, functions


def traced(program: Path, arguments: list[str], machine: Machine) -> tuple[list[str], str]:
    """The instructions that ran between the marks, and what the program printed."""
    texts, functions = disassembled(program)
    begin, end = functions["count_begin"], functions["count_end"]
    log = program.with_suffix(".log")
    # The name of the option since QEMU 8.1, and before.
    known = subprocess.run(["qemu-aarch64", "-h"], capture_output=True, text=True).stdout
    one_by_one = "-one-insn-per-tb" if "one-insn-per-tb" in known else "-singlestep"
    emulator = ["qemu-aarch64", "-cpu", machine.emulated, one_by_one, "-d", "exec,nochain", "-D", str(log)]
    printed = run([*emulator, str(program), *arguments])
    addresses, counting = [], False
    with log.open() as lines:
        for line in lines:
            at = re.match(r"Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/", line)
            if at is None:
                continue
            address = int(at[1], 16)
            if address == begin:
                counting = True
            elif address == end:
                break
            elif counting:
                addresses.append(address)
    log.unlink()
    # The mark's own return comes first.
    return [texts[address] for address in addresses[1:]], printed.strip()


def for_model(text: str) -> str:
    """An instruction as llvm-mca takes it: without addresses of the program."""
    text = re.sub(r"\s<.*>$", "", text)
    text = re.sub(r"^(?:b|bl)\s+[0-9a-f]+$|^ret$|^blr?\s+x\d+$|^br\s+x\d+$", "b #16", text)
    text = re.sub(r"^(b\.\w+)\s+[0-9a-f]+$", r"\1 #16", text)
    text = re.sub(r"^(cbn?z)\s+(\w+), [0-9a-f]+$", r"\1 \2, #16", text)
    text = re.sub(r"^(tbn?z)\s+(\w+), (#\w+), [0-9a-f]+$", r"\1 \2, \3, #16", text)
    text = re.sub(r"^(adrp?)\s+(\w+), [0-9a-f]+$", r"\1 \2, #0", text)
    return re.sub(r"^fmsb\b", "fmls", text)


def counted(kernel: str, program: Path, arguments: list[str], sites: int, machine: Machine, compiler: str) -> Count:
    texts, printed = traced(program, arguments, machine)
    listing = program.with_suffix(".s")
    listing.write_text("\n".join(map(for_model, texts)) + "\n")
    said = run(
        ["llvm-mca", "-mtriple=aarch64", f"-mcpu={machine.model}", f"-dispatch={machine.dispatched}"]
        + ["-iterations=1", "-instruction-info=0", str(listing)]
    )
    cycles = int(re.search(r"Total Cycles:\s+(\d+)", said)[1])
    names = re.findall(r"^\[(\d+)\]\s+- (\S+)$", said, re.MULTILINE)
    heads, values = re.search(r"Resource pressure per iteration:\n(.*)\n(.*)\n", said).groups()
    pressure = dict(zip(re.findall(r"\[(\d+)\]", heads), values.split(), strict=True))
    busy = {name: float(value) if value != "-" else 0.0 for number, name in names for value in [pressure[number]]}
    # g++ loads by LD1 what the source loads, and by LDR what it had put on the stack.
    spilled = r"^ldr\s+z\d+, \[sp" if "clang" in compiler else r"^ldr\s+z\d+,"
    return Count(
        kernel,
        sites,
        len(texts) / sites,
        cycles / sites,
        max(busy[name] for name in machine.float_pipes) / sites,
        max(busy[name] for name in machine.memory_pipes) / sites,
        sum(re.match(spilled, text) is not None for text in texts) / sites,
        result=printed,
    )


def inside_flops(domain: list[int]) -> float:
    """Operations of D_in a site, averaged over the domain (docs/benchmarks/schwarz.md, our own count)."""
    missing = sum(2.0 / extent for extent in domain)
    return (8 - missing) * 168 - 24 + 504 + 24


def count_domain(domain: list[int], machine: Machine, compiler: str, flags: list[str], folder: Path) -> list[Count]:
    """Without prefetching, and one tile ahead."""
    program = compiled(ROOT / "tests/qcd/schwarz/count_domain.cpp", machine, compiler, flags, folder)
    sites = domain[0] * domain[1] * domain[2] * domain[3]
    counts = []
    for ahead, words in ((0, ""), (1, ", prefetching")):
        name = "D_in " + "x".join(map(str, domain)) + words
        count = counted(name, program, [*map(str, domain), str(ahead)], sites, machine, compiler)
        count.flops = inside_flops(domain)
        count.of_peak = count.flops / (count.cycles * machine.peak)
        counts.append(count)
    return counts


def count_shifts(machine: Machine, compiler: str, flags: list[str], folder: Path) -> list[Count]:
    program = compiled(ROOT / "tools/cycles/x_shift.cpp", machine, compiler, flags, folder)
    sites = SHIFTED_TILES * machine.bits // 32
    return [
        counted(f"x-shift, {where}, {way}", program, [way, where, str(SHIFTED_TILES)], sites, machine, compiler)
        for where in ("edge", "inner")
        for way in WAYS
    ]


def table(counts: list[Count]) -> list[str]:
    rows = [("kernel", "instructions", "cycles", "float pipes", "load/store", "spills", "of the peak")]
    for c in counts:
        share = f"{100 * c.of_peak:.0f} %" if c.of_peak is not None else "-"
        numbers = (f"{n:.2f}" for n in (c.instructions, c.cycles, c.float_pipes, c.memory_pipes, c.spills))
        rows.append((c.kernel, *numbers, share))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(text.ljust(widths[0]) if i == 0 else text.rjust(widths[i]) for i, text in enumerate(row))
        for row in rows
    ]
    return ["a site:", *lines]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--machine", choices=sorted(MACHINES), default="a64fx")
    parser.add_argument("--compiler", default="aarch64-linux-gnu-g++", help="a cross compiler, g++ or clang++")
    parser.add_argument("--flags", default="", help="further flags of the compiler, separated by blanks")
    parser.add_argument(
        "--domain", default="16x6x4x3", help="sites of the domain; the first is a multiple of the lanes"
    )
    parser.add_argument("--source", type=Path, help="count this program instead")
    parser.add_argument("--sites", type=int, default=1, help="with --source: by what the counts are divided")
    parser.add_argument("--json", type=Path, help="write the counts to this file")
    parser.add_argument("arguments", nargs="*", help="with --source: of the program")
    given = parser.parse_args()
    machine, flags = MACHINES[given.machine], given.flags.split()
    if why := unavailable_reason(given.compiler):
        print(f"count_cycles: {why}", file=sys.stderr)
        return 2
    domain = [int(n) for n in given.domain.split("x")] if re.fullmatch(r"\d+x\d+x\d+x\d+", given.domain) else []
    if len(domain) != 4 or min(domain) < 1 or domain[0] % (machine.bits // 32) != 0:
        print(
            f"count_cycles: --domain {given.domain} is no domain; give four extents, the first a multiple of "
            f"{machine.bits // 32}, such as 16x6x4x3",
            file=sys.stderr,
        )
        return 2
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if given.source is not None:
            program = compiled(given.source, machine, given.compiler, flags, folder)
            counts = [counted(given.source.stem, program, given.arguments, given.sites, machine, given.compiler)]
        else:
            counts = count_domain(domain, machine, given.compiler, flags, folder)
            counts += count_shifts(machine, given.compiler, flags, folder)
    print("\n".join(table(counts)))
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(c) for c in counts], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
