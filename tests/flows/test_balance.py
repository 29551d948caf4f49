"""Money under load: no ouguiya is spent twice."""

from __future__ import annotations

from collections import Counter

import pytest
import trio

pytestmark = pytest.mark.slow


async def test_two_hundred_sends_against_a_balance_for_one_hundred(shared_service):
    service, account = shared_service, shared_service.organization("50")
    statuses: Counter[int] = Counter()

    async def send(client, n):
        body = {"to": "+22236123456", "body": f"n{n}"}
        answer = await client.post("/api/sms", json=body, headers=account.headers)
        statuses[answer.status_code] += 1

    async with service.async_client() as client, trio.open_nursery() as nursery:
        for n in range(200):
            nursery.start_soon(send, client, n)
    assert statuses == {200: 100, 402: 100}
    assert service.balance(account) == "0.00"
    ours = "SELECT count(*) FROM messages WHERE organization_id = ?"
    assert service.rows(ours, account.organization_id) == [(100,)]
    service.wait_settled()
    service.assert_whole()
    service.assert_books_agree()
    service.assert_no_bug_logged()


async def test_prices_that_do_not_fit_let_smaller_ones_through(shared_service):
    """1.00 is not enough for three segments; it still pays for two messages of one."""
    service, account = shared_service, shared_service.organization("1.00")
    long = "x" * 400
    assert service.send(account, body=long).status_code == 402
    assert service.send(account, body="x").status_code == 200
    assert service.send(account, body=long).status_code == 402
    assert service.send(account, body="x").status_code == 200
    assert service.send(account, body="x").status_code == 402
    assert service.balance(account) == "0.00"
    service.assert_books_agree()


async def test_two_hundred_sends_against_a_days_cap(shared_service):
    service, account = shared_service, shared_service.organization("1000")
    capped = {"organization_id": account.organization_id, "spend_cap": "50.00"}
    await trio.to_thread.run_sync(lambda: service.perform("org.set", **capped))
    statuses: Counter[int] = Counter()

    async def send(client, n):
        body = {"to": "+22236123456", "body": f"n{n}"}
        answer = await client.post("/api/sms", json=body, headers=account.headers)
        statuses[answer.status_code] += 1
        if answer.status_code == 402:
            assert answer.json()["data"] == {"code": "SPEND_CAP"}

    async with service.async_client() as client, trio.open_nursery() as nursery:
        for n in range(200):
            nursery.start_soon(send, client, n)
    assert statuses == {200: 100, 402: 100}
    assert service.balance(account) == "950.00"
    service.assert_books_agree()
    service.assert_no_bug_logged()
