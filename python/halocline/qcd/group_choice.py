# SPDX-License-Identifier: Apache-2.0
"""The choice of kind = "auto" in a run in groups: made once, by the group that first comes to a solve.

The other groups wait until it is made, before their first solve. So all configurations are solved alike, as in a run
without groups. A group whose work fails before it has chosen gives its turn back, and the turn of a group that is lost
is free: then the next group chooses. The pool (work_pool.py) has more files for this:

    choice         JSON: the choice; empty if there is nothing to choose from
    choice.turn1   the number of the group that is to choose; of the next one choice.turn2
    choice.back1   the group gave its turn back
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from halocline.comm import on_root
from halocline.errors import Error, Interrupted
from halocline.files import write_file
from halocline.groups import Groups
from halocline.qcd.spectrum import Job
from halocline.work_pool import create_whole

SECONDS_BETWEEN_LOOKS = 0.1


class SharedChoice:
    """The choice of a job in groups. Collective over the group."""

    def __init__(self, job: Job, groups: Groups) -> None:
        self.job, self.groups = job, groups
        self.turn: int | None = None
        """The number of the turn that this group has, while it is to choose."""
        job.keep, job.agree = self._keep, self._agree

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        """A piece of work: its choice reaches the other groups, and so does its failure."""
        leads = self.groups.mine.rank == 0
        try:
            yield
        except BaseException:
            self.job.forget()
            if self.turn is not None:
                self.job.choice = None
                if leads:
                    with contextlib.suppress(Error):  # where the disk is full, this group has the turn again
                        write_file(self._file(f"back{self.turn}"), "")
            self.turn = None
            raise
        if self.turn is not None:  # there were solves, and nothing to choose from
            self.turn = None
            if leads:  # alone: processes that fail by themselves may be missing here
                self._write({})

    def _file(self, what: str) -> Path:
        return self.groups.place / f"choice.{what}"

    def _agree(self) -> None:
        """Waits for the choice, unless this group is to make it."""
        if self.turn is None:
            self.turn, choice = on_root(self.groups.mine, self._turn_or_choice)
            self.job.choice = choice or None

    def _turn_or_choice(self) -> tuple[int | None, dict[str, Any] | None]:
        """The number of this group's turn, or the choice. Raises Interrupted if the run is to stop."""
        groups, number = self.groups, 1
        while True:
            with contextlib.suppress(OSError, ValueError):
                return None, json.loads((groups.place / "choice").read_text())
            if create_whole(self._file(f"turn{number}"), str(groups.number)):
                return number, None
            owner = -1
            with contextlib.suppress(OSError, ValueError):
                owner = int(self._file(f"turn{number}").read_text())
            if owner == groups.number and not self._file(f"back{number}").exists():
                return number, None
            if self._file(f"back{number}").exists() or owner in groups.notice_lost():
                number += 1
                continue
            if groups.reporter.stop_requested() or (groups.place / "stop").exists():
                raise Interrupted("stopped while another group chooses the solver.")
            groups.reporter.tick()
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _keep(self, choice: dict[str, Any]) -> None:
        """Tells the other groups."""
        on_root(self.groups.mine, lambda: self._write(choice))
        self.turn = None

    def _write(self, choice: dict[str, Any]) -> None:
        write_file(self.groups.place / "choice", json.dumps(choice))
