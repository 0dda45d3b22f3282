# SPDX-License-Identifier: Apache-2.0
"""How commands end: exit status, one sentence, no traceback, for every kind of bad input."""

import json
import re
import subprocess
import sys

import pytest

RUN = """
[gauge]
files = ["{file}"]
[action]
mass = 0.1
csw = 1.0
[output]
plots = false
"""


def refused(done, *words, status=2):
    """Ended with the status and one sentence that has the words; nothing of Python shows."""
    assert done.returncode == status, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    sentences = [line for line in done.stderr.splitlines() if line.startswith("halocline: ")]
    assert len(sentences) == 1
    for word in words:
        assert word in sentences[0], sentences[0]


def test_help_lists_only_what_exists(halocline):
    done = halocline("--help")
    assert done.returncode == 0
    for command in ("qcd", "tddft", "map", "report", "doctor"):
        assert command in done.stdout.split()


def test_version(halocline):
    import halocline as hc

    assert halocline("--version").stdout.startswith(f"halocline {hc.__version__} (")


def test_example_prints_a_run_file_that_is_accepted(halocline):
    from halocline.qcd import parse_run_file

    done = halocline("qcd", "spectrum", "--example")
    assert done.returncode == 0
    parse_run_file(done.stdout, "example")


def test_doctor_finds_no_problem_here(halocline, tmp_path):
    done = halocline("doctor", "--json", "d.json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "d.json").read_text())
    assert found["problems"] == [] and found["transports"]["self"] == "available"
    assert set(found["packages"]) >= {"numpy", "h5py", "mpi4py"}


def test_doctor_and_the_head_of_a_log_tell_of_a_build_narrower_than_the_cpu(monkeypatch):
    from types import SimpleNamespace

    from halocline.cli.doctor import instruction_set
    from halocline.tddft.jobs import head_lines

    from halocline import _halocline

    system, alone = SimpleNamespace(describe=lambda: ["the system"]), SimpleNamespace(size=1)
    monkeypatch.setattr(_halocline.core, "narrower_than_cpu", lambda: "registers of 128 bits where 512 are")
    assert instruction_set("").endswith("which this CPU has; registers of 128 bits where 512 are")
    assert head_lines(system, alone)[1:] == ["warning: registers of 128 bits where 512 are", "the system"]
    monkeypatch.setattr(_halocline.core, "narrower_than_cpu", lambda: "")
    assert instruction_set("").endswith("which this CPU has")
    assert head_lines(system, alone)[1:] == ["the system"]
    assert instruction_set("sve").endswith("but the CPU lacks sve")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("qcd", "spectrumm"), "spectrumm"),
        (("qcd", "gauge", "info", "a.lime", "--jsn", "x"), "--jsn"),
        (("qcd", "gauge", "generate", "a.lime", "--size", "4", "4", "4", "--beta", "6"), ""),
        (("qcd", "gauge", "generate", "a.lime", "--size", "4", "4", "4", "x", "--beta", "6"), "'--size'"),
        (("qcd", "gauge", "generate", "a.lime", "--size", "4", "4", "4", "0", "--beta", "6"), "size"),
        (("qcd", "gauge", "generate", "a.lime", "--size", "4", "4", "4", "4", "--beta", "-1"), "beta = -1"),
        (("qcd", "gauge", "generate", "a.xyz", "--size", "4", "4", "4", "4", "--beta", "6"), "names no gauge format"),
        (("qcd", "gauge", "info", "absent.lime"), "absent.lime"),
        (("qcd", "spectrum"), "a run file is missing"),
        (("qcd", "spectrum", "absent.toml"), "absent.toml: cannot be read"),
        (("report", "absent.h5"), "absent.h5"),
    ],
)
def test_wrong_words_are_refused(halocline, words, said):
    refused(halocline(*words), said)


def test_run_files_that_cannot_work(halocline, lime, tmp_path):
    run = tmp_path / "run.toml"
    run.write_text(RUN.format(file="absent.lime"))
    refused(halocline("qcd", "spectrum", "run.toml"), "absent.lime: no such gauge file")
    run.write_text(RUN.format(file=lime) + "[solvr]\n")
    refused(halocline("qcd", "spectrum", "run.toml"), "did you mean [solver]?")
    run.write_text(RUN.format(file=lime) + "[source]\npositions = [[0, 0, 0, 4]]")
    refused(halocline("qcd", "spectrum", "run.toml"), "[0, 0, 0, 4] lies outside the lattice [4, 4, 4, 4]")
    run.write_text(RUN.format(file=lime) + "[parallel]\ngrid = [1, 1, 1, 2]")
    refused(halocline("qcd", "spectrum", "run.toml"), "grid")


def damaged(tmp_path, source, change):
    raw = bytearray(source.read_bytes())
    path = tmp_path / f"bad{source.suffix}"
    path.write_bytes(change(raw))
    return path.name


def flip(raw):
    raw[-5000] ^= 0x40
    return raw


def swap_words(raw):
    """The binary part of a NERSC file in the other byte order, under the same header."""
    start = raw.index(b"END_HEADER") + len(b"END_HEADER") + 1
    body = raw[start:]
    for i in range(0, len(body), 8):
        body[i : i + 8] = body[i : i + 8][::-1]
    return raw[:start] + body


BAD_FILES = {
    "truncated": lambda raw: raw[: len(raw) // 2],
    "one-bit-flipped": flip,
    "empty": lambda raw: b"",
    "one-byte-long": lambda raw: raw[:1],
    "foreign": lambda raw: b"\x7fELF" + bytes(5000),
}


@pytest.mark.parametrize("encoding", ["nersc", "ildg.lime"])
@pytest.mark.parametrize("how", BAD_FILES)
def test_damaged_gauge_files_are_refused(halocline, data, tmp_path, encoding, how):
    name = damaged(tmp_path, data / f"4x4x4x4b6.0000id3n1.{encoding}", BAD_FILES[how])
    refused(halocline("qcd", "gauge", "info", name), name)


def test_a_flipped_bit_is_named_with_both_checksums(halocline, data, tmp_path):
    name = damaged(tmp_path, data / "4x4x4x4b6.0000id3n1.nersc", flip)
    refused(halocline("qcd", "gauge", "info", name), "CHECKSUM", "8e3b6560", "ce3b6560")


def test_wrong_byte_order_is_refused(halocline, data, tmp_path):
    name = damaged(tmp_path, data / "4x4x4x4b6.0000id3n1.nersc", swap_words)
    refused(halocline("qcd", "gauge", "info", name), "endian")


def test_a_lime_record_past_the_end_is_refused(halocline, lime, tmp_path):
    def longer(raw):
        raw[8:16] = (10**12).to_bytes(8, "big")
        return raw

    refused(halocline("qcd", "gauge", "info", damaged(tmp_path, lime, longer)), "1000000000000")


def test_nan_links_are_refused(halocline, tmp_path):
    import numpy as np

    import halocline as hc

    hc.qcd.write_gauge(tmp_path / "u.npy", hc.qcd.unit_links([4, 4, 4, 4]))
    raw = bytearray((tmp_path / "u.npy").read_bytes())
    raw[-16:] = np.array([np.nan, 0.0]).tobytes()
    (tmp_path / "u.npy").write_bytes(raw)
    refused(halocline("qcd", "gauge", "info", "u.npy"), "u.npy")


def test_links_outside_su3_warn_and_strict_refuses(halocline, tmp_path):
    import halocline as hc

    u = hc.qcd.unit_links([4, 4, 4, 4])
    hc.qcd.write_gauge(tmp_path / "u.npy", hc.qcd.GaugeField.from_array(u.geometry, 1.001 * u.array()))
    done = halocline("qcd", "gauge", "info", "u.npy")
    assert done.returncode == 0 and "warning: " in done.stdout
    refused(halocline("qcd", "gauge", "info", "u.npy", "--strict"), "u.npy")
    refused(halocline("qcd", "gauge", "convert", "u.npy", "u.nersc", "--rows", 2), "rows")


def test_a_full_disk_is_said_and_leaves_no_file(halocline, tmp_path):
    """A limit on the size of files stands for a full disk: writing fails with an error of the system."""
    words = ["qcd", "gauge", "generate", "u.lime", "--size", "4", "4", "4", "4", "--beta", "6", "--sweeps", "0"]
    # Python would cut off the modules that it compiles, and not notice.
    limit = (
        "import resource, signal, sys; sys.dont_write_bytecode = True; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    )
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)); from halocline.cli.main import main; "
    code = limit + f"sys.exit(main({words!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    refused(done, "u.lime")
    assert list(tmp_path.iterdir()) == []


def test_a_solver_that_does_not_converge_is_status_one(halocline, lime, tmp_path):
    (tmp_path / "run.toml").write_text(RUN.format(file=lime) + "[solver]\nmax_iterations = 2\n")
    refused(halocline("qcd", "spectrum", "run.toml"), "without reaching the tolerance", status=1)


def test_doctor_tells_the_blas_and_its_threads():
    from halocline.cli.doctor import blas

    from halocline import _halocline

    here = blas(_halocline.tddft.blas())
    assert here["library"] and "/" in here["file"] and here["threads"]
    known = {"name": "reference BLAS", "file": "", "threads": "none", "reference": True, "reentrant": True}
    assert "slow" in blas(known)["advice"] and "libopenblas-openmp-dev" in blas(known)["advice"]
    fast = known | {"name": "OpenBLAS 0.3.21 USE_OPENMP", "threads": "openmp", "reference": False}
    assert "OpenMP" in blas(fast)["threads"] and "advice" not in blas(fast)
    assert "one thread at a time" in blas(fast | {"threads": "none", "reentrant": False})["threads"]


def commands(group=None, words=()):
    """Every command below `halocline`, with the words that lead to it."""
    import typer.main
    from halocline.cli import main

    if group is None:
        if not main.app.registered_groups:
            main._add_groups()
        group = typer.main.get_command(main.app)
    if not hasattr(group, "commands"):
        yield words, group
        return
    for name, command in group.commands.items():
        yield from commands(command, (*words, name))


def plain(text):
    """Words alone: no boxes, and no backticks, which Markdown takes."""
    return " ".join(re.sub("[\u2500-\u257f]", " ", text.replace("`", "")).split())


def test_help_says_what_was_written_of_every_option():
    """Nothing in brackets or angles is swallowed as markup, and no sentence is broken in its middle."""
    from halocline.cli import main
    from typer.testing import CliRunner

    found = 0
    for words, command in commands():
        shown = CliRunner().invoke(main.app, [*words, "--help"], env={"COLUMNS": "400", "TERMINAL_WIDTH": "400"}).stdout
        for option in command.params:
            if getattr(option, "help", None) and not getattr(option, "hidden", False):
                assert plain(option.help) in plain(shown), (words, option.name)
                found += 1
        for paragraph in (command.help or "").split("\n\n"):
            said = plain(paragraph)
            assert any(said in plain(line) for line in shown.splitlines()), (words, said)
    assert found > 100


def test_the_shell_can_complete_commands(monkeypatch):
    for begun, ends in (("halocline qcd so", "solve"), ("halocline qcd spectrum --dev", "--device")):
        monkeypatch.setenv("_HALOCLINE_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", begun)
        monkeypatch.setenv("COMP_CWORD", str(len(begun.split()) - 1))
        done = subprocess.run(
            [sys.executable, "-c", "import sys; sys.argv = ['halocline']; from halocline.cli.main import main; main()"],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert ends in done.stdout.split(), done.stderr


def test_numbers_of_things_are_in_the_grammar_of_the_language():
    from halocline.cli.common import counted

    assert [counted(n, "sweep") for n in (0, 1, 2)] == ["0 sweeps", "1 sweep", "2 sweeps"]
