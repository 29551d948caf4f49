"""The page of events says exactly what is sent."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import trio

from risala.engine.model.commands import SendCode
from risala.engine.model.events import EventType
from risala.engine.rules.webhooks.schedule import WAITS_S
from risala.engine.rules.webhooks.types import TYPES
from risala.plugins.contract import Inbound, Refused, Scope
from risala.plugins.testing.fake_driver import FakeDriver

PAGE = (Path(__file__).parents[3] / "docs/reference/events.md").read_text(encoding="utf-8")
COMMON = ["id", "type", "createdAt", "organizationId", "test"]


def documented() -> dict[str, list[str]]:
    """The fields of each type, in their order."""
    found: dict[str, list[str]] = {}
    for heading, body in re.findall(r"^### (.+?)\n\n```json\n(.+?)```", PAGE, re.M | re.S):
        for kind in re.findall(r"`([\w.]+)`", heading):
            found[kind] = list(json.loads(body))
    return found


def test_every_type_is_on_the_page():
    assert set(re.findall(r"`(\w+\.\w+)`", PAGE)) >= {*EventType}
    assert set(documented()) >= {*EventType}


def test_the_schedule_is_on_the_page():
    words = re.search(r"after (5 s.+?24 h)", PAGE)[1].split(", ")
    units = {"s": 1, "min": 60, "h": 3600}
    seconds = [int(number) * units[unit] for number, unit in (word.split() for word in words)]
    assert tuple(seconds) == WAITS_S


async def collect(house, *types: str) -> dict[str, list[str]]:
    await trio.sleep(1)
    events = [json.loads(call.body) for _, call in house.outbound.calls]
    return {event["type"]: list(event) for event in events}


async def test_the_bodies_are_those_of_the_page(open_house, quick):
    types = list(TYPES)
    driver = FakeDriver(answers=[])
    seen: dict[str, list[str]] = {}
    async with open_house(driver=driver) as house:
        endpoint, _ = await house.endpoint(types=types)
        await house.perform("webhook.test", endpoint_id=endpoint)
        await house.gateway.send_code(house.principal, SendCode("+22236123456"))
        await driver.wait_submitted(1)
        code = re.search(r"\d{6}", driver.submitted[0].text)[0]
        session = house.gateway.services.repositories._store.reader.execute(
            "SELECT id FROM verifications"
        ).fetchone()[0]
        await house.gateway.check_code(house.principal, session, code)
        await house.gateway.send_code(house.principal, SendCode("+22236123457"))
        await house.perform("org.set", organization_id=house.organization_id, low_balance="999")
        await house.send(metadata={"order": "77"})
        later = await house.send(send_at=house.gateway.services.recorder.clock.now_ms() + 3_600_000)
        await house.perform("message.cancel", message_id=later)
        await house.perform("inbound.route", organization_id=house.organization_id)
        sent_ms = house.gateway.services.recorder.clock.now_ms() - 1000
        await driver.context.inbound(
            Inbound("+22236123456", "1234", "Vote 7", sent_ms, ("mo1",), sent_at_ms=sent_ms)
        )
        mine = {"organization_id": house.organization_id}
        await house.perform("member.add", **mine, email="fatou@example.com", role="developer")
        user_id = house.gateway.services.repositories._store.reader.execute(
            "SELECT id FROM users"
        ).fetchone()[0]
        await house.perform("conversation.mark", **mine, number="+22236123456", assigned_to=user_id)
        await house.perform("answer.create", **mine, name="Hours", text_en="From 8 to 19.")
        for each in ("mo2", "mo3"):  # after the second answer they are paused
            await driver.context.inbound(
                Inbound("+22236123458", "1234", "Hi", sent_ms, (each,), sent_at_ms=sent_ms)
            )
            await trio.sleep(1)
        people = (await house.perform("list.create", **mine, name="Parents"))["list"]["id"]
        repeat = {"name": "Rent", "list_id": people, "unit": "days", "time": "10:00"}
        made = await house.perform("repeat.create", **mine, **repeat, text="Rent is due.")
        await house.perform("repeat.end", repeat_id=made["repeatId"])
        denied = {"reason": "name_in_use"}
        for name, decide, why in (("Acme", "sender.waive", {}), ("Acne", "sender.deny", denied)):
            made = await house.perform(
                "sender.request", organization_id=house.organization_id, name=name,
                description="shop",
            )  # fmt: skip
            await house.perform(decide, sender_id=made["id"], **why)
        await trio.sleep(700)
        seen = await collect(house)
    failing = FakeDriver(always=Refused(Scope.FINAL, "ESME_RINVDSTADR", "No such number."))
    async with open_house(driver=failing) as house:
        await house.send()
        seen |= await collect(house)
    page = documented()
    assert set(seen) == {*EventType} - {"sms.delivered", "repeat.begun", "repeat.skipped"}
    for kind, fields in seen.items():
        assert fields == page[kind], kind
        assert fields[:5] == COMMON


@pytest.mark.parametrize("word", ["expired", "max_attempts", "delivery_failed", "canceled"])
def test_the_reasons_are_those_of_the_table_of_states(word):
    from risala.engine.rules.verification import TABLE

    assert word in {step.reason for step in TABLE.values()}
    assert f"`{word}`" in PAGE
