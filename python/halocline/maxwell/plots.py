# SPDX-License-Identifier: Apache-2.0
"""Pictures of results of `halocline maxwell run`."""

from __future__ import annotations

from pathlib import Path

from halocline.picture import COLOURS, STYLE, save


def fluxes(path: Path) -> Path:
    """Plots every flux over the photon energy. Returns the picture. For one process."""
    import matplotlib as mpl  # slow to load, so only if a picture is drawn

    from halocline.maxwell.job import read

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    attributes, data = read(path)
    boxes = {f["name"] for f in attributes["parameters"]["measure"]["flux"] if "lower" in f}
    groups = [
        ("part of the incident energy", [n for n in data if n.startswith("flux/") and n[5:] not in boxes]),
        ("area [nm$^2$]", [n for n in data if n.startswith("flux/") and n[5:] in boxes]),
    ]
    groups = [g for g in groups if g[1]]
    picture = path.with_suffix(".png")
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(len(groups), 1, figsize=(6.4, 3.8 * len(groups)), squeeze=False, sharex=True)
        try:
            for (a,), (label, names) in zip(axes, groups, strict=True):
                for name, colour in zip(names, COLOURS * len(names), strict=False):
                    a.plot(data["energy"], data[name], lw=1.3, color=colour, label=name[5:])
                a.set_ylabel(label)
                a.legend()
            axes[-1][0].set_xlabel("photon energy [eV]")
            save(figure, picture)
        finally:
            plt.close(figure)
    return picture
