"""Messages that come in: routed to an organization, and heeded where they ask for silence."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import trio

from risala.config.numbers import NumbersSection, PriceSection
from risala.engine.intake import opt_outs as optout
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.inbound.inbound import add_route
from risala.engine.journal.store import meta
from risala.engine.model.commands import Principal, SendCode, SendMessage
from risala.engine.model.errors import Conflict, Invalid, NotFound, RecipientOptedOut
from risala.engine.model.records.inbound import InboundRoute
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.rules.keywords import START_WORDS, STOP_WORDS, folded, keyword_of
from risala.http.common.problems import problem_of
from risala.plugins.contract import Inbound
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.numbering.plan import DEFAULT

PHONE = "+22236123456"
OURS = "1234"
_numbers = iter(range(1, 10_000))


def inbound(text: str, *, sender: str = PHONE, recipient: str | None = OURS) -> Inbound:
    return Inbound(sender, recipient, text, 1_767_225_600_000, (f"mo{next(_numbers)}",))


async def come_in(driver: FakeDriver, text: str, **more) -> None:
    await driver.context.inbound(inbound(text, **more))
    await trio.sleep(0.1)


async def another(house, name: str) -> Principal:
    made = await house.perform("org.create", name=name)
    await house.perform("topup", organization_id=made["id"], amount="100")
    return Principal(made["id"], "key", KeyType.SECRET, Mode.LIVE)


async def send(house, principal: Principal, to: str = PHONE) -> None:
    await house.gateway.send_message(principal, SendMessage(to=to, body="hello"))
    await trio.sleep(1)


@pytest.fixture
def driver() -> FakeDriver:
    return FakeDriver()


async def test_a_message_that_is_routed_is_an_event_with_its_text(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        await house.perform("inbound.route", organization_id=house.organization_id)
        await house.endpoint(types=["sms.received"])
        message = inbound("مرحبا 👋")
        await driver.context.inbound(message)
        await driver.context.inbound(message)
        await house.outbound.wait_calls(1)
        await trio.sleep(60)
        ((_, call),) = house.outbound.calls
        body = json.loads(call.body)
        assert body == {
            "id": call.headers["webhook-id"],
            "type": "sms.received",
            "createdAt": body["createdAt"],
            "organizationId": house.organization_id,
            "test": False,
            "messageId": body["messageId"],
            "to": OURS,
            "from": PHONE,
            "status": "received",
            "providerMessageId": message.carrier_ids[0],
            "errorCode": None,
            "errorText": None,
            "carrierCode": None,
            "metadata": {},
            "text": "مرحبا 👋",
        }
        listed = await house.perform("inbound.list", organization_id=house.organization_id)
        assert [each["text"] for each in listed["messages"]] == ["مرحبا 👋"]


async def test_what_nobody_is_to_get_is_stored_alone(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        await house.endpoint(types=["sms.received"])
        await come_in(driver, "hello")
        assert house.outbound.calls == []
        (message,) = (await house.perform("inbound.list"))["messages"]
        assert (message["text"], message["organizationId"]) == ("hello", None)


async def test_how_a_text_was_labelled_is_kept(open_house, quick, driver):
    """And nothing else that a driver writes there."""
    async with open_house(driver=driver) as house:
        right = "labelled ucs2, read as ascii"
        for number, label in enumerate((right, "<b>", None)):
            text = replace(inbound("hello"), received_at_ms=1_767_225_600_000 + number, label=label)
            await driver.context.inbound(text)
        found = (await house.perform("inbound.list"))["messages"]
        assert sorted(str(each["label"]) for each in found) == ["None", "None", right]


async def test_word_and_number_decide_then_the_default(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        names = {}
        for name, route in {
            "default": {},
            "number": {"number": OURS},
            "word": {"keyword": "Vote"},
            "both": {"number": OURS, "keyword": "vote"},
        }.items():
            principal = await another(house, name)
            names[principal.organization_id] = name
            await house.perform("inbound.route", organization_id=principal.organization_id, **route)
        for text, recipient in [
            ("VOTE! 7", OURS), ("vote 7", "999"), ("votes", OURS), ("hello", "999"), ("", None),
        ]:  # fmt: skip
            await come_in(driver, text, recipient=recipient)
        found = (await house.perform("inbound.list"))["messages"]
        to = {each["text"]: names[each["organizationId"]] for each in found}
        assert to == {
            "VOTE! 7": "both", "vote 7": "word", "votes": "number", "hello": "default",
            "": "default",
        }  # fmt: skip


async def test_routes_are_made_once_and_removed(open_house, quick):
    async with open_house() as house:
        arguments = {"organization_id": house.organization_id, "keyword": "Élu"}
        made = await house.perform("inbound.route", **arguments)
        assert made["keyword"] == "elu"
        with pytest.raises(Conflict):
            await house.perform("inbound.route", **arguments)
        await house.perform("inbound.unroute", route_id=made["id"])
        with pytest.raises(NotFound):
            await house.perform("inbound.unroute", route_id=made["id"])
        for wrong in ({"number": "12 34"}, {"keyword": "two words"}, {"keyword": "!"}):
            with pytest.raises(Invalid):
                await house.perform("inbound.route", organization_id=house.organization_id, **wrong)


@pytest.mark.parametrize(
    "word",
    [
        "STOP",
        " stop. ",
        "Stop, thanks",
        "\u2068STOP\u2069 🛑",
        "Arrêt !",
        "ARRET",
        "توقف",
        "تَوَقَّف",
        "توقـــف",
        "Stop s.v.p.",
        "(STOP)\nMerci",
        "ⓈⓉⓄⓅ",
        "ﺗﻮﻗﻒ \ufffc",
    ],
)
async def test_stop_ends_messages_and_start_reverses_it(open_house, quick, driver, word):
    async with open_house(driver=driver) as house:
        await house.perform("inbound.opt_outs", organization_id=house.organization_id, heeds=True)
        await send(house, house.principal)
        await come_in(driver, word)
        with pytest.raises(RecipientOptedOut):
            await send(house, house.principal)
        await send(house, house.principal, to="+22236123457")
        results = await house.gateway.send_batch(
            house.principal, [SendMessage(to=PHONE, body="x"), SendMessage(to=PHONE, body="y")]
        )
        assert [type(each) for each in results] == [RecipientOptedOut] * 2
        # A code was asked for by the person.
        await house.gateway.send_code(house.principal, SendCode(PHONE))
        shown = await house.perform("inbound.opt_outs", organization_id=house.organization_id)
        assert [each["number"] for each in shown["numbers"]] == [PHONE]
        await come_in(driver, "Start")
        await send(house, house.principal)
        assert (await house.perform("audit"))["clean"]


async def test_who_opted_out_is_told_with_the_word_or_who_noted_it(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        mine = {"organization_id": house.organization_id}
        await house.perform("inbound.opt_outs", heeds=True, **mine)
        await send(house, house.principal)
        await come_in(driver, "Arrêt !")
        other = {**mine, "number": "+22246000001"}
        assert (await house.perform("inbound.opt_out", **other))["number"] == "+22246000001"
        await house.perform("inbound.opt_out", **other)  # once more: it is so already
        shown = await house.perform("inbound.opt_outs", **mine)
        by_hand, heard = shown["numbers"]
        assert (heard["number"], heard["keyword"], heard["who"]) == (PHONE, "arret", None)
        assert (by_hand["number"], by_hand["keyword"]) == ("+22246000001", None)
        assert by_hand["who"]
        assert by_hand["carrier"] is None
        with pytest.raises(RecipientOptedOut):
            await send(house, house.principal, to="+22246000001")
        one = await house.perform("inbound.opt_outs", number="46000001", **mine)
        assert [each["number"] for each in one["numbers"]] == ["+22246000001"]
        first = await house.perform("inbound.opt_outs", limit=1, **mine)
        rest = await house.perform("inbound.opt_outs", before=first["older"], **mine)
        assert [each["number"] for each in rest["numbers"]] == [PHONE]
        # Who changes their mind says so themselves, also where somebody had noted it for them.
        await come_in(driver, "START", sender="+22246000001")
        await send(house, house.principal, to="+22246000001")
        with pytest.raises(Invalid):
            await house.perform("inbound.opt_out", number="12", **mine)


async def test_start_takes_back_what_they_said_before_what_was_noted(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        other = await another(house, "other")
        mine = {"organization_id": house.organization_id}
        theirs = {"organization_id": other.organization_id}
        for whose in (mine, theirs):
            await house.perform("inbound.opt_outs", heeds=True, **whose)
        await send(house, house.principal)
        await come_in(driver, "STOP")
        await house.perform("inbound.opt_out", number=PHONE, **theirs)
        await come_in(driver, "START")
        await send(house, house.principal)
        with pytest.raises(RecipientOptedOut):
            await send(house, other)


async def test_what_came_in_is_paged_and_found_by_its_number(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        await house.perform("inbound.route", organization_id=house.organization_id)
        for number in range(5):
            await come_in(driver, f"{number}", sender=f"+2223600000{number % 2}")
        mine = {"organization_id": house.organization_id}
        first = await house.perform("inbound.list", limit=2, **mine)
        assert first["newer"] is None
        second = await house.perform("inbound.list", limit=2, before=first["older"], **mine)
        back = await house.perform("inbound.list", limit=2, after=second["newer"], **mine)
        assert back["messages"] == first["messages"]
        third = await house.perform("inbound.list", limit=2, before=second["older"])
        texts = [each["text"] for page in (first, second, third) for each in page["messages"]]
        assert sorted(texts) == [*"01234"]
        assert third["older"] is None
        wanted = {"from": "36000001", **mine}
        found = (await house.perform("inbound.list", **wanted))["messages"]
        assert {each["text"] for each in found} == {"1", "3"}
        with pytest.raises(Invalid):
            await house.perform("inbound.list", before="' OR 1")


HOME_WAYS = ["22236123456", "0022236123456", "36123456"]


@pytest.mark.parametrize("written", HOME_WAYS)
async def test_a_senders_number_that_is_written_as_at_home_is_the_same_person(
    open_house, quick, driver, written
):
    async with open_house(driver=driver) as house:
        mine = {"organization_id": house.organization_id}
        await house.perform("inbound.opt_outs", heeds=True, **mine)
        await house.perform("inbound.route", **mine)
        await house.endpoint(types=["sms.received"])
        await send(house, house.principal)
        await come_in(driver, "Stop", sender=written)
        with pytest.raises(RecipientOptedOut):
            await send(house, house.principal)
        await house.outbound.wait_calls(1)
        assert json.loads(house.outbound.calls[0][1].body)["from"] == PHONE
        assert (await house.perform("inbound.list", **mine))["messages"][0]["from"] == PHONE
        await come_in(driver, "START", sender=written)
        await send(house, house.principal)
        await come_in(driver, "STOP")
        await house.perform("inbound.opt_in", number=written, **mine)
        await send(house, house.principal)


ABROAD = [
    (("SN", "MR"), "+221", "+221701234567", ("70 123 45 67", "00221701234567", "701234567")),
    (("SN", "MR"), "+222", PHONE, (PHONE, "0022236123456", "36123456")),
    (("FR",), "+33", "+33612345678", ("0612345678", "33612345678", "612345678")),
]


@pytest.mark.parametrize(("countries", "prefix", "phone", "ways"), ABROAD)
async def test_stop_and_routes_by_the_numbers_of_each_country(
    open_house, quick, driver, countries, prefix, phone, ways
):
    section = {"prefixes": [phone[:4]], "national_prefix": prefix}
    sections = {
        "numbers": NumbersSection(countries=countries),
        "prices": (PriceSection(prefix="+222", price="2.00"),) if len(countries) > 1 else (),
    }
    async with open_house(driver=driver, carrier=section, **sections) as house:
        mine = {"organization_id": house.organization_id}
        if phone == PHONE:
            await house.perform("country.open", country="MR", uses=["send"], **mine)
        typed, *written = ways
        await house.perform("inbound.opt_outs", heeds=True, **mine)
        assert (await house.perform("inbound.route", number=phone, **mine))["number"] == phone
        await house.perform("inbound.route", **mine)
        for sender in written:
            await send(house, house.principal, phone)
            await come_in(driver, "STOP", sender=sender)
            with pytest.raises(RecipientOptedOut):
                await send(house, house.principal, phone)
            assert (await house.perform("inbound.list", **mine))["messages"][0]["from"] == phone
            (out,) = (await house.perform("inbound.opt_outs", number=typed, **mine))["numbers"]
            assert out["number"] == phone
            await house.perform("inbound.opt_in", number=typed, **mine)


async def test_a_carrier_may_be_told_to_leave_numbers_as_they_come(open_house, quick, driver):
    async with open_house(driver=driver, carrier={"national_prefix": ""}) as house:
        await come_in(driver, "hello", sender="36123456")
        assert (await house.perform("inbound.list"))["messages"][0]["from"] == "36123456"


@pytest.mark.parametrize("prefix", ["+222", ""])
@pytest.mark.parametrize("routed", ["+22245000000", "22245000000", "45000000"])
async def test_a_route_finds_its_number_however_either_is_written(
    open_house, quick, driver, prefix, routed
):
    async with open_house(driver=driver, carrier={"national_prefix": prefix}) as house:
        other = await another(house, "Default")
        await house.perform("inbound.route", organization_id=other.organization_id)
        mine = {"organization_id": house.organization_id}
        made = await house.perform("inbound.route", number=routed, **mine)
        assert made["number"] == "+22245000000"
        ways = ["+22245000000", "22245000000", "0022245000000", "45000000"]
        for count, arrives in enumerate(ways, start=1):
            await come_in(driver, "hello", recipient=arrives)
            found = (await house.perform("inbound.list"))["messages"]
            assert [each["organizationId"] for each in found] == [house.organization_id] * count


@pytest.mark.parametrize("kept", ["22245000000", "45000000"])
async def test_a_route_of_an_older_version_still_finds_its_number(open_house, quick, driver, kept):
    async with open_house(driver=driver) as house:
        route = InboundRoute("inr_1", house.organization_id, kept, None, 0)
        ways = DEFAULT.ways_to_write(kept)
        journal = house.gateway.services.recorder.journal
        await journal.commit(lambda conn: add_route(conn, route, ways))
        await come_in(driver, "hello", recipient=kept)
        (found,) = (await house.perform("inbound.list"))["messages"]
        assert found["organizationId"] == house.organization_id
        with pytest.raises(Conflict):
            await house.perform(
                "inbound.route", organization_id=house.organization_id, number="+22245000000"
            )


async def test_it_is_off_unless_wished_for(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        await send(house, house.principal)
        await come_in(driver, "STOP")
        await send(house, house.principal)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "stop it",
            "non stop",
            "stops",
            "STOP 12345",
            "",
            "?",
            "Re: STOP",
            "non-stop",
            "توقف هنا",
        ),
        *("🛑", "Stop, je paie demain", "STOP\n\nEnvoyé de mon iPhone"),
    ],
)
async def test_only_the_word_alone_counts(open_house, quick, driver, text):
    async with open_house(driver=driver) as house:
        await house.perform("inbound.opt_outs", organization_id=house.organization_id, heeds=True)
        await send(house, house.principal)
        await come_in(driver, text)
        await send(house, house.principal)


async def test_it_is_whoever_wrote_last_that_is_meant(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        first, second = house.principal, await another(house, "Second")
        for principal in (first, second):
            await house.perform(
                "inbound.opt_outs", organization_id=principal.organization_id, heeds=True
            )
            await send(house, principal)
        await come_in(driver, "STOP")
        await send(house, first)
        with pytest.raises(RecipientOptedOut):
            await send(house, second)
        # The first has written last by now; START still means the one that was stopped.
        await come_in(driver, "START")
        await send(house, second)


async def test_who_heeds_none_is_not_meant_even_when_last(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        first, second = house.principal, await another(house, "Second")
        await house.perform("inbound.opt_outs", organization_id=first.organization_id, heeds=True)
        await send(house, first)
        await send(house, second)
        await come_in(driver, "STOP")
        await send(house, first)
        await send(house, second)


async def test_what_was_sent_before_anybody_heeded_counts_too(
    open_house, quick, driver, monkeypatch
):
    monkeypatch.setattr(optout, "ROWS_AT_ONCE", 3)
    async with open_house(driver=driver) as house:
        first, second = house.principal, await another(house, "Second")
        await send(house, second)
        for number in range(10):
            await send(house, second, to=f"+2223612350{number}")
        await send(house, first)  # the last to write to PHONE
        for number in range(10):
            await send(house, second, to=f"+2223612350{number}")
        for principal in (first, second):
            await house.perform(
                "inbound.opt_outs", organization_id=principal.organization_id, heeds=True
            )
        await trio.sleep(10)
        await come_in(driver, "STOP")
        await send(house, second)
        with pytest.raises(RecipientOptedOut):
            await send(house, first)
        assert looks_back(house) is None


async def test_looking_back_ends_with_age_and_number(open_house, quick, driver, monkeypatch):
    monkeypatch.setattr(optout, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(opt_outs, "LOOK_BACK_ROWS_MAX", 6)
    async with open_house(driver=driver) as house:
        mine = {"organization_id": house.organization_id}
        for number in range(10):
            await send(house, house.principal, to=f"+2223612350{number}")
        await house.perform("inbound.opt_outs", heeds=True, **mine)
        await trio.sleep(10)
        assert writers(house) == {f"+2223612350{number}" for number in range(4, 10)}
        await house.perform("inbound.opt_outs", heeds=False, **mine)
        await send(house, house.principal, to="+22236123600")
        quick.jump(91 * 86_400)
        for number in range(1, 3):
            await send(house, house.principal, to=f"+2223612360{number}")
        await house.perform("inbound.opt_outs", heeds=True, **mine)
        await trio.sleep(10)
        # In steps of two: the older ones of the last step are looked at too, and no more.
        assert writers(house) >= {"+22236123601", "+22236123602"}
        assert "+22236123509" in writers(house)
        assert looks_back(house) is None


async def test_an_older_message_never_takes_the_place_of_a_newer(
    open_house, quick, driver, monkeypatch
):
    async with open_house(driver=driver) as house:
        first, second = house.principal, await another(house, "Second")
        await send(house, first)
        await house.perform("inbound.opt_outs", organization_id=first.organization_id, heeds=True)
        await send(house, second)  # before, or while, the past is looked through
        await trio.sleep(10)
        await come_in(driver, "STOP")
        await send(house, first)
        # With nobody who heeds, nobody's writing is noted: the past is looked through anew.
        await house.perform("inbound.opt_outs", organization_id=first.organization_id, heeds=False)
        await send(house, first)
        await house.perform("inbound.opt_outs", organization_id=first.organization_id, heeds=True)
        await trio.sleep(10)
        await come_in(driver, "STOP")
        with pytest.raises(RecipientOptedOut):
            await send(house, first)


async def test_looking_back_goes_on_after_a_restart(open_house, quick, driver, monkeypatch):
    monkeypatch.setattr(optout, "PAUSE_MIN_S", 1000)
    monkeypatch.setattr(optout, "ROWS_AT_ONCE", 1)
    async with open_house(driver=driver) as house:
        await send(house, house.principal)
        await send(house, house.principal, to="+22236123457")
        await house.perform("inbound.opt_outs", organization_id=house.organization_id, heeds=True)
        await trio.sleep(1)
        assert writers(house) == {"+22236123457"}
    monkeypatch.setattr(optout, "PAUSE_MIN_S", 0.02)
    async with open_house(driver=driver) as house:
        await trio.sleep(1)
        assert writers(house) == {PHONE, "+22236123457"}


def writers(house) -> set[str]:
    rows = house.gateway.services.repositories._store.reader.execute(
        "SELECT recipient FROM last_writers"
    )
    return {row[0] for row in rows}


def looks_back(house) -> str | None:
    return meta.get(house.gateway.services.repositories._store.reader, "opt_outs.look_back")


async def test_an_opt_out_survives_a_restart_and_can_be_taken_back(open_house, quick, driver):
    async with open_house(driver=driver) as house:
        mine = {"organization_id": house.organization_id}
        await house.perform("inbound.opt_outs", heeds=True, **mine)
        await send(house, house.principal)
        await come_in(driver, "STOP")
    async with open_house() as house:
        with pytest.raises(RecipientOptedOut):
            await send(house, house.principal)
        await house.perform("inbound.opt_in", number=PHONE, **mine)
        with pytest.raises(NotFound):
            await house.perform("inbound.opt_in", number=PHONE, **mine)
        await send(house, house.principal)


def test_words_are_folded():
    assert folded("« ARRÊT ! »") == "arret"
    assert keyword_of("  Vote: 7") == "vote"
    assert keyword_of("   ") == ""
    assert {folded(word) for word in STOP_WORDS | START_WORDS} == STOP_WORDS | START_WORDS


def test_the_api_says_which_400_it_is():
    problem = problem_of(RecipientOptedOut())
    assert (problem.status, problem.data) == (400, {"code": "RECIPIENT_OPTED_OUT"})
    assert "START" in problem.message
