"""``balance.low``: one event for each time that a charge takes the balance below the threshold."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest
import trio
from tests.support.told import told_bodies

from patience import HANG_S
from risala.config.model import PricingSection
from risala.engine.model.commands import SendCode, SendMessage
from risala.engine.model.states import Mode
from risala.engine.wiring.foundation import DATABASE
from risala.plugins.contract import Refused, Scope
from risala.plugins.testing.fake_driver import FakeDriver

CROSSINGS = """
SELECT printf('%d.%02d', l.balance_after / 100, l.balance_after % 100) FROM ledger l
WHERE l.kind = 'charge' AND l.balance_after < :low AND l.balance_after - l.amount >= :low
ORDER BY l.seq
"""
"""Balances that the ledger calls for an event of: from the threshold or above it, to below."""


def events(house) -> list[dict]:
    return told_bodies(house.gateway.services.repositories._store.reader, "balance.low")


async def set_low(house, amount: str | None) -> None:
    await house.perform("org.set", organization_id=house.organization_id, low_balance=amount)


async def test_the_charge_that_crosses_tells_once(open_house, quick):
    async with open_house() as house:  # 1000.00; a segment costs 0.50
        await house.endpoint(types=["balance.low"])
        await set_low(house, "999.00")
        await house.send()
        await house.send()
        assert events(house) == []  # 999.00 is not below 999.00
        await house.send()
        await house.send()
        (event,) = events(house)
        assert event == {
            "id": event["id"],
            "type": "balance.low",
            "createdAt": event["createdAt"],
            "organizationId": house.organization_id,
            "test": False,
            "balance": "998.50",
            "lowBalance": "999.00",
            "currency": "MRU",
        }
        await trio.sleep(1)
        assert house.outbound.ids() == [event["id"]]


async def test_a_top_up_or_a_refund_arms_it_again(open_house, quick):
    driver = FakeDriver(always=Refused(Scope.FINAL, "ESME_RINVDSTADR", "No such number."))
    async with open_house(driver=driver) as house:
        await set_low(house, "1000.00")
        for number in range(1, 4):  # each is refused, and refunded
            await house.send()
            await trio.sleep(1)
            assert len(events(house)) == number
        driver.always = None
        await house.send()
        await house.send()
        assert len(events(house)) == 4
        await house.perform("topup", organization_id=house.organization_id, amount="0.50")
        await house.send()
        assert len(events(house)) == 4  # 999.50 was below all the time
        await house.perform("topup", organization_id=house.organization_id, amount="2")
        await house.send()
        await house.send()
        await house.send()
        assert len(events(house)) == 5


async def test_a_batch_tells_once_what_it_left(open_house, quick):
    async with open_house() as house:
        await set_low(house, "999")
        sends = [SendMessage(to="+22236123456", body=str(n)) for n in range(10)]
        await house.gateway.send_batch(house.principal, sends)
        assert [event["balance"] for event in events(house)] == ["995.00"]
        await house.gateway.send_batch(house.principal, sends)
        assert len(events(house)) == 1


async def test_codes_are_charged_too(open_house, quick):
    async with open_house() as house:
        await set_low(house, "1000")
        await house.gateway.send_code(house.principal, SendCode("+22236123456"))
        assert [event["balance"] for event in events(house)] == ["999.50"]


@pytest.mark.parametrize(("own", "told"), [(None, True), ("999.50", False), ("0", False)])
async def test_its_own_amount_goes_before_the_general_one(open_house, quick, own, told):
    async with open_house(pricing=PricingSection(low_balance="1000")) as house:
        await set_low(house, own)
        shown = await house.perform("org.show", organization_id=house.organization_id)
        assert shown["lowBalance"] == (own if own is None else f"{float(own):.2f}")
        await house.send()
        assert bool(events(house)) is told


async def test_the_general_amount_changes_while_the_service_runs(open_house, quick):
    async with open_house() as house:
        settings = house.gateway.services.settings
        changed = settings.model_copy(update={"pricing": PricingSection(low_balance="1000")})
        house.engine.retune(changed)
        await house.send()
        assert [event["lowBalance"] for event in events(house)] == ["1000.00"]


async def test_test_keys_cost_nothing_and_tell_nothing(open_house, quick):
    async with open_house() as house:
        await set_low(house, "1000.50")
        test = replace(house.principal, mode=Mode.TEST)
        await house.gateway.send_message(test, SendMessage(to="+22236123456", body="x"))
        assert events(house) == []


async def test_of_many_sends_at_once_one_tells(open_house):
    async with open_house(inline=False) as house:  # the real writer, batches and all
        await set_low(house, "990")
        async with trio.open_nursery() as nursery:
            for _ in range(50):
                nursery.start_soon(house.send)
        assert [event["balance"] for event in events(house)] == ["989.50"]


class Watcher(trio.abc.Instrument):
    """At each step of any task, what a kill there would leave on the disk."""

    def __init__(self, path, low: int) -> None:
        self._conn = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        self._low = low
        self.seen: set[int] = set()
        self.wrong: list[tuple[list, list]] = []

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self._conn.execute("BEGIN")
        called_for = self._conn.execute(CROSSINGS, {"low": self._low}).fetchall()
        written = [(body["balance"],) for body in told_bodies(self._conn, "balance.low")]
        self._conn.execute("COMMIT")
        self.seen.add(len(written))
        if called_for != written:
            self.wrong.append((called_for, written))

    def close(self) -> None:
        self._conn.close()


@pytest.mark.slow
@pytest.mark.parametrize("inline", [True, False])
async def test_no_kill_parts_the_charge_from_its_event(open_house, tmp_path, inline):
    driver = FakeDriver(always=Refused(Scope.FINAL, "ESME_RINVDSTADR", "No such number."))
    async with open_house(driver=driver, inline=inline) as house:
        await set_low(house, "1000")
        watcher = Watcher(tmp_path / DATABASE, 100_000)
        trio.lowlevel.add_instrument(watcher)
        try:
            with house.gateway.watch() as life, trio.fail_after(HANG_S):
                for _ in range(5):
                    await house.send()
                    while (await anext(life)).status != "failed":
                        pass
        finally:
            trio.lowlevel.remove_instrument(watcher)
            watcher.close()
        assert watcher.wrong == []
        assert watcher.seen >= {1, 2, 3, 4, 5}
