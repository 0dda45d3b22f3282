# SPDX-License-Identifier: Apache-2.0
"""The work of `halocline maxwell run`: from a run file to fluxes, probes and fields, with checkpoints.

light.h5      attributes: format, version, revision, parameters (JSON), steps, time [fs], left, media (JSON);
              energy (n,) [eV], incident (n,), flux/<name> (n,), which are over the incident energy: of the area of a
              plane wave for planes, of the whole beam, and in nm^2 (nm in two dimensions) for boxes;
              extinction (n,) [nm^2; nm] and dipole (samples, 3), dipole_time [fs] of a kick;
              far/<name> (n, directions) [nm^2; nm], monitor/<name>/<component> [energy][z][y][x];
              probe_time (steps,) [fs], probe/<name> (steps,), field/<component> [z][y][x];
              snapshot/<name> [time][z][y][x] in single precision, with the times and places as dimension scales;
              left_time [fs] and left_energy: part of the largest energy on the grid
light.txt     the table of the fluxes, or of the extinction
light.state   the checkpoint of an unfinished run, a part for each process
light.frames  its snapshots so far
"""

from __future__ import annotations

import io
import json
import struct
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from halocline import _halocline, hdf5
from halocline.comm import CommonWork, on_root, raise_together
from halocline.errors import FileError, Interrupted, InvalidArgument
from halocline.files import claimed_for, write_file
from halocline.maxwell import plots
from halocline.maxwell.checks import AXES
from halocline.maxwell.frames import Frames
from halocline.maxwell.runfile import Run, medium_of
from halocline.maxwell.simulation import Simulation
from halocline.maxwell.sources import Beam, PlaneWave
from halocline.reporter import Reporter, agreement
from halocline.results import ResultFile, plain_value
from halocline.runs import digest, digest_of_file
from halocline.schema import shown

FORMAT = "halocline maxwell 1"
HEAD = struct.Struct("<dqq")
"""Behind the identity of the run in a checkpoint: largest energy, processes, bytes of the energies that were looked at.
Then come the sizes of the processes' parts, these energies, and the parts."""


class RunJob:
    """`halocline maxwell run`."""

    def __init__(self, run: Run, world: Any, reporter: Reporter, overwrite: bool = False) -> None:
        """Makes the simulation. Raises InvalidArgument for what cannot be. Collective."""
        self.given, self.world, self.reporter, self.overwrite = run, world, reporter, overwrite
        self.path, self.state = run.output.path(), run.output.path(".state")
        values = run.as_toml_values()
        wave, grid, kick = run.wave, run.grid, run.kick
        of_energies = wave if kick.direction is None else kick
        self.energies = np.linspace(of_energies.from_energy, of_energies.to_energy, of_energies.points)
        self.media = [medium_of(v) for v in (run.matter.background, *(b.medium for b in run.matter.bodies))]
        numbers = [repr((m.permittivity, m.conductivity, m.poles)) for m in self.media]
        files = [digest_of_file(body.file) for body in run.matter.bodies if body.file is not None]
        parts = {name: values[name] for name in ("grid", "matter", "wave", "kick", "measure")}
        self.identity = digest(parts | {"media": numbers, "files": files})
        self.simulation = Simulation(
            grid.size,
            grid.step,
            ends=grid.ends,
            background=self.media[0],
            bodies=[(b.native(), medium) for b, medium in zip(run.matter.bodies, self.media[1:], strict=True)],
            azimuthal=grid.azimuthal,
            layer=grid.layer,
            courant=grid.courant,
            precision=grid.precision,
            comm=world,
        )
        self._add_sources()
        self._add_measures()

    def _add_sources(self) -> None:
        wave, sim = self.given.wave, self.simulation
        energies = self.energies.tolist()
        self.wave: PlaneWave | Beam | None = None
        self.dipole = None
        if self.given.kick.direction is not None:
            self.dipole = sim.add_dipole(energies[-1])
            sim.kick(self.given.kick.direction)
        elif wave.waist is not None:
            self.wave = sim.add_beam(
                wave.axis,
                wave.polarisation,
                waist=wave.waist,
                focus=wave.focus,
                energies=energies,
                direction=wave.direction,
                place=wave.place,
            )
        else:
            options = {} if wave.box is None else {"box": wave.box}
            self.wave = sim.add_plane_wave(
                wave.axis, wave.polarisation, energies=energies, direction=wave.direction, **options
            )

    def _add_measures(self) -> None:
        sim, measure, energies = self.simulation, self.given.measure, self.energies.tolist()
        if self.wave is None and (measure.flux or measure.far):
            raise InvalidArgument(
                "[kick] a kick has no incident wave, over which flux and far count energy; leave them out, or the kick."
            )
        if self.wave is not None and not any(
            getattr(measure, name) for name in ("flux", "probes", "fields", "far", "monitors", "snapshots")
        ):
            raise InvalidArgument(
                "[measure] nothing is measured; name flux, probes, fields, far, monitors or snapshots."
            )
        self.fluxes = {
            f.name: sim.add_flux(f.axis, f.place, energies)
            if f.axis is not None
            else sim.add_flux_box(f.lower, f.upper, energies)
            for f in measure.flux
        }
        self.probes = {p.name: sim.add_probe(p.component, p.place) for p in measure.probes}
        self.far = {f.name: (sim.add_far_field(f.lower, f.upper, energies), f.directions) for f in measure.far}
        for far, towards in self.far.values():
            far.check(towards)
        self.monitors = {m.name: sim.add_monitor(m.components, m.lower, m.upper, energies) for m in measure.monitors}
        self.snapshots = {}
        for s in measure.snapshots:
            plane = {} if s.axis is None else {"axis": s.axis, "place": s.place}
            self.snapshots[s.name] = sim.add_snapshots(s.component, s.every, **plane)
        self.frames = Frames(self.path.with_suffix(".frames"), self.world, list(self.snapshots.values()))
        self.left_time: list[float] = []
        self.left_energy: list[float] = []

    def run(self) -> Path:
        """Runs until it is quiet, from the start or a checkpoint. Returns the result file. Raises Interrupted if it was
        stopped; the progress is then on disk. Collective."""
        with claimed_for(self.world, self.path):
            finished = on_root(self.world, self._look)
            if finished:
                self.reporter.line(f"finished before: {self.path}")
                return self.path
            with CommonWork(self.world, self.given.parallel.time_limit):
                self._go()
        return self.path

    def _look(self) -> bool:
        """Whether the results are there already. Refuses those of another run."""
        self.file = ResultFile(self.path)
        if self.overwrite:
            self.state.unlink(missing_ok=True)
            self.frames.path.unlink(missing_ok=True)
            return False
        if not self.path.exists():
            return False
        if read(self.path)[0].get("identity") != self.identity:
            raise InvalidArgument(
                f"{self.path} belongs to another run; name another [output] file, or use --overwrite."
            )
        return True

    def _go(self) -> None:
        sim, say, section = self.simulation, self.reporter.line, self.given.run
        core = _halocline.core
        ranks = f"{self.world.size} process{'es' * (self.world.size > 1)}"
        say(f"halocline {core.version} ({core.revision}, {core.isa}), {ranks}, {core.threads()} threads each")
        if narrower := core.narrower_than_cpu():
            self.reporter.warning(narrower)
        for name, values in self.given.as_toml_values().items():
            for key, value in values.items():
                say(f"  [{name}] {key} = {shown(value)}")
        cells = sim.grid.cells
        say(f"grid          {' x '.join(map(str, cells))} cells of {sim.step:g} nm, {sim.native.depth} steps a sweep")
        say(f"time step     {1e3 * sim.time_step:.6g} as")
        for medium in self.media:
            if medium.source.startswith(tuple("123456789")):
                say(f"medium        {medium.name}: {medium.source}")
        begun = self.saved = time.monotonic()

        def looked(now: float) -> None:
            self.left_time.append(sim.time)
            self.left_energy.append(now)

        def watch(largest: float, left: float) -> None:
            advance(sim.time, f"{sim.time:.4g} fs, {left:.2g} of the energy left")
            due = time.monotonic() - self.saved > section.checkpoint_interval
            keep, why = agreement(self.world, self.reporter, section.wall_limit, begun, due)
            if keep:
                self._keep(largest)
            if why is not None:
                raise Interrupted(f"{why} at {sim.time:.4g} fs; the same command goes on from {self.state}.")

        largest = self._resume()
        with self.reporter.stage("propagating", section.longest) as advance:
            left = sim.run_until_quiet(section.fall, section.longest, largest, watch, looked)
        if left > section.fall:
            self.reporter.warning(
                f"{100 * left:.2g} % of the energy are left after {sim.time:.4g} fs; spectra have an error of this "
                "order. Give [run] longest a longer time."
            )
        say(f"{sim.native.steps} steps, {sim.time:.6g} fs, {left:.2g} of the energy left")
        self._write(left)

    def _keep(self, largest: float) -> None:
        """Writes a checkpoint. Collective."""
        mine = self.simulation.native.checkpoint()
        sizes = self.world.gather(struct.pack("<q", len(mine)))
        parts = self.world.gather(mine)
        looks = np.array([self.left_time, self.left_energy]).tobytes()
        head = self.identity.encode() + HEAD.pack(largest, self.world.size, len(looks)) + sizes
        self.frames.flush()
        on_root(self.world, lambda: write_file(self.state, head + looks + parts))
        self.saved = time.monotonic()

    def _resume(self) -> float:
        """Goes on from a checkpoint if there is one; each process reads its part. Returns the largest energy so far."""
        found = on_root(self.world, self._look_at_state)
        if found is None:
            return 0.0
        largest, places, looks = found
        problem = ""
        try:
            with self.state.open("rb") as file:
                file.seek(places[self.world.rank])
                size = places[self.world.rank + 1] - places[self.world.rank]
                self.simulation.native.resume(file.read(size))
        except (OSError, InvalidArgument) as error:
            problem = f"{self.state}: cannot be read: {error}"
        raise_together(self.world, problem, FileError)
        self.left_time, self.left_energy = np.frombuffer(looks).reshape(2, -1).tolist()
        self.frames.resume(self.simulation.native.steps)
        self.reporter.line(f"restart       from {self.simulation.time:.6g} fs of {self.state}")
        return largest

    def _look_at_state(self) -> tuple[float, list[int], bytes] | None:
        """Of the checkpoint: the largest energy, where the part of each process begins and the last one ends, and the
        energies that were looked at."""
        if not self.state.exists():
            return None
        digits = len(self.identity)
        with self.state.open("rb") as file:
            if file.read(digits) != self.identity.encode():
                raise InvalidArgument(
                    f"{self.state} belongs to another run; remove it, or begin anew with --overwrite."
                )
            try:
                largest, size, looked = HEAD.unpack(file.read(HEAD.size))
                if size != self.world.size:
                    raise InvalidArgument(
                        f"{self.state} is a checkpoint of {size} processes, and {self.world.size} were started; start "
                        f"{size}."
                    )
                sizes = struct.unpack(f"<{size}q", file.read(8 * size))
                looks = file.read(looked)
            except struct.error:
                raise FileError(f"{self.state}: ends in its head; begin anew with --overwrite.") from None
            first = file.tell()
        return largest, [first + sum(sizes[:rank]) for rank in range(size + 1)], looks

    def _write(self, left: float) -> None:
        sim, measure = self.simulation, self.given.measure
        data: dict[str, np.ndarray] = {"energy": self.energies}
        columns: dict[str, np.ndarray] = {}
        if self.wave is not None:
            incident = data["incident"] = self.wave.flux()
            # A beam has an energy as a whole, a plane wave one a unit of area.
            planes = [] if isinstance(self.wave, Beam) else [f for f in measure.flux if f.axis is not None]
            areas = {f.name: sim.area(f.axis) for f in planes}
            for name, flux in self.fluxes.items():
                columns[name] = data[f"flux/{name}"] = flux.values() / incident / areas.get(name, 1.0)
            for name, (far, directions) in self.far.items():
                data[f"far/{name}"] = far.intensities(directions) / incident[:, None]
        if self.dipole is not None:
            columns["extinction"] = data["extinction"] = self.dipole.extinction(self.energies)
            data["dipole"], data["dipole_time"] = self.dipole.values(), self.dipole.times()
        for name, monitor in self.monitors.items():
            components = next(m.components for m in measure.monitors if m.name == name)
            data |= {f"monitor/{name}/{c}": monitor.values(c) for c in components}
        data |= {f"probe/{name}": sim.probe(number) for name, number in self.probes.items()}
        data |= {f"field/{name}": sim.field(name) for name in measure.fields}
        if self.probes:
            data["probe_time"] = sim.time_step * np.arange(1, sim.native.steps + 1)
        data["left_time"] = np.array(self.left_time)
        data["left_energy"] = np.array(self.left_energy) / max(self.left_energy, default=1.0)
        data |= {f"snapshot/{name}": frames for name, frames in zip(self.snapshots, self.frames.all(), strict=True)}
        attributes = {
            "format": FORMAT,
            "version": _halocline.core.version,
            "revision": _halocline.core.revision,
            "identity": self.identity,
            "parameters": json.dumps(self.given.as_toml_values()),
            "media": json.dumps([{"name": m.name, "source": m.source} for m in self.media]),
            "dimensions": 3 if sim.azimuthal is not None else sum(not sim.grid.flat(a) for a in range(3)),
            "steps": sim.native.steps,
            "time": sim.time,
            "left": left,
        }

        units = units_of(list(columns), json.loads(attributes["parameters"]), attributes["dimensions"])

        def fill(file: h5py.File) -> None:
            for name, value in attributes.items():
                file.attrs[name] = value
            for name, array in data.items():
                large = name.startswith(("field/", "monitor/", "snapshot/"))
                options: dict[str, Any] = {"compression": "gzip", "shuffle": True} if large and array.size else {}
                if name.startswith("snapshot/") and array.size:
                    options["chunks"] = (1, *array.shape[1:])
                file.create_dataset(name, data=array, **options)
            for name, snapshots in self.snapshots.items():
                scales = [("time", snapshots.times)]
                scales += [(AXES[a], snapshots.coordinates[a]) for a in (2, 1, 0)]
                for place, (what, values) in enumerate(scales):
                    scale = file.create_dataset(f"scale/{name}/{what}", data=values)
                    scale.make_scale(what)
                    file[f"snapshot/{name}"].dims[place].attach_scale(scale)
                    file[f"snapshot/{name}"].dims[place].label = what

        def write() -> None:
            self.file.put(fill)
            table = io.StringIO()
            meaning = ", ".join(f"{name} {unit}" for name, unit in units.items())
            np.savetxt(
                table,
                np.column_stack([self.energies, *columns.values()]),
                fmt="%16.8e",
                header=f"photon energy [eV], {meaning}",
            )
            write_file(self.path.with_suffix(".txt"), table.getvalue())
            self.state.unlink(missing_ok=True)
            self.frames.path.unlink(missing_ok=True)

        on_root(self.world, write)
        for line in lines_of(columns, units, self.energies):
            self.reporter.line(line)
        self.reporter.line(f"results       {self.path}, table {self.path.with_suffix('.txt')}")
        if self.given.output.plots:
            for picture in on_root(self.world, lambda: plots.draw(self.path, self.given.output.movie)):
                self.reporter.line(f"picture       {picture}")


PART = "of the incident energy"


def units_of(columns: list[str], parameters: dict[str, Any], dimensions: int) -> dict[str, str]:
    """The unit of each column of the table: a part of the incident energy, or a cross-section."""
    boxes = {f["name"] for f in parameters["measure"]["flux"] if "lower" in f}
    beam = "waist" in parameters["wave"]
    section = {1: PART, 2: "nm", 3: "nm^2"}[int(dimensions)]
    return {n: section if n == "extinction" or (n in boxes and not beam) else PART for n in columns}


def lines_of(columns: dict[str, np.ndarray], units: dict[str, str], energies: np.ndarray) -> list[str]:
    """What the log and the report say about the columns of the table."""
    found = []
    for name, values in columns.items():
        if units[name] == PART:
            found.append(f"{name:14}{values.min():.5f} to {values.max():.5f} {PART}")
        else:
            at = energies[int(np.argmax(np.abs(values)))]
            found.append(f"{name:14}{values.min():.5g} to {values.max():.5g} {units[name]}, largest at {at:.4g} eV")
    return found


def as_json(path: str | Path) -> dict[str, Any]:
    """The numbers of a result, without fields and probes. Raises FileError. Collective: no."""
    attributes, data = read(path)
    flux = {name.removeprefix("flux/"): data[name].tolist() for name in data if name.startswith("flux/")}
    kept = {name: plain_value(value) for name, value in attributes.items()}
    kept |= {name: data[name].tolist() for name in ("energy", "incident", "extinction") if name in data}
    far = {name.removeprefix("far/"): data[name].tolist() for name in data if name.startswith("far/")}
    return kept | {"flux": flux, "far": far}


def is_result(path: str | Path) -> bool:
    """Whether a readable HDF5 file is a result of `halocline maxwell run`. Collective: no."""
    with hdf5.opened(path) as file:
        return file.attrs.get("format") == FORMAT


def report_lines(path: str | Path) -> list[str]:
    """What `halocline report` says about a result. Raises FileError. Collective: no."""
    attributes, data = read(path)
    found = [f"{path}: light on a grid by halocline {attributes['version']} ({attributes['revision']})"]
    for section, values in attributes["parameters"].items():
        found += [f"  [{section}] {name} = {json.dumps(value)}" for name, value in values.items()]
    found += [f"medium        {m['name']}: {m['source']}" for m in json.loads(attributes["media"]) if m["source"]]
    found.append(
        f"{attributes['steps']} steps, {attributes['time']:.6g} fs, {attributes['left']:.2g} of the energy left"
    )
    columns = {name.removeprefix("flux/"): data[name] for name in data if name.startswith("flux/")}
    columns |= {"extinction": data["extinction"]} if "extinction" in data else {}
    found += lines_of(
        columns, units_of(list(columns), attributes["parameters"], attributes["dimensions"]), data["energy"]
    )
    for name, values in data.items():
        if name.startswith(("far/", "monitor/", "field/", "probe/", "snapshot/")):
            found.append(f"{name:14}{' x '.join(map(str, values.shape))}")
    return found


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Attributes and datasets of a result of `halocline maxwell run`. Raises FileError. Collective: no."""
    with hdf5.opened(path) as file:
        if file.attrs.get("format") != FORMAT:
            raise FileError(f"{path}: is no result of `halocline maxwell run`.")
        data: dict[str, np.ndarray] = {}
        file.visititems(lambda name, item: data.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
        attributes = dict(file.attrs.items())
    attributes["parameters"] = json.loads(attributes["parameters"])
    return attributes, data
