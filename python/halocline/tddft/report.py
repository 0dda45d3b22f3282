# SPDX-License-Identifier: Apache-2.0
"""The contents of the result files as lines of text, and their redrawn pictures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from halocline.tddft import plots, results
from halocline.tddft.ground import gap_line
from halocline.tddft.lines import Line
from halocline.tddft.structure import formula_of
from halocline.tddft.units import ATOMIC_TIME_FS, BOHR_ANGSTROM, HARTREE_EV


def lines(path: str) -> list[str]:
    """Lines with parameters and numbers. Raises FileError. Collective: no."""
    kind = results.kind_of(path)
    attributes, data = results.read(path, kind)
    made = f"{path}: {kind.replace('_', ' ')} by halocline {attributes['version']} ({attributes['revision']})"
    found = [made]
    given = attributes.get("as_given", {})
    for section, values in attributes["parameters"].items():
        texts = {name: json.dumps(value) for name, value in values.items()} | given.get(section, {})
        found += [f"  [{section}] {name} = {text}" for name, text in texts.items()]
    if kind == "ground_state":
        found.append(f"{'converged' if attributes['converged'] else 'NOT CONVERGED: ' + attributes['reason']}")
        found += [f"energy {part:<15}{float(data[f'energy/{part}']):20.10f} hartree" for part in results.PARTS]
        found.append(gap_line(attributes.get("gap")))
        if "forces" in data:
            net = float(np.linalg.norm(data["forces"].sum(axis=0))) * HARTREE_EV / BOHR_ANGSTROM
            found.append(f"net force             {net:20.6f} eV/angstrom")
        for k, (values, filled) in enumerate(zip(data["eigenvalues"], data["occupations"], strict=True)):
            found.append(f"channel {k}: k = {' '.join(f'{v:.5f}' for v in data['k'][k])}, spin {data['spins'][k]}")
            found += [
                f"  {n + 1:4d} {e:16.8f} hartree {f:8.4f}" for n, (e, f) in enumerate(zip(values, filled, strict=True))
            ]
    elif kind == "propagation":
        end = data["time"][-1] * ATOMIC_TIME_FS
        found.append(
            f"{attributes['steps']} steps of {attributes['time_step'] * ATOMIC_TIME_FS * 1e3:.6g} as, {end:.6g} fs, "
            f"{'finished' if attributes['finished'] else 'not finished'}"
        )
        found.append(f"largest change of the norm {abs(data['norm'] - data['norm'][0]).max():.2e} electrons")
        if len(data.get("excited", ())):
            found.append(f"electrons missing in filled states {data['excited'][-1]:.6g}")
        if "energy_time" in data:
            total = data["energy/total"]
            if "ions/kinetic" in data:
                total = total + np.interp(data["energy_time"], data["ions/time"], data["ions/kinetic"])
            found.append(f"largest change of the energy {abs(total - total[0]).max():.2e} hartree")
        if "ions/positions" in data:
            way = np.linalg.norm(data["ions/positions"] - data["ions/positions"][0], axis=2).max() * BOHR_ANGSTROM
            found.append(f"atoms moved by up to {way:.4g} angstrom")
    elif kind == "relaxation":
        force = HARTREE_EV / BOHR_ANGSTROM
        found.append(
            f"{len(data['energy'])} geometries, {'converged' if attributes['converged'] else 'NOT CONVERGED'} "
            f"(force tolerance {attributes['force_tolerance'] * force:.4g} eV/angstrom)"
        )
        found.append("geometry     energy [hartree]   largest force [eV/angstrom]")
        rows = zip(data["energy"], data["largest_force"] * force, strict=True)
        found += [f"{n:8d}{e:21.10f}{f:30.5f}" for n, (e, f) in enumerate(rows)]
    elif kind == "bands":
        spins, points, bands = data["energies"].shape
        found.append(f"{bands} bands at {points} k-points along {attributes['path']}, {spins} spin{'s' * (spins > 1)}")
        gap = attributes.get("gap")
        found.append("no gap is known" if gap is None else f"gap on the path {gap * HARTREE_EV:.6f} eV")
    elif kind == "multiscale":
        end = data["time"][-1] * ATOMIC_TIME_FS
        found.append(
            f"{attributes['cells']} cells of {0.1 * attributes['cell_step'] * BOHR_ANGSTROM:.4g} nm, "
            f"{attributes['steps']} steps, {end:.6g} fs, {'finished' if attributes['finished'] else 'not finished'}"
        )
        for name in ("reflected", "transmitted", "absorbed"):
            if (share := attributes.get(f"share_{name}")) is not None:
                found.append(f"{name:20}{100 * share:12.4f} % of the incident energy")
        if (taken := attributes.get("absorption")) is not None:
            box = " x ".join(str(n) for n in reversed(data["inside"].shape))
            found.append(
                f"a body in a box of {box} cells, absorption {taken:.6g} a.u. (bohr in 2 dimensions, bohr^2 in 3)"
            )
    elif kind == "harmonics":
        photon = attributes["fundamental"] * HARTREE_EV
        found.append(f"harmonics of {photon:.4g} eV up to order {data['order'][-1]:.4g}, {attributes['window']} window")
    elif kind == "dos":
        energy = data["energy"] * HARTREE_EV
        found.append(f"density of states from {energy[0]:.4g} to {energy[-1]:.4g} eV, {len(data['density'])} spin(s)")
        found.append(f"{attributes['of_reference']} {attributes['reference'] * HARTREE_EV:.6f} eV")
        found.append(f"complete up to {attributes['complete_to'] * HARTREE_EV:.6f} eV")
    elif kind == "dynamics":
        end = data["time"][-1] * ATOMIC_TIME_FS
        found.append(
            f"{attributes['steps']} steps, {end:.6g} fs, {attributes['ensemble']}, "
            f"{'finished' if attributes['finished'] else 'not finished'}"
        )
        found.append(f"mean temperature {float(np.mean(data['temperature'])):.1f} K")
        drift = abs(data["conserved"] - data["conserved"][0]).max()
        found.append(f"largest change of the conserved energy {drift:.2e} hartree")
    else:
        found += [f"peak {energy:8.3f} eV" for energy in data["peaks_ev"]]
        if "lines/energy" in data:
            columns = zip(*(data[f"lines/{name}"] for name in Line.__dataclass_fields__), strict=True)
            found += [f"line {Line(*map(float, values)).text()}" for values in columns]
    return found


def pictures(path: str) -> list[Path]:
    """Draws the pictures that need only the file; none for a spectrum, which `halocline tddft spectrum` draws."""
    kind, file = results.kind_of(path), Path(path)
    if kind == "propagation":
        return plots.series(file)
    if kind == "bands":
        return [plots.bands(file)]
    if kind == "dos":
        return [plots.dos(file)]
    if kind == "harmonics":
        return [plots.harmonics(file)]
    if kind == "multiscale":
        return [plots.multiscale(file)]
    if kind == "relaxation":
        return [plots.relaxation(file)]
    if kind == "dynamics":
        return [plots.dynamics(file)]
    if kind == "ground_state":
        attributes, data = results.read(file, kind)
        columns = {name.split("/")[1]: values for name, values in data.items() if name.startswith("history/")}
        history = [
            {"iteration": n + 1} | {name: float(values[n]) for name, values in columns.items()}
            for n in range(len(columns["total"]))
        ]
        picture = file.with_name(f"{file.stem.removesuffix('_gs')}_convergence.png")
        plots.convergence(picture, history, formula_of(attributes["identity"]["system"]["symbols"]))
        return [picture]
    return []
