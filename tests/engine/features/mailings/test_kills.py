"""A service that is cut off at any commit: the next one goes on, and each person gets one text."""

from __future__ import annotations

import pytest
import trio
from tests.engine.features.mailings.people_tables import number, table

from risala.engine.features.mailings import checking as mailing_checking
from risala.engine.features.mailings import mailing_sending
from risala.engine.features.mailings.records import MailingState
from risala.engine.journal.store.writer import Journal

PEOPLE = 6


async def _cut_after(open_desk, monkeypatch, commits: int, act) -> bool:
    """Do something, and cut the service off behind a number of its commits; whether it was."""
    left, stock = commits, Journal._written

    with trio.CancelScope() as life:

        async def written(journal, entries, abort):
            nonlocal left
            await stock(journal, entries, abort)
            left -= 1
            if left <= 0:
                life.cancel()
                await trio.lowlevel.checkpoint()

        async with open_desk() as desk:
            # No attempts come between: the cuts are those of the mailing alone.
            await desk.house.gateway.perform("carriers.pause", {"carrier": "fake"})
            with monkeypatch.context() as patch:
                patch.setattr(Journal, "_written", written)
                await act(desk)
    return life.cancelled_caught


@pytest.fixture
def small(monkeypatch):
    """Two rows a turn."""
    monkeypatch.setattr(mailing_sending, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(mailing_checking, "ROWS_AT_ONCE", 2)


@pytest.mark.parametrize("commits", range(1, 11))
async def test_a_mailing_that_sends(open_desk, quick, small, monkeypatch, commits):
    async with open_desk() as desk:
        made = await desk.draft(table(PEOPLE))

    async def act(desk):
        await desk.service.start(made.id)
        await desk.until(made.id, MailingState.DONE)

    await _cut_after(open_desk, monkeypatch, commits, act)
    async with open_desk() as desk:
        if desk.service.mailing(made.id).state is MailingState.DRAFT:
            await desk.service.start(made.id)
        done = await desk.until(made.id, MailingState.DONE)
        assert desk.counts(made.id) == (0, 0, 0, PEOPLE, 0)
        assert [to for to, _ in desk.messages()] == [number(n) for n in range(1, PEOPLE + 1)]
        assert done.price == 50 * PEOPLE
        told = {"organization_id": desk.organization_id}
        shown = await desk.house.gateway.perform("org.show", told)
        assert shown["balance"] == f"{1000 - PEOPLE / 2:.2f}"


@pytest.mark.parametrize("commits", range(1, 11))
@pytest.mark.parametrize("ending", ["pause", "stop"])
async def test_a_mailing_that_is_ended_behind_a_cut(
    open_desk, quick, small, monkeypatch, commits, ending
):
    """What was accepted is noted, even if nobody sends the mailing on."""
    async with open_desk() as desk:
        made = await desk.draft(table(PEOPLE))

    async def act(desk):
        await desk.service.start(made.id)
        await desk.until(made.id, MailingState.DONE)

    await _cut_after(open_desk, monkeypatch, commits, act)
    async with open_desk() as desk:
        mailing = desk.service.mailing(made.id)
        if mailing.state is MailingState.SENDING:
            await getattr(desk.service, ending)(made.id)
            if ending == "pause":
                await desk.service.stop(made.id)
        assert desk.service.mailing(made.id).accepted == len(desk.messages())


@pytest.mark.parametrize("commits", range(3, 6))
@pytest.mark.parametrize("steps", range(1, 5))
async def test_a_mailing_that_is_stopped_in_the_middle_of_a_turn(
    open_desk, quick, small, monkeypatch, commits, steps
):
    """Who is told that it is stopped is told of each message: nobody looks at its rows again."""
    async with open_desk() as desk:
        made = await desk.draft(table(PEOPLE))

    async def act(desk):
        await desk.service.start(made.id)
        for _ in range(steps):
            await trio.lowlevel.checkpoint()
        await desk.service.stop(made.id)
        await desk.until(made.id, MailingState.STOPPED)

    await _cut_after(open_desk, monkeypatch, commits, act)
    async with open_desk() as desk:
        mailing = desk.service.mailing(made.id)
        if mailing.state is MailingState.STOPPED:
            assert mailing.accepted == len(desk.messages())


@pytest.mark.parametrize("commits", range(1, 7))
async def test_a_mailing_that_is_checked(open_desk, quick, small, monkeypatch, commits):
    ids: list[str] = []

    async def act(desk):
        ids.append((await desk.draft(table(PEOPLE))).id)

    await _cut_after(open_desk, monkeypatch, commits, act)
    async with open_desk() as desk:
        found = desk.service.page(desk.organization_id, None).mailings
        for mailing in found:
            await desk.until(mailing.id, MailingState.DRAFT)
            assert desk.counts(mailing.id) == (PEOPLE, 0, 0, 0, 0)


async def test_rows_that_a_crash_took_are_read_again(
    open_desk, quick, small, monkeypatch, tmp_path
):
    async def act(desk):
        await desk.draft(table(PEOPLE))

    assert await _cut_after(open_desk, monkeypatch, 3, act)
    for each in (tmp_path / "mailings").glob("*.rows"):
        each.unlink()
    async with open_desk() as desk:
        (mailing,) = desk.service.page(desk.organization_id, None).mailings
        await desk.until(mailing.id, MailingState.DRAFT)
        assert desk.counts(mailing.id) == (PEOPLE, 0, 0, 0, 0)


async def test_a_mailing_whose_file_is_lost_sends_nothing(
    open_desk, quick, small, monkeypatch, tmp_path
):
    async def act(desk):
        await desk.draft(table(PEOPLE))

    assert await _cut_after(open_desk, monkeypatch, 3, act)
    for each in (tmp_path / "mailings").iterdir():
        each.unlink()
    async with open_desk() as desk:
        (mailing,) = desk.service.page(desk.organization_id, None).mailings
        await desk.until(mailing.id, MailingState.STOPPED)
