# SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings are true, and everything public has one."""

import doctest
import inspect

import pytest

import halocline as hc
from halocline import device
from halocline.mapping import problem
from halocline.maxwell import bodies, checks, fitting, media, simulation, sources
from halocline.maxwell import units as light_units
from halocline.qcd import analysis, gauge, measure, orders, quark, quark_solver
from halocline.tddft import ground, propagation, spectra, structure, system, units


@pytest.mark.parametrize(
    "module", [analysis, device, orders, problem, quark, quark_solver, units], ids=lambda m: m.__name__
)
def test_examples(module):
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0


@pytest.mark.parametrize(
    "module",
    [
        hc.comm,
        hc.gpu,
        hc.mapping,
        device,
        gauge,
        measure,
        orders,
        quark,
        quark_solver,
        analysis,
        ground,
        propagation,
        spectra,
        structure,
        system,
        units,
        light_units,
        media,
        simulation,
        bodies,
        fitting,
        sources,
        checks,
    ],
    ids=lambda m: m.__name__,
)
def test_every_public_function_says_what_it_does(module):
    public = [f for n, f in inspect.getmembers(module, inspect.isfunction) if not n.startswith("_")]
    assert public and all(f.__doc__ for f in public)


def test_every_public_name_exists():
    assert all(hasattr(hc.qcd, name) for name in hc.qcd.__all__)
    assert all(hasattr(hc.mapping, name) for name in hc.mapping.__all__)
    assert all(hasattr(hc.maxwell, name) for name in hc.maxwell.__all__)
    assert all(hasattr(hc.tddft, name) for name in hc.tddft.__all__)
    assert all(hasattr(hc, name) for name in hc.__all__)
