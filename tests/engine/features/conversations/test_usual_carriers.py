"""Sticky carriers: the same SIM for the same person, another one while it cannot send, and what the
timeline says then."""

from __future__ import annotations

from contextlib import asynccontextmanager
from itertools import count

import pytest
import trio
from pydantic import ValidationError

from risala.config.model import RetentionSection, Settings
from risala.engine.features.conversations.stored import usual_carriers
from risala.engine.features.conversations.stored.usual_carriers import LOOKED_MAX
from risala.engine.model.commands import SendCode
from risala.engine.model.sentences import sentence
from risala.engine.rules.router import Router, usual_first, usual_of
from risala.plugins.contract import Cause, HealthState, Refused, Scope
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.message import Inbound

PHONE, OTHER = "+22236123456", "+22236999888"
_ids = count()


@pytest.fixture
def open_lines(open_house, carrier, quick):
    """An engine with two equal SIMs, both sticky unless ``sticky`` names those that are."""

    @asynccontextmanager
    async def opened(*more, sticky=("a", "b"), **options):
        lines = [carrier(name, sticky=name in sticky) for name in ("a", "b")]
        async with open_house(*lines, *more, **options) as house:
            yield house

    return opened


async def went_by(house, to=PHONE, principal=None, **fields):
    """The carrier that a message has left by."""
    message_id = await house.send("hello", to, principal, **fields)
    await house.wait_status(message_id, "sent")
    return house.gateway.show_message(message_id)[0].carrier


async def came_by(house, carrier, sender=PHONE):
    await house.gateway.perform(
        "inbound.route", {"organization_id": house.principal.organization_id}
    )
    now_ms = house.clock.now_ms()
    text = Inbound(sender, "1234", "hello", now_ms, (f"mo{next(_ids)}",))
    await house.drivers[carrier].context.inbound(text)
    await trio.sleep(0.1)


def lines(house, message_id):
    return [sentence(entry) for entry in house.gateway.show_message(message_id)[1]]


async def test_all_messages_to_a_number_go_by_the_carrier_of_the_first(open_lines, quick):
    async with open_lines() as house:
        first = {to: await went_by(house, to) for to in (PHONE, OTHER, "+22222333444")}
        assert set(first.values()) == {"a", "b"}  # the first ones share the traffic as ever
        for _ in range(5):
            assert {to: await went_by(house, to) for to in first} == first


async def test_without_sticky_they_take_turns(open_lines, quick):
    async with open_lines(sticky=()) as house:
        assert {await went_by(house) for _ in range(4)} == {"a", "b"}


async def test_a_code_goes_by_the_usual_carrier_too(open_lines, quick):
    async with open_lines() as house:
        usual = await went_by(house)
        for _ in range(3):
            session = await house.gateway.send_code(house.principal, SendCode(to=PHONE))
            message_id = house.gateway.get_verification(house.principal, session).message_id
            await house.wait_status(message_id, "sent")
            assert house.gateway.show_message(message_id)[0].carrier == usual


async def test_who_writes_to_another_line_is_answered_by_it(open_lines, quick):
    async with open_lines() as house:
        usual = await went_by(house)
        (other,) = {"a", "b"} - {usual}
        await came_by(house, other)
        assert [await went_by(house) for _ in range(3)] == [other] * 3
        assert await went_by(house, OTHER) == await went_by(house, OTHER)  # nobody else's


async def test_another_organization_has_a_usual_carrier_of_its_own(open_lines, quick):
    async with open_lines() as house:
        stranger = await house.organization()
        mine = await went_by(house)
        (other,) = {"a", "b"} - {mine}
        house.drivers[mine].set_health(HealthState.DOWN)
        assert await went_by(house, principal=stranger) == other
        house.drivers[mine].set_health(HealthState.UP)
        assert [await went_by(house) for _ in range(3)] == [mine] * 3
        assert [await went_by(house, principal=stranger) for _ in range(3)] == [other] * 3


async def test_another_line_takes_over_says_so_and_keeps_the_person(open_lines, quick):
    async with open_lines() as house:
        usual = await went_by(house)
        (other,) = {"a", "b"} - {usual}
        house.drivers[usual].set_health(HealthState.DOWN)
        message_id = await house.send("hello", PHONE)
        await house.wait_status(message_id, "sent")
        said = f"The usual line {usual} cannot send now. Attempt 1 through {other}."
        assert lines(house, message_id) == [
            "Accepted; waiting for its turn.",
            said,
            f"Accepted by {other}.",
        ]
        house.drivers[usual].set_health(HealthState.UP)
        message_id = await house.send("hello", PHONE)
        await house.wait_status(message_id, "sent")
        assert lines(house, message_id)[1] == f"Attempt 1 through {other}."


async def test_who_was_sent_to_by_a_reserve_that_is_not_sticky_comes_back(
    open_lines, carrier, quick
):
    async with open_lines(carrier("reserve", priority=1)) as house:
        usual = await went_by(house)
        for name in ("a", "b"):
            house.drivers[name].set_health(HealthState.DOWN)
        assert await went_by(house) == "reserve"
        for name in ("a", "b"):
            house.drivers[name].set_health(HealthState.UP)
        assert [await went_by(house) for _ in range(3)] == [usual] * 3


async def test_what_waits_for_a_line_that_goes_down_leaves_by_another(open_lines, quick):
    async with open_lines() as house:
        usual = await went_by(house)
        (other,) = {"a", "b"} - {usual}
        for name in ("a", "b"):
            await house.gateway.perform("carriers.pause", {"carrier": name})
        message_id = await house.send("hello", PHONE)
        await house.gateway.perform("carriers.resume", {"carrier": other})
        await house.wait_status(message_id, "sent")
        assert house.gateway.show_message(message_id)[0].carrier == other
        assert any(usual in each for each in lines(house, message_id))


async def test_a_message_that_failed_does_not_make_a_line_usual(open_lines, quick):
    drivers = {"a": FakeDriver(), "b": FakeDriver()}
    async with open_lines(drivers=drivers) as house:
        usual = await went_by(house)
        (other,) = {"a", "b"} - {usual}
        house.drivers[usual].set_health(HealthState.DOWN)
        refusal = Refused(Scope.FINAL, "ESME_RINVDSTADR", cause=Cause.UNKNOWN_NUMBER)
        drivers[other].answers = [refusal]
        message_id = await house.send("hello", PHONE)
        await house.wait_status(message_id, "failed")
        house.drivers[usual].set_health(HealthState.UP)
        assert await went_by(house) == usual


async def test_it_is_known_after_a_restart_and_queued_messages_stay(open_lines, quick):
    async with open_lines() as house:
        usual = await went_by(house)
        mine = house.principal
        for name in ("a", "b"):
            house.drivers[name].set_health(HealthState.DOWN)
        waiting = await house.send("hello", PHONE)
    async with open_lines() as house:
        await house.wait_status(waiting, "sent")
        assert house.gateway.show_message(waiting)[0].carrier == usual
        assert [await went_by(house, principal=mine) for _ in range(3)] == [usual] * 3


async def test_a_usual_carrier_that_is_gone_is_nobodys(open_lines, open_house, carrier, quick):
    async with open_lines() as house:
        usual = await went_by(house)
        mine = house.principal
        (other,) = {"a", "b"} - {usual}
        for name in ("a", "b"):
            house.drivers[name].set_health(HealthState.DOWN)
        waiting = await house.send("hello", PHONE)
    async with open_house(carrier(other), carrier("c")) as house:
        await house.wait_status(waiting, "sent")
        assert await went_by(house, principal=mine) in (other, "c")


async def test_erasing_a_number_takes_its_usual_carrier(open_lines, quick):
    async with open_lines() as house:
        organization_id = house.principal.organization_id
        usual = await went_by(house)
        await came_by(house, usual)
        asked = (organization_id, PHONE, frozenset(("a", "b")), 0)
        reader = house.gateway.services.repositories._store.reader
        assert usual_carriers.last_of(reader, *asked) == usual
        await house.drivers[usual].receipt("1")
        whose = {"organization_id": organization_id, "number": PHONE}
        begun = await house.gateway.perform("number.forget", whose)
        while begun["state"] != "done":
            begun = await house.gateway.perform("erasure.run", {"erasure_id": begun["id"]})
            begun = begun["erasure"]
        assert usual_carriers.last_of(reader, *asked) is None


async def test_it_is_kept_as_long_as_texts_that_came_in(open_lines, quick):
    async with open_lines(retention=RetentionSection(inbound_days=7)) as house:
        usual = await went_by(house)
        (other,) = {"a", "b"} - {usual}
        house.pass_s(6 * 86_400)
        house.drivers[usual].set_health(HealthState.DOWN)
        message_id = await house.send("hello", PHONE)
        await house.wait_status(message_id, "sent")
        assert lines(house, message_id)[1].startswith(f"The usual line {usual} ")
        house.pass_s(8 * 86_400)
        house.drivers[usual].set_health(HealthState.UP)
        house.drivers[other].set_health(HealthState.DOWN)
        message_id = await house.send("hello", PHONE)
        await house.wait_status(message_id, "sent")
        assert lines(house, message_id)[1] == f"Attempt 1 through {usual}."


async def test_only_the_newest_messages_are_looked_at(open_lines, carrier, quick):
    async with open_lines(carrier("reserve", priority=1)) as house:
        await went_by(house)
        for name in ("a", "b"):
            house.drivers[name].set_health(HealthState.DOWN)
        for _ in range(LOOKED_MAX):
            await went_by(house)
        whose = (house.principal.organization_id, PHONE, frozenset(("a", "b")), 0)
        reader = house.gateway.services.repositories._store.reader
        assert usual_carriers.last_of(reader, *whose) is None


async def test_an_answer_in_a_conversation_leaves_by_another_line_while_its_own_is_down(
    open_lines, quick
):
    async with open_lines() as house:
        await came_by(house, "a")
        house.drivers["a"].set_health(HealthState.DOWN)
        answer = await house.gateway.perform(
            "conversation.reply",
            {
                "organization_id": house.principal.organization_id,
                "number": PHONE,
                "body": "Until 19 h.",
            },
        )
        await house.wait_status(answer["messageId"], "sent")
        said = "The usual line a cannot send now. Attempt 1 through b."
        assert lines(house, answer["messageId"])[1] == said


async def test_the_way_of_a_number_is_told_as_it_is_for_an_organization(open_lines, quick):
    async with open_lines() as house:
        usual = await went_by(house)
        (other,) = {"a", "b"} - {usual}
        asked = {"to": PHONE, "organization_id": house.principal.organization_id}
        told = await house.gateway.perform("route.test", asked)
        ways = [(each["carrier"], each["tier"]) for each in told["candidates"]]
        assert (told["goes"], ways) == (usual, [(usual, 1), (other, 2)])
        told = await house.gateway.perform("route.test", {"to": PHONE})
        assert {each["tier"] for each in told["candidates"]} == {1}


def test_a_number_is_looked_up_by_two_indexes(book):
    plans = []
    for statement, values in (
        (usual_carriers._SENT, (1, "org", 0, 20, 5, 6)),
        (usual_carriers._CAME, ("+1", "mo", 20, "org")),
    ):
        rows = book.conn.execute(f"EXPLAIN QUERY PLAN {statement}", values)
        plans += [row[3] for row in rows if "message" in row[3] or "inbound" in row[3]]
    assert plans == [
        "SEARCH message USING INDEX message_by_recipient"
        " (recipient=? AND organization=? AND rowid>?)",
        "SEARCH inbound USING INDEX inbound_by_sender (sender=? AND id>?)",
    ]


def test_routes_of_sticky_carriers_have_the_others_behind(carrier):
    router = Router(
        [
            carrier("a", sticky=True),
            carrier("b"),
            carrier("reserve", priority=1, sticky=True),
            carrier("alone", prefixes=("+33",), sticky=True),
        ]
    )
    assert router.sticky["+222"] == {"a", "reserve"}
    assert router.routes[usual_first("a", "+222")].tiers == (("a",), ("b",), ("reserve",))
    assert router.routes[usual_first("reserve", "+222")].tiers == (("reserve",), ("a", "b"))
    assert not router.sticky["+33"]
    assert usual_first("alone", "+33") not in router.routes
    assert (usual_of(usual_first("a", "+222")), usual_of("+222")) == ("a", None)
    assert not Router([carrier("a"), carrier("b")]).sticky


@pytest.mark.parametrize(
    ("carriers", "sentence"),
    [
        ([{"name": "a"}], "no other carrier takes its numbers"),
        ([{"name": "a", "receives_only": True}, {"name": "b"}], "it sends no messages to numbers"),
        ([{"name": "a", "prefixes": ()}, {"name": "b"}], "it sends no messages to numbers"),
        (
            [{"name": "a", "networks": ("mattel",)}, {"name": "b", "networks": ("mauritel",)}],
            "no other carrier takes its numbers",
        ),
        ([{"name": "a"}, {"name": "b", "receives_only": True}], "no other carrier takes"),
    ],
)
def test_sticky_without_a_choice_is_refused_in_a_sentence(carriers, sentence):
    first, *others = ({"driver": "loopback", **each} for each in carriers)
    with pytest.raises(ValidationError, match=f"carriers: a has sticky = true.*{sentence}"):
        Settings(carriers=({**first, "sticky": True}, *others))


@pytest.mark.parametrize(
    "other", [{}, {"enabled": False}, {"networks": ("mattel",)}, {"prefixes": ("+22236",)}]
)
def test_sticky_beside_a_carrier_of_the_same_numbers_is_taken(other):
    first = {"name": "a", "driver": "loopback", "sticky": True}
    settings = Settings(carriers=(first, {"name": "b", "driver": "loopback", **other}))
    assert settings.carriers[0].sticky
