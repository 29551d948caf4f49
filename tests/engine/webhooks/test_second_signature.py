"""The second signature, for receivers that were written for a hosted service."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from standardwebhooks import Webhook

from cases import sweep
from risala.engine.model.errors import Invalid
from risala.engine.rules.webhooks.signatures import new_secret, stamped, with_sms_id

HEADER = "X-Service-Signature"
HOW_TO = Path(__file__).parents[3] / "docs/how-to/come-from-a-hosted-api.md"
START_MS = 1_795_231_187_670


def mark(secret: str, at: str, body: bytes) -> str:
    """As somebody writes it who was told: HMAC-SHA256 over time, dot and body."""
    return hmac.new(secret.encode(), at.encode() + b"." + body, hashlib.sha256).hexdigest()


def parts(header: str) -> tuple[str, list[str]]:
    """The time, and the signatures."""
    at, *marks = header.split(",")
    assert at.startswith("t=")
    assert all(each.startswith("v1=") for each in marks)
    return at.removeprefix("t="), [each.removeprefix("v1=") for each in marks]


async def test_without_the_option_there_is_none(open_house, quick):
    async with open_house() as house:
        await house.endpoint()
        await house.happen()
        await house.outbound.wait_calls(1)
        _, call = house.outbound.calls[0]
    assert {each.lower() for each in call.headers} == {
        *("content-type", "user-agent", "webhook-id", "webhook-timestamp", "webhook-signature")
    }
    assert "smsId" not in json.loads(call.body)


async def test_each_call_is_signed_once_more_and_has_the_ids_other_name(open_house, quick):
    async with open_house() as house:
        endpoint, secret = await house.endpoint(signature_header=HEADER)
        await house.happen()
        await house.outbound.wait_calls(1)
        _, call = house.outbound.calls[0]
        event = json.loads(call.body)
        assert event["smsId"] == event["messageId"]
        assert [*event][5:7] == ["messageId", "smsId"]
        at, marks = parts(call.headers[HEADER])
        assert marks == [mark(secret, at, call.body)]
        assert at == call.headers["webhook-timestamp"]
        Webhook(secret)  # the scheme's own signature is over the same bytes
        key = base64.b64decode(secret.removeprefix("whsec_"))
        head = f"{call.headers['webhook-id']}.{at}.".encode()
        expected = base64.b64encode(hmac.digest(key, head + call.body, "sha256")).decode()
        assert call.headers["webhook-signature"] == f"v1,{expected}"
        story = await house.perform(
            "webhook.delivery", endpoint_id=endpoint, event_id=call.headers["webhook-id"]
        )
        assert story["body"].encode() == call.body
        await house.perform("webhook.update", endpoint_id=endpoint, signature_header="")
        await house.happen()
        await house.outbound.wait_calls(2)
        _, call = house.outbound.calls[1]
        assert HEADER not in call.headers


async def test_its_key_is_the_decoded_secret_where_the_endpoint_says_so(open_house, quick):
    async with open_house() as house:
        endpoint, secret = await house.endpoint(signature_header=HEADER, signature_key="decoded")
        await house.happen()
        await house.outbound.wait_calls(1)
        _, call = house.outbound.calls[0]
        at, marks = parts(call.headers[HEADER])
        key = base64.b64decode(secret.removeprefix("whsec_"))
        told = at.encode() + b"." + call.body
        assert marks == [hmac.new(key, told, hashlib.sha256).hexdigest()]
        changed = await house.perform("webhook.update", endpoint_id=endpoint, signature_key="text")
        assert changed["endpoint"]["signatureKey"] == "text"
        await house.happen()
        await house.outbound.wait_calls(2)
        _, call = house.outbound.calls[1]
        at, marks = parts(call.headers[HEADER])
        assert marks == [mark(secret, at, call.body)]
        with pytest.raises(Invalid):
            await house.perform("webhook.update", endpoint_id=endpoint, signature_key="hex")


async def test_both_secrets_sign_while_the_old_one_does(open_house, quick):
    async with open_house() as house:
        endpoint, old = await house.endpoint(signature_header=HEADER)
        new = (await house.perform("webhook.rotate", endpoint_id=endpoint))["secret"]
        await house.happen()
        await house.outbound.wait_calls(1)
        _, call = house.outbound.calls[0]
        at, marks = parts(call.headers[HEADER])
        assert marks == [mark(new, at, call.body), mark(old, at, call.body)]
        await house.perform("webhook.rotate", endpoint_id=endpoint, at_once=True)
        await house.happen()
        await house.outbound.wait_calls(2)
        _, call = house.outbound.calls[1]
        _, marks = parts(call.headers[HEADER])
        assert len(marks) == 1


async def test_a_test_event_and_those_of_verifications_have_no_message(open_house, quick):
    async with open_house() as house:
        endpoint, secret = await house.endpoint(signature_header=HEADER)
        await house.perform("webhook.test", endpoint_id=endpoint)
        await house.outbound.wait_calls(1)
        _, call = house.outbound.calls[0]
    assert "smsId" not in json.loads(call.body)
    at, marks = parts(call.headers[HEADER])
    assert marks == [mark(secret, at, call.body)]


@sweep(
    "name",
    [
        *("Content-Type", "Transfer-Encoding", "connection", "HOST", "webhook-mine"),
        *("two words", "a:b", "x" * 101, "é", "a\r\nb"),
    ],
)
async def test_a_header_that_is_anothers_is_refused(house, quick, name):
    with pytest.raises(Invalid) as caught:
        await house.endpoint(signature_header=name)
    assert (caught.value.path, caught.value.code) == ("signature_header", "invalid_header")


async def test_no_header_is_named_twice(open_house):
    async with open_house() as house:
        mine = {"x-service-signature": "mine"}
        for wish in ({"signature_header": HEADER, "headers": mine},):
            with pytest.raises(Invalid) as caught:
                await house.endpoint(**wish)
            assert caught.value.code == "named_twice"
        endpoint, _ = await house.endpoint(headers=mine)
        with pytest.raises(Invalid):
            await house.perform("webhook.update", endpoint_id=endpoint, signature_header=HEADER)
        other, _ = await house.endpoint(signature_header=HEADER)
        with pytest.raises(Invalid):
            await house.perform("webhook.update", endpoint_id=other, headers=mine)
        await house.perform("webhook.update", endpoint_id=other, headers=mine, signature_header="")


def test_a_body_of_no_message_stays_as_it_is():
    body = '{"id":"evt_1","type":"verify.sent","verificationId":"ver_1"}'
    assert with_sms_id(body) == body
    body = '{"id":"evt_1","messageId":"sms_1","to":"+222","note":"سلام"}'
    wanted = '{"id":"evt_1","messageId":"sms_1","smsId":"sms_1","to":"+222","note":"سلام"}'
    assert with_sms_id(body) == wanted


NAIVE = """
import { createHmac } from "node:crypto";
export function isOurs(secret, header, body) {
  const { t, v1 } = Object.fromEntries(header.split(",").map((part) => part.split("=")));
  const wanted = createHmac("sha256", secret).update(`${t}.${body}`).digest("hex");
  return v1 === wanted;
}
"""
"""As receivers are found that were written for one signature."""


def program(tmp_path, code):
    """A function that asks a receiver's code whether a call is the sender's."""
    script = tmp_path / "check.mjs"
    script.write_text(
        code + "\nconst given = JSON.parse(process.argv[2]);\n"
        "console.log(isOurs(given.secret, given.header, given.body));\n",
        encoding="utf-8",
    )

    def check(**given: str) -> bool:
        done = subprocess.run(
            ["node", str(script), json.dumps(given)], capture_output=True, text=True, check=True
        )
        return done.stdout.strip() == "true"

    return check


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.slow
def test_the_how_tos_snippet_accepts_it(tmp_path):
    check = program(
        tmp_path, HOW_TO.read_text(encoding="utf-8").split("```js\n")[1].split("```")[0]
    )
    secret, old, body = new_secret(), new_secret(), '{"smsId":"sms_1","note":"سلام"}'
    header = stamped(body, [secret, old], START_MS)
    assert check(secret=secret, header=header, body=body)
    assert check(secret=old, header=header, body=body)
    assert not check(secret=new_secret(), header=header, body=body)
    assert not check(secret=secret, header=header, body=f"{body} ")
    assert not check(secret=secret, header=header.replace("t=1", "t=2", 1), body=body)
    assert not check(secret=secret, header="v1=00", body=body)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.slow
def test_a_receiver_for_one_signature_accepts_it_as_long_as_there_is_one(tmp_path):
    check, body = program(tmp_path, NAIVE), '{"smsId":"sms_1","note":"سلام"}'
    secret = new_secret()
    header = stamped(body, [secret], START_MS)
    assert check(secret=secret, header=header, body=body)
    assert not check(secret=new_secret(), header=header, body=body)
