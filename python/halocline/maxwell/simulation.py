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
from halocline.maxwell.checks import (
    AXES,
    COMPONENTS,
    a_component,
    a_direction,
    a_duration,
    a_length,
    a_place,
    a_size,
    an_axis,
    an_energy,
    some_energies,
)
from halocline.maxwell.measures import Dipole, Face, FarField, Flux, Monitor, RoundFarField
from halocline.maxwell.media import Medium, medium
from halocline.maxwell.snapshots import Snapshots
from halocline.maxwell.sources import Beam, PlaneWave, Profiles, check_profile, pulse, waveforms
from halocline.maxwell.units import HBAR_C_EV_NM, LIGHT_NM_PER_FS, frequency_of, quantity
from halocline.schema import shown, takes

LEAST_CELLS = 10.0
"""Cells a wavelength in matter below which a run is refused."""

SECONDS_BETWEEN_WATCHES = 0.5


class Simulation:
    """Maxwell's equations in the time domain (Yee's scheme). Every method is collective."""

    @takes(size=a_size, step=quantity("length", above=0.0))
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
        azimuthal: int | None = None,
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
        azimuthal: m of a cylindrical grid: x is the distance from an axis, z the height, and fields vary with the angle
            y as cos(m y) (E_x, E_z, H_y) and sin(m y). The size along y is 0, and x has one end; bodies are those of
            revolution, with y = 0
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
        self.azimuthal = azimuthal
        if azimuthal is not None and (size[1] != 0 or size[0] == 0 or azimuthal < 0):
            raise InvalidArgument(
                f"Simulation: azimuthal = {azimuthal} with the size {shown(list(size))}: a cylindrical grid has a size "
                "along x, its radius, none along y, and m of at least 0."
            )
        cells, pairs, self.origin = [], [], []
        for axis, (length, end) in enumerate(zip(size, per_axis, strict=True)):
            pair = [end, end] if isinstance(end, str) else list(end)
            if azimuthal is not None and axis == 0:
                pair[0] = "magnetic"  # the axis
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
        # The angle has no length; a short one keeps bodies where they are.
        steps = [step, step if azimuthal is None else 1e-6 * step, step]
        self.grid = _halocline.maxwell.Grid(
            cells, steps, pairs, list(bloch), layer, courant, azimuthal is not None, azimuthal or 0
        )
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
        self._probes: list[float] = []
        self._snapshots: list[Snapshots] = []
        self.kicked: list[float] | None = None
        """Integral over time of the field of a kick."""

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

    @takes(axis=an_axis, polarisation=an_axis, energies=some_energies, span=some_energies)
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
        In a cylindrical grid the axis is "z", the polarisation "x" and m is 1.
        Raises InvalidArgument for a wave that the grid does not resolve, and for a box that does not fit.
        """
        self.refuse_coarse(max(span or energies))
        if polarisation == axis:
            raise InvalidArgument(f"add_plane_wave: light along {AXES[axis]} is polarised at right angles to it.")
        wave = waveform or waveforms(*pulse(energies, span))[0]
        lower, upper = [], []
        for a in range(3):
            first, last = self._layer[a][0], self.grid.cells[a] - self._layer[a][1]
            if box is not None and not self.grid.flat(a) and box[0][a] is not ...:
                lower.append(self.node(a, box[0][a]))
                upper.append(self.node(a, box[1][a]))
            elif self.azimuthal is not None and a == 0:
                lower.append(0)
                upper.append(last - margin)
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

    @takes(
        axis=an_axis,
        polarisation=an_axis,
        waist=quantity("length", above=0.0),
        focus=a_place,
        energies=some_energies,
        span=some_energies,
        place=a_length,
    )
    def add_beam(
        self,
        axis: Any,
        polarisation: Any,
        *,
        waist: Any,
        focus: Any,
        energies: Any,
        span: Any = None,
        direction: int = 1,
        place: Any = None,
    ) -> Beam:
        """A pulse with a Gaussian profile that enters through a plane across an axis. Behind the plane, where it comes
        from, there is scattered light alone.

        waist: distance from the axis at which E in the focus is 1/e of its largest value [nm]; focus: its place [nm]
        energies, span, polarisation: as in add_plane_wave. The profile is that of the middle of the span at all
            energies, so that the plane sends back a part of light of other energies
        direction: 1 or -1 along the axis; place: of the plane [nm]; six steps from the end of the grid when absent
        Raises InvalidArgument for a beam that the grid does not resolve, or that its plane cuts off.
        """
        if self.azimuthal is not None:
            raise InvalidArgument(
                "add_beam: a cylindrical grid takes plane waves, currents and kicks; give a plain one."
            )
        self.refuse_coarse(max(span or energies))
        if polarisation == axis:
            raise InvalidArgument(f"add_beam: light along {AXES[axis]} is polarised at right angles to it.")
        if direction not in (1, -1):
            raise InvalidArgument(f"add_beam: direction = {shown(direction)}: expected 1 or -1.")
        first, last = self.inner()
        default = first[axis] + 6 if direction > 0 else last[axis] - 6
        node = default if place is None else self.node(axis, place)
        omega, width = pulse(energies, span)
        profiles = Profiles(self, axis, direction, node, omega, polarisation)
        at = [(focus[a] + self.origin[a]) / self.step for a in range(3)]
        fields, power = profiles.make(waist, at)
        flat = [a for a in range(3) if self.grid.flat(a)]
        check_profile(fields, axis, flat)
        signals = waveforms(omega, width)
        for part, signal in zip((np.real, np.imag), signals, strict=True):
            values = [np.ascontiguousarray(part(f)).ravel().tolist() for f in fields]
            self.native.add_sheet(axis, direction, node, profiles.lower, profiles.upper, values, signal)
        way = last[axis] - node if direction > 0 else node - first[axis]
        end = (signals[0].end + way * self.step) / LIGHT_NM_PER_FS
        self._last_source = max(self._last_source, end)
        return Beam(power, signals[0], self.grid.time_step, list(energies), end)

    @takes(direction=a_direction)
    def kick(self, direction: Any, strength: float = 1.0) -> None:
        """A uniform field that acts for no time, at the beginning: the integral of E over time is `strength` along a
        direction, "x", "y", "z" or a vector. The field on the grid is what matter sends out; `add_dipole` then gives
        the polarisability at all photon energies at once.

        Raises InvalidArgument for matter with a permittivity other than 1 or a conductivity, which would answer at
        once, and after the first step.
        """
        if self.native.steps:
            raise InvalidArgument("kick: the simulation has begun; kick it before the first step.")
        norm = math.sqrt(sum(v * v for v in direction))
        if norm == 0 or strength == 0:
            raise InvalidArgument("kick: expected a direction and a strength that are not zero.")
        self.kicked = [strength * v / norm for v in direction]
        self.native.kick(self.kicked)

    @takes(highest=an_energy)
    def add_dipole(self, highest: Any) -> Dipole:
        """Keeps the dipole moment of all poles, often enough for photon energies up to `highest` [eV] and for the
        fastest motion of the poles."""
        fastest = frequency_of(highest)
        for m in self._media:
            poles = m.native.poles
            fastest = max([fastest, *(math.sqrt(p.resonance**2 + sum(q.strength for q in poles)) for p in poles)])
        every = max(1, int(math.pi / (20 * fastest * self.grid.time_step)))
        self.native.keep_dipole(every)
        return Dipole(self, every)

    @takes(component=a_component, place=a_place)
    def add_current(self, component: Any, place: Any, waveform: Any) -> None:
        """A current along E's component at a place [nm]; waveform in units of nm."""
        self.native.add_current(component, self._point(place), waveform)
        self._last_source = max(self._last_source, waveform.end / LIGHT_NM_PER_FS)

    @takes(component=a_component, place=a_place)
    def add_probe(self, component: Any, place: Any) -> int:
        """Keeps a component at a place [nm] after every step. Returns the number for `probe`."""
        point = self._point(place)
        self._probes.append(float(self._radii(component, point[0], 1)[0]))
        return self.native.add_probe(component, point)

    def _point(self, place: Sequence[float]) -> list[int]:
        return [0 if self.grid.flat(a) else self.node(a, place[a]) for a in range(3)]

    def probe(self, number: int) -> np.ndarray:
        """Shape (steps,): the values of a probe; complex with a Bloch phase."""
        values = self.native.probe(number) / self._probes[number]
        return values if np.iscomplexobj(values) and np.any(values.imag) else values.real

    @takes(axis=an_axis, place=a_length, energies=some_energies)
    def add_flux(self, axis: Any, place: Any, energies: Any) -> Flux:
        """Counts the energy through a plane across an axis at a place [nm], over the whole inner part of the grid.

        Raises InvalidArgument for a plane outside of the grid.
        """
        return Flux(self, *self._faces([(1.0, axis, self.node(axis, place))], *self.inner(), energies))

    @takes(lower=a_place, upper=a_place, energies=some_energies)
    def add_flux_box(self, lower: Any, upper: Any, energies: Any) -> Flux:
        """Counts the energy that leaves a closed box [nm] through its faces; flat and whole periodic axes have none.

        Raises InvalidArgument for a box that is not inside the grid.
        """
        return Flux(self, *self._box(lower, upper, energies))

    @takes(lower=a_place, upper=a_place, energies=some_energies)
    def add_far_field(self, lower: Any, upper: Any, energies: Any) -> FarField:
        """Keeps the light that leaves a closed box [nm], for the field far from it. All matter is inside of the box,
        and so is the box of a plane wave. For grids in two and three dimensions and cylindrical ones.

        Raises InvalidArgument for a box that is not inside the grid, one that covers a periodic axis, grids in one
        dimension, a can that does not begin on the axis, and a background with poles or a conductivity.
        """
        flat = sum(self.grid.flat(a) for a in range(3))
        background = self._media[0]
        if flat > 1 or background.poles or background.conductivity:
            raise InvalidArgument(
                "add_far_field: expected a grid in two or three dimensions, and a background that is a permittivity."
            )
        faces, first, last, values = self._box(lower, upper, energies)
        if self.azimuthal is not None:
            if first[0] != 0 or len(faces) != 3:
                raise InvalidArgument("add_far_field: expected a can around the axis, from x = 0 on, inside the grid.")
            return RoundFarField(self, faces, first, last, values)
        if len(faces) != 2 * (3 - flat):
            raise InvalidArgument(
                "add_far_field: the box covers a periodic axis; light leaves it in no direction there."
            )
        return FarField(self, faces, first, last, values)

    @takes(lower=a_place, upper=a_place, energies=some_energies)
    def add_monitor(self, components: Sequence[str], lower: Any, upper: Any, energies: Any) -> Monitor:
        """Keeps components in a box [nm] at photon energies. Cost: a complex number a point, component and energy.

        Raises InvalidArgument for a box outside of the grid.
        """
        numbers = [self.component(c) for c in ([components] if isinstance(components, str) else components)]
        first = self._point(lower)
        last = [0 if self.grid.flat(a) else n for a, n in enumerate(self._point(upper))]
        for a in range(3):
            if not 0 <= first[a] <= last[a] <= self.grid.cells[a]:
                raise InvalidArgument(
                    f"add_monitor: nodes {first[a]} to {last[a]} of axis {AXES[a]} were asked for; the grid has 0 to "
                    f"{self.grid.cells[a]}."
                )
        frequencies = [frequency_of(e) for e in energies]
        number = self.native.add_spectrum(first, [n + 1 for n in last], numbers, frequencies, self._every(frequencies))
        return Monitor(self, number, first, numbers, list(energies))

    @takes(every=a_duration, axis=an_axis, place=a_length)
    def add_snapshots(self, component: str, every: Any, *, axis: Any = None, place: Any = None) -> Snapshots:
        """Keeps a component after every `every` [fs], on the plane across an axis that is nearest to a place [nm], or
        on the whole grid, without absorbing layers. With a Bloch phase it is the real part.

        Raises InvalidArgument for an axis without a place, a plane outside of the grid, and after the first step.
        """
        if self.native.steps:
            raise InvalidArgument("add_snapshots: the simulation has begun; ask before the first step.")
        if (axis is None) != (place is None):
            raise InvalidArgument("add_snapshots: a plane needs an axis and a place; give both, or neither.")
        number = self.component(component)
        lower, upper = self.inner()
        upper = [n + (not (self.grid.periodic(a) or self._between(number, a))) for a, n in enumerate(upper)]
        if axis is not None:
            node = self.node(axis, place)
            if not lower[axis] <= node < upper[axis]:
                raise InvalidArgument(
                    f"add_snapshots: a plane at {place:g} nm across axis {AXES[axis]} was asked for; the grid lies "
                    f"between 0 and {(upper[axis] - lower[axis]) * self.step:g} nm."
                )
            lower[axis], upper[axis] = node, node + 1
        found = Snapshots(self, number, max(1, round(every / self.time_step)), lower, upper)
        self._snapshots.append(found)
        return found

    @staticmethod
    def _between(component: int, axis: int) -> bool:
        return (component % 3 == axis) == (component < 3)

    def component(self, name: Any) -> int:
        """The number of a component. Raises InvalidArgument for another name."""
        if name not in COMPONENTS:
            raise InvalidArgument(f"a component {shown(name)} was asked for; expected one of {', '.join(COMPONENTS)}.")
        return COMPONENTS.index(name)

    @property
    def background_permittivity(self) -> float:
        """Of the medium around all bodies, at high frequencies."""
        return self._media[0].permittivity

    @property
    def thickness(self) -> float:
        """Of the layer that a grid in one or two dimensions counts as its volume [nm^2, nm]; 1 in three, and in a
        cylindrical grid."""
        return 1.0 if self.azimuthal is not None else math.prod(self.step for a in range(3) if self.grid.flat(a))

    @property
    def ring(self) -> float:
        """Integral of cos^2(m y) over the angle of a cylindrical grid; 1 in others."""
        return 1.0 if self.azimuthal is None else math.pi * (2 if self.azimuthal == 0 else 1)

    def _radii(self, component: int, first: int, count: int) -> np.ndarray:
        """What the compiled room's component has been multiplied by, at points of x."""
        if self.azimuthal is None or component % 3 != 1:
            return np.ones(count)
        radii = (np.arange(first, first + count) + (0.5 if component > 2 else 0.0)) * self.step
        return np.where(radii == 0, 1.0, radii)

    def unscaled(self, component: int, values: np.ndarray, first: int = 0) -> np.ndarray:
        """A component over the last axis of an array, x from a point on, as it is: the compiled room has E_y and H_y of
        cylindrical grids times the distance from the axis."""
        found = values / self._radii(component, first, values.shape[-1])
        if self.azimuthal == 1 and component == 1 and first == 0 and found.shape[-1] > 1:
            found[..., 0] = found[..., 1]  # to first order in the step
        return found

    def inner(self) -> tuple[list[int], list[int]]:
        """The nodes at which the inner part of the grid begins and ends."""
        lower = [low for low, _ in self._layer]
        upper = [n - high for n, (_, high) in zip(self.grid.cells, self._layer, strict=True)]
        return lower, upper

    def _every(self, frequencies: list[float]) -> int:
        """Steps between samples for sums at these frequencies."""
        return max(1, int(math.pi / (4 * max(frequencies) * self.grid.time_step)))

    def _box(
        self, lower: Any, upper: Any, energies: list[float]
    ) -> tuple[list[Face], list[int], list[int], list[float]]:
        first = self._point(lower)
        last = [1 if self.grid.flat(a) else n for a, n in enumerate(self._point(upper))]
        planes = []
        for a in range(3):
            if not self.grid.flat(a) and not self.spans(a, first[a], last[a]):
                axis = self.azimuthal is not None and a == 0 and first[a] == 0  # has no face
                planes += [(1.0, a, last[a])] if axis else [(-1.0, a, first[a]), (1.0, a, last[a])]
        return self._faces(planes, first, last, energies)

    def _faces(
        self, planes: list[tuple[float, int, int]], lower: list[int], upper: list[int], energies: list[float]
    ) -> tuple[list[Face], list[int], list[int], list[float]]:
        faces = []
        frequencies = [frequency_of(e) for e in energies]
        every = self._every(frequencies)
        for sign, axis, node in planes:
            least, most = (end[axis] for end in self.inner())
            if not max(1, least) <= node <= min(most, self.grid.cells[axis] - 1):
                below, above = (n * self.step - self.origin[axis] for n in (least, most))
                raise InvalidArgument(
                    f"light through a plane at {node * self.step - self.origin[axis]:g} nm across axis {AXES[axis]} "
                    f"was asked for; the grid without its layers lies between {below:g} and {above:g} nm."
                )
            begin, end = list(lower), [u + (0 if self.grid.periodic(a) else 1) for a, u in enumerate(upper)]
            for a in range(3):
                if self.grid.flat(a):
                    begin[a], end[a] = 0, 1
            begin[axis], end[axis] = node - 1, node + 1
            b, c = (axis + 1) % 3, (axis + 2) % 3
            faces.append((sign, self.native.add_spectrum(begin, end, [b, c, 3 + b, 3 + c], frequencies, every), axis))
        return faces, lower, upper, energies

    @takes(duration=a_duration)
    def run(self, duration: Any) -> None:
        """Lets light travel for a time [fs]."""
        self.advance(max(1, round(duration / self.time_step)))

    def advance(self, steps: int) -> None:
        """Does time steps."""
        end = self.native.steps + steps
        while self.native.steps < end:
            done = self.native.steps
            self.native.run(min([end - done, *(s.every - done % s.every for s in self._snapshots)]))
            for snapshots in self._snapshots:
                if self.native.steps % snapshots.every == 0:
                    snapshots.take()

    def run_until_quiet(
        self,
        fall: float = 1e-4,
        longest: float = 1e4,
        largest: float = 0.0,
        watch: Callable[[float, float], None] | None = None,
        looked: Callable[[float], None] | None = None,
    ) -> float:
        """Runs until all sources have ended and the energy has fallen to a part of its largest value.

        fall: that part; longest: a limit of the whole time [fs]
        largest: energy of an earlier part of the run, to go on from
        watch: called about twice a second with the largest energy so far and the part that was left at the last look;
            may end the run by an exception
        looked: called with the energy at each look
        Returns the part that is left. The energy is looked at in steps that only the sources determine, so that the end
        of the run does not depend on the machine, nor on where it was stopped.
        """
        every = max(20, round(self._last_source / self.time_step / 20))
        block, left = 1, 1.0
        while self.time < longest:
            begun = time.monotonic()
            steps = min(every - self.native.steps % every, block if watch is not None else every)
            self.advance(steps)
            if self.native.steps % every == 0:
                now = self.energy()
                if looked is not None:
                    looked(now)
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
        """Of a plane across an axis, without the layers [nm^2; nm in two dimensions, 1 in one]. In a cylindrical grid,
        of the disc or of the wall."""
        lower, upper = self.inner()
        if self.azimuthal is not None:
            radius = upper[0] * self.step
            return math.pi * radius**2 if axis == "z" else 2 * math.pi * radius * (upper[2] - lower[2]) * self.step
        others = [a for a in range(3) if a != AXES.index(axis) and not self.grid.flat(a)]
        return math.prod((upper[a] - lower[a]) * self.step for a in others)

    def energy(self) -> float:
        """Of field and matter on the grid."""
        return sum(self.native.energy()) * (1.0 if self.azimuthal is None else self.ring / self.grid.step[1])

    @takes(component=a_component)
    def field(self, component: Any) -> np.ndarray:
        """Shape (z, y, x): a component on the whole grid, complex with a Bloch phase."""
        real = self.unscaled(component, self.native.field(component))
        return real + 1j * self.native.field(component, 1) if any(self.grid.bloch) else real
