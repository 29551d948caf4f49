"""Signatures: accepted by the verifiers that receivers use, over real HTTP; refused when wrong."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import importlib
import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest
import standardwebhooks

from risala.config.model import WebhooksSection
from risala.engine.model.errors import Conflict
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault
from risala.engine.rules.webhooks.signatures import new_secret, signed
from risala.engine.rules.webhooks.url import AddressRules
from risala.http.outbound.client import open_outbound

VERIFIERS = ["standardwebhooks", "svix.webhooks"]
"""Modules, imported where they are used: the second brings a whole API with it."""
REFUSED = (standardwebhooks.WebhookVerificationError, binascii.Error, ValueError)
ARABIC = "رسالة ٧٧ 📬"
HOW_TO = Path(__file__).parents[3] / "docs/how-to/receive-webhooks.md"
INSECURE = WebhooksSection(allow_insecure=True)


@pytest.fixture
def verifier(request):
    return importlib.import_module(request.param).Webhook


@pytest.fixture
def start_ms() -> int:
    """Verifiers look at the real clock."""
    return time.time_ns() // 1_000_000


@pytest.fixture
async def delivered(open_house, web):
    """An event with Arabic in it, as it really arrived, and the secret."""
    async with (
        web.receiver() as server,
        open_outbound(AddressRules(allow_insecure=True), 8) as client,
        open_house(client, webhooks=INSECURE, inline=False) as house,
    ):
        _, secret = await house.endpoint(server.url)
        await house.send(metadata={"note": ARABIC})
        await server.wait_requests(1)
        return server.requests[0], secret


@pytest.mark.parametrize("verifier", VERIFIERS, indirect=True)
async def test_the_verifiers_accept_it(delivered, verifier):
    request, secret = delivered
    verifier(secret).verify(request.body, request.headers)
    verifier(secret).verify(request.body.decode(), request.headers)
    assert ARABIC.encode() in request.body
    event = json.loads(request.body)
    assert event["metadata"] == {"note": ARABIC}
    assert event["id"] == request.headers["webhook-id"]


@pytest.mark.parametrize("verifier", VERIFIERS, indirect=True)
async def test_they_refuse_what_is_wrong(delivered, verifier):
    request, secret = delivered
    headers = request.headers
    with pytest.raises(REFUSED):
        verifier(new_secret()).verify(request.body, headers)
    with pytest.raises(REFUSED):
        verifier(secret).verify(request.body.replace("٧".encode(), "٨".encode(), 1), headers)
    with pytest.raises(REFUSED):
        verifier(secret).verify(request.body + b" ", headers)
    old = str(int(headers["webhook-timestamp"]) - 301)
    with pytest.raises(REFUSED):
        verifier(secret).verify(request.body, headers | {"webhook-timestamp": old})
    with pytest.raises(REFUSED):
        verifier(secret).verify(request.body, headers | {"webhook-id": "evt_other"})
    stale = signed("evt_1", "{}", [secret], (int(time.time()) - 301) * 1000)
    with pytest.raises(REFUSED):
        verifier(secret).verify("{}", stale)


async def test_it_is_plain_hmac(delivered):
    """Without any library: what somebody writes who has only the scheme's page."""
    request, secret = delivered
    assert secret.startswith("whsec_")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    assert len(key) == 32
    head = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}."
    digest = hmac.digest(key, head.encode() + request.body, hashlib.sha256)
    expected = "v1," + base64.b64encode(digest).decode()
    assert request.headers["webhook-signature"] == expected


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.slow
async def test_the_how_tos_code_for_node_accepts_it(delivered, tmp_path):
    request, secret = delivered
    text = HOW_TO.read_text(encoding="utf-8")
    code = text.split("```js\n")[1].split("```")[0]
    script = tmp_path / "check.mjs"
    script.write_text(
        code + "\nconst given = JSON.parse(process.argv[2]);\n"
        "const body = Buffer.from(given.body, 'base64');\n"
        "console.log(verify(given.secret, given.headers, body));\n",
        encoding="utf-8",
    )

    def check(**changes: object) -> str:
        given = {
            "secret": secret,
            "headers": request.headers,
            "body": base64.b64encode(request.body).decode(),
        } | changes
        done = subprocess.run(
            ["node", str(script), json.dumps(given)], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert check() == "true"
    assert check(secret=new_secret()) == "false"
    assert check(body=base64.b64encode(request.body + b" ").decode()) == "false"
    old = request.headers | {"webhook-timestamp": str(int(time.time()) - 301)}
    assert check(headers=old) == "false"


async def test_each_attempt_is_signed_anew(open_house, quick):
    async with open_house() as house:
        house.outbound.plan["https://example.com/hook"] = [
            ReceiverFault("TIMEOUT", "No answer."),
            ReceiverAnswer(200, None, ""),
        ]
        _, secret = await house.endpoint()
        await house.happen()
        await house.outbound.wait_calls(2)
        (_, first), (_, second) = house.outbound.calls
        assert first.headers["webhook-id"] == second.headers["webhook-id"]
        assert first.body == second.body
        times = [int(call.headers["webhook-timestamp"]) for call in (first, second)]
        assert times[1] - times[0] in (5, 6)
        assert first.headers["webhook-signature"] != second.headers["webhook-signature"]
        for call in (first, second):
            standardwebhooks.Webhook(secret).verify(call.body, dict(call.headers))


async def test_both_secrets_sign_for_a_day_after_a_rotation(open_house, quick, leap):
    async with open_house() as house:
        endpoint, old = await house.endpoint()
        rotated = await house.perform("webhook.rotate", endpoint_id=endpoint)
        new = rotated["secret"]
        assert new != old
        assert rotated["endpoint"]["oldSecretUntil"]
        await house.happen()
        await house.outbound.wait_calls(1)
        headers = house.outbound.calls[0][1].headers
        assert headers["webhook-signature"].count("v1,") == 2
        body = house.outbound.calls[0][1].body.decode()
        at_ms = int(headers["webhook-timestamp"]) * 1000
        for secret in (old, new):
            alone = signed(headers["webhook-id"], body, [secret], at_ms)["webhook-signature"]
            assert alone in headers["webhook-signature"].split(" ")
            standardwebhooks.Webhook(secret).verify(body, dict(headers))
        with pytest.raises(Conflict):
            await house.perform("webhook.rotate", endpoint_id=endpoint)
        await leap(86_400)
        await house.happen()
        await house.outbound.wait_calls(2)
        headers = house.outbound.calls[1][1].headers
        body = house.outbound.calls[1][1].body.decode()
        at_ms = int(headers["webhook-timestamp"]) * 1000
        assert headers == {**headers, **signed(headers["webhook-id"], body, [new], at_ms)}
        await house.perform("webhook.rotate", endpoint_id=endpoint)


async def test_a_leaked_secret_ends_at_once(open_house, quick):
    async with open_house() as house:
        endpoint, old = await house.endpoint()
        await house.perform("webhook.rotate", endpoint_id=endpoint)
        new = (await house.perform("webhook.rotate", endpoint_id=endpoint, at_once=True))["secret"]
        await house.happen()
        await house.outbound.wait_calls(1)
        call = house.outbound.calls[0][1]
        assert " " not in call.headers["webhook-signature"]
        standardwebhooks.Webhook(new).verify(call.body, dict(call.headers))
        with pytest.raises(REFUSED):
            standardwebhooks.Webhook(old).verify(call.body, dict(call.headers))
