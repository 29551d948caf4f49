"""The Python client before a service that itself is the trouble: killed, and kept to a limit."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from patience import HANG_S
from risala.client import Retrying, Risala, SentMessage

pytestmark = [pytest.mark.slow, pytest.mark.long]

TO = "+22236123456"
PATIENT = Retrying(deadline_s=600, first_wait_s=0.05, wait_max_s=0.2)
COUNT = 200
KILLED_AT = 40


def accepted(service, account) -> int:
    query = "SELECT count(*) FROM messages WHERE organization_id = ?"
    ((count,),) = service.rows(query, account.organization_id)
    return count


def test_a_service_that_is_killed_and_comes_back_has_each_message_once(premises, faulty_at):
    service = premises.running(premises.simulator("--receipt-delay-s", "0.05"))
    account = service.organization()
    proxy = faulty_at(service.url)  # an address that stays: the service comes back at another port
    enough = threading.Event()
    sent = []

    def send(n: int) -> SentMessage:
        answer = risala.send_message(TO, f"number {n}")
        sent.append(answer)
        if len(sent) >= KILLED_AT:
            enough.set()
        return answer

    client = Risala(proxy.url, account.secret_key, retrying=PATIENT)
    with client as risala, ThreadPoolExecutor(4) as pool:
        results = pool.map(send, range(COUNT))
        assert enough.wait(HANG_S)
        service.kill()
        service.start()
        proxy.moved_to(service.url)
        answers = [*results]
    assert len({each.message_id for each in answers}) == COUNT
    assert accepted(service, account) == COUNT
    assert service.balance(account) == "900.00"
    service.assert_books_agree()


def test_a_limit_of_the_services_own_is_waited_for(premises):
    service = premises.running(premises.simulator())
    account = service.organization()
    service.perform("org.set", organization_id=account.organization_id, sms_per_s=4.0)
    with Risala(service.url, account.secret_key) as risala, ThreadPoolExecutor(4) as pool:
        answers = [*pool.map(lambda n: risala.send_message(TO, f"number {n}"), range(12))]
    assert len({each.message_id for each in answers}) == 12
    assert accepted(service, account) == 12
