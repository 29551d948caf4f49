"""The Python client before a service whose answers get lost: nothing is doubled, every call ends.

What was sent is counted where it counts: in the service's messages, ledger and keys.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest

from risala.client import (
    AsyncRisala,
    LostAnswerError,
    OutgoingMessage,
    RefusedError,
    Retrying,
    Risala,
    RisalaError,
    SentMessage,
)

pytestmark = pytest.mark.slow

TO = "+22236123456"
PATIENT = Retrying(deadline_s=600, attempt_s=2, first_wait_s=0.01, wait_max_s=0.05)
"""Never ends for the deadline; an answer that is held back is given up soon."""
ONCE = Retrying(deadline_s=600, attempt_s=2, first_wait_s=1e9, wait_max_s=1e9)
"""No second attempt: the wait before it would be longer than the deadline."""
COUNT = 30


def accepted(service, account) -> tuple[int, int]:
    """Messages of an organization, and charges in its ledger."""
    mine = account.organization_id
    ((messages,),) = service.rows("SELECT count(*) FROM messages WHERE organization_id = ?", mine)
    query = "SELECT count(*) FROM ledger WHERE organization_id = ? AND kind = 'charge'"
    ((charges,),) = service.rows(query, mine)
    return messages, charges


def by_threads(url: str, key: str, retrying: Retrying, count: int) -> list[object]:
    def send(n: int) -> object:
        try:
            return risala.send_message(TO, f"threads {n}")
        except RisalaError as error:
            return error

    with Risala(url, key, retrying=retrying) as risala, ThreadPoolExecutor(4) as pool:
        return [*pool.map(send, range(count))]


def by_tasks(backend: str):
    def run(url: str, key: str, retrying: Retrying, count: int) -> list[object]:
        results: list[object] = []

        async def send(risala: AsyncRisala, n: int) -> None:
            try:
                results.append(await risala.send_message(TO, f"{backend} {n}"))
            except RisalaError as error:
                results.append(error)

        async def main() -> None:
            client = AsyncRisala(url, key, retrying=retrying)
            async with client as risala, anyio.create_task_group() as tasks:
                for n in range(count):
                    tasks.start_soon(send, risala, n)

        # A browser that another test of this process opened has its loop in our thread.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(anyio.run, main, backend=backend).result()
        return results

    return run


WAYS = {"threads": by_threads, "trio": by_tasks("trio"), "asyncio": by_tasks("asyncio")}
MARKED = [way if way == "trio" else pytest.param(way, marks=pytest.mark.long) for way in WAYS]


@pytest.mark.parametrize("way", MARKED)
def test_every_message_is_sent_and_charged_once(shared_service, faulty, all_faults, way):
    account = shared_service.organization()
    proxy = faulty()
    results = WAYS[way](proxy.url, account.secret_key, PATIENT, COUNT)
    assert {type(each) for each in results} == {SentMessage}, results
    assert len({each.message_id for each in results}) == COUNT
    assert accepted(shared_service, account) == (COUNT, COUNT)
    assert shared_service.balance(account) == f"{1000 - COUNT / 2:.2f}"
    assert {*proxy.counted} == {*all_faults}


@pytest.mark.parametrize("way", MARKED)
def test_what_ends_in_an_error_can_be_sent_again_with_its_key(shared_service, faulty, way):
    """Without a second attempt the errors say the truth: what is not maybe done was not done, and
    sending all of them again with their keys doubles nothing."""
    account = shared_service.organization()
    proxy = faulty()
    results = WAYS[way](proxy.url, account.secret_key, ONCE, COUNT)
    errors = [each for each in results if isinstance(each, RisalaError)]
    maybe = [each for each in errors if each.is_maybe_done]
    sent, _ = accepted(shared_service, account)
    assert {LostAnswerError} < {*map(type, errors)}
    assert COUNT - len(errors) < sent <= COUNT - len(errors) + len(maybe)
    with Risala(shared_service.url, account.secret_key) as risala:
        for error in errors:
            risala.send_message(TO, "again", idempotency_key=error.idempotency_key)
    assert accepted(shared_service, account) == (COUNT, COUNT)


def test_a_batch_is_one(shared_service, faulty):
    account = shared_service.organization()
    messages = [OutgoingMessage(TO, f"batch {n}") for n in range(20)]
    messages.append(OutgoingMessage("36", "to nobody"))
    with Risala(faulty().url, account.secret_key, retrying=PATIENT) as risala:
        batches = [risala.send_messages(messages) for _ in range(5)]
    for batch in batches:
        assert [type(each) for each in batch[:-1]] == [SentMessage] * 20
        assert isinstance(batch[-1], RefusedError)
    assert accepted(shared_service, account) == (100, 5), "a batch is one charge"
    assert shared_service.balance(account) == "950.00"


def test_a_code_is_sent_at_most_once_a_call(shared_service, faulty):
    """It has no key: a call whose answer was lost says so, and does not ask again."""
    account = shared_service.organization()
    started, lost = [], []
    with Risala(faulty().url, account.secret_key, retrying=PATIENT) as risala:
        for n in range(20):  # to a number each: there is a limit for one
            try:
                started.append(risala.send_verification(f"+222361234{n:02d}").verification_id)
            except (LostAnswerError, RefusedError) as error:
                lost.append(error)
    assert all(each.is_maybe_done for each in lost)
    query = "SELECT id FROM verifications WHERE organization_id = ?"
    rows = {row[0] for row in shared_service.rows(query, account.organization_id)}
    assert {*started} <= rows
    assert len(started) < len(rows) <= len(started) + len(lost) == 20


def test_a_deadline_ends_a_call_whatever_comes(shared_service, faulty):
    """The guard of the tests is all that is measured here: these calls would never end."""
    account = shared_service.organization()
    for fault in ("hold", "drip", "full", "close"):
        hasty = Retrying(deadline_s=0.5, attempt_s=0.2, first_wait_s=0.01)
        url = faulty([fault]).url
        for way in WAYS.values():
            [result] = way(url, account.secret_key, hasty, 1)
            assert isinstance(result, RisalaError)
            assert result.idempotency_key


def test_the_books_agree_after_all_that(shared_service):
    shared_service.wait_settled()
    shared_service.assert_whole()
    shared_service.assert_books_agree()
