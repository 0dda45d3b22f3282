# SPDX-License-Identifier: Apache-2.0
"""Run files with every kind of source, smearing, gauge fixing and momenta: laws of what comes out."""

import numpy as np
import pytest
from halocline.qcd.runfile import parse_run_file
from halocline.reporter import Reporter

import halocline as hc


class Hears(Reporter):
    def __init__(self):
        self.warnings, self.lines = [], []

    def warning(self, text):
        self.warnings.append(text)

    def line(self, text):
        self.lines.append(text)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """run("[source]...", gauge="smear = ..."): one configuration of weak links through the main job."""
    monkeypatch.chdir(tmp_path)
    hc.qcd.write_gauge("u.lime", hc.qcd.weak_links([4, 4, 4, 8], 0.25, seed=8))
    count = 0

    def start(more="", gauge="", file="u.lime"):
        nonlocal count
        count += 1
        text = (
            f'[gauge]\nfiles = ["{file}"]\n{gauge}\n[action]\nmass = 0.3\ncsw = 1.0\n[output]\nfile = "{count}.h5"\n'
            f"plots = false\n[solver]\ntolerance = 1e-11\n{more}"
        )
        hears = Hears()
        _, (measured,) = hc.qcd.spectrum(parse_run_file(text, "run.toml"), reporter=hears)
        return measured, hears

    return start


def masses(c, momentum=0):
    return hc.qcd.analysis.effective_mass(hc.qcd.analysis.fold(c[0, momentum].real), "cosh", extent=8)


def test_a_wall_source_without_gauge_fixing_is_warned_about(run):
    _, free = run('[source]\nkind = "wall"')
    assert len(free.warnings) == 1 and "Coulomb" in free.warnings[0]
    _, fixed = run('[source]\nkind = "wall"', gauge='fix = { kind = "coulomb", tolerance = 1e-12 }')
    assert fixed.warnings == [] and any("coulomb gauge" in line for line in fixed.lines)


def test_gauge_fixing_changes_no_point_correlator(run):
    plain, _ = run()
    fixed, _ = run(gauge='fix = { kind = "landau", tolerance = 1e-10 }')
    assert fixed.mesons["rho"] == pytest.approx(plain.mesons["rho"], rel=1e-8)
    assert fixed.nucleon == pytest.approx(plain.nucleon, rel=1e-8)


def test_gaussian_source_and_sink_have_less_of_the_excited_states(run):
    point, _ = run()
    source, _ = run('[source]\nkind = "gaussian"\nwidth = 1.5')
    both, _ = run('[source]\nkind = "gaussian"\nwidth = 1.5\nsink = "gaussian"')
    m = [masses(r.mesons["pion"])[0] for r in (point, source, both)]
    assert m[0] > m[1] > m[2]


def test_z2_noise_depends_on_its_seed_alone(run):
    # The timed choice of "auto" may fall differently, and the last bits with it.
    a, b, c = (run(f'kind = "bicgstab"\n[source]\nkind = "z2"\nseed = {seed}')[0] for seed in (5, 5, 6))
    assert np.array_equal(a.mesons["pion"], b.mesons["pion"])
    assert np.abs(a.mesons["pion"] - c.mesons["pion"]).max() > 0.0


def test_smeared_links_bring_the_pion_nearer_to_the_free_one(run):
    """The additive renormalisation is smaller on smoother links; a free pion weighs 2 ln(1 + m)."""
    plain, _ = run()
    smeared, hears = run(gauge='smear = { kind = "stout", rho = 0.1, steps = 2 }')
    free = 2 * np.log(1.3)
    assert free < masses(smeared.mesons["pion"])[-1] < masses(plain.mesons["pion"])[-1]
    assert any("smeared links" in line for line in hears.lines)


def test_momenta_cost_energy_and_opposite_ones_agree_on_the_free_field(run):
    hc.qcd.write_gauge("unit.lime", hc.qcd.unit_links([4, 4, 4, 8]))
    m, _ = run("[measure]\nmomenta = [[0, 0, 0], [1, 0, 0], [-1, 0, 0], [0, 0, 1]]", file="unit.lime")
    pion = m.mesons["pion"][0]
    assert pion.shape == (4, 8)
    assert pion[1] == pytest.approx(pion[2].conj(), rel=1e-9)
    assert pion[1].real == pytest.approx(pion[3].real, rel=1e-9)
    assert np.all(masses(m.mesons["pion"], 1) > masses(m.mesons["pion"], 0))


def test_an_anisotropic_run_says_so_and_differs(run, tmp_path):
    text = (tmp_path / "u.lime").as_posix()
    run_file = (
        f'[gauge]\nfiles = ["{text}"]\n[action]\nmass = 0.3\ncsw = 1.0\nanisotropy = 2.0\nnu = 1.1\ncsw_t = 0.8\n'
        '[output]\nfile = "a.h5"\nplots = false\n'
    )
    hears = Hears()
    _, (aniso,) = hc.qcd.spectrum(parse_run_file(run_file, "a"), reporter=hears)
    plain, _ = run()
    assert any(line.startswith("anisotropy") for line in hears.lines)
    assert np.abs(aniso.mesons["pion"] - plain.mesons["pion"]).max() > 1e-3


def test_a_gauge_file_that_changed_is_not_taken_for_the_old_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = parse_run_file(
        '[gauge]\nfiles = ["u.lime"]\n[action]\nmass = 0.3\ncsw = 0.0\n[output]\nfile = "o.h5"\nplots = false\n', "a"
    )
    hc.qcd.write_gauge("u.lime", hc.qcd.weak_links([4, 4, 4, 4], 0.25, seed=8))
    hc.qcd.spectrum(run)
    hc.qcd.write_gauge("u.lime", hc.qcd.weak_links([4, 4, 4, 4], 0.25, seed=9))
    with pytest.raises(hc.InvalidArgument, match="u.lime has changed"):
        hc.qcd.spectrum(run)
