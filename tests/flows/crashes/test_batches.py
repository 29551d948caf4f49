"""``kill -9`` in the middle of batches: all of an answered one is there, or none of it."""

from __future__ import annotations

import random
import signal

import httpx2
import pytest
import trio

pytestmark = [pytest.mark.slow, pytest.mark.long]

SIZE = 200


def body_of(number: int) -> dict:
    """One item in ten is bad, and one in ten repeats the key before it."""
    items = []
    for n in range(SIZE):
        key = f"batch-{number}-item-{n - 1 if n % 10 == 6 else n}"
        to = "nobody" if n % 10 == 3 else "+22236123456"
        items.append({"to": to, "body": key, "idempotencyKey": key})
    return {"messages": items}


async def test_killed_in_mid_batch(premises):
    rng = random.Random(7)
    simulator = premises.simulator("--receipt-delay-s", "0.05")
    policy = 'on_uncertain_message = { action = "fail", after_s = 1 }'
    service = premises.running(simulator, carrier=policy)
    account = service.organization("1000000")
    answered: dict[int, bytes] = {}
    asked = 0
    for _ in range(3):

        async def customer(client: httpx2.AsyncClient) -> None:
            nonlocal asked
            while True:
                asked += 1
                number = asked
                try:
                    answer = await client.post(
                        "/api/sms/batch", json=body_of(number), headers=account.headers
                    )
                except httpx2.HTTPError:
                    return
                assert answer.status_code == 200
                answered[number] = answer.content

        enough = len(answered) + rng.randint(5, 15)
        async with service.async_client() as client, trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(customer, client)
            while len(answered) < enough:  # noqa: ASYNC110 -- answers of another process
                await trio.sleep(0.005)
            service.process.signal(signal.SIGKILL)
        service.process.wait_exit()
        service.restart()
    service.assert_whole()
    good = SIZE - SIZE // 10 * 2
    counts = dict(
        service.rows(
            "SELECT substr(key, 1, instr(key, '-item') - 1), count(*) FROM idempotency GROUP BY 1"
        )
    )
    assert set(counts.values()) == {good}, "a batch is there as a whole, or not at all"
    assert {f"batch-{number}" for number in answered} <= set(counts)
    for number, content in answered.items():
        again = service.client.post("/api/sms/batch", json=body_of(number), headers=account.headers)
        first = httpx2.Response(200, content=content).json()["results"]
        for n, (was, now) in enumerate(zip(first, again.json()["results"], strict=True)):
            assert ("accepted" in was) == (n % 10 != 3)
            assert was.get("messageId") == now.get("messageId")
            if n % 10 == 6:
                assert was == first[n - 1]
    service.wait_settled()
    service.assert_books_agree()
