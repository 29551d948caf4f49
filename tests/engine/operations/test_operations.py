"""The operator's operations: every argument is checked, and no slip of a hand is a bug of ours."""

from __future__ import annotations

from contextlib import suppress

import pytest
import trio

from cases import sweep
from risala.config.model import Settings, StorageSection
from risala.engine.gateway.table import OPERATIONS
from risala.engine.model.errors import Conflict, Forbidden, Invalid, NotFound, Refusal
from risala.engine.model.times import iso
from risala.engine.wiring.gateway import open_gateway

TO = "+22236123456"
REQUIRED = [
    ("org.create", ["name"]),
    ("org.show", ["organization_id"]),
    ("org.suspend", ["organization_id"]),
    ("org.resume", ["organization_id"]),
    ("key.create", ["organization_id", "type"]),
    ("key.list", ["organization_id"]),
    ("key.enable", ["key_id"]),
    ("key.disable", ["key_id"]),
    ("key.delete", ["key_id"]),
    ("topup", ["organization_id", "amount"]),
    ("adjust", ["organization_id", "amount", "reason"]),
    ("ledger.list", ["organization_id"]),
    ("send", ["organization_id", "to", "body"]),
    ("message.show", ["message_id"]),
    ("message.cancel", ["message_id"]),
    ("message.erase", ["message_id"]),
    ("carriers.pause", ["carrier"]),
    ("carriers.resume", ["carrier"]),
    ("carriers.drain", ["carrier"]),
    ("carriers.show", ["carrier"]),
    ("carriers.ask", ["carrier"]),
]
NO_TEXT = [..., None, "", 7, True, [], {}]


@pytest.fixture
async def house(open_house, autojump_clock):
    async with open_house() as opened:
        yield opened


@pytest.fixture
def organization(house):
    return {"organization_id": house.principal.organization_id}


@sweep("name", ["", "org", "org.destroy", "ORG.LIST", "__class__", "audit "], repr)
async def test_an_unknown_operation_is_not_found(house, name, autojump_clock):
    with pytest.raises(NotFound):
        await house.gateway.perform(name, {})


@sweep(
    ("operation", "names", "wrong"),
    [(*each, wrong) for each in REQUIRED for wrong in NO_TEXT],
    repr,
)
async def test_what_is_required_is_text_and_not_empty(
    house, organization, operation, names, wrong, autojump_clock
):
    good = {
        **organization,
        "name": "Shop",
        "type": "secret",
        "amount": "1",
        "reason": "a slip",
        "to": TO,
        "body": "x",
    }
    known = OPERATIONS[operation].arguments.model_fields
    good = {name: value for name, value in good.items() if name in known}
    for name in names:
        arguments = {**good, name: wrong}
        if wrong is ...:
            del arguments[name]
        with pytest.raises(Invalid) as refused:
            await house.gateway.perform(operation, arguments)
        assert refused.value.path == name


@sweep(
    ("operation", "arguments"),
    [
        ("org.show", {"organization_id": "org_x"}),
        ("org.suspend", {"organization_id": "org_x"}),
        ("org.resume", {"organization_id": "org_x"}),
        ("key.create", {"organization_id": "org_x", "type": "secret"}),
        ("key.list", {"organization_id": "org_x"}),
        ("key.enable", {"key_id": "key_x"}),
        ("key.disable", {"key_id": "key_x"}),
        ("key.delete", {"key_id": "key_x"}),
        ("topup", {"organization_id": "org_x", "amount": "1"}),
        ("adjust", {"organization_id": "org_x", "amount": "1", "reason": "a slip"}),
        ("ledger.list", {"organization_id": "org_x"}),
        ("send", {"organization_id": "org_x", "to": TO, "body": "x"}),
        ("message.show", {"message_id": "sms_x"}),
        ("message.cancel", {"message_id": "sms_x"}),
        ("message.erase", {"message_id": "sms_x"}),
        ("carriers.pause", {"carrier": "nobody"}),
    ],
)
async def test_what_is_not_there_is_not_found_and_nothing_is_written(
    house, own_commits, operation, arguments, autojump_clock
):
    commits = own_commits(house)
    with pytest.raises(NotFound):
        await house.gateway.perform(operation, arguments)
    assert commits == []


async def test_the_ledger_tells_what_was_credited_once_and_what_was_corrected(
    house, organization, autojump_clock
):
    paid = {**organization, "amount": "10", "reference": "  BK  778 ", "note": "at the desk"}
    entry = await house.gateway.perform("topup", paid)
    assert (entry["reference"], entry["note"]) == ("BK 778", "at the desk")
    with pytest.raises(Conflict, match="was already credited"):
        await house.gateway.perform("topup", {**paid, "reference": "bk 778"})
    slip = {**organization, "amount": "-2.50", "reason": "credited too much"}
    entry = await house.gateway.perform("adjust", slip)
    assert (entry["kind"], entry["amount"]) == ("adjustment", "-2.50")
    assert entry["reference"].startswith("adj_")
    entry = await house.gateway.perform("adjust", {**slip, "amount": "+1"})
    assert entry["amount"] == "1.00"
    with pytest.raises(
        Conflict, match=r"The balance is .*, and this adjustment would make it negative"
    ):
        await house.gateway.perform("adjust", {**slip, "amount": "-999999"})
    shown = await house.gateway.perform("ledger.list", {**organization, "limit": 3})
    assert [each["amount"] for each in shown["entries"]] == ["1.00", "-2.50", "10.00"]
    assert shown["entries"][1]["note"] == "credited too much"
    assert shown["entries"][0]["balanceAfter"] == shown["balance"]
    older = {**organization, "before": shown["next"], "by_hand": True}
    rest = await house.gateway.perform("ledger.list", older)
    assert all(each["seq"] < shown["next"] for each in rest["entries"])
    assert rest["next"] is None
    assert (await house.gateway.perform("audit", {}))["clean"]


@sweep("amount", ["0", "-0", "+-1", "--1", "1e3", "-", "- 1", "1.234"])
async def test_adjustments_that_are_none(house, organization, amount, autojump_clock):
    slip = {**organization, "amount": amount, "reason": "slip"}
    with pytest.raises(Invalid) as refused:
        await house.gateway.perform("adjust", slip)
    assert refused.value.path == "amount"


@pytest.mark.parametrize(
    ("operation", "fields", "path"),
    [
        ("topup", {"reference": "x" * 65}, "reference"),
        ("topup", {"reference": "  "}, "reference"),
        ("topup", {"note": "x" * 201}, "note"),
        ("adjust", {"reason": "  "}, "reason"),
        ("ledger.list", {"before": "7"}, "before"),
    ],
)
async def test_references_and_notes_have_a_measure(
    house, organization, operation, fields, path, autojump_clock
):
    with pytest.raises(Invalid) as refused:
        await house.gateway.perform(operation, {**organization, "amount": "1", **fields})
    assert refused.value.path == path


@pytest.mark.parametrize(
    ("amount", "minor"),
    [
        ("1", "1.00"),
        ("0.01", "0.01"),
        ("99.5", "99.50"),
        ("007", "7.00"),
        ("999999999999", "999999999999.00"),
    ],
)
async def test_amounts_are_decimal_text(house, organization, amount, minor, autojump_clock):
    entry = await house.gateway.perform("topup", {**organization, "amount": amount})
    assert (entry["kind"], entry["amount"]) == ("topup", minor)


@sweep(
    "amount",
    [
        "0",
        "0.00",
        "-1",
        "+1",
        "1.",
        ".5",
        "1.005",
        "1e3",
        "1,5",
        "١٢",
        "NaN",
        "inf",
        " 1",
        "9" * 13,
    ],
)
async def test_what_is_no_amount_is_refused(house, organization, amount, autojump_clock):
    with pytest.raises(Invalid):
        await house.gateway.perform("topup", {**organization, "amount": amount})
    assert await house.balance() == "1000.00"


@sweep(
    "change",
    [
        {"to": "3612345"},
        {"to": "+22256123456"},
        {"body": "x" * 1601},
        {"body": "a\0b"},
        {"body": "a\ud800"},
        {"from": "12345"},
        {"from": "TWELVE CHARS"},
        {"idempotency_key": "short"},
        {"idempotency_key": "x" * 129},
        {"idempotency_key": "x" * 8 + "\0"},
    ],
)
async def test_a_send_by_hand_is_checked_like_any_other(
    house, organization, change, autojump_clock
):
    arguments = {**organization, "to": TO, "body": "x", **change}
    with pytest.raises(Invalid):
        await house.gateway.perform("send", arguments)
    assert await house.balance() == "1000.00"


async def test_a_send_by_hand(house, organization, autojump_clock):
    arguments = {**organization, "to": TO, "body": "x", "idempotency_key": "by-hand-1"}
    first = await house.gateway.perform("send", arguments)
    assert first["accepted"]
    assert await house.gateway.perform("send", arguments) == first
    await house.wait_status(first["messageId"], "sent")
    assert await house.balance() == "999.50"
    await house.gateway.perform("org.suspend", organization)
    with pytest.raises(Forbidden):
        await house.gateway.perform("send", {**organization, "to": TO, "body": "y"})


@pytest.mark.parametrize("written", ["36123456", "00222 36 12 34 56", "٣٦١٢٣٤٥٦", "+22236123456\n"])
async def test_a_send_by_hand_goes_to_a_number_as_people_write_it(
    house, organization, written, autojump_clock
):
    sent = await house.gateway.perform("send", {**organization, "to": written, "body": "x"})
    shown = await house.gateway.perform("message.show", {"message_id": sent["messageId"]})
    assert shown["message"]["to"] == TO


async def test_suspending_twice_and_resuming_twice_is_no_fault(house, organization, autojump_clock):
    for operation, status in (("org.suspend", "suspended"), ("org.resume", "active")):
        for _ in range(2):
            shown = await house.gateway.perform(operation, organization)
            assert shown["status"] == status


async def test_a_command_without_a_service_has_no_carriers_to_pause(tmp_path):
    settings = Settings(storage=StorageSection(data_dir=tmp_path))
    async with open_gateway(settings) as gateway:
        made = await gateway.perform("org.create", {"name": "Shop"})
        assert (await gateway.perform("carriers", {}))["carriers"] == []
        with pytest.raises(NotFound):
            await gateway.perform("carriers.pause", {"carrier": "mattel"})
        arguments = {"organization_id": made["id"], "amount": "1"}
        await gateway.perform("topup", arguments)
        sent = await gateway.perform(
            "send", {"organization_id": made["id"], "to": TO, "body": "later"}
        )
        shown = await gateway.perform("message.show", {"message_id": sent["messageId"]})
        assert shown["message"]["status"] == "pending"
        assert (await gateway.perform("audit", {}))["clean"]


async def test_a_caller_who_hangs_up_leaves_the_cache_as_new_as_the_journal(
    house, organization, monkeypatch, autojump_clock
):
    """The change is durable though its asker is gone: it must count all the same."""
    created = await house.gateway.perform("key.create", {**organization, "type": "secret"})
    house.gateway.authenticate(created["value"])
    with trio.CancelScope() as scope:
        scope.cancel()
        await house.gateway.perform("org.suspend", organization)
    with pytest.raises(Forbidden):
        house.gateway.authenticate(created["value"])


NONSENSE = (
    *(None, True, 0, -1, 2**70, 0.5, float("inf"), float("nan"), [], [1], {}, {"a": "b"}),
    *("", " ", "\0", "\ud800", "é" * 5000, "'; DROP TABLE messages; --", "-1", "1e9", "null"),
)
SENSE = {
    "name": "Shop",
    "type": "publishable",
    "mode": "live",
    "amount": "1",
    "note": "cash",
    "to": TO,
    "body": "x",
    "from": "Shop",
    "idempotency_key": "order-0001",
    "description": "Order updates",
    "reason": "misleading",
    "price_per_segment": "0.5",
    "smart_encoding": True,
    "sms_per_s": 100,
    "urgent": False,
    "validity_s": 60,
    "send_at": "2026-01-01T00:00:00Z",
    "carrier": "fake",
    "allowed_origins": ["https://shop.example"],
    "locale": "fr",
}


def names(model):
    return [field.alias or name for name, field in model.model_fields.items()]


@pytest.mark.slow
async def test_nonsense_is_refused_and_never_a_crash(open_house, autojump_clock):
    """Whatever JSON can say, in each argument of each operation: an answer or a refusal."""
    async with open_house() as house:
        perform = house.gateway.perform
        organization = {"organization_id": house.principal.organization_id}
        key = await perform("key.create", {**organization, "type": "publishable"})
        sense = {**SENSE, **organization, "key_id": key["key"]["id"]}
        for name in sorted(set(OPERATIONS) - ELSEWHERE):
            known = names(OPERATIONS[name].arguments)
            good = {argument: value for argument, value in sense.items() if argument in known}
            for argument in known:
                for nonsense in NONSENSE:
                    with suppress(Refusal):
                        await perform(name, {**good, argument: nonsense})
        assert (await perform("audit", {}))["clean"]


async def test_an_edit_says_which_version_it_has_seen(house, organization, autojump_clock):
    """Two people open the same form: the second to save is told, and undoes nothing unawares."""
    perform = house.gateway.perform
    key = await perform("key.create", {**organization, "type": "publishable"})
    hook = await perform("webhook.create", {**organization, "url": "https://example.com/"})
    for look, edit, thing, change in (
        ("org.show", "org.set", organization, {"name": "Shop"}),
        ("verify.config", "verify.config", organization, {"code_length": 8}),
        (
            "key.show",
            "key.set",
            {"key_id": key["key"]["id"]},
            {"allowed_origins": ["https://a.example"]},
        ),
        (
            "webhook.show",
            "webhook.update",
            {"endpoint_id": hook["endpoint"]["id"]},
            {"description": "x"},
        ),
    ):
        seen = (await perform(look, thing))["version"]
        first = await perform(edit, {**thing, **change, "version": seen})
        with pytest.raises(Conflict, match="changed in the meantime by risala"):
            await perform(edit, {**thing, **change, "version": seen})
        assert first["version"] == (await perform(look, thing))["version"] > seen
        await perform(edit, {**thing, **change})  # who says nothing is not asked
    # What is no edit takes no version away.
    seen = (await perform("org.show", organization))["version"]
    await perform("topup", {**organization, "amount": "1"})
    assert (await perform("org.show", organization))["version"] == seen


@pytest.mark.parametrize("name", [" ", "x" * 101])
async def test_a_name_is_checked_when_it_is_changed_too(house, organization, name, autojump_clock):
    with pytest.raises(Invalid):
        await house.gateway.perform("org.set", {**organization, "name": name})
    changed = await house.gateway.perform("org.set", {**organization, "name": "  La  Poste "})
    assert changed["name"] == "La Poste"


ELSEWHERE = {name for name in OPERATIONS if name.startswith(("webhook", "backup", "doctor"))}
"""Operations with effects outside the journal have tests of their own."""


async def test_a_name_is_judged_before_it_is_asked_for(house, organization, autojump_clock):
    for name, told in (
        ("PROMO", {"fault": None, "marks": ["generic"]}),
        ("Bankily", {"fault": None, "marks": ["protected"]}),
        ("Baraka Market", {"fault": "rule", "marks": []}),
        ("BARAKA", {"fault": None, "marks": []}),
    ):
        assert await house.gateway.perform("sender.check", {**organization, "name": name}) == told
    asked = {**organization, "name": "BARAKA", "description": "Orders"}
    await house.gateway.perform("sender.request", asked)
    found = await house.gateway.perform("sender.check", {**organization, "name": "baraka"})
    assert found["fault"] == "taken"


async def test_the_volume_that_approves_is_told(house, organization, autojump_clock):
    await house.gateway.perform("send", {**organization, "to": TO, "body": "x"})
    found = await house.gateway.perform("sender.volume", organization)
    assert found == {"daily": 1, "weekly": 1, "needed": 2000, "days": 30, "names": []}


async def test_what_leaves_under_a_name_is_counted_and_since_when_it_is_cleared(
    house, organization, autojump_clock
):
    asked = {**organization, "name": "Baraka", "description": "Orders"}
    made = await house.gateway.perform("sender.request", asked)
    assert made["clearedAt"] is None
    sender = {"sender_id": made["id"]}
    cleared = await house.gateway.perform("sender.clear", sender)
    assert cleared["clearedAt"] == cleared["updatedAt"]
    waived = await house.gateway.perform("sender.waive", sender)
    assert (waived["status"], waived["clearedAt"]) == ("approved", cleared["clearedAt"])
    for name in ("Baraka", "RISALA"):
        send = {**organization, "to": TO, "body": "x", "from": name}
        await house.gateway.perform("send", send)
    found = await house.gateway.perform("sender.volume", organization)
    assert found["names"] == [{"name": "Baraka", "messages": 1, "more": False}]
    denied = await house.gateway.perform("sender.deny", {**sender, "reason": "misleading"})
    assert denied["clearedAt"] is None


async def test_a_test_message_by_hand_costs_nothing(house, organization, autojump_clock):
    before = await house.balance()
    sent = await house.gateway.perform(
        "send", {**organization, "to": "+22236123400", "body": "x", "mode": "test"}
    )
    shown = await house.gateway.perform("message.show", {"message_id": sent["messageId"]})
    assert (shown["message"]["mode"], shown["message"]["keyId"]) == ("test", None)
    assert await house.balance() == before


async def test_a_text_is_counted_as_it_would_be_sent(house, organization, autojump_clock):
    async def estimate(body):
        return await house.gateway.perform("message.estimate", {**organization, "body": body})

    curly = [{"character": "’", "index": 1, "suggestion": "'", "name": None}]
    assert (await estimate("L’été"))["unicodeCharacters"] == curly
    assert (await estimate("Fin\u200c"))["encoding"] == "gsm7"
    await house.gateway.perform("org.set", {**organization, "smart_encoding": True})
    found = await estimate("L’été")
    assert (found["encoding"], found["unicodeCharacters"]) == ("gsm7", [])
    found = await estimate("Fenêtre ☂")
    assert (found["encoding"], found["characters"], found["segments"]) == ("ucs2", 9, 1)
    assert found["unicodeCharacters"] == [
        {"character": "ê", "index": 3, "suggestion": "e", "name": None},
        {"character": "☂", "index": 8, "suggestion": None, "name": None},
    ]
    assert (await estimate("Fin\u200c"))["encoding"] == "gsm7"
    found = await estimate("می\u200cخواهم")
    assert found["unicodeCharacters"][2]["name"] == "U+200C ZERO WIDTH NON-JOINER"
    assert (await estimate("x" * 161))["segments"] == 2
    assert float(found["price"]) > 0


async def test_events_of_a_message_are_told_with_their_deliveries(
    house, organization, autojump_clock
):
    message_id = await house.send()
    await house.wait_status(message_id, "sent")
    found = await house.gateway.perform("message.events", {"message_id": message_id})
    assert [(each["type"], each["deliveries"]) for each in found["events"]] == [("sms.sent", [])]


async def test_each_figure_of_a_network_has_one_name(house, organization, autojump_clock):
    await house.wait_status(await house.send(), "sent")
    now_ms = house.gateway.services.recorder.clock.now_ms()
    span = {"since": iso(now_ms - 3_600_000), "until": iso(now_ms + 1)}
    told = await house.gateway.perform("overview.show", {**organization, **span})
    counts = ["accepted", "delivered", "undelivered", "failed", "canceled"]
    assert [[*each] for each in told["networks"]] == [["network", *counts, "medianMs", "mostMs"]]
