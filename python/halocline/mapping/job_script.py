# SPDX-License-Identifier: Apache-2.0
"""Batch scripts that run a command under a map: Slurm, and the job manager of Fugaku (PJM).

The script stands beside rank-order.txt and interfaces.txt. The ranks take their places inside the job
(placement.py), so the script needs no launcher file. Queue and account are left to the user, at the line that says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from halocline.errors import InvalidArgument

HEAD = "#!/bin/bash"
OWN = "Give your queue and account here"


def _counts(order: Any) -> tuple[int, int, int]:
    """Processes, processes of a node, nodes in use."""
    ranks, per_node = len(order.map.node), math.prod(order.map.per_node)
    return ranks, per_node, ranks // per_node


def job_shape(network: Any) -> list[int]:
    """The shape x, y, z of a job on Tofu-D, whose axes are A with X, B with Y and C with Z.

    Raises InvalidArgument for another network.
    """
    lengths = {axis.name: axis.length for axis in network.axes}
    if sorted(lengths) != sorted("XYZABC"):
        raise InvalidArgument("a script for pjm needs a map on tofu-d, whose axes are X, Y, Z, A, B and C.")
    return [lengths["A"] * lengths["X"], lengths["B"] * lengths["Y"], lengths["C"] * lengths["Z"]]


def slurm_script(order: Any, command: str, cores: int, minutes: int) -> str:
    """A script for sbatch."""
    ranks, per_node, nodes = _counts(order)
    return "\n".join(
        [
            HEAD,
            "#SBATCH --job-name=halocline",
            f"#SBATCH --nodes={nodes}",
            f"#SBATCH --ntasks-per-node={per_node}",
            f"#SBATCH --cpus-per-task={cores}",
            f"#SBATCH --time={minutes}",
            f"# {OWN}: #SBATCH --partition=... and #SBATCH --account=...",
            "set -eu",
            "# Submit from this folder, where rank-order.txt is.",
            'cd "${SLURM_SUBMIT_DIR:-.}"',
            f"export OMP_NUM_THREADS={cores} OMP_PLACES=cores OMP_PROC_BIND=close",
            f"srun --ntasks={ranks} --cpu-bind=cores {command}",
            "",
        ]
    )


def pjm_script(order: Any, command: str, cores: int, minutes: int) -> str:
    """A script for pjsub, for a job that has its torus to itself."""
    ranks, per_node, _ = _counts(order)
    shape = "x".join(str(n) for n in job_shape(order.network))
    return "\n".join(
        [
            HEAD,
            '#PJM -N "halocline"',
            f'#PJM -L "node={shape}:torus"',
            f'#PJM -L "elapse={minutes // 60:02d}:{minutes % 60:02d}:00"',
            f'#PJM --mpi "proc={ranks},max-proc-per-node={per_node}"',
            f'# {OWN}: #PJM -L "rscgrp=..." and #PJM -g ...',
            "set -eu",
            "# Submit from this folder, where rank-order.txt and interfaces.txt are.",
            'cd "${PJM_O_WORKDIR:-.}"',
            f"export OMP_NUM_THREADS={cores} OMP_PLACES=cores OMP_PROC_BIND=close",
            f"mpiexec -n {ranks} {command}",
            "",
        ]
    )


SCRIPTS: dict[str, Callable[[Any, str, int, int], str]] = {"slurm": slurm_script, "pjm": pjm_script}
"""Writers by the name of the batch system: (order, command, cores of a process, minutes) -> text."""


FILES = {"slurm": "job.slurm", "pjm": "job.pjm"}
"""The name of the file of each batch system."""


def job_script(order: Any, system: str, command: str, cores: int, minutes: int) -> str:
    """The script of a batch system that runs a command on the processes of a map.

    order: the RankOrder; system: one of SCRIPTS; cores: of a process; minutes: limit of the job
    Raises InvalidArgument for another system, a network that the system does not have, or a command of several lines.
    """
    if system not in SCRIPTS:
        raise InvalidArgument(f"no scripts are known for {system}; give one of {', '.join(SCRIPTS)}.")
    check_command(command)
    return SCRIPTS[system](order, command, cores, minutes)


def check_command(command: str) -> None:
    """Raises InvalidArgument for a command that is empty or has several lines."""
    if "\n" in command or not command.strip():
        raise InvalidArgument("the command of a job script must be one line, and not empty.")


def weak_command(system: str, nodes: int, local: str) -> str:
    """The command that measures an iteration of the domain solver under the map, as one point of a weak scaling."""
    # Interfaces are chosen on Tofu alone.
    where = "fujitsu --interfaces interfaces.txt" if system == "pjm" else "slurm"
    return f"halocline bench weak --map rank-order.txt --nodes {where} --local {local} --json weak-{nodes}.json"
