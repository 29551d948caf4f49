"""What carriers answer, and what they bring by themselves: each a row, with what becomes of it."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
import trio
import trio.testing
from tests.drivers.http.aggregator_line import (
    SECRET,
    CalledListener,
    aggregator_and_driver,
    running,
)

from patience import HANG_S, until_true
from risala.drivers.http.driver import HttpDriver
from risala.drivers.http.requests import own_id
from risala.drivers.http.settings import HttpSettings
from risala.drivers.smpp.server_tls import server_context
from risala.lab.aggregators.row import PASSWORD, USER
from risala.lab.aggregators.stand_in import PlannedAnswer
from risala.plugins.contract import (
    Accepted,
    Alphabet,
    Cause,
    HealthState,
    Outcome,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext

TLS = Path(__file__).parents[1] / "smpp/tls"
HTML = b"<html><body>Sign in</body></html>"


def africas(code: int, message_id: str = "ATXid_1", **more: object) -> bytes:
    recipient = {"statusCode": code, "messageId": message_id, **more}
    return json.dumps({"SMSMessageData": {"Message": "Sent", "Recipients": [recipient]}}).encode()


def infobip(group: str, name: str) -> bytes:
    message = {"messageId": "m-1", "status": {"groupName": group, "name": name}}
    return json.dumps({"messages": [message]}).encode()


@dataclass(frozen=True)
class Row:
    name: str
    status: int
    body: bytes
    outcome: Outcome
    preset: str = "africastalking"
    headers: tuple[tuple[str, str], ...] = ()


REDIRECT = "The carrier answered with a redirect, which is not followed: check `url`."
NOT_JSON = "The carrier's answer is not JSON: another program, such as a proxy, may have given it."
NOWHERE = "The carrier has nothing at this address: check `url` and `send.path`."
ANSWERS = [
    Row(
        "a yes with its parts and price",
        201,
        africas(101, messageParts=2, cost="MRU 2.4000"),
        Accepted("ATXid_1", "201 101 parts=2 cost=MRU 2.4000"),
    ),
    Row("HTML of a proxy", 200, HTML, Uncertain("200 HTML", NOT_JSON)),
    Row("no body at all", 200, b"", Uncertain("200", NOT_JSON)),
    Row("HTML with a refusal", 403, HTML, Refused(Scope.CARRIER, "403", cause=Cause.NOT_ALLOWED)),
    Row(
        "a yes with an error inside",
        201,
        africas(403, "None"),
        Refused(Scope.FINAL, "201 403", cause=Cause.RECIPIENT_REFUSED),
    ),
    Row(
        "a yes with an error inside, and no recipient",
        201,
        b'{"SMSMessageData": {"Message": "InvalidSenderId", "Recipients": []}}',
        Refused(Scope.CARRIER, "201 InvalidSenderId", cause=Cause.SENDER_REFUSED),
    ),
    Row(
        "a yes with an error inside that the preset does not name",
        200,
        b'{"SMSMessageData": {"Message": "QuotaOfTheMoon", "Recipients": []}}',
        Refused(Scope.CARRIER, "200 QuotaOfTheMoon"),
    ),
    Row(
        "an id with a word that nobody knows",
        201,
        africas(199),
        Uncertain(
            "201 199",
            "The carrier gave an id with a word that says neither yes nor no.",
            "ATXid_1",
        ),
    ),
    Row(
        "a yes without an id", 201, b"{}", Uncertain("201", "The carrier said yes, and gave no id.")
    ),
    Row(
        "an id that is a text",
        201,
        africas(101, "line\nline"),
        Uncertain("201 101", "The carrier's id has a form that no receipt could repeat."),
    ),
    Row(
        "slow down, with a wait",
        429,
        b"{}",
        Throttled("429", retry_after_s=7.0),
        headers=(("retry-after", "7"),),
    ),
    Row(
        "slow down, with nonsense", 429, HTML, Throttled("429"), headers=(("retry-after", "soon"),)
    ),
    Row(
        "slow down, with a wait of years",
        429,
        b"",
        Throttled("429", retry_after_s=3600.0),
        headers=(("retry-after", "999999999999"),),
    ),
    Row(
        "slow down until a moment that is over",
        429,
        b"",
        Throttled("429", retry_after_s=0.0),
        headers=(("retry-after", "Mon, 01 Jan 2024 00:00:00 GMT"),),
    ),
    Row(
        "slow down, by its word",
        400,
        b'{"code": 20429, "status": 400}',
        Throttled("400 20429"),
        preset="twilio",
    ),
    Row(
        "no credit",
        201,
        africas(405, "None"),
        Refused(Scope.CARRIER, "201 405", cause=Cause.NO_CREDIT),
    ),
    Row("no credit, by its status", 402, b"", Refused(Scope.CARRIER, "402", cause=Cause.NO_CREDIT)),
    Row("a wrong key", 401, b"no", Refused(Scope.CARRIER, "401", cause=Cause.NOT_ALLOWED)),
    Row(
        "the recipient wrote STOP",
        400,
        b'{"code": 21610, "status": 400}',
        Refused(Scope.FINAL, "400 21610", cause=Cause.BARRED),
        preset="twilio",
    ),
    Row("a wrong path", 404, HTML, Refused(Scope.CARRIER, "404", NOWHERE, cause=Cause.UNSUPPORTED)),
    Row(
        "moved for good",
        308,
        b"",
        Refused(Scope.CARRIER, "308", REDIRECT, cause=Cause.UNSUPPORTED),
        headers=(("location", "https://elsewhere.example/"),),
    ),
    Row(
        "a redirect after a message",
        302,
        b"",
        Uncertain("302", REDIRECT),
        headers=(("location", "https://elsewhere.example/"),),
    ),
    Row("out of order", 503, HTML, Refused(Scope.NOW, "503", cause=Cause.CARRIER_FAULT)),
    Row("failed inside", 500, b"", Uncertain("500")),
    Row("a gateway that waited", 504, HTML, Uncertain("504")),
    Row(
        "an answer without an end",
        201,
        b" " * 70_000,
        Uncertain("TOO_LONG", "The carrier's answer is too long.", cause=Cause.LINK_LOST),
    ),
    Row(
        "a word that repeats our key",
        400,
        b'{"code": "%b"}' % PASSWORD.encode(),
        Refused(Scope.CARRIER, "400 ***"),
        preset="twilio",
    ),
    Row(
        "a word that is a text",
        400,
        '{"code": "نص الرسالة"}'.encode(),
        Refused(Scope.CARRIER, "400"),
        preset="twilio",
    ),
    Row(
        "Infobip: refused in a yes, by a name that the preset knows",
        200,
        infobip("REJECTED", "REJECTED_NOT_ENOUGH_CREDITS"),
        Refused(Scope.CARRIER, "200 REJECTED_NOT_ENOUGH_CREDITS", cause=Cause.NO_CREDIT),
        preset="infobip",
    ),
    Row(
        "Infobip: refused in a yes, by its group alone",
        200,
        infobip("REJECTED", "REJECTED_OF_TOMORROW"),
        Refused(Scope.CARRIER, "200 REJECTED"),
        preset="infobip",
    ),
    Row(
        "Infobip: a name of tomorrow in a group that is a yes",
        200,
        infobip("PENDING", "PENDING_OF_TOMORROW"),
        Accepted("m-1", "200 PENDING"),
        preset="infobip",
    ),
    Row(
        "Orange: no such number",
        400,
        b'{"requestError": {"serviceException": {"messageId": "SVC0004", "text": "x"}}}',
        Refused(Scope.FINAL, "400 SVC0004", cause=Cause.RECIPIENT_REFUSED),
        preset="orange",
    ),
    Row(
        "Kannel: queued",
        202,
        b"3: Queued for later delivery",
        Accepted("OWN", "202 3"),
        preset="kannel",
    ),
    Row("Kannel: as before 1.4", 202, b"Sent.", Accepted("OWN", "202"), preset="kannel"),
    Row(
        "Kannel: a wrong password",
        403,
        b"Authorization failed for sendsms",
        Refused(Scope.CARRIER, "403", cause=Cause.NOT_ALLOWED),
        preset="kannel",
    ),
    Row(
        "Kannel: stopping",
        503,
        b"Temporal failure, try again later.",
        Refused(Scope.NOW, "503", cause=Cause.CARRIER_FAULT),
        preset="kannel",
    ),
    Row(
        "Risala: nobody knows",
        503,
        b'{"code": "SERVICE_UNAVAILABLE", "status": 503, "data": {"code": "OUTCOME_UNKNOWN"}}',
        Uncertain("503 OUTCOME_UNKNOWN"),
        preset="risala",
    ),
    Row(
        "Risala: a sender that is not approved",
        400,
        b'{"code": "BAD_REQUEST", "status": 400, "data": {"code": "SENDER_NOT_APPROVED"}}',
        Refused(Scope.CARRIER, "400 SENDER_NOT_APPROVED", cause=Cause.SENDER_REFUSED),
        preset="risala",
    ),
    Row(
        "Risala: a number that is none",
        400,
        b'{"code": "BAD_REQUEST", "data": {"issues": [{"code": "invalid_phone_number"}]}}',
        Refused(Scope.CARRIER, "400 invalid_phone_number", cause=Cause.RECIPIENT_REFUSED),
        preset="risala",
    ),
    Row(
        "Risala: a message that would return",
        400,
        b'{"code": "BAD_REQUEST", "status": 400, "data": {"code": "LOOP"}}',
        Refused(Scope.CARRIER, "400 LOOP", cause=Cause.REJECTED),
        preset="risala",
    ),
    Row(
        "Risala: a fault that the preset does not name, in a code that it does",
        402,
        b'{"code": "PAYMENT_REQUIRED", "status": 402, "data": {"code": "SPEND_CAP"}}',
        Refused(Scope.CARRIER, "402 PAYMENT_REQUIRED", cause=Cause.NO_CREDIT),
        preset="risala",
    ),
    Row(
        "Vonage: faster than the account may",
        200,
        b'{"message-count": "1", "messages": [{"status": "1", "error-text": "Throughput"}]}',
        Throttled("200 1"),
        preset="vonage",
    ),
    Row(
        "Vonage: a status of tomorrow in a yes",
        200,
        b'{"message-count": "1", "messages": [{"status": "77", "error-text": "Tomorrow"}]}',
        Uncertain(
            "200 77",
            "The carrier gave an id with a word that says neither yes nor no.",
            "OWN",
        ),
        preset="vonage",
    ),
    Row(
        "Plivo: a parameter that it does not take",
        400,
        b'{"api_id": "1", "error": "src parameter is invalid"}',
        Refused(Scope.CARRIER, "400"),
        preset="plivo",
    ),
    Row(
        "Telnyx: the recipient wrote STOP",
        400,
        b'{"errors": [{"code": "40300", "title": "Blocked due to STOP message"}]}',
        Refused(Scope.CARRIER, "400 40300", cause=Cause.BARRED),
        preset="telnyx",
    ),
    Row(
        "Bird: a code that the preset does not name",
        422,
        b'{"errors": [{"code": 10, "description": "no (correct) recipients found"}]}',
        Refused(Scope.CARRIER, "422 10"),
        preset="messagebird",
    ),
    Row(
        "Sinch: a word of a refusal",
        400,
        b'{"code": "syntax_invalid_parameter_format", "text": "x"}',
        Refused(Scope.CARRIER, "400 syntax_invalid_parameter_format"),
        preset="sinch",
    ),
    Row(
        "Clickatell: refused in a yes",
        207,
        b'{"messages": [{"apiMessageId": null, "accepted": false, "to": "1", "error": {}}]}',
        Refused(Scope.CARRIER, "207 false"),
        preset="clickatell",
    ),
    Row(
        "textbee: a phone that is not enabled",
        400,
        b'{"success": false, "error": "Device does not exist or is not enabled"}',
        Refused(Scope.CARRIER, "400"),
        preset="textbee",
    ),
    Row(
        "httpSMS: no credit",
        402,
        b'{"status": "error", "message": "You have exceeded your limit"}',
        Refused(Scope.CARRIER, "402", cause=Cause.NO_CREDIT),
        preset="httpsms",
    ),
    Row("JSON that is too deep", 200, b"[" * 60_000, Uncertain("200", NOT_JSON)),
]


@pytest.mark.parametrize("row", ANSWERS, ids=lambda row: row.name)
async def test_each_answer_has_its_outcome(row: Row) -> None:
    with trio.fail_after(HANG_S):
        async with running(row.preset) as (carrier, driver, _):
            carrier.planned.append(PlannedAnswer(row.status, row.body, row.headers))
            sent, outcome = segment(), row.outcome
            if isinstance(outcome, Accepted | Uncertain) and outcome.carrier_id == "OWN":
                outcome = replace(outcome, carrier_id=own_id(sent))
            assert await driver.submit(sent) == outcome
            assert not carrier.taken


async def test_a_carrier_that_is_not_there_got_nothing() -> None:
    async with running() as (carrier, driver, context):
        carrier.close()
        await trio.testing.wait_all_tasks_blocked()
        outcome = await driver.submit(segment())
        assert isinstance(outcome, Unsent)
        assert outcome.text == "The carrier refuses connections."
        with trio.fail_after(HANG_S):
            health = await context.wait_health(HealthState.DOWN)
        assert health.text == "The carrier refuses connections."


async def test_a_request_that_left_is_uncertain_and_is_not_sent_again() -> None:
    async with running(answer_s=0.5) as (carrier, driver, _):
        carrier.mute = True
        with trio.fail_after(HANG_S):
            outcome = await driver.submit(segment())
        assert outcome == Uncertain("ReadTimeout", cause=Cause.NO_ANSWER)
        assert len(carrier.requests_for_messages) == 1


@pytest.mark.parametrize("hops", [(), ("0" * 16,), ("0" * 16, "1" * 16)])
async def test_another_risala_is_told_where_a_message_came_through(hops: tuple[str, ...]) -> None:
    async with running("risala") as (carrier, driver, context):
        context.came_through = hops
        assert isinstance(await driver.submit(segment()), Accepted)
        (taken,) = carrier.taken
        assert taken.headers.get("risala-hops") == (", ".join(hops) or None)


async def test_no_other_aggregator_is_told_it() -> None:
    async with running("infobip") as (carrier, driver, context):
        context.came_through = ("0" * 16,)
        assert isinstance(await driver.submit(segment()), Accepted)
        (taken,) = carrier.taken
        assert "0" * 16 not in repr(taken.headers)


async def test_a_long_text_is_one_message() -> None:
    async with running() as (carrier, driver, context):
        text = "رسالة طويلة " * 20
        outcome = await driver.submit(segment(text, number=0, alphabet=Alphabet.UCS2))
        assert isinstance(outcome, Accepted)
        with trio.fail_after(HANG_S):
            await context.wait_receipts(1)
        assert [one.text for one in carrier.taken] == [text]


@dataclass(frozen=True)
class Arrival:
    """A receipt as a carrier brings it, and what is handed to the engine."""

    name: str
    fields: dict[str, str]
    receipt: Receipt | None
    status: int = 200


DELIVERED = {"id": "ATXid_1", "status": "Success", "phoneNumber": "+22236000001"}
TOLD = Receipt("ATXid_1", ReceiptState.DELIVERED, "Success", recipient="+22236000001")
ARRIVALS = [
    Arrival("delivered", DELIVERED, TOLD),
    Arrival(
        "of an id that nobody gave",
        {**DELIVERED, "id": "strange"},
        replace(TOLD, carrier_id="strange"),
    ),
    Arrival(
        "another form of the number",
        {**DELIVERED, "phoneNumber": "22236000001"},
        replace(TOLD, recipient="22236000001"),
    ),
    Arrival("a plus that was not escaped", {**DELIVERED, "phoneNumber": " 22236000001"}, TOLD),
    Arrival(
        "a reason",
        {**DELIVERED, "status": "Failed", "failureReason": "UserDoesNotExist"},
        Receipt(
            "ATXid_1",
            ReceiptState.UNDELIVERABLE,
            "Failed UserDoesNotExist",
            cause=Cause.UNKNOWN_NUMBER,
            recipient="+22236000001",
        ),
    ),
    Arrival(
        "a word that nobody knows",
        {**DELIVERED, "status": "Teleported"},
        Receipt(
            "ATXid_1",
            ReceiptState.ENROUTE,
            "Teleported",
            recipient="+22236000001",
            is_understood=False,
        ),
    ),
    Arrival("no word", {"id": "ATXid_1"}, None),
    Arrival("no id", {"status": "Success"}, None),
    Arrival("an id without an end", {**DELIVERED, "id": "x" * 5000}, None),
]


@pytest.mark.parametrize("row", ARRIVALS, ids=lambda row: row.name)
async def test_each_receipt_is_read(row: Arrival) -> None:
    async with running() as (_, driver, context):
        answer = await called(driver, "/receipt", urlencode(row.fields).encode())
        assert answer == row.status
        assert context.receipts == ([] if row.receipt is None else [row.receipt])
        told_nothing = "A call told nothing that we know." in context.traces
        assert told_nothing is (row.receipt is None)


async def called(driver: HttpDriver, path: str, body: bytes, **headers: str) -> int:
    """The status that a proved call is answered with."""
    listener = CalledListener(driver)
    kind = {"content-type": "application/x-www-form-urlencoded", **headers}
    answer = await listener.answered("POST", path, {}, kind, body, is_proved=True)
    return answer.status


@pytest.mark.parametrize(
    ("is_final", "state"), [(False, ReceiptState.ENROUTE), (True, ReceiptState.EXPIRED)]
)
async def test_an_attempt_of_httpsms_that_expires_may_not_be_the_last(
    is_final: bool, state: ReceiptState
) -> None:
    data = {"message_id": "m-1", "contact": "+22236000001", "is_final": is_final}
    event = {"specversion": "1.0", "type": "message.send.expired", "data": data}
    kind = {"content-type": "application/json"}
    async with running("httpsms") as (_, driver, context):
        assert await called(driver, "/event", json.dumps(event).encode(), **kind) == 200
        assert [(one.carrier_id, one.state) for one in context.receipts] == [("m-1", state)]


async def test_receipts_come_before_the_answer_twice_and_out_of_order() -> None:
    async with running() as (carrier, driver, context):
        carrier.receipts = False

        def before(message: object) -> None:
            carrier.send_receipt(message, status="Success")  # type: ignore[arg-type]
            carrier.send_receipt(message, status="Sent")  # type: ignore[arg-type]
            carrier.send_receipt(message, status="Success")  # type: ignore[arg-type]

        carrier.on_taken = before
        outcome = await driver.submit(segment())
        assert isinstance(outcome, Accepted)
        with trio.fail_after(HANG_S):
            await context.wait_receipts(3)
        seen = [one.state.value for one in context.receipts]
        assert sorted(seen) == ["DELIVERED", "DELIVERED", "ENROUTE"]
        assert {one.carrier_id for one in context.receipts} == {outcome.carrier_id}


@pytest.mark.parametrize(
    ("preset", "path", "status"),
    [
        ("africastalking", "/receipt", 401),
        ("africastalking", f"/{SECRET}/receipt", 401),
        ("twilio", "/receipt", 401),
    ],
)
async def test_who_is_not_proved_changes_nothing(preset: str, path: str, status: int) -> None:
    async with running(preset) as (_, driver, context):
        listener = CalledListener(driver)
        headers = {"content-type": "application/x-www-form-urlencoded"}
        body = b"MessageSid=SM1&MessageStatus=delivered&id=1&status=Success"
        for signature in ("", "bm8=", "\xff", "x" * 5000):
            headers["x-twilio-signature"] = signature
            answer = await listener.answered("POST", path, {}, headers, body)
            assert answer.status == status
        assert not context.receipts


async def test_a_path_that_nothing_reads_is_404() -> None:
    async with running() as (_, driver, _context):
        assert await called(driver, "/other", b"id=1") == 404


async def test_nothing_that_is_told_has_a_secret() -> None:
    async with running("twilio") as (_, driver, context):
        await driver.submit(segment())
        with trio.fail_after(HANG_S):
            await context.wait_receipts(1)
        told = repr(
            (context.receipts, context.traces, context.healths, context.wire, driver.capabilities)
        )
        assert PASSWORD not in told
        assert SECRET not in told


async def test_an_account_that_has_no_address_yet_says_so() -> None:
    context = RecordingContext("one")
    fields = {"receipts": "{callback}/receipt"}
    async with (
        aggregator_and_driver("africastalking", secret_address="", send={"fields": fields}) as (
            _,
            driver,
            _listener,
        ),
        trio.open_nursery() as nursery,
    ):
        await nursery.start(driver.run, context)
        with trio.fail_after(HANG_S):
            health = await context.wait_health(HealthState.UP)
        assert not health.receipts
        assert health.details["attention"] == (
            "Receipts do not come: set `secret_address` to what "
            "`risala carriers rotate one` prints."
        )
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("certificate", "sentence"),
    [
        ("expired.pem", "The carrier's certificate is not trusted: certificate has expired."),
        ("other.pem", "The carrier's certificate is not trusted: Hostname mismatch"),
        (None, "The carrier does not speak TLS at this address: check `url`."),
    ],
)
async def test_nothing_leaves_when_the_certificate_is_bad(
    certificate: str | None, sentence: str
) -> None:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port, served = listeners[0].socket.getsockname()[1], list[bytes]()

    async def serve(stream: trio.abc.Stream) -> None:
        if certificate is not None:
            context = server_context(TLS / certificate)
            stream = trio.SSLStream(stream, context, server_side=True)
        with suppress(trio.BrokenResourceError):
            if certificate is None:
                await stream.send_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            served.append(bytes(await stream.receive_some(1000)))
        await trio.aclose_forcefully(stream)

    context = RecordingContext("one")
    settings = HttpSettings.model_validate(
        {
            "preset": "africastalking",
            "user": USER,
            "password": PASSWORD,
            "url": f"https://localhost:{port}",
            "tls_ca_file": TLS / "ca.pem",
        }
    )
    driver = HttpDriver("one", settings)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, serve, listeners)
        with trio.fail_after(HANG_S):
            await nursery.start(driver.run, context)
            health = await context.wait_health(HealthState.DOWN)
            outcome = await driver.submit(segment())
        nursery.cancel_scope.cancel()
    assert health.text.startswith(sentence)
    assert isinstance(outcome, Unsent)
    assert outcome.text.startswith(sentence)
    assert not any(b"apiKey" in octets for octets in served)


async def test_a_token_that_is_no_longer_taken_is_replaced_once() -> None:
    async with running("orange") as (carrier, driver, _):
        assert carrier.tokens_given == 1
        carrier.planned.append(PlannedAnswer(401, b'{"code": 42, "message": "Expired"}'))
        assert isinstance(await driver.submit(segment()), Accepted)
        assert carrier.tokens_given == 2
        carrier.planned += [PlannedAnswer(401, b"{}")] * 2
        outcome = await driver.submit(segment())
        assert outcome == Refused(Scope.CARRIER, "401", cause=Cause.NOT_ALLOWED)
        assert len(carrier.taken) == 1


async def test_without_a_token_nothing_is_sent_and_the_operator_reads_why() -> None:
    context = RecordingContext("one")
    async with (
        aggregator_and_driver("orange", password="another") as (carrier, driver, _),
        trio.open_nursery() as nursery,
    ):
        with trio.fail_after(HANG_S):
            await nursery.start(driver.run, context)
            health = await context.wait_health(HealthState.SICK)
            outcome = await driver.submit(segment())
        assert health.text == "The carrier refuses our client id and secret."
        assert outcome == Unsent("TOKEN 401", "The carrier refuses our client id and secret.")
        assert not carrier.taken
        nursery.cancel_scope.cancel()


async def test_an_attempt_whose_answer_was_lost_is_the_same_when_it_comes_again() -> None:
    async with running("risala") as (carrier, driver, _):
        carrier.lose_answers, sent = 1, segment()
        assert isinstance(await driver.submit(sent), Uncertain)
        outcome = await driver.submit(sent)
        assert isinstance(outcome, Accepted)
        assert [one.id for one in carrier.taken] == [outcome.carrier_id]
        assert driver.capabilities.same_id_is_safe


async def test_a_request_that_may_be_taken_twice_is_not_made_again() -> None:
    async with running("twilio") as (carrier, driver, _):
        carrier.lose_answers = 1
        outcome = await driver.submit(segment())
        assert isinstance(outcome, Uncertain)
        assert len(carrier.taken) == 1
        assert not driver.capabilities.same_id_is_safe


@pytest.mark.parametrize(("every_s", "cursors"), [(1, ["", "m-7"]), (86_400, [""])])
async def test_receipts_are_asked_for_at_a_pace(every_s: int, cursors: list[str]) -> None:
    poll = {"path": "/reports?after={cursor}", "every_s": every_s, "cursor": "/messageId"}
    report = {"messageId": "m-7", "to": "22236000001", "status": {"groupName": "DELIVERED"}}
    async with running("infobip", receipt={"poll": poll}) as (carrier, _driver, context):
        carrier.pages["/reports"] = [{"results": [report]}, {"results": []}]
        await until_true(lambda: context.notes)

        def asked_after() -> list[str]:
            # The first question may have come before there was a list: then it is asked again.
            asked = [one.query["after"] for one in carrier.requests if one.path == "/reports"]
            return [*dict.fromkeys(asked)]

        await until_true(lambda: len(asked_after()) >= len(cursors))
        await trio.testing.wait_all_tasks_blocked()
        assert asked_after() == cursors
    assert [(one.carrier_id, one.recipient) for one in context.receipts] == [
        ("m-7", "+22236000001")
    ]
    assert context.notes == {"cursor /receipt": "m-7"}


@pytest.mark.parametrize(
    ("status", "state", "text"),
    [
        (200, HealthState.UP, "The carrier answers."),
        (429, HealthState.UP, "The carrier answers."),
        (401, HealthState.SICK, "The carrier refuses our credentials: check"),
        (403, HealthState.UP, "The carrier answers; it does not show the account (403)."),
        (302, HealthState.DOWN, "The carrier answers with a redirect, which is not followed"),
        (502, HealthState.DOWN, "The carrier answers 502."),
    ],
)
async def test_what_a_look_at_the_account_says(status: int, state: HealthState, text: str) -> None:
    context = RecordingContext("one")
    async with (
        aggregator_and_driver("infobip") as (carrier, driver, _),
        trio.open_nursery() as nursery,
    ):
        carrier.look_status = status
        with trio.fail_after(HANG_S):
            await nursery.start(driver.run, context)
            health = await context.wait_health(state)
        assert health.text.startswith(text)
        nursery.cancel_scope.cancel()


async def test_traffic_shows_what_was_asked_without_secrets_and_texts() -> None:
    async with running("kannel") as (_, driver, context):
        await driver.submit(segment("A text of the message"))
    assert context.wire == [(True, "GET /cgi-bin/sendsms …3456"), (False, "Accepted 202 0")]
