"""Checks that name a number: its newest pending session, for secret keys alone."""

from __future__ import annotations

import pytest
import trio

CHECK = "/api/verify/check"
TO = "+22236123456"


async def check(desk, key="sk_live", **body):
    response = await desk.post(CHECK, {"code": "000000", **body}, key)
    return response.status_code, await response.get_json()


async def test_the_newest_pending_session_of_the_number_is_meant(desk, quick):
    first = await desk.sent()
    second = await desk.sent()
    first_code, second_code = await desk.code(1), await desk.code(2)
    assert await check(desk, to=TO, code=first_code) == (200, {"status": "denied"})
    assert (await desk.shown(second))["attempts"] == 1
    assert await check(desk, to=TO, code=second_code) == (200, {"status": "approved"})
    assert (await desk.shown(second))["status"] == "approved"
    assert await check(desk, to=TO, code=first_code) == (200, {"status": "approved"})
    assert (await desk.shown(first))["status"] == "approved"
    status, body = await check(desk, to=TO, code=first_code)
    assert (status, body["message"]) == (404, "There is no pending verification of this number.")


async def test_sessions_of_others_of_the_other_mode_and_over_are_none(desk, quick):
    await desk.sent("sk_test")
    stranger = await desk.make_organization()
    theirs = await desk.perform("key.create", organization_id=stranger, type="secret")
    await desk.sent(theirs["value"])
    assert (await check(desk, to=TO))[0] == 404
    assert await check(desk, "sk_test", to=TO) == (200, {"status": "approved"})


async def test_a_session_whose_time_is_over_is_none(desk, quick):
    await desk.sent()
    await trio.sleep(601)
    assert (await check(desk, to=TO))[0] == 404


async def test_a_publishable_key_has_to_name_the_session(desk, quick):
    verification_id = await desk.sent("pk_live")
    code = await desk.code()
    response = await desk.post(CHECK, {"to": TO, "code": code}, "pk_live")
    (issue,) = (await response.get_json())["data"]["issues"]
    assert (issue["path"], issue["code"]) == (["verificationId"], "required")
    assert response.headers["x-unknown-members"] == "to"
    named = {"to": "+22236999999", "verificationId": verification_id, "code": code}
    response = await desk.post(CHECK, named, "pk_live")
    assert await response.get_json() == {"status": "approved"}


async def test_with_both_the_session_is_meant(desk, quick):
    verification_id = await desk.sent()
    code = await desk.code()
    named = {"to": "+22236999999", "verificationId": verification_id, "code": code}
    response = await desk.post(CHECK, named)
    assert await response.get_json() == {"status": "approved"}
    assert response.headers["x-unknown-members"] == "to"


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ({"to": "12"}, [["to"]]),
        ({"to": None}, [["to"]]),
        ({"to": TO, "code": ""}, [["code"]]),
        ({"to": 5, "code": 5}, [["code"], ["to"]]),
    ],
)
async def test_what_is_wrong_is_told(desk, body, paths):
    status, answer = await check(desk, **body)
    assert status == 400
    assert [each["path"] for each in answer["data"]["issues"]] == paths


async def test_what_the_caller_found_out_is_reported_by_the_number_too(desk, quick):
    await desk.configure(own_codes=True)
    verification_id = await desk.sent(code="8041")
    response = await desk.post(CHECK, {"to": TO, "reported": "approved"})
    assert await response.get_json() == {"status": "approved"}
    assert (await desk.shown(verification_id))["status"] == "approved"
