"""Over real HTTP: each decision passes through the actor that owns it, as its counters show."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

TO = "+22236123456"
OWNERS = ("limits", "billing", "sessions", "scheduler")


class Counters:
    """How many messages each owner took, as the metrics tell it."""

    def __init__(self, service: Any) -> None:
        self._service = service
        self._last = self._read()

    def _read(self) -> dict[str, int]:
        page = self._service.get("/metrics").text
        found = re.findall(r'risala_actor_handled_total\{actor="(\w+)"\} ([0-9.]+)', page)
        return {name: int(float(number)) for name, number in found if name in OWNERS}

    def of(self, work: Callable[[], Any]) -> tuple[Any, set[str]]:
        """What a step came to, and which owners decided something meanwhile."""
        self._last = self._read()
        answer = work()
        now = self._read()
        return answer, {name for name in OWNERS if now[name] > self._last[name]}


def test_a_send_a_code_a_check_a_top_up_and_a_refund_are_decided_by_their_owners(premises, until):
    simulator = premises.simulator("--receipt-delay-s", "0.05")
    service = premises.running(simulator)
    account = service.organization()
    counters = Counters(service)

    def post(path: str, **body: Any) -> dict[str, Any]:
        answer = service.client.post(path, json=body, headers=account.headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    later = {"to": TO, "body": "later", "sendAt": "2099-01-01T00:00:00Z"}
    refused = service.client.post("/api/sms", json=later, headers=account.headers)
    assert refused.status_code == 400  # nobody decides about what is not valid

    sent, owners = counters.of(lambda: post("/api/sms", to=TO, body="hello"))
    assert owners >= {"limits", "billing"}
    assert "sessions" not in owners
    service.wait_status(account, sent["messageId"], "delivered")
    assert counters._read()["scheduler"] > counters._last["scheduler"]

    begun, owners = counters.of(lambda: post("/api/verify/send", to=TO))
    assert owners >= {"sessions", "limits", "billing"}

    def code() -> str | None:
        found = [re.search(r"\d{6}", each.text) for each in simulator.received()]
        return next((each.group() for each in found if each), None)

    guess = {"verificationId": begun["verificationId"], "code": until(code, "the code")}
    checked, owners = counters.of(lambda: post("/api/verify/check", **guess))
    assert checked["status"] == "approved"
    assert "sessions" in owners
    assert "billing" not in owners

    where = {"organization_id": account.organization_id}
    topped, owners = counters.of(lambda: service.perform("topup", **where, amount="5"))
    assert owners == {"billing"}
    assert topped["amount"] == "5.00"

    service.perform("carriers.pause", carrier="mattel")
    held = post("/api/sms", to=TO, body="held back")["messageId"]
    balance = service.balance(account)
    gone, owners = counters.of(lambda: service.perform("message.cancel", message_id=held))
    assert gone["message"]["status"] == "canceled"
    assert "billing" in owners
    assert service.balance(account) > balance
    service.assert_books_agree()
    service.assert_no_bug_logged()
