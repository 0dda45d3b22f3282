# SPDX-License-Identifier: Apache-2.0
"""The work of `halocline maxwell run`: from a run file to fluxes, probes and fields, with checkpoints.

light.h5      attributes: format, version, revision, parameters (JSON), steps, time [fs], finished, left;
              energy (n,) [eV], incident (n,), flux/<name> (n,), which are over the incident energy of the wave: of
              its area for planes, and in nm^2 (nm in two dimensions) for boxes; probe_time (steps,) [fs],
              probe/<name> (steps,), field/<component> [z][y][x]
light.txt     the table of the fluxes
light.state   the checkpoint of an unfinished run, a part for each process
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
from halocline.maxwell.runfile import Run, medium_of
from halocline.maxwell.simulation import Simulation
from halocline.reporter import Reporter, agreement
from halocline.results import ResultFile, plain_value
from halocline.runs import digest
from halocline.schema import shown

FORMAT = "halocline maxwell 1"
HEAD = struct.Struct("<dq")
"""Behind the identity of the run in a checkpoint: largest energy, processes. Then come their sizes and parts."""


class RunJob:
    """`halocline maxwell run`."""

    def __init__(self, run: Run, world: Any, reporter: Reporter, overwrite: bool = False) -> None:
        """Makes the simulation. Raises InvalidArgument for what cannot be. Collective."""
        self.given, self.world, self.reporter, self.overwrite = run, world, reporter, overwrite
        self.path, self.state = run.output.path(), run.output.path(".state")
        values = run.as_toml_values()
        self.identity = digest({name: values[name] for name in ("grid", "matter", "wave", "measure")})
        wave, grid = run.wave, run.grid
        self.energies = np.linspace(wave.from_energy, wave.to_energy, wave.points)
        self.simulation = Simulation(
            grid.size,
            grid.step,
            ends=grid.ends,
            background=medium_of(run.matter.background),
            bodies=[(body.native(), medium_of(body.medium)) for body in run.matter.bodies],
            layer=grid.layer,
            courant=grid.courant,
            precision=grid.precision,
            comm=world,
        )
        energies = self.energies.tolist()
        options = {} if wave.box is None else {"box": wave.box}
        self.wave = self.simulation.add_plane_wave(
            wave.axis, wave.polarisation, energies=energies, direction=wave.direction, **options
        )
        self.fluxes = {
            f.name: self.simulation.add_flux(f.axis, f.place, energies)
            if f.axis is not None
            else self.simulation.add_flux_box(f.lower, f.upper, energies)
            for f in run.measure.flux
        }
        self.probes = {p.name: self.simulation.add_probe(p.component, p.place) for p in run.measure.probes}

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
        for name, values in self.given.as_toml_values().items():
            for key, value in values.items():
                say(f"  [{name}] {key} = {shown(value)}")
        cells = sim.grid.cells
        say(f"grid          {' x '.join(map(str, cells))} cells of {sim.step:g} nm, {sim.native.depth} steps a sweep")
        say(f"time step     {1e3 * sim.time_step:.6g} as")
        begun = self.saved = time.monotonic()

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
            left = sim.run_until_quiet(section.fall, section.longest, largest, watch)
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
        head = self.identity.encode() + HEAD.pack(largest, self.world.size) + sizes
        on_root(self.world, lambda: write_file(self.state, head + parts))
        self.saved = time.monotonic()

    def _resume(self) -> float:
        """Goes on from a checkpoint if there is one; each process reads its part. Returns the largest energy so far."""
        found = on_root(self.world, self._look_at_state)
        if found is None:
            return 0.0
        largest, places = found
        problem = ""
        try:
            with self.state.open("rb") as file:
                file.seek(places[self.world.rank])
                size = places[self.world.rank + 1] - places[self.world.rank]
                self.simulation.native.resume(file.read(size))
        except (OSError, InvalidArgument) as error:
            problem = f"{self.state}: cannot be read: {error}"
        raise_together(self.world, problem, FileError)
        self.reporter.line(f"restart       from {self.simulation.time:.6g} fs of {self.state}")
        return largest

    def _look_at_state(self) -> tuple[float, list[int]] | None:
        """Of the checkpoint: the largest energy, and where the part of each process begins and the last one ends."""
        if not self.state.exists():
            return None
        digits = len(self.identity)
        with self.state.open("rb") as file:
            if file.read(digits) != self.identity.encode():
                raise InvalidArgument(
                    f"{self.state} belongs to another run; remove it, or begin anew with --overwrite."
                )
            try:
                largest, size = HEAD.unpack(file.read(HEAD.size))
                if size != self.world.size:
                    raise InvalidArgument(
                        f"{self.state} is a checkpoint of {size} processes, and {self.world.size} were started; start "
                        f"{size}."
                    )
                sizes = struct.unpack(f"<{size}q", file.read(8 * size))
            except struct.error:
                raise FileError(f"{self.state}: ends in its head; begin anew with --overwrite.") from None
            first = file.tell()
        return largest, [first + sum(sizes[:rank]) for rank in range(size + 1)]

    def _write(self, left: float) -> None:
        sim = self.simulation
        incident = self.wave.flux()
        areas = {f.name: sim.area(f.axis) for f in self.given.measure.flux if f.axis is not None}
        flux = {name: f.values() / incident / areas.get(name, 1.0) for name, f in self.fluxes.items()}
        probes = {name: sim.probe(number) for name, number in self.probes.items()}
        fields = {name: sim.field(name) for name in self.given.measure.fields}
        attributes = {
            "format": FORMAT,
            "version": _halocline.core.version,
            "revision": _halocline.core.revision,
            "identity": self.identity,
            "parameters": json.dumps(self.given.as_toml_values()),
            "steps": sim.native.steps,
            "time": sim.time,
            "left": left,
        }

        def fill(file: h5py.File) -> None:
            for name, value in attributes.items():
                file.attrs[name] = value
            file["energy"], file["incident"] = self.energies, incident
            for group, values in (("flux", flux), ("probe", probes), ("field", fields)):
                for name, array in values.items():
                    file.create_dataset(
                        f"{group}/{name}", data=array, **({"compression": "gzip"} if group == "field" else {})
                    )
            if probes:
                file["probe_time"] = sim.time_step * np.arange(1, sim.native.steps + 1)

        def write() -> None:
            self.file.put(fill)
            table = io.StringIO()
            np.savetxt(
                table,
                np.column_stack([self.energies, *flux.values()]),
                fmt="%16.8e",
                header=f"photon energy [eV], {', '.join(flux)}: part of the incident energy, or of a box nm^2",
            )
            write_file(self.path.with_suffix(".txt"), table.getvalue())
            self.state.unlink(missing_ok=True)

        on_root(self.world, write)
        for name in areas:
            low, high = flux[name].min(), flux[name].max()
            self.reporter.line(f"{name:14}{low:.5f} to {high:.5f} of the incident energy")
        self.reporter.line(f"results       {self.path}, table {self.path.with_suffix('.txt')}")
        if self.given.output.plots and flux:
            self.reporter.line(f"picture       {on_root(self.world, lambda: plots.fluxes(self.path))}")


def as_json(path: str | Path) -> dict[str, Any]:
    """The numbers of a result, without fields and probes. Raises FileError. Collective: no."""
    attributes, data = read(path)
    flux = {name.removeprefix("flux/"): data[name].tolist() for name in data if name.startswith("flux/")}
    kept = {name: plain_value(value) for name, value in attributes.items()}
    return kept | {"energy": data["energy"].tolist(), "incident": data["incident"].tolist(), "flux": flux}


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
