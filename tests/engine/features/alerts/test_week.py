"""A week in which everything goes wrong once: each is told once, and told once that it is over."""

from __future__ import annotations

from collections import Counter
from contextlib import AsyncExitStack

import pytest
import trio

from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.standby.service import second_machine
from risala.engine.journal.upkeep import backup_note
from risala.engine.model.people import Browser, Language, SessionKind
from risala.engine.model.records.upkeep.service import BackupNote
from risala.plugins.contract import HealthState

OPERATOR = "amina@example.com"
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
HOUR_MS = 3_600_000
ELSEWHERE = {
    *(AlertKind.STANDBY_COPY, AlertKind.STANDBY_SILENT, AlertKind.STANDBY_ASYNC),
    *(AlertKind.TRAIL_BROKEN, AlertKind.ENDS_MISSING),
    *(AlertKind.ITEM_SET_ASIDE, AlertKind.STORAGE_FULL, AlertKind.CODES_UNENTERED),
    AlertKind.CODES_PUMPED,
}
"""Kinds that need a PostgreSQL, a trail that somebody changed, a day without receipts, a row that
cannot be read, much that is stored or hundreds of codes: ``test_alerts.py``, ``test_readings.py``,
mailings and codes' figures raise them."""


class Week:
    """What happens on each day, and the service that is stopped and started in between."""

    def __init__(self, open_watched, leap, stack: AsyncExitStack) -> None:
        self._open = open_watched
        self._leap = leap
        self._stack = stack
        self.watched = None
        self.hour = 0

    async def start(self, **limits):
        """Start the service, or start it anew."""
        await self._stack.aclose()
        self.watched = await self._stack.enter_async_context(self._open(**limits))
        await trio.sleep(MINUTE_S)

    async def nothing_happens(self, hours: int, every_s: int = 10 * MINUTE_S) -> None:
        """It is looked at every ten minutes, not every minute."""
        await self._leap(hours * HOUR_S, every_s)

    async def goes_on(self, hours: int = 1) -> None:
        """It is looked at every five minutes."""
        await self._leap(hours * HOUR_S, 5 * MINUTE_S)

    async def quiet_days(self) -> None:
        """Traffic and codes as usual: what is usual is known after them."""
        watched = self.watched
        watched.driver.delivers = True
        await watched.send()
        first = watched.clock.now_ms() // HOUR_MS
        for hour in range(first, first + 28):
            await watched.traffic(hour, 100, 95)
            await watched.codes(hour * HOUR_MS, 60, 48)
        await self.nothing_happens(28)
        self.hour = first + 28

    async def carriers_fail(self) -> None:
        watched = self.watched
        watched.driver.delivers = False
        for _ in range(60):
            await watched.send()
        await self.goes_on()
        watched.driver.set_health(HealthState.DOWN)
        await watched.send()
        await self.goes_on()

    async def carriers_are_well(self) -> None:
        watched = self.watched
        watched.driver.set_health(HealthState.UP)
        await trio.sleep(5 * MINUTE_S)
        watched.driver.delivers = True
        await watched.send()
        await self.goes_on()

    async def sims_run_out(self) -> None:
        self.watched.say(
            sim_balance=2.0, sim_balance_is="low", segments_today=99, segments_per_day_max=100
        )
        await self.goes_on()

    async def sims_are_filled(self) -> None:
        self.watched.say(
            sim_balance=99.0, sim_balance_is="fine", segments_today=1, segments_per_day_max=100
        )
        await self.goes_on()

    async def networks_fail(self) -> None:
        watched, first = self.watched, self.watched.clock.now_ms() // HOUR_MS
        watched.sink.is_down = True
        await watched.send()
        for hour in (first, first + 1):
            await watched.traffic(hour, 100, 30)
            await watched.codes(hour * HOUR_MS, 60, 10)
        await watched.codes(watched.clock.now_ms(), 40, 0, start="+2224699")
        await self.goes_on(3)

    async def networks_are_well(self) -> None:
        watched, first = self.watched, self.watched.clock.now_ms() // HOUR_MS
        watched.sink.is_down = False
        for hour in range(first, first + 3):
            await watched.traffic(hour, 100, 95)
            await watched.codes(hour * HOUR_MS, 60, 48)
        await self.goes_on(4)

    async def all_else_fails(self) -> None:
        watched = self.watched
        mine = {"organization_id": watched.principal.organization_id}
        await watched.do("org.set", low_balance="5000", **mine)
        await watched.do("inbound.route", keyword="vote", **mine)
        await watched.come_in("hello")
        await watched.send(to="+22226123456")
        watched.answers.update({200: 10, 500: 50})
        await self.guess()
        # Nothing ever reaches the standby.
        watched.gateway.services.part(second_machine).status.begin()
        watched.clock.ahead_ms += 10 * MINUTE_S * 1000
        await trio.sleep(10 * MINUTE_S)

    async def guess(self) -> None:
        """Twenty codes at an operator's address, five of each that was asked for."""
        people = self.watched.gateway.people
        for _ in range(4):
            browser = Browser(people.new_token(), None, "192.0.2.1", "", Language.ENGLISH)
            await people.sign_in.begin(browser, "nobody@example.com", SessionKind.OPERATOR)
            for _ in range(5):
                await people.sign_in.finish(browser, "0", SessionKind.OPERATOR)

    async def all_else_is_well(self) -> None:
        watched = self.watched
        mine = {"organization_id": watched.principal.organization_id}
        await watched.do("topup", amount="9000", **mine)
        (waiting,) = (await watched.do("message.list", status="pending", **mine))["messages"]
        await watched.do("message.cancel", message_id=waiting["messageId"])
        watched.answers[200] += 100_000
        self.back_up()
        await self.nothing_happens(26)

    def back_up(self) -> None:
        note = BackupNote(self.watched.clock.now_ms(), 1)
        backup_note.write(self.watched.data_dir, note)


@pytest.mark.slow
@pytest.mark.long
async def test_each_is_raised_and_over_once_in_a_week(open_watched, quick, leap):
    async with AsyncExitStack() as stack:
        week = Week(open_watched, leap, stack)
        await week.start()
        began_s = trio.current_time()
        await week.quiet_days()
        await week.carriers_fail()
        await week.start()  # while carriers are down and receipts are missing
        week.watched.driver.set_health(HealthState.DOWN)
        await trio.sleep(10 * MINUTE_S)
        await week.carriers_are_well()
        await week.sims_run_out()
        await week.sims_are_filled()
        await week.networks_fail()
        await week.start(disk_free_bytes=10**18)  # while networks fail; and now the disk is full
        await week.networks_are_well()
        await week.all_else_fails()
        await week.start()
        await week.all_else_is_well()
        while trio.current_time() < began_s + 7 * DAY_S:  # from now on there is one each day
            week.back_up()
            await week.nothing_happens(24, every_s=HOUR_S // 2)

        watched = week.watched
        found = await watched.alerts()
        assert Counter(each["kind"] for each in found) == Counter({*AlertKind} - ELSEWHERE)
        assert [each["kind"] for each in found if each["isOpen"]] == []
        calls = Counter((body["id"], body["type"]) for body in watched.ops.bodies())
        assert len(calls) == 2 * len(found)
        assert {*calls.values()} == {1}
        mails = [mail for mail in watched.mails.sent if mail.to == OPERATOR]
        over = [mail for mail in mails if mail.subject.startswith("Risala: over: ")]
        assert (len(mails), len(over)) == (2 * len(found), len(found))
