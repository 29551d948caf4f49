"""The official verifier of Standard Webhooks for Node, over what was really delivered.

Needs node and npm; ``node/`` has the lock. Without them the tests are skipped, and say so.
"""

from __future__ import annotations

import base64
import json
import subprocess
import time
from pathlib import Path

import pytest

from npm import npm_installed
from patience import HANG_S
from risala.config.model import WebhooksSection
from risala.engine.rules.webhooks.signatures import new_secret
from risala.engine.rules.webhooks.url import AddressRules
from risala.http.outbound.client import open_outbound

NODE = Path(__file__).parent / "node"
ARABIC = "رسالة ٧٧ 📬"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def node_verifier() -> None:
    """As the lock has it, installed once however many run the tests."""
    npm_installed(NODE, "Node's standardwebhooks")


@pytest.fixture
def start_ms() -> int:
    """The verifier looks at the real clock."""
    return time.time_ns() // 1_000_000


def verify(secret: str, headers: dict[str, str], body: bytes) -> list[str]:
    """What it says of the bytes, and of the same as text."""
    given = {"secret": secret, "headers": headers, "body": base64.b64encode(body).decode()}
    done = subprocess.run(
        ["node", str(NODE / "verify.cjs"), json.dumps(given)],
        capture_output=True, text=True, check=True, timeout=HANG_S,
    )  # fmt: skip
    answers: list[str] = json.loads(done.stdout)
    return answers


async def test_it_accepts_what_is_ours_and_nothing_else(node_verifier, open_house, web):
    async with (
        web.receiver() as server,
        open_outbound(AddressRules(allow_insecure=True), 8) as client,
        open_house(client, webhooks=WebhooksSection(allow_insecure=True), inline=False) as house,
    ):
        endpoint, secret = await house.endpoint(server.url)
        rotated = (await house.perform("webhook.rotate", endpoint_id=endpoint))["secret"]
        await house.send(metadata={"note": ARABIC})
        await server.wait_requests(1)
        request = server.requests[0]
    headers, body = request.headers, request.body
    assert ARABIC.encode() in body
    accepted, refused = ["sms.sent"] * 2, ["refused: WebhookVerificationError"] * 2
    assert verify(secret, headers, body) == accepted
    assert verify(rotated, headers, body) == accepted
    assert verify(new_secret(), headers, body) == refused
    assert verify(secret, headers, body.replace("٧".encode(), "٨".encode(), 1)) == refused
    assert verify(secret, headers | {"webhook-id": "evt_other"}, body) == refused
    old = headers | {"webhook-timestamp": str(int(headers["webhook-timestamp"]) - 301)}
    assert verify(secret, old, body) == refused
