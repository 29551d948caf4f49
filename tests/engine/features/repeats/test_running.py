"""Mailings that repeat, in a running engine: each run once, whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import trio

from mailing_book import ON_LOOP
from risala.engine.features.lists.growing import ListGrowing
from risala.engine.features.repeats.records import RepeatState
from risala.engine.features.repeats.service import RepeatRunning
from risala.engine.journal.store.writer import Journal
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Conflict, Forbidden, Invalid, NotFound
from risala.engine.model.times import iso
from second_machine import copy_of, take_over

pytestmark = pytest.mark.slow

ONE, TWO = "+22236000001", "+22236000002"
PARIS = ZoneInfo("Europe/Paris")
HOUR_S = 3600


class Office:
    """An organization that repeats mailings, in Paris."""

    def __init__(self, house: Any, clock: Any, before: Office | None = None) -> None:
        self.house, self.clock = house, clock
        self.whose = (
            {"organization_id": house.principal.organization_id} if before is None else before.whose
        )
        self.list_id = "" if before is None else before.list_id

    async def furnish(self) -> None:
        await self.do("org.set", time_zone="Europe/Paris", **self.whose)
        lists = self.house.gateway.services.part(ListGrowing)
        organization_id = self.whose["organization_id"]
        made = (await lists.create(organization_id, "Tenants", None, None, who="amina")).list
        self.list_id = made.id
        await self.join(ONE, "Amina")

    async def join(self, number: str, name: str) -> None:
        lists = self.house.gateway.services.part(ListGrowing)
        await lists.add_person(self.list_id, number, {"name": name})

    async def do(self, name: str, caller: Caller | None = None, /, **arguments: Any) -> Any:
        perform = self.house.gateway.perform
        return await (
            perform(name, arguments) if caller is None else perform(name, arguments, caller)
        )

    async def repeat(self, caller: Caller | None = None, /, **given: Any) -> Any:
        usual = {"name": "Rent", "text": "Rent, {{name}}", "unit": "weeks", "time": "10:00"}
        arguments = {**usual, "list_id": self.list_id, **self.whose, **given}
        return await self.do("repeat.create", caller, **arguments)

    async def show(self, made: Any) -> Any:
        return await self.do("repeat.show", repeat_id=made["repeatId"])

    async def outcomes(self, made: Any) -> list[str]:
        return [each["outcome"] for each in (await self.show(made))["past"]]

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self.house.clock.now_ms() / 1000, PARIS)

    async def until(self, at: str | int, more_s: float = 60) -> None:
        """Until some time after a moment, which passes at once."""
        at_ms = at if isinstance(at, int) else ms(at)
        ahead_s = (at_ms - self.house.clock.now_ms()) / 1000
        self.clock.jump(max(0, ahead_s - 1))
        await trio.sleep(1 + more_s)

    async def next_run(self, made: Any, more_s: float = 60) -> None:
        await self.until((await self.show(made))["repeat"]["nextAt"], more_s)

    @property
    def texts(self) -> list[str]:
        return [each.text for each in self.house.driver.submitted]

    def stored(self, statement: str) -> list[Any]:
        reader = self.house.gateway.services.repositories._store.reader
        return reader.execute(statement).fetchall()

    async def told(self) -> list[tuple[str, str | None]]:
        events = await self.house.events()
        return [(e["type"], e["reason"]) for e in events if e["type"].startswith("repeat.")]


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


OpenOffice = Callable[..., AbstractAsyncContextManager[Office]]


@pytest.fixture
def open_office(open_house, quick) -> OpenOffice:
    former: list[Office] = []

    @asynccontextmanager
    async def open_one(**given: Any) -> AsyncIterator[Office]:
        async with open_house(parts=ON_LOOP, **given) as house:
            office = Office(house, quick, former[0] if former else None)
            if not former:
                await office.furnish()
            former[:] = [office]
            yield office

    return open_one


@pytest.fixture
async def office(open_office, quick) -> AsyncIterator[Office]:
    async with open_office() as opened:
        yield opened


async def test_each_run_is_a_mailing_with_the_list_as_it_is_then(office, quick):
    made = await office.repeat(count=3)
    assert office.texts == [], "nothing is sent before its time"
    await office.next_run(made)
    assert office.texts == ["Rent, Amina"]
    await office.join(TWO, "Bilal")
    await office.next_run(made)
    assert sorted(office.texts[1:]) == ["Rent, Amina", "Rent, Bilal"]
    await office.do("repeat.set", repeat_id=made["repeatId"], text="Now, {{name}}")
    await office.next_run(made)
    assert sorted(office.texts[3:]) == ["Now, Amina", "Now, Bilal"]
    shown = await office.show(made)
    assert (shown["repeat"]["state"], shown["repeat"]["reason"]) == ("ended", "count")
    assert [each["outcome"] for each in shown["past"]] == ["started"] * 3
    assert len({each["mailingId"] for each in shown["past"]}) == 3
    mailings = (await office.do("mailing.list", **office.whose))["mailings"]
    assert [each["state"] for each in mailings] == ["done"] * 3
    assert await office.told() == [("repeat.begun", None)] * 3 + [("repeat.ended", "count")]


async def test_a_year_of_runs(office, quick):
    """The first and the last of each month at half past eight, by the clocks of Paris."""
    made = await office.repeat(unit="months", month_days=[1, 31], time="08:30")
    began = office.now
    for _ in range(24):
        before = (await office.show(made))["upcoming"][0]["at"]
        await office.next_run(made)
        assert len(office.texts) == len(await office.outcomes(made))
        there = datetime.fromisoformat(before.replace("Z", "+00:00")).astimezone(PARIS)
        assert (there.hour, there.minute) == (8, 30)
        assert there.day == 1 or (there.day >= 28 and there.month != began.month - 13)
    assert (office.now - began).days >= 334
    assert len(set(office.stored("SELECT repeat_id, due_at FROM repeat_runs"))) == 24
    assert await office.outcomes(made) == ["started"] * 24


async def test_a_run_an_hour_late_is_missed_and_told(open_office, quick):
    async with open_office() as office:
        made = await office.repeat(unit="days")
    async with open_office() as office:
        office.house.pass_s(0)
        first = (await office.show(made))["repeat"]["nextAt"]
    async with open_office() as office:
        # As if the service had been down: the clock stands a day and an hour after the run.
        at = ms(first)
        office.house.pass_s((at - office.house.clock.now_ms()) / 1000 + 25 * HOUR_S)
        await trio.sleep(60)
        assert office.texts == []
        past = (await office.show(made))["past"]
        assert [(each["outcome"], each["missed"]) for each in past] == [("missed", 2)]
        assert await office.told() == [("repeat.skipped", "missed")]
        await office.next_run(made)
        assert office.texts == ["Rent, Amina"]


async def test_a_run_a_little_late_takes_place(open_office, quick):
    async with open_office() as office:
        made = await office.repeat()
        at = ms((await office.show(made))["repeat"]["nextAt"])
    async with open_office() as office:
        office.house.pass_s((at - office.house.clock.now_ms()) / 1000 + HOUR_S - 180)
        await trio.sleep(90)
        assert office.texts == ["Rent, Amina"]


async def test_a_clock_that_is_set_back_sends_nothing_twice(office, quick):
    made = await office.repeat(unit="days")
    await office.next_run(made)
    office.house.pass_s(-600)
    await trio.sleep(1200)
    assert office.texts == ["Rent, Amina"]
    assert await office.outcomes(made) == ["started"]
    await office.next_run(made)
    assert len(office.texts) == 2


async def test_a_repeat_that_is_changed_behind_its_run_waits_for_the_next(office, quick):
    """The clock is set back, and somebody saves the repeat: it would be due a second time."""
    made = await office.repeat(unit="days")
    await office.next_run(made)
    before = (await office.show(made))["repeat"]["nextAt"]
    office.house.pass_s(-600)
    changed = await office.do("repeat.set", repeat_id=made["repeatId"], time="10:00", every=1)
    assert changed["nextAt"] == before
    await trio.sleep(1200)
    assert office.texts == ["Rent, Amina"]


async def test_a_run_that_was_made_is_not_waited_for(office, quick):
    """Whatever set its time: it is skipped at once, and its task does nothing else."""
    made = await office.repeat(unit="days")
    await office.next_run(made)
    (due,) = office.stored("SELECT due_at FROM repeat_runs")
    journal = office.house.gateway.services.recorder.journal
    back = "UPDATE mailing_repeats SET next_at = ?"
    turns, stock = [], RepeatRunning._take

    async def take(self, each):
        turns.append(each)
        assert len(turns) < 10, "it turns in a circle"
        await stock(self, each)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RepeatRunning, "_take", take)
        await journal.commit(lambda conn: conn.execute(back, due))
        office.house.gateway.services.part(RepeatRunning).changed()
        await trio.sleep(60)
        assert len(turns) == 1
    assert office.texts == ["Rent, Amina"]


async def test_a_clock_that_was_a_year_ahead_for_a_while(office, quick):
    """The runs that seemed to be missed take place at their times."""
    made = await office.repeat(unit="days")
    office.house.pass_s(365 * 24 * HOUR_S)
    await trio.sleep(60)
    assert await office.outcomes(made) == ["missed"]
    office.house.pass_s(-365 * 24 * HOUR_S)
    await trio.sleep(60)
    for _ in range(3):
        await office.next_run(made)
    assert len(office.texts) == 3


async def test_another_time_zone_moves_the_runs(office, quick):
    made = await office.repeat(unit="days")
    before = (await office.show(made))["repeat"]["nextAt"]
    await office.do("org.set", time_zone="Africa/Nouakchott", **office.whose)
    await trio.sleep(1)
    after = (await office.show(made))["repeat"]["nextAt"]
    assert after != before
    assert after.endswith("T10:00:00.000Z")


async def test_paused_and_resumed(office, quick):
    made = await office.repeat(unit="days")
    named = {"repeat_id": made["repeatId"]}
    paused = await office.do("repeat.pause", **named)
    assert (paused["state"], paused["nextAt"]) == ("paused", None)
    with pytest.raises(Conflict, match="is paused"):
        await office.do("repeat.pause", **named)
    quick.jump(3 * 24 * HOUR_S)
    await trio.sleep(60)
    assert office.texts == []
    await office.do("repeat.go_on", **named)
    await office.next_run(made)
    assert office.texts == ["Rent, Amina"]
    ended = await office.do("repeat.end", **named)
    assert (ended["state"], ended["reason"]) == ("ended", "hand")
    for act in ("pause", "go_on", "end", "set"):
        with pytest.raises(Conflict):
            await office.do(f"repeat.{act}", **named)
    await office.do("repeat.delete", **named)
    with pytest.raises(NotFound):
        await office.show(made)
    assert office.stored("SELECT * FROM repeat_runs") == []


async def test_it_ends_when_the_list_is_gone(office, quick):
    made = await office.repeat()
    await office.do("list.delete", list_id=office.list_id)
    await office.next_run(made)
    assert (await office.show(made))["repeat"]["reason"] == "list_gone"
    assert await office.told() == [("repeat.ended", "list_gone")]


async def test_it_ends_when_the_money_does_not_suffice_twice(office, quick):
    made = await office.repeat(unit="days")
    await office.do("adjust", amount="-1000", reason="spent", **office.whose)
    await office.next_run(made)
    assert await office.outcomes(made) == ["started"], "its mailing waits for money"
    await office.next_run(made)
    assert (await office.show(made))["repeat"]["reason"] == "no_money"
    assert await office.told() == [
        ("repeat.begun", None),
        ("repeat.skipped", "no_money"),
        ("repeat.ended", "no_money"),
    ]
    await office.do("topup", amount="5", **office.whose)
    await trio.sleep(60)
    assert office.texts == ["Rent, Amina"], "what was begun goes on"


async def test_it_ends_when_its_key_or_its_member_is_gone(office, quick):
    key = (await office.do("key.create", type="secret", mode="live", **office.whose))["key"]
    organization_id = office.whose["organization_id"]
    by_key = Caller(key["id"], CallerKind.API, Role.DEVELOPER, organization_id)
    user = Caller("a@b.mr", CallerKind.DASHBOARD, Role.OWNER, organization_id, user_id="usr_1")
    made = await office.repeat(by_key)
    nobodys = await office.repeat(user, name="Other")
    await office.do("key.disable", key_id=key["id"])
    await office.next_run(made)
    for each in (made, nobodys):
        assert (await office.show(each))["repeat"]["reason"] == "owner_left"
    assert office.texts == []


async def test_an_empty_list_and_bad_rows_are_skipped(office, quick):
    made = await office.repeat(unit="days")
    await office.do("list.remove", list_id=office.list_id, number=ONE)
    await office.next_run(made)
    assert await office.outcomes(made) == ["empty"]
    await office.join(ONE, "")
    await office.do("inbound.opt_outs", heeds=True, **office.whose)
    await office.do("inbound.opt_out", number=ONE, **office.whose)
    await office.next_run(made)
    assert await office.outcomes(made) == ["empty", "empty"]
    assert (await office.do("mailing.list", **office.whose))["mailings"] == [], "no draft is left"
    assert (await office.show(made))["repeat"]["state"] == "active"


async def test_a_suspended_organization_sends_nothing(office, quick):
    made = await office.repeat(unit="days")
    await office.do("org.suspend", **office.whose)
    await office.next_run(made)
    past = (await office.show(made))["past"]
    assert past[0]["outcome"] == "refused"
    assert "not active" in past[0]["why"]
    await office.do("org.resume", **office.whose)
    await office.next_run(made)
    assert office.texts == ["Rent, Amina"]


@pytest.mark.parametrize("commits", range(1, 8))
async def test_a_cut_off_service_sends_each_run_once(open_office, quick, monkeypatch, commits):
    async with open_office() as office:
        made = await office.repeat(count=1)
        at = ms((await office.show(made))["repeat"]["nextAt"])
    left, stock = commits, Journal._written
    with trio.CancelScope() as life:

        async def written(journal, entries, abort):
            nonlocal left
            await stock(journal, entries, abort)
            left -= 1
            if left <= 0:
                life.cancel()
                await trio.lowlevel.checkpoint()

        async with open_office() as office:
            await office.house.gateway.perform("carriers.pause", {"carrier": "fake"})
            with monkeypatch.context() as patch:
                patch.setattr(Journal, "_written", written)
                await office.until(at)
    async with open_office() as office:
        await trio.sleep(300)
        assert await office.outcomes(made) == ["started"]
        bodies = office.stored("SELECT body FROM messages")
        assert [body for (body,) in bodies] == ["Rent, Amina"]


@pytest.mark.parametrize("commits", range(1, 8))
async def test_a_second_machine_that_has_all_sends_each_run_once(
    open_office, tmp_path, quick, monkeypatch, commits
):
    """It takes over at any commit of a run, and goes on."""
    async with open_office() as office:
        made = await office.repeat(count=1)
        at = ms((await office.show(made))["repeat"]["nextAt"])
    left, stock = commits, Journal._written
    with trio.CancelScope() as life:

        async def written(journal, entries, abort):
            nonlocal left
            await stock(journal, entries, abort)
            left -= 1
            if left <= 0:
                life.cancel()
                await trio.lowlevel.checkpoint()

        async with open_office() as office:
            await office.house.gateway.perform("carriers.pause", {"carrier": "fake"})
            with monkeypatch.context() as patch:
                patch.setattr(Journal, "_written", written)
                await office.until(at)
    take_over(tmp_path, copy_of(tmp_path), office.house.clock.now_ms(), goes_on=True)
    async with open_office() as office:
        await trio.sleep(300)
        assert await office.outcomes(made) == ["started"]
        assert [body for (body,) in office.stored("SELECT body FROM messages")] == ["Rent, Amina"]


async def test_a_second_machine_with_an_older_copy_sends_no_run_again(open_office, tmp_path, quick):
    async with open_office() as office:
        made = await office.repeat(unit="days")
        copy = copy_of(tmp_path)
        await office.next_run(made)
        assert office.texts == ["Rent, Amina"]
    take_over(tmp_path, copy, office.house.clock.now_ms(), goes_on=False)
    async with open_office() as office:
        await trio.sleep(3 * 24 * HOUR_S)
        assert office.texts == [], "it does not know what the first one sent"
        assert (await office.show(made))["repeat"]["reason"] == "restored"
        await office.do("repeat.go_on", repeat_id=made["repeatId"])
        await office.next_run(made)
        assert office.texts == ["Rent, Amina"]


async def test_what_could_never_be_sent_is_refused(office, quick):
    for wrong, name in (
        ({"text": "Hello {{nobody}}"}, "text"),
        ({"text": " "}, "text"),
        ({"time": "21:00"}, "time"),
        ({"time": "25:00"}, "time"),
        ({"unit": "years"}, "unit"),
        ({"every": 0}, "every"),
        ({"days": ["monday"]}, "days"),
        ({"month_days": [32]}, "month_days"),
        ({"until": "2020-01-01"}, "until"),
        ({"starts_on": "soon"}, "starts_on"),
        ({"from_hour": 9, "to_hour": 9}, "to_hour"),
        ({"count": -1}, "count"),
    ):
        with pytest.raises(Invalid) as refused:
            await office.repeat(**wrong)
        assert [each.path for each in refused.value.faults] == [name]
    other = (await office.house.organization()).organization_id
    with pytest.raises(NotFound):
        await office.repeat(organization_id=other)
    late = await office.repeat(time="21:00", to_hour=24)
    assert late["toHour"] == 24


async def test_there_are_fifty_at_most(office, quick, monkeypatch):
    monkeypatch.setattr("risala.engine.features.repeats.stored.REPEATS_MAX", 2)
    await office.repeat()
    await office.repeat()
    with pytest.raises(Conflict, match="at most 2 repeats"):
        await office.repeat()


async def test_who_may(office, quick):
    organization_id = office.whose["organization_id"]
    viewer = Caller("v@b.mr", CallerKind.DASHBOARD, Role.VIEWER, organization_id, user_id="usr_2")
    made = await office.repeat()
    shown = await office.do("repeat.show", viewer, repeat_id=made["repeatId"])
    assert shown["timeZone"] == "Europe/Paris"
    with pytest.raises(Forbidden):
        await office.do("repeat.pause", viewer, repeat_id=made["repeatId"])


async def test_a_changed_rhythm_counts_from_now(office, quick):
    made = await office.repeat(unit="months", month_days=[31])
    named = {"repeat_id": made["repeatId"]}
    changed = await office.do("repeat.set", **named, unit="days", until="", count=0, every=2)
    assert changed["nextAt"] < made["nextAt"]
    assert (changed["until"], changed["count"]) == (None, None)
    with pytest.raises(Invalid):
        await office.do("repeat.set", **named, until="2020-01-01")


async def test_after_a_restore_none_goes_on_by_itself(office, quick):
    from risala.engine.features.repeats import stored

    made = await office.repeat()
    services = office.house.gateway.services
    await services.recorder.journal.commit(stored.restored)
    shown = (await office.show(made))["repeat"]
    assert (shown["state"], shown["reason"]) == (RepeatState.PAUSED, "restored")


async def test_the_owners_file_has_them(office, quick):
    from risala.engine.features.repeats import stored

    made = await office.repeat(unit="days")
    await office.next_run(made)
    await office.next_run(made)
    reader = office.house.gateway.services.repositories._store.reader
    whose = office.whose["organization_id"]
    part = stored.export(reader, whose, "", 1)
    assert part.rows[0]["repeatId"] == made["repeatId"]
    rest = stored.export(reader, whose, part.last, 5)
    assert [each["outcome"] for each in rest.rows] == ["started"]
    assert rest.last is None
    assert iso(office.house.clock.now_ms()) > part.rows[0]["dueAt"]
