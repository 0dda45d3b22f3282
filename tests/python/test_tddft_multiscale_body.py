# SPDX-License-Identifier: Apache-2.0
"""Light around bodies of cells in two and three dimensions: against Yee's scheme with a medium in the place of the
cells, against Fresnel's formulas, its energies, stop and restart."""

import ase.build
import numpy as np
import pytest
from halocline.cli.main import main
from halocline.schema import changed
from halocline.tddft.multiscale_body import AROUND, LAYER, MARGIN, BodyLight
from halocline.tddft.multiscale_job import series_of
from halocline.tddft.propagation import field_of
from halocline.tddft.runfile_light import Body, Propagate
from halocline.tddft.units import HARTREE_EV, SPEED_OF_LIGHT

import halocline as hc
from halocline import InvalidArgument, _halocline
from halocline.comm import Communicator

OPEN = "open"


@pytest.fixture(scope="module")
def crystal():
    """Helium on a simple cubic lattice."""
    atoms = ase.build.bulk("He", "sc", a=2.4)
    return hc.tddft.ground_state(hc.tddft.from_atoms(atoms, extent=[8, 8, 8], mesh=[2, 2, 2], allow_coarse=True))


def light_around(inside, step, direction, time_step, total):
    pulse = {"amplitude": 0.01, "frequency": 0.3, "duration": 40.0, "direction": direction}
    field = field_of(changed(Propagate(), {"pulses": [pulse]}), "velocity", (0.0, 0.0, 0.0))
    values = np.asarray(_halocline.tddft.field_of(field, [n * time_step for n in range(total + 1)]))[:, 0]
    return BodyLight(field, inside, step, 0, time_step, total), values


def medium_in_its_place(counts, step, component, time_step, total, values, pole):
    """E scattered before and all E behind a cuboid of a medium, on the same grid."""
    maxwell = _halocline.maxwell
    is_open = [n > 1 for n in counts]
    start = [(LAYER + MARGIN) * o for o in is_open]
    first = [s + AROUND * o for s, o in zip(start, is_open, strict=True)]
    after = [f + n + o for f, n, o in zip(first, counts, is_open, strict=True)]
    last = [a + AROUND * o for a, o in zip(after, is_open, strict=True)]
    size = [e + (MARGIN + LAYER) * o for e, o in zip(last, is_open, strict=True)]
    ends = [["absorbing"] * 2 if o else ["periodic"] * 2 for o in is_open]
    courant = time_step * SPEED_OF_LIGHT * sum(is_open) ** 0.5 / step
    grid = maxwell.Grid(size, [step] * 3, ends, [0.0] * 3, LAYER, courant)
    matter = maxwell.Matter(maxwell.Medium(1.0, 0.0, []))
    ends_of_body = [
        ((f * step, (f + n) * step) if o else (-1e300, 1e300)) for f, n, o in zip(first, counts, is_open, strict=True)
    ]
    matter.add(maxwell.cuboid(*zip(*ends_of_body, strict=True)), maxwell.Medium(1.0, 0.0, [pole]))
    space = maxwell.SimulationDouble(grid, matter, Communicator.self(), [], 1, "auto", True)
    vector = [float(a == component) for a in range(3)]
    wave = maxwell.Waveform.sampled(values[:, component].tolist(), grid.time_step)
    space.add_plane_wave(0, 1, vector, start, last, wave, [])
    middle = [(f + a) // 2 for f, a in zip(first, after, strict=True)]
    probes = [space.add_probe(component, [place, *middle[1:]]) for place in (start[0] - 2, after[0] + 1)]
    space.run(total)
    return np.real([space.probe(number) for number in probes])


@pytest.mark.parametrize(("shape", "direction", "steps"), [
    ((1, 1, 0), "z", (50.0, 25.0)),
    ((1, 1, 0), "y", (50.0, 25.0)),
    ((1, 1, 1), "y", (60.0, 30.0)),
])  # fmt: skip
def test_cells_with_an_oscillator_scatter_as_the_medium(shape, direction, steps):
    """Currents of a damped oscillator in each cell, worked out here: permittivity 2.5 at low frequencies."""
    resonance, strength, damping, c = 0.8, 0.96, 0.02, SPEED_OF_LIGHT
    component, size = "xyz".index(direction), 400.0 if shape[2] == 0 else 360.0
    errors = []
    for step in steps:
        counts = [round(size / step) if o else 1 for o in shape]
        time_step = step / c / 3
        total = int(60.0 / time_step)
        light, values = light_around(np.ones(counts[::-1], dtype=bool), step, direction, time_step, total)
        current, polarisation = np.zeros((np.prod(counts), 3)), np.zeros((np.prod(counts), 3))
        found = []
        for _ in range(total):
            field = light.advance(-current)
            polarisation += time_step * current
            force = strength / (4 * np.pi) * field - resonance**2 * polarisation
            current = ((1 - 0.5 * damping * time_step) * current + time_step * force) / (1 + 0.5 * damping * time_step)
            found.append([row[component] for row in light.at_ends()[1:]])
        pole = _halocline.maxwell.Pole(resonance / c, damping / c, strength / c**2)
        expected = medium_in_its_place(counts, step, component, time_step, total, values, pole)
        differences = np.abs(np.array(found).T - expected).max(axis=1)
        errors.append(differences / np.abs(expected).max(axis=1))
        assert np.abs(expected[0]).max() > 5e-4
    # 0.4 % of the scattered light and 0.16 % of all light behind the body, falling with the square of the step.
    assert errors[1][0] < 6e-3 and errors[1][1] < 2.5e-3
    assert errors[1][0] < errors[0][0] / 2.5


def laplace(times, values, z):
    return (times[1] - times[0]) * np.exp(1j * z[:, None] * times) @ values


def test_a_body_of_cells_in_one_dimension_is_a_film(crystal):
    z = np.array([9.0, 12.0, 15.0]) / HARTREE_EV + 0.9j / HARTREE_EV
    kick = hc.tddft.propagate(crystal, kick=0.003, direction="z", total_time="5 fs", energy_every=0)
    current = kick.current[:, 2].copy()
    current[0] *= 0.5
    n = np.sqrt(1 + 4j * np.pi * laplace(kick.time, current, z) / 0.003 / z)
    pulse = {"amplitude": "1e10 W/cm^2", "frequency": "12 eV", "duration": "1.2 fs", "direction": "z"}
    film = {"shape": "cuboid", "size": [400.0, OPEN, OPEN]}
    found = hc.tddft.multiscale(crystal, body=film, step=80.0, pulses=[pulse], total_time="5 fs", energy_every=0)
    k, r = z / SPEED_OF_LIGHT, (1 - n) / (1 + n)
    turn = np.exp(1j * n * k * 400.0)
    reflected = r * (1 - turn**2) / (1 - (r * turn) ** 2) * np.exp(4j * k * 80.0)
    transmitted = (1 - r**2) * turn / (1 - (r * turn) ** 2) * np.exp(2j * k * 80.0)
    incident = laplace(found.field_time, found.incident[:, 2], z)
    assert np.abs(laplace(found.field_time, found.reflected[:, 2], z) / incident / reflected - 1).max() < 1.2e-2
    assert np.abs(laplace(found.field_time, found.transmitted[:, 2], z) / incident / transmitted - 1).max() < 7e-3


def test_bodies_have_their_shapes():
    assert Body(shape="cuboid", size=[40.0, OPEN, 30.0]).inside(10.0).shape == (3, 1, 4)
    rod = Body(shape="cylinder", radius=50.0, axis="y").inside(10.0)
    assert rod.shape == (10, 1, 10) and abs(rod.sum() * 100.0 / (np.pi * 2500.0) - 1) < 0.05
    ball = Body(shape="sphere", radius=80.0).inside(10.0)
    assert ball.shape == (16, 16, 16) and abs(ball.sum() * 1000.0 / (4 / 3 * np.pi * 512000.0) - 1) < 0.03
    assert np.array_equal(ball, ball[::-1]) and np.array_equal(ball, ball.transpose(2, 0, 1))
    with pytest.raises(InvalidArgument, match="needs radius"):
        Body(shape="sphere")
    with pytest.raises(InvalidArgument, match="at least two"):
        Body(shape="sphere", radius=4.0).inside(10.0)
    with pytest.raises(InvalidArgument, match="no cell of 10 bohr has its middle in a sphere"):
        Body(shape="sphere", radius=8.0).inside(10.0)
    with pytest.raises(InvalidArgument, match="a sphere has no size"):
        Body(shape="sphere", radius=8.0, size=[40.0, OPEN, 30.0])
    with pytest.raises(InvalidArgument, match="is no body"):
        Body(shape="cuboid", size=[OPEN] * 3).inside(10.0)


def test_impossible_bodies_are_refused(crystal):
    pulse = {"amplitude": "1e10 W/cm^2", "frequency": "12 eV", "duration": "1 fs", "direction": "y"}

    def run(**options):
        given = {"body": {"shape": "cylinder", "radius": 80.0}, "step": 40.0, "pulses": [pulse], "steps": 1}
        return hc.tddft.multiscale(crystal, **(given | options))

    with pytest.raises(InvalidArgument, match="one of cells, layers and body"):
        run(cells=3)
    with pytest.raises(InvalidArgument, match="leave angle and index_behind out"):
        run(index_behind=1.5)
    with pytest.raises(InvalidArgument, match="an axis on which the body has one cell"):
        run(axis="z")
    with pytest.raises(InvalidArgument, match="limit of light in 2 dimensions"):
        run(step=15.0, time_step=0.08)
    with pytest.raises(InvalidArgument, match="ask for absorption"):
        run().shares()
    film = hc.tddft.multiscale(crystal, cells=1, step=40.0, pulses=[pulse], steps=1)
    with pytest.raises(InvalidArgument, match="ask for shares"):
        film.absorption()


RUN = """
[system]
atoms = [["He", 0, 0, 0]]
cell = [2.4, 2.4, 2.4]
[grid]
extent = [8, 8, 8]
allow_coarse = true
[kpoints]
mesh = [2, 1, 1]
[propagate]
pulses = [{ amplitude = "1e13 W/cm^2", frequency = "22 eV", duration = "0.15 fs", direction = "y" }]
time_step = 0.08
steps = STEPS
energy_every = 0
[multiscale]
body = { shape = "cylinder", radius = "4 nm", axis = "z" }
step = "2 nm"
[output]
file = "%s.h5"
cube = false
"""


def test_a_rod_goes_on_after_a_stop_with_the_same_bits(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(name, steps):
        (tmp_path / f"{name}.toml").write_text(RUN.replace("STEPS", str(steps)) % name)
        assert main(["tddft", "multiscale", f"{name}.toml"]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    said = run("whole", 120)
    assert "body          12 cells of 2 nm in a box of 4 x 4 x 1" in said and "absorbed as by a width of" in said
    assert (tmp_path / "whole_ms.png").stat().st_size > 10000
    run("parts", 50)
    assert "from step 50" in run("parts", 120)
    whole, parts = (series_of(tmp_path / f"{name}_ms.h5") for name in ("whole", "parts"))
    for name in ("vector_potential", "current", "reflected", "transmitted"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name)), name
    # Light comes along x and is polarised along y: the rod is alike above and below.
    upside = whole.inside.copy().astype(float)
    upside[whole.inside] = whole.work()
    assert np.allclose(upside, upside[:, ::-1], rtol=1e-6)
    # Electrons gain what the light has done; nothing of a ground state can be given off.
    assert whole.absorption() > 0
    assert main(["report", "whole_ms.h5"]) == 0
    assert "a body in a box of 4 x 4 x 1 cells" in capsys.readouterr().out
