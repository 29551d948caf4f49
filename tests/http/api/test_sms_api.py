"""The specification's table for SMS, over HTTP: status, code, and nothing sent when refused."""

import json

import pytest

from risala.engine.model import errors
from risala.engine.model.commands import SendMessage

BODY = {"to": "+22236123456", "body": "Hello"}


async def problem(response, status: int, code: str) -> dict:
    payload = await response.get_json()
    assert response.status_code == status
    assert response.content_type == "application/json"
    assert set(payload) == {"code", "status", "message", "data", "docs", "requestId"}
    assert (payload["code"], payload["status"]) == (code, status)
    assert payload["requestId"] == response.headers["x-request-id"]
    assert payload["message"].endswith((".", "each."))
    return payload


async def test_an_accepted_message_is_answered_with_the_gateways_bytes(client, gateway, headers):
    response = await client.post("/api/sms", headers=headers, json=BODY)
    assert response.status_code == 200
    assert response.content_type == "application/json"
    assert await response.get_json() == {
        "accepted": True,
        "messageId": "sms_1",
        "idempotencyKey": "generated",
        "organizationId": "org_1",
        "from": "RISALA",
    }
    assert gateway.accepted == [SendMessage("+22236123456", "Hello")]


async def test_every_field_reaches_the_command(client, gateway, headers):
    body = BODY | {"from": "Acme 1", "idempotencyKey": "k" * 8, "metadata": {"order": "7"}}
    assert (await client.post("/api/sms", headers=headers, json=body)).status_code == 200
    assert gateway.accepted == [
        SendMessage(
            "+22236123456", "Hello", "Acme 1", idempotency_key="k" * 8, metadata={"order": "7"}
        )
    ]


async def test_null_is_as_if_omitted_and_unknown_members_are_ignored(client, gateway, headers):
    body = BODY | {"from": None, "idempotencyKey": None, "metadata": None, "urgent": True, "x": []}
    assert (await client.post("/api/sms", headers=headers, json=body)).status_code == 200
    assert gateway.accepted == [SendMessage("+22236123456", "Hello")]


async def test_message_class_0_is_a_flash_message(client, gateway, headers):
    flash = BODY | {"messageClass": 0}
    assert (await client.post("/api/sms", headers=headers, json=flash)).status_code == 200
    batch = {"messages": [flash, BODY, BODY | {"messageClass": None}]}
    assert (await client.post("/api/sms/batch", headers=headers, json=batch)).status_code == 200
    assert [command.message_class for command in gateway.accepted] == [0, 0, None, None]
    for wrong in (1, "0", False, 0.5):
        body = BODY | {"messageClass": wrong}
        response = await client.post("/api/sms", headers=headers, json=body)
        payload = await problem(response, 400, "BAD_REQUEST")
        assert payload["data"]["issues"][0]["path"] == ["messageClass"]
    assert len(gateway.accepted) == 4


@pytest.mark.parametrize("number", ["3600", "3600.0", "36e2", "3.6E+3", "360000e-2"])
async def test_a_whole_number_is_one_however_it_is_written(client, gateway, headers, number):
    text = json.dumps(BODY)[:-1] + f', "validitySeconds": {number}}}'
    for path, body in (("", text), ("/batch", f'{{"messages": [{text}]}}')):
        response = await client.post("/api/sms" + path, headers=headers, data=body)
        assert response.status_code == 200
    assert [type(command.validity_s) for command in gateway.accepted] == [int, int]
    assert {command.validity_s for command in gateway.accepted} == {3600}


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("3600.5", "not_an_integer"), ('"3600"', "not_an_integer"), ("true", "not_an_integer"),
        ("1e400", "not_an_integer"), ("-1e400", "not_an_integer"), ("1e300", "too_large"),
        ("59.0", "too_small"), ("-0.0", "too_small"),
    ],
)  # fmt: skip
async def test_what_is_no_whole_number_is_refused(client, gateway, headers, number, code):
    text = json.dumps(BODY)[:-1] + f', "validitySeconds": {number}}}'
    response = await client.post("/api/sms", headers=headers, data=text)
    payload = await problem(response, 400, "BAD_REQUEST")
    assert [issue["code"] for issue in payload["data"]["issues"]] == [code]
    assert gateway.accepted == []


@pytest.mark.parametrize(
    ("change", "path", "code"),
    [
        ({"to": "22236123456"}, ["to"], "invalid_phone_number"),
        ({"to": "+22256123456"}, ["to"], "invalid_phone_number"),
        ({"to": "+2223612345"}, ["to"], "invalid_phone_number"),
        ({"to": "+22236123456\n"}, ["to"], "invalid_phone_number"),
        ({"to": "+222٣6123456"}, ["to"], "invalid_phone_number"),
        ({"to": None}, ["to"], "required"),
        ({"to": 22236123456}, ["to"], "not_a_string"),
        ({"body": ""}, ["body"], "too_short"),
        ({"body": "x" * 1601}, ["body"], "too_long"),
        ({"body": ["x"]}, ["body"], "not_a_string"),
        ({"from": ""}, ["from"], "invalid_sender"),
        ({"from": "TwelveLetter"}, ["from"], "invalid_sender"),
        ({"from": " TenLetters "}, ["from"], "invalid_sender"),
        ({"from": "12345"}, ["from"], "invalid_sender"),
        ({"from": "Café"}, ["from"], "invalid_sender"),
        ({"idempotencyKey": "short"}, ["idempotencyKey"], "too_short"),
        ({"idempotencyKey": "x" * 129}, ["idempotencyKey"], "too_long"),
        ({"idempotencyKey": 12345678}, ["idempotencyKey"], "not_a_string"),
        ({"metadata": {"a": 1}}, ["metadata"], "not_a_string"),
        ({"metadata": {"": "a"}}, ["metadata"], "too_short"),
        ({"metadata": {str(n): "" for n in range(11)}}, ["metadata"], "too_many_entries"),
        ({"metadata": "a"}, ["metadata"], "not_an_object"),
    ],
)
async def test_a_bad_field_is_named(client, gateway, headers, change, path, code):
    response = await client.post("/api/sms", headers=headers, json=BODY | change)
    payload = await problem(response, 400, "BAD_REQUEST")
    [issue] = payload["data"]["issues"]
    assert (issue["path"], issue["code"]) == (path, code)
    assert issue["message"] == payload["message"]
    assert gateway.accepted == []


async def test_every_fault_is_named_at_once(client, headers):
    body = {"from": "😀", "body": "", "idempotencyKey": "x", "metadata": 3}
    response = await client.post("/api/sms", headers=headers, json=body)
    payload = await problem(response, 400, "BAD_REQUEST")
    assert {(issue["path"][0], issue["code"]) for issue in payload["data"]["issues"]} == {
        ("to", "required"),
        ("from", "invalid_sender"),
        ("body", "too_short"),
        ("idempotencyKey", "too_short"),
        ("metadata", "not_an_object"),
    }


@pytest.mark.parametrize("body", ["x", "x" * 1600, "😀" * 1600, "ا" * 1600])
async def test_a_body_has_1_to_1600_code_points(client, headers, body):
    response = await client.post("/api/sms", headers=headers, json=BODY | {"body": body})
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("refusal", "status", "code", "data", "retry_after"),
    [
        (
            errors.SenderNotApproved("Acme"),
            400,
            "BAD_REQUEST",
            {"code": "SENDER_NOT_APPROVED"},
            None,
        ),
        (errors.InsufficientBalance(), 402, "PAYMENT_REQUIRED", {}, None),
        (
            errors.RateLimited("sms", 7, "Too fast."),
            429,
            "TOO_MANY_REQUESTS",
            {"limit": "sms"},
            "7",
        ),
        (errors.Overloaded(), 503, "SERVICE_UNAVAILABLE", {}, "1"),
        (errors.Draining(), 503, "SERVICE_UNAVAILABLE", {}, "5"),
        (errors.StorageFailed(), 503, "SERVICE_UNAVAILABLE", {}, "10"),
        (
            errors.OutcomeUnknown(keys=("idk_1",)),
            503,
            "SERVICE_UNAVAILABLE",
            {"code": "OUTCOME_UNKNOWN", "idempotencyKey": "idk_1"},
            "10",
        ),
        (
            errors.OutcomeUnknown(),
            503,
            "SERVICE_UNAVAILABLE",
            {"code": "OUTCOME_UNKNOWN"},
            "10",
        ),
        (errors.Conflict("It is so already."), 409, "CONFLICT", {}, None),
        (
            errors.Invalid("body", "empty", "`body` is empty."),
            400,
            "BAD_REQUEST",
            {"issues": [{"path": ["body"], "code": "empty", "message": "`body` is empty."}]},
            None,
        ),
    ],
)
async def test_what_the_engine_refuses(
    client, gateway, headers, refusal, status, code, data, retry_after
):
    gateway.refuse = refusal
    response = await client.post("/api/sms", headers=headers, json=BODY)
    payload = await problem(response, status, code)
    assert payload["data"] == data
    assert response.headers.get("retry-after") == retry_after


class TestKeys:
    @pytest.mark.parametrize("path", ["/api/sms", "/api/sms/get"])
    @pytest.mark.parametrize(
        ("given", "status", "code"),
        [
            ({}, 401, "UNAUTHORIZED"),
            ({"x-api-key": ""}, 401, "UNAUTHORIZED"),
            ({"x-api-key": "sk_live_wrong"}, 401, "UNAUTHORIZED"),
            ({"x-api-key": "{suspended}"}, 403, "FORBIDDEN"),
            ({"x-api-key": "{publishable}"}, 403, "FORBIDDEN"),
            ({"authorization": "Bearer {publishable}"}, 403, "FORBIDDEN"),
            ({"authorization": "Basic {secret}"}, 401, "UNAUTHORIZED"),
            ({"authorization": "Bearer"}, 401, "UNAUTHORIZED"),
            # x-api-key decides where both are there.
            ({"x-api-key": "wrong", "authorization": "Bearer {secret}"}, 401, "UNAUTHORIZED"),
        ],
    )
    async def test_refused_before_media_type_size_and_body(
        self, client, gateway, keys, path, given, status, code
    ):
        headers = {name: value.format(**keys) for name, value in given.items()}
        for content_type in ("text/plain", "application/json"):
            headers["content-type"] = content_type
            response = await client.post(path, headers=headers, data=b"{" * 70_000)
            await problem(response, status, code)
        assert gateway.accepted == []

    async def test_bearer_is_an_alias(self, client, keys):
        headers = {"authorization": f"bearer {keys['secret']}"}
        response = await client.post("/api/sms", headers=headers, json=BODY)
        assert response.status_code == 200

    async def test_two_keys_are_none(self, client, keys):
        headers = [("x-api-key", keys["secret"]), ("x-api-key", keys["secret"])]
        await problem(
            await client.post("/api/sms", headers=headers, json=BODY), 401, "UNAUTHORIZED"
        )


class TestGet:
    async def test_answers_the_message(self, client, headers):
        response = await client.post("/api/sms/get", headers=headers, json={"messageId": "sms_1"})
        assert response.status_code == 200
        payload = await response.get_json()
        assert payload["messageId"] == payload["id"] == "sms_1"
        assert payload["price"] == "0.50"
        assert payload["body"] == "سلام"
        assert payload["createdAt"] == "2026-01-01T00:00:00.123Z"
        assert payload["deliveredAt"] is None

    @pytest.mark.parametrize("body", [{}, {"messageId": ""}, {"messageId": None}, {"messageId": 1}])
    async def test_a_missing_id_is_400(self, client, headers, body):
        response = await client.post("/api/sms/get", headers=headers, json=body)
        payload = await problem(response, 400, "BAD_REQUEST")
        assert payload["data"]["issues"][0]["path"] == ["messageId"]

    async def test_any_other_id_is_the_same_404(self, client, headers):
        bodies = []
        for message_id in ("sms_2", "nonsense", "x" * 5000, "' or 1=1", "😀", " "):
            response = await client.post(
                "/api/sms/get", headers=headers, json={"messageId": message_id}
            )
            payload = await problem(response, 404, "NOT_FOUND")
            bodies.append({**payload, "requestId": ""})
        assert all(body == bodies[0] for body in bodies)


async def test_nothing_submitted_comes_back(client, headers):
    secret = "Xyzzy"
    for raw in (
        json.dumps({"to": secret, "body": [secret], "from": secret * 9, "metadata": {secret: 1}}),
        json.dumps({"to": secret, secret: secret + "\0"}),
        '{"to": ' + secret,
    ):
        response = await client.post(f"/api/sms?{secret}", headers=headers, data=raw)
        assert response.status_code == 400
        assert secret not in (await response.get_data(as_text=True))
