# SPDX-License-Identifier: Apache-2.0
"""The readers in Python and their sound files, for fuzzing.py.

    python tests/fuzz/readers.py run-files --seconds 60

Sound files are made by Halocline's own writers in a temporary folder. Where a format has a checksum, values that
differ from those written are a failure unless the reader has warned that nothing protects them.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from fuzzing import Family, main  # noqa: E402


def _against(sound: dict[str, Any], value_of: Callable[[str, str], Any]) -> Callable[[str, str, bytes], str]:
    """A reader of formats without a checksum: the values of a label's sound file, or others."""

    def read(path: str, label: str, content: bytes) -> str:
        return "unchanged" if value_of(path, label) == sound.get(label) else "unprotected"

    return read


def _text_family(name: str, texts: dict[str, str], value_of: Callable[[str, str], Any], words: list[bytes]) -> Family:
    """A family of text files, one sample a label."""
    sound = {}
    with tempfile.TemporaryDirectory() as folder:
        for label, text in texts.items():
            path = Path(folder) / f"sound.{label}"
            path.write_text(text)
            sound[label] = value_of(str(path), label)
    return Family(name, [(label, text.encode()) for label, text in texts.items()], _against(sound, value_of), words)


TOML_WORDS = [
    b"[", b"]", b"[[", b"{", b"}", b"=", b",", b"#", b'"', b"'", b'"""', b"\\", b"\\u0000", b"\\ud800", b"nan", b"inf",
    b"true", b"[gauge]\n", b"[source]\n", b"[propagate]\n", b"[system]\n", b"[grid]\n", b"\n\n", b"\xff", b"\xc3\x28",
    b"1979-05-27T07:32:00Z", b"0b101", b"1_000", b"generate = { size = [4, 4, 4, 4], beta = 6.0 }\n", b'"0.3 angstrom"',
    b'"1e400 eV"', b'"nan bohr"', b'"eV"', b"phase = 0.5", b"a.b.c = 1\n", b"\0",
]  # fmt: skip


def _uncommented(example: str) -> str:
    """The example with every key in force that its comments show, so that all checks are met."""
    return "\n".join(line[2:] if line.startswith("# ") and " = " in line else line for line in example.split("\n"))


def qcd_run_files() -> Family:
    from halocline.qcd.runfile import example_run_file, read_run_file

    short = '[gauge]\nfiles = ["cfg.lime"]\n[action]\nmass = -0.5\ncsw = 1.0\nboundary = [1, 1, 1, { phase = 0.5 }]\n'
    short += '[solver]\nkind = "schwarz"\nschwarz = { storage = "half", domains = [1, 1, 2, 1] }\n'
    texts = {"example": example_run_file(), "short": short}

    def value_of(path: str, label: str) -> Any:
        run = read_run_file(path)
        return run.as_toml_values(), run.physics_hash()

    return _text_family("qcd-run-files", texts, value_of, TOML_WORDS)


def tddft_run_files() -> Family:
    from halocline.tddft.runfile import example_run_file, read_run_file

    crystal = (
        '[system]\natoms = [["Si", 0, 0, 0], ["Si", 2.565, 2.565, 2.565]]\ncell = ["5.43 angstrom", 10.26, 10.26]\n'
    )
    crystal += '[grid]\nspacing = "0.3 angstrom"\n[kpoints]\nmesh = [2, 2, 2]\n[propagate]\ntotal_time = "1 fs"\n'
    crystal += 'pulses = [{ amplitude = 0.01, frequency = "1.5 eV", duration = "10 fs" }]\n'
    texts = {"example": example_run_file(), "crystal": crystal}
    return _text_family("tddft-run-files", texts, lambda path, label: read_run_file(path).as_toml_values(), TOML_WORDS)


def _order() -> Any:
    import halocline as hc

    network = hc.mapping.network_named("torus-3d", (2, 3, 2))
    messages = hc.mapping.wilson_operator((4, 4, 4, 4))
    natural = hc.mapping.natural_order(network, (2, 3, 2, 2), (1, 1, 1, 2))
    return hc.mapping.RankOrder(network, messages, natural)


def networks() -> Family:
    from halocline.mapping import tables

    order = _order()

    def value_of(path: str, label: str) -> str:
        if label == "network":
            return tables.network_toml(tables.read_network(path))
        return tables.messages_toml(tables.read_messages(path))

    texts = {"network": tables.network_toml(order.network), "messages": tables.messages_toml(order.messages)}
    return _text_family("networks", texts, value_of, [*TOML_WORDS, b"axes = [", b"wraps = false", b"length = 1"])


def maps() -> Family:
    import halocline as hc
    from halocline.mapping import formats, interface_table, rank_order, walks

    order = _order()
    network, axes = order.network, walks.process_axes(order.map)
    loads = hc.mapping.evaluate(network, order.map, order.messages)
    texts = {"rank-order": rank_order.rank_order_text(order)}
    texts |= {name: formats.write_map(order.map, network, name) for name in formats.FORMATS}
    texts["hosts"] = "".join(f"node{k:02}\n" for k in range(network.nodes))
    texts["interfaces"] = interface_table.interface_table_text(loads, network, axes)

    def value_of(path: str, label: str) -> Any:
        if label == "rank-order":
            return rank_order.rank_order_text(rank_order.read_rank_order(path))
        text = rank_order.read_text(path)
        if label == "hosts":
            return formats.hosts_of(text, network, path)
        if label == "interfaces":
            names, nodes, owners = interface_table.parse_interface_table(text, len(network.axes), path)
            return names, nodes.tolist(), owners.tolist()
        formats.format_of(text)
        return formats.read_map(text, network, label, path).tolist()

    words = [b"rank 0=+n0 slot=0\n", b"slot=", b"+n", b"(0,0,0)", b"(", b")", b":", b":3", b",", b"#", b"-", b"n0\n",
             b"#rank X Y Z\n", b"grid = [2, 3, 2, 2]", b"\n", b" ", b"\xff", b"\xc2\xb2", b"\xd9\xa3", b"\x1c",
             b"\0"]  # fmt: skip
    return _text_family("maps", texts, value_of, words)


def timings() -> Family:
    from halocline.cli.bench.weak import _computation
    from halocline.cli.map import predict

    cases = [
        {"bench": "qcdjdd", "case": {"local": [4, 4, 4, n], "measured": "iteration"}, "seconds": {"median": 1e-4 * n}}
        for n in (4, 8, 16)
    ]
    texts = {
        "json": json.dumps(cases, indent=1),
        "toml": "[computation]\nsites = [256, 512, 1024]\nseconds = [4e-4, 8e-4, 16e-4]\n",
        "weak": json.dumps(cases),
    }

    def value_of(path: str, label: str) -> Any:
        if label == "weak":
            return _computation(path, "4x4x4x8")

        table = predict._table(Path(path))
        return [table.at(sites) for sites in (100.0, 300.0, 5000.0)]

    words = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"\\ud800",
             b'"seconds": {}', b'"seconds": 1', b'"case": []', b'"local": [0]', b'"local": 3',
             b"\xff", b"\0"]  # fmt: skip
    return _text_family("timings", texts, value_of, words)


def field_tables() -> Family:
    from halocline.tddft.propagation import read_table

    text = "# t Ex Ey Ez\n" + "".join(f"{0.1 * n:.3f} {0.01 * n:.4e} 0.0 {-1e-3 * n:.5f}\n" for n in range(12))
    words = [b"#", b" ", b"\n", b"nan", b"inf", b"1e999", b",", b"1j", b"0x1p3", b"1_0", b"\xff", b"\0", b"\xd9\xa3"]
    return _text_family("field-tables", {"table": text}, lambda path, label: read_table(path), words)


def atoms() -> Family:
    """Files that ASE reads for us; what its readers do with a count of 1e20 columns is not ours to mend."""
    from halocline.tddft.structure import read_atoms

    texts = {
        "xyz": '2\nLattice="4 0 0 0 4 0 0 0 5" Properties=species:S:1:pos:R:3 pbc="F F F"\nH 0 0 0\nH 0 0 0.74\n',
        "cube": "density\nHalocline\n    1 -1.0 -1.0 -1.0\n    2 1.0 0 0\n    2 0 1.0 0\n    2 0 0 1.0\n"
        "    1 1.0 0.0 0.0 0.1\n" + " 1.0e-01 2.0e-01\n" * 4,
    }

    def value_of(path: str, label: str) -> Any:
        found = read_atoms(path)
        return found.get_chemical_symbols(), found.get_positions().tolist()

    words = [b"Lattice=", b"pbc=", b"nan", b'"', b"Properties=", b"\n", b"X", b"-3"]
    family = _text_family("atoms", texts, value_of, words)
    return dataclasses.replace(family, time_limit=0.5, tolerated=("hang",))


def _in_a_folder(write: Callable[[Path], None]) -> bytes:
    """The bytes of a file that `write` makes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sound.h5"
        write(path)
        return path.read_bytes()


HDF5_WORDS = [b"TREE", b"SNOD", b"HEAP", b"OHDR", b"OCHK", b"GCOL", b"\xff" * 8, b"\0" * 8, b"\1\0\0\0\0\0\0\0"]


def hdf5_gauge() -> Family:
    from halocline.errors import InvalidArgument

    import halocline as hc
    from halocline.qcd import hdf5_gauge
    from halocline.qcd.gauge import geometry as geometry_of

    u = hc.qcd.unit_links([2, 2, 2, 2])
    hc.qcd.heatbath(u, beta=5.5, sweeps=2, seed=3)
    sound = u.array().copy()
    content = _in_a_folder(lambda path: hc.qcd.write_gauge(path, u))

    def read(path: str, label: str, content: bytes) -> str:
        info = hdf5_gauge.inspect(path)
        try:
            geometry = geometry_of(info["lattice"])
        except InvalidArgument:
            return "refused"  # extents that no lattice of ours has are no matter of the file
        found, info = hdf5_gauge.read(path, geometry, False)
        if found.array().shape == sound.shape and np.array_equal(found.array(), sound):
            return "unchanged"
        return "unprotected" if info["warnings"] else "silent"

    return Family("hdf5-gauge", [("gauge", content)], read, HDF5_WORDS, inputs_a_child=5000)


def hdf5_vectors() -> Family:
    """Set-ups of multigrid and low modes."""
    from halocline.errors import InvalidArgument
    from halocline.qcd.low_modes_file import LOW_MODES
    from halocline.qcd.runfile import Action
    from halocline.qcd.setup_file import SETUP

    import halocline as hc

    u, action = hc.qcd.unit_links([2, 2, 2, 2]), Action(mass=0.05, csw=1.0)
    numbers = np.random.default_rng(3).normal(size=(2, 2, 2, 2, 2, 3, 4, 2)).astype(np.float16)
    kinds = {"setup": (SETUP, {"aggregate": [2, 2, 2, 2]}), "modes": (LOW_MODES, {"values": [0.1, -0.2]})}

    def read(path: str, label: str, content: bytes) -> str:
        kind, own = kinds[label]
        try:
            found, attributes = kind.read(path, u, action, 2)
        except InvalidArgument:
            return "silent"  # the head is under a checksum: it cannot speak of another quark
        return "unchanged" if np.array_equal(found, numbers) and attributes == own else "silent"

    samples = [
        (label, _in_a_folder(lambda path, kind=kind, own=own: kind.write(path, numbers, u, action, own)))
        for label, (kind, own) in kinds.items()
    ]
    return Family("hdf5-vectors", samples, read, HDF5_WORDS, inputs_a_child=5000)


def _comparable(value: Any) -> Any:
    """Nested values with arrays as bytes."""
    if isinstance(value, dict):
        return {name: _comparable(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_comparable(v) for v in value]
    if isinstance(value, np.ndarray):
        return value.shape, value.tolist() if value.dtype == object else value.tobytes()
    return value if not isinstance(value, float) else repr(value)


def hdf5_spectrum() -> Family:
    from halocline.qcd.runfile import parse_run_file

    from halocline.qcd import results

    numbers = np.random.default_rng(1)
    run = parse_run_file('[gauge]\nfiles = ["cfg.lime"]\n[action]\nmass = 0.1\ncsw = 1.0\n', "run.toml")

    def write(path: Path) -> None:
        root = {"version": "0", "revision": "0", "run_file": "", "lattice": [2, 2, 2, 4], "kappa": 0.12, "m0": 0.1}
        file = results.SpectrumFile(path, run, root)
        pion = numbers.normal(size=(1, 1, 4)) + 0j
        attributes = {"plaquette": 0.6, "checksum": "1 2", "ranks": 1, "seconds": 1.0}
        zeros = np.zeros((1, 12))
        file.add(results.Measured("cfg", np.zeros((1, 4), dtype=int), {"pion": pion}, pion, zeros, zeros, attributes))

    def value_of(path: str) -> Any:
        return _comparable(results.as_json(*results.read_spectrum(path)))

    return _hdf5_results("hdf5-spectrum", _in_a_folder(write), value_of)


def hdf5_electrons() -> Family:
    from halocline.tddft import results

    numbers = np.random.default_rng(2)

    def write(path: Path) -> None:
        shapes = {"eigenvalues": (1, 4), "occupations": (1, 4), "k": (1, 3), "forces": (2, 3), "density": (1, 3, 3, 3)}
        data = {name: numbers.normal(size=shape) for name, shape in shapes.items()}
        data |= {f"energy/{part}": numbers.normal() for part in results.PARTS} | {"atoms": ["H", "H"]}
        attributes = {"converged": True, "reason": "converged", "parameters": {"grid": {"extent": [3, 3, 3]}}}
        results.write(path, "ground_state", attributes, data)

    def value_of(path: str) -> Any:
        return _comparable([results.as_json(path), results.read(path, "ground_state")])

    return _hdf5_results("hdf5-electrons", _in_a_folder(write), value_of)


def _hdf5_results(name: str, content: bytes, value_of: Callable[[str], Any]) -> Family:
    from halocline.hdf5 import FOOTER_BYTES, SEAL_MARK

    with tempfile.NamedTemporaryFile(suffix=".h5") as file:
        file.write(content)
        file.flush()
        sound = value_of(file.name)

    def read(path: str, label: str, content: bytes) -> str:
        if value_of(path) == sound:
            return "unchanged"
        return "silent" if SEAL_MARK in content[-FOOTER_BYTES:] else "unprotected"

    return Family(name, [("results", content)], read, HDF5_WORDS, inputs_a_child=2000)


FAMILIES = {
    "qcd-run-files": qcd_run_files,
    "tddft-run-files": tddft_run_files,
    "networks": networks,
    "maps": maps,
    "timings": timings,
    "field-tables": field_tables,
    "atoms": atoms,
    "hdf5-gauge": hdf5_gauge,
    "hdf5-vectors": hdf5_vectors,
    "hdf5-spectrum": hdf5_spectrum,
    "hdf5-electrons": hdf5_electrons,
}

if __name__ == "__main__":
    sys.exit(main(lambda name: FAMILIES[name](), list(FAMILIES)))
