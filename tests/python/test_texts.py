# SPDX-License-Identifier: Apache-2.0
"""Texts that nobody vouches for: no number in them is too long, too large or too deep for a sentence."""

import pytest
from halocline.cli.bench import common as bench_common
from halocline.cli.map import common as map_common
from halocline.mapping.interface_table import parse_interface_table
from halocline.mapping.rank_order import _slowly
from halocline.qcd.runfile import parse_run_file
from halocline.texts import whole_number

import halocline as hc
from halocline import runs
from halocline.mapping import formats, tables

LONG = "9" * 5000
"""More digits than Python's int() takes."""


def test_whole_number_takes_decimal_digits_up_to_the_limit():
    assert whole_number("0042") == 42
    assert whole_number(str(2**63 - 1)) == 2**63 - 1
    assert whole_number("0" * 5000 + "7") == 7
    for word in ("", "-1", "+1", "1.0", "²", "٣", "1_0", str(2**63), LONG):
        assert whole_number(word) is None, word
    assert whole_number("11", at_most=10) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (LONG, "thousands of digits"),
        ("0x" + "F" * 5000, "the whole number of 'b' does not fit into 64 bits"),
        (str(-(2**63) - 1), "does not fit into 64 bits"),
        ("[[1, 9223372036854775808]]", "does not fit into 64 bits"),
        ("[" * 5000 + "]" * 5000, "nested too deeply"),
    ],
)
def test_toml_with_impossible_numbers_is_refused(value, said):
    document = f"[a]\nb = {value}\n"
    with pytest.raises(hc.InvalidArgument, match=f"run.toml: not a TOML file: .*{said}"):
        runs.parse(document, "run.toml")
    with pytest.raises(hc.InvalidArgument, match=f"run.toml: not a TOML file: .*{said}"):
        parse_run_file(document, "run.toml")
    with pytest.raises(hc.FileError, match=f"net.toml: no TOML: .*{said}"):
        tables.tables_of(document, "net.toml")


@pytest.mark.parametrize("number", [LONG, "²", str(2**70)])
def test_map_files_with_impossible_numbers_are_refused_by_line(number):
    for name, text in {
        "openmpi": f"rank {number}=+n0 slot=0\n",
        "simgrid": f"n0:{number}\n",
        "fujitsu": f"({number},1,2)\n",
    }.items():
        with pytest.raises(hc.FileError, match="map: line 1"):
            formats.FORMATS[name].parse(text, "map")
    with pytest.raises(hc.FileError, match="map: line 3"):
        parse_interface_table(f"#halocline interfaces 1\n#X +X\n{number} 0\n", 1, "map")
    with pytest.raises(hc.FileError, match="map: line 1"):
        _slowly([(1, f"{number} 1")], 2, "map")


def test_a_map_file_of_more_ranks_than_a_machine_has_takes_no_memory():
    with pytest.raises(hc.FileError, match=r"map: line 2, 'n1:999999999999': more than 16777216 ranks"):
        formats.FORMATS["simgrid"].parse("n0:4\nn1:999999999999\n", "map")


def test_options_with_long_numbers_are_refused():
    with pytest.raises(hc.InvalidArgument, match="--shape"):
        map_common.lengths("--shape", f"4x{LONG}")
    with pytest.raises(hc.InvalidArgument, match="--local"):
        bench_common.volumes([f"4x4x4x{LONG}"])
    with pytest.raises(hc.InvalidArgument, match="--threads"):
        bench_common.counts("--threads", LONG, "1,2")
