"""A history with a pair of machines tells of answers that did not wait, of what is not fenced, and
of a copy that is not the database: a look that is blind finds nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
import trio
import trio.testing
from tests.simulation import machine
from tests.simulation.checks import doctor
from tests.simulation.history import play
from tests.simulation.house import found
from tests.simulation.pairs import pair
from tests.simulation.plan import Plan
from tests.simulation.world import World

from programs.memory_standby import MemoryPieces
from risala.engine.features.standby.stored.chain import WrittenPages
from risala.engine.model.commands import SendMessage
from risala.engine.model.errors import OutcomeUnknown

SILENT_S = 600
PLAN = Plan(96, lives=3, customers=2, errands=8)
ASYNC = Plan(11, lives=2, customers=2, errands=8)
assert pair.is_awaited(PLAN)
assert pair.has_pair(ASYNC)


def fences_nobody(monkeypatch):
    monkeypatch.setattr(MemoryPieces, "_hold", lambda self: None)


def loses_a_page_now_and_then(monkeypatch):
    really = WrittenPages.take

    def take(self):
        part, mark = really(self)
        least = max(part.pages, default=0)
        return replace(part, pages={n: d for n, d in part.pages.items() if n != least}), mark

    monkeypatch.setattr(WrittenPages, "take", take)


def says_less(monkeypatch):
    monkeypatch.setattr(doctor, "behind_s", lambda world: 0)


WRONG = {
    "LOST:": (PLAN, fences_nobody),
    "LOST: the copy is not the d": (PLAN, loses_a_page_now_and_then),
    "and the doctor said 0 s": (ASYNC, says_less),
}


def test_a_pair_of_which_nothing_is_wrong_was_looked_at(tmp_path):
    played = play(PLAN, tmp_path / "world")
    assert played.faults == []
    assert played.tally["copies compared page by page"] > 5
    assert played.tally["takeovers of a pair"] > 0
    assert played.tally["outcomes unknown"] > 0


def test_a_stop_does_not_wait_for_a_postgresql_that_is_silent(tmp_path):
    world, spans_s = World(tmp_path / "world", PLAN), []

    async def main() -> None:
        async with world.engine() as engine:
            house = await found(world, engine)
            world.standby.silence(SILENT_S)
            send = engine.gateway.send_message
            principal = world.principal(house.organizations[0])
            with pytest.raises(OutcomeUnknown):
                await send(principal, SendMessage(to="+22230000001", body="hello"))
            spans_s.append(trio.current_time())
        spans_s.append(trio.current_time())

    with machine.no_threads(), pair.paired(world):
        trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    asked_s, ended_s = spans_s
    assert ended_s - asked_s < SILENT_S / 4


@pytest.mark.long
@pytest.mark.parametrize("told", WRONG)
def test_each_wrong_pair_is_told(tmp_path, monkeypatch, told):
    plan, spoil = WRONG[told]
    spoil(monkeypatch)
    played = play(plan, tmp_path / "world")
    assert any(told in fault for fault in played.faults), played.faults
