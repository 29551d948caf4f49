"""The specification's sender table (3.2) over real SMPP: what the carrier sees is what we said."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow


def send_from(service, account, sender: str | None):
    fields = {} if sender is None else {"from": sender}
    return service.send(account, body=f"from {sender}", **fields)


def source_of(service, simulator, account, answer) -> str:
    """The source address that the carrier saw."""
    shown = service.wait_status(account, answer["messageId"], "delivered")
    (message,) = [each for each in simulator.received() if each.text == shown["body"]]
    assert shown["from"] == answer["from"]
    return message.sender


def request(service, account, name: str) -> str:
    return service.perform(
        "sender.request",
        organization_id=account.organization_id,
        name=name,
        description="Order updates",
    )["id"]


def test_each_state_of_a_sender_over_the_wire(premises):
    simulator = premises.simulator("--receipt-delay-s", "0.1")
    service = premises.running(simulator)
    account = service.organization()

    default = send_from(service, account, None).json()
    assert default["from"] == "RISALA"
    assert "notice" not in default
    assert source_of(service, simulator, account, default) == "RISALA"

    sender_id = request(service, account, "Acme Shop")
    pending = send_from(service, account, "ACME shop").json()
    assert pending["from"] == "RISALA"
    assert pending["notice"]["code"] == "SENDER_PENDING_APPROVAL"
    assert pending["notice"]["requestedFrom"] == "ACME shop"
    assert source_of(service, simulator, account, pending) == "RISALA"

    service.perform("sender.waive", sender_id=sender_id)
    approved = send_from(service, account, "acme shop").json()
    assert approved["from"] == "Acme Shop"
    assert "notice" not in approved
    assert source_of(service, simulator, account, approved) == "Acme Shop"

    denied_id = request(service, account, "Bank")
    service.perform("sender.deny", sender_id=denied_id, reason="misleading")
    before = service.counts()
    for name in ("Bank", "Unknown"):
        refused = send_from(service, account, name)
        assert refused.status_code == 400
        assert refused.json()["code"] == "BAD_REQUEST"
        assert refused.json()["data"]["code"] == "SENDER_NOT_APPROVED"
    assert service.counts() == before


@pytest.mark.long
@pytest.mark.parametrize("kind", ["message", "code"])
def test_the_two_thousandth_approves_by_itself_and_the_next_one_leaves_with_it(premises, kind):
    """The whole life of a sender: asked for, cleared, approved by volume, and denied after all."""
    simulator = premises.simulator("--receipt-delay-s", "0.1")
    service = premises.running(simulator, carrier="window_max = 10")
    account = service.organization("10000")
    sender_id = request(service, account, "Acme")
    cleared = service.perform("sender.clear", sender_id=sender_id)
    assert (cleared["status"], cleared["cleared"]) == ("pending", True)
    bulk = {"messages": [{"to": "+22246123456", "body": "bulk"}] * 1000}
    for size in (1000, 998):
        body = {"messages": bulk["messages"][:size]}
        answer = service.client.post("/api/sms/batch", json=body, headers=account.headers)
        assert all(result["accepted"] for result in answer.json()["results"])
    before = service.send(account, body="the 1,999th", **{"from": "acme"}).json()
    assert (before["from"], before["notice"]["requestedFrom"]) == ("RISALA", "acme")
    if kind == "code":
        body = {"to": "+22236123456"}
        sent = service.client.post("/api/verify/send", json=body, headers=account.headers)
        assert sent.status_code == 200
    else:
        last = service.send(account, body="the 2,000th", **{"from": "Acme"}).json()
        assert (last["from"], "notice" in last) == ("RISALA", True)
    (shown,) = service.perform("sender.list", organization_id=account.organization_id)["senders"]
    assert shown["status"] == "approved"
    following = service.send(account, body="the next one", **{"from": "ACME"}).json()
    assert (following["from"], "notice" in following) == ("Acme", False)
    service.wait_status(account, following["messageId"], "delivered")
    senders = {each.text: each.sender for each in simulator.received()}
    assert senders["the 1,999th"] == "RISALA"
    assert senders["the next one"] == "Acme"
    if kind == "message":
        assert senders["the 2,000th"] == "RISALA"
    approvals = [line["operation"] for line in service.perform("audit.list")["lines"]]
    assert "sender.waive" not in approvals, "nobody's hand did it"

    service.perform("sender.deny", sender_id=sender_id, reason="name_in_use")
    refused = send_from(service, account, "Acme")
    assert refused.status_code == 400
    assert refused.json()["data"]["code"] == "SENDER_NOT_APPROVED"
