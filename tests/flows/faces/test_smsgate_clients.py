"""SMSGate's public clients send through the face of the whole service: the one for Python, and the
one for JavaScript, whose lock is in ``node`` beside this (without node it is skipped, and says so).
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from android_sms_gateway import APIClient, Message, MessagePriority, TextMessage
from android_sms_gateway.enums import ProcessState
from android_sms_gateway.errors import APIError, NotFoundError, UnauthorizedError

from npm import npm_installed
from patience import HANG_S, until

pytestmark = pytest.mark.slow

NODE = Path(__file__).parent / "node"
TO, OTHER = "+22236123456", "+22246123456"
ENDED = (ProcessState.Delivered, ProcessState.Failed)


@pytest.fixture
def simulator(premises):
    return premises.simulator("--receipt-delay-s", "0.05")


@pytest.fixture
def service(premises, simulator):
    service = premises.running(simulator, more="[compat.smsgate]\nenabled = true\n")
    yield service
    service.assert_books_agree()
    service.assert_no_bug_logged()


@pytest.fixture
def base(service):
    return f"{service.url}/api/3rdparty/v1"


@pytest.fixture
def credential(service):
    account = service.organization()
    given = {"organization_id": account.organization_id, "face": "smsgate", "username": "shop"}
    return "shop", service.perform("credential.create", **given)["password"]


def test_the_client_for_python(simulator, base, credential):
    message = Message(
        phone_numbers=[TO, OTHER],
        text_message=TextMessage(text="by Python"),
        priority=MessagePriority.BYPASS_THRESHOLD,
        ttl=3600,
        id="order-7",
    )
    with APIClient(*credential, base_url=base) as client:
        sent = client.send(message, skip_phone_validation=True)
        assert (sent.id, sent.is_encrypted) == ("order-7", False)
        until(lambda: client.get_state("order-7").state in ENDED, "the receipts of both")
        told = client.get_state("order-7")
        assert [(each.phone_number, each.state) for each in told.recipients] == [
            (TO, ProcessState.Delivered),
            (OTHER, ProcessState.Delivered),
        ]
        assert told.created_at is not None
        assert client.send(message).created_at == told.created_at
        with pytest.raises(NotFoundError):
            client.get_state("nothing")
        with pytest.raises(APIError):  # 409, which it has no class for
            client.cancel_message("order-7")
    assert {each.text for each in simulator.received()} == {"by Python"}
    assert len(simulator.received()) == 2
    with APIClient("shop", "wrong", base_url=base) as client, pytest.raises(UnauthorizedError):
        client.get_state("order-7")


def test_the_client_for_javascript(simulator, base, credential):
    npm_installed(NODE, "SMSGate's client for JavaScript")
    done = subprocess.run(
        ["node", str(NODE / "send.mjs"), base, *credential, TO],
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert answers["sent"]["id"] == answers["told"]["id"]
    assert answers["told"]["state"] in ("Sent", "Delivered")
    assert [each.text for each in simulator.received()] == ["by npm"]
