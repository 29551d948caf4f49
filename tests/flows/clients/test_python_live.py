"""Every method of the Python client, asked of a real service."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from patience import HANG_S, until
from risala.client import (
    AsyncRisala,
    BadRequestError,
    KeyForbiddenError,
    MessageEvent,
    NotCancelableError,
    PaymentRequiredError,
    Risala,
    SenderNotApprovedError,
    SignatureError,
    TooManyRequestsError,
    TrialEvent,
    UnauthorizedError,
    UnknownIdError,
    Webhook,
)

pytestmark = pytest.mark.slow

TO = "+22236123456"
LATER = timedelta(days=1)


@pytest.fixture(scope="module")
def service(shared_premises):
    simulator = shared_premises.simulator("--receipt-delay-s", "0.05")
    return shared_premises.running(simulator, "[webhooks]\nallow_insecure = true\n")


@pytest.fixture
def account(service):
    return service.organization()


@pytest.fixture
def risala(service, account) -> Iterator[Risala]:
    with Risala(service.url, account.secret_key) as client:
        yield client


def test_a_message_from_the_send_to_the_phone(service, account, risala):
    sent = risala.send_message(TO, "Salam", metadata={"order": "77"})
    assert (sent.organization_id, sent.sender) == (account.organization_id, "RISALA")
    service.wait_status(account, sent.message_id, "delivered")
    message = risala.get_message(sent.message_id)
    assert (message.id, message.body, message.metadata) == (
        sent.message_id,
        "Salam",
        {"order": "77"},
    )
    assert (message.price, message.segments, message.is_final) == (Decimal("0.50"), 1, True)
    assert message.delivered_at is not None
    assert message.created_at <= message.delivered_at <= datetime.now(UTC)


def test_lists_go_through_all_of_it(risala):
    sent = [risala.send_message(TO, f"list {n}").message_id for n in range(5)]
    assert [each.id for each in risala.iter_messages(page=2)] == sent[::-1]
    first = risala.list_messages(limit=2)
    second = risala.list_messages(limit=2, before=first.next)
    assert [each.id for each in second.items] == sent[2:0:-1]
    newer = risala.list_messages(limit=2, after=second.previous)
    assert [each.id for each in newer.items] == [each.id for each in first.items]
    assert [*risala.iter_messages(to="+22236999999")] == []
    since = datetime.now(UTC) - timedelta(hours=1)
    assert len([*risala.iter_messages(since=since, sender="risala")]) == 5
    lines = [*risala.iter_ledger(page=3)]
    assert [each.kind for each in lines] == ["charge"] * 5 + ["topup"]
    assert (lines[0].amount, lines[0].balance_after) == (Decimal("-0.50"), Decimal("997.50"))
    assert lines[0].reference == sent[-1]
    assert [each.kind for each in risala.iter_ledger(kind="topup")] == ["topup"]


def test_a_message_is_withdrawn_once(risala):
    sent = risala.send_message(TO, "later", send_at=datetime.now(UTC) + LATER)
    assert risala.cancel_message(sent.message_id).status == "canceled"
    with pytest.raises(NotCancelableError) as raised:
        risala.cancel_message(sent.message_id)
    assert raised.value.word == "NOT_CANCELABLE"


def test_an_estimate_costs_nothing(risala):
    estimate = risala.estimate_message("It’s")
    assert (estimate.encoding, estimate.segments, estimate.price) == ("ucs2", 1, Decimal("0.50"))
    [odd] = estimate.unicode_characters
    assert (odd.character, odd.index, odd.suggestion) == ("’", 2, "'")
    assert risala.get_balance().balance == Decimal("1000.00")


def test_a_verification(service, account, risala):
    started = risala.send_verification(TO, locale="fr").verification_id
    assert not risala.check_verification(started, "000").is_approved
    shown = risala.get_verification(started)
    assert (shown.to, shown.status, shown.attempts) == (TO, "pending", 1)
    assert shown.expires_at - shown.created_at == timedelta(minutes=10)
    assert risala.cancel_verification(started).status == "canceled"
    assert risala.cancel_verification(started).status == "canceled"
    other = risala.send_verification(TO).verification_id
    assert [each.id for each in risala.iter_verifications(page=1)] == [other, started]
    assert [each.id for each in risala.iter_verifications(status="canceled")] == [started]
    tests = service.key(account.organization_id, mode="test")["value"]
    with Risala(service.url, tests) as trying:
        started = trying.send_verification(TO).verification_id
        assert trying.check_verification(started, "000000").is_approved
        with pytest.raises(UnknownIdError):
            trying.check_number(TO, "000000")
        trying.send_verification(TO)
        assert trying.check_number(TO, "000000").is_approved


def test_money_names_and_what_came_in(account, risala):
    balance = risala.get_balance()
    assert (balance.organization_id, balance.currency) == (account.organization_id, "MRU")
    assert (balance.spent_today, balance.spend_cap) == (Decimal("0.00"), None)
    assert risala.list_senders() == ()
    assert [*risala.iter_inbound(to="1234")] == []


def test_refusals(service, account, risala):
    with pytest.raises(BadRequestError) as bad:
        risala.send_message("36", "")
    assert {each.path for each in bad.value.issues} == {("to",), ("body",)}
    with pytest.raises(SenderNotApprovedError):
        risala.send_message(TO, "Salam", sender="Nobody")
    with pytest.raises(UnknownIdError):
        risala.get_message("sms_x")
    poor = service.organization(balance=None)
    with Risala(service.url, poor.secret_key) as client, pytest.raises(PaymentRequiredError):
        client.send_message(TO, "Salam")
    with Risala(service.url, "sk_live_" + "x" * 32) as client, pytest.raises(UnauthorizedError):
        client.get_balance()
    public = service.key(account.organization_id, kind="publishable")["value"]
    with Risala(service.url, public) as client:
        assert client.send_verification(TO).verification_id
        with pytest.raises(KeyForbiddenError):
            client.send_message(TO, "Salam")
    for _ in range(4):
        risala.send_verification(TO)
    with pytest.raises(TooManyRequestsError) as limited:
        risala.send_verification(TO)
    assert limited.value.limit == "phone"
    assert 3000 < limited.value.retry_after_s <= 3600


class Receiver:
    """An endpoint of somebody's, which keeps what came."""

    def __init__(self) -> None:
        self.came: queue.Queue[tuple[bytes, dict[str, str]]] = queue.Queue()
        came = self.came

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                came.put((body, dict(self.headers)))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join(HANG_S)
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    it = Receiver()
    yield it
    it.close()


def test_a_webhook_from_its_making_to_its_end(risala, receiver):
    made = risala.create_webhook(receiver.url, types=["sms.sent"], description="shop")
    assert made.secret is not None
    assert made.secret not in repr(made)
    assert [each.id for each in risala.list_webhooks()] == [made.id]
    assert risala.list_webhooks()[0].secret is None
    owed = risala.test_webhook(made.id)
    body, headers = receiver.came.get(timeout=HANG_S)
    event = Webhook(made.secret).verify(body, headers)
    assert isinstance(event, TrialEvent)
    assert (event.id, event.endpoint_id) == (owed.event_id, made.id)

    fresh = risala.rotate_webhook(made.id)
    sent = risala.send_message(TO, "told").message_id
    body, headers = receiver.came.get(timeout=HANG_S)
    for secret in (made.secret, fresh.secret):  # both sign for a day
        event = Webhook(secret).verify(body, headers)
        assert isinstance(event, MessageEvent)
        assert (event.message_id, event.status) == (sent, "sent")
    with pytest.raises(SignatureError):
        Webhook(made.secret).verify(body + b" ", headers)

    def delivered() -> bool:
        states = [each.state for each in risala.iter_deliveries(made.id, page=1)]
        return states == ["delivered"] * 2

    until(delivered, "both deliveries are through")
    assert risala.replay_delivery(made.id, event.id).state == "pending"
    body, headers = receiver.came.get(timeout=HANG_S)
    assert Webhook(fresh.secret).verify(body, headers) == event, "the same event, once more"
    assert risala.replay_failed(made.id, datetime.now(UTC) - LATER) == 0
    assert not risala.update_webhook(made.id, enabled=False).enabled
    assert risala.delete_webhook(made.id).id == made.id
    assert risala.list_webhooks() == ()


def test_the_other_signature_is_taken_too(risala, receiver):
    made = risala.create_webhook(receiver.url, signature_header="X-Service-Signature")
    assert made.signature_header == "X-Service-Signature"
    fresh = risala.rotate_webhook(made.id)
    sent = risala.send_message(TO, "told").message_id
    body, headers = receiver.came.get(timeout=HANG_S)
    told = {name.lower(): value for name, value in headers.items()}["x-service-signature"]
    for secret in (made.secret, fresh.secret):
        event = Webhook(secret).verify_signed(body, told)
        assert event == Webhook(secret).verify(body, headers)
        assert event.message_id == sent
    with pytest.raises(SignatureError):
        Webhook(made.secret).verify_signed(body + b" ", told)


def test_lean_answers_are_read_too(service, account, risala):
    service.perform("org.set", organization_id=account.organization_id, lean_answers=True)
    sent = risala.send_message(TO, "Salam").message_id
    service.wait_status(account, sent, "sent")
    message = risala.get_message(sent)
    assert (message.id, message.status, message.price) == (sent, "sent", None)
    assert [each.id for each in risala.iter_messages()] == [sent]


async def test_by_tasks(service, account):
    async with AsyncRisala(service.url, account.secret_key) as risala:
        sent = await risala.send_message(TO, "Salam")
        assert [each.id async for each in risala.iter_messages()] == [sent.message_id]
        with pytest.raises(UnknownIdError):
            await risala.within(30).get_verification("ver_x")
