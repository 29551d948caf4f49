"""A history is the same each time, and one that fails is told, cut short and played again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.simulation import machine
from tests.simulation.history import play
from tests.simulation.plan import ERRANDS, FAULTS, Plan, read
from tests.simulation.shrink import TRIES_MAX, shrink
from tests.simulation.world import World
from tests.support.patience import HANG_S

SMALL = Plan(5, lives=1, customers=2, errands=6)
TELL = """
import sys, tempfile, pathlib
from tests.simulation.history import play
from tests.simulation.plan import read
with tempfile.TemporaryDirectory() as folder:
    print("\\n".join(play(read(sys.argv[1]), pathlib.Path(folder) / "world").story))
"""


PATH = os.pathsep.join((".", "tests/support"))
FORGOTTEN = 30
"""Commits that are on the disk only together."""


class ForgetfulDisk(machine.WorldDisk):
    """Says that a commit is on the disk when it is not: a power cut takes the last ones away."""

    def commit(self, really, conn):
        if not self.world.dead and self.world.tally["commits"] % FORGOTTEN == 0:
            machine.keep(self.world.folder)
        return super().commit(really, conn)


class ForgetfulWorld(World):
    def __init__(self, folder, plan):
        super().__init__(folder, plan)
        self.disk = ForgetfulDisk(self)

    def keep(self):
        """What the disk has kept by itself is what there is."""


@pytest.mark.slow
@pytest.mark.long
def test_a_history_is_the_same_in_another_process(tmp_path):
    here = play(SMALL, tmp_path / "here").story
    for hashing in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": hashing, "PYTHONPATH": PATH}
        command = [sys.executable, "-c", TELL, str(SMALL)]
        told = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=True,
            env=environment,
            timeout=HANG_S,
            cwd=Path(__file__).parents[2],
        )
        assert told.stdout.splitlines() == here


@pytest.mark.slow
@pytest.mark.long
def test_a_planted_bug_is_found_told_and_cut_short(tmp_path):
    numbers = iter(range(1000))

    tried = []

    def play_it(plan):
        tried.append(plan)
        return play(plan, tmp_path / str(next(numbers)), ForgetfulWorld)

    plans = (Plan(seed, lives=1, customers=2, errands=4) for seed in range(20))
    failed = next(played for plan in plans if (played := play_it(plan)).faults)
    tried.clear()
    smallest = shrink(failed, play_it)
    assert failed.plan not in tried
    assert len(tried) == len(set(tried)) < TRIES_MAX
    assert smallest.plan.size < failed.plan.size
    assert len(smallest.story) < len(failed.story)
    kept = (set(FAULTS) | set(ERRANDS)) - smallest.plan.without
    assert kept & {"kills-at-steps", "kills-at-commits", "broken-syncs"}, "a kill it takes"
    # What is told is a story, the faults, and a line that plays them again.
    assert "KILLED" in smallest.told
    line = smallest.told.rpartition('PLAN="')[2].rpartition('"')[0]
    assert play_it(read(line)).faults == smallest.faults
