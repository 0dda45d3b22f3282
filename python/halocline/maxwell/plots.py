# SPDX-License-Identifier: Apache-2.0
"""Pictures of results of `halocline maxwell run`: spectra, the energy on the grid, fields, and animations."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from halocline.files import write_file
from halocline.picture import COLOURS, STYLE, save

MOST_FRAMES = 120
"""Of an animation."""


@contextlib.contextmanager
def _figure(picture: Path, rows: int, height: float, columns: int = 1) -> Iterator[Any]:
    """Axes, row by row; the figure is saved at the end."""
    import matplotlib as mpl  # slow to load, so only if a picture is drawn

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(rows, columns, figsize=(6.4, height), squeeze=False)
        try:
            yield axes.ravel()
            save(figure, picture)
        finally:
            plt.close(figure)


def draw(path: Path, movie: bool = False) -> list[Path]:
    """Draws all pictures of a result, and animations of its snapshots if asked. Returns them. For one process."""
    from halocline.maxwell.job import read

    attributes, data = read(path)
    parameters = attributes["parameters"]
    found = [spectra(path, attributes, data)]
    for name in data:
        if name.startswith("field/"):
            found += fields(path, name.removeprefix("field/"), data[name], parameters)
        if name.startswith("snapshot/") and len(data[name]):
            found += snapshots(path, name.removeprefix("snapshot/"), data)
            if movie:
                found += animation(path, name.removeprefix("snapshot/"), data)
    return found


def spectra(path: Path, attributes: dict[str, Any], data: dict[str, np.ndarray]) -> Path:
    """Every flux over the photon energy, the extinction, and the energy on the grid over time."""
    from halocline.maxwell.job import PART, units_of

    columns = {n.removeprefix("flux/"): data[n] for n in data if n.startswith("flux/")}
    columns |= {"extinction": data["extinction"]} if "extinction" in data else {}
    units = units_of(list(columns), attributes["parameters"], attributes["dimensions"])
    labels = {PART: "part of the incident energy", "nm": "cross-section [nm]", "nm^2": "cross-section [nm$^2$]"}
    groups = [(labels[u], {n: v for n, v in columns.items() if units[n] == u}) for u in dict.fromkeys(units.values())]
    picture = path.with_suffix(".png")
    with _figure(picture, len(groups) + 1, 2.9 * (len(groups) + 1)) as axes:
        for a, (label, curves) in zip(axes, groups, strict=False):
            for (name, values), colour in zip(curves.items(), COLOURS * len(curves), strict=False):
                a.plot(data["energy"], values, lw=1.3, color=colour, label=name)
            a.set_ylabel(label)
            a.set_xlabel("photon energy [eV]")
            a.legend()
        shown = data["left_energy"] > 0
        axes[-1].semilogy(data["left_time"][shown], data["left_energy"][shown], lw=1.2, color=COLOURS[0])
        axes[-1].set_ylabel("energy on the grid")
        axes[-1].set_xlabel("time [fs]")
    return picture


def _map(axes: Any, field: np.ndarray, extent: list[float], labels: tuple[str, str], largest: float) -> Any:
    image = axes.imshow(
        field, origin="lower", extent=extent, cmap="RdBu_r", vmin=-largest, vmax=largest, interpolation="nearest",
        aspect="equal" if labels[0] != "time [fs]" else "auto",
    )  # fmt: skip
    axes.grid(False)
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    return image


def _plane(field: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Of [z][y][x], a plane or a line through the middle with its axes (of the array) that are longer than one."""
    axes = [a for a in range(3) if field.shape[a] > 1]
    if len(axes) == 3:
        field, axes = field[field.shape[0] // 2 : field.shape[0] // 2 + 1], [1, 2]
    return np.squeeze(field, axis=tuple(a for a in range(3) if a not in axes)), axes


def fields(path: Path, name: str, field: np.ndarray, parameters: dict[str, Any]) -> list[Path]:
    """The last field of a component: a line, or a map of a plane through the middle of the grid."""
    plane, axes = _plane(np.real(field))
    if not axes:
        return []
    step = parameters["grid"]["step"]
    ends = parameters["grid"]["ends"]
    layers = [parameters["grid"]["layer"] * step * ((ends if isinstance(ends, str) else ends[2 - a]) == "absorbing")
              for a in axes]  # fmt: skip
    names = [f"{'zyx'[a]} [nm]" for a in axes]
    picture = path.with_name(f"{path.stem}_{name}.png")
    with _figure(picture, 1, 3.2 if len(axes) == 1 else 4.6) as (axis,):
        if len(axes) == 1:
            axis.plot(np.arange(plane.size) * step - layers[0], plane, lw=1.1, color=COLOURS[0])
            axis.set_xlabel(names[0])
            axis.set_ylabel(name)
        else:
            rows, columns = plane.shape
            extent = [-layers[1], columns * step - layers[1], -layers[0], rows * step - layers[0]]
            image = _map(axis, plane, extent, (names[1], names[0]), float(np.abs(plane).max()) or 1.0)
            axis.figure.colorbar(image, ax=axis, label=name)
    return [picture]


def _places(data: dict[str, np.ndarray], name: str, axes: list[int]) -> list[np.ndarray]:
    return [data[f"scale/{name}/{'zyx'[a]}"] for a in axes]


def snapshots(path: Path, name: str, data: dict[str, np.ndarray]) -> list[Path]:
    """A line over place and time; of a plane, six of its times."""
    frames, times = data[f"snapshot/{name}"], data[f"scale/{name}/time"]
    planes = [_plane(f) for f in frames]
    axes = planes[0][1]
    largest = float(np.abs(frames).max()) or 1.0
    picture = path.with_name(f"{path.stem}_{name}.png")
    if len(axes) == 1:
        (x,) = _places(data, name, axes)
        with _figure(picture, 1, 4.2) as (axis,):
            extent = [times[0], times[-1], x[0], x[-1]] if len(times) > 1 else [0.0, times[0], x[0], x[-1]]
            values = np.array([p for p, _ in planes]).T
            image = _map(axis, values, extent, ("time [fs]", f"{'zyx'[axes[0]]} [nm]"), largest)
            axis.figure.colorbar(image, ax=axis, label=name)
        return [picture]
    if len(axes) == 2:
        strong = np.flatnonzero(np.abs(frames).max(axis=(1, 2, 3)) > 0.05 * largest)
        chosen = np.unique(np.linspace(strong[0], strong[-1], 6).round().astype(int)) if len(strong) else np.arange(1)
        y, x = _places(data, name, axes)
        tall = np.ptp(y) > 1.5 * np.ptp(x)
        columns = min(len(chosen), 6 if tall else 3)
        rows = -(-len(chosen) // columns)
        labels = (f"{'zyx'[axes[1]]} [nm]", f"{'zyx'[axes[0]]} [nm]")
        with _figure(picture, rows, (3.2 if tall else 2.4) * rows, columns) as places:
            for place, axis in enumerate(places):
                if place >= len(chosen):
                    axis.set_visible(False)
                    continue
                n = chosen[place]
                _map(axis, planes[n][0], [x[0], x[-1], y[0], y[-1]], labels, largest)
                axis.set_title(f"{times[n]:.4g} fs", fontsize=8)
                axis.label_outer()
        return [picture]
    return []


def animation(path: Path, name: str, data: dict[str, np.ndarray]) -> list[Path]:
    """The snapshots one after the other, as a GIF."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image  # of matplotlib's own requirements

    frames, times = data[f"snapshot/{name}"], data[f"scale/{name}/time"]
    axes = _plane(frames[0])[1]
    if not axes:
        return []
    largest = float(np.abs(frames).max()) or 1.0
    chosen = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), MOST_FRAMES)).round().astype(int))
    places = _places(data, name, axes)
    pictures = []
    with mpl.rc_context(STYLE):
        figure, axis = plt.subplots(figsize=(4.8, 3.2 if len(axes) == 1 else 4.4))
        try:
            for n in chosen:
                axis.clear()
                plane = _plane(frames[n])[0]
                labels = [f"{'zyx'[a]} [nm]" for a in axes]
                if len(axes) == 1:
                    axis.plot(places[0], plane, lw=1.1, color=COLOURS[0])
                    axis.set_ylim(-1.05 * largest, 1.05 * largest)
                    axis.set_xlabel(labels[0])
                    axis.set_ylabel(name)
                else:
                    y, x = places
                    _map(axis, plane, [x[0], x[-1], y[0], y[-1]], (labels[1], labels[0]), largest)
                axis.set_title(f"{times[n]:.4g} fs", fontsize=8)
                drawn = io.BytesIO()
                figure.savefig(drawn, dpi=100, format="png")
                pictures.append(Image.open(drawn).convert("P", palette=Image.Palette.ADAPTIVE))
        finally:
            plt.close(figure)
    whole = io.BytesIO()
    pictures[0].save(whole, format="GIF", save_all=True, append_images=pictures[1:], duration=60, loop=0)
    picture = path.with_name(f"{path.stem}_{name}.gif")
    write_file(picture, whole.getvalue())
    return [picture]
