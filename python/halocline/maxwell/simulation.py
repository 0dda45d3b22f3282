# SPDX-License-Identifier: Apache-2.0
"""A grid of light: `Simulation(size, step, bodies=...)`, sources, and what is measured.

    import halocline as hc

    film = hc.maxwell.cuboid((400, ..., ...), (420, ..., ...))
    sim = hc.maxwell.Simulation(size=("1 um", 0, 0), step="2 nm", bodies=[(film, "gold")])
    energies = [1.0, 2.0, 3.0]
    wave = sim.add_plane_wave("x", "y", energies=energies)
    behind = sim.add_flux("x", 900, energies)
    sim.run_until_quiet()
    print(behind.values() / wave.flux())

Lengths are in nm, times in fs, photon energies in eV; texts carry their unit. Amplitudes are in any unit, since the
equations are linear: H is in units of E in empty space.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from halocline import _halocline
from halocline.comm import communicator
from halocline.errors import InvalidArgument
from halocline.maxwell.media import Medium, medium
from halocline.maxwell.units import HBAR_C_EV_NM, LIGHT_NM_PER_FS, frequency_of, quantity
from halocline.schema import Unfit, shown, takes

AXES = "xyz"
COMPONENTS = ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")
LEAST_CELLS = 10.0
"""Cells a wavelength in matter below which a run is refused."""

SECONDS_BETWEEN_WATCHES = 0.5

_length, _time, _energy = quantity("length"), quantity("time", above=0.0), quantity("energy", above=0.0)


def _axis(value: Any) -> int:
    if isinstance(value, str) and value in AXES and len(value) == 1:
        return AXES.index(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 3:
        return value
    raise Unfit('"x", "y" or "z"')


def _component(value: Any) -> int:
    if value in COMPONENTS:
        return COMPONENTS.index(value)
    raise Unfit(f"one of {', '.join(COMPONENTS)}")


def _energies(value: Any) -> list[float]:
    values = [value] if isinstance(value, (int, float, str)) else list(value)
    if not values:
        raise Unfit("at least one photon energy")
    return [_energy(v) for v in values]


def _size(value: Any) -> list[float]:
    if isinstance(value, (str, int, float)) or len(value) != 3:
        raise Unfit("three lengths; 0 along an axis along which nothing changes")
    return [quantity("length", at_least=0.0)(v) for v in value]


def _place(value: Any) -> list[float]:
    if isinstance(value, (str, int, float)) or len(value) != 3:
        raise Unfit("three lengths x, y, z")
    return [_length(v) for v in value]


def _corner(value: Any) -> list[Any]:
    if isinstance(value, (str, int, float)) or len(value) != 3:
        raise Unfit("three lengths x, y, z; ... where the body does not end")
    return [v if v is ... else _length(v) for v in value]


def _direction(value: Any) -> list[float]:
    if isinstance(value, str):
        return [float(a == _axis(value)) for a in range(3)]
    if len(value) != 3:
        raise Unfit('"x", "y", "z", or three numbers')
    return [float(v) for v in value]


@takes(lower=_corner, upper=_corner)
def cuboid(lower: Sequence[Any], upper: Sequence[Any]) -> Any:
    """The body between two corners [nm]; `...` stands for no end on that side.

    Raises InvalidArgument for a lower bound above the upper one.
    """
    none = -math.inf, math.inf
    corners = [[end if v is ... else v for v in c] for c, end in zip((lower, upper), none, strict=True)]
    return _halocline.maxwell.cuboid(*corners)


@takes(centre=_place, radius=quantity("length", above=0.0))
def sphere(centre: Sequence[Any], radius: Any) -> Any:
    """A ball [nm]."""
    return _halocline.maxwell.sphere(centre, radius)


@takes(centre=_place, axis=_direction, radius=quantity("length", above=0.0), length=quantity("length", above=0.0))
def cylinder(centre: Sequence[Any], axis: Any, radius: Any, length: Any = None) -> Any:
    """A rod along an axis, "x", "y", "z" or a vector [nm]; without a length it has no ends."""
    return _halocline.maxwell.cylinder(centre, axis, radius, math.inf if length is None else length)


class PlaneWave:
    """A plane wave that enters a box of total field."""

    def __init__(self, simulation: Simulation, number: int, energies: list[float], end: float) -> None:
        self._simulation, self._number = simulation, number
        self.energies = np.array(energies)
        self.end = end
        """When the pulse has entered [fs]."""

    def flux(self) -> np.ndarray:
        """Energy a unit of area at each of its energies, of the wave on the grid. Collective."""
        return np.array(self._simulation.native.incident_flux(self._number))


class Flux:
    """Energy that passes a plane, or what leaves a closed box, at photon energies."""

    def __init__(
        self,
        simulation: Simulation,
        faces: list[tuple[float, int, int]],
        lower: list[int],
        upper: list[int],
        energies: list[float],
    ) -> None:
        """faces: sign, number of the spectrum and axis of each; lower, upper: nodes of the planes' ends."""
        self._simulation, self._faces, self._lower, self._upper = simulation, faces, lower, upper
        self.energies = np.array(energies)

    def values(self) -> np.ndarray:
        """The energy at each photon energy, along the axis of the plane or out of the box: an area (nm^2; nm along the
        axes that are not flat) times what `PlaneWave.flux` counts. Collective."""
        return np.array(
            [
                sum(sign * self._of_plane(number, axis, f) for sign, number, axis in self._faces)
                for f in range(len(self.energies))
            ]
        )

    def _of_plane(self, number: int, axis: int, frequency: int) -> float:
        sim = self._simulation
        b, c = (axis + 1) % 3, (axis + 2) % 3
        flux = 0.0
        for electric, magnetic, sign in ((b, 3 + c, 1.0), (c, 3 + b, -1.0)):
            e = sim.native.spectrum(number, electric, frequency)
            h = sim.native.spectrum(number, magnetic, frequency)
            planes = 2 - axis  # arrays are [z][y][x]
            h = np.moveaxis(h, planes, 0)
            h = (h[0] + h[1]) / 2
            e = np.moveaxis(e, planes, 0)[1]
            weights = np.ones(e.shape)
            for a in (b, c):
                if sim.grid.flat(a) or self._whole(a):
                    continue
                place = [other for other in (2, 1, 0) if other != axis].index(a)
                cut: list[Any] = [slice(None)] * 2
                if a == electric:  # E lies between the nodes of this axis: leave out the one beyond the last node
                    cut[place] = slice(0, self._upper[a] - self._lower[a])
                    e, h, weights = e[tuple(cut)], h[tuple(cut)], weights[tuple(cut)]
                    continue
                for end in (0, -1):
                    cut[place] = end
                    weights[tuple(cut)] *= 0.5
            area = math.prod(sim.grid.step[a] for a in (b, c) if not sim.grid.flat(a))
            flux += sign * area * 0.5 * float(np.sum(weights * (e * h.conj()).real))
        return flux

    def _whole(self, axis: int) -> bool:
        return self._simulation.spans(axis, self._lower[axis], self._upper[axis])


class Simulation:
    """Maxwell's equations in the time domain (Yee's scheme). Every method is collective."""

    @takes(size=_size, step=quantity("length", above=0.0))
    def __init__(
        self,
        size: Sequence[Any],
        step: Any,
        *,
        ends: Any = "absorbing",
        background: Any = 1.0,
        bodies: Sequence[tuple[Any, Any]] = (),
        layer: int = 12,
        bloch: Sequence[float] = (0.0, 0.0, 0.0),
        courant: float = 0.95,
        precision: str = "double",
        depth: int = 0,
        smooth: bool = True,
        comm: Any = None,
    ) -> None:
        """A grid with matter in it.

        size: of the inner part along x, y, z [nm]; 0 along an axis along which nothing changes
        step: of the grid [nm]
        ends: "absorbing", "periodic", "electric" or "magnetic" for all axes that change, or one for each axis, or a
            pair for an axis; absorbing layers are added to the size
        background: a medium, its name or its permittivity; bodies: pairs of a shape and a medium, the later over the
            earlier
        layer: cells of an absorbing layer; bloch: phase from end to end of each periodic axis [rad]
        courant: time step over its limit, below 1; precision: "double" or "float"
        depth: steps of a sweep through memory, 0 for what the caches suggest; it changes no bit
        smooth: cells that a surface cuts have a mean permittivity
        Raises InvalidArgument for a grid or matter that cannot be. Cost: 48 bytes a cell, and matter.
        """
        per_axis = [ends] * 3 if isinstance(ends, str) else list(ends)
        if len(per_axis) != 3:
            raise InvalidArgument(f"Simulation: ends = {shown(ends)}: expected one end, or one for each of three axes.")
        if precision not in ("double", "float"):
            raise InvalidArgument(f'Simulation: precision = {shown(precision)}: expected "double" or "float".')
        cells, pairs, self.origin = [], [], []
        for length, end in zip(size, per_axis, strict=True):
            pair = [end, end] if isinstance(end, str) else list(end)
            count = round(length / step)
            if length == 0:
                pair, count = ["periodic", "periodic"], 1
            elif count < 1 or len(pair) != 2:
                raise InvalidArgument(f"Simulation: a size of {length:g} nm is less than one step of {step:g} nm.")
            before = layer if pair[0] == "absorbing" else 0
            cells.append(count + before + (layer if pair[1] == "absorbing" else 0))
            pairs.append(pair)
            self.origin.append(before * step)
        self.step = float(step)
        self.grid = _halocline.maxwell.Grid(cells, [step] * 3, pairs, list(bloch), layer, courant)
        self._media: list[Medium] = [medium(background)]
        matter = _halocline.maxwell.Matter(self._media[0].native)
        for shape, of in bodies:
            self._media.append(medium(of))
            matter.add(_halocline.maxwell.moved(shape, self.origin), self._media[-1].native)
        self._layer = [(layer if p[0] == "absorbing" else 0, layer if p[1] == "absorbing" else 0) for p in pairs]
        self.group = communicator(comm)
        kind = _halocline.maxwell.SimulationDouble if precision == "double" else _halocline.maxwell.SimulationFloat
        self.native = kind(self.grid, matter, self.group, [], depth, "auto", smooth)
        self._last_source = 0.0

    @property
    def time_step(self) -> float:
        """[fs]"""
        return self.grid.time_step / LIGHT_NM_PER_FS

    @property
    def time(self) -> float:
        """So far [fs]."""
        return self.native.time / LIGHT_NM_PER_FS

    def node(self, axis: int, place: float) -> int:
        """The node of the grid nearest to a place [nm], which counts from the inner end of the lower layer."""
        return round((place + self.origin[axis]) / self.step)

    def spans(self, axis: int, lower: int, upper: int) -> bool:
        """Whether nodes cover a periodic axis from end to end."""
        return self.grid.periodic(axis) and lower <= 0 and upper >= self.grid.cells[axis] - 1

    def refuse_coarse(self, energy: float) -> None:
        """Raises InvalidArgument if a wave has fewer than ten cells a wavelength in some medium."""
        for m in self._media:
            n = abs(complex(m.index(energy)).real)
            wavelength = 2 * math.pi * HBAR_C_EV_NM / energy / max(n, 1e-6)
            if wavelength < LEAST_CELLS * self.step:
                raise InvalidArgument(
                    f"Simulation: light of {energy:.4g} eV has a wavelength of {wavelength:.4g} nm in "
                    f"{m.name or 'a medium'} (index {n:.3g}), {wavelength / self.step:.3g} cells; at least "
                    f"{LEAST_CELLS:g} are needed: take a step of {wavelength / LEAST_CELLS:.3g} nm or less."
                )

    @takes(axis=_axis, polarisation=_axis, energies=_energies, span=_energies)
    def add_plane_wave(
        self,
        axis: Any,
        polarisation: Any,
        *,
        energies: Any,
        span: Any = None,
        direction: int = 1,
        margin: int = 6,
        box: Any = None,
        waveform: Any = None,
    ) -> PlaneWave:
        """A pulse that travels along an axis, into a box beyond which there is scattered light alone. The box reaches
        to the far end of the grid, where the pulse leaves through the absorbing layer.

        polarisation: of E; energies: at which `flux` counts it
        span: lowest and highest photon energy of the pulse, where it has a tenth of its largest amplitude; those of
            `energies` when absent
        margin: cells between the box and the other inner ends of the grid
        box: (lower, upper) corners of the box instead [nm]
        waveform: of hc.maxwell.Waveform, instead of the pulse, in units of nm
        Raises InvalidArgument for a wave that the grid does not resolve, and for a box that does not fit.
        """
        lowest, highest = min(span or energies), max(span or energies)
        self.refuse_coarse(highest)
        if polarisation == axis:
            raise InvalidArgument(f"add_plane_wave: light along {AXES[axis]} is polarised at right angles to it.")
        middle, half = (lowest + highest) / 2, max((highest - lowest) / 2, 0.05 * highest)
        width = math.sqrt(2 * math.log(10.0)) / frequency_of(half)
        wave = waveform or _halocline.maxwell.Waveform.gaussian(frequency_of(middle), width, 6 * width)
        lower, upper = [], []
        for a in range(3):
            first, last = self._layer[a][0], self.grid.cells[a] - self._layer[a][1]
            if box is not None and not self.grid.flat(a) and box[0][a] is not ...:
                lower.append(self.node(a, box[0][a]))
                upper.append(self.node(a, box[1][a]))
            elif self.grid.periodic(a):
                lower.append(0)
                upper.append(self.grid.cells[a])
            else:  # the wave leaves the grid with its box, through the layer at the far end
                forward, back = a == axis and direction > 0, a == axis and direction < 0
                ends_open = self._layer[a][1] if forward else self._layer[a][0]
                lower.append(0 if back and ends_open else first + margin)
                upper.append(self.grid.cells[a] if forward and ends_open else last - margin)
        vector = [float(a == polarisation) for a in range(3)]
        number = self.native.add_plane_wave(
            axis, direction, vector, lower, upper, wave, [frequency_of(e) for e in energies]
        )
        end = (wave.end + (upper[axis] - lower[axis]) * self.step) / LIGHT_NM_PER_FS
        self._last_source = max(self._last_source, end)
        return PlaneWave(self, number, list(energies), end)

    @takes(component=_component, place=_place)
    def add_current(self, component: Any, place: Any, waveform: Any) -> None:
        """A current along E's component at a place [nm]; waveform in units of nm."""
        self.native.add_current(component, self._point(place), waveform)
        self._last_source = max(self._last_source, waveform.end / LIGHT_NM_PER_FS)

    @takes(component=_component, place=_place)
    def add_probe(self, component: Any, place: Any) -> int:
        """Keeps a component at a place [nm] after every step. Returns the number for `probe`."""
        return self.native.add_probe(component, self._point(place))

    def _point(self, place: Sequence[float]) -> list[int]:
        return [0 if self.grid.flat(a) else self.node(a, place[a]) for a in range(3)]

    def probe(self, number: int) -> np.ndarray:
        """Shape (steps,): the values of a probe; complex with a Bloch phase."""
        values = self.native.probe(number)
        return values if np.iscomplexobj(values) and np.any(values.imag) else values.real

    @takes(axis=_axis, place=_length, energies=_energies)
    def add_flux(self, axis: Any, place: Any, energies: Any) -> Flux:
        """Counts the energy through a plane across an axis at a place [nm], over the whole inner part of the grid.

        Raises InvalidArgument for a plane outside of the grid.
        """
        return self._flux([(1.0, axis, self.node(axis, place))], *self._inner(), energies)

    @takes(lower=_place, upper=_place, energies=_energies)
    def add_flux_box(self, lower: Any, upper: Any, energies: Any) -> Flux:
        """Counts the energy that leaves a closed box [nm] through its faces; flat and whole periodic axes have none.

        Raises InvalidArgument for a box that is not inside the grid.
        """
        first = self._point(lower)
        last = [1 if self.grid.flat(a) else n for a, n in enumerate(self._point(upper))]
        planes = []
        for a in range(3):
            if not self.grid.flat(a) and not self.spans(a, first[a], last[a]):
                planes += [(-1.0, a, first[a]), (1.0, a, last[a])]
        return self._flux(planes, first, last, energies)

    def _inner(self) -> tuple[list[int], list[int]]:
        lower = [low for low, _ in self._layer]
        upper = [n - high for n, (_, high) in zip(self.grid.cells, self._layer, strict=True)]
        return lower, upper

    def _flux(
        self, planes: list[tuple[float, int, int]], lower: list[int], upper: list[int], energies: list[float]
    ) -> Flux:
        faces = []
        frequencies = [frequency_of(e) for e in energies]
        every = max(1, int(math.pi / (4 * max(frequencies) * self.grid.time_step)))
        for sign, axis, node in planes:
            if not 1 <= node < self.grid.cells[axis]:
                below, above = -self.origin[axis], self.grid.cells[axis] * self.step - self.origin[axis]
                raise InvalidArgument(
                    f"a flux through a plane at {node * self.step + below:g} nm across axis {AXES[axis]} was asked "
                    f"for; the grid lies between {below:g} and {above:g} nm."
                )
            begin, end = list(lower), [u + (0 if self.grid.periodic(a) else 1) for a, u in enumerate(upper)]
            for a in range(3):
                if self.grid.flat(a):
                    begin[a], end[a] = 0, 1
            begin[axis], end[axis] = node - 1, node + 1
            b, c = (axis + 1) % 3, (axis + 2) % 3
            faces.append((sign, self.native.add_spectrum(begin, end, [b, c, 3 + b, 3 + c], frequencies, every), axis))
        return Flux(self, faces, lower, upper, energies)

    @takes(duration=_time)
    def run(self, duration: Any) -> None:
        """Lets light travel for a time [fs]."""
        self.native.run(max(1, round(duration / self.time_step)))

    def run_until_quiet(
        self,
        fall: float = 1e-4,
        longest: float = 1e4,
        largest: float = 0.0,
        watch: Callable[[float, float], None] | None = None,
    ) -> float:
        """Runs until all sources have ended and the energy has fallen to a part of its largest value.

        fall: that part; longest: a limit of the whole time [fs]
        largest: energy of an earlier part of the run, to go on from
        watch: called about twice a second with the largest energy so far and the part that was left at the last look;
            may end the run by an exception
        Returns the part that is left. The energy is looked at in steps that only the sources determine, so that the end
        of the run does not depend on the machine, nor on where it was stopped.
        """
        every = max(1, round(self._last_source / self.time_step / 20))
        block, left = 1, 1.0
        while self.time < longest:
            begun = time.monotonic()
            steps = min(every - self.native.steps % every, block if watch is not None else every)
            self.native.run(steps)
            if self.native.steps % every == 0:
                now = self.energy()
                largest = max(largest, now)
                left = now / largest if largest > 0 else 1.0
                if self.time > self._last_source and left <= fall:
                    break
            if watch is not None:
                watch(largest, left)
                seconds = self.group.max([time.monotonic() - begun])[0] / steps
                block = max(1, int(SECONDS_BETWEEN_WATCHES / max(seconds, 1e-9)))
        return left

    def area(self, axis: str) -> float:
        """Of a plane across an axis, without the layers [nm^2; nm in two dimensions, 1 in one]."""
        lower, upper = self._inner()
        others = [a for a in range(3) if a != AXES.index(axis) and not self.grid.flat(a)]
        return math.prod((upper[a] - lower[a]) * self.step for a in others)

    def energy(self) -> float:
        """Of field and matter on the grid."""
        return sum(self.native.energy())

    @takes(component=_component)
    def field(self, component: Any) -> np.ndarray:
        """Shape (z, y, x): a component on the whole grid, complex with a Bloch phase."""
        real = self.native.field(component)
        return real + 1j * self.native.field(component, 1) if any(self.grid.bloch) else real
