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


TABLE_4_KEYS = ("all", "received", "wait", "post", "sent", "start", "sums", "sums_without_barrier")
"""The columns of Table 4 of the paper on uTofu: all; computation with received data (post calc.); waiting for messages
(recv.); posting (send); completion of sends (send post); start of receives (recv. init.); sums after a barrier (all
reduces), and without one."""
TABLE_4: dict[str, tuple[float | None, ...]] = {
    "utofu base": (0.4567, 0.0492, 0.1731, 0.0314, 0.0277, None, 0.0161, 0.0363),
    "w/ 6 TNI": (0.4344, 0.0491, 0.1490, 0.0303, 0.0331, None, 0.0164, 0.0369),
    "w/ threaded put": (0.4535, 0.0494, 0.1766, 0.0178, 0.0284, None, 0.0164, 0.0348),
    "w/ cache inject.": (0.4436, 0.0394, 0.1688, 0.0314, 0.0278, None, 0.0161, 0.0362),
    "full": (0.4129, 0.0396, 0.1446, 0.0182, 0.0331, None, 0.0167, 0.0339),
    "full [1buf]": (0.4378, 0.0398, 0.1353, 0.0131, 0.0506, 0.0118, 0.0191, 0.0368),
    "FJMPI [1buf]": (0.5066, 0.0492, 0.1544, 0.1045, 0.0101, 0.0442, 0.0162, 0.0350),
    "FJMPI [2buf]": (0.5454, 0.0491, 0.2184, 0.0836, 0.0098, None, 0.0262, 0.0508),
    "MPI [1buf]": (0.6249, 0.0406, 0.3031, 0.0967, 0.0411, 0.0205, 0.0170, 0.0693),
    "MPI [2buf]": (0.6259, 0.0402, 0.3166, 0.0999, 0.0398, None, 0.0175, 0.0668),
}
"""Seconds of 500 iterations (10,000 exchanges) on 432 nodes, 32x6x4x3 sites a process, by configuration."""
TABLE_5: dict[int, tuple[str, float, float]] = {
    432: ("4x6x18", 1.111, 0.821),
    576: ("4x6x24", 1.130, 0.823),
    720: ("4x6x30", 1.146, 0.828),
    864: ("4x6x36", 1.153, 0.830),
    1008: ("4x6x42", 1.160, 0.835),
    1152: ("4x6x48", 1.175, 0.837),
    2304: ("4x12x48", 1.218, 0.847),
    9216: ("16x12x48", 1.298, 0.857),
    11520: ("20x12x48", 1.380, 0.861),
    13824: ("24x12x48", 1.371, 0.862),
    27648: ("24x24x48", 1.448, 0.874),
}
"""Milliseconds of an iteration without and with the Tofu barrier, by nodes: the shape, and both times. The paper has
27,648 nodes a second time, as 48x12x48: 1.454 and 0.878."""
TABLE_6: dict[int, tuple[float, ...]] = {
    0: (0.09, 0.14, 0.10, 0.10, 0.16, 0.12),
    4: (7.60, 11.33, 9.46, 55.69, 69.05, 62.83),
    8: (8.25, 10.79, 9.50, 55.79, 68.93, 62.91),
    12: (8.25, 10.93, 9.57, 55.89, 69.02, 62.94),
    16: (58.99, 66.95, 62.68, 56.42, 69.71, 63.51),
    32: (61.50, 72.34, 66.32, 78.24, 97.57, 88.14),
    64: (61.61, 72.38, 66.31, 78.63, 97.84, 88.42),
    128: (63.70, 74.45, 68.43, 80.46, 99.56, 90.10),
}
"""Table 6 of the paper on Fugaku, microseconds of MPI_Allreduce of floats on 27,648 nodes by bytes: least, most and
average with the Tofu barrier, then without."""
TABLE_3: dict[str, float] = {
    "jinv_ddd_in_s_": 14.09,
    "ddd_in_s_": 6.52,
    "ddd_out_pre_s_": 0.95,
    "ddd_out_pos_s_": 3.84,
    "other_calc": 2.58,
    "comlib_irecv_all_c": 0.45,
    "comlib_isend_all_c": 0.17,
    "comlib_recv_wait_all_c": 0.16,
    "comlib_send_wait_all_c": 0.17,
    "reduc1": 0.18,
    "reduc2": 0.85,
    "reduc3": 0.67,
    "total": 30.65,
}
"""Milliseconds of an iteration on 82,944 nodes of the K computer, Table 3 of the paper on Fugaku."""


def sums_beside(bytes: int) -> dict[str, float | None]:
    """Average seconds of MPI_Allreduce of so many bytes on 27,648 nodes of Fugaku, with and without Tofu barrier."""
    row = TABLE_6.get(bytes)
    return {
        "fugaku_barrier": None if row is None else 1e-6 * row[2],
        "fugaku_software": None if row is None else 1e-6 * row[5],
    }


def k_regions(regions: Mapping[str, Mapping[str, float]]) -> dict[str, tuple[float, float]]:
    """Mean seconds of the parts of the computation, and those of the K computer (Table 3 of the paper on Fugaku).

    regions: the key `regions` of a result. Where a thread or a wavefront takes all passes of a domain together, they
    stand in the first row.
    """

    def mean(*names: str) -> float:
        return sum(r["mean_seconds"] for path, r in regions.items() if path.rsplit(" > ", 1)[-1] in names)

    packed_inside = sum(r["mean_seconds"] for path, r in regions.items() if path.endswith("domains > pack and post"))
    sums = mean("sum of 1", "sum of 2", "sum of 3", "sum of more", "barrier")
    ours = {
        "jinv_ddd_in_s_": mean("jacobi", "even-odd", "wavefront", "domains") - packed_inside,
        "ddd_in_s_ + ddd_out_pos_s_": mean("residual", "received"),
        "ddd_out_pre_s_": mean("pack and post") - mean("post"),
        "other_calc": mean("linear algebra") - sums,
    }
    theirs = {name: 1e-3 * sum(TABLE_3[part] for part in name.split(" + ")) for name in ours}
    return {name: (seconds, theirs[name]) for name, seconds in ours.items()}
