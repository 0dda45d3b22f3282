# SPDX-License-Identifier: Apache-2.0
"""What is measured on a grid of light: fluxes, fields at photon energies, far fields and dipole moments.

Spectra are sums over time of a field times exp(i omega t) dt, in units of nm for times. A `Simulation` makes all of
these; their values are collective.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from halocline.errors import InvalidArgument
from halocline.maxwell.units import LIGHT_NM_PER_FS, frequency_of

if TYPE_CHECKING:
    from halocline.maxwell.simulation import Simulation

Face = tuple[float, int, int]
"""Of a plane: sign of its normal along the axis, number of its spectrum, axis."""


class _Faces:
    """Tangential fields on planes across axes, each of which ends at nodes `lower` and `upper` of the other axes."""

    def __init__(
        self, simulation: Simulation, faces: list[Face], lower: list[int], upper: list[int], energies: list[float]
    ) -> None:
        self._simulation, self._faces, self._lower, self._upper = simulation, faces, lower, upper
        self.energies = np.array(energies)

    def _pairs(self, face: Face, frequency: int) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray, list]]:
        """E along both tangential axes, with H along the other one at the same places: the axis of E, E, H, areas, and
        the coordinates of the points along x, y, z in steps from the first node. Arrays have the axes of the plane."""
        _, number, axis = face
        sim = self._simulation
        b, c = (axis + 1) % 3, (axis + 2) % 3
        for electric, magnetic in ((b, 3 + c), (c, 3 + b)):
            e = np.moveaxis(sim.native.spectrum(number, electric, frequency), 2 - axis, 0)[1]
            h = np.moveaxis(sim.native.spectrum(number, magnetic, frequency), 2 - axis, 0)
            h = (h[0] + h[1]) / 2  # arrays are [z][y][x], the planes of H on both sides of the nodes
            others = [a for a in (2, 1, 0) if a != axis]
            weights = np.ones(e.shape)
            for place, a in enumerate(others):
                if sim.grid.flat(a) or sim.spans(a, self._lower[a], self._upper[a]):
                    continue
                cut: list[Any] = [slice(None)] * 2
                if a == electric:  # E lies between the nodes of this axis: leave out the one beyond the last node
                    cut[place] = slice(0, self._upper[a] - self._lower[a])
                    e, h, weights = e[tuple(cut)], h[tuple(cut)], weights[tuple(cut)]
                    continue
                for end in (0, -1):
                    cut[place] = end
                    weights[tuple(cut)] *= 0.5
            areas = math.prod(sim.grid.step[a] for a in others if not sim.grid.flat(a)) * weights
            places: list[Any] = [0.0, 0.0, 0.0]
            for place, a in enumerate(others):
                if sim.grid.flat(a):
                    continue
                first = (0 if sim.spans(a, self._lower[a], self._upper[a]) else self._lower[a]) + 0.5 * (a == electric)
                along = [1, 1]
                along[place] = -1
                places[a] = (first + np.arange(e.shape[place])).reshape(along)
            yield electric, e, h, areas, places


class Flux(_Faces):
    """Energy that passes a plane, or what leaves a closed box, at photon energies."""

    def values(self) -> np.ndarray:
        """The energy at each photon energy, along the axis of the plane or out of the box: an area (nm^2; nm along the
        axes that are not flat) times what `PlaneWave.flux` counts. Collective."""
        found = np.zeros(len(self.energies))
        for f in range(len(self.energies)):
            for face in self._faces:
                for electric, e, h, areas, _ in self._pairs(face, f):
                    sign = face[0] * (1.0 if electric == (face[2] + 1) % 3 else -1.0)
                    found[f] += sign * self._simulation.ring * 0.5 * float(np.sum(areas * (e * h.conj()).real))
        return found


class FarField(_Faces):
    """The field far from a closed box, by the currents on its faces that would radiate the same light (Taflove and
    Hagness, Computational Electrodynamics, 3rd edition, chapter 8). Outside of the box there is the background."""

    def check(self, directions: Any) -> np.ndarray:
        """Unit vectors of directions, shape (n, 3). Raises InvalidArgument for others than amplitudes() takes."""
        return _unit_vectors(directions, [a for a in range(3) if self._simulation.grid.flat(a)])

    def amplitudes(self, directions: Any) -> np.ndarray:
        """Shape (energies, directions, 3): E r exp(-i k r) at a distance r from the middle of the box, and E sqrt(r)
        exp(-i k r) in two dimensions.

        directions: one vector or several, shape (n, 3); in two dimensions in the plane of the grid
        Collective. Cost: the points of the faces, for each direction and energy.
        """
        sim = self._simulation
        flat = [a for a in range(3) if sim.grid.flat(a)]
        unit = self.check(directions)
        middle = [(lower + upper) / 2 for lower, upper in zip(self._lower, self._upper, strict=True)]
        index = math.sqrt(sim.background_permittivity)
        found = np.zeros((len(self.energies), len(unit), 3), dtype=complex)
        for f, energy in enumerate(self.energies):
            k = index * frequency_of(float(energy))
            electric_sum = np.zeros((len(unit), 3), dtype=complex)  # of normal x H
            magnetic_sum = np.zeros((len(unit), 3), dtype=complex)  # of -normal x E
            for face in self._faces:
                sign, _, axis = face
                plane = self._plane(face) - middle[axis]
                for electric, e, h, areas, places in self._pairs(face, f):
                    other = 3 - axis - electric
                    right = sign * (1.0 if electric == (axis + 1) % 3 else -1.0)
                    for d, towards in enumerate(unit):
                        path = towards[axis] * plane + sum(
                            towards[a] * (places[a] - middle[a]) for a in (electric, other) if a not in flat
                        )
                        turned = areas * np.exp(-1j * k * sim.step * path)
                        # normal x (unit vector of H) is minus that of E for a right-handed pair
                        electric_sum[d, electric] -= right * np.sum(turned * h)
                        magnetic_sum[d, other] -= right * np.sum(turned * e)
            across = electric_sum - unit * np.sum(unit * electric_sum, axis=1, keepdims=True)
            green = (
                1j * k / (4 * math.pi) if not flat else 1j * k * np.exp(0.25j * math.pi) / math.sqrt(8 * math.pi * k)
            )
            found[f] = green * (across / index - np.cross(unit, magnetic_sum))
        return found

    def intensities(self, directions: Any) -> np.ndarray:
        """Shape (energies, directions): energy a solid angle (an angle in two dimensions); over `PlaneWave.flux` it is
        the differential cross-section [nm^2; nm]. Collective."""
        index = math.sqrt(self._simulation.background_permittivity)
        return 0.5 * index * np.sum(np.abs(self.amplitudes(directions)) ** 2, axis=2)

    def _plane(self, face: Face) -> float:
        return float(self._lower[face[2]] if face[0] < 0 else self._upper[face[2]])


class RoundFarField(FarField):
    """The same of a closed can in a cylindrical grid, whose currents are added up around the axis. Places are counted
    from the middle of the can on the axis."""

    def check(self, directions: Any) -> np.ndarray:
        return _unit_vectors(directions, [])

    def amplitudes(self, directions: Any) -> np.ndarray:
        """Shape (energies, directions, 3): E r exp(-i k r) at a distance r, with Cartesian components.

        directions: one vector or several, shape (n, 3)
        Collective. Cost: the points of the faces, for each direction, energy and angle around the axis.
        """
        sim = self._simulation
        unit = self.check(directions)
        middle = (self._lower[2] + self._upper[2]) / 2
        index = math.sqrt(sim.background_permittivity)
        m = sim.azimuthal
        found = np.zeros((len(self.energies), len(unit), 3), dtype=complex)
        for f, energy in enumerate(self.energies):
            k = index * frequency_of(float(energy))
            # The phase around the axis has waves up to k times the radius; more angles than twice that are exact.
            count = 4 * (m + math.ceil(k * sim.step * self._upper[0])) + 32
            electric_sum, magnetic_sum = np.zeros((2, len(unit), 3), dtype=complex)
            for electric, along_e, along_m, radius, height in self._currents(f):
                for n in range(count):
                    angle = 2 * math.pi * n / count
                    turn = math.sin(m * angle) if electric == 1 else math.cos(m * angle)
                    if turn == 0.0:
                        continue
                    cosine, sine = math.cos(angle), math.sin(angle)
                    basis = np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]])
                    for d, towards in enumerate(unit):
                        path = radius * (towards @ basis[0]) + (height - middle) * towards[2]
                        turned = (2 * math.pi / count * turn) * np.exp(-1j * k * sim.step * path)
                        electric_sum[d] += np.sum(turned * along_e[1]) * basis[along_e[0]]
                        magnetic_sum[d] += np.sum(turned * along_m[1]) * basis[along_m[0]]
            across = electric_sum - unit * np.sum(unit * electric_sum, axis=1, keepdims=True)
            found[f] = 1j * k / (4 * math.pi) * (across / index - np.cross(unit, magnetic_sum))
        return found

    def _currents(self, frequency: int) -> Iterator[tuple[int, tuple, tuple, np.ndarray, np.ndarray]]:
        """On each face for each pair of components: the axis of E; axis and values of normal x H and of -normal x E,
        times the length of a step and the distance from the axis; distance and height [steps]. Axes 0, 1, 2 are those
        away from the axis, around it and along it."""
        step = self._simulation.step
        for face in self._faces:
            sign, _, axis = face
            for electric, e, h, areas, places in self._pairs(face, frequency):
                other = 3 - axis - electric
                right = sign * (1.0 if electric == (axis + 1) % 3 else -1.0)
                radius = np.asarray(self._plane(face) if axis == 0 else places[0], dtype=float)
                height = np.asarray(self._plane(face) if axis == 2 else places[2], dtype=float)
                # The components around the axis are multiplied by the distance already.
                with_e, with_h = (e, h * radius * step) if electric == 1 else (e * radius * step, h)
                yield electric, (electric, -right * areas * with_h), (other, -right * areas * with_e), radius, height


def _unit_vectors(directions: Any, flat: list[int]) -> np.ndarray:
    unit = np.atleast_2d(np.asarray(directions, dtype=float))
    size = np.linalg.norm(unit, axis=1, keepdims=True)
    if unit.shape[1] != 3 or np.any(size == 0) or np.any(unit[:, flat] != 0):
        raise InvalidArgument(
            f"far field: directions of shape {unit.shape} were given; expected vectors x, y, z that are not zero, and "
            "zero along flat axes."
        )
    return unit / size


class Monitor:
    """Fields in a box of the grid at photon energies."""

    def __init__(
        self, simulation: Simulation, number: int, lower: list[int], components: Sequence[int], energies: list[float]
    ) -> None:
        self._simulation, self._number, self._lower, self._components = simulation, number, lower, components
        self.energies = np.array(energies)

    def values(self, component: str) -> np.ndarray:
        """Shape (energies, z, y, x): a component. Raises InvalidArgument for one that is not monitored. Collective."""
        number = self._simulation.component(component)
        if number not in self._components:
            raise InvalidArgument(f"this monitor has no {component}; name it when the monitor is added.")
        sim = self._simulation
        found = [sim.native.spectrum(self._number, number, f) for f in range(len(self.energies))]
        return sim.unscaled(number, np.array(found), self._lower[0])


class Dipole:
    """The dipole moment of all poles of the media while the simulation runs."""

    def __init__(self, simulation: Simulation, every: int) -> None:
        self._simulation, self._every = simulation, every

    def values(self) -> np.ndarray:
        """Shape (samples, 3): the integral of the polarisation [nm^3 times the unit of E; P in units of epsilon_0 E].
        Collective."""
        return self._simulation.native.dipole()

    def times(self) -> np.ndarray:
        """[fs]. Collective."""
        return self._every * self._simulation.time_step * np.arange(1, len(self.values()) + 1)

    def polarisability(self, energies: Any) -> np.ndarray:
        """Shape (energies, 3): dipole moment over the field of the kick, in units of epsilon_0 [nm^3; nm^2 and nm in
        two dimensions and one]. Raises InvalidArgument without a kick. Collective."""
        strength = self._simulation.kicked
        if strength is None:
            raise InvalidArgument("a polarisability needs a kick at the beginning: Simulation.kick.")
        times = LIGHT_NM_PER_FS * self.times()
        omega = np.array([frequency_of(float(e)) for e in np.atleast_1d(energies)])
        step = self._every * self._simulation.grid.time_step
        sums = step * np.exp(1j * omega[:, None] * times) @ self.values()
        return sums / self._simulation.thickness / np.linalg.norm(strength)

    def extinction(self, energies: Any) -> np.ndarray:
        """Shape (energies,): the cross-section omega Im(polarisability) along the kick: absorption and scattering
        together [nm^2; nm in two dimensions, a part in one]. Collective."""
        omega = np.array([frequency_of(float(e)) for e in np.atleast_1d(energies)])
        found = self.polarisability(energies)
        strength = np.asarray(self._simulation.kicked)
        return omega * (found @ (strength / np.linalg.norm(strength))).imag
