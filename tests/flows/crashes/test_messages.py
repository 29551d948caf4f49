"""``kill -9`` under load: what was answered 200 is there, charged once, and comes to its end."""

from __future__ import annotations

import random
import signal

import pytest
import trio

from risala.engine.journal.messages.deadlines import SUBMITS_MAX

pytestmark = pytest.mark.slow

ROUNDS = 3


@pytest.mark.parametrize(
    ("seed", "action", "rounds"),
    [(1, "fail", ROUNDS), pytest.param(3, "resend", ROUNDS, marks=pytest.mark.long)],
)
async def test_nothing_answered_is_lost_doubled_or_mischarged(
    premises, start_load, seed, action, rounds
):
    rng = random.Random(seed)
    # Slower than the customers, so that each kill finds a queue and a full window.
    simulator = premises.simulator("--answer-delay-s", "0.03", "--receipt-delay-s", "0.1")
    policy = f'on_uncertain_message = {{ action = "{action}", after_s = 1 }}'
    service = premises.running(simulator, carrier=f"{policy}\nwindow_max = 10")
    account = service.organization("100000")
    loads = []
    for number in range(rounds):
        load = start_load(service, account, f"seed {seed} round {number}")
        loads.append(load)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(load.run)
            await load.wait_answers(rng.randint(20, 120))
            await trio.sleep(rng.uniform(0, 0.02))
            service.process.signal(signal.SIGKILL)
        service.process.wait_exit()
        service.restart()
    assert all(load.unanswered for load in loads)
    service.assert_whole()
    for load in loads:
        await load.repeat()
    service.wait_settled()

    books = Books(service, simulator)
    for load in loads:
        for key, answer in load.answers.items():
            books.check(key, answer, action)
    assert len(books.messages) == sum(len(load.answers) for load in loads)
    assert books.uncertain > 0
    service.assert_whole()
    service.assert_books_agree()
    service.assert_no_bug_logged()
    delivered = sum(status == "delivered" for _, status, _ in books.messages.values())
    print(f"{len(books.messages)} messages, {delivered} delivered, {books.uncertain} uncertain")


class Books:
    """What is on the service's disk beside what reached the phone."""

    def __init__(self, service, simulator):
        rows = service.rows("SELECT body, id, status, error_code FROM messages")
        self.messages = {
            body: (message_id, status, code) for body, message_id, status, code in rows
        }
        assert len(self.messages) == len(rows)
        self.uncertain = 0
        self._received = simulator.texts()
        self._service = service
        self._money = {}
        for reference, kind, amount in service.rows("SELECT reference, kind, amount FROM ledger"):
            self._money.setdefault(reference, []).append((kind, amount))

    def check(self, body, answer, action):
        message_id, status, code = self.messages[body]
        assert f'"messageId":"{message_id}"'.encode() in answer
        price = 150 if "رسالة" in body else 50
        told = self._service.timeline(message_id)
        times_uncertain = sum(text.startswith("Uncertain: ") for text in told)
        was_uncertain = times_uncertain > 0
        self.uncertain += was_uncertain
        received = self._received[body]
        if status == "failed":
            # Also where it is sent again: not for ever, when a kill meets every one of its submits.
            submits_max = 1 if action == "fail" else SUBMITS_MAX
            assert code == "UNCERTAIN"
            assert times_uncertain >= submits_max
            assert received <= submits_max
            assert self._money[message_id] == [("charge", -price), ("refund", price)]
            return
        assert status == "delivered"
        assert self._money[message_id] == [("charge", -price)]
        resent = any("may arrive twice" in text for text in told)
        assert resent == (action == "resend" and was_uncertain)
        assert received == 1 or (resent and received > 1)


@pytest.mark.long
async def test_a_receipt_that_comes_while_the_service_is_down_is_taken_when_it_is_back(
    premises, start_load
):
    """The carrier keeps the receipts of those who are away."""
    simulator = premises.simulator("--receipt-delay-s", "1")
    service = premises.running(simulator)
    account = service.organization()
    ids = [service.send(account, body=f"n{n}").json()["messageId"] for n in range(20)]
    for message_id in ids:
        service.wait_status(account, message_id, "sent")
    service.kill()
    service.restart()
    for message_id in ids:
        service.wait_status(account, message_id, "delivered")
    service.assert_books_agree()
