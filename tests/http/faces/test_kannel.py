"""Kannel's sendsms over HTTP, with the real engine behind it."""

from __future__ import annotations

import json
import logging
from functools import partial
from urllib.parse import parse_qs, urlsplit

import pytest
import structlog
import trio
from tests.http.faces.face_office import CALLED, TO, FakeOutbound, open_office

from cases import sweep
from risala.config.numbers import NumbersSection, PriceSection
from risala.drivers.faces.kannel import KannelCompat, KannelSettings
from risala.engine.features.compat import stored as compat_calls
from risala.engine.features.request_log.service import request_log
from risala.engine.model.sentences import sentence
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.cause import Cause
from risala.sms.outcome import Refused, Scope, Unsent

PATH = "/cgi-bin/sendsms"


@pytest.fixture
async def office(tmp_path):
    async with open_office(tmp_path, {"kannel": KannelCompat(KannelSettings())}) as opened:
        opened.credentials, opened.password = await opened.credential("kannel", username="shop")
        opened.who = {"user": "shop", "pass": opened.password}
        yield opened


async def ask(office, **fields):
    given = {"to": "22236123456", "text": "hello", **office.who, **fields}
    return await office.get(PATH, **{name: value for name, value in given.items() if value != ""})


async def test_a_message_is_accepted_charged_and_told_as_any_other(office, autojump_clock):
    assert await ask(office) == (202, "0: Accepted for delivery")
    (message_id,) = office.messages()
    view, entries = office.gateway.show_message(message_id)
    assert (view.to, view.body, view.sender) == (TO, "hello", "RISALA")
    assert view.api_key == office.credentials["id"]
    first = sentence(entries[0])
    assert first.startswith(f"Accepted by the face kannel ({office.credentials['id']})")
    await office.wait_status(message_id, "sent")
    assert (await office.perform("org.show", organization_id=office.organization_id))[
        "balance"
    ] == "99.50"
    assert await office.is_clean()
    listed = await office.perform("credential.list", organization_id=office.organization_id)
    assert [each["username"] for each in listed["credentials"]] == ["shop"]


async def test_commcare(office, autojump_clock):
    """corehq/messaging/smsbackends/http: Latin-1 where that has all letters, else UTF-8, without a
    charset; any status of 400 and above is a failure."""
    for text in ("Rappel : vaccin à 8 h", "تذكير بموعدك"):
        try:
            octets = text.encode("iso-8859-1")
        except UnicodeEncodeError:
            octets = text.encode("utf-8")
        assert (await ask(office, text=octets))[0] == 202
        assert office.gateway.show_message(office.messages()[-1])[0].body == text


async def test_head_sends_nothing(office, autojump_clock):
    """Proxies and checkers of links ask HEAD of what they find in a log."""
    given = {"to": "22236123456", "text": "hello", **office.who}
    answer = await office.client.head(PATH, query_string=given)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, POST"
    assert office.messages() == []


async def test_several_receivers_are_several_messages(office, autojump_clock):
    assert await ask(office, to="22236123456 0022226123456 +22246123456") == (
        202,
        "0: Accepted for delivery",
    )
    seen = [office.gateway.show_message(each)[0].to for each in office.messages()]
    assert seen == ["+22236123456", "+22226123456", "+22246123456"]
    assert await ask(office, to="36123456 12345") == (
        202,
        "0: Accepted for delivery Denied receivers are: 12345",
    )


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"text": "é€".encode()}, "é€"),
        ({"text": "é".encode("latin-1"), "charset": "ISO-8859-1"}, "é"),
        ({"text": "Été à 5 €".encode("cp1252")}, "Été à 5 €"),
        ({"text": "سلام".encode("utf-16-be"), "coding": "2"}, "سلام"),
        ({"text": "سلام".encode(), "coding": "2", "charset": "UTF-8"}, "سلام"),
        ({"text": "سلام".encode("utf-16-be"), "coding": "2", "charset": "UTF-16"}, "سلام"),
    ],
)
async def test_a_text_is_read_by_its_coding_and_charset(office, autojump_clock, fields, text):
    assert (await ask(office, **fields))[0] == 202
    assert office.gateway.show_message(office.messages()[0])[0].body == text


@sweep(
    ("fields", "status", "text"),
    [
        ({"pass": "wrong"}, 403, "Authorization failed for sendsms"),
        ({"user": "nobody"}, 403, "Authorization failed for sendsms"),
        ({"user": "", "pass": ""}, 403, "Authorization failed for sendsms"),
        ({"to": ""}, 400, "Missing receiver number, rejected"),
        ({"to": "12345"}, 400, None),
        ({"text": ""}, 400, "Empty text is not supported here, rejected"),
        ({"text": "x" * 1601}, 400, None),
        ({"udh": bytes.fromhex("0605040b8423f0")}, 400, None),
        ({"udh": "050003010201"}, 400, None),
        ({"udh": bytes.fromhex("050003010201"), "text": "x" * 154}, 400, None),
        ({"coding": "1"}, 400, "Coding 1 (8 bit) is not supported here, rejected"),
        ({"coding": "7"}, 400, "Coding field misformed, rejected"),
        ({"mclass": "0"}, 400, None),
        ({"charset": "klingon"}, 400, "Charset or body misformed, rejected"),
        ({"charset": "undefined"}, 400, "Charset or body misformed, rejected"),
        ({"charset": "utf\0"}, 400, "Charset or body misformed, rejected"),
        ({"text": b"\xff\x81"}, 400, "Charset or body misformed, rejected"),
        ({"text": b"\xe9", "charset": "utf-8"}, 400, "Charset or body misformed, rejected"),
        ({"text": b"\xe9", "udh": "\5\0\3\1\2\1"}, 400, "Charset or body misformed, rejected"),
        ({"validity": "soon"}, 400, "Validity field misformed, rejected"),
        ({"deferred": "-1"}, 400, "Deferred field misformed, rejected"),
        ({"deferred": "50000"}, 400, None),
        ({"dlr-mask": "999", "dlr-url": CALLED}, 400, "DLR-Mask field misformed, rejected"),
        ({"dlr-mask": "1", "dlr-url": "http://169.254.169.254/"}, 400, None),
        ({"from": "Unknown"}, 400, None),
        ({"from": "a name that is too long"}, 400, None),
    ],
)
async def test_what_is_refused_stores_nothing(office, autojump_clock, fields, status, text):
    found = await ask(office, **fields)
    assert found[0] == status
    assert text in (None, found[1])
    assert found[1].endswith((", rejected", "for sendsms"))
    assert office.messages() == []


async def test_mclass_0_is_a_flash_message(tmp_path, autojump_clock):
    driver, face = FakeDriver(flash=True), {"kannel": KannelCompat(KannelSettings())}
    async with open_office(tmp_path, face, driver=driver) as office:
        _, password = await office.credential("kannel", username="shop")
        office.who = {"user": "shop", "pass": password}
        for mclass in ("0", "1", ""):
            assert (await ask(office, mclass=mclass))[0] == 202
        for message_id in office.messages():
            await office.wait_status(message_id, "sent")
        assert [each.message_class for each in driver.submitted] == [0, None, None]


async def test_a_message_that_was_cut_already_is_one_on_the_phone(office, autojump_clock):
    for number, text in ((1, "x" * 153), (2, "y")):
        udh = bytes((5, 0, 3, 77, 2, number))
        assert (await ask(office, text=text, udh=udh))[0] == 202
    await office.wait_status(office.messages()[1], "sent")
    places = [each.place for each in office.driver.submitted]
    assert [(each.reference, each.total, each.number) for each in places] == [
        (77, 2, 1),
        (77, 2, 2),
    ]


async def test_a_part_may_be_cut_inside_a_character(office, autojump_clock):
    """Kannel cuts at 67 code units, which may be half of an emoji."""
    octets = ("😀" * 60).encode("utf-16-be")
    parts = [octets[:134], octets[134:]]
    for number, part in enumerate(parts, 1):
        udh = bytes((5, 0, 3, 78, 2, number))
        found = await ask(office, text=part, udh=udh, coding="2")
        assert found == (202, "0: Accepted for delivery")
    await office.wait_status(office.messages()[1], "sent")
    sent = [each.units.encode("utf-16-be", "surrogatepass") for each in office.driver.submitted]
    assert sent == parts
    assert [each.text for each in office.driver.submitted] == ["😀" * 33, "😀" * 26]
    assert (await ask(office, text=parts[0], coding="2"))[0] == 400


async def test_it_waits_where_it_is_deferred_and_ends_where_it_is_old(office, autojump_clock):
    assert await ask(office, deferred="10", validity="60") == (202, "3: Queued for later delivery")
    view = office.gateway.show_message(office.messages()[0])[0]
    assert view.status == "pending"
    assert abs(view.send_at - view.created_at - 600_000) < 1000


async def test_it_may_be_posted_as_a_form_or_with_kannels_headers(office, autojump_clock):
    form = {"to": "36123456", "text": "hello", **office.who}
    posted = await office.form(PATH, form)
    assert (posted.status_code, await posted.get_data()) == (202, b"0: Accepted for delivery")
    told = await office.client.post(
        PATH,
        headers={
            "content-type": "text/plain; charset=ISO-8859-1",
            "x-kannel-username": "shop",
            "x-kannel-password": office.password,
            "x-kannel-to": "36123456",
        },
        data="é".encode("latin-1"),
    )
    assert told.status_code == 202
    assert office.gateway.show_message(office.messages()[1])[0].body == "é"
    other = await office.client.post(PATH, headers={"content-type": "text/xml"}, data="<message/>")
    assert (other.status_code, await other.get_data()) == (
        400,
        b"Unsupported content-type, rejected",
    )
    deleted = await office.client.delete(PATH)
    assert deleted.status_code == 405


async def test_no_money_limits_and_suspension_have_kannels_words(office, autojump_clock):
    mine = {"organization_id": office.organization_id}
    await office.perform("org.set", **mine, sms_per_s=1)
    assert (await ask(office))[0] == 202
    assert await ask(office) == (503, "Temporal failure, try again later.")
    await office.perform("org.set", **mine, sms_per_s=None)
    await office.perform("adjust", **mine, amount="-99", reason="a test")
    assert (await ask(office))[0] == 202
    assert (await ask(office))[0] == 402
    await office.perform("org.suspend", **mine)
    assert await ask(office) == (403, "Authorization failed for sendsms")
    await office.perform("org.resume", **mine)
    await office.perform("credential.revoke", credential_id=office.credentials["id"])
    assert await ask(office) == (403, "Authorization failed for sendsms")


async def test_a_credential_of_tests_reaches_no_carrier(office, autojump_clock):
    made, password = await office.credential("kannel", mode="test", **{"from": "RISALA"})
    assert (await ask(office, **{"user": made["username"], "pass": password}))[0] == 202
    await office.wait_status(office.messages()[0], "delivered")
    assert office.driver.submitted == []


# -- dlr-url ---------------------------------------------------------------------------------------


async def test_who_asked_is_called_as_the_message_goes_on(office, autojump_clock):
    made, password = await office.credential("kannel", mode="test")
    url = CALLED + "?id=7%2B&type=%d&to=%p&from=%P&at=%T&when=%t&smsc=%i&reply=%A&user=%n&x=%20%z"
    given = {"user": made["username"], "pass": password, "dlr-url": url}
    assert (await ask(office, **given, **{"dlr-mask": "31"}))[0] == 202
    calls = await office.outbound.wait(2)
    seen = [parse_qs(urlsplit(call.url).query) for call in calls]
    assert [each["type"] for each in seen] == [["8"], ["1"]]
    assert {call.method for call in calls} == {"GET"}
    last = seen[-1]
    assert (last["to"], last["from"], last["id"], last["smsc"]) == (
        [TO],
        ["RISALA"],
        ["7+"],
        ["risala"],
    )
    assert (last["reply"], last["user"], last["x"]) == (
        ["stat:DELIVRD err:000"],
        [made["username"]],
        [" %z"],
    )
    assert "&x=%20%z" in calls[0].url


async def test_only_what_the_mask_asks_for_is_called(office, autojump_clock):
    made, password = await office.credential("kannel", mode="test")
    given = {"user": made["username"], "pass": password, "dlr-url": f"{CALLED}?%d"}
    for mask, to, kinds in (
        ("1", "36123400", ["1"]),
        ("2", "36123402", ["2"]),
        ("19", "36123401", ["16"]),
        ("3", "36123401", ["2"]),
        ("8", "36123403", ["8"]),
        ("1", "36123402", []),
    ):
        before = len(office.outbound.calls)
        assert (await ask(office, **given, to=to, **{"dlr-mask": mask}))[0] == 202
        await trio.sleep(30)
        new = [urlsplit(call.url).query for call in office.outbound.calls[before:]]
        assert new == kinds, mask


async def test_a_canceled_message_and_one_whose_validity_ended_are_told(office, autojump_clock):
    office.driver.answers = [Unsent("LINK_DOWN")] * 1000
    asked = {"dlr-url": f"{CALLED}?%d-%A", "validity": "5"}
    for mask, ends in (
        ("31", ["2-stat%3ADELETED%20err%3ACANCELED", "2-stat%3AEXPIRED%20err%3AVALIDITY_OVER"]),
        ("16", ["16-NACK%2FCANCELED", "16-NACK%2FVALIDITY_OVER"]),
        ("9", []),
    ):
        before, told = len(office.outbound.calls), {**asked, "dlr-mask": mask}
        known = set(office.messages())
        assert (await ask(office, **told, deferred="60"))[0] == 202
        (waits,) = set(office.messages()) - known
        assert (await ask(office, **told))[0] == 202
        await office.perform("message.cancel", message_id=waits)
        await trio.sleep(400)
        calls = office.outbound.calls[before:]
        assert [urlsplit(call.url).query for call in calls] == ends, mask


async def test_a_call_that_fails_is_made_again_until_its_credential_ends(office, autojump_clock):
    down = ReceiverFault("NOT_CONNECTED", "The connection failed.")
    office.outbound.answers = [down, ReceiverAnswer(500, None, "no")]
    assert (await ask(office, **{"dlr-mask": "8", "dlr-url": CALLED}))[0] == 202
    await trio.sleep(400)  # the second wait of the schedule is five minutes
    await office.outbound.wait(3)
    reader = office.gateway.services.repositories._store.reader
    rows = "SELECT state, tries, status FROM face_call"
    await trio.sleep(1)
    assert reader.execute(rows).fetchall() == [("delivered", 3, 200)]
    office.outbound.answers = [down]
    assert (await ask(office, **{"dlr-mask": "8", "dlr-url": CALLED}))[0] == 202
    await office.outbound.wait(4)
    await office.perform("credential.revoke", credential_id=office.credentials["id"])
    await trio.sleep(60)
    assert len(office.outbound.calls) == 4
    assert ("dropped", 2, None) in reader.execute(rows).fetchall()


async def test_calls_that_were_owed_when_the_service_stopped_are_made_by_the_next(
    tmp_path, autojump_clock
):
    faces = {"kannel": KannelCompat(KannelSettings())}
    down = ReceiverFault("NOT_CONNECTED", "The connection failed.")
    dead = FakeOutbound(answers=[down] * 3)
    async with open_office(tmp_path, faces, dead) as office:
        password = (await office.credential("kannel", username="shop"))[1]
        office.who = {"user": "shop", "pass": password}
        await ask(office, **{"dlr-mask": "9", "dlr-url": f"{CALLED}?%d"})
        await dead.wait(1)
    async with open_office(tmp_path, faces) as office:
        (call, *_) = await office.outbound.wait(1)
        assert call.url == f"{CALLED}?8"


async def test_old_calls_and_callbacks_are_taken_out(office, autojump_clock):
    await ask(office, **{"dlr-mask": "8", "dlr-url": CALLED})
    await office.outbound.wait(1)
    await trio.sleep(1)
    services = office.gateway.services
    reader, now_ms = services.repositories._store.reader, services.recorder.clock.now_ms()
    assert await services.recorder.journal.commit(lambda conn: compat_calls.tidy(conn, 1)) == 0
    unit = partial(compat_calls.tidy, before_ms=now_ms + 1000)
    assert await services.recorder.journal.commit(unit) == 2
    for table in ("face_call", "face_callback"):
        assert reader.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


async def test_a_number_that_is_forgotten_is_called_about_no_more(office, autojump_clock):
    await ask(office, **{"dlr-mask": "8", "dlr-url": f"{CALLED}?to={TO}"})
    await office.outbound.wait(1)
    await office.perform("number.forget", organization_id=office.organization_id, number=TO)
    reader = office.gateway.services.repositories._store.reader
    for table in ("face_call", "face_callback"):
        for _ in range(100):
            if reader.execute(f"SELECT 1 FROM {table}").fetchone() is None:
                break
            await trio.sleep(60)
        assert reader.execute(f"SELECT 1 FROM {table}").fetchone() is None


# -- secrets ---------------------------------------------------------------------------------------


async def test_a_query_with_a_password_is_in_no_log_file_event_or_row(
    tmp_path, autojump_clock, capsys, caplog
):
    structlog.reset_defaults()
    caplog.set_level(logging.DEBUG)

    class Broken(KannelCompat):
        async def answer(self, request, service):
            if b"break" in request.query.get("text", ()):
                raise RuntimeError(repr(dict(request.query)))
            return await super().answer(request, service)

    async with open_office(tmp_path, {"kannel": Broken(KannelSettings())}) as office:
        password = (await office.credential("kannel", username="shop"))[1]
        office.who = {"user": "shop", "pass": password}
        for fields in ({}, {"text": "break"}, {"to": "1"}, {"udh": "00"}, {"user": "other"}):
            status, body = await ask(office, **fields)
            assert password not in body
            assert status != 500 or fields == {"text": "break"}
        events = [
            json.dumps(dict(zip(range(20), row, strict=False)), default=str)
            for table in ("events", "audit_log", "face_callback", "message", "line")
            for row in office.gateway.services.repositories._store.reader.execute(
                f"SELECT * FROM {table}"
            )
        ]
        await office.gateway.services.part(request_log).flush()
    told = capsys.readouterr()
    files = [each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()]
    assert not any(password in text for text in (told.out, told.err, caplog.text, *events))
    assert not any(password.encode() in text for text in files)
    assert "RuntimeError" in told.out + told.err + caplog.text


async def test_wrong_passwords_are_counted_as_wrong_keys_are(office, autojump_clock):
    began = trio.current_time()
    for _ in range(30):
        assert (await ask(office, **{"pass": "wrong"}))[0] == 403
    assert trio.current_time() == began
    assert (await ask(office, **{"pass": "wrong"}))[0] == 403
    assert trio.current_time() > began
    at = trio.current_time()
    assert (await ask(office))[0] == 202
    assert trio.current_time() == at
    assert office.app.tally.failed_keys == 31


async def test_a_message_that_the_carrier_refuses_is_told_with_its_code(office, autojump_clock):
    office.driver.answers = [Refused(Scope.FINAL, "ESME_RINVDSTADR", cause=Cause.UNKNOWN_NUMBER)]
    assert (await ask(office, **{"dlr-mask": "31", "dlr-url": f"{CALLED}?%d-%A"}))[0] == 202
    (call,) = await office.outbound.wait(1)
    assert urlsplit(call.url).query == "16-NACK%2FESME_RINVDSTADR"


async def test_a_country_that_is_not_open_is_refused_with_403(tmp_path):
    served = {
        "numbers": NumbersSection(countries=("MR", "SN")),
        "prices": (PriceSection(prefix="+221", price="12.00"),),
    }
    async with open_office(
        tmp_path, {"kannel": KannelCompat(KannelSettings())}, **served
    ) as office:
        _, word = await office.credential("kannel", username="shop")
        office.who = {"user": "shop", "pass": word}
        assert (await ask(office, to="+221771234567"))[0] == 403
