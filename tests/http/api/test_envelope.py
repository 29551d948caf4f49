"""What HTTP itself refuses: media types, sizes, paths, methods, JSON that is none."""

import pytest
from structlog.testing import capture_logs

from risala.engine.model.commands import Readiness
from risala.engine.model.errors import InsufficientBalance

GOOD = b'{"to":"+22236123456","body":"Hello"}'


async def problem(response, status: int, code: str) -> dict:
    payload = await response.get_json()
    assert (response.status_code, payload["status"], payload["code"]) == (status, status, code)
    assert payload["requestId"] == response.headers["x-request-id"]
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["cache-control"] == "no-store"
    return payload


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/vnd.api+json",
        "application/json; charset=utf-16",
        "application/json;charset=ISO-8859-1",
        'application/json; charset="utf-16le"',
    ],
)
async def test_a_body_must_say_that_it_is_json(client, keys, given):
    headers = {"x-api-key": keys["secret"]} | ({} if given is None else {"content-type": given})
    response = await client.post("/api/sms", headers=headers, data=GOOD)
    await problem(response, 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize(
    "given",
    [
        "application/json; charset=utf-8",
        'application/json;charset="UTF-8"',
        "application/json ;Charset=utf8",
        "Application/JSON;v=1",
    ],
)
async def test_parameters_of_the_media_type_are_allowed(client, keys, given):
    headers = {"x-api-key": keys["secret"], "content-type": given}
    assert (await client.post("/api/sms", headers=headers, data=GOOD)).status_code == 200


async def test_a_compressed_body_is_415(client, headers):
    response = await client.post(
        "/api/sms", headers=headers | {"content-encoding": "gzip"}, data=GOOD
    )
    await problem(response, 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("size", [64 * 1024 + 1, 10 * 1024 * 1024])
async def test_a_large_body_is_413(client, gateway, headers, size):
    response = await client.post("/api/sms", headers=headers, data=b" " * size)
    await problem(response, 413, "PAYLOAD_TOO_LARGE")
    assert gateway.accepted == []


async def test_the_media_type_is_looked_at_before_the_size(client, keys):
    response = await client.post(
        "/api/sms", headers={"x-api-key": keys["secret"]}, data=b" " * 100_000
    )
    await problem(response, 415, "UNSUPPORTED_MEDIA_TYPE")


async def test_a_body_of_exactly_the_limit_is_read(client, headers):
    raw = GOOD + b" " * (64 * 1024 - len(GOOD))
    assert (await client.post("/api/sms", headers=headers, data=raw)).status_code == 200


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "invalid_json"),
        (b"{", "invalid_json"),
        (b"{}}", "invalid_json"),
        (b"{'to':1}", "invalid_json"),
        (b'{"to":"a\nb"}', "invalid_json"),
        (b'{"a":NaN}', "invalid_json"),
        (b'{"a":-Infinity}', "invalid_json"),
        (b'{"a":' + b"9" * 5000 + b"}", "invalid_json"),
        (b"\xef\xbb\xbf{}", "invalid_json"),
        (b'{"to":"\xff"}', "invalid_utf8"),
        (b'{"to":"\xed\xa0\x80"}', "invalid_utf8"),
        ('{"to":"x"}'.encode("utf-16"), "invalid_utf8"),
        (b"[]", "not_an_object"),
        (b'[{"to":"+22236123456"}]', "not_an_object"),
        (b"null", "not_an_object"),
        (b'"x"', "not_an_object"),
        (b"3", "not_an_object"),
        (b'{"to":"a","to":"a"}', "duplicate_member"),
        (b'{"x":{"a":1,"a":1}}', "duplicate_member"),
        (b'{"x":' + b"[" * 32 + b"]" * 32 + b"}", "too_deep"),
        (b"[" * 60_000, "too_deep"),
        (b'{"a":' * 10_000, "too_deep"),
        # The same on each Python, and also where a decoder finds something else first.
        (b'{"x":' + b"[" * 32, "too_deep"),
        (b'{"x":' + b"[" * 31, "invalid_json"),
        (b'{"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}", "too_deep"),
        (b'{"x":' * 5_000 + b'{"a":1,"a":2}' + b"}" * 5_000, "too_deep"),
        (b'{"x":' + b"[" * 5_000 + b"NaN" + b"]" * 5_000 + b"}", "too_deep"),
        (b'{"x":"' + b"[" * 40 + b'\\"' + b"[" * 40 + b'", nothing', "invalid_json"),
        (b'{"x":' + b"[]," * 40, "invalid_json"),
    ],
)
async def test_json_that_is_none(client, headers, raw, code):
    for path in ("/api/sms", "/api/sms/get"):
        response = await client.post(path, headers=headers, data=raw)
        payload = await problem(response, 400, "BAD_REQUEST")
        assert [(issue["path"], issue["code"]) for issue in payload["data"]["issues"]] == [
            ([], code)
        ]


@pytest.mark.parametrize("escape", ["\\u0000", "\\ud800", "\\udfff", "\\ude00\\ud83d"])
@pytest.mark.parametrize(
    ("template", "path"),
    [
        ('{"to":"+22236123456","body":"a%sb"}', ["body"]),
        ('{"to":"+22236123456","body":"a","metadata":{"k":"%s"}}', ["metadata"]),
        ('{"to":"+22236123456","body":"a","metadata":{"%s":"k"}}', ["metadata"]),
        ('{"to":"+22236123456","body":"a","unknown":[["%s"]]}', []),
        ('{"to":"+22236123456","body":"a","%s":1}', []),
    ],
)
async def test_nul_and_lone_surrogates(client, gateway, headers, template, path, escape):
    response = await client.post("/api/sms", headers=headers, data=template % escape)
    payload = await problem(response, 400, "BAD_REQUEST")
    [issue] = payload["data"]["issues"]
    assert (issue["path"], issue["code"]) == (path, "invalid_characters")
    assert gateway.accepted == []


async def test_an_escaped_pair_is_a_character(client, gateway, headers):
    raw = '{"to":"+22236123456","body":"\\ud83d\\ude00"}'
    assert (await client.post("/api/sms", headers=headers, data=raw)).status_code == 200
    assert gateway.accepted[0].body == "😀"


async def test_nesting_within_the_bound_is_ignored_with_its_member(client, headers):
    raw = GOOD[:-1] + b',"x":' + b"[" * 31 + b"]" * 31 + b',"y":[[]]}'
    assert (await client.post("/api/sms", headers=headers, data=raw)).status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/api", "/api/sms/", "/api//sms", "/api/SMS", "/static/x", "/api/sms/%00", "/%ff"]
)
async def test_an_unknown_path_is_404(client, headers, path):
    await problem(await client.post(path, headers=headers, data=GOOD), 404, "NOT_FOUND")
    await problem(await client.get(path), 404, "NOT_FOUND")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("path", ["/api/sms", "/api/sms/get"])
async def test_a_wrong_method_is_405_and_says_which_is_right(client, headers, method, path):
    response = await client.open(path, method=method, headers=headers)
    await problem(response, 405, "METHOD_NOT_ALLOWED")
    assert response.headers["allow"] == "POST"


async def test_a_slow_body_is_408(client, headers, autojump_clock):
    async with client.request("/api/sms", method="POST", headers=headers) as connection:
        await connection.send(b'{"to":')
    await problem(await connection.as_response(), 408, "REQUEST_TIMEOUT")


async def test_a_bug_is_500_in_our_log_and_no_word_of_it_outside(client, gateway, headers):
    gateway.refuse = KeyError("the secret of the house")
    with capture_logs() as logs:
        response = await client.post("/api/sms", headers=headers, data=GOOD)
    payload = await problem(response, 500, "INTERNAL_SERVER_ERROR")
    assert "house" not in (await response.get_data(as_text=True))
    [entry] = logs
    assert entry["exc_info"] is gateway.refuse
    assert entry["request_id"] == payload["requestId"]


async def test_a_refusal_out_of_a_nursery_is_a_refusal_but_never_hides_a_bug(
    client, gateway, headers
):
    gateway.refuse = ExceptionGroup("", [ExceptionGroup("", [InsufficientBalance()])])
    response = await client.post("/api/sms", headers=headers, data=GOOD)
    await problem(response, 402, "PAYMENT_REQUIRED")
    gateway.refuse = ExceptionGroup("", [InsufficientBalance(), KeyError()])
    with capture_logs() as logs:
        response = await client.post("/api/sms", headers=headers, data=GOOD)
    await problem(response, 500, "INTERNAL_SERVER_ERROR")
    assert len(logs) == 1


async def test_request_ids_are_ours_and_new_each_time(client, headers):
    seen = set()
    for _ in range(3):
        response = await client.post(
            "/api/sms", headers=headers | {"x-request-id": "req_mine"}, data=GOOD
        )
        seen.add(response.headers["x-request-id"])
    assert len(seen) == 3
    assert all(len(one) == 36 and one.startswith("req_") for one in seen)


class TestProbes:
    async def test_alive(self, client):
        response = await client.get("/healthz")
        assert (response.status_code, await response.get_json()) == (200, {"status": "ok"})

    async def test_ready(self, client):
        response = await client.get("/readyz")
        assert (response.status_code, await response.get_json()) == (200, {"status": "ready"})

    async def test_not_ready_says_why(self, client, gateway):
        gateway.ready = Readiness(False, ("no carrier is up",))
        payload = await problem(await client.get("/readyz"), 503, "SERVICE_UNAVAILABLE")
        assert payload["data"] == {"reasons": ["no carrier is up"]}
        assert (await client.get("/healthz")).status_code == 200
