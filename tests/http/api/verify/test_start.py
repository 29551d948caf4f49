"""``POST /api/verify/start``: the body, the answer, and who may ask for what."""

from __future__ import annotations

import pytest

from risala.plugins.contract import Inbound

PATH = "/api/verify/start"
TO = "+22236123456"
OUR_NUMBER = "+22241000000"
MEMBERS = [
    *("verificationId", "status", "method", "sendTo", "text", "link", "qrSvg", "page"),
    "expiresAt",
]


async def start(desk, key="sk_live", **fields):
    return await desk.post(PATH, {"method": "inbound_sms", "to": TO, **fields}, key)


@pytest.mark.parametrize("key", ["sk_live", "pk_live", "sk_test", "pk_test"])
async def test_it_answers_what_to_send_where(desk, quick, key):
    answer = await start(desk, key)
    assert answer.status_code == 200
    payload = await answer.get_json()
    assert list(payload) == MEMBERS
    assert (payload["status"], payload["method"]) == ("pending", "inbound_sms")
    assert payload["sendTo"] == (OUR_NUMBER if key.endswith("live") else "1234")
    assert payload["expiresAt"].endswith("Z")


async def test_the_text_proves_the_number(desk, quick):
    payload = await (await start(desk)).get_json()
    await desk.driver.context.inbound(
        Inbound("36123456", OUR_NUMBER, payload["text"], 1, carrier_ids=("1",))
    )
    shown = await desk.shown(payload["verificationId"])
    assert (shown["status"], shown["to"], shown["method"]) == ("approved", TO, "inbound_sms")


async def test_without_a_number_it_is_empty_until_it_is_proven(desk, quick):
    payload = await (await start(desk, to=None)).get_json()
    assert (await desk.shown(payload["verificationId"]))["to"] == ""
    await desk.driver.context.inbound(
        Inbound(TO, OUR_NUMBER, payload["text"], 1, carrier_ids=("1",))
    )
    assert (await desk.shown(payload["verificationId"]))["to"] == TO


@pytest.mark.parametrize(
    ("key", "fields", "path", "code"),
    [
        ("sk_live", {"method": "pigeon"}, ["method"], "invalid_method"),
        ("sk_live", {"method": None}, ["method"], None),
        ("sk_live", {"to": "36123456"}, ["to"], "invalid_phone_number"),
        ("sk_live", {"locale": "xx"}, ["locale"], "invalid_locale"),
        ("pk_live", {"to": None}, ["to"], "required"),
        ("sk_live", {"method": "missed_call", "to": None}, ["to"], "required"),
    ],
)
async def test_what_is_wrong_is_an_issue(desk, refused, quick, key, fields, path, code):
    payload = await refused(await start(desk, key, **fields), 400)
    (issue,) = payload["data"]["issues"]
    assert issue["path"] == path
    assert code in (None, issue["code"])


async def test_where_nothing_can_be_called_it_says_so(desk, refused, quick):
    payload = await refused(await start(desk, method="missed_call"), 400)
    assert payload["data"] == {"code": "NO_NUMBER"}
    assert "no modem that reports calls" in payload["message"]


async def test_a_check_of_it_is_refused_and_not_counted(desk, refused, quick):
    payload = await (await start(desk)).get_json()
    for key in ("sk_live", "pk_live"):
        answer = await desk.check(payload["verificationId"], "000000", key)
        assert (await refused(answer, 400))["data"] == {"code": "NO_CODE"}
    assert (await desk.shown(payload["verificationId"]))["attempts"] == 0
    other = await desk.check(payload["verificationId"], "000000", "sk_test")
    await refused(other, 404)


async def test_lean_answers_have_the_fields_of_the_specification(desk, quick):
    await desk.perform("org.set", organization_id=desk.organization_id, lean_answers=True)
    payload = await (await start(desk)).get_json()
    assert "method" not in await desk.shown(payload["verificationId"])


async def test_it_is_open_to_browsers(desk, quick):
    answer = await desk.client.options(PATH)
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-methods"] == "POST"


async def test_the_limits_of_addresses_are_those_of_sending(desk, refused, quick):
    for _ in range(5):
        assert (await start(desk, "pk_live")).status_code == 200
    payload = await refused(await start(desk, "pk_live"), 429)
    assert payload["data"]["limit"] == "phone"
