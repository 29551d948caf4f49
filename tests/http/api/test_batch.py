"""``POST /api/sms/batch``: each item stands alone, the envelope does not."""

import json
import tracemalloc

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.model import errors
from risala.engine.model.commands import SendMessage
from risala.http.api import batch_reader as batches
from risala.http.api.batch_reader import parse_batch
from risala.http.api.bodies import parse_send
from risala.http.api.fields import BodyContext
from risala.http.common.problems import Problem
from risala.sms.numbering.plan import DEFAULT

GOOD = {"to": "+22236123456", "body": "Hello"}
GOOD_TEXT = json.dumps(GOOD)
NOW_MS = 1_767_225_600_000


@pytest.fixture
def send(client, headers):
    async def send(body, status: int = 200) -> dict:
        if not isinstance(body, str | bytes):
            body = json.dumps(body)
        response = await client.post("/api/sms/batch", headers=headers, data=body)
        assert response.status_code == status, await response.get_data(as_text=True)
        assert response.content_type == "application/json"
        payload = await response.get_json()
        if status != 200:
            assert set(payload) == {"code", "status", "message", "data", "docs", "requestId"}
        for result in payload.get("results", ()):
            assert result.get("requestId", "") in ("", response.headers["x-request-id"])
        return payload

    return send


async def issues_of(send, body) -> list[tuple]:
    payload = await send(body, 400)
    return [(issue["path"], issue["code"]) for issue in payload["data"]["issues"]]


async def test_results_are_in_the_order_of_the_messages(send, gateway):
    payload = await send({"messages": [GOOD | {"body": str(n)} for n in range(5)]})
    assert [result["messageId"] for result in payload["results"]] == [
        f"sms_{n}" for n in range(1, 6)
    ]
    assert [command.body for command in gateway.accepted] == list("01234")
    assert set(payload) == {"results"}


async def test_the_gateways_bytes_are_passed_on_as_they_are(client, gateway, headers):
    async def send_batch(principal, commands):
        return [b'{ "messageId" :"\xd8\xb3" }'] * len(commands)

    gateway.send_batch = send_batch
    response = await client.post(
        "/api/sms/batch", headers=headers, json={"messages": [GOOD, {}, GOOD]}
    )
    raw = await response.get_data()
    assert raw.startswith(b'{"results":[{ "messageId" :"\xd8\xb3" },{"code":"BAD_REQUEST"')
    assert raw.endswith(b',{ "messageId" :"\xd8\xb3" }]}')


@pytest.mark.parametrize(
    ("item", "path", "code"),
    [
        ("{}", ["to"], "required"),
        ('{"to":"+22236123456"}', ["body"], "required"),
        ('{"to":"+22256123456","body":"x"}', ["to"], "invalid_phone_number"),
        ('{"to":"+22236123456","body":"x","sendAt":"tomorrow"}', ["sendAt"], "invalid_time"),
        ('{"to":"+22236123456","body":"\\u0000"}', ["body"], "invalid_characters"),
        ('{"to":"+22236123456","body":"\\ud800"}', ["body"], "invalid_characters"),
        ('{"to":"+22236123456","body":"x","body":"y"}', [], "duplicate_member"),
        ('{"to":"+22236123456","body":"x","metadata":{"a":"","a":""}}', [], "duplicate_member"),
        ('{"to":"+22236123456","body":"x","y":' + "[" * 40 + "]" * 40 + "}", [], "too_deep"),
        ("[]", [], "not_an_object"),
        ("null", [], "not_an_object"),
        ('"' + "x" * 5000 + '"', [], "not_an_object"),
        ("1", [], "not_an_object"),
    ],
)
async def test_a_bad_item_is_an_error_in_its_place(send, gateway, item, path, code):
    payload = await send(f'{{"messages":[{GOOD_TEXT}, {item} ,{GOOD_TEXT}]}}')
    first, bad, last = payload["results"]
    assert first["accepted"]
    assert last["accepted"]
    assert set(bad) == {"code", "status", "message", "data", "docs", "requestId"}
    assert (bad["code"], bad["status"]) == ("BAD_REQUEST", 400)
    assert bad["requestId"].startswith("req_")
    assert (path, code) in [(issue["path"], issue["code"]) for issue in bad["data"]["issues"]]
    assert len(gateway.accepted) == 2


async def test_a_refusal_of_the_engine_is_an_error_in_its_place(send, gateway):
    gateway.refuse_bodies = {
        "poor": errors.InsufficientBalance(),
        "sender": errors.SenderNotApproved("Acme"),
        "fast": errors.RateLimited("sms", 7, "Too fast."),
    }
    bodies = ["a", "poor", "sender", "b", "fast"]
    payload = await send({"messages": [GOOD | {"body": body} for body in bodies]})
    assert [
        (result.get("messageId"), result.get("code"), result.get("data"))
        for result in payload["results"]
    ] == [
        ("sms_1", None, None),
        (None, "PAYMENT_REQUIRED", {}),
        (None, "BAD_REQUEST", {"code": "SENDER_NOT_APPROVED"}),
        ("sms_2", None, None),
        (None, "TOO_MANY_REQUESTS", {"limit": "sms", "retryAfter": 7}),
    ]


async def test_nothing_to_send_asks_nobody(send, gateway):
    payload = await send({"messages": [{}, {}]})
    assert [result["status"] for result in payload["results"]] == [400, 400]
    assert gateway.batches == 0


async def test_what_concerns_all_answers_for_all(send, gateway):
    for refusal, status in ((errors.Overloaded(), 503), (errors.StorageFailed(), 503)):
        gateway.refuse = refusal
        payload = await send({"messages": [GOOD]}, status)
        assert payload["code"] == "SERVICE_UNAVAILABLE"


async def test_an_unknown_outcome_tells_the_key_of_each_message_in_its_place(send, gateway):
    gateway.refuse = errors.OutcomeUnknown(keys=("idk_1", None, "mine-0001"), of_batch=True)
    payload = await send({"messages": [GOOD, {}, GOOD, GOOD]}, 503)
    assert payload["data"] == {
        "code": "OUTCOME_UNKNOWN",
        "idempotencyKeys": ["idk_1", None, None, "mine-0001"],
    }


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ("{}", ["messages"], "required"),
        ('{"messages":null}', ["messages"], "required"),
        ('{"messages":[]}', ["messages"], "too_few_entries"),
        ('{"messages":[ ]}', ["messages"], "too_few_entries"),
        ('{"messages":{}}', ["messages"], "not_a_list"),
        ('{"messages":"[]"}', ["messages"], "not_a_list"),
        ('{"messages":3}', ["messages"], "not_a_list"),
        ('{"messages":[' + ",".join([GOOD_TEXT] * 1001) + "]}", ["messages"], "too_many_entries"),
        ('{"messages":[' + ",".join(["0"] * 1_000_000) + "]}", ["messages"], "too_many_entries"),
        ("", [], "invalid_json"),
        (" \n", [], "invalid_json"),
        ("[]", [], "not_an_object"),
        ("[" * 1_000_000, [], "not_an_object"),
        ("null", [], "not_an_object"),
        ("?", [], "invalid_json"),
        ("{", [], "invalid_json"),
        ('{"messages"', [], "invalid_json"),
        ('{"messages":', [], "invalid_json"),
        ('{"messages":[', ["messages", 0], "invalid_json"),
        ('{"messages":[{}', [], "invalid_json"),
        ('{"messages":[{}]', [], "invalid_json"),
        ('{"messages":[{}]}}', [], "invalid_json"),
        ('{"messages":[{}]} {}', [], "invalid_json"),
        ('{"messages":[{},]}', ["messages", 1], "invalid_json"),
        ('{"messages":[{}{}]}', [], "invalid_json"),
        ('{"messages":[{}],}', [], "invalid_json"),
        ("{messages:[{}]}", [], "invalid_json"),
        ("{3:[{}]}", [], "invalid_json"),
        ('{"messages":[{"a":NaN}]}', ["messages", 0], "invalid_json"),
        ('{"messages":[{"a":"\x00"}]}', ["messages", 0], "invalid_json"),
        ('{"messages":[{}, {"a":' + '"x",' * 30_000 + "]}", ["messages", 1], "invalid_json"),
        ('{"messages":[{"a":"' + "x" * 70_000 + '"}]}', ["messages", 0], "invalid_json"),
        ('{"messages":[' + "[" * 60_000, ["messages", 0], "too_deep"),
        ('{"x":' + "[" * 60_000, [], "too_deep"),
        # The same on each Python; a decoder's own bound differs.
        ('{"messages":[' + "[" * 33, ["messages", 0], "too_deep"),
        ('{"messages":[' + "[" * 32, ["messages", 0], "invalid_json"),
        ('{"messages":[nul,' + "[" * 40, ["messages", 0], "invalid_json"),
        ('{"x":' + "[" * 32 + "]" * 32 + ',"messages":[{}]}', [], "too_deep"),
        ('{"messages":[{}],"messages":[{}]}', [], "duplicate_member"),
        ('{"messages":[{}],"x":{"a":1,"a":1}}', [], "duplicate_member"),
        (
            "{" + ",".join(f'"{n}":0' for n in range(101)) + ',"messages":[{}]}',
            [],
            "too_many_entries",
        ),
        (b'{"messages":["\xff"]}', [], "invalid_utf8"),
        (b'{"messages":["\xed\xa0\x80"]}', [], "invalid_utf8"),
    ],
)
async def test_a_fault_of_the_envelope_refuses_all(send, gateway, body, path, code):
    assert await issues_of(send, body) == [(path, code)]
    assert gateway.accepted == []


async def test_a_thousand_are_taken_and_white_space_and_unknown_members_ignored(send, gateway):
    items = " ,\r\n".join([GOOD_TEXT] * 1000)
    text = f' {{ "x" : [1, {{}}] , "messages" :\t[ {items} ] , "y" : null }} \n'
    assert len((await send(text))["results"]) == 1000
    assert len(gateway.accepted) == 1000


async def test_eight_mebibytes_are_read_and_a_byte_more_is_413(send, headers, client):
    text = f'{{"messages":[{GOOD_TEXT}]}}'
    limit = 8 * 1024 * 1024
    assert len((await send(text.ljust(limit)))["results"]) == 1
    await send(text.ljust(limit + 1), 413)
    # The single endpoint's limit stays its own.
    response = await client.post("/api/sms", headers=headers, data=GOOD_TEXT.ljust(65537))
    assert response.status_code == 413


class TestKeysAndTypes:
    @pytest.mark.parametrize(
        ("given", "status"),
        [("{secret}", 415), ("{publishable}", 403), ("{suspended}", 403), ("no", 401), ("", 401)],
    )
    async def test_the_order_of_checks(self, client, keys, given, status):
        headers = {"x-api-key": given.format(**keys), "content-type": "text/plain"}
        response = await client.post("/api/sms/batch", headers=headers, data=b" " * 9_000_000)
        assert response.status_code == status

    @pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS", "DELETE"])
    async def test_only_post(self, client, headers, method):
        response = await client.open("/api/sms/batch", method=method, headers=headers)
        assert (response.status_code, response.headers["allow"]) == (405, "POST")


async def test_more_batches_at_once_than_there_are_places_are_503(
    client, headers, settings, autojump_clock
):
    places = settings.http.batches_read_max
    statuses = []

    async def slow() -> None:
        async with client.request("/api/sms/batch", method="POST", headers=headers) as connection:
            await connection.send(b'{"messages":')
        statuses.append((await connection.as_response()).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(places):
            nursery.start_soon(slow)
        await trio.testing.wait_all_tasks_blocked()
        response = await client.post("/api/sms/batch", headers=headers, json={"messages": [GOOD]})
        assert response.status_code == 503
        assert response.headers["retry-after"] == "1"
        # Nobody else suffers.
        assert (await client.post("/api/sms", headers=headers, json=GOOD)).status_code == 200
    assert statuses == [408] * places
    response = await client.post("/api/sms/batch", headers=headers, json={"messages": [GOOD]})
    assert response.status_code == 200


async def test_the_loop_breathes_while_a_batch_is_read():
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(count_turns)
        raw = b'{"messages":[' + b",".join([GOOD_TEXT.encode()] * 1000) + b"]}"
        assert len(await parse_batch(raw, BodyContext(NOW_MS, DEFAULT))) == 1000
        nursery.cancel_scope.cancel()
    assert turns >= 1000 // batches.ITEMS_A_TURN


@pytest.mark.parametrize(
    "text",
    [
        '{"messages":[' + "[[],[]]," * 1_000_000,
        '{"messages":[[' + "[]," * 2_700_000,
        '{"x":[' + "{}," * 2_700_000,
        "{" + '"":0,' * 1_600_000,
        '{"messages":[' + '{"x":{"y":{}}},' * 500_000,
    ],
    ids=["small items", "one large item", "unknown member", "members", "objects"],
)
async def test_eight_mebibytes_of_brackets_do_not_become_a_gigabyte(text):
    raw = text.encode()
    assert 4_000_000 < len(raw) <= 8 * 1024 * 1024
    tracemalloc.start()
    try:
        with pytest.raises(Problem):
            await parse_batch(raw, BodyContext(NOW_MS, DEFAULT))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 24 * 1024 * 1024


texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)
items = st.fixed_dictionaries({"to": st.just("+22236123456"), "body": texts | values}) | values


@given(st.lists(items, min_size=1, max_size=12), st.dictionaries(texts, values, max_size=3))
def test_a_batch_is_what_its_items_are_alone(messages, others):
    async def alone(item) -> SendMessage | None:
        try:
            return parse_send(json.dumps(item).encode(), BodyContext(NOW_MS, DEFAULT))
        except Problem:
            return None

    async def main() -> None:
        raw = json.dumps({**others, "messages": messages}, indent=1).encode()
        together = await parse_batch(raw, BodyContext(NOW_MS, DEFAULT))
        assert [item if isinstance(item, SendMessage) else None for item in together] == [
            await alone(item) for item in messages
        ]

    trio.run(main)


@given(st.lists(items, min_size=1, max_size=4), st.data())
def test_a_batch_with_a_byte_changed_is_read_or_refused(messages, data):
    raw = bytearray(json.dumps({"messages": messages}).encode())
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    raw = bytes(raw)
    try:
        result = trio.run(parse_batch, raw, BodyContext(NOW_MS, DEFAULT))
    except Problem as problem:
        result = problem.status
    # We refuse as a whole only what is no batch.
    assert result == 400 if envelope(raw) is None else len(result) == len(envelope(raw))


def envelope(raw: bytes) -> list | None:
    """The items of a batch as another parser sees them."""
    try:
        value = json.loads(raw, parse_constant=int)  # int("NaN") is a ValueError
    except ValueError:
        return None
    if len(raw.split(b'"messages"')) > 2 or not isinstance(value, dict):
        return None
    found = value.get("messages")
    return found if isinstance(found, list) and found else None
