# SPDX-License-Identifier: Apache-2.0
"""Figures of others for the iteration of `bench qcdjdd`, to stand beside ours.

`FUGAKU`: Tables 4 and 5 of the paper on Fugaku: 500 iterations on two processes, each on the 12 cores of a core-memory
group of A64FX at 2.2 GHz; seconds, Tflop/s a node (four groups), fraction of the single-precision peak. `ORIGINAL`: the
public code of that paper (QWS) on one core with AVX-512, one process and one thread, as Gflop/s and as fraction of the
multiply-add peak measured in the same run. `TABLE_7`: milliseconds an iteration on 147456 nodes.

`REGIONS` says which of our regions are which of theirs; docs/benchmarks/schwarz.md explains it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Case = tuple[int, int, int, int]

FUGAKU: dict[str, dict[Case, tuple[float, float, float]]] = {
    "iteration": {
        (32, 6, 4, 3): (0.334867, 0.8272, 0.1224),
        (32, 6, 4, 6): (0.515010, 1.0839, 0.1604),
        (32, 6, 8, 6): (1.145754, 0.9786, 0.1448),
        (32, 6, 8, 12): (2.606202, 0.8616, 0.1275),
        (32, 12, 8, 12): (5.778703, 0.7773, 0.1150),
    },
    "inside": {
        (32, 6, 4, 3): (0.068043, 1.1208, 0.1658),
        (32, 6, 4, 6): (0.119455, 1.3170, 0.1949),
        (32, 6, 8, 6): (0.219403, 1.4693, 0.2174),
        (32, 6, 8, 12): (0.559297, 1.1699, 0.1731),
        (32, 12, 8, 12): (1.192644, 1.1146, 0.1649),
    },
}
ORIGINAL: dict[str, dict[Case, tuple[float, float]]] = {
    "iteration": {
        (32, 6, 4, 3): (48.6, 0.25),
        (32, 6, 4, 6): (38.7, 0.20),
        (32, 6, 8, 6): (34.4, 0.18),
        (32, 6, 8, 12): (31.1, 0.16),
    },
    "inside": {
        (32, 6, 4, 3): (69.9, 0.36),
        (32, 6, 4, 6): (57.7, 0.30),
        (32, 6, 8, 6): (54.2, 0.28),
        (32, 6, 8, 12): (50.6, 0.26),
    },
}
VOLUMES: tuple[Case, ...] = tuple(FUGAKU["iteration"])

TOTAL = "bicgstab"
"""The region that is the whole iteration."""
REGIONS: dict[str, tuple[str, ...]] = {
    "comlib_isend_all_c": ("post",),
    "comlib_recv_wait_all_c": ("wait",),
    "comlib_send_wait_all_c": ("free",),
    "reduc1": ("sum of 1",),
    "reduc2": ("sum of 2",),
    "reduc3": ("sum of 3",),
}
"""The communication regions of the paper's Table 7, and the names that ours end in."""
TABLE_7: dict[str, float] = {
    "all_calc": 0.400,
    "all_comm": 0.407,
    "comlib_isend_all_c": 0.029,
    "comlib_recv_wait_all_c": 0.254,
    "comlib_send_wait_all_c": 0.062,
    "reduc1": 0.015,
    "reduc2": 0.016,
    "reduc3": 0.031,
    "total": 0.807,
}


def beside(result: Mapping[str, Any]) -> dict[str, Any]:
    """What the others have for this case; None where they have nothing."""
    case = result["case"]
    local, measured = tuple(case["local"]), case["measured"]
    fugaku, original = FUGAKU[measured].get(local), ORIGINAL[measured].get(local)
    return {
        "fugaku": None
        if fugaku is None
        else dict(zip(("elapsed", "tflops_of_a_node", "fraction_of_peak"), fugaku, strict=True)),
        "original": None if original is None else dict(zip(("gflops", "fraction_of_fma_peak"), original, strict=True)),
    }


def paper_regions(regions: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Our regions of an iteration under the names of the paper's Table 7: least, mean and most of the threads [s].

    regions: the key `regions` of a result. Communication is done by one thread of a process, so that its mean is over
    processes; all_calc is what is left of the total.
    """

    def of(key: str, names: Sequence[str]) -> float:
        return sum(r[key] for path, r in regions.items() if path.rsplit(" > ", 1)[-1] in names)

    found = {
        theirs: {key: of(f"{prefix}seconds", ours) for key, prefix in (("min", "min_"), ("mean", "mean_"), ("max", ""))}
        for theirs, ours in REGIONS.items()
    }
    keys = ("min", "mean", "max")
    communication = {key: sum(row[key] for row in found.values()) for key in keys}
    whole = regions[TOTAL]
    total = {"min": whole["min_seconds"], "mean": whole["mean_seconds"], "max": whole["seconds"]}
    # The process that waits least computes most.
    calculation = {
        "min": total["min"] - communication["max"],
        "mean": total["mean"] - communication["mean"],
        "max": total["max"] - communication["min"],
    }
    return {"all_calc": calculation, "all_comm": communication, **found, "total": total}
