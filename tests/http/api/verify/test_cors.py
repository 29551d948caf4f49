"""Three paths are open to browsers, with the origins that a key allows; all others are closed."""

import pytest
import trio

from cases import sweep
from risala.http.common.origins import EXPOSED

APP, EVIL = "https://app.example", "https://evil.example"
OPEN = ("/api/verify/send", "/api/verify/check", "/api/verify/resend", "/api/verify/start")
CLOSED = ("/api/verify/get", "/api/sms", "/api/sms/get", "/api/sms/batch", "/nowhere")
PREFLIGHT = {
    "origin": APP,
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type,x-api-key",
}


def cors(response) -> dict[str, str]:
    return {k.lower(): v for k, v in response.headers.items() if k.lower().startswith("access-")}


def is_open(response, origin: str = APP) -> None:
    assert cors(response) == {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": EXPOSED,
    }
    assert response.headers["vary"] == "origin"


@sweep("path", OPEN)
@sweep("origin", [APP, EVIL, "null", "http://localhost:3000"])
async def test_a_preflight_needs_no_key(desk, path, origin):
    response = await desk.client.options(path, headers=PREFLIGHT | {"origin": origin})
    assert response.status_code == 204
    assert await response.get_data() == b""
    assert cors(response) == {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": "content-type, x-api-key, authorization",
        "access-control-max-age": "7200",
        "access-control-expose-headers": EXPOSED,
    }
    assert response.headers["vary"] == "origin"
    assert "x-request-id" in response.headers


@pytest.mark.parametrize("path", OPEN)
async def test_a_preflight_of_a_suspended_organization_or_with_a_bad_key_is_still_204(desk, path):
    response = await desk.client.options(path, headers=PREFLIGHT | {"x-api-key": "nonsense"})
    assert response.status_code == 204


@sweep("path", CLOSED)
async def test_everything_else_is_closed(desk, refused, path):
    response = await desk.client.options(path, headers=PREFLIGHT)
    await refused(response, 404 if path == "/nowhere" else 405)
    assert cors(response) == {}
    response = await desk.post(path, {}, origin=APP)
    assert cors(response) == {}
    assert "vary" not in response.headers


@pytest.mark.parametrize("path", OPEN)
async def test_answers_and_errors_can_be_read_by_pages(open_desk, path):
    async with open_desk(limits={"verify_ip_sends_per_minute": 1}) as desk:
        body = {"to": "+22236123456", "verificationId": "ver_nothing", "code": "1"}
        seen = set()
        for key, content, content_type in (
            ("pk_live", body, "application/json"),
            ("pk_live", body, "application/json"),
            ("sk_live", b"", "application/json"),
            ("sk_live", b"", "text/plain"),
            ("sk_live", b" " * 70_000, "application/json"),
            ("nonsense", b"", "application/json"),
        ):
            response = await desk.post(path, content, key, origin=APP, content_type=content_type)
            seen.add(response.status_code)
            is_open(response)
        assert {400, 401, 413, 415} < seen
        assert seen & {200, 404, 429}
        response = await desk.client.get(path, headers={"origin": APP})
        assert response.status_code == 405
        is_open(response)


async def test_a_limits_wait_can_be_read_by_pages(open_desk):
    async with open_desk(limits={"verify_ip_sends_per_minute": 1}) as desk:
        for _ in range(2):
            response = await desk.post(OPEN[0], {"to": "x"}, "pk_live", origin=APP)
        assert (response.status_code, response.headers["retry-after"]) == (429, "60")
        is_open(response)


async def test_a_fault_of_ours_can_be_read_by_pages(desk, refused, monkeypatch):
    async def fail(*_):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(desk.gateway, "send_code", fail)
    response = await desk.post(OPEN[0], {"to": "+22236123456"}, "pk_live", origin=APP)
    assert "detail" not in (await refused(response, 500))["message"]
    is_open(response)


async def test_a_body_that_never_comes_is_a_408_for_pages_too(desk, quick):
    headers = {"x-api-key": desk.keys["pk_live"], "content-type": "application/json", "origin": APP}
    async with desk.client.request(OPEN[0], method="POST", headers=headers) as connection:
        await connection.send(b"{")
        await trio.sleep(301)
        await connection.send_complete()
    response = await connection.as_response()
    assert response.status_code == 408
    is_open(response)


@sweep(
    ("allowed", "origin", "passes"),
    [
        (None, None, True),
        (None, EVIL, True),
        (None, "null", True),
        ([APP], None, True),
        ([APP], APP, True),
        ([APP + "/"], APP, True),
        ([APP, "http://localhost:3000"], "http://localhost:3000", True),
        ([APP], EVIL, False),
        ([APP], "null", False),
        ([APP], "", False),
        ([APP], "http://app.example", False),
        ([APP], APP + ":8443", False),
        ([APP], "https://www.app.example", False),
        ([APP], APP + ".evil.example", False),
        ([APP], APP + "/", False),
    ],
)
async def test_the_origins_of_a_key(desk, refused, allowed, origin, passes):
    headers = {} if origin is None else {"origin": origin}
    for mode in ("live", "test"):
        created = await desk.make_key(mode=mode, allowed_origins=allowed)
        before = desk.rows()
        for number, path in enumerate(OPEN):
            peer = f"192.0.2.{number}"  # each has a limit of its own
            response = await desk.post(path, {}, created["value"], peer, **headers)
            payload = await refused(response, 400 if passes else 403)
            assert passes or payload["code"] == "FORBIDDEN"
            assert response.headers["vary"] == "origin"
            if origin:
                is_open(response, origin)
            elif origin is None:
                assert cors(response) == {}
        assert desk.rows() == before


async def test_two_origins_in_one_request_must_both_be_allowed(desk):
    created = await desk.make_key(allowed_origins=[APP])
    headers = [("x-api-key", created["value"]), ("origin", APP), ("origin", EVIL)]
    assert (await desk.client.post(OPEN[0], headers=headers)).status_code == 403


async def test_a_secret_key_is_asked_for_no_origin(desk):
    assert (await desk.post(OPEN[0], {}, "sk_live", origin=EVIL)).status_code == 400


async def test_a_change_of_origins_counts_at_once(desk):
    created = await desk.make_key(allowed_origins=[APP])
    key_id = created["key"]["id"]

    async def status(origin):
        return (await desk.post(OPEN[0], {}, created["value"], origin=origin)).status_code

    assert (await status(APP), await status(EVIL)) == (400, 403)
    await desk.perform("key.set", key_id=key_id, allowed_origins=[EVIL])
    assert (await status(APP), await status(EVIL)) == (403, 400)
    await desk.perform("key.set", key_id=key_id, allowed_origins=None)
    assert (await status(APP), await status(EVIL)) == (400, 400)
