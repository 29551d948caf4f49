"""The Twilio-shaped face: asked by Twilio's own library over a socket, with the real engine."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import pytest
import trio
from tests.http.faces.face_office import TO, FaceOffice, open_office
from twilio.base.exceptions import TwilioRestException
from twilio.http.http_client import TwilioHttpClient
from twilio.request_validator import RequestValidator
from twilio.rest import Client

from risala.drivers.faces.twilio.compat import TwilioCompat, TwilioSettings, service_of
from risala.drivers.faces.twilio.wire import sid_of, start_of
from risala.engine.model.clock import SystemClock
from risala.engine.model.ids import IdSource, message_id
from risala.http.server.server import serve_app
from risala.http.server.sockets import base_url, listen_tcp
from risala.sms.cause import Cause
from risala.sms.outcome import Refused, Scope

CALLED = "https://customer.example/status?shop=7"
FACES = {"twilio": TwilioCompat(TwilioSettings())}


class Rewriting(TwilioHttpClient):
    """Asks our host in place of Twilio's."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base

    def request(self, method, url, *args, **more):
        path = url.split("twilio.com", 1)[1]
        return super().request(method, self._base + path, *args, **more)


@dataclass
class Shop:
    """A customer's program."""

    office: FaceOffice
    base: str
    account: str
    token: str

    def client(self, account: str | None = None, token: str | None = None) -> Client:
        given = (account or self.account, token or self.token)
        return Client(*given, http_client=Rewriting(self.base))

    async def do(self, call, *args, **more) -> Any:
        """A call of the library, which blocks."""
        return await trio.to_thread.run_sync(partial(call, *args, **more))

    async def send(self, **fields) -> Any:
        return await self.do(self.client().messages.create, **{"to": TO, "body": "hello", **fields})

    async def refused(self, call, *args, **more) -> tuple[int, int]:
        """The status and code by which a call is refused."""
        with pytest.raises(TwilioRestException) as refused:
            await self.do(call, *args, **more)
        return refused.value.status, refused.value.code

    @property
    def verify(self):
        return self.client().verify.v2.services(service_of(self.account))


@asynccontextmanager
async def open_shop(directory, mode="live", **more) -> AsyncIterator[Shop]:
    async with open_office(directory, FACES, **more) as office, trio.open_nursery() as nursery:
        sock = listen_tcp("127.0.0.1", 0)
        stop = trio.Event()
        serve = partial(serve_app, office.app, office.settings.http, sock=sock, shutdown=stop)
        await nursery.start(serve)
        made, token = await office.credential("twilio", mode=mode)
        yield Shop(office, base_url(sock), made["username"], token)
        stop.set()


@pytest.fixture
async def shop(tmp_path):
    async with open_shop(tmp_path) as opened:
        yield opened


@pytest.fixture
async def trial(tmp_path):
    """One whose messages reach no carrier."""
    async with open_shop(tmp_path, "test") as opened:
        yield opened


async def test_a_message_is_sent_shown_and_listed_by_their_library(shop):
    sent = await shop.send()
    assert (sent.to, sent.from_, sent.body) == (TO, "RISALA", "hello")
    assert (sent.status, sent.num_segments, sent.price_unit) == ("queued", "1", "MRU")
    assert (sent.account_sid, sent.error_code, sent.direction) == (
        shop.account,
        None,
        "outbound-api",
    )
    assert abs((sent.date_created - datetime.now(UTC)).days) < 400
    (message_id,) = shop.office.messages()
    await shop.office.wait_status(message_id, "sent")
    shown = await shop.do(shop.client().messages(sent.sid).fetch)
    assert (shown.sid, shown.status, shown.price) == (sent.sid, "sent", "-0.50")
    assert shown.date_sent is not None
    for _ in range(4):
        await shop.send()
    found = await shop.do(shop.client().messages.list, page_size=2)
    assert [each.sid for each in found][-1] == sent.sid
    assert len({each.sid for each in found}) == 5
    some = await shop.do(shop.client().messages.list, to="+22246000000")
    assert some == []
    assert await shop.office.is_clean()
    view = shop.office.gateway.show_message(message_id)[0]
    credentials = await shop.office.perform(
        "credential.list", organization_id=shop.office.organization_id
    )
    assert view.api_key == credentials["credentials"][0]["id"]


async def test_what_is_refused_has_twilios_numbers(shop):
    create = shop.client().messages.create
    mine = {"organization_id": shop.office.organization_id}
    for fields, expected in (
        ({"to": "12345"}, (400, 21211)),
        ({"to": "36123456"}, (400, 21211)),
        ({"body": ""}, (400, 21602)),
        ({"body": "x" * 1601}, (400, 21617)),
        ({"from_": "+22236000000"}, (400, 21212)),
        ({"from_": "Unknown"}, (400, 21606)),
        ({"media_url": ["https://example.com/a.png"]}, (400, 21620)),
        ({"status_callback": "http://169.254.169.254/"}, (400, 21609)),
        ({"validity_period": 999_999}, (400, 20422)),
    ):
        given = {"to": TO, "body": "hello", **fields}
        assert await shop.refused(create, **given) == expected, fields
    assert shop.office.messages() == []
    wrong = shop.client(token="0" * 72).messages.create
    assert await shop.refused(wrong, to=TO, body="hello") == (401, 20003)
    other = "AC" + "0" * 32
    assert await shop.refused(shop.client(other).messages.create, to=TO, body="x") == (401, 20003)
    another = Client(shop.account, shop.token, other, http_client=Rewriting(shop.base))
    assert await shop.refused(another.messages.create, to=TO, body="x") == (404, 20404)
    for sid in ("SM" + "0" * 32, "SM1", "MM" + "0" * 32):
        assert await shop.refused(shop.client().messages(sid).fetch) == (404, 20404)
    await shop.office.perform("org.set", **mine, sms_per_s=1)
    await shop.send()
    assert await shop.refused(create, to=TO, body="hello") == (429, 20429)
    await shop.office.perform("org.set", **mine, sms_per_s=None)
    await shop.office.perform("adjust", **mine, amount="-99.50", reason="a test")
    assert await shop.refused(create, to=TO, body="hello") == (402, 20005)
    await shop.office.perform("org.suspend", **mine)
    assert await shop.refused(create, to=TO, body="hello") == (403, 20005)


async def test_a_message_of_another_organization_is_not_there(shop):
    sent = await shop.send()
    other = await shop.office.gateway.perform("org.create", {"name": "Other"})
    made = await shop.office.perform(
        "credential.create", organization_id=other["id"], face="twilio"
    )
    theirs = shop.client(made["credential"]["username"], made["password"])
    assert await shop.refused(theirs.messages(sent.sid).fetch) == (404, 20404)
    assert await shop.do(theirs.messages.list) == []


async def test_the_same_token_is_the_same_message(shop):
    headers = {"i-twilio-idempotency-token": "order-4711"}
    path = f"/2010-04-01/Accounts/{shop.account}/Messages.json"
    who = (shop.account, shop.token)
    sids = set()
    for _ in range(3):
        answer = await shop.office.form(path, {"To": TO, "Body": "hello"}, who, **headers)
        assert answer.status_code == 201
        sids.add((await answer.get_json())["sid"])
    assert len(sids) == len(shop.office.messages()) == 1


async def test_a_status_callback_is_signed_as_their_library_checks(trial):
    sent = await trial.send(status_callback=CALLED)
    calls = await trial.office.outbound.wait(2)
    validator = RequestValidator(trial.token)
    seen = []
    for call in calls:
        fields = dict(parse_qsl(call.body.decode()))
        assert (call.url, call.method) == (CALLED, "POST")
        assert validator.validate(CALLED, fields, call.headers["x-twilio-signature"])
        assert not validator.validate(
            CALLED, {**fields, "To": "+1"}, call.headers["x-twilio-signature"]
        )
        assert (fields["MessageSid"], fields["AccountSid"]) == (sent.sid, trial.account)
        seen.append(fields["MessageStatus"])
    assert sorted(seen) == ["delivered", "sent"]


async def test_a_message_that_fails_says_why(shop):
    shop.office.driver.answers = [Refused(Scope.FINAL, "no such", cause=Cause.UNKNOWN_NUMBER)]
    sent = await shop.send(status_callback=CALLED)
    (call,) = await shop.office.outbound.wait(1)
    fields = dict(parse_qsl(call.body.decode()))
    assert (fields["MessageStatus"], fields["ErrorCode"]) == ("failed", "30005")
    shown = await shop.do(shop.client().messages(sent.sid).fetch)
    assert (shown.status, shown.error_code, shown.price) == ("failed", 30005, None)
    assert await shop.office.is_clean()


async def test_a_number_is_verified_by_their_library(trial):
    begun = await trial.do(trial.verify.verifications.create, to=TO, channel="sms")
    assert (begun.status, begun.to, begun.channel, begun.valid) == ("pending", TO, "sms", False)
    shown = await trial.do(trial.verify.verifications(begun.sid).fetch)
    assert (shown.sid, shown.status) == (begun.sid, "pending")
    check = trial.verify.verification_checks.create
    wrong = await trial.do(check, to=TO, code="1")
    assert (wrong.status, wrong.valid, wrong.sid) == ("pending", False, begun.sid)
    right = await trial.do(check, verification_sid=begun.sid, code="000000")
    assert (right.status, right.valid) == ("approved", True)
    assert await trial.refused(check, to=TO, code="000000") == (404, 20404)
    shown = await trial.do(trial.verify.verifications(begun.sid).fetch)
    assert (shown.status, shown.valid) == ("approved", True)


async def test_whom_a_code_is_for_is_told_in_their_words(trial):
    create = trial.verify.verifications.create
    said = {"device_ip": "2001:db8::7%eth0", "tags": '{"order": "7", "from": "app"}'}
    begun = await trial.do(create, to=TO, channel="sms", locale="fr-CA", **said)
    start = start_of("VE", "ver", begun.sid)
    stored = trial.office.gateway.services.repositories._store.reader
    found = stored.execute(
        "SELECT tags, client IS NULL FROM session_details WHERE verification_id LIKE ?",
        (f"{start}%",),
    ).fetchall()
    assert found == [('["order=7", "from=app"]', 0)]
    plain = await trial.do(create, to=TO, channel="sms")
    assert plain.status == "pending"
    for wrong in (
        {"device_ip": "localhost"},
        {"tags": "order"},
        {"tags": '["order"]'},
        {"tags": '{"order": 7}'},
        {"tags": "[" * 10_000},
        {"tags": '{"order": "' + "7" * 59 + '"}'},
        {"tags": "{" + ", ".join(f'"{each}": ""' for each in range(11)) + "}"},
    ):
        assert await trial.refused(create, to=TO, channel="sms", **wrong) == (400, 60200), wrong


async def allow_own_codes(shop):
    gateway = shop.office.gateway
    (whose,) = (await gateway.perform("org.list", {}))["organizations"]
    await gateway.perform("verify.config", {"organization_id": whose["id"], "own_codes": True})


async def test_a_text_is_named_and_its_variables_written(shop):
    gateway = shop.office.gateway
    (whose,) = (await gateway.perform("org.list", {}))["organizations"]
    text = {"name": "order", "text": "{{code}} for order {{order}}"}
    await gateway.perform("verify.templates", {"organization_id": whose["id"], **text})
    create = partial(shop.verify.verifications.create, to=TO, channel="sms")
    named = partial(create, template_sid="order", template_custom_substitutions='{"order": "A7"}')
    assert (await shop.do(named)).status == "pending"
    await shop.office.driver.wait_submitted(1)
    assert shop.office.driver.submitted[0].text.endswith(" for order A7")
    for wrong in (
        {"template_sid": "order"},
        {"template_sid": "other", "template_custom_substitutions": '{"order": "A7"}'},
        {"template_custom_substitutions": '{"order": "A7"}'},
        {"template_sid": "order", "template_custom_substitutions": '{"order": "evil.example"}'},
        {"template_sid": "order", "template_custom_substitutions": '{"order": "' + "7" * 61 + '"}'},
        {"template_sid": "x" * 41},
    ):
        assert await shop.refused(create, **wrong) == (400, 60200), wrong


@pytest.mark.parametrize(
    ("locale", "begins"),
    [
        ("pt-BR", "O seu código"),
        ("SW", "Msimbo wako"),
        ("zh-HK", "Your verification"),  # as their documents say: none is refused
        ("tlh", "Your verification"),
    ],
)
async def test_a_locale_without_texts_falls_back(shop, locale, begins):
    create = shop.verify.verifications.create
    assert (await shop.do(create, to=TO, channel="sms", locale=locale)).status == "pending"
    await shop.office.driver.wait_submitted(1)
    assert begins in shop.office.driver.submitted[0].text


async def test_a_code_of_the_program_s_own_is_reported_by_their_library(trial):
    await allow_own_codes(trial)
    create, check = trial.verify.verifications.create, trial.verify.verification_checks.create
    begun = await trial.do(create, to=TO, channel="sms", custom_code="80416")
    done = await trial.do(trial.verify.verifications(begun.sid).update, status="approved")
    assert (done.sid, done.status, done.valid) == (begun.sid, "approved", True)
    again = trial.verify.verifications(begun.sid).update
    assert await trial.refused(again, status="approved") == (404, 20404)
    assert await trial.refused(again, status="pending") == (400, 60200)
    other = await trial.do(create, to=TO, channel="sms", custom_code="80416")
    assert (await trial.do(check, verification_sid=other.sid, code="80416")).status == "approved"


@pytest.mark.parametrize(
    ("amount", "same", "another"),
    [("€39.99", "39.99 EUR", "39.99"), ("1500", "1500.00", "€1500"), ("MRU 5", "5 MRU", "5.01")],
)
async def test_a_code_for_a_payment_is_checked_with_it(trial, amount, same, another):
    create, check = trial.verify.verifications.create, trial.verify.verification_checks.create
    begun = await trial.do(create, to=TO, channel="sms", amount=amount, payee="Nour")
    check = partial(check, verification_sid=begun.sid, code="000000")
    assert await trial.refused(check) == (400, 60200)
    wrong = await trial.do(check, amount=another, payee="Nour")
    assert (wrong.status, wrong.valid) == ("pending", False)
    right = await trial.do(check, amount=same, payee="Nour")
    assert (right.status, right.valid) == ("approved", True)


@pytest.mark.parametrize(
    "payment",
    [
        {"amount": "5"},
        {"payee": "Nour"},
        {"amount": "much", "payee": "Nour"},
        {"amount": "€5 EUR", "payee": "Nour"},
        {"amount": "5.5.5", "payee": "Nour"},
        {"amount": "5", "payee": "https://evil.example"},
        {"amount": "5", "payee": "x" * 61},
    ],
)
async def test_a_payment_that_cannot_be_named_is_refused(trial, payment):
    create = trial.verify.verifications.create
    assert await trial.refused(create, to=TO, channel="sms", **payment) == (400, 60200)


async def test_a_message_is_withdrawn_by_their_library_until_it_leaves(shop):
    now_ms = shop.office.gateway.services.recorder.clock.now_ms()
    later = datetime.fromtimestamp(now_ms / 1000, UTC) + timedelta(hours=1)
    sent = await shop.send(send_at=later)
    message = shop.client().messages(sent.sid)
    assert await shop.refused(message.update, body="") == (409, 20009)
    assert await shop.refused(message.delete) == (409, 20009)
    for changes in ({"body": "other"}, {"body": "", "status": "canceled"}, {}):
        assert await shop.refused(message.update, **changes) == (400, 20422), changes
    ended = await shop.do(message.update, status="canceled")
    assert (ended.sid, ended.status, ended.price) == (sent.sid, "canceled", None)
    assert await shop.refused(message.update, status="canceled") == (409, 30409)
    unknown = shop.client().messages("SM" + "0" * 32)
    assert await shop.refused(unknown.update, status="canceled") == (404, 20404)
    other = await shop.office.gateway.perform("org.create", {"name": "Other"})
    theirs = await shop.office.perform(
        "credential.create", organization_id=other["id"], face="twilio"
    )
    client = shop.client(theirs["credential"]["username"], theirs["password"])
    another = await shop.send(send_at=later)
    assert await shop.refused(client.messages(another.sid).update, status="canceled") == (
        404,
        20404,
    )
    assert (await shop.do(shop.client().messages(another.sid).fetch)).status == "queued"
    assert await shop.office.is_clean()


async def test_a_message_is_redacted_and_deleted_by_their_library(shop):
    sent = await shop.send(body="secret words")
    kept = await shop.send(body="other words")
    for each in shop.office.messages():
        await shop.office.wait_status(each, "sent")
    message = shop.client().messages(sent.sid)
    assert (await shop.do(message.update, body="")).body == ""
    shown = await shop.do(message.fetch)
    assert (shown.body, shown.to, shown.status, shown.price) == ("", TO, "sent", "-0.50")
    assert await shop.do(message.delete) is True
    for gone in (message.fetch, message.delete, partial(message.update, body="")):
        assert await shop.refused(gone) == (404, 20404)
    assert [each.sid for each in await shop.do(shop.client().messages.list)] == [kept.sid]
    held = "SELECT count(*) FROM message WHERE body = 'secret words'"
    assert shop.office.gateway.services.repositories._store.reader.execute(held).fetchone() == (0,)
    (first, _) = shop.office.messages()
    view = shop.office.gateway.show_message(first)[0]
    assert (view.to, view.body, view.metadata) == ("forgotten", None, {})
    trail = shop.office.gateway.services.repositories._store.reader.execute(
        "SELECT count(*) FROM audit_log WHERE action = 'message.erase'"
    )
    assert trail.fetchone() == (2,)
    assert await shop.office.is_clean()


async def test_nobody_redacts_or_deletes_a_message_of_others(shop):
    sent = await shop.send()
    (message_id,) = shop.office.messages()
    await shop.office.wait_status(message_id, "sent")
    other = await shop.office.gateway.perform("org.create", {"name": "Other"})
    made = await shop.office.perform(
        "credential.create", organization_id=other["id"], face="twilio"
    )
    theirs = shop.client(made["credential"]["username"], made["password"]).messages(sent.sid)
    assert await shop.refused(theirs.delete) == (404, 20404)
    assert await shop.refused(theirs.update, body="") == (404, 20404)
    assert (await shop.do(shop.client().messages(sent.sid).fetch)).body == "hello"


async def test_a_messaging_service_stands_for_the_sender_of_who_names_none(tmp_path):
    service = "MG" + "0" * 32
    async with open_shop(tmp_path) as shop:
        sent = await shop.send(messaging_service_sid=service)
        assert (sent.from_, sent.messaging_service_sid) == ("RISALA", service)
        mine = {"organization_id": shop.office.organization_id}
        perform = shop.office.gateway.perform
        asked = await perform("sender.request", {**mine, "name": "SHOP", "description": "Orders"})
        for step in ("sender.clear", "sender.waive"):
            await perform(step, {"sender_id": asked["id"]})
        credential, token = await shop.office.credential("twilio", **{"from": "SHOP"})
        create = shop.client(credential["username"], token).messages.create
        given = {"to": TO, "body": "hello", "messaging_service_sid": service}
        assert (await shop.do(create, **given)).from_ == "SHOP"
        assert (await shop.do(create, **given, from_="RISALA")).from_ == "RISALA"


async def test_a_verification_is_found_and_ended_by_its_number(trial):
    first = await trial.do(trial.verify.verifications.create, to=TO, channel="sms")
    begun = await trial.do(trial.verify.verifications.create, to=TO, channel="sms")
    by_number = trial.verify.verifications(TO)
    assert first.sid != begun.sid
    assert (await trial.do(by_number.fetch)).sid == begun.sid
    path = f"/v2/Services/{service_of(trial.account)}/Verifications/"
    word = base64.b64encode(f"{trial.account}:{trial.token}".encode()).decode()
    for written in ("%2B22236123456", "%2b22236123456"):
        answer = await trial.office.client.get(
            path + written, headers={"authorization": f"Basic {word}"}
        )
        assert (await answer.get_json())["sid"] == begun.sid
    ended = await trial.do(by_number.update, status="canceled")
    assert (ended.sid, ended.status) == (begun.sid, "canceled")
    assert await trial.refused(by_number.update, status="canceled") == (404, 20404)
    unknown = trial.verify.verifications("+22246000000")
    assert await trial.refused(unknown.fetch) == (404, 20404)
    other = await trial.office.gateway.perform("org.create", {"name": "Other"})
    made = await trial.office.perform(
        "credential.create", organization_id=other["id"], face="twilio", mode="test"
    )
    account = made["credential"]["username"]
    theirs = trial.client(account, made["password"]).verify.v2.services(service_of(account))
    assert await trial.refused(theirs.verifications(TO).fetch) == (404, 20404)


async def test_every_error_has_twilios_number(trial):
    ask = trial.office.client.open
    for method, path, status, code in (
        ("GET", "/2010-04-01/Accounts.json", 404, 20404),
        ("GET", f"/2010-04-01/Accounts/{trial.account}/Calls.json", 404, 20404),
        ("GET", "/2010-04-01//Accounts", 404, 20404),
        ("POST", "/v2/Services/VA1/Entities", 404, 20404),
        ("PUT", f"/2010-04-01/Accounts/{trial.account}/Messages.json", 405, 20004),
        ("DELETE", f"/v2/Services/{service_of(trial.account)}/Verifications", 405, 20004),
        ("GET", f"/v2/Services/{service_of(trial.account)}/VerificationCheck", 405, 20004),
        ("GET", f"/2010-04-01/Accounts/{trial.account}/Messages.json", 401, 20003),
    ):
        answer = await ask(path, method=method)
        told = await answer.get_json()
        assert (answer.status_code, told["status"], told["code"]) == (status, status, code), path
        assert ("allow" in answer.headers) == (status == 405)
    theirs = await trial.office.client.get("/v2/other")
    assert (await theirs.get_json())["code"] == "NOT_FOUND"


async def test_a_verification_is_ended_by_their_library(trial):
    begun = await trial.do(trial.verify.verifications.create, to=TO, channel="sms")
    session = trial.verify.verifications(begun.sid)
    assert await trial.refused(session.update, status="approved") == (400, 60200)
    ended = await trial.do(session.update, status="canceled")
    assert (ended.sid, ended.status) == (begun.sid, "canceled")
    check = trial.verify.verification_checks.create
    assert await trial.refused(check, verification_sid=begun.sid, code="000000") == (404, 20404)
    assert await trial.refused(session.update, status="canceled") == (404, 20404)


async def test_too_many_wrong_codes_end_a_verification(trial):
    begun = await trial.do(trial.verify.verifications.create, to=TO, channel="sms", locale="ar")
    check = trial.verify.verification_checks.create
    statuses = [(await trial.do(check, to=TO, code="1")).status for _ in range(5)]
    assert statuses == ["pending"] * 4 + ["max_attempts_reached"]
    assert await trial.refused(check, verification_sid=begun.sid, code="1") == (404, 20404)


async def test_what_verify_refuses_has_its_numbers(trial):
    create = trial.verify.verifications.create
    for fields in (
        {"to": "1"},
        {"channel": "call"},
        {"custom_code": "123456"},  # the organization does not allow it
        {"custom_code": "123"},
    ):
        given = {"to": TO, "channel": "sms", **fields}
        assert await trial.refused(create, **given) == (400, 60200), fields
    check = trial.verify.verification_checks.create
    assert await trial.refused(check, to=TO, code="000000") == (404, 20404)
    assert await trial.refused(check, code="000000") == (400, 60200)
    other = trial.client().verify.v2.services("VA" + "0" * 32)
    assert await trial.refused(other.verifications.create, to=TO, channel="sms") == (404, 20404)


async def test_a_password_in_the_header_is_in_no_file_or_line(tmp_path, capsys):
    async with open_shop(tmp_path) as shop:
        await shop.send(status_callback=CALLED)
        await shop.refused(shop.client().messages("SM1").fetch)
        token = shop.token
    told = capsys.readouterr()
    assert token not in told.out + told.err
    assert not any(token.encode() in each.read_bytes() for each in tmp_path.rglob("*.*"))


def test_an_id_is_twilios_and_back():
    ids = [message_id(7 << 30 | n, n) for n in (0, 1, 2**96)]
    ids.append(IdSource(SystemClock()).new("sms"))
    for each in ids:
        sid = sid_of("SM", each)
        assert (len(sid), sid[:2]) == (34, "SM")
        assert each.startswith(start_of("SM", "sms", sid))
    for wrong in ("", "SM", "SM" + "g" * 32, "VE" + "0" * 32, "SM" + "0" * 33, "SM" + "A" * 32):
        assert start_of("SM", "sms", wrong) is None


async def test_times_of_a_list_are_read(shop):
    await shop.send()
    client = shop.client()
    assert len(await shop.do(client.messages.list, date_sent_after=datetime(2020, 1, 1))) == 1
    assert await shop.do(client.messages.list, date_sent_before=datetime(2020, 1, 1)) == []
