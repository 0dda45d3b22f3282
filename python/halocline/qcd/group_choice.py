# SPDX-License-Identifier: Apache-2.0
"""The choice of kind = "auto" in a run in groups: made once, by the group that begins first.

The other groups wait until it is made, in the solve of the first columns. So all configurations are solved alike, as in
a run without groups. The folder of the pool has two more files: `choice.turn` of the group that chooses, and `choice`.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any

from halocline.comm import on_root
from halocline.files import write_file
from halocline.groups import Groups
from halocline.qcd.spectrum import Job

SECONDS_BETWEEN_LOOKS = 0.1


class SharedChoice:
    """The choice of a job in groups. Collective over the group."""

    def __init__(self, job: Job, groups: Groups) -> None:
        self.job, self.groups = job, groups
        self.chooses = False
        job.keep = self._keep

    @contextlib.contextmanager
    def agreed(self) -> Iterator[None]:
        """A piece of work: it begins when there is a choice, or when this group is to make it."""
        if self.job.run.solver.kind == "auto" and self.job.choice is None:
            choice = on_root(self.groups.mine, self._choice_or_turn)
            self.chooses = choice is None
            self.job.choice = choice or None
        try:
            yield
        except BaseException:
            self.job.forget()
            if self.chooses and self.groups.mine.rank == 0:  # another group may choose
                with contextlib.suppress(OSError):
                    (self.groups.folder / "choice.turn").unlink()
            self.chooses = False
            raise
        if self.chooses:
            self._keep({})  # there was nothing to choose from

    def _choice_or_turn(self) -> dict[str, Any] | None:
        """The choice; None if this group is to make it; {} if there is none to make."""
        turn, choice, reporter = self.groups.folder / "choice.turn", self.groups.folder / "choice", self.groups.reporter
        while True:
            with contextlib.suppress(FileNotFoundError):
                return json.loads(choice.read_text())
            with contextlib.suppress(FileExistsError):
                turn.open("x").close()
                return None
            if reporter.stop_requested() or (self.groups.folder / "stop").exists():
                return {}
            reporter.tick()
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _keep(self, choice: dict[str, Any]) -> None:
        """Tells the other groups."""
        self.chooses = False
        if self.groups.mine.rank == 0:
            write_file(self.groups.folder / "choice", json.dumps(choice))
