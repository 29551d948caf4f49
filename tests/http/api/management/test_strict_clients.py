"""Clients that were written for a hosted service, and take its fields and states alone."""

import json
import shutil
import subprocess
from datetime import datetime
from typing import Annotated, Literal

import jsonschema
import pytest
import trio
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from risala.engine.model.states import Status
from risala.engine.model.times import iso
from risala.engine.model.wire import LEAN_STATUS
from risala.http.api.openapi.document import document

HOUR_MS = 3_600_000
HEADER = "X-Service-Signature"
TO = "+22236123456"


class SmsRecord(BaseModel):
    """As a Java record of seven components, read by a parser that fails on unknown properties."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str
    to: str
    sender: Annotated[str, Field(alias="from")]
    body: str
    status: Literal["pending", "processing", "sent", "failed"]
    created_at: Annotated[str, Field(alias="createdAt")]
    updated_at: Annotated[str, Field(alias="updatedAt")]


TYPESCRIPT = """
const told = JSON.parse(process.argv[2]);
const known = ["id", "to", "from", "body", "status", "createdAt", "updatedAt"];
/** @returns {"waiting" | "done" | "lost"} */
function what(status) {
  switch (status) {
    case "pending": case "processing": return "waiting";
    case "sent": return "done";
    case "failed": return "lost";
    default: throw new Error(`never: ${status}`);
  }
}
for (const sms of told) {
  const names = Object.keys(sms);
  if (names.length !== known.length || !known.every((name) => typeof sms[name] === "string"))
    throw new Error(`not an Sms: ${names}`);
  if (Number.isNaN(new Date(sms.createdAt).getTime())) throw new Error("no date");
  console.log(what(sms.status));
}
"""


async def lean(bureau, on=True):
    await bureau.perform("org.set", organization_id=bureau.organization_id, lean_answers=on)


async def one_of_each(bureau):
    """A message in each state that there is quickly, by a test key, and one that waits."""
    outcomes = ("00", "01", "02", "03")
    ids = [await bureau.send("sk_test", to=f"+222361234{digits}") for digits in outcomes]
    later = iso(bureau.clock.now_ms() + HOUR_MS)
    ids += [await bureau.send("sk_test", sendAt=later) for _ in range(2)]
    await bureau.ask("/api/sms/cancel", {"messageId": ids[-1]}, "sk_test")
    await trio.sleep(60)
    return ids


async def test_a_strict_parser_takes_each_answer(bureau, autojump_clock):
    ids = await one_of_each(bureau)
    whole = {each: await got(bureau, each) for each in ids}
    assert [each["status"] for each in whole.values()] == [
        *("delivered", "failed", "undelivered", "sent", "pending", "canceled")
    ]
    with pytest.raises(ValidationError):
        SmsRecord.model_validate(whole[ids[0]])
    await lean(bureau)
    found = [SmsRecord.model_validate(await got(bureau, each)) for each in ids]
    assert [each.status for each in found] == [
        *("sent", "failed", "failed", "sent", "pending", "failed")
    ]
    for record in found:
        told = whole[record.id]
        assert (record.to, record.sender, record.body) == (told["to"], told["from"], told["body"])
        assert datetime.fromisoformat(record.created_at) <= datetime.fromisoformat(
            record.updated_at
        )
    items = (await bureau.ask("/api/sms/list", key="sk_test"))["items"]
    assert [SmsRecord.model_validate(each) for each in items] == found[::-1]
    late = await bureau.send("sk_test", sendAt=iso(bureau.clock.now_ms() + HOUR_MS))
    gone = await bureau.ask("/api/sms/cancel", {"messageId": late}, "sk_test")
    assert SmsRecord.model_validate(gone).status == "failed"
    whole_document = document()
    schema = {"$ref": "#/components/schemas/LeanMessageAnswer"}
    schema["components"] = whole_document["components"]
    told = jsonschema.Draft202012Validator(schema)
    told.validate(gone)
    with pytest.raises(jsonschema.ValidationError):
        told.validate(whole[ids[0]])
    await lean(bureau, on=False)
    assert await got(bureau, ids[0]) == whole[ids[0]]


async def got(bureau, message_id):
    return await bureau.ask("/api/sms/get", {"messageId": message_id}, "sk_test")


async def test_other_answers_and_other_organizations_stay(bureau, autojump_clock):
    await lean(bureau)
    sent = await bureau.ask("/api/sms", {"to": "+22236123456", "body": "Hello"})
    assert sent["accepted"] is True
    made = await bureau.ask("/api/verify/send", {"to": "+22236123456"})
    shown = await bureau.ask("/api/verify/get", made)
    assert len(shown) == 7
    other = await bureau.send("other_sk_live")
    told = await bureau.ask("/api/sms/get", {"messageId": other}, "other_sk_live")
    assert "segments" in told
    await bureau.ask("/api/sms/get", {"messageId": other}, status=404)


def test_each_state_is_folded():
    assert set(LEAN_STATUS) == set(Status)
    assert set(LEAN_STATUS.values()) == {"pending", "processing", "sent", "failed"}


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.slow
async def test_a_client_in_typescript_takes_them(bureau, autojump_clock, tmp_path):
    ids = await one_of_each(bureau)
    await lean(bureau)
    answers = [await got(bureau, each) for each in ids]
    script = tmp_path / "client.mjs"
    script.write_text(TYPESCRIPT, encoding="utf-8")
    assert run(script, answers) == ["done", "lost", "lost", "done", "waiting", "lost"]


def run(script, answers):
    """What the program says; the clock stands still meanwhile."""
    done = subprocess.run(
        ["node", str(script), json.dumps(answers)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


async def test_a_key_may_be_answered_without_the_id(bureau):
    """For a client whose class of the answer knows no ``messageId``: it threw after the charge."""
    made = await bureau.perform(
        "key.create", organization_id=bureau.organization_id, type="secret", without_id=True
    )
    assert made["key"]["withoutId"] is True
    body = {"to": TO, "body": "Hello", "idempotencyKey": "order-4711"}
    whole = await bureau.ask("/api/sms", body)
    assert whole["messageId"]
    for _ in range(2):
        answer = await bureau.client.post(
            "/api/sms", json=body, headers={"x-api-key": made["value"]}
        )
        found = await answer.get_json()
        assert found == {name: each for name, each in whole.items() if name != "messageId"}
        assert [*found] == ["accepted", "idempotencyKey", "organizationId", "from"]
    assert (await bureau.ask("/api/sms", body)) == whole
    await bureau.perform("key.set", key_id=made["key"]["id"], without_id=False)
    answer = await bureau.client.post("/api/sms", json=body, headers={"x-api-key": made["value"]})
    assert await answer.get_json() == whole


async def test_the_second_signature_is_set_by_programs(bureau):
    body = {"url": "https://example.com/events", "signatureHeader": HEADER}
    made = await bureau.ask("/api/webhooks/create", body)
    assert made["signatureHeader"] == HEADER
    assert made["signatureKey"] == "text"
    this = {"endpointId": made["id"]}
    found = await bureau.ask("/api/webhooks/update", {**this, "signatureKey": "decoded"})
    assert found["signatureKey"] == "decoded"
    (listed,) = (await bureau.ask("/api/webhooks/list", {}))["items"]
    assert listed["signatureKey"] == "decoded"
    found = await bureau.ask("/api/webhooks/update", {**this, "signatureHeader": ""})
    assert found["signatureHeader"] is None
    assert await bureau.refused("/api/webhooks/update", {**this, "signatureHeader": "host"}) == [
        (["signatureHeader"], "invalid_header")
    ]
    twice = {**body, "headers": {HEADER.lower(): "mine"}}
    assert await bureau.refused("/api/webhooks/create", twice) == [
        (["signatureHeader"], "named_twice")
    ]
