"""Senders: the volume that approves them, how their names are spelled, what is marked."""

from __future__ import annotations

import json

import pytest

from risala.config.model import Settings
from risala.engine.journal.accounts import senders
from risala.engine.journal.messages import acceptance
from risala.engine.model.commands import SendCode, SendMessage
from risala.engine.model.errors import Invalid
from risala.engine.model.ids import is_id
from risala.engine.model.records.senders import Sender
from risala.plugins.contract import HealthState

TO = "+22236123456"
MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
WEEK_MS = 7 * 24 * HOUR_MS


@pytest.mark.parametrize(
    ("age_ms", "counts"),
    [
        (0, True),
        (WEEK_MS - MINUTE_MS, True),
        (WEEK_MS, True),
        (WEEK_MS + HOUR_MS, False),
    ],
)
@pytest.mark.parametrize("minute", [0, 1, 30, 59])
def test_the_volume_is_of_seven_whole_days(book, age_ms, counts, minute):
    organization_id = book.organization()
    accepted_at = book.now_ms + minute * MINUTE_MS
    book.now_ms = accepted_at
    book.accept(organization_id)
    volume = senders.weekly_volume(book.conn, organization_id, accepted_at + age_ms)
    assert volume == int(counts)


def test_the_message_that_reaches_it_approves(book):
    organization_id = book.organization()
    new = Sender(
        book.id("snd"), organization_id, "Acme", "pending", False, None, "For tests", None, 0, 0
    )
    book.unit(lambda conn: senders.add(conn, new))
    stamp = book.stamp()
    book.unit(lambda conn: senders.clear(conn, new.id, waive=False, stamp=stamp))
    items = [book.new_message(organization_id) for _ in range(senders.WEEKLY_MESSAGES - 1)]
    stamp = book.stamp()
    book.unit(lambda conn: acceptance.accept(conn, items, stamp))
    assert senders.sender(book.conn, new.id).status == "pending"
    # Whatever was accepted then is a minute less than seven days old.
    book.now_ms += WEEK_MS - MINUTE_MS
    last, stamp = book.new_message(organization_id, created_at=book.now_ms), book.stamp()
    book.unit(lambda conn: acceptance.accept(conn, [last], stamp))
    assert senders.sender(book.conn, new.id).status == "approved"


async def request(house, name="Acme", principal=None) -> dict:
    return await house.gateway.perform(
        "sender.request",
        {
            "organization_id": (principal or house.principal).organization_id,
            "name": name,
            "description": "Order updates",
        },
    )


async def test_a_code_may_be_the_two_thousandth(open_house, quick):
    async with open_house(balance="5000") as house:
        house.driver.set_health(HealthState.DOWN)
        made = await request(house)
        await house.gateway.perform("sender.clear", {"sender_id": made["id"]})
        for count in (1000, 999):
            await house.gateway.send_batch(house.principal, [SendMessage(TO, "bulk")] * count)
        house.pass_s(6.99 * 86_400)
        await house.gateway.send_code(house.principal, SendCode(TO))
        response = json.loads(
            await house.gateway.send_message(house.principal, SendMessage(TO, "x", sender="Acme"))
        )
        assert (response["from"], "notice" in response) == ("Acme", False)
        [told] = [e for e in await house.events() if e["type"] == "sender.approved"]
        assert is_id(told["id"], "evt")


async def test_spaces_around_and_within_a_name_are_folded(open_house, quick):
    async with open_house() as house:
        made = await request(house, " ACME  co ")
        assert made["name"] == "ACME co"
        await house.gateway.perform("sender.waive", {"sender_id": made["id"]})
        for asked in (" acme co", "ACME CO ", " Acme  Co "):
            answer = await house.gateway.perform(
                "send",
                {
                    "organization_id": house.principal.organization_id,
                    "to": TO,
                    "body": "hi",
                    "from": asked,
                },
            )
            assert answer["from"] == "ACME co"
        with pytest.raises(Invalid, match="1 to 11"):
            await request(house, "   Bazar     ")


def test_the_default_sender_is_folded():
    settings = Settings.model_validate({"service": {"default_sender": " MY  SHOP "}})
    assert settings.service.default_sender == "MY SHOP"


async def test_an_operator_is_told_what_to_look_at_twice(open_house, quick):
    async with open_house() as house:
        other = await house.organization()
        await house.gateway.perform(
            "org.set", {"organization_id": other.organization_id, "name": "Zamzam Express"}
        )
        plain = await request(house, "Nouakchott")
        assert plain["marks"] == []
        theirs = await request(house, "Zamzam", other)
        assert theirs["marks"] == [], "an organization may resemble itself"
        mine = await request(house, "Z4MZAM")
        (mark, own) = mine["marks"]
        assert (mark["code"], own["code"]) == ("organization", "organization")
        assert "Zamzam Express" in mark["text"]
        await request(house, "Bankily")
        listed = (await house.gateway.perform("sender.list", {}))["senders"]
        codes = {each["name"]: {mark["code"] for mark in each["marks"]} for each in listed}
        assert codes == {
            "Nouakchott": set(),
            "Zamzam": {"organization"},
            "Z4MZAM": {"organization"},
            "Bankily": {"protected"},
        }
        cleared = await house.gateway.perform("sender.clear", {"sender_id": mine["id"]})
        assert cleared["marks"] == mine["marks"]
        # A denied name is nobody's any more.
        denied = {"sender_id": mine["id"], "reason": "misleading"}
        await house.gateway.perform("sender.deny", denied)
        listed = (await house.gateway.perform("sender.list", {}))["senders"]
        assert {each["name"]: each["marks"] for each in listed}["Zamzam"] == []


def test_messages_by_sender_are_counted_up_to_a_bound(book):
    organization_id = book.organization()
    book.now_ms += HOUR_MS
    since = book.now_ms
    for sender, mode in (("Shop", "live"), ("Shop", "live"), ("Shop", "test"), ("Bank", "live")):
        book.accept(organization_id, sender=sender, mode=mode)
    names = ["Shop", "Bank", "Nobody"]
    found = senders.sent_by_name(book.conn, organization_id, names, since)
    assert found == {"Shop": 2, "Bank": 1, "Nobody": 0}
    assert (
        senders.sent_by_name(book.conn, organization_id, ["Shop"], since, counted_max=1)["Shop"]
        == 1
    )
    assert senders.sent_by_name(book.conn, organization_id, ["Shop"], since + 1000)["Shop"] == 0
