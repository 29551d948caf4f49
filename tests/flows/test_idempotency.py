"""A key is a promise: the same key, the same answer, byte for byte, whatever happens between."""

from __future__ import annotations

import pytest
import trio

pytestmark = pytest.mark.slow

KEY = "order-000017"
TO = "+22236123456"


async def post_at_once(service, account, count, **fields):
    """The bodies of ``count`` answers to one request, made at the same time."""
    answers: list[bytes] = []

    async def post(client):
        body = {"to": TO, "body": "once", "idempotencyKey": KEY, **fields}
        answer = await client.post("/api/sms", json=body, headers=account.headers)
        assert answer.status_code == 200, answer.text
        answers.append(answer.content)

    async with service.async_client() as client, trio.open_nursery() as nursery:
        for _ in range(count):
            nursery.start_soon(post, client)
    return answers


async def test_one_key_fifty_times_at_once_and_again_after_kill_9(premises):
    simulator = premises.simulator("--receipt-delay-s", "0.05")
    service = premises.running(simulator)
    account = service.organization()

    answers = await post_at_once(service, account, 50)
    assert len(answers) == 50
    assert len(set(answers)) == 1
    service.wait_settled()  # else the kill may leave the message uncertain, which is another test
    service.kill()
    service.restart()
    answers += await post_at_once(service, account, 50)
    assert len(set(answers)) == 1

    service.wait_settled()
    assert service.rows("SELECT body, status FROM messages") == [("once", "delivered")]
    assert service.rows("SELECT amount FROM ledger WHERE kind = 'charge'") == [(-50,)]
    assert service.balance(account) == "999.50"
    assert simulator.texts() == {"once": 1}
    service.assert_whole()
    service.assert_books_agree()


async def test_the_key_belongs_to_one_organization_and_mode(shared_service):
    service, account = shared_service, shared_service.organization()
    other = service.organization()
    tests = service.key(account.organization_id, mode="test")
    (first,) = await post_at_once(service, account, 1)
    (second,) = await post_at_once(service, other, 1)
    body = {"to": TO, "body": "once", "idempotencyKey": KEY}
    headers = {"x-api-key": tests["value"]}
    third = service.client.post("/api/sms", json=body, headers=headers).content
    assert len({first, second, third}) == 3
    for each in (account, other):
        assert service.balance(each) == "999.50"


def test_other_fields_with_the_same_key_give_the_original(shared_service):
    service, account = shared_service, shared_service.organization()
    first = service.send(account, body="the original", idempotencyKey=KEY)
    for change in (
        {"body": "another text"},
        {"body": "x", "to": "+22246000000"},
        {"body": "x", "from": "Nobody"},
    ):
        again = service.send(account, **{"idempotencyKey": KEY, **change})
        assert (again.status_code, again.content) == (200, first.content)
    assert service.show(account, first.json()["messageId"])["body"] == "the original"
    assert service.balance(account) == "999.50"
    # A fault of the body comes before the key.
    assert service.send(account, body="", idempotencyKey=KEY).status_code == 400


def test_a_key_that_we_made_counts_too(shared_service):
    service, account = shared_service, shared_service.organization()
    first = service.send(account, body="no key")
    made = first.json()["idempotencyKey"]
    assert service.send(account, body="x", idempotencyKey=made).content == first.content
    assert service.balance(account) == "999.50"


def test_a_refused_request_leaves_its_key_free(shared_service):
    service, account = shared_service, shared_service.organization(None)
    refused = service.send(account, body="too poor", idempotencyKey=KEY)
    assert refused.status_code == 402
    service.perform("topup", organization_id=account.organization_id, amount="0.50")
    accepted = service.send(account, body="now", idempotencyKey=KEY)
    assert accepted.status_code == 200
    assert service.show(account, accepted.json()["messageId"])["body"] == "now"
    assert service.balance(account) == "0.00"
    # And the original is given also when the money is gone.
    assert service.send(account, body="now", idempotencyKey=KEY).content == accepted.content


def test_in_the_end_the_books_agree(shared_service):
    shared_service.wait_settled()
    shared_service.assert_whole()
    shared_service.assert_books_agree()
    shared_service.assert_no_bug_logged()
