"""Every row of the specification's table of errors (7.1), by real HTTP against the real engine.

A refused request leaves nothing: no row, no charge, nothing queued, no trace of its key.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

pytestmark = pytest.mark.slow

TO = "+22236123456"
BODY = "the text that nobody may read in an error"


@dataclass
class Desk:
    """A service with one caller of each kind."""

    service: Any
    simulator: Any
    account: Any
    other: Any
    keys: dict[str, str | None]


def sender(service, account, name):
    made = service.perform(
        "sender.request",
        organization_id=account.organization_id,
        name=name,
        description="Order updates",
    )
    return made["id"]


@pytest.fixture(scope="module")
def desk(shared_premises):
    simulator = shared_premises.simulator("--receipt-delay-s", "0.05")
    service = shared_premises.running(simulator)
    account, other = service.organization(), service.organization()
    poor, penniless = service.organization("1.00"), service.organization(None)
    free = service.organization(None, price_per_segment="0")
    suspended = service.organization()
    service.perform("org.suspend", organization_id=suspended.organization_id)
    disabled, deleted = (service.key(account.organization_id) for _ in range(2))
    service.perform("key.disable", key_id=disabled["key"]["id"])
    service.perform("key.delete", key_id=deleted["key"]["id"])
    publishable = service.key(account.organization_id, "publishable")
    denied = sender(service, account, "Denied")
    service.perform("sender.deny", sender_id=denied, reason="misleading")
    service.perform("sender.waive", sender_id=sender(service, other, "Others"))
    service.perform("sender.waive", sender_id=sender(service, account, "My Shop"))
    sender(service, account, "Waiting")
    keys = {
        "good": account.secret_key,
        "publishable": publishable["value"],
        "disabled": disabled["value"],
        "deleted": deleted["value"],
        "suspended": suspended.secret_key,
        "poor": poor.secret_key,
        "penniless": penniless.secret_key,
        "free but penniless": free.secret_key,
        "unknown": "sk_live_" + "x" * 32,
        "malformed": "hello",
        "empty": "",
        "long": "sk_live_" + "x" * 5000,
        "none": None,
    }
    return Desk(service, simulator, account, other, keys)


def post(desk, path, payload, key="good", **options):
    headers = dict(options.pop("headers", {"content-type": "application/json"}))
    if desk.keys[key] is not None:
        headers["x-api-key"] = desk.keys[key]
    content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    answer = desk.service.client.post(path, content=content, headers=headers)
    desk.service.close()
    return answer


def refused(desk, path, payload, status, code, key="good", **options):
    """Send what must be refused, and see that it left nothing; ``data`` of the answer."""
    desk.service.wait_settled()
    before = desk.service.counts()
    answer = post(desk, path, payload, key, **options)
    assert desk.service.counts() == before
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()
    assert set(error) == {"code", "status", "message", "data", "docs", "requestId"}
    assert (error["code"], error["status"]) == (code, status)
    assert error["requestId"] == answer.headers["x-request-id"]
    assert error["message"].endswith((".", ")"))
    for secret in (BODY, *filter(None, desk.keys.values())):
        assert secret not in answer.text
    return error["data"]


def issues(data):
    return [(".".join(map(str, issue["path"])), issue["code"]) for issue in data["issues"]]


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("to", "22236123456", "invalid_phone_number"),
        ("to", "36123456", "invalid_phone_number"),
        ("to", "+22256123456", "invalid_phone_number"),
        ("to", "+22216123456", "invalid_phone_number"),
        ("to", "+2223612345", "invalid_phone_number"),
        ("to", "+222361234567", "invalid_phone_number"),
        ("to", "+22236123456\n", "invalid_phone_number"),
        ("to", " +22236123456", "invalid_phone_number"),
        ("to", "+٢٢٢٣٦١٢٣٤٥٦", "invalid_phone_number"),
        ("to", "+33612345678", "invalid_phone_number"),
        ("to", "", "invalid_phone_number"),
        ("to", 22236123456, "not_a_string"),
        ("to", None, "required"),
        ("body", "", "too_short"),
        ("body", "x" * 1601, "too_long"),
        ("body", "😀" * 1601, "too_long"),
        ("body", "a\0b", "invalid_characters"),
        ("body", "a\ud800b", "invalid_characters"),
        ("body", 7, "not_a_string"),
        ("body", None, "required"),
        ("from", "", "invalid_sender"),
        ("from", "TWELVE CHARS", "invalid_sender"),
        ("from", "Naïve", "invalid_sender"),
        ("from", "12345", "invalid_sender"),
        ("idempotencyKey", "1234567", "too_short"),
        ("idempotencyKey", "x" * 129, "too_long"),
        ("idempotencyKey", 12345678, "not_a_string"),
        ("metadata", {f"k{n}": "v" for n in range(11)}, "too_many_entries"),
        ("metadata", [], "not_an_object"),
    ],
)
def test_400_for_a_bad_field(desk, field, value, code):
    payload = {"to": TO, "body": BODY, "idempotencyKey": "refused-0001", field: value}
    assert issues(refused(desk, "/api/sms", payload, 400, "BAD_REQUEST")) == [(field, code)]


def test_400_names_every_fault_at_once(desk):
    payload = {"to": "36123456", "body": "", "from": "a name too long", "idempotencyKey": "short"}
    data = refused(desk, "/api/sms", payload, 400, "BAD_REQUEST")
    assert {path for path, _ in issues(data)} == {"to", "from", "body", "idempotencyKey"}


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'"text"', b"null", b'{"to": NaN}', b"\xff\xfe{}", b"[" * 5000]
)
def test_400_for_what_is_no_json_object(desk, content):
    refused(desk, "/api/sms", content, 400, "BAD_REQUEST")


@pytest.mark.parametrize("sender", ["Nobody", "Denied", "DENIED", "Others"])
def test_400_sender_not_approved(desk, sender):
    """Not on the account, rejected in whatever spelling, or another organization's."""
    payload = {"to": TO, "body": BODY, "from": sender, "idempotencyKey": "refused-0002"}
    data = refused(desk, "/api/sms", payload, 400, "BAD_REQUEST")
    assert data["code"] == "SENDER_NOT_APPROVED"


@pytest.mark.parametrize(
    "key", ["none", "empty", "unknown", "malformed", "long", "disabled", "deleted"]
)
@pytest.mark.parametrize("path", ["/api/sms", "/api/sms/get"])
def test_401_for_a_key_that_is_no_key(desk, key, path):
    payload = {"to": TO, "body": BODY, "messageId": "sms_1"}
    refused(desk, path, payload, 401, "UNAUTHORIZED", key)
    # The key comes first: nothing else of the request is looked at.
    refused(desk, path, b"{", 401, "UNAUTHORIZED", key, headers={"content-type": "text/plain"})


def test_a_sender_that_awaits_approval_is_no_error(desk):
    payload = {"to": TO, "body": "pending", "from": "Waiting"}
    accepted = post(desk, "/api/sms", payload).json()
    assert accepted["from"] == "RISALA"
    assert accepted["notice"]["code"] == "SENDER_PENDING_APPROVAL"
    assert accepted["notice"]["requestedFrom"] == "Waiting"


@pytest.mark.parametrize(
    ("key", "body"),
    [("penniless", "x"), ("poor", "x" * 307), ("poor", "س" * 135), ("free but penniless", "x")],
)
def test_402_when_the_balance_does_not_cover_the_price(desk, key, body):
    payload = {"to": TO, "body": body, "idempotencyKey": "refused-0003"}
    refused(desk, "/api/sms", payload, 402, "PAYMENT_REQUIRED", key)


@pytest.mark.parametrize("key", ["suspended", "publishable"])
@pytest.mark.parametrize("path", ["/api/sms", "/api/sms/get"])
def test_403_for_a_key_that_may_not(desk, key, path):
    payload = {"to": TO, "body": BODY, "messageId": "sms_1"}
    refused(desk, path, payload, 403, "FORBIDDEN", key)
    refused(desk, path, b"{", 403, "FORBIDDEN", key, headers={"content-type": "text/plain"})


def test_404_is_the_same_for_unknown_and_for_anothers(desk):
    theirs = desk.service.send(desk.other, body="theirs").json()["messageId"]
    bodies = set()
    for message_id in (theirs, "sms_" + "0" * 32, "nonsense", "' OR 1=1 --", "x" * 300):
        answer = post(desk, "/api/sms/get", {"messageId": message_id})
        assert answer.status_code == 404
        error = answer.json()
        assert error.pop("requestId") == answer.headers["x-request-id"]
        bodies.add(json.dumps(error))
    assert len(bodies) == 1
    assert desk.service.show(desk.other, theirs)["body"] == "theirs"


@pytest.mark.parametrize("payload", [{}, {"messageId": ""}, {"messageId": None}, {"messageId": 1}])
def test_400_for_no_message_id(desk, payload):
    refused(desk, "/api/sms/get", payload, 400, "BAD_REQUEST")


def test_what_http_itself_refuses(desk):
    payload = {"to": TO, "body": BODY}
    refused(desk, "/api/smss", payload, 404, "NOT_FOUND")
    refused(desk, "/api/sms/", payload, 404, "NOT_FOUND")
    plain = {"content-type": "text/plain"}
    refused(desk, "/api/sms", payload, 415, "UNSUPPORTED_MEDIA_TYPE", headers=plain)
    large = {"to": TO, "body": BODY, "metadata": {"k": "v" * 70_000}}
    refused(desk, "/api/sms", large, 413, "PAYLOAD_TOO_LARGE")
    answer = desk.service.client.get("/api/sms", headers=desk.account.headers)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_429_beyond_the_rate_that_the_operator_set(desk):
    account = desk.service.organization("1.50")
    desk.keys["hasty"] = account.secret_key
    rate = {"organization_id": account.organization_id, "sms_per_s": 0.01}
    desk.service.perform("org.set", **rate)
    payload = {"to": TO, "body": "hasty", "idempotencyKey": "hasty-0001"}
    first = post(desk, "/api/sms", payload, "hasty")
    again = {**payload, "idempotencyKey": "hasty-0002"}
    answer = post(desk, "/api/sms", again, "hasty")
    assert 98 <= int(answer.headers["retry-after"]) <= 100
    data = refused(desk, "/api/sms", again, 429, "TOO_MANY_REQUESTS", "hasty")
    assert data["limit"] == "sms"
    # Faults of the body and the sender come first, and a known key needs no token.
    refused(desk, "/api/sms", {**again, "to": "1"}, 400, "BAD_REQUEST", "hasty")
    refused(desk, "/api/sms", {**again, "from": "Nobody"}, 400, "BAD_REQUEST", "hasty")
    assert post(desk, "/api/sms", payload, "hasty").content == first.content
    desk.service.perform("org.set", **{**rate, "sms_per_s": None})
    assert post(desk, "/api/sms", again, "hasty").status_code == 200


def test_what_is_allowed_all_the_same(desk):
    """The other side of the table's borders."""
    longest = {"to": "+22249999999", "body": "x" * 1600, "idempotencyKey": "k" * 128}
    assert post(desk, "/api/sms", longest).json()["from"] == "RISALA"
    shortest = {"to": "+22220000000", "body": "x", "idempotencyKey": "k" * 8, "from": None}
    assert post(desk, "/api/sms", {**shortest, "unknown": 1}).status_code == 200
    for spelling in ("my shop", "MY  SHOP", "My Shop"):
        payload = {"to": TO, "body": "x", "from": spelling}
        assert post(desk, "/api/sms", payload).json()["from"] == "My Shop"
    assert post(desk, "/api/sms", {"to": TO, "body": "x", "from": "risala"}).json()["from"] == (
        "RISALA"
    )
    bearer = {
        "content-type": "application/json",
        "authorization": f"Bearer {desk.account.secret_key}",
    }
    assert post(desk, "/api/sms", shortest, "none", headers=bearer).status_code == 200


def test_a_key_that_is_disabled_enabled_and_deleted_while_it_is_used(desk):
    made = desk.service.key(desk.account.organization_id)
    desk.keys["changing"] = made["value"]
    payload = {"to": TO, "body": "x"}
    assert post(desk, "/api/sms", payload, "changing").status_code == 200
    desk.service.perform("key.disable", key_id=made["key"]["id"])
    refused(desk, "/api/sms", payload, 401, "UNAUTHORIZED", "changing")
    desk.service.perform("key.enable", key_id=made["key"]["id"])
    assert post(desk, "/api/sms", payload, "changing").status_code == 200
    desk.service.perform("key.delete", key_id=made["key"]["id"])
    refused(desk, "/api/sms", payload, 401, "UNAUTHORIZED", "changing")


def test_an_organization_that_is_suspended_and_resumed_while_it_sends(desk):
    account = desk.service.organization()
    desk.keys["held"] = account.secret_key
    payload = {"to": TO, "body": "x", "idempotencyKey": "held-00001"}
    desk.service.perform("org.suspend", organization_id=account.organization_id)
    refused(desk, "/api/sms", payload, 403, "FORBIDDEN", "held")
    desk.service.perform("org.resume", organization_id=account.organization_id)
    assert post(desk, "/api/sms", payload, "held").status_code == 200


@pytest.mark.parametrize(
    ("change", "status", "code", "key"),
    [
        ({"to": "36123456"}, 400, "BAD_REQUEST", "good"),
        ({"from": "Nobody"}, 400, "BAD_REQUEST", "good"),
        ({"body": "x" * 307}, 402, "PAYMENT_REQUIRED", "poor"),
    ],
)
def test_a_refused_request_leaves_its_key_free(desk, change, status, code, key):
    payload = {"to": TO, "body": "after all", "idempotencyKey": f"free-again-{status}-{[*change]}"}
    refused(desk, "/api/sms", payload | change, status, code, key)
    first = post(desk, "/api/sms", payload)
    assert first.status_code == 200
    assert desk.service.show(desk.account, first.json()["messageId"])["body"] == "after all"


def test_in_the_end_the_books_agree_and_only_what_was_accepted_went_out(desk):
    desk.service.wait_settled()
    accepted = {row[0] for row in desk.service.rows("SELECT body FROM messages")}
    assert set(desk.simulator.texts()) == accepted
    assert BODY not in accepted
    desk.service.assert_whole()
    desk.service.assert_books_agree()
    desk.service.assert_no_bug_logged()
